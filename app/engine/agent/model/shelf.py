"""Contents on their way to the store: whoever makes them may not touch it, and only the names are needed at once."""

from __future__ import annotations

import hashlib


class Shelf:
    """A sink for ``RecordingModel``: gives a content its name (SHA-256) and holds it until it is taken."""

    def __init__(self) -> None:
        self._held: dict[str, bytes] = {}

    def __call__(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self._held[digest] = data
        return digest

    def take(self) -> dict[str, bytes]:
        """Everything put here since it was last taken, by name."""
        held, self._held = self._held, {}
        return held
