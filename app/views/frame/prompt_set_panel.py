"""The panel of prompts and actions: the workspace's prompts with an editor, and the sets of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QButtonGroup, QPushButton, QStackedWidget, QToolButton, QWidget

from app.views.frame.action_sets_pane import ActionSetsPane
from app.views.frame.prompt_editor import PromptEditor
from app.views.widgets.build import divider, hbox, restyle, styled, text_label, vbox
from app.views.widgets.overlay import Overlay
from app.views.widgets.rows import RowContent, RowList, RowStyle, line, plain, small

if TYPE_CHECKING:
    from app.engine.api.prompt_api import PromptRow, PromptSaved
    from app.models.common.action_sets_model import ActionSetsModel
    from app.models.common.prompt_set_model import PromptSetModel
    from app.views.frame.theme import Theme

_LIST_WIDTH = 220


class Tabs(QWidget):
    """Buttons of which one is checked, over the pages they show."""

    def __init__(self, *pages: tuple[str, str, QWidget]) -> None:
        super().__init__()
        self.stack = QStackedWidget()
        self.buttons: list[QToolButton] = []
        group = QButtonGroup(self)
        for number, (text, meaning, page) in enumerate(pages):
            button = styled(QToolButton(), "tab")
            button.setText(text)
            button.setAccessibleName(meaning)
            button.setToolTip(meaning)
            button.setCheckable(True)
            button.clicked.connect(lambda _on=False, number=number: self.show_page(number))
            group.addButton(button)
            self.buttons.append(button)
            self.stack.addWidget(page)
        hbox(*self.buttons, 1, parent=self, spacing=6)
        self.buttons[0].setChecked(True)

    def show_page(self, number: int) -> None:
        self.buttons[number].setChecked(True)
        self.stack.setCurrentIndex(number)


class PromptSetPane(QWidget):
    """The prompts at the left; at the right the text with its changes and history."""

    def __init__(self, model: PromptSetModel, theme: Theme) -> None:
        super().__init__()
        self._model, self._theme = model, theme
        style = RowStyle(margins=(14, 6, 8, 6))
        self.list = RowList(theme, self._described, self.tr("Prompts"), style)
        self.list.setModel(model.list)
        self.title, self.about = text_label(kind="heading"), text_label(kind="secondary", wrap=True)
        self.editor = PromptEditor(theme, self.tr("Text of the prompt"))
        self.changes = PromptEditor(theme, self.tr("Changes from the bundled prompt"), reads=True)
        self.history = RowList(
            theme, self._saved, self.tr("Saved versions; Enter puts one into the editor"), style
        )
        self.history.setModel(model.history)
        self.no_history = text_label(
            self.tr("No version was saved yet. Each one that you save is kept and can be put back."),
            "muted", wrap=True,
        )  # fmt: skip
        self.no_history.setAlignment(Qt.AlignmentFlag.AlignTop)
        versions = QWidget()
        vbox((self.history, 1), (self.no_history, 1), parent=versions)
        self.tabs = Tabs(
            (self.tr("Text"), self.tr("Edit the text"), self.editor),
            (self.tr("Changes"), self.tr("Show the changes from the bundled prompt"), self.changes),
            (self.tr("History"), self.tr("Show the saved versions"), versions),
        )
        self.words = text_label(kind="secondary", wrap=True)
        self.reset, self.discard, self.save = QPushButton(), QPushButton(), QPushButton()
        for button, text, name, slot in (
            (self.reset, self.tr("Reset to bundled"), self.tr("Put the bundled prompt back"), model.reset),
            (self.discard, self.tr("Discard changes"), self.tr("Discard what was typed"), model.discard),
            (self.save, self.tr("Save   Ctrl+Enter"), self.tr("Save the prompt"), self._on_save),
        ):
            button.setText(text)
            button.setAccessibleName(name)
            button.clicked.connect(slot)
        styled(self.save, "primary")
        right = vbox(
            self.title, self.about, self.tabs, (self.tabs.stack, 1), self.words,
            hbox(self.reset, 1, self.discard, self.save, spacing=6), margins=(14, 10, 14, 12), spacing=6,
        )  # fmt: skip
        hbox(self.list, (right, 1), parent=self, spacing=0)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(
                QKeySequence(keys), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut
            )
            shortcut.activated.connect(self._on_save)
        self.list.selectionModel().currentChanged.connect(self._on_row)
        self.editor.textChanged.connect(lambda: model.set_text(self.editor.toPlainText()))
        self.history.activated.connect(self._on_version)
        model.changed.connect(self._show)
        model.shown_changed.connect(self._show_text)
        theme.changed.connect(self._fit)
        self._fit()
        self._show_text()
        self._show()

    def _on_save(self) -> None:
        self._model.save()

    def _on_row(self, index: QModelIndex, _before: QModelIndex) -> None:
        row = self._model.list.at(index.row())
        if row is not None:
            self._model.show(row.name)

    def _on_version(self, index: QModelIndex) -> None:
        """Put a version into the editor, to be read, compared or saved again."""
        row = self._model.history.at(index.row())
        if row is not None:
            self._model.show_version(row.digest)
            self.tabs.show_page(0)
            self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_text(self) -> None:
        detail = self._model.detail
        self.editor.show_text(self._model.text)  # before the marks, which report a change of the text
        for shown in (self.editor, self.changes):
            shown.marks.know(detail.row.placeholders if detail is not None else ())

    def _show(self) -> None:
        model = self._model
        row = model.list.at(model.list.row_of(model.shown))
        self.title.setText(row.title if row is not None else "")
        self.about.setText(row.about if row is not None else "")
        self.editor.setEnabled(model.detail is not None)
        self.changes.show_text(model.changes or self.tr("No difference from the bundled prompt."))
        there = bool(model.history.rows)
        self.history.setVisible(there)
        self.no_history.setVisible(not there)
        check = model.check
        restyle(
            self.words,
            kind="fail" if model.error or check.errors else "warn" if check.missing else "secondary",
        )
        self.words.setText(model.words)
        self.save.setEnabled(model.can_save)
        missing = model.can_save and bool(check.missing)
        self.save.setText(self.tr("Save anyway   Ctrl+Enter") if missing else self.tr("Save   Ctrl+Enter"))
        self.discard.setEnabled(model.is_changed)
        self.reset.setEnabled(model.can_reset)
        place = model.list.index(model.list.row_of(model.shown), 0)
        if self.list.currentIndex() != place:
            with QSignalBlocker(self.list.selectionModel()):
                self.list.setCurrentIndex(place)
        self.list.viewport().update()

    def _described(self, row: PromptRow) -> RowContent:
        state = small(self.tr("changed"), "accent") if row.own else None
        tokens = self.tr("about {0} tokens").format(row.tokens)
        return RowContent(lines=(line(plain(row.title), right=state), line(small(tokens))))

    def _saved(self, row: PromptSaved) -> RowContent:
        when, version, author = (*self._model.history.words(row).split("  "), "")[:3]
        return RowContent(lines=(line(plain(when), plain(version, "muted"), small(author)),))

    def _fit(self) -> None:
        self.list.setFixedWidth(self._theme.px(_LIST_WIDTH))


class PromptSetPanel(Overlay):
    """A panel over the window; Esc closes it and keeps what was typed."""

    def __init__(self, prompts: PromptSetModel, sets: ActionSetsModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(1060, 700))
        self._prompts, self._sets = prompts, sets
        self.prompts, self.sets = PromptSetPane(prompts, theme), ActionSetsPane(sets, theme)
        self.tabs = Tabs(
            (self.tr("Prompts"), self.tr("Prompts of the model's roles"), self.prompts),
            (self.tr("Action sets"), self.tr("Sets of actions a model is offered"), self.sets),
        )
        self.close_button = QPushButton(self.tr("Close   Esc"))
        self.close_button.setAccessibleName(self.tr("Close; what you typed is kept"))
        self.close_button.clicked.connect(self.dismiss)
        head = hbox(
            text_label(self.tr("Prompts and actions"), "title"), (self.tabs, 1), self.close_button,
            margins=(16, 12, 14, 8), spacing=16,
        )  # fmt: skip
        self.body.addLayout(head)
        self.body.addWidget(divider())
        self.body.addWidget(self.tabs.stack, 1)
        self.body.setContentsMargins(2, 2, 2, 6)

    def prepare(self) -> None:
        """Read both lists again; what was typed stays."""
        self._prompts.load()
        self._sets.load()

    def first(self) -> QWidget:
        """The list of the page in front."""
        return self.sets.list if self.tabs.stack.currentWidget() is self.sets else self.prompts.list
