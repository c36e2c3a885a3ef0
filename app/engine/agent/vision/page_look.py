"""The look of a page as a model sees it in a picture: whether a picture that was sent still shows the page.

A rule over fingerprints and pixels.  A clock that ticks, a caret, a button under the pointer make no other look; what
was typed or ticked, what opened, moved or scrolled does, and so does every drawing on a page that is a canvas.  Pure.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from app.engine.core.fingerprint import FingerprintKind, Fingerprints, fingerprints_of
from app.engine.core.page_state import PageCapture

CELLS = (160, 100)
"""Cells across and down that a picture is compared in."""
CELL_DIFFERS = 24
"""Difference of two cells in grey levels (0 to 255) from which they differ."""
CELLS_DIFFER, CELLS_DIFFER_ON_CANVAS = 12, 1
"""Differing cells from which the look is another one."""
TOLERATED_KINDS = frozenset({FingerprintKind.TEXT})
"""Changes that the tree tells and that need no new picture: numbers that count or tell the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLook:
    """The look of one capture: fingerprints, grey levels of its cells ("" without a picture), whether it is drawn."""

    prints: Fingerprints
    cells: bytes = b""
    canvas: bool = False


def look_of(page: PageCapture) -> PageLook:
    """Return the look of a capture.  Raises ``OSError`` when its picture can't be read."""
    return PageLook(prints=fingerprints_of(page), cells=_cells(page.picture), canvas=page.canvas_only)


def look_changed(now: PageLook, then: PageLook) -> bool:
    """Whether a page looks different from before, so that an earlier picture no longer shows it."""
    if now.prints.changed(then.prints) - TOLERATED_KINDS or len(now.cells) != len(then.cells):
        return True
    most = CELLS_DIFFER_ON_CANVAS if now.canvas else CELLS_DIFFER
    differing = sum(abs(a - b) >= CELL_DIFFERS for a, b in zip(now.cells, then.cells, strict=True))
    return differing >= most


def _cells(picture: bytes) -> bytes:
    """Return the grey levels of a picture's cells, row by row."""
    if not picture:
        return b""
    from PIL import Image

    with Image.open(io.BytesIO(picture)) as opened:
        image: Any = opened
        image.draft("L", (CELLS[0] * 2, CELLS[1] * 2))
        return image.convert("L").resize(CELLS, Image.Resampling.BOX).tobytes()
