"""The interaction graph while it is being built: what is known so far, and the shortest path to a state."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.engine.core.identity import url_key
from app.engine.core.page_state import PageState
from app.engine.core.transition import Attempt, FrontierItem, FrontierStatus, Locator, Operation, Transition

_FAILED_LEG = 3.0
"""Cost added for each failure of a transition, in steps."""


@dataclass(frozen=True, slots=True)
class EntryPath:
    """A path to a state: a page that opens by its address, and the transitions from there."""

    start: PageState
    transitions: tuple[Transition, ...]


class ExplorationGraph:
    """States and transitions by id, and the state each was found from.

    Attributes:
        landing: page state that an address leads to, by the address's key.
    """

    def __init__(self, home: str = "") -> None:
        self.home = home
        self.states: dict[str, PageState] = {}
        self.transitions: dict[str, Transition] = {}
        self.landing: dict[str, str] = {}
        self._into: dict[str, list[str]] = {}
        self._at: dict[str, list[str]] = {}
        self._found: dict[str, tuple[int, str]] = {}

    def put(self, state: PageState) -> None:
        """Add a state or update what is known of it."""
        if state.id not in self.states:
            self._at.setdefault(state.keys.url, []).append(state.id)
        self.states[state.id] = state

    def at(self, url_key: str) -> list[PageState]:
        """The known states of one address."""
        return [self.states[page] for page in self._at.get(url_key, ())]

    def found(self, page: str, order: int, source: str) -> None:
        """Note that trying an item reached a state; the state counts as found by its first item in order.

        Not the first in time: that would depend on how fast pages respond.
        """
        now = (order, source)
        if page != source and now < self._found.get(page, (order + 1, "")):
            self._found[page] = now

    def order_of(self, page: str) -> int:
        """Number of the item a state was found by; 0 for the first page."""
        return self._found.get(page, (0, ""))[0]

    def ancestors(self, page: str) -> list[str]:
        """The states back to the first page, nearest first."""
        line: list[str] = []
        while (parent := self._found.get(page, (0, ""))[1]) and parent not in line:
            line.append(parent)
            page = parent
        return line

    def level(self, depth: int) -> list[PageState]:
        """States of a depth, in the order in which they were found."""
        states = [state for state in self.states.values() if state.depth == depth]
        return sorted(states, key=lambda state: (self.order_of(state.id), state.id))

    def opens_by_address(self, state: PageState) -> bool:
        """Whether a state has an address of its own; if never tried, as far as is known."""
        if state.direct is None:
            return self.landing.get(state.keys.url, state.id) == state.id
        return state.direct

    def leads(self, source: str, target: str) -> bool:
        """Whether a transition from one state to the other is known."""
        return any(self.transitions[name].source == source for name in self._into.get(target, ()))

    def add(self, transition: Transition, attempt: Attempt | None = None) -> None:
        """Add a transition, or the result of trying it once more."""
        known = self.transitions.get(transition.id)
        if known is None:
            known = replace(transition, attempts=0, successes=0)
            self._into.setdefault(transition.target, []).append(transition.id)
        if attempt is not None:
            ok = attempt.arrival.ok
            known = replace(known, attempts=known.attempts + 1, successes=known.successes + ok)
        self.transitions[transition.id] = known

    def restore(self, states: Iterable[PageState], transitions: Iterable[Transition]) -> None:
        """Load stored states and transitions."""
        for state in states:
            self.put(state)
        for transition in transitions:
            self.transitions[transition.id] = transition
            self._into.setdefault(transition.target, []).append(transition.id)

    def restore_order(self, items: Iterable[FrontierItem]) -> None:
        """Restore which item and address led to which state, from the tried items."""
        targets: dict[tuple[str, Operation, str, Locator | None], list[str]] = {}
        for one in self.transitions.values():
            targets.setdefault((one.source, one.operation, one.value, one.locator), []).append(one.target)
        for item in items:
            if item.status is FrontierStatus.TRIED:
                for target in targets.get((item.page, item.operation, value_of(item), item.locator), ()):
                    self.found(target, item.order, item.page)
                    if item.value and item.operation is not Operation.SELECT:
                        self.landing[url_key(item.value, self.home)] = target

    def route(self, page: str) -> EntryPath | None:
        """The cheapest known path to a state: from any page that opens by its address, over transitions that
        worked.
        """
        queue: list[tuple[float, str, tuple[str, ...]]] = [(0.0, page, ())]
        done: set[str] = set()
        while queue:
            cost, here, path = heapq.heappop(queue)
            if here in done:
                continue
            done.add(here)
            state = self.states.get(here)
            if state is not None and state.direct:
                return EntryPath(state, tuple(self.transitions[step] for step in path))
            for name in self._into.get(here, ()):
                step = self.transitions[name]
                if step.successes and step.source not in done and step.operation is not Operation.OPEN:
                    failures = step.attempts - step.successes
                    heapq.heappush(queue, (cost + 1 + _FAILED_LEG * failures, step.source, (name, *path)))
        return None


def value_of(item: FrontierItem) -> str:
    """The value of the transition an item becomes: a followed link's address is already in its locator."""
    return "" if item.operation is Operation.CLICK else item.value
