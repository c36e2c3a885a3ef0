"""Workers in a cluster of Ray: an actor each, which starts the same engine host and speaks the same channel.

Ray comes with the extra ``scale``.  A node offers as many workers as its resource ``browser`` says.  What crosses the
cluster is bytes: the bundle, a request and a record as JSON, a packed run.

Whoever reaches a cluster without authentication can run code on it, so its token is always asked for: every node and
this process read it from ``RAY_AUTH_TOKEN_PATH``.  ``RAY_AUTH_MODE=disabled`` in the environment is the only way out.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import orjson

from app.engine import channel
from app.engine.api.evaluation_api import EpisodeRequest
from app.engine.core.evaluation.episode import EpisodeRecord
from app.engine.evaluation.scale.engine_port import EpisodeResult, EpisodeWorkerDied, EpisodeWorkerLost
from app.engine.evaluation.scale.episode_worker import EpisodeWorker
from app.errors import SiteloreError, UsageError

RESOURCE = "browser"
START_SECONDS = 180.0
"""Longest wait for an actor and its host."""
DIED, LOST = b"died", b"lost"


class EpisodeActor:
    """One worker on a node of the cluster; its methods take and return bytes."""

    def __init__(self, bundle: bytes) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sitelore-worker-"))
        self._worker = EpisodeWorker(bundle, self._folder / "workspace")

    async def start(self) -> int:
        """Start the host; return its process id."""
        await self._worker.start()
        return self._worker.pid or 0

    async def run(self, request: bytes) -> tuple[bytes, bytes]:
        """Run an episode; return its record as JSON and its run, or an error: its kind and its words."""
        asked: EpisodeRequest = channel.decode(orjson.loads(request), EpisodeRequest)
        try:
            result = await self._worker.run(asked)
        except EpisodeWorkerDied as died:
            return DIED, str(died).encode()
        except EpisodeWorkerLost as lost:
            return LOST, str(lost).encode()
        except SiteloreError as error:
            return b"", str(error).encode()
        return orjson.dumps(channel.encode(result.record, EpisodeRecord)), result.run

    async def close(self) -> None:
        """End the host and remove its files."""
        await self._worker.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class RayEngine:
    """N workers in a cluster (``EpisodeEngine``); without an address one is started on this machine for itself."""

    def __init__(self, workers: int, address: str = "") -> None:
        self._count, self._address = workers, address
        self._actors: list[Any] = []
        self._bundle = b""
        self._ray: Any = None

    @property
    def workers(self) -> int:
        """Number of its workers."""
        return self._count

    async def start(self, bundle: bytes) -> None:
        """Connect to the cluster and start all workers.

        Raises:
            UsageError: Ray is missing, the cluster can't be reached, or it has not enough room.
        """
        self._bundle = bundle
        self._ray = _imported_ray()
        await asyncio.to_thread(self._connect)
        room = int(self._ray.cluster_resources().get(RESOURCE, 0))
        if room < self._count:
            raise UsageError(
                f"the cluster has room for {room} workers, and {self._count} were asked for",
                remedy="start its nodes with --resources '{\"browser\": N}', or ask for fewer with --workers",
            )
        self._actors = [None] * self._count
        await asyncio.gather(*(self._start_actor(worker) for worker in range(self._count)))

    async def run(self, worker: int, request: EpisodeRequest) -> EpisodeResult:
        """Run one episode on a worker; one whose actor is gone gets another actor first."""
        if self._actors[worker] is None:
            await self._start_actor(worker)
        data = orjson.dumps(channel.encode(request, EpisodeRequest))
        try:
            record, run = await self._actors[worker].run.remote(data)
        except self._ray.exceptions.RayError as error:
            self._actors[worker] = None
            raise EpisodeWorkerDied("the worker ended in the middle of the episode") from error
        if record == DIED:
            raise EpisodeWorkerDied(run.decode())
        if record == LOST:
            raise EpisodeWorkerLost(run.decode())
        if not record:
            raise SiteloreError(run.decode())
        return EpisodeResult(record=channel.decode(orjson.loads(record), EpisodeRecord), run=run)

    async def close(self) -> None:
        """End all workers and leave the cluster, which stays."""
        if self._ray is None:
            return
        for actor in filter(None, self._actors):
            try:
                await asyncio.wait_for(actor.close.remote(), 30)
            except (self._ray.exceptions.RayError, TimeoutError):
                pass  # its node is gone, or goes now
            self._ray.kill(actor)
        self._actors = []
        await asyncio.to_thread(self._ray.shutdown)

    def _connect(self) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "include_dashboard": False}
        if self._address:
            options = {"log_to_driver": False, "address": self._address}
        else:
            options["resources"] = {RESOURCE: self._count}
        try:
            self._ray.init(**options)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            first = (str(error).strip().splitlines() or ["no answer"])[0]
            raise UsageError(
                f"the cluster at {self._address or 'this machine'} can't be reached: {first[:200]}",
                remedy="start it with: ray start --head; its token is read from RAY_AUTH_TOKEN_PATH, on every node",
            ) from error

    async def _start_actor(self, worker: int) -> None:
        kind = self._ray.remote(EpisodeActor)
        actor = kind.options(resources={RESOURCE: 1}, num_cpus=0, max_restarts=0).remote(self._bundle)
        try:
            await asyncio.wait_for(actor.start.remote(), START_SECONDS)
        except (self._ray.exceptions.RayError, TimeoutError) as error:
            self._ray.kill(actor)
            raise EpisodeWorkerLost(f"worker {worker} can't be started in the cluster: {error}") from error
        self._actors[worker] = actor


def _imported_ray() -> Any:
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UsageError("Ray is not installed", remedy='pip install "sitelore[scale]"') from error
