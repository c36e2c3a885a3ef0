"""The open tip: its text, edited in place, and its checks, evidence and history."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.models.knowledge.tip_fields import PARTS
from app.models.knowledge.tip_table import KINDS, ago, exact_time
from app.views.knowledge.procedure_pane import ProcedurePane
from app.views.knowledge.region_pane import RegionPane
from app.views.knowledge.step_draft_pane import StepDraftPane
from app.views.knowledge.tip_rows import REVISION, StatusLabel, revision_row
from app.views.knowledge.tip_test_pane import TipTestPane
from app.views.knowledge.tip_text import AutoHeightTextEdit, DiffView
from app.views.knowledge.waiver_line import WaiverLine
from app.views.review.rows import EXAMPLE, FINDING, SIMILAR, example_row, finding_row, similar_row
from app.views.widgets import ElidedLabel, EmptyState
from app.views.widgets.build import hbox, scroll_area, styled, text_label, vbox
from app.views.widgets.command_button import show_command
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.rows import FittedList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.knowledge.knowledge_model import KnowledgeModel
    from app.views.frame.theme import Theme

STATUS_COMMANDS = {
    "tip.activate": "active",
    "tip.review": "reviewed",
    "tip.suspect": "suspect",
    "tip.retire": "retired",
    "tip.restore": "draft",
}
AGE_MS = 20_000
"""Interval in which the revision's age is updated: the table beside updates its own whenever it is painted."""
READING = 'QPlainTextEdit[reading="true"] { background: transparent; border: 1px solid transparent; }'


