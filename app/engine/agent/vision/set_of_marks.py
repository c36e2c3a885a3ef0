"""Set-of-marks: numbered boxes drawn on the screenshot, never in the page, so that a model can point by number.

A mark's number is the index of its element in the capture, and so its id in the text of the page (ColorBrowserAgent,
section 3.3, marks elements in the page itself).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.engine.agent.vision.vision_frame import VisionFrame, VisionMark
from app.engine.core.identity import INTERACTIVE
from app.engine.core.page_state import Element, PageCapture, Rect
from app.engine.core.rectangles import overlap, overlap_ratio

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

MAX_MARKS = 200
"""Maximum marks on one screenshot; more would hide what they mark."""
MIN_MARK_SIZE = 4.0
"""Minimum width and height of an element's visible part, in pixels."""
SAME_BOX_OVERLAP = 0.85
"""Intersection over union from which two boxes look like one."""
ACTIONABLE_ROLES = frozenset({"click", "press", "hover", "drop"})
JPEG_QUALITY = 75
FONT_SIZE = 11
COLOURS = ((200, 30, 30), (25, 95, 180), (20, 120, 50), (120, 60, 170), (190, 90, 0), (0, 110, 125))
TEXT_COLOUR = (255, 255, 255)
MAX_ANCHOR_AGE = 10.0
"""Seconds."""
DASH, GAP, WIDTH = 6, 4, 2
ANCHOR_QUALITY = 70
ANCHOR_COLOURS = (
    (214, 39, 40), (31, 119, 180), (44, 160, 44), (148, 103, 189), (255, 127, 14), (23, 190, 207),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ElementMark:
    """One numbered box: ``box`` is the visible part of the element, ``tag`` the place of its number, in pixels."""

    number: int
    box: Rect
    tag: Rect

    @property
    def colour(self) -> tuple[int, int, int]:
        """Colour as red, green, blue."""
        return COLOURS[self.number % len(COLOURS)]


def element_marks(page: PageCapture, *, most: int = MAX_MARKS, scale: float = 1.0) -> tuple[ElementMark, ...]:
    """Return marks of the visible, actionable elements in document order; one where several share a box.

    ``scale`` is that of the picture they will be drawn on: numbers keep their size where it is smaller than the page.
    The page should be a thorough look (``app.engine.browser.capture.snapshot.capture``); any other does not know what
    covers an element, and each visible one counts.
    """
    thorough = any(element.met for element in page.elements)
    boxes = [
        (element, box)
        for element in page.elements
        if is_markable(element, thorough=thorough) and (box := visible_part(element, page.viewport))
    ]
    kept = _one_of_each(boxes)[:most]
    taken: list[Rect] = []
    marks: list[ElementMark] = []
    grown = 1 / min(scale, 1.0)
    for element, box in kept:
        size = (grown * (7.0 * len(str(element.index)) + 4.0), grown * (FONT_SIZE + 2.0))
        tag = _place(box, size, page.viewport, taken)
        taken.append(tag)
        marks.append(ElementMark(element.index, box, tag))
    return tuple(marks)


def is_markable(element: Element, *, thorough: bool = True) -> bool:
    """Whether an element can be seen and operated with the pointer."""
    if not element.visible or (thorough and not element.met):
        return False
    return (
        element.role in INTERACTIVE or element.listens or bool(ACTIONABLE_ROLES.intersection(element.hears))
    )


def visible_part(element: Element, viewport: tuple[int, int]) -> Rect | None:
    """Return the part of the element's box inside the viewport, ``None`` where it is too small."""
    if element.rect is None:
        return None
    part = overlap(element.rect, (0.0, 0.0, float(viewport[0]), float(viewport[1])))
    return part if part is not None and min(part[2:]) >= MIN_MARK_SIZE else None


def draw_marks(page: PageCapture, marks: Sequence[ElementMark] | None = None, *, side: int = 0) -> bytes:
    """Return the page's screenshot with its marks as a JPEG; unchanged where there is none, or nothing to change.

    ``side`` is the longest side of the result in pixels; 0 keeps that of the screenshot.  Raises ``OSError`` when the
    picture can't be read.
    """
    if not page.picture:
        return page.picture
    from PIL import Image, ImageDraw, ImageFont

    with Image.open(io.BytesIO(page.picture)) as opened:
        shrink = min(1.0, side / max(opened.size)) if side else 1.0
        across = shrink * (opened.width / page.viewport[0] if page.viewport[0] else 1.0)
        marks = element_marks(page, scale=across) if marks is None else marks
        if not marks and shrink == 1.0:
            return page.picture
        image: Any = opened.convert("RGB")
    if shrink < 1.0:
        image.thumbnail((side, side))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(FONT_SIZE * max(1.0, across))
    for mark in marks:
        _draw(draw, mark, across, font)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    return out.getvalue()


def _one_of_each(boxes: list[tuple[Element, Rect]]) -> list[tuple[Element, Rect]]:
    """Drop elements that share a box with another: a tab and the link within it, a row and its only cell.

    The one with a role of its own stays; of two such the outer one, which comes first.
    """
    kept: list[tuple[Element, Rect]] = []
    places: dict[tuple[int, int], list[int]] = {}
    for element, box in boxes:
        middle = (int((box[0] + box[2] / 2) // 32), int((box[1] + box[3] / 2) // 32))
        near = [
            at
            for x in (-1, 0, 1)
            for y in (-1, 0, 1)
            for at in places.get((middle[0] + x, middle[1] + y), ())
        ]
        same = next((at for at in near if overlap_ratio(kept[at][1], box) >= SAME_BOX_OVERLAP), None)
        if same is None:
            places.setdefault(middle, []).append(len(kept))
            kept.append((element, box))
        elif kept[same][0].role not in INTERACTIVE and element.role in INTERACTIVE:
            kept[same] = (element, box)
    return kept


def _place(box: Rect, size: tuple[float, float], viewport: tuple[int, int], taken: list[Rect]) -> Rect:
    """Return the place of a number: outside of its box where there is room, and not on another number if possible."""
    left, top, width, height = box
    wide, high = size
    spots = (
        (left, top - high), (left + width - wide, top - high), (left - wide, top), (left + width, top),
        (left, top + height), (left, top), (left + width - wide, top + height - high),
    )  # fmt: skip
    inside = [(min(max(x, 0.0), viewport[0] - wide), min(max(y, 0.0), viewport[1] - high)) for x, y in spots]
    for spot, shifted in zip(spots, inside, strict=True):
        tag = (*shifted, wide, high)
        if spot == shifted and not any(overlap(tag, other) for other in taken):
            return tag
    return (*inside[0], wide, high)


def _draw(draw: ImageDraw, mark: ElementMark, scale: float, font: Any) -> None:
    left, top, width, height = (part * scale for part in mark.box)
    line = max(1, round(WIDTH * scale))  # around the box, so that it hides no letter of a link
    frame = (left - line, top - line, left + width - 1 + line, top + height - 1 + line)
    draw.rectangle(frame, outline=mark.colour, width=line)
    left, top, width, height = (part * scale for part in mark.tag)
    draw.rectangle((left, top, left + width - 1, top + height - 1), fill=mark.colour)
    middle = (left + width / 2, top + height / 2)
    draw.text(middle, str(mark.number), fill=TEXT_COLOUR, font=font, anchor="mm")


def with_anchors(page: PageCapture, before: VisionFrame | None, now: float) -> bytes:
    """Return the page's screenshot, with the previous frame's marks drawn over it: the model keeps its bearings.

    Old anchors mislead: they are left out after ten seconds and on another page (SuperBrowser, section 4.3).
    ``now`` is the frames' clock.
    """
    if before is None or not page.picture or now - before.at > MAX_ANCHOR_AGE or before.page.url != page.url:
        return page.picture
    return _draw_anchors(page.picture, before.marks) if before.marks else page.picture


def _draw_anchors(picture: bytes, marks: tuple[VisionMark, ...]) -> bytes:
    """Return a JPEG of the same size with a dashed, coloured and numbered box around each mark."""
    from PIL import Image, ImageDraw

    with Image.open(io.BytesIO(picture)) as opened:
        image: Any = opened.convert("RGB")
    draw = ImageDraw.Draw(image)
    for mark in marks:
        colour = ANCHOR_COLOURS[mark.number % len(ANCHOR_COLOURS)]
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
    image.save(out, "JPEG", quality=ANCHOR_QUALITY)
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
