"""Input and output of a policy at each step: observation and decision.  Pure data, shared by the scout and models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from app.engine.core.action_result import ActionResult
from app.engine.core.actions.types import Action
from app.engine.core.ledger import Constraint, Fact, Ledger, PlanNode
from app.engine.core.local_time import LocalTime
from app.engine.core.page_state import PageCapture
from app.engine.core.trajectory import Tab
from kb.procedure import Procedure


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedTip:
    """A tip in force at this step: expert knowledge of the site, neither the page's words nor an order.

    ``routes`` are those it was found by, ``when``, ``do``, ``before`` its structured parts where its author
    gave them.
    """

    tip: str
    text: str
    kind: str = ""
    routes: tuple[str, ...] = ()
    score: float = 0.0
    when: str = ""
    do: str = ""
    before: str = ""
    procedure: Procedure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureState:
    """How far a tip has been followed, and its next step on the page in front.

    Attributes:
        lines: its steps in words, one a line; ``steps`` their number, those of all ways.
        number: number of the next step, counted from 1; ``line`` that step with the task's values.
        applies: its condition holds here.
        action: the action of the next step on this page; None if it can't be done here, and ``why``.
        over: every step was done.
    """

    tip: str
    lines: tuple[str, ...] = ()
    steps: int = 0
    number: int = 0
    line: str = ""
    applies: bool = False
    action: Action | None = None
    why: str = ""
    over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TipCredit:
    """The part a tip had in one action: its step that was done (0: none), and whether the effect was seen."""

    step: int = 0
    effect: bool = False
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One past step: the page it began on, its action and result.

    ``state`` and ``state_after`` are page state ids; ``words`` the action in words.
    """

    step: int
    url: str
    title: str
    state: str
    action: Action
    result: ActionResult
    words: str
    reason: str = ""
    state_after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigableSite:
    """A site whose interaction graph can be navigated, in the words a model chooses by."""

    name: str
    states: int
    home: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything a policy may base its decision on.

    Attributes:
        step: number of this step, from 0; ``steps_left`` counts this one.
        intent: the task, in the person's words.
        page: the current page.
        state: its page state id, "" outside of any site that has a graph.
        tips: tips of the knowledge base for this page, best first; ``procedures`` how far their steps were followed.
        domains: sites that ``Navigate`` can be used with.
        answers: a person's answers so far, oldest first: (question, answer).
        guidance: corrective guidance for this step, "" where nothing deviates.
        clock: date, time, time zone and locale; ``None`` leaves them out of the prompts.
        news: events since the last decision that were not the agent's doing: a takeover, or a page that changed
            while the run was held.
    """

    step: int
    steps_left: int
    intent: str
    start_url: str
    page: PageCapture
    state: str = ""
    tabs: tuple[Tab, ...] = ()
    active_tab: int = 0
    tips: tuple[RetrievedTip, ...] = ()
    procedures: tuple[ProcedureState, ...] = ()
    domains: tuple[NavigableSite, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    history: tuple[HistoryEntry, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    guidance: str = ""
    news: tuple[str, ...] = ()
    clock: LocalTime | None = None

    @property
    def last(self) -> HistoryEntry | None:
        """The previous step."""
        return self.history[-1] if self.history else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDecision:
    """A policy's next action, with what it wants remembered.

    Attributes:
        action: the action; ``None`` when the policy's answer held none after all attempts (``why`` says so).
        raw: a model's answer, unchanged.
        intent: the expected effect of the action, in words; the step-consistency detector checks it.
        facts, plan, subgoal, notes, constraints: for the ledger; ``plan`` replaces it where it is not ``None``.
        followed: for each tip in force, whether this action follows it; tips without a statement are left out.
        calls: digests of the exchanges with a model that led to it (blobs of the run).
        tokens: tokens spent on it, in and out.
        seconds: time of the model, in all; the rest is the agent's own cost.
    """

    action: Action | None
    reason: str = ""
    raw: str = ""
    why: str = ""
    intent: str = ""
    facts: tuple[Fact, ...] = ()
    plan: tuple[PlanNode, ...] | None = None
    subgoal: str | None = None
    notes: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    followed: dict[str, bool] = field(default_factory=dict[str, bool])
    calls: tuple[str, ...] = ()
    tokens: tuple[int, int] = (0, 0)
    seconds: float = 0.0


class Policy(Protocol):
    """Decides what to do next."""

    @property
    def name(self) -> str:
        """``scout`` or ``llm``, and more where that is informative."""
        ...

    async def decide(self, observation: Observation) -> AgentDecision:
        """Return the next action.  Raises a ``SiteloreError`` only where the run can't continue (no endpoint, no
        budget).
        """
        ...

    async def aclose(self) -> None:
        """Release resources; may be called twice."""
        ...


@runtime_checkable
class LooksAhead(Protocol):
    """A policy that begins slow work on a page before the tips for it are retrieved (the pass of a vision model)."""

    def look_ahead(self, observation: Observation) -> None:
        """Begin; the observation has no tips yet, and as procedures those that are under way.  Does not wait."""
        ...
