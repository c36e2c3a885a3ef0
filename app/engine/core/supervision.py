"""The data of supervision: run states, approval requests, decisions, hints, operator actions.  Pure data.

Requests, hints and operator actions are rows of their own
(``app.engine.store.supervision.supervision_store``): they survive a restart, and a request is closed only once the step
that follows its decision has begun.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from app.engine.core.cost import Cost
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.verdicts import Severity

MAX_HINT_CHARS = 4_000
"""Characters of a hint, an answer or a reason; a longer one is refused with a sentence, never cut."""


class RunState(StrEnum):
    """The state of a supervised run."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"  # its clock stops, its page stays open
    WAITING = "waiting"  # for a person: an approval, an answer, a captcha, a full disk
    TAKEN_OVER = "taken over"  # an operator has the page
    RECOVERING = "mending"  # the browser or the page is being recovered
    ENDED = "ended"
    INTERRUPTED = "broken off"  # its process died; it can be resumed

    @property
    def alive(self) -> bool:
        """Whether there is (or will be) a page."""
        return self not in (RunState.ENDED, RunState.INTERRUPTED)

    @property
    def held(self) -> bool:
        """Whether the agent is kept from acting on the page."""
        return self in (RunState.PAUSED, RunState.WAITING, RunState.TAKEN_OVER)

    @property
    def counts_as_active(self) -> bool:
        """Whether it counts against the concurrency limit: it works, or is about to, and waits for nobody."""
        return self in (RunState.STARTING, RunState.RUNNING, RunState.RECOVERING)


class Stage(StrEnum):
    """The current phase of a run's loop; the watchdog's limits depend on it."""

    IDLE = "idle"
    LOOKING = "looking"
    THINKING = "thinking"
    ACTING = "acting"
    WRITING = "writing"
    HELD = "held"


class Need(StrEnum):
    """Why a run needs a person; the most urgent last."""

    FLAG = "flag"  # a detector fired and the policy asks
    APPROVAL = "approval"  # an action of a risk class that the policy asks about
    QUESTION = "question"  # the agent's own
    WALL = "wall"  # a captcha or a log-in
    TROUBLE = "trouble"  # the disk, the browser or the model

    @property
    def urgency(self) -> int:
        """Rank among the kinds; the highest is dealt with first."""
        return list(Need).index(self)


class RequestState(StrEnum):
    """A request is open, then decided, and closed once the step that follows the decision has begun."""

    OPEN = "open"
    DECIDED = "decided"
    CLOSED = "closed"


class DecisionKind(StrEnum):
    """The kind of a decision about a request."""

    APPROVE = "approve"  # do it; for a flag: continue; for a wall: it is handled
    DENY = "deny"  # don't do it; for a wall, trouble or a flag: end the run
    EDIT = "edit"  # do ``call`` instead
    ANSWER = "answer"  # ``text`` is the answer
    RETRY = "retry"  # trouble: try again
    NO_WALL = "no-wall"  # a wall: there is none; the run continues, and asks no more about this page


class ApprovalScope(StrEnum):
    """The scope of an approval or a denial."""

    ONCE = "once"
    RUN = "run"
    SITE = "site"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorDecision:
    """An operator's decision.

    Attributes:
        text: the answer, or an optional reason that the agent is given.
        call: for ``EDIT``, the action in the call form (``click("12")``).
        at: Unix seconds.
    """

    kind: DecisionKind
    text: str = ""
    scope: ApprovalScope = ApprovalScope.ONCE
    call: str = ""
    author: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A question that a run waits for a person to decide.

    Attributes:
        question: one sentence for a person.  why: the reason for asking.
        words: the action asked about, in words; ``call`` the same in the call form (``click("12")``).
        risk: a ``RiskClass`` for approvals, else "".
        detectors: those whose flags asked.
        url: the page it is about.  element: its element, as ``agent.clearing`` identifies it.
        wall: identifies a wall: the page's address without its data, and the form's fields.
        task: the same for runs with the same task.  login: the log-in that the run asked for, "" for the site's usual
            one; it names no file.
    """

    id: str
    run: str
    need: Need
    step: int
    question: str
    site: str = ""
    why: str = ""
    words: str = ""
    call: str = ""
    risk: str = ""
    detectors: tuple[str, ...] = ()
    url: str = ""
    element: str = ""
    wall: str = ""
    task: str = ""
    login: str = ""
    opened_at: float = 0.0
    state: RequestState = RequestState.OPEN
    decision: OperatorDecision | None = None
    closed_at: float = 0.0
    void: str = ""
    """Why it was closed though no step followed it: the run ended, the page is another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A supervisor's message to a running agent.  ``taken_at`` is the start of the first step that got it, 0
    before.
    """

    id: str
    run: str
    step: int
    text: str
    author: str = ""
    at: float = 0.0
    taken_at: float = 0.0


class TipOverride(StrEnum):
    """An operator's override of a tip, for one run."""

    NONE = ""
    MUTED = "muted"
    PINNED = "pinned"


