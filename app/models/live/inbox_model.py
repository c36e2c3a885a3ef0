"""The inbox of Live: what needs a person, one request after the other, equal ones of several runs as one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.core.request_groups import InboxOrder, RequestGroup, inbox_groups, is_login_wall
from app.engine.core.supervision import ApprovalRequest, Need, RequestState
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr
from app.models.live.group_decisions import GroupDecisions
from app.models.live.requests import decision_words
from app.models.live.run_list import has_control, is_active, is_ended, is_queued

if TYPE_CHECKING:
    from app.engine.core.events import LiveRunChanged, LoginShared, RequestChanged
    from app.models.live.live_runs import LiveRuns
    from app.models.live.run_list import RunList

LOOK_AGAIN_MS = 120
"""How often it is asked whether the operator has left a field, so that the next request may come."""
ORDER_WORDS = {InboxOrder.RISK: "Riskiest first", InboxOrder.AGE: "Oldest first"}
_MANY = {
    Need.FLAG: "{0} runs are flagged for the same",
    Need.APPROVAL: "{0} runs want to {1}",
    Need.QUESTION: "{0} runs ask: {1}",
    Need.WALL: "{0} runs wait at this captcha",
    Need.TROUBLE: "{0} runs: {1}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxEntry:
    """One row of the inbox: a request, or equal requests answered together.

    Attributes:
        key: the group's key; the request's id where it is answered alone.
        group: the key of the equal requests it belongs to.
        is_single: one of several equal requests that are answered one by one.
        later: above 0 where it was put last.
    """

    key: str
    group: str
    requests: tuple[ApprovalRequest, ...]
    is_single: bool = False
    later: int = 0

    @property
    def first(self) -> ApprovalRequest:
        return self.requests[0]

    @property
    def runs(self) -> tuple[str, ...]:
        return RequestGroup(key=self.key, requests=self.requests).runs

    def holds(self, request: str) -> bool:
        return any(one.id == request for one in self.requests)


class InboxList(ObjectList[InboxEntry]):
    """Requests that need a person; rows stay where they are while the operator is busy."""

    def __init__(self, runs: RunList, parent: QObject | None = None) -> None:
        super().__init__(lambda entry: entry.key, parent)
        self._runs = runs

    def words(self, value: InboxEntry) -> str:
        """Request, site, risk class, tasks and age, for screen readers."""
        parts = [
            entry_words(value),
            value.first.site,
            value.first.risk,
            *(self._runs.name_of(run) for run in value.runs),
            age_words(value.first),
            tr("later") if value.later else "",
        ]
        return ", ".join(part for part in parts if part)

    def task_words(self, entry: InboxEntry) -> str:
        """The task of a single run; ``run 1, run 2`` of several."""
        if len(entry.runs) == 1:
            return self._runs.name_of(entry.first.run)
        return ", ".join(self._runs.number_words(run) for run in entry.runs)

    def tip(self, value: InboxEntry) -> str:
        """The whole text of a row."""
        lines = [entry_words(value), value.first.question, *(self._runs.name_of(run) for run in value.runs)]
        return "\n".join(dict.fromkeys(line for line in lines if line))

    def settle(self, wanted: Sequence[InboxEntry], *, keep_places: bool) -> None:
        """Become ``wanted`` by removing, changing, inserting and moving single rows; with ``keep_places`` rows stay
        in their order and new ones are added at the end.
        """
        if keep_places:
            known = {entry.key: entry for entry in wanted}
            stay = [known.pop(entry.key) for entry in self._rows if entry.key in known]
            wanted = [*stay, *known.values()]
        self.merge(wanted, keep_places=True)
        for place, entry in enumerate(wanted):
            row = self.row_of(entry.key)
            if row != place:
                self.move_row(row, place)


class InboxModel(QObject):
    """The inbox; while it is open, its current request decides which run is open.

    ``is_held`` says whether the operator types or holds a button: then no other request takes the place of one that
    is gone.

    Signals:
        changed: its rows, their order or the current one.
        opened(bool): it was opened, or left for the grid or the large view.
    """

    changed = Signal()
    opened = Signal(bool)

    def __init__(self, live: LiveRuns) -> None:
        super().__init__(live)
        self._live, self._requests = live, live.open_run.requests
        self.entries = InboxList(live.list, self)
        self.together = GroupDecisions(live.client, live.open_run, live.list, live.notice.emit)
        self.order = InboxOrder.RISK
        self.is_open = False
        self.is_held: Callable[[], bool] = lambda: False
        self.current = ""
        """The key of the current entry, "" for none."""
        self._shown = ""
        """The id of the request whose run is open."""
        self._place = 0
        self._goes = self._settles = self._reopens = False
        self._later: dict[str, int] = {}
        self._single: set[str] = set()
        self._stands: dict[str, tuple[object, ...]] = {}
        self._again = QTimer(self, singleShot=True, interval=LOOK_AGAIN_MS)
        self._again.timeout.connect(self.look)
        for signal in (live.changed, live.delayed_stops.changed, live.hands.idle):
            signal.connect(self.look)
        live.opened.connect(self._on_opened)
        live.client.live_run_changed.connect(self._on_row)
        live.client.request_changed.connect(self._on_request)
        live.client.login_shared.connect(self._on_login)
        self.login_from = ""
        """The run whose log-in was shared last."""

    # ------------------------------------------------------------ what is shown
    @property
    def count(self) -> int:
        """Decisions that are wanted; equal requests count once."""
        return len(self.entries.rows)

    @property
    def entry(self) -> InboxEntry | None:
        return self.entries.at(self.entries.row_of(self.current))

    @property
    def is_empty(self) -> bool:
        """Whether it is open and nothing needs a person."""
        return self.is_open and not self._live.run

    @property
    def place_words(self) -> str:
        """``3 of 7``."""
        row = self.entries.row_of(self.current)
        return tr("{0} of {1}").format(row + 1, self.count) if row >= 0 else ""

    @property
    def order_words(self) -> str:
        return tr(ORDER_WORDS[self.order])

    @property
    def quiet_words(self) -> str:
        """Numbers of runs by state, for an empty inbox: ``3 running · 2 queued``."""
        rows = self._live.list.rows
        alive = [row for row in rows if row.state.alive]
        going, queued = sum(map(is_active, rows)), sum(map(is_queued, rows))
        parts = (
            (going, tr("{0} running")),
            (len(alive) - going - queued, tr("{0} held")),
            (queued, tr("{0} queued")),
            (sum(map(is_ended, rows)), tr("{0} ended")),
        )
        return " · ".join(words.format(count) for count, words in parts if count) or tr("No runs")

    # ------------------------------------------------------------ going about
    def open(self) -> None:
        """Open it at the request of the open run, else where it was left, else at the first."""
        if self.is_open:
            return
        run, self.is_open = self._live.run, True
        self._settle(keep_places=False)
        here = next((entry for entry in self.entries.rows if run in entry.runs), None) if run else None
        self._show(here or self.entry or self.entries.at(0))
        self.opened.emit(True)

    def leave(self) -> None:
        """Leave it; the open run stays open."""
        if self.is_open:
            self.is_open, self._shown = False, ""
            self._requests.want("")
            self.together.show(())
            self.opened.emit(False)
            self.changed.emit()

    def close(self) -> None:
        """Leave it for the grid of runs."""
        if self.is_open:
            self.leave()
            self._live.close()

    def select(self, key: str) -> None:
        entry = self.entries.at(self.entries.row_of(key))
        if self.is_open and not self._settles and entry is not None and key != self.current:
            self._show(entry)

    def move(self, by: int, *, around: bool = False) -> None:
        """Go to the next or previous entry; ``around`` goes from the last to the first."""
        row = self.entries.row_of(self.current) + by
        if self.count:
            row = row % self.count if around else min(max(row, 0), self.count - 1)
            self.select(self.entries.rows[row].key)

    def put_last(self) -> None:
        """Put the current entry last, and go to the next."""
        entry, row = self.entry, self.entries.row_of(self.current)
        if entry is None:
            return
        if self.count == 1:
            self._live.notice.emit(tr("Nothing else needs you"))
            return
        self._later[entry.key] = max(self._later.values(), default=0) + 1
        self.entries.move_row(row, self.count - 1)
        self._show(self.entries.at(row if row < self.count - 1 else 0))
        self.look()

    def toggle_order(self) -> None:
        """Sort by age instead of risk, or the other way round; the current entry stays."""
        self.order = InboxOrder.AGE if self.order is InboxOrder.RISK else InboxOrder.RISK
        self._settle(keep_places=False)
        self._follow()
        self.changed.emit()

    @property
    def can_split(self) -> bool:
        """Whether the current entry is one of equal requests, or stands for them."""
        entry = self.entry
        return self.is_open and entry is not None and (entry.is_single or len(entry.requests) > 1)

    def toggle_single(self) -> None:
        """List equal requests one by one, or together again."""
        entry = self.entry
        if entry is None or not self.can_split:
            return
        (self._single.discard if entry.is_single else self._single.add)(entry.group)
        shown, row = self._shown, self.entries.row_of(entry.key)
        self._settle(keep_places=False)
        here = next((one for one in self.entries.rows if one.holds(shown)), None)
        self._show(here or self.entries.at(row))

    # ------------------------------------------------------------ session
    def session(self) -> dict[str, Any]:
        return {"order": self.order.value, "open": self.is_open}

    def restore(self, saved: object) -> None:
        """Take order and place of a session; malformed values are ignored."""
        if isinstance(saved, Mapping):
            order, is_open = saved.get("order"), saved.get("open")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            self.order = InboxOrder(order) if order in list(InboxOrder) else InboxOrder.RISK
            self._reopens = is_open is True

    # ------------------------------------------------------------ what comes
    def look(self) -> None:
        """Take the open requests as they are now."""
        self._settle(keep_places=self._live.hands.is_busy)
        if self.is_open:
            self._follow()
        elif self._reopens and self._live.is_loaded and not self._live.error:
            self._reopens = False
            self.open()
        self.changed.emit()

    def _on_row(self, event: LiveRunChanged) -> None:
        """A row says most often that a step was done, which changes nothing here."""
        row = event.row
        if self._stands.get(row.run) != (row.needs, row.risk, row.state):
            self.look()

    def _on_request(self, event: RequestChanged) -> None:
        """Say who decided the request that is looked at."""
        request = event.request
        is_here = self.is_open and request.id == self._shown and not self._requests.is_mine(request.id)
        if is_here and request.state is not RequestState.OPEN:
            words = decision_words(request) if request.state is RequestState.DECIDED else request.void
            name = self._live.list.name_of(request.run)
            self._live.notice.emit(f"{name}: {words or tr('this request is closed')}")

    def _on_login(self, event: LoginShared) -> None:
        self.login_from = event.source
        names = ", ".join(self._live.list.number_words(run) or run for run in event.runs)
        self._live.notice.emit(event.words or tr("The log-in is used by {0}").format(names))

    def _on_opened(self, run: str) -> None:
        if self.is_open and run and not self._goes:
            self.leave()

    # ------------------------------------------------------------ inside
    def _settle(self, *, keep_places: bool) -> None:
        live = self._live
        rows = [row for row in live.list.rows if not live.delayed_stops.holds(row.run)]
        self._stands = {row.run: (row.needs, row.risk, row.state) for row in live.list.rows}
        groups = inbox_groups(rows, self.order)
        self._single &= {group.key for group in groups}
        found = [entry for group in groups for entry in self._entries(group)]
        self._later = {entry.key: entry.later for entry in found if entry.later}
        self._settles = True  # a view that loses its current row selects another
        self.entries.settle(sorted(found, key=lambda entry: entry.later), keep_places=keep_places)
        self._settles = False

    def _entries(self, group: RequestGroup) -> Iterable[InboxEntry]:
        if group.key not in self._single:
            later = self._later.get(group.key, 0)
            return [InboxEntry(key=group.key, group=group.key, requests=group.requests, later=later)]
        return [
            InboxEntry(
                key=one.id, group=group.key, requests=(one,), is_single=True, later=self._later.get(one.id, 0)
            )
            for one in group.requests
        ]

    def _follow(self) -> None:
        """Stay at the request that is looked at; go to the next when it is gone and nothing is being typed."""
        entry = self.entry
        shown = (
            next((one for one in entry.requests if one.id == self._shown), None)
            if entry is not None
            else None
        )
        if entry is not None and shown is not None and shown.run == self._live.run:
            self._place = self.entries.row_of(entry.key)
            self.together.show(entry.requests)
        elif self._is_held():
            self._again.start()
        elif entry is not None or self.count or self._live.run:
            self._show(entry or self.entries.at(min(self._place, self.count - 1)))

    def _is_held(self) -> bool:
        row = self._live.row_of(self._live.run)
        if row is not None and has_control(row):
            return True
        return self.is_held() and not self._requests.is_mine(self._shown)

    def _show(self, entry: InboxEntry | None) -> None:
        """Open the run of an entry; ``None`` where nothing needs a person."""
        request = entry.first if entry is not None else None
        if entry is not None:
            request = next((one for one in entry.requests if one.id == self._shown), entry.first)
            self._place = self.entries.row_of(entry.key)
        self.current = entry.key if entry is not None else ""
        self._shown = request.id if request is not None else ""
        self._requests.want(self._shown)
        self.together.show(entry.requests if entry is not None else ())
        self._goes = True
        try:
            if request is not None:
                self._live.open(request.run)
            else:
                self._live.close()
        finally:
            self._goes = False
        self.changed.emit()


# ------------------------------------------------------------------------------------------------ words


def entry_words(entry: InboxEntry) -> str:
    """Return what is asked, in one line: ``4 runs wait at this log-in``."""
    first, count = entry.first, len(entry.runs)
    is_login = is_login_wall(first)
    if count > 1:
        words = "{0} runs wait at this log-in" if is_login else _MANY[first.need]
        return tr(words).format(count, first.words or first.question)
    if first.need is Need.WALL:
        return tr("Blocked by a log-in") if is_login else tr("Blocked by a captcha")
    return first.words if first.need is Need.APPROVAL and first.words else first.question


def age_words(request: ApprovalRequest, now: float | None = None) -> str:
    """Return how long a request has been open: ``12 s``, ``3 min``, ``2 h``, ``4 d``."""
    seconds = max(0, int((time.time() if now is None else now) - request.opened_at))
    for unit, size in ((tr("{0} d"), 86_400), (tr("{0} h"), 3_600), (tr("{0} min"), 60)):
        if seconds >= size:
            return unit.format(seconds // size)
    return tr("{0} s").format(seconds)
