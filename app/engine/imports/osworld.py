"""Importer of OSWorld and of what records like it: a folder with ``traj.jsonl``, a screenshot a step, ``result.txt``.

OSWorld takes the picture after each action (``screenshot_file``); the one before the first action is only there where
it was kept as step 0.  Runners that take it before say so (``screenshot_file_before_exec``).
"""

from __future__ import annotations

import calendar
import hashlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.page_contents import ForeignContents, as_json, sites_of
from app.engine.imports.picture_files import PictureFiles, read_beside, urls_of
from app.engine.imports.pyautogui_code import read_desktop_action
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import MAX_JSON_BYTES, ReadRun, natural_key, read_bytes, read_json_object
from app.engine.imports.step_records import integer, number, text
from app.engine.store.run_files import make_run_id
from app.errors import InputError, PathError, printable

SOURCE = "osworld"
TRAJECTORY = "traj.jsonl"
RESULT = "result.txt"
LOG = "runtime.log"
MAX_STEPS = 20_000

_MAX_SMALL = 4 * 2**20
_MAX_LOG = 64 * 2**20
_LEVELS_UP = 5
_ROW = re.compile(rb'"(?:step_num|action_timestamp|screenshot_file\w*)"\s*:')
_ACTION = re.compile(rb'"(?:action|actions|Error)"\s*:')
_PICTURE = re.compile(r"step_(\d{1,9})(?:_.*)?\.(?:png|jpe?g|webp)", re.IGNORECASE)
_STAMP = re.compile(r"(\d{8})@(\d{6})(\d{0,6})")
_SAID = re.compile(r"\[?[Ii]nstruction\]?\s*[:=]\s*(.{1,4000})")
_TASK_FILES = ("task.json", "task_config.json", "example.json", "config.json", "args.json", "task_info.json")


@dataclass(slots=True)
class TrajectoryFolder:
    """The bytes of a run's files; its screenshots are read when it is parsed."""

    folder: Path
    root: Path
    rows: bytes
    result: bytes
    log: bytes
    content_hash: str
    problems: list[PathError] = field(default_factory=list[PathError])


def is_trajectory(head: bytes) -> bool:
    """Whether a ``traj.jsonl`` that begins so is of this format."""
    return head.lstrip()[:1] == b"{" and bool(_ROW.search(head) and _ACTION.search(head))


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    if TRAJECTORY in folder.names and is_trajectory(folder.head(TRAJECTORY)):
        yield FoundPart(folder.path)


def load(path: Path, root: Path, part: str) -> TrajectoryFolder:
    """Read the bytes of a run's records. Raises ``InputError``."""
    problems: list[PathError] = []
    rows = read_bytes(path / TRAJECTORY, MAX_JSON_BYTES)
    result = read_beside(path, RESULT, 2**16, problems)
    log = read_beside(path, LOG, _MAX_LOG, problems)
    digest = hashlib.sha256(rows + b"\0" + result).hexdigest()
    return TrajectoryFolder(path, root, rows, result, log, digest, problems)


def parse(raw: TrajectoryFolder, sites: SiteTable) -> ReadRun:
    """Make a run of a folder.

    Raises:
        InputError: no line of the records can be read.
    """
    rows = _rows(raw)
    error = next((said for row in rows if (said := text(row.get("Error")))), "")
    rows = [
        row for row in rows if any(row.get(name) is not None for name in ("action", "actions", "step_num"))
    ]
    notes: list[str] = []
    contents = ForeignContents()
    pictures = PictureFiles(raw.folder, contents)
    before, after = _pictures(rows, pictures)
    steps: list[Step] = []
    for index, row in enumerate(rows):
        shown = before[index] or (after[index - 1] if index else "")
        steps.append(_step(index, row, shown, contents))
    last = after[-1] if rows else ""
    final = Step(index=len(steps), url="", title="", screenshot=last, executed=False) if last else None
    if steps and not steps[0].screenshot and any(after):
        notes.append("its pictures were taken after each action: the page before the first is not shown")
    notes += pictures.note()
    task, config = _task(raw, rows)
    site, visited = sites_of(urls_of(steps), sites)
    run = _run(raw, task, config, rows, steps, redact_text(error))
    run = replace(
        run, site=site, sites=visited, final=final, notes=tuple(notes), intent=contents.said(run.intent)
    )
    return ReadRun(
        run=run, steps=tuple(steps), blobs=contents.blobs, problems=(*raw.problems, *pictures.problems)
    )


