"""Searching a state by a description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from app.engine.api.graph_api import NodeHit, StateChoices
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

DELAY = 0.15
"""Seconds without a key press before the search starts."""


class NodeHitList(ObjectList["NodeHit"]):
    """Search hits, best first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda hit: hit.node, parent)

    def words(self, value: NodeHit) -> str:
        """Title, address, the matched words and those that are not there."""
        matched = ", ".join(value.matched[:6])
        missing = ", ".join(value.missing[:6])
        parts = (value.title, value.url, matched, _tr("not there: {0}").format(missing) if missing else "")
        return " · ".join(part for part in parts if part)


class StateSearchModel(QObject):
    """Searches as the person types; a newer query replaces the older one.

    Signals:
        changed: the hits, ``like`` (whether the map has anything like the text), ``asking`` or ``error``.
    """

    changed = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.hits = NodeHitList(self)
        self.text = self.error = ""
        self.asking = self.like = False

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
            self._client.api.graph_choices(site, self.text),
            self._found,
            self._failed,
            key="map-search",
            delay=DELAY,
        )
        self.changed.emit()

    def _found(self, choices: StateChoices) -> None:
        self.asking, self.like = False, choices.like
        self.hits.replace(choices.hits)
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.asking, self.error = False, str(error)
        self.hits.replace([])
        self.changed.emit()


def _tr(text: str) -> str:
    return QCoreApplication.translate("map", text)
