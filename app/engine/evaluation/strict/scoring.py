"""Scores a run by WebArena-Verified: writes its input files, runs it, reads its result."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.core.evaluation.suite import Dialect
from app.engine.core.evaluation.task_score import ScoreVerdict, SubCheck, TaskScore
from app.engine.evaluation.strict.environment import PACKAGE, VERSION, StrictEnvironment, StrictTask
from app.engine.evaluation.strict.final_response import final_response
from app.engine.evaluation.strict.program_run import run_program
from app.errors import InputError, SiteloreError

EVALUATE_SECONDS = 180.0
MAX_RESULT = 64 * 2**20
NETWORK = "NetworkEventEvaluator"
SITES = frozenset(
    {
        "__SHOPPING__",
        "__SHOPPING_ADMIN__",
        "__REDDIT__",
        "__GITLAB__",
        "__WIKIPEDIA__",
        "__MAP__",
        "__HOMEPAGE__",
    }
)
_SHOWN = 300


async def strict_score(
    task_id: str,
    answer: str | None,
    infeasible: bool,
    har: Mapping[str, Any] | None,
    environment: StrictEnvironment,
    bases: Mapping[str, str] | None = None,
    seconds: float = EVALUATE_SECONDS,
) -> TaskScore:
    """Return the verdict of WebArena-Verified; undecided, with the reason, where it can't be asked.

    Args:
        task_id: of its data set.
        answer: what the run said last.
        infeasible: whether it reported that the task can't be done.
        har: its requests, ``None`` where none were recorded.
        bases: addresses of the sites by names such as ``__GITLAB__``, as they were in the run.
    """
    try:
        task = (await asyncio.to_thread(_ready_tasks, environment)).get(task_id)
        if task is None:
            return _undecided(f"{PACKAGE} {VERSION} has no task {task_id[:40]!r}")
        response, why = final_response(task, answer, infeasible=infeasible)
        if response is None:
            return _undecided(why)
        result = await _evaluated(task_id, response, har, bases or {}, environment, seconds)
    except SiteloreError as error:
        return _undecided(str(error))
    return score_of_result(result, _missing(task, har, bases or {}))


def score_of_result(result: Mapping[str, Any], missing: Sequence[str]) -> TaskScore:
    """Return the verdict that an ``eval_result.json`` holds.

    Args:
        result: the document.
        missing: for each evaluator in order what it would have needed and was not there, "" for nothing.
    """
    evaluator = (
        f"{PACKAGE} {result.get('webarena_verified_version', '')}"
        f", evaluator {result.get('webarena_verified_evaluator_checksum', '')}"
        f", data {result.get('webarena_verified_data_checksum', '')}"
    )
    found = _mappings(result.get("evaluators_results"))
    if not found:
        return _undecided(f"{PACKAGE}: {_shown(result.get('error_msg')) or 'no result'}", evaluator=evaluator)
    lacking = [*missing, *[""] * len(found)]
    checks = tuple(_check(row, lacking[number]) for number, row in enumerate(found))
    failed = next((check for check in checks if check.score == 0), None)
    open_ = next((check for check in checks if check.score is None), None)
    if failed is not None:
        verdict, score, why = (
            ScoreVerdict.FAIL,
            0.0,
            f"{failed.evaluator}: {failed.why or 'it does not hold'}",
        )
    elif open_ is not None:
        verdict, score, why = ScoreVerdict.UNDECIDED, None, f"{open_.evaluator}: {open_.why}"
    else:
        held = "the one check holds" if len(checks) == 1 else f"all {len(checks)} checks hold"
        verdict, score, why = ScoreVerdict.PASS, 1.0, held
    return TaskScore(
        verdict=verdict, score=score, why=why, dialect=Dialect.STRICT, checks=checks, evaluator=evaluator
    )


def _ready_tasks(environment: StrictEnvironment) -> dict[str, StrictTask]:
    if not environment.is_ready:
        raise SiteloreError(f"{PACKAGE} {VERSION} is not installed: sitelore eval strict-setup")
    return environment.tasks()


def _missing(task: StrictTask, har: Mapping[str, Any] | None, bases: Mapping[str, str]) -> tuple[str, ...]:
    """Return for each evaluator of a task what it lacks; the first one looks at the response alone."""
    unbound = [name for name in task.names if name not in bases]
    general = "the run's requests were not recorded" if har is None or not _entries(har) else ""
    if not general and unbound:
        general = f"the table of sites has no address for {unbound[0]}"

    def words(names: tuple[str, ...]) -> str:
        return f"it asks for {', '.join(names)}, which evidence does not hold" if names else ""

    return ("", *(general or words(names) for names in task.unrecorded[1:]))


async def _evaluated(
    task_id: str,
    response: str,
    har: Mapping[str, Any] | None,
    bases: Mapping[str, str],
    environment: StrictEnvironment,
    seconds: float,
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="sitelore-strict-") as name:
        folder = Path(name)
        await asyncio.to_thread(_write_input, folder, task_id, response, har, bases)
        words = [str(environment.command), "eval-tasks", "--task-ids", task_id]
        words += ["--output-dir", str(folder), "--config", str(folder / "config.json")]
        done = await run_program(words, folder, seconds)
        try:
            return await asyncio.to_thread(_read_result, folder / task_id / "eval_result.json")
        except OSError as error:
            raise SiteloreError(
                f"{PACKAGE} gave no result (exit code {done.code}): {done.last_line}"
            ) from error


def _write_input(
    folder: Path, task_id: str, response: str, har: Mapping[str, Any] | None, bases: Mapping[str, str]
) -> None:
    inside = folder / task_id
    inside.mkdir()
    (inside / "agent_response.json").write_text(response, encoding="utf-8", errors="replace")
    # It takes an archive without any request for an error, even where only the response counts.
    archive = (
        har if har is not None and _entries(har) else {"log": {"version": "1.2", "entries": [_NO_REQUEST]}}
    )
    (inside / "network.har").write_text(json.dumps(archive), encoding="utf-8")
    environments = {name: {"urls": [url]} for name, url in bases.items() if name in SITES}
    (folder / "config.json").write_text(json.dumps({"environments": environments}), encoding="utf-8")


def _read_result(path: Path) -> dict[str, Any]:
    """Return the result document.  Raises ``OSError`` where there is none, ``InputError`` for one of another form."""
    if path.stat().st_size > MAX_RESULT:
        raise InputError(f"the result of {PACKAGE} is too long")
    try:
        value: Any = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InputError(f"the result of {PACKAGE} is no JSON: {error.msg}") from error
    if not isinstance(value, dict):
        raise InputError(f"the result of {PACKAGE} has another form than expected")
    return cast("dict[str, Any]", value)


def _check(row: Mapping[str, Any], missing: str) -> SubCheck:
    """Return one evaluator's result; one that lacks something says nothing, whatever its score."""
    name, said = _shown(row.get("evaluator_name")), _messages(row)
    expected, found = _shown(row.get("expected")), _shown(row.get("actual_normalized"))
    if row.get("should_not_exist") is True:
        expected = f"no request like {expected}"
    score: float | None = None
    if missing:
        said = missing
    elif row.get("status") == "error":
        said = f"it could not be evaluated: {_shown(row.get('error_msg')) or said}"
    elif isinstance(row.get("score"), int | float):
        score = 1.0 if row["score"] == 1 else 0.0
    return SubCheck(
        evaluator=name, expected=expected, found=found, score=score, why="" if score == 1 else said
    )