class TipDetail(QFrame):
    """One tip.  ``step_wanted`` asks for a stored step, ``tip_wanted`` for another tip."""

    step_wanted = Signal(str, object)
    tip_wanted = Signal(str)

    def __init__(self, model: KnowledgeModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._editor, self._center, self._theme = model, model.editor, center, theme
        self.setProperty("kind", "raised")
        self.setStyleSheet(READING)
        self.status, self.when = StatusLabel(theme), text_label(kind="secondary")
        self.name = styled(ElidedLabel(Qt.TextElideMode.ElideMiddle), "heading")
        self.kind = QComboBox()
        self.kind.addItems(list(KINDS))
        self.kind.setAccessibleName(self.tr("Kind of the tip"))
        self.kind.setToolTip(self.kind.accessibleName())
        self.text = AutoHeightTextEdit(theme, self.tr("Text of the tip"), least=2)
        self.fields = {name: AutoHeightTextEdit(theme, word) for name, word in self._field_words().items()}
        self.words = {name: text_label(kind="secondary") for name in ("kind", *self.fields)}
        self.kept, self.error = text_label(kind="warn", wrap=True), text_label(kind="fail", wrap=True)
        self.pages, self.source, self.taint, self.credit, self.preflight = (
            text_label(kind="secondary", wrap=True) for _ in range(5)
        )
        self.evidence, self.restore = styled(QPushButton(), "link"), styled(QPushButton(), "link")
        self.steps = ProcedurePane(self._editor.procedure, center, theme, "tip")
        self.drafted = StepDraftPane(model.editor.drafted, center, theme, "tip")
        self.region = RegionPane(self._editor.region, center, theme, "tip")
        self.tests = TipTestPane(model.tests, center)
        self.lint = FittedList(theme, finding_row, self.tr("Lint findings"), FINDING, most=5)
        self.similar = FittedList(theme, similar_row, self.tr("Similar tips"), SIMILAR, most=4)
        self.examples = FittedList(
            theme, example_row, self.tr("Steps that would retrieve it"), EXAMPLE, most=4
        )
        self.history = FittedList(theme, revision_row, self.tr("Revisions of the tip"), REVISION, most=5)
        self.diff = DiffView(theme)
        self.edit, self.save, self.cancel = QPushButton(), QPushButton(), QPushButton()
        self.status_buttons = {command: QPushButton() for command in STATUS_COMMANDS}
        heads = ("lint", "found", "similar", "evidence", "history")
        self._heads = {name: text_label(kind="section") for name in heads}
        self._lay_out()
        self._connect()
        self._dress()
        self._show()

    # ------------------------------------------------------------ what the view asks
    def focus_history(self) -> None:
        """Focus the list of revisions, on the one before the newest."""
        if not self.history.model().rowCount():
            return
        if self.history.currentIndex().row() < 1:
            row = min(1, self.history.model().rowCount() - 1)
            self.history.setCurrentIndex(self.history.model().index(row, 0))
        self.history.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.scroller.ensureWidgetVisible(self.diff)
        self.scroller.ensureWidgetVisible(self.history)

    # ------------------------------------------------------------ layout
    def _field_words(self) -> dict[str, str]:
        return {
            "site": self.tr("Site of the tip"),
            "scope": self.tr("Scope: addresses the tip applies to"),
            "when": self.tr("When: on which page, in which state"),
            "do": self.tr("Do: the action that works"),
            "before": self.tr("Before: what has to come first"),
            "why": self.tr("Why: how the site works here"),
            "keywords": self.tr("Keywords, separated by commas"),
            "tags": self.tr("Tags by which people file it, separated by commas; never frozen"),
        }

    def _lay_out(self) -> None:
        inner = styled(QWidget(), "raised")
        for label in (self.pages, self.source, self.taint, self.credit, self.preflight):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for label in self._heads.values():
            label.setContentsMargins(0, 8, 0, 0)
        heads = self._heads
        vbox(
            self.kept,
            self.error,
            self.text,
            self._grid(),
            self.steps,
            self.drafted,
            self.region,
            self.tests,
            *(heads["lint"], self.lint),
            *(heads["found"], self.preflight, self.examples),
            *(heads["similar"], self.similar),
            *(heads["evidence"], self.source, self.taint, self.credit),
            *(heads["history"], self.history, self.diff),
            (self.restore, 0, Qt.AlignmentFlag.AlignLeft),
            1,
            parent=inner,
            margins=(14, 4, 12, 12),
            spacing=6,
        )
        self.scroller = scroll_area(inner, focus=Qt.FocusPolicy.TabFocus)
        self.scroller.setAccessibleName(self.tr("The open tip"))
        body = QWidget()
        self.waiver = WaiverLine(self._model)
        vbox(self._head(), (self.scroller, 1), self.waiver, self._foot(), parent=body, spacing=0)
        self._empty = EmptyState(
            self.tr("No tip is open"),
            self.tr("Choose a tip in the table to see its text, evidence and history."),
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(body)
        self._stack.addWidget(self._empty)
        vbox(self._stack, parent=self)
        self._order_tabs()

    def _head(self) -> QVBoxLayout:
        first = hbox(self.status, 1, self.when, spacing=8)
        # the name is a label of its own: an id is copied and read aloud whole
        return vbox(first, self.name, margins=(14, 8, 12, 4), spacing=2)

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        top = Qt.AlignmentFlag.AlignTop
        order = [*PARTS, "keywords", "site", "kind", "tags", "scope"]  # pages are counted below the scope
        for row, name in enumerate(order):
            label, field = self.words[name], self.kind if name == "kind" else self.fields[name]
            label.setBuddy(field)
            grid.addWidget(label, row, 0, top)
            if name == "kind":
                self.kind_word = QLabel()
                grid.addWidget(self.kind_word, row, 1)
            grid.addWidget(field, row, 1)
        grid.addWidget(self.pages, len(order), 1)
        return grid

    def _foot(self) -> QWidget:
        self.save.setProperty("kind", "primary")
        foot = QWidget()
        foot.setAccessibleName(self.tr("Tip actions"))
        status = self.status_buttons.values()
        row = FlowLayout(self.edit, *status, self.evidence, self.save, self.cancel, parent=foot)
        row.setContentsMargins(12, 6, 12, 8)
        return foot

    def _order_tabs(self) -> None:
        order: list[QWidget] = [self.scroller, self.text, *(self.fields[name] for name in PARTS)]
        order += [
            self.fields["keywords"],
            self.fields["site"],
            self.kind,
            self.fields["tags"],
            self.fields["scope"],
        ]
        order += [*self.steps.tab_order, *self.drafted.tab_order, *self.region.tab_order]
        order += self.tests.buttons.values()
        order += [self.lint, self.examples, self.similar, self.history, self.restore]
        order += [self.edit, *self.status_buttons.values(), self.evidence, self.save, self.cancel]
        for one, other in pairwise(order):
            QWidget.setTabOrder(one, other)

    def _connect(self) -> None:
        editor, trigger = self._editor, self._center.trigger
        for view, model in (
            (self.lint, editor.lint),
            (self.similar, editor.similar),
            (self.examples, editor.examples),
            (self.history, editor.history),
        ):
            view.setModel(model)
        self.text.textChanged.connect(lambda: editor.set_field("text", self.text.toPlainText()))
        for name, field in self.fields.items():
            field.textChanged.connect(
                lambda name=name, field=field: editor.set_field(name, field.toPlainText())
            )
        self.kind.textActivated.connect(partial(editor.set_field, "kind"))
        for signal in (self.examples.activated, self.examples.clicked):
            signal.connect(self._on_example)
        for signal in (self.similar.activated, self.similar.doubleClicked):
            signal.connect(self._on_similar)
        for signal in (self.lint.activated, self.lint.clicked):
            signal.connect(self._on_finding)
        self.history.selectionModel().currentChanged.connect(self._show_diff)
        for button, command in (
            (self.edit, "tip.edit"),
            (self.save, "tip.save"),
            (self.cancel, "knowledge.back"),
            (self.evidence, "tip.evidence"),
            (self.restore, "tip.restore_revision"),
            *((button, command) for command, button in self.status_buttons.items()),
        ):
            button.clicked.connect(lambda _checked=False, command=command: trigger(command))
        editor.opened.connect(self._show)
        editor.checked.connect(self._show_check)
        editor.editing_changed.connect(self._on_editing)
        editor.history_changed.connect(self._on_history)
        self._model.selection_changed.connect(self._show_actions)
        self._model.credits_changed.connect(self._show_credit)
        age = QTimer(self, interval=AGE_MS)
        age.timeout.connect(self._tell_age)
        age.start()
        self._theme.changed.connect(self._show_check)
        self._theme.changed.connect(self._dress)
        self._center.keys_changed.connect(self._dress)

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        editor, tip = self._editor, self._editor.tip
        self._stack.setCurrentIndex(0 if tip is not None else 1)
        if tip is None:
            return
        self.name.setText(tip.id)
        self.status.show_status(tip.status.value)
        self._tell_age()
        self.when.setToolTip(exact_time(tip.changed_at))
        for name, field in (("text", self.text), *self.fields.items()):
            with QSignalBlocker(field):
                field.show_text(editor.field(name))
        self.kind.setCurrentText(editor.field("kind"))
        self.kind_word.setText(editor.field("kind"))
        origin = tip.provenance
        parts = [
            self.tr("from {0}, step {1}").format(origin.run, origin.step) if origin.run else "",
            self.tr("from the file {0}").format(origin.source) if origin.source else "",
            self.tr("by {0}").format(origin.author) if origin.author else "",
            self.tr("flag: {0}").format(origin.detector) if origin.detector else "",
            self.tr("verdict: {0}").format(origin.verdict) if origin.verdict else "",
            self.tr("written {0}").format(exact_time(tip.created_at)) if tip.created_at else "",
        ]
        self.source.setText(" · ".join(part for part in parts if part))
        tasks = ", ".join(tip.taint)
        lines = [self.tr("Written after seeing task {0}").format(tasks)] if tasks else []
        if (waiver := tip.waiver) is not None:
            said = self.tr("Lint error waived ({0}): “{1}”, {2}, {3}")
            rules = ", ".join(waiver.rules)
            lines.append(said.format(rules, waiver.reason, waiver.author, exact_time(waiver.at)))
        self.taint.setText("\n".join(lines))
        self.taint.setVisible(bool(lines))
        self._show_credit()
        self._lock()
        self._show_check()
        self._show_actions()

    def _show_credit(self) -> None:
        tip = self._editor.tip
        words = self._model.table.credit_text(tip.id) if tip is not None else ""
        self.credit.setText(self.tr("In evaluations: {0}").format(words) if words else "")
        self.credit.setVisible(bool(words))

    def _tell_age(self) -> None:
        if (tip := self._editor.tip) is not None:
            self.when.setText(self.tr("revision {0} · {1}").format(tip.revision, ago(tip.changed_at)))

    def _lock(self) -> None:
        editing = self._editor.is_editing
        for name, field in (("text", self.text), *self.fields.items()):
            field.set_locked(not editing)
            shown = editing or bool(field.toPlainText()) or name in ("text", "scope")
            field.setVisible(shown)
            if name in self.words:
                self.words[name].setVisible(shown)
        self.fields["scope"].setPlaceholderText(self.tr("every page of the site"))
        self.kind.setVisible(editing)
        self.drafted.setVisible(editing)
        self.kind_word.setVisible(not editing)
        for button in (self.edit, *self.status_buttons.values()):
            button.setVisible(not editing)
        for button in (self.save, self.cancel):
            button.setVisible(editing)
        self.evidence.setVisible(not editing and self._model.has_evidence)

    def _on_editing(self, editing: bool) -> None:
        self._lock()
        if editing:
            self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.text.moveCursor(self.text.textCursor().MoveOperation.End)
        self._show_actions()
        self._center.refresh()

    def _show_check(self) -> None:
        editor = self._editor
        self.text.show_underlines(editor.lint.underlines)
        if editor.pages is None:
            self.pages.setText(self.tr("counting stored pages…"))
        elif editor.pages == 1:
            self.pages.setText(self.tr("1 stored page matches"))
        else:
            self.pages.setText(self.tr("{0} stored pages match").format(editor.pages))
        if editor.coverage:
            self.pages.setText(f"{self.pages.text()} · {editor.coverage}")
        found = editor.lint.rowCount()
        nothing = self.tr("No issues") if editor.is_known else self.tr("Lint: checking…")
        self._heads["lint"].setText(self.tr("Lint ({0})").format(found) if found else nothing)
        self._heads["found"].setText(self.tr("Where it would be retrieved"))
        self.preflight.setText(editor.preflight or self.tr("searching the stored steps…"))
        self._heads["similar"].setText(self.tr("Similar and contradicting tips"))
        self._heads["similar"].setVisible(editor.similar.rowCount() > 0)
        self._heads["evidence"].setText(self.tr("Evidence"))
        for view in (self.lint, self.similar, self.examples):
            view.fit()
        self.error.setText(editor.error)
        self.error.setVisible(bool(editor.error))
        self.kept.setText(self.tr("Your unsaved edit was restored. Save it, or discard it from the palette."))
        self.kept.setVisible(editor.kept)
        self.save.setEnabled(not editor.is_saving)

    def _show_actions(self) -> None:
        for command, status in STATUS_COMMANDS.items():
            self.status_buttons[command].setEnabled(self._model.can_become(status))
        tip, many = self._editor.tip, len(self._model.targets) > 1
        retired = tip is not None and tip.status.value == "retired"
        editing = self._editor.is_editing
        self.status_buttons["tip.retire"].setVisible(not editing and (many or not retired))
        draft = tip is not None and tip.status.value == "draft"
        self.status_buttons["tip.restore"].setVisible(not editing and (many or not draft))

    def _on_history(self) -> None:
        rows = self._editor.history.rowCount()
        self._heads["history"].setText(self.tr("History ({0})").format(rows) if rows else self.tr("History"))
        self.history.fit()
        if rows and not self.history.hasFocus():
            self.history.setCurrentIndex(self._editor.history.index(0))
        self._show_diff()

    def _show_diff(self, *_index: QModelIndex) -> None:
        row = self._editor.history.at(self.history.currentIndex().row())
        self._editor.looked_at = row.revision if row is not None else 0
        first = row is not None and row.revision == 1
        empty = self.tr("First revision.") if first else self.tr("Text unchanged.")
        self.diff.show_changes(row.changes if row is not None else (), empty)
        self.diff.setVisible(row is not None)
        self.restore.setVisible(self._editor.can_restore)
        self._center.refresh()

    def _on_example(self, index: QModelIndex) -> None:
        example = self._editor.examples.at(index.row())
        if example is not None:
            self.step_wanted.emit(example.run, example.step)

    def _on_similar(self, index: QModelIndex) -> None:
        similar = self._editor.similar.at(index.row())
        if similar is not None:
            self.tip_wanted.emit(similar.tip.id)

    def _on_finding(self, index: QModelIndex) -> None:
        finding = self._editor.lint.at(index.row())
        if finding is None or finding.start < 0:
            return
        cursor, end = self.text.textCursor(), len(self.text.toPlainText())
        cursor.setPosition(min(finding.start, end))
        cursor.setPosition(min(finding.end, end), cursor.MoveMode.KeepAnchor)
        self.text.setTextCursor(cursor)
        if self._editor.is_editing:
            self.text.setFocus()

    def _dress(self) -> None:
        center = self._center
        words = {name: name for name in self.words} | {"keywords": self.tr("words")}
        px = self._theme.px
        for name, label in self.words.items():
            label.setText(words[name])
            label.setContentsMargins(0, px(5), 0, 0)
        self.kind_word.setContentsMargins(px(6) + 1, px(3) + 1, 0, px(3) + 1)
        self.pages.setContentsMargins(px(6) + 1, 0, 0, 0)
        for button, word, command in (
            (self.edit, self.tr("Edit"), "tip.edit"),
            (self.save, self.tr("Save revision"), "tip.save"),
            (self.cancel, self.tr("Discard changes"), "knowledge.back"),
            (self.evidence, self.tr("Open step"), "tip.evidence"),
            (self.restore, self.tr("Restore this revision"), "tip.restore_revision"),
            (self.status_buttons["tip.activate"], self.tr("Activate"), "tip.activate"),
            (self.status_buttons["tip.review"], self.tr("Mark reviewed"), "tip.review"),
            (self.status_buttons["tip.suspect"], self.tr("Mark suspect"), "tip.suspect"),
            (self.status_buttons["tip.retire"], self.tr("Retire"), "tip.retire"),
            (self.status_buttons["tip.restore"], self.tr("Back to draft"), "tip.restore"),
        ):
            show_command(button, center, command, word)
