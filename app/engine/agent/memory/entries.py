"""Ledger entries, events that have no number and time yet. Pure functions.

``LedgerStore.write`` turns entries into events; eviction and the loop only create them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.engine.core.action_result import ActionResult, Cause, Effect
from app.engine.core.ledger import Checkpoint, Fact, FactCategory, PlanNode, PlanNodeState

KINDS = frozenset(
    {
        "goal", "plan", "branch", "prune", "node", "subgoal", "outcome", "fact", "used", "retract", "dead_end",
        "checkpoint", "note",
    }
)  # fmt: skip
"""Kinds of events (``LedgerEvent.kind``)."""

_TRANSIENT_CAUSES = frozenset({Cause.NETWORK, Cause.TIMEOUT, Cause.STALE, Cause.ERROR_PAGE, Cause.PAGE_LOST})
_PAGE_STATE_CAUSES = frozenset(
    {Cause.COVERED, Cause.HIDDEN, Cause.DISABLED, Cause.MISSING, Cause.NO_EFFECT, Cause.DEAD_CLICK}
)
TRANSIENT_STEPS, PAGE_STATE_STEPS = 3, 10
"""Steps after which a failed attempt may be repeated: network and timing recover soon, a page's state later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A change of the ledger to be written; ``data`` is plain JSON (``LedgerEvent``)."""

    kind: str
    data: dict[str, object] = field(default_factory=dict[str, object])
    step: int = 0


def expiry_step(cause: str, step: int) -> int:
    """Return the step from which something that failed for this cause may be tried again; 0 for never in this run."""
    if cause in _TRANSIENT_CAUSES:
        return step + TRANSIENT_STEPS
    return step + PAGE_STATE_STEPS if cause in _PAGE_STATE_CAUSES else 0


def goal(text: str) -> LedgerEntry:
    """The task, in the user's words."""
    return LedgerEntry(kind="goal", data={"text": text})


def plan(nodes: Iterable[PlanNode], step: int = 0) -> LedgerEntry:
    """A plan that replaces the one before: subgoals it omits are given up, nothing is erased."""
    return LedgerEntry(
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


def branch(parent: str, intent: str, step: int = 0, node: str = "") -> LedgerEntry:
    """A new subgoal under ``parent`` ("" for the top); without an id it gets the next free one."""
    return LedgerEntry(kind="branch", step=step, data={"id": node, "parent": parent, "intent": intent})


def prune(node: str, reason: str, step: int = 0, remains: Sequence[str] = ()) -> LedgerEntry:
    """Give up a subgoal and everything open below it; ``remains`` is what it changed on the site."""
    return LedgerEntry(
        kind="prune", step=step, data={"node": node, "reason": reason, "remains": list(remains)}
    )


def node(name: str, state: PlanNodeState, step: int = 0, summary: str = "") -> LedgerEntry:
    """The state of a subgoal."""
    return LedgerEntry(kind="node", step=step, data={"id": name, "state": state.value, "summary": summary})


def subgoal(text: str, step: int = 0) -> LedgerEntry:
    """The current subgoal: a node's id, its text, or any other text."""
    return LedgerEntry(kind="subgoal", step=step, data={"text": text})


def outcome(step: int, words: str, result: ActionResult, *, url: str = "", state: str = "") -> LedgerEntry:
    """A step's action and its result; ``url`` and ``state`` are of the page it began on."""
    return LedgerEntry(
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
) -> LedgerEntry:
    """A known fact; another value under the same key retracts the older one, which stays."""
    return LedgerEntry(
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


def fact_of(known: Fact, step: int | None = None) -> LedgerEntry:
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


def used(keys: Iterable[str], step: int) -> LedgerEntry:
    """Facts that were referred to; they are shown first."""
    return LedgerEntry(kind="used", step=step, data={"keys": list(keys)})


def retract(key: str, why: str = "", step: int = 0) -> LedgerEntry:
    """Mark a fact as wrong; it stays, and only people see it."""
    return LedgerEntry(kind="retract", step=step, data={"key": key, "why": why})


def dead_end(
    words: str, *, state: str, target: str, cause: str, url: str = "", step: int = 0, until: int | None = None
) -> LedgerEntry:
    """An attempt that led nowhere; without ``until`` the cause decides when it may be tried again."""
    return LedgerEntry(
        kind="dead_end",
        step=step,
        data={
            "state": state,
            "target": target,
            "cause": cause,
            "words": words,
            "url": url,
            "until": expiry_step(cause, step) if until is None else until,
        },
    )


def dead_end_of(result: ActionResult, target: str, *, state: str, url: str, step: int) -> LedgerEntry | None:
    """Return the dead end of an action's result; ``None`` where it had an effect or was never understood."""
    if result.success and result.effect is not Effect.NOTHING:
        return None
    if result.cause in (Cause.SYNTAX, Cause.PERSON):
        return None
    cause = result.cause or Cause.NO_EFFECT
    return dead_end(result.why, state=state, target=target, cause=cause, url=url, step=step)


def checkpoint(mark: Checkpoint) -> LedgerEntry:
    """A landmark of progress."""
    return LedgerEntry(
        kind="checkpoint",
        step=mark.step,
        data={"kind": mark.kind, "words": mark.words, "url": mark.url, "state": mark.state},
    )


def note(text: str, step: int = 0) -> LedgerEntry:
    """A line for the episodic memory."""
    return LedgerEntry(kind="note", step=step, data={"text": text})
