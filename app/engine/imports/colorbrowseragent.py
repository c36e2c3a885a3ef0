"""Importer of ColorBrowserAgent's published runs (BrowserGym's step records as JSON).

A run is a folder of ``steps_info_N.json`` and one ``summary_info.json``, recognised by content. Record i is the page
the agent saw and its answer; the result of that answer is in record i+1. So a run of n steps has n+1 records, and the
answer in the last one never ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.engine.core.redaction import redact_text
from app.engine.core.sites import CROSS, SiteTable
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.imports import companion_files, run_format, step_records
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import (
    ReadRun,
    names_in,
    read_files,
    read_json_object,
)
from app.engine.imports.step_counts import count_steps
from app.engine.imports.step_records import StepReader
from app.engine.store.run_files import make_run_id
from app.errors import InputError, PathError, printable

SOURCE = "colorbrowseragent"

_STEP_FILE = re.compile(r"steps_info_(\d{1,9})\.json")
_SUMMARY_FILE = "summary_info.json"
_PAGE = ("axtree_txt", "pruned_html")
_SUMMARY_KEYS = frozenset({"n_steps", "cum_reward", "err_msg", "terminated", "truncated"})
_SUITE_AND_TASK = re.compile(
    r"\b(webchorearena|webarena|visualwebarena|workarena\w*|miniwob|assistantbench)\.(\w+)"
)
_HOME_NOTE = re.compile(
    r"\s*\(Note: if you want to visit other websites, check out the homepage at .*\)\s*\Z", re.DOTALL
)
_WEBCHOREARENA_SITES = {"1": "shopping_admin", "2": "shopping", "3": "reddit", "4": "gitlab", "5": CROSS}


@dataclass(slots=True)
class RawRun:
    """A run folder's JSON files as unparsed bytes. ``content_hash`` hashes their content, not their location.

    Of the end of a run alone there are neither log nor pictures, and its page only where it is wanted.
    """

    folder: Path
    root: Path
    files: dict[str, bytes]
    content_hash: str
    problems: list[PathError] = field(default_factory=list[PathError])
    is_end: bool = False
    has_page: bool = True


@dataclass(slots=True)
class _Records:
    """The parsed files of a run: the summary, the records by step index, and the problems."""

    summary: dict[str, Any]
    by_index: dict[int, dict[str, Any]]
    notes: list[str]
    problems: list[PathError]


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    if any(name == _SUMMARY_FILE or _STEP_FILE.fullmatch(name) for name in folder.names):
        yield FoundPart(folder.path)


def find_runs(root: Path, problems: list[PathError] | None = None) -> Iterator[Path]:
    """Yield every run folder at or below ``root``, in natural order; unreadable folders are added to ``problems``."""
    for found in run_format.find_runs(root, [RUN_FORMAT], problems if problems is not None else []):
        yield found.path


def load(folder: Path, root: Path) -> RawRun:
    """Read the bytes of a run's JSON files and hash them.

    Raises:
        InputError: the folder can't be listed.
    """
    return _load(folder, root, names_in(folder))


def load_end(folder: Path, root: Path, *, page: bool) -> RawRun:
    """Read the summary and the last record alone: the page after the last step, and what was said there.

    Args:
        page: with the page's contents.

    Raises:
        InputError: the folder can't be listed.
    """
    names = names_in(folder)
    last = next((name for name in reversed(names) if _STEP_FILE.fullmatch(name)), "")
    raw = _load(folder, root, [name for name in names if name in (_SUMMARY_FILE, last)])
    raw.is_end, raw.has_page = True, page
    return raw


def _load(folder: Path, root: Path, names: list[str]) -> RawRun:
    raw = RawRun(folder=folder, root=root, files={}, content_hash="")
    wanted = [name for name in names if name == _SUMMARY_FILE or _STEP_FILE.fullmatch(name)]
    raw.files, raw.content_hash = read_files(folder, wanted, raw.problems)
    raw.problems += [
        PathError(path=str(folder / name), error="a Python pickle; pickles are never opened")
        for name in names
        if name.endswith((".pkl", ".pickle", ".pkl.gz"))
    ]
    return raw


def parse(raw: RawRun, sites: SiteTable) -> ReadRun:
    """Make a run of the bytes; ``raw.files`` is emptied on the way, so that no file is held twice.

    Raises:
        InputError: no file is a step record or a summary.
    """
    records = _read_records(raw)
    if not records.by_index and not records.summary:
        first = f"; {Path(raw.problems[0].path).name}: {raw.problems[0].error}" if raw.problems else ""
        raise InputError(
            f"no run: neither a step record nor a summary could be read here{first}", path=str(raw.folder)
        )
    said = step_records.integer(records.summary.get("n_steps"), -1)
    count = count_steps(said, records.by_index, records.notes, _step_file)
    summaries = companion_files.summaries(raw.folder, raw.root) if not raw.is_end else {}
    reader = StepReader(records.by_index, summaries)
    steps = [reader.executed(index, last=index == count - 1) for index in range(count)]
    final = reader.after(count) if count in records.by_index else None
    if final is None and count:
        records.notes.append(
            f"the record after the last step ({count}) is missing: the page it led to is unknown"
            f" ({_step_file(count)})"
        )
    blobs = reader.blobs
    if not raw.is_end:
        steps, final = _with_pictures(raw, steps, final, blobs, records.problems)
    run = _make_run(raw, records, sites, tuple(steps), final)
    return ReadRun(run=run, steps=tuple(steps), blobs=blobs, problems=tuple(records.problems))


def _read_records(raw: RawRun) -> _Records:
    records = _Records(summary={}, by_index={}, notes=[], problems=raw.problems)
    for name in list(raw.files):
        path = raw.folder / name
        step_file = _STEP_FILE.fullmatch(name)
        try:
            value = read_json_object(raw.files.pop(name), path)
            if step_file is None:
                if not _SUMMARY_KEYS & value.keys():
                    raise InputError("no run summary: it has none of the expected keys", path=str(path))
                records.summary = value
            else:
                if not isinstance(value.get("obs"), dict):
                    raise InputError("no step record: it has no observation", path=str(path))
                for unwanted in () if raw.has_page else _PAGE:
                    value["obs"].pop(unwanted, None)
                records.by_index[int(step_file[1])] = value
        except InputError as error:
            records.problems.append(PathError(path=error.path, error=error.what))
    if not records.summary and records.by_index:
        records.notes.append(
            f"the summary is missing: the score and the end are taken from the last record ({_SUMMARY_FILE})"
        )
    return records


def _step_file(index: int) -> str:
    return f"steps_info_{index}.json"


def _with_pictures(
    raw: RawRun, steps: list[Step], final: Step | None, blobs: dict[str, bytes], problems: list[PathError]
) -> tuple[list[Step], Step | None]:
    pictures = companion_files.pictures(raw.folder, raw.root, blobs, problems)
    if not pictures:
        return steps, final
    steps = [step_records.with_picture(step, pictures.get(step.index, "")) for step in steps]
    return steps, step_records.with_picture(final, pictures.get(final.index, "")) if final else None


def _make_run(
    raw: RawRun, records: _Records, sites: SiteTable, steps: tuple[Step, ...], final: Step | None
) -> Run:
    summary = records.summary
    error = step_records.text(summary.get("err_msg"))
    first = records.by_index[min(records.by_index)] if records.by_index else {}
    last = records.by_index[max(records.by_index)] if records.by_index else {}
    suite, task_id = _suite_and_task(raw, error)
    pages = [*steps, final] if final else list(steps)
    urls = [
        tab.url for step in pages for tab in (*step.tabs[step.active_tab :], *step.tabs[: step.active_tab])
    ]
    site, visited = _site(raw, sites, suite, task_id, urls)
    outcome = _outcome(summary, last, error, steps, ended=final is not None or not steps)
    return Run(
        id=make_run_id(f"{suite or 'run'}-{task_id}", raw.content_hash[:8]),
        source=SOURCE,
        suite=suite,
        task_id=task_id,
        site=site,
        sites=visited,
        intent=redact_text(_HOME_NOTE.sub("", step_records.text(first.get("obs", {}).get("goal"))).strip()),
        start_url=pages[0].url if pages else "",
        score=_score(records),
        outcome=outcome,
        error=redact_text(error.strip()),
        answer=_answer(last, steps),
        step_limit=len(steps) if outcome is Outcome.STEP_LIMIT else None,
        step_count=len(steps),
        final=final,
        started_at=pages[0].started_at if pages else 0.0,
        source_path=printable(str(raw.folder)),
        content_hash=raw.content_hash,
        notes=tuple(records.notes),
    )


def _suite_and_task(raw: RawRun, error: str) -> tuple[str, str]:
    """Take suite and task from the crash message, else from the folders' names; five digits are WebChoreArena's."""
    inside = raw.folder.relative_to(raw.root).parts if raw.folder.is_relative_to(raw.root) else ()
    parts = [*inside[::-1], *raw.root.parts[::-1]] if inside else [*raw.folder.parts[::-1]]
    named = _SUITE_AND_TASK.search(error) or next(filter(None, map(_SUITE_AND_TASK.search, parts[:3])), None)
    if named is not None:
        return named[1], named[2]
    digits = re.findall(r"\d+", raw.folder.name)
    task_id = digits[-1] if digits else re.sub(r"[^\w-]+", "_", raw.folder.name)[:40] or "task"
    if len(task_id) == 5 and task_id[0] in _WEBCHOREARENA_SITES:
        return "webchorearena", task_id
    suites = ("webchorearena", "visualwebarena", "webarena", "workarena", "miniwob", "assistantbench")
    found = next((suite for part in parts for suite in suites if suite in part.lower()), "")
    return found, task_id


def _site(
    raw: RawRun, sites: SiteTable, suite: str, task_id: str, urls: list[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the task's site and all its sites: by the task map beside the runs, the task's id, the visited pages."""
    visited = sites.named(urls)
    if suite == "webchorearena" and len(task_id) == 5 and task_id[0] in _WEBCHOREARENA_SITES:
        site = _WEBCHOREARENA_SITES[task_id[0]]
        return site, visited or (() if site == CROSS else (site,))
    if suite in ("webarena", ""):
        known = companion_files.task_sites(raw.root).get(task_id, ())
        if known:
            return (known[0] if len(known) == 1 else CROSS), known
    if len(visited) > 1:
        return CROSS, visited
    if visited:
        return visited[0], visited
    other = next((site for site in map(sites.site_of, urls) if site), "")
    return other, (other,) if other else ()


