"""The index over the runs: queue rows, full-text search, flags, risk.  All of it can be rebuilt from runs/."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.engine.api.engine_api import RunFilter, RunRow, SearchHit
from app.engine.core.sites import CROSS
from app.engine.core.trajectory import Outcome, Run, Step, count_operator_steps
from app.engine.core.verdicts import Flag, Risk, Severity
from app.engine.store.database import open_database, transaction, translated_errors
from app.engine.store.run_index_schema import MIGRATIONS
from app.engine.store.run_search_text import COLUMNS, fts_query, query_words, run_row, snippet, step_row
from app.errors import DamagedIndex
from kb.tip import StoredStep

_ORDERS = {
    "risk": "run.risk DESC, run.steps DESC, run.id",
    "date": "run.started_at DESC, run.id",
    "site": "run.site, run.risk DESC, run.id",
    "steps": "run.steps DESC, run.id",
    "id": "run.id",
}
_PLACEHOLDERS = ",".join("?" * len(COLUMNS))
_HIT = (
    "SELECT page.run, page.step, run.site, run.intent AS run_intent, words.* FROM words"
    " JOIN page ON page.id = words.rowid JOIN run ON run.id = page.run WHERE words.rowid = ?"
)
_CURRENT_LABELS = """
WITH said AS (
  SELECT run, label, max(seq) FROM review.verdict AS v
  WHERE (SELECT standing FROM review.mark WHERE verdict = v.id ORDER BY seq DESC LIMIT 1) = 1 GROUP BY run
)"""


class RunIndex:
    """Queue rows and full-text search.

    ``review`` is the file with the verdicts, which is only read here: the newest label in force of each run.
    """

    def __init__(self, path: Path, review: Path) -> None:
        self.path = path
        self._connection = open_database(path, MIGRATIONS, checkpointed=False)
        try:
            with translated_errors(review):
                # Read-only, or every write here would take the verdicts' write lock as well.
                self._connection.execute("ATTACH DATABASE ? AS review", (f"{review.as_uri()}?mode=ro",))
        except BaseException:
            self._connection.close()
            raise

    # filling

    def put_run(self, run: Run, steps: Sequence[Step], site_of: Callable[[str], str]) -> None:
        """Add or replace a run; ``site_of`` returns the site of a page's address."""
        with self.batch():
            known = self._connection.execute("SELECT 1 FROM run WHERE id = ?", (run.id,)).fetchone()
            if known is not None:
                self._remove(run.id)
            self._connection.execute(
                "INSERT INTO run (id, source, suite, task_id, site, intent, score, outcome, steps, started_at,"
                " content_hash, by_hand) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    run.id, run.source, run.suite, run.task_id, run.site, run.intent, run.score,
                    run.outcome.value, run.step_count, run.started_at, run.content_hash, count_operator_steps(steps),
                ),
            )  # fmt: skip
            first = self._next_row()
            self._connection.executemany(
                "INSERT INTO page (id, run, step, url, site, by_hand) VALUES (?,?,?,?,?,?)",
                [
                    (first, run.id, None, "", "", 0),
                    *(
                        (
                            first + at,
                            run.id,
                            step.index,
                            step.url,
                            site_of(step.url),
                            count_operator_steps((step,)),
                        )
                        for at, step in enumerate(steps, 1)
                    ),
                ],
            )
            self._connection.executemany(
                f"INSERT INTO words (rowid, {', '.join(COLUMNS)}) VALUES (?,{_PLACEHOLDERS})",
                [
                    (first, *run_row(run)),
                    *((first + at, *step_row(step)) for at, step in enumerate(steps, 1)),
                ],
            )
            self._bump()

    def add_step(self, run: str, step: Step, site_of: Callable[[str], str]) -> None:
        """Add the newest step of an active run."""
        with self.batch():
            row = self._next_row()
            self._connection.execute(
                "INSERT INTO page (id, run, step, url, site, by_hand) VALUES (?,?,?,?,?,?)",
                (row, run, step.index, step.url, site_of(step.url), count_operator_steps((step,))),
            )
            self._connection.execute(
                f"INSERT INTO words (rowid, {', '.join(COLUMNS)}) VALUES (?,{_PLACEHOLDERS})",
                (row, *step_row(step)),
            )
            self._connection.execute(
                "UPDATE run SET steps = steps + 1, by_hand = by_hand + ? WHERE id = ?",
                (count_operator_steps((step,)), run),
            )
            self._bump()

    def remove(self, runs: Iterable[str]) -> None:
        """Remove runs from the index; their files stay."""
        with self.batch():
            for run in runs:
                self._remove(run)
            self._bump()

    def put_judgement(
        self, run: str, flags: Sequence[Flag], risk: Risk, signature: str, basis: str = ""
    ) -> None:
        """Replace a run's flags and risk; ``basis`` names the version of detectors and ranking."""
        names = list(dict.fromkeys(flag.detector for flag in flags))
        with self.batch():
            self._connection.execute(
                "UPDATE run SET risk = ?, suspect_step = ?, reasons = ?, flags = ?, signature = ?, basis = ?"
                " WHERE id = ?",
                (
                    risk.value, risk.suspect_step, json.dumps(risk.reasons), json.dumps(names), signature, basis,
                    run,
                ),
            )  # fmt: skip
            self._connection.execute("DELETE FROM flag WHERE run = ?", (run,))
            self._connection.executemany(
                "INSERT INTO flag (run, detector, step, severity, confidence, message, evidence, version)"
                " VALUES (?,?,?,?,?,?,?,?)",
                [
                    (
                        run, flag.detector, flag.step, flag.severity.value, flag.confidence, flag.message,
                        json.dumps(flag.evidence), flag.version,
                    )
                    for flag in flags
                ],
            )  # fmt: skip

    def put_risks(self, risks: Iterable[Risk]) -> None:
        """Replace the risk of runs; their flags stay."""
        with self.batch():
            self._connection.executemany(
                "UPDATE run SET risk = ?, suspect_step = ?, reasons = ? WHERE id = ?",
                [(risk.value, risk.suspect_step, json.dumps(risk.reasons), risk.run) for risk in risks],
            )

    def clear(self) -> None:
        """Empty the index."""
        with self.batch():
            for table in ("run", "page", "words", "flag"):
                self._connection.execute(f"DELETE FROM {table}")
            self._bump()

    @contextmanager
    def batch(self) -> Generator[None]:
        """Make one transaction of all changes in the block; may be nested."""
        with translated_errors(self.path), transaction(self._connection):
            yield

    # asking

    @property
    def data_version(self) -> int:
        """A number that changes when any process adds or removes runs; judgements leave it alone."""
        with translated_errors(self.path):
            return int(
                self._connection.execute("SELECT value FROM counter WHERE name = 'runs'").fetchone()[0]
            )

    def count(self) -> int:
        """Return the number of runs."""
        with translated_errors(self.path):
            return int(self._connection.execute("SELECT count(*) FROM run").fetchone()[0])

    def hashes(self) -> dict[str, str]:
        """Return run ids by content hash."""
        with translated_errors(self.path):
            return dict(self._connection.execute("SELECT content_hash, id FROM run").fetchall())

    def ids(self) -> set[str]:
        """Return the ids of all runs."""
        with translated_errors(self.path):
            return {row[0] for row in self._connection.execute("SELECT id FROM run")}

    def runs_to_detect(self, basis: str) -> list[str]:
        """Return the ended runs that were not detected by ``basis``."""
        with translated_errors(self.path):
            found = self._connection.execute(
                "SELECT id FROM run WHERE basis != ? AND outcome != ? ORDER BY id",
                (basis, Outcome.RUNNING.value),
            )
            return [row[0] for row in found]

    def is_damaged(self) -> bool:
        """Check the whole file; return whether SQLite finds it broken."""
        try:
            with translated_errors(self.path):
                return self._connection.execute("PRAGMA main.quick_check(1)").fetchone()[0] != "ok"
        except DamagedIndex:
            return True

    def rows(self, which: RunFilter) -> list[RunRow]:
        """Return the runs that pass the filter, in its order."""
        wanted: list[str] = []
        values: list[object] = []

        def want(condition: str, *parameters: str) -> None:
            wanted.append(condition)
            values.extend(_storable(value) for value in parameters)

        if which.site:
            want("run.site = ?", which.site)
        if which.suite:
            want("run.suite = ?", which.suite)
        if which.failed:
            want("run.score < 1")
        if which.passed:
            want("run.score >= 1")
        if which.unjudged:
            want("said.label IS NULL")
        if which.label:
            want("said.label = ?", which.label)
        if which.detector:
            want("run.id IN (SELECT run FROM flag WHERE detector = ?)", which.detector)
        if which.search.strip():
            want(
                "run.id IN (SELECT run FROM page WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?))",
                fts_query(which.search) or '""',
            )
        return self._rows(" AND ".join(wanted) or "1", values, _ORDERS.get(which.order, _ORDERS["id"]))

    def row(self, run: str) -> RunRow | None:
        """Return one run's row."""
        return next(iter(self._rows("run.id = ?", [run], "run.id")), None)

    def flags(self, run: str) -> list[Flag]:
        """Return a run's flags in stored order."""
        with translated_errors(self.path):
            found = self._connection.execute("SELECT * FROM flag WHERE run = ? ORDER BY rowid", (run,))
            return [_flag(row) for row in found]

    def all_flags(self) -> dict[str, list[Flag]]:
        """Return flags by run; runs without flags are left out."""
        by_run: dict[str, list[Flag]] = {}
        with translated_errors(self.path):
            for row in self._connection.execute("SELECT * FROM flag ORDER BY rowid"):
                by_run.setdefault(row["run"], []).append(_flag(row))
        return by_run

    def risk(self, run: str) -> Risk:
        """Return a run's risk; 0 at the first step before detection."""
        with translated_errors(self.path):
            row = self._connection.execute(
                "SELECT risk, suspect_step, reasons FROM run WHERE id = ?", (run,)
            ).fetchone()
        if row is None:
            return Risk(run=run, value=0.0, suspect_step=0)
        return Risk(run=run, value=row[0], suspect_step=row[1], reasons=tuple(json.loads(row[2])))

    def search(self, text: str, limit: int) -> list[SearchHit]:
        """Return the runs and steps that contain all words, best first; any text is a valid query."""
        asked = fts_query(text)
        if not asked or limit < 1:
            return []
        with translated_errors(self.path):
            best: list[tuple[int, float]] = self._connection.execute(
                "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
                (asked, min(limit, 1000)),
            ).fetchall()
            found = [(self._connection.execute(_HIT, (row,)).fetchone(), score) for row, score in best]
        words = query_words(text)
        return [
            SearchHit(
                kind="run" if hit["step"] is None else "step",
                id=hit["run"],
                step=hit["step"],
                title=f"{hit['site']} · {' '.join((hit['run_intent'] or hit['run']).split())[:120]}",
                snippet=snippet([hit[column] for column in COLUMNS], words),
                score=-score,
            )
            for hit, score in found
        ]

    def stored_steps(self) -> list[StoredStep]:
        """Return every step of an agent for pre-flight; steps by hand are left out, as a person is given no tips."""
        with translated_errors(self.path):
            found = self._connection.execute(
                "SELECT page.run, page.step, page.url, page.site, run.site, run.intent, run.score FROM page"
                " JOIN run ON run.id = page.run WHERE page.step IS NOT NULL AND NOT page.by_hand"
                " ORDER BY page.id"
            ).fetchall()
        return [
            StoredStep(
                run=run,
                step=step,
                url=url,
                site=site or (run_site if run_site != CROSS else ""),
                text=intent,
                failed=None if score is None else score < 1,
            )
            for run, step, url, site, run_site, intent, score in found
        ]

    def site_lengths(self) -> dict[str, float]:
        """Return the median number of agent steps by site; runs without any don't count."""
        with translated_errors(self.path):
            found = self._connection.execute(
                "SELECT site, avg(steps) FROM ("
                " SELECT site, steps - by_hand AS steps,"
                " row_number() OVER (PARTITION BY site ORDER BY steps - by_hand) AS place,"
                " count(*) OVER (PARTITION BY site) AS runs FROM run WHERE steps > by_hand"
                ") WHERE place IN ((runs + 1) / 2, (runs + 2) / 2) GROUP BY site"
            ).fetchall()
        return {site: float(steps) for site, steps in found}

    def by_hand(self) -> dict[str, int]:
        """Return the number of steps by hand, by run; runs without any are left out."""
        with translated_errors(self.path):
            return dict(self._connection.execute("SELECT id, by_hand FROM run WHERE by_hand").fetchall())

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # inside

    def _rows(self, condition: str, values: Sequence[object], order: str) -> list[RunRow]:
        with translated_errors(self.path):
            found: list[sqlite3.Row] = self._connection.execute(
                f"{_CURRENT_LABELS} SELECT run.*, said.label FROM run LEFT JOIN said ON said.run = run.id"
                f" WHERE {condition} ORDER BY {order}",
                values,
            ).fetchall()
        return [
            RunRow(
                id=row["id"],
                source=row["source"],
                suite=row["suite"],
                task_id=row["task_id"],
                site=row["site"],
                intent=row["intent"],
                score=row["score"],
                outcome=row["outcome"],
                steps=row["steps"],
                risk=row["risk"],
                suspect_step=row["suspect_step"],
                flags=tuple(json.loads(row["flags"])),
                label=row["label"] or "",
                started_at=row["started_at"],
                signature=row["signature"],
                looked_at=bool(row["basis"]),
            )
            for row in found
        ]

    def _next_row(self) -> int:
        return int(self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM page").fetchone()[0])

    def _remove(self, run: str) -> None:
        execute = self._connection.execute
        execute("DELETE FROM words WHERE rowid IN (SELECT id FROM page WHERE run = ?)", (run,))
        for table, column in (("page", "run"), ("flag", "run"), ("run", "id")):
            execute(f"DELETE FROM {table} WHERE {column} = ?", (run,))

    def _bump(self) -> None:
        self._connection.execute("UPDATE counter SET value = value + 1 WHERE name = 'runs'")


def _storable(text: str) -> str:
    """Replace lone surrogates, which SQLite does not take, by question marks."""
    return text.encode("utf-8", "replace").decode()


def _flag(row: sqlite3.Row) -> Flag:
    return Flag(
        run=row["run"],
        detector=row["detector"],
        step=row["step"],
        severity=Severity(row["severity"]),
        confidence=row["confidence"],
        message=row["message"],
        evidence=json.loads(row["evidence"]),
        version=row["version"],
    )
