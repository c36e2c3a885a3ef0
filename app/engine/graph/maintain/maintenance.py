"""Keeps a map up to date (WebNavigator, appendix D): verify known states, mark removed ones, explore only new ones.

Nothing is deleted from the file: removed states are marked, and come back when they are found again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.engine.api.graph_api import ExploreOptions, ExploreReport, VerifyGraphReport
from app.engine.browser.driver import FetchingDriver
from app.engine.core.events import ExplorationChanged
from app.engine.core.page_state import PageState, Source
from app.engine.core.transition import FrontierStatus, ReplayVerdictKind, SkipReason, Transition
from app.engine.graph.explore.exploration_store import ExplorationStore, GraphTransaction, StoredExploration
from app.engine.graph.explore.explorer import Explorer
from app.engine.graph.explore.pacing import Clock, Pacer, SystemClock
from app.engine.graph.explore.robots import RobotsFile
from app.engine.graph.graph import InteractionGraph
from app.engine.graph.maintain.edge_migration import migrate_edges, unreachable
from app.engine.graph.maintain.findings import Findings, count_verdicts
from app.engine.graph.maintain.verification import Verification
from app.engine.graph.rules.block_list import BlockList
from app.errors import UsageError

_INHERITED = SkipReason.INHERITED
_TRIED = (FrontierStatus.TRIED, FrontierStatus.FAILED)
_SEEN = (ReplayVerdictKind.EXACT, ReplayVerdictKind.SAME_TEMPLATE)

OnProgress = Callable[[int, int, str], None]


class MaintenanceStore(ExplorationStore, Protocol):
    """The graph storage that maintenance needs."""

    async def begin_update(self, home: str, options: dict[str, object], at: float) -> int: ...
    async def mark_gone(self, pages: Collection[str], transitions: Collection[str], at: float) -> None: ...


@dataclass(slots=True)
class MaintenanceResult:
    """The result of a verification.

    ``known`` are, by new state, keys of elements that are not new there; ``exploration`` is the number that new
    states were assigned to.
    """

    report: VerifyGraphReport
    findings: Findings
    known: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    exploration: int = 0


async def verify(
    graph: InteractionGraph,
    keeper: MaintenanceStore,
    drivers: Sequence[FetchingDriver],
    *,
    rate: float = 0.0,
    delay: float = 0.0,
    thorough: bool = False,
    tell: OnProgress | None = None,
    clock: Clock | None = None,
    exploration: int = 0,
) -> MaintenanceResult:
    """Verify every explored state and transition; mark what is gone, store what has changed.

    States known from runs alone are left as they are: those sites must not be visited.

    Args:
        rate: maximum requests a second (``pacing.Pacer``).
        delay: minimum seconds between two.
        thorough: open every page and make every transition, whatever the server says.
        exploration: number that new states are assigned to; 0 for the last exploration.

    Raises:
        UsageError: there is nothing to verify.
        SiteloreError: the site does not respond, or asks for a login; then nothing was changed.
    """
    chosen: Clock = clock or SystemClock()
    began = chosen.tick()
    memory = await keeper.memory()
    states = [state for state in memory.states if not state.gone_at and state.source is not Source.RUN]
    known = {state.id for state in states}
    transitions = [
        found
        for found in memory.transitions
        if not found.gone_at and found.source in known and found.target in known
    ]
    if not states:
        raise UsageError(
            f"{graph.site} has no explored states to verify",
            remedy="explore the site first",
        )
    verification = Verification(
        memory.home or graph.home,
        states,
        transitions,
        drivers,
        pacer=Pacer(memory.home or graph.home, rate, chosen, delay=delay),
        clock=chosen,
        exploration=exploration or memory.exploration,
        thorough=thorough,
        tell=tell,
    )
    findings = await verification.run()
    gone, gone_transitions = await _store_findings(keeper, states, transitions, findings, chosen.now())
    report = VerifyGraphReport(
        site=graph.site,
        states=len({graph.node_of(state.id) for state in states if state.id in graph.pages}),
        transitions=len(transitions),
        arrivals=count_verdicts(findings),
        gone_states=_nodes(graph, gone),
        gone_transitions=tuple(sorted(gone_transitions)),
        changed_states=_nodes(graph, set(findings.replaced)),
        seconds=round(chosen.tick() - began, 2),
        loads=findings.opened + findings.acted,
    )
    by_old = {new: old for old, new in findings.replaced.items()}
    keys = {state.id: set(state.element_keys) for state in states}
    unread = {
        new: findings.unread.get(new, set()) | keys.get(by_old.get(new, ""), set())
        for new in (*findings.states, *findings.again)
    }
    return MaintenanceResult(report, findings, unread, exploration or memory.exploration)


async def update(
    graph: InteractionGraph,
    keeper: MaintenanceStore,
    drivers: Sequence[FetchingDriver],
    *,
    options: ExploreOptions,
    rules: BlockList,
    robots: RobotsFile | None = None,
    tell: OnProgress | None = None,
    progress: Callable[[ExplorationChanged], None] = lambda _: None,
    clock: Clock | None = None,
) -> tuple[VerifyGraphReport, ExploreReport]:
    """Verify, then explore from the new elements of changed pages, and from new pages, to the same depth as before.

    The report's ``tried`` counts only this update's attempts; its other counts cover the whole map.

    Raises: as ``verify`` and ``Explorer.run``.
    """
    chosen: Clock = clock or SystemClock()
    memory = await keeper.memory()
    home = memory.home or graph.home
    asked: dict[str, object] = dataclasses.asdict(options)
    number = await keeper.begin_update(home, asked, chosen.now())
    try:
        done = await verify(
            graph,
            keeper,
            drivers,
            rate=options.rate,
            delay=robots.delay if robots is not None and options.obey_robots else 0.0,
            tell=tell,
            clock=chosen,
            exploration=number,
        )
    except BaseException:
        await keeper.end(number, "failed", chosen.now(), ())
        raise
    going_on = _GoingOn(keeper, number, home, asked, done)
    explorer = Explorer(
        graph.site,
        home,
        replace(options, resume=True),
        store=going_on,
        rules=rules,
        drivers=drivers,
        tell=progress,
        clock=clock,
        robots=robots,
        known=done.known,
    )
    explored = await explorer.run()
    return done.report, replace(explored, tried=explored.tried - going_on.tried_before)


class _GoingOn:
    """The graph's store as the explorer is to see it: an exploration interrupted before new elements were planned."""

    def __init__(
        self,
        keeper: MaintenanceStore,
        number: int,
        home: str,
        options: Mapping[str, object],
        done: MaintenanceResult,
    ) -> None:
        self._keeper, self._number, self._home, self._options = keeper, number, home, options
        self.tried_before = 0
        self._again = set(done.findings.again)
        self._new, self._replaced = set(done.known), set(done.findings.replaced)
        self.begin, self.resume, self.end = keeper.begin, keeper.resume, keeper.end
        self.elements = keeper.elements

    async def save(self, entry: GraphTransaction) -> None:
        """Store, keeping what is known of the other elements of a page that gained some."""
        items = (
            item for item in entry.items if item.page not in self._again or item.reason is not _INHERITED
        )
        await self._keeper.save(replace(entry, items=tuple(items)))

    async def memory(self) -> StoredExploration:
        memory = await self._keeper.memory()
        # Items of pages that are gone are no evidence: the pages, or their targets, may have come back.
        told = self._replaced | {state.id for state in memory.states if not state.gone_at} - self._new
        items = tuple(item for item in memory.items if item.page in told)
        self.tried_before = sum(item.status in _TRIED for item in items)
        return replace(
            memory,
            items=items,
            transitions=tuple(found for found in memory.transitions if not found.gone_at),
            exploration=self._number,
            home=self._home,
            ended="",
            options=dict(self._options),
            depths=(),
        )


