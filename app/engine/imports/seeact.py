"""Importer of SeeAct: a folder with ``result.json``, the model's predictions, and a screenshot before each of them.

Both kinds: the package's (``all_predictions.json``, ``screenshots/screen_N.png``) and the first version's
(``confirmed_task``, ``image_inputs/N_M_crop.jpg``).
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.core.redaction import redact_text, redact_url, typed_secret
from app.engine.core.sites import SiteTable
from app.engine.core.text import one_line
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step
from app.engine.imports.action_phrases import ActionPhrase, read_phrase
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.page_contents import ForeignContents, sites_of
from app.engine.imports.picture_files import PictureFiles, by_number, read_beside
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import MAX_JSON_BYTES, ReadRun, read_bytes, read_json_object
from app.engine.imports.step_records import integer, number, text
from app.engine.store.run_files import make_run_id
from app.errors import PathError, printable

SOURCE = "seeact"
RESULT_FILE = "result.json"
PREDICTIONS = "all_predictions.json"
CONFIG = "config.toml"
MAX_STEPS = 20_000

_TASK = re.compile(rb'"task"\s*:\s*\[|"confirmed_task"\s*:')
_STEPS = re.compile(rb'"num_step"\s*:')
_HISTORY = re.compile(rb'"action_history"\s*:\s*\[')
_CHANGED = "Changed task from "
_STEP_LIMIT = "step limit"


@dataclass(slots=True)
class SeeActFolder:
    """The bytes of a run's files; the screenshots are read when it is parsed."""

    folder: Path
    result: bytes
    predictions: bytes
    config: bytes
    content_hash: str
    problems: list[PathError] = field(default_factory=list[PathError])


def is_result(head: bytes) -> bool:
    """Whether a ``result.json`` that begins so is SeeAct's."""
    return bool(_TASK.search(head) and _STEPS.search(head) and _HISTORY.search(head))


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    if RESULT_FILE in folder.names and is_result(folder.head(RESULT_FILE)):
        yield FoundPart(folder.path)


def load(path: Path, root: Path, part: str) -> SeeActFolder:
    """Read the bytes of a run's result and predictions. Raises ``InputError``."""
    problems: list[PathError] = []
    result = read_bytes(path / RESULT_FILE, MAX_JSON_BYTES)
    predictions = read_beside(path, PREDICTIONS, MAX_JSON_BYTES, problems)
    config = read_beside(path, CONFIG, 2**20, problems)
    digest = hashlib.sha256()
    for data in (result, predictions):
        digest.update(len(data).to_bytes(8, "big") + data)
    return SeeActFolder(path, result, predictions, config, digest.hexdigest(), problems)


def parse(raw: SeeActFolder, sites: SiteTable) -> ReadRun:
    """Make a run of a folder. Raises ``InputError`` where its result is no JSON."""
    result = read_json_object(raw.result, raw.folder / RESULT_FILE)
    predictions = _predictions(raw)
    raw.result = raw.predictions = b""
    notes: list[str] = []
    tasks = [task for one in items_of(result.get("task")) if (task := text(one).strip())]
    task = (
        text(result.get("confirmed_task")).strip() or text(result.get("task")).strip() or (tasks or [""])[-1]
    )
    notes += [f"the task before was: {one_line(redact_text(one), 200)}" for one in tasks[:-1][:20]]
    lines = [
        text(line) for line in items_of(result.get("action_history")) if not text(line).startswith(_CHANGED)
    ][:MAX_STEPS]
    phrases = [read_phrase(line) for line in lines]
    contents = ForeignContents()
    pictures = PictureFiles(raw.folder, contents, ("screenshots", "image_inputs"))
    by_step = by_number(pictures.names())
    for phrase in phrases:
        if typed_secret(phrase.action, phrase.target):
            contents.acted(Step(index=0, url="", title=""), phrase.action, phrase.target)
    website = redact_url(text(result.get("website")))
    steps: list[Step] = []
    for index, phrase in enumerate(phrases):
        said = fields_of(predictions[index]) if index < len(predictions) else {}
        page = Step(
            index=index,
            url=website if index == 0 else "",
            title="",
            screenshot=pictures.named(by_step.get(index, "")),
            raw_output=redact_text(lines[index]),
        )
        steps.append(contents.acted(_said(page, said, phrase), phrase.action, phrase.target))
    if len(predictions) > len(phrases):
        notes.append(f"predictions without an action in the history: {len(predictions) - len(phrases)}")
    notes += pictures.note()
    site, visited = sites_of([website] if website else [], sites)
    run = replace(
        _run(raw, result, task, phrases, steps, contents),
        start_url=website,
        site=site,
        sites=visited,
        final=_final(steps, phrases, pictures, by_step),
        notes=tuple(notes),
    )
    return ReadRun(
        run=run, steps=tuple(steps), blobs=contents.blobs, problems=(*raw.problems, *pictures.problems)
    )


