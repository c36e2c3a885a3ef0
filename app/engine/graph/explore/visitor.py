"""One worker of an exploration: brings its page to a state, performs one action there, and reports where that led."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal
from urllib.parse import urlsplit

from app.engine.browser.driver import BrowserGone, Driver, DriverFailure, DriverResult, PageLost
from app.engine.core import identity
from app.engine.core.page_state import Challenge, PageCapture, PageKeys, PageState
from app.engine.core.transition import (
    Attempt,
    FrontierItem,
    Operation,
    ReplayVerdict,
    ReplayVerdictKind,
    Transition,
)
from app.engine.graph.explore.exploration_graph import EntryPath, ExplorationGraph
from app.engine.graph.explore.pacing import Clock, Pacer
from app.engine.graph.replay.replay_check import compare

TRIES = 3
"""Number of tries to open an address before the fault counts as the site's response."""
RETRY_LIMIT_SECONDS = 5.0
"""Seconds after which an address that brought nothing is not retried."""
HANG_SECONDS = 60.0
"""Seconds after which a step without a response is abandoned, together with its page."""


@dataclass(frozen=True, slots=True)
class ObservedState:
    """The current page: its capture, keys and state id."""

    page: PageCapture
    keys: PageKeys
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitOutcome:
    """The result of an attempt.  ``observed`` is ``None`` if no page of the site was reached.

    ``end`` names other results: ``away`` left the site, ``file`` started a download, ``unsent`` would have sent
    something, ``same`` changed nothing, ``failed``; ``why`` says it in words.
    """

    observed: ObservedState | None = None
    result: DriverResult = field(default_factory=DriverResult)
    end: Literal["", "away", "file", "unsent", "same", "failed"] = ""
    why: str = ""
    seconds: float = 0.0
    strayed: ObservedState | None = None
    """The page that is open instead, when a state could not be reached again."""


class OutOfTime(Exception):
    """The time budget ran out during an attempt; the attempt has no result."""


_SETS_A_VALUE = frozenset({"checkbox", "radio", "switch", "combobox"})
"""Roles of controls that keep a value which the page did not have."""

OnTransitionRepeated = Callable[[Attempt], Awaitable[None]]
OnAddressOpened = Callable[[PageState, ObservedState | None], Awaitable[None]]


