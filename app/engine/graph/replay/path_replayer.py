"""Replays a path in a live browser, step by step, and verifies each page before the next step.

After ``wrong``, ``blocked`` or ``error`` the replay ends, because the next step was meant for another page.  After
``drifted`` it continues only if the next element is still found.

(WebNavigator continues over exceptions on whatever page it is, and reports every path as a success.)
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from app.engine.browser.capture.snapshot import PageGone
from app.engine.browser.graph_operations import graph_executor, operate
from app.engine.browser.locators import resolve
from app.engine.browser.network.write_guard import read_only
from app.engine.browser.page_loading import LoadResult, open_page
from app.engine.browser.session import BrowserSession
from app.engine.core.identity import keys_of, page_id
from app.engine.core.page_state import PageCapture, PageState
from app.engine.core.transition import (
    Attempt,
    Operation,
    ReplayVerdict,
    ReplayVerdictKind,
    Source,
    Tier,
    Transition,
)
from app.engine.graph.replay.replay_check import compare

OnAttempt = Callable[[Attempt], Awaitable[None]]


async def replay_path(
    session: BrowserSession,
    legs: Sequence[Transition],
    states: Mapping[str, PageState],
    *,
    home: str,
    record: OnAttempt,
) -> tuple[ReplayVerdict, ...]:
    """Replay a path from the page in front; return a verdict for each step that was made or failed.

    A path that does not begin with an address begins on the source state of its first step; if that is not in front,
    it is opened by its address first, or the home page is, and verified like a step.

    Args:
        legs: transitions in order, each from the state the one before led to (or from a sibling of its node).
        states: page states by id: those on the path and others of the same addresses.
        home: the graph's home address.
        record: called with each attempt, including opening an address (``open``).
    """
    return await PathReplayer(session, states, home=home, record=record).go(legs)


class PathReplayer:
    """One replay.  ``page`` is the last capture, ``None`` if there is none."""

    def __init__(
        self, session: BrowserSession, states: Mapping[str, PageState], *, home: str, record: OnAttempt
    ) -> None:
        self._session, self._states, self._home, self._record = session, states, home, record
        self._executor = graph_executor(session)
        self._at: defaultdict[str, list[PageState]] = defaultdict(list)
        for state in states.values():
            self._at[state.keys.url].append(state)
        self.page: PageCapture | None = None

    async def go(self, legs: Sequence[Transition]) -> tuple[ReplayVerdict, ...]:
        """Replay a path from the page in front (``replay_path``)."""
        arrivals: list[ReplayVerdict] = []
        if legs and legs[0].operation is not Operation.OPEN:
            started = await self.go_to_state(self._states[legs[0].source])
            if not started.kind.ok:
                return (started,)
        for leg in legs:
            arrival = await self.step(leg)
            arrivals.append(arrival)
            if arrival.kind.ends_path:
                break
        return tuple(arrivals)

    async def go_to_state(self, state: PageState) -> ReplayVerdict:
        """Bring a state to the front: it is there already, or its address (else the home page's) leads to it."""
        arrival = await self.look(state)
        if arrival.kind is ReplayVerdictKind.EXACT:
            return arrival
        began = time.monotonic()
        done = await open_page(self._session, self._home if state.direct is False else state.url)
        arrival = _failed(state.id, done.error) if done.error else await self.look(state)
        return replace(arrival, seconds=round(time.monotonic() - began, 3))

    async def step(self, leg: Transition) -> ReplayVerdict:
        """Make one step from the page in front, capture, compare, and report it."""
        began = time.monotonic()
        expected = self._states[leg.target]
        before = page_id(keys_of(self.page, self._home)) if self.page is not None else ""
        done, tier = await self._do(leg)
        arrival = _failed(expected.id, done.error) if done.error else await self.look(expected, done.status)
        if (
            arrival.kind is not ReplayVerdictKind.EXACT
            and arrival.reached
            and arrival.reached == before != expected.id
        ):
            arrival = replace(
                arrival, kind=ReplayVerdictKind.WRONG, why=f"nothing changed: {leg.words} had no effect"
            )
        arrival = replace(arrival, tier=tier, seconds=round(time.monotonic() - began, 3))
        await self._record(
            Attempt(
                transition=leg.id,
                at=time.time(),
                arrival=arrival.kind,
                seconds=arrival.seconds,
                tier=tier.value if tier is not None else "",
                divergence=arrival.why if arrival.kind is not ReplayVerdictKind.EXACT else "",
                by=Source.TRAVELLED,
            )
        )
        return arrival

    async def look(self, expected: PageState, status: int = 0) -> ReplayVerdict:
        """Compare the page in front with a state; ``status`` is the HTTP status, 0 if unknown."""
        try:
            self.page = await self._executor.capture(picture=False)
        except PageGone as gone:
            self.page = None
            return _failed(expected.id, str(gone))
        if status and not self.page.status:
            self.page = replace(self.page, status=status)
        keys = keys_of(self.page, self._home)
        rivals = self._at.get(expected.keys.url, ())
        return compare(expected, keys, self.page, home=self._home, rivals=rivals)

    async def _do(self, leg: Transition) -> tuple[LoadResult, Tier | None]:
        if leg.operation is Operation.OPEN:
            return await open_page(self._session, leg.value), None
        if leg.locator is None:
            return LoadResult(f"it is not known how {leg.words!r} was done"), None
        if self.page is None:
            return LoadResult("there is no page to act on"), None
        found = resolve(leg.locator, self.page)
        if found.element is None:
            return LoadResult(found.why), None
        async with read_only(self._session) as guard:
            done = await operate(self._executor, found.element, leg.operation, leg.value)
            unsent = guard.refused()
        if unsent and not done.error:
            done = replace(done, error=f"{unsent[0]} was blocked: it would have changed something")
        return done, found.tier


def _failed(expected: str, why: str) -> ReplayVerdict:
    return ReplayVerdict(kind=ReplayVerdictKind.ERROR, expected=expected, why=why)
