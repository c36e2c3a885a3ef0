"""Paths through a graph: the cost of a transition, and the cheapest path from one state to another.

The cost of a transition is the time it is expected to take, in seconds:

    cost = (seconds + STEP) / p * (RECENT_FAILURE if it failed when last tried) + RISK * risk + UNTRIED if never tried
    p    = (successes + 2 * PRIOR) / (attempts + 2)

``seconds`` is the mean of its successes, or of the whole graph's if that is not known.  ``1/p`` is the expected
number of tries; ``p`` starts at PRIOR and follows the evidence.

A state whose address alone leads to it may be opened from anywhere for OPEN additional seconds; one whose address was
never tried for UNSURE more.  So a few clicks are preferred: they show that the path still works.  The search runs
over page states.  If a node stands for several, a path may continue from another one of them for SWITCH seconds:
locators recorded there fit a sibling most of the time.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from app.engine.core.identity import transition_id
from app.engine.core.page_state import PageState
from app.engine.core.transition import Operation, ReplayVerdictKind, Transition
from app.errors import NotFound

STEP = 0.3
"""Duration of capturing the page reached."""

PRIOR = 0.8
"""Probability of success of a transition that was never tried."""

USUAL_SECONDS = 1.0
RECENT_FAILURE = 2.0
RISK = 30.0
UNTRIED = 1.0
OPEN = 4.0
UNSURE = 8.0
SWITCH = 1.0

_GOOD = frozenset(kind.value for kind in ReplayVerdictKind if kind.ok)
_HUB = "\x00"
_FAR = float("inf")


def cost(transition: Transition, usual_seconds: float = USUAL_SECONDS) -> float:
    """Expected duration of a transition in seconds (the formula above); above 0."""
    chance = (transition.successes + 2 * PRIOR) / (transition.attempts + 2)
    seconds = transition.seconds or usual_seconds
    expected = (seconds + STEP) / chance
    if transition.attempts and transition.last_arrival and transition.last_arrival not in _GOOD:
        expected *= RECENT_FAILURE
    return expected + RISK * transition.risk + (0.0 if transition.attempts else UNTRIED)


def usual_seconds(transitions: Iterable[Transition]) -> float:
    """Mean duration of all successes with a known duration."""
    tried = [(found.seconds, found.successes) for found in transitions if found.seconds]
    count = sum(successes for _, successes in tried)
    return sum(seconds * successes for seconds, successes in tried) / count if count else USUAL_SECONDS


@dataclass(slots=True)
class GraphRoute:
    """The cheapest path found: transitions in order, and their total cost in seconds."""

    transitions: list[Transition] = field(default_factory=list[Transition])
    cost: float = 0.0


_Edge = tuple[str, float, Transition | None]


class Router:
    """Finds paths over the page states of one graph; created once, queried often.

    Args:
        pages: by id; those that are gone are never on a path.
        transitions: all of them; those that are gone or whose target is unknown are left out.
        nodes: page states by node.
    """

    def __init__(
        self,
        pages: Mapping[str, PageState],
        transitions: Iterable[Transition],
        nodes: Mapping[str, Sequence[str]],
    ) -> None:
        self._pages = pages
        standing = [found for found in transitions if not found.gone_at]
        usual = self._usual = usual_seconds(standing)
        edges: dict[str, list[_Edge]] = {}
        for found in standing:
            source, target = found.source, found.target
            if source != target and source in pages and target in pages and not pages[target].gone_at:
                edges.setdefault(source, []).append((target, cost(found, usual), found))
        for node, members in nodes.items():
            if len(members) > 1:
                hub = _HUB + node
                edges[hub] = [(page, 0.0, None) for page in members if not pages[page].gone_at]
                for page in members:
                    edges.setdefault(page, []).append((hub, SWITCH, None))
        self._edges = edges
        self._direct = [page.id for page in pages.values() if page.direct and not page.gone_at]

    def route(self, starts: Sequence[str], targets: Iterable[str], *, opening: bool = True) -> GraphRoute:
        """Return the cheapest path from one of the pages ``starts`` to one of ``targets``; empty if a page is in
        both.

        Args:
            opening: states may also be opened by their address.

        Raises:
            NotFound: there is no path.
        """
        wanted = {page for page in targets if page in self._pages}
        best: dict[str, float] = dict.fromkeys(starts, 0.0)
        came: dict[str, tuple[str, Transition | None]] = {}
        queue: list[tuple[float, str]] = [(0.0, start) for start in starts]
        openable = self._openable(wanted) if opening else {}
        for page, price in openable.items():
            if page not in best:
                best[page] = price
                queue.append((price, page))
        heapq.heapify(queue)
        edges = self._edges
        done: set[str] = set()
        while queue:
            spent, page = heapq.heappop(queue)
            if page in done:
                continue
            done.add(page)
            if page in wanted:
                return GraphRoute(self._back(page, came, starts), spent)
            for target, step, found in edges.get(page, ()):
                total = spent + step
                if total < best.get(target, _FAR):
                    best[target] = total
                    came[target] = (page, found)
                    heapq.heappush(queue, (total, target))
        raise NotFound("no path leads there: no known transition, and its address alone never led to it")

    def _openable(self, wanted: Set[str]) -> dict[str, float]:
        """Cost of opening by address, for pages whose address is known to lead to them and for untried targets."""
        price = OPEN + self._usual + STEP
        prices = dict.fromkeys(self._direct, price)
        for page in wanted:
            if self._pages[page].direct is None and not self._pages[page].gone_at:
                prices[page] = price + UNSURE
        return prices

    def _back(
        self, page: str, came: Mapping[str, tuple[str, Transition | None]], starts: Sequence[str]
    ) -> list[Transition]:
        route: list[Transition] = []
        while page in came:
            page, found = came[page]
            if found is not None:
                route.append(found)
        if page not in starts:
            route.append(opened(starts[0] if starts else "", self._pages[page]))
        return route[::-1]


def opened(start: str, page: PageState) -> Transition:
    """The transition of opening a page's address from anywhere."""
    return Transition(
        id=transition_id(start, Operation.OPEN, page.url, None, page.id),
        source=start,
        target=page.id,
        operation=Operation.OPEN,
        value=page.url,
    )
