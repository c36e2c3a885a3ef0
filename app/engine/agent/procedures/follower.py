"""How far each tip of a run has been followed, and the next step of each on the page in front.

Rules:
1. A tip with a condition applies if at least a third of the condition's telling words stand in the task, the
   page's title
   or its headings; one without applies if its text and the task share a telling word.
2. Steps are done in their order.  A step that the page has already seen done (its address is open, its field
   filled, its
   text in view) is passed over; so is a press or hover that isn't there while the press after it is (an open menu).
3. Of a choice the first way whose first step can be done here is taken, and kept.
4. A step counts as done only when its action was performed and its effect was seen; then the next one is due.
5. Before its first step was done, a tip waits for a page where it can begin.  After that a step that can't be
   done, or had
   no effect, twice ends the tip; the run is told which step failed and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.engine.agent.procedures.actions import StepAction, action_of
from app.engine.agent.procedures.values import fill_placeholders
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.recorded import to_recorded
from app.engine.core.actions.types import Action
from app.engine.core.observation import Observation, ProcedureState, RetrievedTip, TipCredit
from app.engine.core.text import word_set
from app.engine.core.trajectory import Step
from kb.procedure import Choice, Procedure, ProcedureStep, StepKind

TRIES = 2
"""Times a step may fail before its tip is given up."""

LEAST_OF_CONDITION = 1 / 3
"""Share of the condition's telling words that task and page must contain."""

_FIRST_ERROR = 400
"""Lowest HTTP status of an error page."""

_SEEN = frozenset({Effect.NAVIGATED, Effect.CHANGED})
_FREE = frozenset({StepKind.PRESS, StepKind.HOVER})
"""Steps that may be passed over where the next one can be done."""

_UNTELLING = word_set(
    "when with that this from have has been must want wants wanted asked asks task page site user which where "
    "what they them there than then into onto over some more most many much only also need needs should would "
    "could about does done make made will are was were for and the you your its one all any not how"
)


@dataclass(slots=True)
class _Progress:
    """Position in one tip's steps; ``way`` is the way taken of the current choice."""

    procedure: Procedure
    values: dict[str, str]
    entry: int = 0
    way: int = -1
    inner: int = 0
    tries: int = 0
    started: bool = False
    failed: str = ""
    proposed: Action | None = None

    @property
    def over(self) -> bool:
        return self.entry >= len(self.procedure.entries)

    def steps_at(self, entry: int, way: int) -> Sequence[ProcedureStep]:
        found = self.procedure.entries[entry]
        if isinstance(found, Choice):
            return found.ways[way] if 0 <= way < len(found.ways) else ()
        return (found,)

    @property
    def step(self) -> ProcedureStep | None:
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
        self.inner, self.tries, self.started = self.inner + 1, 0, True
        if self.inner >= len(self.steps_at(self.entry, self.way)):
            self.entry, self.way, self.inner = self.entry + 1, -1, 0


