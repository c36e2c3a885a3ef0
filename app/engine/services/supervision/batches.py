"""Batches: their tasks are given to the fleet one by one, as limits and budget allow."""

from __future__ import annotations

from app.engine.api.batch_api import BatchDetail, BatchRequest
from app.engine.core.batch import BatchRow
from app.engine.services.core import Core
from app.engine.services.supervision.fleet import Fleet
from app.errors import NotFound


class BatchService:
    """The batches of an open workspace."""

    def __init__(self, core: Core, fleet: Fleet) -> None:
        self._core, self._fleet = core, fleet

    async def batches(self) -> list[BatchRow]:
        """Return all batches that were not dismissed, the newest first."""
        return []

    async def batch(self, batch: str) -> BatchDetail:
        """Return a batch with its tasks.  Raises ``NotFound``."""
        raise NotFound(f"no batch {batch[:80]!r} in this workspace")

    async def start_batch(self, request: BatchRequest) -> BatchRow:
        """Start a batch; if one of its tasks is invalid, none is started."""
        raise NotImplementedError

    async def pause_batch(self, batch: str) -> None:
        """Start no more tasks, and pause the active runs."""
        raise NotImplementedError

    async def resume_batch(self, batch: str) -> None:
        """Go on with a paused or stopped batch."""
        raise NotImplementedError

    async def stop_batch(self, batch: str) -> None:
        """End its active runs and start no more."""
        raise NotImplementedError

    async def retry_batch(self, batch: str) -> int:
        """Start its failed and stopped tasks again; return how many."""
        raise NotImplementedError

    async def set_batch_limits(self, batch: str, at_once: int, max_money: float, max_tokens: int) -> BatchRow:
        """Change parallel runs and budget."""
        raise NotImplementedError

    async def export_batch(self, batch: str, out: str) -> int:
        """Write the runs of a batch and a table of its tasks; return the number of runs."""
        raise NotImplementedError

    async def dismiss_batch(self, batch: str) -> None:
        """Remove an ended or stopped batch from the list."""
        raise NotImplementedError
