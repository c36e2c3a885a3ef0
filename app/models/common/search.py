"""Search over runs, steps and tips, while typing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

if TYPE_CHECKING:
    from app.engine.api.engine_api import SearchHit
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

Index = QModelIndex | QPersistentModelIndex
HIT_ROLE = Qt.ItemDataRole.UserRole + 1
DELAY = 0.12
"""Pause in typing before the query is sent, in seconds."""
LIMIT = 40
KINDS = {"run": "Runs", "step": "Steps", "tip": "Tips"}
"""The groups of hits, in their order."""


class SearchModel(QAbstractListModel):
    """The hits of the last query, runs before steps before tips; ``state`` says what to show when there are none."""

    changed = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._hits: list[SearchHit] = []
        self.text = ""
        self.state = "empty"
        """``empty`` (nothing asked), ``asking``, ``answered`` or ``failed``."""
        self.error = ""

    def ask(self, text: str) -> None:
        """Search for ``text`` once the typing pauses; an earlier query is dropped."""
        text = text.strip()
        if text == self.text and self.state in ("asking", "answered"):
            return
        self.text, self.error = text, ""
        if not text:
            self._tasks.cancel("frame-search")
            self._show([], "empty")
            return
        self.state = "asking"
        self.changed.emit()
        self._tasks.start(
            self._client.api.search(text, LIMIT),
            lambda hits: self._show(hits, "answered"),
            self._failed,
            key="frame-search",
            delay=DELAY,
        )

    def hit(self, row: int) -> SearchHit | None:
        """The hit in a row."""
        return self._hits[row] if 0 <= row < len(self._hits) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        """Number of hits."""
        return 0 if parent.isValid() else len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Title, or the hit itself as ``HIT_ROLE``."""
        hit = self.hit(index.row()) if index.isValid() else None
        if hit is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return hit.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{KINDS.get(hit.kind, hit.kind)}: {hit.title}, {hit.snippet}"
            case _ if role == HIT_ROLE:
                return hit
            case _:
                return None

    def begins_group(self, row: int) -> str:
        """The group's title where a group begins, else ""."""
        hit, before = self.hit(row), self.hit(row - 1)
        if hit is None or (before is not None and before.kind == hit.kind):
            return ""
        return KINDS.get(hit.kind, hit.kind)

    def _show(self, hits: list[SearchHit], state: str) -> None:
        order = list(KINDS)
        self.beginResetModel()
        self._hits = sorted(hits, key=lambda hit: order.index(hit.kind) if hit.kind in order else len(order))
        self.endResetModel()
        self.state = state
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.error = str(error)
        self._show([], "failed")


def marked_pieces(snippet: str) -> list[tuple[str, bool]]:
    """Split a snippet ``click [Save] now`` into pieces, each with whether it matched; stray brackets stay as
    they are.
    """
    pieces: list[tuple[str, bool]] = []
    rest = " ".join(snippet.split())
    while rest:
        before, bracket, after = rest.partition("[")
        found, closing, tail = after.partition("]")
        if not bracket or not closing:
            pieces.append((rest, False))
            break
        if before:
            pieces.append((before, False))
        if found:
            pieces.append((found, True))
        rest = tail
    return pieces
