"""Searching a state by a description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from app.engine.api.graph_api import NodeHit
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

DELAY = 0.15
"""Seconds without a key press before the search starts."""
MAX_HITS = 12


class NodeHitList(ObjectList["NodeHit"]):
    """Search hits, best first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda hit: hit.node, parent)

    def words(self, value: NodeHit) -> str:
        """Title, address and the matched words."""
        matched = ", ".join(value.matched[:6])
        return " · ".join(part for part in (value.title, value.url, matched) if part)


class StateSearchModel(QObject):
    """Searches as the person types; a newer query replaces the older one.

    Signals:
        changed: the hits, ``asking`` or ``error``.
    """

    changed = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.hits = NodeHitList(self)
        self.text = self.error = ""
        self.asking = False

    def ask(self, site: str, text: str) -> None:
        """Search the states of a site; an empty text finds none."""
        self.text, self.error = text.strip(), ""
        if not self.text or not site:
            self._tasks.cancel("map-search")
            self.asking = False
            self.hits.replace([])
            self.changed.emit()
            return
        self.asking = True
        self._tasks.start(
            self._client.api.graph_search(site, self.text, "late", MAX_HITS),
            self._found,
            self._failed,
            key="map-search",
            delay=DELAY,
        )
        self.changed.emit()

    def _found(self, hits: list[NodeHit]) -> None:
        self.asking = False
        self.hits.replace(hits)
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.asking, self.error = False, str(error)
        self.hits.replace([])
        self.changed.emit()
