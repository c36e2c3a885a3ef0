"""Two runs side by side: which runs to compare, and their steps aligned on page states."""

from __future__ import annotations

from app.engine.api.review_api import RunAlignment, SimilarRun
from app.engine.services.core import Core
from app.engine.services.review import ReviewService


class RunComparisonService:
    """Two runs side by side: which runs to compare, and their steps aligned on page states."""

    def __init__(self, core: Core, review: ReviewService) -> None:
        self._core, self._review = core, review

    async def similar_runs(self, run: str, passed: bool = True, limit: int = 8) -> list[SimilarRun]:
        raise NotImplementedError

    async def align_runs(self, left: str, right: str) -> RunAlignment:
        raise NotImplementedError
