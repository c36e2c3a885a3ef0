"""The text editor for block-list rules: monospaced, with the line of an error marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QTextCharFormat, QTextCursor, QTextFormat, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

if TYPE_CHECKING:
    from app.views.frame.theme import Theme


class RuleEditor(QPlainTextEdit):
    """Plain text.  Tab leaves the field, as everywhere; Return keeps the indentation."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._error: tuple[int, int] | None = None
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # rules are code in every language
        theme.changed.connect(self._update_texts)
        self._update_texts()

    def show_text(self, text: str) -> None:
        """Replace the rules in one undoable step."""
        if text == self.toPlainText():
            return
        with QSignalBlocker(self):
            if not self.toPlainText():
                self.setPlainText(text)
                return
            cursor = QTextCursor(self.document())
            cursor.beginEditBlock()
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.insertText(text)
            cursor.endEditBlock()
            cursor.movePosition(QTextCursor.MoveOperation.Start)
            self.setTextCursor(cursor)

    def mark_error(self, position: tuple[int, int] | None) -> None:
        """Mark the line of an error (line and column from 1), or none."""
        self._error = position
        self._mark()

    def go_to_error(self) -> None:
        if self._error is not None:
            self.setTextCursor(self._cursor_at(*self._error))
            self.setFocus(Qt.FocusReason.OtherFocusReason)
            self.centerCursor()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Start a new line with the indentation of the one before."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            line = self.textCursor().block().text()
            indent = line[: len(line) - len(line.lstrip(" "))]
            self.textCursor().insertText(f"\n{indent}{'  ' if line.rstrip().endswith(('{', '[')) else ''}")
            self.ensureCursorVisible()
            return
        super().keyPressEvent(event)

    def _cursor_at(self, line: int, column: int) -> QTextCursor:
        block = self.document().findBlockByNumber(min(line, self.document().blockCount()) - 1)
        cursor, words = QTextCursor(block), block.text()
        first = len(words) - len(words.lstrip(" "))  # an error that names no column means the whole line
        offset = min(max(column - 1, first), max(block.length() - 1, 0))
        cursor.setPosition(block.position() + offset)
        return cursor

    def _mark(self) -> None:
        if self._error is None:
            self.setExtraSelections([])
            return
        cursor = self._cursor_at(*self._error)
        ground, word = QTextEdit.ExtraSelection(), QTextEdit.ExtraSelection()
        form = QTextCharFormat()
        form.setBackground(self._theme.color("tint_fail"))
        form.setProperty(QTextFormat.Property.FullWidthSelection, True)
        ground.format, ground.cursor = form, cursor  # type: ignore[misc]
        wave = QTextCharFormat()
        wave.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        wave.setUnderlineColor(self._theme.color("fail"))
        under = QTextCursor(cursor)
        if under.atBlockEnd():
            under.movePosition(QTextCursor.MoveOperation.StartOfBlock)
        under.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        word.format, word.cursor = wave, under  # type: ignore[misc]
        self.setExtraSelections([ground, word])

    def _update_texts(self) -> None:
        font = self._theme.mono("secondary")
        self.setFont(font)
        self.setStyleSheet(
            f"QPlainTextEdit {{ font-family: '{font.family()}'; font-size: {font.pixelSize()}px; }}"
        )
        self.setTabStopDistance(2 * QFontMetricsF(font).horizontalAdvance(" "))
        self._mark()
