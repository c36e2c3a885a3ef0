"""The editor of a prompt: monospaced, with its placeholders coloured and those it does not know underlined."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument, QTextOption
from PySide6.QtWidgets import QPlainTextEdit

from app.models.common.prompt_set_model import CONDITION, PLACEHOLDER

if TYPE_CHECKING:
    from app.views.frame.theme import Theme


class PlaceholderMarks(QSyntaxHighlighter):
    """Colours placeholders and conditions; an unknown placeholder gets a wave."""

    def __init__(self, theme: Theme, document: QTextDocument) -> None:
        super().__init__(document)
        self._theme, self._known = theme, frozenset[str]()

    def know(self, known: Collection[str]) -> None:
        """Take the names of the prompt's placeholders."""
        if frozenset(known) != self._known:
            self._known = frozenset(known)
            self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        for found in CONDITION.finditer(text):
            self.setFormat(found.start(), found.end() - found.start(), self._look("muted"))
        for found in PLACEHOLDER.finditer(text):
            known = found[1] in self._known
            self.setFormat(
                found.start(), found.end() - found.start(), self._look("accent" if known else "fail", known)
            )

    def _look(self, role: str, known: bool = True) -> QTextCharFormat:
        look = QTextCharFormat()
        look.setForeground(self._theme.color(role))
        if not known:
            look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            look.setUnderlineColor(self._theme.color(role))
        return look


class PromptEditor(QPlainTextEdit):
    """Plain text.  Tab leaves the field, as everywhere."""

    def __init__(self, theme: Theme, name: str, *, reads: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self.marks = PlaceholderMarks(theme, self.document())
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setReadOnly(reads)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        theme.changed.connect(self._fit)
        self._fit()

    def show_text(self, text: str) -> None:
        """Show another text, without reporting it as typed."""
        if text != self.toPlainText():
            with QSignalBlocker(self):
                self.setPlainText(text)
                self.marks.rehighlight()

    def _fit(self) -> None:
        font = self._theme.mono("secondary")
        self.setFont(font)
        self.setStyleSheet(
            f"QPlainTextEdit {{ font-family: '{font.family()}'; font-size: {font.pixelSize()}px; }}"
        )
        self.marks.rehighlight()
