"""The open tip: its checks and history, and the edit in progress."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.models.common.lint_list import LintListModel
from app.models.common.tasks import ignore
from app.models.knowledge.procedure_model import ProcedureModel
from app.models.knowledge.region_model import RegionModel
from app.models.knowledge.similar_list import ExampleListModel, SimilarListModel, preflight_text
from app.models.knowledge.step_draft import StepDraftModel
from app.models.knowledge.tip_fields import coverage_text, draft_of, field_of, with_field
from app.models.knowledge.tip_history import RevisionListModel, RevisionRow, revision_rows
from kb.procedure import Procedure
from kb.tip import Anchor, LintFinding, Preflight, Similar, Tip, TipDraft

if TYPE_CHECKING:
    from app.engine.api.engine_api import SavedTip
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

CHECK_MS = 250
KEEP_MS = 400
OPEN_DELAY = 0.06
"""Seconds before the neighbours and pages of a tip are loaded: tips passed by load nothing."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The engine's checks of a tip or of an edit."""

    lint: tuple[LintFinding, ...]
    similar: tuple[Similar, ...]
    preflight: Preflight | None
    pages: int
    coverage: str


class TipEditor(QObject):
    """One tip at a time, read or edited in place.

    Signals:
        opened: another tip is shown, or this one changed; views read its fields.
        checked: lint, neighbours, pages and pre-flight arrived.
        editing_changed: the fields became writable, or read-only.
        history_changed: the revisions arrived.
    """

    opened = Signal()
    checked = Signal()
    editing_changed = Signal(bool)
    history_changed = Signal()
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.lint = LintListModel(self)
        self.similar = SimilarListModel(self)
        self.examples = ExampleListModel(self)
        self.history = RevisionListModel(self)
        self.procedure = ProcedureModel(self)
        self.procedure.edited.connect(self._set_procedure)
        self.drafted = StepDraftModel(client, tasks, self.procedure, lambda: self.draft, self)
        self.region = RegionModel(client, tasks, self)
        self.region.edited.connect(self._set_anchor)
        self.tip: Tip | None = None
        self.draft = TipDraft(site="", text="")
        self.is_editing = self.is_saving = self.is_known = self.kept = False
        self.error = self.preflight = self.coverage = ""
        self.pages: int | None = None
        self.looked_at: int = 0
        """The version whose changes are shown."""
        self._intent = ""
        self._check = QTimer(self, singleShot=True, interval=CHECK_MS)
        self._check.timeout.connect(self._ask)
        self._keep = QTimer(self, singleShot=True, interval=KEEP_MS)
        self._keep.timeout.connect(self._keep_now)

    @property
    def key(self) -> str:
        """The key under which an unfinished edit is kept."""
        return f"edit:{self.tip.id}" if self.tip is not None else ""

    @property
    def is_changed(self) -> bool:
        return self.is_editing and self.tip is not None and self.draft != draft_of(self.tip)

    def field(self, name: str) -> str:
        return field_of(self.draft, name)

    # ------------------------------------------------------------ reading
    def show(self, tip: Tip | None) -> None:
        """Show this tip; the edit of another one is kept as a draft."""
        if tip == self.tip:
            return
        same = tip is not None and self.tip is not None and tip.id == self.tip.id
        if same and self.is_editing:  # it changed elsewhere while being edited: the edit wins
            self.tip = tip
            self._ask_history()
            return
        self.leave()
        self.tip, self.error = tip, ""
        self.draft = draft_of(tip) if tip is not None else TipDraft(site="", text="")
        if not same:
            self._forget()
        self._show_steps()
        self.opened.emit()
        if tip is not None:
            self._ask(OPEN_DELAY)
            self._ask_history()

    def refresh(self) -> None:
        """Check the tip again after runs or other tips changed."""
        if self.tip is not None:
            self._ask(0.3)

    # ------------------------------------------------------------ editing
    def edit(self) -> None:
        """Make the fields writable, with the kept edit where there is one."""
        if self.tip is None or self.is_editing:
            return
        self.is_editing, self.kept, self.error = True, False, ""
        self.draft = draft_of(self.tip)
        self._show_steps()
        self.drafted.begin()
        self.editing_changed.emit(True)
        tip = self.tip.id

        def came(kept: TipDraft | None) -> None:
            if kept is None or not self.is_editing or self.tip is None or self.tip.id != tip:
                return
            if self.is_changed or kept == draft_of(self.tip):
                return
            self.draft, self.kept = kept, True
            self._show_steps()
            self.opened.emit()
            self._check.start(0)

        self._tasks.start(self._client.api.load_draft(self.key), came, ignore, key="knowledge-kept")

    def set_field(self, name: str, value: str) -> None:
        """Take the typed text; checks and the kept draft follow after a pause."""
        if not self.is_editing or value == self.field(name):
            return
        self.draft = with_field(self.draft, name, value)
        self._check.start()
        self._keep.start()

    def leave(self) -> None:
        """Stop editing: show the stored text and keep the changes as a draft."""
        if not self.is_editing or self.tip is None:
            return
        self._keep.stop()
        self._check.stop()
        if self.is_changed and not self.is_saving:
            self._keep_now()
            self.notice.emit(self.tr("Editing ended. Your changes are kept and come back with Edit."))
        self._read_again()

    def discard(self) -> None:
        if not self.is_editing or self.tip is None:
            return
        self._keep.stop()
        self._tasks.start(self._client.api.save_draft(self.key, None), key="knowledge-keep")
        self._read_again()

    def save(self) -> None:
        if self.tip is None or not self.is_editing or self.is_saving:
            return
        if not self.is_changed:
            self.notice.emit(self.tr("No changes to save."))
            self._read_again()
            return
        if not (self.draft.text.strip() or self.draft.do.strip()):
            self.error = self.tr("The text is empty. Write what holds for the site.")
            self.checked.emit()
            return
        self.is_saving, self.error = True, ""
        self._keep.stop()
        self._check.stop()
        self._tasks.cancel("knowledge-keep")
        self._tasks.start(
            self._store(self.tip.id, self.draft, self._intent),
            self._stored,
            self._failed,
            key="knowledge-save",
        )

    @property
    def can_restore(self) -> bool:
        row = self.history.at(self.history.row_of(self.looked_at))
        return row is not None and not row.is_newest and not self.is_editing

    def restore(self) -> None:
        if self.tip is None or not self.can_restore:
            return
        tip, revision = self.tip.id, self.looked_at

        def restored(now: Tip) -> None:
            self.notice.emit(
                self.tr("Restored revision {0} of {1} as revision {2}").format(revision, tip, now.revision)
            )

        self._tasks.start(self._client.api.restore_revision(tip, revision), restored)

    @property
    def revisions(self) -> list[RevisionRow]:
        return list(self.history.rows)

    # ------------------------------------------------------------ inside
    async def _store(self, tip: str, draft: TipDraft, intent: str) -> tuple[SavedTip, Tip]:
        api = self._client.api
        saved = await api.edit_tip(tip, draft, intent)
        await api.save_draft(f"edit:{tip}", None)
        return saved, await api.tip(tip)

    def _stored(self, answer: tuple[SavedTip, Tip]) -> None:
        saved, now = answer
        self.is_saving = False
        if self.tip is not None and self.tip.id == saved.id:
            self.tip = now
            self._read_again()
            self._ask()
            self._ask_history()
        self.notice.emit(self.tr("Saved {0} as revision {1}").format(saved.id, now.revision))

    def _read_again(self) -> None:
        self.is_editing = self.kept = False
        self.error = ""
        self.procedure.forget()
        self.drafted.end()
        if self.tip is not None:
            self.draft = draft_of(self.tip)
        self._show_steps()
        self.editing_changed.emit(False)
        self.opened.emit()

    def _forget(self) -> None:
        self.pages, self.preflight, self.coverage, self._intent, self.is_known = None, "", "", "", False
        self.procedure.forget()
        for model in (self.lint, self.similar, self.examples, self.history):
            model.replace([])
        for key in ("knowledge-known", "knowledge-history", "knowledge-kept"):
            self._tasks.cancel(key)
        self.checked.emit()
        self.history_changed.emit()

    def _keep_now(self) -> None:
        self._tasks.start(
            self._client.api.save_draft(self.key, self.draft), failed=self._failed, key="knowledge-keep"
        )

    def _show_steps(self) -> None:
        """Show steps and region of the stored text, or of the edit from its beginning."""
        self.procedure.set_editable(self.is_editing)
        origin = self.draft.provenance
        self.region.show(self.draft, origin.run, origin.step, editable=self.is_editing)
        if self.tip is not None:
            self.procedure.show(self.draft)

    def _set_procedure(self, procedure: Procedure | None) -> None:
        if not self.is_editing:
            return
        self.draft = replace(self.draft, procedure=procedure)
        if procedure is None:
            self.procedure.show(self.draft)
        self._check.start()
        self._keep.start()

    def _set_anchor(self, anchor: Anchor | None) -> None:
        if self.is_editing:
            self.draft = replace(self.draft, anchor=anchor)
            self._check.start()
            self._keep.start()

    def _ask(self, delay: float = 0.0) -> None:
        if self.tip is not None:
            self.procedure.show(self.draft)
            work = self._find_out(self.tip, self.draft, stored=not self.is_changed)
            self._tasks.start(work, self._came, self._failed, key="knowledge-known", delay=delay)

    async def _find_out(self, tip: Tip, draft: TipDraft, *, stored: bool) -> _Known:
        api = self._client.api
        pages = await api.matching_pages(draft.site, draft.scope)
        coverage = coverage_text(await api.scope_coverage(draft.site, draft.scope))
        check = await api.check_tip(draft, self._intent, tip.id)
        lint = await api.lint_tip(tip.id) if stored else check.lint
        return _Known(tuple(lint), check.similar, check.preflight, pages, coverage)

    def _came(self, known: _Known) -> None:
        self.pages, self.coverage, self.is_known, self.error = known.pages, known.coverage, True, ""
        self.lint.show(known.lint)
        self.similar.show(known.similar)
        self.examples.show(known.preflight.examples if known.preflight is not None else ())
        self.preflight = preflight_text(known.preflight) if known.preflight is not None else ""
        self.checked.emit()

    def _ask_history(self) -> None:
        if self.tip is None:
            return

        async def compare(tip: str) -> list[RevisionRow]:
            revisions = await self._client.api.tip_history(tip)
            return await asyncio.to_thread(revision_rows, revisions)

        def came(rows: list[RevisionRow]) -> None:
            self.history.merge(rows)
            self.history_changed.emit()

        self._tasks.start(compare(self.tip.id), came, self._failed, key="knowledge-history", delay=OPEN_DELAY)

    def _failed(self, error: BaseException) -> None:
        self.error, self.is_saving = str(error), False
        self.checked.emit()
