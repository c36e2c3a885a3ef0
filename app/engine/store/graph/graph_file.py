"""The file of an interaction graph as a whole: its site, people's edits, cached positions and vectors."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path

import orjson

from app.engine.core.page_state import GraphEdit, GraphEditKind, Mode
from app.engine.store.database import StoreFile, open_database, translated_errors
from app.errors import StoreError
from kb.private import make_folder


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    connection.execute(
        "CREATE TABLE exploration (number INTEGER PRIMARY KEY AUTOINCREMENT, home TEXT NOT NULL, options TEXT NOT NULL,"
        " started_at REAL NOT NULL, ended_at REAL NOT NULL DEFAULT 0, ended TEXT NOT NULL DEFAULT '',"
        " depth_rows TEXT NOT NULL DEFAULT '[]')"
    )
    connection.execute(
        "CREATE TABLE page (id TEXT PRIMARY KEY, url_key TEXT NOT NULL, template TEXT NOT NULL,"
        " structure TEXT NOT NULL, skeleton TEXT NOT NULL, content TEXT NOT NULL, url TEXT NOT NULL,"
        " title TEXT NOT NULL, depth INTEGER NOT NULL, headings TEXT NOT NULL, controls TEXT NOT NULL,"
        " element_keys BLOB NOT NULL, elements TEXT NOT NULL, text TEXT NOT NULL, picture TEXT NOT NULL,"
        " thumbnail TEXT NOT NULL, direct INTEGER, challenge TEXT NOT NULL, status INTEGER NOT NULL,"
        " source TEXT NOT NULL, exploration INTEGER NOT NULL, first_seen REAL NOT NULL, last_seen REAL NOT NULL,"
        " gone_at REAL NOT NULL, notes TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX page_url ON page (url_key)")
    connection.execute(
        "CREATE TABLE transition (id TEXT PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL,"
        " operation TEXT NOT NULL, value TEXT NOT NULL, locator TEXT, attempts INTEGER NOT NULL,"
        " successes INTEGER NOT NULL, seconds REAL NOT NULL, risk REAL NOT NULL, last_at REAL NOT NULL,"
        " last_ok_at REAL NOT NULL, last_arrival TEXT NOT NULL, last_divergence TEXT NOT NULL, last_tier TEXT NOT NULL,"
        " found_by TEXT NOT NULL, exploration INTEGER NOT NULL, gone_at REAL NOT NULL)"
    )
    connection.execute("CREATE INDEX transition_source ON transition (source)")
    connection.execute(
        "CREATE TABLE attempt (seq INTEGER PRIMARY KEY AUTOINCREMENT, transition_id TEXT NOT NULL, at REAL NOT NULL,"
        " arrival TEXT NOT NULL, seconds REAL NOT NULL, tier TEXT NOT NULL, divergence TEXT NOT NULL,"
        " by TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX attempt_transition ON attempt (transition_id, seq)")
    connection.execute(
        "CREATE TABLE frontier (page TEXT NOT NULL, element TEXT NOT NULL, operation TEXT NOT NULL,"
        " value TEXT NOT NULL, locator TEXT, depth INTEGER NOT NULL, place INTEGER NOT NULL, status TEXT NOT NULL,"
        " reason TEXT NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (page, element, operation, value))"
    )
    connection.execute("CREATE INDEX frontier_status ON frontier (status, depth, page, place)")
    connection.execute(
        "CREATE TABLE decision (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,"
        " members TEXT NOT NULL, author TEXT NOT NULL, at REAL NOT NULL, standing INTEGER NOT NULL DEFAULT 1)"
    )
    connection.execute(
        "CREATE TRIGGER decision_no_delete BEFORE DELETE ON decision"
        " BEGIN SELECT RAISE(ABORT, 'decisions are kept for ever'); END"
    )
    connection.execute(
        "CREATE TABLE passed (page TEXT NOT NULL, run TEXT NOT NULL, step INTEGER NOT NULL,"
        " PRIMARY KEY (run, step)) WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX passed_page ON passed (page, run, step)")
    connection.execute(
        "CREATE TABLE position (id TEXT PRIMARY KEY, x REAL NOT NULL, y REAL NOT NULL) WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE vector (encoder TEXT NOT NULL, key TEXT NOT NULL, data BLOB NOT NULL,"
        " PRIMARY KEY (encoder, key))"
    )


def _keep_what_was_served(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE page ADD COLUMN served TEXT NOT NULL DEFAULT ''")


MIGRATIONS = (_create, _keep_what_was_served)


class GraphFile(StoreFile):
    """The graph file of one site; one thread at a time (``store.database``).

    Raises (everywhere):
        StoreError: the file is of a newer version, damaged, or can't be written.  Conflict: another process holds it.
    """

    def __init__(self, path: Path, site: str) -> None:
        self.site = site
        with translated_errors(path):
            make_folder(path.parent, parents=True)
        super().__init__(path, open_database(path, MIGRATIONS))
        self._changes = 0
        try:
            known = self._meta("site")
            if not known:
                self._put_meta(site=site)
            elif known != site:
                raise StoreError(f"{path}: this is the graph of {known!r}, not of {site!r}; move it back")
        except BaseException:
            self.connection.close()
            raise

    @property
    def version(self) -> int:
        """A number that changes with the graph, in this process or another; positions don't count."""
        return (self._others() << 32) + self._changes

    @contextmanager
    def batch(self) -> Generator[None]:
        """Make one transaction of all writes in the block."""
        try:
            with super().batch():
                yield
        except BaseException:
            self._rolled_back()
            raise

    # the graph as a whole

    @property
    def home(self) -> str:
        """The address of the home page; "" before the first exploration."""
        return self._meta("home")

    @property
    def mode(self) -> Mode:
        """The rule for what counts as one node."""
        return Mode(self._meta("mode") or Mode.FULL)

    def describe(self, *, home: str = "", mode: Mode | None = None) -> None:
        """Set the home page or the mode; what is not given stays."""
        given = {"home": home, "mode": mode.value if mode is not None else ""}
        self._put_meta(**{key: value for key, value in given.items() if value})

    # decisions of people

    def decisions(self) -> list[GraphEdit]:
        """Return the merges and splits in force, oldest first."""
        return [
            GraphEdit(
                id=row["id"],
                kind=GraphEditKind(row["kind"]),
                members=tuple(orjson.loads(row["members"])),
                author=row["author"],
                at=row["at"],
            )
            for row in self._all("SELECT * FROM decision WHERE standing ORDER BY seq")
        ]

    def add_decision(self, decision: GraphEdit) -> None:
        """Add an edit; a known one is restored."""
        members = orjson.dumps(decision.members).decode()
        self._write(
            "INSERT INTO decision (id, kind, members, author, at) VALUES (?,?,?,?,?)"
            " ON CONFLICT (id) DO UPDATE SET standing = 1",
            *(decision.id, decision.kind.value, members, decision.author, decision.at),
        )

    def restore_decision(self, decision: str) -> None:
        """Restore a removed edit in its old place."""
        self._write("UPDATE decision SET standing = 1 WHERE id = ?", decision)

    def remove_decision(self, decision: str) -> None:
        """Take an edit out of force; its row stays."""
        self._write("UPDATE decision SET standing = 0 WHERE id = ?", decision)

    # caches: positions of nodes, vectors of their texts

    def positions(self) -> dict[str, tuple[float, float]]:
        """Return the positions of nodes."""
        return {row[0]: (row[1], row[2]) for row in self._all("SELECT id, x, y FROM position")}

    def put_positions(self, positions: Mapping[str, tuple[float, float]]) -> None:
        """Store positions of nodes; other nodes keep theirs."""
        with self.batch():
            self.connection.executemany(
                "INSERT INTO position (id, x, y) VALUES (?,?,?)"
                " ON CONFLICT (id) DO UPDATE SET x = excluded.x, y = excluded.y",
                [(node, x, y) for node, (x, y) in positions.items()],
            )

    def vectors(self, encoder: str) -> dict[str, bytes]:
        """Return an encoder's vectors, by key."""
        rows = self._all("SELECT key, data FROM vector WHERE encoder = ?", encoder)
        return {row[0]: row[1] for row in rows}

    def put_vectors(self, encoder: str, vectors: Mapping[str, bytes], drop: Iterable[str] = ()) -> None:
        """Store vectors of an encoder, and delete those under the keys of ``drop``."""
        with self.batch():
            self.connection.executemany(
                "DELETE FROM vector WHERE encoder = ? AND key = ?", [(encoder, key) for key in drop]
            )
            self.connection.executemany(
                "INSERT INTO vector (encoder, key, data) VALUES (?,?,?)"
                " ON CONFLICT (encoder, key) DO UPDATE SET data = excluded.data",
                [(encoder, key, data) for key, data in vectors.items()],
            )

    # for the part with pages and transitions

    def _rolled_back(self) -> None:
        """Invalidate what was cached since the transaction began."""

    def _others(self) -> int:
        """Return a number that changes when another connection writes."""
        return int(self._one("PRAGMA data_version")[0])

    def _meta(self, key: str) -> str:
        rows = self._all("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0][0]) if rows else ""

    def _put_meta(self, **entries: str) -> None:
        with self._writing():
            self.connection.executemany(
                "INSERT INTO meta (key, value) VALUES (?,?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                list(entries.items()),
            )

    def _write(self, sql: str, *values: object) -> None:
        with self._writing():
            self.connection.execute(sql, values)

    @contextmanager
    def _writing(self) -> Generator[None]:
        with self.batch():
            self._changes += 1
            yield
