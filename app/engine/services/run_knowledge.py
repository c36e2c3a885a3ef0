"""Parts of the workspace that a run uses: tips at each step, and interaction graphs to navigate by."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from app.engine.agent.navigator import CompletedRoute, LikelyCandidates, StateCandidate
from app.engine.api.run_api import LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE
from app.engine.core.observation import NavigableSite, RetrievedTip
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import TipAtStep, TipOverride
from app.engine.services.graph_cache import GraphCache
from app.engine.services.graph_navigation import follow_path
from app.engine.services.graph_search import GraphSearchService
from app.engine.services.region_looks import PicturesCompared
from app.engine.services.retrieval import RetrievalService
from app.errors import NotFound
from kb.compiler import procedure_of
from kb.tip import Missed, Query, Retrieval, Retrieved, Route, Tip

if TYPE_CHECKING:
    from app.engine.browser.session import BrowserSession

MISSED_TIPS_SHOWN = 6
"""Near misses that a supervisor is shown, with the reason."""

Look = Callable[[Query, PageCapture], Awaitable[PicturesCompared]]
Ask = Callable[[Query], Awaitable[Retrieval]]
Find = Callable[[str], Awaitable[Tip | None]]


class TipOverrides(Protocol):
    """The supervisor's overrides of tips in one run, and the receiver of what each step retrieved."""

    def override(self, tip: str) -> TipOverride: ...
    def vote(self, tip: str) -> int: ...
    @property
    def pinned(self) -> Sequence[str]: ...
    def on_retrieval(self, tips: Sequence[TipAtStep], url: str, retrieval: Retrieval) -> None: ...


class RunKnowledge:
    """The knowledge base of one run: the live one, or a frozen file that is opened once.

    ``sites`` are those of a task across several: then each page's own site decides, not the run's.
    """

    def __init__(
        self, ask: Ask, find: Find, site: str, sites: tuple[str, ...] = (), look: Look | None = None
    ) -> None:
        self._ask, self._find, self._look = ask, find, look
        self._sites = sites if len(sites) > 1 else ()
        self._site = "" if self._sites else site
        self.steering: TipOverrides | None = None

    @classmethod
    async def open(
        cls, retrieval: RetrievalService, kb: str, site: str, sites: tuple[str, ...] = (), budget: int = 0
    ) -> RunKnowledge | None:
        """Open the knowledge base; ``None`` for a run without tips.  Raises ``InputError`` for an unusable file.

        ``budget`` is that of the tips of a step in tokens; 0 takes the settings'.
        """
        if kb == WITHOUT_KNOWLEDGE:
            return None
        if kb != LIVE_KNOWLEDGE:
            ask, find = await retrieval.open_frozen(kb, budget)
            frozen = await retrieval.tips_with_regions(kb)

            async def look_frozen(query: Query, page: PageCapture) -> PicturesCompared:
                return await retrieval.looks.on(query, page, frozen)

            return cls(ask, find, site, sites, look_frozen)

        async def ask_live(query: Query) -> Retrieval:
            return await retrieval.retrieve(query, budget=budget)

        async def look_live(query: Query, page: PageCapture) -> PicturesCompared:
            return await retrieval.looks.on(query, page, await retrieval.tips_with_regions())

        return cls(ask_live, retrieval.find_tip, site, sites, look_live)

    async def tips(self, query: Query, page: PageCapture | None = None) -> tuple[RetrievedTip, ...]:
        """Return the tips for a step, best first: pinned ones lead, muted ones are left out."""
        if not query.url.startswith(("http://", "https://")):
            return ()
        found = await self._found(replace(query, site=self._site, sites=self._sites), page)
        if self.steering is None:
            return tuple(_retrieved_tip(one.tip, _route_names(one), one.score) for one in found.results)
        return await self._steered(self.steering, found, query.url)

    async def _found(self, query: Query, page: PageCapture | None) -> Retrieval:
        """Retrieve by the query and by the page's picture, where that can be compared."""
        if self._look is None or page is None:
            return await self._ask(query)
        looks = await self._look(query, page)
        found = await self._ask(replace(query, looks=looks.looks))
        off = {**found.routes_off, Route.ANCHOR.value: looks.off} if looks.off else found.routes_off
        return replace(found, routes_off=off)

    async def _steered(self, steering: TipOverrides, found: Retrieval, url: str) -> tuple[RetrievedTip, ...]:
        come = {one.tip.id: one for one in found.results}
        pinned = [
            tip
            for name in steering.pinned
            if (tip := come[name].tip if name in come else await self._find(name)) is not None
        ]
        given = [
            _retrieved_tip(tip, ("pinned", *(_route_names(come[tip.id]) if tip.id in come else ())), 1.0)
            for tip in pinned
        ]
        kept = {tip.id for tip in pinned}
        here = [_tip_at_step(tip, come.get(tip.id), steering) for tip in pinned]
        for one in found.results:
            if one.tip.id in kept:
                continue
            muted = steering.override(one.tip.id) is TipOverride.MUTED
            here.append(
                replace(_tip_at_step(one.tip, one, steering), cut="muted for this run" if muted else "")
            )
            if not muted:
                given.append(_retrieved_tip(one.tip, _route_names(one), one.score))
        for miss in found.missed[:MISSED_TIPS_SHOWN]:
            if miss.tip.id not in kept:
                here.append(_missed_tip(miss, steering))
        steering.on_retrieval(here, url, found)
        return tuple(given)