def _rows(raw: TrajectoryFolder) -> list[dict[str, Any]]:
    place = raw.folder / TRAJECTORY
    found: list[dict[str, Any]] = []
    bad = 0
    first = ""
    for line_number, line in enumerate(raw.rows.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(read_json_object(line, place))
        except InputError as error:
            bad += 1
            first = first or f"line {line_number}: {error.what}"
        if len(found) >= MAX_STEPS:
            break
    raw.rows = b""
    if bad and not found:
        raise InputError(first, path=str(place))
    if bad:
        more = f"; {bad - 1} more lines" if bad > 1 else ""
        raw.problems.append(PathError(path=str(place), error=f"{first}{more}"))
    return found


def _pictures(rows: list[dict[str, Any]], pictures: PictureFiles) -> tuple[list[str], list[str]]:
    """Return the digests of the pictures before and after each action; "" where there is none."""
    names = pictures.names()
    by_step: dict[int, str] = {}
    for name in sorted(names, key=natural_key):
        if (found := _PICTURE.fullmatch(name)) is not None:
            by_step[int(found[1])] = name  # of several attempts the last one counts
    before = [pictures.named(text(row.get("screenshot_file_before_exec"))) for row in rows]
    after: list[str] = []
    for at, row in enumerate(rows):
        named = text(row.get("screenshot_file"))
        if not named and not before[at]:
            named = by_step.get(integer(row.get("step_num"), at + 1), "")
        after.append(pictures.named(named))
    first = next(
        (name for name in ("initial_state.png", "step_0.png", "step_reset.png") if name in names), ""
    )
    if before and not before[0]:
        before[0] = pictures.named(first or by_step.get(0, ""))
    return before, after


def _step(index: int, row: dict[str, Any], shown: str, contents: ForeignContents) -> Step:
    value = row.get("action")
    if value is None:
        value = next(iter(items_of(row.get("actions"))), None)
    action = read_desktop_action(value)
    info = fields_of(row.get("info"))
    response = row.get("response")
    said = response if isinstance(response, str) else as_json(response) if response else ""
    reason = text(row.get("thought")) or text(fields_of(response).get("thought")) or said
    error = next((text(info.get(name)) for name in ("error", "Error") if text(info.get(name))), "")
    step = Step(
        index=index,
        url=redact_url(text(row.get("url"))),
        title="",
        reason=redact_text(reason.strip()),
        raw_output=redact_text(value if isinstance(value, str) else as_json(value) if value else ""),
        screenshot=shown,
        error=redact_text(error) if action is not None else "no action could be read",
        error_class=ErrorClass.HARNESS if action is None else ErrorClass.HARD if error else ErrorClass.NONE,
        executed=action is not None,
        started_at=_time(text(row.get("action_timestamp"))),
    )
    return contents.acted(step, action, None)


def _time(stamp: str) -> float:
    """Return the time of a stamp, as Unix seconds; it has no zone and is taken as UTC."""
    found = _STAMP.fullmatch(stamp)
    if found is None:
        return 0.0
    try:
        whole = calendar.timegm(time.strptime(found[1] + found[2], "%Y%m%d%H%M%S"))
    except ValueError:
        return 0.0
    return whole + (float(f"0.{found[3]}") if found[3] else 0.0)


def _task(raw: TrajectoryFolder, rows: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """Return the task's text, and the arguments of the run, from files in or above the folder, else from the log."""
    task = next((text(row.get("instruction")) for row in rows if text(row.get("instruction"))), "")
    config: dict[str, Any] = {}
    name, domain = raw.folder.name, raw.folder.parent.name
    here = raw.folder
    for level in range(_LEVELS_UP):
        if here != raw.root and not here.is_relative_to(raw.root):
            break
        own = (*_TASK_FILES, f"{name}.json") if level == 0 else ("args.json",)
        for file in (*own, f"evaluation_examples/examples/{domain}/{name}.json"):
            value = _object(here, file)
            task = task or text(value.get("instruction")) or (text(value.get("task")) if level == 0 else "")
            config = config or ({**value} if file == "args.json" else {})
        here = here.parent
    if not task and (found := _SAID.search(raw.log.decode("utf-8", "replace"))) is not None:
        task = found[1]
    raw.log = b""
    return task.strip(), config


def _object(folder: Path, name: str) -> dict[str, Any]:
    place = folder / name
    inside = [folder.joinpath(*Path(name).parts[:count]) for count in range(1, len(Path(name).parts))]
    if any(part.is_symlink() for part in inside) or not place.is_file():
        return {}
    try:
        return read_json_object(read_bytes(place, _MAX_SMALL), place)
    except InputError:
        return {}


def _run(
    raw: TrajectoryFolder,
    task: str,
    config: dict[str, Any],
    rows: list[dict[str, Any]],
    steps: list[Step],
    error: str,
) -> Run:
    score = _score(raw)
    last = steps[-1].action if steps else None
    limit = integer(config.get("max_steps"), 0)
    outcome = Outcome.INTERRUPTED if steps else Outcome.UNKNOWN
    if last is not None and last.kind == "report_infeasible":
        outcome = Outcome.INFEASIBLE
    elif last is not None and (last.kind == "send_msg_to_user" or rows[-1].get("done") is True):
        outcome = Outcome.ANSWERED
    elif error:
        outcome = Outcome.CRASHED
    elif steps and (score is not None or (limit and len(steps) >= limit)):
        outcome = Outcome.STEP_LIMIT  # scored without having said that it is done
    name = raw.folder.name
    return Run(
        id=make_run_id(f"osworld-{name}", raw.content_hash[:8]),
        source=SOURCE,
        suite=SOURCE,
        task_id=redact_text(name[:200]),
        intent=redact_text(task),
        score=score,
        outcome=outcome,
        error=error if outcome is Outcome.CRASHED else "",
        step_limit=(limit or len(steps)) if outcome is Outcome.STEP_LIMIT else None,
        step_count=len(steps),
        started_at=next((step.started_at for step in steps if step.started_at), 0.0),
        source_path=printable(str(raw.folder)),
        content_hash=raw.content_hash,
        model=redact_text(text(config.get("model"))),
    )


def _score(raw: TrajectoryFolder) -> float | None:
    said = raw.result.decode("utf-8", "replace").strip()
    if not said:
        return None
    named = {"true": 1.0, "false": 0.0}.get(said.lower())
    try:
        value = number(float(said), None) if named is None else named
    except ValueError:
        value = None
    if value is None:
        raw.problems.append(PathError(path=str(raw.folder / RESULT), error="no score: it is not a number"))
        return None
    return min(max(value, 0.0), 1.0)


RUN_FORMAT = RunFormat(
    name=SOURCE,
    title="OSWorld (traj.jsonl, step_N.png, result.txt)",
    new_finder=lambda: _find,
    load=load,
    parse=parse,
)
