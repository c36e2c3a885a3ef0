"""The wall: which runs it shows, how they are grouped, and how large."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from app.engine.api.live_filter_words import (
    STATE_GROUPS,
    filter_values,
    live_vocabulary,
    parse_live_filter,
    toggled_state,
)
from app.engine.core.supervision import LiveRow
from app.models.common.filter_completion import WordCompletion, unknown_sentences
from app.models.common.translate import tr
from app.models.live.wall_figures import WallFigures, wall_figures
from app.models.live.wall_list import (
    GROUPINGS,
    GroupHeading,
    WallList,
    WallRow,
    arranged,
    group_of,
    heading_key,
    row_key,
)

if TYPE_CHECKING:
    from app.engine.core.events import BatchChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.live.input_guard import InputGuard
    from app.models.live.run_list import RunList

TILE_WIDTHS = (168, 208, 248, 296, 360, 440, 560, 720)
"""Widths of a tile to choose from, in pixels at 100 % text size; the tiles share what is left of a line."""
FIT = 0
"""As large as all runs fit without scrolling."""


class WallModel(QObject):
    """Signals:

    changed: filter, grouping, size or form is another.
    arranged: the shown runs are others, or in another order.
    """

    changed = Signal()
    arranged = Signal()

    def __init__(
        self,
        client: EngineEvents,
        runs: RunList,
        hands: InputGuard,
        parent: QObject | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(parent)
        self._runs, self._hands, self._now = runs, hands, now
        self.list = WallList(runs, self)
        self.text: str = ""
        self.grouping: str = ""
        self.tile_width: int = FIT
        self.is_table = False
        self.heading: str | None = None
        """The group whose heading is current; ``None`` while a run is, or nothing."""
        self._filter = parse_live_filter("")
        self._folded: set[tuple[str, str]] = set()
        self._batches: dict[str, str] = {}
        self._late = False
        self._before: list[Hashable] = []
        """Keys of the rows before the last change."""
        self.completion = WordCompletion(self._complete, help_of, self)
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self.refresh)
        for signal in (runs.rowsInserted, runs.rowsRemoved, runs.rowsMoved, runs.modelReset):
            signal.connect(self.refresh)
        runs.dataChanged.connect(self._on_data)
        client.batch_changed.connect(self._on_batch)

    # ------------------------------------------------------------ what is shown
    @property
    def shown(self) -> list[LiveRow]:
        """Runs that pass the filter, those of collapsed groups too, in the order of the run list."""
        return [row for row in self._runs.rows if self._fits(row)]

    @property
    def stops(self) -> list[WallRow]:
        """Rows that the keys walk over: runs, and headings of collapsed groups."""
        return [row for row in self.list.rows if isinstance(row, LiveRow) or row.folded]

    @property
    def figures(self) -> WallFigures:
        """Sums over the shown runs."""
        return wall_figures(self.shown, self._now())

    @property
    def counts(self) -> dict[str, int]:
        """Number of all runs by state, whatever the filter."""
        return dict(wall_figures(self._runs.rows, self._now()).states)

    @property
    def is_filtered(self) -> bool:
        return not self._filter.is_empty

    @property
    def filtered_states(self) -> frozenset[str]:
        """States that the filter names."""
        return self._filter.states

    @property
    def unknown(self) -> str:
        """A sentence about the words of the filter that are none; "" if all are fine."""
        return unknown_sentences(live_vocabulary().unknown_words(self.text))

    @property
    def filter_note(self) -> str:
        """``4 of 60 runs: needs site:shop``; "" without a filter."""
        if not self.is_filtered:
            return ""
        return tr("{0} of {1} runs: {2}").format(len(self.shown), len(self._runs.rows), self.text.strip())

    def batch_name(self, batch: str) -> str:
        """Return the name of a batch; its id where that is not known."""
        return self._batches.get(batch, batch)

    def place_of(self, run: str, stops: Sequence[WallRow]) -> int | None:
        """Return where the hand is among the stops: on a run, or on a heading; ``None`` for neither."""
        wanted = heading_key(self.heading) if self.heading is not None else run
        return next((at for at, stop in enumerate(stops) if row_key(stop) == wanted), None)

    def nearest(self, run: str, stops: Sequence[WallRow | str], by: int) -> int:
        """Return the stop that follows a hidden run in the order of all runs, or precedes it where ``by`` < 0."""
        here = self._runs.row_of(run)
        places = [self._runs.row_of(stop if isinstance(stop, str) else row_key(stop)) for stop in stops]
        after = next((at for at, place in enumerate(places) if place > here), len(stops))
        return max(after - 1, 0) if by < 0 else min(after, len(stops) - 1)

    def neighbour(self, run: str) -> str:
        """Return the run that stands where this one stood before the last change, or before it; "" for none."""
        here = self._before.index(run) if run in self._before else len(self._before)
        for key in [*self._before[here:], *reversed(self._before[:here])]:
            if isinstance(key, str) and self.list.row_of(key) >= 0:
                return key
        return next((row.run for row in self.list.rows if isinstance(row, LiveRow)), "")

    # ------------------------------------------------------------ filter
    def set_filter(self, text: str) -> None:
        """Show the runs that fit these words; takes effect at once."""
        if text != self.text:
            self.text = text
            found = parse_live_filter(text)
            if found != self._filter:
                self._filter = found
                self.refresh(at_once=True)
            self.changed.emit()

    def toggle_state(self, state: str) -> None:
        """Show the runs of one state, or again those of every state."""
        self.set_filter(toggled_state(self.text, state))

    # ------------------------------------------------------------ groups
    def set_grouping(self, by: str) -> None:
        if by in GROUPINGS and by != self.grouping:
            self.grouping = by
            self.heading = None
            self.refresh(at_once=True)
            self.changed.emit()

    def next_grouping(self) -> None:
        """Group by site, task, batch, state, and not at all, in turn."""
        self.set_grouping(GROUPINGS[(GROUPINGS.index(self.grouping) + 1) % len(GROUPINGS)])

    def is_folded(self, group: str) -> bool:
        return (self.grouping, group) in self._folded

    def toggle_group(self, group: str) -> None:
        """Collapse or expand a group."""
        self._folded ^= {(self.grouping, group)}
        self.refresh(at_once=True)
        self.changed.emit()

    def toggle_all(self) -> None:
        """Collapse all groups, or expand them where all are collapsed."""
        groups = {(self.grouping, row.group) for row in self.list.rows if isinstance(row, GroupHeading)}
        self._folded = self._folded - groups if groups <= self._folded else self._folded | groups
        self.refresh(at_once=True)
        self.changed.emit()

    def group_of(self, row: LiveRow) -> str:
        return group_of(row, self.grouping)

    @property
    def heading_row(self) -> int:
        """The row of the current heading, -1 for none."""
        return self.list.row_of(heading_key(self.heading)) if self.heading is not None else -1

    # ------------------------------------------------------------ size and form
    def set_tile_width(self, width: int) -> None:
        if width != self.tile_width and (width == FIT or width in TILE_WIDTHS):
            self.tile_width = width
            self.changed.emit()

    def resize_tiles(self, by: int, shown: int, shown_for: Callable[[int], int]) -> None:
        """Make the tiles one step larger or smaller than they are shown.

        Args:
            shown: their width now, in pixels at 100 % text size.
            shown_for: the width at which tiles of a wanted width are shown: they share the whole line.
        """
        larger = [width for width in TILE_WIDTHS if shown_for(width) > shown]
        smaller = [width for width in TILE_WIDTHS if shown_for(width) < shown]
        if by > 0 and larger:
            self.set_tile_width(larger[0])
        elif by < 0 and smaller:
            self.set_tile_width(smaller[-1])

    def toggle_table(self) -> None:
        """Show tiles or a table."""
        self.is_table = not self.is_table
        self.changed.emit()

    # ------------------------------------------------------------ session
    def session(self) -> dict[str, Any]:
        """Return size, form and grouping for the next start; a filter would hide runs from whoever comes."""
        return {
            "tile_width": self.tile_width,
            "table": self.is_table,
            "grouping": self.grouping,
            "folded": sorted(map(list, self._folded)),
        }

    def restore(self, saved: object) -> None:
        """Restore a session; what is malformed is ignored."""
        if not isinstance(saved, dict):
            return
        found: dict[Any, Any] = {**saved}
        width, by, folded = found.get("tile_width"), found.get("grouping"), found.get("folded")
        if width in (FIT, *TILE_WIDTHS):
            self.tile_width = width
        self.is_table = found.get("table") is True
        if isinstance(by, str) and by in GROUPINGS:
            self.grouping = by
        if isinstance(folded, list):
            pairs = [tuple(map(str, one)) for one in folded if isinstance(one, (list, tuple))]  # pyright: ignore
            self._folded = {(pair[0], pair[1]) for pair in pairs if len(pair) == 2}
        self.refresh(at_once=True)
        self.changed.emit()

    # ------------------------------------------------------------ following the runs
    def refresh(self, *_given: object, at_once: bool = False) -> None:
        """Follow the run list; while the operator is busy rows stay where they are.

        Then a run that no longer fits stays, and a new one is added at the end, or, where there are groups, later.
        """
        before = [row_key(row) for row in self.list.rows]
        if before:
            self._before = before
        if at_once or not self._hands.is_busy:
            self._late = False
            self.list.arrange(arranged(self.shown, self.grouping, self.is_folded, self._batches, self._now()))
        else:
            self._follow_in_place()
        if before != [row_key(row) for row in self.list.rows]:
            self.arranged.emit()

    def _follow_in_place(self) -> None:
        here = self._runs.row_of
        for row in tuple(self.list.rows):
            if isinstance(row, LiveRow):
                now = self._runs.at(here(row.run))
                self.list.put(now) if now is not None else self.list.drop(row.run)
        missing = [row for row in self.shown if self.list.row_of(row.run) < 0]
        self._late = True
        if not self.grouping and missing:
            self.list.arrange([*self.list.rows, *missing])

    def _on_data(self, first: Any, last: Any) -> None:
        """Update the rows of changed runs; only where another one fits or moves, all."""
        for place in range(first.row(), last.row() + 1):
            row = self._runs.at(place)
            if row is None:
                continue
            before = self.list.run_at(self.list.row_of(row.run))
            moved = before is not None and bool(self.grouping) and self.group_of(before) != self.group_of(row)
            hidden = before is None
            if before is not None:
                self.list.put(row)
            if self._hands.is_busy:
                self._late = True
            elif moved or hidden == self._fits(row):
                self._soon.start()
            elif self.grouping:
                self._update_heading(self.group_of(row))

    def _update_heading(self, group: str) -> None:
        rows = [row for row in self.shown if self.group_of(row) == group]
        for row in arranged(rows, self.grouping, self.is_folded, self._batches, self._now())[:1]:
            self.list.put(row)

    def on_idle(self) -> None:
        """Sort, and hide what no longer fits."""
        if self._late:
            self.refresh()

    def _on_batch(self, event: BatchChanged) -> None:
        if self._batches.get(event.row.id) != event.row.name:
            self._batches[event.row.id] = event.row.name
            self._soon.start()

    def _fits(self, row: LiveRow) -> bool:
        return self._filter.is_empty or self._filter.fits(row, self._batches.get(row.batch, ""))

    def _complete(self, text: str) -> tuple[str, ...]:
        return live_vocabulary(filter_values(self._runs.rows, self._batches)).completions(text)


def help_of(word: str) -> str:
    """Say in a few words what a word of the wall's filter does."""
    translate = QCoreApplication.translate
    name, colon, value = word.partition(":")
    texts = {
        "needs": translate("Live", "runs that need you"),
        "running": translate("Live", "runs that go on"),
        "paused": translate("Live", "paused runs"),
        "queued": translate("Live", "runs that wait for a place"),
        "interrupted": translate("Live", "runs whose process ended"),
        "failed": translate("Live", "ended without an answer"),
        "stopped": translate("Live", "ended by a person"),
        "done": translate("Live", "answered, or finished by hand"),
        "site": translate("Live", "runs on one site"),
        "task": translate("Live", "runs of one task"),
        "batch": translate("Live", "runs of one batch"),
        "policy": translate("Live", "scout or llm"),
        "flag": translate("Live", "runs with this flag"),
        "cost": translate("Live", "US dollars so far: >0.1, <1"),
    }
    if colon and value:
        return ""
    return texts.get(name, "") if colon or name in STATE_GROUPS else ""
