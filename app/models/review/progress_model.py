"""Progress of the review, the pages where a tip would help most, and files of verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.review_api import ProgressRow, ReviewProgress, TipOpportunity, VerdictImport
from app.engine.api.run_filter_words import quoted
from app.engine.api.run_rows import RunFilter
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.review.run_queue import RunQueue

MAX_NAMED = 5
"""Unmatched or failed rows of a file that a message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressLine:
    """A line of the progress: a heading (no ``of``), or a name with a count and details; ``share`` is in [0, 1]."""

    key: str
    name: str
    count: str = ""
    facts: str = ""
    share: float | None = None
    heading: bool = False


class ProgressLineList(ObjectList[ProgressLine]):
    """Lines of the progress: the whole, sites, people, labels."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda line: line.key, parent)

    def words(self, value: ProgressLine) -> str:
        return ", ".join(part for part in (value.name, value.count, value.facts) if part)


class OpportunityList(ObjectList[TipOpportunity]):
    """Pages where runs fail, most failures without a tip first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda one: (one.site, one.page), parent)

    def words(self, value: TipOpportunity) -> str:
        """``gitlab, /milestones/new: 7 failures, 5 without a tip, 1 tip there``."""
        return tr("{0}, {1}: {2}").format(value.site, value.page or tr("any page"), opportunity_words(value))


