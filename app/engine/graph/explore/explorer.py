"""Explores a site into its interaction graph without a model: adaptive breadth-first, interleaving navigation.

One depth after the other (WebNavigator, algorithm 1): the elements of the depth's states are planned (``frontier``),
then tried by several pages concurrently (``visitor``).  Each attempt is one transaction of the store, so if the
process ends at any moment, finished attempts stay finished and the rest is still waiting.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from app.engine.api.graph_api import ExploreOptions, ExploreReport
from app.engine.browser.driver import BrowserGone, Driver, DriverFailure
from app.engine.browser.locators import locator_of
from app.engine.core import identity
from app.engine.core.events import ExplorationChanged
from app.engine.core.page_index import PageIndex
from app.engine.core.page_state import Challenge, PageCapture, PageKeys, PageState
from app.engine.core.transition import FrontierItem, FrontierStatus, Operation
from app.engine.graph.explore.access_guard import AccessGuard
from app.engine.graph.explore.exploration_graph import ExplorationGraph
from app.engine.graph.explore.exploration_log import ExplorationLog
from app.engine.graph.explore.exploration_store import ExplorationStore, StoredExploration
from app.engine.graph.explore.frontier import FrontierPlanner, PlannedElement, StateContext
from app.engine.graph.explore.pacing import Clock, Pacer, SystemClock
from app.engine.graph.explore.progress import Progress
from app.engine.graph.explore.robots import RobotsFile
from app.engine.graph.explore.visitor import OutOfTime, Visitor, VisitOutcome
from app.engine.graph.rules.block_list import BlockList
from app.engine.graph.task_group import run_all

log = logging.getLogger(__name__)

RETRY_AFTER = 1.0
"""Seconds before a browser that was too slow is asked for a page again."""
BATCH_SIZE = 8
"""Controls of one state that one page tries in a row; the rest goes to another page."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """Items of one state that one page works through in a row."""

    source: PageState
    items: tuple[FrontierItem, ...]


_NOWHERE = PageState(id="", keys=PageKeys(url="", template="", structure="", skeleton=""), url="")


class Explorer:
    """One exploration of one site.

    Args:
        site: name of the graph.
        start_url: the home page.
        drivers: the pages to work with; each is used by one worker.
        tell: called with each progress report, on the loop.
        known: for an update of an existing map: keys of elements by state that are not new there, as of the last
            exploration of the page.  Then only states that were never planned are expanded.
        robots: the site's robots.txt; ``None`` if it has none.
        spent: seconds of the time budget already used to start the browser.

    ``run`` may be called once.  ``pause``, ``resume`` and ``stop`` take effect between two attempts.
    """

    def __init__(
        self,
        site: str,
        start_url: str,
        options: ExploreOptions,
        *,
        store: ExplorationStore,
        rules: BlockList,
        drivers: Sequence[Driver],
        tell: Callable[[ExplorationChanged], None] = lambda _: None,
        clock: Clock | None = None,
        robots: RobotsFile | None = None,
        known: Mapping[str, Collection[str]] | None = None,
        spent: float = 0.0,
    ) -> None:
        self._spent = spent
        self._options, self._store, self._robots = options, store, robots
        self._clock: Clock = clock or SystemClock()
        self._known = known
        self._planned: set[str] = set()
        self._graph = ExplorationGraph(start_url)
        self._planner = FrontierPlanner(
            start_url, options, rules, allowed=robots.allows if robots else _anything
        )
        self._progress = Progress(site, self._clock, tell)
        self._log = ExplorationLog(self._graph, self._planner, self._progress, store, self._clock)
        self._access = AccessGuard(self._graph)
        delay = robots.delay if robots is not None and options.obey_robots else 0.0
        self._pacer = Pacer(start_url, options.rate, self._clock, delay=delay)
        self._visitors = [self._visitor(driver) for driver in drivers]
        self._units: deque[_Unit] = deque()
        self._retried: set[tuple[str, str]] = set()
        self._language = ""
        self._ended = ""
        self._running = asyncio.Event()
        self._running.set()

    # control

    def pause(self) -> None:
        """Start no further attempts until ``resume``; the current ones finish."""
        if self._running.is_set():
            self._running.clear()
            self._progress.pause()

    def resume(self) -> None:
        """Continue after ``pause``."""
        if not self._running.is_set():
            self._progress.resume()
            self._running.set()

    def stop(self) -> None:
        """End after the current attempts; the rest stays waiting."""
        self._end("stopped")
        self.resume()

    @property
    def work_seconds(self) -> tuple[float, float]:
        """Seconds that all pages together spent on loading and settling, and on capturing."""
        visitors = self._visitors
        return sum(v.load_seconds for v in visitors), sum(v.capture_seconds for v in visitors)

    # the exploration

    async def run(self) -> ExploreReport:
        """Explore until nothing new is left or the budget is used up.

        Raises:
            SiteloreError: the results could not be stored.
        """
        memory = await self._store.memory()
        self._progress.begin({state.id for state in memory.states})
        if resumed := self._take_up(memory):
            await self._store.resume(self._log.exploration)
        else:
            options = dataclasses.asdict(self._options)
            self._log.exploration = await self._store.begin(self._graph.home, options, self._clock.now())
        if await self._first_page(resumed=resumed):
            await self._levels()
        ended = self._ended or "done"
        rows = self._progress.rows(self._graph)
        await self._store.end(self._log.exploration, ended, self._clock.now(), rows)
        self._progress.ended(ended)
        robots = self._robots.words if self._robots is not None else ""
        if robots and not self._options.obey_robots:
            robots = f"ignored, as asked for; it {robots}" if robots.startswith("forbids") else robots
        return self._progress.report(self._graph, self._log.exploration, ended, robots)

    def _take_up(self, memory: StoredExploration) -> bool:
        before, now = memory.options or {}, dataclasses.asdict(self._options)
        same = all(before.get(name) == now[name] for name in ("mode", "naive"))
        same = same and before.get("obey_robots", True) == now["obey_robots"]
        if not (self._options.resume and memory.exploration and memory.ended != "done" and same):
            return False
        if memory.home != self._graph.home or not memory.items:
            return False
        self._log.exploration = memory.exploration
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

    async def _first_page(self, *, resumed: bool) -> bool:
        failed = "paused" if resumed else "failed"
        self._planner.know(self._graph.home)
        start = FrontierItem(page="", element="", operation=Operation.OPEN)
        try:
            outcome = await self._patiently(start)
            if outcome.result.trouble is DriverFailure.UNREACHABLE:  # a site may need time to start up
                outcome = await self._patiently(start)
        except OutOfTime:
            self._out_of_time()
            return False
        except BrowserGone as error:
            self._end(failed, f"no browser could be started: {error}")
            return False
        if outcome.end == "away":
            self._end(failed, f"the home page {outcome.why}, another host; give that address")
        elif outcome.observed is None:
            self._end(failed, f"the home page can't be opened: {outcome.why}")
        elif outcome.observed.page.challenge is Challenge.CAPTCHA:
            self._end(failed, "a captcha blocks the home page; solve it in a browser window")
        if outcome.observed is None or self._ended:
            return False
        self._language = outcome.observed.page.language
        if not resumed:
            await self._log.first_page(outcome.observed)
        self._progress.spend(0)
        return True

    async def _patiently(self, start: FrontierItem) -> VisitOutcome:
        """Open the home page; retry with a slow browser while there is time."""
        while True:
            try:
                return await self._visitors[0].try_item(start, _NOWHERE, self._graph.home)
            except BrowserGone as gone:
                if not gone.slow:
                    raise
                log.warning("slow browser: %s", gone)
                await self._clock.sleep(RETRY_AFTER)
            if self._left() <= 0:
                raise OutOfTime

    async def _levels(self) -> None:
        depths = {item.depth for item in self._progress.unfinished}
        depths.update(s.depth for s in self._graph.states.values() if s.id not in self._planned)
        depth = min(depths, default=self._options.depth + 1)
        while depth <= self._options.depth:
            items = [item for item in self._progress.unfinished if item.depth == depth]
            states = self._level(depth, items)
            if not states and depth >= max(depths):
                break
            fresh = [state for state in states if state.id not in self._planned]
            items += await self._plan(fresh, last=depth == self._options.depth)
            self._progress.at(depth)
            await self._work(_units(states, items))
            self._progress.spend(depth + 1)
            if self._ended:
                return
            if not self._options.naive:
                for state in states:
                    await self._log.links(await self._context(state))
            depth += 1

    def _level(self, depth: int, items: Sequence[FrontierItem]) -> list[PageState]:
        """The states of a depth; in an update only those with something to plan or to try."""
        states = self._graph.level(depth)
        if self._known is None:
            return states
        waiting = {item.page for item in items}
        return [state for state in states if state.id in waiting or state.id not in self._planned]

    async def _context(self, state: PageState) -> StateContext:
        inherited: set[str] = set((self._known or {}).get(state.id, ()))
        if not self._options.naive:
            for parent in self._graph.ancestors(state.id):
                here = set(self._graph.states[parent].element_keys)
                inherited |= here - self._progress.disabled.get(parent, set())
        elements = await self._log.elements_of(state.id)
        return StateContext(
            state=state, elements=elements, inherited=frozenset(inherited), language=self._language
        )

    async def _plan(self, states: Sequence[PageState], *, last: bool) -> list[FrontierItem]:
        """Judge the elements of a depth and return those to try.  Only one state's elements are in memory at a
        time.
        """
        items: list[FrontierItem] = []
        hidden: list[PageState] = []
        for state in states:
            if self._left() <= 0:
                self._out_of_time()
                break  # the rest is planned after resuming
            context = await self._context(state)
            items += self._judged(context, self._planner.judge(context, last=last))
            if self._planner.has_hidden_links(context):
                hidden.append(state)
            self._planned.add(state.id)
        for state in hidden:
            context = await self._context(state)
            items += self._judged(context, self._planner.judge_hidden(context, last=last))
        if items:
            await self._log.planned(items)
        return [item for item in items if item.status is FrontierStatus.WAITING]

    def _judged(self, context: StateContext, verdicts: Sequence[PlannedElement]) -> list[FrontierItem]:
        self._progress.plan(verdicts)
        page = PageIndex(PageCapture(url=context.state.url, elements=context.elements))
        return [
            replace(verdict.item, locator=locator_of(verdict.element, page))
            if verdict.item.status is FrontierStatus.WAITING
            else verdict.item
            for verdict in verdicts
        ]

    async def _work(self, units: Sequence[_Unit]) -> None:
        self._units = deque(units)
        while True:
            await run_all(self._worker(visitor) for visitor in self._visitors)
            if not await self._again(self._access.release()):
                break
        if self._units and not self._ended:
            self._end("failed", "no browser could be started any more; all results are kept")

    async def _worker(self, visitor: Visitor) -> None:
        while self._units and not self._ended:
            unit = self._units.popleft()
            for number, item in enumerate(unit.items):
                await self._running.wait()
                if self._is_over():
                    return
                self._progress.tries(item, unit.source)
                source = self._graph.states[unit.source.id]
                try:
                    await self._try(visitor, item, source)
                except OutOfTime:  # or a pause in the last seconds left time after all
                    self._units.appendleft(_Unit(unit.source, unit.items[number:]))
                    self._is_over()
                    break
                except BrowserGone as lost:
                    log.warning("lost a browser: %s", lost)
                    self._progress.note(f"a browser was lost and could not be restarted: {lost}")
                    self._units.appendleft(_Unit(unit.source, unit.items[number:]))
                    if not lost.slow:
                        return
                    await self._clock.sleep(RETRY_AFTER)  # a busy machine; there is time to retry
                    break

    async def _try(self, visitor: Visitor, item: FrontierItem, source: PageState) -> None:
        """Try one item and store the result, or nothing if the site has denied access."""
        address = item.value if item.operation is not Operation.SELECT else ""
        outcome = await visitor.try_item(item, source, address)
        denied_reason = await self._access.denied_reason(visitor, source, outcome)
        if denied_reason:
            self._end("paused", denied_reason)
        elif not self._access.hold_back(item, outcome):
            await self._again(self._access.release())
            await self._log.closed(item, source, outcome, address)
            if outcome.end == "same" and await self._opens(item):
                # Some menus open on hover, and a click closes them again.
                await self._try(visitor, replace(item, operation=Operation.HOVER), source)

    async def _opens(self, item: FrontierItem) -> bool:
        """Whether the clicked element declares that it opens something."""
        if item.operation is not Operation.CLICK:
            return False
        elements = await self._store.elements(item.page)
        found = (e for e in elements if identity.element_key(e, self._graph.home) == item.element)
        return any({"haspopup", "collapsed"} & set(element.states) for element in found)

    async def _again(self, unanswered: Sequence[FrontierItem]) -> bool:
        """Try items without a response once more after everything else; False if there are none."""
        once = [item for item in unanswered if (item.page, item.element) not in self._retried]
        await self._log.failed([item for item in unanswered if item not in once])
        for item in once:
            self._retried.add((item.page, item.element))
            waiting = replace(item, status=FrontierStatus.WAITING, detail="")
            self._units.append(_Unit(self._graph.states[item.page], (waiting,)))
        return bool(once)

    def _visitor(self, driver: Driver) -> Visitor:
        return Visitor(
            driver,
            self._graph,
            self._pacer,
            self._clock,
            pictures=self._options.pictures,
            on_repeated=self._log.on_repeated,
            on_address_opened=self._log.on_address_opened,
            left=self._left,
        )

    # end

    def _end(self, how: str, why: str = "") -> None:
        if not self._ended:
            self._ended = how
            if why:
                self._progress.note(why)

    def _is_over(self) -> bool:
        if not self._ended and len(self._graph.states) >= self._options.max_states:
            self._end("states", f"{self._options.max_states} states were found, the maximum")
        if not self._ended and self._left() <= 0:
            self._out_of_time()
        return bool(self._ended)

    def _out_of_time(self) -> None:
        self._end("seconds", f"the time limit of {self._options.max_seconds:.0f} s is reached")

    def _left(self) -> float:
        return self._options.max_seconds - self._spent - self._progress.seconds_now


def _anything(_: str) -> bool:
    return True


def _units(states: Sequence[PageState], items: Sequence[FrontierItem]) -> list[_Unit]:
    """Group items into batches: each link by itself, controls of one state together, as they share the path to it."""
    by_id = {state.id: state for state in states}
    units: list[_Unit] = []
    chunk: list[FrontierItem] = []
    for item in sorted(items, key=lambda item: item.order):
        if item.value and item.operation is not Operation.SELECT:
            units.append(_Unit(by_id[item.page], (item,)))
            continue
        if chunk and (chunk[0].page != item.page or len(chunk) == BATCH_SIZE):
            units.append(_Unit(by_id[chunk[0].page], tuple(chunk)))
            chunk = []
        chunk.append(item)
    if chunk:
        units.append(_Unit(by_id[chunk[0].page], tuple(chunk)))
    return units
