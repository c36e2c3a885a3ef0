"""Rows of files of verdicts, read strictly and written exactly: JSON lines, CSV, annotations of AgentRewardBench.

AgentRewardBench (McGill-NLP/agent-reward-bench, ``data/annotations.csv``) says of a run whether it succeeded, had side
effects, was optimal, and looped; it names no other cause. So a run that was unsuccessful without looping is read as
"wrong answer", which the guideline keeps for results without a more exact label, and all the file says stands in the
note. Written in its columns, a verdict loses its label, step and note: what a label does not say stays empty.
"""

from __future__ import annotations

import csv
import difflib
import io
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from app.engine.core.person_names import ME, check_name
from app.engine.core.verdicts import AGENT_DID_NOT_FAIL, Label, Verdict
from app.errors import InputError, UsageError

JSONL, CSV, REWARD_BENCH = "jsonl", "csv", "agentrewardbench"
COLUMNS = (
    "id", "run", "suite", "task", "site", "label", "step", "detector", "note", "author", "at", "guideline",
    "lead_seconds", "origin", "settles",
)  # fmt: skip
REWARD_BENCH_COLUMNS = (
    "annotator_name", "benchmark", "task_id", "model_name", "exp_name", "trajectory_success", "trajectory_side_effect",
    "trajectory_optimality", "trajectory_looping",
)  # fmt: skip
MAX_NOTE, MAX_NAME = 20_000, 300
LATEST = 1e11
"""Unix seconds beyond which a number is no time (milliseconds, for instance)."""
MOST_AHEAD = 24 * 3600.0
"""Seconds that a verdict may lie in the future: clocks and time zones differ, and a later one would always count."""
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Beginnings that a spreadsheet takes for a formula, in both widths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow:
    """A row of a file: a verdict, and what names its run.  ``at`` is ``None`` where the file does not say.

    ``agent`` is what made the run, in a file that names no runs; ``line`` is the row's place in the file.
    """

    label: Label
    run: str = ""
    suite: str = ""
    task: str = ""
    site: str = ""
    id: str = ""
    step: int | None = None
    detector: str = ""
    note: str = ""
    author: str = ""
    at: float | None = None
    guideline: str = ""
    lead_seconds: float = 0.0
    origin: str = ""
    settles: bool = False
    agent: str = ""
    line: int = 0


class _BadRow(Exception):
    """A row that can't be read; says why."""


def read_rows(data: bytes, format: str = "", path: str = "") -> tuple[list[VerdictRow], list[str]]:
    """Return the rows of a file, and a sentence on each that can't be read; "" finds the format by content.

    Raises:
        InputError: it is no text, no such file of verdicts, or not one row can be read.
    """
    if b"\0" in data:
        raise InputError("this is no text file", path=path, remedy=_REMEDY)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("this is no UTF-8 text", path=path, remedy="save it as UTF-8") from error
    found = format or _format_of(text)
    rows: list[VerdictRow] = []
    failed: list[str] = []
    # One cell that is too long fails its row, and not the table: the limit is the file's length while it is read.
    limit = csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    try:
        if found == JSONL:
            raw = _json_rows(text)
            parse = _own_row
        else:
            heads, raw = _table(text, path)
            wanted = ("task_id", "trajectory_success") if found == REWARD_BENCH else ("label",)
            if lacking := [head for head in wanted if head not in heads]:
                raise InputError(f"it has no column {lacking[0]!r}", path=path, remedy=_REMEDY)
            parse = _reward_bench_row if found == REWARD_BENCH else _csv_row
        for line, values in raw:
            try:
                if isinstance(values, str):
                    raise _BadRow(values)
                rows.append(parse(values, line))
            except _BadRow as error:
                failed.append(f"line {line}: {error}")
    finally:
        csv.field_size_limit(limit)
    if not rows:
        why = failed[0] if failed else "it is empty"
        raise InputError(f"no verdict can be read: {why}", path=path, remedy=_REMEDY)
    return rows, failed


