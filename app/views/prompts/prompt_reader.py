"""The text of one exchange: sections that fold, a line to search in it, and its pictures in the text's place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QPlainTextEdit, QStackedWidget, QTextEdit, QWidget

from app.views.graph.screenshot_view import ScreenshotView
from app.views.widgets.build import hbox, styled, text_label, vbox

if TYPE_CHECKING:
    from app.models.prompts.prompts_model import PromptsModel
    from app.views.frame.theme import Theme

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
FIND_MS = 150
"""Pause in typing before a text is searched."""
ROLES = {"head": "accent", "message": "text", "added": "ok", "removed": "fail", "place": "muted"}
TINTS = {"message": "hover", "added": "tint_ok", "removed": "tint_fail"}


class LineColours(QSyntaxHighlighter):
    """Colours whole lines by their marks."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self.marks: tuple[str, ...] = ()
        self._formats: dict[str, QTextCharFormat] = {}

    def restyle(self) -> None:
        """Take the theme's colours."""
        self._formats = {}
        for mark, role in ROLES.items():
            one = self._formats[mark] = QTextCharFormat()
            one.setForeground(self._theme.color(role))
            if mark in ("head", "message"):
                one.setFontWeight(600)
            if mark in TINTS:
                one.setBackground(self._theme.color(TINTS[mark]))

    def highlightBlock(self, text: str) -> None:
        number = self.currentBlock().blockNumber()
        mark = self.marks[number] if number < len(self.marks) else ""
        if mark in self._formats:
            self.setFormat(0, len(text), self._formats[mark])


