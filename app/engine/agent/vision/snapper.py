"""Snap a box drawn by a vision model to the element it means (SuperBrowser, section 6.1, algorithm 4, appendix E.3).

The page itself tells the elements under a point where it is open (``browser.capture.hit_testing``: frames and shadow
roots included), else the boxes of the capture do. The paper's grid misses what is smaller than its meshes, such as the
arrow at the end of a long row; so every element that the box touches is sampled at its own middle too, which makes the
candidates those of equation 7.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.engine.agent.vision.label_match import (
    MIN_LABEL_LETTERS,
    chevron_factor,
    expander_indicators,
    is_row,
    label_factor,
    label_fit,
    label_matches,
    names_expander,
)
from app.engine.core.actions.types import Point
from app.engine.core.page_state import Element, PageCapture, Rect
from app.engine.core.rectangles import contains, overlap

GRID_SIZE = 5
"""Points of the scan in each direction."""
MIN_CHEVRON_SHARE = 0.3
"""Share of the largest candidate's area that a chevron needs for its boost (section 6.2)."""
OPAQUE_FRAME = -1
"""Entry of a stack for a frame that could not be looked into."""

_Touched = tuple[Element, Rect, Rect]
Stacks = Mapping[Point, Sequence[int]]
"""For each point the numbers of the elements under it, the one in front first."""


class Phase(StrEnum):
    """Phases in which an element is found."""

    PINPOINT = "pinpoint"  # phase A
    FRAME = "frame"  # phase A-alt: at the middle, within a frame
    SCAN = "scan"  # phase B
    BLIND = "blind"  # in an inaccessible frame: the middle of the box


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapCandidate:
    """A candidate element: its share of the box, the fit of its name, its likeness to an expander."""

    element: int
    at: Point
    area: float
    label: float
    chevron: float

    @property
    def score(self) -> float:
        """Equation 8."""
        return self.area * self.label * self.chevron


@dataclass(frozen=True, slots=True, kw_only=True)
class Snap:
    """The point to press.

    Attributes:
        element: the element's number; ``None`` where only the point is known.
        at: a point of it within the box, CSS pixels of the viewport.
        frame: the chain of frames around it.
        matched: its name fits the label.
        candidates: the weighed candidates, best first; empty when the middle decided.
    """

    element: int | None
    at: Point
    phase: Phase
    frame: tuple[str, ...] = ()
    matched: bool = False
    candidates: tuple[SnapCandidate, ...] = ()


def middle(box: Rect) -> Point:
    """Return the middle of a box."""
    return (round(box[0] + box[2] / 2, 1), round(box[1] + box[3] / 2, 1))


def in_view(page: PageCapture) -> tuple[Element, ...]:
    """Return the visible elements at least partly in the viewport; all visible ones where its size is unknown."""
    width, height = page.viewport
    return tuple(
        element
        for element in page.elements
        if element.visible
        and (rect := element.rect) is not None
        and (not width or (rect[0] < width and rect[0] + rect[2] > 0))
        and (not height or (rect[1] < height and rect[1] + rect[3] > 0))
    )


def sample_points(box: Rect, page: PageCapture) -> tuple[Point, ...]:
    """Return the points ``snap`` needs: the middle, a 5 by 5 grid, the middles of all elements the box touches."""
    return _points(box, _touched(box, page.elements))


def snap(
    box: Rect,
    page: PageCapture,
    label: str = "",
    stacks: Stacks | None = None,
    among: Sequence[Element] | None = None,
) -> Snap | None:
    """Return the element a box stands for, ``None`` where there is none.

    Args:
        box: left, top, width, height in CSS pixels of the viewport.
        page: the capture that the element numbers refer to.
        label: the expected name; ignored below three letters.
        stacks: elements under ``sample_points``; without it the capture's boxes are used.
        among: the elements that may be meant (``in_view``), where many boxes are snapped on one page.
    """
    touched = _touched(box, page.elements if among is None else among)
    under = _from_page(touched, stacks or {})
    expected = label if len(label.strip()) >= MIN_LABEL_LETTERS else ""
    centre = middle(box)
    stack = under(centre)
    first = _first(stack, page)
    if first is not None and expected and label_matches(first, expected):
        phase = Phase.FRAME if first.frame else Phase.PINPOINT
        return Snap(element=first.index, at=centre, phase=phase, frame=first.frame, matched=True)
    candidates = _scan(box, page, expected, under, touched)
    best = page.elements[candidates[0].element] if candidates else None
    matched = best is not None and (not expected or label_fit(best, expected))
    if stack and stack[0] == OPAQUE_FRAME and not (matched and expected):
        return Snap(element=None, at=centre, phase=Phase.BLIND, candidates=tuple(candidates))
    if best is None:
        return None
    return Snap(
        element=best.index,
        at=candidates[0].at,
        phase=Phase.SCAN,
        frame=best.frame,
        matched=matched,
        candidates=tuple(candidates),
    )


