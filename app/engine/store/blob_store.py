"""Page contents by SHA-256: each is stored once, compressed, in one file.

One SQLite file and not a file a content: a set of 1,350 runs names some 25,000 contents, and creating that many files
costs more than compressing them.  Zstandard level 1 was chosen by measuring (``benchmarks/import_runs.py``): level 3
makes the contents 2 % smaller and takes a quarter longer.
"""

from __future__ import annotations

import hashlib
import sqlite3
import stat
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

import zstandard

from app.engine.store.database import StoreFile, open_database
from app.engine.store.run_files import decompress
from app.errors import InputError, NotFound
from kb.database import connect

ZSTD_LEVEL = 1
_ZSTD, _PLAIN = 1, 0
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF")

PackedBlob = tuple[bytes, int, bytes]
"""Digest, codec, data: a row as it is stored."""


BLOB_FILE = "blobs.sqlite"
_TABLE = (
    "CREATE TABLE blob (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, codec INTEGER NOT NULL,"
    " data BLOB NOT NULL)"
)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(_TABLE)


def is_in_use(path: Path) -> bool:
    """Return whether contents may still be in the log beside the file: it is open, or was never closed."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    except OSError:
        return False


def read_foreign(path: Path, digests: Iterable[str], most_bytes: int) -> dict[str, bytes]:
    """Read contents of another workspace's file, which is untrusted and never written.

    Contents that are missing, longer than ``most_bytes`` packed, or unlike their digest are left out.

    Raises:
        InputError: it can't be read, or is no such file.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise InputError("not a regular file", path=str(path))
    found: dict[str, bytes] = {}
    try:
        with closing(connect(path, immutable=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            made = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'blob'").fetchone()
            if made is None or made[0] != _TABLE:  # a view or a virtual table could go on for ever
                raise InputError("not a file of page contents", path=str(path))
            for digest in digests:
                row = connection.execute(
                    "SELECT codec, data FROM blob WHERE digest = ? AND length(data) <= ?",
                    (_key(digest), most_bytes),
                ).fetchone()
                if row is None:
                    continue
                content = decompress(row[1], str(path)) if row[0] == _ZSTD else bytes(row[1])
                if hashlib.sha256(content).hexdigest() == digest:
                    found[digest] = content
    except (sqlite3.Error, TypeError) as error:
        raise InputError(f"the pages' contents can't be read: {error}", path=str(path)) from error
    return found


def pack_blobs(blobs: Mapping[str, bytes]) -> list[PackedBlob]:
    """Compress contents; needs no connection, so any thread may do it."""
    compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
    return [
        (bytes.fromhex(digest), _PLAIN, content)
        if content.startswith(_PICTURES)
        else (bytes.fromhex(digest), _ZSTD, compressor.compress(content))
        for digest, content in blobs.items()
    ]


class BlobStore(StoreFile):
    """The page contents of a workspace."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, open_database(path, [_create], pragmas=["page_size=16384"]))

    def missing(self, digests: Iterable[str]) -> set[str]:
        """Return the digests that are not stored yet."""
        known = "SELECT 1 FROM blob WHERE digest = ?"
        return {digest for digest in digests if self._one(known, _key(digest)) is None}

    def add(self, packed: Iterable[PackedBlob]) -> None:
        """Store new contents, all of them or nothing."""
        with self.batch():
            self.connection.executemany(
                "INSERT INTO blob (digest, codec, data) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING",
                packed,
            )

    def read(self, digest: str) -> bytes:
        """Return a content's bytes.

        Raises:
            NotFound: nothing has this digest.
        """
        row = self._one("SELECT codec, data FROM blob WHERE digest = ?", _key(digest))
        if row is None:
            raise NotFound(f"no stored page or picture is named {digest[:12]}")
        return decompress(row[1], f"{self.path} {digest[:12]}") if row[0] == _ZSTD else bytes(row[1])


def _key(digest: str) -> bytes:
    try:
        return bytes.fromhex(digest)
    except ValueError:
        return b""