class PromptText(QPlainTextEdit):
    """Read-only; a click on a head, or Enter in a section, folds it or shows its picture.

    Signals:
        toggled(section): a section was activated.
    """

    toggled = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._sections: tuple[int, ...] = ()
        self.setReadOnly(True)
        self.setProperty("kind", "plain")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.document().setDocumentMargin(10)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setAccessibleName(self.tr("The prompt and its answer; Enter folds a part or unfolds it"))
        self.colours = LineColours(self.document(), theme)
        theme.changed.connect(self._dress)
        self._dress()

    def show_text(self, text: str, marks: tuple[str, ...], sections: tuple[int, ...]) -> None:
        """Show a text; only the lines in sight are laid out."""
        self._sections, self.colours.marks = sections, marks
        self.setPlainText(text)

    @property
    def section(self) -> int:
        """The section with the cursor, -1 for none."""
        line = self.textCursor().blockNumber()
        return self._sections[line] if line < len(self._sections) else -1

    def go_to(self, line: int, column: int = 0, length: int = 0) -> None:
        """Put the cursor on a line, with so many letters selected, and scroll to it."""
        block = self.document().findBlockByNumber(line)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + min(column, max(block.length() - 1, 0)))
        cursor.setPosition(cursor.position() + length, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        if length:
            self.centerCursor()

    def mark_found(self, length: int) -> None:
        """Mark the selected letters, also while the search line has the keyboard."""
        cursor = self.textCursor()
        if not length:
            self.setExtraSelections([])
            return
        found = QTextEdit.ExtraSelection()
        found.cursor = cursor  # pyright: ignore[reportAttributeAccessIssue] the stubs lack its fields
        found.format.setBackground(self._theme.color("tint_warn"))  # pyright: ignore[reportAttributeAccessIssue]
        found.format.setForeground(self._theme.color("warn"))  # pyright: ignore[reportAttributeAccessIssue]
        self.setExtraSelections([found])

    def event(self, event: QEvent) -> bool:
        """Keep Enter from the place's commands."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() in ENTER
            and event.modifiers() == Qt.KeyboardModifier.NoModifier
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self.toggled.emit(self.section)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Fold by a click on a head; selecting text folds nothing."""
        super().mouseReleaseEvent(event)
        cursor = self.cursorForPosition(event.position().toPoint())
        line = cursor.blockNumber()
        is_head = line < len(self.colours.marks) and self.colours.marks[line] == "head"
        if is_head and event.button() is Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.toggled.emit(self._sections[line])

    def _dress(self) -> None:
        self.setFont(self._theme.mono("secondary"))
        self.colours.restyle()
        self.colours.rehighlight()


class PromptReader(QWidget):
    """Search line, text, and the picture that was chosen in it."""

    outcome_wanted = Signal(int)
    """Both answers of an outcome are wanted, by its place."""

    def __init__(self, model: PromptsModel, theme: Theme) -> None:
        super().__init__()
        self._model, self._theme = model, theme
        self.text = PromptText(theme)
        self.picture = ScreenshotView(theme, self.tr("A picture that was sent"))
        self.picture.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.search = styled(QLineEdit(), "quiet")
        self.search.setClearButtonEnabled(True)
        self.search.setPlaceholderText(self.tr("Search in this prompt"))
        self.search.setAccessibleName(self.tr("Search in this prompt; Enter goes to the next place"))
        self.found = text_label(kind="muted")
        self.search_bar = QWidget()
        hbox((self.search, 1), self.found, parent=self.search_bar, margins=(12, 4, 12, 4), spacing=8)
        self.search_bar.hide()
        self.faces = QStackedWidget()
        self.faces.addWidget(self.text)
        self.faces.addWidget(self.picture)
        vbox(self.search_bar, (self.faces, 1), parent=self, spacing=0)
        self._hits: list[tuple[int, int, int]] = []
        self._hit = -1
        self._digest = ""
        self._seen: object = None
        self._soon = QTimer(self, singleShot=True, interval=FIND_MS)
        self._soon.timeout.connect(self._search)
        self.search.textChanged.connect(self._on_typed)
        self.search.installEventFilter(self)
        self.text.toggled.connect(self._toggle)
        model.pictures.ready.connect(self._on_picture)

    def show_prompt(self) -> None:
        """Show what the model has; the place in it is kept while the same prompt is shown."""
        model = self._model
        page = model.page
        self.close_picture()
        self.text.show_text(page.text, page.marks, page.sections)
        self._hits, self._hit = [], -1
        if self.search_bar.isVisibleTo(self) and self.search.text():
            self._search()

    def begin_search(self) -> None:
        self.close_picture()
        self.search_bar.show()
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def leave(self) -> bool:
        """Go back one level: from the picture, from the search; False when there is neither."""
        if self.close_picture():
            self.text.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        if not self.search_bar.isHidden():
            self.search_bar.hide()
            self.text.mark_found(0)
            self.text.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        return False

    def close_picture(self) -> bool:
        shown, self._digest = self.faces.currentWidget() is self.picture, ""
        self.faces.setCurrentWidget(self.text)
        return shown

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter in the search line goes on to the next place, with Shift to the one before."""
        if watched is self.search and isinstance(event, QKeyEvent) and event.key() in ENTER:
            if event.type() is QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() is QEvent.Type.KeyPress:
                self.go_on(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
        return super().eventFilter(watched, event)

    def go_on(self, offset: int) -> None:
        """Go to the next place of the search, around the end."""
        if self._soon.isActive():
            self._soon.stop()
            self._search()
            return
        if not self._hits:
            return
        self._hit = (self._hit + offset) % len(self._hits)
        section, line, column = self._hits[self._hit]
        if section not in self._model.unfolded:
            self._model.toggle(section)
            page = self._model.page
            self.text.show_text(page.text, page.marks, page.sections)
        head = self._model.page.line_of(section)
        self.text.go_to(head + 1 + line, column, len(self.search.text()))
        self.text.mark_found(len(self.search.text()))
        self.found.setText(self.tr("{0} of {1}").format(self._hit + 1, len(self._hits)))

    def _on_typed(self, _text: str) -> None:
        self._soon.start()

    def _search(self) -> None:
        self._hits, self._hit = self._model.find(self.search.text()), -1
        self.text.mark_found(0)
        self.found.setText(self.tr("not found") if self.search.text().strip() else "")
        if self._hits:
            self.go_on(1)

    def _toggle(self, section: int) -> None:
        sections = self._model.sections
        if not 0 <= section < len(sections) or not sections[section].level:
            return
        if sections[section].outcome >= 0:
            self.outcome_wanted.emit(sections[section].outcome)
            return
        if sections[section].digest:
            self._show_picture(sections[section].digest)
            return
        if not sections[section].lines:
            return
        bar = self.text.verticalScrollBar()
        place = bar.value()
        self._model.toggle(section)
        page = self._model.page
        self.text.show_text(page.text, page.marks, page.sections)
        self.text.go_to(page.line_of(section))
        bar.setValue(place)

    def _show_picture(self, digest: str) -> None:
        self._digest = digest
        image = self._model.pictures.get(digest)
        words = self._model.pictures.failed.get(digest, self.tr("Loading the picture…"))
        self.picture.show_image(image, "" if image is not None else words)
        self.faces.setCurrentWidget(self.picture)
        self.picture.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_picture(self, digest: str) -> None:
        if digest == self._digest:
            self._show_picture(digest)


def place_label() -> QLabel:
    """Return the line below the list that says what was sent beside the messages."""
    label = text_label(kind="secondary", wrap=True)
    label.setContentsMargins(12, 2, 12, 4)
    return label
