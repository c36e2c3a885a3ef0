"""The difference between two graphs of one site: two explorations, or a graph and an exported one.

A state whose elements changed has another id.  So removed and added states are paired if they have the same address
and enough elements in common; such a pair is a changed state.  Transitions are listed if the state they start from is
in both graphs; those of added and removed states are implied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from app.engine.api.graph_api import ChangedState, GraphDiff
from app.engine.core import identity
from app.engine.core.page_state import Mode, PageState, Source
from app.engine.graph.graph import InteractionGraph
from app.errors import UsageError

ALIKE = 0.5
"""Minimum share of common elements for two states at one address to be one changed state."""
ALONE = 0.2
"""The same if the address had one state before and has one after."""
_SAME_OPTIONS = ("depth", "mode", "roles", "storage_state", "naive", "viewport")
"""Options that two explorations must share before a state that was not found counts as removed."""


class Crawl(Protocol):
    """One exploration: its number, when it began and ended (Unix seconds; 0 while it runs), and how."""

    @property
    def number(self) -> int: ...
    @property
    def started_at(self) -> float: ...
    @property
    def ended_at(self) -> float: ...
    @property
    def ended(self) -> str: ...
    @property
    def options(self) -> Mapping[str, object]: ...


def diff_graphs(before: InteractionGraph, after: InteractionGraph) -> GraphDiff:
    """Return what was added, removed and changed.  States are grouped as in the later graph, whatever the earlier
    one's mode.
    """
    if (before.mode, tuple(before.decisions)) != (after.mode, tuple(after.decisions)):
        before = InteractionGraph(
            before.site,
            before.home,
            after.mode,
            before.pages.values(),
            before.transitions.values(),
            after.decisions,
        )
    old, new = _existing_nodes(before), _existing_nodes(after)
    removed = [node for node in old if node not in new]
    added = [node for node in new if node not in old]
    gone, come = {node: old[node] for node in removed}, {node: new[node] for node in added}
    pairs = _paired(gone, come, by_template=after.mode is Mode.SKELETON)
    changed = tuple(_changed(old[left], right, new[right]) for left, right in pairs.items())
    renamed = set(pairs.values())
    lost, won = _transitions(before, old, after, new, pairs)
    return GraphDiff(
        added=tuple(_row(node, new[node]) for node in added if node not in renamed),
        removed=tuple(_row(node, old[node]) for node in removed if node not in pairs),
        changed=changed,
        added_transitions=won,
        removed_transitions=lost,
        same=sum(node in old for node in new),
    )


def diff_explorations(graph: InteractionGraph, explorations: Sequence[Crawl]) -> GraphDiff:
    """Return what the last exploration found changed since the end of the one before it.

    States that it did not find again count as removed only if it finished and had the same options.

    Raises:
        UsageError: there was only one exploration.
    """
    if len(explorations) < 2:
        raise UsageError(
            f"{graph.site} was explored only once, so there is nothing to compare",
            remedy="explore it again, or name an exported graph",
        )
    previous, last = explorations[-2:]
    complete = last.ended == "done" and all(
        last.options.get(name) == previous.options.get(name) for name in _SAME_OPTIONS
    )
    after = _seen_since(graph, last.started_at) if complete else graph
    return diff_graphs(as_of(graph, previous), after)


def as_of(graph: InteractionGraph, crawl: Crawl) -> InteractionGraph:
    """Return the graph as it was when an exploration ended: without later finds, with states removed since."""
    until = crawl.ended_at or crawl.started_at
    pages = [
        replace(page, gone_at=0.0) if page.gone_at > until else page
        for page in graph.pages.values()
        if (page.exploration <= crawl.number if page.exploration else page.first_seen <= until)
    ]
    known = {page.id for page in pages}
    transitions = [
        replace(found, gone_at=0.0) if found.gone_at > until else found
        for found in graph.transitions.values()
        if found.exploration <= crawl.number and {found.source, found.target} <= known
    ]
    return InteractionGraph(graph.site, graph.home, graph.mode, pages, transitions, graph.decisions)


def _seen_since(graph: InteractionGraph, at: float) -> InteractionGraph:
    """Return the graph without the states that an exploration started at this time did not find."""
    pages = [
        page if page.last_seen >= at or page.source is not Source.EXPLORED else replace(page, gone_at=at)
        for page in graph.pages.values()
    ]
    return InteractionGraph(
        graph.site, graph.home, graph.mode, pages, graph.transitions.values(), graph.decisions
    )


def _existing_nodes(graph: InteractionGraph) -> Mapping[str, tuple[PageState, ...]]:
    alive = {node: tuple(page for page in graph.pages_of(node) if not page.gone_at) for node in graph.nodes}
    return {node: pages for node, pages in alive.items() if pages}


def _paired(
    removed: Mapping[str, tuple[PageState, ...]],
    added: Mapping[str, tuple[PageState, ...]],
    *,
    by_template: bool,
) -> dict[str, str]:
    """Removed states by the state they became: at one address, the most similar first; then at one template if one
    instance stands for all.
    """
    pairs: dict[str, str] = {}
    for address in (_url, _template) if by_template else (_url,):
        taken = set(pairs.values())
        left = _by_address((item for item in removed.items() if item[0] not in pairs), address)
        right = _by_address((item for item in added.items() if item[0] not in taken), address)
        for key in left:
            pairs.update(_best(left[key], right.get(key, {}), removed, added))
    return pairs


def _url(page: PageState) -> str:
    return page.keys.url


def _template(page: PageState) -> str:
    return page.keys.template


def _by_address(
    nodes: Iterable[tuple[str, tuple[PageState, ...]]], address: Callable[[PageState], str]
) -> dict[str, dict[str, frozenset[str]]]:
    found: dict[str, dict[str, frozenset[str]]] = {}
    for node, pages in nodes:
        found.setdefault(address(pages[0]), {})[node] = frozenset(pages[0].element_keys)
    return found


def _best(
    left: Mapping[str, frozenset[str]],
    right: Mapping[str, frozenset[str]],
    removed: Mapping[str, tuple[PageState, ...]],
    added: Mapping[str, tuple[PageState, ...]],
) -> dict[str, str]:
    least = ALONE if len(left) == len(right) == 1 else ALIKE
    scored = [
        (-identity.similarity(ours, theirs), abs(removed[a][0].depth - added[b][0].depth), a, b)
        for a, ours in left.items()
        for b, theirs in right.items()
    ]
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for score, _, a, b in sorted(scored):
        if -score >= least and a not in pairs and b not in taken:
            pairs[a] = b
            taken.add(b)
    return pairs


def _changed(old: tuple[PageState, ...], node: str, new: tuple[PageState, ...]) -> ChangedState:
    before, after = Counter(old[0].controls), Counter(new[0].controls)
    return ChangedState(
        id=node,
        title=new[0].title,
        url=new[0].url,
        gone=tuple((before - after).elements()),
        come=tuple((after - before).elements()),
    )


def _row(node: str, pages: tuple[PageState, ...]) -> tuple[str, str, str]:
    return (node, pages[0].title, pages[0].url)


def _transitions(
    before: InteractionGraph,
    old: Mapping[str, tuple[PageState, ...]],
    after: InteractionGraph,
    new: Mapping[str, tuple[PageState, ...]],
    pairs: Mapping[str, str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Removed and added transitions in words, between states of both graphs or out of them."""
    kept = {pairs.get(node, node) for node in old} & set(new)
    left = _transitions_of_kept(before, old, kept, pairs)
    right = _transitions_of_kept(after, new, kept, {})
    return (
        tuple(words for key, words in left.items() if key not in right),
        tuple(words for key, words in right.items() if key not in left),
    )


def _transitions_of_kept(
    graph: InteractionGraph,
    existing: Mapping[str, tuple[PageState, ...]],
    kept: set[str],
    renamed: Mapping[str, str],
) -> dict[tuple[str, str, str], str]:
    """Transitions that start in a kept state, in words, by (source, operation, target) as the later graph names
    them.
    """
    found: dict[tuple[str, str, str], str] = {}
    for node, pages in existing.items():
        source = renamed.get(node, node)
        for found_transition in graph.outgoing(node) if source in kept else ():
            target = graph.node_of(found_transition.target)
            if target not in existing:
                continue
            title = existing[target][0].title or existing[target][0].url
            words = f"{pages[0].title or pages[0].url}: {found_transition.words} -> {title}"
            found.setdefault((source, found_transition.words, renamed.get(target, target)), words)
    return found
