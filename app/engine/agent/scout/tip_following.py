"""The due step of a tip whose condition holds, before anything the scout would do by itself.

The steps, their order and their progress are those of ``app.engine.agent.procedures``; a tip that was begun goes before
others, then the one whose condition is most like the task.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.agent.scout.likeness import meaning, word_fit
from app.engine.agent.scout.memory import Step
from app.engine.agent.scout.part_view import PartView
from app.engine.agent.scout.task import TaskPart
from app.engine.core.observation import Observation, ProcedureState, RetrievedTip

LEAST_LIKE = 0.3
"""Share of a tip's condition that the part must speak of for the tip to be begun."""
_TRIES = 2


def tip_step(view: PartView) -> Step | None:
    """Return the due step of the first tip that can be followed here."""
    texts = {tip.tip: tip for tip in view.observation.tips}
    ranked = sorted(
        (one for one in view.observation.procedures if one.action is not None and one.applies),
        key=lambda one: (f"tip:{one.tip}" not in view.memory.marks, -likeness(texts.get(one.tip), view.part)),
    )
    for one in ranked:
        begun = f"tip:{one.tip}" in view.memory.marks
        if not begun and likeness(texts.get(one.tip), view.part) < LEAST_LIKE:
            continue
        step = _step_of(one)
        if step is not None and not view.memory.worn_out(step, _TRIES):
            return step
    return None


def _step_of(one: ProcedureState) -> Step | None:
    if one.action is None:
        return None
    return Step(
        action=one.action,
        reason=f"step {one.number} of {one.steps} of a tip: {one.line}",
        key=f"tip:{one.tip}:{one.number}",
        tip=one.tip,
        marks=(f"tip:{one.tip}",),
    )


def likeness(tip: RetrievedTip | None, part: TaskPart) -> float:
    """Return the share of the words of a tip's condition that the part speaks of, in [0, 1]."""
    if tip is None:
        return 0.0
    asked = set(meaning(part.text)) | set(part.where)
    condition = meaning(tip.when or tip.text)
    if not condition or not asked:
        return 0.0
    shared = sum(max((word_fit(word, other) for other in asked), default=0.0) for word in condition)
    return shared / len(condition)


def failed_tips(observation: Observation) -> Sequence[str]:
    """Return for each tip that was given up which step failed and why."""
    return [f"a tip's {one.why}" for one in observation.procedures if one.why and "failed" in one.why]
