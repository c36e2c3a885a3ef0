"""The wall of runs, the most urgent first: as tiles or as a list, under the head that filters and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPaintEvent, QRegion, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QListView, QStackedWidget, QStyle, QWidget

from app.models.live.wall_list import GroupHeading
from app.views.live.run_table import TablePane
from app.views.live.run_views import RunView, is_plain_arrow
from app.views.live.tile import GAP, TileDelegate
from app.views.live.wall_head import WallHead
from app.views.widgets import EmptyState
from app.views.widgets.build import ground, vbox
from app.views.widgets.command_button import SIGN, WHOLE, WORD, CommandButton, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.models.common.commands import CommandCenter
    from app.models.live.model import LiveModel
    from app.views.frame.theme import Theme

MIN_TILE_WIDTH, DEFAULT_TILE_WIDTH, MAX_TILE_WIDTH = 248, 284, 960
"""Cell widths in pixels: smallest that fits without being asked for, default when scrolling, and largest."""
CUT = 0.75
"""Smallest share of its height that a tile is cut to, so that the room is used."""
TICK_MS = 1000


def cell_size(
    groups: Sequence[int], room: QSize, bounds: tuple[int, int, int], height_for: Callable[[int], int]
) -> QSize:
    """Return the largest cell with which all tiles fit without scrolling; where none does, the default one.

    Cells share the whole width; one that is too high gives up the foot of its picture.

    Args:
        groups: number of tiles in each group, which begins a line of its own.
        bounds: smallest, default and largest width of a cell in pixels.
        height_for: the height of a cell of a given width.
    """
    least, usual, most = bounds
    best = QSize()
    for columns in range(1, max(room.width() // max(least, 1), 1) + 1):
        width = min(room.width() // columns, most)
        lines = max(sum(-(-count // columns) for count in groups), 1)
        height = min(height_for(width), room.height() // lines)
        if width < least or height < height_for(width) * CUT:
            continue
        if not best.isValid() or width * height > best.width() * best.height():
            best = QSize(width, height)
    return best if best.isValid() else shared_size(usual, room, most, height_for)


def shared_size(wanted: int, room: QSize, most: int, height_for: Callable[[int], int]) -> QSize:
    """Return the cell of about the wanted width with which the cells of a line share the whole width."""
    width = min(room.width() // max(room.width() // max(wanted, 1), 1), max(most, wanted))
    return QSize(width, height_for(width))


class TileView(RunView):
    """Tiles of the wanted size, or as large as they may be without scrolling.

    Signals:
        sight_changed: other tiles are in sight, or their size is another.
    """

    sight_changed = Signal()

    def __init__(self, model: LiveModel, theme: Theme) -> None:
        super().__init__(model)
        self._theme = theme
        self.tile = TileDelegate(model, theme, self)
        self.setItemDelegate(self.tile)
        self.setAccessibleName(self.tr("Runs that need you first"))
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setSpacing(0)
        self.setObjectName("liveTiles")
        self._looks = QTimer(self, singleShot=True, interval=0)
        self._looks.timeout.connect(self.sight_changed)
        for signal in (self._wall.rowsInserted, self._wall.rowsRemoved):
            signal.connect(self.fit)
        self._wall.rowsMoved.connect(self._looks.start)
        model.changed.connect(self._looks.start)
        model.wall.changed.connect(self.fit)
        self.verticalScrollBar().valueChanged.connect(self._looks.start)
        model.frames.arrived.connect(self._on_picture)
        theme.changed.connect(self.fit)

    @property
    def shown_width(self) -> int:
        """Width of a tile now, in pixels at 100 % text size."""
        return round(self.tile.cell.width() / self._theme.zoom)

    def width_for(self, wanted: int) -> int:
        """Width at which tiles of a wanted width are shown, in pixels at 100 % text size."""
        return round(self._shared(wanted).width() / self._theme.zoom)

    def fit(self) -> None:
        """Size the tiles for the area, the number of runs and the wanted width."""
        px, room = self._theme.px, self.maximumViewportSize()
        room -= QSize(self.bar_width() + 1, 0)  # the list reserves the bar's width
        line, wanted = max(room.width(), 1), self._live.wall.tile_width
        if wanted:
            cell = self._shared(wanted)
        else:
            groups = self._group_sizes()
            headings = sum(isinstance(row, GroupHeading) for row in self._wall.rows)
            bounds = (px(MIN_TILE_WIDTH), px(DEFAULT_TILE_WIDTH), px(MAX_TILE_WIDTH))
            below = QSize(room.width(), max(room.height() - headings * self.tile.heading_height(), 0))
            cell = cell_size(groups, below, bounds, self.tile.height_for)
        if (cell, line) != (self.tile.cell, self.tile.line_width):
            self.tile.cell, self.tile.line_width = cell, line
            self.doItemsLayout()
        self._looks.start()

    def bar_width(self) -> int:
        return self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent, None, self.verticalScrollBar())

    @property
    def in_sight(self) -> list[str]:
        """Runs whose tiles are visible, in order."""
        rows = (self._wall.run_at(row) for row in self.rows_in_sight())
        return [row.run for row in rows if row is not None]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.fit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._looks.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the tiles of the dirty region only; the view itself goes by its bounding rectangle."""
        self.tile.dirty = QRegion(event.region())
        super().paintEvent(event)
        self.tile.dirty = None

    def event(self, event: QEvent) -> bool:
        """Let the arrow keys move between tiles, whatever else they do in Live."""
        if is_plain_arrow(event):
            event.accept()
            return True
        return super().event(event)

    def _shared(self, wanted: int) -> QSize:
        px, room = self._theme.px, self.maximumViewportSize() - QSize(self.bar_width() + 1, 0)
        return shared_size(px(wanted), room, px(MAX_TILE_WIDTH), self.tile.height_for)

    def _group_sizes(self) -> list[int]:
        sizes = [0]
        for row in self._wall.rows:
            if isinstance(row, GroupHeading):
                sizes.append(0)
            else:
                sizes[-1] += 1
        return sizes

    def _update_clock(self, index: QModelIndex) -> None:
        self.viewport().update(self.tile.parts(self.visualRect(index))[0])

    def _on_picture(self, run: str) -> None:
        row = self._wall.row_of(run)
        if row >= 0 and self.isVisible():
            self.viewport().update(self.tile.parts(self.visualRect(self._wall.index(row)))[1])


