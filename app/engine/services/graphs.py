"""The workspace's interaction graphs: list, draw, inspect, correct, compare, export."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from app.engine.api.graph_api import (
    GraphDiff,
    GraphPicture,
    GraphRow,
    GraphStats,
    LabReport,
    NodeDetail,
    ScopeCoverage,
)
from app.engine.core import identity
from app.engine.core.events import GraphChanged
from app.engine.core.page_state import Element, GraphEdit, GraphEditKind, Mode
from app.engine.core.transition import Source, Transition
from app.engine.graph.layout import layout
from app.engine.jobs import Job
from app.engine.services.core import Core, on_store
from app.engine.services.graph_cache import GraphCache, LoadedGraph, node_transitions, representative_page
from app.engine.services.graph_recording import read_elements
from app.engine.store.graph.graph_store import GraphStore
from app.engine.store.workspace import Workspace
from app.errors import InputError, NotFound, StoreError, UsageError
from kb.private import make_folder
from kb.retrieval import scope_holds
from kb.tip import Scope

MAX_SHOWN_TEXT = 20_000
"""Characters of a page's text shown in a panel."""


class GraphService:
    """Use cases on stored graphs; no page is visited."""

    def __init__(self, core: Core, graph_cache: GraphCache) -> None:
        self._core, self._graph_cache = core, graph_cache

    @on_store
    def graphs(self) -> list[GraphRow]:
        """Return the graphs of the workspace, by site."""
        return [self._row(site) for site in sorted(self._core.workspace.graph_sites())]

    async def scope_coverage(self, site: str, scope: Scope) -> ScopeCoverage:
        """Count the pages of a site's map on which a scope of that site holds."""
        if site not in await self._core.on_store(self._core.workspace.graph_sites):
            return ScopeCoverage(holds=0, pages=0)
        loaded = await self._graph_cache.load(site)
        urls, hosts = (
            [page.url for page in loaded.graph.pages.values()],
            self._graph_cache.hosts(loaded.graph),
        )
        held = sum(scope_holds(scope, url, hosts) for url in urls)
        return ScopeCoverage(holds=held, pages=len(urls))

    @on_store
    def graph_stats(self, site: str) -> GraphStats:
        """Return a graph's figures."""
        return _stats(self._graph_cache.store(site), self._graph_cache.load_on_store(site))

    async def graph_picture(self, site: str, tidy: bool = False) -> GraphPicture:
        """Lay out the map; placed nodes stay, unless ``tidy`` asks for a new layout."""
        loaded = await self._graph_cache.load(site)
        before = {} if tidy else await self._graph_cache.with_store(site, lambda store: store.positions())

        def drawing() -> tuple[GraphPicture, dict[str, tuple[float, float]]]:
            return _draw(loaded, before)

        picture, placed = await self._core.on_worker(drawing)
        if placed != before:
            await self._graph_cache.with_store(site, lambda store: store.put_positions(placed))
        return picture

    @on_store
    def graph_node(self, site: str, node: str) -> NodeDetail:
        """Return everything about one state."""
        loaded = self._graph_cache.load_on_store(site)
        return self._detail(loaded, self._graph_cache.store(site), loaded.node(node))

    async def graph_from_runs(self, site: str) -> GraphRow:
        """Build or extend a graph from the stored runs; nothing is visited."""
        from app.engine.services.graph_from_runs import add_runs

        def passed() -> list[str]:
            steps = self._core.workspace.index.stored_steps()
            return list(dict.fromkeys(step.run for step in steps if step.site == site))

        runs = await self._core.on_store(passed)
        if not runs:
            raise NotFound(f"no stored run passed {site!r}; 'sitelore runs list' names the sites")

        def adding() -> None:
            # Connections of its own, so that the window's questions don't wait for some hundred runs.
            with Workspace.open(self._core.workspace.path) as own:
                add_runs(own, own.graph(site), runs)

        async def work(job: Job) -> None:
            job.advance(0, len(runs), "reading the runs")
            await self._core.on_worker(adding)

        _, task = self._core.registry.start(f"Map of {site} from its runs", work)
        await task
        self._core.bus.publish(GraphChanged(site=site))

        def row() -> GraphRow:
            return graph_row(self._graph_cache.store(site), self._graph_cache.load_on_store(site))

        return await self._core.on_store(row)

    async def graph_diff(self, site: str, other: str = "") -> GraphDiff:
        """Compare the last two explorations, or the graph with an exported one."""
        from app.engine.graph.diff import diff_explorations, diff_graphs
        from app.engine.graph.export_reader import read_graph

        loaded = await self._graph_cache.load(site)
        if other:
            return diff_graphs(await self._core.on_worker(read_graph, Path(other).expanduser()), loaded.graph)
        explorations = await self._graph_cache.with_store(site, lambda store: store.explorations())
        return diff_explorations(loaded.graph, explorations)

    async def graph_export(self, site: str, out: str, format: str = "json") -> int:
        """Write the graph as ``json`` (node-link), ``graphml``, ``gexf`` or ``webnavigator``; return its states."""
        from app.engine.graph.export_writer import export_graph

        loaded = await self._graph_cache.load(site)
        return await self._core.on_worker(export_graph, loaded.graph, Path(out).expanduser(), format)

    async def merge_nodes(self, site: str, nodes: Sequence[str]) -> str:
        """Merge states; return the id.  Undo splits them again."""

        def merging() -> str:
            loaded = self._graph_cache.load_on_store(site)
            chosen = list(dict.fromkeys(loaded.node(node) for node in nodes))
            if len(chosen) < 2:
                raise UsageError("merging needs at least two states")
            titles = " and ".join(
                f"'{representative_page(loaded.graph.pages_of(node)).title}'" for node in chosen[:2]
            )
            more = f" and {len(chosen) - 2} more" if len(chosen) > 2 else ""
            self._decide(site, GraphEditKind.MERGE, chosen, f"merge {titles}{more}")
            return chosen[0]

        merged = await self._core.do_in_review(merging)
        self._core.bus.publish(GraphChanged(site=site))
        return (await self._graph_cache.load(site)).node(merged)

    async def split_node(self, site: str, node: str) -> list[str]:
        """Split a state into the page states it stands for; return their ids.  Undo merges them again."""

        def splitting() -> list[str]:
            loaded = self._graph_cache.load_on_store(site)
            found = loaded.node(node)
            pages = loaded.graph.pages_of(found)
            if len(pages) < 2:
                raise UsageError(f"state {found[:8]} stands for a single page; there is nothing to split")
            title = representative_page(pages).title
            self._decide(site, GraphEditKind.SPLIT, [found], f"split '{title}'")
            return [page.id for page in pages]

        parts = await self._core.do_in_review(splitting)
        self._core.bus.publish(GraphChanged(site=site))
        graph = (await self._graph_cache.load(site)).graph
        return list(dict.fromkeys(graph.node_of(page) for page in parts))

    # the block list's laboratory

    async def block_rules(self, site: str) -> str:
        """Return the site's own rules as text, or the built-in ones with examples to start from."""
        from app.engine.graph.rules.block_list import builtin_text

        path = self.rules_path(site)

        def reading() -> str:
            return path.read_text("utf-8") if path.exists() else builtin_text()

        return await self._core.on_worker(reading)

    async def save_block_rules(self, site: str, rules: str) -> None:
        """Store rules for a site.  Raises ``InputError`` when they can't be read; then nothing changes."""
        from app.engine.graph.rules.block_list import BlockList
        from app.engine.store.run_files import write_file

        BlockList.load(rules)
        path = self.rules_path(site)

        def writing() -> None:
            draft = path.with_name(f".{path.name}.draft")
            make_folder(path.parent, parents=True)
            write_file(draft, rules.encode())
            draft.replace(path)

        await self._core.on_worker(writing)

    async def try_rules(self, site: str, node: str, rules: str) -> LabReport:
        """Apply rules to a stored page, and count their hits on all stored pages."""
        from app.engine.graph.rules.block_list import BlockList, preview_rules

        try:
            chosen = replace(BlockList.load(rules), guarded=True)
        except InputError as error:
            return LabReport(hits=(), error=str(error))
        loaded = await self._graph_cache.load(site)
        pages = [representative_page(loaded.graph.pages_of(name)) for name in loaded.graph.nodes]
        here = representative_page(loaded.graph.pages_of(loaded.node(node)))
        stored: list[tuple[str, tuple[Element, ...]]] = []
        for page in pages:
            stored.append((page.url, await self._core.on_store(self._elements, page.elements)))
        own = await self._core.on_store(self._elements, here.elements)
        return await self._core.on_worker(preview_rules, chosen, here.url, own, stored)

    def rules_path(self, site: str) -> Path:
        """Return the path of a site's own rules; the file may be missing."""
        return self._core.workspace.rules_path(site)

    # inside

    def _row(self, site: str) -> GraphRow:
        """Return one graph's row; a damaged file does not hide the others."""
        try:
            in_use = self._core.workspace.is_site_in_use(site)
            return graph_row(
                self._graph_cache.store(site), self._graph_cache.load_on_store(site), in_use=in_use
            )
        except StoreError as error:
            return GraphRow(
                site=site, home="", mode=Mode.FULL, states=0, transitions=0, frontier=0, explored_at=0.0,
                state="failed", error=str(error),
            )  # fmt: skip

    def _decide(self, site: str, kind: GraphEditKind, members: Sequence[str], label: str) -> None:
        decision = GraphEdit(
            id=uuid.uuid4().hex, kind=kind, members=tuple(members), author=self._core.author, at=time.time()
        )
        self._core.workspace.decide(site, decision, label)

    def _elements(self, digest: str) -> tuple[Element, ...]:
        return read_elements(self._core.workspace.runs.read_blob(digest)) if digest else ()

    def _detail(self, loaded: LoadedGraph, store: GraphStore, node: str) -> NodeDetail:
        pages = loaded.graph.pages_of(node)
        first = representative_page(pages)
        elements = self._elements(first.elements)
        facts = loaded.facts[node]
        outgoing, incoming = loaded.graph.outgoing(node), loaded.graph.incoming(node)
        text = (
            self._core.workspace.runs.read_blob(first.text).decode("utf-8", "replace") if first.text else ""
        )
        return NodeDetail(
            row=loaded.row(node),
            keys=first.keys,
            picture=first.picture,
            text=text[:MAX_SHOWN_TEXT],
            elements=elements,
            frontier=tuple(store.frontier(page=first.id)),
            element_keys=tuple(identity.element_key(element, loaded.graph.home) for element in elements),
            outgoing=tuple(outgoing),
            incoming=tuple(incoming),
            titles=_titles(loaded, [*outgoing, *incoming]),
            pages=tuple(page.url for page in pages),
            runs=tuple(facts.runs),
            tips=(*facts.tips, *facts.site_tips),
            notes=first.notes,
        )


