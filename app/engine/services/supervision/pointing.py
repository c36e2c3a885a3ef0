"""The elements of a live page, for a person to choose the target of an action by pointing at it."""

from __future__ import annotations

from app.engine.api.live_api import PointTarget
from app.engine.services.supervision.fleet import Fleet


class PointingService:
    """Reads the targets on the page of a held run."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    async def point_targets(self, run: str) -> list[PointTarget]:
        """Return the elements of a held run's page as its next action would name them."""
        raise NotImplementedError
