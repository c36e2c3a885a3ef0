"""Progress of the review: runs judged, seconds a verdict and a tip, and what is left."""

from __future__ import annotations

from app.engine.api.review_api import ReviewProgress
from app.engine.api.run_rows import RunFilter
from app.engine.services.core import Core
from app.engine.services.review import ReviewService


class ReviewProgressService:
    """Progress of the review: runs judged, seconds a verdict and a tip, and what is left."""

    def __init__(self, core: Core, review: ReviewService) -> None:
        self._core, self._review = core, review

    async def review_progress(self, which: RunFilter) -> ReviewProgress:
        raise NotImplementedError

    async def progress_page(self, out: str) -> str:
        raise NotImplementedError
