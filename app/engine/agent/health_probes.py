"""Health probes of a run's browser, disk and model."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.core.supervision import RunState

if TYPE_CHECKING:
    from app.engine.agent.model.limits import Heartbeat
    from app.engine.agent.recovery import RecoveringExecutor
    from app.engine.agent.run_control import RunControl
    from app.engine.browser.live_browser import LiveBrowser

MIN_FREE_BYTES = 4 << 20
"""Minimum free space: a step takes about 100 kB, and SQLite needs room to change a row."""
DISK_CHECK_SECONDS = 5.0
"""Seconds between two write tests."""
DISK_TIMEOUT = 4.0
"""Seconds after which a write test counts as hung."""
_TEST_BYTES = b"\0" * 65536


RunOnWorker = Callable[[Callable[[], str]], Awaitable[str]]
"""Runs a call on a thread that may block."""


class DiskProbe:
    """Write test of a folder; many may ask, it runs now and then.

    Args:
        on_worker: a disk may be slow, or hang.
    """

    def __init__(
        self, folder: Path, on_worker: RunOnWorker, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder, self._on_worker, self._clock = folder, on_worker, clock
        self._tried = -DISK_CHECK_SECONDS
        self._found = ""
        self._trying_since: float | None = None

    async def __call__(self) -> str:
        """Return why nothing can be written; "" where it can, by the last test."""
        now = self._clock()
        if self._trying_since is not None:
            return (
                f"the disk of {self._folder} does not answer"
                if now - self._trying_since > DISK_TIMEOUT
                else self._found
            )
        if now - self._tried < DISK_CHECK_SECONDS:
            return self._found
        self._trying_since = now
        try:
            self._found = await self._on_worker(lambda: disk_problem(self._folder))
        finally:
            self._trying_since, self._tried = None, self._clock()
        return self._found


def disk_problem(folder: Path) -> str:
    """Return why a folder is not writable, in a sentence; "" where it is.  Writes a small file and removes it."""
    trial = folder / f".room-{os.getpid()}"
    remedy = "free some space; then the run continues by itself"
    try:
        if hasattr(os, "statvfs"):
            room = os.statvfs(folder)
            if room.f_bavail * room.f_frsize < MIN_FREE_BYTES:
                return f"the disk of {folder} is full ({remedy})"
        try:
            trial.write_bytes(_TEST_BYTES)
        finally:
            trial.unlink(missing_ok=True)
    except OSError as error:
        return f"{folder} can't be written: {error.strerror or error} ({remedy})"
    return ""


class RunHealthProbe:
    """All health probes of one run (``app.engine.agent.watchdog.HealthProbe``)."""

    def __init__(
        self,
        control: RunControl,
        browser: LiveBrowser,
        hands: RecoveringExecutor,
        disk: Callable[[], Awaitable[str]],
        heartbeat: Heartbeat | None = None,
    ) -> None:
        self._control, self._browser, self._hands = control, browser, hands
        self._disk, self._heartbeat = disk, heartbeat

    def broken(self) -> str:
        """Return the fault that browser or page report themselves, "" for none."""
        return self._browser.broken

    async def page(self) -> bool:
        """Whether the page in front answers."""
        if self._control.state is RunState.TAKEN_OVER:
            self._hands.note_address(self._browser.address)
        return await self._browser.answers()

    async def disk(self) -> str:
        """Return why nothing can be written; "" where it can."""
        return await self._disk()

    def model(self) -> tuple[float | None, bool]:
        """Return the seconds since the model last showed activity, and whether its answer has begun."""
        return (
            (self._heartbeat.silence, self._heartbeat.answering)
            if self._heartbeat is not None
            else (None, False)
        )
