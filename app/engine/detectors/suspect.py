"""The step a run opens at: where the evidence of its failure begins, and why.

The rule; the first clause that holds decides:

    left the sites      the action that led away
    went in circles     the longest stretch of steps that flags of loops cover, at its first step in vain; a stretch
                        that ended well before an answer was overcome and does not count
    another hindrance   likewise, the first step of what hindered the agent; of a run without an answer too, it counts
                        only if it lasted, or came near the end
    a model's opinion   the step that it names for a goal that was not met
    sent something      of a run that answered: the first step that sent a change to the site, for there is what was
                        sent; not where the answer says that it could not be done
    answered            the step that answers: no flag points at an earlier one
    only hints          of a run without an answer: the longest stretch of hints, at its first step
    nothing             the last step

It reads flags and steps, never the score, and no fitted weights: a run's step stays the same when verdicts come in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.engine.api.review_api import Suspect
from app.engine.core.text import one_line
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import FINAL_ACTIONS, action_text, evidence_start
from app.engine.detectors.rules.endings import ASKED, GaveUp, LeftSites
from app.engine.detectors.rules.loops import ActionCycle, PageCycle, RepeatedAction, StateActionLoop
from app.engine.detectors.rules.pages import NoEffect
from app.engine.detectors.rules.targets import TargetNotOnPage
from app.engine.detectors.runner import BY_NAME, flag_rank
from app.engine.detectors.sending import is_sending
from app.engine.detectors.vlm import RunOutcome

LOOPS = frozenset(
    rule.name for rule in (StateActionLoop, RepeatedAction, ActionCycle, PageCycle, NoEffect, TargetNotOnPage)
)
"""Detectors whose flags, beyond a hint, say that the agent went on in vain."""
NEAR_THE_END = 3
"""Steps before the end beyond which the agent has overcome what hindered it."""
LASTING = 3
"""Steps that another hindrance lasts at least, unless it comes near the end."""

_ANSWERS = frozenset((Outcome.ANSWERED, Outcome.INFEASIBLE, Outcome.NEEDS_PERSON))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Steps in vain, first to last, and the flags that say so."""

    first: int
    last: int
    flags: tuple[Flag, ...]

    @property
    def length(self) -> int:
        return self.last - self.first


def find_suspect(run: Run, steps: Sequence[Step], flags: Sequence[Flag]) -> Suspect:
    """Return the step to look at first: a step of the run, 0 for a run without steps."""
    if not steps:
        return _without_steps(flags)
    last = steps[-1].index
    known = [flag for flag in flags if flag.detector in BY_NAME and flag.step <= last]
    for flag in known:
        if flag.detector == LeftSites.name:
            return _at(flag.step, flag)
    answer = answer_step(run, steps)
    end = last if answer is None else answer
    hindrances = [flag for flag in known if BY_NAME[flag.detector].explains == "hindrance"]
    strong = [flag for flag in hindrances if flag.severity is not Severity.HINT]
    circles = _stretches(flag for flag in strong if flag.detector in LOOPS)
    others = _stretches(flag for flag in strong if flag.detector not in LOOPS)
    found = [one for one in circles if answer is None or one.last >= end - NEAR_THE_END] or [
        one for one in others if one.last >= end - NEAR_THE_END or (answer is None and one.length >= LASTING)
    ]
    if found:
        return _of(found)
    for flag in known:
        if flag.detector == RunOutcome.name:
            return _at(flag.step, flag)
    if answer is not None:
        return _answered(steps, answer, known)
    if hindrances:
        return _of(_stretches(hindrances))
    if known:
        return _at(last, min(known, key=flag_rank))
    return Suspect(step=last, because="The last step: no flag points at an earlier one.")


def answer_step(run: Run, steps: Sequence[Step]) -> int | None:
    """Return the step that answers or gives up; ``None`` for a run that ended otherwise."""
    if run.outcome not in _ANSWERS or not steps:
        return None
    for step in reversed(steps):
        if step.action is not None and step.action.kind in FINAL_ACTIONS:
            return step.index
    return steps[-1].index


def _stretches(flags: Iterable[Flag]) -> list[_Stretch]:
    """Return the stretches that flags cover, those that overlap or touch as one."""
    found: list[_Stretch] = []
    for flag in sorted(flags, key=lambda one: (evidence_start(one), one.step)):
        first = evidence_start(flag)
        if found and first <= found[-1].last + 1:
            before = found.pop()
            found.append(_Stretch(before.first, max(before.last, flag.step), (*before.flags, flag)))
        else:
            found.append(_Stretch(first, flag.step, (flag,)))
    return found


def _of(stretches: Sequence[_Stretch]) -> Suspect:
    """Return the first step of the longest stretch, the later of equals, with the flag that begins there."""
    stretch = max(stretches, key=lambda one: (one.length, one.last))
    begins = [flag for flag in stretch.flags if evidence_start(flag) == stretch.first]
    return _at(stretch.first, min(begins, key=flag_rank))


def _at(step: int, flag: Flag) -> Suspect:
    told = one_line(flag.message, 200)
    begins = f"From here to step {flag.step}: " if flag.step != step else ""
    return Suspect(step=step, because=f"{begins}{told}", detector=flag.detector, flag_step=flag.step)


def _answered(steps: Sequence[Step], answer: int, known: Sequence[Flag]) -> Suspect:
    about = sorted((flag for flag in known if BY_NAME[flag.detector].explains == "ending"), key=flag_rank)
    sent = next((step for step in steps if step.index < answer and is_sending(step)), None)
    if sent is not None and not any(
        flag.detector == GaveUp.name and ASKED not in flag.evidence for flag in about
    ):
        return Suspect(
            step=sent.index,
            because=f"The first change was sent to the site here: {one_line(action_text(sent), 160)}",
        )
    if about:
        return _at(answer, about[0])
    return Suspect(step=answer, because="The step that answers: no flag points at an earlier one.")


def _without_steps(flags: Sequence[Flag]) -> Suspect:
    known = [flag for flag in flags if flag.detector in BY_NAME]
    return _at(0, min(known, key=flag_rank)) if known else Suspect()