def graph_row(store: GraphStore, loaded: LoadedGraph, *, in_use: bool = False) -> GraphRow:
    """Return one graph as a row of the list; an exploration without an end is running where the site is in use."""
    explorations = store.explorations()
    last = explorations[-1] if explorations else None
    gone = sum(all(page.gone_at for page in loaded.graph.pages_of(node)) for node in loaded.graph.nodes)
    return GraphRow(
        site=loaded.graph.site,
        home=loaded.graph.home,
        mode=loaded.graph.mode,
        states=len(loaded.graph.nodes) - gone,
        transitions=sum(1 for _ in node_transitions(loaded.graph)),
        frontier=sum(loaded.waiting.values()),
        explored_at=last.ended_at or last.started_at if last is not None else 0.0,
        state=(last.ended or ("running" if in_use else "interrupted")) if last is not None else "",
        gone=gone,
    )


def _titles(loaded: LoadedGraph, transitions: Sequence[Transition]) -> dict[str, str]:
    names = {end for way in transitions for end in (way.source, way.target)}
    return {
        name: representative_page(loaded.graph.pages_of(name)).title
        for name in names
        if name in loaded.graph.nodes
    }


def _draw(
    loaded: LoadedGraph, before: dict[str, tuple[float, float]]
) -> tuple[GraphPicture, dict[str, tuple[float, float]]]:
    rows = sorted(
        (loaded.row(node) for node in loaded.graph.nodes), key=lambda row: (row.depth, row.url, row.id)
    )
    number = {row.id: at for at, row in enumerate(rows)}
    weights: dict[tuple[int, int], int] = {}
    tried: dict[tuple[int, int], bool] = {}
    for source, target, way in node_transitions(loaded.graph):
        ends = (number[source], number[target])
        weights[ends] = weights.get(ends, 0) + 1
        tried[ends] = tried.get(ends, False) or way.attempts > 0
    pairs = sorted(weights)
    sources, targets = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    names = [row.id for row in rows]
    known = np.array([before.get(name, (np.nan, np.nan)) for name in names], dtype=float).reshape(-1, 2)
    places = layout([row.depth for row in rows], sources, targets, known if before else None)
    x, y = places[:, 0].tolist(), places[:, 1].tolist()
    picture = GraphPicture(
        site=loaded.graph.site,
        version=loaded.version[0],
        nodes=tuple(rows),
        x=tuple(x),
        y=tuple(y),
        sources=tuple(sources),
        targets=tuple(targets),
        weights=tuple(weights[pair] for pair in pairs),
        tried=tuple(tried[pair] for pair in pairs),
    )
    return picture, {name: (left, top) for name, left, top in zip(names, x, y, strict=True)}


