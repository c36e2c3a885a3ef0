"""Loops: repeated actions, cycles of actions or pages, returning to the same address."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TypeVar

from app.engine.core.text import quoted
from app.engine.core.trajectory import Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import (
    FINAL_ACTIONS,
    KNOWN_ACTIONS,
    OFF_PAGE_ACTIONS,
    SINCE,
    ActionKey,
    Detector,
    Prior,
    RunContext,
    action_text,
    is_worth_flagging,
    ordinal,
    page_key,
    short_url,
    step_action_key,
    was_tried,
)
from app.engine.detectors.page_texts import is_words_alone

_NOT_COUNTED = OFF_PAGE_ACTIONS | FINAL_ACTIONS | {"scroll"}
"""Actions that are normal to repeat on one page: reading, waiting, thinking."""

_READS = re.compile(
    r"snapshot|screenshot|extract|observe|read|wait|get_|find_|console|network", re.IGNORECASE
)
"""Names of other programs' actions that look at a page, and may do so again and again."""

T = TypeVar("T")


def is_counted(kind: str) -> bool:
    """Whether doing this again is worth counting: no reading, waiting or thinking."""
    return kind not in _NOT_COUNTED and (kind in KNOWN_ACTIONS or not _READS.search(kind))


class StateActionLoop(Detector):
    name = "state-action-loop"
    version = 2
    severity = Severity.WARNING
    summary = "The same action was done on the same page content three times or more."
    prior = Prior(0.5, often=0.2, at_end=0.3)
    FIRST = 3

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._progress = FirstVisits()
        self._done: dict[tuple[str, ActionKey], list[int]] = {}

    def see_handover(self, page: Step) -> Iterable[Flag]:
        self._progress.see(page)
        self._progress.pause()
        return ()

    def see(self, step: Step) -> Iterable[Flag]:
        self._progress.see(step)
        if step.action is None or not was_tried(step) or not step.state or not is_counted(step.action.kind):
            return
        own = step_action_key(step)
        if own is None:
            return
        words = is_words_alone(self.context.pages.text(step.tree))
        key = (step.state + step.screenshot if words else step.state, own)
        done = self._done.setdefault(key, [])
        done.append(step.index)
        if is_worth_flagging(len(done), self.FIRST):
            since = self._progress.first_in_vain(done)
            yield self.flag(
                step.index,
                min(0.9, 0.66 + 0.04 * (len(done) - self.FIRST)),
                f"{ordinal(len(done))} time on the same page content: {action_text(step)}",
                {"times": len(done), SINCE: since, "action": action_text(step)},
            )


class RepeatedAction(Detector):
    """The same action again and again; of paging only the presses count that brought nothing new."""

    name = "repeated-action"
    version = 2
    severity = Severity.WARNING
    summary = "The same action was done five times in the run, or three times in a row."
    prior = Prior(1.0, often=0.2, at_end=0.2)
    IN_RUN = 5
    IN_ROW = 3

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._progress = FirstVisits()
        self._done: dict[ActionKey, list[int]] = {}
        self._row: list[int] = []
        self._key: ActionKey | None = None
        self._paged: Step | None = None

    def see_handover(self, page: Step) -> Iterable[Flag]:
        yield from self._look_at_paging(page)
        self._progress.pause()
        self._row, self._key = [], None

    def see(self, step: Step) -> Iterable[Flag]:
        yield from self._look_at_paging(step)
        if step.action is None or not was_tried(step) or not is_counted(step.action.kind):
            self._row, self._key = [], None
        elif is_paging(step):
            self._paged = step
        else:
            yield from self._count(step)

    def see_last(self, page: Step) -> Iterable[Flag]:
        yield from self._look_at_paging(page)

    def _look_at_paging(self, after: Step) -> Iterable[Flag]:
        """Count the paging before this page only if it led nowhere new."""
        paged, self._paged = self._paged, None
        self._progress.see(after)
        if paged is not None and not self._progress.was_useful(paged.index):
            yield from self._count(paged)

    def _count(self, step: Step) -> Iterable[Flag]:
        key = step_action_key(step)
        if key is None:
            self._row, self._key = [], None
            return
        done = self._done.setdefault(key, [])
        done.append(step.index)
        self._row = [*self._row, step.index] if key == self._key else [step.index]
        self._key = key
        if is_worth_flagging(len(done), self.IN_RUN):
            how, confidence, steps = f"{len(done)} times in this run", 0.79, done
        elif is_worth_flagging(len(self._row), self.IN_ROW):
            how, confidence, steps = f"{len(self._row)} times in a row", 0.72, self._row
        else:
            return
        evidence: dict[str, str | int | float] = {
            "times": len(done),
            "in_row": len(self._row),
            SINCE: self._progress.first_in_vain(steps),
            "action": action_text(step),
        }
        yield self.flag(step.index, confidence, f"{how}: {action_text(step)}", evidence)


