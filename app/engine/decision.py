"""What a person decided about the nodes of a graph.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DecisionKind(StrEnum):
    """What is to be seen otherwise than the keys have it."""

    MERGE = "merge"
    SPLIT = "split"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One merge or split.

    Attributes:
        id: names it for undo; hex digits.
        members: ids of nodes as they were.  A merge makes one node of them that has the first one's id.  A split takes
            apart what was merged; a node that was not, is shown as each of its pages alone.  Pages observed later
            fall under it too.
        at: Unix seconds.
    """

    id: str
    kind: DecisionKind
    members: tuple[str, ...]
    author: str = ""
    at: float = 0.0
