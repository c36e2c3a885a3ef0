"""A model's steps for the draft in hand, beside the compiler's own: asked for, accepted, rejected, taken back."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.common.jobs import RUNNING
from app.models.common.tasks import ignore
from app.models.knowledge.procedure_model import ProcedureModel
from kb.procedure import ProcedureOrigin
from kb.tip import TipDraft

if TYPE_CHECKING:
    from app.engine.api.tip_api import DraftedSteps
    from app.engine.core.events import JobChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from kb.procedure import Procedure

JOB = "Draft the steps with the model"


class StepDraftState(StrEnum):
    """The state of the model's steps."""

    NONE = "none"
    ASKING = "asking"
    THERE = "there"
    ACCEPTED = "accepted"


class StepDraftModel(QObject):
    """The model's steps for one draft at a time.

    Signals:
        changed: the state, the steps, or whether the model can be asked.
    """

    changed = Signal()

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        procedure: ProcedureModel,
        draft: Callable[[], TipDraft],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._procedure, self._draft = client, tasks, procedure, draft
        self.shown = ProcedureModel(self)
        """The model's steps, only to be read."""
        self.state, self.error, self.missing = StepDraftState.NONE, "", ""
        self.found: DraftedSteps | None = None
        self._job: JobChanged | None = None
        self._replaced: Procedure | None = None
        self._key = f"step-draft-{id(self)}"
        client.job_changed.connect(self._on_job)
        procedure.changed.connect(self._on_steps)

    def begin(self) -> None:
        """Begin with another draft: find out whether a model is set."""
        self.end()
        self._tasks.start(self._client.api.model_missing(), self._on_missing, ignore, key=f"{self._key}-set")

    def end(self) -> None:
        """Stop asking, and forget the last answer."""
        self.stop()
        self.state, self.error, self.found = StepDraftState.NONE, "", None
        self.changed.emit()

    # what can be done

    @property
    def can_ask(self) -> bool:
        return self._procedure.can_edit and not self.missing and self.state is not StepDraftState.ASKING

    @property
    def can_stop(self) -> bool:
        return self.state is StepDraftState.ASKING

    @property
    def can_accept(self) -> bool:
        there = self.state is StepDraftState.THERE and self.found is not None
        return there and self._procedure.can_edit and self.found is not None and bool(self.found.procedure)

    @property
    def can_reject(self) -> bool:
        return self._procedure.can_edit and self.state in (StepDraftState.THERE, StepDraftState.ACCEPTED)

    # actions

    def ask(self) -> None:
        """Ask the model for the steps of the text as it is now."""
        if self.can_ask:
            self.state, self.error, self.found, self._job = StepDraftState.ASKING, "", None, None
            self._tasks.start(
                self._client.api.draft_steps(self._draft()), self._came, self._failed, key=self._key
            )
            self.changed.emit()

    def stop(self) -> None:
        """Stop asking; an answer that still comes is dropped."""
        if not self.can_stop:
            return
        if self._job is not None:
            self._tasks.start(self._client.api.cancel_job(self._job.id), failed=ignore)
        self._tasks.cancel(self._key)
        self.state, self._job = StepDraftState.NONE, None
        self.changed.emit()

    def accept(self) -> None:
        """Make the model's steps those of the tip."""
        if self.found is not None and self.can_accept:
            self._replaced = self._procedure.given
            self.state = StepDraftState.ACCEPTED
            self._procedure.take(self.found.procedure)
            self.changed.emit()

    def reject(self) -> None:
        """Drop the model's steps; after they were accepted take the earlier ones back."""
        if not self.can_reject:
            return
        if self.state is StepDraftState.ACCEPTED:
            self.state = StepDraftState.THERE
            self._procedure.take(self._replaced)
        else:
            self.state, self.found = StepDraftState.NONE, None
        self.changed.emit()

    # texts

    @property
    def text(self) -> str:
        """The state in words; "" while nothing was asked."""
        found = self.found
        if self.error:
            return self.error
        if self.state is StepDraftState.ASKING:
            return self.tr("The model is being asked…")
        if found is None:
            return ""
        if self.state is StepDraftState.ACCEPTED:
            return self.tr("Accepted. Nothing is stored before you save.")
        if not found.procedure:
            return self.tr("The model found no step that can be used.")
        return self.tr("{0} answered in {1} s").format(
            found.model or self.tr("The model"), f"{found.seconds:.1f}"
        )

    @property
    def notes(self) -> str:
        """A line for each step that was left out or that the tip does not name."""
        if self.found is None or self.state is StepDraftState.ACCEPTED:
            return ""
        lines = [self.tr("✕ Left out: {0}").format(one) for one in self.found.left_out]
        return "\n".join([*lines, *(self.tr("! Look at it: {0}").format(one) for one in self.found.marked)])

    # inside

    def _on_missing(self, missing: str) -> None:
        self.missing = missing
        self.changed.emit()

    def _came(self, found: DraftedSteps) -> None:
        self.found, self.state, self._job = found, StepDraftState.THERE, None
        self.shown.forget()
        self.shown.show(TipDraft(site="", text="", procedure=found.procedure))
        self.changed.emit()

    def _failed(self, error: BaseException) -> None:
        self.state, self._job, self.error = StepDraftState.NONE, None, str(error)
        self.changed.emit()

    def _on_steps(self) -> None:
        """Other steps than the accepted ones are there: taking back would lose them."""
        if self.state is StepDraftState.ACCEPTED and self._procedure.origin is not ProcedureOrigin.MODEL:
            self.state, self.found = StepDraftState.NONE, None
            self.changed.emit()

    def _on_job(self, job: JobChanged) -> None:
        if self.can_stop and job.title == JOB and job.state == RUNNING:
            self._job = job
