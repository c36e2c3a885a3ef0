"""Files of verdicts: JSONL, CSV and the annotations of AgentRewardBench, in and out."""

from __future__ import annotations

from app.engine.api.review_api import VerdictImport
from app.engine.services.core import Core
from app.engine.services.review import ReviewService


class VerdictFileService:
    """Files of verdicts: JSONL, CSV and the annotations of AgentRewardBench, in and out."""

    def __init__(self, core: Core, review: ReviewService) -> None:
        self._core, self._review = core, review

    async def export_verdicts(self, out: str, format: str = "jsonl") -> int:
        raise NotImplementedError

    async def import_verdicts(self, path: str, format: str = "", author: str = "") -> VerdictImport:
        raise NotImplementedError
