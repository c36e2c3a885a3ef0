"""The interaction graph of a site in memory: page states grouped into nodes, with the transitions between them.

It is built from stored data and never changed; after a change it is rebuilt (10,000 page states with 30,000
transitions take some tens of milliseconds, ``benchmarks/graph.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from app.engine.api.graph_api import PathPlan
from app.engine.core.graph_edit import GraphEdit
from app.engine.core.identity import url_key
from app.engine.core.page_state import Mode, PageState
from app.engine.core.transition import Transition
from app.engine.graph.grouping import Grouping, group
from app.engine.graph.paths import GraphRoute, Router
from app.errors import NotFound

if TYPE_CHECKING:
    import networkx

    from app.engine.store.graph.graph_store import GraphStore


class InteractionGraph:
    """A directed multigraph: nodes stand for page states, every transition is an edge of its own.

    Attributes:
        site, home, mode: the site, its home page's address, the rule for grouping states into nodes.
        pages, transitions: by id, in the order they were found, including those that are gone.
        decisions: people's merges and splits, in order.
        grouping: the pages of each node.
    """

    def __init__(
        self,
        site: str,
        home: str,
        mode: Mode,
        pages: Iterable[PageState],
        transitions: Iterable[Transition],
        decisions: Sequence[GraphEdit] = (),
    ) -> None:
        self.site, self.home, self.mode = site, home, mode
        self.pages: Mapping[str, PageState] = {page.id: page for page in pages}
        self.transitions: Mapping[str, Transition] = {found.id: found for found in transitions}
        self.decisions: Sequence[GraphEdit] = tuple(decisions)
        self.grouping: Grouping = group(self.pages.values(), mode, decisions)
        self._outgoing: dict[str, list[Transition]] = {}
        self._incoming: dict[str, list[Transition]] = {}
        node_of = self.grouping.node_of
        for found in self.transitions.values():
            source, target = node_of.get(found.source), node_of.get(found.target)
            if source is not None and target is not None and not found.gone_at:
                self._outgoing.setdefault(source, []).append(found)
                self._incoming.setdefault(target, []).append(found)

    @classmethod
    def build(
        cls,
        site: str,
        home: str,
        mode: Mode,
        pages: Iterable[PageState],
        transitions: Iterable[Transition],
        decisions: Sequence[GraphEdit] = (),
    ) -> Self:
        """Build the graph of stored page states and transitions with the decisions in force."""
        return cls(site, home, mode, pages, transitions, decisions)

    @classmethod
    def load(cls, store: GraphStore, mode: Mode | None = None) -> Self:
        """Load a site's graph from its file; ``mode`` overrides the mode it was explored in."""
        return cls(
            store.site, store.home, mode or store.mode, store.pages(), store.transitions(), store.decisions()
        )

    # nodes

    @property
    def nodes(self) -> Mapping[str, tuple[str, ...]]:
        """Page states by node, in the order the nodes were found."""
        return self.grouping.pages

    def node_of(self, page: str) -> str:
        """The node of a page state.

        Raises:
            NotFound: the graph has no such page.
        """
        node = self.grouping.node_of.get(page)
        if node is None:
            raise NotFound(f"the graph of {self.site} has no page state {page!r}")
        return node

    def pages_of(self, node: str) -> tuple[PageState, ...]:
        """The page states of a node, in the order they were found.

        Raises:
            NotFound: the graph has no such node.
        """
        if node not in self.grouping.pages:
            raise NotFound(f"the graph of {self.site} has no state {node!r}")
        return tuple(self.pages[page] for page in self.grouping.pages[node])

    def outgoing(self, node: str) -> Sequence[Transition]:
        """Transitions that start on a node's pages and are not gone."""
        return self._outgoing.get(node, ())

    def incoming(self, node: str) -> Sequence[Transition]:
        """Transitions that lead to a node's pages and are not gone."""
        return self._incoming.get(node, ())

    @cached_property
    def home_pages(self) -> tuple[str, ...]:
        """Page states at the home page's address in the order they were found; else those of the smallest depth."""
        key = url_key(self.home, self.home) if self.home else ""
        standing = [page for page in self.pages.values() if not page.gone_at]
        at_home = [page for page in standing if page.keys.url == key]
        if at_home:
            return tuple(page.id for page in sorted(at_home, key=lambda page: page.depth))
        nearest = min((page.depth for page in standing), default=0)
        return tuple(page.id for page in standing if page.depth == nearest)

    @cached_property
    def nx(self) -> networkx.MultiDiGraph[str]:
        """The nodes (with ``pages``) and an edge for each transition that is not gone (key: its id; ``transition``)."""
        import networkx

        graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(
            site=self.site, home=self.home, mode=self.mode.value
        )
        graph.add_nodes_from((node, {"pages": pages}) for node, pages in self.nodes.items())
        node_of = self.grouping.node_of
        edges: list[tuple[str, str, str, dict[str, Any]]] = [
            (node, node_of[found.target], found.id, {"transition": found})
            for node, leaving in self._outgoing.items()
            for found in leaving
        ]
        graph.add_edges_from(edges)  # pyright: ignore[reportArgumentType] its stub knows no keys
        return graph

    # paths

    @cached_property
    def router(self) -> Router:
        """The path finder, created on first use."""
        return Router(self.pages, self.transitions.values(), self.nodes)

    def shortest(self, start: str, to: str, *, opening: bool = True) -> list[Transition]:
        """The cheapest way (``paths.cost``) from one state to another; empty when one is there.

        Args:
            start: a node or a page state one is on; "" for the home page.
            to: a node (any of its pages will do) or a page state.
            opening: states may be opened by their address, at a cost.

        Raises:
            NotFound: there is no such state, or no way to it.
        """
        return self.way(start, to, opening=opening).transitions

    def way(self, start: str, to: str, *, opening: bool = True) -> GraphRoute:
        """``shortest`` with its cost."""
        starts = (self._states(start) if start else self.home_pages)[:1]
        targets = self._states(to)
        if all(self.pages[page].gone_at for page in targets):
            raise NotFound(f"{self.site}: {to} is gone from the site; no path leads there any more")
        try:
            return self.router.way(starts, targets, opening=opening)
        except NotFound as error:
            raise NotFound(f"{self.site}: from {start or 'the home page'} to {to} {error}") from error

    def plan(self, start: str, to: str) -> PathPlan:
        """``shortest`` in the form shown to users."""
        way = self.way(start, to)
        first = way.transitions[0].source if way.transitions else (start or next(iter(self.home_pages), to))
        passed = [first, *(found.target for found in way.transitions)]
        nodes = tuple(self.grouping.node_of.get(state, state) for state in passed)
        return PathPlan(
            nodes=nodes,
            titles=tuple(self._title(state) for state in passed),
            transitions=tuple(way.transitions),
            cost=way.cost,
            risk=1.0 - _product(1.0 - found.risk for found in way.transitions),
        )

    def _states(self, words: str) -> tuple[str, ...]:
        """The page states of a node or page id; of a node, the one found first comes first."""
        if words in self.nodes:
            pages = self.nodes[words]
            return tuple(page for page in pages if not self.pages[page].gone_at) or pages
        if words in self.pages:
            return (words,)
        raise NotFound(f"the graph of {self.site} has no state {words!r}")

    def _title(self, state: str) -> str:
        page = self.pages.get(state)
        if page is None and state in self.nodes:
            page = self.pages[self.nodes[state][0]]
        return (page.title or page.keys.url) if page is not None else ""


def _product(factors: Iterable[float]) -> float:
    result = 1.0
    for factor in factors:
        result *= factor
    return result
