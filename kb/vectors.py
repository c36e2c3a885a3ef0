"""Cache of text vectors, so that no text is encoded twice.  It may be lost, and is never frozen."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import islice
from sqlite3 import Connection
from typing import Protocol

from kb.errors import KbError

log = logging.getLogger(__name__)

_PER_STATEMENT = 500


class VectorCache(Protocol):
    """Bytes by encoder id (model, revision, weights, quantisation) and by content key of the encoded text."""

    def get_many(self, encoder_id: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The cached vectors; texts missing from the answer have to be encoded."""
        ...

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None:
        """Store these; never fails if they can't be stored."""
        ...


class MemoryVectors:
    """For a read-only file: cached while it is open."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, str], bytes] = {}

    def get_many(self, encoder_id: str, keys: Iterable[str]) -> dict[str, bytes]:
        return {key: self._vectors[encoder_id, key] for key in keys if (encoder_id, key) in self._vectors}

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None:
        self._vectors.update({(encoder_id, key): vector for key, vector in vectors.items()})


class StoredVectors:
    """In the live knowledge base's own file; ``reading`` and ``writing`` acquire its locks."""

    def __init__(
        self,
        connection: Connection,
        reading: Callable[[], AbstractContextManager[None]],
        writing: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._connection, self._reading, self._writing = connection, reading, writing

    def get_many(self, encoder_id: str, keys: Iterable[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with self._reading():
            for part in _parts(keys):
                marks = ", ".join("?" * len(part))
                found.update(
                    (row[0], row[1])
                    for row in self._connection.execute(
                        f"SELECT key, data FROM vector WHERE encoder = ? AND key IN ({marks})",
                        (encoder_id, *part),
                    )
                )
        return found

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None:
        if not vectors:
            return
        try:
            with self._writing():
                self._connection.executemany(
                    "INSERT OR REPLACE INTO vector (encoder, key, data) VALUES (?, ?, ?)",
                    [(encoder_id, key, vector) for key, vector in vectors.items()],
                )
        except KbError as error:
            log.info("%d vectors were not cached: %s", len(vectors), error)


def _parts(keys: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(keys)
    while part := list(islice(rest, _PER_STATEMENT)):
        yield part
