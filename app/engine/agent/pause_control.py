"""Pause control of one run: pause, step, stop, take over; and the watchdog's interruption of what hangs.

The loop passes gates and reports its stages; everyone else calls the methods from the same event loop.  Nothing here
touches the page, and nothing is asked (``app.engine.agent.run_control``).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

from app.engine.core.hand_back import HandBack
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import ApprovalRequest, PlannedAction, RunState, Stage, TakeoverSummary
from app.errors import Conflict, SiteloreError

_INTERRUPTIBLE = frozenset({Stage.LOOKING, Stage.THINKING, Stage.ACTING})


class RunClock:
    """Seconds a run was active (``own``) and was held; neither counts before its start and after its end."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._own = self._held = 0.0
        self._goes, self._since = "", clock()

    @property
    def own(self) -> float:
        """Seconds it was not held."""
        return self._own + (self._clock() - self._since if self._goes == "own" else 0.0)

    @property
    def held(self) -> float:
        """Seconds it was held."""
        return self._held + (self._clock() - self._since if self._goes == "held" else 0.0)

    def run(self, *, own: bool, held: bool) -> None:
        """Select the clock that runs from now on; at most one does."""
        self._own, self._held = self.own, self.held
        self._since = self._clock()
        self._goes = "own" if own else "held" if held else ""


class WatchdogTimeout(SiteloreError):
    """The watchdog cut short an operation of the loop; the message says why."""


class DecisionStale(Exception):
    """A decision, or the operation under way, is stale: the run was held, or is to end."""


