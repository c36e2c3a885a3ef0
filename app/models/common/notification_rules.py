"""When to notify an operator about a run.  Pure functions and data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from app.engine.core.intervention_policy import InterventionPolicy, Reaction
from app.engine.core.labels import state_label
from app.engine.core.supervision import LiveRow, RaisedFlag, RunState
from app.engine.core.trajectory import Outcome

FlagId = tuple[str, str, int]
"""Run, detector and step: the key of a flag."""

_SUCCESSES = frozenset({Outcome.ANSWERED, Outcome.ENDED_BY_ENVIRONMENT, Outcome.DONE_BY_HAND})


class Urgency(IntEnum):
    """Urgency of a notification; of several reasons for one run only the most urgent is shown."""

    DONE = 1
    FLAGGED = 2  # the policy notifies about a flag; the run continues
    FAILED = 3
    BLOCKED = 4  # waits for an operator


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationReason:
    """Why a run needs attention.

    ``about`` is the id of the request behind it: once that is decided the reason no longer holds.  ``may_mend`` marks a
    fault that usually recovers by itself within seconds.
    """

    run: str
    weight: Urgency
    intent: str
    words: str
    about: str = ""
    may_mend: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A notification: the reasons of one moment, the most urgent first; a click opens ``run``."""

    reasons: tuple[NotificationReason, ...]

    @property
    def run(self) -> str:
        return self.reasons[0].run

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(reason.run for reason in self.reasons)

    @property
    def weight(self) -> Urgency:
        return self.reasons[0].weight


def new_reasons(
    before: LiveRow | None, after: LiveRow, policy: InterventionPolicy, told: Collection[FlagId]
) -> tuple[list[NotificationReason], list[FlagId]]:
    """Return the reasons to notify between two states of a run, and the flags that this reports.

    ``before`` is ``None`` for a new run; ``told`` are the flags reported earlier.  A run that an operator stopped or
    paused gives no reason.
    """
    known = {need.id for need in before.needs} if before is not None else set[str]()
    found = [
        NotificationReason(
            run=after.run, weight=Urgency.BLOCKED, intent=after.intent, words=need.question, about=need.id
        )
        for need in after.needs
        if need.id not in known
    ]
    was = before.state if before is not None else None
    if after.state is RunState.ENDED and was is not RunState.ENDED and after.outcome != Outcome.STOPPED:
        weight = Urgency.DONE if after.outcome in _SUCCESSES else Urgency.FAILED
        found.append(_reason(after, weight, after.why or state_label(after)))
    if after.state is RunState.INTERRUPTED and was is not None and was.alive and not was.held:
        broken = _reason(after, Urgency.BLOCKED, after.why or state_label(after))
        found.append(replace(broken, may_mend=True))
    flagged = [flag for flag in after.flags if flag_id(after.run, flag) not in told]
    stopping = [flag for flag in flagged if _reaction(policy, after, flag) is Reaction.PAUSE]
    telling = [flag for flag in flagged if _reaction(policy, after, flag) is Reaction.NOTIFY]
    if stopping and after.state is RunState.PAUSED:
        found.append(_reason(after, Urgency.BLOCKED, stopping[-1].message))
        telling += stopping
    elif telling and after.state.alive:
        found.append(_reason(after, Urgency.FLAGGED, telling[-1].message))
    return found, [flag_id(after.run, flag) for flag in telling]


def needs_operator(row: LiveRow, policy: InterventionPolicy) -> bool:
    """Return whether the run waits for an operator: a request is open, or a flag paused it."""
    return bool(row.needs) or (
        row.state is RunState.PAUSED
        and any(_reaction(policy, row, flag) is Reaction.PAUSE for flag in row.flags)
    )


def flag_id(run: str, flag: RaisedFlag) -> FlagId:
    return run, flag.detector, flag.step


def merge_reasons(reasons: Sequence[NotificationReason]) -> tuple[NotificationReason, ...]:
    """Return one reason for each run, the most urgent (of two alike the newer); the most urgent run first, then
    the oldest.
    """
    heaviest: dict[str, NotificationReason] = {}
    for reason in reasons:
        known = heaviest.get(reason.run)
        if known is None or reason.weight >= known.weight:
            heaviest[reason.run] = reason
    return tuple(sorted(heaviest.values(), key=lambda reason: -reason.weight))


def _reaction(policy: InterventionPolicy, row: LiveRow, flag: RaisedFlag) -> Reaction:
    return policy.reaction(row.site, flag.severity, flag.detector)


def _reason(row: LiveRow, weight: Urgency, words: str) -> NotificationReason:
    return NotificationReason(run=row.run, weight=weight, intent=row.intent, words=words)
