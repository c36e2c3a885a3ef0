"""Which page frames the engine sends: the open run's at full rate, tiles in sight once a second."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

FULL_RATE, TILE_RATE = 25.0, 1.0
"""Frames a second."""
COALESCE_MS = 60
"""Delay after scrolling or resizing before the engine is asked."""

FrameRequest = tuple[int, int, float]
"""Width and height in pixels, and frames a second."""


class FrameSubscriptions(QObject):
    """The frames in demand, sent to the engine as differences."""

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._shown = False
        self._run, self._page = "", (0, 0)
        self._tiles: dict[str, tuple[int, int]] = {}
        self._alive: set[str] = set()
        self._sent_requests: dict[str, FrameRequest] = {}
        self._soon = QTimer(self, singleShot=True, interval=COALESCE_MS)
        self._soon.timeout.connect(self._tell)

    def set_shown(self, shown: bool) -> None:
        """Set whether Live is visible: not minimised, not behind another perspective."""
        if shown != self._shown:
            self._shown = shown
            self._soon.start()

    def set_page(self, run: str, width: int, height: int) -> None:
        """Set the open run and its picture size in device pixels; "" for none."""
        if (run, (width, height)) != (self._run, self._page):
            self._run, self._page = run, (width, height)
            self._soon.start()

    def set_tiles(self, runs: Iterable[str], width: int, height: int) -> None:
        """Set the tiles in sight and their picture size in device pixels."""
        tiles = dict.fromkeys(runs, (width, height))
        if tiles != self._tiles:
            self._tiles = tiles
            self._soon.start()

    def set_alive(self, runs: Iterable[str]) -> None:
        """Set the runs that have a page."""
        alive = set(runs)
        if alive != self._alive:
            self._alive = alive
            self._soon.start()

    def set_one_alive(self, run: str, alive: bool) -> None:
        """Set whether one run has a page."""
        if alive != (run in self._alive):
            (self._alive.add if alive else self._alive.discard)(run)
            self._soon.start()

    def forget(self) -> None:
        """Send everything again, to a new engine."""
        self._sent_requests.clear()
        self._soon.start()

    @property
    def requested(self) -> dict[str, FrameRequest]:
        """The frames in demand, by run."""
        if not self._shown:
            return {}
        found: dict[str, FrameRequest] = {
            run: (*size, TILE_RATE) for run, size in self._tiles.items() if all(size)
        }
        if self._run and all(self._page):
            found[self._run] = (*self._page, FULL_RATE)
        return {run: wish for run, wish in found.items() if run in self._alive}

    def _tell(self) -> None:
        wishes = self.requested
        for run in self._sent_requests.keys() - wishes.keys():
            del self._sent_requests[run]
            if run in self._alive:
                self._ask(run, (0, 0, 0.0))
        for run, wish in wishes.items():
            if self._sent_requests.get(run) != wish:
                self._sent_requests[run] = wish
                self._ask(run, wish)

    def _ask(self, run: str, wish: FrameRequest) -> None:
        def failed(_error: Exception) -> None:
            # the run ended meanwhile, or the engine is gone; either way its row says so
            self._sent_requests.pop(run, None)

        self._tasks.start(self._client.api.watch_page(run, *wish), failed=failed, key=f"live-watch-{run}")
