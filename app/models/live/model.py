"""The Live perspective: all runs, the current one, the open one, and the operator's actions on them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.core.hand_back import HAND_BACK, HandBack
from app.engine.core.supervision import LiveRow, PlannedAction, TakeoverSummary, sort_live_rows
from app.models.common.translate import tr
from app.models.live.batch_list import BatchesModel
from app.models.live.frames import FrameStore, FrameSubscriptions, RunThumbnails
from app.models.live.inbox_model import InboxModel
from app.models.live.live_runs import LiveRuns
from app.models.live.next_action import NextActionModel
from app.models.live.run_form import RunFormModel
from app.models.live.run_list import display_state, has_control, is_queued
from app.models.live.wall import WallModel
from app.models.live.wall_list import GroupHeading

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from app.engine.api.live_api import LiveRunDetail
    from app.engine.core.events import HintChanged, LiveRunChanged, LiveRunDismissed
    from app.engine.core.page_input import PageInput
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from kb.tip import TipDraft

COALESCE_MS = 20
"""Delay that merges a burst of changes (a task file was started) into one signal."""


class LiveModel(LiveRuns):
    """Signals:

    changed: the list as a whole: loaded, connection lost, number of runs or of runs in a state.
    current_changed(run): the current run; opening a run makes it the current one.
    opened(run): the run shown large, "" for the grid of all runs.
    row_changed(LiveRow): the current run has another state.
    detail_loaded(LiveRunDetail): everything about the open run, after opening and after an engine restart.
    next_changed: ``next`` is another action, or none.
    takeover_changed: ``takeover`` is another summary, or none.
    notice(text): something was done.
    undo_offered(text): something was requested that undo can still prevent.
    numbered: run numbers changed; the session stores them.
    tip_wanted(TipDraft): a draft for a tip, from step ``tip_source`` of the open run.
    review_wanted(run, step), knowledge_wanted(tip): another perspective should show this.
    """

    current_changed = Signal(str)
    row_changed = Signal(object)
    detail_loaded = Signal(object)
    next_changed = Signal()
    takeover_changed = Signal()
    undo_offered = Signal(str)
    numbered = Signal()
    tip_wanted = Signal(object)
    review_wanted = Signal(str, object)
    knowledge_wanted = Signal(str)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(client, tasks, parent, clock)
        self.wall = WallModel(client, self.list, self.hands, self)
        """The runs that are shown: filtered and grouped."""
        self.subscriptions = FrameSubscriptions(client, tasks, self)
        self.frames = FrameStore(client, self)
        self.run_thumbnails = RunThumbnails(client, tasks, self.frames, self)
        self.form = RunFormModel(client, tasks, self)
        self.batches = BatchesModel(client, tasks, self.hands, self.delayed_stops.held, self.row_of, self)
        self.detail: LiveRunDetail | None = None
        """The open run as it was when it was opened; what came since came as events."""
        self.takeover: TakeoverSummary | None = None
        """The summary of the last takeover of the open run."""
        self.tip_source: tuple[str, int] = ("", 0)
        """Run and step that the newest draft comes from."""
        self.handing_back: str = ""
        """The run whose page is being handed back: what is pressed from now on is the window's."""
        self._hint = ""
        self._restore = ""
        self._numbers: dict[str, int] = {}
        self._soon = QTimer(self, singleShot=True, interval=COALESCE_MS)
        self._soon.timeout.connect(self.changed)
        self.changed.connect(self._emit_numbers)
        self._next = NextActionModel(client, self.row_of, self.frames, self)
        self.opened.connect(self.open_run.on_opened)
        self.detail_loaded.connect(self.open_run.on_detail)
        self.row_changed.connect(self.open_run.on_row)
        self.next_changed.connect(self.open_run.on_next)
        self.open_run.notice.connect(self.notice)
        self.open_run.knowledge.tip_wanted.connect(self.knowledge_wanted)
        self.hands.idle.connect(self.list.arrange)
        self.hands.idle.connect(self.wall.on_idle)  # after the list: it follows its order
        self.wall.arranged.connect(self._follow_wall)
        self.hands.key_withheld.connect(
            lambda: self.notice.emit(
                tr("Typing ignored: the field is closed. Pause for a second or press Esc.")
            )
        )
        self._next.changed.connect(self.next_changed)
        self.delayed_stops.notice.connect(self.notice)
        self.delayed_stops.offered.connect(self.undo_offered)
        self.delayed_stops.changed.connect(self.changed)
        client.live_run_changed.connect(self._on_row)
        client.live_run_dismissed.connect(self._on_gone)
        client.hint_changed.connect(self._on_hint)
        client.host_changed.connect(self._on_host)
        self.inbox = InboxModel(self)
        self.form.sent.connect(self._on_sent)
        self.batches.notice.connect(self.notice)
        self.batches.undo_offered.connect(self.undo_offered)
        self.batches.run_wanted.connect(self.open)
        self.batches.review_wanted.connect(self.review_wanted)

    def start(self) -> None:
        self.tasks.start(self.api.live_runs(), self._on_loaded, self._failed, key="live-runs")
        self.batches.load()

    # ------------------------------------------------------------ where the hand is
    @property
    def next(self) -> PlannedAction | None:
        return self._next.action

    @property
    def row(self) -> LiveRow | None:
        return None if self.inbox.is_empty else self.row_of(self.current)

    def select(self, run: str) -> None:
        """Make a run the current one; an open run is replaced by it."""
        self.wall.heading = None
        if self.run and run:
            self.open(run)
        elif run != self.current:
            self._set_current(run)

    def select_heading(self, group: str) -> None:
        """Make the heading of a group the current row; then no run is current on the wall."""
        self.wall.heading = group
        if not self.run:
            self._set_current("")

    def move(self, by: int) -> None:
        """Make the next or previous shown run the current one; collapsed groups are stops, too."""
        stops = self.wall.stops
        place = self.wall.place_of(self.current, stops)
        if not stops:
            return
        if place is None:
            target = self.wall.nearest(self.current, stops, by)
        else:
            target = min(max(place + by, 0), len(stops) - 1)
        stop = stops[target]
        if isinstance(stop, GroupHeading):
            self.select_heading(stop.group)
        else:
            self.select(stop.run)

    def open(self, run: str) -> None:
        if self.row_of(run) is None or run == self.run:
            return
        self.run, self.detail, self.takeover, self._hint = run, None, None, ""
        self._next.open(run)
        if run != self.current:
            self.current = run
            self.current_changed.emit(run)
        self.opened.emit(run)
        self._emit_row()
        self._load()

    def open_number(self, digit: int) -> None:
        """Handle a typed digit of a run number: ``1`` and soon after ``2`` opens run 12."""
        number, run = self.list.numbers.typed(digit)
        if run:
            self.open(run)
        elif number:
            self.notice.emit(tr("There is no run {0}").format(number))

    def close(self) -> None:
        """Return to the grid; the run stays the current one."""
        if self.run:
            self.run, self.detail, self.takeover = "", None, None
            self._next.open("")
            self.tasks.cancel("live-open")
            self.opened.emit("")
            self._follow_wall()

    @property
    def needing_attention(self) -> list[LiveRow]:
        """Runs that need a person, the most urgent first."""
        return sort_live_rows(row for row in self.list.rows if row.needs)

    def open_next_needing(self) -> None:
        """Open the run that needs a person most; from there the next one."""
        runs = [row.run for row in self.needing_attention]
        if runs:
            here: int = runs.index(self.run) + 1 if self.run in runs else 0
            self.open(runs[here % len(runs)])

    # ------------------------------------------------------------ the page
    def take_over(self) -> None:
        """Give the operator control of the open run's page."""
        if self.takeover is not None:
            self.takeover = None
            self.takeover_changed.emit()
        self.handing_back = ""
        self._do(self.api.take_over)

    def send_input(self, inputs: Sequence[PageInput]) -> None:
        if self.run and inputs:
            self.tasks.start(self.api.send_input(self.run, tuple(inputs)))

    def release(self, back: HandBack = HAND_BACK) -> None:
        """Hand the current run back to the agent, or end it as done by hand."""
        run = self.current
        if not run:
            return

        def failed(error: Exception) -> None:
            self.handing_back = ""
            self.changed.emit()
            self.tasks.error.emit(str(error))

        def came(account: TakeoverSummary) -> None:
            if self.run == run:
                self.takeover = account
                self._hint = ""
                self.takeover_changed.emit()
            elif self.inbox.login_from != run:  # what came of its log-in stays to be read
                self.notice.emit(account.words or tr("The page was handed back"))

        self.handing_back, self.inbox.login_from = run, ""
        self.changed.emit()
        self.tasks.start(self.api.release(run, back), came, failed)

    # ------------------------------------------------------------ what becomes of it
    @property
    def can_write_tip(self) -> bool:
        """Whether there is a takeover or a hint to make a tip of."""
        return bool(self._hint) or (self.takeover is not None and self.takeover.steps > 0)

    def write_tip(self) -> None:
        """Draft a tip from the newest hint or takeover."""
        if self._hint:
            row = self.row
            self._draft(
                max(row.step - 1, 0) if row is not None else 0, self.api.draft_tip_from_hint(self._hint)
            )
        elif (account := self.takeover) is not None:
            self._draft(account.first_step, self.api.draft_tip_from_takeover(account.run, account.first_step))

    def add_to_map(self) -> None:
        if self.takeover is None:
            return

        def on_count(count: int) -> None:
            self.notice.emit(tr("{0} steps added to the map").format(count))

        self.tasks.start(self.api.takeover_to_graph(self.takeover.run, self.takeover.first_step), on_count)

    def again(self) -> None:
        """Load the current run's task into the run form, to be run again with the current tips."""
        if self.current:
            self.tasks.start(self.api.run_request(self.current), self.form.again)

    def review(self, step: int | None = None) -> None:
        if self.current:
            self.review_wanted.emit(self.current, step)

    # ------------------------------------------------------------ session
    def session(self) -> dict[str, Any]:
        """Return the state to keep for the next start."""
        return {
            "run": "" if self.inbox.is_open else self.run,
            "inbox": self.inbox.session(),
            "current": self.current,
            "numbers": self.list.numbers.saved,
            "wall": self.wall.session(),
            "batch": self.batches.form.choices(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore a saved state once the runs are loaded; runs that no longer exist are ignored."""
        self._restore = str(saved.get("run") or "")
        self.current = str(saved.get("current") or "")
        self.list.numbers.restore(saved.get("numbers"))
        self.wall.restore(saved.get("wall"))
        self.inbox.restore(saved.get("inbox"))
        self.batches.form.restore(saved.get("batch"))

    # ------------------------------------------------------------ answers
    def _load(self) -> None:
        run = self.run

        def came(detail: LiveRunDetail) -> None:
            if self.run != run:
                return
            self.detail = detail
            self.takeover = detail.takeover
            self._next.take(detail.next)
            waiting = [hint for hint in detail.hints if hint.run == run]
            self._hint = waiting[-1].id if waiting and detail.takeover is None else ""
            self.detail_loaded.emit(detail)
            self.next_changed.emit()
            self.takeover_changed.emit()

        self.tasks.start(self.api.live_run(run), came, key="live-open")

    def _on_loaded(self, rows: list[LiveRow]) -> None:
        self.is_loaded, self.error, self.handing_back = True, "", ""
        self.list.settle(rows)
        if self.run and self.row_of(self.run) is None:
            self.close()
        if self.row is None:
            self._select_row(0)
        self.subscriptions.set_alive(row.run for row in rows if _has_page(row))
        self.changed.emit()
        self._emit_row()
        if self._restore:
            self.open(self._restore)
            self._restore = ""
        elif self.run:
            self._load()

    def _failed(self, error: Exception) -> None:
        self.is_loaded, self.error = True, str(error)
        self.changed.emit()

    def _on_row(self, event: LiveRunChanged) -> None:
        row, before = event.row, self.row_of(event.row.run)
        if row.run == self.handing_back and not has_control(row):
            self.handing_back = ""
        self.list.put(row)
        self.subscriptions.set_one_alive(row.run, _has_page(row))
        if before is None and not self.current and self.wall.heading is None:
            self._select_row(0)
        self.delayed_stops.follow(row)
        self._next.follow(row.run)
        if row.run == self.current:
            self.row_changed.emit(row)
        if before is None or display_state(before) != display_state(row):
            self._soon.start()

    def _on_gone(self, event: LiveRunDismissed) -> None:
        place = self.wall.list.row_of(event.run)
        self.delayed_stops.forget(event.run)
        if self.run == event.run:
            self.close()
        self.list.drop(event.run)
        self.subscriptions.set_one_alive(event.run, False)
        if self.current == event.run:
            self._select_row(place)
        self.changed.emit()

    def _emit_numbers(self) -> None:
        if self.list.numbers.saved != self._numbers:
            self._numbers = self.list.numbers.saved
            self.numbered.emit()

    def _on_hint(self, event: HintChanged) -> None:
        if event.hint.run == self.run and not event.hint.taken_at:
            self._hint = event.hint.id

    def _on_host(self, message: str) -> None:
        was_lost, self.lost = bool(self.lost), message
        if was_lost and not message:
            self.subscriptions.forget()
            self.start()
        self.changed.emit()

    def _on_sent(self, runs: list[str]) -> None:
        self.notice.emit(tr("1 run started") if len(runs) == 1 else tr("{0} runs started").format(len(runs)))
        if runs and not self.run:
            self.select(runs[0])

    def _draft(self, step: int, work: Coroutine[Any, Any, TipDraft]) -> None:
        run = self.run

        def came(draft: TipDraft) -> None:
            self.tip_source = (run, step)
            self.tip_wanted.emit(draft)

        self.tasks.start(work, came)

    def _follow_wall(self) -> None:
        """Keep the current run among the shown ones: nothing is done to a run that nobody sees."""
        if self.run or self.wall.heading_row >= 0 or self.wall.list.row_of(self.current) >= 0:
            return
        self.wall.heading = None
        self._set_current(self.wall.neighbour(self.current))

    def _select_row(self, place: int) -> None:
        """Make the run in this row of the wall the current one, or the nearest run."""
        rows = self.wall.list.rows
        found = [row.run for row in [*rows[max(place, 0) :], *reversed(rows)] if isinstance(row, LiveRow)]
        self._set_current(found[0] if found else "")

    def _set_current(self, run: str) -> None:
        if run != self.current:
            self.current = run
            self.current_changed.emit(run)
            self._emit_row()

    def _emit_row(self) -> None:
        if (row := self.row) is not None:
            self.row_changed.emit(row)


def _has_page(row: LiveRow) -> bool:
    return row.state.alive and not is_queued(row)
