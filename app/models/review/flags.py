"""Item models of the open run's flags and verdicts, and of the detector scorecard."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QObject

from app.engine.core.supervision import Intervention
from app.engine.core.verdicts import Flag, Label, Score, Severity, Verdict
from app.models.common.object_list import ObjectList
from app.models.common.object_table import Column, ObjectTable
from app.models.common.step_list import SEVERITY_RANK
from app.models.review.interventions import flag_remark
from app.models.review.run_queue import detector_label

LABELS = tuple(Label)
DIGITS = 9
"""Labels with a digit of their own; the rest follow behind ``0``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagLine:
    """A flag, or all flags of one detector under the worst of them.

    Attributes:
        flag: the flag, or the worst of the group.
        group: the group's flags by step; empty for a single flag.
        is_member: whether it stands under its group.
    """

    flag: Flag
    group: tuple[Flag, ...] = ()
    is_unfolded: bool = False
    is_member: bool = False

    @property
    def key(self) -> tuple[str, int, str]:
        flag = self.flag
        return (flag.detector, -1, "") if self.group else (flag.detector, flag.step, flag.message)

    @property
    def detector(self) -> str:
        return self.flag.detector

    @property
    def severity(self) -> Severity:
        return self.flag.severity

    @property
    def message(self) -> str:
        return self.flag.message

    @property
    def step(self) -> int:
        """The step to go to: a group's first."""
        return self.group[0].step if self.group else self.flag.step


def group_text(line: FlagLine) -> str:
    """``repeated action, 6 times, steps 8-22``."""
    first, last = line.group[0].step, line.group[-1].step
    tr, name = QCoreApplication.translate, detector_label(line.detector)
    if first == last:
        return tr("Review", "{0}, {1} times, step {2}").format(name, len(line.group), first)
    return tr("Review", "{0}, {1} times, steps {2}-{3}").format(name, len(line.group), first, last)


class FlagListModel(ObjectList[FlagLine]):
    """The run's flags by detector, the worst first, then by confidence and step.

    Several of one detector are a group, which unfolds into them in the order of their steps.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda line: line.key, parent)
        self._remarks: dict[tuple[str, int], str] = {}
        self._flags: list[Flag] = []
        self._unfolded: set[str] = set()

    @property
    def count(self) -> int:
        """The number of flags, folded ones too."""
        return len(self._flags)

    def words(self, value: FlagLine) -> str:
        """``error at step 14: 'Save' changed nothing (3rd time)``."""
        if value.group:
            folded = self.tr("unfolded") if value.is_unfolded else self.tr("folded")
            return ", ".join((value.severity.value, group_text(value), value.message, folded))
        said = self.tr("{0} at step {1}: {2}").format(value.severity.value, value.step, value.message)
        remark = self.remark(value)
        return f"{said}, {remark}" if remark else said

    def remark(self, line: FlagLine) -> str:
        """Return what a flag led to during the run, and how the operator reviewed it."""
        return self._remarks.get((line.detector, line.step), "") if not line.group else ""

    def tip(self, value: FlagLine) -> str:
        """The line with the detector, its confidence and evidence."""
        if value.group:
            return "\n".join((self.words(value), self.tr("Enter or Right shows each")))
        flag = value.flag
        evidence = ", ".join(f"{name} {number}" for name, number in flag.evidence.items())
        sure = self.tr("{0}, confidence {1:.2f}").format(detector_label(flag.detector), flag.confidence)
        return "\n".join(part for part in (self.words(value), sure, evidence) if part)

    def show(self, flags: Iterable[Flag], interventions: Sequence[Intervention] = ()) -> None:
        """Show these flags, each once, with what was done about them during the run."""
        flags = list(flags)
        self._remarks = {(flag.detector, flag.step): flag_remark(flag, interventions) for flag in flags}
        once = {(flag.detector, flag.step, flag.message): flag for flag in flags}
        self._flags = sorted(once.values(), key=_worst_first)
        self._fill()
        if self.rows:  # remarks change where flags stay
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def fold_all(self) -> None:
        """Fold every group: another run opens."""
        self._unfolded.clear()
        self._fill()

    def unfold(self, row: int, unfolded: bool | None = None) -> int:
        """Show the flags of a group, or hide them (``None``: the other way); return the row of the group, or -1."""
        line = self.at(row)
        if line is None or not (line.group or line.is_member):
            return -1
        detector = line.detector
        wanted = unfolded if unfolded is not None else detector not in self._unfolded
        (self._unfolded.add if wanted else self._unfolded.discard)(detector)
        self._fill()
        return self.row_of((detector, -1, ""))

    def reveal(self, detector: str, step: int) -> int:
        """Return the row of a detector's flag at a step, unfolded if need be; -1 where there is none."""
        found = next((flag for flag in self._flags if (flag.detector, flag.step) == (detector, step)), None)
        if found is None:
            return -1
        key = (found.detector, found.step, found.message)
        if self.row_of(key) < 0:
            self._unfolded.add(detector)
            self._fill()
        return self.row_of(key)

    def _fill(self) -> None:
        kinds: dict[str, list[Flag]] = {}
        for flag in self._flags:
            kinds.setdefault(flag.detector, []).append(flag)
        lines: list[FlagLine] = []
        for detector, of_kind in kinds.items():
            if len(of_kind) == 1:
                lines.append(FlagLine(flag=of_kind[0]))
                continue
            unfolded, by_step = detector in self._unfolded, sorted(of_kind, key=lambda flag: flag.step)
            lines.append(FlagLine(flag=of_kind[0], group=tuple(by_step), is_unfolded=unfolded))
            lines += [FlagLine(flag=flag, is_member=True) for flag in by_step if unfolded]
        self.merge(lines)


