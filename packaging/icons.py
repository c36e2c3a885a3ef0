"""Draw ``resources/icons/png`` from the icon: ``python packaging/icons.py`` with the environment's Python."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication, QIcon

ICONS = Path(__file__).resolve().parent.parent / "resources" / "icons"
SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


def main() -> None:
    """Write a picture of each size."""
    _application = QGuiApplication([])
    icon = QIcon(str(ICONS / "sitelore.svg"))
    (ICONS / "png").mkdir(exist_ok=True)
    for size in SIZES:
        picture = icon.pixmap(QSize(size, size), 1.0)
        if picture.width() != size or not picture.save(str(ICONS / "png" / f"sitelore-{size}.png")):
            raise SystemExit(f"the icon of {size} pixels could not be drawn")


if __name__ == "__main__":
    main()
