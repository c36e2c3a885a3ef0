"""An episode engine without processes: it answers by a script, and notes what ran side by side."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from app.engine.api.evaluation_api import EpisodeRequest
from app.engine.core.evaluation.episode import EpisodeKey, EpisodeRecord
from app.engine.core.evaluation.task_score import ScoreVerdict
from app.engine.evaluation.packing import pack_files, read_folder
from app.engine.evaluation.scale.engine_port import EpisodeResult
from app.engine.store.run_files import write_run_folder
from tests.support.runs import make_run, make_step

Script = Callable[[EpisodeRequest, int], Exception | float]
"""Returns the score of an episode, or what happens instead; the number counts the calls for its key, from 1."""


class FakeEpisodeEngine:
    """Runs episodes in no time (``EpisodeEngine``).

    Attributes:
        asked: every request with its worker, in order.
        together: for each request, the tasks that were running when it began.
        gate: episodes end only while it is set.
        unasked: changes that a task makes although it does not allow them.
    """

    def __init__(self, workers: int = 1, script: Script = lambda _request, _call: 1.0, why: str = "") -> None:
        self._workers, self._script, self._why = workers, script, why
        self.asked: list[tuple[int, EpisodeRequest]] = []
        self.together: list[tuple[str, frozenset[str]]] = []
        self.bundle = b""
        self.closed = False
        self.unasked: dict[str, int] = {}
        self.gate = asyncio.Event()
        self.gate.set()
        self._running: set[str] = set()
        self._calls: dict[EpisodeKey, int] = {}

    @property
    def workers(self) -> int:
        return self._workers

    async def start(self, bundle: bytes) -> None:
        self.bundle = bundle

    async def run(self, worker: int, request: EpisodeRequest) -> EpisodeResult:
        key = EpisodeKey(task=request.task, repeat=request.repeat, arm=request.arm.name)
        self._calls[key] = self._calls.get(key, 0) + 1
        self.asked.append((worker, request))
        self.together.append((request.task, frozenset(self._running)))
        self._running.add(request.task)
        try:
            await asyncio.sleep(0.01)
            await self.gate.wait()
            score = self._script(request, self._calls[key])
        finally:
            self._running.discard(request.task)
        if isinstance(score, Exception):
            raise score
        run = f"{request.task}-{request.arm.name}-{request.repeat}-{self._calls[key]}".replace("+", "_")
        record = EpisodeRecord(
            key=key,
            cluster=request.task,
            run=run,
            verdict=ScoreVerdict.PASS if score == 1 else ScoreVerdict.FAIL,
            score=score,
            why=self._why,
            seconds=2.0,
            unasked=self.unasked.get(request.task, 0),
        )
        return EpisodeResult(record=record, run=packed_run(run, request, score))

    async def close(self) -> None:
        self.closed = True


def packed_run(run: str, request: EpisodeRequest, score: float) -> bytes:
    """Return a small run as a worker packs it."""
    made = make_run(run, suite=request.suite, task_id=request.task, score=score, step_count=1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = write_run_folder(Path(scratch) / run, made, [make_step(index=0)], {})
        return pack_files(read_folder(folder))