class RunGrid(QWidget):
    """The head over tiles or list, and a message for every other state."""

    def __init__(self, model: LiveModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self, "surface")
        self.tiles = TileView(model, theme)
        self.pane = TablePane(model, theme)
        self.table = self.pane.table
        self.head = WallHead(model, center, theme, self.take_focus)
        self.counts, self.filter, self.lost = self.head.counts, self.head.filter, self.head.lost
        self.nothing = EmptyState(
            self.tr("No runs"),
            self.tr("Describe a task and its start address. Several runs can work in parallel."),
            "live.new",
            center,
        )
        self.no_match = EmptyState(
            self.tr("No matching runs"),
            self.tr("Esc clears the filter and shows all runs."),
            "live.filter",
            center,
        )
        self.loading = EmptyState(self.tr("Loading runs…"), "", "", center)
        self.error = EmptyState(self.tr("The runs can't be shown"), "", "", center)
        self.faces = QStackedWidget()
        for face in (self.tiles, self.pane, self.nothing, self.no_match, self.loading, self.error):
            self.faces.addWidget(face)
        self._lay_out()
        self._ticks = QTimer(self, interval=TICK_MS)
        self._ticks.timeout.connect(self.head.show_figures)
        self._sight = QTimer(self, singleShot=True, interval=0)
        self._sight.timeout.connect(self._report_in_sight)
        self.tiles.sight_changed.connect(self._sight.start)
        model.current_changed.connect(self._on_current)
        for signal in (model.changed, model.wall.changed, model.wall.arranged):
            signal.connect(self._show)
        model.inbox.changed.connect(self._show_inbox)
        model.batches.changed.connect(self._show_batches)
        center.keys_changed.connect(self._distribute)
        theme.changed.connect(self._distribute)
        self._show()

    @property
    def runs(self) -> RunView:
        """The tiles or the list, whichever is shown."""
        return self.table if self._model.wall.is_table else self.tiles

    def take_focus(self) -> None:
        """Focus the runs, or the message in their place."""
        shown = self.faces.currentWidget() in (self.tiles, self.pane)
        (self.runs if shown else self).setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_filter(self) -> None:
        self.filter.take_focus()

    def leave_filter(self) -> bool:
        """Go back one level: clear the filter, wherever the focus is, then leave its line.  False if there is none."""
        if self.filter.leave():
            return True
        if self._model.wall.text:
            self._model.wall.set_filter("")
            return True
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the buttons beside a form."""
        super().resizeEvent(event)
        self._distribute()
        self._sight.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ticks.start()
        self._sight.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ticks.stop()
        self._sight.start()

    def _distribute(self) -> None:
        """Shorten first the buttons, then the counts."""
        room = self.width() - 32 - self._theme.px(56) - 8 * (len(self.buttons) + 3)
        left = room - self.counts.whole_width()
        buttons = list(self.buttons.values())
        fill(buttons, left, ((WHOLE, WHOLE), (WORD, WORD), (SIGN, SIGN)))
        self.counts.set_short(sum(button.width_for(SIGN) for button in buttons) > left)

    def _lay_out(self) -> None:
        self.buttons = {
            command: CommandButton(command, self._center, self._theme, word)
            for command, word in (
                ("live.inbox", self.tr("Inbox")),
                ("live.pause_all", self.tr("Pause all")),
                ("live.batches", self.tr("Batches")),
                ("live.tasks", self.tr("New batch…")),
                ("live.new", self.tr("New run…")),
            )
        }
        self.head.lay_out(*self.buttons.values())
        side = 16 - GAP // 2
        inner = vbox(self.faces, margins=(side, 0, max(side - self.tiles.bar_width(), 0), 8))
        vbox(self.head, (inner, 1), parent=self, spacing=0)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def _show(self) -> None:
        model, wall = self._model, self._model.wall
        held = any(one.hasFocus() for one in (self, self.tiles, self.table))
        self.error.set(self.tr("The runs can't be shown"), model.error)
        face = (
            (self.pane if wall.is_table else self.tiles) if wall.list.rows
            else self.no_match if model.list.rows
            else self.error if model.error
            else self.nothing if model.is_loaded
            else self.loading
        )  # fmt: skip
        if self.faces.currentWidget() is not face:
            self.faces.setCurrentWidget(face)
            if held:
                self.take_focus()
        self.head.show_state()
        self._distribute()
        self.lost.setText(self.tr("The engine is not available; the runs show their last known state."))
        self.lost.setVisible(bool(model.lost))
        self._show_inbox()
        self._sight.start()

    def _show_inbox(self) -> None:
        """Count what needs a person on the button that opens it."""
        button, count = self.buttons["live.inbox"], self._model.inbox.count
        button.show_as("live.inbox", self.tr("Inbox {0}").format(count) if count else self.tr("Inbox"))
        button.call(count > 0, "warn")

    def _show_batches(self) -> None:
        """Count the batches that have not ended on the button that opens them."""
        count = self._model.batches.going
        word = self.tr("Batches {0}").format(count) if count else self.tr("Batches")
        self.buttons["live.batches"].show_as("live.batches", word)

    def _on_current(self) -> None:
        if self.pane.isVisible():
            self._sight.start()

    def _report_in_sight(self) -> None:
        """Have frames of the visible pages, and only those, in the size in which they are drawn."""
        model, runs, size = self._model, list[str](), QSize()
        if self.tiles.isVisible():
            runs, size = self.tiles.in_sight, self.tiles.tile.picture_size()
        elif self.pane.page.isVisible():
            runs, size = [model.current] if model.current else [], self.pane.page.picture_size()
        size = size * self.devicePixelRatioF()
        for run in runs:
            model.frames.fit(run, size)
        model.frames.set_in_sight(runs)
        model.run_thumbnails.want(row for run in runs if (row := model.row_of(run)) is not None)
        model.subscriptions.set_tiles(runs, size.width(), size.height())