class Visitor:
    """Drives one page.

    Args:
        graph: what is known so far; only read.
        on_repeated: called with every known transition that was repeated on the path to a state.
        on_address_opened: called with the result of opening a state's address for the first time.
        left: returns the seconds left overall; every wait ends with them (``OutOfTime``).
    """

    def __init__(
        self, driver: Driver, graph: ExplorationGraph, pacer: Pacer, clock: Clock, *, pictures: bool,
        on_repeated: OnTransitionRepeated, on_address_opened: OnAddressOpened, left: Callable[[], float] = lambda: inf,
    ) -> None:  # fmt: skip
        self._left = left
        self._driver, self._graph, self._pacer, self._clock = driver, graph, pacer, clock
        self._pictures, self._on_repeated, self._on_address_opened = pictures, on_repeated, on_address_opened
        self._host = urlsplit(graph.home).netloc
        self.observed: ObservedState | None = None
        self.load_seconds = 0.0
        self.capture_seconds = 0.0

    async def try_item(self, item: FrontierItem, source: PageState, address: str) -> VisitOutcome:
        """Try one element of a state; ``address`` is set for a link that may be opened by its address.

        A page lost on the way is reopened once.

        Raises:
            BrowserGone: no browser starts any more.
            OutOfTime: no time is left.
        """
        began = self._clock.tick()
        outcome = VisitOutcome(end="failed", why="the page was lost")
        for _ in range(2):
            limit = self._limit()
            try:
                async with asyncio.timeout(limit):
                    if address:
                        outcome = await self.open(address)
                    else:
                        outcome = await self._operate(item, source)
            except TimeoutError:
                self._check(limit)
                outcome = _lost(f"the page did not answer for {HANG_SECONDS:.0f} s")
            except PageLost as error:
                outcome = _lost(str(error))
            if outcome.result.trouble is not DriverFailure.LOST:
                break
            await self.renew()
        return replace(outcome, seconds=self._clock.tick() - began)

    async def open_safely(self, url: str) -> VisitOutcome:
        """Open an address; a page lost meanwhile is a failure.  Raises as ``renew``."""
        limit = self._limit()
        try:
            async with asyncio.timeout(limit):
                return await self.open(url)
        except (TimeoutError, PageLost) as error:
            if isinstance(error, TimeoutError):
                self._check(limit)
            await self.renew()
            return _lost(str(error) or "the page did not respond")

    async def renew(self) -> None:
        """Start with an empty page.  Raises ``BrowserGone`` and ``OutOfTime``."""
        self.observed = None
        limit = self._limit()
        try:
            async with asyncio.timeout(limit):
                await self._driver.reopen()
        except TimeoutError:
            self._check(limit)
            gone = BrowserGone(f"the browser gave no page for {HANG_SECONDS:.0f} s")
            gone.slow = True
            raise gone from None

    def _limit(self) -> float:
        return max(0.0, min(HANG_SECONDS, self._left()))

    def _check(self, limit: float) -> None:
        """Raise ``OutOfTime`` if a step that used up its limit was cut short by the overall time budget."""
        if limit < HANG_SECONDS:
            self.observed = None
            raise OutOfTime

    async def open(self, url: str) -> VisitOutcome:
        """Open an address; retry transient faults a few times.  Raises ``PageLost``."""
        result = DriverResult(trouble=DriverFailure.UNREACHABLE)
        for turn in range(TRIES):
            if turn:
                await self._clock.sleep(0.5 * turn)
            await self._pacer.wait()
            self.observed = None
            result = await self._driver.open(url)
            self.load_seconds += result.seconds
            if result.status in (429, 503):
                self._pacer.slow_down()
            elif result.ok:
                self._pacer.speed_up()
            if (
                result.trouble not in (DriverFailure.SERVER, DriverFailure.UNREACHABLE)
                or result.seconds > RETRY_LIMIT_SECONDS
            ):
                break
        return await self._arrived(result)

    async def reach(self, state: PageState) -> VisitOutcome:
        """Bring the page to a state by the shortest known path, and verify it.  Raises ``PageLost``."""
        if self.observed is not None and self.observed.id == state.id:
            return VisitOutcome(observed=self.observed)
        outcome = VisitOutcome(end="failed", why="no path to it is known")
        if state.direct is None and not self._other_state_there(state):
            outcome = await self.open(state.url)
            await self._on_address_opened(state, outcome.observed)
            if outcome.observed is not None and outcome.observed.id == state.id:
                return outcome
            outcome = _strayed(outcome, outcome.why or "its address leads to another page")
        for _ in range(2):
            route = self._graph.route(state.id)
            if route is None:
                break
            outcome = await self._go(route)
            if outcome.observed is not None:
                return outcome
        return outcome

    def _other_state_there(self, state: PageState) -> bool:
        """Whether its address is known to lead to another state of the page (its menu closed, say)."""
        return self._graph.landing.get(state.keys.url, state.id) != state.id

    async def _go(self, route: EntryPath) -> VisitOutcome:
        outcome = await self.open(route.start.url)
        arrival = self._verified(route.start, outcome)
        for step in route.transitions:
            if arrival.kind.ends_path:
                break
            expected = self._graph.states[step.target]
            began = self._clock.tick()
            outcome = await self._act(step)
            arrival = self._verified(expected, outcome)
            seconds, tier = self._clock.tick() - began, outcome.result.tier
            await self._on_repeated(
                Attempt.of_replay(step.id, self._clock.now(), arrival.kind, arrival.why, seconds, tier)
            )
        return _strayed(outcome, arrival.why) if arrival.kind.ends_path else outcome

    def _verified(self, expected: PageState, outcome: VisitOutcome) -> ReplayVerdict:
        """Compare the page with the expected state; a similar page suffices if the next element is unambiguous
        there.
        """
        now = outcome.observed
        if now is None:
            return ReplayVerdict(
                kind=ReplayVerdictKind.ERROR, expected=expected.id, why=outcome.why or "no page was reached"
            )
        rivals = self._graph.at(expected.keys.url)
        found = compare(expected, now.keys, now.page, home=self._graph.home, rivals=rivals)
        if found.kind is ReplayVerdictKind.SAME_TEMPLATE and now.keys.url != expected.keys.url:
            return replace(found, kind=ReplayVerdictKind.WRONG)
        return found

    async def _act(self, step: Transition) -> VisitOutcome:
        if step.locator is None:
            return VisitOutcome(end="failed", why="it is not known how it was done")
        self.observed = None
        result = await self._driver.act(step.operation, step.locator, step.value)
        return await self._arrived(result)

    async def _operate(self, item: FrontierItem, source: PageState) -> VisitOutcome:
        """Perform the item on its page; if the page changed meanwhile, once more on a fresh one."""
        outcome = await self._operate_once(item, source)
        if outcome.result.trouble is DriverFailure.MISSING and outcome.strayed is None:
            self.observed = None
            outcome = await self._operate_once(item, source)
        return outcome

    async def _operate_once(self, item: FrontierItem, source: PageState) -> VisitOutcome:
        reached = await self.reach(source)
        if reached.observed is None:
            why = f"the page it is on was not reached again: {reached.why}"
            return VisitOutcome(result=reached.result, end="failed", why=why, strayed=reached.strayed)
        if item.locator is None:
            return VisitOutcome(end="failed", why="it has no locator")
        await self._pacer.wait()
        self.observed = None
        kept = item.operation in (Operation.SELECT, Operation.HOVER)
        operation = item.operation if kept else Operation.CLICK
        result = await self._driver.act(
            operation, item.locator, item.value if operation is Operation.SELECT else ""
        )
        self.load_seconds += result.seconds
        if result.trouble in (DriverFailure.MISSING, DriverFailure.REFUSED):
            self.observed = reached.observed  # nothing was touched
        outcome = await self._arrived(result)
        now = outcome.observed
        if now is None or now.id != reached.observed.id:
            return outcome
        if item.operation is Operation.SELECT or item.locator.role in _SETS_A_VALUE:
            self.observed = None  # a form is submitted with the page's own values
        popup = next((url for url in now.page.popups if urlsplit(url).netloc == self._host), "")
        if popup:
            return await self.open(popup)
        if now.page.popups:
            return VisitOutcome(
                result=result, end="away", why=f"opened a window on {urlsplit(now.page.popups[0]).netloc}"
            )
        if now.page.downloads:
            return VisitOutcome(result=result, end="file", why=f"downloaded {now.page.downloads[0]}")
        if result.unsent:
            return VisitOutcome(
                result=result, end="unsent", why=f"{', '.join(result.unsent[:3])} was not submitted"
            )
        said = f"; alert: {now.page.alerts[0][:120]}" if now.page.alerts else ""
        return VisitOutcome(observed=now, result=result, end="same", why=f"nothing changed{said}")

    async def _arrived(self, result: DriverResult) -> VisitOutcome:
        if not result.ok:
            end = "file" if result.trouble is DriverFailure.FILE else "failed"
            return VisitOutcome(result=result, end=end, why=result.why)
        page = await self._driver.look(picture=self._pictures)
        self.capture_seconds += page.seconds
        host = urlsplit(page.url).netloc
        if host != self._host:
            return VisitOutcome(result=result, end="away", why=f"leads to {host or page.url[:40]}")
        status = result.status or page.status
        if status >= 400 and page.challenge is Challenge.NONE:
            return VisitOutcome(result=result, end="failed", why=f"the site returned status {status}")
        keys = identity.keys_of(page, self._graph.home)
        self.observed = ObservedState(page, keys, identity.page_id(keys))
        return VisitOutcome(observed=self.observed, result=result)


def _strayed(outcome: VisitOutcome, why: str) -> VisitOutcome:
    return VisitOutcome(result=outcome.result, end="failed", why=why, strayed=outcome.observed)


def _lost(why: str) -> VisitOutcome:
    return VisitOutcome(result=DriverResult(trouble=DriverFailure.LOST, why=why), end="failed", why=why)
