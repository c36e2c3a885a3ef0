"""Group page states into nodes: by their keys, then by people's merges and splits.

Grouping is a function of the stored pages, the mode and the edits in order.  Observations are never rewritten, so
undoing an edit restores exactly the earlier nodes, and pages observed later are grouped by the edits too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.engine.core.graph_edit import GraphEdit, GraphEditKind
from app.engine.core.identity import node_id
from app.engine.core.page_state import Mode, PageState


@dataclass(frozen=True, slots=True)
class Grouping:
    """The nodes of a graph.

    Attributes:
        node_of: node by page state.
        pages: page states by node, in the order they were found.
    """

    node_of: Mapping[str, str]
    pages: Mapping[str, tuple[str, ...]]


def group(pages: Iterable[PageState], mode: Mode, decisions: Sequence[GraphEdit] = ()) -> Grouping:
    """Group page states into nodes."""
    merged, apart = _apply(decisions)
    node_of: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for page in pages:
        member = page.id if mode is Mode.FULL else node_id(page.keys, mode)
        if member in apart:
            member = page.id
        node = merged.get(member, member)
        node_of[page.id] = node
        found.setdefault(node, []).append(page.id)
    return Grouping(node_of, {node: tuple(states) for node, states in found.items()})


def _apply(decisions: Sequence[GraphEdit]) -> tuple[dict[str, str], set[str]]:
    """Return the node of each merged member, and the groups that were split into single pages."""
    merged: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    apart: set[str] = set()
    for decision in decisions:
        if decision.kind is GraphEditKind.MERGE:
            heads = list(dict.fromkeys(merged.get(member, member) for member in decision.members))
            together = [member for head in heads for member in groups.pop(head, [head])]
            groups[heads[0]] = together
            merged.update(dict.fromkeys(together, heads[0]))
            continue
        for member in decision.members:
            if member not in merged:
                apart.add(member)
                continue
            for other in groups.pop(merged[member]):
                del merged[other]
    return merged, apart
