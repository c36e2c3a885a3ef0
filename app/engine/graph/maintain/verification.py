"""Verifies every state and transition of a map, and finds removed and changed ones (WebNavigator, app. D).

The paper opens every page and repeats every action, which costs as much as exploring.  Here a page is first requested
once without a browser: if the server sends what it sent at the last capture, and the same scripts run on it, it is
the same page.  Opened in the browser are

- pages with another response, or without a known earlier one,
- one page for each set of scripts, as these may have changed behind their addresses (if that one looks different, all
  pages with these scripts are opened),
- menus, tabs, dialogs: one of each control on all its pages (if that leads elsewhere, every one of them is tried).

A site that does not respond, an expired login or a server error mark nothing as gone.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from app.engine.browser.driver import DriverFailure, DriverResult, FetchedDocument, FetchingDriver, PageLost
from app.engine.core import identity
from app.engine.core.page_state import PageCapture, PageState
from app.engine.core.transition import (
    Attempt,
    FrontierItem,
    Locator,
    Operation,
    ReplayVerdictKind,
    Source,
    Transition,
)
from app.engine.graph.captured_states import contents_of, state_of
from app.engine.graph.explore.exploration_graph import ExplorationGraph
from app.engine.graph.explore.pacing import Clock, Pacer
from app.engine.graph.explore.visitor import ObservedState, Visitor, VisitOutcome
from app.engine.graph.maintain.edge_migration import is_link, migrated, transition_kind
from app.engine.graph.maintain.findings import Findings
from app.engine.graph.replay.replay_check import compare
from app.engine.graph.task_group import run_all
from app.errors import SiteloreError

SILENT_IN_A_ROW = 4
"""Consecutive addresses without a response after which the site counts as unreachable."""
_GONE = (404, 410)
_REFUSED = (401, 403, 407, 429)
_NOT_ITS_FAULT = (DriverFailure.SERVER, DriverFailure.UNREACHABLE, DriverFailure.LOST)

T = TypeVar("T")


class Verification:
    """One verification of one map.

    Args:
        home: address of the home page.
        states, transitions: those in force.
        drivers: the pages to work with; each is used by one worker.
        exploration: number that new states are assigned to.
        thorough: open every page and make every transition.
        tell: called with the number done, the total, and the current item.
    """

    def __init__(
        self,
        home: str,
        states: Sequence[PageState],
        transitions: Sequence[Transition],
        drivers: Sequence[FetchingDriver],
        *,
        pacer: Pacer,
        clock: Clock,
        exploration: int,
        thorough: bool = False,
        tell: Callable[[int, int, str], None] | None = None,
    ) -> None:
        self._home, self._states, self._transitions = home, states, transitions
        self._pacer, self._clock, self._exploration, self._thorough = pacer, clock, exploration, thorough
        self._tell, self._done, self._total = tell, 0, 0
        self._denied = 0
        self.found = Findings()
        self._graph = ExplorationGraph(home)
        self._graph.restore(states, transitions)
        self._drivers = [_Counted(driver, self.found) for driver in drivers]
        self._visitors = [self._visitor(driver) for driver in self._drivers]
        self._answers: dict[str, FetchedDocument] = {}
        self._unanswered = 0

    async def run(self) -> Findings:
        """Verify everything.

        Raises:
            SiteloreError: the site does not respond, or no browser starts; then there is no verdict.
        """
        pages = self._pages()
        transitions = [found for found in self._transitions if self._is_tried(found)]
        self._total = 2 * len(pages) + len(transitions)
        for page in pages:
            self._graph.landing[page.keys.url] = page.id
        await self._each(pages, self._request)
        await self._open_undecided(pages)
        await self._try(transitions)
        return self.found

    # pages

    def _pages(self) -> list[PageState]:
        """The state each address opens; addresses not known to open a state are tried."""
        found: dict[str, PageState] = {}
        for state in sorted(self._states, key=lambda state: (not state.direct, state.depth, state.id)):
            if state.direct is not False and state.source is not Source.SEEN:
                found.setdefault(state.keys.url, state)
        return list(found.values())

    async def _request(self, driver: _Counted, page: PageState) -> None:
        if self._thorough or not page.served:
            return
        await self._pacer.wait()
        answer = await driver.ask(page.url)
        self._answers[page.id] = answer
        self._unanswered = self._unanswered + 1 if answer.why else 0
        if self._unanswered >= SILENT_IN_A_ROW:
            raise SiteloreError(f"the site can't be verified: {answer.why}; nothing was changed")

    def _is_as_it_was(self, page: PageState) -> bool:
        answer = self._answers.get(page.id)
        if answer is None or answer.why or answer.status != (page.status or 200):
            return False
        return answer.served == page.served and identity.url_key(answer.url, self._home) == page.keys.url

    async def _open_undecided(self, pages: Sequence[PageState]) -> None:
        same = [page for page in pages if self._is_as_it_was(page)]
        alike: defaultdict[str, list[PageState]] = defaultdict(list)
        for page in sorted(same, key=lambda page: (-len(page.element_keys), page.id)):
            alike[self._answers[page.id].scripts].append(page)
            self.found.arrivals[page.id] = ReplayVerdictKind.EXACT
            self.found.direct.add(page.id)
        models = {group[0].id for group in alike.values()}
        unlike = [page for page in pages if page.id not in self.found.arrivals]
        await self._each([*unlike, *(page for page in same if page.id in models)], self._open)
        unlike_models = [
            group
            for group in alike.values()
            if self.found.arrivals[group[0].id] is not ReplayVerdictKind.EXACT
        ]
        await self._each([page for group in unlike_models for page in group[1:]], self._open)

    async def _open(self, driver: _Counted, page: PageState) -> None:
        visitor = self._visitor_of(driver)
        outcome = await self._outcome(visitor, lambda: visitor.open(page.url))
        same = outcome.observed is not None and outcome.observed.id == page.id
        if not same and self._is_as_it_was(
            page
        ):  # the same document gave another page: it may vary at random
            outcome = await self._outcome(visitor, lambda: visitor.open(page.url))
        self._judge(page, outcome)
        kind = self.found.arrivals[page.id]
        self._denied = self._denied + 1 if kind in (ReplayVerdictKind.BLOCKED, ReplayVerdictKind.ERROR) else 0
        if self._denied >= SILENT_IN_A_ROW and ReplayVerdictKind.EXACT not in self.found.arrivals.values():
            why = self.found.why.get(page.id, kind.value)
            raise SiteloreError(f"the site can't be verified: {why}; nothing was changed")

    def _judge(self, page: PageState, outcome: VisitOutcome) -> None:
        kind, why = self._verdict(page, outcome)
        found, now = self.found, outcome.observed
        found.arrivals[page.id] = kind
        if why:
            found.why[page.id] = why
        if kind in (ReplayVerdictKind.BLOCKED, ReplayVerdictKind.ERROR):  # no evidence about the state
            found.direct.add(page.id)
            return
        found.direct.discard(page.id)
        if now is not None and now.keys.url == page.keys.url:
            found.direct.add(now.id)
            if now.id != page.id:
                if page.direct:
                    found.replaced[page.id] = now.id
                self._add_state(now, page, direct=True)
            elif self._elements_changed(page, now):
                self._update_state(page, now)
            elif (page.served, page.direct) != (now.page.served, True):
                found.renewed[page.id] = replace(page, served=now.page.served, direct=True)
                self._graph.put(found.renewed[page.id])
        elif kind is ReplayVerdictKind.WRONG and page.direct:
            found.gone.add(page.id)
        elif kind is ReplayVerdictKind.WRONG:
            found.renewed[page.id] = replace(page, direct=False)
            self._graph.put(found.renewed[page.id])

    def _elements_changed(self, page: PageState, now: ObservedState) -> bool:
        """Whether a list gained or lost a row, which makes no other state, but may lead to new ones."""
        shown = (e for e in now.page.elements if identity.is_interactive(e))
        return {identity.element_key(e, self._home) for e in shown} != set(page.element_keys)

    def _update_state(self, page: PageState, now: ObservedState) -> None:
        state = state_of(
            now.page,
            now.keys,
            home=self._home,
            depth=page.depth,
            exploration=page.exploration,
            at=self._clock.now(),
            direct=True,
        )
        self.found.again[page.id] = (state, contents_of(now.page))
        self.found.looks[page.id] = now.page
        self.found.unread[page.id] = set(page.element_keys)
        self._graph.put(state)

    def _verdict(self, page: PageState, outcome: VisitOutcome) -> tuple[ReplayVerdictKind, str]:
        now, status = outcome.observed, outcome.result.status
        if now is not None:
            rivals = self._graph.at(page.keys.url)
            arrival = compare(page, now.keys, now.page, home=self._home, rivals=rivals)
            return arrival.kind, arrival.why
        if status in _REFUSED:
            return ReplayVerdictKind.BLOCKED, outcome.why
        if status in _GONE or outcome.end == "away" or (outcome.end == "file" and page.direct):
            return ReplayVerdictKind.WRONG, outcome.why
        return ReplayVerdictKind.ERROR, outcome.why

    # transitions

    def _is_tried(self, found: Transition) -> bool:
        target = self._graph.states.get(found.target)
        if target is None or found.locator is None or not found.attempts:
            return False
        return self._thorough or not is_link(found, target)

    async def _try(self, transitions: Sequence[Transition]) -> None:
        """Make one transition of each kind; all of them if one leads elsewhere or its page changed."""
        kinds: defaultdict[object, list[Transition]] = defaultdict(list)
        for found in transitions:
            if found.source in self.found.gone:
                continue
            kinds[found.id if self._thorough else transition_kind(found)].append(found)
        models: list[Transition] = []
        for group in kinds.values():
            group.sort(key=self._depth_of)
            changed = [found for found in group if found.source in self.found.replaced]
            steady = [found for found in group if found.source not in self.found.replaced]
            models += [*changed, *steady[:1]]
        await self._by_depth(models)
        tried = {found.id for found in models}
        for group in kinds.values():
            others = [found for found in group if found.id not in tried]
            if any(found.id in self.found.broken for found in group):
                await self._by_depth(others)
            else:
                self.found.arrivals.update({found.target: ReplayVerdictKind.EXACT for found in others})

    async def _by_depth(self, transitions: Sequence[Transition]) -> None:
        """Transitions by depth: a state that only another transition opens has to wait for that one."""
        levels: defaultdict[int, list[Transition]] = defaultdict(list)
        for found in sorted(transitions, key=self._depth_of):
            levels[self._graph.states[found.source].depth].append(found)
        for _, level in sorted(levels.items()):
            await self._each(level, self._act)

    def _depth_of(self, found: Transition) -> tuple[int, str, str]:
        return self._graph.states[found.source].depth, found.source, found.id

    async def _act(self, driver: _Counted, found: Transition) -> None:
        visitor = self._visitor_of(driver)
        source = self._graph.states[self.found.replaced.get(found.source, found.source)]
        expected = self._graph.states[found.target]
        reached = await self._outcome(visitor, lambda: visitor.reach(source))
        if reached.observed is None:
            self._made(found, ReplayVerdictKind.ERROR, reached)
            return
        item = FrontierItem(
            page=source.id, element="", operation=found.operation, value=found.value, locator=found.locator
        )
        outcome = await self._outcome(visitor, lambda: visitor.try_item(item, source, ""))
        now = outcome.observed
        if now is None:
            kind = ReplayVerdictKind.ERROR
        elif outcome.end == "same":
            kind = ReplayVerdictKind.EXACT if now.id == expected.id else ReplayVerdictKind.WRONG
        else:
            rivals = self._graph.at(expected.keys.url)
            kind = compare(expected, now.keys, now.page, home=self._home, rivals=rivals).kind
        self._made(found, kind, outcome)
        if kind is ReplayVerdictKind.EXACT:
            self.found.arrivals[expected.id] = kind
        if (
            kind is ReplayVerdictKind.BLOCKED
            or outcome.result.status >= 500
            or outcome.result.trouble in _NOT_ITS_FAULT
        ):
            return
        if kind is not ReplayVerdictKind.EXACT or source.id != found.source:
            self.found.broken.add(found.id)
            if now is not None and outcome.end == "":
                self._led_to(found, source, expected, now, kind)

    def _made(self, found: Transition, kind: ReplayVerdictKind, outcome: VisitOutcome) -> None:
        why = outcome.why or f"it led elsewhere ({kind.value})"
        attempt = Attempt.of_replay(
            found.id, self._clock.now(), kind, why, outcome.seconds, outcome.result.tier
        )
        self.found.attempts.append((found, attempt))

    def _led_to(
        self,
        found: Transition,
        source: PageState,
        expected: PageState,
        now: ObservedState,
        kind: ReplayVerdictKind,
    ) -> None:
        """Record the page it led to: the expected one, now from a changed page; the same one changed; or another
        one.
        """
        unknown = now.id not in self._graph.states
        same_address = now.keys.url == expected.keys.url
        if unknown:
            self._add_state(now, expected if same_address else source, direct=None)
            self.found.unread[now.id].update(source.element_keys)
        if same_address and now.id != expected.id and (unknown or kind.ok):
            self.found.replaced.setdefault(expected.id, now.id)
            self.found.arrivals[expected.id] = kind
        made = replace(migrated(found, source.id, now.id), attempts=1, successes=1)
        self.found.found.append(made)
        passed = Attempt(
            transition=made.id, at=self._clock.now(), arrival=ReplayVerdictKind.EXACT, seconds=made.seconds
        )
        self._graph.add(made, passed)

    def _add_state(self, now: ObservedState, before: PageState, *, direct: bool | None) -> None:
        """Store an unknown page, in the depth of the one it replaces or was found from."""
        if now.id in self.found.states:
            return
        known = self._graph.states.get(now.id)
        state = known or state_of(
            now.page,
            now.keys,
            home=self._home,
            depth=before.depth,
            exploration=self._exploration,
            at=self._clock.now(),
            direct=direct,
        )
        if known is None:
            self.found.states[now.id] = (state, contents_of(now.page))
        self.found.looks[now.id] = now.page
        self.found.unread.setdefault(now.id, set()).update(before.element_keys)
        self._graph.put(state)
        if direct:
            self._graph.landing[now.keys.url] = now.id

    # workers

    async def _each(self, things: Iterable[T], work: Callable[[_Counted, T], Awaitable[None]]) -> None:
        waiting = deque(things)

        async def worker(driver: _Counted) -> None:
            while waiting:
                thing = waiting.popleft()
                self._done += 1
                if self._tell is not None:
                    self._tell(self._done, self._total, _words(thing))
                await work(driver, thing)

        await run_all(worker(driver) for driver in self._drivers)

    async def _outcome(self, visitor: Visitor, do: Callable[[], Awaitable[VisitOutcome]]) -> VisitOutcome:
        try:
            return await do()
        except PageLost as lost:
            await visitor.renew()
            return VisitOutcome(end="failed", why=str(lost))

    def _visitor(self, driver: _Counted) -> Visitor:
        async def on_repeated(attempt: Attempt) -> None:
            self.found.attempts.append((self._graph.transitions[attempt.transition], attempt))

        async def on_address_opened(state: PageState, observed: ObservedState | None) -> None:
            if observed is not None:
                now = replace(self._graph.states[state.id], direct=observed.id == state.id)
                self.found.renewed[state.id] = now
                self._graph.put(now)

        return Visitor(
            driver,
            self._graph,
            self._pacer,
            self._clock,
            pictures=True,
            on_repeated=on_repeated,
            on_address_opened=on_address_opened,
        )

    def _visitor_of(self, driver: _Counted) -> Visitor:
        return self._visitors[self._drivers.index(driver)]


class _Counted:
    """A driver that counts its work."""

    def __init__(self, driver: FetchingDriver, cost: Findings) -> None:
        self._driver, self._cost = driver, cost

    async def open(self, url: str) -> DriverResult:
        self._cost.opened += 1
        return await self._driver.open(url)

    async def act(self, operation: Operation, locator: Locator, value: str = "") -> DriverResult:
        self._cost.acted += 1
        return await self._driver.act(operation, locator, value)

    async def ask(self, url: str) -> FetchedDocument:
        self._cost.asked += 1
        return await self._driver.ask(url)

    async def look(self, *, picture: bool = True) -> PageCapture:
        return await self._driver.look(picture=picture)

    async def reopen(self) -> None:
        await self._driver.reopen()


def _words(thing: object) -> str:
    if isinstance(thing, PageState):
        return thing.keys.url
    return thing.words if isinstance(thing, Transition) else ""
