"""Explores a site and maintains its graph; a job that can be paused, resumed and stopped."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit

from app import settings
from app.engine.api.graph_api import ExploreOptions, ExploreReport, HostMap, UpdateReport, VerifyGraphReport
from app.engine.core.events import ExplorationChanged, GraphChanged
from app.engine.graph.annotations import suspect_tips
from app.engine.graph.explore.robots import AGENT, MAX_BYTES, RobotsFile
from app.engine.graph.rules.block_list import BlockList
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.graph_cache import GraphCache, LoadedGraph
from app.engine.services.graph_recording import StoredGraphRecorder
from app.engine.services.knowledge import KnowledgeService
from app.engine.services.site_logins import saved_login
from app.engine.services.site_starts import learn_host, start_address
from app.engine.store.database import translated_errors
from app.engine.store.locks import FileLock
from app.errors import Conflict, NotFound, SiteloreError
from kb.private import make_folder
from kb.tip import Status

if TYPE_CHECKING:
    from app.engine.graph.explore.explorer import Explorer

ROBOTS_TIMEOUT = 5.0

T = TypeVar("T")

GRAPH_NOTICE_INTERVAL = 1.0
"""Seconds between two notices that the graph has grown."""


@dataclass(slots=True)
class _RunningExploration:
    job: Job
    explorer: Explorer


class ExplorationService:
    """Explorations, at most one a site at a time."""

    def __init__(self, core: Core, graph_cache: GraphCache, knowledge: KnowledgeService) -> None:
        self._core, self._graph_cache, self._knowledge = core, graph_cache, knowledge
        self._running: dict[str, _RunningExploration] = {}
        self._busy: set[str] = set()

    async def host_maps(self, url: str, site: str = "") -> list[HostMap]:
        """Return the maps that begin on the host of an address, or of the site's start page, the largest first."""
        address = await start_address(self._core, url, site)
        found: list[HostMap] = []
        for name in await self._core.on_store(self._maps_of, address):
            loaded = await self._graph_cache.load(name)
            found.append(HostMap(site=name, states=len(loaded.graph.nodes)))
        return sorted(found, key=lambda one: (-one.states, one.site))

    async def explore(
        self, url: str, site: str = "", options: ExploreOptions | None = None, second_map: bool = False
    ) -> ExploreReport:
        """Explore a site from its home page, or resume an unfinished exploration.

        Without an address it begins at the site's start page.  A map belongs to a host: another name than its map has
        begins a second one only with ``second_map``.

        Raises:
            UsageError: not an address.  Conflict: this site is being explored, or its host has a map of another name.
            InputError: the rule file or the recorded log-in can't be read.
        """
        address = await start_address(self._core, url, site)
        maps = await self._core.on_store(self._maps_of, address)
        if not second_map and needs_second_map(site.strip(), self._core.workspace.site_of(address), maps):
            others = await self.host_maps(address)
            told = " and ".join(f"{one.site} ({one.states} states)" for one in others)
            raise Conflict(
                f"{urlsplit(address).netloc} is already mapped as {told}; extend it with --site {others[0].site},"
                " or make a second map of it with --second-map"
            )
        name, note = map_to_extend(site.strip(), self._core.workspace.site_of(address), maps)
        chosen = options or ExploreOptions()
        rules = await self._rules(name, chosen.block_list)

        async def work(job: Job) -> ExploreReport:
            report = await self._explore(job, name, address, chosen, rules)
            return replace(report, notes=(note, *report.notes)) if note else report

        report = await self.alone(name, f"Explore {name}", work, cooperative=True)
        if report.states:
            await learn_host(self._core, name, address)
        return report

    async def pause_exploration(self, site: str) -> None:
        """Try no further element until resumed."""
        self._of(site).explorer.pause()

    async def resume_exploration(self, site: str) -> None:
        """Resume after a pause."""
        self._of(site).explorer.resume()

    async def stop_exploration(self, site: str) -> None:
        """End an exploration after the operation in flight; it can be resumed later."""
        running = self._of(site)
        running.job.request_cancel()
        running.explorer.stop()

    async def graph_verify(
        self, site: str, storage_state: str = "", thorough: bool = False
    ) -> VerifyGraphReport:
        """Verify every state and transition: mark what is gone, and make tips about it suspect.

        ``thorough`` also opens pages whose server answer is unchanged.
        """
        loaded = await self._graph_cache.load(site)
        login = storage_state or saved_login(site)

        async def work(job: Job) -> VerifyGraphReport:
            from app.engine.browser.browser_pool import BrowserPool
            from app.engine.graph.maintain.maintenance import verify

            async with BrowserPool(settings.load().browser, storage_state=login) as browsers:
                done = await verify(
                    loaded.graph,
                    StoredGraphRecorder(self._core, site),
                    browsers.drivers(2),
                    thorough=thorough,
                    tell=job.advance,
                )
            return await self._suspected(loaded, done.report)

        return await self.alone(site, f"Verify the map of {site}", work)

    async def graph_update(self, site: str, options: ExploreOptions | None = None) -> UpdateReport:
        """Verify, then explore what is new."""
        before = await self._graph_cache.load(site)
        chosen = options or ExploreOptions()
        rules = await self._rules(site, chosen.block_list)
        login = chosen.storage_state or saved_login(site)

        async def work(job: Job) -> UpdateReport:
            from app.engine.browser.browser_pool import BrowserPool
            from app.engine.graph.diff import diff_graphs
            from app.engine.graph.maintain.maintenance import update

            robots = await self._core.on_worker(read_robots, before.graph.home)
            setting = settings.load().browser
            async with BrowserPool(
                setting, headed=chosen.headed, size=chosen.viewport, storage_state=login
            ) as browsers:
                verified, explored = await update(
                    before.graph,
                    StoredGraphRecorder(self._core, site),
                    browsers.drivers(chosen.workers),
                    options=replace(chosen, storage_state="", mode=before.graph.mode),
                    rules=rules,
                    robots=robots,
                    tell=job.advance,
                    progress=self._core.bus.publish,
                )
            after = await self._graph_cache.load(site)
            return UpdateReport(
                verify=await self._suspected(before, verified),
                explore=explored,
                diff=await self._core.on_worker(diff_graphs, before.graph, after.graph),
                loads=verified.loads + explored.tried,
            )

        return await self.alone(site, f"Update the map of {site}", work)

    async def is_in_use(self, site: str) -> bool:
        """Return whether a job of this process or another one works on the site's map."""
        if site in self._busy:
            return True
        path = self._core.workspace.lock_path(site)

        def held() -> bool:
            if not path.exists():
                return False
            with translated_errors(path), FileLock(path) as lock:
                return not lock.take_soon()

        return await self._core.on_worker(held)

    # inside

    async def alone(
        self,
        site: str,
        title: str,
        work: Callable[[Job], Coroutine[Any, Any, T]],
        *,
        cooperative: bool = False,
    ) -> T:
        """Run a job that works on a site, excluding any other one in this process and in others."""
        if site in self._busy:
            raise Conflict(f"{site} is already in use by another job; pause or stop it first")
        path = self._core.workspace.lock_path(site)
        lock = FileLock(path)
        with translated_errors(path):
            make_folder(path.parent, parents=True)
            if not lock.take():
                raise Conflict(f"{site} is in use by another process; pause or stop it first")
        self._busy.add(site)
        try:
            _, task = self._core.registry.start(title, work, cooperative=cooperative)
            return await task
        finally:
            self._busy.discard(site)
            lock.release()
            self._core.bus.publish(GraphChanged(site=site))

    def _maps_of(self, address: str) -> list[str]:
        """Return the sites whose maps begin on the host of an address; a file that can't be read belongs to none."""
        workspace, found = self._core.workspace, list[str]()
        for site in workspace.graph_sites():
            with suppress(SiteloreError):
                home = workspace.graph(site).home
                if home and urlsplit(home).netloc == urlsplit(address).netloc:
                    found.append(site)
        return found

    async def _suspected(self, before: LoadedGraph, report: VerifyGraphReport) -> VerifyGraphReport:
        """Make tips about what is gone suspect; undo restores them."""
        site = before.graph.site
        after = (await self._graph_cache.load(site)).graph
        known = await self._core.on_store(self._core.kb.tips, site)
        stood, stand = (
            [page for page in graph.pages.values() if not page.gone_at] for graph in (before.graph, after)
        )
        hosts = self._graph_cache.hosts(after)
        tips = await self._core.on_worker(suspect_tips, stood, stand, site, known, hosts)
        if tips:
            await self._knowledge.set_status(tips, Status.SUSPECT)
        return replace(report, suspect_tips=tips)

    def _of(self, site: str) -> _RunningExploration:
        if site not in self._running:
            raise NotFound(f"{site} is not being explored")
        return self._running[site]

    async def _rules(self, site: str, file: str) -> BlockList:
        """Return the rules in force: the file's, then the site's own, then the built-in ones."""

        def reading() -> BlockList:
            own = self._core.workspace.rules_path(site)
            rules = BlockList.load(own) if own.exists() else BlockList.builtin()
            rules = BlockList.load(Path(file).expanduser()).before(rules) if file else rules
            return replace(rules, guarded=True)

        return await self._core.on_worker(reading)

    async def _explore(
        self, job: Job, site: str, address: str, options: ExploreOptions, rules: BlockList
    ) -> ExploreReport:
        from app.engine.browser.browser_pool import BrowserPool
        from app.engine.graph.explore.explorer import Explorer

        login = options.storage_state or saved_login(site)
        told, began = 0.0, time.monotonic()

        def tell(event: ExplorationChanged) -> None:
            nonlocal told
            job.advance(event.states, options.max_states, event.trying)
            self._core.bus.publish(event)
            if job.cancel_requested:
                explorer.stop()
            if time.monotonic() - told >= GRAPH_NOTICE_INTERVAL:
                told = time.monotonic()
                self._core.bus.publish(GraphChanged(site=site))

        setting = settings.load().browser
        async with BrowserPool(
            setting,
            headed=options.headed,
            size=options.viewport,
            storage_state=login,
            starts=options.max_seconds,
        ) as browsers:
            job.advance(0, options.max_states, "reading robots.txt")
            robots = await self._core.on_worker(read_robots, address)
            explorer = Explorer(
                site,
                address,
                replace(
                    options, storage_state=""
                ),  # it is the browser's; a path of this machine is not stored
                store=StoredGraphRecorder(self._core, site),
                rules=rules,
                drivers=browsers.drivers(options.workers),
                tell=tell,
                robots=robots,
                spent=time.monotonic() - began,
            )
            self._running[site] = _RunningExploration(job, explorer)
            try:
                report = await explorer.run()
            finally:
                self._running.pop(site, None)
                self._core.bus.publish(GraphChanged(site=site))
        return replace(report, notes=(*rules.notes, *report.notes))


