"""One worker: an engine host with a workspace of its own, made from the evaluation's bundle.

It is the same on this machine and in a cluster.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from app.engine.api.evaluation_api import EpisodeRequest
from app.engine.evaluation.packing import unpack_files
from app.engine.evaluation.scale.engine_port import EpisodeResult, EpisodeWorkerDied, EpisodeWorkerLost
from app.engine.host_client import HostClient, HostGone
from app.engine.store.blob_store import pack_blobs
from app.engine.store.run_files import decode_blob_file
from app.engine.store.workspace import Workspace
from app.errors import SiteloreError

BUNDLED_BLOBS, BUNDLED_LOGINS = "blobs", "logins"
LOGINS_VARIABLE = "SITELORE_LOGINS"
"""Names the folder of log-ins in place of the user's own."""


def make_worker_workspace(bundle: bytes, folder: Path) -> None:
    """Make a worker's workspace, in place of one that is there.

    Raises:
        InputError: the bundle is damaged.  StoreError: it can't be written.
    """
    shutil.rmtree(folder, ignore_errors=True)
    unpack_files(bundle, folder, "the evaluation's bundle")
    packed = folder / BUNDLED_BLOBS
    with Workspace.open(folder) as workspace:
        if packed.is_dir():
            contents = (decode_blob_file(path.name, path.read_bytes(), path) for path in packed.iterdir())
            workspace.runs.blobs.add(pack_blobs(dict(contents)))
            shutil.rmtree(packed)


class EpisodeWorker:
    """Runs episodes in its host, and starts another host after one died."""

    def __init__(self, bundle: bytes, folder: Path) -> None:
        self._bundle, self._folder = bundle, folder
        self._host: HostClient | None = None

    @property
    def pid(self) -> int | None:
        """Process id of its host."""
        return self._host.pid if self._host is not None else None

    async def start(self) -> None:
        """Make the workspace and start the host; raises ``SiteloreError`` where that can't be done."""
        await asyncio.to_thread(make_worker_workspace, self._bundle, self._folder)
        logins = self._folder / BUNDLED_LOGINS
        self._host = HostClient(self._folder, environment={LOGINS_VARIABLE: str(logins)}, own_group=True)
        await self._host.start()

    async def run(self, request: EpisodeRequest) -> EpisodeResult:
        """Run one episode; a dead host is started again first.

        Raises:
            EpisodeWorkerDied: the host ended before it answered.  EpisodeWorkerLost: it can't be started again.
            SiteloreError: the episode failed in an unexpected way.
        """
        if self._host is None or not self._host.is_alive:
            await self.close()
            try:
                await self.start()
            except (SiteloreError, OSError) as error:
                raise EpisodeWorkerLost(f"a worker can't be started again: {error}") from error
        assert self._host is not None
        try:
            record = await self._host.api.run_episode(request)
            packed = await self._host.api.packed_run(record.run) if record.run else b""
        except (HostGone, ConnectionError) as gone:
            await self.close()
            raise EpisodeWorkerDied("the worker ended in the middle of the episode") from gone
        return EpisodeResult(record=record, run=packed)

    async def close(self) -> None:
        """End the host and remove its workspace, which holds log-ins."""
        if self._host is not None:
            if self._host.is_alive:
                await self._host.stop()
            await self._host.kill()
            self._host = None
        shutil.rmtree(self._folder, ignore_errors=True)
