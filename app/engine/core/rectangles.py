"""Boxes of elements: left, top, width, height in CSS pixels.  Pure."""

from __future__ import annotations

from collections.abc import Iterable

from app.engine.core.page_state import Element, Rect


def overlap(a: Rect, b: Rect) -> Rect | None:
    """Return the intersection of two boxes; ``None`` where it has no area."""
    left, top = max(a[0], b[0]), max(a[1], b[1])
    right, bottom = min(a[0] + a[2], b[0] + b[2]), min(a[1] + a[3], b[1] + b[3])
    return (left, top, right - left, bottom - top) if right > left and bottom > top else None


def overlap_ratio(a: Rect, b: Rect) -> float:
    """Return the intersection of two boxes as a share of their union."""
    shared = overlap(a, b)
    if shared is None:
        return 0.0
    area = shared[2] * shared[3]
    return area / (a[2] * a[3] + b[2] * b[3] - area)


def contains(box: Rect, x: float, y: float) -> bool:
    """Whether a point is in a box, its border included."""
    return box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]


def smallest_at(elements: Iterable[Element], x: float, y: float) -> Element | None:
    """Return the smallest element around a point."""
    around = [(rect[2] * rect[3], one) for one in elements if (rect := one.rect) and contains(rect, x, y)]
    return min(around, key=lambda pair: pair[0], default=(0.0, None))[1]
