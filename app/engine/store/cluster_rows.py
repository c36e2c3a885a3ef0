"""Rows that failures are clustered by: flags, endings, and the steps that flags point at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Flag, Severity
from app.engine.store.database import translated_errors
from app.engine.store.run_index import RunIndex

_FAILED = (
    "(run.score < 1 OR (run.score IS NULL AND run.outcome != ? AND EXISTS"
    " (SELECT 1 FROM flag WHERE flag.run = run.id AND flag.severity IN (?, ?))))"
)
_FAILED_VALUES = (Outcome.RUNNING.value, Severity.WARNING.value, Severity.ERROR.value)
_MOST_TEXT = 2000
"""Characters read of an error or an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedRun:
    """A failed run as the index knows it; an unscored one counts as failed by its flags.

    ``error`` ended it, ``answer`` is what it answered; ``pages`` counts the addresses it visited.
    """

    id: str
    site: str
    intent: str
    outcome: str
    steps: int
    suspect_step: int
    error: str
    answer: str
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedStep:
    """A step: address, site of the page, action in words, target as role and name, error."""

    url: str
    site: str
    action: str
    target: str
    error: str


def failed_runs(index: RunIndex) -> list[FailedRun]:
    """Return all failed runs, by id."""
    found = _read(
        index,
        "SELECT run.id, run.site, run.intent, run.outcome, run.steps, run.suspect_step, substr(words.error, 1, ?),"
        " substr(words.answer, 1, ?),"
        " (SELECT count(DISTINCT url) FROM page AS seen WHERE seen.run = run.id AND seen.step IS NOT NULL)"
        " FROM run LEFT JOIN page ON page.run = run.id AND page.step IS NULL"
        f" LEFT JOIN words ON words.rowid = page.id WHERE {_FAILED} ORDER BY run.id",
        _MOST_TEXT,
        _MOST_TEXT,
        *_FAILED_VALUES,
    )
    return [
        FailedRun(
            id=run,
            site=site,
            intent=intent,
            outcome=outcome,
            steps=steps,
            suspect_step=suspect,
            error=error or "",
            answer=answer or "",
            pages=pages,
        )
        for run, site, intent, outcome, steps, suspect, error, answer, pages in found
    ]


def failure_flags(index: RunIndex) -> dict[str, dict[int, Flag]]:
    """Return the flags of failed runs by run and row, without their evidence, which ``with_evidence`` adds."""
    flags: dict[str, dict[int, Flag]] = {}
    severities = {severity.value: severity for severity in Severity}
    for row, run, detector, step, severity, confidence, message in _read(
        index,
        f"WITH failed AS (SELECT id FROM run WHERE {_FAILED})"
        " SELECT flag.rowid, flag.run, detector, step, severity, confidence, message FROM failed"
        " JOIN flag ON flag.run = failed.id",
        *_FAILED_VALUES,
    ):
        flags.setdefault(run, {})[row] = Flag(
            run=run,
            detector=detector,
            step=step,
            severity=severities[severity],
            confidence=confidence,
            message=message,
        )
    return flags


def with_evidence(index: RunIndex, flags: Mapping[int, Flag]) -> dict[int, Flag]:
    """Return these flags by row, with their evidence."""
    found = _read(
        index,
        "SELECT flag.rowid, evidence FROM json_each(?) AS wanted JOIN flag ON flag.rowid = wanted.value",
        json.dumps(list(flags)),
    )
    return {row: replace(flags[row], evidence=json.loads(evidence)) for row, evidence in found}


def step_facts(index: RunIndex, wanted: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], FailedStep]:
    """Return these steps by run and number; unknown ones are left out."""
    found = _read(
        index,
        "SELECT page.run, page.step, page.url, page.site, words.action, words.target, substr(words.error, 1, ?)"
        " FROM json_each(?) AS wanted"
        " JOIN page ON page.run = json_extract(wanted.value, '$[0]')"
        " AND page.step = json_extract(wanted.value, '$[1]')"
        " JOIN words ON words.rowid = page.id",
        _MOST_TEXT,
        json.dumps(list(wanted)),
    )
    return {
        (run, step): FailedStep(
            url=url, site=site, action=action or "", target=target or "", error=error or ""
        )
        for run, step, url, site, action, target, error in found
    }


def _read(index: RunIndex, sql: str, *values: object) -> list[Any]:
    with translated_errors(index.path):
        return index.connection.execute(sql, values).fetchall()
