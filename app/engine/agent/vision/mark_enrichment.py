"""Enrich a model's boxes by the page: elements, expanded or active state, expanders. Pure.

(SuperBrowser, section 4.3: DOM enrichment, compound rows, ranking with a cap.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.engine.agent.vision.answers import BOX_SCALE, SceneRole, SeenBox
from app.engine.agent.vision.label_match import ARROW_GLYPHS, is_row, is_unlabelled, words_of
from app.engine.agent.vision.snapper import in_view, snap
from app.engine.agent.vision.vision_frame import VisionMark
from app.engine.core.page_state import Element, PageCapture, Rect
from app.engine.core.rectangles import overlap, overlap_ratio

MAX_MARKS, MAX_COVERAGE_MARKS = 50, 60
"""Marks of a pass, and of a coverage pass."""
SAME_ELEMENT_OVERLAP = 0.7
"""Overlap from which two boxes of one element are the same."""
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

_ON = frozenset({"checked", "selected", "pressed", "current"})
_SCENE = {SceneRole.BLOCKER: 0, SceneRole.TARGET: 1}


def marks_of(
    seen: Sequence[SeenBox],
    page: PageCapture,
    *,
    wanted: Sequence[str] = (),
    most: int = MAX_MARKS,
) -> tuple[VisionMark, ...]:
    """Return the marks: rows split, elements found, blockers first, at most ``most``.

    Marks with one of the ``wanted`` labels stay, wherever they rank.
    """
    boxes = [to_pixels(box, page.viewport) for box in seen]
    seen_elements = in_view(page)
    found: list[VisionMark] = []
    for box, answer in zip(boxes, seen, strict=True):
        others = [other for other in boxes if other is not box]
        for mark in _parts(answer, box, page, seen_elements, others):
            if not any(_is_same(mark, other) for other in found):
                found.append(mark)
    return rank_marks(found, wanted, most)


def rank_marks(
    marks: Sequence[VisionMark], wanted: Sequence[str] = (), most: int = MAX_MARKS
) -> tuple[VisionMark, ...]:
    """Return the marks numbered by rank: blockers, relevant, clickable, then by confidence."""
    kept = [set(words_of(label)) for label in wanted if words_of(label)]

    def is_wanted(mark: VisionMark) -> bool:
        words = set(words_of(f"{mark.label} {mark.name}"))
        return any(label <= words for label in kept)

    order = sorted(marks, key=_rank)
    chosen = [mark for mark in order if is_wanted(mark)][:most]
    room = most - len(chosen)
    rest = [mark for mark in order if not is_wanted(mark)][:room]
    return tuple(
        replace(mark, number=number)
        for number, mark in enumerate(sorted([*chosen, *rest], key=_rank), start=1)
    )


def to_pixels(seen: SeenBox, viewport: tuple[int, int]) -> Rect:
    """Return a box in CSS pixels of the viewport."""
    top, left, bottom, right = seen.box
    width, height = viewport
    return (
        round(left * width / BOX_SCALE, 1),
        round(top * height / BOX_SCALE, 1),
        round((right - left) * width / BOX_SCALE, 1),
        round((bottom - top) * height / BOX_SCALE, 1),
    )


def _enriched(mark: VisionMark, page: PageCapture, among: Sequence[Element]) -> VisionMark:
    """Return the mark with its element's facts; unchanged where it has no element."""
    number = mark.element
    if number is None:
        found = snap(mark.box, page, mark.label, among=among)
        number = found.element if found is not None else None
    if number is None:
        return mark
    element = page.elements[number]
    return replace(
        mark,
        element=number,
        name=element.name or element.label or element.text,
        expanded=True if "expanded" in element.states else False if "collapsed" in element.states else None,
        active=not _ON.isdisjoint(element.states),
        disabled="disabled" in element.states,
    )


def _parts(
    seen: SeenBox,
    box: Rect,
    page: PageCapture,
    among: Sequence[Element],
    others: Sequence[Rect],
) -> tuple[VisionMark, ...]:
    """Return the mark of one box, or those of its label and its chevron."""
    whole = VisionMark(
        number=0,
        box=box,
        label=seen.label,
        role=seen.role,
        clickable=seen.clickable,
        confidence=seen.confidence,
        relevant=seen.relevant,
        scene=seen.scene,
    )
    halves = split_row(box, seen.label, among, others)
    if halves is None:
        return (_enriched(whole, page, among),)
    label = replace(whole, box=halves.box, label=halves.label, row=box)
    chevron = replace(
        whole,
        box=halves.chevron_box,
        label=halves.chevron_label,
        role="button",
        clickable=True,
        element=halves.chevron,
        row=box,
    )
    return _enriched(label, page, among), _enriched(chevron, page, among)


def _rank(mark: VisionMark) -> tuple[int, bool, bool, float, float, float]:
    return (
        _SCENE.get(mark.scene, 2),
        not mark.relevant,
        not mark.clickable,
        -mark.confidence,
        mark.box[1],
        mark.box[0],
    )


def _is_same(mark: VisionMark, other: VisionMark) -> bool:
    return (
        mark.element == other.element
        and mark.element is not None
        and overlap_ratio(mark.box, other.box) >= SAME_ELEMENT_OVERLAP
    )


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