class OperatorAction(StrEnum):
    """An action of an operator, the policy or the watchdog in a run."""

    PAUSED = "paused"
    RESUMED = "resumed"
    STEPPED = "stepped"
    STOPPED = "stopped"
    ASKED = "asked"
    APPROVED = "approved"
    DENIED = "denied"
    EDITED = "edited"
    ANSWERED = "answered"
    HINTED = "hinted"
    TOOK_OVER = "took over"
    RELEASED = "released"
    MUTED = "muted a tip"
    PINNED = "pinned a tip"
    FREED = "freed a tip"
    VOTED = "voted on a tip"
    CONFIRMED = "confirmed a flag"
    DISMISSED = "dismissed a flag"
    MENDED = "mended"
    TROUBLED = "troubled"
    FINISHED = "finished it by hand"
    GAVE_ANSWER = "gave the answer"
    NO_WALL = "said that it is no wall"
    SHARED_LOGIN = "shared the log-in"
    GOT_LOGIN = "was given a log-in"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """An entry of a run's time line; never changed.

    ``author`` is a person, ``policy`` or ``watchdog``; ``about`` its object (the id of a request, tip or hint, a
    detector); ``at`` is Unix seconds; ``order`` counts up over the workspace.
    """

    run: str
    step: int
    action: OperatorAction
    words: str = ""
    author: str = ""
    about: str = ""
    at: float = 0.0
    order: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagReaction:
    """Whether a flag is right, by the operator's action on it; the newest of a flag counts."""

    run: str
    step: int
    detector: str
    right: bool
    version: int = 1
    how: str = ""
    author: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedFlag:
    """A flag of a live run."""

    detector: str
    step: int
    severity: Severity
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRow:
    """The current state of one live run.

    Attributes:
        step: steps recorded so far.  words: the last action in words.
        risk: in [0, 1], how likely it fails, from its flags so far.
        needs: open requests, the most urgent kind first.
        seconds: active time, without the time it was held (``held_seconds``).
        stage_since: Unix seconds at which ``stage`` was entered.
        why: the problem, or how it ended, in a sentence.
        outcome: of an ended run, else "".
        hints: hints that no step has been given yet.
        versions: the versions of its prompts and actions, in words; "" for none.
        cost: of the model so far, ``None`` without one; ``tokens``: of the model so far.
        max_money, max_tokens: its own budget in US dollars and tokens, 0 for none.
        batch, task_id: the batch it belongs to and the task's id in its suite, "" for none.
        ended_at: Unix seconds, 0 before its end.
        ended_by: the person who finished it by hand or gave its answer, "" for the agent.
    """

    run: str
    intent: str
    state: RunState
    site: str = ""
    policy: str = ""
    start_url: str = ""
    url: str = ""
    title: str = ""
    step: int = 0
    max_steps: int = 0
    plan: str = ""
    words: str = ""
    effect: str = ""
    flags: tuple[RaisedFlag, ...] = ()
    risk: float = 0.0
    needs: tuple[ApprovalRequest, ...] = ()
    hints: int = 0
    stage: Stage = Stage.IDLE
    stage_since: float = 0.0
    seconds: float = 0.0
    held_seconds: float = 0.0
    started_at: float = 0.0
    why: str = ""
    outcome: str = ""
    versions: str = ""
    cost: Cost | None = None
    tokens: int = 0
    max_money: float = 0.0
    max_tokens: int = 0
    batch: str = ""
    task_id: str = ""
    ended_at: float = 0.0
    ended_by: str = ""

    @property
    def last_flag(self) -> RaisedFlag | None:
        """The newest flag."""
        return self.flags[-1] if self.flags else None

    @property
    def rank(self) -> tuple[int, int, float, float]:
        """Sort key, smallest first: needs a person, then by risk, then by age."""
        weight = max((one.need.urgency + 1 for one in self.needs), default=0)
        order = (
            0 if weight else 1 if self.state in (RunState.PAUSED, RunState.TAKEN_OVER, RunState.INTERRUPTED)
            else 2 if self.state.alive and self.state is not RunState.QUEUED
            else 3 if self.state is RunState.QUEUED else 4
        )  # fmt: skip
        return (order, -weight, -self.risk, self.started_at)


