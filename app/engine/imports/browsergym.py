"""Importer of BrowserGym's experiment folders and AgentLab's studies.

A run is a folder of ``step_N.pkl.gz``, with ``summary_info.json``, ``exp_args.pkl`` and pictures beside them. Record N
is the page that the agent saw and its answer; the result of that answer is in record N+1. The pickles are read by
another process (``app.engine.pickles``), never here; ``study.pkl.gz`` is not read at all: the study's table has what it
says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from app.engine.core.cost import Cost
from app.engine.core.redaction import redact_text
from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import Outcome, Run, Step, add_blob
from app.engine.imports import companion_files, step_records
from app.engine.imports.browsergym_answers import CODE, answer_of
from app.engine.imports.browsergym_pages import box_of, html_text, tree_text
from app.engine.imports.browsergym_study import Row, RunArguments, read_arguments, row_of, summary_in
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.page_contents import ForeignContents, sites_of
from app.engine.imports.picture_files import urls_of
from app.engine.imports.run_format import FoundPart, RunFinder, RunFormat, SourceFolder
from app.engine.imports.source_files import ReadRun, names_in, read_files, read_json_object
from app.engine.imports.step_counts import count_steps
from app.engine.imports.step_records import StepReader, integer, number, text
from app.engine.pickles.reader import TookTooLong, TooManyTimeouts, reader
from app.engine.store.run_files import make_run_id
from app.errors import InputError, PathError, printable

SOURCE = "browsergym"
AGENTLAB = "agentlab"

_STEP_FILE = re.compile(r"step_(\d{1,6})\.pkl(?:\.gz)?")
_RECORDS_OF_OTHERS = re.compile(r"steps_info_\d{1,9}\.json")
_PICTURE = re.compile(r"screenshot_(?:som_)?step_(\d{1,6})\.(?:png|jpe?g|webp)")
_SUMMARY, _ARGUMENTS, _GOAL = "summary_info.json", "exp_args.pkl", "goal_object.pkl.gz"
_PICKLED = (b"\x1f\x8b", b"\x80")
_TRIED = 20
"""Records of which one must begin as a pickle does."""
_HIDDEN = "_"
"""First character of a folder's name that AgentLab gives to a run it has started once more."""


@dataclass(slots=True)
class ExperimentFolder:
    """The unparsed files of a run. ``content_hash`` hashes them without the arguments, which hold a place.

    Of the end of a run alone there are no pictures, and its page only where it is wanted.
    """

    folder: Path
    root: Path
    files: dict[str, bytes]
    content_hash: str
    pictures: frozenset[int] = frozenset()
    problems: list[PathError] = field(default_factory=list[PathError])
    is_end: bool = False
    has_page: bool = True


@dataclass(slots=True)
class _Records:
    summary: dict[str, Any] = field(default_factory=dict[str, Any])
    by_index: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    screenshots: dict[int, bytes] = field(default_factory=dict[int, bytes])
    arguments: object = None
    goal: object = None
    notes: list[str] = field(default_factory=list[str])


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    if any(_RECORDS_OF_OTHERS.fullmatch(name) for name in folder.names):
        return
    steps = [name for name in folder.names if _STEP_FILE.fullmatch(name)][:_TRIED]
    if not steps and _ARGUMENTS in folder.names and _SUMMARY in folder.names:
        steps = [_ARGUMENTS]  # it failed before its first page
    if folder.root.is_dir() and any(folder.head(name).startswith(_PICKLED) for name in steps):
        yield FoundPart(folder.path)


def load(folder: Path, root: Path) -> ExperimentFolder:
    """Read and hash the bytes of a run's records.

    Raises:
        InputError: the folder can't be listed.
    """
    return _load(folder, root, names_in(folder))


def load_end(folder: Path, root: Path, *, page: bool) -> ExperimentFolder:
    """Read the summary and the last record alone.

    Args:
        page: with the page's contents.

    Raises:
        InputError: the folder can't be listed.
    """
    names = names_in(folder)
    last = next((name for name in reversed(names) if _STEP_FILE.fullmatch(name)), "")
    raw = _load(folder, root, [name for name in names if name in (_SUMMARY, _ARGUMENTS, _GOAL, last)])
    raw.is_end, raw.has_page = True, page
    return raw


