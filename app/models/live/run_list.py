"""The list of supervised runs, the most urgent first; it is not sorted again while the operator is busy."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, QObject

from app.engine.api.live_filter_words import state_group
from app.engine.core.labels import state_label
from app.engine.core.supervision import LiveRow, RunState, Stage, sort_live_rows
from app.engine.core.trajectory import Outcome
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr
from app.models.live.wall_figures import spent_words

REUSE_SECONDS = 600.0
"""The number of a dismissed run is not reused for this long: operators remember it."""
SECOND_DIGIT = 1.0
"""Seconds within which a second digit continues the number."""


class RunNumbers:
    """Each run has the smallest number free at its start; only dismissing the run frees it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._of: dict[str, int] = {}
        self._runs: dict[int, str] = {}
        self._freed: dict[int, float] = {}
        self._typed, self._typed_at = "", float("-inf")

    def of(self, run: str) -> int:
        return self._of.get(run, 0)

    def run_of(self, number: int) -> str:
        return self._runs.get(number, "")

    def give(self, run: str) -> int:
        """Return the run's number, assigning one if needed."""
        if run not in self._of:
            now = self._clock()
            self._freed = {n: at for n, at in self._freed.items() if now - at < REUSE_SECONDS}
            number = 1
            while number in self._runs or number in self._freed:
                number += 1
            self._take(run, number)
        return self._of[run]

    def free(self, run: str) -> None:
        number = self._of.pop(run, 0)
        if number:
            del self._runs[number]
            self._freed[number] = self._clock()

    def keep_only(self, runs: set[str]) -> None:
        """Free the numbers of all other runs."""
        for run in [run for run in self._of if run not in runs]:
            self.free(run)

    def _take(self, run: str, number: int) -> None:
        self._of[run], self._runs[number] = number, run

    # ------------------------------------------------------------ session
    @property
    def saved(self) -> dict[str, int]:
        """Numbers by run, for the session."""
        return dict(self._of)

    def restore(self, saved: object) -> None:
        """Take the numbers of a session; malformed and taken ones are ignored."""
        if not isinstance(saved, Mapping):
            return
        for run, number in saved.items():  # pyright: ignore[reportUnknownVariableType]
            self._restore_one(run, number)

    def _restore_one(self, run: Any, number: Any) -> None:
        fits = isinstance(run, str) and isinstance(number, int) and not isinstance(number, bool)
        if fits and number > 0 and run not in self._of and number not in self._runs:
            self._take(run, number)

    # ------------------------------------------------------------ typing
    def typed(self, digit: int) -> tuple[int, str]:
        """Return the number typed so far, and its run: ``1`` and soon after ``2`` is 12 if a run has that number.

        Where none has, the newest digit begins another number.
        """
        now = self._clock()
        going_on = self._typed if now - self._typed_at < SECOND_DIGIT else ""
        for text in dict.fromkeys((going_on + str(digit), str(digit))):
            if self.run_of(int(text)) or self._begins(text):
                break
        else:
            text = str(digit)
        self._typed, self._typed_at = text, now
        return int(text), self.run_of(int(text))

    def _begins(self, text: str) -> bool:
        """Whether a longer number begins like this."""
        return text != "0" and any(str(number).startswith(text) for number in self._runs)


MAX_NAME_LENGTH = 60
"""Characters of a task in a message."""
CLOCK_STATES = (RunState.STARTING, RunState.RUNNING, RunState.RECOVERING)
"""States in which a run's own clock advances."""


