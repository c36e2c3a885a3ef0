"""Which page states make one node: by their keys, then by what people decided.

Grouping is a function of the stored pages, the mode and the decisions in order.  Nothing observed is ever rewritten, so
undoing a decision gives back exactly what was there, and pages observed later fall under the decisions as well.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.engine.decision import Decision, DecisionKind
from app.engine.errors import UsageError
from app.engine.identity import node_id
from app.engine.page_state import Mode, PageState


@dataclass(frozen=True, slots=True)
class Grouping:
    """The nodes of a graph.

    Attributes:
        node_of: node by page state.
        pages: page states by node, in the order they were found.
        members: by node, the groups it is made of: what a decision about it speaks of.
    """

    node_of: Mapping[str, str]
    pages: Mapping[str, tuple[str, ...]]
    members: Mapping[str, tuple[str, ...]]


def group(pages: Iterable[PageState], mode: Mode, decisions: Sequence[Decision] = ()) -> Grouping:
    """Put page states together to nodes."""
    merged, apart = _apply(decisions)
    node_of: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    members: dict[str, dict[str, None]] = {}
    for page in pages:
        member = node_id(page.keys, mode)
        if member in apart:
            member = page.id
        node = merged.get(member, member)
        node_of[page.id] = node
        found.setdefault(node, []).append(page.id)
        members.setdefault(node, {})[member] = None
    return Grouping(
        node_of,
        {node: tuple(states) for node, states in found.items()},
        {node: tuple(groups) for node, groups in members.items()},
    )


def merging(grouping: Grouping, nodes: Sequence[str], *, author: str = "", at: float = 0.0) -> Decision:
    """The decision that makes one node of several; it has the first one's id.

    Raises:
        UsageError: there are not two different ones, or one is unknown.
    """
    chosen = list(dict.fromkeys(_known(grouping, node) for node in nodes))
    if len(chosen) < 2:
        raise UsageError(
            "merging takes two different states or more", remedy="name the states to be made one"
        )
    members = [member for node in chosen for member in _head_first(node, grouping.members[node])]
    return _decision(DecisionKind.MERGE, members, author, at)


def splitting(grouping: Grouping, node: str, *, author: str = "", at: float = 0.0) -> Decision:
    """The decision that takes a node apart: what was merged by hand first, else each of its pages.

    Raises:
        UsageError: it stands for one page only, or is unknown.
    """
    node = _known(grouping, node)
    if len(grouping.pages[node]) < 2:
        raise UsageError(f"{node} stands for one page only", remedy="choose a state that stands for several")
    return _decision(DecisionKind.SPLIT, list(grouping.members[node]), author, at)


def _apply(decisions: Sequence[Decision]) -> tuple[dict[str, str], set[str]]:
    """Node by member for what is merged, and the groups whose pages stand alone."""
    merged: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    apart: set[str] = set()
    for decision in decisions:
        if decision.kind is DecisionKind.MERGE:
            _merge(decision.members, merged, groups)
        elif len(decision.members) == 1:
            apart.update(decision.members)
        else:
            for member in decision.members:
                _leave(member, merged, groups)
    return merged, apart


def _merge(members: Sequence[str], merged: dict[str, str], groups: dict[str, list[str]]) -> None:
    heads = list(dict.fromkeys(merged.get(member, member) for member in members))
    together = [member for head in heads for member in groups.pop(head, [head])]
    groups[heads[0]] = together
    merged.update(dict.fromkeys(together, heads[0]))


def _leave(member: str, merged: dict[str, str], groups: dict[str, list[str]]) -> None:
    head = merged.pop(member, None)
    if head is None:
        return
    rest = [other for other in groups.pop(head) if other != member]
    if rest:  # a group is named after one of its own, so that the name is free for the one that left
        name = head if head in rest else rest[0]
        groups[name] = rest
        merged.update(dict.fromkeys(rest, name))


def _head_first(node: str, members: Sequence[str]) -> list[str]:
    return sorted(members, key=lambda member: member != node)


def _known(grouping: Grouping, node: str) -> str:
    node = grouping.node_of.get(node, node)
    if node not in grouping.pages:
        raise UsageError(f"the graph has no state {node!r}")
    return node


def _decision(kind: DecisionKind, members: Sequence[str], author: str, at: float) -> Decision:
    return Decision(id=uuid.uuid4().hex[:16], kind=kind, members=tuple(members), author=author, at=at)
