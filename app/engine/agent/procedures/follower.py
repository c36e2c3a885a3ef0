"""How far each tip of a run has been followed, and the next step of each on the page in front.

Rules:
1. A tip with a condition applies if at least a third of the condition's telling words stand in the task, the
   page's title
   or its headings; one without applies if its text and the task share a telling word.
2. Steps are done in their order.  A step that the page has already seen done (its address is open, its field
   filled, its
   text in view) is passed over; so is a press or hover that isn't there while the press after it is (an open menu).
3. Of a choice the first way whose first step can be done here is taken, and kept.
4. A step counts as done only when its action was performed and its effect was seen; then the next one is due.  A
   read step is done by the action at a page that shows what is to be read, after an earlier step was done.
5. Before its first step was done, a tip waits for a page where it can begin.  After that a step that can't be
   done, or had
   no effect, twice ends the tip; the run is told which step failed and why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.engine.agent.procedures.progress import TipProgress
from app.engine.agent.procedures.values import fill_placeholders
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.recorded import to_recorded
from app.engine.core.actions.types import Action
from app.engine.core.observation import Observation, ProcedureState, RetrievedTip, TipCredit
from app.engine.core.text import word_set

TRIES = 2
"""Times a step may fail before its tip is given up."""

LEAST_OF_CONDITION = 1 / 3
"""Share of the condition's telling words that task and page must contain."""

_FIRST_ERROR = 400
"""Lowest HTTP status of an error page."""

_SEEN = frozenset({Effect.NAVIGATED, Effect.CHANGED})

_UNTELLING = word_set(
    "when with that this from have has been must want wants wanted asked asks task page site user which where "
    "what they them there than then into onto over some more most many much only also need needs should would "
    "could about does done make made will are was were for and the you your its one all any not how"
)


@dataclass(slots=True)
class ProcedureFollower:
    """The progress of a run's tips; one object a run."""

    intent: str
    done: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of a resumed run: the last step of each tip that was done before."""
    _of: dict[str, TipProgress] = field(default_factory=dict[str, TipProgress])

    def look(self, observation: Observation) -> tuple[ProcedureState, ...]:
        """Return the state of every tip in force that has steps, in the order of the tips."""
        return tuple(
            self._state(tip, observation)
            for tip in observation.tips
            if tip.procedure is not None and tip.procedure.entries and tip.kind != "person"
        )

    def under_way(self) -> tuple[ProcedureState, ...]:
        """Return the tips whose first step was done and that go on, each with its next step."""
        return tuple(
            ProcedureState(
                tip=tip, number=progress.number, line=str(step.filled(progress.values)), applies=True
            )
            for tip, progress in self._of.items()
            if progress.started and not progress.failed and (step := progress.step) is not None
        )

    def credit(self, action: Action | None, result: ActionResult) -> dict[str, TipCredit]:
        """Take in what came of an action: return the credit of each tip that applied at this step."""
        credits: dict[str, TipCredit] = {}
        for tip, progress in self._of.items():
            proposed, progress.proposed = progress.proposed, None
            read, progress.read = progress.read, 0
            if proposed is None:
                credits |= {tip: TipCredit(step=read, effect=True)} if read else {}
                continue
            if action is None or not same_action(action, proposed):
                credits[tip] = TipCredit()
                continue
            number, seen = progress.number, effect_seen(action, result)
            if seen and progress.opens:  # the step is done by the action that chooses
                credits[tip] = TipCredit()
                self._failed(progress, "the list that opened has no such entry")
                continue
            credits[tip] = TipCredit(
                step=number, effect=seen, failed="" if seen else result.why or "no effect was seen"
            )
            if seen:
                progress.advance()
            else:
                self._failed(progress, result.why or "it had no visible effect")
        return credits

    def _progress(self, tip: RetrievedTip) -> TipProgress | None:
        if tip.procedure is None:
            return None
        known = self._of.get(tip.tip)
        if known is None or known.procedure != tip.procedure:
            values = fill_placeholders(tip.procedure.placeholders, self.intent)
            known = self._of[tip.tip] = TipProgress(tip.procedure, values)
            known.pass_over(self.done.get(tip.tip, 0))
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
        found = progress.due(observation.page)
        if not found.possible and progress.started:
            self._failed(progress, found.why)
        step = progress.step
        progress.proposed, progress.opens = found.action, found.opens
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

    def _failed(self, progress: TipProgress, why: str) -> None:
        progress.tries += 1
        if progress.tries >= TRIES:
            progress.failed = f"step {progress.number} of {len(progress.procedure.steps)} failed: {why}"


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
