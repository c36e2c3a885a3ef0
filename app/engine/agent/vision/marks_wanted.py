"""Whether a step wants marks: a vision model's boxes beside the element numbers of the tree.

An agent that acts by element number needs none, so no look is paid for (SuperBrowser, section 4.5: procedural and
declarative paths).  They are wanted where numbers do not reach: on a drawn page, on one with hardly any element, when
the agent asks for them, after an action by number that failed, and after one by mark.  Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from app.engine.core.actions.types import ClickMark, Look, TypeMark, elements_of
from app.engine.core.observation import HistoryEntry, Observation
from app.engine.core.page_state import PageCapture
from app.engine.core.rectangles import overlap

MarksMode = Literal["auto", "always"]
FEW_ELEMENTS = 3
"""Elements in view below which a page has hardly anything to name."""
MAX_LABELS, LONGEST_LABEL, SHORTEST_NAME = 8, 60, 4
_QUOTED = re.compile(r"\"([^\"\n]{1,60})\"|“([^”\n]{1,60})”|(?<!\w)'([^'\n]{1,60})'(?!\w)")


def marks_wanted(page: PageCapture, last: HistoryEntry | None, mode: MarksMode = "auto") -> bool:
    """Whether to look at a page for marks, after the agent's last action (``None`` for the first step)."""
    if mode == "always" or page.canvas_only or _elements_in_view(page) < FEW_ELEMENTS:
        return True
    if last is None:
        return False
    if isinstance(last.action, Look | ClickMark | TypeMark):
        return True
    return bool(elements_of(last.action)) and not last.result.success


def expected_labels(observation: Observation, hints: Iterable[str] = ()) -> tuple[str, ...]:
    """Return labels to find on the page: quoted in the next steps of planner and tips, or names in the subgoal."""
    lines = [
        *hints,
        observation.ledger.subgoal,
        *(state.line for state in observation.procedures if state.applies and not state.over),
    ]
    quoted = [
        found for line in lines for match in _QUOTED.finditer(line) for found in match.groups() if found
    ]
    low = " ".join(lines).casefold()
    named = [
        name
        for element in observation.page.elements
        if SHORTEST_NAME <= len(name := element.name.strip()) <= LONGEST_LABEL
        and re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", low)
    ]
    return tuple(dict.fromkeys(label.strip() for label in (*quoted, *named) if label.strip()))[:MAX_LABELS]


def _elements_in_view(page: PageCapture) -> int:
    view = (0.0, 0.0, float(page.viewport[0]), float(page.viewport[1]))
    return sum(
        element.visible and element.rect is not None and overlap(element.rect, view) is not None
        for element in page.elements
    )
