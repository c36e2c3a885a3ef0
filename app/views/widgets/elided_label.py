"""A one-line label that elides itself to its width; whole as a tooltip and on copy."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QGuiApplication,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QStyle, QStyleOption, QWidget


class ElidedLabel(QLabel):
    """Elides in the middle for addresses, at the end for prose; asks for no minimum width.

    ``text()`` is always the whole text, so that screen readers and copies get it.
    """

    def __init__(
        self,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        text: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(24)

    def setText(self, text: str) -> None:
        """Show ``text`` on one line; line breaks become spaces."""
        super().setText(" ".join(text.split()))
        self._tell_whole()

    def shown(self) -> str:
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def sizeHint(self) -> QSize:
        """The width of the whole text, so that a layout with room shows all of it."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 2, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        """Nearly nothing."""
        return QSize(24, self.fontMetrics().height() + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Set the tooltip only while the text is elided."""
        super().resizeEvent(event)
        self._tell_whole()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QPainter(self), QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        align = QStyle.visualAlignment(self.layoutDirection(), self.alignment())
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), align | Qt.TextFlag.TextSingleLine, self.shown())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy the whole text."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Copy"), lambda: QGuiApplication.clipboard().setText(self.text()))
        menu.popup(event.globalPos())

    def _tell_whole(self) -> None:
        self.setToolTip(self.text() if self.shown() != self.text() else "")


LONG_WORD, LONGER_WORD = re.compile(r"\S{17,}"), re.compile(r"\S{28,}")
"""Words that may break in a message, and in other texts: an address such as shop.example:8080 stays whole there."""
PIECE = re.compile(r"\S{4}(?=\S)")
"""Letters of a long word between two places where it may break: few enough for a narrow column of large text."""
GAP = "\u200b"
"""A zero-width break opportunity for long words."""


def breakable(text: str, words: re.Pattern[str] = LONGER_WORD) -> str:
    """Return the text with places where its long words may break."""
    return words.sub(lambda word: PIECE.sub(lambda piece: piece.group() + GAP, word.group()), text)


class WrappedLabel(QLabel):
    """Wraps, also within a long word, so that none makes its column wider.

    ``text()``, the accessible name and what is copied are the text itself.
    """

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = self._named = ""
        self.setWordWrap(True)
        self.setText(text)

    def text(self) -> str:
        return self._whole

    def setText(self, text: str) -> None:
        self._whole, shown = text, breakable(text)
        super().setText(shown)
        if self.accessibleName() == self._named:
            self._named = text if shown != text else ""
            self.setAccessibleName(self._named)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Keep the break places out of what a selection copies by itself."""
        super().mouseReleaseEvent(event)
        clipboard = QGuiApplication.clipboard()
        if clipboard.supportsSelection() and self.hasSelectedText():
            clipboard.setText(self.selectedText().replace(GAP, ""), QClipboard.Mode.Selection)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy the selected text where some is selected, else the whole."""
        if self.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(self.tr("Copy"), self.copy)
            menu.popup(event.globalPos())
        else:
            super().contextMenuEvent(event)

    def copy(self) -> None:
        """Copy the selected text, or the whole."""
        QGuiApplication.clipboard().setText(self.selectedText().replace(GAP, "") or self._whole)


class MessageLabel(QLabel):
    """Shows at most ``longest`` characters, the whole as a tooltip; never wider than its place, never as markup."""

    def __init__(self, kind: str = "", longest: int = 400, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._longest = longest
        self.setProperty("kind", kind)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)

    def say(self, text: str) -> None:
        """Show this text; an empty one hides the label."""
        is_cut = len(text) > self._longest
        shown = f"{text[: self._longest].rstrip()}…" if is_cut else text
        self.setText(breakable(shown, LONG_WORD))
        self.setAccessibleName(text)
        self.setToolTip(text[: self._longest * 20] if is_cut else "")
        self.setVisible(bool(text))