def _scan(
    box: Rect,
    page: PageCapture,
    label: str,
    under: Callable[[Point], Sequence[int]],
    touched: Sequence[_Touched],
) -> list[SnapCandidate]:
    """Return the candidates for the box, best first (phase B)."""
    hits: dict[int, Point] = {}
    for point in _points(box, touched):
        hit = _first(under(point), page)
        if hit is None or hit.rect is None:
            continue
        shared = overlap(hit.rect, box)
        if shared is None:
            continue
        centre = middle(shared)
        if hit.index not in hits or math.dist(point, centre) < math.dist(hits[hit.index], centre):
            hits[hit.index] = point
    found = [page.elements[index] for index in hits]
    if names_expander(label) and is_row(box):
        found = [element for element in found if expander_indicators(element)] or found
    shares = {element.index: _share(element, box) for element in found}
    leader = max(shares.values(), default=0.0)
    candidates = [
        SnapCandidate(
            element=element.index,
            at=hits[element.index],
            area=shares[element.index],
            label=label_factor(element, label),
            chevron=chevron_factor(element, box)
            if shares[element.index] >= MIN_CHEVRON_SHARE * leader
            else 1.0,
        )
        for element in found
    ]
    return sorted((c for c in candidates if c.score > 0), key=lambda c: (-c.score, c.element))


def _share(element: Element, box: Rect) -> float:
    """Return equation 9."""
    shared = overlap(element.rect, box) if element.rect else None
    return shared[2] * shared[3] / (box[2] * box[3]) if shared else 0.0


def _first(stack: Sequence[int], page: PageCapture) -> Element | None:
    """Return the foremost actionable element; none behind a frame that can't be looked into."""
    for number in stack:
        if number == OPAQUE_FRAME:
            return None
        if 0 <= number < len(page.elements):
            return page.elements[number]
    return None


def _points(box: Rect, touched: Sequence[_Touched]) -> tuple[Point, ...]:
    left, top, width, height = box
    points = [middle(box)]
    points += [
        (
            round(left + width * (column + 0.5) / GRID_SIZE, 1),
            round(top + height * (row + 0.5) / GRID_SIZE, 1),
        )
        for row in range(GRID_SIZE)
        for column in range(GRID_SIZE)
    ]
    points += [middle(shared) for _, _, shared in touched]
    return tuple(dict.fromkeys(points))


def _touched(box: Rect, among: Sequence[Element]) -> list[_Touched]:
    """Return the visible elements that a box touches, their boxes, and the intersections."""
    return [
        (element, rect, shared)
        for element in among
        if (rect := element.rect) is not None
        and element.visible
        and (shared := overlap(rect, box)) is not None
    ]


def _from_page(touched: Sequence[_Touched], stacks: Stacks) -> Callable[[Point], Sequence[int]]:
    """Return the elements under a point of the box; guess from the capture where the page did not report them.

    Elements of a dialog come before others, the small before the large, the later before the earlier.
    """
    placed = [
        (not _in_dialog(element), rect[2] * rect[3], -element.index, rect) for element, rect, _ in touched
    ]
    placed.sort()

    def under(point: Point) -> Sequence[int]:
        if point in stacks:
            return stacks[point]
        return [-index for _, _, index, rect in placed if contains(rect, *point)]

    return under


def _in_dialog(element: Element) -> bool:
    return any(mark.startswith(("dialog", "alertdialog")) for mark in element.landmarks)
