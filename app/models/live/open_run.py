"""The open run: everything shown beside its page, kept current by engine events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.live_api import LiveRunDetail
from app.engine.core.events import HintChanged, InterventionMade, LedgerChanged, RequestChanged, TipsRetrieved
from app.engine.core.ledger import Ledger
from app.engine.core.supervision import (
    ApprovalRequest,
    Intervention,
    LiveRow,
    OperatorDecision,
    PlannedAction,
    RunState,
)
from app.engine.core.trajectory import Step
from app.models.common.translate import tr
from app.models.live.flags import LiveFlags
from app.models.live.hints import LiveHints
from app.models.live.knowledge import LiveKnowledge
from app.models.live.pointing_model import PointingModel
from app.models.live.requests import LiveRequests, notice_words
from app.models.live.timeline import TimelineList, timeline
from app.models.review.run_memory import MemoryLine, MemoryList, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.live.delayed_actions import DelayedStops
    from app.models.live.input_guard import InputGuard
    from app.models.live.run_list import RunList

STEPS_DELAY = 0.05
"""Seconds until recorded steps are loaded, so that a burst is loaded once."""


class OpenRunModel(QObject):
    """The open run of Live, as a set of models.

    ``timeline`` is the timeline; ``plan`` and ``memory`` show the ledger.

    Signals:
        opened: another run is open, or none; its row is known, the rest follows.
        changed: row, next action, or the ledger changes of the last step.
        step_wanted(step): the page should show a past step.
        notice(text): a message for the window.
    """

    opened = Signal()
    changed = Signal()
    step_wanted = Signal(int)
    notice = Signal(str)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        runs: RunList,
        hands: InputGuard,
        delayed_stops: DelayedStops,
        planned: Callable[[], PlannedAction | None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._runs, self._planned = client, tasks, runs, planned
        self.hands = hands
        self.run = ""
        self.row: LiveRow | None = None
        self.ledger_changes: tuple[str, ...] = ()
        self.name_of: Callable[[ApprovalRequest], str] = lambda request: runs.name_of(request.run)
        self.requests = LiveRequests(client, tasks, hands, delayed_stops, self)
        self.knowledge = LiveKnowledge(client, tasks, self)
        self.pointing = PointingModel(client, tasks, self)
        self.flags = LiveFlags(client, tasks, self)
        self.hints = LiveHints(client, tasks, self)
        self.timeline, self.memory, self.plan = TimelineList(self), MemoryList(self), MemoryList(self)
        self._steps: tuple[Step, ...] = ()
        self._interventions: dict[int, Intervention] = {}
        client.tips_retrieved.connect(self._on_knowledge)
        client.ledger_changed.connect(self._on_ledger)
        client.request_changed.connect(self._on_request)
        client.hint_changed.connect(self._on_hint)
        client.intervention_made.connect(self._on_intervention)
        self.requests.too_recent.connect(self._on_too_recent)
        self.requests.decided.connect(self._on_decided)
        self.requests.planned_edited.connect(self._on_planned_edited)
        self.pointing.failed.connect(self.notice)
        self.knowledge.failed.connect(self.notice)
        self.flags.failed.connect(self.notice)

    @property
    def next(self) -> PlannedAction | None:
        return self._planned()

    @property
    def number(self) -> str:
        """``run 3``."""
        return self._runs.number_words(self.run)

    def look_at(self, step: int) -> None:
        self.step_wanted.emit(step)

    # ------------------------------------------------------------ what the wall's model tells
    def on_opened(self, run: str) -> None:
        self.run, self.row = run, self._runs.at(self._runs.row_of(run)) if run else None
        self.ledger_changes, self._steps, self._interventions = (), (), {}
        self._tasks.cancel("live-steps")
        row = self.row
        self.requests.show(run, row.needs if row is not None else ())
        self.pointing.open(run, row)
        self.flags.show(run, row.flags if row is not None else ())
        self.knowledge.show(run, None)
        self.hints.show(run, ())
        for rows in (self.timeline, self.memory, self.plan):
            rows.replace([])
        self.opened.emit()
        self.changed.emit()

    def on_detail(self, detail: LiveRunDetail) -> None:
        if detail.row.run != self.run:
            return
        self.row, self._steps = detail.row, detail.steps
        self._interventions = {intervention.order: intervention for intervention in detail.interventions}
        self.requests.show(self.run, detail.requests)
        self.flags.show(self.run, detail.row.flags, detail.interventions)
        self.knowledge.show(self.run, detail.knowledge, self._planned())
        self.hints.show(self.run, detail.hints)
        if detail.ledger is not None:
            self._fill_ledger(detail.ledger, detail.row.step - 1, detail.ledger_changes)
        self._fill_timeline()
        self.changed.emit()

    def on_row(self, row: LiveRow) -> None:
        """Follow a row, if it is the open run's."""
        if row.run != self.run:
            return
        before, self.row = self.row, row
        self.requests.follow(row)
        self._follow_planned()
        if before is None or before.flags != row.flags:
            self.flags.follow(row.flags)
            self._fill_timeline()
        if before is not None and before.step != row.step:
            self._ask_steps()
        self.changed.emit()

    def on_next(self) -> None:
        self.knowledge.plan(self._planned())
        self._follow_planned()
        self.changed.emit()

    @property
    def can_edit_planned(self) -> bool:
        """Whether the run is paused before an action, with nothing asked."""
        row = self.row
        paused = row is not None and row.state is RunState.PAUSED and not row.needs
        return paused and self.next is not None and bool(self.next.call)

    def edit_planned(self) -> None:
        """Show the planned action of a paused run as a card to be edited."""
        if self.can_edit_planned:
            self.requests.plan(self.next)

    def _follow_planned(self) -> None:
        """Numbers and the edited action are those of one pause."""
        self.pointing.follow(self.row, self.next)
        planned, now = self.requests.planned, self.next
        if planned is None or self.requests.is_deciding:  # an edit on its way brings another action itself
            return
        same = now is not None and (now.step, now.call) == (planned.step, planned.call)
        if not (same and self.can_edit_planned):
            self.requests.plan(None)

    # ------------------------------------------------------------ what the engine tells
    def _on_knowledge(self, event: TipsRetrieved) -> None:
        self.knowledge.take(event.here)

    def _on_ledger(self, event: LedgerChanged) -> None:
        if event.run == self.run:
            self._fill_ledger(event.ledger, event.step, event.changes)
            self.changed.emit()

    def _on_request(self, event: RequestChanged) -> None:
        self.requests.take(event.request)

    def _on_hint(self, event: HintChanged) -> None:
        self.hints.take(event.hint)

    def _on_intervention(self, event: InterventionMade) -> None:
        intervention = event.intervention
        if intervention.run == self.run and intervention.order not in self._interventions:
            self._interventions[intervention.order] = intervention
            self.flags.take(intervention)
            self._fill_timeline()

    def _on_too_recent(self) -> None:
        self.notice.emit(tr("{0} has only just appeared. Press again.").format(self.number.capitalize()))

    def _on_decided(self, request: ApprovalRequest, decision: OperatorDecision) -> None:
        words = notice_words(request, decision, self.name_of(request))
        if words:
            self.notice.emit(words)

    def _on_planned_edited(self, planned: PlannedAction) -> None:
        self.notice.emit(tr("Next action: {0}").format(planned.words))

    # ------------------------------------------------------------ inside
    def _ask_steps(self) -> None:
        """Load the recorded steps: no event carries them."""
        run = self.run

        def came(detail: LiveRunDetail) -> None:
            if run == self.run:
                self._steps = detail.steps
                self._fill_timeline()

        self._tasks.start(self._client.api.live_run(run), came, key="live-steps", delay=STEPS_DELAY)

    def _fill_timeline(self) -> None:
        flags = self.row.flags if self.row is not None else ()
        self.timeline.arrange(timeline(self._steps, self._interventions.values(), flags))

    def _fill_ledger(self, ledger: Ledger, step: int, changes: tuple[str, ...]) -> None:
        known = {self.row.intent if self.row is not None else ""}
        known |= {words for node in ledger.plan for words in (node.id, node.intent)}
        lines = [
            line
            for line in lines_of(ledger, step)
            if line.key not in ("goal", "subgoal") or line.text not in known
        ]
        self.plan.merge([line for line in lines if _is_plan(line)])
        self.memory.merge([line for line in lines if not _is_plan(line)])
        self.ledger_changes = changes


def _is_plan(line: MemoryLine) -> bool:
    return line.role in ("goal", "subgoal", "plan")
