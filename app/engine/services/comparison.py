"""Comparison of arms, credit of tips, reports."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.api.evaluation_api import Comparison, ReportFiles, TipCreditRow
from app.engine.services.core import Core
from app.engine.services.evaluation import EvaluationService


class ComparisonService:
    """Use cases of comparing evaluations."""

    def __init__(self, core: Core, evaluation: EvaluationService) -> None:
        self._core, self._evaluation = core, evaluation

    async def compare_evaluations(
        self, folders: Sequence[str], arm: str = "", against: str = "", margin: float = 0.02
    ) -> Comparison:
        """Compare the arms of evaluations over the tasks that they share."""
        raise NotImplementedError

    async def write_report(self, folders: Sequence[str], out: str = "", margin: float = 0.02) -> ReportFiles:
        """Write the report of evaluations as HTML, CSV, LaTeX and JSON."""
        raise NotImplementedError

    async def tip_credits(self) -> list[TipCreditRow]:
        """Return what each tip is worth by all evaluations that the workspace knows."""
        raise NotImplementedError
