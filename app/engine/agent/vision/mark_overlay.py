"""Draw the previous frame's boxes over a new screenshot, so that the model keeps its bearings (Set-of-Marks anchoring).

Drawn on the picture and never in the page. Old anchors mislead: they are left out after ten seconds and on another page
(SuperBrowser, section 4.3).
"""

from __future__ import annotations

import io
from typing import Any

from app.engine.agent.vision.vision_frame import VisionFrame, VisionMark
from app.engine.core.page_state import PageCapture

MAX_ANCHOR_AGE = 10.0
"""Seconds."""
DASH, GAP, WIDTH = 6, 4, 2
JPEG_QUALITY = 70
COLOURS = ((214, 39, 40), (31, 119, 180), (44, 160, 44), (148, 103, 189), (255, 127, 14), (23, 190, 207))


def with_anchors(page: PageCapture, before: VisionFrame | None, now: float) -> bytes:
    """Return the page's screenshot, with the previous frame's marks where they still help; ``now`` is the
    frames' clock.
    """
    if before is None or not page.picture or not before.marks or not is_current(before, page, now):
        return page.picture
    return draw_anchors(page.picture, before.marks)


def is_current(before: VisionFrame, page: PageCapture, now: float) -> bool:
    """Whether the frame's boxes may still fit this page."""
    return now - before.at <= MAX_ANCHOR_AGE and before.page.url == page.url


def draw_anchors(picture: bytes, marks: tuple[VisionMark, ...]) -> bytes:
    """Return a JPEG of the same size with a dashed, coloured and numbered box around each mark."""
    from PIL import Image, ImageDraw

    with Image.open(io.BytesIO(picture)) as opened:
        image: Any = opened.convert("RGB")
    draw = ImageDraw.Draw(image)
    for mark in marks:
        colour = COLOURS[mark.number % len(COLOURS)]
        left, top, width, height = mark.box
        right, bottom = left + width, top + height
        for x in _dashes(left, right):
            draw.line((x, top, min(x + DASH, right), top), fill=colour, width=WIDTH)
            draw.line((x, bottom, min(x + DASH, right), bottom), fill=colour, width=WIDTH)
        for y in _dashes(top, bottom):
            draw.line((left, y, left, min(y + DASH, bottom)), fill=colour, width=WIDTH)
            draw.line((right, y, right, min(y + DASH, bottom)), fill=colour, width=WIDTH)
        _number(draw, f"V{mark.number}", left, top, colour)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=JPEG_QUALITY)
    return out.getvalue()


def _number(draw: Any, text: str, left: float, top: float, colour: tuple[int, int, int]) -> None:
    """Draw the mark's number at the corner of its box, outside of it where there is room."""
    x, y = left, top - 11 if top >= 11 else top
    box = draw.textbbox((x, y), text)
    draw.rectangle((box[0] - 1, box[1] - 1, box[2] + 1, box[3] + 1), fill=colour)
    draw.text((x, y), text, fill=(255, 255, 255))


def _dashes(start: float, end: float) -> list[float]:
    steps = int(max(0.0, end - start) // (DASH + GAP)) + 1
    return [start + step * (DASH + GAP) for step in range(steps)]
