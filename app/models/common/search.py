"""Search over runs, steps and tips, while typing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from app.engine.api.engine_api import SearchHit
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

DELAY = 0.12
"""Pause in typing before the query is sent, in seconds."""
LIMIT = 40
KINDS = {"run": "Runs", "step": "Steps", "tip": "Tips"}
"""The groups of hits, in their order."""


class SearchModel(ObjectList["SearchHit"]):
    """The hits of the last query, runs before steps before tips; ``state`` says what to show when there are none."""

    changed = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(lambda hit: (hit.kind, hit.id, hit.step), parent)
        self._client, self._tasks = client, tasks
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

    def words(self, value: SearchHit) -> str:
        return f"{KINDS.get(value.kind, value.kind)}: {value.title}, {value.snippet}"

    def begins_group(self, row: int) -> str:
        """The group's title where a group begins, else ""."""
        hit, before = self.at(row), self.at(row - 1)
        if hit is None or (before is not None and before.kind == hit.kind):
            return ""
        return KINDS.get(hit.kind, hit.kind)

    def _show(self, hits: list[SearchHit], state: str) -> None:
        order = list(KINDS)
        self.replace(sorted(hits, key=lambda hit: order.index(hit.kind) if hit.kind in order else len(order)))
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
