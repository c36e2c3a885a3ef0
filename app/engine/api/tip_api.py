"""Use cases of a tip: how it fares (tests in a browser, votes, its record), and the page its region is on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from app.engine.api.evaluation_api import TipCreditRow
from app.engine.core.evaluation.episode import MIN_TEMPLATES
from app.engine.core.regions import RegionElement
from kb.evidence import TestOutcome
from kb.procedure import Procedure
from kb.tip import LastTest, TipDraft, TipRecord


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
class PageElements:
    """The controls and headings of a step's page, of which a tip's region is chosen.

    Attributes:
        screenshot: content hash of the picture, "" without one.
        page: the address with its data replaced.
        missing: why there is nothing to choose, in words.
    """

    screenshot: str = ""
    page: str = ""
    elements: tuple[RegionElement, ...] = ()
    missing: str = ""


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

    ``never`` are the controls and addresses it warns of, ``unread`` its clauses that could not be compiled;
    ``tested_at`` is Unix seconds, 0 for a tip that was not tested.
    """

    tip: str
    steps: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
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
    """The last vote of the person who asks, in the run that was named or outside of runs; "" for none."""


def tested_words(test: LastTest | None) -> str:
    """``holds``, ``broke at step 3``, ``stopped at step 2`` (before a write), ``not reached``, or ``not tested``."""
    if test is None:
        return "not tested"
    heads = {TestOutcome.BROKE.value: "broke", TestOutcome.STOPPED.value: "stopped"}
    return f"{heads[test.outcome]} at step {test.step}" if test.outcome in heads else test.outcome


def followed_words(record: TipRecord) -> str:
    """``3 of 7``: the steps that followed a tip with its effect seen, of those it was for; empty without any."""
    return f"{record.effect} of {record.applied}" if record.applied else ""


def vote_counts(record: TipRecord) -> str:
    """``+2 -1``: the people who found a tip useful and those who did not; empty without votes."""
    counts = (f"+{record.up}" if record.up else "", f"-{record.down}" if record.down else "")
    return " ".join(one for one in counts if one)


def best_credits(rows: Iterable[TipCreditRow]) -> dict[str, TipCreditRow]:
    """Return the row that says most of each tip: one with enough data before others, ``left out`` before ``pairs``."""

    def rank(row: TipCreditRow) -> tuple[bool, bool, int]:
        return row.templates >= MIN_TEMPLATES, row.method == "left out", row.templates

    best: dict[str, TipCreditRow] = {}
    for row in rows:
        if row.tip not in best or rank(row) > rank(best[row.tip]):
            best[row.tip] = row
    return best


def uplift_words(row: TipCreditRow | None) -> str:
    """``+0.12 (-0.02 to 0.25)``; ``3 of 8 templates`` where data is missing; empty for a tip no evaluation showed."""
    if row is None:
        return ""
    if row.templates < MIN_TEMPLATES:
        return f"{row.templates} of {MIN_TEMPLATES} templates"
    return f"{row.difference:+.2f} ({row.low:.2f} to {row.high:.2f})"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftedSteps:
    """A model's steps for a tip, for a person to accept or reject.

    Attributes:
        left_out: a line for each step that was left out, with the reason.
        marked: a line for each step that names what the tip does not.
        tokens: in and out.
    """

    procedure: Procedure
    left_out: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    model: str = ""
    tokens: tuple[int, int] = (0, 0)
    seconds: float = 0.0


class TipApi(Protocol):
    """Use cases of tips' tests, votes and regions.  Errors are ``SiteloreError``s."""

    async def test_tip(
        self, tip: str, start_url: str = "", values: Mapping[str, str] | None = None, headed: bool = False
    ) -> TipTest: ...
    async def test_tips(self, site: str, drafts: bool = False) -> TipTests: ...
    async def tip_standing(self, tip: str, run: str = "") -> TipStanding: ...
    async def model_missing(self) -> str: ...
    async def draft_steps(self, draft: TipDraft) -> DraftedSteps: ...
    async def page_elements(self, run: str, step: int) -> PageElements: ...
