"""Timeline of interventions by people, the policy and the watchdog during a run, as Review shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, QObject

from app.engine.core.supervision import Intervention, OperatorAction
from app.engine.core.trajectory import Step
from app.engine.core.verdicts import Flag
from app.models.common.object_list import ObjectList

FLAG_REVIEWS = {OperatorAction.CONFIRMED: "confirmed by {0}", OperatorAction.DISMISSED: "dismissed by {0}"}
"""How an operator reviewed a flag during the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionRow:
    """One intervention: ``role`` names it, ``more`` says where and by whom, ``text`` its words; ``index`` is the
    step to open.
    """

    order: int
    index: int
    role: str
    more: str
    text: str = ""
    when: str = ""


class InterventionListModel(ObjectList[InterventionRow]):
    """The interventions of the open run, the oldest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: (row.order, row.index, row.role), parent)

    def words(self, value: InterventionRow) -> str:
        """``took over, before step 4, ana: clicked link 'Orders'``."""
        return f"{value.role}, {value.more}" + (f": {value.text}" if value.text else "")

    def tip(self, value: InterventionRow) -> str:
        """The line with the time of day."""
        return "\n".join(part for part in (self.words(value), value.when) if part)

    def show(self, interventions: Sequence[Intervention], steps: Sequence[Step]) -> None:
        """Show these interventions; those after the run's last step are listed at it."""
        last = steps[-1].index if steps else 0
        once = {
            (intervention.order, intervention.step, intervention.action): intervention
            for intervention in interventions
        }
        self.merge(
            [
                _row(intervention, last)
                for intervention in sorted(
                    once.values(), key=lambda intervention: (intervention.order, intervention.at)
                )
            ]
        )


def intervention_text(intervention: Intervention) -> str:
    """``ana: hinted 'try the menu'``."""
    words = (
        f"{intervention.action.value} '{intervention.words}'"
        if intervention.words
        else intervention.action.value
    )
    return f"{intervention.author or _tr('somebody')}: {words}"


def interventions_by_step(interventions: Iterable[Intervention], last: int) -> dict[int, list[Intervention]]:
    """Group interventions by step, the oldest first; those after the last step are at it."""
    found: dict[int, list[Intervention]] = {}
    for intervention in sorted(interventions, key=lambda intervention: (intervention.order, intervention.at)):
        found.setdefault(min(max(intervention.step, 0), max(last, 0)), []).append(intervention)
    return found


def flag_remark(flag: Flag, interventions: Iterable[Intervention]) -> str:
    """Return what a flag led to during the run: whether it paused it, and whether the operator confirmed or
    dismissed it.
    """
    paused = review = ""
    for intervention in interventions:
        if intervention.about != flag.detector:
            continue
        if intervention.action in FLAG_REVIEWS and intervention.step == flag.step:
            review = _tr(FLAG_REVIEWS[intervention.action]).format(
                intervention.author or _tr("somebody")
            )  # the newest counts
        elif intervention.action is OperatorAction.PAUSED and intervention.step in (flag.step, flag.step + 1):
            paused = _tr("paused the run")
    return " · ".join(part for part in (paused, review) if part)


def _row(intervention: Intervention, last: int) -> InterventionRow:
    where = (
        _tr("before step {0}").format(intervention.step)
        if intervention.step <= last
        else _tr("after step {0}").format(last)
    )
    when = QDateTime.fromSecsSinceEpoch(int(intervention.at)) if intervention.at > 0 else None
    return InterventionRow(
        order=intervention.order,
        index=min(max(intervention.step, 0), max(last, 0)),
        role=_tr(intervention.action.value),
        more=f"{where} · {intervention.author or _tr('somebody')}",
        text=intervention.words,
        when=QLocale().toString(when, QLocale.FormatType.ShortFormat) if when is not None else "",
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("Review", text)