class ProgressModel(QObject):
    """Signals:

    changed: lines, opportunities, loading state or error changed.
    run_wanted(run, step): open a failure, at its suspect step for -1.  tip_wanted(run, step): write a tip there.
    page_written(path): a page of the progress was saved.
    notice: a sentence for a passing message.
    """

    changed = Signal()
    run_wanted = Signal(str, int)
    tip_wanted = Signal(str, int)
    page_written = Signal(str)
    notice = Signal(str)

    def __init__(
        self, client: EngineEvents, tasks: Tasks, queue: RunQueue, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._queue = client, tasks, queue
        self.lines, self.uncovered, self.opportunities = (
            ProgressLineList(self),
            OpportunityList(self),
            OpportunityList(self),
        )
        self.progress: ReviewProgress | None = None
        self.whole = False
        """Over all runs, whatever the queue's filter."""
        self.error = self.opportunity_error = ""
        self.knows_opportunities = False
        self._opened: dict[tuple[str, str], int] = {}
        self._watches_progress = self._watches_opportunities = False
        queue.loaded.connect(self._refresh)
        client.runs_changed.connect(self._refresh)
        client.knowledge_changed.connect(self._refresh)

    # ------------------------------------------------------------ progress
    @property
    def filter_words(self) -> str:
        """The runs that are counted, in words."""
        if self.whole or not self._queue.text:
            return tr("All runs")
        return tr("Runs that match: {0}").format(self._queue.text)

    @property
    def _which(self) -> RunFilter:
        return RunFilter() if self.whole else self._queue.filter

    def watch_progress(self, on: bool) -> None:
        """Keep the progress fresh while it is shown."""
        self._watches_progress = on
        if on:
            self.load()

    def count_all(self, whole: bool) -> None:
        """Count all runs, or those of the queue's filter."""
        if whole != self.whole:
            self.whole = whole
            self.load()

    def load(self) -> None:

        def came(progress: ReviewProgress) -> None:
            self.progress, self.error = progress, ""
            self.lines.merge(progress_lines(progress))
            self.uncovered.merge(list(progress.uncovered))
            self.changed.emit()

        def failed(error: Exception) -> None:
            self.error = str(error)
            self.changed.emit()

        self._tasks.start(
            self._client.api.review_progress(self._which), came, failed, key="review-progress", delay=0.05
        )

    def save_page(self, path: str) -> None:
        """Write what is shown as a page that can be printed."""

        def done(written: str) -> None:
            self.notice.emit(tr("Progress saved: {0}").format(written))
            self.page_written.emit(written)

        self._tasks.start(self._client.api.progress_page(path, self._which), done)

    # ------------------------------------------------------------ opportunities
    def watch_opportunities(self, on: bool) -> None:
        """Keep the opportunities fresh while they are shown."""
        self._watches_opportunities = on
        if on:
            self.load_opportunities()

    def load_opportunities(self) -> None:
        def came(found: list[TipOpportunity]) -> None:
            self.knows_opportunities, self.opportunity_error = True, ""
            self.opportunities.merge(found, keep_places=True)
            self.changed.emit()

        def failed(error: Exception) -> None:
            self.knows_opportunities, self.opportunity_error = True, str(error)
            self.changed.emit()

        self._tasks.start(
            self._client.api.tip_opportunities(self._queue.filter.site),
            came,
            failed,
            key="review-opportunities",
            delay=0.05,
        )

    def open_failure(self, one: TipOpportunity | None) -> None:
        """Open the first failure at its step on that page; opened again, the next failure there."""
        if one is None or not one.runs:
            return
        key = (one.site, one.page)
        place = (self._opened.get(key, -1) + 1) % len(one.runs)
        self._opened = {key: place}
        self.run_wanted.emit(one.runs[place], one.step if place == 0 else -1)

    def filter_failures(self, one: TipOpportunity | None) -> None:
        """Show the failures on that page in the queue."""
        if one is not None:
            self._queue.set_filter(f"failed page:{quoted(one.site + one.page)}")

    def write_tip(self, one: TipOpportunity | None) -> None:
        """Write a tip from the first failure."""
        if one is not None and one.runs:
            self.tip_wanted.emit(one.runs[0], one.step)

    # ------------------------------------------------------------ files of verdicts
    def export_verdicts(self, path: str, format: str) -> None:
        def done(count: int) -> None:
            words = tr("1 verdict exported to {1}") if count == 1 else tr("{0} verdicts exported to {1}")
            self.notice.emit(words.format(count, path))

        self._tasks.start(self._client.api.export_verdicts(path, format), done)

    def import_verdicts(self, path: str) -> None:
        self._tasks.start(
            self._client.api.import_verdicts(path), lambda report: self.notice.emit(import_words(report))
        )

    def _refresh(self, _event: object = None) -> None:
        if self._watches_progress:
            self.load()
        if self._watches_opportunities:
            self.load_opportunities()


def progress_lines(progress: ReviewProgress) -> list[ProgressLine]:
    """Return the lines: the whole, then sites, people and labels under headings."""
    lines = [_line("total", tr("Judged"), progress.total)]
    if progress.sites:
        lines.append(ProgressLine(key="sites", name=tr("Sites"), heading=True))
        lines += [_line(f"site {row.name}", row.name or tr("no site"), row) for row in progress.sites]
    if progress.people:
        lines.append(ProgressLine(key="people", name=tr("People"), heading=True))
        lines += [_person(row) for row in progress.people]
    if progress.labels:
        lines.append(ProgressLine(key="labels", name=tr("Labels"), heading=True))
        most = max(progress.labels.values())
        lines += [
            ProgressLine(key=f"label {name}", name=name, count=str(count), share=count / most if most else 0)
            for name, count in sorted(progress.labels.items(), key=lambda item: (-item[1], item[0]))
        ]
    return lines


def seconds_words(seconds: float | None) -> str:
    """``21 s``, ``2 min 5 s``; "" without data."""
    if seconds is None:
        return ""
    if seconds < 90:
        return tr("{0:.0f} s").format(seconds)
    minutes, rest = divmod(round(seconds), 60)
    return tr("{0} min {1} s").format(minutes, rest) if rest else tr("{0} min").format(minutes)


def opportunity_words(one: TipOpportunity) -> str:
    """``7 failures, 5 without a tip, 1 tip there``."""
    failures = tr("1 failure") if len(one.runs) == 1 else tr("{0} failures").format(len(one.runs))
    return tr("{0}, {1}").format(failures, coverage_words(one))


def coverage_words(one: TipOpportunity) -> str:
    """``5 without a tip, 1 tip there``."""
    tips = (
        tr("no tip there")
        if not one.tips
        else tr("1 tip there")
        if len(one.tips) == 1
        else tr("{0} tips there").format(len(one.tips))
    )
    if one.uncovered == len(one.runs):
        reached = tr("none reached by a tip")
    elif not one.uncovered:
        reached = tr("all reached by a tip")
    else:
        reached = tr("{0} without a tip").format(one.uncovered)
    return tr("{0}, {1}").format(reached, tips)


def import_words(report: VerdictImport) -> str:
    """The result of an import in one sentence, with examples of what was left out."""
    words = [
        tr("1 verdict imported") if report.added == 1 else tr("{0} verdicts imported").format(report.added)
    ]
    if report.known:
        words.append(tr("{0} known already").format(report.known))
    if report.unmatched:
        named = ", ".join(report.unmatched[:MAX_NAMED])
        words.append(tr("{0} of runs that are not here ({1})").format(len(report.unmatched), named))
    if report.failed:
        words.append(tr("{0} can't be read ({1})").format(len(report.failed), report.failed[0]))
    return ", ".join(words)


def _line(key: str, name: str, row: ProgressRow) -> ProgressLine:
    facts = [
        tr("1 tip") if row.tips == 1 else tr("{0} tips").format(row.tips) if row.tips else "",
        tr("a verdict: {0}").format(seconds_words(row.verdict_seconds)) if row.verdict_seconds else "",
        tr("a tip: {0}").format(seconds_words(row.tip_seconds)) if row.tip_seconds else "",
    ]
    return ProgressLine(
        key=key,
        name=name,
        count=tr("{0} of {1}").format(row.judged, row.runs),
        facts=" · ".join(part for part in facts if part),
        share=row.judged / row.runs if row.runs else 0.0,
    )


def _person(row: ProgressRow) -> ProgressLine:
    return _line(f"person {row.name}", row.name or tr("unknown"), row)
