"""Why a run failed: its answer page, and its likely cause in a sentence."""

from __future__ import annotations

from app.engine.api.review_api import AnswerPage, LikelyCause
from app.engine.services.core import Core
from app.engine.services.review import ReviewService


class RunCauseService:
    """Why a run failed: its answer page, and its likely cause in a sentence."""

    def __init__(self, core: Core, review: ReviewService) -> None:
        self._core, self._review = core, review

    async def answer_page(self, run: str) -> AnswerPage:
        raise NotImplementedError

    async def likely_cause(self, run: str) -> LikelyCause:
        raise NotImplementedError

    async def ask_cause(self, run: str) -> LikelyCause:
        raise NotImplementedError
