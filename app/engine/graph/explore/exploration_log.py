"""Records what an exploration learns, in the graph in memory and in the store: states, transitions, tried items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.engine.core import identity
from app.engine.core.page_state import Element, PageState
from app.engine.core.transition import (
    Attempt,
    FrontierItem,
    FrontierStatus,
    ReplayVerdictKind,
    SkipReason,
    Transition,
)
from app.engine.graph.captured_states import contents_of, seen_links, state_of
from app.engine.graph.explore.exploration_graph import ExplorationGraph, value_of
from app.engine.graph.explore.exploration_store import ExplorationStore, GraphTransaction, PageContents
from app.engine.graph.explore.frontier import FrontierPlanner, StateContext
from app.engine.graph.explore.pacing import Clock
from app.engine.graph.explore.progress import Progress
from app.engine.graph.explore.visitor import ObservedState, VisitOutcome

CACHED_STATES = 200
"""States whose elements are kept in memory; a page of 500 elements takes about a megabyte."""


class ExplorationLog:
    """Keeps the graph in memory and the stored one in sync; every public call stores at most one transaction.

    Attributes:
        exploration: its number.
    """

    def __init__(
        self,
        graph: ExplorationGraph,
        planner: FrontierPlanner,
        progress: Progress,
        store: ExplorationStore,
        clock: Clock,
    ) -> None:
        self._graph, self._planner, self._progress = graph, planner, progress
        self._store, self._clock = store, clock
        self.exploration = 0
        self._elements: dict[str, tuple[Element, ...]] = {}

    async def first_page(self, observed: ObservedState) -> None:
        """Record that the home page was opened."""
        state, contents = self._observe(observed, depth=0, direct=True)
        self._land(self._graph.home, observed)
        await self._save(states=((state, contents),))

    async def planned(self, items: Iterable[FrontierItem]) -> None:
        """Record the decisions about one depth's elements."""
        await self._save(items=tuple(items))

    async def closed(
        self, item: FrontierItem, source: PageState, outcome: VisitOutcome, address: str
    ) -> None:
        """Record the result of trying an item of a state; ``address`` as in ``Visitor.try_item``."""
        done = closed_item(item, outcome)
        for note in (*outcome.result.notes, *(f"{what} was not submitted" for what in outcome.result.unsent)):
            self._progress.note(f"{source.keys.url}: {note}")
        if done.status is FrontierStatus.TRIED and outcome.observed is not None:
            entry = self._arrived(item, source, outcome, outcome.observed, address)
        else:
            entry = GraphTransaction(at=self._clock.now())
        self._progress.closed(done, len(self._graph.states))
        await self._store.save(replace(entry, exploration=self.exploration, items=(done,)))

    async def failed(self, items: Sequence[FrontierItem]) -> None:
        """Record items that failed."""
        for item in items:
            self._progress.closed(item, len(self._graph.states))
        if items:
            await self._save(items=tuple(items))

    async def on_repeated(self, attempt: Attempt) -> None:
        """Record another use of a known transition."""
        transition = self._graph.transitions[attempt.transition]
        self._graph.add(transition, attempt)
        await self._save(transitions=((transition, attempt),))

    async def on_address_opened(self, state: PageState, observed: ObservedState | None) -> None:
        """Record what a state's address led to when opened for the first time: the state itself or another one."""
        if observed is None:
            return
        now = replace(self._graph.states[state.id], direct=observed.id == state.id)
        self._graph.put(now)
        states: list[tuple[PageState, PageContents | None]] = [(now, None)]
        self._land(state.url, observed)
        if observed.id not in self._graph.states:
            self._graph.found(observed.id, self._graph.order_of(state.id), state.id)
            states.append(self._observe(observed, depth=state.depth + 1, direct=True))
        await self._save(states=tuple(states))

    async def links(self, context: StateContext) -> None:
        """Store the links of an expanded state to known pages that need not be followed."""
        found = seen_links(context.state, context.elements, context.inherited, self._graph, self.exploration)
        for link in found:
            self._graph.add(link)
        if found:
            await self._save(transitions=tuple((link, None) for link in found))

    async def elements_of(self, page: str) -> tuple[Element, ...]:
        """Elements of a known state; read from the store if it was seen some time ago."""
        elements = self._elements.get(page)
        if elements is None:
            elements = await self._store.elements(page)
            self._remember(page, elements)
        return elements

    def _remember(self, page: str, elements: tuple[Element, ...]) -> None:
        self._elements[page] = elements
        if len(self._elements) > CACHED_STATES:
            del self._elements[next(iter(self._elements))]

    def _arrived(
        self,
        item: FrontierItem,
        source: PageState,
        outcome: VisitOutcome,
        observed: ObservedState,
        address: str,
    ) -> GraphTransaction:
        known = self._graph.states.get(observed.id)
        states: tuple[tuple[PageState, PageContents | None], ...] = ()
        if known is None:
            states = (self._observe(observed, depth=source.depth + 1, direct=True if address else None),)
        elif address and known.direct is None:
            self._graph.put(replace(known, direct=True))
            states = ((self._graph.states[known.id], None),)
        if address:
            self._land(address, observed)
        elif observed.keys.url != source.keys.url:
            self._graph.landing.setdefault(observed.keys.url, observed.id)
            self._planner.know(observed.page.url)
        self._graph.found(observed.id, item.order, source.id)
        value = value_of(item)
        found = Transition(
            id=identity.transition_id(source.id, item.operation, value, item.locator, observed.id),
            source=source.id,
            target=observed.id,
            operation=item.operation,
            value=value,
            locator=item.locator,
            risk=self._planner.risks.get((item.page, item.element), 0.0),
            exploration=self.exploration,
        )
        attempt = Attempt(
            transition=found.id,
            at=self._clock.now(),
            arrival=ReplayVerdictKind.EXACT,
            seconds=outcome.result.seconds or outcome.seconds,
            tier=outcome.result.tier.value if outcome.result.tier else "",
        )
        self._graph.add(found, attempt)
        seen = (observed.id,) if known is not None else ()
        return GraphTransaction(at=attempt.at, states=states, seen=seen, transitions=((found, attempt),))

    def _observe(
        self, observed: ObservedState, *, depth: int, direct: bool | None
    ) -> tuple[PageState, PageContents]:
        state = state_of(
            observed.page,
            observed.keys,
            home=self._graph.home,
            depth=depth,
            exploration=self.exploration,
            at=self._clock.now(),
            direct=direct,
        )
        self._graph.put(state)
        contents = contents_of(observed.page)
        self._remember(state.id, contents.elements)
        return state, contents

    def _land(self, address: str, observed: ObservedState) -> None:
        self._graph.landing[identity.url_key(address, self._graph.home)] = observed.id
        self._graph.landing[observed.keys.url] = observed.id
        self._planner.know(observed.page.url)

    async def _save(
        self,
        *,
        states: tuple[tuple[PageState, PageContents | None], ...] = (),
        transitions: tuple[tuple[Transition, Attempt | None], ...] = (),
        items: tuple[FrontierItem, ...] = (),
    ) -> None:
        await self._store.save(
            GraphTransaction(
                at=self._clock.now(),
                exploration=self.exploration,
                states=states,
                transitions=transitions,
                items=items,
            )
        )


_SKIPPED = {"away": SkipReason.EXTERNAL, "file": SkipReason.DOWNLOAD, "unsent": SkipReason.FORM}
"""Ends of an attempt that say why its element is not tried again."""


def closed_item(item: FrontierItem, outcome: VisitOutcome) -> FrontierItem:
    """Return the item with its result."""
    if not outcome.end:
        return replace(item, status=FrontierStatus.TRIED)
    reason = _SKIPPED.get(outcome.end)
    status = FrontierStatus.SKIPPED if reason is not None else FrontierStatus.FAILED
    return replace(item, status=status, reason=reason or item.reason, detail=outcome.why)
