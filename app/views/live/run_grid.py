"""The grid of runs, the most urgent first, and the narrow list beside an open run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStackedWidget,
    QStyle,
    QWidget,
)

from app.models.live.run_list import counts_words
from app.views.live.rows import RUN, run_row
from app.views.live.tile import GAP, TileDelegate
from app.views.widgets import ElidedLabel, EmptyState
from app.views.widgets.build import ground, hbox, styled, text_label, vbox
from app.views.widgets.command_button import SIGN, WHOLE, WORD, CommandButton, fill
from app.views.widgets.rows import RowDelegate

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.models.common.commands import CommandCenter
    from app.models.live.model import LiveModel
    from app.views.frame.theme import Theme

MIN_TILE_WIDTH, DEFAULT_TILE_WIDTH, MAX_TILE_WIDTH = 248, 284, 640
"""Cell widths in pixels: smallest, default when scrolling, and largest."""
CUT = 0.9
"""Smallest share of its height that a tile is cut to, so that no row is half out of sight."""
TICK_MS = 1000
ARROWS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right)


def cell_size(
    count: int, room: QSize, bounds: tuple[int, int, int], height_for: Callable[[int], int]
) -> QSize:
    """Return the widest cell with which ``count`` tiles fit without scrolling; where none does, the default one.

    Cells share the whole width; one that is slightly too high gives up the foot of its picture.

    Args:
        bounds: smallest, default and largest width of a cell in pixels.
        height_for: the height of a cell of a given width.
    """
    least, usual, most = bounds
    found = QSize()
    for columns in range(1, max(room.width() // least, 1) + 1):
        width = min(room.width() // columns, most)
        height = min(height_for(width), room.height() // max(-(-count // columns), 1))
        if width < least or height < height_for(width) * CUT:
            continue
        if width < most or columns >= count:
            return QSize(width, height)
        found = found if found.isValid() else QSize(width, height)
    if found.isValid():
        return found
    width = min(room.width() // max(room.width() // usual, 1), most)
    return QSize(width, height_for(width))


class LiveListView(QListView):
    """A view of the runs whose current row is the model's current run."""

    def __init__(self, model: LiveModel) -> None:
        super().__init__()
        self._live = model
        self._marking = False
        self.setModel(model.list)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.selectionModel().currentChanged.connect(self._on_current)
        model.current_changed.connect(self.mark)
        model.list.rowsInserted.connect(self.mark)

    def mark(self, *_told: object) -> None:
        """Select the model's run; scroll only where it is out of sight."""
        row = self._live.list.row_of(self._live.current)
        selection = self.selectionModel()
        self._marking = True
        if row < 0:
            selection.clear()
        else:
            index = self._live.list.index(row)
            if index != selection.currentIndex():
                selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
                self.scrollTo(index)
        self._marking = False

    def keyboardSearch(self, search: str) -> None:
        """Ignore it: letters are commands, and one without effect must not select another run."""

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row = self._live.list.at(current.row()) if current.isValid() else None
        if row is not None and not self._marking:
            self._live.select(row.run)


class TileView(LiveListView):
    """Tiles as large as they may be without scrolling; reports those in sight to the model."""

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
        self.setUniformItemSizes(True)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setObjectName("liveTiles")
        self._looks = QTimer(self, singleShot=True, interval=0)
        self._looks.timeout.connect(self._report_in_sight)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self.viewport().update)
        rows = model.list
        for signal in (rows.rowsInserted, rows.rowsRemoved):
            signal.connect(self.fit)
        rows.rowsMoved.connect(self._looks.start)
        model.changed.connect(self._looks.start)
        self.verticalScrollBar().valueChanged.connect(self._looks.start)
        model.frames.arrived.connect(self._on_picture)
        theme.changed.connect(self.fit)

    def fit(self) -> None:
        """Size the tiles for the area and the number of runs."""
        px, room = self._theme.px, self.maximumViewportSize()
        room -= QSize(self.bar_width() + 1, 0)  # the list reserves the bar's width
        bounds = (px(MIN_TILE_WIDTH), px(DEFAULT_TILE_WIDTH), px(MAX_TILE_WIDTH))
        cell = cell_size(len(self._live.list.rows), room, bounds, self.tile.height_for)
        if cell != self.tile.cell:
            self.tile.cell = cell
            self.setGridSize(cell)
            self.doItemsLayout()
        self._looks.start()

    def bar_width(self) -> int:
        return self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent, None, self.verticalScrollBar())

    @property
    def in_sight(self) -> list[str]:
        """Runs whose tiles are visible, in order."""
        if not self.isVisible():
            return []
        ground, rows = self.viewport().rect(), self._live.list
        return [
            row.run
            for place, row in enumerate(rows.rows)
            if ground.intersects(self.visualRect(rows.index(place)))
        ]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Update clocks while visible."""
        super().showEvent(event)
        self._clock.start()
        self._looks.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()
        self._looks.start()

    def event(self, event: QEvent) -> bool:
        """Let the arrow keys move between tiles, whatever else they do in Live."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() in ARROWS
            and event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        ):
            event.accept()
            return True
        return super().event(event)

    def _on_picture(self, run: str) -> None:
        row = self._live.list.row_of(run)
        if row >= 0 and self.isVisible():
            self.update(self._live.list.index(row))

    def _report_in_sight(self) -> None:
        runs, size = self.in_sight, self.tile.picture_size() * self.devicePixelRatioF()
        for run in runs:
            self._live.frames.fit(run, size)
        self._live.run_thumbnails.want(row for run in runs if (row := self._live.row_of(run)) is not None)
        self._live.subscriptions.set_tiles(runs, size.width(), size.height())


