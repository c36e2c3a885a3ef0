"""The step a run opens at: where the evidence of its failure begins, and why.

The rule, in the order of its clauses:

    left the sites      the action that led away
    went in circles     the longest stretch of steps that loop flags cover, from its first step in vain: where the run
                        ended without an answer, or where the stretch lasted until shortly before the answer
    another hindrance   likewise: the first step of what hindered the agent
    answered            the step that answers: what the agent overcame on its way is no evidence
    only hints          of a run without an answer: where the earliest of them begins
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
from app.engine.detectors.base import FINAL_ACTIONS, SINCE
from app.engine.detectors.rules.endings import LeftSites
from app.engine.detectors.rules.loops import ActionCycle, PageCycle, RepeatedAction, StateActionLoop
from app.engine.detectors.rules.pages import NoEffect
from app.engine.detectors.runner import BY_NAME, flag_rank

LOOPS = frozenset(rule.name for rule in (StateActionLoop, RepeatedAction, ActionCycle, PageCycle, NoEffect))
"""Detectors whose flags say that the agent went on in vain."""
OVERCOME_AFTER = 3
"""Steps before an answer beyond which the agent has overcome what hindered it."""

_ANSWERS = frozenset((Outcome.ANSWERED, Outcome.INFEASIBLE, Outcome.NEEDS_PERSON))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Steps in vain, first to last, and the flags that say so."""

    first: int
    last: int
    flags: tuple[Flag, ...]


def find_suspect(run: Run, steps: Sequence[Step], flags: Sequence[Flag]) -> Suspect:
    """Return the step to look at first; always a step of the run, 0 for a run without steps."""
    last = max(0, len(steps) - 1)
    known = [flag for flag in flags if flag.detector in BY_NAME and flag.step <= last]
    left = [flag for flag in known if flag.detector == LeftSites.name]
    if left:
        return _at(left[0].step, left[0])
    answer = answer_step(run, steps)
    hindrances = [
        flag
        for flag in known
        if BY_NAME[flag.detector].explains == "hindrance" and flag.severity is not Severity.HINT
    ]
    for group in (
        [flag for flag in hindrances if flag.detector in LOOPS],
        [flag for flag in hindrances if flag.detector not in LOOPS],
    ):
        stretches = [
            one for one in _stretches(group) if answer is None or one.last >= answer - OVERCOME_AFTER
        ]
        if stretches:
            return _of(max(stretches, key=lambda one: (one.last - one.first, one.last)))
    if answer is not None:
        return _answered(answer, known)
    hints = [flag for flag in known if BY_NAME[flag.detector].explains == "hindrance"]
    if hints:
        return _of(_Stretch(min(map(evidence_start, hints)), last, tuple(hints)))
    rest = sorted(known, key=flag_rank)
    if rest:
        return _at(last, rest[0])
    return Suspect(step=last, because="No flag points at a step; this is the last one." if steps else "")


def answer_step(run: Run, steps: Sequence[Step]) -> int | None:
    """Return the step that answers or gives up; ``None`` for a run that ended otherwise."""
    if run.outcome not in _ANSWERS or not steps:
        return None
    return next(
        (
            step.index
            for step in reversed(steps)
            if step.action is not None and step.action.kind in FINAL_ACTIONS
        ),
        steps[-1].index,
    )


def evidence_start(flag: Flag) -> int:
    """Return the step at which a flag's problem began: never after its own."""
    since = flag.evidence.get(SINCE, flag.step)
    return max(0, min(since, flag.step)) if isinstance(since, int) else flag.step


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


def _of(stretch: _Stretch) -> Suspect:
    """Return the first step of a stretch, with the most significant flag that begins there."""
    begins = [flag for flag in stretch.flags if evidence_start(flag) == stretch.first]
    return _at(stretch.first, min(begins or stretch.flags, key=flag_rank))


def _at(step: int, flag: Flag) -> Suspect:
    told = one_line(flag.message, 200)
    where = "" if flag.step == step else f" (told at step {flag.step}, from here on)"
    return Suspect(step=step, because=f"{told}{where}.", detector=flag.detector, flag_step=flag.step)


def _answered(answer: int, known: Sequence[Flag]) -> Suspect:
    about = [flag for flag in known if BY_NAME[flag.detector].explains == "ending"]
    if about:
        flag = min(about, key=flag_rank)
        return Suspect(
            step=answer,
            because=f"{one_line(flag.message, 200)}.",
            detector=flag.detector,
            flag_step=flag.step,
        )
    return Suspect(step=answer, because="The step that answers: no flag points at an earlier one.")