def _outcome(
    summary: dict[str, Any], last: dict[str, Any], error: str, steps: tuple[Step, ...], *, ended: bool
) -> Outcome:
    """Return how the run ended; ``ended`` means that ``last`` is the record of its end.

    Without that record a run that ended by itself may have been scored, or have left its sites: unknown.
    """
    terminated = summary.get("terminated", last.get("terminated"))
    truncated = summary.get("truncated", last.get("truncated"))
    task_info = last.get("task_info")
    if isinstance(task_info, dict) and "Unauthorized url" in str(task_info.get("error", "")):  # pyright: ignore[reportUnknownArgumentType]
        return Outcome.LEFT_ALLOWED_SITES
    if error:
        return Outcome.CRASHED
    messages = step_records.messages(last)
    kind = steps[-1].action.kind if steps and steps[-1].action and steps[-1].executed else ""
    if (len(messages) > 2 and messages[2][0] == "infeasible") or kind == "report_infeasible":
        return Outcome.INFEASIBLE
    if len(messages) > 2 or kind == "send_msg_to_user":
        return Outcome.ANSWERED
    if terminated is True:
        return Outcome.ENDED_BY_ENVIRONMENT if ended else Outcome.UNKNOWN
    return Outcome.STEP_LIMIT if truncated is True else Outcome.INTERRUPTED


