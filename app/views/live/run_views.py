"""Views of the wall's runs whose current row is the model's current run; the narrow list beside an open run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, Qt, QTimer
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QListView

from app.models.live.run_list import is_active
from app.models.live.wall_list import GroupHeading
from app.views.live.rows import RUN, wall_row
from app.views.widgets import ElidedLabel
from app.views.widgets.build import styled
from app.views.widgets.rows import RowDelegate

if TYPE_CHECKING:
    from app.models.live.model import LiveModel
    from app.views.frame.theme import Theme

TICK_MS = 1000
ARROWS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right)


class RunView(QListView):
    """Selection follows the model and the model follows the selection; clocks advance while visible."""

    def __init__(self, model: LiveModel) -> None:
        super().__init__()
        self._live, self._wall = model, model.wall.list
        self._marking = False
        self.setModel(self._wall)
        self.setMouseTracking(True)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.selectionModel().currentChanged.connect(self._on_current)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._tick)
        model.current_changed.connect(self.mark)
        for signal in (self._wall.rowsInserted, self._wall.rowsRemoved, self._wall.rowsMoved):
            signal.connect(self._on_rows)

    def mark(self, *_given: object) -> None:
        """Select the model's run or heading; scroll only where it is out of sight."""
        row = self._live.wall.heading_row
        row = row if row >= 0 else self._wall.row_of(self._live.current)
        selection = self.selectionModel()
        self._marking = True
        if row < 0:
            selection.clear()
        else:
            index = self._wall.index(row)
            if index != selection.currentIndex():
                selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
                self.scrollTo(index)
        self._marking = False

    def keyboardSearch(self, search: str) -> None:
        """Ignore it: letters are commands, and one without effect must not select another run."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Keep the model's run; a list without a current row would take its first one."""
        self._marking = True
        super().focusInEvent(event)
        self.mark()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Collapse or expand the group whose heading is clicked."""
        heading = self._wall.at(self.indexAt(event.position().toPoint()).row())
        super().mousePressEvent(event)
        if isinstance(heading, GroupHeading) and event.button() is Qt.MouseButton.LeftButton:
            self._live.wall.toggle_group(heading.group)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._clock.start()
        self.mark()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()

    def rows_in_sight(self) -> list[int]:
        """Rows that are visible, in order."""
        if not self.isVisible():
            return []
        ground = self.viewport().rect()
        return [
            row
            for row in range(self._wall.rowCount())
            if ground.intersects(self.visualRect(self._wall.index(row)))
        ]

    def _tick(self) -> None:
        """Advance the clocks of the runs that go on, and paint nothing else."""
        for row in self.rows_in_sight():
            run = self._wall.run_at(row)
            if run is not None and is_active(run):
                self._update_clock(self._wall.index(row))

    def _update_clock(self, index: QModelIndex) -> None:
        self.update(index)

    def _on_rows(self, *_given: object) -> None:
        """Paint all rows that changed places in one go.

        The view lays them out later; a row painted alone before that would show its run in two places.
        """
        self.viewport().update()
        self.mark()

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row = self._wall.at(current.row()) if current.isValid() else None
        if row is None or self._marking:
            return
        if isinstance(row, GroupHeading):
            self._live.select_heading(row.group)
        else:
            self._live.select(row.run)


class NarrowList(RunView):
    """Every shown run as two lines, beside the open run; the filter of the wall is named above them."""

    def __init__(self, model: LiveModel, theme: Theme) -> None:
        super().__init__(model)
        self.setUniformItemSizes(True)
        self.setItemDelegate(RowDelegate(theme, partial(wall_row, runs=model.list), RUN, self))
        self.setAccessibleName(self.tr("Runs that need you first"))
        self._theme = theme
        self.note = styled(ElidedLabel(), "secondary")
        self.note.setParent(self)
        theme.changed.connect(self.doItemsLayout)
        for signal in (theme.changed, model.wall.changed, model.wall.arranged, model.changed):
            signal.connect(self._show_note)
        self._show_note()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_note()

    def _show_note(self) -> None:
        px, words = self._theme.px, self._live.wall.filter_note
        high = px(22) if words else 0
        self.setViewportMargins(0, high, 0, 0)
        self.note.setGeometry(px(10), 0, max(self.width() - 2 * px(10), 0), high)
        self.note.setText(words)
        self.note.setVisible(bool(words))


def is_plain_arrow(event: QEvent) -> bool:
    """Whether the event asks if an arrow key without modifiers is for this widget rather than for a command."""
    return (
        event.type() is QEvent.Type.ShortcutOverride
        and isinstance(event, QKeyEvent)
        and event.key() in ARROWS
        and event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
    )