async def _store_findings(
    keeper: MaintenanceStore,
    states: Sequence[PageState],
    transitions: Sequence[Transition],
    findings: Findings,
    at: float,
) -> tuple[set[str], set[str]]:
    """Store the findings; return the states and transitions that are gone for good."""
    for found, attempt in findings.attempts:
        await keeper.save(GraphTransaction(at=at, transitions=((found, attempt),)))
    for state, contents in (*findings.states.values(), *findings.again.values()):
        await keeper.save(GraphTransaction(at=at, exploration=state.exploration, states=((state, contents),)))
    steady = [found for found in transitions if found.id not in findings.broken]
    moves = migrate_edges(steady, findings.replaced, findings.looks, findings.gone)
    made = {found.id: found for found in findings.found} | {new.id: new for _, new in moves.made}
    lost_transitions = (moves.gone | findings.broken) - set(made)
    remaining = [state for state in states if state.id not in findings.gone | set(findings.replaced)]
    remaining = [findings.renewed.get(state.id, state) for state in remaining]
    remaining += [state for state, _ in findings.states.values()]
    left = [found for found in steady if found.id not in lost_transitions]
    alone = unreachable({state.id for state in remaining}, findings.direct, [*left, *made.values()])
    gone = findings.gone | alone
    lost_transitions |= {
        found.id for found in [*left, *made.values()] if found.source in alone or found.target in alone
    }
    await keeper.save(
        GraphTransaction(
            at=at,
            states=tuple((state, None) for state in findings.renewed.values() if state.id not in gone),
            seen=tuple(
                state.id
                for state in remaining
                if state.id not in gone
                and findings.arrivals.get(state.id) in _SEEN
                and state.id not in findings.states
            ),
            transitions=tuple((found, None) for found in made.values() if found.id not in lost_transitions),
        )
    )
    await keeper.mark_gone(gone | set(findings.replaced), lost_transitions, at)
    renamed = {old.id for old, _ in moves.made}
    return gone, {found.id for found in transitions if found.id in lost_transitions} - renamed


def _nodes(graph: InteractionGraph, pages: Collection[str]) -> tuple[str, ...]:
    touched = {graph.node_of(page) for page in pages if page in graph.pages}
    whole = (
        node for node in touched if all(page.gone_at or page.id in pages for page in graph.pages_of(node))
    )
    return tuple(sorted(whole))
