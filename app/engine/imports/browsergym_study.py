"""Arguments of a BrowserGym or AgentLab run, and its row in the study's tables."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.engine.imports.json_values import fields_of
from app.engine.imports.source_files import natural_key, read_bytes
from app.engine.imports.step_records import integer, text
from app.errors import InputError

MAX_TABLE_BYTES = 64 * 2**20
MAX_ROWS = 200_000

_TABLE = re.compile(r"result_df\w*\.csv")
_NAMED = re.compile(r"_on_(?P<task>[\w.-]+?)(?:_(?P<seed>\d+|None))?$")
_MODEL_NAMES = ("chat_model_args", "chat_model", "model_args", "llm_args")
_MODELS = tuple(f"agent.{name}.model_name" for name in _MODEL_NAMES)

Row = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArguments:
    """Arguments that a run was started with; everything may be empty."""

    task: str = ""
    goal: str = ""
    seed: int | None = None
    max_steps: int | None = None
    agent: str = ""
    model: str = ""


def read_arguments(given: object, row: Row, folder_name: str) -> RunArguments:
    """Return a run's arguments: by its ``exp_args.pkl``, else by its row, else by its folder's name."""
    whole = fields_of(given)
    environment, agent = fields_of(whole.get("env_args")), fields_of(whole.get("agent_args"))
    named = _NAMED.search(folder_name)
    model = next((found for name in _MODEL_NAMES if (found := _model(agent.get(name)))), "")
    seed = _whole(environment.get("task_seed"), row.get("env.task_seed"), named["seed"] if named else None)
    return RunArguments(
        task=text(environment.get("task_name"))
        or row.get("env.task_name", "")
        or (named["task"] if named else ""),
        goal=text(fields_of(environment.get("task_kwargs")).get("goal")),
        seed=seed,
        max_steps=_whole(environment.get("max_steps"), row.get("env.max_steps")),
        agent=text(agent.get("agent_name")) or row.get("agent.agent_name", ""),
        model=model or text(agent.get("model_name")) or next(filter(None, map(row.get, _MODELS)), "") or "",
    )


def _model(value: object) -> str:
    return text(fields_of(value).get("model_name"))


def _whole(*values: object) -> int | None:
    """Return the first that is a whole number, as such or as text."""
    for value in values:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            return int(value)
        if integer(value, -1) >= 0:
            return integer(value, -1)
    return None


def row_of(folder: Path, root: Path) -> Row:
    """Return a run's row in the newest table of results beside it; empty where there is none within ``root``."""
    study = folder.parent
    if folder == root or not study.is_relative_to(root):
        return {}
    try:
        tables = sorted((one for one in study.iterdir() if _TABLE.fullmatch(one.name)), key=_by_name)
        stamps = tuple((one, one.lstat().st_mtime_ns) for one in tables)
    except OSError:
        return {}
    for path, changed in reversed(stamps):
        if row := _rows(path, changed).get(folder.name):
            return row
    return {}


def _by_name(path: Path) -> list[tuple[int, str]]:
    return natural_key(path.name)


@lru_cache(maxsize=4)
def _rows(path: Path, changed: int) -> dict[str, Row]:
    """Return the rows of a table by the name of their run's folder."""
    try:
        data = read_bytes(path, MAX_TABLE_BYTES).decode("utf-8", "replace")
        rows = [row for row, _ in zip(csv.DictReader(io.StringIO(data)), range(MAX_ROWS), strict=False)]
    except (InputError, csv.Error):
        return {}
    found: dict[str, Row] = {}
    for row in rows:
        plain = {str(name): value for name, value in row.items() if isinstance(value, str)}  # pyright: ignore[reportUnnecessaryIsInstance] short rows
        if place := re.split(r"[/\\]", plain.get("exp_dir", "").rstrip("/\\"))[-1]:
            found[place] = plain
    return found


def summary_in(row: Row) -> dict[str, Any]:
    """Return what a row says of a run's end, by the names of ``summary_info.json``."""
    found: dict[str, Any] = {}
    for name in ("n_steps", "cum_reward"):
        try:
            found[name] = float(row.get(name, ""))
        except ValueError:
            continue
    for name in ("terminated", "truncated"):
        if row.get(name) in ("True", "False"):
            found[name] = row[name] == "True"
    if row.get("err_msg"):
        found["err_msg"] = row["err_msg"]
    return found
