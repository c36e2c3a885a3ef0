"""Item models of the open run's flags and verdicts, and of the detector scorecard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.engine.core.supervision import Intervention
from app.engine.core.verdicts import Flag, Label, Score, Verdict
from app.models.common.object_list import ObjectList
from app.models.common.object_table import Column, ObjectTable
from app.models.common.step_list import SEVERITY_RANK
from app.models.review.interventions import flag_remark
from app.models.review.run_queue import detector_label

LABELS = tuple(Label)
DIGITS = 9
"""Labels with a digit of their own; the rest follow behind ``0``."""


class FlagListModel(ObjectList[Flag]):
    """The run's flags, the worst first, then by confidence and step."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda flag: (flag.detector, flag.step, flag.message), parent)
        self._remarks: dict[tuple[str, int], str] = {}

    def words(self, value: Flag) -> str:
        """``error at step 14: 'Save' changed nothing (3rd time)``."""
        said = self.tr("{0} at step {1}: {2}").format(value.severity.value, value.step, value.message)
        remark = self.remark(value)
        return f"{said}, {remark}" if remark else said

    def remark(self, flag: Flag) -> str:
        """Return what a flag led to during the run, and how the operator reviewed it."""
        return self._remarks.get((flag.detector, flag.step), "")

    def tip(self, value: Flag) -> str:
        """The line with the detector, its confidence and evidence."""
        evidence = ", ".join(f"{name} {number}" for name, number in value.evidence.items())
        sure = self.tr("{0}, confidence {1:.2f}").format(detector_label(value.detector), value.confidence)
        return "\n".join(part for part in (self.words(value), sure, evidence) if part)

    def show(self, flags: Iterable[Flag], interventions: Sequence[Intervention] = ()) -> None:
        """Show these flags, each once, with what was done about them during the run."""
        flags = list(flags)
        self._remarks = {(flag.detector, flag.step): flag_remark(flag, interventions) for flag in flags}
        once = {(flag.detector, flag.step, flag.message): flag for flag in flags}
        self.merge(sorted(once.values(), key=lambda f: (-SEVERITY_RANK[f.severity], -f.confidence, f.step)))
        if self.rows:  # remarks change where flags stay
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChoice:
    """A verdict label: its key, and where it was given (at which step, with which note)."""

    label: Label
    keys: str
    given: str = ""
    step: int | None = None
    note: str = ""


class VerdictListModel(ObjectList[VerdictChoice]):
    """All labels in the order of their keys; those given to the open run are marked."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda choice: choice.label, parent)
        self.show(())

    def words(self, value: VerdictChoice) -> str:
        """``2 wrong page, given at step 4``."""
        given = ""
        if value.given:
            given = (
                self.tr("given") if value.step is None else self.tr("given at step {0}").format(value.step)
            )
        return ", ".join(part for part in (f"{value.keys} {value.label.value}", given, value.note) if part)

    def tip(self, value: VerdictChoice) -> str:
        """The key's action now."""
        what = self.tr("Withdraw '{0}'") if value.given else self.tr("Give the verdict '{0}'")
        line = self.tr("{0} (key {1})").format(what.format(value.label.value), value.keys)
        return "\n".join(part for part in (line, value.note) if part)

    def show(self, verdicts: Sequence[Verdict]) -> None:
        """Mark the given verdicts; of two with one label the newer counts."""
        given = {verdict.label: verdict for verdict in verdicts}
        self.merge([_choice(place, label, given.get(label)) for place, label in enumerate(LABELS)])


def label_of(digit: int, *, second: bool) -> Label | None:
    """Return the label of a digit key, on the first page or behind ``0``; ``None`` where there is none."""
    place = digit - 1 + (DIGITS if second else 0)
    return LABELS[place] if digit >= 1 and place < len(LABELS) else None


def _choice(place: int, label: Label, verdict: Verdict | None) -> VerdictChoice:
    keys = str(place + 1) if place < DIGITS else f"0 {place + 1 - DIGITS}"
    if verdict is None:
        return VerdictChoice(label=label, keys=keys)
    return VerdictChoice(label=label, keys=keys, given=verdict.id, step=verdict.step, note=verdict.note)


class ScorecardModel(ObjectTable[Score]):
    """Precision and recall of each detector, measured by people's verdicts: a row a detector and site."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda score: (score.detector, score.site, score.version), parent)
        self.columns = (
            Column(
                key="detector", title=self.tr("Detector"), cell=lambda score: detector_label(score.detector)
            ),
            Column(key="site", title=self.tr("Site"), cell=lambda score: score.site or self.tr("all sites")),
            Column(key="fired", title=self.tr("Fired"), cell=lambda score: str(score.fired), numeric=True),
            Column(key="judged", title=self.tr("Judged"), cell=lambda score: str(score.judged), numeric=True),
            Column(
                key="precision",
                title=self.tr("Precision"),
                cell=lambda score: _rate(score.precision),
                numeric=True,
            ),
            Column(
                key="recall", title=self.tr("Recall"), cell=lambda score: _rate(score.recall), numeric=True
            ),
            Column(
                key="live",
                title=self.tr("Live"),
                cell=self._reviewed,
                numeric=True,
                help=self.tr(
                    "Share of its flags that operators confirmed, among those they confirmed or dismissed"
                ),
            ),
        )

    def show(self, scores: Iterable[Score]) -> None:
        """Show a new report; the scores over all sites first."""
        self.load(sorted(scores, key=lambda score: (score.site != "", score.detector, score.site)))

    def _reviewed(self, score: Score) -> str:
        return self.tr("{0} of {1}").format(score.reacted_right, score.reacted) if score.reacted else "–"


def _rate(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.2f}"
