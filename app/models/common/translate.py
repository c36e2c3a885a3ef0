"""Translation of texts outside of widgets."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication


def tr(text: str) -> str:
    """Translate a text."""
    return QCoreApplication.translate("Sitelore", text)