def _stats(store: GraphStore, loaded: LoadedGraph) -> GraphStats:
    graph = loaded.graph
    faces = [representative_page(graph.pages_of(node)) for node in graph.nodes]
    landing: dict[str, str] = {}
    for page in sorted(faces, key=lambda page: (page.direct is not True, page.depth, page.first_seen)):
        landing.setdefault(page.keys.url, page.id)
    own = [landing[p.keys.url] == p.id if p.direct is None else p.direct for p in faces]
    ways = [way for _, _, way in node_transitions(graph)]
    attempts, successes = sum(way.attempts for way in ways), sum(way.successes for way in ways)
    challenges: dict[str, int] = {}
    for page in faces:
        if page.challenge:
            challenges[page.challenge.value] = challenges.get(page.challenge.value, 0) + 1
    explorations = store.explorations()
    return GraphStats(
        row=graph_row(store, loaded),
        templates=len({page.keys.template for page in faces}),
        interaction_only=own.count(False),
        direct=own.count(True),
        tried=sum(way.attempts > 0 for way in ways),
        seen_only=sum(way.found_by is Source.SEEN and not way.attempts for way in ways),
        success_rate=successes / attempts if attempts else 0.0,
        skipped=store.skipped(),
        depths=explorations[-1].depth_rows if explorations else (),
        challenges=challenges,
        notes=tuple(
            f"exploration {one.number} ignored robots.txt, as asked for"
            for one in explorations
            if one.options.get("obey_robots") is False
        ),
    )
