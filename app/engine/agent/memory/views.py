"""The roles' views of the ledger (SuperBrowser, equations 16 and 17), each a smaller ledger.

``rendering.rendered`` renders them.

The worker is not shown what it can't act on. Dead ends hold for a page state, or for an address where no state is
known, and expire; retracted facts are shown to no role.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.engine.core.addresses import host_of, url_key
from app.engine.core.ledger import DeadEnd, Fact, Ledger

WORKER_FACTS = 5


def worker_view(ledger: Ledger, *, url: str, state: str = "", step: int | None = None) -> Ledger:
    """Return goal, subgoal, recent three, the five facts used last, and the page's dead ends (equation 16)."""
    now = ledger.steps if step is None else step
    return Ledger(
        goal=ledger.goal,
        subgoal=ledger.subgoal,
        recent=ledger.recent,
        facts=facts_by_use(ledger.facts)[:WORKER_FACTS],
        dead_ends=tuple(dead for dead in unexpired(ledger.dead_ends, now) if applies_here(dead, url, state)),
        steps=ledger.steps,
        url=url,
        state=state,
    )


def planner_view(ledger: Ledger, *, step: int | None = None) -> Ledger:
    """Return everything but the episodic notes (equation 17)."""
    now = ledger.steps if step is None else step
    return replace(
        ledger, facts=facts_by_use(ledger.facts), dead_ends=unexpired(ledger.dead_ends, now), episodic=()
    )


def facts_by_use(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return facts that are not retracted, last used first."""
    holding = (fact for fact in facts if not fact.retracted)
    return tuple(sorted(holding, key=lambda fact: (fact.last_used, fact.step), reverse=True))


def unexpired(dead_ends: Iterable[DeadEnd], step: int) -> tuple[DeadEnd, ...]:
    """Return dead ends that have not expired, newest first."""
    return tuple(
        sorted(
            (dead for dead in dead_ends if dead.until == 0 or step < dead.until),
            key=lambda dead: dead.step,
            reverse=True,
        )
    )


def applies_here(dead: DeadEnd, url: str, state: str) -> bool:
    """Whether a dead end belongs to this page: same state, or same address where a state is unknown."""
    if dead.state and state:
        return dead.state == state
    return bool(dead.url) and host_of(dead.url) == host_of(url) and url_key(dead.url) == url_key(url)
