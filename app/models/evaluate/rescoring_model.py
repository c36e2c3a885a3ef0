"""Stored runs scored again by a named dialect, and how that agrees with their recorded scores."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.evaluation_api import RescoredRun
from app.engine.core.evaluation.task_score import SubCheck
from app.models.common.object_list import ObjectList
from app.models.common.object_table import Column, ObjectTable
from app.models.evaluate.figures import count_words
from app.models.evaluate.result_tables import MAX_TOOLTIP, one_line, score_words

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.evaluate.suites_model import SuitesModel

AGREEMENTS = ("agrees", "false pass", "false fail", "undecided", "not recorded")


def agreement_of(run: RescoredRun) -> str:
    """Return how the verdict agrees with the recorded score; only a score of 1 is a pass."""
    if run.recorded is None:
        return "not recorded"
    if run.score is None:
        return "undecided"
    passed, recorded = run.score >= 1, run.recorded >= 1
    if passed == recorded:
        return "agrees"
    return "false pass" if passed else "false fail"


def recorded_words(run: RescoredRun) -> str:
    return "—" if run.recorded is None else score_words(run.recorded)


class RescoredTable(ObjectTable[RescoredRun]):
    """Rescored runs; the ones that do not agree first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda run: run.run, parent, sorted_by="agreement")
        self.agreement = ""
        tr = self.tr
        order = ("false pass", "false fail", "undecided", "not recorded", "agrees")
        self.columns = (
            Column(key="agreement", title=tr("Agreement"), cell=lambda run: tr(agreement_of(run)),
                   sort=lambda run: order.index(agreement_of(run))),
            Column(key="task", title=tr("Task"), cell=lambda run: run.task, numeric=True,
                   sort=lambda run: (0, int(run.task), "") if run.task.isdecimal() else (1, 0, run.task)),
            Column(key="site", title=tr("Site"), cell=lambda run: run.site),
            Column(key="recorded", title=tr("Recorded"), cell=recorded_words, numeric=True),
            Column(key="score", title=tr("Now"), cell=lambda run: score_words(run.score), numeric=True),
            Column(key="evaluators", title=tr("Evaluators"), cell=lambda run: ", ".join(run.evaluators)),
            Column(key="why", title=tr("Reason"), cell=lambda run: one_line(run.why),
                   tooltip=lambda run: run.why[:MAX_TOOLTIP]),
            Column(key="run", title=tr("Run"), cell=lambda run: run.run),
        )  # fmt: skip

    def matches(self, value: RescoredRun) -> bool:
        return not self.agreement or agreement_of(value) == self.agreement

    def show_only(self, agreement: str) -> None:
        """Show only one kind, "" for all."""
        if agreement != self.agreement:
            self.agreement = agreement
            self.filter_again()

    @property
    def counts(self) -> dict[str, int]:
        """Number of runs by agreement; "" is all of them."""
        found = Counter(agreement_of(run) for run in self.values.values())
        return {"": len(self.values), **{name: found[name] for name in AGREEMENTS}}


class SubCheckList(ObjectList[tuple[int, SubCheck]]):
    """The comparisons of one run, with their numbers."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda one: one[0], parent)

    def words(self, value: tuple[int, SubCheck]) -> str:
        check = value[1]
        found = check.found or self.tr("nothing")
        text = self.tr("{0}: expected {1}, found {2}").format(check.evaluator, check.expected, found)
        return f"{text}. {check.why}"[:MAX_TOOLTIP] if check.why else text[:MAX_TOOLTIP]


class RescoringModel(QObject):
    """``changed`` when the request, the result or an error changed."""

    changed = Signal()

    def __init__(
        self, client: EngineEvents, tasks: Tasks, suites: SuitesModel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._suites = client, tasks, suites
        self.table, self.checks = RescoredTable(self), SubCheckList(self)
        self.suite = self.dialect = self.folder = ""
        self.judge = self.is_busy = self.is_done = False
        self.error = self.run = ""
        suites.changed.connect(self._on_suites)

    @property
    def suites(self) -> list[str]:
        return [row.name for row in self._suites.list.rows]

    def choose(self, name: str, value: str | bool) -> None:
        """Choose ``suite``, ``dialect``, ``folder`` or ``judge``; the result stays until it is asked for again."""
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.error = ""
            self.changed.emit()

    def start(self) -> None:
        """Score the stored runs of the suite, or those in the folder."""
        if self.is_busy:
            return
        if not self.suite:
            self.error = self.tr("Add a suite first")
            self.changed.emit()
            return
        self.is_busy, self.error = True, ""
        self.changed.emit()
        api = self._client.api
        work = (
            api.rescore_folder(self.folder, self.suite, self.dialect, self.judge)
            if self.folder.strip()
            else api.rescore((), self.suite, self.dialect, self.judge)
        )
        self._tasks.start(work, self._came, self._failed, key="evaluate-rescore")

    def show_only(self, agreement: str) -> None:
        self.table.show_only(agreement)
        self.changed.emit()

    def select(self, run: str) -> None:
        """Show the comparisons of a run."""
        if run != self.run:
            self.run = run
            row = self.table.values.get(run)
            self.checks.replace(list(enumerate(row.checks)) if row is not None else [])
            self.changed.emit()

    @property
    def summary(self) -> str:
        """``361 of 378 agree … · false passes: 0 · …``."""
        if not self.is_done:
            return ""
        counts = self.table.counts
        if not counts[""]:
            return self.tr("No stored run has a task of this suite.")
        number = count_words
        parts = [
            self.tr("{0} of {1} agree with the recorded score").format(
                number(counts["agrees"]), number(counts[""] - counts["not recorded"])
            ),
            self.tr("false passes: {0}").format(number(counts["false pass"])),
            self.tr("false fails: {0}").format(number(counts["false fail"])),
            self.tr("undecided: {0}").format(number(counts["undecided"])),
        ]
        if counts["not recorded"]:
            parts.append(self.tr("not recorded: {0}").format(number(counts["not recorded"])))
        return " · ".join(parts)

    def _came(self, runs: list[RescoredRun]) -> None:
        self.is_busy, self.is_done = False, True
        self.table.load(runs)
        first = self.table.at(0)
        self.run = ""
        self.select(first.run if first is not None else "")
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.is_busy, self.error = False, str(error) or type(error).__name__
        self.changed.emit()

    def _on_suites(self) -> None:
        if self.suite not in self.suites:
            self.suite = self.suites[0] if self.suites else ""
            self.changed.emit()
