"""The index over the runs: queue rows, full-text search, flags, risk.  All of it can be rebuilt from runs/."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from app.engine.api.engine_api import SearchHit
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.sites import CROSS
from app.engine.core.trajectory import Outcome, Run, Step, count_operator_steps
from app.engine.core.verdicts import Flag, Risk, Severity
from app.engine.store.database import StoreFile, open_database, translated_errors
from app.engine.store.run_index_schema import MIGRATIONS
from app.engine.store.run_queue_query import JUDGED, ORDERS, conditions
from app.engine.store.run_search_text import (
    COLUMNS,
    fts_query,
    query_words,
    run_row,
    snippet,
    step_row,
)
from app.errors import DamagedIndex
from kb.tip import StoredStep

_PLAIN = (
    "id", "source", "suite", "task_id", "site", "intent", "score", "outcome", "steps", "risk", "suspect_step",
    "started_at", "signature", "needs",
)  # fmt: skip
"""Columns that are fields of a row of the queue as they are."""
_PUT_PAGE = "INSERT INTO page (id, run, step, url, site, by_hand) VALUES (?,?,?,?,?,?)"
_PUT_WORDS = f"INSERT INTO words (rowid, {', '.join(COLUMNS)}) VALUES (?,{','.join('?' * len(COLUMNS))})"
_HIT = (
    "SELECT page.run, page.step, run.site, run.intent AS run_intent, words.* FROM words"
    " JOIN page ON page.id = words.rowid JOIN run ON run.id = page.run WHERE words.rowid = ?"
)

_QUEUE_MARK = (
    "SELECT count(*), total(outcome = 'running'), count(score), total(score), total(basis != ''), total(risk),"
    " (SELECT coalesce(max(seq), 0) FROM review.verdict), (SELECT coalesce(max(seq), 0) FROM review.mark) FROM run"
)


class RunIndex(StoreFile):
    """Queue rows and full-text search.

    ``review`` is the file with the verdicts, which is only read here: the labels in force that ``reader`` may see.

    Attributes:
        reader: the person who looks at the rows, "" for one who sees all; ``run_queue_query`` says what is withheld.
    """

    reader: str = ""

    def __init__(self, path: Path, review: Path) -> None:
        super().__init__(path, open_database(path, MIGRATIONS, checkpointed=False))
        try:
            with translated_errors(review):
                # Read-only, or every write here would take the verdicts' write lock as well.
                self.connection.execute("ATTACH DATABASE ? AS review", (f"{review.as_uri()}?mode=ro",))
        except BaseException:
            self.connection.close()
            raise

    # filling

    def put_run(self, run: Run, steps: Sequence[Step], site_of: Callable[[str], str]) -> None:
        """Add or replace a run; ``site_of`` returns the site of a page's address."""
        with self.batch():
            known = self.connection.execute("SELECT 1 FROM run WHERE id = ?", (run.id,)).fetchone()
            if known is not None:
                self._remove(run.id)
            same = (
                "id",
                "source",
                "suite",
                "task_id",
                "intent",
                "score",
                "started_at",
                "content_hash",
                "needs",
            )
            self._insert(
                "run",
                **{name: getattr(run, name) for name in same},
                site=_site_name(run.site, site_of),
                outcome=run.outcome.value,
                steps=run.step_count,
                by_hand=count_operator_steps(steps),
            )
            first = self._next_row()
            self.connection.execute(_PUT_PAGE, (first, run.id, None, "", "", 0))
            self.connection.execute(_PUT_WORDS, (first, *run_row(run)))
            self._add_steps(run.id, steps, first + 1, site_of)
            self._bump()

    def add_step(self, run: str, step: Step, site_of: Callable[[str], str]) -> None:
        """Add the newest step of an active run."""
        with self.batch():
            self._add_steps(run, [step], self._next_row(), site_of)
            self.connection.execute(
                "UPDATE run SET steps = steps + 1, by_hand = by_hand + ? WHERE id = ?",
                (count_operator_steps((step,)), run),
            )
            self._bump()

    def name_sites(self, site_of: Callable[[str], str], gone: str = "") -> None:
        """Name the sites of pages and runs anew: the table of sites has changed, ``gone`` is no site any more."""
        pages = self._all("SELECT id, url, site FROM page WHERE step IS NOT NULL")
        runs = self._all(
            "SELECT run.id, run.site, page.url FROM run LEFT JOIN page ON page.run = run.id AND page.step = 0"
        )
        of_pages = [(now, id) for id, url, site in pages if (now := site_of(url)) != site]
        of_runs = [
            (now, id)
            for id, site, url in runs
            if (now := site_of(url or "") if site == gone else _site_name(site, site_of)) != site and now
        ]
        if of_pages or of_runs:
            with self.batch():
                self.connection.executemany("UPDATE page SET site = ? WHERE id = ?", of_pages)
                self.connection.executemany("UPDATE run SET site = ? WHERE id = ?", of_runs)
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
            self.connection.execute(
                "UPDATE run SET risk = ?, suspect_step = ?, reasons = ?, flags = ?, signature = ?, basis = ?"
                " WHERE id = ?",
                (
                    risk.value, risk.suspect_step, json.dumps(risk.reasons), json.dumps(names), signature, basis,
                    run,
                ),
            )  # fmt: skip
            self.connection.execute("DELETE FROM flag WHERE run = ?", (run,))
            self.connection.executemany(
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
        """Replace the risk of runs and its reasons; their flags and suspect steps stay."""
        with self.batch():
            self.connection.executemany(
                "UPDATE run SET risk = ?, reasons = ? WHERE id = ?",
                [(risk.value, json.dumps(risk.reasons), risk.run) for risk in risks],
            )

    def clear(self) -> None:
        """Empty the index."""
        with self.batch():
            for table in ("run", "page", "words", "flag"):
                self.connection.execute(f"DELETE FROM {table}")
            self._bump()

    # asking

    @property
    def data_version(self) -> int:
        """A number that changes when any process adds or removes runs; judgements leave it alone."""
        return int(self._one("SELECT value FROM counter WHERE name = 'runs'")[0])

    @property
    def write_mark(self) -> int:
        """A number that changes when another connection (a process, the command line) writes to the index."""
        return int(self._one("PRAGMA main.data_version")[0])

    def queue_mark(self) -> tuple[float, ...]:
        """Return figures that change when runs are added, removed, ended, scored, detected or judged.

        The steps of an active run leave them alone.
        """
        return tuple(self._one(_QUEUE_MARK))

    def count(self) -> int:
        """Return the number of runs."""
        return int(self._one("SELECT count(*) FROM run")[0])

    def count_unscored(self) -> int:
        """Return the number of runs that nobody scored."""
        return int(self._one("SELECT count(*) FROM run WHERE score IS NULL")[0])

    def hashes(self) -> dict[str, str]:
        """Return run ids by content hash."""
        return dict(self._all("SELECT content_hash, id FROM run"))

    def ids(self) -> set[str]:
        """Return the ids of all runs."""
        return {row[0] for row in self._all("SELECT id FROM run")}

    def runs_to_detect(self, basis: str) -> list[str]:
        """Return the ended runs that were not detected by ``basis``."""
        ended = "SELECT id FROM run WHERE basis != ? AND outcome != ? ORDER BY id"
        return [row[0] for row in self._all(ended, basis, Outcome.RUNNING.value)]

    def is_damaged(self) -> bool:
        """Check the whole file; return whether SQLite finds it broken."""
        try:
            return self._one("PRAGMA main.quick_check(1)")[0] != "ok"
        except DamagedIndex:
            return True

    def rows(self, which: RunFilter) -> list[RunRow]:
        """Return the runs that pass the filter, in its order."""
        condition, values = conditions(which, self.reader)
        return self._rows(condition, values, ORDERS.get(which.order, ORDERS["id"]))

    def row(self, run: str) -> RunRow | None:
        """Return one run's row."""
        return next(iter(self._rows("run.id = ?", [run], "run.id")), None)

    def flags(self, run: str) -> list[Flag]:
        """Return a run's flags in stored order."""
        return [_flag(row) for row in self._all("SELECT * FROM flag WHERE run = ? ORDER BY rowid", run)]

    def all_flags(self) -> dict[str, list[Flag]]:
        """Return flags by run; runs without flags are left out."""
        by_run: dict[str, list[Flag]] = {}
        for row in self._all("SELECT * FROM flag ORDER BY rowid"):
            by_run.setdefault(row["run"], []).append(_flag(row))
        return by_run

    def risk(self, run: str) -> Risk:
        """Return a run's risk; 0 at the first step before detection."""
        row = self._one("SELECT risk, suspect_step, reasons FROM run WHERE id = ?", run)
        if row is None:
            return Risk(run=run, value=0.0, suspect_step=0)
        return Risk(run=run, value=row[0], suspect_step=row[1], reasons=tuple(json.loads(row[2])))

    def search(self, text: str, limit: int) -> list[SearchHit]:
        """Return the runs and steps that contain all words, best first; any text is a valid query."""
        asked = fts_query(text)
        if not asked or limit < 1:
            return []
        best = self._all(
            "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", asked, min(limit, 1000)
        )
        found = [(self._one(_HIT, row), score) for row, score in best]
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
        found = self._all(
            "SELECT page.run, page.step, page.url, page.site, run.site, run.intent, run.score FROM page"
            " JOIN run ON run.id = page.run WHERE page.step IS NOT NULL AND NOT page.by_hand"
            " ORDER BY page.id"
        )
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
        """Return the median number of agent steps by site; runs without any don't count, nor those of no known site."""
        found = self._all(
            "SELECT site, avg(steps) FROM ("
            " SELECT site, steps - by_hand AS steps,"
            " row_number() OVER (PARTITION BY site ORDER BY steps - by_hand) AS place,"
            " count(*) OVER (PARTITION BY site) AS runs FROM run WHERE steps > by_hand AND site <> ''"
            ") WHERE place IN ((runs + 1) / 2, (runs + 2) / 2) GROUP BY site"
        )
        return {site: float(steps) for site, steps in found}

    def by_hand(self) -> dict[str, int]:
        """Return the number of steps by hand, by run; runs without any are left out."""
        return dict(self._all("SELECT id, by_hand FROM run WHERE by_hand"))

    # inside

    def _rows(self, condition: str, values: Sequence[object], order: str) -> list[RunRow]:
        found = self._all(
            f"{JUDGED} SELECT {', '.join(_PLAIN)}, flags, basis, label, verdicts, people FROM run"
            f" LEFT JOIN said ON said.run = run.id WHERE {condition} ORDER BY {order}",
            self.reader,
            self.reader,
            *values,
        )
        plain = len(_PLAIN)
        return [
            RunRow(
                **dict(zip(_PLAIN, row[:plain], strict=True)),
                flags=tuple(json.loads(row["flags"])),
                label=row["label"] or "",
                looked_at=bool(row["basis"]),
                verdicts=row["verdicts"] or 0,
                judged_by=tuple(sorted(json.loads(row["people"]))) if row["people"] else (),
            )
            for row in found
        ]

    def _add_steps(self, run: str, steps: Sequence[Step], first: int, site_of: Callable[[str], str]) -> None:
        self.connection.executemany(
            _PUT_PAGE,
            [
                (row, run, step.index, step.url, site_of(step.url), count_operator_steps((step,)))
                for row, step in enumerate(steps, first)
            ],
        )
        self.connection.executemany(
            _PUT_WORDS, [(row, *step_row(step)) for row, step in enumerate(steps, first)]
        )

    def _next_row(self) -> int:
        return int(self._one("SELECT coalesce(max(id), 0) + 1 FROM page")[0])

    def _remove(self, run: str) -> None:
        execute = self.connection.execute
        execute("DELETE FROM words WHERE rowid IN (SELECT id FROM page WHERE run = ?)", (run,))
        for table, column in (("page", "run"), ("flag", "run"), ("run", "id")):
            execute(f"DELETE FROM {table} WHERE {column} = ?", (run,))

    def _bump(self) -> None:
        self.connection.execute("UPDATE counter SET value = value + 1 WHERE name = 'runs'")


def _site_name(site: str, site_of: Callable[[str], str]) -> str:
    """Return a run's site; one stored as a host because it had no name then has the name it has now."""
    return site_of(f"http://{site}/") if "." in site or ":" in site else site


def _flag(row: sqlite3.Row) -> Flag:
    fields: dict[str, Any] = dict(row) | {
        "severity": Severity(row["severity"]),
        "evidence": json.loads(row["evidence"]),
    }
    return Flag(**fields)
