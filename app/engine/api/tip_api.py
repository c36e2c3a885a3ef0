"""Use cases that say how a tip fares: tests in a browser, votes, its record.  Part of ``EngineApi``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kb.tip import TipRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedStep:
    """One step of a tip in a test: its number, the step in words, what came of it, and why."""

    __test__ = False

    number: int
    line: str
    outcome: str
    """``done``, ``passed over``, ``left out``, ``not done`` or ``would write``."""
    note: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TipTest:
    """The result of one test of a tip.

    Attributes:
        outcome: ``holds``, ``stopped before a write``, ``broke``, ``not reached``; "" for a test that was cancelled or
            could not be made.
        step: number of the step that decided it, counted from 1; 0 before the first.
        message: one sentence for people.
        url: the page it began on.
        became_suspect: the test made the tip suspect.
        offer: what a person may do now, "" for nothing.
    """

    tip: str
    revision: int = 0
    outcome: str = ""
    step: int = 0
    message: str = ""
    url: str = ""
    seconds: float = 0.0
    steps: tuple[TestedStep, ...] = ()
    became_suspect: bool = False
    offer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TipTests:
    """The tests of a site's tips; ``without_steps`` are tips that have none."""

    site: str
    tests: tuple[TipTest, ...] = ()
    without_steps: tuple[str, ...] = ()
    cancelled: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """Number of tests by outcome."""
        found: dict[str, int] = {}
        for one in self.tests:
            found[one.outcome or "not tested"] = found.get(one.outcome or "not tested", 0) + 1
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class TipStanding:
    """A tip's steps, the newest test of what it says now, and its record.

    ``unread`` are clauses that could not be compiled; ``tested_at`` is Unix seconds, 0 for a tip that was not tested.
    """

    tip: str
    steps: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    outcome: str = ""
    step: int = 0
    message: str = ""
    tested_by: str = ""
    tested_at: float = 0.0
    record: TipRecord = field(default_factory=TipRecord)
    votes: dict[str, str] = field(default_factory=dict[str, str])
    """Each person's last vote, ``up`` or ``down``."""
    own_vote: str = ""
    """The last vote of the person who asks that was given outside of runs; "" for none."""


class TipApi(Protocol):
    """Use cases of tips' tests and votes.  Errors are ``SiteloreError``s."""

    async def test_tip(
        self, tip: str, start_url: str = "", values: Mapping[str, str] | None = None, headed: bool = False
    ) -> TipTest: ...
    async def test_tips(self, site: str, drafts: bool = False) -> TipTests: ...
    async def tip_standing(self, tip: str) -> TipStanding: ...
