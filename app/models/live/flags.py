"""Flags of the open run and the operator's verdicts on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.core.supervision import Intervention, OperatorAction, RaisedFlag
from app.models.common.object_list import ReorderableList
from app.models.common.translate import tr
from app.models.review.run_queue import detector_label

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

VERDICT_WORDS = {OperatorAction.CONFIRMED: True, OperatorAction.DISMISSED: False}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFlag:
    """A detector flag; ``right`` is the operator's verdict, ``None`` before there is one."""

    detector: str
    step: int
    severity: str
    message: str
    right: bool | None = None

    @property
    def origin(self) -> str:
        """``repeated action · step 4``."""
        return f"{detector_label(self.detector)} · {tr('step {0}').format(self.step)}"

    @property
    def verdict(self) -> str:
        return "" if self.right is None else tr("right") if self.right else tr("wrong")


class LiveFlagList(ReorderableList[LiveFlag]):
    """Flags, the newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda flag: (flag.detector, flag.step), parent)

    def words(self, value: LiveFlag) -> str:
        """``error at step 4: 'Save' changed nothing, right``."""
        line = tr("{0} at step {1}: {2}").format(value.severity, value.step, value.message)
        return f"{line}, {value.verdict}" if value.verdict else line


class LiveFlags(QObject):
    """Flags of one run, one of them selected.

    Signals:
        changed: the flags, the selection, or a verdict.
        failed(reason): a verdict could not be stored.
    """

    changed = Signal()
    failed = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._run = ""
        self._said: dict[tuple[str, int], bool] = {}
        self.flags = LiveFlagList(self)
        self.selected: tuple[str, int] | None = None

    @property
    def flag(self) -> LiveFlag | None:
        return self.flags.at(self.flags.row_of(self.selected)) if self.selected is not None else None

    def show(self, run: str, flags: Iterable[RaisedFlag], interventions: Iterable[Intervention] = ()) -> None:
        """Show a run's flags: another run was opened, or this one was loaded again."""
        if run != self._run:
            self._said, self.selected = {}, None
        self._run = run
        for intervention in sorted(interventions, key=lambda intervention: intervention.order):
            self._note(intervention)
        self.follow(flags)

    def follow(self, flags: Iterable[RaisedFlag]) -> None:
        """Take the flags so far; select a new one unless another without a verdict is selected."""
        rows = {
            (flag.detector, flag.step): LiveFlag(
                detector=flag.detector,
                step=flag.step,
                severity=flag.severity.value,
                message=flag.message,
                right=self._said.get((flag.detector, flag.step)),
            )
            for flag in flags
        }
        self.flags.arrange(sorted(rows.values(), key=lambda flag: (-flag.step, flag.detector)))
        self._select_open()
        self.changed.emit()

    def take(self, intervention: Intervention) -> None:
        if intervention.run == self._run and self._note(intervention):
            self._show_verdicts()

    def select(self, row: int) -> None:
        flag = self.flags.at(row)
        if flag is not None and self.selected != (flag.detector, flag.step):
            self.selected = (flag.detector, flag.step)
            self.changed.emit()

    def say(self, right: bool) -> None:
        """Give a verdict on the selected flag, then select the next one without a verdict."""
        flag = self.flag
        if flag is None:
            return
        run, key, before = self._run, (flag.detector, flag.step), flag.right
        self._said[key] = right
        self._show_verdicts()

        def failed(error: Exception) -> None:
            if run == self._run:
                self._said.pop(key, None)
                if before is not None:
                    self._said[key] = before
                self._show_verdicts()
            self.failed.emit(str(error))

        self._tasks.start(self._client.api.judge_flag(run, flag.step, flag.detector, right), failed=failed)

    def _note(self, intervention: Intervention) -> bool:
        if intervention.action not in VERDICT_WORDS:
            return False
        self._said[intervention.about, intervention.step] = VERDICT_WORDS[intervention.action]
        return True

    def _show_verdicts(self) -> None:
        for flag in list(self.flags.rows):
            self.flags.put(replace(flag, right=self._said.get((flag.detector, flag.step))))
        self._select_open()
        self.changed.emit()

    def _select_open(self) -> None:
        """Keep a selected flag without a verdict; else select the newest such flag; else keep the selection."""
        here = self.flag
        if here is not None and here.right is None:
            return
        waiting = next((flag for flag in self.flags.rows if flag.right is None), None)
        if waiting is not None:
            self.selected = (waiting.detector, waiting.step)
        elif here is None:
            first = self.flags.at(0)
            self.selected = (first.detector, first.step) if first is not None else None
