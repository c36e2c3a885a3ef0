"""Importer of AgentRewardBench's cleaned trajectories: one JSON file a run, pictures in ``screenshots/`` beside them.

Its ``annotations.csv`` holds people's verdicts; a run's id begins with the agent and the task, so that they find it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from app.engine.core.actions.recorded import format_recorded
from app.engine.core.cost import Cost
from app.engine.core.redaction import MARK, redact_text
from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.imports import step_records
from app.engine.imports.page_contents import ForeignContents, sites_of
from app.engine.imports.picture_files import PictureFiles
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import (
    MAX_JSON_BYTES,
    ReadRun,
    read_bytes,
    read_bytes_start,
    read_json_object,
)
from app.engine.imports.step_records import StepReader, integer, number, text, texts
from app.engine.store.run_files import make_run_id
from app.errors import InputError, PathError, printable

SOURCE = "agent-reward-bench"
MAX_STEPS = 5000
_LEVELS_UP = 8
_ANNOTATIONS = re.compile(r"annotations[\w-]{0,40}\.csv")
_TITLE = re.compile(r"RootWebArea ('(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")")

Record = dict[str, Any]


@dataclass(slots=True)
class CleanedRun:
    """The bytes of one trajectory, and the name of a table of verdicts that lies beside it."""

    path: Path
    root: Path
    data: bytes
    content_hash: str
    annotations: str = ""
    problems: list[PathError] = field(default_factory=list[PathError])


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    for name in folder.names:
        if name.endswith(".json") and _is_cleaned(folder.head(name)):
            yield FoundPart(folder.path / name)


def _is_cleaned(head: bytes) -> bool:
    if not head.lstrip().startswith(b"{") or b'"benchmark"' not in head or b'"agent"' not in head:
        return False
    return (b'"summary_info"' in head or b'"experiment"' in head) and b'"judge"' not in head[:2000]


def id_start(agent: str, suite: str, task: str) -> str:
    """Return the beginning of the id of an agent's run of a task; the rest is the hash of its content."""
    return make_run_id(f"{agent}-{suite}-{task}", "0" * 8)[:-8]


def load(path: Path, root: Path, part: str) -> CleanedRun:
    """Read a trajectory.

    Raises:
        InputError: it can't be read.
    """
    data = read_bytes(path, MAX_JSON_BYTES)
    return CleanedRun(path, root, data, hashlib.sha256(data).hexdigest(), _annotations(path, root))


def parse(raw: CleanedRun, sites: SiteTable) -> ReadRun:
    """Make a run of a trajectory.

    Raises:
        InputError: it is cut off, or no trajectory.
    """
    about = read_json_object(raw.data, raw.path)
    given = about.get("steps")
    if not isinstance(given, list):
        raise InputError("no trajectory: it has no list of steps", path=str(raw.path))
    rows = [
        cast("Record", row) if isinstance(row, dict) else Record()
        for row in cast("list[object]", given)[: MAX_STEPS + 1]
    ]
    count = len(rows) - 1 if rows and not text(rows[-1].get("action")).strip() else len(rows)
    reader = StepReader({index: _record(row) for index, row in enumerate(rows)}, {})
    steps = [_as_said(reader.executed(at, last=at == count - 1), rows[at]) for at in range(count)]
    final = reader.after(count) if count < len(rows) else None
    contents = ForeignContents(blobs=reader.blobs)
    notes = (
        [f"only the first {MAX_STEPS} steps are read"] if len(cast("list[object]", given)) > len(rows) else []
    )
    if about.get("valid") is False:
        notes.append("the benchmark calls this trajectory invalid")
    steps, final = _with_pictures(raw, about, rows, steps, final, contents, notes)
    if raw.annotations:
        notes.append(f"people's verdicts lie beside it: sitelore review verdicts import {raw.annotations}")
    return ReadRun(
        run=_run(raw, about, sites, steps, final, tuple(notes)),
        steps=tuple(steps),
        blobs=contents.blobs,
        problems=tuple(raw.problems),
    )


def _record(row: Record) -> Record:
    """Return a step as BrowserGym's own record of it."""
    urls, url = texts(row.get("open_pages_urls")), text(row.get("url"))
    active = urls.index(url) if url in urls else 0
    if url and url not in urls:
        urls, active = [url, *urls], 0
    tree = text(row.get("axtree")) or text(row.get("axtree_txt")) or text(row.get("axtree_pruned"))
    named = _TITLE.search(tree[:5000])
    titles = [named[1][1:-1] if named is not None and at == active else "" for at in range(len(urls))]
    action = text(row.get("action"))
    return {
        "obs": {
            "axtree_txt": tree,
            "pruned_html": text(row.get("pruned_html")),
            "open_pages_urls": urls,
            "open_pages_titles": titles,
            "active_page_index": active,
            "last_action_error": text(row.get("last_action_error")),
        },
        "action": f"<think>{text(row.get('reasoning'))}</think><action>{action}</action>" if action else "",
        "stats": row.get("stats"),
    }


