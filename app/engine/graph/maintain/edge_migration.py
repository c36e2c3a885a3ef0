"""Moves transitions to the new states of changed pages.  Pure.

A state is named by its structure, so a page that gained one link is a new state that replaces the old one.  What was
known of the old state's elements holds for those that are still found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace

from app.engine.browser.locators import resolve
from app.engine.core.identity import normal_name, transition_id, url_key
from app.engine.core.page_state import PageCapture, PageState
from app.engine.core.transition import Operation, Transition


def is_link(transition: Transition, target: PageState) -> bool:
    """Whether the transition only opens an address: if the page has the link, it leads there."""
    if transition.operation is Operation.OPEN:
        return True
    locator = transition.locator
    return locator is not None and bool(locator.href) and locator.href == target.keys.url


def transition_kind(transition: Transition) -> tuple[object, ...]:
    """Key equal for transitions that do the same to the same kind of control, on whatever page."""
    locator = transition.locator
    if locator is None:
        return (transition.id,)
    told = (locator.role, normal_name(locator.name), locator.landmarks, locator.test_id, locator.frame)
    return (*told, locator.attributes if not locator.name else (), transition.operation, transition.value)


@dataclass(slots=True)
class EdgeMigration:
    """New transitions that replace old ones, and transitions gone with their page or element.

    ``made`` are (old, new); ``gone`` are ids.
    """

    made: list[tuple[Transition, Transition]] = field(default_factory=list[tuple[Transition, Transition]])
    gone: set[str] = field(default_factory=set[str])


def migrate_edges(
    transitions: Iterable[Transition],
    replaced: Mapping[str, str],
    looks: Mapping[str, PageCapture],
    gone: Set[str],
) -> EdgeMigration:
    """Move transitions from and to replaced states.

    Args:
        transitions: those in force.
        replaced: new state by the old one it replaces.
        looks: captures of the new states, and of those whose elements changed, by id.
        gone: removed states without a replacement.
    """
    moves = EdgeMigration()
    for found in transitions:
        source, target = replaced.get(found.source, found.source), replaced.get(found.target, found.target)
        if found.source in gone or found.target in gone:
            moves.gone.add(found.id)
        elif (source, target) != (found.source, found.target):
            moves.gone.add(found.id)
            if source not in looks or _is_on(found, looks[source]):
                moves.made.append((found, migrated(found, source, target)))
        elif source in looks and not _is_on(found, looks[source]):
            moves.gone.add(found.id)
    return moves


def migrated(found: Transition, source: str, target: str) -> Transition:
    """Return the same transition between other states, with its evidence."""
    name = transition_id(source, found.operation, found.value, found.locator, target)
    return replace(found, id=name, source=source, target=target, gone_at=0.0)


def unreachable(states: Iterable[str], roots: Iterable[str], in_force: Iterable[Transition]) -> set[str]:
    """Return states that nothing leads to any more.

    Args:
        states: ids of all states in force.
        roots: those whose address leads to them.
        in_force: transitions in force.
    """
    leads: dict[str, list[str]] = {}
    for found in in_force:
        leads.setdefault(found.source, []).append(found.target)
    known = set(states)
    waiting = [name for name in roots if name in known]
    reached = set(waiting)
    while waiting:
        for target in leads.get(waiting.pop(), ()):
            if target in known and target not in reached:
                reached.add(target)
                waiting.append(target)
    return known - reached


def _is_on(found: Transition, page: PageCapture) -> bool:
    if found.locator is None:
        return found.operation is Operation.OPEN
    here = resolve(found.locator, page).element
    if here is None:
        return False
    return not found.locator.href or url_key(here.href, page.url) == found.locator.href