def _load(folder: Path, root: Path, names: list[str]) -> ExperimentFolder:
    raw = ExperimentFolder(folder=folder, root=root, files={}, content_hash="")
    wanted = [name for name in names if name in (_SUMMARY, _ARGUMENTS, _GOAL) or _STEP_FILE.fullmatch(name)]
    raw.files, raw.content_hash = read_files(folder, wanted, raw.problems, unhashed=(_ARGUMENTS,))
    raw.pictures = frozenset(int(found[1]) for name in names if (found := _PICTURE.fullmatch(name)))
    return raw


def parse(raw: ExperimentFolder, sites: SiteTable) -> ReadRun:
    """Make a run of the bytes; ``raw.files`` is emptied on the way, so that no file is held twice.

    Raises:
        InputError: no file is a step record or a summary, or pickles took too long too often before.
    """
    records = _read_records(raw)
    row = row_of(raw.folder, raw.root)
    if not records.summary and (said := summary_in(row)):
        records.summary = said
        records.notes.append(f"the summary is missing: the study's table stands for it ({_SUMMARY})")
    if not records.by_index and not records.summary:
        first = f"; {Path(raw.problems[0].path).name}: {raw.problems[0].error}" if raw.problems else ""
        raise InputError(
            f"no run: neither a step nor a summary could be read here{first}", path=str(raw.folder)
        )
    count = _count(records)
    pages = StepReader(records.by_index, {}, answer_of)
    steps = [pages.executed(index, last=index == count - 1) for index in range(count)]
    final = pages.after(count) if fields_of(records.by_index.get(count)).get("obs") else None
    if final is None and count:
        records.notes.append(f"the page after the last step is not recorded ({_step_file(count)})")
    if not raw.is_end:
        pictures = _pictures(raw, records, pages.blobs)
        steps = [_seen(step, records, pictures, pages.blobs) for step in steps]
        final = _seen(final, records, pictures, pages.blobs) if final is not None else None
    arguments = read_arguments(records.arguments, row, raw.folder.name)
    run = _run(raw, records, arguments, sites, steps, final, row)
    return ReadRun(run=run, steps=tuple(steps), blobs=pages.blobs, problems=tuple(raw.problems))


def _read_records(raw: ExperimentFolder) -> _Records:
    records = _Records()
    tries = True
    for name in list(raw.files):
        path, data = raw.folder / name, raw.files.pop(name)
        step_file = _STEP_FILE.fullmatch(name)
        if name != _SUMMARY and not tries:
            continue
        try:
            if step_file is not None:
                _read_step(raw, records, int(step_file[1]), data, path)
            elif name == _SUMMARY:
                records.summary = read_json_object(data, path) if data.strip() else {}
            elif name == _GOAL:
                records.goal, _ = reader.read(data, "goal", path)
            else:
                records.arguments, _ = reader.read(data, "arguments", path)
        except TooManyTimeouts:
            raise  # the run is not stored, so that it can be imported later
        except InputError as error:
            tries = tries and not isinstance(error, TookTooLong)
            raw.problems.append(PathError(path=error.path or str(path), error=error.what))
    return records


def _read_step(raw: ExperimentFolder, records: _Records, index: int, data: bytes, path: Path) -> None:
    wanted = index not in raw.pictures and not raw.is_end
    value, picture = reader.read(data, "step", path, picture=wanted)
    record = fields_of(value)
    if "obs" not in record or not ({"action", "step"} & record.keys()):
        raise InputError("no step of BrowserGym: it has no observation", path=str(path))
    seen = fields_of(record.get("obs"))
    if not raw.has_page:
        for unwanted in ("axtree_txt", "axtree_object", "pruned_html", "dom_object"):
            seen.pop(unwanted, None)
    if (tree := seen.pop("axtree_object", None)) is not None:
        seen["axtree_txt"] = tree_text(tree)
    if (snapshot := seen.pop("dom_object", None)) is not None:
        seen["pruned_html"] = html_text(snapshot)
    if not items_of(seen.get("open_pages_urls")) and text(seen.get("url")):
        seen["open_pages_urls"] = [seen["url"]]
    records.by_index[index] = record
    if picture:
        records.screenshots[index] = picture


def _count(records: _Records) -> int:
    """Return the number of actions done: the last record is the page after the last of them."""
    said = integer(records.summary.get("n_steps"), -1)
    if said < 0 and records.by_index:
        last = max(records.by_index)
        ended = records.by_index[last]
        is_end = not text(ended.get("action")) or ended.get("terminated") is True
        said = last if is_end else last + 1
        records.notes.append(f"the summary is missing: the end is taken from the last record ({_SUMMARY})")
        if not is_end:
            records.notes.append("the run was cut off: what came of its last action is not recorded")
    return count_steps(said, records.by_index, records.notes, _step_file)


