"""Drags: to a place in a list or a grid, into order, in a direction, into something else; sets sliders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.appearance import looks_of, things_told
from app.engine.agent.scout.grounding import best, marks_of, nth, plain, words
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.skill import CERTAIN, LIKELY, PLAUSIBLE, Proposal, View, key_of
from app.engine.core.actions.types import Drag, SetSlider, TypeText
from app.engine.core.page_state import Element, Rect

_ORDER = re.compile(r"\b(ascending|increasing|descending|decreasing|alphabetical)\b", re.IGNORECASE)
_WAYS = {
    "left": (-1, 0),
    "right": (1, 0),
    "up": (0, -1),
    "down": (0, 1),
    "upwards": (0, -1),
    "downwards": (0, 1),
}
_ACROSS, _DOWN = {"left": 0.0, "center": 0.5, "centre": 0.5, "middle": 0.5, "right": 1.0}, {
    "top": 0.0, "upper": 0.0, "middle": 0.5, "center": 0.5, "centre": 0.5, "bottom": 1.0, "lower": 1.0,
}  # fmt: skip
_ELSE = re.compile(r",?\s+and\s+(?:everything\s+else|all\s+others?|the\s+(?:rest|others?))\b", re.IGNORECASE)
_FAR = 60.0
_PAST = 0.2
"""Share of its size that the pointer goes past the middle of what makes room."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")


class DragThings:
    """Drag what the clause names to where it says."""

    name = "drag"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One drag."""
        clause = view.clause
        if clause is None:
            return ()
        order = _ORDER.search(clause.text)
        if order and (clause.verb in (Verb.SORT, Verb.DRAG)):
            return [*_sort(view, order[1].lower())]
        if clause.verb is not Verb.DRAG:
            return ()
        return (
            [*_apart(view, clause)]
            or [*_into(view, clause)]
            or [*_to_place(view, clause)]
            or [*_one_way(view, clause)]
        )


class Sliders:
    """Bring sliders and spinners to the values the clause tells."""

    name = "slider"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One slider; the n-th number told is for the n-th slider."""
        clause = view.clause
        if clause is None or not ({"slider", "spinner"} & set(clause.kinds)):
            return ()
        numbers = _NUMBER.findall(clause.text.replace("−", "-"))
        if "spinner" in clause.kinds:
            return [*_spin(view, numbers)]
        sliders = sliders_of(view)
        for place, (slider, number) in enumerate(zip(sliders, numbers, strict=False)):
            mark = f"slid:{view.number}:{place}"
            if mark in view.memory.marks:
                continue
            last = place == min(len(sliders), len(numbers)) - 1
            return [
                Proposal(
                    command=SetSlider(slider.index, float(number)),
                    score=CERTAIN,
                    reason=f"the task wants it at {number}",
                    marks=(mark, "did:slider", *((view.closes(),) if last else ())),
                )
            ]
        return ()


def sliders_of(view: View) -> list[Element]:
    """Sliders of any make: by role, else the handles that are called so."""
    told = [element for element in view.shown if element.role == "slider"]
    if told:
        return told
    return [
        e
        for e in view.shown
        if "slider" in (said := {w for m in marks_of(e) for w in words(m)}) and "handle" in said
    ]


def _spin(view: View, numbers: Sequence[str]) -> Iterator[Proposal]:
    spinners = [element for element in view.shown if element.role == "spinbutton"]
    for spinner, number in zip(spinners[:1], numbers, strict=False):
        yield Proposal(
            command=TypeText(spinner.index, number),
            score=CERTAIN,
            reason=f"the task wants it at {number}",
            marks=(view.closes(), "typed:spinner"),
        )


def draggable(view: View) -> list[Element]:
    """What can be dragged: what is pressed or called so, else items of lists."""
    shown = [element for element in view.shown if element.rect is not None and element.role != "button"]
    called = [
        e for e in shown if any({"draggable", "sortable", "handle"} & set(words(m)) for m in marks_of(e))
    ]
    return (
        called
        or [e for e in shown if "press" in e.hears]
        or [e for e in shown if e.role in ("listitem", "image", "option")]
    )


