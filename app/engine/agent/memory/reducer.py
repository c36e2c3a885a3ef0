"""Fold ledger events into the ledger. Pure functions: the same events give the same ledger.

Nothing is ever lost: facts are retracted and subgoals pruned, but stay. Events come from disk and are read tolerantly;
one of an unknown kind, or without required data, changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, TypeVar, cast

from app.engine.core.ledger import (
    Checkpoint,
    Constraint,
    ConstraintClass,
    DeadEnd,
    Fact,
    FactCategory,
    Ledger,
    LedgerEvent,
    Met,
    Note,
    PlanNode,
    PlanNodeState,
    StepOutcome,
)

RECENT = 3
"""Recent outcomes that are kept; the length of SuperBrowser's deque."""

_NOTE_KEY = re.compile(r"note \d+")
"""Key of the facts in which notes were stored before they had a kind of events."""

EnumT = TypeVar("EnumT", bound=StrEnum)


def fold(events: Iterable[LedgerEvent], ledger: Ledger | None = None) -> Ledger:
    """Return the ledger after these events, starting from ``ledger`` or an empty one."""
    ledger = ledger if ledger is not None else Ledger()
    for event in events:
        ledger = apply(ledger, event)
    return ledger


def apply(ledger: Ledger, event: LedgerEvent) -> Ledger:
    """Return the ledger after one more event."""
    change = _REDUCERS.get(event.kind)
    return change(ledger, event) if change is not None else ledger


def _goal(ledger: Ledger, event: LedgerEvent) -> Ledger:
    return replace(ledger, goal=text_of(event, "text"))


def _plan(ledger: Ledger, event: LedgerEvent) -> Ledger:
    given = event.data.get("nodes")
    found = cast("list[object]", given) if isinstance(given, list) else []
    wanted = [
        _node_of(cast("dict[str, object]", data), event.step) for data in found if isinstance(data, dict)
    ]
    return _with_plan(ledger, replanned(ledger.plan, wanted))


def _branch(ledger: Ledger, event: LedgerEvent) -> Ledger:
    node = _node_of(event.data, event.step)
    return _with_plan(ledger, branched(ledger.plan, node)) if node.intent else ledger


def _prune(ledger: Ledger, event: LedgerEvent) -> Ledger:
    remains = texts_of(event.data.get("remains"))
    return _with_plan(ledger, pruned(ledger.plan, text_of(event, "node"), text_of(event, "reason"), remains))


def _subgoal(ledger: Ledger, event: LedgerEvent) -> Ledger:
    plan, words = with_active(ledger.plan, text_of(event, "text"))
    return replace(ledger, plan=plan, subgoal=words)


def _outcome(ledger: Ledger, event: LedgerEvent) -> Ledger:
    """Keep one outcome a step: a second one (the step was repeated after a kill) replaces the first."""
    outcome = StepOutcome(
        step=event.step,
        success=event.data.get("success") is True,
        **_texts(StepOutcome, event.data),
    )
    again = bool(ledger.recent) and ledger.recent[-1].step == event.step
    before = ledger.recent[:-1] if again else ledger.recent
    return replace(
        ledger,
        recent=(*before, outcome)[-RECENT:],
        steps=ledger.steps if again else ledger.steps + 1,
        url=outcome.url or ledger.url,
        state=text_of(event, "state"),
    )


def _fact(ledger: Ledger, event: LedgerEvent) -> Ledger:
    texts = _texts(Fact, event.data)
    if not texts["key"]:
        return ledger
    if _NOTE_KEY.fullmatch(texts["key"]):
        return _with_note(ledger, texts["value"], event.step, texts["quote"])
    texts["subgoal"] = texts["subgoal"] or ledger.subgoal
    confidence = event.data.get("confidence")
    known = Fact(
        category=_enum_of(FactCategory, event.data.get("category"), FactCategory.OBSERVATION),
        confidence=min(max(float(confidence), 0.0), 1.0) if isinstance(confidence, int | float) else 1.0,
        step=event.step,
        last_used=event.step,
        **texts,
    )
    facts: list[Fact] = []
    confirmed = False
    for fact in ledger.facts:
        if fact.key != known.key or fact.retracted:
            facts.append(fact)
        elif fact.value == known.value:
            confirmed = True
            surer = max(fact.confidence, known.confidence)
            facts.append(
                replace(fact, confidence=surer, last_used=event.step, quote=fact.quote or known.quote)
            )
        else:
            facts.append(replace(fact, retracted=True))
    return replace(ledger, facts=tuple(facts) if confirmed else (*facts, known))


def _dead_end(ledger: Ledger, event: LedgerEvent) -> Ledger:
    """The same state, target and cause is the same dead end, met later."""
    until = event.data.get("until")
    met = DeadEnd(
        step=event.step,
        until=until if isinstance(until, int) and not isinstance(until, bool) and until > 0 else 0,
        **_texts(DeadEnd, event.data),
    )
    others = tuple(dead for dead in ledger.dead_ends if _dead_end_key(dead) != _dead_end_key(met))
    return replace(ledger, dead_ends=(*others, met))