def _step_file(index: int) -> str:
    return f"step_{index}.pkl.gz"


def _pictures(raw: ExperimentFolder, records: _Records, blobs: dict[str, bytes]) -> dict[int, str]:
    """Return pictures by step: the files beside the records, else those within them."""
    found = companion_files.pictures(raw.folder, raw.root, blobs, raw.problems)
    contents = ForeignContents(blobs)
    for index in sorted(records.screenshots.keys() - found.keys()):
        found[index] = contents.picture(records.screenshots.pop(index))
    if contents.left_out:
        records.notes.append(f"pictures left out, as there are too many: {contents.left_out}")
    return found


def _seen(step: Step, records: _Records, pictures: dict[int, str], blobs: dict[str, bytes]) -> Step:
    """Return a step with its picture, the boxes of the elements in view and that of its target.

    The boxes are stored as they come (``regions.stored_boxes``): whoever reads them leaves out what is none.
    """
    step = step_records.with_picture(step, pictures.get(step.index, ""))
    record = records.by_index.get(step.index, {})
    boxes = fields_of(record.get("boxes"))
    stats = fields_of(record.get("stats"))
    cost = number(stats.get("cost"), None)
    bid = step.action.bid if step.action is not None else None
    return replace(
        step,
        boxes=add_blob(blobs, orjson.dumps(boxes)) if boxes and step.screenshot else "",
        target_box=box_of(boxes.get(bid)) if bid and step.screenshot else None,
        tokens=_tokens(stats),
        cost=Cost(known=max(cost, 0.0)) if cost is not None else None,
        summary=step.summary or redact_text(text(_hint(record))),
    )


def _hint(record: dict[str, Any]) -> object:
    return fields_of(fields_of(record.get("agent_info")).get("extra_info")).get("summary")


def _tokens(stats: dict[str, Any]) -> tuple[int, int]:
    return max(integer(stats.get("input_tokens"), 0), 0), max(integer(stats.get("output_tokens"), 0), 0)


def _run(
    raw: ExperimentFolder,
    records: _Records,
    arguments: RunArguments,
    sites: SiteTable,
    steps: list[Step],
    final: Step | None,
    row: Row,
) -> Run:
    pages = [*steps, final] if final else steps
    site, visited = sites_of(urls_of(pages), sites)
    suite, dot, task = arguments.task.partition(".")
    suite, task = (suite, task) if dot else ("", suite)
    if suite == "miniwob" and arguments.seed is not None:
        task = f"{task}.{arguments.seed}"  # there the seed makes the task
    error = redact_text(text(records.summary.get("err_msg")).strip())
    outcome = _outcome(records, error, steps, arguments)
    several = sum(step.action is not None and step.action.kind == CODE for step in steps)
    if several:
        records.notes.append(f"answers of several actions, which are one step each: {several}")
    if raw.folder.name.startswith(_HIDDEN):
        records.notes.append("AgentLab hides this run, as it was started once more")
    return Run(
        id=make_run_id(f"{suite or SOURCE}-{task or raw.folder.name}", raw.content_hash[:8]),
        source=_source(records, row),
        suite=suite,
        task_id=task,
        site=site,
        sites=visited,
        intent=redact_text(_intent(records) or arguments.goal),
        start_url=next((page.url for page in pages if page.url), ""),
        score=_score(records),
        outcome=outcome,
        error=error,
        answer=_answer(records, steps),
        step_limit=arguments.max_steps if arguments.max_steps else None,
        step_count=len(steps),
        final=final,
        started_at=next((page.started_at for page in pages if page.started_at), 0.0),
        source_path=printable(str(raw.folder)),
        content_hash=raw.content_hash,
        policy=redact_text(arguments.agent),
        model=redact_text(arguments.model),
        tokens=_total_tokens(records, steps),
        cost=_cost(records, steps),
        notes=tuple(records.notes),
    )


def _source(records: _Records, row: Row) -> str:
    written = (text(record.get("written_by")) for record in records.by_index.values())
    return AGENTLAB if row or any(name.startswith(AGENTLAB) for name in written) else SOURCE


