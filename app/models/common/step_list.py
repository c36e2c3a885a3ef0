"""The steps of the open run as a strip: actions, errors and detector flags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.engine.api.engine_api import RunDetail
from app.engine.core.supervision import Intervention
from app.engine.core.trajectory import BY_PERSON, ErrorClass, Step
from app.engine.core.verdicts import Flag, Severity
from app.models.common.object_list import ObjectList
from app.models.review.interventions import intervention_text, interventions_by_step

SEVERITY_RANK = {Severity.HINT: 1, Severity.WARNING: 2, Severity.ERROR: 3}

ERROR_WORDS = {
    ErrorClass.HARD: "error: the action was not done",
    ErrorClass.SOFT: "reported an error, but the action was done",
    ErrorClass.HARNESS: "the agent's output could not be parsed; nothing was executed",
}
"""Error classes in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepMark:
    """One cell of the strip.

    ``trouble`` is hard, soft, harness or ""; ``severity`` the worst flag's (error, warning, hint or "").
    ``interventions`` are the interventions at this step; ``by_hand`` says that a person did the step itself.
    """

    index: int
    words: str
    trouble: str = ""
    severity: str = ""
    flags: tuple[str, ...] = ()
    suspect: bool = False
    executed: bool = True
    interventions: tuple[str, ...] = ()
    by_hand: bool = False


def step_marks(
    steps: Sequence[Step], flags: Iterable[Flag], suspect: int, interventions: Iterable[Intervention] = ()
) -> list[StepMark]:
    """Return a mark for each step, with the flags that point at it, the worst first, and the interventions there."""
    flagged: dict[int, list[Flag]] = {}
    for flag in flags:
        flagged.setdefault(flag.step, []).append(flag)
    done = interventions_by_step(interventions, steps[-1].index if steps else 0)
    marks: list[StepMark] = []
    for step in steps:
        here = sorted(flagged.get(step.index, ()), key=lambda flag: -SEVERITY_RANK[flag.severity])
        marks.append(
            StepMark(
                index=step.index,
                words=step.words,
                trouble=step.error_class.value,
                severity=here[0].severity.value if here else "",
                flags=tuple(flag.message for flag in here),
                suspect=step.index == suspect,
                executed=step.executed,
                interventions=tuple(
                    intervention_text(intervention) for intervention in done.get(step.index, ())
                ),
                by_hand=step.by == BY_PERSON,
            )
        )
    return marks


def run_step_marks(detail: RunDetail) -> list[StepMark]:
    return step_marks(detail.steps, detail.flags, detail.risk.suspect_step, detail.interventions)


class StepListModel(ObjectList[StepMark]):
    """The strip's cells, keyed by step index."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda mark: mark.index, parent)

    def words(self, value: StepMark) -> str:
        """``step 14, suspect, click button 'Save', error ..., flag messages``."""
        parts = [
            self.tr("step {0}").format(value.index),
            self.tr("operator action") if value.by_hand else "",
            self.tr("suspect") if value.suspect else "",
            value.words,
            ERROR_WORDS.get(ErrorClass(value.trouble), ""),
            "" if value.executed else self.tr("requested, not executed"),
            *value.flags,
            *value.interventions,
        ]
        return ", ".join(part for part in parts if part)

    def tip(self, value: StepMark) -> str:
        """The same parts, one a line."""
        parts = [
            self.tr("Step {0}: {1}").format(value.index, value.words),
            self.tr("Operator action") if value.by_hand else "",
            self.tr("Suspect: look here first") if value.suspect else "",
            ERROR_WORDS.get(ErrorClass(value.trouble), ""),
            "" if value.executed else self.tr("Requested, not executed"),
            *value.flags,
            *value.interventions,
        ]
        return "\n".join(part for part in parts if part)

    def next_marked(self, after: int, direction: int) -> int | None:
        """Return the next step with a flag or an error after ``after`` (1) or before it (-1)."""
        candidates = [mark.index for mark in self.rows if mark.severity or mark.trouble]
        if direction > 0:
            return next((index for index in candidates if index > after), None)
        return next((index for index in reversed(candidates) if index < after), None)
