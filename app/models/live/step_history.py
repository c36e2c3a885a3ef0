"""Past steps of a live run, looked at without disturbing it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.core.supervision import RunState
from app.models.common.page import ScreenshotStore
from app.models.common.step_list import SEVERITY_RANK, StepListModel, StepMark
from app.models.common.step_views import StepViews
from app.models.common.translate import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from app.engine.api.engine_api import StepView
    from app.engine.api.live_api import LiveRunDetail
    from app.engine.core.supervision import LiveRow, RaisedFlag
    from app.engine.core.trajectory import Step
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

CACHE_SIZE = 48 << 20
"""Bytes of decoded pictures: about a dozen pages."""
PREFETCH = 2
"""Steps loaded on each side of the one being viewed."""


class StepHistory(QObject):
    """The steps of the open run and the one being viewed; ``None`` is the live page.

    Signals:
        changed: another step is viewed, or its page was loaded.
    """

    changed = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.steps = StepListModel(self)
        self.views = StepViews(client, tasks, self)
        self.pictures = ScreenshotStore(client, tasks, self, keep=CACHE_SIZE)
        self.run = ""
        self.index: int | None = None
        self.error = ""
        self.views.arrived.connect(self._arrived)
        self.views.failed.connect(self._missed)
        self.pictures.ready.connect(self._picture)

    # ------------------------------------------------------------ what there is
    def open(self, run: str) -> None:
        if run == self.run:
            return
        self.views.forget(self.run)
        self.run, self.index, self.error = run, None, ""
        self.steps.replace([])
        self.changed.emit()

    def fill(self, detail: LiveRunDetail) -> None:
        if detail.row.run == self.run:
            self.steps.merge(step_marks(detail.steps, detail.row.flags), keep_places=True)
            if self.index is None:
                self.changed.emit()

    def grow(self, row: LiveRow) -> None:
        """Update after a step of the run or a flag on one."""
        if row.run != self.run:
            return
        have, flags = len(self.steps.rows), _by_step(row.flags)
        marks = [_flagged(mark, flags.get(mark.index, [])) for mark in self.steps.rows]
        if row.step == have + 1 and row.words:
            words = row.words if row.state is not RunState.TAKEN_OVER else by_hand(row.words)
            marks.append(_flagged(StepMark(index=have, words=words), flags.get(have, [])))
        elif row.step > have:
            self._tasks.start(self._client.api.live_run(row.run), self.fill, key="live-replay")
        self.steps.merge(marks, keep_places=True)

    # ------------------------------------------------------------ what is looked at
    @property
    def view(self) -> StepView | None:
        """The step's page, ``None`` while it loads and for the live page."""
        return None if self.index is None else self.views.get(self.run, self.index)

    @property
    def mark(self) -> StepMark | None:
        return None if self.index is None else self.steps.at(self.steps.row_of(self.index))

    @property
    def last_image(self) -> QImage | None:
        """The last step's screenshot, for a run without a page; ``changed`` is emitted when it is loaded."""
        last = self.last
        view = self.views.get(self.run, last) if last is not None else None
        if view is None:
            if last is not None:
                self.views.fetch(self.run, last)
            return None
        return self.pictures.get(view.before.screenshot) if view.before.screenshot else None

    @property
    def last(self) -> int | None:
        """The newest recorded step."""
        rows = self.steps.rows
        return rows[-1].index if rows else None

    def go(self, index: int) -> None:
        if index == self.index or self.steps.row_of(index) < 0:
            return
        self.index, self.error = index, ""
        self.views.fetch(self.run, index)
        near = (index + side * by for by in range(1, PREFETCH + 1) for side in (-1, 1))
        self.views.fetch_ahead((self.run, one) for one in near if self.steps.row_of(one) >= 0)
        self.changed.emit()

    def back(self) -> None:
        """View the previous step; from the live page the last step."""
        rows = self.steps.rows
        if rows:
            row = len(rows) if self.index is None else self.steps.row_of(self.index)
            self.go(rows[max(row - 1, 0)].index)

    def on(self) -> None:
        """View the next step; after the last one the live page."""
        if self.index is None:
            return
        later = self.steps.at(self.steps.row_of(self.index) + 1)
        self.live() if later is None else self.go(later.index)

    def live(self) -> None:
        if self.index is not None:
            self.index, self.error = None, ""
            self.changed.emit()

    def close(self) -> None:
        self.pictures.close()

    def _arrived(self, run: str, index: int) -> None:
        if run == self.run and index in (self.index, self.last):
            self.changed.emit()

    def _missed(self, run: str, index: int, words: str) -> None:
        if (run, index) == (self.run, self.index):
            self.error = words
            self.changed.emit()

    def _picture(self, digest: str) -> None:
        shown = self.last if self.index is None else self.index
        view = self.views.get(self.run, shown) if shown is not None else None
        if view is not None and view.before.screenshot == digest:
            self.changed.emit()


def step_marks(steps: Iterable[Step], flags: Iterable[RaisedFlag]) -> list[StepMark]:
    """Return one mark a step, with the flags raised at it, the most severe first."""
    by_step = _by_step(flags)
    return [
        _flagged(
            StepMark(
                index=step.index,
                words=by_hand(step.words) if step.by else step.words,
                trouble=step.error_class.value,
                executed=step.executed,
            ),
            by_step.get(step.index, []),
        )
        for step in steps
    ]


def by_hand(words: str) -> str:
    """Describe what a person did during a takeover."""
    return tr("by hand: {0}").format(words)


def _by_step(flags: Iterable[RaisedFlag]) -> dict[int, list[RaisedFlag]]:
    found: dict[int, list[RaisedFlag]] = {}
    for flag in flags:
        found.setdefault(flag.step, []).append(flag)
    return found


def _flagged(mark: StepMark, flags: list[RaisedFlag]) -> StepMark:
    if not flags:
        return mark
    worst = sorted(flags, key=lambda flag: -SEVERITY_RANK[flag.severity])
    return replace(mark, severity=worst[0].severity.value, flags=tuple(flag.message for flag in worst))