class RunGrid(QWidget):
    """Counts and buttons over the tiles, and a message for every other state."""

    def __init__(self, model: LiveModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self, "surface")
        self.tiles = TileView(model, theme)
        self.counts = styled(ElidedLabel(), "muted")
        self.lost = text_label(kind="warn")
        self.nothing = EmptyState(
            self.tr("No runs"),
            self.tr("Describe a task and its start address. Several runs can work in parallel."),
            "live.new",
            center,
        )
        self.loading = EmptyState(self.tr("Loading runs…"), "", "", center)
        self.error = EmptyState(self.tr("The runs can't be shown"), "", "", center)
        self.faces = QStackedWidget()
        for face in (self.tiles, self.nothing, self.loading, self.error):
            self.faces.addWidget(face)
        self._lay_out()
        model.changed.connect(self._show)
        model.inbox.changed.connect(self._show_inbox)
        center.keys_changed.connect(self._distribute)
        theme.changed.connect(self._distribute)
        self._show()

    def take_focus(self) -> None:
        """Focus the tiles, or the message in their place."""
        shown = self.faces.currentWidget() is self.tiles
        (self.tiles if shown else self).setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the buttons beside a form."""
        super().resizeEvent(event)
        self._distribute()

    def _distribute(self) -> None:
        room = self.width() - 32 - self._theme.px(220) - 8 * (len(self.buttons) + 2)
        fill(list(self.buttons.values()), room, ((WHOLE, WHOLE), (WORD, WORD), (SIGN, SIGN)))

    def _lay_out(self) -> None:
        title = text_label(self.tr("Live"), "title")
        self.buttons = {
            command: CommandButton(command, self._center, self._theme, word)
            for command, word in (
                ("live.inbox", self.tr("Inbox")),
                ("live.pause_all", self.tr("Pause all")),
                ("live.tasks", self.tr("Task file…")),
                ("live.new", self.tr("New run…")),
            )
        }
        head = hbox(
            title, (self.counts, 1), self.lost, *self.buttons.values(), margins=(16, 10, 16, 6), spacing=8
        )
        side = 16 - GAP // 2
        inner = vbox(self.faces, margins=(side, 0, max(side - self.tiles.bar_width(), 0), 8))
        vbox(head, (inner, 1), parent=self, spacing=0)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def _show(self) -> None:
        model = self._model
        held = self.hasFocus() or self.tiles.hasFocus()
        self.error.set(self.tr("The runs can't be shown"), model.error)
        face = (
            self.tiles if model.list.rows
            else self.error if model.error
            else self.nothing if model.is_loaded
            else self.loading
        )  # fmt: skip
        if self.faces.currentWidget() is not face:
            self.faces.setCurrentWidget(face)
            if held:
                self.take_focus()
        self.counts.setText(counts_words(model.list.rows))
        self.counts.setAccessibleName(self.counts.text())
        self.lost.setText(
            self.tr("The engine is not available; the tiles show the last known state.") if model.lost else ""
        )
        self.lost.setVisible(bool(model.lost))
        self._show_inbox()

    def _show_inbox(self) -> None:
        """Count what needs a person on the button that opens it."""
        button, count = self.buttons["live.inbox"], self._model.inbox.count
        button.show_as("live.inbox", self.tr("Inbox {0}").format(count) if count else self.tr("Inbox"))
        button.call(count > 0, "warn")


class NarrowList(LiveListView):
    """Every run as two lines, beside the open run."""

    def __init__(self, model: LiveModel, theme: Theme) -> None:
        super().__init__(model)
        self.setUniformItemSizes(True)
        self.setItemDelegate(RowDelegate(theme, partial(run_row, runs=model.list), RUN, self))
        self.setAccessibleName(self.tr("All runs, those that need you first"))
        self.setFrameShape(QListView.Shape.NoFrame)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self.viewport().update)
        theme.changed.connect(self.doItemsLayout)

    def showEvent(self, event: QShowEvent) -> None:
        """Update clocks while visible."""
        super().showEvent(event)
        self._clock.start()
        self.mark()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()
