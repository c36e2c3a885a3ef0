"""Discovery velocity by depth, as in WebNavigator's figure 3: data of the bars, the line and the table."""

from __future__ import annotations

from itertools import pairwise
from math import floor, log10
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QTimer, Signal

from app.engine.api.graph_api import DepthRow
from app.errors import NotFound
from app.models.common.object_table import Column, ObjectTable
from app.models.common.translate import tr
from app.models.graph.node_lists import seconds_words

if TYPE_CHECKING:
    from app.engine.api.graph_api import GraphStats
    from app.engine.core.events import ExplorationChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

REFRESH_MS = 2000
"""Shortest time between two loads during an exploration."""


class VelocityTable(ObjectTable[DepthRow]):
    """The same numbers as a table, one depth a row."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.depth, parent)
        titles = (self.tr("Depth"), self.tr("States"), self.tr("New"), self.tr("Time"), self.tr("Per minute"))
        self.columns = tuple(
            Column(
                key=title,
                title=title,
                cell=lambda row, number=number: velocity_cells(row)[number],
                numeric=True,
                tooltip=depth_words,
            )
            for number, title in enumerate(titles)
        )


class VelocityPlotModel(QObject):
    """The depths of a site's last exploration; ``changed`` when they changed."""

    changed = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.table = VelocityTable(self)
        self.site: str = ""
        self.error = ""
        self.is_open = self.is_loading = False
        self._timer = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._timer.timeout.connect(self._ask)
        client.exploration_changed.connect(self._on_exploration)

    @property
    def rows(self) -> tuple[DepthRow, ...]:
        return tuple(self.table.rows)

    def show(self, site: str) -> None:
        """Show this site's numbers, and update them while its exploration runs."""
        if site != self.site:
            self.site, self.error = site, ""
            self.table.load(())
        self.is_open = True
        if site:
            self.is_loading = True
            self._ask()
        self.changed.emit()

    def close(self) -> None:
        self.is_open = False
        self._timer.stop()

    @property
    def summary(self) -> str:
        """Describe the chart in a sentence or two."""
        rows = self.rows
        if not rows:
            return ""
        last, fastest = rows[-1], max(rows, key=lambda row: row.velocity)
        text = tr(
            "{0} states down to depth {1}. The fastest was depth {2} with {3} states per minute."
        ).format(QLocale().toString(last.states), last.depth, fastest.depth, rate_words(fastest.velocity))
        if len(rows) > 1 and last.new == 0:
            return (
                text + " " + tr("Depth {0} had no new states: the site is fully explored.").format(last.depth)
            )
        if len(rows) > 1 and all(one.velocity >= other.velocity for one, other in pairwise(rows)):
            return text + " " + tr("It slows down with depth.")
        return text

    def _ask(self) -> None:
        site = self.site

        def came(stats: GraphStats) -> None:
            self.is_loading, self.error = False, ""
            if site == self.site:
                self.table.load(stats.depths)
            self.changed.emit()

        def failed(error: Exception) -> None:
            self.is_loading = False
            self.error = "" if isinstance(error, NotFound) else str(error) or type(error).__name__
            self.changed.emit()

        self._tasks.start(self._client.api.graph_stats(site), came, failed, key="map-velocity")

    def _on_exploration(self, event: ExplorationChanged) -> None:
        if self.is_open and event.site == self.site and not self._timer.isActive():
            self._timer.start()


def velocity_cells(row: DepthRow) -> tuple[str, str, str, str, str]:
    number = QLocale().toString
    return (
        str(row.depth),
        number(row.states),
        number(row.new),
        seconds_words(row.seconds),
        rate_words(row.velocity),
    )


def depth_words(row: DepthRow) -> str:
    return tr("Depth {0}: {1} states, {2} of them new in {3}, {4} per minute").format(*velocity_cells(row))


def rate_words(velocity: float) -> str:
    """Format states a minute with the significant digits."""
    return QLocale().toString(round(velocity)) if velocity >= 100 else f"{velocity:.1f}"


def ticks(most: float, wanted: int = 4, *, whole: bool = False) -> list[float]:
    """Return round numbers from 0 to at least ``most``, about ``wanted`` steps apart (1, 2, 2.5 or 5 times 10**n).

    With ``whole`` the steps are integers.
    """
    most = max(most, 1.0 if whole else 0.1)
    power = 10.0 ** floor(log10(most / wanted))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power * wanted >= most * 0.999)
    if whole:
        step = max(1.0, float(-(-step // 1)))
    count = int(-(-most // step))
    return [step * number for number in range(count + 1)]
