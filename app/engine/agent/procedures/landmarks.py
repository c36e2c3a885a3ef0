"""The landmark of a tip's step on a captured page, and the controls beside it.  Pure.

A landmark is a control, or any text of the page: a heading, a label, a cell.  Beside a control, places are measured in
pixels.  Beside a text, which has no box in a capture, they are counted in the order of the page: what is below, right
of or next to it comes after it, what is above or left of it before it; ``in`` is its row, list entry, table or form.
A landmark may also be a kind of group ("the dialog"): every place at it lies in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.engine.agent.procedures.names import name_fit, names_of, plain
from app.engine.core.ax_tree import AxNode, parse_tree
from app.engine.core.page_state import Element, PageCapture, Rect
from app.engine.core.text import word_set

FARTHEST = 320.0
"""Pixels between a landmark and the control beside it, at most."""
FARTHEST_BY_LOOKS = 60.0
"""The same for a control that is known by its looks alone ("the arrow")."""
LOOKS = 0.7
"""Fit of a control that is known by its looks, at most."""
MOST_BETWEEN_BY_LOOKS = 2
MOST_BETWEEN = 80
"""Controls between a text and the control that a step means by it, at most."""
LEAST_FIT = 0.6
"""Fit of a landmark's name that names it, in [0, 1]."""

_GROUPS = word_set(
    "row listitem list table grid form group region article dialog alertdialog complementary navigation banner "
    "contentinfo main fieldset figure menu tablist tabpanel rowgroup search section"
)
_BEFORE = frozenset({"above", "left of", "over"})
_EITHER = frozenset({"", "beside", "next to", "near"})

Fits = list[tuple[float, Element]]


@dataclass(frozen=True, slots=True)
class Landmark:
    """A landmark.

    Attributes:
        element: the control that it is, if it is one.
        after: of a text the number of the first control after it.
        around: of a text the numbers (first, last) of the controls in each group around it, the smallest first; of a
            kind of group those in each group of that kind.
        is_group: it is a kind of group.
    """

    element: Element | None = None
    after: int = 0
    around: tuple[tuple[int, int], ...] = ()
    is_group: bool = False

    def beside(self, fits: Sequence[tuple[float, Element]], where: str) -> Fits:
        """Return those of the controls that stand where the step says."""
        if self.element is not None:
            return _beside_control(fits, self.element, where)
        if where == "in" or self.is_group:
            return self._within(fits)
        placed = [
            (distance, fit, one)
            for fit, one in fits
            if (distance := self._steps_to(one, where)) >= 0
            and (fit > LOOKS or distance <= MOST_BETWEEN_BY_LOOKS)
        ]
        if not placed:
            return []
        best = max(fit for _, fit, _ in placed)
        nearest = min(distance for distance, fit, _ in placed if fit == best)
        return [(fit, one) for distance, fit, one in placed if fit == best and distance == nearest]

    def _within(self, fits: Sequence[tuple[float, Element]]) -> Fits:
        for first, last in self.around:
            if inside := [(fit, one) for fit, one in fits if first <= one.index <= last]:
                return inside
        return []

    def _steps_to(self, element: Element, where: str) -> int:
        """How many controls lie between, -1 if it stands on the wrong side or too far away."""
        steps = element.index - self.after
        if where in _BEFORE:
            steps = -steps - 1
        elif where in _EITHER and steps < 0:
            steps = -steps
        return steps if steps <= MOST_BETWEEN else -1


def find_landmarks(name: str, page: PageCapture) -> list[Landmark]:
    """Return the landmarks of this name, the likeliest first: what has exactly this name, a control before a text."""
    wanted = plain(name)
    fits = [
        (max((name_fit(wanted, one) for one in names_of(element)), default=0.0), element)
        for element in page.elements
    ]
    best, control = max(fits, key=lambda pair: pair[0], default=(0.0, None))
    text_fit, text = _text_landmark(wanted, page.tree)
    found: list[tuple[float, Landmark]] = []
    if control is not None and best >= LEAST_FIT:
        found.append((best, Landmark(control)))
    if text is not None and text_fit >= LEAST_FIT:
        found.append((text_fit, text))
    found.sort(key=lambda pair: pair[0] < 1.0)
    if len(found) == 2 and found[0][0] < 1.0 and text_fit >= best:
        found.reverse()
    if not found and (groups := _groups(wanted, page.tree)):
        return [Landmark(around=groups, is_group=True)]
    return [landmark for _, landmark in found]


def labelled_controls(name: str, page: PageCapture) -> tuple[int, int]:
    """Numbers (first, behind the last) of the controls that a text of this name is the label of: the next two."""
    fit, text = _text_landmark(plain(name), page.tree)
    return (text.after, text.after + 2) if text is not None and fit == 1.0 else (0, 0)


