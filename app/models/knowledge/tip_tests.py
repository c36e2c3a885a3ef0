"""How the open tip fares: its test in a browser, its record, and votes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.tip_api import TipStanding, TipTest, TipTests
from app.models.common.jobs import RUNNING
from app.models.common.tasks import ignore
from app.models.knowledge.procedure_model import steps_of
from app.models.knowledge.tip_table import ago, exact_time
from kb.evidence import DOWN, UP, TestOutcome
from kb.tip import Status, Tip, TipRecord

if TYPE_CHECKING:
    from app.engine.core.events import JobChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

OPEN_DELAY = 0.06
"""Seconds before the standing of a tip is loaded: tips passed by load nothing."""

_WORKED = (TestOutcome.HOLDS.value, TestOutcome.STOPPED.value)


class TipTestModel(QObject):
    """Tests and votes of the open tip.

    Signals:
        changed: the standing, a running test or its progress.
        notice: a sentence for a passing message.
    """

    changed = Signal()
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.tip: Tip | None = None
        self.standing: TipStanding | None = None
        self.error = ""
        self.tested = ""
        """The tip, or with ``tested_site`` the site, whose test runs; "" for none."""
        self.tested_site = ""
        self.job: JobChanged | None = None
        self._tests: dict[str, TipTest] = {}
        client.job_changed.connect(self._on_job)

    # the open tip

    def show(self, tip: Tip | None) -> None:
        """Show this tip, or that it has changed."""
        if tip is None or self.tip is None or tip.id != self.tip.id:
            self.standing, self.error = None, ""
        self.tip = tip
        if tip is not None:
            self._ask(tip.id, OPEN_DELAY)
        self.changed.emit()

    @property
    def is_testing(self) -> bool:
        return bool(self.tested or self.tested_site)

    @property
    def can_test(self) -> bool:
        return not self.is_testing and self.standing is not None and bool(self.standing.steps)

    @property
    def can_test_site(self) -> bool:
        return not self.is_testing and self.tip is not None

    @property
    def can_stop(self) -> bool:
        return self.is_testing and self.job is not None

    @property
    def can_vote(self) -> bool:
        return self.standing is not None

    @property
    def holds_again(self) -> bool:
        """Whether the tip is suspect although its last test held."""
        suspect = self.tip is not None and self.tip.status is Status.SUSPECT
        return suspect and self.standing is not None and self.standing.outcome in _WORKED

    @property
    def results(self) -> Mapping[int, str]:
        """Outcomes of the steps in the last test, by number; after a restart only that of the step that decided."""
        standing = self.standing
        if standing is None or not standing.outcome:
            return {}
        if standing.outcome == TestOutcome.NOT_REACHED:
            return {}
        test = self._tests.get(standing.tip)
        if test is not None and (test.outcome, test.step) == (standing.outcome, standing.step):
            return {one.number: one.outcome for one in test.steps}
        if standing.outcome == TestOutcome.BROKE:
            return {standing.step: "not done"}
        return {standing.step: "would write"} if standing.outcome == TestOutcome.STOPPED else {}

    # actions

    def test(self) -> None:
        """Do the open tip's steps in a browser."""
        if self.tip is None or not self.can_test:
            return
        self.tested, self.job, self.error = self.tip.id, None, ""
        self._tasks.start(self._client.api.test_tip(self.tip.id), self._tip_tested, self._failed)
        self.changed.emit()

    def test_site(self) -> None:
        """Test every reviewed, active and suspect tip of the open tip's site."""
        if self.tip is None or not self.can_test_site:
            return
        self.tested_site, self.job, self.error = self.tip.site, None, ""
        self._tasks.start(self._client.api.test_tips(self.tip.site), self._site_tested, self._failed)
        self.changed.emit()

    def stop(self) -> None:
        if self.job is not None:
            self._tasks.start(self._client.api.cancel_job(self.job.id), failed=ignore)

    def vote(self, vote: int) -> None:
        """Vote the tip useful (1) or not (-1); the same vote again takes it back."""
        if self.tip is None or self.standing is None:
            return
        tip = self.tip.id
        wanted = 0 if self.standing.own_vote == (UP if vote > 0 else DOWN) else vote
        self._tasks.start(self._client.api.vote_tip("", tip, wanted), lambda _none: self._ask(tip))

    # texts

    @property
    def test_text(self) -> str:
        """The state of the running or the last test, in words."""
        if self.error:
            return self.error
        if self.is_testing:
            return self._progress_text
        standing = self.standing
        if standing is None:
            return self.tr("Loading the last test…")
        if not standing.steps:
            return self.tr("No steps to test.")
        if not standing.outcome:
            return self.tr("Not tested yet.")
        when = self.tr("{0} by {1}").format(ago(standing.tested_at), standing.tested_by or self.tr("unknown"))
        return f"{self._outcome_text(standing)} · {when}"

    @property
    def tested_at(self) -> str:
        """The exact time of the last test."""
        return exact_time(self.standing.tested_at) if self.standing is not None else ""

    @property
    def message(self) -> str:
        """The last test's own sentence."""
        shown = self.standing is not None and not self.is_testing and not self.error
        said = self.standing.message if shown and self.standing is not None else ""
        return said[:1].upper() + said[1:]

    @property
    def level(self) -> str:
        """``ok``, ``warn``, ``fail`` or ``secondary``: how to show the test."""
        if self.error:
            return "fail"
        if self.is_testing or self.standing is None:
            return "secondary"
        match self.standing.outcome:
            case TestOutcome.HOLDS | TestOutcome.STOPPED:
                return "ok"
            case TestOutcome.BROKE:
                return "fail"
            case TestOutcome.NOT_REACHED:
                return "warn"
            case _:
                return "secondary"

    @property
    def record_text(self) -> str:
        """How the tip has fared in runs and tests."""
        record = self.standing.record if self.standing is not None else TipRecord()
        parts = [
            self.tr("Steps of runs: {0} applied, {1} done, {2} with their effect seen").format(
                record.applied, record.done, record.effect
            )
            if record.applied
            else self.tr("Not used in a run yet"),
            self.tr("{0} failed").format(record.failed) if record.failed else "",
            self.tr("tests: {0} held, {1} broke").format(record.tests - record.broke, record.broke)
            if record.tests
            else "",
        ]
        return " · ".join(part for part in parts if part)

    @property
    def vote_text(self) -> str:
        """The votes, and the person's own."""
        if self.standing is None:
            return ""
        record = self.standing.record
        votes = self.tr("{0} useful, {1} not useful").format(record.up, record.down)
        if not (record.up or record.down):
            votes = self.tr("No votes yet")
        own = {UP: self.tr("you: useful"), DOWN: self.tr("you: not useful")}.get(self.standing.own_vote, "")
        return f"{votes} ({own})" if own else votes

    @property
    def _progress_text(self) -> str:
        job = self.job
        if job is None:
            return self.tr("Waiting for a browser…")
        if self.tested_site:
            head = self.tr("Testing the tips of {0}: {1} of {2}").format(
                self.tested_site, job.done + 1, job.total or "?"
            )
        else:
            head = self.tr("Testing: step {0} of {1}").format(job.done + 1, job.total or "?")
        return f"{head}, {job.detail}" if job.detail else head

    def _outcome_text(self, standing: TipStanding) -> str:
        total = len(steps_of(self.tip).steps) if self.tip is not None else 0
        match standing.outcome:
            case TestOutcome.HOLDS:
                return self.tr("✓ Holds")
            case TestOutcome.STOPPED:
                return self.tr("✓ Holds; stopped before a write at step {0} of {1}").format(
                    standing.step, total
                )
            case TestOutcome.BROKE:
                return self.tr("✕ Broke at step {0} of {1}").format(standing.step, total)
            case _:
                return self.tr("– Page not reached")

    # answers

    def _ask(self, tip: str, delay: float = 0.0) -> None:
        def came(standing: TipStanding) -> None:
            if self.tip is not None and self.tip.id == standing.tip:
                self.standing = standing
                self.changed.emit()

        self._tasks.start(
            self._client.api.tip_standing(tip), came, ignore, key="knowledge-standing", delay=delay
        )

    def _tip_tested(self, test: TipTest) -> None:
        self.tested, self.job = "", None
        if test.outcome:
            self._tests[test.tip] = test
        words = [f"{test.tip}: {test.message}"]
        words += [self.tr("it is suspect now")] if test.became_suspect else []
        self.notice.emit("; ".join(words))
        self._again()

    def _site_tested(self, done: TipTests) -> None:
        self.tested_site, self.job = "", None
        self._tests |= {one.tip: one for one in done.tests if one.outcome}
        counts = ", ".join(f"{number} {outcome}" for outcome, number in done.counts.items())
        words = [self.tr("Tips of {0}: {1}").format(done.site, counts or self.tr("none tested"))]
        suspects = [one.tip for one in done.tests if one.became_suspect]
        words += [self.tr("suspect now: {0}").format(", ".join(suspects))] if suspects else []
        words += [self.tr("{0} without steps").format(len(done.without_steps))] if done.without_steps else []
        words += [self.tr("stopped before the others")] if done.cancelled else []
        self.notice.emit("; ".join(words))
        self._again()

    def _failed(self, error: BaseException) -> None:
        self.tested, self.tested_site, self.job = "", "", None
        self.error = str(error)
        self.changed.emit()

    def _again(self) -> None:
        if self.tip is not None:
            self._ask(self.tip.id)
        self.changed.emit()

    def _on_job(self, job: JobChanged) -> None:
        title = f"Test the tips of {self.tested_site}" if self.tested_site else f"Test the tip {self.tested}"
        if self.is_testing and job.title == title and job.state == RUNNING:
            self.job = job
            self.changed.emit()
