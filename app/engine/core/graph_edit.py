"""A person's edit of a graph's nodes.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class GraphEditKind(StrEnum):
    """Kinds of edits."""

    MERGE = "merge"
    SPLIT = "split"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdit:
    """One merge or split.

    Attributes:
        id: identifies it for undo; hex digits.
        members: ids of nodes as they were.  A merge makes one node of them with the first one's id.  A split undoes a
            merge; a node that was not merged is split into its single pages.  Pages observed later are included.
        at: Unix seconds.
    """

    id: str
    kind: GraphEditKind
    members: tuple[str, ...]
    author: str = ""
    at: float = 0.0
