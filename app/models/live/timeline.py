"""The timeline of a live run: steps as they come, with operator actions between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.engine.core.supervision import Intervention, RaisedFlag
from app.engine.core.trajectory import ErrorClass, Step
from app.models.common.object_list import ReorderableList
from app.models.common.step_list import ERROR_WORDS, SEVERITY_RANK
from app.models.common.translate import tr
from app.models.review.review_facts import EFFECTS


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """One row of the timeline.

    ``step`` is a step's number, or that of the step an intervention preceded; ``action`` is "" for steps; ``trouble``
    and ``severity`` as in ``step_list.StepMark``; ``by_hand`` says that a person did the step.
    """

    key: str
    step: int
    words: str
    why: str = ""
    effect: str = ""
    trouble: str = ""
    severity: str = ""
    flag: str = ""
    action: str = ""
    author: str = ""
    by_hand: bool = False
    at: float = 0.0
    url: str = ""


class TimelineList(ReorderableList[TimelineEntry]):
    """The timeline, the oldest entry first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda entry: entry.key, parent)

    def words(self, value: TimelineEntry) -> str:
        """``step 4: click button 'Save', changed nothing, because …`` or ``before step 5, ana: hinted, …``."""
        if value.action:
            head = tr("before step {0}, {1}: {2}").format(value.step, value.author, value.action)
            return f"{head}, {value.words}" if value.words else head
        by = tr("step {0} by hand").format(value.step) if value.by_hand else tr("step {0}").format(value.step)
        trouble = ERROR_WORDS.get(ErrorClass(value.trouble), "") if value.trouble else ""
        parts = [f"{by}: {value.words}", value.effect, trouble, value.flag, value.why]
        return ", ".join(part for part in parts if part)

    def tip(self, value: TimelineEntry) -> str:
        """All facts, one a line, with the address."""
        parts = [value.words or value.action, value.effect, value.flag, value.why, value.url]
        return "\n".join(part for part in parts if part)


def timeline(
    steps: Iterable[Step], interventions: Iterable[Intervention], flags: Iterable[RaisedFlag]
) -> list[TimelineEntry]:
    """Return steps and interventions in order; an intervention precedes the step it came before."""
    worst: dict[int, RaisedFlag] = {}
    for flag in flags:
        known = worst.get(flag.step)
        if known is None or SEVERITY_RANK[flag.severity] > SEVERITY_RANK[known.severity]:
            worst[flag.step] = flag
    placed = [((step.index, 1, 0), _of_step(step, worst.get(step.index))) for step in steps]
    placed += [
        ((intervention.step, 0, intervention.order), _of_intervention(intervention))
        for intervention in interventions
    ]
    return [entry for _place, entry in sorted(placed, key=lambda pair: pair[0])]


def _of_step(step: Step, flag: RaisedFlag | None) -> TimelineEntry:
    return TimelineEntry(
        key=f"step {step.index}",
        step=step.index,
        words=step.words,
        why=step.reason,
        effect=tr(EFFECTS[step.effect]) if step.effect in EFFECTS else step.effect,
        trouble=step.error_class.value,
        severity=flag.severity.value if flag is not None else "",
        flag=flag.message if flag is not None else "",
        by_hand=step.by == "person",
        at=step.started_at,
        url=step.url,
    )


def _of_intervention(intervention: Intervention) -> TimelineEntry:
    return TimelineEntry(
        key=f"deed {intervention.order} {intervention.action.value} {intervention.about}",
        step=intervention.step,
        words=intervention.words,
        action=intervention.action.value,
        author=intervention.author or tr("somebody"),
        at=intervention.at,
    )
