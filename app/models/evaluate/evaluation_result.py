"""The result of the open evaluation: verdict, differences, pairs and tips of one pair of arms."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.api.evaluation_api import ComparisonVerdict, DifferenceRow, PairRow
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr
from app.models.evaluate.evaluation_list import UNREADABLE
from app.models.evaluate.figures import (
    ALL,
    interval,
    is_decided,
    is_drawable,
    money_text,
    p_words,
    percent,
    points,
    short_hash,
)
from app.models.evaluate.result_tables import CreditTable, DifferenceTable, PairTableModel

if TYPE_CHECKING:
    from app.engine.api.evaluation_api import Comparison, EvaluationRow, RateRow
    from app.engine.core.evaluation.episode import Arm, EpisodeRecord, EvaluationHead
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

RELOAD_MS = 2000
"""Shortest pause between two comparisons of a running evaluation."""


class ResultState(StrEnum):
    """The state of the open result."""

    NONE = "none"
    LOADING = "loading"
    NO_PAIRS = "no pairs"
    READY = "ready"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ArmLine:
    """An arm as a list shows it: what it is, and its rate in words."""

    name: str
    facts: str
    rate: str
    interval: str
    cost: str


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """A sentence with which episodes ended, how many, and the first of them."""

    sentence: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class PairRun:
    """A run of a pair: its arm, and its number among the repeats from 1."""

    run: str
    task: str
    arm: str
    repeat: int
    repeats: int


class ArmList(ObjectList[ArmLine]):
    """Arms by name."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda line: line.name, parent)

    def words(self, value: ArmLine) -> str:
        return ", ".join(
            part for part in (value.name, value.facts, value.rate, value.interval, value.cost) if part
        )


