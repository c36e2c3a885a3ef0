"""All models of the Map perspective and their connections: the map leads, the panels follow."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.models.graph.block_list import BlockListModel
from app.models.graph.exploration import ExplorationModel
from app.models.graph.map_changes import MapChangesModel
from app.models.graph.map_graph import plural
from app.models.graph.model import MapModel
from app.models.graph.node_detail import NodeDetailModel
from app.models.graph.velocity_plot import VelocityPlotModel

if TYPE_CHECKING:
    from app.engine.api.graph_api import GraphRow, UpdateReport, VerifyGraphReport
    from app.engine.api.run_rows import RunRow
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

COALESCE_MS = 90
"""A state selected for less time than this (a held key) is not loaded."""


class MapWorkspace(QObject):
    """The map's model and those of its panels.

    Signals:
        run_sites(names): sites whose runs can be made into a map.
    """

    run_sites = Signal(list)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.map = MapModel(client, tasks, self)
        self.detail = NodeDetailModel(client, tasks, self)
        self.exploration = ExplorationModel(client, tasks, self)
        self.block_list = BlockListModel(client, tasks, self)
        self.velocity = VelocityPlotModel(client, tasks, self)
        self.changes = MapChangesModel(client, tasks, self)
        self._soon = QTimer(self, singleShot=True, interval=COALESCE_MS)
        self._soon.timeout.connect(self._show_node)
        self.map.node_changed.connect(self._on_node)
        self.map.site_changed.connect(self._on_site)
        self.exploration.started.connect(self.map.follow)
        for part in (self.exploration, self.block_list):
            part.notice.connect(self.map.notice)

    def start(self) -> None:
        self.map.start()

    def open_block_list(self) -> None:
        """Test block-list rules on the open state, else on the home page."""
        self.block_list.show(self.map.site, self.map.node or self.map.home)

    # ------------------------------------------------------------ maintenance
    def verify(self) -> None:
        """Visit every state and transition again and mark those that are gone."""

        def done(report: VerifyGraphReport) -> None:
            gone = plural(len(report.gone_states), "state is gone", "states are gone")
            suspect = plural(len(report.suspect_tips), "tip", "tips")
            self.map.notice.emit(
                self.tr("Verified {0} states: {1}, {2} now suspect").format(report.states, gone, suspect)
            )

        self._tasks.start(self._client.api.graph_verify(self.map.site), done)

    def update(self) -> None:
        """Verify, then explore only what is new."""

        def done(report: UpdateReport) -> None:
            diff = report.diff
            self.map.notice.emit(
                self.tr("Updated: {0} new, {1} gone, {2} changed (H lists them)").format(
                    len(diff.added), len(diff.removed), len(diff.changed)
                )
            )

        self._tasks.start(self._client.api.graph_update(self.map.site), done)

    def ask_run_sites(self) -> None:
        """Find the sites that runs visited and emit ``run_sites``, those with most runs first."""
        from app.engine.api.run_rows import RunFilter

        def came(rows: list[RunRow]) -> None:
            sites = Counter(row.site for row in rows if row.site)
            if not sites:
                self.map.notice.emit(self.tr("There are no runs to make a map from; import some first."))
            self.run_sites.emit([site for site, _ in sites.most_common()])

        self._tasks.start(self._client.api.list_runs(RunFilter()), came)

    def map_from_runs(self, site: str) -> None:
        """Create or extend a site's map from its runs, and show it."""

        def done(row: GraphRow) -> None:
            self.map.notice.emit(
                self.tr("{0}: {1} from runs and exploration").format(
                    row.site, plural(row.states, "state", "states")
                )
            )
            self.map.start()
            self.map.choose_site(row.site)

        self._tasks.start(self._client.api.graph_from_runs(site), done)

    # ------------------------------------------------------------ wires
    def _on_site(self, site: str) -> None:
        self._soon.stop()
        self.detail.clear()
        self.exploration.show(site)

    def _on_node(self, _node: str) -> None:
        self._soon.start()

    def _show_node(self) -> None:
        self.detail.show(self.map.site, self.map.node)
