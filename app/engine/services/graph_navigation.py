"""Paths through a graph, followed in a live browser with every arrival verified."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from app import settings
from app.engine.api.graph_api import Journey, PathPlan
from app.engine.core.events import GraphChanged, SitesChanged
from app.engine.core.identity import keys_of, page_id
from app.engine.core.page_state import Source
from app.engine.core.transition import Attempt, ReplayVerdict, Transition
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.graph_cache import GraphCache, LoadedGraph, checked_address
from app.engine.services.site_logins import login_path, saved_login
from app.engine.store.blob_store import pack_blobs
from app.errors import NotFound, SiteloreError

if TYPE_CHECKING:
    from app.engine.browser.live_browser import LiveBrowser
    from app.engine.browser.session import BrowserSession


class GraphNavigationService:
    """Plans paths, and keeps one open browser a site."""

    def __init__(self, core: Core, graph_cache: GraphCache) -> None:
        self._core, self._graph_cache = core, graph_cache
        self._browsers: dict[str, LiveBrowser] = {}

    async def graph_path(self, site: str, to: str, start: str = "") -> PathPlan:
        """Return the cheapest path to a state, from another one or from the home page."""
        loaded = await self._graph_cache.load(site)
        plan = loaded.graph.plan(loaded.node(start) if start else "", loaded.node(to))
        return self._named(loaded, plan)

    async def graph_navigate(
        self, site: str, to: str, headed: bool = False, fresh: bool = False, storage_state: str = ""
    ) -> Journey:
        """Take a live browser to a state from its current page, comparing each arrival with the expected state.

        The browser stays open for the next path; ``fresh`` starts a new one.  Without ``storage_state`` a log-in
        made by hand for this site is used.
        """
        loaded = await self._graph_cache.load(site)
        node = loaded.node(to)

        async def work(job: Job) -> Journey:
            job.advance(0, None, "starting the browser")
            live = await self._live(site, headed=headed, fresh=fresh, storage_state=storage_state)
            return await self._go(loaded, node, live, job)

        _, task = self._core.registry.start(
            f"Go to {loaded.row(node).title or node[:8]}", work, cooperative=False
        )
        journey = await task
        self._core.bus.publish(GraphChanged(site=site))
        return journey

    async def close_browser(self, site: str) -> None:
        """Close the site's browser, if one is open."""
        live = self._browsers.pop(site, None)
        if live is not None:
            await live.aclose()

    async def log_in_by_hand(self, site: str, url: str) -> str:
        """Open a visible browser for a manual log-in; return the address.  ``logged_in`` saves the result."""
        from app.engine.browser.launch.launcher import has_display

        address = checked_address(url)
        if not has_display():
            raise SiteloreError(
                "there is no display here to show a browser on; log in elsewhere and keep the recorded log-in:"
                f" sitelore sites login {site} --storage-state FILE"
            )
        live = await self._live(site, headed=True, fresh=True, storage_state="", remembered=False)
        from app.engine.browser.page_loading import open_page

        done = await open_page(live.session, address)
        if done.error:
            await self.close_browser(site)
            raise SiteloreError(done.error)
        return live.session.page.url

    async def logged_in(self, site: str) -> str:
        """Save the log-in of the visible browser, readable by its owner alone, and close it; return the path."""
        live = self._browsers.get(site)
        if live is None or not live.is_open:
            self._browsers.pop(site, None)
            raise NotFound(f"no browser is open for {site}; choose to log in by hand first")
        path = login_path(site)
        await live.save_login_state(path)
        await self.close_browser(site)
        self._core.bus.publish(SitesChanged())
        return str(path)

    async def aclose(self) -> None:
        """Close every browser."""
        for site in list(self._browsers):
            await self.close_browser(site)

    # inside

    async def _live(
        self, site: str, *, headed: bool, fresh: bool, storage_state: str, remembered: bool = True
    ) -> LiveBrowser:
        from app.engine.browser.live_browser import LiveBrowser

        live = self._browsers.get(site)
        if live is not None and (fresh or storage_state or live.headed != headed or not live.is_open):
            await self.close_browser(site)
            live = None
        if live is None:
            login = storage_state or (saved_login(site) if remembered else "")
            live = await LiveBrowser.open(settings.load().browser, headed=headed, storage_state=login)
            self._browsers[site] = live
        return live

    async def _go(self, loaded: LoadedGraph, node: str, live: LiveBrowser, job: Job) -> Journey:
        began = time.monotonic()
        plan, arrivals = await follow_path(self._graph_cache, loaded, node, live.session, job.advance)
        last = arrivals[-1]
        wanted = max(1, len(plan.transitions))
        arrived = len(arrivals) >= wanted and last.kind.ok
        return Journey(
            plan=self._named(loaded, plan),
            arrivals=arrivals,
            arrived=arrived,
            url=live.session.page.url,
            picture=await self._picture(live),
            why="" if arrived else last.why or last.kind.value,
            seconds=round(time.monotonic() - began, 2),
        )

    async def _picture(self, live: LiveBrowser) -> str:
        from app.engine.browser.capture.snapshot import PageGone, capture

        try:
            picture = (await capture(live.session)).picture
        except PageGone:
            return ""
        if not picture:
            return ""
        digest = hashlib.sha256(picture).hexdigest()
        packed = await self._core.on_worker(pack_blobs, {digest: picture})
        await self._core.on_store(self._core.workspace.runs.blobs.add, packed)
        return digest

    @staticmethod
    def _named(loaded: LoadedGraph, plan: PathPlan) -> PathPlan:
        node_of = loaded.graph.grouping.node_of
        return replace(plan, nodes=tuple(node_of.get(name, name) for name in plan.nodes))


