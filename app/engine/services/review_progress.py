"""Progress of the review: runs judged, seconds a verdict and a tip, and what is left."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from app.engine.api.review_api import ProgressRow, ReviewProgress
from app.engine.api.run_filter_words import filter_text
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.verdicts import Label, Verdict
from app.engine.evaluation.report.review_progress_page import progress_html
from app.engine.services.clustering import filtered_rows
from app.engine.services.core import Core, on_store
from app.engine.services.review import ReviewService
from app.engine.services.tip_opportunities import find_opportunities
from app.engine.store.export_file import write_export
from kb.tip import Status, Tip

LONGEST_TIP_SECONDS = 30 * 60
"""Seconds from a verdict to the same person's tip on its run beyond which the tip was no part of that work."""


class ReviewProgressService:
    """Progress of the review: runs judged, seconds a verdict and a tip, and what is left."""

    def __init__(self, core: Core, review: ReviewService) -> None:
        self._core, self._review = core, review

    @on_store
    def review_progress(self, which: RunFilter) -> ReviewProgress:
        """Return what is judged and what is left of the runs that pass the filter.

        A person's runs are those in their queue and those they judged. The seconds of a tip run from its author's
        latest verdict on its run to its first saving, where that is at most half an hour: no clock runs while a tip is
        written. Verdicts that the author is yet to see, before a second look, are not counted.
        """
        core = self._core
        rows = filtered_rows(core.workspace.index, which)
        shown = {row.id for row in rows}
        visible = core.workspace.annotators.visible_verdicts(core.author)
        work = _Work(
            rows=rows,
            verdicts=[one for one in visible if one.run in shown],
            tips=[
                tip
                for tip in core.kb.tips()
                if tip.provenance.run in shown and tip.status is not Status.RETIRED
            ],
        )
        counts = Counter(verdict.label for verdict in work.verdicts)
        return ReviewProgress(
            total=work.row("all"),
            sites=work.sites(),
            people=work.people(core.workspace.annotators.queues()),
            labels={label.value: counts[label] for label in Label if counts[label]},
            uncovered=tuple(
                page
                for page in find_opportunities(core, which.site)
                if page.uncovered and not shown.isdisjoint(page.runs)
            ),
        )

    async def progress_page(self, out: str, which: RunFilter | None = None) -> str:
        """Write the progress of the failed runs, or those that pass a filter, as a page for print; return its path.

        Raises:
            InputError: the file can't be written.
        """
        chosen = which or RunFilter(failed=True)
        found = await self.review_progress(chosen)
        name = self._core.workspace.path.name
        page = progress_html(found, name, time.time(), filter_text(chosen))
        return str(await self._core.on_worker(write_export, out, page.encode("utf-8", "replace")))


@dataclass(frozen=True, slots=True)
class _Work:
    """The runs, and the verdicts (oldest first) and tips on them."""

    rows: Sequence[RunRow]
    verdicts: Sequence[Verdict]
    tips: Sequence[Tip]

    def row(self, name: str, runs: Collection[str] | None = None) -> ProgressRow:
        """Return the progress of these runs, or of all."""
        mine = {row.id for row in self.rows} if runs is None else runs
        verdicts = [one for one in self.verdicts if one.run in mine]
        return self._row(name, mine, verdicts, [tip for tip in self.tips if tip.provenance.run in mine])

    def sites(self) -> tuple[ProgressRow, ...]:
        """Return a row for each site."""
        by_site: dict[str, set[str]] = defaultdict(set)
        for row in self.rows:
            by_site[row.site].add(row.id)
        return tuple(self.row(site, by_site[site]) for site in sorted(by_site))

    def people(self, queues: dict[str, tuple[str, ...]]) -> tuple[ProgressRow, ...]:
        """Return a row for each person who has a queue, has judged, or has written a tip."""
        shown = {row.id for row in self.rows}
        verdicts: dict[str, list[Verdict]] = defaultdict(list)
        for verdict in self.verdicts:
            verdicts[verdict.author].append(verdict)
        tips: dict[str, list[Tip]] = defaultdict(list)
        for tip in self.tips:
            tips[tip.provenance.author].append(tip)
        found: list[ProgressRow] = []
        for name in sorted({*queues, *verdicts, *tips} - {""}):
            mine = (set(queues.get(name, ())) & shown) | {one.run for one in verdicts[name]}
            if mine or tips[name]:
                found.append(self._row(name, mine, verdicts[name], tips[name]))
        return tuple(found)

    def _row(
        self, name: str, runs: Collection[str], verdicts: Sequence[Verdict], tips: Sequence[Tip]
    ) -> ProgressRow:
        return ProgressRow(
            name=name,
            runs=len(runs),
            judged=len({verdict.run for verdict in verdicts}),
            tips=len(tips),
            verdict_seconds=_median(one.lead_seconds for one in verdicts if one.lead_seconds > 0),
            tip_seconds=_median(self._tip_seconds(tips)),
        )

    def _tip_seconds(self, tips: Sequence[Tip]) -> Iterable[float]:
        at: dict[tuple[str, str], list[float]] = defaultdict(list)
        for verdict in self.verdicts:
            at[verdict.author, verdict.run].append(verdict.at)
        for tip in tips:
            before = [
                tip.created_at - moment
                for moment in at[tip.provenance.author, tip.provenance.run]
                if 0 <= tip.created_at - moment <= LONGEST_TIP_SECONDS
            ]
            if before:
                yield min(before)


def _median(seconds: Iterable[float]) -> float | None:
    found = list(seconds)
    return median(found) if found else None
