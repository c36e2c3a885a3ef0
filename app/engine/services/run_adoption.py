"""Takes the runs of an evaluation into this workspace while it goes on, so that they can be reviewed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from app.engine.core.events import RunsChanged
from app.engine.imports.importer import import_paths
from app.engine.services.core import Core
from app.engine.store.workspace import Workspace
from app.errors import SiteloreError

log = logging.getLogger(__name__)


class RunAdoption:
    """Imports run folders one batch after the other; what can't be imported is logged and stays in its folder.

    Args:
        detect: looks for flags in runs.
    """

    def __init__(self, core: Core, detect: Callable[[Sequence[str]], Awaitable[object]]) -> None:
        self._core, self._detect = core, detect
        self._folders: list[Path] = []
        self._working: asyncio.Task[Any] | None = None

    def adopt(self, folder: Path) -> None:
        """Import a run soon."""
        self._folders.append(folder)
        if self._working is None or self._working.done():
            self._working = self._core.registry.hold(self._work())

    async def finish(self) -> None:
        """Wait until all are imported."""
        while self._working is not None and not self._working.done():
            await asyncio.wait([self._working])

    async def _work(self) -> None:
        while self._folders:
            folders, self._folders = self._folders, []
            try:
                await self._take_in(folders)
            except SiteloreError as error:
                log.warning("runs of an evaluation are not in the workspace yet: %s", error)

    async def _take_in(self, folders: Sequence[Path]) -> None:
        def importing() -> tuple[str, ...]:
            with Workspace.open(self._core.workspace.path) as own:
                report = import_paths(own, folders, "native")
            for failed in report.failed:
                log.warning("%s is not imported: %s", failed.path, failed.error)
            return report.runs

        runs = await self._core.on_worker(importing)
        await self._core.on_store(self._core.workspace.catch_up)
        if runs:
            await self._detect(runs)
            self._core.bus.publish(RunsChanged(runs=runs))