@dataclass(slots=True)
class ProcedureFollower:
    """The progress of a run's tips; one object a run."""

    intent: str
    done: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of a resumed run: the last step of each tip that was done before."""
    _of: dict[str, _Progress] = field(default_factory=dict[str, _Progress])

    def look(self, observation: Observation) -> tuple[ProcedureState, ...]:
        """Return the state of every tip in force that has steps, in the order of the tips."""
        return tuple(
            self._state(tip, observation)
            for tip in observation.tips
            if tip.procedure is not None and tip.procedure.entries and tip.kind != "person"
        )

    def credit(self, action: Action | None, result: ActionResult) -> dict[str, TipCredit]:
        """Take in what came of an action: return the credit of each tip that applied at this step."""
        credits: dict[str, TipCredit] = {}
        for tip, progress in self._of.items():
            proposed, progress.proposed = progress.proposed, None
            if proposed is None:
                continue
            if action is None or not same_action(action, proposed):
                credits[tip] = TipCredit()
                continue
            number, seen = progress.number, effect_seen(action, result)
            credits[tip] = TipCredit(
                step=number, effect=seen, failed="" if seen else result.why or "no effect was seen"
            )
            if seen:
                progress.advance()
            else:
                self._failed(progress, result.why or "it had no visible effect")
        return credits

    def _progress(self, tip: RetrievedTip) -> _Progress | None:
        if tip.procedure is None:
            return None
        known = self._of.get(tip.tip)
        if known is None or known.procedure != tip.procedure:
            values = fill_placeholders(tip.procedure.placeholders, self.intent)
            known = self._of[tip.tip] = _Progress(tip.procedure, values)
            _pass_over(known, self.done.get(tip.tip, 0))
        return known

    def _state(self, tip: RetrievedTip, observation: Observation) -> ProcedureState:
        progress = self._progress(tip)
        assert progress is not None
        lines, total = progress.procedure.lines, len(progress.procedure.steps)
        progress.proposed = None
        if not applies(tip, observation):
            return ProcedureState(
                tip=tip.tip, lines=lines, steps=total, why="its condition does not hold here"
            )
        if progress.failed or progress.over:
            return ProcedureState(
                tip=tip.tip,
                lines=lines,
                steps=total,
                number=progress.number,
                applies=True,
                why=progress.failed,
                over=progress.over,
            )
        found = self._next(progress, observation)
        if not found.possible and progress.started:
            self._failed(progress, found.why)
        step = progress.step
        progress.proposed = found.action
        return ProcedureState(
            tip=tip.tip,
            lines=lines,
            steps=total,
            number=progress.number,
            line=str(step.filled(progress.values)) if step is not None else "",
            applies=True,
            action=found.action,
            why=progress.failed or found.why,
            over=progress.over,
        )

    def _next(self, progress: _Progress, observation: Observation) -> StepAction:
        """The action of the next step that is still to do; progress is moved past those that are done."""
        while not progress.over:
            entry = progress.procedure.entries[progress.entry]
            if isinstance(entry, Choice) and progress.way < 0:
                way = self._way(progress, entry, observation)
                if way < 0:
                    return StepAction(why="no way of the tip can be taken here")
                progress.way = way
            step = progress.step
            if step is None:
                progress.entry, progress.way, progress.inner = progress.entry + 1, -1, 0
                continue
            found = action_of(step, observation.page, progress.values, progress.procedure.never)
            if found.done:
                progress.advance()
                continue
            if not found.possible and step.kind in _FREE and self._can_pass(progress, observation):
                progress.advance()
                continue
            if not found.possible and step.when and not progress.tries:
                progress.advance()  # a step under a condition is left out where it can't be done
                continue
            return found
        return StepAction(done=True)

    def _way(self, progress: _Progress, choice: Choice, observation: Observation) -> int:
        never = progress.procedure.never
        for number, way in enumerate(choice.ways):
            if way and action_of(way[0], observation.page, progress.values, never).possible:
                return number
        return -1

    def _can_pass(self, progress: _Progress, observation: Observation) -> bool:
        """Whether the step after the current one is a press that can be done here."""
        steps = progress.steps_at(progress.entry, progress.way)
        following = steps[progress.inner + 1] if progress.inner + 1 < len(steps) else None
        if following is None and progress.entry + 1 < len(progress.procedure.entries):
            after = progress.procedure.entries[progress.entry + 1]
            following = after if isinstance(after, ProcedureStep) else None
        if following is None or following.kind not in _FREE:
            return False
        return action_of(following, observation.page, progress.values, progress.procedure.never).possible

    def _failed(self, progress: _Progress, why: str) -> None:
        progress.tries += 1
        if progress.tries >= TRIES:
            progress.failed = f"step {progress.number} of {len(progress.procedure.steps)} failed: {why}"


def done_before(steps: Iterable[Step]) -> dict[str, int]:
    """The last step of each tip whose effect was seen in the steps of a run."""
    done: dict[str, int] = {}
    for step in steps:
        done |= {one.tip: one.step for one in step.exposures if one.step and one.effect}
    return done


def _pass_over(progress: _Progress, done: int) -> None:
    """Move past the steps up to number ``done``."""
    while not progress.over and progress.number <= done:
        if progress.way < 0 and isinstance(one := progress.procedure.entries[progress.entry], Choice):
            progress.way = _way_of(one, done - progress.number)
        progress.advance()


def _way_of(choice: Choice, done: int) -> int:
    """The way that contains the step at a position among all steps of a choice."""
    for number, way in enumerate(choice.ways):
        if done < len(way):
            return number
        done -= len(way)
    return len(choice.ways) - 1


def applies(tip: RetrievedTip, observation: Observation) -> bool:
    """Whether a tip's condition holds for the task and the page in front (rule 1)."""
    telling = {
        _stem(word) for word in re.findall(r"[^\W\d_]{3,}", tip.when.lower()) if word not in _UNTELLING
    }
    page = observation.page
    if not telling:
        said = {_stem(word) for word in re.findall(r"[^\W\d_]{3,}", tip.text.lower())}
        task = {
            _stem(w) for w in re.findall(r"[^\W\d_]{3,}", observation.intent.lower()) if w not in _UNTELLING
        }
        return bool(said & task)
    said = " ".join((observation.intent, page.title, *page.headings[:12])).lower()
    there = {_stem(word) for word in re.findall(r"[^\W\d_]{3,}", said)}
    return len(telling & there) >= LEAST_OF_CONDITION * len(telling)


def _stem(word: str) -> str:
    for ending in ("ing", "ied", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e")


def same_action(one: Action, other: Action) -> bool:
    """Whether two actions of one observation do the same."""
    if type(one) is not type(other):
        return False
    a, b = to_recorded(one).args, to_recorded(other).args
    return all(a.get(name) == value for name, value in b.items() if name != "label")


def effect_seen(action: Action, result: ActionResult) -> bool:
    """Whether an action was performed and its effect was seen."""
    return result.success and result.effect in _SEEN and result.status < _FIRST_ERROR
