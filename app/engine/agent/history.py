"""Ledger entries of one step: its outcome, a dead end where it failed, a checkpoint where it made progress."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from app.engine.agent.memory.entries import LedgerEntry, checkpoint, dead_end_of, outcome
from app.engine.core.action_result import ActionResult, Cause, Effect
from app.engine.core.actions.recorded import from_recorded, to_recorded
from app.engine.core.actions.types import Navigate, elements_of
from app.engine.core.ledger import Checkpoint
from app.engine.core.observation import HistoryEntry, Observation
from app.engine.core.page_state import PageCapture
from app.engine.core.trajectory import BY_PERSON, ErrorClass, Step


def ledger_entries(
    turn: HistoryEntry, observation: Observation, url: str, before: Sequence[HistoryEntry]
) -> list[LedgerEntry]:
    """Return the ledger entries of a step, in order; ``url`` is where it ended."""
    result = turn.result
    found = [outcome(turn.step, turn.words, result, url=url, state=turn.state)]
    if not result.success:
        target = target_words(turn, observation.page)
        dead = dead_end_of(result, target, state=turn.state, url=turn.url, step=turn.step)
        found += [dead] if dead is not None else []
    mark = _navigation_checkpoint(turn, url, before)
    return [*found, checkpoint(mark)] if mark is not None else found


def target_words(turn: HistoryEntry, page: PageCapture) -> str:
    """Describe the target of an action in words that hold on another look at the page."""
    numbers = elements_of(turn.action)
    if numbers and 0 <= numbers[0] < len(page.elements):
        element = page.elements[numbers[0]]
        return f"{element.role} '{element.name or element.text or element.label}'"
    return to_recorded(turn.action).kind + (
        f" {turn.action.query}" if isinstance(turn.action, Navigate) else ""
    )


def _navigation_checkpoint(turn: HistoryEntry, url: str, before: Sequence[HistoryEntry]) -> Checkpoint | None:
    """Return a checkpoint for a page of another path that was reached for the first time."""
    if turn.result.effect is not Effect.NAVIGATED or not turn.result.success:
        return None
    path = urlsplit(url).path
    if path in {urlsplit(known.url).path for known in (*before, turn)}:
        return None
    return Checkpoint(kind="navigation", words=f"{turn.words} led to {path}", url=url, step=turn.step)


def history_of_steps(steps: Sequence[Step]) -> tuple[HistoryEntry, ...]:
    """Return the history of a resumed run from its stored steps.

    Answers without an action are left out, and so are a person's steps: the agent did not decide them.
    """
    turns: list[HistoryEntry] = []
    for number, step in enumerate(steps):
        after = steps[number + 1] if number + 1 < len(steps) else None
        action = from_recorded(step.action) if step.action is not None else None
        if action is None or step.by == BY_PERSON:
            continue
        turns.append(
            HistoryEntry(
                step=step.index,
                url=step.url,
                title=step.title,
                state=step.page_state,
                action=action,
                result=_result_of(step),
                words=step.words,
                reason=step.reason,
                state_after=after.page_state if after is not None else "",
            )
        )
    return tuple(turns)


def _result_of(step: Step) -> ActionResult:
    effect = step.effect if step.effect in set(Effect) else Effect.NOTHING.value
    cause = step.cause if step.cause in set(Cause) else Cause.NONE.value
    return ActionResult(
        success=step.error_class is ErrorClass.NONE,
        effect=Effect(effect),
        cause=Cause(cause),
        why=step.error,
        output=step.output,
        tried=step.tried,
        seconds=step.env_seconds,
    )
