"""The message after an undo or a redo, in terms of the result."""

from __future__ import annotations

import re

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

_WORDS = (
    (
        r"add (\S+)",
        QT_TRANSLATE_NOOP("undo", "Tip {0} removed (undo)"),
        QT_TRANSLATE_NOOP("undo", "Tip {0} restored (redo)"),
    ),
    (
        r"(?:import|merge) (.+)",
        QT_TRANSLATE_NOOP("undo", "Tips from {0} removed (undo)"),
        QT_TRANSLATE_NOOP("undo", "Tips from {0} restored (redo)"),
    ),
    (
        r"edit (\S+)",
        QT_TRANSLATE_NOOP("undo", "{0}: edit undone"),
        QT_TRANSLATE_NOOP("undo", "{0}: edit redone"),
    ),
    (
        r"(?:activate|review|suspect|send back|restore|waive|retire) (\S+|\d+ tips)",
        QT_TRANSLATE_NOOP("undo", "{0}: status restored (undo)"),
        QT_TRANSLATE_NOOP("undo", "{0}: status changed (redo)"),
    ),
)
"""Actions of the knowledge base's journal, and their messages when undone and redone."""


def undo_message(deed: str, *, undone: bool) -> str:
    """Return the message for a change that was undone or redone."""
    for pattern, back, again in _WORDS:
        match = re.fullmatch(pattern, deed)
        if match is not None:
            return QCoreApplication.translate("undo", str(back if undone else again)).format(match[1])
    pattern = "Undone: {0}" if undone else "Redone: {0}"
    return QCoreApplication.translate("undo", pattern).format(deed)
