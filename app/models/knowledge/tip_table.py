"""All tips as a table with a filter line, sortable columns and row-by-row updates."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import QCoreApplication, QObject

from app.engine.api.evaluation_api import TipCreditRow
from app.engine.api.tip_api import best_credits, followed_words, tested_words, uplift_words, vote_counts
from app.engine.core.evaluation.episode import MIN_TEMPLATES
from app.models.common.object_table import Column, ObjectTable
from app.models.knowledge.tip_filter import TipFilter, matches_filter, parse_tip_filter
from kb.evidence import TestOutcome
from kb.tip import Kind, Status, Tip

COLUMNS = (
    "site",
    "kind",
    "status",
    "lint",
    "scope",
    "text",
    "tested",
    "followed",
    "uplift",
    "votes",
    "revision",
    "changed",
)
STATUSES = tuple(status.value for status in Status)
KINDS = tuple(kind.value for kind in Kind)
_MARKS = {"error": "✕", "waived": "(✕)", "warning": "!"}
"""The signs of lint results, the worst first."""

_TEST_RANK: dict[str, int] = {
    TestOutcome.BROKE: 0,
    TestOutcome.NOT_REACHED: 1,
    TestOutcome.STOPPED: 3,
    TestOutcome.HOLDS: 4,
}
_NOT_TESTED = 2
"""Results of tests, the worst first; a tip that was not tested is in the middle."""

_STATUS_RANK = {status: rank for rank, status in enumerate(Status)}


def ago(at: float, now: float | None = None) -> str:
    """Return ``just now``, ``5 min ago``, ``3 h ago``, ``2 d ago``, else the date, for a time in Unix seconds."""
    if not at:
        return "unknown"
    seconds = (time.time() if now is None else now) - at
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 86400:
        return f"{int(seconds // 3600)} h ago"
    if seconds < 30 * 86400:
        return f"{int(seconds // 86400)} d ago"
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d")


def exact_time(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S") if at else ""


class TipTableModel(ObjectTable[Tip]):
    """All tips by id, with their lint results."""

    def __init__(self, parent: QObject | None = None) -> None:
        self._marks: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._credits: dict[str, TipCreditRow] = {}
        self._haystacks: dict[str, str] = {}
        self._filter = TipFilter()
        self.text = ""
        super().__init__(lambda tip: tip.id, parent, sorted_by="changed", descending=True)
        tr = self.tr
        self.columns = (
            Column(key="site", title=tr("Site"), cell=lambda tip: tip.site),
            Column(key="kind", title=tr("Kind"), cell=lambda tip: tip.kind.value),
            Column(
                key="status",
                title=tr("Status"),
                cell=lambda tip: tip.status.value,
                sort=lambda tip: _STATUS_RANK[tip.status],
            ),
            Column(
                key="lint",
                title=tr("Lint"),
                cell=lambda tip: lint_label(self.marks(tip.id)),
                sort=lambda tip: len(_MARKS) - _worst(self.marks(tip.id)),
                tooltip=lambda tip: "\n".join(self.marks(tip.id)) or tr("No lint errors"),
            ),
            Column(key="scope", title=tr("Scope"), cell=lambda tip: str(tip.scope) or tr("every page")),
            Column(
                key="text",
                title=tr("Text"),
                cell=lambda tip: " ".join((tip.text or tip.do).split()),
                tooltip=lambda tip: f"{tip.text}\n\n{tip.id}",
            ),
            Column(
                key="tested",
                title=tr("Tested"),
                cell=_tested_cell,
                sort=_tested_rank,
                tooltip=lambda tip: f"{tested_words(tip.last_test)}\n{_test_time(tip)}".strip(),
                help=tr("The newest test of what the tip says now"),
            ),
            Column(
                key="followed",
                title=tr("Followed"),
                cell=lambda tip: followed_words(tip.record),
                sort=lambda tip: (tip.record.effect, tip.record.applied),
                numeric=True,
                tooltip=lambda tip: tr(
                    "Followed with its effect seen at {0} of the {1} steps it was for"
                ).format(tip.record.effect, tip.record.applied),
                help=tr("Steps of runs that followed the tip, of those it was for"),
            ),
            Column(
                key="uplift",
                title=tr("Uplift"),
                cell=lambda tip: uplift_words(self.credit(tip.id)),
                sort=lambda tip: _uplift_rank(self.credit(tip.id)),
                numeric=True,
                tooltip=lambda tip: self.credit_text(tip.id),
                help=tr(
                    "Success in evaluations where the tip was shown, less without it, with its 95 % interval"
                ),
            ),
            Column(
                key="votes",
                title=tr("Votes"),
                cell=lambda tip: vote_counts(tip.record),
                sort=lambda tip: (tip.record.up - tip.record.down, tip.record.up),
                numeric=True,
                tooltip=lambda tip: tr("{0} found it useful, {1} did not").format(
                    tip.record.up, tip.record.down
                ),
                help=tr("People who found the tip useful, and who did not"),
            ),
            Column(
                key="revision",
                title=tr("Rev."),
                cell=lambda tip: str(tip.revision),
                sort=lambda tip: tip.revision,
                numeric=True,
            ),
            Column(
                key="changed",
                title=tr("Changed"),
                cell=lambda tip: ago(tip.changed_at),
                sort=lambda tip: tip.changed_at,
                tooltip=lambda tip: exact_time(tip.changed_at),
            ),
        )

    def tip(self, tip: str) -> Tip | None:
        return self.values.get(tip)

    def credit(self, tip: str) -> TipCreditRow | None:
        """The credit that evaluations give a tip; ``None`` where none has shown it."""
        return self._credits.get(tip)

    def credit_text(self, tip: str) -> str:
        """The credit in words; empty where no evaluation has shown the tip."""
        return credit_words(self.credit(tip))

    def give_credits(self, rows: Iterable[TipCreditRow]) -> None:
        """Replace what evaluations say of tips."""
        self._credits = best_credits(rows)
        if self.sorted_by == "uplift":
            self.refresh()
        self.repaint_column("uplift")

    def marks(self, tip: str) -> tuple[str, ...]:
        """Lint results of a tip: ``error:rule``, ``waived:rule``, ``warning:rule``; empty while unknown."""
        return self._marks[tip][1] if tip in self._marks else ()

    def unmarked(self) -> list[str]:
        """Tips whose lint results are unknown."""
        return [tip.id for tip in self.values.values() if self._marks.get(tip.id, (0, ()))[0] != tip.revision]

    def mark(self, marks: Mapping[str, Sequence[str]]) -> None:
        for tip, results in marks.items():
            if tip in self.values:
                self._marks[tip] = (self.values[tip].revision, tuple(results))
        if self._filter.lint:
            self.refresh()
        self.repaint_column("lint")

    def load(self, values: Iterable[Tip]) -> None:
        """Replace all tips; rows that stay keep their places."""
        self._haystacks.clear()
        super().load(values)

    def put(self, values: Iterable[Tip]) -> None:
        """Add or update tips; the others stay."""
        tips = list(values)
        for tip in tips:
            self._haystacks.pop(tip.id, None)
        super().put(tips)

    def set_filter(self, text: str) -> None:
        self.text, self._filter = text, parse_tip_filter(text)
        self._held = frozenset()
        self.filter_again()

    def matches(self, value: Tip) -> bool:
        if self._filter == TipFilter():
            return True
        return matches_filter(value, self._filter, self._haystack(value), self.marks(value.id))

    def _haystack(self, tip: Tip) -> str:
        found = self._haystacks.get(tip.id)
        if found is None:
            parts = (tip.id, tip.site, tip.kind.value, tip.status.value, str(tip.scope), tip.text)
            more = (tip.when, tip.do, tip.before, tip.why, *tip.keywords, tip.provenance.run)
            found = self._haystacks[tip.id] = "\n".join((*parts, *more)).lower()
        return found


def credit_words(row: TipCreditRow | None) -> str:
    """``helps, +12 points, 95 % interval 3 to 21, in 20 tasks of 9 templates (followed in 8)``; "" for none."""
    if row is None:
        return ""
    tr = partial(QCoreApplication.translate, "TipTableModel")
    interval = tr("{0} points, 95 % interval {1} to {2}").format(
        f"{100 * row.difference:+.0f}", f"{100 * row.low:.0f}", f"{100 * row.high:.0f}"
    )
    where = tr("in {0} tasks of {1} templates (followed in {2})").format(
        row.retrieved, row.templates, row.followed
    )
    how = (
        tr("with and without this tip") if row.method == "left out" else tr("with and without the whole base")
    )
    said = [where, how] if row.templates < MIN_TEMPLATES else [interval, where, how]
    return ", ".join((row.verdict, *said))


def _uplift_rank(row: TipCreditRow | None) -> tuple[int, float]:
    """Tips that hurt first, then those of which little is known, then those that help most."""
    if row is None or row.templates < MIN_TEMPLATES:
        return (1, 0.0)
    return (2 if row.difference >= 0 else 0, row.difference)


def _tested_cell(tip: Tip) -> str:
    """``broke at step 3 · 2 d ago``; empty for a tip that was not tested."""
    test = tip.last_test
    return f"{tested_words(test)} · {ago(test.at)}" if test is not None else ""


def _tested_rank(tip: Tip) -> tuple[int, float]:
    test = tip.last_test
    return (_TEST_RANK.get(test.outcome, _NOT_TESTED), test.at) if test is not None else (_NOT_TESTED, 0.0)


def _test_time(tip: Tip) -> str:
    return exact_time(tip.last_test.at) if tip.last_test is not None else ""


def lint_label(marks: Sequence[str]) -> str:
    """Return ``✕ instruction`` for an error, ``! long`` for a warning, ``(✕) secret`` for a waived one; the
    worst first.
    """
    if not marks:
        return ""
    worst = min(marks, key=lambda mark: list(_MARKS).index(mark.partition(":")[0]))
    kind, _, rule = worst.partition(":")
    more = f" +{len(marks) - 1}" if len(marks) > 1 else ""
    return f"{_MARKS[kind]} {rule}{more}"


def _worst(marks: Sequence[str]) -> int:
    kinds = list(_MARKS)
    return min((kinds.index(mark.partition(":")[0]) for mark in marks), default=len(kinds))
