"""The port between an evaluation and whoever runs its episodes, on this machine or on others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from app.engine.api.evaluation_api import EpisodeRequest
from app.engine.core.evaluation.episode import EpisodeRecord
from app.errors import SiteloreError


class EpisodeWorkerDied(SiteloreError):
    """A worker ended in the middle of an episode; the next one given to it starts it again."""


class EpisodeWorkerLost(SiteloreError):
    """A worker can't be started any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeResult:
    """An episode's record, and its run as a packed native run folder; no bytes where there is no run."""

    record: EpisodeRecord
    run: bytes = b""


class EpisodeEngine(Protocol):
    """Workers, counted from 0, each with one episode at a time."""

    @property
    def workers(self) -> int:
        """Number of its workers."""
        ...

    async def start(self, bundle: bytes) -> None:
        """Start all workers, each with a workspace made from the bundle.  Raises ``SiteloreError``."""
        ...

    async def run(self, worker: int, request: EpisodeRequest) -> EpisodeResult:
        """Run one episode.

        Raises:
            EpisodeWorkerDied: the worker ended before it answered.  EpisodeWorkerLost: it can't be started again.
            SiteloreError: the episode failed in a way that its record could not tell.
        """
        ...

    async def close(self) -> None:
        """End all workers and remove their workspaces."""
        ...
