"""The bytes of a frozen knowledge base: a small SQLite file that is the same on every machine.

Tips and hosts are written sorted, without any index; ``kb.pages`` builds the bytes.  The file contains nothing of the
machine or the moment: authors, times, revision numbers and the names of imported files are in the manifest.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kb import pages
from kb.migrations import FROZEN_ID
from kb.opening import read_hosts
from kb.pages import Table
from kb.record import COLUMNS, FIRST_COLUMNS, from_row, to_json, to_row
from kb.tip import Tip, TipRecord

VERSION = 2000
"""Layout of frozen files, major * 1000 + minor; files of layout 1 have no steps, anchors and records."""

RECORD = "record"
"""The column of counts as of the freeze, JSON; empty for a tip without evidence."""

Hosts = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a frozen file; ``sha256`` is over the logical content, however it is stored."""

    tips: tuple[Tip, ...]
    hosts: dict[str, tuple[str, ...]]
    sha256: str

    @classmethod
    def of(
        cls, tips: Iterable[Tip], hosts: Hosts, layout: int = VERSION, *, as_stored: bool = False
    ) -> Content:
        """The tips, without fields that must not be frozen, with the hosts of their sites.

        Tips that are read from a frozen file keep their steps ``as_stored``: a newer compiler would change the hash.
        """
        if not as_stored:
            from kb.compiler import procedure_of  # late: reading a frozen file compiles nothing

            tips = (replace(tip, procedure=procedure_of(tip)) for tip in tips)
        bare = tuple(sorted(map(_bare, tips), key=lambda tip: tip.id))
        sites = {tip.site for tip in bare}
        ours = {site: hosts[site] for site in sorted(hosts) if site in sites}
        return cls(bare, ours, _digest(bare, ours, layout))


def build(content: Content) -> bytes:
    """Build the file."""
    tables = [
        Table("meta", ("key", "value"), [("content_sha256", content.sha256)]),
        Table(
            "site_host",
            ("site", "hosts"),
            [(site, to_json(list(hosts))) for site, hosts in content.hosts.items()],
        ),
        Table("tip", ("id", *COLUMNS, RECORD), (_row(tip) for tip in content.tips)),
    ]
    return pages.build(tables, application_id=FROZEN_ID, user_version=VERSION)


def read(connection: sqlite3.Connection) -> Content:
    """Return the content of a frozen file with its computed hash; the caller compares it with ``stated_hash``."""
    layout = int(connection.execute("PRAGMA user_version").fetchone()[0])
    rows = connection.execute("SELECT * FROM tip ORDER BY rowid").fetchall()
    tips = [from_row(row, id=row["id"]) for row in rows]
    if layout >= VERSION:
        tips = [replace(tip, record=_record(row[RECORD])) for tip, row in zip(tips, rows, strict=True)]
    return Content.of(tips, read_hosts(connection), layout, as_stored=True)


def stated_hash(connection: sqlite3.Connection) -> str:
    """The content's hash as stated in the file."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'content_sha256'").fetchone()
    return str(row[0]) if row is not None else ""


def _row(tip: Tip) -> tuple[str, ...]:
    record = tip.record  # not by ``asdict``, which copies deeply: a sixth of the time to open a file
    counts = {name: count for name in TipRecord.__dataclass_fields__ if (count := getattr(record, name))}
    return (tip.id, *to_row(tip), to_json(counts) if counts else "")


def _record(text: str) -> TipRecord:
    counts: dict[str, Any] = json.loads(text) if text else {}
    return TipRecord(**{name: int(counts[name]) for name in TipRecord.__dataclass_fields__ if name in counts})


def _bare(tip: Tip) -> Tip:
    provenance = replace(tip.provenance, author="", source="")
    return replace(
        tip,
        provenance=provenance,
        tags=(),
        revision=1,
        created_at=0.0,
        changed_at=0.0,
        waiver=None,
        last_test=None,
    )


def _digest(tips: Iterable[Tip], hosts: Hosts, layout: int) -> str:
    first = layout < VERSION
    columns = FIRST_COLUMNS if first else (*COLUMNS, RECORD)
    digest = hashlib.sha256(to_json([layout // 1000, columns]).encode())
    for row in ([site, *globs] for site, globs in hosts.items()):
        digest.update(b"\nhosts " + to_json(row).encode())
    for tip in tips:
        row = (tip.id, *to_row(tip)[: len(FIRST_COLUMNS)]) if first else _row(tip)
        digest.update(b"\ntip " + to_json(list(row)).encode())
    return digest.hexdigest()
