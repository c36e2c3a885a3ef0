"""The open state: its details, loaded again when its graph changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.core.page_state import Challenge
from app.models.common.page import ScreenshotStore
from app.models.common.tasks import ignore
from app.models.graph.node_lists import (
    ElementListModel,
    ElementRow,
    PassingRunListModel,
    TransitionListModel,
    element_rows,
    element_words,
    passing_runs,
    transition_rows,
)
from app.models.review.relevant_tips import RelevantTip, RelevantTipListModel

if TYPE_CHECKING:
    from app.engine.api.graph_api import NodeDetail
    from app.engine.api.run_rows import RunRow
    from app.engine.core.events import GraphChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

__all__ = ["Challenge", "DetailState", "NodeDetailModel"]

SLOW_MS = 200
"""After this time the panel says that it is loading; a quicker answer replaces the old state directly."""
REFRESH_MS = 400
"""Shortest time between two loads of a growing graph's open state."""
MAX_TIPS = 40
PICTURES = 48 << 20
"""Bytes of decoded screenshots kept."""


class DetailState(StrEnum):
    """State of the panel."""

    EMPTY = "empty"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class _Read:
    """A loaded state, its elements as rows, and each element's searchable text."""

    detail: NodeDetail
    elements: tuple[ElementRow, ...]
    words: tuple[str, ...]