class PauseControl:
    """State of one run as a person or the watchdog pauses, stops or takes it over.

    Attributes:
        step: number of the loop's current step.
        touches: how often the page was changed by a takeover or a restarted browser; ``hold_count`` how often the
            loop was held.
        why: why the run is paused, recovering or in trouble, in a sentence; "" where nothing is wrong.
        account: summary of a takeover that the agent has not been given yet.
        handed: how often a person has handed the page back.
        end_by_hand: how a person ended the run, once they did.
        decided_on: the capture whose numbers the pending decision uses; ``None`` where none is pending.
        changed: called whenever state, stage or needs change.
        planned: called with each action before it is done; ``unplanned`` once it is done or given up.

    Args:
        clock: seconds that do not advance while the machine sleeps.  now: Unix seconds.
    """

    def __init__(
        self,
        run: str = "",
        *,
        site: str = "",
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        changed: Callable[[], None] | None = None,
        planned: Callable[[PlannedAction], None] | None = None,
        unplanned: Callable[[], None] | None = None,
    ) -> None:
        self.run, self.site = run, site
        self.on_change, self.on_planned, self.on_unplanned = changed, planned, unplanned
        self.step = self.page_changes = self.hold_count = self.hand_backs = 0
        self.why = ""
        self.takeover_summary: TakeoverSummary | None = None
        self.end_by_hand: HandBack | None = None
        self.decided_on: PageCapture | None = None
        self._now = now
        self._clocks = RunClock(clock)
        self._state, self._stage, self._stage_since = RunState.STARTING, Stage.IDLE, now()
        self._begun = self._ended = self._stopping = False
        self._paused = self._single = self._taking = False
        self._pause_next: str | None = None
        """Why the run is paused once its page is handed back, ``None`` where it is not."""
        self._unready = False
        """No page is open yet that could be taken over."""
        self._mending = self._driving = 0
        self._needs: dict[str, ApprovalRequest] = {}
        self._limit: asyncio.Timeout | None = None
        self._cut: Exception | None = None
        self._bell = asyncio.Event()

    # state

    @property
    def state(self) -> RunState:
        """State of the run."""
        return self._state

    @property
    def stage(self) -> Stage:
        """Current stage of the loop."""
        return self._stage

    @property
    def stage_since(self) -> float:
        """Unix seconds at which the stage began."""
        return self._stage_since

    @property
    def seconds(self) -> float:
        """The run's own clock, which stops while the run is held."""
        return self._clocks.own

    @property
    def held_seconds(self) -> float:
        """Total time the run was held."""
        return self._clocks.held

    @property
    def needs(self) -> tuple[ApprovalRequest, ...]:
        """Open requests, including those that could not be stored."""
        return tuple(self._needs.values())

    @property
    def stopping(self) -> bool:
        """The run is to end."""
        return self._stopping

    @property
    def pause_requested(self) -> bool:
        """A pause was requested; it has taken effect once ``state`` says so."""
        return self._paused

    @property
    def page_mark(self) -> tuple[int, int]:
        """Changes whenever the run was held or the page changed, so that the page must be looked at again."""
        return self.hold_count, self.page_changes

    @property
    def supervised(self) -> bool:
        """A person can be asked."""
        return False

    # called for a person or the watchdog

    def pause(self, why: str = "", author: str = "") -> None:
        """Hold the run before its next action; ``author`` is who wants it (``policy``, ``watchdog``, a person).

        Raises:
            Conflict: the run is over.
        """
        self._check_alive()
        self._paused, self._single = True, False
        self.why = why
        self._shift()

    @property
    def is_taken(self) -> bool:
        """Whether a person has its page, or is about to."""
        return self._taking

    def pause_after_takeover(self, why: str | None) -> None:
        """Let the run be paused once its page is handed back; ``None``: let it go on."""
        self._pause_next = why if self._taking else None

    def resume(self) -> None:
        """Resume a paused run.  Raises ``Conflict`` where it is over or taken over."""
        self._check_alive()
        if self._taking:
            raise Conflict("the run is taken over; hand it back first")
        self._paused = self._single = False
        self.why = ""
        self._shift()

    def step_once(self) -> None:
        """Let a paused run do one step, and hold it again.  Raises as ``go_on``."""
        self.resume()
        self._single = True

    def stop(self) -> None:
        """End the run after the action in flight; at once where it is held or thinks."""
        self._stopping = True
        if self.supervised and self._stage is Stage.THINKING:
            self._cut_short(DecisionStale("the run is stopping"))
        self._shift()

    def finish_by_hand(self, end: HandBack) -> None:
        """End the run because a person did its task or knows its answer.

        Raises:
            Conflict: the run is over, or is ending.
        """
        self._check_alive()
        if self._stopping:
            raise Conflict("the run is already ending")
        self.end_by_hand = end
        self.stop()

    def interrupt(self, why: str) -> bool:
        """Cut short the loop's current operation; ``False`` where none may be cut: the loop is held, or writes."""
        return self._cut_short(WatchdogTimeout(why))

    async def take_over(self) -> None:
        """Hold the run for a takeover; return when the loop no longer touches the page.

        Raises:
            Conflict: the run is taken over already, or is over.
        """
        self._check_alive()
        if self._taking:
            raise Conflict("the run is already taken over")
        paused, self._paused, self._taking = self._paused, False, True  # held for the takeover from now on
        self.clear_planned_action()
        if self._stage in (Stage.LOOKING, Stage.THINKING):
            self._cut_short(DecisionStale("a person takes over"))
        self._shift()
        try:
            while self._state is not RunState.TAKEN_OVER:
                if self._ended or not self._taking:
                    raise Conflict("the run ended before it could be taken over")
                await self._bell.wait()
        except BaseException:
            self._paused, self._taking = paused or self._pause_next is not None, False
            self.why, self._pause_next = self._pause_next or self.why, None
            self._shift()
            raise

    async def release(self, takeover_summary: TakeoverSummary | None = None) -> None:
        """Hand the page back: the agent gets the summary, looks again and continues, unless it is to be paused.

        Raises:
            Conflict: the run is not taken over.
        """
        if not self._taking:
            raise Conflict("the run is not taken over")
        if takeover_summary is not None:
            self.takeover_summary = takeover_summary
        self._taking = self._single = False
        self._paused, self.why = self._pause_next is not None, self._pause_next or ""
        self._pause_next = None
        self.page_changes += 1
        self.hand_backs += 1
        self._shift()

    # called by the loop

    @asynccontextmanager
    async def in_stage(self, stage: Stage) -> AsyncGenerator[None]:
        """Mark the loop as busy with a stage, so that it can be interrupted.

        Raises:
            Interrupted: the watchdog cut it short.  DecisionStale: a person did.
        """
        before = self._stage
        self._enter(stage)
        limit = asyncio.timeout(None)
        outer, self._limit = self._limit, limit
        try:
            async with limit:
                yield
        except TimeoutError:
            cut, self._cut = self._cut, None
            if cut is None or not limit.expired():
                raise
            raise cut from None
        finally:
            self._limit, self._cut = outer, None
            self._enter(before)

    async def wait_until_released(self, *, pass_takeover: bool = False) -> bool:
        """Wait while the run is held; return whether it was.  To be awaited before every action.

        With ``pass_takeover`` a run that is to be taken over passes: there is no page yet, and the takeover
        starts at the next
        gate.
        """
        self._unready = pass_takeover
        if not self._holding or (pass_takeover and self._taking):
            return False
        before = self._stage
        self.hold_count += 1
        self._enter(Stage.HELD)
        try:
            while self._holding and not (pass_takeover and self._taking):
                await self._bell.wait()
        finally:
            self._enter(before)
        return True

    async def before_action(self) -> None:
        """The gate right before the page is touched.  Raises ``DecisionStale`` where the run was held and must decide
        again.
        """
        if await self.wait_until_released() or (self._stopping and self.supervised):
            raise DecisionStale("the run was held")

    def clear_planned_action(self) -> None:
        """Withdraw the next action: it was done or given up, or the page has changed."""
        self.decided_on = None
        if self.on_unplanned is not None:
            self.on_unplanned()

    def on_step_recorded(self) -> None:
        """Hold the run again after a single step."""
        if self._single:
            self._single, self._paused = False, True
            self._shift()

    def end(self) -> None:
        """End the loop, whatever its outcome, and wake everyone who waits for the run."""
        self._ended = True
        self._needs.clear()
        self._shift()

    @contextmanager
    def recovering(self, why: str) -> Generator[None]:
        """Mark the run as recovering its browser or page."""
        self._mending += 1
        self.why = why
        self._shift()
        try:
            yield
        finally:
            self._mending -= 1
            self.why = "" if self.why == why else self.why
            self._shift()

    @contextmanager
    def driven(self) -> Generator[None]:
        """Hold the run, also one whose request is decided, while its page is driven by the program."""
        self._driving += 1
        try:
            yield
        finally:
            self._driving -= 1
            self._shift()

    # internals

    @property
    def _holding(self) -> bool:
        return not self._stopping and (self._paused or self._taking or self._driving > 0)

    def _check_alive(self) -> None:
        if self._ended:
            raise Conflict("the run is over")

    def _enter(self, stage: Stage) -> None:
        if stage is not self._stage:
            self._stage, self._stage_since = stage, self._now()
            self._shift(always=True)

    def _cut_short(self, cut: Exception) -> bool:
        if self._limit is None or self._stage not in _INTERRUPTIBLE or self._cut is not None:
            return False
        self._cut = cut
        self._limit.reschedule(asyncio.get_running_loop().time())
        return True

    def _shift(self, *, always: bool = False) -> None:
        """Recompute the state from all flags, wake waiting tasks and notify the observer."""
        state = self._follows()
        moved = state is not self._state
        self._state = state
        self._clocks.run(own=self._begun and state.alive and not state.held, held=state.held)
        self._ring()
        if (moved or always) and self.on_change is not None:
            self.on_change()

    def _follows(self) -> RunState:
        if self._ended:
            return RunState.ENDED
        if not self._begun:
            return RunState.STARTING
        if self._taking and self._stage is Stage.HELD and not self._unready:
            return RunState.TAKEN_OVER
        if self._needs:
            return RunState.WAITING
        if self._mending:
            return RunState.RECOVERING
        # An action in flight is not held; it ends in a moment.
        return RunState.PAUSED if self._paused and self._stage is not Stage.ACTING else RunState.RUNNING

    def _ring(self) -> None:
        bell, self._bell = self._bell, asyncio.Event()
        bell.set()
