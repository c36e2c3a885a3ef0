"""Binds the commands of the wall: filter, groups, size, tiles or list."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject

from app.models.live.wall import FIT
from app.models.live.wall_figures import STATE_GROUPS
from app.models.live.wall_list import GROUPINGS

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.model import LiveModel
    from app.views.live.run_grid import RunGrid


class WallOwner(Protocol):
    """The view that holds the wall."""

    model: LiveModel
    wall: RunGrid

    def enlarge(self) -> None:
        """Show the current run large."""
        ...


class WallCommands(QObject):
    """Every command of the menu Live/Wall, and Enter on a heading."""

    def __init__(self, view: WallOwner, center: CommandCenter, parent: QObject) -> None:
        super().__init__(parent)
        self._view, self._model, self._wall = view, view.model, view.model.wall
        bind, wall = center.bind, self._wall

        def some() -> bool:
            return bool(view.model.list.rows)

        def tiles() -> bool:
            return some() and self._on_wall() and not wall.is_table

        bind("live.filter", self._filter, some)
        bind("live.table", wall.toggle_table, lambda: some() and self._on_wall())
        bind("live.larger", partial(self._resize, 1), tiles)
        bind("live.smaller", partial(self._resize, -1), tiles)
        bind("live.fit", partial(wall.set_tile_width, FIT), tiles)
        bind("live.group", wall.next_grouping, some)
        for by in GROUPINGS:
            bind(f"live.group.{by or 'none'}", partial(wall.set_grouping, by), some)
        bind("live.fold", self._fold, lambda: bool(wall.grouping) and some())
        bind("live.fold.all", wall.toggle_all, lambda: bool(wall.grouping) and some())
        for state in STATE_GROUPS:
            bind(f"live.only.{state}", partial(wall.toggle_state, state), some)
        bind(
            "live.open",
            self._open,
            lambda: wall.heading_row >= 0 or (bool(view.model.row) and self._can_enlarge()),
        )
        wall.changed.connect(center.refresh)

    def _on_wall(self) -> bool:
        return not self._model.run and not self._model.inbox.is_open

    def _can_enlarge(self) -> bool:
        return not self._model.run or self._model.inbox.is_open

    def _filter(self) -> None:
        """Put the keyboard in the filter line, from an open run too."""
        self._model.inbox.close()
        self._model.close()
        self._view.wall.focus_filter()

    def _resize(self, by: int) -> None:
        tiles = self._view.wall.tiles
        self._wall.resize_tiles(by, tiles.shown_width, tiles.width_for)

    def _open(self) -> None:
        if self._wall.heading_row >= 0 and not self._model.run:
            self._wall.toggle_group(self._wall.heading or "")
        else:
            self._view.enlarge()

    def _fold(self) -> None:
        """Collapse or expand the group of the heading or run under the hand; its heading keeps the hand."""
        row = self._model.row
        group = self._wall.heading if row is None else self._wall.group_of(row)
        if group is None:
            return
        if not self._wall.is_folded(group):
            self._model.select_heading(group)
        self._wall.toggle_group(group)
