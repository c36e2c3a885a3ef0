"""Importer of Online-Mind2Web: a folder per task with ``result.json`` and ``trajectory/``, schemas v1 and v2.

v1 has flat lists of phrases and thoughts, its pictures are numbered; v2 has an object for each step.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.engine.core.actions.recorded import RecordedAction
from app.engine.core.redaction import redact_text, redact_url, typed_secret
from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step
from app.engine.imports.action_phrases import ActionPhrase, read_phrase
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.page_contents import ForeignContents, sites_of
from app.engine.imports.picture_files import PictureFiles, by_number, urls_of
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import MAX_JSON_BYTES, ReadRun, read_bytes, read_json_object
from app.engine.imports.step_records import text
from app.engine.store.run_files import make_run_id
from app.errors import InputError, PathError, printable

SOURCE = "online-mind2web"
RESULT_FILE = "result.json"
TRAJECTORY = "trajectory"
SCHEMA = "online-mind2web-v"
MAX_STEPS = 20_000

_JUDGED = "_auto_eval_results.json"
_MAX_JUDGED_BYTES = 256 * 2**20
_V2 = re.compile(rb'"schema_version"\s*:\s*"online-mind2web-v')
_TASK = re.compile(rb'"task"\s*:\s*"')
_V1 = re.compile(rb'"(?:thoughts|final_result_response|input_image_paths)"\s*:')
_HISTORY = re.compile(rb'"action_history"\s*:\s*\[\s*(?:"|\])')
_SEEACT = re.compile(rb'"num_step"\s*:')
_JUDGE = re.compile(r"(?P<mode>.+?)_(?P<model>[^_]+)_score_threshold_(?P<least>\d+)_auto_eval_results\.json")


@dataclass(slots=True)
class TaskFolder:
    """A task's folder with the bytes of its result; judgements are read beside it, within the chosen folder."""

    folder: Path
    root: Path
    data: bytes
    content_hash: str
    problems: list[PathError] = field(default_factory=list[PathError])


@dataclass(slots=True)
class _Entry:
    """One action with what the record says of it."""

    phrase: ActionPhrase
    raw: str
    thought: str = ""
    url: str = ""
    picture: str = ""


def is_result(head: bytes) -> bool:
    """Whether a ``result.json`` that begins so is of this format."""
    if _V2.search(head):
        return True
    return bool(
        _TASK.search(head) and _HISTORY.search(head) and _V1.search(head) and not _SEEACT.search(head)
    )


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    if RESULT_FILE in folder.names and is_result(folder.head(RESULT_FILE)):
        yield FoundPart(folder.path)


def load(path: Path, root: Path, part: str) -> TaskFolder:
    """Read the bytes of a task's result. Raises ``InputError``."""
    data = read_bytes(path / RESULT_FILE, MAX_JSON_BYTES)
    return TaskFolder(folder=path, root=root, data=data, content_hash=hashlib.sha256(data).hexdigest())


