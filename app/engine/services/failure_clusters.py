"""Failures of one kind as clusters, verdicts on many runs at once, and pages that want a tip."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.api.review_api import BulkVerdict, FailureCluster, TipOpportunity
from app.engine.api.run_rows import RunFilter
from app.engine.core.verdicts import Label
from app.engine.services.core import Core
from app.engine.services.review import ReviewService


class FailureClusterService:
    """Failures of one kind as clusters, verdicts on many runs at once, and pages that want a tip."""

    def __init__(self, core: Core, review: ReviewService) -> None:
        self._core, self._review = core, review

    async def clusters(self, which: RunFilter) -> list[FailureCluster]:
        raise NotImplementedError

    async def tip_opportunities(self, site: str = "") -> list[TipOpportunity]:
        raise NotImplementedError

    async def give_verdicts(
        self, runs: Sequence[str], label: Label, note: str = "", lead_seconds: float = 0.0
    ) -> BulkVerdict:
        raise NotImplementedError
