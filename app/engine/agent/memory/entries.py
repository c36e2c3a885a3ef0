"""Ledger entries, events that have no number and time yet. Pure functions.

``LedgerStore.write`` turns entries into events; eviction and the loop only create them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.engine.core.action_result import ActionResult, Cause, Effect
from app.engine.core.ledger import Checkpoint, Constraint, Fact, FactCategory, PlanNode

KINDS = frozenset(
    {
        "goal",
        "plan",
        "branch",
        "prune",
        "subgoal",
        "outcome",
        "fact",
        "dead_end",
        "checkpoint",
        "note",
        "agent_note",
        "constraints",
    }
)
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


def _entry(kind: str, step: int, **data: object) -> LedgerEntry:
    return LedgerEntry(kind=kind, data=data, step=step)


def goal(text: str) -> LedgerEntry:
    """The task, in the user's words."""
    return _entry("goal", 0, text=text)


def plan(nodes: Iterable[PlanNode], step: int = 0) -> LedgerEntry:
    """A plan that replaces the one before: subgoals it omits are given up, nothing is erased."""
    stored = ("id", "parent", "intent", "state", "reason", "summary", "remains")
    return _entry("plan", step, nodes=[{name: getattr(node, name) for name in stored} for node in nodes])


def branch(parent: str, intent: str, step: int = 0) -> LedgerEntry:
    """A new subgoal under ``parent`` ("" for the top); it gets the next free id."""
    return _entry("branch", step, id="", parent=parent, intent=intent)


def prune(node: str, reason: str, step: int = 0, remains: Sequence[str] = ()) -> LedgerEntry:
    """Give up a subgoal and everything open below it; ``remains`` is what it changed on the site."""
    return _entry("prune", step, node=node, reason=reason, remains=list(remains))


def subgoal(text: str, step: int = 0) -> LedgerEntry:
    """The current subgoal: a node's id, its text, or any other text."""
    return _entry("subgoal", step, text=text)


def outcome(step: int, words: str, result: ActionResult, *, url: str = "", state: str = "") -> LedgerEntry:
    """A step's action and its result; ``url`` and ``state`` are of the page it began on."""
    effect, success, why = result.effect.value, result.success, result.why
    return _entry("outcome", step, words=words, effect=effect, success=success, why=why, url=url, state=state)


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
    return _entry(
        "fact",
        step,
        key=key,
        value=value,
        category=category.value,
        confidence=confidence,
        quote=quote,
        subgoal=subgoal,
    )


def fact_of(known: Fact, step: int) -> LedgerEntry:
    """An entry for a policy's fact."""
    return fact(
        known.key,
        known.value,
        step,
        category=known.category,
        confidence=known.confidence,
        quote=known.quote,
        subgoal=known.subgoal,
    )


def dead_end(
    words: str, *, state: str, target: str, cause: str, url: str = "", step: int = 0, until: int | None = None
) -> LedgerEntry:
    """An attempt that led nowhere; without ``until`` the cause decides when it may be tried again."""
    until = expiry_step(cause, step) if until is None else until
    return _entry(
        "dead_end", step, state=state, target=target, cause=cause, words=words, url=url, until=until
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
    data: dict[str, object] = {name: getattr(mark, name) for name in ("kind", "words", "url", "state")}
    return LedgerEntry(kind="checkpoint", step=mark.step, data=data)


def note(text: str, step: int = 0) -> LedgerEntry:
    """A line for the episodic memory."""
    return _entry("note", step, text=text)


def constraints(found: Iterable[Constraint], step: int = 0) -> LedgerEntry:
    """The task's constraints and whether they are met; see ``reducer`` for those that are left out."""
    told = [{"class": one.kind.value, "text": one.text, "met": one.met.value} for one in found]
    return _entry("constraints", step, constraints=told)


def agent_note(text: str, step: int = 0, url: str = "") -> LedgerEntry:
    """A note of the agent's own; ``url`` is the page in front."""
    return _entry("agent_note", step, text=text, url=url)