def parse(raw: TaskFolder, sites: SiteTable) -> ReadRun:
    """Make a run of a task's folder.

    Raises:
        InputError: the result is no JSON, or of a newer schema.
    """
    place = raw.folder / RESULT_FILE
    result = read_json_object(raw.data, place)
    raw.data = b""
    version = text(result.get("schema_version"))
    if version.startswith(SCHEMA) and version != f"{SCHEMA}2" and version != f"{SCHEMA}1":
        raise InputError(
            f"schema {printable(version)[:60]!r} is newer than this program knows",
            path=str(place),
            remedy="update Sitelore, or export it as online-mind2web-v2",
        )
    contents = ForeignContents()
    answer = text(result.get("agent_final_answer")) or text(result.get("final_result_response"))
    pictures = PictureFiles(raw.folder, contents, (TRAJECTORY, ""))
    is_v2 = version == f"{SCHEMA}2"
    entries = _entries_v2(result) if is_v2 else _entries_v1(result)
    if not is_v2:
        _number_pictures(entries, pictures)
    if entries and entries[-1].phrase.ends and answer:
        entries[-1].phrase = _with_answer(entries[-1].phrase, answer)
    extra = _extra_picture(entries, pictures) if not is_v2 else ""
    notes: list[str] = []
    for entry in entries:
        if typed_secret(entry.phrase.action, entry.phrase.target):
            contents.acted(Step(index=0, url="", title=""), entry.phrase.action, entry.phrase.target)
    after = bool(entries) and not extra and _starts_by_going(entries)
    steps, final = _steps(entries, contents, pictures, extra, after=after)
    if after:
        notes.append("its pictures were taken after each action: the page before the first is not shown")
    notes += pictures.note()
    if inputs := items_of(result.get("input_image_paths")):
        notes.append(f"pictures of the task's text that are left out: {len(inputs)}")
    task = text(result.get("task_id")) or raw.folder.name
    notes += _judgements(raw.folder, raw.root, {task, raw.folder.name})
    run = _run(raw, result, task, steps, contents)
    website = redact_url(text(result.get("start_url")) or text(result.get("website")))
    urls = urls_of([*steps, *([final] if final else [])])
    site, visited = sites_of([*urls, website] if website else urls, sites)
    run = replace(
        run,
        start_url=website or (urls[0] if urls else ""),
        site=site,
        sites=visited,
        final=final,
        notes=tuple(notes),
    )
    problems = (*raw.problems, *pictures.problems)
    return ReadRun(run=run, steps=tuple(steps), blobs=contents.blobs, problems=problems)


def _entries_v2(result: dict[str, Any]) -> list[_Entry]:
    found: list[_Entry] = []
    for row in items_of(result.get("action_history"))[:MAX_STEPS]:
        step = fields_of(row)
        action = text(step.get("action")) or (row if isinstance(row, str) else "")
        phrase = read_phrase(action)
        if step.get("action_status") == "FAILED" and not phrase.failed:
            phrase = replace(phrase, failed=True)
        found.append(
            _Entry(
                phrase=phrase,
                raw=action,
                thought=text(step.get("thought")),
                url=redact_url(text(step.get("url"))),
                picture=text(step.get("screenshot")),
            )
        )
    return found


def _entries_v1(result: dict[str, Any]) -> list[_Entry]:
    actions = items_of(result.get("action_history"))[:MAX_STEPS]
    thoughts = items_of(result.get("thoughts"))
    return [
        _Entry(
            phrase=read_phrase(text(action)),
            raw=text(action),
            thought=text(thoughts[at]) if at < len(thoughts) else "",
        )
        for at, action in enumerate(actions)
    ]


def _with_answer(phrase: ActionPhrase, answer: str) -> ActionPhrase:
    """Return the last action with the answer of the record, where it does not say it itself."""
    if phrase.action is None or phrase.action.args or phrase.action.kind != "send_msg_to_user":
        return phrase
    return replace(phrase, action=RecordedAction(kind="send_msg_to_user", args={"text": redact_text(answer)}))


def _number_pictures(entries: list[_Entry], pictures: PictureFiles) -> None:
    for at, name in by_number(pictures.names()).items():
        if at < len(entries):
            entries[at].picture = name


def _extra_picture(entries: list[_Entry], pictures: PictureFiles) -> str:
    """Return the picture after the last action, where there is one more than actions."""
    return by_number(pictures.names()).get(len(entries), "")


def _starts_by_going(entries: list[_Entry]) -> bool:
    """Whether the first action opens the site: a picture before it would show nothing."""
    action = entries[0].phrase.action
    return action is not None and action.kind == "goto"


