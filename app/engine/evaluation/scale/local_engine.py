"""Workers on this machine: engine hosts in processes of their own."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from app.engine.api.evaluation_api import EpisodeRequest
from app.engine.evaluation.scale.engine_port import EpisodeResult
from app.engine.evaluation.scale.episode_worker import EpisodeWorker


class LocalEngine:
    """N workers, whose workspaces are folders of the evaluation's (``EpisodeEngine``)."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder, self._count = folder, workers
        self._workers: list[EpisodeWorker] = []

    @property
    def workers(self) -> int:
        """Number of its workers."""
        return self._count

    @property
    def pids(self) -> list[int | None]:
        """Process ids of the hosts, for tests that kill one."""
        return [worker.pid for worker in self._workers]

    async def start(self, bundle: bytes) -> None:
        """Start all workers at once; raises the first error of a host that can't start."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._workers = [EpisodeWorker(bundle, self._folder / str(number)) for number in range(self._count)]
        started = await asyncio.gather(*(one.start() for one in self._workers), return_exceptions=True)
        for error in started:
            if isinstance(error, BaseException):
                raise error

    async def run(self, worker: int, request: EpisodeRequest) -> EpisodeResult:
        """Run one episode on a worker."""
        return await self._workers[worker].run(request)

    async def close(self) -> None:
        """End all workers and remove their workspaces."""
        await asyncio.gather(*(worker.close() for worker in self._workers), return_exceptions=True)
        shutil.rmtree(self._folder, ignore_errors=True)