def _worst_first(flag: Flag) -> tuple[int, float, int]:
    return (-SEVERITY_RANK[flag.severity], -flag.confidence, flag.step)


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

    def show(self, verdicts: Sequence[Verdict], author: str = "") -> None:
        """Mark this author's verdicts, all of them for ""; of two with one label the newer counts."""
        given = {one.label: one for one in verdicts if not author or one.author in ("", author)}
        self.merge([_choice(place, label, given.get(label)) for place, label in enumerate(LABELS)])


class GivenVerdictList(ObjectList[Verdict]):
    """The verdicts in force on the open run, the newest first, each with its step and author."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda verdict: verdict.id, parent)

    def words(self, value: Verdict) -> str:
        """``wrong page, step 4, ana, note``."""
        return ", ".join(part for part in (value.label.value, self.details(value), value.note) if part)

    def tip(self, value: Verdict) -> str:
        """The verdict with its time and note, and what the keys do."""
        given = time.strftime("%Y-%m-%d %H:%M", time.localtime(value.at)) if value.at else ""
        keys = self.tr("Enter goes to its step, Delete withdraws it")
        return "\n".join(part for part in (self.words(value), given, keys) if part)

    def details(self, value: Verdict) -> str:
        """Its step and author, and where it comes from if it was not given here."""
        parts = (
            self.tr("whole run") if value.step is None else self.tr("step {0}").format(value.step),
            value.author,
            self.tr("settles a disagreement") if value.settles else "",
            self.tr("imported") if value.origin else "",
        )
        return " · ".join(part for part in parts if part)

    def show(self, verdicts: Sequence[Verdict]) -> None:
        self.merge(sorted(verdicts, key=lambda verdict: -verdict.at))


def label_of(digit: int, *, second: bool) -> Label | None:
    """Return the label of a digit key, on the first page or behind ``0``; ``None`` where there is none."""
    place = digit - 1 + (DIGITS if second else 0)
    return LABELS[place] if digit >= 1 and place < len(LABELS) else None


def label_keys(place: int) -> str:
    """Return the keys of the label at this place: ``3``, or ``0 3`` for one of those behind ``0``."""
    return str(place + 1) if place < DIGITS else f"0 {place + 1 - DIGITS}"


def _choice(place: int, label: Label, verdict: Verdict | None) -> VerdictChoice:
    keys = label_keys(place)
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
