"""The guideline of the labels, beside them: read, older versions and changes, edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt
from PySide6.QtGui import QFont, QKeyEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QTextEdit,
)

from app.models.review.guideline_model import reading_parts, version_words
from app.views.review.side_pane import ENTER, SidePane, quiet
from app.views.review.verdict_block import VerdictGrid
from app.views.widgets.build import divider, hbox, styled, text_label
from app.views.widgets.form_panel import check

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.guideline_model import GuidelineModel
    from app.models.review.judging import JudgingModel
    from app.views.frame.theme import Theme


class GuidelineEdit(QPlainTextEdit):
    """The text while it is edited; Ctrl+Enter saves it."""

    def __init__(self, pane: GuidelinePane) -> None:
        super().__init__()
        self._pane = pane
        self.setTabChangesFocus(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._pane.save()
            return
        super().keyPressEvent(event)


class GuidelinePane(SidePane):
    """Version, text, and the buttons to edit it."""

    def __init__(
        self, model: GuidelineModel, judging: JudgingModel, center: CommandCenter, theme: Theme
    ) -> None:
        super().__init__(self.tr("Guideline of the labels"), "review.guideline", center)
        self._model, self._judging, self._theme = model, judging, theme
        self.labels = VerdictGrid(theme, self.tr("Verdicts; press a digit to give one, again to withdraw it"))
        self.labels.setModel(judging.labels)
        self._said: tuple[object, ...] = ()
        self.versions = QComboBox()
        self.versions.setAccessibleName(self.tr("Version of the guideline"))
        self.versions.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.versions.setMinimumContentsLength(8)
        self.changes = QCheckBox(self.tr("Mark the changes since the version before"))
        self.text = QTextEdit()
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(self.tr("Text of the guideline"))
        self.editor = GuidelineEdit(self)
        self.editor.setAccessibleName(self.tr("New text of the guideline"))
        self.empty = quiet()
        self.says = text_label(kind="secondary", wrap=True)
        self.edit_button = styled(QPushButton(self.tr("Edit")), "primary")
        self.save_button = styled(QPushButton(self.tr("Save as a new version  Ctrl+Enter")), "primary")
        self.discard_button = styled(QPushButton(self.tr("Discard")), "link")
        self._faces = QStackedWidget()
        for face in (self.text, self.editor, self.empty):
            self._faces.addWidget(face)
        self.body.addLayout(hbox((self.versions, 1), margins=(12, 0, 12, 2)))
        self.body.addLayout(hbox(self.changes, 1, margins=(12, 0, 12, 4)))
        self.body.addLayout(hbox((self._faces, 1), margins=(8, 0, 8, 0)), 1)
        self.body.addLayout(hbox((self.says, 1), margins=(12, 4, 12, 0)))
        self.body.addLayout(
            hbox(self.edit_button, (self.save_button, 1), self.discard_button, margins=(10, 6, 10, 8))
        )
        self.body.addWidget(divider())
        self.body.addLayout(hbox((self.labels, 1), margins=(0, 4, 0, 6)))
        self.labels.clicked.connect(self._on_label)
        self.labels.activated.connect(self._on_label)
        self.versions.activated.connect(model.show_version)
        self.changes.toggled.connect(model.show_changes)
        self.edit_button.clicked.connect(self.edit)
        self.save_button.clicked.connect(self.save)
        self.discard_button.clicked.connect(self._discard)
        model.changed.connect(self._show)
        theme.changed.connect(self._show_text)
        self._show()

    def watch(self, on: bool) -> None:
        if on:
            self._model.load()
        elif self._model.is_editing:
            self._model.leave(self.editor.toPlainText())

    def take_focus(self) -> None:
        target = self.editor if self._model.is_editing else self.text
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave(self) -> bool:
        """Stop editing; the text is kept as a draft."""
        if not self._model.is_editing:
            return False
        self._model.leave(self.editor.toPlainText())
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def edit(self) -> None:
        """Edit the newest text, or the draft of it."""
        model = self._model
        newest = model.in_force.text if model.in_force is not None else ""
        self.editor.setPlainText(model.draft if model.draft is not None else newest)
        model.edit()
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)
        self.editor.moveCursor(QTextCursor.MoveOperation.End)

    def save(self) -> None:
        self._model.save(self.editor.toPlainText())

    def _on_label(self, index: QModelIndex) -> None:
        self._judging.judge(index.row())

    def _discard(self) -> None:
        self._model.discard()
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model = self._model
        held = self.editor.hasFocus()
        words = [version_words(one, in_force=number == 0) for number, one in enumerate(model.versions)]
        if [self.versions.itemText(place) for place in range(self.versions.count())] != words:
            with QSignalBlocker(self.versions):
                self.versions.clear()
                self.versions.addItems(words)
        with QSignalBlocker(self.versions):
            self.versions.setCurrentIndex(model.place if words else -1)
        self.versions.setVisible(len(words) > 0 and not model.is_editing)
        self.changes.setVisible(model.before is not None and not model.is_editing)
        check(self.changes, model.shows_changes)
        self.edit_button.setVisible(not model.is_editing)
        self.edit_button.setText(self.tr("Edit the draft") if model.draft is not None else self.tr("Edit"))
        self.save_button.setVisible(model.is_editing)
        self.save_button.setEnabled(not model.is_saving)
        self.discard_button.setVisible(model.is_editing)
        if model.error:
            self.says.setText(f"! {model.error}")
        elif model.is_editing:
            self.says.setText(self.tr("Older verdicts keep the version they were given under."))
        else:
            self.says.setText("")
        self.says.setVisible(bool(self.says.text()))
        if model.is_editing:
            self._faces.setCurrentWidget(self.editor)
        elif model.shown is not None:
            self._faces.setCurrentWidget(self.text)
        else:
            self.empty.setText(
                self.tr("There is no guideline yet. Write down when each label is used.")
                if model.is_loaded
                else self.tr("Loading the guideline…")
            )
            self._faces.setCurrentWidget(self.empty)
        self._show_text()
        if held and not model.is_editing:
            self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_text(self) -> None:
        """Write the version shown; changes are underlined or struck through, besides their colour."""
        model, theme = self._model, self._theme
        shown = model.shown
        if shown is None:
            return
        marked = model.shows_changes and model.before is not None
        said = (shown.version, shown.text, marked, theme.color("ok").name())
        if said == self._said:
            return  # it keeps its scroll position
        self._said = said
        self.text.clear()
        cursor = QTextCursor(self.text.document())
        if not marked:
            for text, bold in reading_parts(shown.text):
                look = QTextCharFormat()
                look.setFontWeight(QFont.Weight.Bold if bold else QFont.Weight.Normal)
                cursor.insertText(text, look)
            self.text.moveCursor(QTextCursor.MoveOperation.Start)
            return
        for part in model.changes:
            look = QTextCharFormat()
            if part.change == "added":
                look.setForeground(theme.color("ok"))
                look.setFontUnderline(True)
                look.setFontWeight(QFont.Weight.DemiBold)
            elif part.change == "removed":
                look.setForeground(theme.color("fail"))
                look.setFontStrikeOut(True)
            cursor.insertText(part.text, look)
        self.text.moveCursor(QTextCursor.MoveOperation.Start)