def _predictions(raw: SeeActFolder) -> list[Any]:
    if not raw.predictions:
        return []
    try:
        value: object = orjson.loads(raw.predictions)
    except orjson.JSONDecodeError as error:
        raw.problems.append(PathError(path=str(raw.folder / PREDICTIONS), error=f"not valid JSON: {error}"))
        return []
    return cast("list[Any]", value) if isinstance(value, list) else []


def _said(page: Step, prediction: dict[str, Any], phrase: ActionPhrase) -> Step:
    """Return the step with what the model said before the action, and with where its element was."""
    element = fields_of(prediction.get("element"))
    error = phrase.error or ("the action failed" if phrase.failed else "")
    kind = ErrorClass.HARD if phrase.failed else ErrorClass.NONE
    grounding = text(prediction.get("action_grounding")).strip()
    return replace(
        page,
        reason=redact_text(text(prediction.get("action_generation")).strip()),
        raw_output=redact_text(grounding) or page.raw_output,
        error=error,
        error_class=kind if phrase.action is not None else ErrorClass.HARNESS,
        executed=phrase.action is not None,
        target_box=_box(element) if _is_of(element, phrase) else None,
    )


def _is_of(element: dict[str, Any], phrase: ActionPhrase) -> bool:
    """Whether a prediction's element is the one that was acted on: an action may have none, or be another's."""
    if phrase.target is None or not element:
        return False
    words = " ".join(text(element.get("description")).split())
    return not phrase.target.name or phrase.target.name in words or words in phrase.target.name


def _box(element: dict[str, Any]) -> tuple[float, float, float, float] | None:
    """Return left, top, width, height of Playwright's ``bounding_box``, a list or an object."""
    box = element.get("box")
    named = fields_of(cast("object", box))
    values = [named.get(name) for name in ("x", "y", "width", "height")] if named else items_of(box)
    numbers = [one for value in values if (one := number(value, None)) is not None]
    if len(numbers) != 4 or numbers[2] <= 0 or numbers[3] <= 0:
        return None
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _final(
    steps: list[Step], phrases: list[ActionPhrase], pictures: PictureFiles, by_step: dict[int, str]
) -> Step | None:
    """Return the page after the last action: a picture more, or the one on which the run was ended."""
    if not steps:
        return None
    digest = pictures.named(by_step.get(len(steps), ""))
    if not digest and phrases[-1].ends:
        digest = steps[-1].screenshot
    return Step(index=len(steps), url="", title="", screenshot=digest, executed=False) if digest else None


def _run(
    raw: SeeActFolder,
    result: dict[str, Any],
    task: str,
    phrases: list[ActionPhrase],
    steps: list[Step],
    contents: ForeignContents,
) -> Run:
    name = text(result.get("task_id")).strip() or raw.folder.name
    config = _config(raw)
    limit = integer(fields_of(config.get("experiment")).get("max_op"), 0)
    limit = limit or integer(fields_of(config.get("agent")).get("max_auto_op"), 0)
    exit_by = text(result.get("exit_by")).strip()
    outcome = Outcome.INTERRUPTED if steps else Outcome.UNKNOWN
    answer = None
    if phrases and phrases[-1].ends:
        outcome = Outcome.ANSWERED
        action = next(
            (step.action for step in reversed(steps) if step.action and step.action.args.get("text")), None
        )
        if action is not None and action.kind == "send_msg_to_user":
            answer = contents.said(str(action.args["text"]))
    elif _STEP_LIMIT in exit_by or (limit and len(steps) >= limit):
        outcome = Outcome.STEP_LIMIT
    elif exit_by:
        outcome = Outcome.ANSWERED if "completion" in exit_by else Outcome.CRASHED
    return Run(
        id=make_run_id(f"seeact-{name}", raw.content_hash[:8]),
        source=SOURCE,
        suite=SOURCE,
        task_id=redact_text(name[:200]),
        intent=contents.said(redact_text(task)),
        score={"1": 1.0, "0": 0.0}.get(text(result.get("success_or_not")).strip()),
        outcome=outcome,
        error=redact_text(exit_by) if outcome is Outcome.CRASHED else "",
        answer=answer,
        step_limit=limit or None if outcome is Outcome.STEP_LIMIT else None,
        step_count=len(steps),
        source_path=printable(str(raw.folder)),
        content_hash=raw.content_hash,
        policy=SOURCE,
        model=redact_text(text(fields_of(config.get("openai")).get("model")))
        or redact_text(text(fields_of(config.get("agent")).get("model"))),
    )


def _config(raw: SeeActFolder) -> dict[str, Any]:
    try:
        return tomllib.loads(raw.config.decode("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raw.problems.append(PathError(path=str(raw.folder / CONFIG), error=f"not valid TOML: {error}"))
        return {}


RUN_FORMAT = RunFormat(
    name=SOURCE,
    title="SeeAct (result.json, all_predictions.json, screenshots/)",
    new_finder=lambda: _find,
    load=load,
    parse=parse,
)
