"""Batch drawing of lines and sprites: Qt reads them from an array, without a Python object for each."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QLine
from PySide6.QtGui import QPainter, QPixmap

FRAGMENT = 10
"""Numbers of a sprite: x, y of its middle, left, top, width, height in the sheet, two scales, rotation, opacity."""


def draw_lines(painter: QPainter, ends: NDArray[np.int32]) -> None:
    """Draw (m, 4) lines from x, y to x, y in the painter's pen."""
    if len(ends):
        lines = np.ascontiguousarray(ends, dtype=np.int32)
        first = shiboken6.wrapInstance(lines.ctypes.data, QLine)
        cast("Any", painter).drawLines(first, len(lines))


def draw_sprites(painter: QPainter, sprites: NDArray[np.float64], sheet: QPixmap) -> None:
    """Draw (n, 10) parts of a sprite sheet (see ``FRAGMENT``)."""
    if len(sprites):
        pieces = np.ascontiguousarray(sprites, dtype=np.float64)
        first = shiboken6.wrapInstance(pieces.ctypes.data, QPainter.PixmapFragment)
        cast("Any", painter).drawPixmapFragments(first, len(pieces), sheet)
