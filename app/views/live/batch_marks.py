"""Signs, colours and the progress bar of batches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyleOptionViewItem, QWidget

from app.models.common.translate import tr
from app.models.live.batch_list import BatchRow, BatchState, TaskState, batch_parts, time_left_words
from app.models.live.batch_words import progress_words
from app.views.widgets.rows import RowContent, RowDelegate, RowStyle, Span, line, plain, small
from app.views.widgets.signs import icon_sign

if TYPE_CHECKING:
    from app.engine.core.batch import BatchTask
    from app.views.frame.theme import Theme

BATCH = RowStyle(margins=(12, 4, 12, 4), height=62, ruled=True)
TASK_MARKS: dict[TaskState, tuple[str, str]] = {
    TaskState.WAITING: ("timer-sand", "muted"),
    TaskState.ACTIVE: ("play-outline", "live"),
    TaskState.NEEDS_PERSON: ("bell-ring-outline", "warn"),
    TaskState.ANSWERED: ("check-bold", "ok"),
    TaskState.FAILED: ("close-circle-outline", "fail"),
    TaskState.STOPPED: ("stop", "muted"),
}
"""Icon and colour role of a task's state."""
BATCH_ROLES: dict[BatchState, str] = {
    BatchState.ACTIVE: "live",
    BatchState.PAUSED: "muted",
    BatchState.OUT_OF_BUDGET: "warn",
    BatchState.STOPPED: "muted",
    BatchState.ENDED: "ok",
}
BAR = (0.0, 6.0)
"""Size of the bar of a row, which is as wide as its line."""
LEAST_PART = 3
"""Width of a part of the progress bar at least, in pixels at 100 % text size."""


def batch_row(row: BatchRow) -> RowContent:
    """Name and state; the bar; progress in words and the time left."""
    state = small(tr(row.state.value), BATCH_ROLES[row.state], bold=True)
    bar = Span(sign=lambda painter, box, theme: paint_parts(painter, box, theme, row), size=BAR)
    return RowContent(
        lines=(
            line(plain(row.name, bold=True), right=state),
            line(bar),
            line(small(progress_words(row)), right=small(time_left_words(row))),
        )
    )


def task_cell(task: BatchTask, column: str, text: str) -> Span:
    """A cell of the table of tasks."""
    icon, role = TASK_MARKS[task.state]
    if column == "state":
        return Span(text=text, role=role, plain=True, sign=icon_sign(icon, role), size=(14, 14))
    waits = task.state is TaskState.WAITING
    return plain(text, "muted" if waits or column in ("number", "outcome") else "text")


def paint_parts(painter: QPainter, box: QRectF, theme: Theme, row: BatchRow) -> None:
    """Paint a part for each state, as wide as its share; failed ones are hatched."""
    parts = batch_parts(row)
    least = theme.px(LEAST_PART)
    room = box.width() - least * len(parts)
    left, total = box.left(), max(row.total, 1)
    painter.save()
    painter.setPen(Qt.PenStyle.NoPen)
    for part in parts:
        width = least + max(room, 0) * part.count / total
        place = QRectF(left, box.top(), max(width - 1, 1), box.height())
        role = "line" if part.state is TaskState.WAITING else TASK_MARKS[part.state][1]
        painter.fillRect(place, theme.color(role))
        if part.state is TaskState.FAILED:
            painter.fillRect(place, QBrush(theme.color("raised"), Qt.BrushStyle.BDiagPattern))
        left += width
    painter.restore()


class BatchDelegate(RowDelegate[BatchRow]):
    """Paints a batch; its bar takes the whole line."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, batch_row, BATCH, parent)

    def paint_span(self, painter: QPainter, option: QStyleOptionViewItem, box: QRectF, span: Span) -> float:
        if span.size == BAR:
            span = replace(span, size=(box.width() / self._theme.zoom, BAR[1]))
        return super().paint_span(painter, option, box, span)


class BatchBar(QWidget):
    """The progress of a batch as one bar; its words stand beside it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._row: BatchRow | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_row(self, row: BatchRow) -> None:
        self._row = row
        self.setAccessibleName(self.tr("Progress: {0}").format(progress_words(row)))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(120), self._theme.px(10))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row is not None:
            painter = QPainter(self)
            if self.isRightToLeft():
                painter.translate(self.width(), 0)
                painter.scale(-1, 1)
            paint_parts(painter, QRectF(self.rect()), self._theme, self._row)
            painter.end()
