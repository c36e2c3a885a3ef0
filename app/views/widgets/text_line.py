"""A field that grows from one line to a few; Enter sends, Shift+Enter breaks the line, Esc leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy

from app.models.live.input_guard import KeyKind
from app.views.widgets.key_kinds import key_of

if TYPE_CHECKING:
    from app.views.frame.theme import Theme

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
LINES = 5
"""Lines shown before it scrolls."""


class TextLine(QPlainTextEdit):
    """A multi-line input that never truncates: a text much too long to be sent is refused with a signal.

    Args:
        longest: characters that can be sent; up to four times as many may be in the field to be shortened there.

    Signals:
        entered(text), left: Enter, Esc.  refused(length): a text of this length was not taken.
    """

    entered = Signal(str)
    left = Signal()
    refused = Signal(int)

    def __init__(self, theme: Theme, name: str, longest: int) -> None:
        super().__init__()
        self._theme, self._longest = theme, longest
        self._shut = False
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self.textChanged.connect(self._fit)
        theme.changed.connect(self._fit)
        self._fit()

    @property
    def text(self) -> str:
        return self.toPlainText()

    @property
    def length(self) -> int:
        """Number of characters, without copying them."""
        return max(self.document().characterCount() - 1, 0)

    def put(self, text: str) -> None:
        """Set the text with the cursor at its end, unless it is the same."""
        if text != self.text:
            self.setPlainText(text)
            cursor = self.textCursor()
            cursor.movePosition(cursor.MoveOperation.End)
            self.setTextCursor(cursor)

    def begin(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def shut(self, shut: bool) -> None:
        """Take keys and ignore them: typed text reaches neither the line nor a command."""
        if shut != self._shut:
            self._shut = shut
            self.setReadOnly(shut)

    def event(self, event: QEvent) -> bool:
        """Take Enter and Esc while focused, before the commands of the place."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if self._shut and key_of(event) is not KeyKind.OTHER:
                event.accept()
                return True
            plain = not event.modifiers() & ~(
                Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
            )
            bare = event.modifiers() == Qt.KeyboardModifier.NoModifier
            if (plain and event.key() in ENTER) or (bare and event.key() == Qt.Key.Key_Escape):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() in ENTER and not shifted:
            self.entered.emit(self.text)
        elif event.key() == Qt.Key.Key_Escape and not shifted:
            self.left.emit()
        elif self._shut and key_of(event) is KeyKind.TEXT:
            event.accept()
        else:
            super().keyPressEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste, unless the text is too long to be shortened by hand."""
        text = source.text()
        if self.length + len(text) > self._longest * 4:
            self.refused.emit(self.length + len(text))
            return
        self.insertPlainText(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height: another width wraps differently."""
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(120, self.height())

    def _fit(self) -> None:
        metrics = QFontMetrics(self.font())
        lines = min(max(int(self.document().size().height()), 1), LINES)
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded if lines >= LINES else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.setFixedHeight(metrics.lineSpacing() * lines + self._theme.px(14))