class ActionCycle(Detector):
    """Actions in turn; rounds that turn a page of a list and bring something new each time are none."""

    name = "action-cycle"
    version = 2
    severity = Severity.WARNING
    summary = "Two to four actions were done in the same order at least twice in succession (A-B-A-B)."
    prior = Prior(0.4, often=0.2, at_end=0.2)
    LONGEST = 4

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._recent: deque[tuple[ActionKey, Step]] = deque(maxlen=self.LONGEST * 16)
        self._flagged = (0, 0)
        self._progress = FirstVisits()

    def see_handover(self, page: Step) -> Iterable[Flag]:
        self._progress.see(page)
        self._progress.pause()
        self._recent.clear()
        return ()

    def see(self, step: Step) -> Iterable[Flag]:
        self._progress.see(step)
        key = step_action_key(step)
        if step.action is None or key is None or not was_tried(step):
            self._recent.clear()
            return
        if not is_counted(step.action.kind):
            return
        self._recent.append((key, step))
        keys = [key for key, _ in self._recent]
        found = ((period, rounds_at_end(keys, period)) for period in range(2, self.LONGEST + 1))
        period, rounds = next(((p, r) for p, r in found if r), (0, 0))
        told = self._flagged[1] if self._flagged[0] == period else 0
        self._flagged = (period, max(told, rounds))
        if rounds > told and is_worth_flagging(rounds, 2):
            done = [one for _, one in list(self._recent)[-rounds * period :]]
            if self._turns_pages(done, period):
                return
            yield self.flag(
                step.index,
                0.6 if rounds < 3 else 0.75,
                f"The same {period} actions in the same order, {rounds} times: "
                + ", then ".join(map(action_text, done[-period:])),
                {"period": period, "rounds": rounds, SINCE: done[0].index},
            )

    def _turns_pages(self, done: Sequence[Step], period: int) -> bool:
        """Whether each round but the last, whose end is not seen yet, turned a page and led to something new."""
        paging = [one for one in done if is_paging(one)]
        earlier = [one for one in paging if one.index < done[-period].index]
        return bool(paging) and all(self._progress.was_useful(one.index) for one in earlier)


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


class FirstVisits:
    """Which steps of a run led to a page, or to a content of it, that the run had not seen before."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()
        self._useful: dict[int, bool] = {}
        self._before: Step | None = None

    def see(self, page: Step) -> None:
        """Note the page of the next step: what the step before led to."""
        here = (page_key(page.url), page.state or str(page.index))
        if self._before is not None:
            self._useful[self._before.index] = here not in self._known
        self._known.add(here)
        self._before = page

    def pause(self) -> None:
        """Forget the step before: what follows is not its result."""
        self._before = None

    def was_useful(self, step: int) -> bool:
        """Whether a step led to something new; ``False`` while its result is unknown."""
        return self._useful.get(step, False)

    def first_in_vain(self, steps: Sequence[int]) -> int:
        """Return the first of the steps in vain from which on two thirds were: a page's clock may look like news."""
        useful = [self.was_useful(step) for step in steps]
        for at, step in enumerate(steps):
            rest = useful[at:]
            if not useful[at] and 3 * sum(rest) <= len(rest):
                return step
        return steps[-1]


_PAGING_NAMES = re.compile(
    r"\W*(?:(?:go to |load |show |view |see )?(?:next|previous|prev|more|older|newer|earlier|later)"
    r"(?: (?:page|results?|items?|posts?|comments?|entries))?|load more(?: \w+)?|show more(?: \w+)?"
    r"|(?:page )?\d{1,4}|[»«›‹>]+)\W*",
    re.IGNORECASE,
)
_PAGING_ADDRESS = re.compile(
    r"[?&](?:page|p|offset|start|cursor|after|before)=|[?&]next(?:\[|%5B)|/page/\d", re.I
)


def is_paging(step: Step) -> bool:
    """Whether a step turns to another page of a list: "Next", "More", a page's number, an address with ``?page=``."""
    if step.action is None:
        return False
    if step.action.kind == "goto":
        return bool(_PAGING_ADDRESS.search(str(step.action.args.get("url", ""))))
    if step.action.kind not in ("click", "press") or step.target is None:
        return False
    name = " ".join(step.target.name.split())
    return step.target.role in ("link", "button", "menuitem", "") and bool(_PAGING_NAMES.fullmatch(name))