def _as_said(step: Step, row: Record) -> Step:
    """Return the step with the model's own answer, where the chat has it, and the box of its target."""
    chat = row.get("chat_messages")
    messages = cast("list[object]", chat) if isinstance(chat, list) else []
    said = [cast("Record", one) for one in messages if isinstance(one, dict)]
    answers = [text(one.get("content")) for one in said if one.get("role") == "assistant"]
    hidden = step.action is not None and MARK in step.action.args.values()
    raw = redact_text(answers[-1]) if answers and not hidden else ""
    call = format_recorded(step.action) if step.action is not None else redact_text(text(row.get("action")))
    raw = raw or "\n".join(filter(None, (step.reason, call)))
    boxes = row.get("extra_element_properties")
    bid = step.action.bid if step.action is not None else None
    element = cast("Record", boxes).get(bid or "") if isinstance(boxes, dict) else None
    box = cast("Record", element).get("bbox") if isinstance(element, dict) else None
    numbers = [number(value, None) for value in cast("list[object]", box)] if isinstance(box, list) else []
    place = [value for value in numbers if value is not None]
    return replace(
        step,
        raw_output=raw if step.raw_output else "",
        target_box=(place[0], place[1], place[2], place[3]) if len(place) == 4 else None,
    )


def _with_pictures(
    raw: CleanedRun,
    about: Record,
    rows: list[Record],
    steps: list[Step],
    final: Step | None,
    contents: ForeignContents,
    notes: list[str],
) -> tuple[list[Step], Step | None]:
    paths = [text(row.get("screenshot_path")).replace("\\", "/") for row in rows]
    first = next(filter(None, paths), "")
    agent, suite = text(about.get("agent")), text(about.get("benchmark"))
    usual = f"screenshots/{suite}/{agent}/{raw.path.stem}"
    files = None
    for folder in list(raw.path.parents)[:_LEVELS_UP]:
        if not folder.is_relative_to(raw.root) or files is not None:
            break
        written = first.rpartition("/")[0]
        for place in (written, written.partition("/")[2], usual, f"trajectories/{usual}"):
            if place and ".." not in place and not place.startswith("/") and (folder / place).is_dir():
                files = PictureFiles(folder, contents, places=(place,), problems=raw.problems)
                break
    if files is None:
        if first:
            notes.append("the pictures that it names are not beside it")
        return steps, final
    digests = [files.named(path.rpartition("/")[2]) if path else "" for path in paths]
    notes.extend(files.note())
    steps = [step_records.with_picture(step, digests[step.index]) for step in steps]
    return steps, step_records.with_picture(final, digests[final.index]) if final is not None else None


def _run(
    raw: CleanedRun,
    about: Record,
    sites: SiteTable,
    steps: list[Step],
    final: Step | None,
    notes: tuple[str, ...],
) -> Run:
    summary = (
        cast("Record", about["summary_info"]) if isinstance(about.get("summary_info"), dict) else Record()
    )
    suite = redact_text(text(about.get("benchmark")))[:200]
    task = redact_text(raw.path.stem.removeprefix(f"{suite}."))[:200]
    agent = redact_text(text(about.get("agent")) or text(about.get("model")))[:200]
    urls = [
        tab.url for step in ([*steps, final] if final is not None else steps) for tab in step.tabs if tab.url
    ]
    site, visited = sites_of(urls, sites)
    reward = number(summary.get("cum_reward"), None)
    error = text(summary.get("err_msg"))
    last = steps[-1].action if steps else None
    answer = None
    if last is not None and last.kind in ("send_msg_to_user", "report_infeasible"):
        answer = redact_text(str(next(iter(last.args.values()), "")))
    money = number(summary.get("stats.cum_cost"), None)
    return Run(
        id=make_run_id(f"{agent}-{suite}-{task}", raw.content_hash[:8]),
        source=SOURCE,
        suite=suite,
        task_id=task,
        site=site,
        sites=visited,
        intent=redact_text(text(about.get("goal"))).strip(),
        start_url=steps[0].url if steps else "",
        score=None if reward is None else min(max(reward, 0.0), 1.0),
        outcome=_outcome(summary, error, last.kind if last is not None else ""),
        error=redact_text(error.strip()),
        answer=answer,
        step_count=len(steps),
        final=final,
        source_path=printable(str(raw.path)),
        content_hash=raw.content_hash,
        notes=notes,
        policy=agent,
        model=_model(about, agent),
        tokens=(
            max(integer(summary.get("stats.cum_input_tokens"), 0), 0),
            max(integer(summary.get("stats.cum_output_tokens"), 0), 0),
        ),
        cost=Cost(known=money) if money is not None and money >= 0 else None,
    )


def _model(about: Record, agent: str) -> str:
    given = about.get("model_args")
    named = text(cast("Record", given).get("model_name")) if isinstance(given, dict) else ""
    return redact_text(named or text(about.get("model")) or agent)[:200]


def _outcome(summary: Record, error: str, last: str) -> Outcome:
    if error:
        return Outcome.CRASHED
    if last == "report_infeasible":
        return Outcome.INFEASIBLE
    if last == "send_msg_to_user":
        return Outcome.ANSWERED
    if summary.get("terminated") is True:
        return Outcome.ENDED_BY_ENVIRONMENT
    return Outcome.STEP_LIMIT if summary.get("truncated") is True else Outcome.UNKNOWN


def _annotations(path: Path, root: Path) -> str:
    """Return the path of a table of people's verdicts in the folders above, up to the chosen one."""
    for folder in list(path.parents)[:_LEVELS_UP]:
        if not folder.is_relative_to(root):
            break
        try:
            names = sorted(file.name for file in folder.iterdir() if _ANNOTATIONS.fullmatch(file.name))
        except OSError:
            continue
        for name in names:
            if b"trajectory_success" in read_bytes_start(folder / name, 4096):
                return printable(str(folder / name))
    return ""


RUN_FORMAT = RunFormat(
    name="agent-reward-bench",
    title="AgentRewardBench (cleaned trajectories)",
    new_finder=lambda: _find,
    load=load,
    parse=parse,
)
