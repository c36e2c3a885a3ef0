"""A part that wants a page in front: go on while something promises more, stop where nothing does."""

from __future__ import annotations

from app.engine.agent.scout.filters import filter_steps
from app.engine.agent.scout.memory import Step
from app.engine.agent.scout.navigation import LEAST_FIT, arrived
from app.engine.agent.scout.page_context import page_key
from app.engine.agent.scout.part_view import GiveUp, PartDone, PartView
from app.engine.agent.scout.terms import uncovered
from app.engine.core.actions.types import Goto

_MARGIN = 0.03
"""What another page must promise more than the one in front shows."""
_LEAST_PROMISE = 0.12
FULL = 0.95
"""Score from which on no filter is needed."""


def way_step(view: PartView) -> Step | PartDone | GiveUp:
    """Return the next step of a way, or its end."""
    finder, memory = view.finder, view.memory
    evidence = arrived(finder)
    if not evidence or finder.fit < FULL:
        for step in filter_steps(view):
            return step
    floor = finder.fit + _MARGIN if evidence else _LEAST_PROMISE
    step = finder.best(floor, within=bool(evidence))
    if step is not None:
        return step
    if evidence:
        return PartDone(evidence=evidence)
    best = memory.best_page()
    if best and page_key(best) != view.context.key and memory.fits[page_key(best)] >= LEAST_FIT:
        return Step(action=Goto(best), reason="that page fitted best", key=f"back:{page_key(best)}")
    return GiveUp(needs=missing_page(view))


def missing_page(view: PartView) -> str:
    """Return what was looked for and where the search ended."""
    title = next((text for text in view.context.subject if text), view.context.path)
    missing = [term.text for term in uncovered(view.finder.terms, view.finder.here, LEAST_FIT)]
    what = ", ".join(f'"{name}"' for name in missing) or f"the page for: {view.part.text}"
    looked = f'{len(view.memory.fits)} pages were looked at, the last is "{title}"'
    return f"found no link, menu or search result that leads to {what}; {looked}"
