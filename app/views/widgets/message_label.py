"""A wrapped label for external text of any length, with words of any length."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

LONG_WORD = re.compile(r"\S{17,}")
PIECE = re.compile(r"\S{4}(?=\S)")
"""Letters of a long word between two places where it may break: few enough for a narrow column of large text."""
GAP = "\u200b"
"""A zero-width break opportunity for long words."""


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
        self.setText(
            LONG_WORD.sub(lambda word: PIECE.sub(lambda piece: piece.group() + GAP, word.group()), shown)
        )
        self.setAccessibleName(text)
        self.setToolTip(text[: self._longest * 20] if is_cut else "")
        self.setVisible(bool(text))
