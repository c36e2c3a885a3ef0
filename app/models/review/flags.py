"""Item models of the open run's flags and verdicts, and of the detector scorecard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from app.engine.core.supervision import Intervention
from app.engine.core.verdicts import Flag, Label, Score, Verdict
from app.models.common.object_list import OBJECT_ROLE, Index, ObjectList
from app.models.common.step_list import SEVERITY_RANK
from app.models.review.interventions import flag_remark
from app.models.review.run_queue import detector_label

LABELS = tuple(Label)
DIGITS = 9
"""Labels with a digit of their own; the rest follow behind ``0``."""

REMARK_ROLE = OBJECT_ROLE + 1
"""What a flag led to during the run, and how the operator reviewed it."""

_ROOT = QModelIndex()


class FlagListModel(ObjectList[Flag]):
    """The run's flags, the worst first, then by confidence and step."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda flag: (flag.detector, flag.step, flag.message), parent)
        self._remarks: dict[tuple[str, int], str] = {}

    def words(self, value: Flag) -> str:
        """``error at step 14: 'Save' changed nothing (3rd time)``."""
        said = self.tr("{0} at step {1}: {2}").format(value.severity.value, value.step, value.message)
        remark = self._remarks.get((value.detector, value.step))
        return f"{said}, {remark}" if remark else said

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The flag, its words, or its outcome."""
        if role == REMARK_ROLE and index.isValid():
            flag = self.at(index.row())
            return self._remarks.get((flag.detector, flag.step), "") if flag is not None else ""
        return super().data(index, role)

    def tip(self, value: Flag) -> str:
        """The line with the detector, its confidence and evidence."""
        evidence = ", ".join(f"{name} {number}" for name, number in value.evidence.items())
        sure = self.tr("{0}, confidence {1:.2f}").format(detector_label(value.detector), value.confidence)
        return "\n".join(part for part in (self.words(value), sure, evidence) if part)

    def show(self, flags: Iterable[Flag], deeds: Sequence[Intervention] = ()) -> None:
        """Show these flags, each once, with what was done about them during the run."""
        flags = list(flags)
        self._remarks = {(flag.detector, flag.step): flag_remark(flag, deeds) for flag in flags}
        once = {(flag.detector, flag.step, flag.message): flag for flag in flags}
        self.merge(sorted(once.values(), key=lambda f: (-SEVERITY_RANK[f.severity], -f.confidence, f.step)))
        if self.rows:  # remarks change where flags stay
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A verdict label: its key, and where it was given (at which step, with which note)."""

    label: Label
    keys: str
    given: str = ""
    step: int | None = None
    note: str = ""


class VerdictListModel(ObjectList[Choice]):
    """All labels in the order of their keys; those given to the open run are marked."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda choice: choice.label, parent)
        self.show(())

    def words(self, value: Choice) -> str:
        """``2 wrong page, given at step 4``."""
        given = ""
        if value.given:
            given = (
                self.tr("given") if value.step is None else self.tr("given at step {0}").format(value.step)
            )
        return ", ".join(part for part in (f"{value.keys} {value.label.value}", given, value.note) if part)

    def tip(self, value: Choice) -> str:
        """What pressing the key does now."""
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


def _choice(place: int, label: Label, verdict: Verdict | None) -> Choice:
    keys = str(place + 1) if place < DIGITS else f"0 {place + 1 - DIGITS}"
    if verdict is None:
        return Choice(label=label, keys=keys)
    return Choice(label=label, keys=keys, given=verdict.id, step=verdict.step, note=verdict.note)


class ScorecardModel(QAbstractTableModel):
    """Precision and recall of each detector, measured by people's verdicts: a row a detector and site."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._scores: list[Score] = []

    def show(self, scores: Iterable[Score]) -> None:
        """Take a new report."""
        self.beginResetModel()
        self._scores = sorted(scores, key=lambda score: (score.site != "", score.detector, score.site))
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """One row a detector and site."""
        return 0 if parent.isValid() else len(self._scores)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Detector, site, fired, judged, precision, recall, and the operators' reviews of its flags."""
        return 0 if parent.isValid() else 7

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Words and numbers; rates without data are a dash."""
        if not index.isValid():
            return None
        score = self._scores[index.row()]
        if role == OBJECT_ROLE:
            return score
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() >= 2:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._cells(score)[index.column()]
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Column titles and their explanations."""
        if role == Qt.ItemDataRole.ToolTipRole and orientation is Qt.Orientation.Horizontal and section == 6:
            return self.tr(
                "Share of its flags that operators confirmed, among those they confirmed or dismissed"
            )
        if orientation is not Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (
            self.tr("Detector"),
            self.tr("Site"),
            self.tr("Fired"),
            self.tr("Judged"),
            self.tr("Precision"),
            self.tr("Recall"),
            self.tr("Live"),
        )[section]

    def _cells(self, score: Score) -> tuple[str, ...]:
        rates = ("–" if rate is None else f"{rate:.2f}" for rate in (score.precision, score.recall))
        site = score.site or self.tr("all sites")
        live = self.tr("{0} of {1}").format(score.reacted_right, score.reacted) if score.reacted else "–"
        return (detector_label(score.detector), site, str(score.fired), str(score.judged), *rates, live)
