"""Verdicts: on the open run, or on many runs at once; notes, and the scorecard of the detectors."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.review_api import BulkVerdict, RiskReport
from app.engine.core.verdicts import Flag, Label, Verdict
from app.models.review.flags import LABELS, GivenVerdictList, ScorecardModel, VerdictListModel, label_keys

if TYPE_CHECKING:
    from app.engine.api.engine_api import RunDetail
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.review.judged_runs import JudgedRuns


class JudgingModel(QObject):
    """Gives and withdraws verdicts.

    ``many`` are the runs that a label judges together: those selected in the queue, or those of the chosen
    clusters; without any it is the open run.

    Signals:
        changed: other verdicts, another run, or other runs to judge together.
        notice: a sentence for a passing message.
    """

    changed = Signal()
    notice = Signal(str)

    def __init__(
        self, client: EngineEvents, tasks: Tasks, many: JudgedRuns, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.many = many
        self.labels, self.given = VerdictListModel(self), GivenVerdictList(self)
        self.scores = ScorecardModel(self)
        self.report: RiskReport | None = None
        self.detail: RunDetail | None = None
        self.step: int | None = None
        self.author = ""
        """This user: the labels given by others are theirs to withdraw."""
        self._opened_at = self._chosen_at = 0.0
        many.changed.connect(self._on_many)

    # ------------------------------------------------------------ the open run
    def open(self, detail: RunDetail | None) -> None:
        """Show another run; the time to its verdict starts now."""
        self._opened_at = time.monotonic()
        self.show(detail)

    def show(self, detail: RunDetail | None) -> None:
        """Show a run's verdicts, or their new state."""
        self.detail = detail
        self.given.show(detail.verdicts if detail is not None else ())
        self._mark()

    @property
    def can_judge(self) -> bool:
        return self.detail is not None or self.many.is_chosen

    @property
    def heading(self) -> str:
        """``Verdict``, or on how many runs the next one is given."""
        if not self.many.is_chosen:
            return self.tr("Verdict")
        count = self.many.count
        return self.tr("Verdict on {0} runs").format(count) if count != 1 else self.tr("Verdict on 1 run")

    @property
    def hint(self) -> str:
        """The verdict that a cluster's cause suggests; of the open run how many verdicts of others are withheld."""
        if self.many.is_chosen:
            return self._suggestion()
        count = self.detail.hidden_verdicts if self.detail is not None else 0
        if not count:
            return ""
        if count == 1:
            return self.tr("1 verdict of another annotator is hidden until you have judged this run.")
        text = self.tr("{0} verdicts of other annotators are hidden until you have judged this run.")
        return text.format(count)

    def _suggestion(self) -> str:
        labels = {cluster.label for cluster in self.many.clusters}
        label = next(iter(labels)) if len(labels) == 1 and not self.many.runs else None
        if label is None:
            return ""
        keys = label_keys(LABELS.index(label))
        return self.tr("The cause suggests: {0} ({1})").format(label.value, keys)

    # ------------------------------------------------------------ judging
    def judge(self, place: int, note: str = "") -> None:
        """Give the label at this place of the list (0 is key ``1``).

        On the open run the same label again withdraws it; on many runs those that have it are left as they are.
        """
        if not 0 <= place < len(LABELS):
            return
        if self.many.is_chosen:
            self._judge_many(LABELS[place], note)
        elif self.detail is not None:
            self._judge_open(place, note, self.detail)

    def _judge_open(self, place: int, note: str, detail: RunDetail) -> None:
        choice = self.labels.at(place)
        if choice is not None and choice.given:
            self._withdraw(choice.given, choice.label.value)
            return

        def given(verdict: Verdict) -> None:
            self.notice.emit(self.tr("Verdict: {0}").format(verdict.label.value))

        step = self.step if detail.steps else None
        seconds = round(time.monotonic() - self._opened_at, 1)
        give = self._client.api.give_verdict(detail.run.id, LABELS[place], step, note, lead_seconds=seconds)
        self._tasks.start(give, given)

    def _judge_many(self, label: Label, note: str) -> None:
        if self.many.is_loading:
            self.notice.emit(self.tr("The clusters are still loading; nothing was judged."))
            return
        seconds = round(time.monotonic() - self._chosen_at, 1)
        find = self.many.freeze()

        async def give() -> tuple[BulkVerdict, int]:
            runs, left = await find()
            return await self._client.api.give_verdicts(runs, label, note, lead_seconds=seconds), left

        self._tasks.start(give(), lambda answer: self._gave_many(*answer))

    def _gave_many(self, bulk: BulkVerdict, left: int) -> None:
        """Say on how many runs the verdict was given; ``left`` were judged before and left as they are."""
        count, label = len(bulk.runs), bulk.label.value
        if not count:
            self.notice.emit(self.tr("These runs have the verdict '{0}' already.").format(label))
            return
        word = self.tr("Verdict on {0} runs: {1}") if count != 1 else self.tr("Verdict on {0} run: {1}")
        said = word.format(count, label)
        left += len(bulk.skipped)
        if left:
            said += self.tr(" ({0} had a verdict already)").format(left)
        self.notice.emit(said)
        self.many.release()

    def withdraw(self, verdict: str = "") -> None:
        """Withdraw one verdict on the open run, or this user's newest."""
        given = self.detail.verdicts if self.detail is not None else ()
        found = next((one for one in given if one.id == verdict), self.newest)
        if found is not None:
            self._withdraw(found.id, found.label.value)

    @property
    def newest(self) -> Verdict | None:
        """This user's newest verdict on the open run."""
        given = self.detail.verdicts if self.detail is not None else ()
        own = [one for one in given if not self.author or one.author in ("", self.author)]
        return own[-1] if own else None

    def annotate(self, note: str) -> None:
        """Put a note on the newest verdict, which is stored again with it."""
        old = self.newest
        if old is None:
            self.notice.emit(self.tr("Give a verdict first: the note belongs to it."))
            return

        async def file_again() -> Verdict:
            await self._client.api.withdraw_verdict(old.id)
            return await self._client.api.give_verdict(
                old.run, old.label, old.step, note, lead_seconds=old.lead_seconds
            )

        self._tasks.start(
            file_again(), lambda _verdict: self.notice.emit(self.tr("Note saved with the verdict"))
        )

    def _withdraw(self, verdict: str, label: str) -> None:
        self._tasks.start(
            self._client.api.withdraw_verdict(verdict),
            lambda _none: self.notice.emit(self.tr("Verdict withdrawn: {0}").format(label)),
        )

    def _on_many(self) -> None:
        self._chosen_at = time.monotonic()
        self._mark()

    def _mark(self) -> None:
        """Mark the labels given to the open run; together with others no label is marked."""
        alone = self.detail if not self.many.is_chosen else None
        self.labels.show(alone.verdicts if alone is not None else (), self.author)
        self.changed.emit()

    # ------------------------------------------------------------ detectors
    def ask_model(self, run: str) -> None:
        """Ask a model about a run; its flags are added."""

        def came(flags: list[Flag]) -> None:
            nothing = self.tr("The model found nothing suspicious in this run.")
            self.notice.emit(self.tr("The model raised {0} flags.").format(len(flags)) if flags else nothing)

        self._tasks.start(self._client.api.ask_model((run,)), came)
        self.notice.emit(self.tr("Asking a model about this run"))

    def load_scores(self) -> None:
        def came(report: RiskReport) -> None:
            self.report = report
            self.scores.show(report.scores)

        self._tasks.start(self._client.api.risk_report(), came, key="review-scores")
