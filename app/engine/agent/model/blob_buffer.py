"""Buffer of contents on their way to the store: only their names are needed at once."""

from __future__ import annotations

import hashlib


class BlobBuffer:
    """A sink for ``RecordingModel``: names a content (SHA-256) and holds it until it is taken."""

    def __init__(self) -> None:
        self._held: dict[str, bytes] = {}

    def __call__(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self._held[digest] = data
        return digest

    def take(self) -> dict[str, bytes]:
        """Return and clear the contents by name."""
        held, self._held = self._held, {}
        return held
