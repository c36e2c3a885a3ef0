"""What an agent's run is given of the workspace: tips at each step, and graphs to be taken through."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from app.engine.agent.navigator import Candidate, Way
from app.engine.agent.sight import Domain, Hint
from app.engine.cases.atlas import Atlas
from app.engine.cases.finding import Finding
from app.engine.cases.retrieving import Retrieving
from app.engine.cases.wayfinding import walk
from app.engine.errors import NotFound
from app.engine.run_api import LIVE, NO_KNOWLEDGE
from kb.tip import Query, Retrieval

if TYPE_CHECKING:
    from app.engine.browser.session import Visit

TIPS = 8
"""Tips asked for at a step; the budget of tokens may cut more."""

Ask = Callable[[Query, int], Awaitable[Retrieval]]


class RunKnowledge:
    """The AKB as one run may ask it: the live one, or a frozen file that was opened once."""

    def __init__(self, ask: Ask, site: str) -> None:
        self._ask, self._site = ask, site
        self._known: dict[Query, tuple[Hint, ...]] = {}

    @classmethod
    async def open(cls, retrieving: Retrieving, kb: str, site: str) -> RunKnowledge | None:
        """``None`` for a run without tips.  Raises ``InputError`` for a file that is no knowledge base."""
        if kb == NO_KNOWLEDGE:
            return None
        if kb != LIVE:
            return cls(await retrieving.frozen(kb), site)

        async def ask(query: Query, k: int) -> Retrieval:
            return await retrieving.retrieve(query, k)

        return cls(ask, site)

    async def tips(self, url: str, goal: str) -> tuple[Hint, ...]:
        """Tips for a page and a goal, best first."""
        if not url.startswith(("http://", "https://")):
            return ()
        found = await self._ask(Query(url=url, text=goal, site=self._site), TIPS)
        return tuple(
            Hint(
                tip=one.tip.id,
                text=one.tip.text,
                kind=one.tip.kind.value,
                routes=tuple(dict.fromkeys((one.route.value, *map(str, one.routes)))),
                score=round(one.score, 4),
                when=one.tip.when,
                do=one.tip.do,
                before=one.tip.before,
            )
            for one in found.results
        )


class GraphAtlas:
    """The graphs that a run may navigate by, and its browser's ways through them."""

    def __init__(self, atlas: Atlas, finding: Finding, visit: Visit, domains: tuple[Domain, ...]) -> None:
        self._atlas, self._finding, self._visit, self._domains = atlas, finding, visit, domains

    @classmethod
    async def open(cls, atlas: Atlas, finding: Finding, visit: Visit, sites: Sequence[str]) -> GraphAtlas:
        """Raises ``NotFound`` for a site without a graph."""
        domains: list[Domain] = []
        for site in sites:
            sheet = await atlas.sheet(site)
            domains.append(Domain(name=site, states=len(sheet.graph.nodes), home=sheet.graph.home))
        return cls(atlas, finding, visit, tuple(domains))

    def domains(self) -> tuple[Domain, ...]:
        """Sites that may be navigated by."""
        return self._domains

    async def find(self, domain: str, query: str, k: int) -> Sequence[Candidate]:
        """The states of a domain that answer to a query, best first; those that are gone are left out."""
        hits = await self._finding.graph_search(domain, query, k=k)
        graph = (await self._atlas.sheet(domain)).graph
        found: list[Candidate] = []
        for hit in hits:
            pages = graph.pages_of(hit.node)
            if not pages or all(page.gone_at for page in pages):
                continue
            page = pages[0]
            found.append(
                Candidate(
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
        return found

    async def go(self, domain: str, node: str) -> Way:
        """Take the run's browser to a state."""
        sheet = await self._atlas.sheet(domain)
        if node not in sheet.graph.nodes:
            raise NotFound(f"the graph of {domain} has no state {node} any more")
        plan, arrivals = await walk(self._atlas, sheet, node, self._visit)
        page = self._visit.page
        return Way(
            legs=tuple(leg.words for leg in plan.transitions),
            arrivals=arrivals,
            url=page.url,
            title=await page.title(),
        )
