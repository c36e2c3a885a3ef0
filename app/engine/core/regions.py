"""The region of a page that a tip is about: the elements a person may choose, and the anchor of what was chosen.

An element of the region has at least half of its area in the drawn box; where none has, the region is the smallest
element around the box's middle.  The region's words are its elements' names in reading order, its role is that of the
element with most area in it, a control before a heading.  Neighbours are the nearest other elements with a name of at
most 40 characters, a control before a list's row, by the gap between the boxes; of a page without boxes by their
distance in the tree.  A name with a digit in it, and one that stands on the page more than twice, tells nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from app.engine.core.ax_tree import parse_tree
from app.engine.core.identity import INTERACTIVE
from app.engine.core.page_state import Rect
from app.engine.core.rectangles import contains, overlap
from app.engine.core.tree_elements import aria_role, list_rows
from kb.tip import BETWEEN, Anchor

LONGEST_NAME = 80
MOST_NEIGHBOURS = 4
_LONGEST_NEIGHBOUR = 40
_MOST_ALIKE = 2
_MOST_ELEMENTS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionElement:
    """One control or heading of a stored page.

    Attributes:
        number: counted from 0 in document order.
        box: in the screenshot's pixels; None where it was not recorded.
        in_row: it is in a row of a list, so it is likely the page's data.
    """

    number: int
    role: str
    name: str
    box: Rect | None = None
    in_row: bool = False


def region_elements(tree: str, boxes: Mapping[str, Rect] | None = None) -> tuple[RegionElement, ...]:
    """Return the controls and headings of a stored page, in document order.

    Args:
        tree: in the form ``app.engine.core.ax_tree`` reads.
        boxes: the boxes of elements in view, by their ids in the tree.  An element without a name needs one.
    """
    boxes = boxes or {}
    nodes = parse_tree(tree)
    found: list[RegionElement] = []
    rows: list[int] = []
    for node, row in zip(nodes, list_rows(nodes), strict=True):
        while rows and rows[-1] >= node.depth:
            rows.pop()
        if row[0]:
            rows.append(node.depth)
        role, name = aria_role(node.role), " ".join(node.name.split())[:LONGEST_NAME]
        box = boxes.get(node.bid) if node.bid else None
        if box is None and not (name and (role in INTERACTIVE or role == "heading")):
            continue
        found.append(RegionElement(number=len(found), role=role, name=name, box=box, in_row=bool(rows)))
        if len(found) == _MOST_ELEMENTS:
            break
    return tuple(found)


def region_in(elements: Sequence[RegionElement], box: Rect) -> tuple[RegionElement, ...]:
    """Return the elements of a drawn box, in reading order."""
    placed = [(element, element.box) for element in elements if element.box is not None]
    inside = [element for element, own in placed if 2 * _shared(own, box) >= own[2] * own[3]]
    if inside:
        return tuple(sorted(inside, key=_reading_order))
    middle = (box[0] + box[2] / 2, box[1] + box[3] / 2)
    around = [(own[2] * own[3], element.number) for element, own in placed if contains(own, *middle)]
    return (elements[min(around)[1]],) if around else ()


def drawn_anchor(
    elements: Sequence[RegionElement], box: Rect, screenshot: str = "", page: str = ""
) -> Anchor:
    """Return the anchor of a box drawn on the screenshot."""
    region = region_in(elements, box)
    main = max(region, key=lambda one: _weight(one, box), default=None)
    return Anchor(
        screenshot=screenshot,
        box=_whole(box),
        words=BETWEEN.join(dict.fromkeys(element.name for element in region if element.name)),
        role=main.role if main is not None else "",
        neighbours=_neighbours(elements, region, box),
        page=page,
    )


def chosen_anchor(
    elements: Sequence[RegionElement], number: int, screenshot: str = "", page: str = ""
) -> Anchor:
    """Return the anchor of one element, by its number."""
    element = elements[number]
    return Anchor(
        screenshot=screenshot if element.box is not None else "",
        box=_whole(element.box) if element.box is not None else (0, 0, 0, 0),
        words=element.name,
        role=element.role,
        neighbours=_neighbours(elements, (element,), element.box),
        page=page,
    )


def _neighbours(
    elements: Sequence[RegionElement], region: Sequence[RegionElement], box: Rect | None
) -> tuple[str, ...]:
    own = {element.number for element in region}
    words = {element.name.casefold() for element in region}
    often = Counter(element.name.casefold() for element in elements)

    def distance(element: RegionElement) -> tuple[bool, float, int]:
        if box is not None:
            gap = _gap(element.box, box) if element.box is not None else float("inf")
        else:
            gap = min((abs(element.number - number) for number in own), default=float("inf"))
        return (element.in_row, gap, element.number)

    told = [
        element
        for element in elements
        if element.number not in own
        and 0 < len(element.name) <= _LONGEST_NEIGHBOUR
        and element.name.casefold() not in words
        and often[element.name.casefold()] <= _MOST_ALIKE
        and not any(map(str.isdigit, element.name))
        and (box is None or element.box is not None)
    ]
    names = dict.fromkeys(element.name for element in sorted(told, key=distance))
    return tuple(names)[:MOST_NEIGHBOURS]


def _weight(element: RegionElement, box: Rect) -> tuple[bool, float, int]:
    shared = _shared(element.box, box) if element.box is not None else 0.0
    return (element.role != "heading", shared, -element.number)


def _reading_order(element: RegionElement) -> tuple[float, float, int]:
    left, top, _, height = element.box or (0.0, 0.0, 0.0, 0.0)
    return (round((top + height / 2) / 12), left, element.number)


def _shared(one: Rect, other: Rect) -> float:
    part = overlap(one, other)
    return part[2] * part[3] if part is not None else 0.0


def _gap(one: Rect, other: Rect) -> float:
    """Return the distance between two boxes' edges; 0 where they touch."""
    across = max(one[0] - other[0] - other[2], other[0] - one[0] - one[2], 0.0)
    down = max(one[1] - other[1] - other[3], other[1] - one[1] - one[3], 0.0)
    return (across**2 + down**2) ** 0.5


def _whole(box: Rect) -> tuple[int, int, int, int]:
    left, top = round(box[0]), round(box[1])
    return (left, top, max(1, round(box[0] + box[2]) - left), max(1, round(box[1] + box[3]) - top))


def stored_boxes(boxes: Mapping[str, Rect]) -> bytes:
    """Return the boxes of a step's elements as they are stored: JSON, ``{"12": [left, top, width, height]}``."""
    return json.dumps(boxes, separators=(",", ":")).encode()


def read_boxes(data: bytes) -> dict[str, Rect]:
    """Read the output of ``stored_boxes``; what is none is left out, as an imported run may hold anything."""
    try:
        given: Any = json.loads(data)
    except ValueError:
        return {}
    found: dict[str, Rect] = {}
    for name, box in cast("dict[str, Any]", given).items() if isinstance(given, dict) else ():
        match box:
            case [int() | float(), int() | float(), int() | float(), int() | float()] if min(box[2:]) > 0:
                found[name] = (float(box[0]), float(box[1]), float(box[2]), float(box[3]))
            case _:
                continue
    return found