def _intent(records: _Records) -> str:
    """Return the goal: as text, else the words of its parts, else the first message of the user."""
    for index in sorted(records.by_index):
        seen = fields_of(records.by_index[index].get("obs"))
        if said := text(seen.get("goal")).strip():
            return said
        if said := _words(seen.get("goal_object")):
            return said
    if said := _words(records.goal):
        return said
    first = records.by_index[min(records.by_index)] if records.by_index else {}
    return next((said.strip() for role, said in step_records.messages(first) if role == "user"), "")


def _words(parts: object) -> str:
    found = [fields_of(part) for part in items_of(parts)]
    return "\n".join(filter(None, (text(part.get("text")).strip() for part in found)))


def _said_to_user(records: _Records) -> tuple[str, str]:
    """Return role and text of the last message that the agent sent after the goal."""
    if not records.by_index:
        return "", ""
    first, last = (
        step_records.messages(records.by_index[at]) for at in (min(records.by_index), max(records.by_index))
    )
    known = len(first) if len(records.by_index) > 1 else len(last)
    new = [one for one in last[known:] if one[0] in ("assistant", "infeasible")]
    return new[-1] if new else ("", "")


def _answer(records: _Records, steps: list[Step]) -> str | None:
    role, said = _said_to_user(records)
    if role:
        return redact_text(said)
    action = steps[-1].action if steps and steps[-1].executed else None
    if action is not None and action.kind in ("send_msg_to_user", "report_infeasible"):
        return redact_text(str(next(iter(action.args.values()), "")))
    return None


def _outcome(records: _Records, error: str, steps: list[Step], arguments: RunArguments) -> Outcome:
    last = records.by_index[max(records.by_index)] if records.by_index else {}
    terminated = records.summary.get("terminated", last.get("terminated"))
    truncated = records.summary.get("truncated", last.get("truncated"))
    if "Unauthorized url" in str(fields_of(last.get("task_info")).get("error", "")):
        return Outcome.LEFT_ALLOWED_SITES
    if error:
        return Outcome.CRASHED
    role, _ = _said_to_user(records)
    action = steps[-1].action if steps and steps[-1].executed else None
    kind = action.kind if action is not None else ""
    if role == "infeasible" or kind == "report_infeasible":
        return Outcome.INFEASIBLE
    if role == "assistant" or kind == "send_msg_to_user":
        return Outcome.ANSWERED
    if terminated is True:
        return Outcome.ENDED_BY_ENVIRONMENT
    if truncated is True:
        if arguments.max_steps and len(steps) < arguments.max_steps:
            records.notes.append("the agent ended the run without an answer")
            return Outcome.UNKNOWN
        return Outcome.STEP_LIMIT
    return Outcome.INTERRUPTED if steps else Outcome.UNKNOWN


def _score(records: _Records) -> float | None:
    """Return the summed reward, at most 1; ``None`` where no reward was recorded."""
    if "cum_reward" in records.summary:
        total = number(records.summary["cum_reward"], None)
    else:
        last = records.by_index[max(records.by_index)] if records.by_index else {}
        ended = last.get("terminated") is True or last.get("truncated") is True
        rewards = [number(record.get("reward"), None) for record in records.by_index.values()]
        known = [reward for reward in rewards if reward is not None]
        total = sum(known) if ended and known else None
    return None if total is None else min(max(total, 0.0), 1.0)


def _total_tokens(records: _Records, steps: list[Step]) -> tuple[int, int]:
    whole = _tokens(
        {name: records.summary.get(f"stats.cum_{name}") for name in ("input_tokens", "output_tokens")}
    )
    return whole if any(whole) else (sum(s.tokens[0] for s in steps), sum(s.tokens[1] for s in steps))


def _cost(records: _Records, steps: list[Step]) -> Cost | None:
    said = number(records.summary.get("stats.cum_cost"), None)
    if said is not None:
        return Cost(known=max(said, 0.0))
    known = [step.cost for step in steps if step.cost is not None]
    return sum(known, Cost()) if known else None


def _new_finder() -> RunFinder:
    reader.begin_import()
    return _find


def _load_run(path: Path, root: Path, part: str) -> Any:
    return load(path, root)


def _load_end(path: Path, root: Path, part: str, *, page: bool) -> Any:
    return load_end(path, root, page=page)


RUN_FORMAT = RunFormat(
    name=SOURCE,
    title="BrowserGym and AgentLab (experiment folders, studies)",
    new_finder=_new_finder,
    load=_load_run,
    parse=parse,
    load_end=_load_end,
)
