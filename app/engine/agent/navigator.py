"""Retrieve-Reason-Teleport as one action (WebNavigator, section 3.2): find a state, choose it, go there.

Retrieve: late-interaction search over the interaction graph of a domain.  Reason: a selector chooses among the
candidates, or none.  Teleport: the cheapest route from the page in front, each arrival verified; after a wrong
one
nothing more is done, and the result says where the browser really is.  (The published code calls every route a
success.)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.engine.agent.ports import Travelled
from app.engine.agent.sight import Domain
from app.engine.command import Navigate
from app.engine.effect import Cause, Effect, Result, refused
from app.engine.errors import NotFound, SiteloreError
from app.engine.transition import Arrival, ArrivalKind

CANDIDATES = 10
"""States given to the selector (the paper's k is 25 to 50 screenshots; text cards say more in less)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A state found for the query, as the selector sees it; ``matched`` are the words that it matched."""

    node: str
    title: str
    url: str
    headings: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    score: float = 0.0
    matched: tuple[str, ...] = ()
    picture: str = ""


Choose = Callable[[str, str, Sequence[Candidate]], Awaitable[int | None]]
"""Return the number of the best candidate for query and intent, or ``None`` when none of them fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A completed route: the words of each leg, and the arrivals, one for each leg that was done."""

    legs: tuple[str, ...]
    arrivals: tuple[Arrival, ...]
    url: str = ""
    title: str = ""


class Atlas(Protocol):
    """The graphs of a workspace, as the navigator needs them."""

    def domains(self) -> tuple[Domain, ...]:
        """Return the sites with a graph that may be navigated."""
        ...

    async def find(self, domain: str, query: str, k: int) -> Sequence[Candidate]:
        """Return the states of a domain that match a query, best first."""
        ...

    async def go(self, domain: str, node: str) -> Way:
        """Take the run's browser to a state; raises ``SiteloreError`` where no route is allowed."""
        ...


class GlobalNavigator:
    """The Global-View Navigator over all graphs; the domain in the action selects the graph."""

    def __init__(self, atlas: Atlas, choose: Choose) -> None:
        self._atlas, self._choose = atlas, choose

    def domains(self) -> tuple[Domain, ...]:
        """Return the sites that can be navigated."""
        return self._atlas.domains()

    async def navigate(
        self, command: Navigate, intent: str, gate: Callable[[], Awaitable[None]] | None = None
    ) -> Travelled:
        """Go to the state that fits the query; the result reports what the verification saw."""
        domain = self._domain(command.domain)
        if domain is None:
            names = ", ".join(one.name for one in self.domains())
            return _nowhere(f"there is no graph of {command.domain!r}", f"use one of these domains: {names}")
        if not command.query.strip():
            return _nowhere("the query is empty", "say in words what the page is for")
        try:
            found = await self._atlas.find(domain, command.query, CANDIDATES)
            if not found:
                return _nowhere(f"no state of {domain} matches {command.query!r}", *_BY_HAND)
            chosen = await self._choose(command.query, intent, found)
            if chosen is None or not 0 <= chosen < len(found):
                titles = "; ".join(f"{one.title} ({one.url})" for one in found[:3])
                return _nowhere(f"none of the found states fits: {titles}", *_BY_HAND)
            target = found[chosen]
            if gate is not None:
                await gate()
            way = await self._atlas.go(domain, target.node)
        except NotFound as error:
            return _nowhere(str(error), *_BY_HAND)
        except SiteloreError as error:
            return Travelled(result=refused(Cause.NAVIGATOR, str(error), *_BY_HAND))
        return _told(target, way, tuple(one.node for one in found))

    def _domain(self, asked: str) -> str | None:
        names = [one.name for one in self.domains()]
        if asked in names:
            return asked
        if not asked.strip() and len(names) == 1:
            return names[0]
        alike = [name for name in names if name.casefold() == asked.strip().casefold()]
        return alike[0] if alike else None


_BY_HAND = ("use the links, menus or the search of the page", "ask for it in other words")


def _told(target: Candidate, way: Way, candidates: tuple[str, ...]) -> Travelled:
    """Return the true result of the arrival, for the agent and for the record."""
    last = way.arrivals[-1] if way.arrivals else None
    kind = last.kind if last is not None else ArrivalKind.EXACT
    where = f"'{way.title}' ({way.url})"
    made = f"{len(way.arrivals)} of {max(1, len(way.legs))} steps"
    whole = len(way.arrivals) >= len(way.legs)
    if whole and kind.ok:
        manner = "" if kind is ArrivalKind.EXACT else ", a page of the same kind as the one known"
        result = Result(
            success=True, effect=Effect.NAVIGATED, output=f"arrived at {where}{manner}", tried=way.legs
        )
    else:
        what = last.why if last is not None and last.why else kind.value
        result = Result(
            success=False,
            effect=Effect.NAVIGATED,
            cause=_CAUSES.get(kind, Cause.NAVIGATOR),
            why=f"did not arrive at '{target.title}' ({made}): {what}; this is {where}",
            alternatives=_BY_HAND,
            tried=way.legs,
        )
    return Travelled(
        result=result, node=target.node, candidates=candidates, legs=way.legs, arrival=kind.value
    )


_CAUSES = {ArrivalKind.BLOCKED: Cause.LOGIN, ArrivalKind.ERROR: Cause.NAVIGATOR}


def _nowhere(why: str, *alternatives: str) -> Travelled:
    return Travelled(result=refused(Cause.NAVIGATOR, why, *alternatives))
