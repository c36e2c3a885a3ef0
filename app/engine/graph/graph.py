"""The interaction graph of a site in memory: page states grouped into nodes, with the transitions between them.

It is built from stored data and never changed; after a change it is rebuilt (10,000 page states with 30,000
transitions take some tens of milliseconds, ``benchmarks/graph.py``).

Grouping into nodes is a function of the stored pages, the mode and the edits in order.  Observations are never
rewritten, so undoing an edit restores exactly the earlier nodes, and pages observed later are grouped by the edits too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from app.engine.api.graph_api import PathPlan
from app.engine.core.identity import node_id, url_key
from app.engine.core.page_state import GraphEdit, GraphEditKind, Mode, PageState
from app.engine.core.transition import Transition
from app.engine.graph.paths import GraphRoute, Router
from app.errors import NotFound

if TYPE_CHECKING:
    from app.engine.store.graph.graph_store import GraphStore


@dataclass(frozen=True, slots=True)
class Grouping:
    """The nodes of a graph.

    Attributes:
        node_of: node by page state.
        pages: page states by node, in the order they were found.
    """

    node_of: Mapping[str, str]
    pages: Mapping[str, tuple[str, ...]]


def group(pages: Iterable[PageState], mode: Mode, decisions: Sequence[GraphEdit] = ()) -> Grouping:
    """Group page states into nodes."""
    merged, apart = _apply(decisions)
    node_of: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for page in pages:
        member = page.id if mode is Mode.FULL else node_id(page.keys, mode)
        if member in apart:
            member = page.id
        node = merged.get(member, member)
        node_of[page.id] = node
        found.setdefault(node, []).append(page.id)
    return Grouping(node_of, {node: tuple(states) for node, states in found.items()})


def _apply(decisions: Sequence[GraphEdit]) -> tuple[dict[str, str], set[str]]:
    """Return the node of each merged member, and the groups that were split into single pages."""
    merged: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    apart: set[str] = set()
    for decision in decisions:
        if decision.kind is GraphEditKind.MERGE:
            heads = list(dict.fromkeys(merged.get(member, member) for member in decision.members))
            together = [member for head in heads for member in groups.pop(head, [head])]
            groups[heads[0]] = together
            merged.update(dict.fromkeys(together, heads[0]))
            continue
        for member in decision.members:
            if member not in merged:
                apart.add(member)
                continue
            for other in groups.pop(merged[member]):
                del merged[other]
    return merged, apart


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

    # paths

    @cached_property
    def router(self) -> Router:
        """The path finder, created on first use."""
        return Router(self.pages, self.transitions.values(), self.nodes)

    def route(self, start: str, to: str, *, opening: bool = True) -> GraphRoute:
        """Return the cheapest path (``paths.cost``) from one state to another; empty if they are the same.

        Args:
            start: a node or page state; "" for the home page.
            to: a node (any of its pages will do) or a page state.
            opening: states may be opened by their address, at a cost.

        Raises:
            NotFound: there is no such state, or no path to it.
        """
        starts = (self._states(start) if start else self.home_pages)[:1]
        targets = self._states(to)
        if all(self.pages[page].gone_at for page in targets):
            raise NotFound(f"{self.site}: {to} is gone from the site; no path leads there any more")
        try:
            return self.router.route(starts, targets, opening=opening)
        except NotFound as error:
            raise NotFound(f"{self.site}: from {start or 'the home page'} to {to} {error}") from error

    def plan(self, start: str, to: str) -> PathPlan:
        """Return a path in the form shown to users."""
        route = self.route(start, to)
        first = (
            route.transitions[0].source if route.transitions else (start or next(iter(self.home_pages), to))
        )
        passed = [first, *(found.target for found in route.transitions)]
        nodes = tuple(self.grouping.node_of.get(state, state) for state in passed)
        return PathPlan(
            nodes=nodes,
            titles=tuple(self._title(state) for state in passed),
            transitions=tuple(route.transitions),
            cost=route.cost,
            risk=1.0 - _product(1.0 - found.risk for found in route.transitions),
        )

    def _states(self, words: str) -> tuple[str, ...]:
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
