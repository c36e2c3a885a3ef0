"""The bytes of a frozen knowledge base: a small SQLite file that is the same wherever it is made.

Tips and hosts go in sorted, without any index, into pages of a fixed size; the header's fields that tell which
library wrote the file, and how often, are set to constants.  Nothing of the machine or the moment is in it: authors,
times, revision numbers and the names of imported files stand in the manifest.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace

from kb.database import connect_memory
from kb.migrations import FROZEN_ID
from kb.opening import read_hosts
from kb.record import COLUMNS, QUOTED, from_row, to_json, to_row
from kb.tip import Tip

VERSION = 1000
"""Layout of frozen files, major * 1000 + minor."""

_PAGE = 4096
_CHANGE_COUNTER = slice(24, 28)
_VALID_FOR = slice(92, 96)
_LIBRARY_VERSION = slice(96, 100)

Hosts = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Content:
    """What a frozen file holds; ``sha256`` is over the logical content, however it is stored."""

    tips: tuple[Tip, ...]
    hosts: dict[str, tuple[str, ...]]
    sha256: str

    @classmethod
    def of(cls, tips: Iterable[Tip], hosts: Hosts) -> Content:
        """The tips, bare of what may not be frozen, with the hosts of their sites."""
        bare = tuple(sorted((_bare(tip) for tip in tips), key=lambda tip: tip.id))
        sites = {tip.site for tip in bare}
        ours = {site: hosts[site] for site in sorted(hosts) if site in sites}
        return cls(bare, ours, _digest(bare, ours))


def build(content: Content) -> bytes:
    """The file."""
    with closing(connect_memory()) as connection:
        for pragma in (
            f"page_size = {_PAGE}",
            "encoding = 'UTF-8'",
            "auto_vacuum = NONE",
            "secure_delete = ON",  # what SQLite moves about within a page leaves no traces
            f"application_id = {FROZEN_ID}",
            f"user_version = {VERSION}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE meta (key TEXT NOT NULL, value TEXT NOT NULL)")
        connection.execute("CREATE TABLE site_host (site TEXT NOT NULL, hosts TEXT NOT NULL)")
        connection.execute(
            "CREATE TABLE tip (id TEXT NOT NULL, "
            + ", ".join(f'"{name}" TEXT NOT NULL' for name in COLUMNS)
            + ")"
        )
        connection.execute("INSERT INTO meta VALUES ('content_sha256', ?)", (content.sha256,))
        connection.executemany(
            "INSERT INTO site_host VALUES (?, ?)",
            [(site, to_json(list(hosts))) for site, hosts in content.hosts.items()],
        )
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        connection.executemany(
            f"INSERT INTO tip (id, {QUOTED}) VALUES ({marks})",
            [(tip.id, *to_row(tip)) for tip in content.tips],
        )
        connection.execute("COMMIT")
        data = bytearray(connection.serialize())
    # SQLite trusts the page count in the header only while these two agree.
    data[_CHANGE_COUNTER] = data[_VALID_FOR] = (1).to_bytes(4, "big")
    data[_LIBRARY_VERSION] = (3_040_000).to_bytes(4, "big")
    return bytes(data)


def read(connection: sqlite3.Connection) -> Content:
    """What a frozen file holds, with the hash of what is there; the caller compares it with ``stated_hash``."""
    rows = connection.execute("SELECT * FROM tip ORDER BY rowid").fetchall()
    tips = [from_row(row, id=row["id"]) for row in rows]
    return Content.of(tips, read_hosts(connection))


def stated_hash(connection: sqlite3.Connection) -> str:
    """The content's hash as the file itself states it."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'content_sha256'").fetchone()
    return str(row[0]) if row is not None else ""


def _bare(tip: Tip) -> Tip:
    provenance = replace(tip.provenance, author="", source="")
    return replace(tip, provenance=provenance, revision=1, created_at=0.0, changed_at=0.0)


def _digest(tips: Iterable[Tip], hosts: Hosts) -> str:
    digest = hashlib.sha256(to_json([VERSION // 1000, COLUMNS]).encode())
    for row in ([site, *globs] for site, globs in hosts.items()):
        digest.update(b"\nhosts " + to_json(row).encode())
    for tip in tips:
        digest.update(b"\ntip " + to_json([tip.id, *to_row(tip)]).encode())
    return digest.hexdigest()
