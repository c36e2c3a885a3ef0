"""What a policy is given at each step, and what it answers.  Pure data, the same for the scout and for a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from app.engine.command import Command
from app.engine.effect import Result
from app.engine.ledger import Fact, Ledger, PlanNode
from app.engine.page_state import PageCapture
from app.engine.trajectory import Tab


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A tip in force at this step: expert knowledge of the site, neither the page's words nor an order.

    ``routes`` are those it was found by, ``when``, ``do``, ``before`` its structured parts where its author gave them.
    """

    tip: str
    text: str
    kind: str = ""
    routes: tuple[str, ...] = ()
    score: float = 0.0
    when: str = ""
    do: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One step that lies behind: the page it began on, what was done, what came of it.

    ``state`` and ``state_after`` are page state ids; ``words`` the action in words.
    """

    step: int
    url: str
    title: str
    state: str
    command: Command
    result: Result
    words: str
    reason: str = ""
    state_after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A site whose interaction graph can be navigated by, in the words a model chooses by."""

    name: str
    states: int
    home: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Everything a policy may go by.

    Attributes:
        step: number of this step, from 0; ``steps_left`` counts this one.
        intent: the task, in the person's words.
        page: the page as it is now.
        state: its page state id, "" outside of any site that has a graph.
        tips: what the knowledge base says here, best first.
        domains: sites that ``Navigate`` can be used with.
        answers: what a person has said to the questions asked, oldest first: (question, answer).
        guidance: corrective guidance for this step, "" where nothing deviates.
        news: what happened since the last decision that was not the agent's doing: a person had the page, or it changed
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
    tips: tuple[Hint, ...] = ()
    domains: tuple[Domain, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    turns: tuple[Turn, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    guidance: str = ""
    news: tuple[str, ...] = ()

    @property
    def last(self) -> Turn | None:
        """The step before this one."""
        return self.turns[-1] if self.turns else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a policy wants done, and what it remembers.

    Attributes:
        command: the action; ``None`` when the policy's answer held none after all attempts (``why`` says so).
        raw: a model's answer as it came.
        intent: what the action is to bring about, in words; the step-consistency detector asks whether it did.
        facts, plan, subgoal, notes: for the ledger; ``plan`` replaces it where it is not ``None``.
        followed: for each tip in force, whether this action goes by it; tips that say nothing of it are left out.
        calls: digests of the exchanges with a model that led to it (blobs of the run).
        tokens: tokens spent on it, in and out.
        seconds: how long the model took, in all; the agent's own cost is what is left.
    """

    command: Command | None
    reason: str = ""
    raw: str = ""
    why: str = ""
    intent: str = ""
    facts: tuple[Fact, ...] = ()
    plan: tuple[PlanNode, ...] | None = None
    subgoal: str | None = None
    notes: tuple[str, ...] = ()
    followed: dict[str, bool] = field(default_factory=dict[str, bool])
    calls: tuple[str, ...] = ()
    tokens: tuple[int, int] = (0, 0)
    seconds: float = 0.0


class Policy(Protocol):
    """Decides what to do next."""

    @property
    def name(self) -> str:
        """``scout`` or ``llm``, and more where it tells something."""
        ...

    async def decide(self, sight: Sight) -> Decision:
        """The next action.  Raises a ``SiteloreError`` only where the run can't go on (no endpoint, no budget)."""
        ...

    async def aclose(self) -> None:
        """Give back what is held; may be called twice."""
        ...
