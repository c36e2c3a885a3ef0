"""The wall as a list: a line a run with columns, and the page of the current run beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QRegion, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyleOptionViewItem, QWidget

from app.models.common.object_list import OBJECT_ROLE
from app.models.live.run_list import (
    clock_words,
    flag_words,
    is_queued,
    need_words,
    page_status,
    state_words,
    status_line,
)
from app.models.live.wall_figures import is_near_limit, money_words, run_token_words
from app.models.live.wall_list import GroupHeading
from app.views.live.paint_cache import PaintCache
from app.views.live.run_views import RunView
from app.views.live.state_marks import state_role, state_sign
from app.views.live.tile import paint_heading
from app.views.widgets.build import vbox
from app.views.widgets.rows import Span, SpanDelegate, aligned, placed, plain, small
from app.views.widgets.signs import SEVERITY_ROLE, elided, paint_ground, severity_sign

if TYPE_CHECKING:
    from app.engine.core.supervision import LiveRow
    from app.models.live.model import LiveModel
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ROW, HEAD = 28, 26
"""Heights of a row and of the column titles, in pixels at 100 % text size."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of the list.

    Attributes:
        width: in pixels at 100 % text size; 0 for a share of the rest.
        rank: columns of the highest rank are left out first where room is short.
    """

    key: str
    width: int = 0
    rank: int = 0
    numeric: bool = False


COLUMNS = (
    TableColumn("number", 38, numeric=True),
    TableColumn("state", 126),
    TableColumn("task"),
    TableColumn("site", 96, 3),
    TableColumn("batch", 96, 5),
    TableColumn("step", 66, 1, numeric=True),
    TableColumn("time", 62, 1, numeric=True),
    TableColumn("tokens", 112, 4, numeric=True),
    TableColumn("cost", 118, 2, numeric=True),
    TableColumn("risk", 44, 4, numeric=True),
    TableColumn("last"),
)
LEAST_TEXT = 170
"""Room for the task and for what is last, each, before columns are left out."""


def column_title(key: str) -> str:
    translate = QCoreApplication.translate
    return {
        "number": "#",
        "state": translate("live", "State"),
        "task": translate("live", "Task"),
        "site": translate("live", "Site"),
        "batch": translate("live", "Batch"),
        "step": translate("live", "Step"),
        "time": translate("live", "Time"),
        "tokens": translate("live", "Tokens"),
        "cost": translate("live", "Cost"),
        "risk": translate("live", "Risk"),
        "last": translate("live", "Need, flag, or last action"),
    }[key]


class TableDelegate(SpanDelegate):
    """Paints the columns of a run, or a heading over the whole line."""

    def __init__(self, model: LiveModel, theme: Theme, view: QWidget) -> None:
        super().__init__(theme, view)
        self._model = model
        self._parts = PaintCache(theme)
        self.dirty: QRegion | None = None
        """The part of the view that is being painted; what lies outside is skipped."""
        self.columns: list[tuple[TableColumn, QRectF]] = []
        """Columns of that painting and where they stand."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, self._theme.px(ROW))

    def places(self, room: QRectF) -> list[tuple[TableColumn, QRectF]]:
        """Return the visible columns and where they stand."""
        px = self._theme.px
        rows = self._model.list.rows
        empty = {"batch": not any(row.batch for row in rows), "tokens": not any(row.tokens for row in rows)}
        empty["cost"] = all(row.cost is None for row in rows)
        shown = [column for column in COLUMNS if not empty.get(column.key, False)]

        def left() -> float:
            return room.width() - sum(px(column.width) for column in shown)

        for rank in range(max(column.rank for column in COLUMNS), 0, -1):
            if left() >= 2 * px(LEAST_TEXT):
                break
            shown = [column for column in shown if column.rank < rank]
        wide, at, found = max(left() / 2, px(40)), room.left(), list[tuple[TableColumn, QRectF]]()
        for column in shown:
            width = px(column.width) if column.width else wide
            found.append((column, QRectF(at, room.top(), width, room.height())))
            at += width
        return found

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: LiveRow | GroupHeading | None = index.data(OBJECT_ROLE)
        if row is None or not self._is_dirty(option.rect):
            return
        painter.save()
        if isinstance(row, GroupHeading):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setLayoutDirection(option.direction)
            paint_heading(painter, option, self._theme, row)
        else:
            self._paint_run(painter, option, row)
        painter.restore()

    def _paint_run(self, painter: QPainter, option: QStyleOptionViewItem, row: LiveRow) -> None:
        theme, px = self._theme, self._theme.px
        paint_ground(painter, option, theme)
        if option.state & QStyle.StateFlag.State_Selected:
            bar = QRectF(option.rect.left(), option.rect.top(), px(3), option.rect.height())
            painter.fillRect(placed(option, bar), theme.color("accent"))
        columns = self.columns or self.places(QRectF(option.rect))
        look = tuple((column.key, place.left()) for column, place in columns)

        def cells(inner: QPainter, box: QRect, run: LiveRow, *, time: bool = False) -> None:
            cell = QStyleOptionViewItem(option)
            cell.rect = box
            for column, place in columns:
                if (column.key == "time") is time:
                    self._paint_cell(inner, cell, column, place, run)

        self._parts.paint(painter, "cells", option.rect, row, cells, look)
        cells(painter, option.rect, row, time=True)
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())

    def _paint_cell(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        column: TableColumn,
        place: QRectF,
        row: LiveRow,
    ) -> None:
        px, rect = self._theme.px, option.rect
        span = self._cell(column.key, row)
        inner = QRectF(rect.left() + place.left(), rect.top(), place.width(), rect.height())
        inner.adjust(px(8), 0, -px(8), 0)
        if column.numeric:
            inner.setLeft(max(inner.left(), inner.right() - self.width_of(span)))
        if span.text or span.sign:
            self.paint_span(painter, option, inner, span)

    def _is_dirty(self, box: QRect) -> bool:
        return self.dirty is None or self.dirty.intersects(box)

    def _cell(self, key: str, row: LiveRow) -> Span:
        match key:
            case "number":
                return small(str(self._model.list.numbers.of(row.run)), bold=True)
            case "state":
                return small(
                    state_words(row),
                    state_role(row),
                    bold=True,
                    sign=state_sign(row),
                    size=(15, 15),
                )
            case "task":
                return plain(row.intent)
            case "step":
                return small(f"{row.step}/{row.max_steps}" if row.max_steps else str(row.step))
            case "time":
                return small("" if is_queued(row) else clock_words(self._model.list.elapsed(row)))
            case "tokens":
                return small(run_token_words(row))
            case "cost":
                near = is_near_limit(row)
                sign = severity_sign("warning") if near else None
                return small(money_words(row), "warn" if near else "muted", sign=sign, size=(9, 9))
            case "risk":
                return small(f"{row.risk:.2f}" if row.risk else "", "fail" if row.risk >= 0.5 else "muted")
            case "last":
                return _last(row)
            case _:
                names = {"site": row.site, "batch": self._model.wall.batch_name(row.batch)}
                return small(names[key])