def _sort(view: View, how: str) -> Iterator[Proposal]:
    items = [e for e in draggable(view) if e.name]
    by_letters = how == "alphabetical"
    if not by_letters:
        items = [e for e in items if re.fullmatch(r"-?\d+(?:\.\d+)?", plain(e.name))]
    down = how in ("descending", "decreasing")
    wanted = sorted(items, key=lambda e: plain(e.name) if by_letters else float(plain(e.name)), reverse=down)
    for here, should in zip(items, wanted, strict=True):
        if here.name != should.name:
            yield Proposal(
                command=Drag(should.index, here.index),
                score=LIKELY,
                reason=f"'{should.name}' comes before '{here.name}'",
                key=f"sort:{should.name}:{here.name}:{len(view.sight.history) // 12}",
            )
            return
    if len(items) > 1:
        yield Proposal(score=LIKELY, reason="it is in order", marks=(view.closes(), "did:sort"))


def _to_place(view: View, clause: Clause) -> Iterator[Proposal]:
    items = draggable(view)
    source = next(
        (f for name in (*clause.targets, *words(clause.text)) if (f := best(name, items, least=0.9))), None
    )
    source = source or next(
        (e for e in items if e.name and re.search(rf"\b{re.escape(e.name)}\b", clause.text)), None
    )
    if source is None:
        return
    target = nth(items, clause.ordinal) if clause.ordinal else _in_grid(items, source, clause)
    if target is not None and target is not source:
        yield Proposal(
            command=Drag(source.index, _beyond(source, target)),
            score=CERTAIN,
            reason=f"'{source.name}' goes where '{target.name}' is",
            marks=(view.closes(), "did:drag"),
        )


def _beyond(source: Element, target: Element) -> int | tuple[float, float]:
    """A point past the target's middle, as seen from the source: from there on lists make room behind it."""
    if source.rect is None or target.rect is None:
        return target.index
    x, y = _middle(target)
    across, down = target.rect[0] - source.rect[0], target.rect[1] - source.rect[1]
    step_x = _PAST * target.rect[2] * (across > 1) - _PAST * target.rect[2] * (across < -1)
    step_y = _PAST * target.rect[3] * (down > 1) - _PAST * target.rect[3] * (down < -1)
    return x + step_x, y + step_y


def _in_grid(items: Sequence[Element], source: Element, clause: Clause) -> Element | None:
    boxes = {item.index: item.rect for item in items if item.rect is not None}
    if source.rect is None or len(boxes) < 2:
        return None
    said = words(clause.text)
    if "by" in said:
        way = next((_WAYS[word] for word in said if word in _WAYS), None)
        steps = int(clause.numbers[0]) if clause.numbers else 1
        if way is None:
            return None
        at = (
            source.rect[0] + way[0] * source.rect[2] * 1.1 * steps,
            source.rect[1] + way[1] * source.rect[3] * 1.1 * steps,
        )
    else:
        lefts, tops = [box[0] for box in boxes.values()], [box[1] for box in boxes.values()]
        rest = said[said.index("to") :] if "to" in said else said
        across = next((_ACROSS[w] for w in reversed(rest) if w in _ACROSS), 0.5)
        down = next((_DOWN[w] for w in rest if w in _DOWN), 0.5)
        at = (min(lefts) + across * (max(lefts) - min(lefts)), min(tops) + down * (max(tops) - min(tops)))
    return min(items, key=lambda e: _distance(boxes.get(e.index), at))


def _distance(box: Rect | None, at: tuple[float, float]) -> float:
    return abs(box[0] - at[0]) + abs(box[1] - at[1]) if box else 1e9


def _one_way(view: View, clause: Clause) -> Iterator[Proposal]:
    way = next((_WAYS[word] for word in words(clause.text) if word in _WAYS), None)
    if way is None:
        return
    things = draggable(view) or [e for e in view.shown if looks_of(e) and e.rect]
    named = things_told(clause.text, things) or things
    for thing in named[:1]:
        if thing.rect is None:
            continue
        x, y = _middle(thing)
        width, height = view.page.viewport
        end = (min(max(x + way[0] * _FAR, 2.0), width - 2.0), min(max(y + way[1] * _FAR, 2.0), height - 2.0))
        yield Proposal(
            command=Drag((x, y), end),
            score=LIKELY,
            reason="the task tells the direction",
            marks=(view.closes(), "did:drag"),
        )


