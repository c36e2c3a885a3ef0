"""Explores a site into its interaction graph, without a model: adaptive breadth-first, with interleaved navigation.

One depth after the other (WebNavigator, algorithm 1): the elements of the depth's states are planned (``frontier``),
then tried by several pages at once (``visiting``).  Each try is one transaction of the recorder, so whatever ends the
process, what was tried stays tried and the rest is still waiting.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import urlsplit

from app.engine import identity
from app.engine.browser.driver import Driver, Trouble
from app.engine.browser.locators import locator_of
from app.engine.errors import SiteloreError
from app.engine.events import ExplorationChanged
from app.engine.graph.frontier import Planner, Rules, Spot
from app.engine.graph.growing import GrowingGraph, value_of
from app.engine.graph.observing import contents_of, seen_links, state_of
from app.engine.graph.pacing import Clock, Pacer, SystemClock
from app.engine.graph.progress import Progress
from app.engine.graph.recorder import Contents, Entry, GraphRecorder, Memory
from app.engine.graph.visiting import Outcome, Standing, Visitor
from app.engine.graph_api import ExploreOptions, ExploreReport
from app.engine.page_state import Challenge, Element, PageCapture, PageKeys, PageState
from app.engine.transition import (
    ArrivalKind,
    Attempt,
    FrontierItem,
    FrontierStatus,
    Operation,
    SkipReason,
    Transition,
)

log = logging.getLogger(__name__)

CHUNK = 8
"""Controls of one state that one page tries in a row; the rest is for another page."""
IN_A_ROW = 4
"""So many addresses in a row that nobody answers for, or that a captcha stands before, end the exploration."""


class Robots(Protocol):
    """What ``robots.txt`` says (``app.engine.graph.robots``)."""

    @property
    def text(self) -> str: ...
    @property
    def delay(self) -> float: ...
    def allows(self, url: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Unit:
    """What one page does in a row: items of one state."""

    source: PageState
    items: tuple[FrontierItem, ...]


_NOWHERE = PageState(id="", keys=PageKeys(url="", template="", structure="", skeleton=""), url="")
_NOBODY = Standing(PageCapture(url=""), _NOWHERE.keys, "")


class Explorer:
    """One exploration of one site.

    Args:
        site: name of the graph.
        start_url: the home page.
        drivers: the pages to work with; each is used by one worker.
        tell: called with every step of progress, on the loop.
        known: given for an update of a map that stands: keys of elements by state that are not new there, as the page
            had them when it was last explored.  Then only states that were never planned are expanded.

    ``run`` may be called once.  ``pause``, ``resume`` and ``stop`` act between two tries.
    """

    def __init__(
        self,
        site: str,
        start_url: str,
        options: ExploreOptions,
        *,
        store: GraphRecorder,
        rules: Rules,
        drivers: Sequence[Driver],
        tell: Callable[[ExplorationChanged], None] = lambda _: None,
        clock: Clock | None = None,
        robots: Robots | None = None,
        known: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._site, self._options, self._store = site, options, store
        self._clock: Clock = clock or SystemClock()
        self._graph = GrowingGraph(start_url)
        self._robots = robots
        self._known = known
        self._planned: set[str] = set()
        self._planner = Planner(start_url, options, rules, allowed=robots.allows if robots else _anything)
        self._pacer = Pacer(
            start_url,
            options.rate,
            self._clock,
            delay=robots.delay if robots and options.obey_robots else 0.0,
        )
        self._progress = Progress(site, self._clock, tell)
        self._visitors = [self._visitor(driver) for driver in drivers]
        self._elements: dict[str, tuple[Element, ...]] = {}
        self._units: deque[_Unit] = deque()
        self._language = ""
        self._number = 0
        self._ended = ""
        self._silent = 0
        self._going = asyncio.Event()
        self._going.set()

    # what a person may do meanwhile

    def pause(self) -> None:
        """Try nothing more until ``resume``; what is under way is ended."""
        if self._going.is_set():
            self._going.clear()
            self._progress.pause()

    def resume(self) -> None:
        """Go on after ``pause``."""
        if not self._going.is_set():
            self._progress.resume()
            self._going.set()

    def stop(self) -> None:
        """End after what is under way; the rest stays waiting."""
        self._end("stopped")
        self.resume()

    # the exploration

    async def run(self) -> ExploreReport:
        """Explore until nothing new is left or the budget is.

        Raises:
            SiteloreError: what was found could not be stored, or no browser starts at all.
        """
        memory = await self._store.memory()
        self._progress.begin({state.id for state in memory.states})
        resumed = self._take_up(memory)
        if resumed:
            await self._store.resume(self._number)
        else:
            options = dataclasses.asdict(self._options)
            self._number = await self._store.begin(self._graph.home, options, self._clock.now())
        if resumed or await self._first_page():
            await self._levels()
        ended = self._ended or "done"
        rows = self._progress.rows(self._graph)
        await self._store.end(self._number, ended, self._clock.now(), rows)
        self._progress.ended(ended)
        return self._progress.report(
            self._graph, self._number, ended, self._robots.text if self._robots else ""
        )

    def _take_up(self, memory: Memory) -> bool:
        """Whether there is an unfinished exploration to go on with."""
        before, now = memory.options or {}, dataclasses.asdict(self._options)
        same = all(before.get(name) == now[name] for name in ("mode", "naive"))
        if not (self._options.resume and memory.exploration and memory.ended != "done" and same):
            return False
        if memory.home != self._graph.home or not memory.items:
            return False
        self._number = memory.exploration
        states = [state for state in memory.states if not state.gone_at]
        self._graph.restore(states, memory.transitions)
        self._graph.restore_order(memory.items)
        self._planner.remember(memory.items, {state.id: state.keys.template for state in states})
        for state in states:
            self._planner.know(state.url)
            if state.direct:
                self._graph.landing[state.keys.url] = state.id
        self._progress.restore(memory)
        self._planned = {item.page for item in memory.items}
        return True

    async def _first_page(self) -> bool:
        """Open the home page; False when there is none to start from."""
        first = self._visitors[0]
        self._planner.know(self._graph.home)
        start = FrontierItem(page="", element="", operation=Operation.OPEN)
        outcome = await first.try_item(start, _NOWHERE, self._graph.home)
        if outcome.end == "away":
            self._end("failed", f"the home page {outcome.why}, another host; give that address")
        elif outcome.standing is None:
            self._end("failed", f"the home page can't be opened: {outcome.why}")
        elif outcome.standing.page.challenge is Challenge.CAPTCHA:
            self._end("failed", "a captcha stands before the home page; open it by hand in the window")
        if outcome.standing is None or self._ended:
            return False
        standing = outcome.standing
        self._language = standing.page.language
        state, contents = self._observe(standing, depth=0, direct=True)
        self._land(self._graph.home, standing)
        self._progress.spend(0)
        await self._store.save(
            Entry(at=self._clock.now(), exploration=self._number, states=((state, contents),))
        )
        return True

    async def _levels(self) -> None:
        depths = {item.depth for item in self._progress.unfinished}
        depths.update(s.depth for s in self._graph.states.values() if s.id not in self._planned)
        depth = min(depths, default=self._options.depth + 1)
        while depth <= self._options.depth:
            items = [item for item in self._progress.unfinished if item.depth == depth]
            states = self._level(depth, items)
            if not states and depth >= max(depths):
                break
            spots = [await self._spot(state) for state in states]
            fresh = [spot for spot in spots if spot.state.id not in self._planned]
            items += await self._plan(fresh, last=depth == self._options.depth)
            self._progress.at(depth)
            await self._work(_units(states, items))
            self._progress.spend(depth + 1)
            if self._ended:
                return
            await self._note_links(spots)
            for state in states:
                self._elements.pop(state.id, None)
            depth += 1

    def _level(self, depth: int, items: Sequence[FrontierItem]) -> list[PageState]:
        """The states of a depth; in an update only those with something to plan or to try."""
        states = self._graph.level(depth)
        if self._known is None:
            return states
        waiting = {item.page for item in items}
        return [state for state in states if state.id in waiting or state.id not in self._planned]

    async def _spot(self, state: PageState) -> Spot:
        elements = self._elements.get(state.id)
        if elements is None:
            elements = self._elements[state.id] = await self._store.elements(state.id)
        inherited: set[str] = set((self._known or {}).get(state.id, ()))
        if not self._options.naive:
            for parent in self._graph.ancestors(state.id):
                inherited.update(self._graph.states[parent].element_keys)
                inherited.difference_update(self._progress.disabled.get(parent, ()))
        return Spot(state=state, elements=elements, inherited=frozenset(inherited), language=self._language)

    async def _plan(self, spots: Sequence[Spot], *, last: bool) -> list[FrontierItem]:
        if not spots:
            return []
        self._planned.update(spot.state.id for spot in spots)
        verdicts = self._planner.plan(spots, last=last)
        pages = {spot.state.id: PageCapture(url=spot.state.url, elements=spot.elements) for spot in spots}
        items: list[FrontierItem] = []
        for number, verdict in enumerate(verdicts):
            item = verdict.item
            if item.status is FrontierStatus.WAITING:
                item = replace(item, locator=locator_of(verdict.element, pages[item.page]))
            items.append(item)
            if number % 200 == 199:
                await self._clock.sleep(0)  # locators of a large depth take a while
        self._progress.plan(verdicts)
        await self._store.save(Entry(at=self._clock.now(), exploration=self._number, items=tuple(items)))
        return [item for item in items if item.status is FrontierStatus.WAITING]

    async def _work(self, units: Sequence[_Unit]) -> None:
        """Let all pages work until nothing is left, or the exploration has ended."""
        self._units = deque(units)
        try:
            async with asyncio.TaskGroup() as group:
                for visitor in self._visitors:
                    group.create_task(self._worker(visitor))
        except* SiteloreError as errors:
            raise errors.exceptions[0] from None
        if self._units and not self._ended:
            self._end("failed", "no browser could be started any more; what was found is kept")

    async def _worker(self, visitor: Visitor) -> None:
        while self._units and not self._ended:
            unit = self._units.popleft()
            for number, item in enumerate(unit.items):
                await self._going.wait()
                if self._is_over():
                    return
                self._progress.tries(item, unit.source)
                address = item.value if item.operation is not Operation.SELECT else ""
                source = self._graph.states[unit.source.id]
                try:
                    outcome = await visitor.try_item(item, source, address)
                except SiteloreError as error:
                    log.warning("a browser is lost: %s", error)
                    self._progress.note(f"a browser was lost and did not start again: {error}")
                    self._units.appendleft(_Unit(unit.source, unit.items[number:]))
                    return
                await self._close_item(visitor, item, source, outcome, address)

    async def _close_item(
        self, visitor: Visitor, item: FrontierItem, source: PageState, outcome: Outcome, address: str
    ) -> None:
        """Store what came of a try; nothing of it when the site has shut the door."""
        if await self._is_shut(visitor, source, outcome):
            return
        closed = _closed(item, outcome)
        entry = Entry(at=self._clock.now(), exploration=self._number, items=(closed,))
        if closed.status is FrontierStatus.TRIED and outcome.standing is not None:
            entry = self._with_arrival(entry, item, source, outcome, outcome.standing, address)
        for note in outcome.deed.notes:
            self._progress.note(f"{source.keys.url}: {note}")
        self._progress.closed(closed, len(self._graph.states))
        await self._store.save(entry)

    def _with_arrival(
        self,
        entry: Entry,
        item: FrontierItem,
        source: PageState,
        outcome: Outcome,
        standing: Standing,
        address: str,
    ) -> Entry:
        known = self._graph.states.get(standing.id)
        states: tuple[tuple[PageState, Contents | None], ...] = ()
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
            exploration=self._number,
        )
        attempt = Attempt(
            transition=found.id,
            at=entry.at,
            arrival=ArrivalKind.EXACT,
            seconds=outcome.deed.seconds or outcome.seconds,
            tier=outcome.deed.tier.value if outcome.deed.tier else "",
        )
        self._graph.add(found, attempt)
        seen = (standing.id,) if known is not None else ()
        return replace(entry, states=states, seen=seen, transitions=((found, attempt),))

    def _observe(self, standing: Standing, *, depth: int, direct: bool | None) -> tuple[PageState, Contents]:
        state = state_of(
            standing.page,
            standing.keys,
            home=self._graph.home,
            depth=depth,
            exploration=self._number,
            at=self._clock.now(),
            direct=direct,
        )
        self._graph.put(state)
        self._elements[state.id] = standing.page.elements
        return state, contents_of(standing.page)

    def _land(self, address: str, standing: Standing) -> None:
        self._graph.landing[identity.url_key(address, self._graph.home)] = standing.id
        self._graph.landing[standing.keys.url] = standing.id
        self._planner.know(standing.page.url)

    async def _note_links(self, spots: Sequence[Spot]) -> None:
        """Keep the links between known pages that need not be followed."""
        if self._options.naive:
            return
        for spot in spots:
            links = seen_links(spot.state, spot.elements, spot.inherited, self._graph, self._number)
            if not links:
                continue
            for link in links:
                self._graph.add(link)
            await self._store.save(
                Entry(
                    at=self._clock.now(),
                    exploration=self._number,
                    transitions=tuple((link, None) for link in links),
                )
            )

    # what the workers learn by the way

    def _visitor(self, driver: Driver) -> Visitor:
        return Visitor(
            driver,
            self._graph,
            self._pacer,
            self._clock,
            pictures=self._options.pictures,
            leg_made=self._leg_made,
            direct_known=self._direct_known,
        )

    async def _leg_made(self, attempt: Attempt) -> None:
        transition = self._graph.transitions[attempt.transition]
        self._graph.add(transition, attempt)
        await self._store.save(
            Entry(at=attempt.at, exploration=self._number, transitions=((transition, attempt),))
        )

    async def _direct_known(self, state: PageState, standing: Standing | None) -> None:
        """Its address was opened for the first time: it leads to the state itself, or to another one."""
        if standing is None:
            return
        now = replace(self._graph.states[state.id], direct=standing.id == state.id)
        self._graph.put(now)
        states: list[tuple[PageState, Contents | None]] = [(now, None)]
        self._land(state.url, standing)
        if standing.id not in self._graph.states:
            self._graph.found(standing.id, self._graph.order_of(state.id), state.id)
            states.append(self._observe(standing, depth=state.depth + 1, direct=True))
        await self._store.save(Entry(at=self._clock.now(), exploration=self._number, states=tuple(states)))

    # when it ends

    def _end(self, how: str, why: str = "") -> None:
        if not self._ended:
            self._ended = how
            if why:
                self._progress.note(why)

    def _is_over(self) -> bool:
        """Whether it was stopped, or the budget is used up."""
        if not self._ended and len(self._graph.states) >= self._options.max_states:
            self._end("states", f"{self._options.max_states} states were found, as many as allowed")
        if not self._ended and self._progress.seconds >= self._options.max_seconds:
            self._end("seconds", f"the time of {self._options.max_seconds:.0f} s is over")
        return bool(self._ended)

    async def _is_shut(self, visitor: Visitor, source: PageState, outcome: Outcome) -> bool:
        """Whether the site answers no more, or no longer as to the one who came in: log-in gone, captcha, host down."""
        page = (outcome.standing or outcome.strayed or _NOBODY).page
        asked = page.challenge is Challenge.LOGIN and source.challenge is Challenge.NONE
        if asked and (outcome.strayed is not None or await self._is_logged_out(visitor, source, page)):
            self._end("paused", "the log-in has expired: log in again, then go on; everything found is kept")
            return True
        silent = outcome.deed.trouble is Trouble.UNREACHABLE or page.challenge is Challenge.CAPTCHA
        self._silent = self._silent + 1 if silent else 0
        if self._silent >= IN_A_ROW:
            captcha = page.challenge is Challenge.CAPTCHA
            why = "a captcha stands before its pages" if captcha else outcome.why
            self._end(
                "paused", f"the site lets nobody in any more ({why}); go on later, everything found is kept"
            )
        return bool(self._ended) and self._silent >= IN_A_ROW

    async def _is_logged_out(self, visitor: Visitor, source: PageState, login: PageCapture) -> bool:
        """Whether a page that was open before asks for a log-in now, or offers one where it did not."""
        check = await visitor.open(source.url if source.direct else self._graph.home)
        if check.standing is None:
            return False
        expected = source if source.direct else self._graph.level(0)[0]
        if check.standing.id == expected.id:
            return False
        if check.standing.page.challenge is Challenge.LOGIN:
            return True
        path = urlsplit(login.url).path
        offers = [e for e in check.standing.page.elements if e.href and urlsplit(e.href).path == path]
        keys = {identity.element_key(element, self._graph.home) for element in offers}
        return bool(keys - set(expected.element_keys))


def _anything(_: str) -> bool:
    return True


def _closed(item: FrontierItem, outcome: Outcome) -> FrontierItem:
    """The item with what became of it."""
    match outcome.end:
        case "":
            return replace(item, status=FrontierStatus.TRIED)
        case "away":
            reason = SkipReason.EXTERNAL
            return replace(item, status=FrontierStatus.SKIPPED, reason=reason, detail=outcome.why)
        case "file":
            reason = SkipReason.DOWNLOAD
            return replace(item, status=FrontierStatus.SKIPPED, reason=reason, detail=outcome.why)
        case "same" | "failed":
            return replace(item, status=FrontierStatus.FAILED, detail=outcome.why)


def _units(states: Sequence[PageState], items: Sequence[FrontierItem]) -> list[_Unit]:
    """Items in portions: every link by itself, controls of one state some at a time, as they share the way to it."""
    by_id = {state.id: state for state in states}
    units: list[_Unit] = []
    chunk: list[FrontierItem] = []
    for item in sorted(items, key=lambda item: item.order):
        if item.value and item.operation is not Operation.SELECT:
            units.append(_Unit(by_id[item.page], (item,)))
            continue
        if chunk and (chunk[0].page != item.page or len(chunk) == CHUNK):
            units.append(_Unit(by_id[chunk[0].page], tuple(chunk)))
            chunk = []
        chunk.append(item)
    if chunk:
        units.append(_Unit(by_id[chunk[0].page], tuple(chunk)))
    return units
