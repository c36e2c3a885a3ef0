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
    Tier,
    Transition,
)
from app.engine.graph.replay.replay_check import compare

OnAttempt = Callable[[Attempt], Awaitable[None]]
BeforeStep = Callable[[int, Transition], Awaitable[None]]


class PathReplayer:
    """One replay.  ``page`` is the last capture, ``None`` if there is none.

    Args:
        states: page states by id: those on the path and others of the same addresses.
        home: the graph's home address.
        record: called with each attempt, including opening an address (``open``).
    """

    def __init__(
        self, session: BrowserSession, states: Mapping[str, PageState], *, home: str, record: OnAttempt
    ) -> None:
        self._session, self._states, self._home, self._record = session, states, home, record
        self._executor = graph_executor(session)
        self._at: defaultdict[str, list[PageState]] = defaultdict(list)
        for state in states.values():
            self._at[state.keys.url].append(state)
        self.page: PageCapture | None = None

    async def go(
        self, path: Sequence[Transition], before: BeforeStep | None = None
    ) -> tuple[ReplayVerdict, ...]:
        """Replay a path from the page in front; return a verdict for each step that was made or failed.

        A path that does not begin with an address begins on the source state of its first step; if that is not in
        front, it is opened by its address first, or the home page is, and verified like a step.

        Args:
            path: transitions in order, each from the state the one before led to (or from a sibling of its node).
            before: awaited before each step, with its number.
        """
        verdicts: list[ReplayVerdict] = []
        if path and path[0].operation is not Operation.OPEN:
            started = await self.go_to_state(self._states[path[0].source])
            if not started.kind.ok:
                return (started,)
        for number, transition in enumerate(path):
            if before is not None:
                await before(number, transition)
            verdict = await self.step(transition)
            verdicts.append(verdict)
            if verdict.kind.ends_path:
                break
        return tuple(verdicts)

    async def go_to_state(self, state: PageState) -> ReplayVerdict:
        """Bring a state to the front: it is there already, or its address (else the home page's) leads to it."""
        verdict = await self.check(state)
        if verdict.kind is ReplayVerdictKind.EXACT:
            return verdict
        began = time.monotonic()
        done = await open_page(self._session, self._home if state.direct is False else state.url)
        verdict = _failed(state.id, done.error) if done.error else await self.check(state)
        return replace(verdict, seconds=round(time.monotonic() - began, 3))

    async def step(self, transition: Transition) -> ReplayVerdict:
        """Make one step from the page in front, capture, compare, and report it."""
        began = time.monotonic()
        expected = self._states[transition.target]
        before = page_id(keys_of(self.page, self._home)) if self.page is not None else ""
        done, tier = await self._do(transition)
        verdict = _failed(expected.id, done.error) if done.error else await self.check(expected, done.status)
        if (
            verdict.kind is not ReplayVerdictKind.EXACT
            and verdict.reached
            and verdict.reached == before != expected.id
        ):
            verdict = replace(
                verdict,
                kind=ReplayVerdictKind.WRONG,
                why=f"nothing changed: {transition.words} had no effect",
            )
        verdict = replace(verdict, tier=tier, seconds=round(time.monotonic() - began, 3))
        await self._record(
            Attempt.of_replay(transition.id, time.time(), verdict.kind, verdict.why, verdict.seconds, tier)
        )
        return verdict

    async def check(self, expected: PageState, status: int = 0) -> ReplayVerdict:
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

    async def _do(self, transition: Transition) -> tuple[LoadResult, Tier | None]:
        if transition.operation is Operation.OPEN:
            return await open_page(self._session, transition.value), None
        if transition.locator is None:
            return LoadResult(f"it is not known how {transition.words!r} was done"), None
        if self.page is None:
            return LoadResult("there is no page to act on"), None
        found = resolve(transition.locator, self.page)
        if found.element is None:
            return LoadResult(found.why), None
        async with read_only(self._session) as guard:
            done = await operate(self._executor, found.element, transition.operation, transition.value)
            unsent = guard.refused()
        if unsent and not done.error:
            done = replace(done, error=f"{unsent[0]} was blocked: it would have changed something")
        return done, found.tier


def _failed(expected: str, why: str) -> ReplayVerdict:
    return ReplayVerdict(kind=ReplayVerdictKind.ERROR, expected=expected, why=why)
