"""Results of verifying a map, before they are stored.  Pure data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from app.engine.core.page_state import PageCapture, PageState
from app.engine.core.transition import Attempt, ReplayVerdictKind, Transition
from app.engine.graph.explore.exploration_store import PageContents


@dataclass(slots=True)
class Findings:
    """Results of one verification.

    Attributes:
        arrivals: verdict on each state; states checked by request only count as ``exact``.
        gone: states that no longer exist.
        replaced: new state by the old one it replaces.
        states: new states with their contents.
        again: states that stayed the same though their elements changed (a list got a row), with their current
            contents.
        looks: captures of new states and of these, by id.
        renewed: states whose own fields changed (``served``, ``direct``).
        attempts: transitions that were made, with their results.
        broken: transitions that now lead nowhere or elsewhere.
        found: transitions that were not known.
        direct: states that their address leads to.
        unread: elements a new state has in common with the page it was reached from.
        opened, acted, asked: the cost: pages opened, elements operated, addresses requested.
    """

    arrivals: dict[str, ReplayVerdictKind] = field(default_factory=dict[str, ReplayVerdictKind])
    why: dict[str, str] = field(default_factory=dict[str, str])
    gone: set[str] = field(default_factory=set[str])
    replaced: dict[str, str] = field(default_factory=dict[str, str])
    states: dict[str, tuple[PageState, PageContents]] = field(
        default_factory=dict[str, tuple[PageState, PageContents]]
    )
    again: dict[str, tuple[PageState, PageContents]] = field(
        default_factory=dict[str, tuple[PageState, PageContents]]
    )
    looks: dict[str, PageCapture] = field(default_factory=dict[str, PageCapture])
    renewed: dict[str, PageState] = field(default_factory=dict[str, PageState])
    attempts: list[tuple[Transition, Attempt]] = field(default_factory=list[tuple[Transition, Attempt]])
    broken: set[str] = field(default_factory=set[str])
    found: list[Transition] = field(default_factory=list[Transition])
    direct: set[str] = field(default_factory=set[str])
    unread: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    opened: int = 0
    acted: int = 0
    asked: int = 0


def count_verdicts(findings: Findings) -> dict[str, int]:
    """Count verdicts by kind."""
    return dict(Counter(kind.value for kind in findings.arrivals.values()))
