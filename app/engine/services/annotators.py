"""Several annotators: queues, agreement, adjudication, and the guideline of the labels."""

from __future__ import annotations

from app.engine.api.review_api import AnnotatorQueue, AssignmentRequest, Guideline, PairAgreement
from app.engine.core.verdicts import Label, Verdict
from app.engine.services.core import Core
from app.engine.services.review import ReviewService


class AnnotatorService:
    """Several annotators: queues, agreement, adjudication, and the guideline of the labels."""

    def __init__(self, core: Core, review: ReviewService) -> None:
        self._core, self._review = core, review

    async def assign_runs(self, request: AssignmentRequest) -> list[AnnotatorQueue]:
        raise NotImplementedError

    async def annotator_queues(self) -> list[AnnotatorQueue]:
        raise NotImplementedError

    async def agreement(self) -> list[PairAgreement]:
        raise NotImplementedError

    async def adjudicate(self, run: str, label: Label, note: str = "") -> Verdict:
        raise NotImplementedError

    async def guideline(self) -> Guideline:
        raise NotImplementedError

    async def guidelines(self) -> list[Guideline]:
        raise NotImplementedError

    async def save_guideline(self, text: str) -> Guideline:
        raise NotImplementedError
