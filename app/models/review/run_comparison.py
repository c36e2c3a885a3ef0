"""Two runs side by side: the runs to choose from, their rows, and the pages of the current row."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.engine_api import PageView, RunDetail
from app.engine.api.review_api import RunAlignment, SimilarRun
from app.models.common.page import PageModel
from app.models.common.translate import tr
from app.models.review.comparison_rows import LEFT, RIGHT, ComparedRow, ComparedRowList, compared_rows

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.page import ScreenshotStore
    from app.models.common.step_views import StepViews
    from app.models.common.tasks import Tasks

MANY = 12
"""Runs to choose from at most."""


class ComparisonState(StrEnum):
    """State of side by side."""

    CLOSED = "closed"
    LOADING = "loading"
    NOTHING_ALIKE = "nothing alike"
    READY = "ready"
    ERROR = "error"


class ComparisonModel(QObject):
    """The comparison that is open.  The left run is the one that Review shows.

    Signals:
        changed: state, runs, rows or error changed.
        row_changed: another row or side is current.
        pages_changed: the pages of the current row arrived or failed.
        open_wanted(run, step): show a step in Review.
        tip_wanted(run, step): write a tip from a step.
        paths_wanted(left, right, parting): show both runs on the map.
    """

    changed = Signal()
    row_changed = Signal()
    pages_changed = Signal()
    open_wanted = Signal(str, int)
    tip_wanted = Signal(str, int)
    paths_wanted = Signal(object, object, str)
    notice = Signal(str)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        views: StepViews,
        pictures: ScreenshotStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._views = client, tasks, views
        self.pictures = pictures
        self.rows = ComparedRowList(self)
        self.pages = (PageModel(self), PageModel(self))
        self.remarks = ["", ""]
        """Why a side shows no page."""
        self.shown = [-1, -1]
        """The step whose page each side shows: that of the row, or the next one of a run that has none there."""
        self.state, self.error = ComparisonState.CLOSED, ""
        self.candidates: tuple[SimilarRun, ...] = ()
        self.left = self.right = ""
        self.details: tuple[RunDetail, RunDetail] | None = None
        self.alignment: RunAlignment | None = None
        self.row = -1
        self.side = LEFT
        self.with_failed = False
        views.arrived.connect(self._on_view)
        views.failed.connect(self._on_view_failed)

    # ------------------------------------------------------------ what is shown
    @property
    def is_open(self) -> bool:
        return self.state is not ComparisonState.CLOSED

    @property
    def current(self) -> ComparedRow | None:
        return self.rows.at(self.row)

    @property
    def runs(self) -> tuple[str, str]:
        return self.left, self.right

    @property
    def parting(self) -> int:
        """The row at which they first part, -1 for none."""
        return self.alignment.parting if self.alignment is not None else -1

    @property
    def sentence(self) -> str:
        """How they part, in one sentence."""
        if self.alignment is None:
            return ""
        if self.alignment.parting < 0:
            return self.alignment.why or tr("Both runs did the same on the same pages.")
        return self.alignment.why or tr("They part in row {0}.").format(self.alignment.parting + 1)

    def tips_words(self, side: int) -> str:
        """The tips that only this run was shown, in words; "" where both saw the same."""
        found = self.alignment
        if found is None or not (found.tips_left or found.tips_right):
            return ""
        mine = found.tips_right if side == RIGHT else found.tips_left
        if not mine:
            return tr("without the other run's tips")
        names = ", ".join(mine)
        return (
            tr("with tip {0}, which the other run was not shown").format(names)
            if len(mine) == 1
            else tr("with tips {0}, which the other run was not shown").format(names)
        )

    # ------------------------------------------------------------ opening
    def begin(self, run: str) -> None:
        """Look for runs to show beside this one, and show the first."""
        self._reset(run)
        self._look()

    def compare(self, left: str, right: str) -> None:
        """Show two chosen runs."""
        if not left or not right or left == right:
            self.notice.emit(tr("Choose two runs to compare."))
            return
        self._reset(left)
        self._align(right)

    def choose(self, run: str) -> None:
        """Show another of the candidates at the right."""
        if run and run != self.right:
            self._align(run)

    def choose_other(self, offset: int) -> None:
        """Show the next or previous candidate, around the ends."""
        ids = [one.id for one in self.candidates]
        if len(ids) > 1:
            here = ids.index(self.right) if self.right in ids else 0
            self.choose(ids[(here + offset) % len(ids)])

    def toggle_failed(self) -> None:
        """Look among failed runs too, or among passed ones only."""
        if self.left:
            self.with_failed = not self.with_failed
            self._look()

    def close(self) -> None:
        """End the comparison; Review shows what it showed before."""
        if self.is_open:
            self._tasks.cancel("compare-look")
            self._tasks.cancel("compare-align")
            self._clear()
            self.state, self.left = ComparisonState.CLOSED, ""
            self.changed.emit()

    # ------------------------------------------------------------ rows
    def show_row(self, row: int) -> None:
        """Make a row current and show its pages."""
        row = max(0, min(row, len(self.rows.rows) - 1))
        if self.rows.rows and row != self.row:
            self.row = row
            self._show_pages()
            self.row_changed.emit()

    def go(self, offset: int) -> None:
        self.show_row(self.row + offset)

    def go_parting(self) -> None:
        if self.parting >= 0:
            self.show_row(self.parting)
        else:
            self.notice.emit(tr("The runs do not part."))

    def choose_side(self, side: int) -> None:
        """Choose the run that opening and tips mean."""
        if side != self.side:
            self.side = side
            self.row_changed.emit()

    def place(self, side: int | None = None) -> tuple[str, int]:
        """Run and step of the current row at a side; the other side's where this one has none."""
        side, row = self.side if side is None else side, self.current
        if row is None:
            return "", -1
        if row.step(side) < 0:
            side = 1 - side
        return self.runs[side], row.step(side)

    def open_step(self) -> None:
        """Open the current step in Review."""
        run, step = self.place()
        if run:
            self.open_wanted.emit(run, step)

    def open_other(self) -> None:
        """Open the right run, which is the one Review does not show, at the current row."""
        run, step = self.place(RIGHT)
        if run:
            self.open_wanted.emit(run, step)

    def write_tip(self) -> None:
        run, step = self.place()
        if run:
            self.tip_wanted.emit(run, step)

    def show_paths(self) -> None:
        """Ask for both paths on the map, with the address at which they part."""
        if self.details is None:
            return
        left, right = self.details
        row = self.rows.at(self.parting)
        side = RIGHT if row is not None and row.left < 0 else LEFT
        at = row.step(side) if row is not None else -1
        steps = self.details[side].steps
        self.paths_wanted.emit(left, right, steps[at].url if 0 <= at < len(steps) else "")

    # ------------------------------------------------------------ inside
    def _reset(self, left: str) -> None:
        self._tasks.cancel("compare-look")
        self._tasks.cancel("compare-align")
        self._clear()
        self.left, self.with_failed = left, False

    def _clear(self) -> None:
        self.right, self.error, self.row, self.side = "", "", -1, LEFT
        self.details, self.alignment, self.candidates = None, None, ()
        self.remarks = ["", ""]
        self.rows.replace([])
        for page in self.pages:
            page.show(None)

    def _look(self) -> None:
        self.state, self.error = ComparisonState.LOADING, ""
        self.changed.emit()
        passed = not self.with_failed

        def came(found: list[SimilarRun]) -> None:
            self.candidates = tuple(found)
            if not found:
                self.right, self.details, self.alignment, self.row = "", None, None, -1
                self.rows.replace([])
                self.state = ComparisonState.NOTHING_ALIKE
                self.changed.emit()
                return
            known = self.right if any(one.id == self.right for one in found) else found[0].id
            self._align(known)

        self._tasks.start(
            self._client.api.similar_runs(self.left, passed, MANY), came, self._failed, key="compare-look"
        )

    def _align(self, right: str) -> None:
        left, self.right = self.left, right
        self.state, self.error = ComparisonState.LOADING, ""
        self.changed.emit()

        async def fetch() -> tuple[RunDetail, RunDetail, RunAlignment]:
            api = self._client.api
            one, other, alignment = await asyncio.gather(
                api.open_run(left), api.open_run(right), api.align_runs(left, right)
            )
            return one, other, alignment

        def came(answer: tuple[RunDetail, RunDetail, RunAlignment]) -> None:
            one, other, alignment = answer
            self.details, self.alignment = (one, other), alignment
            self.rows.replace(list(compared_rows(alignment, one, other)))
            self.state, self.row = ComparisonState.READY, -1
            self.changed.emit()
            self.show_row(max(alignment.parting, 0))

        self._tasks.start(fetch(), came, self._failed, key="compare-align")

    def _failed(self, error: Exception) -> None:
        self.state, self.error = ComparisonState.ERROR, str(error) or type(error).__name__
        self.changed.emit()

    def _show_pages(self) -> None:
        row = self.current
        if row is None:
            return
        for side, page in enumerate(self.pages):
            at, run = self._step_shown(side), self.runs[side]
            self.shown[side] = at
            view = self._views.get(run, at) if at >= 0 else None
            self.remarks[side] = tr("This run has no step here or later.") if at < 0 else ""
            page.show(plain_page(view.before) if view is not None else None)
            if at >= 0 and view is None:
                self._views.fetch(run, at)
        self._views.fetch_ahead(self._near())
        self.pages_changed.emit()

    def _step_shown(self, side: int) -> int:
        """The step of the current row, else the next one of this run, -1 for none."""
        return next((row.step(side) for row in self.rows.rows[self.row :] if row.step(side) >= 0), -1)

    def _near(self) -> dict[tuple[str, int], None]:
        """The steps of the neighbouring rows."""
        found: dict[tuple[str, int], None] = {}
        for row in (self.rows.at(self.row + 1), self.rows.at(self.row - 1)):
            for side, run in enumerate(self.runs):
                if row is not None and row.step(side) >= 0:
                    found[run, row.step(side)] = None
        return found

    def _on_view(self, run: str, index: int) -> None:
        for side in self._sides_at(run, index):
            view = self._views.get(run, index)
            if view is not None and self.pages[side].page is None:
                self.pictures.want(view.before.screenshot)
                self.pages[side].show(plain_page(view.before))
                self.pages_changed.emit()

    def _on_view_failed(self, run: str, index: int, error: str) -> None:
        for side in self._sides_at(run, index):
            self.remarks[side] = error
            self.pages_changed.emit()

    def _sides_at(self, run: str, index: int) -> list[int]:
        if self.current is None:
            return []
        return [side for side in (LEFT, RIGHT) if (self.runs[side], self.shown[side]) == (run, index)]


def plain_page(page: PageView) -> PageView:
    """Return a page without the marks of what its step changed, which say nothing about the other run."""
    return replace(
        page,
        lines=tuple(line if line.change == "same" else replace(line, change="same") for line in page.lines),
    )
