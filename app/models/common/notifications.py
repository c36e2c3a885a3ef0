"""Notifications about runs: which run needs an operator, has failed or is done, shown once and not in quiet hours."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app import settings
from app.engine.core.intervention_policy import DEFAULT_POLICY, InterventionPolicy
from app.engine.core.supervision import LiveRow, RequestState, RunState, sort_live_rows
from app.models.common.notification_rules import (
    FlagId,
    Notification,
    NotificationReason,
    Urgency,
    merge_reasons,
    needs_operator,
    new_reasons,
)
from app.models.common.quiet_mode import QuietMode
from app.models.common.tasks import ignore
from app.settings import Settings

if TYPE_CHECKING:
    from app.engine.core.events import LiveRunChanged, LiveRunDismissed, RequestChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.settings_form import SettingsForm
    from app.models.common.tasks import Tasks


__all__ = ["Notification", "NotificationModel", "NotificationReason", "Urgency"]

DEBOUNCE_SECONDS = 0.5
"""Changes within this time make one notification; far below the two seconds within which an operator should know."""
RECOVERY_SECONDS = 15.0
"""A run that broke off with its engine usually recovers within this time; otherwise it is notified."""
PAUSE_SECONDS = 5.0
MAX_LINES = 5
"""Runs that a notification names one by one."""


class NotificationModel(QObject):
    """Signals:

    called: a ``Notification`` to show; never about the run that the operator is looking at.
    settled: a run that was notified needs nobody any more; carries its id.
    waiting_changed: the runs that wait for an operator changed; carries their number, for the badge.
    opened: the operator followed a notification; carries the run.
    """

    called = Signal(object)
    settled = Signal(str)
    waiting_changed = Signal(int)
    opened = Signal(str)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        parent: QObject | None = None,
        *,
        now: Callable[[], datetime] = datetime.now,
        debounce: float = DEBOUNCE_SECONDS,
        patience: float = RECOVERY_SECONDS,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._rows: dict[str, LiveRow] = {}
        self._told: set[FlagId] = set()
        self._pending: list[NotificationReason] = []
        self._shown: set[str] = set()
        self._needy: set[str] = set()
        self.waiting: tuple[str, ...] = ()
        self.policy: InterventionPolicy = DEFAULT_POLICY
        self._looked_at, self._active = "", False
        self._held_back = False
        self.enabled = True
        self.quiet = QuietMode(now, self)
        self.quiet.changed.connect(self._on_quiet)
        self._soon = QTimer(self, singleShot=True, interval=round(debounce * 1000))
        self._soon.timeout.connect(self._tell)
        self._mending: list[NotificationReason] = []
        self._patience = QTimer(self, singleShot=True, interval=round(patience * 1000))
        self._patience.timeout.connect(self._give_up)
        client.live_run_changed.connect(self._on_live)
        client.live_run_dismissed.connect(self._on_gone)
        client.request_changed.connect(self._on_request)
        client.policy_changed.connect(self._on_policy)
        client.host_changed.connect(self._on_host)

    def start(self) -> None:
        """Load the live runs and the policy; what already waits is counted but not notified.

        Without an engine nothing is said: ``host_changed`` asks again.
        """
        self._ask_for_the_policy()
        self._tasks.start(self._client.api.live_runs(), self._take_all, ignore, key="calls-rows")

    # ------------------------------------------------------------ what the person does
    def look_at(self, run: str) -> None:
        """Set the run that is open large in Live; "" for none."""
        self._looked_at = run
        self._seen()

    def set_active(self, active: bool) -> None:
        """Set whether the window has the keyboard focus."""
        self._active = active
        self._seen()

    def open(self, run: str) -> None:
        self.opened.emit(run)

    def in_front(self, run: str) -> bool:
        """Return whether the operator is looking at this run."""
        return self._active and run == self._looked_at

    def words_of(self, call: Notification) -> tuple[str, str]:
        if len(call.reasons) == 1:
            reason = call.reasons[0]
            return self.tr("{0}: {1}").format(self._word(reason.weight), reason.intent), reason.words
        counts = Counter(reason.weight for reason in call.reasons)
        title = ", ".join(self._counted(weight, counts[weight]) for weight in sorted(counts, reverse=True))
        lines = [
            f"{self._word(reason.weight)}: {reason.intent[:80]} · {reason.words[:80]}"
            for reason in call.reasons[:MAX_LINES]
        ]
        more = len(call.reasons) - MAX_LINES
        if more > 0:
            lines.append(self.tr("and {0} more").format(more))
        return title, "\n".join(lines)

    def _word(self, weight: Urgency) -> str:
        return {
            Urgency.BLOCKED: self.tr("Needs you"),
            Urgency.FAILED: self.tr("Failed"),
            Urgency.FLAGGED: self.tr("Flagged"),
            Urgency.DONE: self.tr("Done"),
        }[weight]

    def _counted(self, weight: Urgency, count: int) -> str:
        words = {
            Urgency.BLOCKED: self.tr("{0} need you") if count > 1 else self.tr("{0} needs you"),
            Urgency.FAILED: self.tr("{0} failed"),
            Urgency.FLAGGED: self.tr("{0} flagged"),
            Urgency.DONE: self.tr("{0} done"),
        }
        return words[weight].format(count)

    # ------------------------------------------------------------ who waits
    @property
    def going(self) -> int:
        """Number of runs that have a page, or are about to get one."""
        return sum(row.state.alive for row in self._rows.values())

    def set_policy(self, policy: InterventionPolicy) -> None:
        self.policy = policy
        self._count()

    def pause_all(self, then: Callable[[], None]) -> None:
        """Pause every run, then call ``then``; a run or an engine that does not answer is not waited for long."""
        self._tasks.start(
            self._pausing(), lambda _count: then(), lambda _error: then(), key="calls-pause-all"
        )

    async def _pausing(self) -> int:
        async with asyncio.timeout(PAUSE_SECONDS):
            return await self._client.api.pause_all()

    # ------------------------------------------------------------ events
    def _on_live(self, event: LiveRunChanged) -> None:
        self._take(event.row)

    def _take(self, row: LiveRow) -> None:
        before = self._rows.get(row.run)
        self._rows[row.run] = row
        found, told = new_reasons(before, row, self.policy, self._told)
        self._told.update(told)
        if needs_operator(row, self.policy):
            self._needy.add(row.run)
            self._tell_count()
        elif row.run in self._needy:
            self._needy.discard(row.run)
            self._tell_count()
        for reason in found:
            if reason.may_mend:
                self._mending.append(reason)
                self._patience.start()
            else:
                self._remember(reason)

    def _give_up(self) -> None:
        """Report the faults that had time to recover; ``_still_holds`` leaves out those that did."""
        mending, self._mending = self._mending, []
        for reason in mending:
            self._remember(reason)

    def _remember(self, reason: NotificationReason) -> None:
        if self.in_front(reason.run):
            return
        self._pending.append(reason)
        if not self._soon.isActive():  # counted from the first of a burst, so that none waits longer
            self._soon.start()

    def _on_gone(self, event: LiveRunDismissed) -> None:
        self._rows.pop(event.run, None)
        self._told = {flag for flag in self._told if flag[0] != event.run}
        self._count()

    def _on_request(self, event: RequestChanged) -> None:
        """Settle the notification at once: the decision may have been made elsewhere, before the row follows."""
        if event.request.state is not RequestState.OPEN:
            self._pending = [reason for reason in self._pending if reason.about != event.request.id]

    def _on_policy(self, _event: object) -> None:
        self._ask_for_the_policy()

    def _on_host(self, message: str) -> None:
        if not message:
            self.start()

    def _take_all(self, rows: Sequence[LiveRow]) -> None:
        known = self._rows
        for row in rows:
            if row.run in known:
                self._take(row)  # the engine was restarted: report what changed meanwhile
                continue
            self._rows[row.run] = row
            _, told = new_reasons(None, row, self.policy, self._told)
            self._told.update(told)
        for run in set(known) - {row.run for row in rows}:
            del self._rows[run]
        self._count()

    def _ask_for_the_policy(self) -> None:
        self._tasks.start(self._client.api.intervention_policy(), self.set_policy, ignore, key="calls-policy")

    # ------------------------------------------------------------ telling
    def _tell(self) -> None:
        pending, self._pending = self._pending, []
        reasons = merge_reasons([reason for reason in pending if self._still_holds(reason)])
        if not reasons or not self.enabled:
            return
        if self.quiet.is_on:
            self._held_back = True
            return
        self._shown.update(reason.run for reason in reasons)
        self.called.emit(Notification(reasons=reasons))

    def _still_holds(self, reason: NotificationReason) -> bool:
        row = self._rows.get(reason.run)
        if row is None or self.in_front(reason.run):
            return False
        if reason.about:
            return any(need.id == reason.about for need in row.needs)
        if reason.weight is Urgency.BLOCKED:
            return row.state in (RunState.PAUSED, RunState.INTERRUPTED)
        return True

    def _count(self) -> None:
        """Count every run again, after the list of runs or the policy changed."""
        self._needy = {run for run, row in self._rows.items() if needs_operator(row, self.policy)}
        self._tell_count()

    def _tell_count(self) -> None:
        waiting = tuple(row.run for row in sort_live_rows(self._rows[run] for run in self._needy))
        if waiting == self.waiting:
            return
        left, self.waiting = set(self.waiting) - set(waiting), waiting
        self.waiting_changed.emit(len(waiting))
        for run in left:
            self._settle(run)

    def _seen(self) -> None:
        if self._active and self._looked_at:
            self._settle(self._looked_at)

    def _settle(self, run: str) -> None:
        if run in self._shown:
            self._shown.discard(run)
            self.settled.emit(run)

    def _on_quiet(self, words: str) -> None:
        if not words and self._held_back:
            self._held_back = False
            self._tell_who_waits()

    def _tell_who_waits(self) -> None:
        """After quiet hours, send one notification for all that still wait; runs that ended meanwhile are in Live."""
        for run in self.waiting:
            row = self._rows[run]
            words = row.needs[0].question if row.needs else row.flags[-1].message
            about = row.needs[0].id if row.needs else ""
            self._remember(
                NotificationReason(
                    run=run, weight=Urgency.BLOCKED, intent=row.intent, words=words, about=about
                )
            )


class NotificationSettings(QObject):
    """Applies saved settings to the notification model and to the engine; an engine that starts reads them itself.

    Signals:
        notifications_changed(channel): ``desktop``, ``window`` or ``off``.
        applied: the engine uses the saved settings.
    """

    notifications_changed = Signal(str)
    applied = Signal()

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        calls: NotificationModel,
        form: SettingsForm,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._calls = client, tasks, calls
        form.saved.connect(self._on_saved)

    def load(self) -> None:
        """Read the effective settings (the file, overridden by the environment) on a worker thread."""
        self._tasks.start(asyncio.to_thread(settings.load), self._take, key="call-settings")

    def _on_saved(self, _values: dict[str, object]) -> None:
        self.load()
        self._tasks.start(
            self._client.api.apply_settings(), lambda _none: self.applied.emit(), key="apply-settings"
        )

    def _take(self, found: Settings) -> None:
        self._calls.quiet.set_hours(found.quiet_hours)
        self.notifications_changed.emit(found.notifications)
