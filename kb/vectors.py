"""Vectors of texts, kept so that no text is encoded twice.  A cache: it may be lost, and is never frozen."""

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
        """The vectors that are here; what is missing from the answer has to be encoded."""
        ...

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None:
        """Keep these; never fails for want of a place to keep them in."""
        ...


class MemoryVectors:
    """For a file that can't be written to: kept as long as it is open."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, str], bytes] = {}

    def get_many(self, encoder_id: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The vectors that are here."""
        return {key: self._vectors[encoder_id, key] for key in keys if (encoder_id, key) in self._vectors}

    def put_many(self, encoder_id: str, vectors: Mapping[str, bytes]) -> None:
        """Keep these."""
        self._vectors.update({(encoder_id, key): vector for key, vector in vectors.items()})


class StoredVectors:
    """In the live knowledge base's own file; ``reading`` and ``writing`` take its locks."""

    def __init__(
        self,
        connection: Connection,
        reading: Callable[[], AbstractContextManager[None]],
        writing: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._connection, self._reading, self._writing = connection, reading, writing

    def get_many(self, encoder_id: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The vectors that are here."""
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
        """Keep these; where another process writes or the disk is full they are encoded again some day."""
        if not vectors:
            return
        try:
            with self._writing():
                self._connection.executemany(
                    "INSERT OR REPLACE INTO vector (encoder, key, data) VALUES (?, ?, ?)",
                    [(encoder_id, key, vector) for key, vector in vectors.items()],
                )
        except KbError as error:
            log.info("%d vectors are not kept: %s", len(vectors), error)


def _parts(keys: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(keys)
    while part := list(islice(rest, _PER_STATEMENT)):
        yield part
