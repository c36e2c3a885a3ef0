"""The watchdog of a run: checks its health every two seconds, reports faults and applies remedies."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from app.engine.agent.health import (
    DEFAULT_HEALTH_LIMITS,
    HealthFault,
    HealthFinding,
    HealthLimits,
    HealthSignals,
    Remedy,
    diagnose,
)
from app.engine.core.supervision import RunState

if TYPE_CHECKING:
    from app.engine.agent.run_control import RunControl

log = logging.getLogger(__name__)


class HealthProbe(Protocol):
    """Health signals the watchdog reads (``app.engine.agent.health_probes.RunHealthProbe``)."""

    def broken(self) -> str:
        """Return the fault that browser or page report themselves, "" for none."""
        ...

    async def page(self) -> bool:
        """Whether the page in front answers."""
        ...

    async def disk(self) -> str:
        """Return why nothing can be written; "" where it can."""
        ...

    def model(self) -> tuple[float | None, bool]:
        """Return seconds since the model last showed activity (``None``: no call is open), and whether its
        answer has begun.
        """
        ...


class RecoveryHandler(Protocol):
    """Applies remedies to the browser (``app.engine.agent.recovery.RecoveringExecutor``)."""

    def mark_hung(self, why: str) -> None:
        """Mark the browser as hung: it is killed before anything else is done."""
        ...

    async def recover(self) -> bool:
        """Reopen the browser now, where it is lost; return whether it works."""
        ...

    def block_actions(self, why: str) -> None:
        """Block actions on the page; "" unblocks them."""
        ...


def boot_clock() -> float:
    """Return seconds of a clock that continues while the machine sleeps."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.time()


class Watchdog:
    """Watches one run for as long as ``watch`` is awaited.

    Args:
        noticed: called with the fault, and with "" once it is over.
        clock: stops while the machine sleeps.  always: does not.

    Attributes:
        why: the present fault in a sentence, "" for none.
    """

    def __init__(
        self,
        control: RunControl,
        probe: HealthProbe,
        nurse: RecoveryHandler,
        *,
        limits: HealthLimits = DEFAULT_HEALTH_LIMITS,
        noticed: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        always: Callable[[], float] = boot_clock,
    ) -> None:
        self._control, self._probe, self._nurse = control, probe, nurse
        self._limits, self._noticed = limits, noticed
        self._clock, self._always = clock, always
        self.why = ""
        now = clock()
        self._answered = self._stage_since = now
        self._stage_mark = 0.0
        self._broken_since: float | None = None
        self._last = (now, always())
        self._acted: tuple[HealthFault, float] | None = None

    async def watch(self) -> None:
        """Check again and again; to be cancelled when the run is over.  A check that fails is logged."""
        while True:
            due = self._always() + self._limits.every
            await asyncio.sleep(self._limits.every)
            try:
                await self.look(late=self._always() - due)
            except Exception:
                log.exception("the watchdog check of run %s failed", self._control.run)

    async def look(self, late: float = 0.0) -> HealthFinding | None:
        """Check once and apply the remedy; ``late`` is the delay of this check in seconds."""
        slept = max(late, self._slept())
        found = diagnose(await self._signs(slept), self._limits)
        self._tell(found)
        self._nurse.block_actions(
            found.why if found is not None and found.remedy is Remedy.BLOCK_ACTIONS else ""
        )
        if found is not None:
            await self._do(found)
        return found

    # internals

    async def _signs(self, slept: float) -> HealthSignals:
        control, now = self._control, self._clock()
        if control.stage_since != self._stage_mark or slept > self._limits.slept:
            self._stage_mark, self._stage_since = control.stage_since, now
        broken = self._probe.broken()
        if not broken:
            self._broken_since = None
        elif self._broken_since is None:
            self._broken_since = now
        answers, disk = await asyncio.gather(self._page_answers(broken), self._probe.disk())
        now = self._clock()
        if answers or broken or slept > self._limits.slept or control.state is RunState.RECOVERING:
            self._answered = now
        silence, answering = self._probe.model()
        return HealthSignals(
            state=control.state,
            stage=control.stage,
            stage_seconds=now - self._stage_since,
            broken=broken,
            broken_seconds=now - self._broken_since if self._broken_since is not None else 0.0,
            page_silence=now - self._answered,
            model_silence=silence,
            model_answers=answering,
            disk=disk,
            slept=slept,
        )

    async def _page_answers(self, broken: str) -> bool:
        return not broken and await self._probe.page()

    def _slept(self) -> float:
        """Return the seconds of sleep since the last check, by the difference of the two clocks."""
        clock, always = self._last
        self._last = self._clock(), self._always()
        return (self._last[1] - always) - (self._last[0] - clock)

    def _tell(self, found: HealthFinding | None) -> None:
        why = found.why if found is not None else ""
        if why == self.why:
            return
        if found is not None and not self.why:
            log.info("run %s: %s", self._control.run, why)
        self.why = why
        if self._noticed is not None:
            self._noticed(why)

    async def _do(self, found: HealthFinding) -> None:
        control = self._control
        if found.remedy is Remedy.LOOK_AGAIN:
            control.hold_count += 1  # the decision in progress is about an old page
            return
        if found.remedy is Remedy.RECOVER:
            await self._nurse.recover()
            return
        if found.remedy not in (Remedy.INTERRUPT, Remedy.RESTART_BROWSER):
            return
        stage = (found.fault, control.stage_since)
        if stage == self._acted:
            return  # already interrupted, and about to end
        self._acted = stage
        if found.remedy is Remedy.RESTART_BROWSER:
            self._nurse.mark_hung(found.why)
        control.interrupt(found.why)
