"""The position in one tip's steps, and the step that is due on a page (rules 2 and 3 of ``follower``).  Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.engine.agent.procedures.actions import StepAction, action_of
from app.engine.core.actions.types import Action
from app.engine.core.page_state import PageCapture
from kb.procedure import Choice, Procedure, ProcedureStep, StepKind

_FREE = frozenset({StepKind.PRESS, StepKind.HOVER})
"""Steps that may be passed over where the next one can be done."""

Passed = Callable[[int, str], None]
"""Takes the number of a step that was passed over, and why."""

DONE_ALREADY, NEXT_IS_HERE, CONDITION = "done already", "the next step can be done here", "its condition"
NOT_CHECKED = "a description, which is not checked"


def _ignore(number: int, why: str) -> None:
    pass


@dataclass(slots=True)
class TipProgress:
    """Position in one tip's steps; ``way`` is the way taken of the current choice."""

    procedure: Procedure
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    samples: bool = False
    entry: int = 0
    way: int = -1
    inner: int = 0
    tries: int = 0
    started: bool = False
    failed: str = ""
    proposed: Action | None = None
    opens: bool = False
    """The proposed action only opens the list in which the step goes on."""
    read: int = 0
    """Number of the last read step that the page in front shows done, after an earlier step was done; 0 for none."""

    @property
    def over(self) -> bool:
        """Whether every step was done."""
        return self.entry >= len(self.procedure.entries)

    def steps_at(self, entry: int, way: int) -> Sequence[ProcedureStep]:
        """Return the steps of an entry, of a choice those of one way."""
        found = self.procedure.entries[entry]
        if isinstance(found, Choice):
            return found.ways[way] if 0 <= way < len(found.ways) else ()
        return (found,)

    @property
    def step(self) -> ProcedureStep | None:
        """The current step."""
        if self.over:
            return None
        steps = self.steps_at(self.entry, self.way)
        return steps[self.inner] if self.inner < len(steps) else None

    @property
    def number(self) -> int:
        """Number of the current step among all steps of the tip, counted from 1."""
        before = 0
        for at in range(min(self.entry, len(self.procedure.entries))):
            one = self.procedure.entries[at]
            before += sum(map(len, one.ways)) if isinstance(one, Choice) else 1
        if not self.over and isinstance(one := self.procedure.entries[self.entry], Choice):
            before += sum(len(way) for way in one.ways[: max(self.way, 0)])
        return before + self.inner + 1

    def advance(self) -> None:
        """Go on to the next step."""
        self.inner, self.tries, self.started = self.inner + 1, 0, True
        if self.inner >= len(self.steps_at(self.entry, self.way)):
            self.entry, self.way, self.inner = self.entry + 1, -1, 0

    @property
    def candidates(self) -> tuple[ProcedureStep, ...]:
        """The current step, or the first steps of the choice that is due."""
        if self.over:
            return ()
        if (step := self.step) is not None:
            return (step,)
        entry = self.procedure.entries[self.entry]
        return tuple(way[0] for way in entry.ways) if isinstance(entry, Choice) else ()

    def leave_out(self) -> None:
        """Go on without the current step, or without the choice that is due."""
        if self.step is None:
            self.entry, self.way, self.inner = self.entry + 1, -1, 0
        else:
            self.advance()

    def pass_over(self, done: int) -> None:
        """Move past the steps up to number ``done``."""
        while not self.over and self.number <= done:
            if self.way < 0 and isinstance(one := self.procedure.entries[self.entry], Choice):
                self.way = _way_of(one, done - self.number)
            self.advance()

    def due(self, page: PageCapture, passed: Passed = _ignore) -> StepAction:
        """Return the action of the next step that is still to do; those that are done are passed over."""
        while not self.over:
            entry = self.procedure.entries[self.entry]
            if isinstance(entry, Choice) and self.way < 0:
                way = self._way(entry, page)
                if way < 0:
                    return StepAction(why="no way of the tip can be taken here")
                self.way = way
            step = self.step
            if step is None:
                self.leave_out()
                continue
            found = action_of(step, page, self.values, self.procedure.never, samples=self.samples)
            why = self._why_passed(step, found, page)
            if not why:
                return found
            passed(self.number, why)
            if step.kind is StepKind.READ and self.started and why == DONE_ALREADY:
                self.read = self.number
            self.advance()
        return StepAction(done=True)

    def _why_passed(self, step: ProcedureStep, found: StepAction, page: PageCapture) -> str:
        if found.done:
            return NOT_CHECKED if found.unchecked else DONE_ALREADY
        if not found.possible and step.kind in _FREE and self._can_pass(page):
            return NEXT_IS_HERE
        if not found.possible and step.when and not self.tries:
            return CONDITION  # a step under a condition is left out where it can't be done
        return ""

    def _way(self, choice: Choice, page: PageCapture) -> int:
        for number, way in enumerate(choice.ways):
            if (
                way
                and action_of(way[0], page, self.values, self.procedure.never, samples=self.samples).possible
            ):
                return number
        return -1

    def _can_pass(self, page: PageCapture) -> bool:
        """Whether the step after the current one is a press that can be done here."""
        steps = self.steps_at(self.entry, self.way)
        following = steps[self.inner + 1] if self.inner + 1 < len(steps) else None
        if following is None and self.entry + 1 < len(self.procedure.entries):
            after = self.procedure.entries[self.entry + 1]
            following = after if isinstance(after, ProcedureStep) else None
        if following is None or following.kind not in _FREE:
            return False
        return action_of(following, page, self.values, self.procedure.never, samples=self.samples).possible


def _way_of(choice: Choice, done: int) -> int:
    """The way that contains the step at a position among all steps of a choice."""
    for number, way in enumerate(choice.ways):
        if done < len(way):
            return number
        done -= len(way)
    return len(choice.ways) - 1
