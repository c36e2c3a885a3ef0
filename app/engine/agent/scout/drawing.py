"""What has to be done at points: the middle between two things, a line through one, a corner that is pulled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.appearance import shapes_of
from app.engine.agent.scout.grounding import words
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.skill import LIKELY, PLAUSIBLE, Proposal, View
from app.engine.core.actions.types import ClickAt, Drag
from app.engine.core.page_state import Element

_MIDDLE = re.compile(r"\bmid-?\s?(?:point|way)\b|\bmiddle\b", re.IGNORECASE)
_GRIP = 4.0
"""Pixels from the corner at which a text area is pulled."""
_PULL = 30.0
_MARGIN = 4.0


class AtPoints:
    """Click, draw or pull where no element stands for the place."""

    name = "point"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One deed with the pointer."""
        clause = view.clause
        if clause is None:
            return ()
        if clause.verb is Verb.RESIZE:
            return [*_pull(view, clause)]
        if clause.verb is Verb.CLICK and _MIDDLE.search(clause.text):
            return [*_between(view)]
        return [*_line(view, clause)] if clause.verb is Verb.DRAW and "line" in words(clause.text) else ()


def middle_of(element: Element) -> tuple[float, float]:
    """The middle of an element in the viewport."""
    left, top, width, height = element.rect or (0.0, 0.0, 0.0, 0.0)
    return left + width / 2, top + height / 2


def _between(view: View) -> Iterator[Proposal]:
    things = [e for e in shapes_of(view) if e.rect]
    if len(things) == 2:
        (x, y), (other_x, other_y) = (middle_of(thing) for thing in things)
        yield Proposal(
            command=ClickAt(((x + other_x) / 2, (y + other_y) / 2)),
            score=LIKELY,
            reason="it is the middle between the two",
            marks=(view.closes(), "did:point"),
        )


def _line(view: View, clause: Clause) -> Iterator[Proposal]:
    """A straight line through the one thing that is drawn, from edge to edge of the drawing."""
    things = [e for e in shapes_of(view) if e.rect]
    board = max(
        (e.rect for e in view.shown if e.tag in ("svg", "canvas") and e.rect),
        key=lambda r: r[2] * r[3],
        default=None,
    )
    if len(things) != 1 or board is None:
        return
    x, y = middle_of(things[0])
    left, top, width, height = board
    if "vertical" in words(clause.text):
        ends = (x, top + _MARGIN), (x, top + height - _MARGIN)
    elif "horizontal" in words(clause.text):
        ends = (left + _MARGIN, y), (left + width - _MARGIN, y)
    else:
        return
    yield Proposal(
        command=Drag(*ends),
        score=LIKELY,
        reason="the line goes through it",
        marks=(view.closes(), "did:draw"),
    )


def _pull(view: View, clause: Clause) -> Iterator[Proposal]:
    said = words(clause.text)
    sign = -1 if {"smaller", "narrower", "shorter", "lower"} & set(said) else 1
    areas = [e for e in view.shown if e.tag == "textarea" and e.rect]
    for area in areas[:1]:
        left, top, width, height = area.rect or (0.0, 0.0, 0.0, 0.0)
        corner = (left + width - _GRIP, top + height - _GRIP)
        across = _PULL * sign if "width" in said or "height" not in said else 0.0
        down = _PULL * sign if "height" in said or "width" not in said else 0.0
        yield Proposal(
            command=Drag(corner, (corner[0] + across, corner[1] + down)),
            score=PLAUSIBLE,
            reason="its corner is pulled",
            marks=(view.closes(), "did:resize"),
        )
