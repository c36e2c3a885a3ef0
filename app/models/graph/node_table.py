"""The states of a site as a table: the map for the keyboard and the screen reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject

from app.engine.api.graph_api import NodeRow
from app.models.common.object_table import Column, ObjectTable
from app.models.graph.filter import MapFilter, matches, parse_map_filter
from app.models.graph.map_graph import is_untipped, node_words
from app.models.graph.state_titles import path_of
from app.models.knowledge.tip_table import ago, exact_time

NUMBERS = ("depth", "outgoing", "incoming", "elements", "waiting", "runs", "failures", "tips")
COLUMNS = ("title", "url", *NUMBERS, "seen")


class NodeTableModel(ObjectTable[NodeRow]):
    """All states by id."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.id, parent, sorted_by="depth")
        self._filter = MapFilter()
        self.text = ""
        self.names: Mapping[str, str] = {}
        """Short names by state."""
        self.columns = (
            self._column("title", self.tr("State"), self._name, lambda row: self._name(row).lower()),
            self._column(
                "url", self.tr("Address"), lambda row: path_of(row.url), lambda row: row.url.lower()
            ),
            self._column("depth", self.tr("Depth"), lambda row: str(row.depth), lambda row: row.depth),
            self._number("outgoing", self.tr("Out"), lambda row: row.outgoing),
            self._number("incoming", self.tr("In"), lambda row: row.incoming),
            self._number("elements", self.tr("Elements"), lambda row: row.elements),
            self._number("waiting", self.tr("Waiting"), lambda row: row.waiting),
            self._number("runs", self.tr("Runs"), lambda row: row.runs),
            self._number("failures", self.tr("Failed"), lambda row: row.failures),
            self._column("tips", self.tr("Tips"), _tips, lambda row: row.tips),
            self._column(
                "seen", self.tr("Last seen"), lambda row: ago(row.last_seen), lambda row: row.last_seen
            ),
        )

    def _name(self, row: NodeRow) -> str:
        return self.names.get(row.id) or row.title or row.url

    @property
    def is_filtered(self) -> bool:
        return self._filter != MapFilter()

    def matches(self, value: NodeRow) -> bool:
        return not self.is_filtered or matches(value, self._filter)

    def set_filter(self, text: str) -> None:
        """Show the states that match, in the chosen order."""
        self.text, self._filter = text, parse_map_filter(text)
        self.filter_again()

    def _number(self, key: str, title: str, count: Callable[[NodeRow], int]) -> Column[NodeRow]:
        """Return a column of counts, in which zeros are blank."""
        return self._column(key, title, lambda row: str(count(row) or ""), count)

    @staticmethod
    def _column(
        key: str, title: str, cell: Callable[[NodeRow], str], sort: Callable[[NodeRow], Any]
    ) -> Column[NodeRow]:
        def spoken(row: NodeRow) -> str:
            return node_words(row) if key == "title" else f"{title}: {cell(row) or 0}"

        def tooltip(row: NodeRow) -> str:
            return exact_time(row.last_seen) if key == "seen" else node_words(row, lines=True)

        return Column(
            key=key,
            title=title,
            cell=cell,
            sort=lambda row: (sort(row), row.title.lower()),
            numeric=key in NUMBERS,
            tooltip=tooltip,
            spoken=spoken,
        )


def _tips(row: NodeRow) -> str:
    if is_untipped(row):
        return QCoreApplication.translate("map", "none")
    return f"{row.tips}?" if row.suspect_tips else str(row.tips or "")