def _messages(row: Mapping[str, Any]) -> str:
    told: list[str] = []
    for given in _mappings(row.get("assertions")):
        messages = given.get("assertion_msgs") or [
            given.get("error_msg") or given.get("assertion_name") or ""
        ]
        told += [str(message) for message in cast("list[Any]", messages)]
    return "; ".join(filter(None, told))[:_SHOWN]


def _entries(har: Mapping[str, Any]) -> list[Any]:
    log = har.get("log")
    entries = cast("dict[str, Any]", log).get("entries") if isinstance(log, dict) else None
    return cast("list[Any]", entries) if isinstance(entries, list) else []


def _mappings(value: Any) -> list[dict[str, Any]]:
    rows = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", row) for row in rows if isinstance(row, dict)]


def _shown(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _undecided(why: str, *, evaluator: str = f"{PACKAGE} {VERSION}") -> TaskScore:
    return TaskScore(
        verdict=ScoreVerdict.UNDECIDED, score=None, why=why, dialect=Dialect.STRICT, evaluator=evaluator
    )


_NO_REQUEST: dict[str, Any] = {
    "startedDateTime": "1970-01-01T00:00:00Z",
    "time": 0,
    "request": {
        "method": "GET",
        "url": "about:blank",
        "httpVersion": "",
        "cookies": [],
        "headers": [],
        "queryString": [],
        "headersSize": -1,
        "bodySize": -1,
    },
    "response": {
        "status": 0,
        "statusText": "",
        "httpVersion": "",
        "cookies": [],
        "headers": [],
        "content": {"size": 0, "mimeType": ""},
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": -1,
    },
    "cache": {},
    "timings": {"send": 0, "wait": 0, "receive": 0},
}
"""Stands in for the requests of a run of which none were recorded."""
