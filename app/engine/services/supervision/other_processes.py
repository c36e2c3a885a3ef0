"""Changes that other processes on the workspace, such as a terminal, make there, published here.

Their runs and batches are followed; tips that they changed and runs that they imported or judged are to be read again.
"""

from __future__ import annotations

import asyncio
import logging

from app.engine.core.batch import BatchRow
from app.engine.core.events import (
    BatchChanged,
    KnowledgeChanged,
    LiveRunChanged,
    LiveRunDismissed,
    RunsChanged,
)
from app.engine.core.supervision import LiveRow
from app.engine.services.core import Core
from app.engine.services.supervision.batches import BatchService
from app.engine.services.supervision.fleet import Fleet
from app.errors import SiteloreError

log = logging.getLogger(__name__)

INTERVAL = 1.0
"""Seconds between two looks."""
LOOKS_WITHOUT_CHANGE = 5
"""Looks after which runs and batches are read although nothing was written: a process that is killed writes nothing."""


class OtherProcesses:
    """Follows the runs and batches of other processes, and notices their changes of knowledge and of stored runs."""

    def __init__(self, core: Core, fleet: Fleet, batches: BatchService) -> None:
        self._core, self._fleet, self._batches = core, fleet, batches
        self._runs: dict[str, LiveRow] = {}
        self._rows: dict[str, BatchRow] = {}
        self._version, self._looks = -1, 0
        self._marks: tuple[int, ...] = ()
        self._tips = -1
        self._stored: tuple[float, ...] = ()

    async def watch(self) -> None:
        """Publish what changes as long as the engine host runs."""
        while True:
            try:
                await self.look()
            except SiteloreError as error:
                log.warning("the changes of other processes can't be read: %s", error)
            await asyncio.sleep(INTERVAL)

    async def look(self) -> None:
        """Publish what has changed since the last look."""
        workspace = self._core.workspace
        version = await self._core.on_store(lambda: workspace.supervision.data_version)
        await self._look_at_stores(version)
        self._looks += 1
        due = (self._runs or self._rows) and self._looks >= LOOKS_WITHOUT_CHANGE
        if version == self._version and not due:
            return
        self._version, self._looks = version, 0
        self._tell_runs({note.run: note.row for note in await self._fleet.runs_of_others()})
        self._tell_batches({row.id: row for row in await self._batches.rows_of_others(set(self._rows))})

    async def _look_at_stores(self, review: int) -> None:
        """Publish that tips or stored runs were changed by others; the first look only remembers.

        A file is also written for vectors, or a step of an active run: what is shown of it must differ, too.
        """
        kb, index = self._core.kb, self._core.workspace.index
        before = self._marks
        marks = await self._core.on_store(lambda: (kb.write_mark, index.write_mark, review))
        if marks == before:
            return
        tips, stored = await self._core.on_store(lambda: (kb.data_version, index.queue_mark()))
        has_tips, has_runs = tips != self._tips, stored != self._stored
        self._marks, self._tips, self._stored = marks, tips, stored
        if before and has_tips and marks[0] != before[0]:
            self._core.bus.publish(KnowledgeChanged())
        if before and has_runs and marks[1:] != before[1:]:
            self._core.bus.publish(RunsChanged())

    def _tell_runs(self, now: dict[str, LiveRow]) -> None:
        before, self._runs = self._runs, now
        for run, row in now.items():
            if row != before.get(run):
                self._core.bus.publish(LiveRunChanged(row=row))
        for run in before.keys() - now.keys():
            if self._fleet.find(run) is None:  # else it was taken over here
                self._core.bus.publish(LiveRunDismissed(run=run))

    def _tell_batches(self, now: dict[str, BatchRow]) -> None:
        before, self._rows = self._rows, now
        for id, row in now.items():
            if row != before.get(id):
                self._core.bus.publish(BatchChanged(row=row))
        for id in before.keys() - now.keys():
            if not self._batches.owns(id):
                self._core.bus.publish(BatchChanged(row=BatchRow(id=id, name=before[id].name)))