class EpisodeErrorList(ObjectList[ErrorLine]):
    """Errors by sentence, the most frequent first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda line: line.sentence, parent)

    def words(self, value: ErrorLine) -> str:
        return f"{value.count} × {value.sentence[:600]} ({value.example})"


class EvaluationResult(QObject):
    """Signals:

    changed: state, verdict, counts or lists changed.
    arms_changed: other arms are compared.
    run_requested(run): show a run.
    pair_requested(run, other): show two runs side by side.
    notice: a sentence for a passing message.
    """

    changed = Signal()
    arms_changed = Signal()
    run_requested = Signal(str)
    pair_requested = Signal(str, str)
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.differences, self.pairs, self.credits = (
            DifferenceTable(self),
            PairTableModel(self),
            CreditTable(self),
        )
        self.arms, self.errors = ArmList(self), EpisodeErrorList(self)
        self.state, self.error = ResultState.NONE, ""
        self.folder = ""
        self.comparison: Comparison | None = None
        self.task = ""
        """The current pair."""
        self._compared = ("", "")
        self._chosen: dict[str, tuple[str, str]] = {}
        self._open_pair: list[PairRun] = []
        self._at = 0
        self._row: EvaluationRow | None = None
        self._is_comparing = self._is_stale = False
        self._timer = QTimer(self, singleShot=True, interval=RELOAD_MS)
        self._timer.timeout.connect(self._load)

    # ------------------------------------------------------------ what is shown
    @property
    def verdict(self) -> ComparisonVerdict | None:
        """The verdict on the arms compared."""
        return next((one for one in self.verdicts if (one.arm, one.against) == self._compared), None)

    @property
    def verdicts(self) -> tuple[ComparisonVerdict, ...]:
        return self.comparison.verdicts if self.comparison is not None else ()

    @property
    def head(self) -> EvaluationHead | None:
        heads = self.comparison.heads if self.comparison is not None else ()
        return heads[0] if heads else None

    @property
    def overall(self) -> DifferenceRow | None:
        """The difference over all tasks."""
        return self.differences.values.get(ALL)

    @property
    def is_early(self) -> bool:
        verdict = self.verdict
        return verdict is not None and verdict.early

    @property
    def standing(self) -> str:
        """``better``, ``worse`` or "": whether the verdict may be coloured."""
        verdict = self.verdict
        if verdict is None:
            return ""
        low, high = verdict.always_valid
        row = self.overall
        excludes = (
            (low > 0 or high < 0) if verdict.early else row is not None and is_decided(row, early=False)
        )
        return verdict.answer if excludes and verdict.answer in ("better", "worse") else ""

    @property
    def remark(self) -> str:
        """A line below the verdict: what else to know before it is believed."""
        verdict, row = self.verdict, self.overall
        if verdict is None or row is None:
            return ""
        if verdict.early:
            return self.tr(
                "Not over yet: only the always-valid interval counts, {0} points. The plot may still change."
            ).format(interval(*verdict.always_valid))
        return self.tr("sign-flip p {0} by template · naive McNemar p {1} · always valid {2}").format(
            p_words(row.p), p_words(row.mcnemar_p), interval(*verdict.always_valid)
        )

    # ------------------------------------------------------------ loading
    def open(self, row: EvaluationRow | None) -> None:
        """Show an evaluation's result."""
        folder = row.folder if row is not None else ""
        if folder != self.folder:
            self.folder, self.comparison, self.error, self.task = folder, None, "", ""
            self.state = ResultState.LOADING if folder else ResultState.NONE
            self._compared = self._chosen.get(folder, ("", ""))
            self.pairs.clear_filters()
            self._fill()
        self._row = row
        self._load()
        self.changed.emit()

    def refresh(self, row: EvaluationRow, *, soon: bool) -> None:
        """Compare again, at once or some time later while more episodes end."""
        if row.folder != self.folder:
            return
        self._row, self._is_stale = row, True
        if soon:
            self._load()
        elif not self._timer.isActive() and not self._is_comparing:
            self._timer.start()

    def _load(self) -> None:
        self._timer.stop()
        row = self._row
        if row is None:
            self._tasks.cancel("evaluate-result")
            return
        folder = row.folder
        if not row.done and row.state != UNREADABLE:
            self._tasks.cancel("evaluate-result")
            self.state = ResultState.NO_PAIRS
            self.changed.emit()
            return

        async def fetch() -> tuple[Comparison, list[EpisodeRecord]]:
            comparison = await self._client.api.compare_evaluations([folder])
            records = await self._client.api.episode_records(folder) if row.errors else []
            return comparison, records

        def came(answer: tuple[Comparison, list[EpisodeRecord]]) -> None:
            self._rest()
            self.comparison, self.error = answer[0], ""
            self.errors.merge(_error_lines(answer[1]), keep_places=True)
            self._fill()

        def failed(error: Exception) -> None:
            self._rest()
            self.error = str(error) or type(error).__name__
            self.state = ResultState.ERROR
            self.changed.emit()

        self._is_comparing, self._is_stale = True, False
        self._tasks.start(fetch(), came, failed, key="evaluate-result")

    def _rest(self) -> None:
        """Compare again after a pause if episodes have ended meanwhile."""
        self._is_comparing = False
        if self._is_stale:
            self._timer.start()

    def _fill(self) -> None:
        comparison = self.comparison
        keys = [(one.arm, one.against) for one in self.verdicts]
        if self._compared not in keys:
            self._compared = keys[0] if keys else ("", "")
        chosen = self._compared
        self.pairs.name_arms(*chosen)
        every_pair = comparison.pairs if comparison is not None else ()
        every_difference = comparison.differences if comparison is not None else ()
        self.pairs.load_pairs(tuple(row for row in every_pair if (row.arm, row.against) == chosen))
        self.differences.load(
            row for row in every_difference if (row.arm, row.against) == chosen and is_drawable(row)
        )
        self.credits.load(comparison.credits if comparison is not None else ())
        self.arms.merge(self._arm_lines(), keep_places=True)
        if comparison is None:
            self.errors.merge([])
        else:
            self.state = ResultState.READY if self.pairs.total else ResultState.NO_PAIRS
        if self.task not in self.pairs.values:
            first = self.pairs.at(0)
            self.task = first.task if first is not None else ""
        self.changed.emit()

    def _arm_lines(self) -> list[ArmLine]:
        head = self.head
        return [_arm_line(arm, self._rate(arm.name)) for arm in head.arms] if head is not None else []

    def _rate(self, arm: str) -> RateRow | None:
        rates = self.comparison.arms if self.comparison is not None else ()
        return next((rate for rate in rates if rate.name == arm), None)

    # ------------------------------------------------------------ choices
    def choose_arms(self, number: int) -> None:
        """Compare the arms of another verdict."""
        verdicts = self.verdicts
        if not 0 <= number < len(verdicts):
            return
        chosen = (verdicts[number].arm, verdicts[number].against)
        if chosen != self._compared:
            self._compared = self._chosen[self.folder] = chosen
            self._fill()
            self.arms_changed.emit()

    def next_arms(self) -> None:
        keys = [(one.arm, one.against) for one in self.verdicts]
        if len(keys) > 1:
            self.choose_arms((keys.index(self._compared) + 1) % len(keys))

    def set_filter(self, text: str) -> None:
        if text != self.pairs.text:
            self.pairs.set_filter(text)
            self.changed.emit()

    def show_result(self, result: str) -> None:
        """Show only pairs with this result, "" for all."""
        if result != self.pairs.result:
            self.pairs.set_result(result)
            self.changed.emit()

    def show_group(self, group: str) -> None:
        """Filter the pairs to a group of the plot; all tasks clear the filter."""
        name, _, value = group.partition(" ")
        self.set_filter(f"{name}:{value}" if name in ("site", "type") and value else "")

    def select_pair(self, task: str) -> None:
        if task != self.task:
            self.task = task
            self.pairs.hold({task})
            self.changed.emit()

    # ------------------------------------------------------------ runs of a pair
    @property
    def has_other(self) -> bool:
        """Whether a pair is open that has another run."""
        return len(self._open_pair) > 1

    @property
    def open_pair_runs(self) -> tuple[str, ...]:
        """The first run of each arm of the open pair."""
        return tuple(one.run for one in self._open_pair[:2])

    def open_pair(self, task: str, key: str = "") -> None:
        """Show the first runs of a pair side by side, or the only one; ``other`` goes through all of them.

        ``key`` is that of the command for it.
        """
        row = self.pairs.values.get(task)
        runs = _pair_runs(row) if row is not None else []
        if not runs:
            self.notice.emit(self.tr("Task {0} has no stored run in either arm").format(task))
            return
        self._open_pair, self._at = runs, 0
        if len(runs) > 1 and runs[1].arm != runs[0].arm:
            self.pair_requested.emit(runs[0].run, runs[1].run)
            self.notice.emit(self._pair_words(runs[0], runs[1], key))
        else:
            self._show_run(key)

    def other(self, key: str = "") -> None:
        """Show the next run of the open pair: the other arm's, then the next repeat."""
        if self.has_other:
            self._at = (self._at + 1) % len(self._open_pair)
            self._show_run(key)

    def _pair_words(self, left: PairRun, right: PairRun, key: str) -> str:
        words = self.tr("Task {0}: {1} at the left, {2} at the right").format(left.task, left.arm, right.arm)
        if left.repeats > 1:
            words += self.tr(", repeat {0} of {1}").format(left.repeat, left.repeats)
        return words + self.tr(". {0} opens that of {1}").format(key or self.tr("The command"), right.arm)

    def _show_run(self, key: str) -> None:
        here = self._open_pair[self._at]
        self.run_requested.emit(here.run)
        words = self.tr("Task {0}: run of {1}").format(here.task, here.arm)
        if here.repeats > 1:
            words += self.tr(", repeat {0} of {1}").format(here.repeat, here.repeats)
        if self.has_other:
            after = self._open_pair[(self._at + 1) % len(self._open_pair)]
            words += self.tr(". {0} opens that of {1}").format(key or self.tr("The command"), after.arm)
        self.notice.emit(words)


