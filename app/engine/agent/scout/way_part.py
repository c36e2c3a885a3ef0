"""A part that wants a page in front: go on while something promises more, stop where nothing does.

Two wishes come once the page is there: its rows in an order, and the page that it links to as ``another issue``.
"""

from __future__ import annotations

from app.engine.agent.scout.filters import filter_steps
from app.engine.agent.scout.likeness import word_fit, words
from app.engine.agent.scout.memory import ScoutStep
from app.engine.agent.scout.navigation import LEAST_FIT, arrived, is_harmless, name_of
from app.engine.agent.scout.ordering import is_met, offered_ordering, ordering_in_address, read_ordering
from app.engine.agent.scout.page_context import is_aside, page_key
from app.engine.agent.scout.part_view import GiveUp, PartDone, PartView
from app.engine.agent.scout.terms import uncovered
from app.engine.core.actions.types import Click, Goto

_MARGIN = 0.03
"""What another page must promise more than the one in front shows."""
_LEAST_PROMISE = 0.12
FULL = 0.95
"""Score from which on no filter is needed."""
_LEAST_LIKE = 0.9
_OTHER = frozenset({"other", "another"})


def way_step(view: PartView) -> ScoutStep | PartDone | GiveUp:
    """Return the next step of a way, or its end."""
    finder, memory = view.finder, view.memory
    if "linked" in memory.marks:
        return PartDone(evidence="it is the page that the named one links to")
    evidence = arrived(finder)
    if (linked := _linked_step(view)) is not None:
        return linked
    if not evidence or finder.fit < FULL:
        for step in filter_steps(view):
            return step
    floor = finder.fit + _MARGIN if evidence else _LEAST_PROMISE
    step = finder.best(floor, within=bool(evidence))
    if step is not None:
        return step
    if evidence:
        return _ordered_step(view) or PartDone(evidence=evidence)
    best = memory.best_page()
    if best and page_key(best) != view.context.key and memory.fits[page_key(best)] >= LEAST_FIT:
        return ScoutStep(action=Goto(best), reason="that page fitted best", key=f"back:{page_key(best)}")
    return GiveUp(needs=missing_page(view))


def _ordered_step(view: PartView) -> ScoutStep | None:
    """Return the step that puts the rows into the order the task asks for."""
    wanted, here = read_ordering(view.part.text), ordering_in_address(view.context.page.url)
    if wanted is None or (here is not None and is_met(wanted, here)):
        return None
    for one in view.context.links:
        offered = offered_ordering(name_of(one), one.href)
        step = ScoutStep(
            action=Click(one.index, label=one.name) if one in view.context.shown else Goto(one.href),
            reason=f"orders the list by {' '.join(wanted.column) or wanted.said}",
            key=f"order:{wanted.said}",
        )
        if offered is not None and is_met(wanted, offered) and is_harmless(step.action, view.observation):
            return None if view.memory.worn_out(step) else step
    return None


def _linked_step(view: PartView) -> ScoutStep | None:
    """Return the step from the page of a named thing to ``the other one`` that a value of it links to."""
    asks_for_other = view.part.names and _OTHER & set(view.part.words)
    if not asks_for_other or not any(view.context.is_about(name.text) for name in view.part.names):
        return None
    said = set(view.part.words) - {word for name in view.part.names for word in words(name.text)} - _OTHER
    values = [
        set(words(one.value))
        for one in view.context.relations.labelled
        if any(word_fit(word, told) >= _LEAST_LIKE for word in said for told in words(one.label))
    ]
    for one in view.context.links:
        mine = set(words(one.name)) - {"list"}
        if mine and not is_aside(one) and any(mine <= value for value in values):
            return ScoutStep(
                action=Click(one.index, label=one.name),
                reason=f'"{one.name}" is the other one',
                key=f"linked:{one.href}",
                marks=("linked",),
            )
    return None


def missing_page(view: PartView) -> str:
    """Return what was looked for and where the search ended."""
    title = next((text for text in view.context.subject if text), view.context.path)
    missing = [term.text for term in uncovered(view.finder.terms, view.finder.here, LEAST_FIT)]
    what = ", ".join(f'"{name}"' for name in missing) or f"the page for: {view.part.text}"
    looked = f'{len(view.memory.fits)} pages were looked at, the last is "{title}"'
    return f"found no link, menu or search result that leads to {what}; {looked}"
