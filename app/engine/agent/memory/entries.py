"""Ledger entries, events that have no number and time yet. Pure functions.

``LedgerBook.write`` turns entries into events; eviction and the loop only create them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.engine.effect import Cause, Effect, Result
from app.engine.ledger import Checkpoint, Fact, FactCategory, NodeState, PlanNode

KINDS = frozenset(
    {
        "goal", "plan", "branch", "prune", "node", "subgoal", "outcome", "fact", "used", "retract", "dead_end",
        "checkpoint", "note",
    }
)  # fmt: skip
"""Kinds of events (``LedgerEvent.kind``)."""

_SOON = frozenset({Cause.NETWORK, Cause.TIMEOUT, Cause.STALE, Cause.ERROR_PAGE, Cause.PAGE_LOST})
_LATER = frozenset(
    {Cause.COVERED, Cause.HIDDEN, Cause.DISABLED, Cause.MISSING, Cause.NO_EFFECT, Cause.DEAD_CLICK}
)
SOON, LATER = 3, 10
"""Steps after which a failed attempt may be repeated: network and timing recover soon, a page's state later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A change of the ledger to be written; ``data`` is plain JSON (``LedgerEvent``)."""

    kind: str
    data: dict[str, object] = field(default_factory=dict[str, object])
    step: int = 0


def expires(cause: str, step: int) -> int:
    """Return the step from which something that failed for this cause may be tried again; 0 for never in this run."""
    if cause in _SOON:
        return step + SOON
    return step + LATER if cause in _LATER else 0


def goal(text: str) -> Entry:
    """The task, in the user's words."""
    return Entry(kind="goal", data={"text": text})


def plan(nodes: Iterable[PlanNode], step: int = 0) -> Entry:
    """A plan that replaces the one before: subgoals it omits are given up, nothing is erased."""
    return Entry(
        kind="plan",
        step=step,
        data={
            "nodes": [
                {
                    "id": node.id,
                    "parent": node.parent,
                    "intent": node.intent,
                    "state": node.state.value,
                    "reason": node.reason,
                    "summary": node.summary,
                    "remains": list(node.remains),
                }
                for node in nodes
            ]
        },
    )


def branch(parent: str, intent: str, step: int = 0, node: str = "") -> Entry:
    """A new subgoal under ``parent`` ("" for the top); without an id it gets the next free one."""
    return Entry(kind="branch", step=step, data={"id": node, "parent": parent, "intent": intent})


def prune(node: str, reason: str, step: int = 0, remains: Sequence[str] = ()) -> Entry:
    """Give up a subgoal and everything open below it; ``remains`` is what it changed on the site."""
    return Entry(kind="prune", step=step, data={"node": node, "reason": reason, "remains": list(remains)})


def node(name: str, state: NodeState, step: int = 0, summary: str = "") -> Entry:
    """The state of a subgoal."""
    return Entry(kind="node", step=step, data={"id": name, "state": state.value, "summary": summary})


def subgoal(text: str, step: int = 0) -> Entry:
    """The current subgoal: a node's id, its text, or any other text."""
    return Entry(kind="subgoal", step=step, data={"text": text})


def outcome(step: int, words: str, result: Result, *, url: str = "", state: str = "") -> Entry:
    """A step's action and its result; ``url`` and ``state`` are of the page it began on."""
    return Entry(
        kind="outcome",
        step=step,
        data={
            "words": words,
            "effect": result.effect.value,
            "success": result.success,
            "why": result.why,
            "url": url,
            "state": state,
        },
    )


def fact(
    key: str,
    value: str,
    step: int = 0,
    *,
    category: FactCategory = FactCategory.OBSERVATION,
    confidence: float = 1.0,
    quote: str = "",
    subgoal: str = "",
) -> Entry:
    """A known fact; another value under the same key retracts the older one, which stays."""
    return Entry(
        kind="fact",
        step=step,
        data={
            "key": key,
            "value": value,
            "category": category.value,
            "confidence": confidence,
            "quote": quote,
            "subgoal": subgoal,
        },
    )


def fact_of(known: Fact, step: int | None = None) -> Entry:
    """An entry for a policy's fact."""
    return fact(
        known.key,
        known.value,
        known.step if step is None else step,
        category=known.category,
        confidence=known.confidence,
        quote=known.quote,
        subgoal=known.subgoal,
    )


def used(keys: Iterable[str], step: int) -> Entry:
    """Facts that were referred to; they are shown first."""
    return Entry(kind="used", step=step, data={"keys": list(keys)})


def retract(key: str, why: str = "", step: int = 0) -> Entry:
    """Mark a fact as wrong; it stays, and only people see it."""
    return Entry(kind="retract", step=step, data={"key": key, "why": why})


def dead_end(
    words: str, *, state: str, target: str, cause: str, url: str = "", step: int = 0, until: int | None = None
) -> Entry:
    """An attempt that led nowhere; without ``until`` the cause decides when it may be tried again."""
    return Entry(
        kind="dead_end",
        step=step,
        data={
            "state": state,
            "target": target,
            "cause": cause,
            "words": words,
            "url": url,
            "until": expires(cause, step) if until is None else until,
        },
    )


def dead_end_of(result: Result, target: str, *, state: str, url: str, step: int) -> Entry | None:
    """Return the dead end of an action's result; ``None`` where it had an effect or was never understood."""
    if result.success and result.effect is not Effect.NOTHING:
        return None
    if result.cause in (Cause.SYNTAX, Cause.PERSON):
        return None
    cause = result.cause or Cause.NO_EFFECT
    return dead_end(result.why, state=state, target=target, cause=cause, url=url, step=step)


def checkpoint(mark: Checkpoint) -> Entry:
    """A landmark of progress."""
    return Entry(
        kind="checkpoint",
        step=mark.step,
        data={"kind": mark.kind, "words": mark.words, "url": mark.url, "state": mark.state},
    )


def note(text: str, step: int = 0) -> Entry:
    """A line for the episodic memory."""
    return Entry(kind="note", step=step, data={"text": text})
