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

    async def first_page(self, standing: ObservedState) -> None:
        """Record that the home page was opened."""
        state, contents = self._observe(standing, depth=0, direct=True)
        self._land(self._graph.home, standing)
        await self._save(states=((state, contents),))

    async def planned(self, items: Iterable[FrontierItem]) -> None:
        """Record the decisions about one depth's elements."""
        await self._save(items=tuple(items))

    async def closed(
        self, item: FrontierItem, source: PageState, outcome: VisitOutcome, address: str
    ) -> None:
        """Record the result of trying an item of a state; ``address`` as in ``Visitor.try_item``."""
        done = closed_item(item, outcome)
        for note in (*outcome.deed.notes, *(f"{what} was not submitted" for what in outcome.deed.unsent)):
            self._progress.note(f"{source.keys.url}: {note}")
        if done.status is FrontierStatus.TRIED and outcome.standing is not None:
            entry = self._arrived(item, source, outcome, outcome.standing, address)
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

    async def leg_made(self, attempt: Attempt) -> None:
        """Record another use of a known transition."""
        transition = self._graph.transitions[attempt.transition]
        self._graph.add(transition, attempt)
        await self._save(transitions=((transition, attempt),))

    async def direct_known(self, state: PageState, standing: ObservedState | None) -> None:
        """Record what a state's address led to when opened for the first time: the state itself or another one."""
        if standing is None:
            return
        now = replace(self._graph.states[state.id], direct=standing.id == state.id)
        self._graph.put(now)
        states: list[tuple[PageState, PageContents | None]] = [(now, None)]
        self._land(state.url, standing)
        if standing.id not in self._graph.states:
            self._graph.found(standing.id, self._graph.order_of(state.id), state.id)
            states.append(self._observe(standing, depth=state.depth + 1, direct=True))
        await self._save(states=tuple(states))

    async def links(self, spot: StateContext) -> None:
        """Store the links of an expanded state to known pages that need not be followed."""
        found = seen_links(spot.state, spot.elements, spot.inherited, self._graph, self.exploration)
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
        standing: ObservedState,
        address: str,
    ) -> GraphTransaction:
        known = self._graph.states.get(standing.id)
        states: tuple[tuple[PageState, PageContents | None], ...] = ()
        if known is None:
            states = (self._observe(standing, depth=source.depth + 1, direct=True if address else None),)
        elif address and known.direct is None:
            self._graph.put(replace(known, direct=True))
            states = ((self._graph.states[known.id], None),)
        if address:
            self._land(address, standing)
        elif standing.keys.url != source.keys.url:
            self._graph.landing.setdefault(standing.keys.url, standing.id)
            self._planner.know(standing.page.url)
        self._graph.found(standing.id, item.order, source.id)
        value = value_of(item)
        found = Transition(
            id=identity.transition_id(source.id, item.operation, value, item.locator, standing.id),
            source=source.id,
            target=standing.id,
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
            seconds=outcome.deed.seconds or outcome.seconds,
            tier=outcome.deed.tier.value if outcome.deed.tier else "",
        )
        self._graph.add(found, attempt)
        seen = (standing.id,) if known is not None else ()
        return GraphTransaction(at=attempt.at, states=states, seen=seen, transitions=((found, attempt),))

    def _observe(
        self, standing: ObservedState, *, depth: int, direct: bool | None
    ) -> tuple[PageState, PageContents]:
        state = state_of(
            standing.page,
            standing.keys,
            home=self._graph.home,
            depth=depth,
            exploration=self.exploration,
            at=self._clock.now(),
            direct=direct,
        )
        self._graph.put(state)
        contents = contents_of(standing.page)
        self._remember(state.id, contents.elements)
        return state, contents

    def _land(self, address: str, standing: ObservedState) -> None:
        self._graph.landing[identity.url_key(address, self._graph.home)] = standing.id
        self._graph.landing[standing.keys.url] = standing.id
        self._planner.know(standing.page.url)

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


def closed_item(item: FrontierItem, outcome: VisitOutcome) -> FrontierItem:
    """Return the item with its result."""
    match outcome.end:
        case "":
            return replace(item, status=FrontierStatus.TRIED)
        case "away":
            reason = SkipReason.EXTERNAL
            return replace(item, status=FrontierStatus.SKIPPED, reason=reason, detail=outcome.why)
        case "file":
            reason = SkipReason.DOWNLOAD
            return replace(item, status=FrontierStatus.SKIPPED, reason=reason, detail=outcome.why)
        case "unsent":
            reason = SkipReason.FORM
            return replace(item, status=FrontierStatus.SKIPPED, reason=reason, detail=outcome.why)
        case "same" | "failed":
            return replace(item, status=FrontierStatus.FAILED, detail=outcome.why)
