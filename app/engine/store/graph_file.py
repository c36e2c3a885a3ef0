"""The file of an interaction graph as a whole: what it is of, what people decided, what is kept to save work."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import orjson

from app.engine.decision import Decision, DecisionKind
from app.engine.errors import StoreError
from app.engine.page_state import Mode
from app.engine.store.database import explained, open_database, transaction
from app.engine.store.graphs_schema import MIGRATIONS
from kb.private import make_folder


class GraphFile:
    """The graph file of one site; one thread at a time (``store.database``).

    Raises (everywhere):
        StoreError: the file is of a newer version, damaged, or can't be written.  Conflict: another process holds it.
    """

    def __init__(self, path: Path, site: str) -> None:
        self.path, self.site = path, site
        with explained(path):
            make_folder(path.parent, parents=True)
        self._connection = open_database(path, MIGRATIONS)
        self._changes = 0
        try:
            known = self._meta("site")
            if not known:
                self._put_meta(site=site)
            elif known != site:
                raise StoreError(f"{path}: this is the graph of {known!r}, not of {site!r}; move it back")
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def open(cls, path: Path, site: str) -> Self:
        """Open the graph of a site, making the file where there is none."""
        return cls(path, site)

    def close(self) -> None:
        """Close the file; its log is folded in."""
        self._connection.close()

    @property
    def version(self) -> int:
        """Another number after every change to the graph, by this process or another; positions don't count."""
        return (self._others() << 32) + self._changes

    @contextmanager
    def batch(self) -> Generator[None]:
        """All that is written within the block becomes one transaction."""
        try:
            with explained(self.path), transaction(self._connection):
                yield
        except BaseException:
            self._rolled_back()
            raise

    # the graph as a whole

    @property
    def home(self) -> str:
        """Address of the home page; "" before the first exploration."""
        return self._meta("home")

    @property
    def mode(self) -> Mode:
        """What counts as one node."""
        return Mode(self._meta("mode") or Mode.FULL)

    def describe(self, *, home: str = "", mode: Mode | None = None) -> None:
        """Set the home page, or what counts as one node; what is not given stays."""
        given = {"home": home, "mode": mode.value if mode is not None else ""}
        self._put_meta(**{key: value for key, value in given.items() if value})

    # decisions of people

    def decisions(self) -> list[Decision]:
        """Merges and splits that stand, in the order they were made."""
        return [
            Decision(
                id=row["id"],
                kind=DecisionKind(row["kind"]),
                members=tuple(orjson.loads(row["members"])),
                author=row["author"],
                at=row["at"],
            )
            for row in self._all("SELECT * FROM decision WHERE standing ORDER BY seq")
        ]

    def add_decision(self, decision: Decision) -> None:
        """Let a new decision stand; one that is known already stands again."""
        members = orjson.dumps(decision.members).decode()
        self._write(
            "INSERT INTO decision (id, kind, members, author, at) VALUES (?,?,?,?,?)"
            " ON CONFLICT (id) DO UPDATE SET standing = 1",
            (decision.id, decision.kind.value, members, decision.author, decision.at),
        )

    def restore_decision(self, decision: str) -> None:
        """Let a decision that was removed stand again, in its old place."""
        self._write("UPDATE decision SET standing = 1 WHERE id = ?", (decision,))

    def remove_decision(self, decision: str) -> None:
        """Let a decision no longer stand; it is kept."""
        self._write("UPDATE decision SET standing = 0 WHERE id = ?", (decision,))

    # what is kept to save work: where nodes are drawn, vectors of their texts

    def positions(self) -> dict[str, tuple[float, float]]:
        """Where nodes are drawn."""
        return {row[0]: (row[1], row[2]) for row in self._all("SELECT id, x, y FROM position")}

    def put_positions(self, positions: Mapping[str, tuple[float, float]]) -> None:
        """Remember where nodes are drawn; those not named stay where they are."""
        with self._keeping():
            self._connection.executemany(
                "INSERT INTO position (id, x, y) VALUES (?,?,?)"
                " ON CONFLICT (id) DO UPDATE SET x = excluded.x, y = excluded.y",
                [(node, x, y) for node, (x, y) in positions.items()],
            )

    def vectors(self, encoder: str) -> dict[str, bytes]:
        """What an encoder made of texts, by key."""
        rows = self._all("SELECT key, data FROM vector WHERE encoder = ?", encoder)
        return {row[0]: row[1] for row in rows}

    def put_vectors(self, encoder: str, vectors: Mapping[str, bytes], drop: Iterable[str] = ()) -> None:
        """Remember what an encoder made of texts, and forget those under the keys of ``drop``."""
        with self._keeping():
            self._connection.executemany(
                "DELETE FROM vector WHERE encoder = ? AND key = ?", [(encoder, key) for key in drop]
            )
            self._connection.executemany(
                "INSERT INTO vector (encoder, key, data) VALUES (?,?,?)"
                " ON CONFLICT (encoder, key) DO UPDATE SET data = excluded.data",
                [(encoder, key, data) for key, data in vectors.items()],
            )

    # for the part with pages and transitions

    def _rolled_back(self) -> None:
        """What was written since the transaction began is not there any more."""

    def _others(self) -> int:
        """Another number after every change by another connection."""
        with explained(self.path):
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def _meta(self, key: str) -> str:
        rows = self._all("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0][0]) if rows else ""

    def _put_meta(self, **entries: str) -> None:
        with self._writing():
            self._connection.executemany(
                "INSERT INTO meta (key, value) VALUES (?,?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                list(entries.items()),
            )

    def _all(self, sql: str, *values: Any) -> list[Any]:
        with explained(self.path):
            return self._connection.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: Any) -> Any:
        with explained(self.path):
            return self._connection.execute(sql, values).fetchone()

    def _write(self, sql: str, values: tuple[Any, ...]) -> None:
        with self._writing():
            self._connection.execute(sql, values)

    @contextmanager
    def _writing(self) -> Generator[None]:
        with self._keeping():
            self._changes += 1
            yield

    @contextmanager
    def _keeping(self) -> Generator[None]:
        with explained(self.path), transaction(self._connection):
            yield