def _steps(
    entries: list[_Entry], contents: ForeignContents, pictures: PictureFiles, extra: str, *, after: bool
) -> tuple[list[Step], Step | None]:
    pages = [(entry.url, pictures.named(entry.picture)) for entry in entries]
    if after:
        pages.insert(0, ("", ""))
    elif extra:
        pages.append(("", pictures.named(extra)))
    elif entries and entries[-1].phrase.ends:
        pages.append(pages[-1])
    steps: list[Step] = []
    for index, entry in enumerate(entries):
        phrase, (url, picture) = entry.phrase, pages[index]
        kind = ErrorClass.HARD if phrase.failed else ErrorClass.NONE
        step = Step(
            index=index,
            url=url,
            title="",
            reason=redact_text(entry.thought.strip()),
            raw_output=redact_text(entry.raw),
            screenshot=picture,
            error=(phrase.error or "the action failed") if phrase.failed else "",
            error_class=kind if phrase.action is not None else ErrorClass.HARNESS,
            executed=phrase.action is not None,
        )
        steps.append(contents.acted(step, phrase.action, phrase.target))
    if len(pages) <= len(entries):
        return steps, None
    url, picture = pages[-1]
    shown = bool(url or picture)
    return steps, Step(
        index=len(steps), url=url, title="", screenshot=picture, executed=False
    ) if shown else None


def _run(
    raw: TaskFolder, result: dict[str, Any], task: str, steps: list[Step], contents: ForeignContents
) -> Run:
    last = steps[-1].action if steps else None
    said = str(last.args.get("text", "")) if last is not None and last.kind == "send_msg_to_user" else ""
    answer = text(result.get("agent_final_answer")) or text(result.get("final_result_response")) or said
    ended = bool(answer) or (last is not None and last.kind in ("send_msg_to_user", "report_infeasible"))
    outcome = Outcome.ANSWERED if ended else Outcome.INTERRUPTED if steps else Outcome.UNKNOWN
    if last is not None and last.kind == "report_infeasible":
        outcome = Outcome.INFEASIBLE
    return Run(
        id=make_run_id(f"online-mind2web-{task}", raw.content_hash[:8]),
        source=SOURCE,
        suite=SOURCE,
        task_id=redact_text(task[:200]),
        intent=contents.said(redact_text(text(result.get("task")).strip())),
        outcome=outcome,
        answer=contents.said(redact_text(answer)) if answer else None,
        step_count=len(steps),
        source_path=printable(str(raw.folder)),
        content_hash=raw.content_hash,
    )


def _judgements(folder: Path, root: Path, names: set[str]) -> list[str]:
    """Return what judges, which are models, said of the task in files in or above its folder: no scores."""
    notes: list[str] = []
    places = [place for place in (folder, folder.parent) if place == root or place.is_relative_to(root)]
    for place in places:
        try:
            files = sorted(one.name for one in place.iterdir() if one.name.endswith(_JUDGED))[:20]
        except OSError:
            continue
        for name in files:
            try:
                about = (place / name).lstat()
                labels = _labels(place / name, about.st_mtime_ns, about.st_size)
            except (OSError, InputError):
                continue
            found = next((labels[one] for one in names if one in labels), None)
            if found is not None:
                judge = _JUDGE.fullmatch(name)
                who = f"{judge['mode']} ({judge['model']})" if judge else name.removesuffix(_JUDGED)
                notes.append(printable(f"{who}, a model, says {'done' if found == 1 else 'not done'}"))
    return notes


@lru_cache(maxsize=8)
def _labels(path: Path, changed: int, size: int) -> dict[str, int]:
    """Return the judge's labels by task id: 1 for done. Damaged lines are left out."""
    labels: dict[str, int] = {}
    for line in read_bytes(path, _MAX_JUDGED_BYTES).splitlines():
        try:
            row = read_json_object(line, path)
        except InputError:
            continue
        label = row.get("predicted_label")
        if isinstance(label, int):
            labels[text(row.get("task_id"))] = int(label)
    return labels


RUN_FORMAT = RunFormat(
    name=SOURCE,
    title="Online-Mind2Web v1 and v2 (result.json, trajectory/)",
    new_finder=lambda: _find,
    load=load,
    parse=parse,
)
