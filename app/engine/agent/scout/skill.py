"""What a skill of the scout is: it looks, and proposes actions with a score.  The best proposal is taken.

A skill keeps nothing itself.  What it wants remembered goes into its proposal (``marks``, ``keeps``) and comes into the
memory when the action was done; so a skill asks ``view.memory`` what is behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from app.engine.agent.scout.intent import Clause, Task
from app.engine.agent.scout.outline import Outline, outline_of
from app.engine.agent.scout.planning import needs_nothing
from app.engine.core.action_result import Cause, Effect
from app.engine.core.actions.types import Action
from app.engine.core.ledger import Fact
from app.engine.core.observation import HistoryEntry, Observation
from app.engine.core.page_state import Element, PageCapture

CERTAIN, LIKELY, PLAUSIBLE, GUESS, LAST_RESORT = 1.0, 0.8, 0.6, 0.35, 0.1
"""How sure a skill is: the task says so; it says so in other words; it fits; it may; there is nothing else."""

DONE = "done"
"""What is told at the end of a task that asks for no answer: telling nothing would look like having lost the thread."""


def key_of(element: Element) -> str:
    """A name of an element that holds from one look to the next, however it is numbered."""
    place = element.css or element.xpath or f"{element.role}:{element.name}"
    return "/".join((*element.frame, place))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """An action a skill would take; without a command it says that nothing has to be done, and only its marks count.

    Attributes:
        score: how sure it is, in [0, 1] (``CERTAIN`` ... ``LAST_RESORT``).
        reason: one sentence for a person.
        key: what this attempt is called; after two failures, or ``once`` after it was done, it is not made again.  By
            default the action in words of the element's lasting name.
        marks: words that hold from when the action was done on (``clause:0`` closes the first clause).
        keeps: values to remember from when it was done on.
        idle: it may do nothing, where things are so already.
        told: a person said so in so many words; what the task asks for is no measure then, and risks are asked about.
        again: it may be done again although it was done on this page and in this state of it.
        facts, followed: for the decision.
    """

    command: Action | None = None
    score: float
    reason: str
    key: str = ""
    marks: tuple[str, ...] = ()
    keeps: tuple[tuple[str, str], ...] = ()
    idle: bool = False
    again: bool = False
    told: bool = False
    facts: tuple[Fact, ...] = ()
    followed: tuple[tuple[str, bool], ...] = ()


@dataclass(slots=True)
class Memory:
    """What the scout keeps within one run: marks, values, what was done how often and what failed."""

    marks: set[str] = field(default_factory=set[str])
    values: dict[str, str] = field(default_factory=dict[str, str])
    done: dict[str, int] = field(default_factory=dict[str, int])
    failed: dict[str, float] = field(default_factory=dict[str, float])
    visited: list[str] = field(default_factory=list[str])
    pending: Proposal | None = None
    pending_skill: str = ""

    def learn(self, turn: HistoryEntry | None) -> None:
        """Take in what came of the proposal before."""
        proposal, self.pending = self.pending, None
        if proposal is None or turn is None:
            return
        key = proposal.key
        nothing = turn.result.effect is Effect.NOTHING
        if turn.result.success or (proposal.idle and nothing):
            self.done[key] = self.done.get(key, 0) + 1
            self.marks.update(proposal.marks)
            self.values.update(proposal.keeps)
        elif not turn.result.success or (nothing and not proposal.marks):
            weight = 0.4 if turn.result.cause is Cause.COVERED else 1.0  # what lies over it may go away
            self.failed[key] = self.failed.get(key, 0.0) + weight


@dataclass
class View:
    """What a skill goes by: what is seen, what is asked, what is remembered; and what follows from it, once for all."""

    sight: Observation
    task: Task
    memory: Memory

    @property
    def page(self) -> PageCapture:
        """The page as it is now."""
        return self.sight.page

    @cached_property
    def shown(self) -> tuple[Element, ...]:
        """Elements that can be seen, without adverts and what is disabled."""
        return tuple(
            element
            for element in self.sight.page.elements
            if element.visible and not element.in_advert and "disabled" not in element.states
        )

    @cached_property
    def thorough(self) -> bool:
        """Whether the capture tells what the pointer meets."""
        return any(element.met for element in self.sight.page.elements)

    def covered(self, element: Element) -> bool:
        """Whether something lies over the element, or it is too small to be meant yet."""
        if element.rect is None or not self.thorough or element.met:
            return False
        x, y, width, height = element.rect
        across, down = self.sight.page.viewport
        return 0 <= x + width / 2 < across and 0 <= y + height / 2 < down

    @cached_property
    def outline(self) -> Outline:
        """The page as it reads, without the task where the page repeats it."""
        return outline_of(self.sight.page, self.sight.intent)

    @cached_property
    def open_clauses(self) -> tuple[tuple[int, Clause], ...]:
        """Clauses that are not closed yet, with their numbers; without those that ask for no deed of their own."""
        return tuple(
            (number, clause)
            for number, clause in enumerate(self.task.clauses)
            if f"clause:{number}" not in self.memory.marks and not needs_nothing(self.task, number)
        )

    @property
    def clause(self) -> Clause | None:
        """The clause that comes next, ``None`` when all are closed."""
        return self.open_clauses[0][1] if self.open_clauses else None

    @property
    def number(self) -> int:
        """Number of the clause that comes next; -1 when all are closed."""
        return self.open_clauses[0][0] if self.open_clauses else -1

    def closes(self) -> str:
        """The mark that closes the clause that comes next."""
        return f"clause:{self.number}"

    def behind(self, clause: Clause) -> tuple[Clause, ...]:
        """The clauses before one."""
        place = self.task.clauses.index(clause)
        return self.task.clauses[:place]


class Skill(Protocol):
    """One ability."""

    @property
    def name(self) -> str:
        """One word; stands in the reason."""
        ...

    def propose(self, view: View) -> Sequence[Proposal]:
        """What it would do now; nothing where it has nothing to say.  Fast, and the same for the same view."""
        ...