def _route_names(one: Retrieved) -> tuple[str, ...]:
    return tuple(dict.fromkeys((one.route.value, *map(str, one.routes))))


def _retrieved_tip(tip: Tip, routes: tuple[str, ...], score: float) -> RetrievedTip:
    return RetrievedTip(
        tip=tip.id,
        text=tip.text,
        kind=tip.kind.value,
        routes=routes,
        score=round(score, 4),
        when=tip.when,
        do=tip.do,
        before=tip.before,
        procedure=procedure_of(tip),
    )


def _missed_tip(miss: Missed, steering: TipOverrides) -> TipAtStep:
    near = {str(route): round(score, 4) for route, score in miss.routes.items()}
    best = max(near, key=lambda route: near[route], default="")
    return replace(
        _tip_at_step(miss.tip, None, steering),
        cut=miss.reason,
        routes=near,
        route=best,
        score=near.get(best, 0.0),
    )


def _tip_at_step(tip: Tip, found: Retrieved | None, steering: TipOverrides) -> TipAtStep:
    return TipAtStep(
        tip=tip.id,
        text=tip.text,
        kind=tip.kind.value,
        route=found.route.value if found is not None else "",
        score=round(found.score, 4) if found is not None else 0.0,
        routes={str(route): round(score, 4) for route, score in found.routes.items()}
        if found is not None
        else {},
        why=found.why if found is not None else "",
        tokens=found.tokens if found is not None else 0,
        stance=steering.override(tip.id),
        vote=steering.vote(tip.id),
    )


class RunGraphs:
    """The graphs that a run may navigate by, in the run's own browser."""

    def __init__(
        self,
        graph_cache: GraphCache,
        finding: GraphSearchService,
        session: BrowserSession,
        domains: tuple[NavigableSite, ...],
        candidates: int = 0,
    ) -> None:
        self._graph_cache, self._finding, self._visit, self._domains = graph_cache, finding, session, domains
        self._candidates = candidates
        self.gate: Callable[[], Awaitable[object]] | None = None
        """Waits while a supervisor holds the run; awaited before each transition of a path."""

    @classmethod
    async def open(
        cls,
        graph_cache: GraphCache,
        finding: GraphSearchService,
        session: BrowserSession,
        sites: Sequence[str],
        candidates: int = 0,
    ) -> RunGraphs:
        """Load the graphs of these sites.  Raises ``NotFound`` for a site without a graph.

        ``candidates`` is how many states are found for a query; 0 for as many as a person is shown.
        """
        domains: list[NavigableSite] = []
        for site in sites:
            loaded = await graph_cache.load(site)
            domains.append(NavigableSite(name=site, states=len(loaded.graph.nodes), home=loaded.graph.home))
        return cls(graph_cache, finding, session, tuple(domains), candidates)

    def domains(self) -> tuple[NavigableSite, ...]:
        """Return the sites that the run may navigate by."""
        return self._domains

    async def find(self, domain: str, query: str) -> LikelyCandidates:
        """Return the first states of a domain for a query, the best first, without states that are gone."""
        choices = await self._finding.graph_choices(domain, query, self._candidates)
        graph = (await self._graph_cache.load(domain)).graph
        found: list[StateCandidate] = []
        for hit in choices.hits:
            pages = graph.pages_of(hit.node)
            if not pages or all(page.gone_at for page in pages):
                continue
            page = pages[0]
            found.append(
                StateCandidate(
                    node=hit.node,
                    title=hit.title,
                    url=hit.url,
                    headings=page.headings[:5],
                    controls=page.controls[:12],
                    score=hit.score,
                    matched=tuple(hit.matched),
                    picture=page.picture,
                )
            )
        return LikelyCandidates(choices.like and bool(found), found)

    async def back_to(self, state: str, url: str) -> bool:
        """Take the browser to a page state by whichever graph knows it; return whether it arrived.

        ``url`` is the state's address.  Raises ``SiteloreError`` where every path carries a risk.
        """
        for domain in self._domains:
            loaded = await self._graph_cache.load(domain.name)
            if state not in loaded.graph.pages:
                continue
            plan, arrivals = await follow_path(
                self._graph_cache, loaded, loaded.graph.node_of(state), self._visit
            )
            return len(arrivals) >= max(1, len(plan.transitions)) and arrivals[-1].kind.ok
        return False

    async def go(self, domain: str, node: str) -> CompletedRoute:
        """Take the run's browser to a state."""
        loaded = await self._graph_cache.load(domain)
        if node not in loaded.graph.nodes:
            raise NotFound(f"the graph of {domain} no longer has the state {node}")
        plan, arrivals = await follow_path(self._graph_cache, loaded, node, self._visit, gate=self.gate)
        page = self._visit.page
        return CompletedRoute(
            legs=tuple(leg.words for leg in plan.transitions),
            arrivals=arrivals,
            url=page.url,
            title=await page.title(),
        )
