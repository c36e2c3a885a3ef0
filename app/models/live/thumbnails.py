"""The last stored screenshots of ended runs, which their tiles show when no page is alive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.engine.core.events import PageFrame

if TYPE_CHECKING:
    from app.engine.core.events import LiveRunDismissed
    from app.engine.core.supervision import LiveRow
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.live.frames import FrameStore

VIEWPORT = (1280, 800)
"""Size assumed for a stored screenshot; nothing is drawn on it by coordinates."""


class RunThumbnails(QObject):
    """Ask once for each run, and pass what comes to ``frames``."""

    def __init__(
        self, client: EngineEvents, tasks: Tasks, frames: FrameStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._frames = client, tasks, frames
        self._asked: set[str] = set()
        client.live_run_dismissed.connect(self._on_gone)

    def want(self, rows: Iterable[LiveRow]) -> None:
        """Load the screenshots of runs in sight that have stored steps and no page."""
        for row in rows:
            if (
                row.state.alive
                or not row.step
                or row.run in self._asked
                or self._frames.get(row.run) is not None
            ):
                continue
            self._asked.add(row.run)
            self._tasks.start(self._fetch(row.run), self._on_loaded, self._failed)

    async def _fetch(self, run: str) -> PageFrame | None:
        detail = await self._client.api.live_run(run)
        step = next((step for step in reversed(detail.steps) if step.screenshot), None)
        if step is None:
            return None
        data = await self._client.api.blob(step.screenshot)
        width, height = VIEWPORT
        return PageFrame(
            run=run, number=0, width=width, height=height, page_width=width, page_height=height, jpeg=data, url=step.url
        )  # fmt: skip

    def _on_loaded(self, frame: PageFrame | None) -> None:
        if frame is not None and self._frames.get(frame.run) is None:
            self._frames.take(frame)

    def _failed(self, _error: Exception) -> None:
        """Ignore it: a tile without a picture shows the run's state."""

    def _on_gone(self, event: LiveRunDismissed) -> None:
        self._asked.discard(event.run)