def own_rows(verdicts: Iterable[Verdict], places: Mapping[str, tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Return verdicts as rows of ``COLUMNS``; ``places`` are suite, task and site by run."""
    rows: list[dict[str, Any]] = []
    for one in verdicts:
        suite, task, site = places.get(one.run, ("", "", ""))
        rows.append(
            {
                "id": one.id, "run": one.run, "suite": suite, "task": task, "site": site, "label": one.label.value,
                "step": one.step, "detector": one.detector, "note": one.note, "author": one.author, "at": one.at,
                "guideline": one.guideline, "lead_seconds": one.lead_seconds, "origin": one.origin,
                "settles": one.settles,
            }
        )  # fmt: skip
    return rows


def reward_bench_rows(
    verdicts: Iterable[Verdict], places: Mapping[str, tuple[str, str, str]], agents: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return annotations of AgentRewardBench: of each person and run the last verdict, from verdicts oldest first.

    ``exp_name`` is the run's id, ``model_name`` what made it (``agents``). Side effects and optimality are no labels of
    ours, and stay empty; so does looping, unless the label says it.
    """
    newest = {(one.author, one.run): one for one in verdicts if not one.detector}
    rows: list[dict[str, Any]] = []
    for one in newest.values():
        suite, task, _ = places.get(one.run, ("", "", ""))
        passed = "Successful" if one.label in AGENT_DID_NOT_FAIL else "Unsuccessful"
        values = (
            one.author,
            suite,
            f"{suite}.{task}" if suite and task else task,
            agents.get(one.run, ""),
            one.run,
            "Unsure" if one.label is Label.TASK_AMBIGUOUS else passed,
            "",
            "",
            "Yes" if one.label is Label.LOOP else "",
        )
        rows.append(dict(zip(REWARD_BENCH_COLUMNS, values, strict=True)))
    return rows


def jsonl_bytes(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows as JSON lines."""
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    return "".join(lines).encode("utf-8", "replace")


def csv_bytes(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    """Return rows as a table; no spreadsheet takes a text of it for a formula, and ``read_rows`` gives it back."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[column]) for column in columns])
    return out.getvalue().encode("utf-8", "replace")


# ---------------------------------------------------------------- inside
_REMEDY = "it takes JSON lines or a table with the columns run and label, or AgentRewardBench's annotations"


def _format_of(text: str) -> str:
    start = text.lstrip()
    if start.startswith(("{", "[")):
        return JSONL
    head = start[: start.find("\n")] if "\n" in start else start
    return REWARD_BENCH if "trajectory_success" in head else CSV


def _json_rows(text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    if text.lstrip().startswith("["):  # one list of all
        values = _json(text)
        found = cast("list[object]", values) if isinstance(values, list) else [values]
    else:
        found = [_json(line) if line.strip() else None for line in text.split("\n")]
    for number, value in enumerate(found, 1):
        if isinstance(value, dict):
            yield number, cast("dict[str, Any]", value)
        elif value is not None:
            yield number, "this is no JSON object"


def _json(text: str) -> object:
    """Return the value of a JSON text, "" where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return ""


def _table(text: str, path: str) -> tuple[list[str], Iterator[tuple[int, dict[str, Any] | str]]]:
    """Return the heads of a table and its rows; a spreadsheet may have put semicolons or tabs for commas."""
    head = text[: text.find("\n")] if "\n" in text else text
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        heads = [name.strip().lower() for name in next(reader, list[str]())]
    except csv.Error as error:
        raise InputError(f"this is no table: {error}", path=path, remedy=_REMEDY) from error

    def rows() -> Iterator[tuple[int, dict[str, Any] | str]]:
        while True:
            first = reader.line_num + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise InputError(
                    f"the row that begins in line {first} can't be read: {error}",
                    path=path,
                    remedy="see whether a quote is never closed",
                ) from error
            if cells is None:
                return
            if any(cell.strip() for cell in cells):
                yield (
                    reader.line_num,
                    dict(zip(heads, (_bare(cell) for cell in cells), strict=False))
                    if len(cells) <= len(heads)
                    else f"it has {len(cells)} cells, the table {len(heads)} columns",
                )

    return heads, rows()


def _own_row(values: Mapping[str, Any], line: int) -> VerdictRow:
    task = values.get("task", values.get("task_id", ""))
    step = values.get("step")
    if step is not None and (isinstance(step, bool) or not isinstance(step, int) or not 0 <= step < 10**6):
        raise _BadRow(f"{_shown(step)} is no step")
    settles = values.get("settles", False)
    if not isinstance(settles, bool):
        raise _BadRow(f"settles is {_shown(settles)} and not true or false")
    row = VerdictRow(
        label=_label(values.get("label")),
        run=_name(values, "run"),
        suite=_name(values, "suite"),
        task=_name({"task": task}, "task"),
        site=_name(values, "site"),
        id=_name(values, "id"),
        step=step,
        detector=_name(values, "detector"),
        note=_text(values, "note", MAX_NOTE),
        author=_author(values, "author"),
        at=_moment(values),
        guideline=_name(values, "guideline"),
        lead_seconds=_number(values, "lead_seconds", LATEST)
        if values.get("lead_seconds") is not None
        else 0.0,
        origin=_name(values, "origin"),
        settles=settles,
        line=line,
    )
    if not row.run and not row.task:
        raise _BadRow("it names neither a run nor a task")
    return row


def _csv_row(values: Mapping[str, Any], line: int) -> VerdictRow:
    typed: dict[str, Any] = dict(values)
    kinds: dict[str, Callable[[str], Any]] = {
        "step": int,
        "at": float,
        "lead_seconds": float,
        "settles": {"true": True, "false": False, "1": True, "0": False}.__getitem__,
    }
    for name, kind in kinds.items():
        text = str(typed.pop(name, "")).strip().lower()
        if text:
            try:
                typed[name] = kind(text)
            except (ValueError, KeyError):
                raise _BadRow(f"{name} is {_shown(text)}") from None
    return _own_row(typed, line)


def _reward_bench_row(values: Mapping[str, Any], line: int) -> VerdictRow:
    said = {name: _name(values, name) for name in REWARD_BENCH_COLUMNS}
    success, looping = said["trajectory_success"].lower(), said["trajectory_looping"].lower()
    if success not in ("successful", "unsuccessful"):
        raise _BadRow(
            f"{_shown(said['trajectory_success'])} is no success or failure that a label could tell"
        )
    if not said["task_id"]:
        raise _BadRow("it names no task")
    suite, start = said["benchmark"], "trajectory_"
    facts = [
        f"{name.removeprefix(start).replace('_', ' ')}: {text}"
        for name, text in said.items()
        if name.startswith(start) and text
    ]
    failure = Label.LOOP if looping == "yes" else Label.WRONG_ANSWER
    return VerdictRow(
        label=Label.NOT_A_FAILURE if success == "successful" else failure,
        run=said["exp_name"],
        suite=suite,
        task=said["task_id"].removeprefix(f"{suite}."),
        note="AgentRewardBench: " + "; ".join(facts),
        author=_author(said, "annotator_name"),
        agent=" ".join((said["model_name"], said["exp_name"])).strip(),
        line=line,
    )


def _label(value: object) -> Label:
    if not isinstance(value, str):
        raise _BadRow(f"its label is {_shown(value)}")
    name = " ".join(value.replace("_", " ").replace("-", " ").lower().split())
    try:
        return Label(name)
    except ValueError:
        near = difflib.get_close_matches(name[:60], [label.value for label in Label], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise _BadRow(f"{_shown(value)} is no label{hint}") from None


def _name(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        value = str(value)  # a task's number
    text = _text({name: value}, name, MAX_NAME)
    return text.strip() if name in ("run", "suite", "task", "task_id", "benchmark") else text


def _author(values: Mapping[str, Any], name: str) -> str:
    """Return the name of a row's author, "" for the one who reads the file."""
    given = _name(values, name).strip()
    if given in ("", ME):
        return ""
    try:
        return check_name(given)
    except UsageError as error:
        raise _BadRow(f"{name}: {error}") from None


def _moment(values: Mapping[str, Any]) -> float | None:
    if values.get("at") is None:
        return None
    at = _number(values, "at", LATEST)
    if at > time.time() + MOST_AHEAD:
        raise _BadRow(f"at is {at:.0f}: more than a day in the future")
    return at


def _text(values: Mapping[str, Any], name: str, most: int) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _BadRow(f"{name} is {_shown(value)} and no text")
    if len(value) > most:
        raise _BadRow(f"{name} is longer than {most:,} letters")
    if "\0" in value:
        raise _BadRow(f"{name} is no text")
    return value.encode("utf-8", "replace").decode()


def _number(values: Mapping[str, Any], name: str, most: float) -> float:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _BadRow(f"{name} is {_shown(value)} and no number")
    if (isinstance(value, float) and not math.isfinite(value)) or not 0 <= value < most:
        raise _BadRow(f"{name} is {_shown(value)}: not a number of seconds")
    return float(value)


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    return f"'{text}" if _needs_apostrophe(text) else text


def _bare(cell: str) -> str:
    """Return the text of a cell without the apostrophe that ``_cell`` put before it."""
    return cell[1:] if cell[:1] == "'" and _needs_apostrophe(cell[1:]) else cell


def _needs_apostrophe(text: str) -> bool:
    return text[:1] in ("'", "\t", "\r", "\n") or text.lstrip().startswith(_FORMULA)
