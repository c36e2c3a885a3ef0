"""The workspace's interaction graphs, loaded on demand and cached until they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

from app.engine.api.graph_api import NodeRow
from app.engine.api.run_rows import RunFilter
from app.engine.core.addresses import browser_host
from app.engine.core.page_state import PageState
from app.engine.core.redaction import redact_url
from app.engine.core.transition import Transition
from app.engine.graph.annotations import NodeFacts, annotate
from app.engine.graph.graph import InteractionGraph
from app.engine.services.core import Core
from app.engine.store.graph.graph_store import GraphStore
from app.errors import Conflict, NotFound, UsageError

T = TypeVar("T")

MIN_ID_PREFIX = 4
"""Shortest prefix of an id that names a node."""


@dataclass(slots=True)
class LoadedGraph:
    """One site's graph with the annotations of its nodes."""

    graph: InteractionGraph
    facts: dict[str, NodeFacts]
    waiting: dict[str, int]
    version: tuple[int, ...]

    def node(self, words: str) -> str:
        """Return the node that an id or its first digits name.  Raises ``NotFound``, or ``Conflict`` if ambiguous."""
        nodes = self.graph.nodes
        if words in nodes:
            return words
        page = self.graph.node_of(words) if words in self.graph.pages else ""
        if page:
            return page
        found = [node for node in nodes if node.startswith(words)] if len(words) >= MIN_ID_PREFIX else []
        if len(found) > 1:
            raise Conflict(f"{len(found)} states of {self.graph.site} begin with {words}; give more digits")
        if not found:
            raise NotFound(
                f"the graph of {self.graph.site} has no state {words!r}; 'sitelore graph search' finds one"
            )
        return found[0]

    def row(self, node: str) -> NodeRow:
        """Return a node as a row of the table."""
        pages = self.graph.pages_of(node)
        first = representative_page(pages)
        facts = self.facts.get(node) or NodeFacts()
        return NodeRow(
            id=node,
            title=first.title,
            url=first.url,
            template=first.keys.template,
            depth=min(page.depth for page in pages),
            pages=len(pages),
            elements=len(first.element_keys),
            outgoing=len(self.graph.outgoing(node)),
            incoming=len(self.graph.incoming(node)),
            waiting=sum(self.waiting.get(page.id, 0) for page in pages),
            runs=len({run for run, _ in facts.runs}),
            failures=facts.failures,
            tips=len(facts.tips),
            suspect_tips=facts.suspect,
            direct=first.direct,
            gone=all(page.gone_at for page in pages),
            thumbnail=first.thumbnail or first.picture,
            challenge=first.challenge,
            last_seen=max(page.last_seen for page in pages),
        )


def representative_page(pages: tuple[PageState, ...] | list[PageState]) -> PageState:
    """Return the page that represents its node: present, with a picture, found first."""
    return min(
        pages, key=lambda page: (page.gone_at > 0, not page.picture, page.depth, page.first_seen, page.id)
    )


class GraphCache:
    """Loads graphs for the use cases, on the store thread."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._loaded: dict[str, LoadedGraph] = {}

    async def load(self, site: str) -> LoadedGraph:
        """Return a site's graph with its annotations.  Raises ``NotFound`` when it has none."""
        return await self._core.on_store(self.load_on_store, site)

    async def with_store(self, site: str, work: Callable[[GraphStore], T]) -> T:
        """Run ``work`` on a site's graph file, on the store thread."""
        return await self._core.on_store(lambda: work(self.store(site)))

    def store(self, site: str, *, create: bool = False) -> GraphStore:
        """Return a site's graph file; store thread only.  Raises ``NotFound`` when it has none."""
        workspace = self._core.workspace
        if not create and site not in workspace.graph_sites():
            known = ", ".join(sorted(workspace.graph_sites())) or "none yet"
            raise NotFound(
                f"there is no graph of {site!r} (graphs: {known}); make one with 'sitelore explore URL'"
            )
        return workspace.graph(site)

    def load_on_store(self, site: str) -> LoadedGraph:
        """Load a site's graph; store thread only."""
        store = self.store(site)
        index, kb = self._core.workspace.index, self._core.kb
        version = (store.version, index.data_version, kb.data_version)
        known = self._loaded.get(site)
        if known is not None and known.version == version:
            return known
        graph = (
            known.graph
            if known is not None and known.version[0] == version[0]
            else InteractionGraph.load(store)
        )
        loaded = LoadedGraph(graph, self._annotated(graph, store), store.waiting(), version)
        self._loaded[site] = loaded
        return loaded

    def _annotated(self, graph: InteractionGraph, store: GraphStore) -> dict[str, NodeFacts]:
        workspace = self._core.workspace
        steps = [step for step in workspace.index.stored_steps() if step.site == graph.site]
        rows = workspace.index.rows(RunFilter(failed=True)) if steps else []
        suspects = {row.id: row.suspect_step for row in rows}
        nodes = {node: graph.pages_of(node) for node in graph.nodes}
        tips = self._core.kb.tips()
        return annotate(nodes, graph.site, steps, store.passes(), suspects, tips, self.hosts(graph))

    def hosts(self, graph: InteractionGraph) -> tuple[str, ...]:
        """Return the host globs of a graph's site, including the host of its home page."""
        known = self._core.workspace.sites.get(graph.site, ())
        home = urlsplit(graph.home).netloc
        return (*known, home) if home else known


def node_transitions(graph: InteractionGraph) -> Iterator[tuple[str, str, Transition]]:
    """Yield every present transition with the nodes it leaves from and leads to."""
    node_of = graph.grouping.node_of
    for node in graph.nodes:
        for way in graph.outgoing(node):
            yield node, node_of[way.target], way


def checked_address(url: str) -> str:
    """Normalise an address: add a missing scheme, write the host as browsers do.

    Raises:
        UsageError: it is not the address of a web page, or holds a password or another secret.
    """
    text = url.strip()
    if "://" not in text and not text.partition(":")[0].isalpha():
        text = f"http://{text}"
    host = browser_host(text)
    parts = urlsplit(text if host else "")
    if parts.scheme not in ("http", "https"):
        raise UsageError(
            f"{url!r} is not the address of a page", remedy="give one such as http://shop.example/"
        )
    if parts.username or parts.password:
        raise UsageError(
            "an address must not contain a password",
            remedy="log in by hand, or give a --storage-state",
        )
    if redact_url(text) != text:
        raise UsageError(
            "the address seems to contain a secret, which would be stored with the map",
            remedy="leave that part out, and log in by hand or with a --storage-state",
        )
    return urlunsplit(parts._replace(netloc=host, path=parts.path or "/"))
