"""The agent's working memory of one task, as a projection of its events (SuperBrowser, section 5.2).  Pure data.

Events are appended and never changed; ``app.engine.agent.memory`` reduces them to a ``Ledger``, slices it for each
role, and stores both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class FactCategory(StrEnum):
    """Kinds of facts; SuperBrowser's names, without ``credential``: secrets are never facts."""

    OBSERVATION = "observation"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    IDENTITY = "identity"
    DERIVED = "derived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One known fact with its evidence: the step it comes from and the words seen there.

    ``confidence`` is in [0, 1]; ``retracted`` facts stay, and only a person sees them.
    """

    key: str
    value: str
    category: FactCategory = FactCategory.OBSERVATION
    confidence: float = 1.0
    step: int = 0
    quote: str = ""
    subgoal: str = ""
    last_used: int = 0
    retracted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text the agent wrote down, whole; ``number`` counts from 1, and no later note replaces it.

    ``url`` is the page in front.
    """

    number: int
    text: str
    step: int = 0
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadEnd:
    """A failed attempt: page state, target, cause (``effect.Cause``)."""

    state: str
    target: str
    cause: str
    words: str
    url: str = ""
    step: int = 0
    until: int = 0
    """The step from which it may be tried again; 0 for never in this run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A sign of progress: ``kind`` is navigation, login, filter, form, basket, subgoal."""

    kind: str
    words: str
    url: str = ""
    state: str = ""
    step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """One step in a line: its action, target and outcome."""

    step: int
    words: str
    effect: str
    success: bool
    url: str = ""
    why: str = ""


class ConstraintClass(StrEnum):
    """Classes of a task's constraints (WebNavigator, appendix G.2), in our words."""

    TIME = "time"  # years, dates, periods, ranges
    QUANTITY = "quantity"  # rankings, limits, comparisons
    ENTITY = "entity"  # names, ids, categories
    LOGIC = "logic"  # only if, unless, except
    OTHER = "other"


class Met(StrEnum):
    """Whether a constraint holds, as far as was seen."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """One condition of the task, in the task's own words."""

    kind: ConstraintClass
    text: str
    met: Met = Met.UNKNOWN


class PlanNodeState(StrEnum):
    """States of a subgoal."""

    OPEN = "open"
    ACTIVE = "active"
    DONE = "done"
    PRUNED = "pruned"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanNode:
    """One subgoal; ``remains`` lists its changes on the site that were not undone when it was pruned."""

    id: str
    parent: str
    intent: str
    state: PlanNodeState = PlanNodeState.OPEN
    reason: str = ""
    step: int = 0
    summary: str = ""
    remains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The whole memory; ``recent`` are the last three outcomes, ``steps`` counts all of them.

    ``episodic`` are lines about the run (summaries, takeovers), ``notes`` what the agent wrote down.
    """

    goal: str = ""
    plan: tuple[PlanNode, ...] = ()
    subgoal: str = ""
    recent: tuple[StepOutcome, ...] = ()
    facts: tuple[Fact, ...] = ()
    dead_ends: tuple[DeadEnd, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    episodic: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    steps: int = 0
    url: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEvent:
    """One change of the ledger.

    ``kind`` is one of: ``goal``, ``plan`` (several nodes), ``branch``, ``prune``, ``subgoal``, ``outcome``, ``fact``,
    ``dead_end``, ``checkpoint``, ``note`` (a line of the episodic memory), ``agent_note``,
    ``constraints`` (all of them).  ``data`` is plain JSON; ``seq`` counts from 1 without gaps.
    """

    seq: int
    at: float
    step: int
    kind: str
    data: dict[str, object] = field(default_factory=dict[str, object])