def open_requests(requests: Iterable[ApprovalRequest]) -> tuple[ApprovalRequest, ...]:
    """Return the open requests among these, the most urgent kind first."""
    still_open = [one for one in requests if one.state is RequestState.OPEN]
    return tuple(sorted(still_open, key=lambda one: one.need.urgency, reverse=True))


def sort_live_rows(rows: Iterable[LiveRow]) -> list[LiveRow]:
    """Return rows by their rank."""
    return sorted(rows, key=lambda row: (row.rank, row.run))


@dataclass(frozen=True, slots=True, kw_only=True)
class TipDue:
    """The next step of a tip in force, before an action.

    ``steps`` is the number of its steps, ``number`` that of the next, counted from 1, and ``line`` the step in words;
    ``applies`` if its condition holds here; ``why`` it can't be done here, "" if it can; ``over`` if all are done.
    """

    tip: str
    steps: int
    number: int = 0
    line: str = ""
    applies: bool = False
    why: str = ""
    over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAction:
    """The action about to be done, for a person to see before it happens.

    ``box`` is (x, y, width, height) of its target and ``point`` where the pointer goes, in CSS pixels of the
    viewport; ``element`` its number; ``follows`` tells for each tip in force whether the action follows it, ``due``
    which step of it is next.
    """

    run: str
    step: int
    words: str
    call: str = ""
    reason: str = ""
    risk: RiskClass = RiskClass.READS
    risk_why: str = ""
    element: int | None = None
    box: tuple[float, float, float, float] | None = None
    point: tuple[float, float] | None = None
    url: str = ""
    follows: dict[str, bool] = field(default_factory=dict[str, bool])
    due: tuple[TipDue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TipAtStep:
    """A tip given at the current step, or a near miss.

    ``routes`` have their own scores; ``cut`` is why it is not given to the agent ("" when it is): over the budget,
    muted; ``follows`` whether the next action follows it, ``due`` its next step, ``None`` where unknown.
    """

    tip: str
    text: str
    kind: str = ""
    route: str = ""
    score: float = 0.0
    routes: dict[str, float] = field(default_factory=dict[str, float])
    why: str = ""
    tokens: int = 0
    cut: str = ""
    follows: bool | None = None
    stance: TipOverride = TipOverride.NONE
    vote: int = 0
    due: TipDue | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeAtStep:
    """The tips of the agent's current step."""

    run: str
    step: int
    url: str = ""
    tips: tuple[TipAtStep, ...] = ()
    tokens: int = 0
    budget: int = 0
    off: dict[str, str] = field(default_factory=dict[str, str])
    """Routes that could not be used, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeoverSummary:
    """A takeover's summary, as the agent gets it on release.

    ``first_step`` to ``first_step + steps - 1`` are the recorded steps; ``changes`` are lines in words (addresses,
    fields filled in, new contents); ``tip_text`` proposes a tip, "" for none.
    """

    run: str
    first_step: int
    steps: int
    words: str
    url_before: str = ""
    url_after: str = ""
    changes: tuple[str, ...] = ()
    tip_text: str = ""
    masked: int = 0
    """Fields whose contents were kept out of text and pictures."""
