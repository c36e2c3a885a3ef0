"""The query a step puts to the knowledge base: the task, the subgoal in hand, the page in front, the last failure."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.core.ledger import Ledger
from app.engine.core.observation import HistoryEntry
from app.engine.core.page_state import Element, PageCapture
from kb.tip import Query

MOST_CONTROLS, MOST_HEADINGS, LONGEST_NAME, LONGEST_FAILURE = 120, 12, 80, 300


def step_query(page: PageCapture, intent: str, ledger: Ledger, history: Sequence[HistoryEntry]) -> Query:
    """Return the query of a step.

    Controls are those in view, each with its role and name.  An element about to be used is known only where the last
    action on this page failed: it is then the one that action was about.
    """
    last = history[-1] if history else None
    failed = last is not None and not last.result.success
    return Query(
        url=page.url,
        text=intent,
        subgoal=ledger.subgoal if ledger.subgoal != intent else "",
        title=page.title[:LONGEST_NAME],
        headings=tuple(heading[:LONGEST_NAME] for heading in page.headings[:MOST_HEADINGS]),
        controls=_controls(page),
        element=_target(page, last) if failed and last is not None and last.url == page.url else "",
        failure=f"{last.words}: {last.result.why}"[:LONGEST_FAILURE] if failed and last is not None else "",
    )


def _controls(page: PageCapture) -> tuple[str, ...]:
    """The distinct controls in view by role and name, in document order."""
    seen = (_named(element) for element in page.elements if element.name and _in_view(element, page))
    return tuple(dict.fromkeys(seen))[:MOST_CONTROLS]


def _in_view(element: Element, page: PageCapture) -> bool:
    if not element.visible:
        return False
    (width, height) = page.viewport
    if element.rect is None or not height:
        return True
    left, top, wide, high = element.rect
    return top < height and top + high > 0 and left < width and left + wide > 0


def _target(page: PageCapture, entry: HistoryEntry) -> str:
    """The element an action was about, if the page still has one of that number; "" for others."""
    number = getattr(entry.action, "element", None)
    found = (element for element in page.elements if isinstance(number, int) and element.index == number)
    return next((_named(element) for element in found if element.name and element.name in entry.words), "")


def _named(element: Element) -> str:
    return f"{element.role} {element.name[:LONGEST_NAME]}"
