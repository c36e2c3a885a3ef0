"""What one turn leaves in the ledger: its outcome, a dead end where it led nowhere, a landmark where it got on."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from app.engine.agent.sight import Sight, Turn
from app.engine.calls import from_action, to_action
from app.engine.command import Navigate, elements_of
from app.engine.effect import Cause, Effect, Result
from app.engine.page_state import PageCapture
from app.engine.trajectory import ErrorClass, Step

EXPIRES = 8
"""Steps after which a dead end of a passing cause may be tried again."""

_PASSING = frozenset(
    {Cause.TIMEOUT, Cause.NETWORK, Cause.PAGE_LOST, Cause.COVERED, Cause.DISABLED, Cause.STALE, Cause.HIDDEN}
)
_NO_DEAD_END = frozenset({Cause.SYNTAX, Cause.PERSON, Cause.POLICY})

Event = tuple[str, dict[str, object]]


def events_of(turn: Turn, sight: Sight, before: Sequence[Turn]) -> list[Event]:
    """Kind and data of the ledger's events for a turn, in order."""
    result = turn.result
    found: list[Event] = [
        (
            "outcome",
            {
                "step": turn.step,
                "words": turn.words,
                "effect": result.effect.value,
                "success": result.success,
                "url": turn.url,
                "state": turn.state,
                "why": result.why,
            },
        )
    ]
    if not result.success and result.cause not in _NO_DEAD_END:
        passing = result.cause in _PASSING
        found.append(
            (
                "dead_end",
                {
                    "state": turn.state,
                    "target": target_of(turn, sight.page),
                    "cause": result.cause.value,
                    "words": f"{turn.words}: {result.why}"[:300],
                    "url": turn.url,
                    "step": turn.step,
                    "until": turn.step + EXPIRES if passing else 0,
                },
            )
        )
    landmark = _landmark(turn, before)
    if landmark:
        found.append(("checkpoint", landmark))
    return found


def target_of(turn: Turn, page: PageCapture) -> str:
    """What an action was aimed at, in words that hold on another look at the page."""
    numbers = elements_of(turn.command)
    if numbers and 0 <= numbers[0] < len(page.elements):
        element = page.elements[numbers[0]]
        return f"{element.role} '{element.name or element.text or element.label}'"
    return to_action(turn.command).kind + (
        f" {turn.command.query}" if isinstance(turn.command, Navigate) else ""
    )


def _landmark(turn: Turn, before: Sequence[Turn]) -> dict[str, object]:
    """A page of another path that was reached for the first time."""
    if turn.result.effect is not Effect.NAVIGATED or not turn.result.success:
        return {}
    seen = {urlsplit(known.url).path for known in before}
    path = urlsplit(turn.url).path
    if path in seen:
        return {}
    return {
        "kind": "navigation",
        "words": turn.title or path,
        "url": turn.url,
        "state": turn.state,
        "step": turn.step,
    }


def turns_of(steps: Sequence[Step]) -> tuple[Turn, ...]:
    """The turns of a run that is gone on with, from its stored steps; answers that held no action are left out."""
    turns: list[Turn] = []
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        command = from_action(step.action) if step.action is not None else None
        if command is None:
            continue
        turns.append(
            Turn(
                step=step.index,
                url=step.url,
                title=step.title,
                state=step.page_state,
                command=command,
                result=_result_of(step),
                words=step.words,
                reason=step.reason,
                state_after=after.page_state if after is not None else "",
            )
        )
    return tuple(turns)


def _result_of(step: Step) -> Result:
    effect = step.effect if step.effect in set(Effect) else Effect.NOTHING.value
    cause = step.cause if step.cause in set(Cause) else Cause.NONE.value
    return Result(
        success=step.error_class is ErrorClass.NONE,
        effect=Effect(effect),
        cause=Cause(cause),
        why=step.error,
        output=step.output,
        tried=step.tried,
        seconds=step.env_seconds,
    )