def _into(view: View, clause: Clause) -> Iterator[Proposal]:
    """``drag all circles into the black box``, ``the smaller box inside the larger``."""
    parts = re.split(r"\b(?:completely\s+)?(?:inside|into|onto|in|to)\s+the\b", clause.text, maxsplit=1)
    if len(parts) < 2:
        return
    things = [e for e in view.shown if e.rect is not None and e.role != "button" and e.tag != "svg"]
    places = [e for e in things_told(parts[1], things) if e.rect]
    target = max(places, key=_area, default=None)
    if target is None or target.rect is None:
        return
    movable = [e for e in things if e is not target and _area(e) < _area(target)]
    told = things_told(parts[0], movable)
    inside = _contained if "completely" in clause.text else _within
    left = [e for e in told if not inside(e, target)]
    if not left and (told or clause.many):
        yield Proposal(score=PLAUSIBLE, reason="it is in there already", marks=(view.closes(), "did:drag"))
    several = clause.many
    for source in left[:1]:
        if source.rect is None:
            continue
        x, y = target.rect[0] + target.rect[2] / 2, target.rect[1] + target.rect[3] / 2
        from_x, from_y = source.rect[0] + source.rect[2] / 2, source.rect[1] + source.rect[3] / 2
        last = not several or len(left) == 1
        yield Proposal(
            command=Drag((from_x, from_y), (x, y)),
            score=PLAUSIBLE,
            reason="the task wants it in there",
            key=f"into:{key_of(source)}",
            marks=("did:drag", *((view.closes(),) if last else ())),
        )


def _apart(view: View, clause: Clause) -> Iterator[Proposal]:
    """``all circles into the left box, and everything else into the right box``."""
    parts = _ELSE.split(clause.text, maxsplit=1)
    if len(parts) < 2:
        return
    things = [e for e in view.shown if e.rect is not None and looks_of(e) and e.tag not in ("svg", "line")]
    largest = max((_area(e) for e in things), default=0.0)
    boxes = sorted((e for e in things if _area(e) > 0.6 * largest), key=lambda e: (e.rect or (0, 0))[0])
    small = [e for e in things if e not in boxes]
    told = things_told(re.split(r"\binto\b", parts[0])[0], small)
    if len(boxes) != 2:
        return
    first = 0 if "left" in words(parts[0]) or "right" in words(parts[1]) else 1
    pairs = [(e, boxes[first] if e in told else boxes[1 - first]) for e in small]
    left = [(e, box) for e, box in pairs if not _within(e, box)]
    for thing, box in left[:1]:
        yield Proposal(
            command=Drag(_middle(thing), _middle(box)),
            score=LIKELY,
            reason="the task wants it in there",
            key=f"into:{key_of(thing)}",
            marks=("did:drag", *((view.closes(),) if len(left) == 1 else ())),
        )


def _middle(element: Element) -> tuple[float, float]:
    left, top, width, height = element.rect or (0.0, 0.0, 0.0, 0.0)
    return left + width / 2, top + height / 2


def _area(element: Element) -> float:
    return element.rect[2] * element.rect[3] if element.rect else 0.0


def _contained(one: Element, other: Element) -> bool:
    if one.rect is None or other.rect is None:
        return False
    (x, y, width, height), (left, top, across, down) = one.rect, other.rect
    return left <= x and top <= y and x + width <= left + across and y + height <= top + down


def _within(one: Element, other: Element) -> bool:
    if one.rect is None or other.rect is None:
        return False
    x, y = one.rect[0] + one.rect[2] / 2, one.rect[1] + one.rect[3] / 2
    return (
        other.rect[0] <= x <= other.rect[0] + other.rect[2]
        and other.rect[1] <= y <= other.rect[1] + other.rect[3]
    )
