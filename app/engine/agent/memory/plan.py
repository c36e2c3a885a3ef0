"""The plan as a tree from which nothing is ever erased (AgentOccam's branch and prune, without its forgetting).

Ids are readable (``2``, ``2.1``) and never reused; a node's parent never changes, so the tree has no cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.engine.core.ledger import PlanNode, PlanNodeState

PlanTree = tuple[PlanNode, ...]

_PENDING = (PlanNodeState.OPEN, PlanNodeState.ACTIVE)
_DROPPED_REASON = "left out of a later plan"


def replanned(plan: PlanTree, wanted: Sequence[PlanNode]) -> PlanTree:
    """Return a plan that replaces the one before.

    A node that is named again (by its id, or without one by its text) continues; an open node that is omitted is
    pruned.
    """
    named: dict[str, PlanNode] = {}
    nodes = list(plan)
    for node in wanted:
        if not node.intent:
            continue
        known = _known(nodes, node)
        if known is None or known.id in named:
            known = _placed(nodes, node)
            nodes.append(known)
        named[known.id] = replace(
            node,
            id=known.id,
            parent=known.parent,
            step=known.step,
            reason=node.reason or known.reason,
            summary=node.summary or known.summary,
            remains=node.remains or known.remains,
        )
    return _one_active(named.get(node.id, _dropped(node)) for node in nodes)


def branched(plan: PlanTree, node: PlanNode) -> PlanTree:
    """Return the plan with one more node; its id is kept where it is free."""
    return (*plan, _placed(list(plan), node))


def pruned(plan: PlanTree, name: str, reason: str, remains: Sequence[str]) -> PlanTree:
    """Return the plan with a node and everything open below it given up."""
    below = _below(plan, name)
    return tuple(
        replace(
            node,
            state=PlanNodeState.PRUNED,
            reason=reason,
            remains=(*node.remains, *remains) if node.id == name else node.remains,
        )
        if node.id in below and node.state in _PENDING
        else node
        for node in plan
    )


def with_active(plan: PlanTree, words: str) -> tuple[PlanTree, str]:
    """Return the plan with the node of this id or text active, and its text; any text may be a subgoal."""
    found = next((node for node in plan if words and node.id == words), None)
    if found is None:
        found = next((node for node in plan if node.intent == words and node.state in _PENDING), None)
    if found is None:
        return tuple(_deactivated(node) for node in plan), words
    active = replace(found, state=PlanNodeState.ACTIVE)
    return tuple(active if node is found else _deactivated(node) for node in plan), found.intent


def _one_active(nodes: Iterable[PlanNode]) -> PlanTree:
    kept: list[PlanNode] = []
    for node in nodes:
        second = any(other.state is PlanNodeState.ACTIVE for other in kept)
        kept.append(_deactivated(node) if second else node)
    return tuple(kept)


def _known(nodes: Sequence[PlanNode], node: PlanNode) -> PlanNode | None:
    if node.id:
        return next((known for known in nodes if known.id == node.id), None)
    return next((known for known in nodes if known.intent == node.intent and known.state in _PENDING), None)


def _placed(nodes: Sequence[PlanNode], node: PlanNode) -> PlanNode:
    """Return the node under an existing parent, with a free id."""
    taken = {known.id for known in nodes}
    parent = node.parent if node.parent in taken else ""
    if node.id and node.id not in taken:
        return replace(node, parent=parent)
    number = 1 + sum(known.parent == parent for known in nodes)
    prefix = f"{parent}." if parent else ""
    while f"{prefix}{number}" in taken:
        number += 1
    return replace(node, id=f"{prefix}{number}", parent=parent)


def _below(plan: PlanTree, name: str) -> set[str]:
    """Return the node and its descendants; a parent always comes before its children."""
    found = {name}
    for node in plan:
        if node.parent in found:
            found.add(node.id)
    return found


def _dropped(node: PlanNode) -> PlanNode:
    return (
        replace(node, state=PlanNodeState.PRUNED, reason=_DROPPED_REASON) if node.state in _PENDING else node
    )


def _deactivated(node: PlanNode) -> PlanNode:
    return replace(node, state=PlanNodeState.OPEN) if node.state is PlanNodeState.ACTIVE else node
