"""Loops: repeated actions, cycles of actions or pages, returning to the same address."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import TypeVar

from app.engine.core.text import quoted
from app.engine.core.trajectory import Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import (
    FINAL_ACTIONS,
    OFF_PAGE_ACTIONS,
    SINCE,
    ActionKey,
    Detector,
    Prior,
    RunContext,
    action_key,
    action_text,
    is_worth_flagging,
    ordinal,
    page_key,
    short_url,
    was_tried,
)

_NOT_COUNTED = OFF_PAGE_ACTIONS | FINAL_ACTIONS | {"scroll"}
"""Actions that are normal to repeat on one page: reading, waiting, thinking."""

T = TypeVar("T")


class StateActionLoop(Detector):
    name = "state-action-loop"
    severity = Severity.WARNING
    summary = "The same action was done on the same page content three times or more."
    prior = Prior(0.5, often=0.2, at_end=0.3)
    FIRST = 3

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._counts: dict[tuple[str, ActionKey], tuple[int, int]] = {}

    def see(self, step: Step) -> Iterable[Flag]:
        if step.action is None or not was_tried(step) or not step.state or step.action.kind in _NOT_COUNTED:
            return
        key = (step.state, action_key(step.action, step.target))
        count, since = self._counts.get(key, (0, step.index))
        self._counts[key] = (count + 1, since)
        if is_worth_flagging(count + 1, self.FIRST):
            yield self.flag(
                step.index,
                min(0.9, 0.66 + 0.04 * (count + 1 - self.FIRST)),
                f"{ordinal(count + 1)} time on the same page content: {action_text(step)}",
                {"times": count + 1, SINCE: since, "action": action_text(step)},
            )


class RepeatedAction(Detector):
    name = "repeated-action"
    severity = Severity.WARNING
    summary = "The same action was done five times in the run, or three times in a row."
    prior = Prior(1.0, often=0.2, at_end=0.2)
    IN_RUN = 5
    IN_ROW = 3

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._counts: dict[ActionKey, tuple[int, int]] = {}
        self._row: tuple[ActionKey | None, int, int] = (None, 0, 0)

    def see_handover(self, page: Step) -> Iterable[Flag]:
        self._row = (None, 0, 0)
        return ()

    def see(self, step: Step) -> Iterable[Flag]:
        if step.action is None or not was_tried(step) or step.action.kind in _NOT_COUNTED:
            self._row = (None, 0, 0)
            return
        key = action_key(step.action, step.target)
        count, since = self._counts.get(key, (0, step.index))
        count += 1
        self._counts[key] = (count, since)
        last, length, began = self._row
        length, began = (length + 1, began) if key == last else (1, step.index)
        self._row = (key, length, began)
        if is_worth_flagging(count, self.IN_RUN):
            how, confidence, began = f"{count} times in this run", 0.79, since
        elif is_worth_flagging(length, self.IN_ROW):
            how, confidence = f"{length} times in a row", 0.72
        else:
            return
        evidence: dict[str, str | int | float] = {
            "times": count,
            "in_row": length,
            SINCE: began,
            "action": action_text(step),
        }
        yield self.flag(step.index, confidence, f"{how}: {action_text(step)}", evidence)


class ActionCycle(Detector):
    name = "action-cycle"
    severity = Severity.WARNING
    summary = "Two to four actions were done in the same order at least twice in succession (A-B-A-B)."
    prior = Prior(0.4, often=0.2, at_end=0.2)
    LONGEST = 4

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._recent: deque[tuple[ActionKey, Step]] = deque(maxlen=self.LONGEST * 16)
        self._flagged = (0, 0)

    def see_handover(self, page: Step) -> Iterable[Flag]:
        self._recent.clear()
        return ()

    def see(self, step: Step) -> Iterable[Flag]:
        if step.action is None or not was_tried(step):
            self._recent.clear()
            return
        if step.action.kind in _NOT_COUNTED:
            return
        self._recent.append((action_key(step.action, step.target), step))
        keys = [key for key, _ in self._recent]
        found = ((period, rounds_at_end(keys, period)) for period in range(2, self.LONGEST + 1))
        period, rounds = next(((p, r) for p, r in found if r), (0, 0))
        told = self._flagged[1] if self._flagged[0] == period else 0
        self._flagged = (period, max(told, rounds))
        if rounds > told and is_worth_flagging(rounds, 2):
            yield self.flag(
                step.index,
                0.6 if rounds < 3 else 0.75,
                f"The same {period} actions in the same order, {rounds} times: "
                + ", then ".join(action_text(done) for _, done in list(self._recent)[-period:]),
                {"period": period, "rounds": rounds, SINCE: self._recent[-rounds * period][1].index},
            )


class PageCycle(Detector):
    name = "back-and-forth"
    severity = Severity.WARNING
    summary = "The agent went back and forth between the same two pages at least twice (A-B-A-B)."
    prior = Prior(0.5, often=0.2, at_end=0.2)

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._pages: deque[tuple[str, int]] = deque(maxlen=64)
        self._flagged = 0
        self._last = 0

    def see(self, step: Step) -> Iterable[Flag]:
        self._last = step.index
        yield from self._look(step.url)

    def see_handover(self, page: Step) -> Iterable[Flag]:
        yield from self._look(page.url)
        self._pages.clear()
        self._flagged = 0

    def see_last(self, page: Step) -> Iterable[Flag]:
        yield from self._look(page.url)

    def _look(self, url: str) -> Iterable[Flag]:
        key = page_key(url)
        if not key or (self._pages and self._pages[-1][0] == key):
            return
        self._pages.append((key, self._last))
        rounds = rounds_at_end([page for page, _ in self._pages], 2)
        told = self._flagged if rounds else 0
        self._flagged = max(told, rounds)
        if rounds > told and is_worth_flagging(rounds, 2):
            pages = f"{quoted(short_url(self._pages[-2][0]))} and {quoted(short_url(key))}"
            yield self.flag(
                self._last,
                0.64 if rounds < 3 else 0.75,
                f"Went back and forth between 2 pages {rounds} times: {pages}",
                {"rounds": rounds, SINCE: self._pages[-2 * rounds][1], "url": url},
            )


class UrlRevisits(Detector):
    name = "url-revisits"
    severity = Severity.HINT
    summary = "The agent came back to the same address, after leaving it, three times or more."
    prior = Prior(0.2, often=0.1, at_end=0.1)
    FIRST = 3

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._here: str | None = ""
        self._visits: dict[str, tuple[int, int]] = {}

    def see_handover(self, page: Step) -> Iterable[Flag]:
        self._here = None  # where a person left the page, the agent has not come back
        return ()

    def see(self, step: Step) -> Iterable[Flag]:
        key = page_key(step.url)
        if self._here is None:
            self._here = key
        if not key or key == self._here:
            return
        self._here = key
        times, since = self._visits.get(key, (-1, step.index))
        times += 1
        since = step.index if times == 1 else since
        self._visits[key] = (times, since)
        if is_worth_flagging(times, self.FIRST):
            yield self.flag(
                step.index,
                min(0.7, 0.5 + 0.03 * times),
                f"Came back to {quoted(short_url(step.url))} for the {ordinal(times)} time",
                {"times": times, SINCE: since, "url": step.url},
            )


def rounds_at_end(items: Sequence[T], period: int) -> int:
    """Return how often the last ``period`` items repeat at the end; 0 for once, or where they are all alike."""
    last = items[-period:]
    if len(last) < period or all(item == last[0] for item in last):
        return 0
    rounds, at = 1, len(items) - 2 * period
    while at >= 0 and items[at : at + period] == last:
        rounds, at = rounds + 1, at - period
    return rounds if rounds > 1 else 0
