"""Retrieve-Reason-Teleport as one action (WebNavigator, section 3.2): find a state, choose it, go there.

Retrieve: late-interaction search over the interaction graph of a domain; a map that has nothing like the query says
so.  Reason: a selector chooses among the first five, or none.  Teleport: the cheapest route from the page in front,
each arrival verified; after a wrong one nothing more is done, and the result says where the browser really is. (The
published code calls every route a success.)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.types import Navigate
from app.engine.core.observation import NavigableSite
from app.engine.core.transition import ReplayVerdict, ReplayVerdictKind
from app.errors import SiteloreError
from kb.retrieval.terms import query_terms, stems_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCandidate:
    """A state found for the query, as the selector sees it; ``matched`` are the words that it matched."""

    node: str
    title: str
    url: str
    headings: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    score: float = 0.0
    matched: tuple[str, ...] = ()
    picture: str = ""


class LikelyCandidates(NamedTuple):
    """The first states for a query, the best first, and whether the query may mean one of them."""

    like: bool
    states: Sequence[StateCandidate]


ChooseCandidate = Callable[[str, str, Sequence[StateCandidate]], Awaitable[int | None]]
"""Return the number of the best candidate for query and intent, or ``None`` when none of them fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedRoute:
    """A completed route: the words of each leg, and the arrivals, one for each leg that was done."""

    legs: tuple[str, ...]
    arrivals: tuple[ReplayVerdict, ...]
    url: str = ""
    title: str = ""


class NavigationGraphs(Protocol):
    """The graphs of a workspace, as the navigator needs them."""

    def domains(self) -> tuple[NavigableSite, ...]:
        """Return the sites with a graph that may be navigated."""
        ...

    async def find(self, domain: str, query: str) -> LikelyCandidates:
        """Return the first states of a domain for a query."""
        ...

    async def go(self, domain: str, node: str) -> CompletedRoute:
        """Take the run's browser to a state; raises ``SiteloreError`` where no route is allowed."""
        ...


class GlobalNavigator:
    """The Global-View Navigator over all graphs; the domain in the action selects the graph."""

    def __init__(self, atlas: NavigationGraphs, choose: ChooseCandidate) -> None:
        self._atlas, self._choose = atlas, choose

    def domains(self) -> tuple[NavigableSite, ...]:
        """Return the sites that can be navigated."""
        return self._atlas.domains()

    async def navigate(
        self, action: Navigate, intent: str, gate: Callable[[], Awaitable[None]] | None = None
    ) -> ActionResult:
        """Go to the state that fits the query; the result reports what the verification saw."""
        domain = self._domain(action.domain)
        if domain is None:
            names = ", ".join(one.name for one in self.domains())
            return _not_found(f"there is no graph of {action.domain!r}", f"use one of these domains: {names}")
        if not action.query.strip():
            return _not_found("the query is empty", "say in words what the page is for")
        try:
            like, found = await self._atlas.find(domain, action.query)
            if not like:
                why = f"nothing on the map of {domain} is like {action.query!r}"
                nearest = f"; nearest: {_titles(found)}" if found else ""
                return _not_found(why + nearest, *_ALTERNATIVES)
            chosen = await self._choose(action.query, intent, found)
            if chosen is None or not 0 <= chosen < len(found):
                return _not_found(f"none of the found states fits: {_titles(found)}", *_ALTERNATIVES)
            target = found[chosen]
            if gate is not None:
                await gate()
            way = await self._atlas.go(domain, target.node)
        except SiteloreError as error:
            return _not_found(str(error), *_ALTERNATIVES)
        return _navigation_result(target, way)

    def _domain(self, asked: str) -> str | None:
        names = [one.name for one in self.domains()]
        if asked in names:
            return asked
        if not asked.strip() and len(names) == 1:
            return names[0]
        alike = [name for name in names if name.casefold() == asked.strip().casefold()]
        return alike[0] if alike else None


_ALTERNATIVES = ("use the links, menus or the search of the page", "ask for it in other words")


def _titles(found: Sequence[StateCandidate]) -> str:
    return "; ".join(f"{one.title} ({one.url})" for one in found[:3])


def _navigation_result(target: StateCandidate, way: CompletedRoute) -> ActionResult:
    """Return the true result of the arrival, for the agent and for the record."""
    last = way.arrivals[-1] if way.arrivals else None
    kind = last.kind if last is not None else ReplayVerdictKind.EXACT
    where = f"'{way.title}' ({way.url})"
    made = f"{len(way.arrivals)} of {max(1, len(way.legs))} steps"
    whole = len(way.arrivals) >= len(way.legs)
    if whole and kind.ok:
        manner = "" if kind is ReplayVerdictKind.EXACT else ", a page of the same kind as the one known"
        return ActionResult(
            success=True, effect=Effect.NAVIGATED, output=f"arrived at {where}{manner}", tried=way.legs
        )
    what = last.why if last is not None and last.why else kind.value
    return ActionResult(
        success=False,
        effect=Effect.NAVIGATED,
        cause=_CAUSES.get(kind, Cause.NAVIGATOR),
        why=f"did not arrive at '{target.title}' ({made}): {what}; this is {where}",
        alternatives=_ALTERNATIVES,
        tried=way.legs,
    )


_CAUSES = {ReplayVerdictKind.BLOCKED: Cause.LOGIN}


def _not_found(why: str, *alternatives: str) -> ActionResult:
    return refused(Cause.NAVIGATOR, why, *alternatives)


_WEIGHTS = (("title", 3.0), ("url", 2.0), ("headings", 2.0), ("controls", 1.0), ("matched", 0.5))
"""A title says more about a page than one of its buttons does, and a button more than its text."""


def best_candidate(query: str, intent: str, candidates: Sequence[StateCandidate]) -> int | None:
    """Choose without a model: the candidate whose title, address, headings and controls hold most of the query.

    ``None`` if none holds any word of it.  The intent breaks ties, then the order of the search.
    """
    best, found = 0.0, None
    for number, candidate in enumerate(candidates):
        score = _share(query, candidate)
        if score <= 0:
            continue
        score += 0.1 * _share(intent, candidate) + candidate.score
        if score > best:
            best, found = score, number
    return found


def _share(text: str, candidate: StateCandidate) -> float:
    """Return the weight of a text's words that the candidate holds, each counted in its weightiest part."""
    wanted = query_terms(text).weights
    held = [(set(stems_of(str(getattr(candidate, part)))), weight) for part, weight in _WEIGHTS]
    total = sum(
        share * next((weight for words, weight in held if stem in words), 0.0)
        for stem, share in wanted.items()
    )
    return total / sum(wanted.values()) if wanted else 0.0
