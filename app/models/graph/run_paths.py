"""The paths of two runs on the map: the states of their steps, found by page state or by address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.engine.api.engine_api import RunDetail
    from app.engine.core.trajectory import Step
    from app.models.graph.map_graph import MapGraph


class StateFinder:
    """Finds the state of a step: by the page state it recorded, else by its address without the host.

    Of several states with one address it takes that nearest to the home page; an address that is not on the map
    stands for one with another query if only one state has its path.
    """

    def __init__(self, graph: MapGraph) -> None:
        self._known = graph.number
        self._by_address: dict[str, str] = {}
        self._by_path: dict[str, set[str]] = {}
        for row in sorted(graph.rows, key=lambda row: row.depth):
            address, path = _address(row.url)
            self._by_address.setdefault(address, row.id)
            self._by_path.setdefault(path, set()).add(row.id)

    def state_of(self, step: Step) -> str:
        """The id of a step's state, "" where the map has none."""
        return step.page_state if step.page_state in self._known else self.state_at(step.url)

    def state_at(self, url: str) -> str:
        address, path = _address(url)
        found = self._by_address.get(address)
        if found is not None:
            return found
        alike = self._by_path.get(path, ())
        return next(iter(alike)) if len(alike) == 1 else ""


class RunPathsModel(QObject):
    """Two runs that are drawn on the map; ``changed`` when they or their states changed."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.site = ""
        self.runs: tuple[RunDetail, ...] = ()
        self.paths: tuple[tuple[str, ...], ...] = ()
        """The states of each run in order, without repetitions in a row and without steps off the map."""
        self.parting = ""
        """The state at which the runs part, "" where it is not on the map."""
        self._parting_url = ""

    @property
    def is_shown(self) -> bool:
        return bool(self.runs)

    def show(self, left: RunDetail, right: RunDetail, parting_url: str, graph: MapGraph) -> None:
        """Draw these runs; ``parting_url`` is the address at which they part, "" if they don't."""
        self.site, self.runs, self._parting_url = left.run.site, (left, right), parting_url
        self.find(graph)

    def find(self, graph: MapGraph) -> None:
        """Find the states again on another version of the map."""
        if not self.runs or graph.site != self.site:
            return
        finder = StateFinder(graph)
        self.paths = tuple(_path(run.steps, finder) for run in self.runs)
        self.parting = finder.state_at(self._parting_url) if self._parting_url else ""
        self.changed.emit()

    def clear(self) -> None:
        if self.runs:
            self.runs, self.paths, self.parting, self.site = (), (), "", ""
            self.changed.emit()

    @property
    def words(self) -> tuple[str, ...]:
        """A line for each run, and one on where they part."""
        lines = [
            tr("{0}: {1}, {2} states of the map").format(side, run.run.task_id or run.run.id, len(set(path)))
            for side, run, path in zip((tr("left run"), tr("right run")), self.runs, self.paths, strict=False)
        ]
        if self._parting_url:
            lines.append(
                tr("they part at the marked state")
                if self.parting
                else tr("the page at which they part is not on the map")
            )
        return tuple(lines)


def _path(steps: Sequence[Step], finder: StateFinder) -> tuple[str, ...]:
    found: list[str] = []
    for step in steps:
        state = finder.state_of(step)
        if state and (not found or found[-1] != state):
            found.append(state)
    return tuple(found)


def _address(url: str) -> tuple[str, str]:
    """Return path and query of an address, and its path alone; runs come from many hosts."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url, url
    path = parts.path.rstrip("/") or "/"
    route = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    return f"{path}?{parts.query}{route}", f"{path}{route}"
