"""Text fields as high as their text, read and edited in place; and the word diff of a revision."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QTextEdit

from app.views.review.composer import TipTextEdit
from app.views.widgets.build import restyle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.models.knowledge.tip_history import FieldChange
    from app.views.frame.theme import Theme

MAX_LINES = 24
SIGNS = {"added": "+", "removed": "−"}
CHANGE_ROLE = {"added": "ok", "removed": "fail"}


class AutoHeightTextEdit(TipTextEdit):
    """A field that grows with its text up to ``MAX_LINES``; while locked it looks like plain text."""

    def __init__(self, theme: Theme, name: str, *, least: int = 1) -> None:
        super().__init__(theme)
        self._least = least
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # each paragraph finds its own direction
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self.document().setDefaultTextOption(option)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self.fit)
        theme.changed.connect(lambda: QTimer.singleShot(0, self, self.fit))
        self.set_locked(True)

    def set_locked(self, locked: bool) -> None:
        self.setReadOnly(locked)
        restyle(self, reading=locked)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus if locked else Qt.FocusPolicy.StrongFocus)
        self.fit()

    def show_text(self, text: str) -> None:
        """Set the text, unless it is the same."""
        if text != self.toPlainText():
            self.setPlainText(text)
            self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height: another width wraps differently."""
        super().resizeEvent(event)
        self.fit()

    def fit(self, *_size: object) -> None:
        document = self.document()
        lines = max(round(document.size().height()), self._least)
        line = QFontMetricsF(self.font()).height()
        room = ceil(ceil(line) * min(lines, MAX_LINES) + 2 * document.documentMargin())
        needed, never = Qt.ScrollBarPolicy.ScrollBarAsNeeded, Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(needed if lines > MAX_LINES else never)
        frame = self.height() - self.viewport().height()
        height = room + max(frame, 2) + 2
        if height != self.height():
            self.setFixedHeight(height)


class DiffView(QTextEdit):
    """A revision's removals (−, struck through) and additions (+, underlined), field by field."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._changes: tuple[FieldChange, ...] = ()
        self.setReadOnly(True)
        self.setProperty("kind", "plain")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Changes of this revision"))
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        theme.changed.connect(lambda: self.show_changes(self._changes, self._empty))
        self._empty = ""

    def show_changes(self, changes: Iterable[FieldChange], empty: str = "") -> None:
        """Show these changes; ``empty`` is the text when there are none."""
        self._changes, self._empty = tuple(changes), empty
        self.clear()
        cursor = QTextCursor(self.document())
        if not self._changes:
            cursor.insertText(empty, self._format("muted"))
        for number, change in enumerate(self._changes):
            if number:
                cursor.insertBlock()
            cursor.insertText(f"{change.field}: ", self._format("muted"))
            for part in change.parts:
                self._insert(cursor, part.change, part.text)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height: another width wraps differently."""
        super().resizeEvent(event)
        self._fit()

    def _insert(self, cursor: QTextCursor, change: str, text: str) -> None:
        if change == "same":
            cursor.insertText(text, self._format("text"))
            return
        form = self._format(CHANGE_ROLE[change])
        form.setBackground(self._theme.color(f"tint_{CHANGE_ROLE[change]}"))
        sign = QTextCharFormat(form)
        form.setFontUnderline(change == "added")
        form.setFontStrikeOut(change == "removed")
        cursor.insertText(SIGNS[change], sign)
        cursor.insertText(text, form)

    def _format(self, role: str) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setForeground(self._theme.color(role))
        return form

    def _fit(self, *_size: object) -> None:
        height = int(self.document().size().height()) + 4
        if height != self.height():
            self.setFixedHeight(height)
