"""The page of a supervised run: streamed, taken over, handed back, recovered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from app.engine.agent.secrets import Secrets
from app.engine.core.events import PageFrame
from app.engine.core.page_input import InputKind, NavigationKind, PageInput
from app.engine.core.page_state import PageCapture
from app.engine.core.request_groups import is_login_wall
from app.engine.core.supervision import RunState, TakeoverSummary
from app.engine.services.core import Core
from app.errors import Conflict, SiteloreError, StoreError

if TYPE_CHECKING:
    from app.engine.agent.health_probes import DiskProbe
    from app.engine.agent.loop import AgentLoop
    from app.engine.agent.memory.ledger_store import LedgerStore
    from app.engine.agent.ports import ActionExecutor
    from app.engine.agent.run_control import RunControl
    from app.engine.agent.takeover.graph_path import TakeoverPath
    from app.engine.agent.takeover.takeover import Takeover
    from app.engine.browser.capture.screencast import Screencast, ScreencastFrame
    from app.engine.browser.executor import Executor
    from app.engine.browser.live_browser import LiveBrowser
    from app.engine.services.policy_factory import PolicyBundle
    from app.engine.services.run_knowledge import RunGraphs


log = logging.getLogger(__name__)

TAKEOVER_END_TIMEOUT = 8.0
"""Seconds that the end of a takeover may take before its run is stopped anyway."""


_AWAITED = frozenset({InputKind.PRESS, InputKind.RELEASE, InputKind.KEY_DOWN, InputKind.TEXT})
"""Inputs whose effect a person waits to see."""


class SupervisedPage:
    """The page of one run.

    Attributes:
        loop: the run's loop, while there is one.
        account: summary of the latest takeover.  path: its page states, for a graph.
        home: the address that page states are relative to.
        there: set once the page can be taken over, or the run is over.
    """

    def __init__(self, core: Core, run: str, disk: DiskProbe, set_health: Callable[[str], None]) -> None:
        self._core, self._run, self._disk, self._set_health = core, run, disk, set_health
        self._watchdog: asyncio.Task[None] | None = None
        self._wanted = (0, 0, 0.0)
        self._screen: Screencast | None = None
        self._browser: LiveBrowser | None = None
        self._takeover: Takeover | None = None
        self._peek: Callable[[], Awaitable[PageCapture]] | None = None
        self._handing = asyncio.Lock()
        """Held while a takeover begins: input meanwhile waits, and is not lost."""
        self._releasing = False
        self.logging_in = asyncio.Lock()
        """Held while the run is given a log-in: a takeover waits."""
        self.login_before: dict[str, list[Any]] | None = None
        """Cookies and local storage as they were when a run that waits at a log-in was taken over: secrets."""
        self._frames = 0
        self._secrets, self.home = Secrets(), ""
        self.loop: AgentLoop | None = None
        self.available = asyncio.Event()
        self.summary: TakeoverSummary | None = None
        self.path: TakeoverPath | None = None

    # ------------------------------------------------------------ its life

    def attach(
        self,
        control: RunControl,
        start_url: str,
        executor: Executor,
        browser: LiveBrowser,
        graphs: RunGraphs,
        bundle: PolicyBundle,
        book: LedgerStore,
        secrets: Secrets,
    ) -> ActionExecutor:
        """Take a new browser; return the executor for the loop, which recovers a lost browser."""
        from app.engine.agent.health_probes import RunHealthProbe
        from app.engine.agent.recovery import RecoveringExecutor
        from app.engine.agent.watchdog import Watchdog
        from app.engine.browser.capture.screencast import Screencast

        self._browser, self._secrets = browser, secrets
        self.home = graphs.domains()[0].home if graphs.domains() else start_url
        graphs.gate = control.wait_until_released
        hands = RecoveringExecutor(
            executor,
            browser,
            control,
            home=self.home,
            back_to=graphs.back_to if graphs.domains() else None,
            book=book,
            mask=secrets.mask,
        )
        self._peek = lambda: hands.between_operations(executor.peek)
        probe = RunHealthProbe(control, browser, hands, self._disk, bundle.heartbeat)
        watchdog = Watchdog(control, probe, hands, noticed=self._set_health)
        self._watchdog = self._core.registry.hold(watchdog.watch())
        self._screen = Screencast(browser.session, self._frame, self._core.registry.hold)
        self._core.registry.hold(self._screen.watch(*self._wanted))
        return hands

    async def detach(self) -> None:
        """Release the browser, which is about to be closed."""
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._watchdog = None
        if self._takeover is not None:
            with suppress(StoreError):  # whoever ends it is told
                await self._end_takeover()
            self._takeover = None
        screen, self._screen = self._screen, None
        if screen is not None:
            await screen.aclose()
        self._browser = self.loop = self._peek = self.login_before = None

    # ------------------------------------------------------------ a person's eyes

    async def watch(self, width: int, height: int, rate: float) -> None:
        """Stream pictures that fit into ``width`` x ``height``, at most ``rate`` a second; 0 stops.  Kept for
        new browsers.
        """
        self._wanted = (width, height, rate)
        if self._screen is not None:
            await self._screen.watch(width, height, rate)

    async def peek(self) -> PageCapture:
        """Capture the page for a person, without secrets; the agent's numbers stay what they are.

        Raises:
            Conflict: there is no page, it is busy, or it does not answer.  PageGone: it is lost.
        """
        from app.engine.agent.secret_masking import mask_secrets

        if self._peek is None:
            raise Conflict("there is no page to point at: the run is not active")
        return mask_secrets(await self._peek(), self._secrets)

    def _frame(self, frame: ScreencastFrame) -> None:
        pointer, seen = None, 0.0
        if self._takeover is not None:
            pointer = self._takeover.pointer
            seen = self._takeover.done_by(frame.at)
        self._frames += 1
        self._core.bus.publish(
            PageFrame(
                run=self._run,
                number=self._frames,
                width=frame.width,
                height=frame.height,
                page_width=frame.page_width,
                page_height=frame.page_height,
                jpeg=frame.jpeg,
                url=frame.url,
                pointer=pointer,
                input_at=seen,
            )
        )

    # ------------------------------------------------------------ a person's hands

    async def take_over(self, control: RunControl) -> None:
        """Hold the agent, and give the page to the operator.

        Raises:
            Conflict: there is no page, or it is taken over already.
        """
        from app.engine.agent.takeover.takeover import Takeover

        if self._browser is None or self.loop is None:
            raise Conflict("there is no page to take over: the run is not active")
        if self._handing.locked():
            raise Conflict("the page is being taken over already")
        async with self._handing, self.logging_in:
            is_walled = any(map(is_login_wall, control.needs))
            await control.take_over()
            try:
                self.login_before = await self._login_state() if is_walled else None
                self._unguarded(True)
                takeover = Takeover(
                    self._browser.session,
                    secrets=self._secrets,
                    home=self.home,
                    write=self.loop.add_operator_step,
                    spawn=self._core.registry.hold,
                    run=self._run,
                    tell=self._set_health,
                )
                await takeover.begin()
            except BaseException:
                self._unguarded(False)
                await control.release(None)
                raise
            if control.state is not RunState.TAKEN_OVER:
                await takeover.end()
                self._unguarded(False)
                raise Conflict("the run ended before it could be taken over")
            self._takeover, self.path = takeover, None

    async def input(self, inputs: Sequence[PageInput]) -> None:
        """Forward mouse and keyboard input.  Raises ``Conflict`` where the page is not taken over."""
        takeover = await self._in_hand()
        if takeover is None:
            raise Conflict("you don't have control of the page; take it over first")
        if self._screen is not None and any(one.kind in _AWAITED for one in inputs):
            self._screen.hurry()
        await takeover.input(inputs)

    async def move(self, move: NavigationKind, url: str) -> tuple[str, str]:
        """Open an address, go back, forward, or reload; return what went wrong, and the page's address.

        Raises ``Conflict`` where the page is not taken over, ``UsageError`` for an invalid address.
        """
        takeover = await self._in_hand()
        if takeover is None:
            raise Conflict("you don't have control of the page; take it over first")
        said = await takeover.move(move, url)
        return said, self._browser.address if self._browser is not None else ""

    async def release(
        self, control: RunControl, then: Callable[[TakeoverSummary], Awaitable[None]]
    ) -> TakeoverSummary:
        """Hand the page back: store what was done by hand, then await ``then``, which releases the run.

        Where ``then`` fails the agent has the page back all the same.
        """
        if await self._in_hand() is None or control.state is not RunState.TAKEN_OVER:
            raise Conflict("you don't have control of the page")
        if self._releasing:
            raise Conflict("the page is being handed back already")
        self._releasing = True
        try:
            account = await self._end_takeover()
            try:
                await then(account)
            except BaseException:
                await control.release(account)
                raise
        finally:
            self._releasing = False
        return account

    async def end_takeover_and_stop(self, stop: Callable[[], None]) -> TakeoverSummary | None:
        """Stop the run, ending a takeover first: its steps are stored while the run accepts them.

        A disk that takes nothing does not keep the run from being stopped.
        """
        if await self._in_hand() is None:
            stop()
            return None
        ending = self._core.registry.hold(self._end_takeover())
        await asyncio.wait([ending], timeout=TAKEOVER_END_TIMEOUT)
        stop()
        try:
            return await ending
        except StoreError as error:
            log.warning("the takeover of run %s could not be stored: %s", self._run, error)
            return None

    @property
    def browser(self) -> LiveBrowser | None:
        """The browser, while the run has one."""
        return self._browser

    @property
    def taken_over(self) -> bool:
        """Whether the operator has the page."""
        return self._takeover is not None

    async def _in_hand(self) -> Takeover | None:
        """Return the takeover, after one that is beginning is complete."""
        async with self._handing:
            return self._takeover

    async def _end_takeover(self) -> TakeoverSummary:
        takeover = self._takeover
        assert takeover is not None
        self.summary = await takeover.end()  # where the disk takes nothing it is still in the person's hands
        self._takeover, self.path = None, takeover.path
        self._unguarded(False)
        return self.summary

    async def _login_state(self) -> dict[str, list[Any]] | None:
        with suppress(SiteloreError):
            return await self._browser.login_state() if self._browser is not None else None
        return None

    def _unguarded(self, on: bool) -> None:
        """Let the operator's requests leave the browser (``on``), or hold up the agent's writes again."""
        guard = self._browser.session.guard if self._browser is not None else None
        if guard is not None:
            guard.set_bypassed(on)