async def follow_path(
    graph_cache: GraphCache,
    loaded: LoadedGraph,
    node: str,
    session: BrowserSession,
    tell: Callable[[int, int, str], None] | None = None,
    gate: Callable[[], Awaitable[object]] | None = None,
) -> tuple[PathPlan, tuple[ReplayVerdict, ...]]:
    """Take a browser from its current page to a node; verify each arrival and store it as an attempt.

    ``gate`` is awaited before each transition: it waits while a supervisor holds the run.

    Raises ``SiteloreError`` where there is no path, or only one that would change something.
    """
    from app.engine.browser.page_loading import open_page
    from app.engine.graph.replay.path_replayer import PathReplayer

    graph = loaded.graph

    async def record(attempt: Attempt) -> None:
        if attempt.transition in graph.transitions:
            await graph_cache.with_store(graph.site, lambda store: store.add_attempt(attempt))

    replayer = PathReplayer(session, graph.pages, home=graph.home, record=record)
    if session.page.url in ("", "about:blank"):
        done = await open_page(session, graph.home)
        if done.error:
            raise SiteloreError(done.error)
    plan = graph.plan(await current_state(session, loaded), node)
    refuse_risky_path(plan)

    async def before(number: int, transition: Transition) -> None:
        if tell is not None:
            tell(number, len(plan.transitions), transition.words)
        if gate is not None:
            await gate()

    if plan.transitions:
        return plan, await replayer.go(plan.transitions, before)
    return plan, (await replayer.go_to_state(graph.pages_of(node)[0]),)


async def current_state(session: BrowserSession, loaded: LoadedGraph) -> str:
    """Return the page state in front, "" for one that the graph does not know."""
    from app.engine.browser.capture.snapshot import PageGone, capture

    try:
        page = await capture(session, picture=False)
    except PageGone:
        return ""
    found = page_id(keys_of(page, loaded.graph.home))
    return found if found in loaded.graph.pages else ""


def refuse_risky_path(plan: PathPlan) -> None:
    """Raise ``SiteloreError`` for a path that repeats a run's action which no rule would let an exploration do.

    A run may have ordered something; navigating must not order it again.
    """
    for leg in plan.transitions:
        if leg.found_by is Source.RUN and leg.risk > 0:
            raise SiteloreError(
                f"the only way known passes '{leg.words}', which a run did and which may change something;"
                " nothing was done. Go there by hand, or explore the site for another way"
            )
