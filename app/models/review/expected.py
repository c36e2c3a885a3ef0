"""The expected outcome of the open run as rows: its rules, the recorded score, the verdict and its checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.engine.api.evaluation_api import ExpectedOutcome
from app.engine.core.evaluation.task_score import SubCheck, TaskScore
from app.models.common.object_list import ObjectList
from app.models.review.run_queue import score_level, score_text

if TYPE_CHECKING:
    from app.engine.api.engine_api import RunDetail
    from app.engine.core.events import RunsChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedLine:
    """One row: its role and details, its text, and the colour role of its sign, "" for no sign."""

    key: int
    role: str
    text: str = ""
    more: str = ""
    level: str = ""


class ExpectedList(ObjectList[ExpectedLine]):
    """Rows in the order rules, recorded score, verdict, checks."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda line: line.key, parent)

    def words(self, value: ExpectedLine) -> str:
        """``fails (string_match): expected the answer has '19'; found '17'``."""
        head = f"{value.role}{f' ({value.more})' if value.more else ''}"
        return f"{head}: {value.text}" if value.text else head


class ReviewedRun(Protocol):
    """The part of Review's model that says which run is open."""

    run: str
    detail: RunDetail | None

    @property
    def run_changed(self) -> Any:
        """The signal that another run is open."""


class ExpectedModel(QObject):
    """Follows the open run.

    Signals:
        changed: another outcome, or it was folded or unfolded.

    Attributes:
        outcome: ``None`` where no suite knows the run's task.
        is_loading: it is being looked up for the first time.
    """

    changed = Signal()

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        review: ReviewedRun,
    ) -> None:
        super().__init__(review if isinstance(review, QObject) else None)
        self._client, self._tasks, self._review = client, tasks, review
        self.lines = ExpectedList(self)
        self.outcome: ExpectedOutcome | None = None
        self.is_loading = False
        self._run = ""
        self._wanted = False
        review.run_changed.connect(self._follow)
        client.suites_changed.connect(self._ask)
        client.runs_changed.connect(self._on_runs_changed)

    @property
    def is_hidden(self) -> bool:
        """Whether the suite is blind."""
        return self.outcome is not None and self.outcome.hidden

    @property
    def is_unfolded(self) -> bool:
        """Whether the rows are shown; folded at first, since the answer page shows them whole."""
        return self._wanted

    @property
    def summary(self) -> str:
        """The line that stands for the section while it is folded."""
        outcome = self.outcome
        if outcome is None:
            return ""
        if outcome.hidden:
            return _tr("hidden: the suite {0} is blind").format(outcome.suite)
        if outcome.score is not None:
            return _verdict_words(outcome.score)
        return outcome.expected[0] if outcome.expected else _tr("the suite has no reference answer")

    @property
    def level(self) -> str:
        """Colour role of the verdict, "" without one."""
        return score_level(self.outcome.score.score) if self.outcome and self.outcome.score else ""

    def toggle(self) -> None:
        """Fold the rows, or unfold them; other runs stay so, too."""
        self._wanted = not self.is_unfolded
        self.changed.emit()

    def _follow(self) -> None:
        run = self._review.run if self._review.detail is not None else ""
        if run == self._run:
            return
        self._run = run
        self.is_loading = bool(run)
        self._show(None)
        self._ask()

    def _on_runs_changed(self, event: RunsChanged) -> None:
        if self._run and (not event.runs or self._run in event.runs):
            self._ask()

    def _ask(self, _event: object = None) -> None:
        run = self._run
        if not run:
            self._tasks.cancel("review-expected")
            return

        def came(outcome: ExpectedOutcome | None) -> None:
            if run == self._run:
                self.is_loading = False
                self._show(outcome)

        def failed(_error: BaseException) -> None:
            if run == self._run:
                self.is_loading = False
                self.changed.emit()

        self._tasks.start(self._client.api.expected_outcome(run), came, failed, key="review-expected")

    def _show(self, outcome: ExpectedOutcome | None) -> None:
        self.outcome = outcome
        self.lines.replace(list(expected_rows(outcome)) if outcome is not None else [])
        self.changed.emit()


def expected_rows(outcome: ExpectedOutcome) -> Iterator[ExpectedLine]:
    """Return the rows of an outcome; none where the suite is blind."""
    if outcome.hidden:
        return
    number = 0
    for text in outcome.expected or (_tr("the suite has no reference answer for this task"),):
        number += 1
        yield ExpectedLine(key=number, role=_tr("expected"), text=text)
    if outcome.recorded is not None:
        number += 1
        yield ExpectedLine(
            key=number,
            role=_tr("recorded"),
            more=score_text(outcome.recorded),
            level=score_level(outcome.recorded),
        )
    if outcome.score is None:
        return
    score = outcome.score
    yield ExpectedLine(
        key=number + 1,
        role=_tr("by the rules {0}").format(score.dialect.value),
        more=_word(score.score),
        text=score.why,
        level=score_level(score.score),
    )
    for at, check in enumerate(score.checks, number + 2):
        yield _check_row(at, check)


def _check_row(key: int, check: SubCheck) -> ExpectedLine:
    found = _tr("found {0}").format(check.found) if check.found else ""
    return ExpectedLine(
        key=key,
        role=check.evaluator,
        more=_word(check.score),
        text="; ".join(part for part in (check.expected, found, check.why) if part),
        level=score_level(check.score),
    )


def _verdict_words(score: TaskScore) -> str:
    return f"{_word(score.score)}: {score.why}" if score.why else _word(score.score)


def _word(score: float | None) -> str:
    if score is None:
        return _tr("undecided")
    if score >= 1:
        return _tr("holds")
    return _tr("holds in part, {0:.2f}").format(score) if score > 0 else _tr("does not hold")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Review", text)