class NodeDetailModel(QObject):
    """One state of one site.

    Signals:
        changed: another state, or other details of this one.
        element_changed: another element is selected.
        lists_changed: rows were added to or removed from a list.
    """

    changed = Signal()
    element_changed = Signal()
    lists_changed = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.elements = ElementListModel(self)
        self.outgoing = TransitionListModel(self)
        self.incoming = TransitionListModel(self)
        self.runs = PassingRunListModel(self)
        self.tips = RelevantTipListModel(self)
        self.pictures = ScreenshotStore(client, tasks, self, keep=PICTURES)
        self.site = self.node = self.error = ""
        self.state = DetailState.EMPTY
        self.detail: NodeDetail | None = None
        self.status: str | None = None
        """Only elements that stand so are listed; ``None`` lists all."""
        self.search = ""
        self.element = -1
        """Number of the selected element, -1 for none."""
        self.all_elements: list[ElementRow] = []
        self._words: Sequence[str] = ()
        self._known_runs: dict[str, RunRow] | None = None
        self._known_tips: dict[str, RelevantTip] = {}
        self._asking = False
        self._again = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._again.timeout.connect(self._on_again)
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._slow.timeout.connect(self._on_slow)
        client.graph_changed.connect(self._on_graph)
        client.runs_changed.connect(self._on_runs)
        client.knowledge_changed.connect(self._on_knowledge)

    # ------------------------------------------------------------ which state
    def show(self, site: str, node: str) -> None:
        """Show a state; "" for none."""
        if not node:
            self.clear()
            return
        if (site, node) == (self.site, self.node) and self.state is not DetailState.FAILED:
            return
        if site != self.site:
            self._known_runs = None
        self.site, self.node, self.error = site, node, ""
        self._slow.start()
        self._ask()

    def clear(self) -> None:
        self._slow.stop()
        self._again.stop()
        self._asking = False
        for key in ("map-node", "map-node-runs", "map-node-tips"):
            self._tasks.cancel(key)
        self.node = self.error = ""
        self.detail, self.state = None, DetailState.EMPTY
        self._fill([])
        self.changed.emit()

    def refresh(self) -> None:
        if self.node:
            self._ask()

    # ------------------------------------------------------------ its elements
    def count(self, status: str | None) -> int:
        """Return the number of elements with a status; ``None`` counts all."""
        if status is None:
            return len(self.all_elements)
        return sum(row.status == status for row in self.all_elements)

    def filter(self, status: str | None, search: str) -> None:
        """List the elements with this status whose role, name, address or reason has the words."""
        self.status, self.search = status, search
        self._list_elements()
        self.element_changed.emit()

    def select_element(self, number: int) -> None:
        """Outline an element in the picture; -1 for none."""
        if number != self.element:
            self.element = number
            self.element_changed.emit()

    @property
    def selected(self) -> ElementRow | None:
        return self.all_elements[self.element] if 0 <= self.element < len(self.all_elements) else None

    def element_at(self, x: float, y: float) -> int:
        """Return the number of the smallest element at a point of the picture, in CSS pixels; -1 for none."""
        under = [
            (rect[2] * rect[3], row.number)
            for row in self.all_elements
            if (rect := row.element.rect) is not None
            and rect[0] <= x <= rect[0] + rect[2]
            and rect[1] <= y <= rect[1] + rect[3]
        ]
        return min(under)[1] if under else -1

    # ------------------------------------------------------------ asking and answers
    def _ask(self) -> None:
        self._asking = True
        work = self._fetch(self.site, self.node)
        self._tasks.start(work, self._on_loaded, self._failed, key="map-node")

    async def _fetch(self, site: str, node: str) -> _Read:
        detail = await self._client.api.graph_node(site, node)
        return await asyncio.to_thread(_read, detail)  # slow for thousands of elements

    def _ask_soon(self) -> None:
        if self.node and not self._again.isActive():
            self._again.start()

    def _on_again(self) -> None:
        if self._asking:  # a slow answer is kept although a newer request came
            self._again.start()
        elif self.node:
            self._ask()

    def _on_loaded(self, read: _Read) -> None:
        self._slow.stop()
        self._asking = False
        detail = read.detail
        same = self.detail is not None and self.detail.row.id == detail.row.id
        self.detail, self.state, self.error = detail, DetailState.READY, ""
        self._fill(read.elements, read.words, same=same)
        for rows in (self.outgoing, self.incoming, self.runs, self.tips):
            if not same:
                rows.replace([])
        self.outgoing.merge(transition_rows(detail.outgoing, detail.titles, outgoing=True))
        self.incoming.merge(transition_rows(detail.incoming, detail.titles, outgoing=False))
        self.runs.merge(passing_runs(detail.runs, self._known_runs or {}))
        self._ask_runs()
        self._ask_tips()
        self.changed.emit()
        self.lists_changed.emit()

    def _failed(self, error: Exception) -> None:
        self._slow.stop()
        self._asking = False
        self.detail, self.state, self.error = None, DetailState.FAILED, str(error) or type(error).__name__
        self._fill([])
        self.changed.emit()

    def _fill(self, elements: Sequence[ElementRow], words: Sequence[str] = (), *, same: bool = False) -> None:
        before = self.selected
        self.all_elements, self._words = list(elements), words
        if not elements:
            for rows in (self.outgoing, self.incoming, self.runs, self.tips):
                rows.replace([])
        self._list_elements(anew=not same)
        kept = -1
        if same and before is not None:  # a new capture has the same element in another row
            alike = (row.number for row in elements if _same_state(row, before))
            kept = min(alike, key=lambda number: abs(number - before.number), default=-1)
        self.element = kept
        self.element_changed.emit()

    def _list_elements(self, *, anew: bool = True) -> None:
        words = self.search.lower().split()
        rows = [
            row
            for row, said in zip(self.all_elements, self._words, strict=True)
            if self.status in (None, row.status) and all(word in said for word in words)
        ]
        (self.elements.replace if anew else self.elements.merge)(rows)
        self.lists_changed.emit()

    def _ask_runs(self) -> None:
        if self.detail is None or not self.detail.runs or self._known_runs is not None:
            return
        from app.engine.api.run_rows import RunFilter

        def came(rows: list[RunRow]) -> None:
            self._known_runs = {row.id: row for row in rows}
            if self.detail is not None:
                self.runs.merge(passing_runs(self.detail.runs, self._known_runs))

        self._tasks.start(self._client.api.list_runs(RunFilter()), came, ignore, key="map-node-runs")

    def _ask_tips(self) -> None:
        tips = self.detail.tips[:MAX_TIPS] if self.detail is not None else ()

        def came(rows: list[RelevantTip]) -> None:
            self.tips.merge(rows)
            self.lists_changed.emit()

        self._tasks.start(self._fetch_tips(tips), came, ignore, key="map-node-tips")

    async def _fetch_tips(self, tips: tuple[str, ...]) -> list[RelevantTip]:
        rows: list[RelevantTip] = []
        for tip in tips:
            if tip not in self._known_tips:
                found = await self._client.api.tip(tip)
                self._known_tips[tip] = RelevantTip(
                    tip=found.id, text=found.text, role="applies here", status=found.status.value
                )
            rows.append(self._known_tips[tip])
        return rows

    def _on_slow(self) -> None:
        self.detail, self.state = None, DetailState.LOADING
        self._fill([])
        self.changed.emit()

    def _on_graph(self, event: GraphChanged) -> None:
        if event.site == self.site:
            self._ask_soon()

    def _on_runs(self, _event: object) -> None:
        self._known_runs = None
        self._ask_soon()

    def _on_knowledge(self, _event: object) -> None:
        self._known_tips.clear()
        self._ask_soon()


def _read(detail: NodeDetail) -> _Read:
    rows = tuple(element_rows(detail))
    return _Read(detail, rows, tuple(f"{element_words(row)} {row.element.href}".lower() for row in rows))


def _same_state(one: ElementRow, other: ElementRow) -> bool:
    a, b = one.element, other.element
    return (a.role, a.name, a.href, a.landmarks, a.frame) == (b.role, b.name, b.href, b.landmarks, b.frame)