@dataclass(frozen=True, slots=True)
class _Text:
    name: str
    landmark: Landmark


def _text_landmark(wanted: str, tree: str) -> tuple[float, Landmark | None]:
    fits = [(name_fit(wanted, text.name), text.landmark) for text in _texts(tree)]
    return max(fits, key=lambda pair: pair[0], default=(0.0, None))


def _groups(role: str, tree: str) -> tuple[tuple[int, int], ...]:
    """The numbers of the controls in each group of this role."""
    if role not in _GROUPS:
        return ()
    nodes = parse_tree(tree)
    before, ends = _counts(nodes), _ends([node.depth for node in nodes])
    return tuple(
        (before[at], before[ends[at]] - 1) for at, node in enumerate(nodes) if node.role.casefold() == role
    )


def _counts(nodes: Sequence[AxNode]) -> list[int]:
    """For each node, and behind the last, how many controls stand before it."""
    before, count = list[int](), 0
    for node in nodes:
        before.append(count)
        if node.bid.isdigit():
            count = int(node.bid) + 1
    return [*before, count]


@lru_cache(maxsize=4)
def _texts(tree: str) -> tuple[_Text, ...]:
    """Every text of a tree that is no control, with its place among the controls."""
    nodes = parse_tree(tree)
    before = _counts(nodes)
    ends = _ends([node.depth for node in nodes])
    texts: list[_Text] = []
    open_groups: list[int] = []
    for at, node in enumerate(nodes):
        while open_groups and ends[open_groups[-1]] <= at:
            open_groups.pop()
        if node.name and not node.bid and at:
            around = tuple((before[group], before[ends[group]] - 1) for group in reversed(open_groups))
            texts.append(_Text(plain(node.name), Landmark(None, before[ends[at]], around)))
        if node.role.casefold() in _GROUPS:
            open_groups.append(at)
    return tuple(texts)


def _ends(depths: Sequence[int]) -> list[int]:
    """For each node the place behind its last descendant."""
    ends, waiting = [len(depths)] * len(depths), list[int]()
    for at, depth in enumerate(depths):
        while waiting and depths[waiting[-1]] >= depth:
            ends[waiting.pop()] = at
        waiting.append(at)
    return ends


# beside a control


def _beside_control(fits: Sequence[tuple[float, Element]], near: Element, where: str) -> Fits:
    others = [(fit, one) for fit, one in fits if one.index != near.index]
    if where == "in":
        return [(fit, one) for fit, one in others if _same_row(one, near)]
    if where in _EITHER and near.repeat and (in_row := [pair for pair in others if _same_row(pair[1], near)]):
        return in_row
    measured = [
        (distance, fit, one)
        for fit, one in others
        if (distance := _distance(one.rect, near.rect, where)) is not None
        and (fit > LOOKS or distance <= FARTHEST_BY_LOOKS)
    ]
    if measured:
        closest = min(distance - 60 * fit for distance, fit, _ in measured)
        return [(fit, one) for distance, fit, one in measured if distance - 60 * fit <= closest + 1]
    after = [(fit, one) for fit, one in others if 0 < one.index - near.index <= 3 and near.rect is None]
    return after[:1]


def _same_row(element: Element, near: Element) -> bool:
    if near.repeat and element.repeat:
        return (near.repeat, near.repeat_index, near.frame) == (
            element.repeat,
            element.repeat_index,
            element.frame,
        )
    if element.rect is None or near.rect is None:
        return False
    top, bottom = near.rect[1], near.rect[1] + near.rect[3]
    middle = element.rect[1] + element.rect[3] / 2
    return top - 6 <= middle <= bottom + 6


def _distance(rect: Rect | None, near: Rect | None, where: str) -> float | None:
    """Pixels between two boxes if the first is on the named side of the second, else None."""
    if rect is None or near is None:
        return None
    left, top, right, bottom = near[0], near[1], near[0] + near[2], near[1] + near[3]
    across = max(rect[0] - right, left - (rect[0] + rect[2]), 0.0)
    down = max(rect[1] - bottom, top - (rect[1] + rect[3]), 0.0)
    sides = {
        "right of": rect[0] + rect[2] / 2 >= right - 2 and down < max(near[3], 12),
        "left of": rect[0] + rect[2] / 2 <= left + 2 and down < max(near[3], 12),
        "below": rect[1] + rect[3] / 2 >= bottom - 2,
        "under": rect[1] + rect[3] / 2 >= bottom - 2,
        "above": rect[1] + rect[3] / 2 <= top + 2,
    }
    distance = (across**2 + down**2) ** 0.5
    return distance if sides.get(where, True) and distance <= FARTHEST else None