def _dead_end_key(dead: DeadEnd) -> tuple[str, str, str]:
    return (dead.state or dead.url, dead.target, dead.cause)


def _checkpoint(ledger: Ledger, event: LedgerEvent) -> Ledger:
    mark = Checkpoint(step=event.step, **_texts(Checkpoint, event.data))
    return replace(ledger, checkpoints=(*ledger.checkpoints, mark))


def _note(ledger: Ledger, event: LedgerEvent) -> Ledger:
    words = text_of(event, "text")
    return replace(ledger, episodic=(*ledger.episodic, words)) if words else ledger


def _constraints(ledger: Ledger, event: LedgerEvent) -> Ledger:
    """Take the newest list; of a shorter one the constraints that it leaves out stay as they were."""
    given = event.data.get("constraints")
    told = cast("list[object]", given) if isinstance(given, list) else []
    items = [cast("dict[str, object]", item) for item in told if isinstance(item, dict)]
    found = {
        text: Constraint(
            kind=_enum_of(ConstraintClass, item.get("class"), ConstraintClass.OTHER),
            text=text,
            met=_enum_of(Met, item.get("met"), Met.UNKNOWN),
        )
        for item in items
        if isinstance(text := item.get("text"), str) and text
    }
    if len(found) < len(ledger.constraints):
        found = {one.text: one for one in ledger.constraints} | found
    return replace(ledger, constraints=tuple(found.values()))


def _agent_note(ledger: Ledger, event: LedgerEvent) -> Ledger:
    return _with_note(ledger, text_of(event, "text"), event.step, text_of(event, "url"))


def _with_note(ledger: Ledger, text: str, step: int, url: str) -> Ledger:
    """Add a note; the same text of the same step (it was repeated after a kill) is the same note."""
    if not text or any(known.step == step and known.text == text for known in ledger.notes):
        return ledger
    return replace(
        ledger, notes=(*ledger.notes, Note(number=len(ledger.notes) + 1, text=text, step=step, url=url))
    )


def _with_plan(ledger: Ledger, plan: tuple[PlanNode, ...]) -> Ledger:
    """Clear the current subgoal where the new plan has given it up or finished it."""
    before = {node.id: node for node in ledger.plan}
    ended = {
        node.intent
        for node in plan
        if node.state in (PlanNodeState.DONE, PlanNodeState.PRUNED)
        and node.id in before
        and before[node.id].state is PlanNodeState.ACTIVE
    }
    active = next((node.intent for node in plan if node.state is PlanNodeState.ACTIVE), "")
    return replace(ledger, plan=plan, subgoal=active or ("" if ledger.subgoal in ended else ledger.subgoal))


def _node_of(data: dict[str, object], step: int) -> PlanNode:
    return PlanNode(
        state=_enum_of(PlanNodeState, data.get("state"), PlanNodeState.OPEN),
        step=step,
        remains=texts_of(data.get("remains")),
        **_texts(PlanNode, data),
    )


def _texts(record: type[Any], data: Mapping[str, object]) -> dict[str, Any]:
    """Return the texts of a record; "" where the data has none."""
    names = [field.name for field in fields(record) if field.type == "str"]
    return {name: value if isinstance(value := data.get(name), str) else "" for name in names}


def text_of(event: LedgerEvent, name: str) -> str:
    """Return a text of an event's data; "" where it is none."""
    value = event.data.get(name)
    return value if isinstance(value, str) else ""


def texts_of(value: object) -> tuple[str, ...]:
    """Return the texts of a list; none where it is no list."""
    items = cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
    return tuple(item for item in items if isinstance(item, str))


def _enum_of(words: type[EnumT], value: object, otherwise: EnumT) -> EnumT:
    return next((word for word in words if word.value == value), otherwise)


_REDUCERS: dict[str, Callable[[Ledger, LedgerEvent], Ledger]] = {
    "goal": _goal,
    "plan": _plan,
    "branch": _branch,
    "prune": _prune,
    "subgoal": _subgoal,
    "outcome": _outcome,
    "fact": _fact,
    "dead_end": _dead_end,
    "checkpoint": _checkpoint,
    "note": _note,
    "agent_note": _agent_note,
    "constraints": _constraints,
}


PlanTree = tuple[PlanNode, ...]

_PENDING = (PlanNodeState.OPEN, PlanNodeState.ACTIVE)
_DROPPED_REASON = "left out of a later plan"


def replanned(plan: PlanTree, wanted: Sequence[PlanNode]) -> PlanTree:
    """Return a plan that replaces the one before (AgentOccam's branch and prune, without its forgetting).

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
    """Return the node under an existing parent, with a free id (``2.1``), which is never used again."""
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
