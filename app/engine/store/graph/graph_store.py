"""A site's interaction graph on disk: one SQLite file with page states, transitions, frontier and edits.

Pictures, texts and elements are blobs of the workspace; the rows hold their digests.  Every public method is one
transaction; ``batch`` joins several, so that a process killed in the middle loses the step in flight at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import orjson

from app.engine.api.graph_api import DepthRow
from app.engine.core.page_state import Mode, PageState
from app.engine.core.transition import (
    Attempt,
    FrontierItem,
    FrontierStatus,
    Transition,
)
from app.engine.store.graph.graph_file import GraphFile
from app.engine.store.graph.graph_rows import (
    COUNT_ATTEMPT,
    FRONTIER,
    PAGES,
    PUT_FRONTIER,
    PUT_PAGE,
    PUT_TRANSITION,
    TRANSITIONS,
    frontier_of,
    frontier_values,
    page_of,
    page_values,
    transition_of,
    transition_values,
)
from app.errors import StoreError

_MAX_PARAMETERS = 500
"""Parameters of one statement; old versions of SQLite take 999."""


class _WithId(Protocol):
    @property
    def id(self) -> str: ...


RowT = TypeVar("RowT", bound=_WithId)


class RowCache(Generic[RowT]):
    """The rows of one table by id, in the order of insertion; only changed rows are read again.

    An open map is rebuilt after every step of an exploration.  Reading 10,000 states and 30,000 transitions takes
    most of a second; reading the few that changed takes none.

    Args:
        read: returns the rows of these ids, or all of them for ``None``, in the order of insertion.
    """

    def __init__(self, read: Callable[[Sequence[str] | None], Iterable[RowT]]) -> None:
        self._read = read
        self._rows: dict[str, RowT] = {}
        self._changed: dict[str, None] = {}
        self._version = -1

    def invalidate(self, ids: Iterable[str]) -> None:
        """Mark rows as written or new."""
        self._changed.update(dict.fromkeys(ids))

    def clear(self) -> None:
        """Invalidate everything, for example after a rollback."""
        self._version = -1

    def all(self, version: int) -> list[RowT]:
        """Return all rows; ``version`` changes when another connection has written."""
        if version != self._version:
            self._rows = {row.id: row for row in self._read(None)}
            self._version = version
        elif self._changed:
            ids = list(self._changed)
            found: dict[str, RowT] = {}
            for start in range(0, len(ids), _MAX_PARAMETERS):
                found.update((row.id, row) for row in self._read(ids[start : start + _MAX_PARAMETERS]))
            for name in ids:
                if name not in found:
                    self._rows.pop(name, None)
            self._rows.update(found)
        self._changed.clear()
        return list(self._rows.values())


T = TypeVar("T")

_UNTRIED: dict[str, Any] = {"attempts": 0, "successes": 0, "seconds": 0.0, "last_at": 0.0, "last_ok_at": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationRecord:
    """One exploration.  ``ended`` is "" while it runs (or was killed); times are Unix seconds."""

    number: int
    home: str
    options: dict[str, Any]
    started_at: float
    ended_at: float
    ended: str
    depth_rows: tuple[DepthRow, ...]


class GraphStore(GraphFile):
    """Pages, transitions, frontier and explorations of one site's graph."""

    def __init__(self, path: Path, site: str) -> None:
        super().__init__(path, site)
        self._pages = RowCache(self._read_pages)
        self._transitions = RowCache(self._read_transitions)

    # explorations

    def begin_exploration(self, home: str, options: Mapping[str, Any], at: float) -> int:
        """Store the start of an exploration; return its number."""
        with self._writing():
            self.describe(home=home, mode=Mode(options["mode"]) if options.get("mode") else None)
            cursor = self.connection.execute(
                "INSERT INTO exploration (home, options, started_at) VALUES (?,?,?)",
                (home, orjson.dumps(dict(options)).decode(), at),
            )
            return int(cursor.lastrowid or 0)

    def end_exploration(
        self, number: int, ended: str, at: float, depth_rows: Iterable[DepthRow] = ()
    ) -> None:
        """Store how an exploration ended (``ExploreReport.ended``); without rows the stored ones stay."""
        with self._writing():
            self._write("UPDATE exploration SET ended = ?, ended_at = ? WHERE number = ?", ended, at, number)
            rows = tuple(depth_rows)
            if rows:
                self.put_depth_rows(number, rows)

    def put_depth_rows(self, number: int, rows: Iterable[DepthRow]) -> None:
        """Store the discovery velocity of an exploration so far."""
        encoded = orjson.dumps(list(rows)).decode()
        self._write("UPDATE exploration SET depth_rows = ? WHERE number = ?", encoded, number)

    def reopen_exploration(self, number: int) -> None:
        """Mark an exploration as running again."""
        self._write("UPDATE exploration SET ended = '', ended_at = 0 WHERE number = ?", number)

    def explorations(self) -> list[ExplorationRecord]:
        """Return all explorations, oldest first."""
        return [
            ExplorationRecord(
                number=row["number"],
                home=row["home"],
                options=orjson.loads(row["options"]),
                started_at=row["started_at"],
                ended_at=row["ended_at"],
                ended=row["ended"],
                depth_rows=tuple(DepthRow(**depth) for depth in orjson.loads(row["depth_rows"])),
            )
            for row in self._all("SELECT * FROM exploration ORDER BY number")
        ]

    # pages

    def put_page(self, page: PageState) -> None:
        """Store a page state; a known one keeps its smaller depth, and its pictures and texts are never emptied."""
        self._pages.invalidate([page.id])
        self._write(PUT_PAGE, *page_values(page))

    def touch(self, page: str, at: float) -> None:
        """Mark a page state as seen again."""
        self._pages.invalidate([page])
        self._write("UPDATE page SET last_seen = max(last_seen, ?), gone_at = 0 WHERE id = ?", at, page)

    def pages(self) -> list[PageState]:
        """Return all page states in the order they were found, including those that are gone."""
        return self._pages.all(self._others())

    def page(self, page: str) -> PageState | None:
        """Return one page state."""
        return next(self._read_pages([page]), None)

    # transitions

    def record(self, found: Transition, attempt: Attempt | None = None) -> None:
        """Store a transition and the result of an attempt.

        Without an attempt, a new transition keeps the evidence it carries; a known one keeps its stored evidence and
        takes the new locator.  An attempt is added to the stored evidence, whatever the given transition carries.
        """
        with self._writing():
            if attempt is not None:
                found = replace(found, **_UNTRIED)
            self._transitions.invalidate([found.id])
            self.connection.execute(PUT_TRANSITION, transition_values(found))
            if attempt is not None:
                self._count(attempt)

    def add_attempt(self, attempt: Attempt) -> None:
        """Add an attempt of a known transition to its evidence."""
        with self._writing():
            self._count(attempt)

    def transitions(self) -> list[Transition]:
        """Return all transitions in the order they were found, including those that are gone."""
        return self._transitions.all(self._others())

    def mark_gone(self, pages: Iterable[str], transitions: Iterable[str], at: float) -> None:
        """Mark states and transitions as gone; ``at`` = 0 unmarks them.  Nothing is deleted."""
        states, ways = list(pages), list(transitions)
        self._pages.invalidate(states)
        self._transitions.invalidate(ways)
        with self._writing():
            self.connection.executemany(
                "UPDATE page SET gone_at = ? WHERE id = ?", [(at, page) for page in states]
            )
            self.connection.executemany(
                "UPDATE transition SET gone_at = ? WHERE id = ?", [(at, found) for found in ways]
            )

    # frontier

    def put_frontier(self, items: Iterable[FrontierItem]) -> None:
        """Store elements with their status; known ones are updated."""
        with self._writing():
            self.connection.executemany(PUT_FRONTIER, [frontier_values(item) for item in items])

    def clear_frontier(self) -> None:
        """Delete every element: the next exploration tries all of them again."""
        self._write("DELETE FROM frontier")

    def frontier(self, page: str | None = None, status: FrontierStatus | None = None) -> list[FrontierItem]:
        """Return elements in the order of exploration: by depth, then as they were found."""
        wanted = [("page = ?", page), ("status = ?", status.value if status is not None else None)]
        given = [(clause, value) for clause, value in wanted if value is not None]
        where = f" WHERE {' AND '.join(clause for clause, _ in given)}" if given else ""
        rows = self._all(f"{FRONTIER}{where} ORDER BY depth, rowid", *(value for _, value in given))
        return list(self._made(frontier_of, rows))

    def waiting(self) -> dict[str, int]:
        """Return the number of waiting elements by page."""
        rows = self._all(
            "SELECT page, count(*) FROM frontier WHERE status = ? GROUP BY page", FrontierStatus.WAITING
        )
        return {row[0]: row[1] for row in rows}

    def skipped(self) -> dict[str, int]:
        """Return the number of skipped elements by reason."""
        rows = self._all(
            "SELECT reason, count(*) FROM frontier WHERE status = ? GROUP BY reason", FrontierStatus.SKIPPED
        )
        return {row[0]: row[1] for row in rows}

    # runs that passed

    def add_run_visits(self, passes: Iterable[tuple[str, str, int]]) -> None:
        """Store (page, run, step): at that step the run was on that page."""
        with self._writing():
            self.connection.executemany(
                "INSERT INTO passed (page, run, step) VALUES (?,?,?)"
                " ON CONFLICT (run, step) DO UPDATE SET page = excluded.page",
                list(passes),
            )

    def passes(self) -> dict[str, list[tuple[str, int]]]:
        """Return (run, step) by page."""
        found: dict[str, list[tuple[str, int]]] = {}
        for row in self._all("SELECT page, run, step FROM passed ORDER BY page, run, step"):
            found.setdefault(row[0], []).append((row[1], row[2]))
        return found

    def imported_runs(self) -> set[str]:
        """Return the runs whose steps are in the graph."""
        return {row[0] for row in self._all("SELECT DISTINCT run FROM passed")}

    # inside

    def _read_pages(self, ids: Sequence[str] | None) -> Iterator[PageState]:
        return self._made(page_of, self._named(PAGES, ids))

    def _read_transitions(self, ids: Sequence[str] | None) -> Iterator[Transition]:
        return self._made(transition_of, self._named(TRANSITIONS, ids))

    def _made(self, make: Callable[[Any], T], rows: Iterable[Any]) -> Iterator[T]:
        try:
            yield from map(make, rows)
        except (KeyError, ValueError, TypeError) as error:
            raise StoreError(
                f"{self.path}: it holds something this program can't read ({error}); take a backup or a newer Sitelore"
            ) from error

    def _named(self, select: str, ids: Sequence[str] | None) -> list[Any]:
        """Return the rows of these ids, or all, in the order of insertion."""
        where = "" if ids is None else f" WHERE id IN ({','.join('?' * len(ids))})"
        return self._all(f"{select}{where} ORDER BY rowid", *(ids or ()))

    def _rolled_back(self) -> None:
        self._pages.clear()
        self._transitions.clear()

    def _count(self, attempt: Attempt) -> None:
        self._transitions.invalidate([attempt.transition])
        self.connection.execute(
            "INSERT INTO attempt (transition_id, at, arrival, seconds, tier, divergence, by) VALUES (?,?,?,?,?,?,?)",
            (
                attempt.transition, attempt.at, attempt.arrival.value, attempt.seconds, attempt.tier,
                attempt.divergence, attempt.by.value,
            ),
        )  # fmt: skip
        self.connection.execute(
            COUNT_ATTEMPT,
            {
                "ok": attempt.arrival.ok,
                "seconds": attempt.seconds,
                "at": attempt.at,
                "arrival": attempt.arrival.value,
                "divergence": attempt.divergence,
                "tier": attempt.tier,
                "by": attempt.by.value,
                "transition": attempt.transition,
            },
        )
