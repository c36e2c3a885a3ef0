"""Split a row that a model drew as one box into its label and its chevron (SuperBrowser, 4.3, 6.2). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.engine.agent.vision.label_match import ARROW_GLYPHS, is_row, is_unlabelled
from app.engine.core.page_state import Element, Rect
from app.engine.core.rectangles import overlap, overlap_ratio

MAX_ROW_HEIGHT = 120.0
"""Pixels; a taller box is a group and no row."""
MIN_SIZE_RATIO = 3.0
"""Minimal size of a row, in sizes of its chevron."""
MIN_INSIDE_SHARE = 0.8
"""Share of the chevron that is inside the row."""
EDGE_SHARE = 0.35
"""Share of the row's width at either end in which its chevron is."""
SAME_BOX_OVERLAP = 0.5
"""Overlap from which two boxes are the same."""


@dataclass(frozen=True, slots=True)
class RowParts:
    """The two parts of a row, each with its label; ``chevron`` is the element of the second."""

    label: str
    box: Rect
    chevron_label: str
    chevron_box: Rect
    chevron: int


def split_row(
    box: Rect, label: str, elements: Sequence[Element], others: Sequence[Rect] = ()
) -> RowParts | None:
    """Return the parts of a row with one chevron at an end, ``None`` where it is none.

    A chevron that has a box of its own among ``others`` is left to that one.
    """
    if not is_row(box) or box[3] > MAX_ROW_HEIGHT:
        return None
    found = [element for element in elements if _is_chevron_of(element, box)]
    if len(found) != 1 or found[0].rect is None:
        return None
    rect = found[0].rect
    if any(overlap_ratio(rect, other) >= SAME_BOX_OVERLAP for other in others):
        return None
    plain = "".join(sign for sign in label if sign not in ARROW_GLYPHS).strip()
    named = (
        found[0].name if is_unlabelled(found[0]) and any(map(str.isalpha, found[0].name)) else f"{plain} ▾"
    )
    return RowParts(plain or label, _rest(box, rect), named, rect, found[0].index)


def _is_chevron_of(element: Element, box: Rect) -> bool:
    rect = element.rect
    if rect is None or not element.visible or not is_unlabelled(element):
        return False
    shared = overlap(rect, box)
    area = rect[2] * rect[3]
    if (
        shared is None
        or shared[2] * shared[3] < MIN_INSIDE_SHARE * area
        or box[2] * box[3] < MIN_SIZE_RATIO * area
    ):
        return False
    place = (rect[0] + rect[2] / 2 - box[0]) / box[2]
    return place <= EDGE_SHARE or place >= 1 - EDGE_SHARE


def _rest(box: Rect, chevron: Rect) -> Rect:
    """Return the row without the end that has the chevron."""
    left, top, width, height = box
    middle = chevron[0] + chevron[2] / 2
    if middle > left + width / 2:
        return (left, top, max(1.0, chevron[0] - left), height)
    begin = chevron[0] + chevron[2]
    return (begin, top, max(1.0, left + width - begin), height)