def _last(row: LiveRow) -> Span:
    """The need, else the newest flag, else what the run does or how it ended."""
    if row.needs:
        return small(need_words(row), "warn")
    flag = row.last_flag
    if flag is not None and row.state.alive:
        severity = flag.severity.value
        return small(flag_words(row), SEVERITY_ROLE[severity], sign=severity_sign(severity), size=(9, 9))
    return small(status_line(row))


class RunTable(RunView):
    """A line a run, in the order of the wall."""

    def __init__(self, model: LiveModel, theme: Theme) -> None:
        super().__init__(model)
        self.rows = TableDelegate(model, theme, self)
        self.setItemDelegate(self.rows)
        self.setUniformItemSizes(True)
        self.setAccessibleName(self.tr("List of runs, those that need you first"))
        self.setObjectName("liveTiles")
        theme.changed.connect(self.doItemsLayout)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cells of the dirty region only."""
        self.rows.dirty = QRegion(event.region())
        self.rows.columns = self.rows.places(QRectF(self.viewport().rect()))
        super().paintEvent(event)
        self.rows.dirty, self.rows.columns = None, []

    def _update_clock(self, index: QModelIndex) -> None:
        row = self.visualRect(index)
        for column, box in self.rows.places(QRectF(row)):
            if column.key == "time":
                option = QStyleOptionViewItem()
                option.initFrom(self)
                option.rect = row
                self.viewport().update(placed(option, box).toAlignedRect())


class ColumnTitles(QWidget):
    """The titles over the columns of the list."""

    def __init__(self, table: RunTable, theme: Theme) -> None:
        super().__init__()
        self._table, self._theme = table, theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)
        table.model().dataChanged.connect(self._on_data)
        self._shown: list[str] = []

    def sizeHint(self) -> QSize:
        return QSize(100, self._theme.px(HEAD))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, px = self._theme, self._theme.px
        painter = QPainter(self)
        option = QStyleOptionViewItem()
        option.initFrom(self)
        width = self._table.viewport().width()
        option.rect = QRect(0, 0, width, self.height())
        font = theme.font("secondary", bold=True)
        painter.setFont(font)
        painter.setPen(theme.color("muted"))
        self._shown = []
        for column, box in self._table.rows.places(QRectF(option.rect)):
            self._shown.append(column.key)
            inner = box.adjusted(px(8), 0, -px(8), 0)
            side = Qt.AlignmentFlag.AlignRight if column.numeric else Qt.AlignmentFlag.AlignLeft
            words = elided(QFontMetrics(font), column_title(column.key), inner.width())
            painter.drawText(
                placed(option, inner), aligned(option, side | Qt.AlignmentFlag.AlignVCenter), words
            )
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawLine(0, self.height() - 1, width, self.height() - 1)
        painter.end()

    def _on_data(self) -> None:
        """Follow a column that appears with the first cost."""
        places = self._table.rows.places(QRectF(0, 0, self._table.viewport().width(), self.height()))
        if [column.key for column, _box in places] != self._shown:
            self.update()
            self._table.viewport().update()


class CurrentRunPage(QWidget):
    """The page of the current run, as it is now."""

    def __init__(self, model: LiveModel, theme: Theme) -> None:
        super().__init__()
        self._model, self._theme = model, theme
        self.setAccessibleName(self.tr("Page of the current run"))
        model.frames.arrived.connect(self._on_picture)
        model.current_changed.connect(self.update)
        model.row_changed.connect(self.update)
        theme.changed.connect(self.update)

    def picture_size(self) -> QSize:
        """Size of the picture in pixels of the window."""
        return QSize(self.width(), round(self.width() * 10 / 16))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, row = self._theme, self._model.row
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        box = QRect(0, 0, self.picture_size().width(), min(self.picture_size().height(), self.height()))
        painter.fillRect(box, theme.color("raised"))
        found = self._model.frames.get(row.run) if row is not None else None
        painter.setFont(theme.font("secondary"))
        painter.setPen(theme.color("muted"))
        if row is not None and found is not None:
            painter.setOpacity(1.0 if row.state.alive and not self._model.lost else 0.6)
            whole = QSize(found.image.size()).scaled(box.size(), Qt.AspectRatioMode.KeepAspectRatio)
            painter.drawImage(QRect(box.topLeft(), whole), found.image)
            painter.setOpacity(1.0)
        elif row is not None:
            painter.drawText(
                box.adjusted(12, 12, -12, -12),
                Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap,
                page_status(row).placeholder,
            )
        painter.setPen(theme.color("line"))
        painter.drawRect(box.adjusted(0, 0, -1, -1))
        if row is not None:
            self._paint_words(painter, box.bottom() + theme.px(8), row)
        painter.end()

    def _paint_words(self, painter: QPainter, top: int, row: LiveRow) -> None:
        theme = self._theme
        room = QRect(0, top, self.width(), self.height() - top)
        wrap = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop
        for text, bold, role in (
            (row.intent, True, "text"),
            (row.url or row.start_url, False, "muted"),
            (need_words(row) or status_line(row), False, "warn" if row.needs else "text"),
        ):
            font = theme.font("base" if bold else "secondary", bold=bold)
            painter.setFont(font)
            painter.setPen(theme.color(role))
            text = " ".join(text.split())[:300]
            taken = painter.boundingRect(room, wrap, text)
            if taken.height() > room.height():
                return
            painter.drawText(room, wrap, text)
            room.setTop(taken.bottom() + theme.px(4))

    def _on_picture(self, run: str) -> None:
        if run == self._model.current and self.isVisible():
            self.update()


class TablePane(QWidget):
    """TableColumn titles over the list, and the current run's page at the right where there is room."""

    ROOM, SHARE = 1240, 0.26
    """Width from which the page is shown, in pixels at 100 % text size, and its share."""

    def __init__(self, model: LiveModel, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.table = RunTable(model, theme)
        self.titles = ColumnTitles(self.table, theme)
        self.page = CurrentRunPage(model, theme)
        self._left = QWidget(self)
        vbox(self.titles, (self.table, 1), parent=self._left, spacing=0)
        self.page.setParent(self)
        theme.changed.connect(self._place)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        width, gap = self.width(), self._theme.px(16)
        shown = width >= self._theme.px(self.ROOM)
        side = round(width * self.SHARE) if shown else 0
        left = width - side - (gap if shown else 0)
        right_to_left = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        self._left.setGeometry(width - left if right_to_left else 0, 0, left, self.height())
        edge = 0 if right_to_left else width - side
        high = max(self.height() - self._theme.px(HEAD), 0)
        self.page.setGeometry(edge, self._theme.px(HEAD), max(side - gap // 2, 0), high)
        self.page.setVisible(shown)
