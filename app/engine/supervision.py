"""What a person who supervises runs is told, asked and has decided: states, policy, requests, hints.  Pure data.

A request, a hint and everything a person did are rows of their own (``app.engine.store.desk``): they survive a restart,
and a request is closed only once the step that goes by its decision has begun.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from app.engine.intervention_policy import RiskClass
from app.engine.judgement import Severity

LONGEST_HINT = 4_000
"""Characters of a hint, an answer or a reason; what is longer is refused with a sentence, never cut."""


class RunState(StrEnum):
    """Where a supervised run stands."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"  # its clock stands still, its page stays alive
    WAITING = "waiting"  # for a person: an approval, an answer, a captcha, a full disk
    TAKEN_OVER = "taken over"  # a person's hands are on the page
    MENDING = "mending"  # the browser or the page is being brought back
    ENDED = "ended"
    BROKEN_OFF = "broken off"  # its process died; it can be gone on with

    @property
    def alive(self) -> bool:
        """There is (or will be) a page behind it."""
        return self not in (RunState.ENDED, RunState.BROKEN_OFF)

    @property
    def held(self) -> bool:
        """Nothing is done to the page by the agent now."""
        return self in (RunState.PAUSED, RunState.WAITING, RunState.TAKEN_OVER)

    @property
    def takes_a_place(self) -> bool:
        """It counts among those that may go on at once: it works, or is about to, and does not wait for a person."""
        return self in (RunState.STARTING, RunState.RUNNING, RunState.MENDING)


class Stage(StrEnum):
    """What the loop of a run is at; the watchdog's limits go by it."""

    IDLE = "idle"
    LOOKING = "looking"
    THINKING = "thinking"
    ACTING = "acting"
    WRITING = "writing"
    HELD = "held"


class Need(StrEnum):
    """Why a run needs a person; the weightiest last."""

    FLAG = "flag"  # a detector fired and the policy asks
    APPROVAL = "approval"  # an action of a risk class that the policy asks about
    QUESTION = "question"  # the agent's own
    WALL = "wall"  # a captcha or a log-in
    TROUBLE = "trouble"  # the disk, the browser or the model


class RequestState(StrEnum):
    """A request is open, then decided, and closed once the step that goes by the decision has begun."""

    OPEN = "open"
    DECIDED = "decided"
    CLOSED = "closed"


class Verb(StrEnum):
    """What a person decides about a request."""

    APPROVE = "approve"  # do it; for a flag: go on; for a wall: it is dealt with
    DENY = "deny"  # don't do it; for a wall, trouble or a flag: end the run as it stands
    EDIT = "edit"  # do ``command`` instead
    ANSWER = "answer"  # ``text`` is the answer
    RETRY = "retry"  # trouble: try again
    NO_WALL = "no-wall"  # a wall: there is none; the run goes on, and is not asked about this page again


_FITTING = {
    Need.FLAG: frozenset({Verb.APPROVE, Verb.DENY, Verb.ANSWER, Verb.RETRY}),
    Need.APPROVAL: frozenset({Verb.APPROVE, Verb.DENY, Verb.EDIT}),
    Need.QUESTION: frozenset({Verb.APPROVE, Verb.DENY, Verb.ANSWER}),
    Need.WALL: frozenset({Verb.APPROVE, Verb.DENY, Verb.ANSWER, Verb.RETRY, Verb.NO_WALL}),
    Need.TROUBLE: frozenset({Verb.APPROVE, Verb.DENY, Verb.ANSWER, Verb.RETRY}),
}
"""What may be decided about what."""


def misfit(need: Need, verb: Verb) -> str:
    """Why a decision is none about this need; "" where it is one."""
    if verb in _FITTING[need]:
        return ""
    return f"{verb.value} decides nothing about this {need.value}: give {', '.join(fitting(need))}"


def fitting(need: Need) -> list[str]:
    """What may be decided about a need, in words."""
    return [one.value for one in Verb if one in _FITTING[need]]


class Reach(StrEnum):
    """How far an approval or a denial goes."""

    ONCE = "once"
    RUN = "run"
    SITE = "site"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonDecision:
    """What a person decided.

    Attributes:
        text: the answer, or the reason (optional) that the agent is told.
        command: for ``EDIT``, the action in the call form (``click("12")``).
        at: Unix seconds.
    """

    verb: Verb
    text: str = ""
    reach: Reach = Reach.ONCE
    command: str = ""
    author: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRequest:
    """Something a run waits for a person to decide.

    Attributes:
        question: what is asked, one sentence for a person.  why: what speaks for asking.
        words: the action asked about, in words; ``command`` the same in the call form (``click("12")``).
        risk: a ``RiskClass`` for approvals, else "".
        detectors: those whose flags asked.
        url: the page it is about.  element: which element of it, as ``agent.clearing`` tells it from others.
        wall: of a wall, what tells it from others: the page's address without its data, and the form's fields.
    """

    id: str
    run: str
    need: Need
    step: int
    question: str
    site: str = ""
    why: str = ""
    words: str = ""
    command: str = ""
    risk: str = ""
    detectors: tuple[str, ...] = ()
    url: str = ""
    element: str = ""
    wall: str = ""
    opened_at: float = 0.0
    state: RequestState = RequestState.OPEN
    decision: PersonDecision | None = None
    closed_at: float = 0.0
    void: str = ""
    """Why it was closed though no step went by it: the run ended, the page is another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonHint:
    """A person's words to a running agent.  ``taken_at`` is when the first step that was given it began, 0 before."""

    id: str
    run: str
    step: int
    text: str
    author: str = ""
    at: float = 0.0
    taken_at: float = 0.0


