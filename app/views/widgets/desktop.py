"""Files shown by the desktop's own programs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices


def show_in_folder(path: str) -> None:
    """Open the folder that holds a file or folder in the desktop's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(path).parent)))
