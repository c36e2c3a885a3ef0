"""The Map perspective: the site, its states, the path between two of them, and actions on them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.api.run_filter_words import quoted
from app.models.graph.map_graph import MapGraph, Mask, page_of
from app.models.graph.node_table import NodeTableModel
from app.models.graph.path import PathModel, PathState
from app.models.graph.run_paths import RunPathsModel
from app.models.graph.search import StateSearchModel
from app.models.graph.thumbnails import Thumbnails

if TYPE_CHECKING:
    from app.engine.api.engine_api import RunDetail
    from app.engine.api.graph_api import GraphPicture, GraphRow, NodeRow
    from app.engine.core.events import ExplorationChanged, GraphChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

SECONDS_BETWEEN = 1.0
"""Shortest time between two updates of a growing graph; longer for large ones, which take longer to read."""
STATES_A_SECOND = 2_500


class MapState(StrEnum):
    """State of the map area."""

    LOADING = "loading"
    NO_GRAPH = "no graph"
    EMPTY = "empty"
    READY = "ready"
    ERROR = "error"


class MapModel(QObject):
    """State and actions of the Map; views bind to its signals and item models.

    Signals:
        changed: state, counts or filter changed.
        sites_changed: graphs were added or removed.
        site_changed(site): another site is shown.
        graph_changed: ``graph`` is another one (of another site, or grown).  filter_changed: ``shown`` changed.
        node_changed(node): another state is open ("" for none).
        selection_changed: other states are selected.
        center_wanted(node): the map should scroll to a state chosen elsewhere.
        explore_wanted: the form to explore a site should be shown.
        notice(text): a passing message.
    """

    changed = Signal()
    sites_changed = Signal()
    site_changed = Signal(str)
    graph_changed = Signal()
    filter_changed = Signal()
    node_changed = Signal(str)
    selection_changed = Signal()
    center_wanted = Signal(str)
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.table = NodeTableModel(self)
        self.path, self.run_paths = PathModel(client, tasks, self), RunPathsModel(self)
        self.search = StateSearchModel(client, tasks, self)
        self.thumbnails = Thumbnails(client, tasks, self)
        self.state, self.error = MapState.LOADING, ""
        self.sites: tuple[GraphRow, ...] = ()
        self.site = self.node = ""
        self.selected: tuple[str, ...] = ()
        self.graph = MapGraph.of(_nothing(""))
        self.shown: Mask = np.ones(0, bool)
        self._wish = ""
        """A state to open once its site's graph is there."""
        self._followed = ""
        """A site whose exploration has begun and whose graph may not be there yet."""
        self._asking = self._stale = False
        self._asked_at = 0.0
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._ask)
        client.graph_changed.connect(self._on_graph)
        client.exploration_changed.connect(self._on_exploration)
        client.runs_changed.connect(self._on_facts)
        client.knowledge_changed.connect(self._on_facts)

    # ------------------------------------------------------------ sites
    def start(self) -> None:
        """Load the list of graphs, and show one."""
        self._tasks.start(self._client.api.graphs(), self._know_sites, self._failed, key="map-sites")

    def choose_site(self, site: str, node: str = "") -> None:
        if site == self.site:
            if node:
                self.open(node)
            return
        self.site, self._wish = site, node
        self._soon.stop()
        self._asking = False
        self.path.clear()
        self.run_paths.clear()
        self._show(MapGraph.of(_nothing(site)))
        self._set_node("")
        self.state = MapState.LOADING if site else MapState.NO_GRAPH
        self.site_changed.emit(site)
        self.changed.emit()
        if site:
            self._ask()

    def follow(self, site: str) -> None:
        """Show the growing map of an exploration that has begun."""
        self._followed = site
        if site != self.site:
            self.choose_site(site)

    @property
    def home(self) -> str:
        return min(self.graph.rows, key=lambda row: row.depth).id if len(self.graph) else ""

    # ------------------------------------------------------------ states
    def row(self, node: str) -> NodeRow | None:
        return self.graph.row(node)

    @property
    def current(self) -> NodeRow | None:
        return self.graph.row(self.node)

    @property
    def failures_filter(self) -> str:
        """The words of Review's filter for the failed runs of the open state's page; "" where none failed."""
        row = self.current
        return f"failed page:{quoted(self.site + page_of(row))}" if row is not None and row.failures else ""

    def title(self, node: str) -> str:
        return self.graph.title(node)

    def select(self, node: str) -> None:
        """Open a state; with a path start set, find the path to it."""
        self.choose((node,) if node else (), node)

    def choose(self, nodes: Sequence[str], current: str) -> None:
        """Select these states and open one of them."""
        selected = tuple(dict.fromkeys(one for one in nodes if one in self.graph.number))
        self._set_node(current if current in self.graph.number else "")
        if selected != self.selected:
            self.selected = selected
            self.selection_changed.emit()
        if self.path.state is PathState.CHOOSING and self.node and self.node != self.path.start:
            self.path_to(self.node)

    def toggle(self, node: str) -> None:
        if node in self.selected:
            rest = tuple(one for one in self.selected if one != node)
            self.choose(rest, rest[-1] if rest else "")
        else:
            self.choose((*self.selected, node), node)

    def open(self, node: str) -> None:
        """Open a state found elsewhere (a search hit, a path step) and scroll to it."""
        if node not in self.graph.number:
            self.notice.emit(self.tr("This state is no longer on the map."))
            return
        self.select(node)
        self.center_wanted.emit(node)

    def neighbour(self, offset: int) -> str:
        """Return the state some rows further in the filtered, sorted table."""
        count, here = self.table.rowCount(), self.table.row_of(self.node)
        if not count:
            return ""
        row = self.table.at(max(0, min(here + offset, count - 1)) if here >= 0 else 0)
        return row.id if row is not None else ""

    # ------------------------------------------------------------ filter
    def set_filter(self, text: str) -> None:
        """Show the states that match; the others stay on the map as shadows."""
        if text != self.table.text:
            self.table.set_filter(text)
            self._mask()
            self.filter_changed.emit()
            self.changed.emit()

    @property
    def counts_text(self) -> str:
        """``12 / 52``."""
        return f"{int(self.shown.sum())} / {len(self.graph)}"

    # ------------------------------------------------------------ ways
    def path_from(self, node: str) -> None:
        """Start a path here ("" for the home page); the state chosen next is its end."""
        self.path.begin(self.site, node, self.title(node) if node else self.tr("home page"))

    def path_to(self, node: str) -> None:
        """Show the path to a state, from the start set or the home page."""
        if node not in self.graph.number:
            return
        start = self.path.start if self.path.is_shown and self.path.start in self.graph.number else ""
        title = self.title(start) if start else self.tr("home page")
        self.path.ask(self.site, node, self.title(node), start if start != node else "", title)

    def navigate_to(self, node: str) -> None:
        if node in self.graph.number:
            self.path.go(self.site, node, self.title(node))

    def show_runs(self, left: RunDetail, right: RunDetail, parting_url: str) -> str:
        """Draw the paths of two runs on their site's map; return why there is none, "" where there is."""
        site = left.run.site
        if site not in {row.site for row in self.sites}:
            return self.tr("{0} has no map yet. Explore the site, or make a map from its runs.").format(site)
        self.choose_site(site)
        self.run_paths.show(left, right, parting_url, self.graph)
        return ""

    # ------------------------------------------------------------ operations
    @property
    def can_merge(self) -> bool:
        return len(self.selected) > 1

    @property
    def can_split(self) -> bool:
        """Whether the open state merges several pages."""
        row = self.current
        return row is not None and row.pages > 1

    def merge(self) -> None:
        """Merge the selected states; undo splits them again."""
        nodes = self.selected

        def merged(node: str) -> None:
            self._wish = node
            self.notice.emit(self.tr("{0} states merged").format(len(nodes)))

        if len(nodes) > 1:
            self._tasks.start(self._client.api.merge_nodes(self.site, nodes), merged)

    def split(self) -> None:
        """Make the pages merged in the open state separate states."""
        row = self.current

        def came_apart(nodes: list[str]) -> None:
            self._wish = nodes[0] if nodes else ""
            self.notice.emit(self.tr("Split into {0} states").format(len(nodes)))

        if row is not None:
            self._tasks.start(self._client.api.split_node(self.site, row.id), came_apart)

    def lay_out_again(self) -> None:
        work = self._fetch(self.site, tidy=True)
        self._tasks.start(work, self._on_loaded, self._failed, key="map-picture")

    # ------------------------------------------------------------ session
    def session(self) -> dict[str, Any]:
        """Return the state to keep for the next start."""
        return {"site": self.site, "node": self.node, "filter": self.table.text}

    def restore(self, session: dict[str, Any]) -> None:
        """Restore a saved state; call it before ``start``."""
        if isinstance(session.get("filter"), str):
            self.set_filter(session["filter"])
        site, node = session.get("site"), session.get("node")
        if isinstance(site, str) and site:
            self.choose_site(site, node if isinstance(node, str) else "")

    # ------------------------------------------------------------ answers
    def _know_sites(self, rows: list[GraphRow]) -> None:
        self.sites = tuple(rows)
        self.sites_changed.emit()
        names = [row.site for row in rows]
        if self.site not in names and (not self.site or self.site != self._followed):
            self.choose_site(names[0] if names else "")
        if not self.site:
            self.state = MapState.NO_GRAPH
        self.changed.emit()

    def _ask_soon(self) -> None:
        if not self.site:
            return
        if self._asking:  # a slow answer is kept although a newer request came
            self._stale = True
        elif not self._soon.isActive():
            between = max(SECONDS_BETWEEN, len(self.graph) / STATES_A_SECOND)
            wait = self._asked_at + between - time.monotonic()
            self._soon.start(max(round(wait * 1000), 20))

    def _ask(self) -> None:
        self._asking, self._stale, self._asked_at = True, False, time.monotonic()
        self._tasks.start(self._fetch(self.site), self._on_loaded, self._failed, key="map-picture")

    async def _fetch(self, site: str, *, tidy: bool = False) -> MapGraph:
        picture = await self._client.api.graph_picture(site, tidy)
        return await asyncio.to_thread(MapGraph.of, picture)

    def _on_loaded(self, graph: MapGraph) -> None:
        self._asking, self.error = False, ""
        if graph.site != self.site:
            return
        self._show(graph)
        self.state = MapState.READY if len(graph) else MapState.EMPTY
        wish, self._wish = self._wish, ""
        if wish in graph.number:
            self.select(wish)
        elif self.node not in graph.number:
            self._set_node("")
        kept = tuple(node for node in self.selected if node in graph.number)
        if kept != self.selected:
            self.selected = kept
            self.selection_changed.emit()
        self.changed.emit()
        if self._stale:
            self._ask_soon()

    def _failed(self, error: Exception) -> None:
        self._asking, self.error = False, str(error)
        if len(self.graph):
            self.notice.emit(self.error)
            return
        self.state = MapState.EMPTY if self.site and self.site == self._followed else MapState.ERROR
        self.changed.emit()

    def _show(self, graph: MapGraph) -> None:
        self.graph = graph
        self.table.names = {row.id: name for row, name in zip(graph.rows, graph.titles, strict=True)}
        self.table.load(graph.rows)
        self._mask()
        self.run_paths.find(graph)
        self.graph_changed.emit()

    def _mask(self) -> None:
        rows = self.graph.rows
        if self.table.is_filtered:
            self.shown = np.fromiter((self.table.matches(row) for row in rows), bool, len(rows))
        else:
            self.shown = np.ones(len(rows), bool)

    def _set_node(self, node: str) -> None:
        if node != self.node:
            self.node = node
            self.table.hold([node])
            self.node_changed.emit(node)

    def _on_graph(self, event: GraphChanged) -> None:
        if event.site == self.site:
            self._ask_soon()
        if event.site not in [row.site for row in self.sites] or not self.site:
            self.start()

    def _on_exploration(self, event: ExplorationChanged) -> None:
        if event.state == "running" and not self.site:
            self.start()

    def _on_facts(self, _event: object) -> None:
        if self.state is MapState.READY:
            self._ask_soon()
        elif self.state is MapState.ERROR:  # the engine may have been restarted
            self.start()
            self._ask_soon()


def _nothing(site: str) -> GraphPicture:
    from app.engine.api.graph_api import GraphPicture

    return GraphPicture(
        site=site, version=0, nodes=(), x=(), y=(), sources=(), targets=(), weights=(), tried=()
    )