def _pair_runs(row: PairRow) -> list[PairRun]:
    """Return the runs of a pair: of each repeat that of the arm, then that of the other arm."""
    repeats = max(len(row.runs), len(row.runs_against))
    found = list[PairRun]()
    for number, (run, other) in enumerate(zip_longest(row.runs, row.runs_against, fillvalue=""), start=1):
        if run:
            found.append(PairRun(run, row.task, row.arm, number, repeats))
        if other:
            found.append(PairRun(other, row.task, row.against, number, repeats))
    return found


def _arm_line(arm: Arm, rate: RateRow | None) -> ArmLine:
    facts = [
        tr("{0} tips · {1}").format(arm.tips, short_hash(arm.kb_sha256)) if arm.kb_sha256 else tr("no tips")
    ]
    if arm.maps:
        facts.append(tr("with maps"))
    if rate is None:
        return ArmLine(arm.name, " · ".join(facts), "", "", "")
    cost = [tr("{0:.1f} steps").format(rate.steps), tr("{0:.1f} s").format(rate.seconds)]
    if rate.tokens:
        cost.append(tr("{0:,.0f} tokens").format(rate.tokens))
    if rate.tokens or rate.money is None or rate.money:
        cost.append(money_text(rate.money))
    low, high = (percent(share).removesuffix(" %") for share in (rate.low, rate.high))
    around = tr("{0} to {1}").format(low, high)
    a_run = tr("a run: {0}").format(" · ".join(cost))
    return ArmLine(arm.name, " · ".join(facts), percent(rate.mean), around, a_run)


def _error_lines(records: list[EpisodeRecord]) -> list[ErrorLine]:
    failed = [record for record in records if record.error]
    counts = Counter(record.error for record in failed)
    first: dict[str, str] = {}
    for record in failed:
        first.setdefault(record.error, tr("task {0} with {1}").format(record.key.task, record.key.arm))
    return [ErrorLine(sentence, count, first[sentence]) for sentence, count in counts.most_common()]


def verdict_title(verdict: ComparisonVerdict, row: DifferenceRow | None) -> str:
    """``akb and none``, with the difference where it is known; for the list of compared arms."""
    title = tr("{0} and {1}").format(verdict.arm, verdict.against)
    return f"{title}  {points(row.difference)}" if row is not None else title