def _score(records: _Records) -> float | None:
    """Return the summed reward, at most 1 and with its partial credit; ``None`` where nothing was recorded."""
    if "cum_reward" in records.summary:
        total = step_records.number(records.summary["cum_reward"], None)
    else:
        rewards = [step_records.number(record.get("reward"), None) for record in records.by_index.values()]
        total = (
            sum(reward for reward in rewards if reward is not None)
            if any(r is not None for r in rewards)
            else None
        )
    return None if total is None else min(max(total, 0.0), 1.0)


def _answer(last: dict[str, Any], steps: tuple[Step, ...]) -> str | None:
    """Return the chat's third message; where the last record is missing, the last action's message."""
    messages = step_records.messages(last)
    if len(messages) > 2:
        return redact_text(messages[2][1])
    action = steps[-1].action if steps and steps[-1].executed else None
    if action is not None and action.kind in ("send_msg_to_user", "report_infeasible"):
        return redact_text(str(next(iter(action.args.values()), "")))
    return None


def _load_run(path: Path, root: Path, part: str) -> Any:
    return load(path, root)


def _load_end(path: Path, root: Path, part: str, *, page: bool) -> Any:
    return load_end(path, root, page=page)


RUN_FORMAT = RunFormat(
    name="colorbrowseragent",
    title="ColorBrowserAgent (steps_info_N.json)",
    new_finder=lambda: _find,
    load=_load_run,
    parse=parse,
    load_end=_load_end,
    notes_absences=False,
)
