"""Fold ledger events into the ledger. Pure functions: the same events give the same ledger.

Nothing is ever lost: facts are retracted and subgoals pruned, but stay. Events come from disk and are read tolerantly;
one of an unknown kind, or without required data, changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, TypeVar, cast

from app.engine.agent.memory.plan import branched, pruned, replanned, with_active
from app.engine.core.ledger import (
    Checkpoint,
    DeadEnd,
    Fact,
    FactCategory,
    Ledger,
    LedgerEvent,
    PlanNode,
    PlanNodeState,
    StepOutcome,
)

RECENT = 3
"""Recent outcomes that are kept; the length of SuperBrowser's deque."""

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
}