class RunList(ObjectList[LiveRow]):
    """Runs by ``LiveRow.rank``, smallest first; a change of rank moves one row, selection and scroll position stay.

    Args:
        clock: monotonic seconds.
        is_busy: while True no row moves and a new one is added at the end; ``arrange`` sorts afterwards.
    """

    def __init__(
        self,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(lambda row: row.run, parent)
        self._clock, self._is_busy = clock, is_busy
        self._heard: dict[str, float] = {}
        self._sorted = True
        self.numbers = RunNumbers(clock)

    def words(self, value: LiveRow) -> str:
        """State, task, number, step and need."""
        parts = [
            state_words(value),
            value.intent,
            self.number_words(value.run),
            step_words(value),
            need_words(value),
            flag_words(value),
        ]
        return ", ".join(part for part in parts if part)

    def number_words(self, run: str) -> str:
        """Return ``run 3``; "" for an unknown run."""
        number = self.numbers.of(run)
        return tr("run {0}").format(number) if number else ""

    def tip(self, value: LiveRow) -> str:
        """Text that a tile may have cut."""
        lines = [
            value.intent,
            value.plan,
            value.words,
            need_words(value),
            flag_words(value),
            value.why,
            value.url,
            value.cost.words if value.cost is not None else "",
            spent_words(value),
        ]
        return "\n".join(dict.fromkeys(line for line in lines if line))

    def name_of(self, run: str) -> str:
        """Return a run's name in a message: ``Buy one Gadget · run 3``."""
        row = self.at(self.row_of(run))
        task = " ".join(row.intent.split()) if row is not None else ""
        task = task if len(task) <= MAX_NAME_LENGTH else f"{task[: MAX_NAME_LENGTH - 1].rstrip()}…"
        return " · ".join(part for part in (task, self.number_words(run)) if part)

    def settle(self, rows: Iterable[LiveRow]) -> None:
        """Become ``rows`` by removing, changing, inserting and moving single rows."""
        wanted = {row.run: row for row in rows}
        for run in [row.run for row in self.rows if row.run not in wanted]:
            self.drop(run)
        self.numbers.keep_only(set(wanted))
        for row in sorted(wanted.values(), key=lambda row: (row.started_at, row.run)):
            self.numbers.give(row.run)
        for row in sort_live_rows(wanted.values()):
            self.put(row)

    def put(self, value: LiveRow) -> None:
        """Update a run: insert a new one in its place, move a known one if its rank changed."""
        self._heard[value.run] = self._clock()
        self.numbers.give(value.run)
        row, busy = self.row_of(value.run), self._is_busy()
        if not busy:
            self.arrange()
        if row < 0:
            self._insert(value, last=busy)
            return
        row = self.row_of(value.run)
        if self._rows[row] == value:
            return
        moves = self._rows[row].rank != value.rank
        self._rows[row] = value
        self._tell(row, row)
        if busy:
            self._sorted = self._sorted and not moves
        else:
            self._move_home(row)

    def drop(self, key: Any) -> None:
        """Remove a run; its number becomes free."""
        super().drop(key)
        self._heard.pop(key, None)
        self.numbers.free(key)

    def arrange(self) -> None:
        """Sort by moving single rows."""
        if self._sorted:
            return
        self._sorted = True
        for place, wanted in enumerate(sort_live_rows(self._rows)):
            row = self.row_of(wanted.run)
            if row != place:
                self.move_row(row, place)

    def elapsed(self, value: LiveRow) -> float:
        """Return the run's own clock now, in seconds."""
        if value.state not in CLOCK_STATES or value.stage is Stage.HELD:
            return value.seconds
        return value.seconds + max(0.0, self._clock() - self._heard.get(value.run, self._clock()))

    def _insert(self, value: LiveRow, *, last: bool) -> None:
        place = len(self._rows) if last else bisect_left(self._rows, _sort_key(value), key=_sort_key)
        self._sorted = self._sorted and not last
        self.beginInsertRows(QModelIndex(), place, place)
        self._rows.insert(place, value)
        self._places = None
        self.endInsertRows()

    def _move_home(self, row: int) -> None:
        value = self._rows[row]
        others = self._rows[:row] + self._rows[row + 1 :]
        place = bisect_left(others, _sort_key(value), key=_sort_key)
        if place != row:
            self.move_row(row, place)


def _sort_key(row: LiveRow) -> tuple[object, ...]:
    return (*row.rank, row.run)


# ------------------------------------------------------------------------------------------------ where it stands


def is_active(row: LiveRow) -> bool:
    return row.state in CLOCK_STATES


def can_resume(row: LiveRow) -> bool:
    return row.state in (RunState.PAUSED, RunState.INTERRUPTED)


def can_step(row: LiveRow) -> bool:
    return row.state in (RunState.RUNNING, RunState.PAUSED)


def can_end_by_hand(row: LiveRow) -> bool:
    """Whether the run is held, so that an operator can say that they did its task, or what its answer is."""
    return row.state.held or row.state is RunState.INTERRUPTED


def has_control(row: LiveRow) -> bool:
    """Whether the operator has control of the page."""
    return row.state is RunState.TAKEN_OVER


def can_take_over(row: LiveRow) -> bool:
    return row.state in (RunState.RUNNING, RunState.PAUSED, RunState.WAITING)


def is_queued(row: LiveRow) -> bool:
    return row.state is RunState.QUEUED


def is_ended(row: LiveRow) -> bool:
    """Whether the run has ended for good."""
    return row.state is RunState.ENDED


def first_need(row: LiveRow | None) -> str:
    """Return the name of the most urgent need (``wall``), "" for none."""
    return row.needs[0].need.value if row is not None and row.needs else ""


def status_line(row: LiveRow) -> str:
    """Return what is needed; else why the run is held or how it ended; else its plan or current action."""
    held = not row.state.alive or row.state is RunState.PAUSED
    return need_words(row) or (row.why if held else "") or row.plan or row.why or row.words


# ------------------------------------------------------------------------------------------------ words


def display_state(row: LiveRow) -> str:
    """Return the badge of a run, one of ``needs``, ``paused``, ``yours``, ``mending``, ``broken``, ``risky``,
    ``running``, ``starting``, ``queued``, ``done``, ``failed`` and ``stopped``.
    """
    if row.needs and row.state is not RunState.TAKEN_OVER:
        return "needs"
    faces = {
        RunState.WAITING: "needs",
        RunState.PAUSED: "paused",
        RunState.TAKEN_OVER: "yours",
        RunState.RECOVERING: "mending",
        RunState.INTERRUPTED: "broken",
        RunState.STARTING: "starting",
        RunState.QUEUED: "queued",
    }
    if row.state in faces:
        return faces[row.state]
    if row.state is RunState.ENDED:
        return "broken" if row.outcome == Outcome.CRASHED else state_group(row)
    return "risky" if row.risk >= HIGH_RISK else "running"


HIGH_RISK = 0.5
"""A running run is called risky from this risk on."""


def state_words(row: LiveRow) -> str:
    return tr("risky") if display_state(row) == "risky" else tr(state_label(row))


def step_words(row: LiveRow) -> str:
    """``step 4 of 30``; "" before the first."""
    if not row.step and row.state is RunState.QUEUED:
        return ""
    return (
        tr("step {0} of {1}").format(row.step, row.max_steps)
        if row.max_steps
        else tr("step {0}").format(row.step)
    )


def need_words(row: LiveRow) -> str:
    """Return what the operator has to do, "" for nothing."""
    if not row.needs:
        return ""
    more = len(row.needs) - 1
    return row.needs[0].question + (tr(" (and {0} more)").format(more) if more else "")


def flag_words(row: LiveRow) -> str:
    return row.last_flag.message if row.last_flag is not None else ""


def clock_words(seconds: float) -> str:
    """``0:07``, ``12:30``, ``1:02:03``."""
    whole = max(0, int(seconds))
    hours, rest = divmod(whole, 3600)
    if hours:
        return f"{hours}:{rest // 60:02d}:{rest % 60:02d}"
    return f"{rest // 60}:{rest % 60:02d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStatus:
    """Attributes:

    says: a sentence for the operator, "" where the state's label says it all.
    is_now: whether the picture is current; else it is dimmed.
    instead: shown where there is no picture.
    """

    says: str = ""
    is_now: bool = True
    placeholder: str = ""


def page_status(row: LiveRow | None, lost: str = "") -> PageStatus:
    """Return how the page of a run is shown; ``lost`` is the reason why the engine is unavailable."""
    if row is None:
        return PageStatus(is_now=False)
    if lost:
        return PageStatus(says=lost, is_now=False, placeholder=lost)
    state = row.state
    waiting = {
        RunState.QUEUED: tr("Queued: starts when another run ends, is paused or waits for you."),
        RunState.STARTING: tr("The browser is starting."),
        RunState.RUNNING: tr("Loading the first picture…"),
        RunState.TAKEN_OVER: tr("Loading the picture…"),
    }
    if state in waiting:
        return PageStatus(is_now=state is not RunState.QUEUED, placeholder=waiting[state])
    default = {
        RunState.PAUSED: tr("Paused until you resume it."),
        RunState.WAITING: tr("Waiting for you."),
        RunState.RECOVERING: tr("Restarting the browser…"),
        RunState.INTERRUPTED: tr("The process ended; the run can be resumed."),
        RunState.ENDED: tr("The run has ended."),
    }[state]
    is_now = state in (RunState.PAUSED, RunState.WAITING)
    says = (row.needs[0].question if is_now and row.needs else row.why) or default
    return PageStatus(says=says, is_now=is_now, placeholder=says)
