"""The tip composer: fields, live checks while typing, and drafts that survive a crash."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.api.engine_api import SavedTip, TipCheck, TipForm
from app.errors import SiteloreError
from app.models.common.lint_list import LintListModel
from app.models.knowledge.procedure_model import ProcedureModel
from app.models.knowledge.region_model import RegionModel
from app.models.knowledge.similar_list import ExampleListModel, SimilarListModel, preflight_text
from app.models.knowledge.step_draft import StepDraftModel
from app.models.knowledge.tip_fields import coverage_text
from kb.procedure import Procedure
from kb.tip import Anchor, Kind, LintSeverity, Scope, Status, TipDraft

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

CHECK_MS = 250
KEEP_MS = 400
KINDS = tuple(kind.value for kind in Kind)
PARTS = ("when", "do", "before", "why")


class ComposerModel(QObject):
    """One draft at a time, for a step of a run.

    Signals:
        opened: the form was filled (again); views read its fields.
        checked: lint, similar tips, pre-flight or the page count changed.
        saved(run, go_on): the tip is stored; ``go_on`` asks for the next run.
    """

    opened = Signal()
    checked = Signal()
    busy_changed = Signal()
    saved = Signal(str, bool)
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.lint = LintListModel(self)
        self.similar = SimilarListModel(self)
        self.examples = ExampleListModel(self)
        self.procedure = ProcedureModel(self)
        self.procedure.edited.connect(self._set_procedure)
        self.drafted = StepDraftModel(client, tasks, self.procedure, lambda: self.draft, self)
        self.region = RegionModel(client, tasks, self)
        self.region.edited.connect(self._set_anchor)
        self.is_open = self.is_ready = self.is_saving = False
        self.draft = TipDraft(site="", text="")
        self.run, self.step, self.intent = "", 0, ""
        self.kept = False
        self.thrown: TipDraft | None = None
        """The draft that was discarded, which can be brought back until the form is closed."""
        self.error = self.preflight = self.coverage = ""
        self.pages: int | None = None
        self._filled, self._was_changed = self.draft, False
        self._check = QTimer(self, singleShot=True, interval=CHECK_MS)
        self._check.timeout.connect(self._ask_check)
        self._keep = QTimer(self, singleShot=True, interval=KEEP_MS)
        self._keep.timeout.connect(self._keep_now)

    @property
    def key(self) -> str:
        """The key under which the draft is kept."""
        return f"compose:{self.run}:{self.step}"

    @property
    def scope_text(self) -> str:
        return str(self.draft.scope)

    def field(self, name: str) -> str:
        """Return the text of a field: site, scope, kind, text, when, do, before, why or keywords."""
        match name:
            case "scope":
                return self.scope_text
            case "kind":
                return self.draft.kind.value
            case "keywords":
                return ", ".join(self.draft.keywords)
            case _:
                return str(getattr(self.draft, name))

    def set_field(self, name: str, value: str) -> None:
        """Take the typed text; checks and the kept draft follow after a pause."""
        if not self.is_ready or value == self.field(name):
            return
        match name:
            case "scope":
                self.draft = replace(self.draft, scope=Scope.parse(value))
            case "kind":
                self.draft = replace(self.draft, kind=Kind(value))
            case "keywords":
                words = tuple(dict.fromkeys(w.strip() for w in value.split(",") if w.strip()))
                self.draft = replace(self.draft, keywords=words)
            case _:
                self.draft = replace(self.draft, **{name: value})
        self._check.start()
        self._keep.start()
        self._tell_changed()

    @property
    def is_changed(self) -> bool:
        """Whether there is something to discard: a kept draft, or one that differs from the proposal."""
        return self.is_ready and (self.kept or self.draft != self._filled)

    def open(self, run: str, step: int, draft: TipDraft | None = None) -> None:
        """Fill the form for a step: with ``draft``, else with the draft kept for it, else with the engine's
        proposal.
        """
        if self.is_open and (run, step) == (self.run, self.step) and draft is None:
            return
        self.run, self.step, self.is_open, self.is_ready, self.is_saving = run, step, True, False, False
        self.error, self.preflight, self.coverage, self.pages = "", "", "", None
        self.draft, self.intent, self.kept = (
            TipDraft(site="", text=""),
            "",
            False,
        )  # drop the previous tip
        self._filled, self.thrown, self._was_changed = self.draft, None, False
        self.lint.replace([])
        self.similar.replace([])
        self.examples.replace([])
        self.procedure.forget()
        self.procedure.set_editable(False)
        self.drafted.end()
        self.region.show(self.draft, "", 0, editable=False)

        async def fill() -> tuple[TipForm, TipDraft | None]:
            kept = await self._client.api.load_draft(self.key)
            return await self._client.api.compose_tip(run, step), kept

        async def take(given: TipDraft) -> tuple[TipForm, TipDraft]:
            try:
                form = await self._client.api.compose_tip(run, step)
            except SiteloreError:  # a step that is not stored yet: use the draft alone
                form = TipForm(draft=given, intent="", task_values=())
            return form, given

        work = fill() if draft is None else take(draft)
        self._tasks.start(
            work,
            lambda answer: self._fill(answer, given=draft is not None),
            self._failed,
            key="compose-open",
        )
        self.opened.emit()

    def close(self) -> None:
        """Close the form; a changed text is kept as a draft, an unchanged one leaves nothing behind."""
        if not self.is_open:
            return
        self._keep.stop()
        self._check.stop()
        self._tasks.cancel("compose-open")
        if self.is_ready and self.draft != self._filled:
            self._keep_now()
            self.notice.emit(self.tr("Draft kept. It comes back when you write a tip from this step."))
        self.is_open = self.is_ready = False

    def discard(self) -> None:
        """Delete the draft and show the engine's proposal again."""
        if not self.is_open:
            return
        self._keep.stop()
        self._tasks.cancel("compose-keep")
        self.thrown = self.draft if self.is_changed else self.thrown
        self.is_ready = False
        self.opened.emit()

        # Two tasks: closing at once must not keep the draft from being forgotten.
        self._tasks.start(
            self._client.api.save_draft(self.key, None), failed=self._failed, key="compose-keep"
        )
        self._tasks.start(
            self._client.api.compose_tip(self.run, self.step),
            lambda form: self._fill((form, None)),
            self._failed,
            key="compose-open",
        )

    def bring_back(self) -> None:
        """Undo the discarding."""
        if self.thrown is None or not self.is_ready:
            return
        self.draft, self.thrown = self.thrown, None
        self.procedure.show(self.draft)
        self.region.show(self.draft, self.run, self.step, editable=True)
        self._keep.start(0)
        self._check.start(0)
        self.opened.emit()

    def save(self, *, go_on: bool = True) -> None:
        """Store the tip: as reviewed when lint finds no error, else as a draft."""
        if not self.is_ready or self.is_saving:
            return
        if not self.draft.text.strip():
            self._check.stop()
            self._tasks.cancel("tip-check")  # its answer would overwrite this error
            self.error = self.tr("The text is empty. Write what holds for the site.")
            self.checked.emit()
            return
        self.is_saving, self.error = True, ""
        self._keep.stop()
        self._check.stop()
        self._tasks.cancel("compose-keep")
        self.busy_changed.emit()
        self._tasks.start(
            self._store(self.draft, self.intent, self.key),
            lambda result: self._stored(*result, go_on),
            self._failed,
            key="compose-save",
        )

    async def _store(self, draft: TipDraft, intent: str, key: str) -> tuple[SavedTip, Status]:
        api = self._client.api
        check = await api.check_tip(draft, intent, preflight=False)
        wrong = any(finding.severity is LintSeverity.ERROR for finding in check.lint)
        status = Status.DRAFT if wrong else Status.REVIEWED
        saved = await api.save_tip(replace(draft, status=status), intent)
        await api.save_draft(key, None)
        return saved, status

    def _stored(self, saved: SavedTip, status: Status, go_on: bool) -> None:
        self.is_open = self.is_ready = self.is_saving = False
        self.busy_changed.emit()
        if status is Status.REVIEWED:
            self.notice.emit(self.tr("Saved {0} as reviewed").format(saved.id))
        else:
            errors = sum(finding.severity is LintSeverity.ERROR for finding in saved.lint)
            self.notice.emit(
                self.tr("Saved {0} as a draft: lint finds %n error(s)", "", errors).format(saved.id)
            )
        self.saved.emit(self.run, go_on)

    def _fill(self, answer: tuple[TipForm, TipDraft | None], *, given: bool = False) -> None:
        """Fill the form; ``given``: the draft was handed over, so it is not a kept one."""
        form, kept = answer
        self.intent, self._filled, self.kept = form.intent, form.draft, kept is not None and not given
        self.draft = kept if kept is not None else form.draft
        self.is_ready = True
        self.procedure.forget()
        self.procedure.show(self.draft)
        self.procedure.set_editable(True)
        self.drafted.begin()
        self.region.show(self.draft, self.run, self.step, editable=True)
        self._was_changed = self.is_changed
        self.opened.emit()
        self._check.start(0)

    def _tell_changed(self) -> None:
        """Say once that there is something to discard, or nothing any more."""
        if self.is_changed != self._was_changed:
            self._was_changed = self.is_changed
            self.busy_changed.emit()

    def _failed(self, error: BaseException) -> None:
        self.error, self.is_saving = str(error), False
        self.busy_changed.emit()
        self.checked.emit()

    def _keep_now(self) -> None:
        self._tasks.start(
            self._client.api.save_draft(self.key, self.draft), failed=self._failed, key="compose-keep"
        )

    def _set_procedure(self, procedure: Procedure | None) -> None:
        if not self.is_ready:
            return
        self.draft = replace(self.draft, procedure=procedure)
        if procedure is None:
            self.procedure.show(self.draft)
        self._check.start()
        self._keep.start()
        self._tell_changed()

    def _set_anchor(self, anchor: Anchor | None) -> None:
        if self.is_ready:
            self.draft = replace(self.draft, anchor=anchor)
            self._keep.start()

    def _ask_check(self) -> None:
        draft, intent = self.draft, self.intent
        self.procedure.show(draft)

        async def check() -> tuple[int, str, TipCheck]:
            pages = await self._client.api.matching_pages(draft.site, draft.scope)
            coverage = coverage_text(await self._client.api.scope_coverage(draft.site, draft.scope))
            return pages, coverage, await self._client.api.check_tip(draft, intent)

        self._tasks.start(check(), self._checked, self._failed, key="tip-check")

    def _checked(self, answer: tuple[int, str, TipCheck]) -> None:
        if not self.is_open:
            return
        self.pages, self.coverage, check = answer
        self.error = ""
        self.lint.show(check.lint if self.draft.text.strip() else ())
        self.similar.show(check.similar)
        self.examples.show(check.preflight.examples if check.preflight is not None else ())
        self.preflight = preflight_text(check.preflight) if check.preflight is not None else ""
        self.checked.emit()