def needs_second_map(asked: str, host: str, maps: Sequence[str]) -> bool:
    """Return whether an exploration would begin another map of a host that has one; arguments as below."""
    return bool(maps) and (asked not in maps if asked else host not in maps and len(maps) > 1)


def map_to_extend(asked: str, host: str, maps: Sequence[str]) -> tuple[str, str]:
    """Return the site whose map an exploration extends, and a note on it: a map belongs to a host, not to a name.

    Args:
        asked: the site's name as given, "" for none.
        host: the site of the address by the table of sites.
        maps: sites whose maps begin on this host.
    """
    if not asked:
        name = host if host in maps or len(maps) != 1 else maps[0]
        return (
            name,
            f"this host has the map '{name}', which is extended" if name in maps and name != host else "",
        )
    others = ", ".join(f"'{one}'" for one in maps if one != asked)
    return asked, f"this host has another map, too: {others}; --site extends it" if others else ""


def read_robots(home: str) -> RobotsFile:
    """Fetch a site's robots.txt; blocks."""
    request = urllib.request.Request(urljoin(home, "/robots.txt"), headers={"User-Agent": AGENT})
    try:
        with urllib.request.urlopen(request, timeout=ROBOTS_TIMEOUT) as answer:
            return RobotsFile.from_response(answer.status, _read_with_deadline(answer))
    except HTTPError as error:
        with error:
            return RobotsFile.from_response(error.code)
    except (URLError, OSError, HTTPException):
        return RobotsFile.from_response(0)


def _read_with_deadline(answer: HTTPResponse) -> bytes:
    """Read the beginning of a response within the deadline.  Raises ``OSError``."""
    deadline, parts, size = time.monotonic() + ROBOTS_TIMEOUT, list[bytes](), 0
    while size < MAX_BYTES and (part := answer.read1(MAX_BYTES - size)):
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise TimeoutError(f"robots.txt did not arrive within {ROBOTS_TIMEOUT:.0f} s")
    return b"".join(parts)