class Stance(StrEnum):
    """What a person makes of a tip, for one run."""

    NONE = ""
    MUTED = "muted"
    PINNED = "pinned"


class Deed(StrEnum):
    """What a person (or the policy, or the watchdog) did in a run."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """One deed on the time line of a run; never changed.

    ``author`` is a person, ``policy`` or ``watchdog``; ``about`` what it concerns (a request's, tip's or hint's id, a
    detector); ``at`` is Unix seconds; ``order`` counts up over the workspace.
    """

    run: str
    step: int
    deed: Deed
    words: str = ""
    author: str = ""
    about: str = ""
    at: float = 0.0
    order: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagReaction:
    """Whether a detector called rightly, by what the operator did about its flag; the newest of a flag counts."""

    run: str
    step: int
    detector: str
    right: bool
    version: int = 1
    how: str = ""
    author: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagMark:
    """A flag as the wall shows it."""

    detector: str
    step: int
    severity: Severity
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRow:
    """One supervised run as it stands now.

    Attributes:
        step: steps recorded so far.  words: the last action in words.
        risk: in [0, 1], how likely it fails, from its flags so far.
        needs: open requests, the weightiest first.
        seconds: its own clock, which stands still while it is held (``held_seconds``).
        stage_since: Unix seconds at which ``stage`` was entered.
        why: what is wrong, or how it ended, in a sentence.
        outcome: of an ended run, else "".
        hints: hints that no step has been given yet.
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
    flags: tuple[FlagMark, ...] = ()
    risk: float = 0.0
    needs: tuple[PersonRequest, ...] = ()
    hints: int = 0
    stage: Stage = Stage.IDLE
    stage_since: float = 0.0
    seconds: float = 0.0
    held_seconds: float = 0.0
    started_at: float = 0.0
    why: str = ""
    outcome: str = ""

    @property
    def last_flag(self) -> FlagMark | None:
        """The newest."""
        return self.flags[-1] if self.flags else None

    @property
    def rank(self) -> tuple[int, int, float, float]:
        """Sort key of the wall, smallest first: who needs a person, then the riskier, then the older."""
        weight = max((list(Need).index(one.need) + 1 for one in self.needs), default=0)
        order = (
            0 if weight else 1 if self.state in (RunState.PAUSED, RunState.TAKEN_OVER, RunState.BROKEN_OFF)
            else 2 if self.state.alive and self.state is not RunState.QUEUED
            else 3 if self.state is RunState.QUEUED else 4
        )  # fmt: skip
        return (order, -weight, -self.risk, self.started_at)


def on_the_wall(rows: Iterable[LiveRow]) -> list[LiveRow]:
    """Rows in the wall's order."""
    return sorted(rows, key=lambda row: (row.rank, row.run))


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAction:
    """The action about to be done, for a person to see before it happens.

    ``box`` is (x, y, width, height) of its target and ``point`` where the pointer goes, in CSS pixels of the viewport;
    ``element`` its number; ``follows`` says for each tip in force whether the action goes by it.
    """

    run: str
    step: int
    words: str
    command: str = ""
    reason: str = ""
    risk: RiskClass = RiskClass.READS
    risk_why: str = ""
    element: int | None = None
    box: tuple[float, float, float, float] | None = None
    point: tuple[float, float] | None = None
    url: str = ""
    follows: dict[str, bool] = field(default_factory=dict[str, bool])


@dataclass(frozen=True, slots=True, kw_only=True)
class TipHere:
    """A tip in force at the present step, or one that came near.

    ``routes`` have their own scores; ``cut`` says why it is not given to the agent ("" when it is): over the budget,
    muted; ``follows`` whether the next action goes by it, ``None`` where nobody could tell.
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
    stance: Stance = Stance.NONE
    vote: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeHere:
    """What the agent knows at its present step."""

    run: str
    step: int
    url: str = ""
    tips: tuple[TipHere, ...] = ()
    tokens: int = 0
    budget: int = 0
    off: dict[str, str] = field(default_factory=dict[str, str])
    """Routes that could not be used, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeoverAccount:
    """What a person did by hand, as the agent is told it on release.

    ``first_step`` to ``first_step + steps - 1`` are the recorded steps; ``changes`` are lines in words (addresses,
    fields filled in, what is there that was not); ``tip_text`` proposes a tip, "" where nothing speaks for one.
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
