"""Importer of browser-use: the agent history that ``AgentHistoryList.save_to_file`` writes (0.2 to 0.13).

An item is one answer of the model with several actions; each of them is a step, on the page that the model saw before
the first.  Result i belongs to action i; actions without a result were never done and are no steps.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.sites import SiteTable
from app.engine.core.text import one_line
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step, Tab
from app.engine.imports.browser_use_actions import read_action, read_box, read_target
from app.engine.imports.browser_use_pages import task_in, tree_in
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.page_contents import ForeignContents, as_json, sites_of
from app.engine.imports.picture_files import PictureFiles, urls_of
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import MAX_JSON_BYTES, ReadRun, read_bytes, read_json_object
from app.engine.imports.step_records import integer, number, text
from app.engine.store.run_files import make_run_id
from app.errors import InputError, printable

SOURCE = "browser-use"

MAX_STEPS = 20_000
"""Actions that are read of one history."""

_MOST_STEPS_ENDED = "Failed to complete task in maximum steps"
_HISTORY = re.compile(rb'"history"\s*:\s*\[')
_MODEL_OUTPUT = re.compile(rb'"model_output"\s*:')
_EMPTY: dict[str, Any] = {}


@dataclass(slots=True)
class HistoryFile:
    """The bytes of one history file."""

    path: Path
    data: bytes
    content_hash: str


@dataclass(slots=True)
class _Act:
    """One action of an item with its result, before it is a step."""

    item: dict[str, Any]
    result: dict[str, Any]
    action: RecordedAction | None
    target: ActionTarget | None
    box: tuple[float, float, float, float] | None
    first: bool
    readable: bool


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    for name in folder.names:
        if name.lower().endswith(".json"):
            head = folder.head(name)
            if _HISTORY.search(head) and _MODEL_OUTPUT.search(head):
                yield FoundPart(folder.path / name)


def load(path: Path, root: Path, part: str) -> HistoryFile:
    """Read the bytes of a history. Raises ``InputError``."""
    data = read_bytes(path, MAX_JSON_BYTES)
    return HistoryFile(path=path, data=data, content_hash=hashlib.sha256(data).hexdigest())


def parse(raw: HistoryFile, sites: SiteTable) -> ReadRun:
    """Make a run of a history.

    Raises:
        InputError: it is no JSON, or holds no history.
    """
    whole = read_json_object(raw.data, raw.path)
    raw.data = b""
    history = whole.get("history")
    if not isinstance(history, list):
        raise InputError('no browser-use history: "history" is no list', path=str(raw.path))
    items = [fields_of(item) for item in cast("list[object]", history)[:MAX_STEPS]]
    notes: list[str] = []
    contents = ForeignContents()
    acts = _acts(items, notes, contents)
    pictures = PictureFiles(raw.path.parent, contents, ("screenshots", ""))
    reader = _Reader(contents, pictures)
    steps = [reader.step(index, act) for index, act in enumerate(acts)]
    final = _final(steps)
    notes += pictures.note()
    run = _run(raw, whole, items, steps, contents, notes)
    site, visited = sites_of(urls_of(steps), sites)
    run = replace(run, site=site, sites=visited, final=final)
    return ReadRun(run=run, steps=tuple(steps), blobs=contents.blobs, problems=tuple(pictures.problems))


def _acts(items: list[dict[str, Any]], notes: list[str], contents: ForeignContents) -> list[_Act]:
    """Return the actions that were done; passwords of all, also of those never done, are remembered."""
    found: list[_Act] = []
    meant: list[tuple[RecordedAction | None, ActionTarget | None]] = []
    several = undone = 0
    for item in items:
        results = [fields_of(result) for result in items_of(item.get("result"))]
        entries = [fields_of(entry) for entry in items_of(fields_of(item.get("model_output")).get("action"))]
        tabs = [fields_of(tab) for tab in items_of(fields_of(item.get("state")).get("tabs"))]
        elements = items_of(fields_of(item.get("state")).get("interacted_element"))
        tree = tree_in(text(item.get("state_message"))) if entries else ""
        done = entries[: len(results)] if results else entries
        several += len(done) > 1
        undone += len(entries) - len(done)
        if not done:
            if item:
                found.append(_Act(item, results[0] if results else _EMPTY, None, None, None, True, False))
            continue
        for at, entry in enumerate(done):
            result = results[at] if at < len(results) else _EMPTY
            action = read_action(entry, tabs)
            element = elements[at] if at < len(elements) else None
            said = text(result.get("extracted_content"))
            target = read_target(element, action, said, tree)
            found.append(_Act(item, result, action, target, read_box(element), at == 0, action is not None))
            meant.append((action, target))
        for at, entry in enumerate(entries[len(done) :], len(done)):
            action = read_action(entry, tabs)
            element = elements[at] if at < len(elements) else None
            meant.append((action, read_target(element, action, "", tree)))
    contents.foresee(meant)
    if several:
        notes.append(
            f"several actions in one answer ({several} times): all are shown on the page before the first"
        )
    if undone:
        notes.append(f"actions that were never done, as one before them failed or changed the page: {undone}")
    return found[:MAX_STEPS]


class _Reader:
    """Makes steps of actions."""

    def __init__(self, contents: ForeignContents, pictures: PictureFiles) -> None:
        self._contents, self._pictures = contents, pictures
        self._page: tuple[int, Step] | None = None

    def step(self, index: int, act: _Act) -> Step:
        """Return an action as a step."""
        page = self._page_of(act.item)
        output = fields_of(act.item.get("model_output"))
        brain = {
            **fields_of(output.get("current_state")),
            **{k: v for k, v in output.items() if v is not None},
        }
        metadata = fields_of(act.item.get("metadata"))
        error = redact_text(text(act.result.get("error")))
        kind = ErrorClass.NONE
        if not act.readable:
            kind, error = ErrorClass.HARNESS, error or "no action could be read"
        elif error:
            kind = ErrorClass.HARD
        if not act.first:  # shown on it, but what the action before it left is not known
            page = replace(page, state="", notices=())
        step = replace(
            page,
            index=index,
            reason=redact_text(_reason(brain)) if act.first else "",
            summary=self._contents.said(redact_text(text(brain.get("memory")))) if act.first else "",
            raw_output=redact_text(as_json(output)[:100_000]) if act.first and output else "",
            error=error,
            error_class=kind,
            executed=act.readable,
            output=redact_text(text(act.result.get("extracted_content")).strip()),
            target_box=act.box,
            started_at=number(metadata.get("step_start_time"), 0.0) or 0.0,
            agent_seconds=_seconds(metadata) if act.first else 0.0,
            tokens=_tokens(metadata) if act.first else (0, 0),
        )
        return self._contents.acted(step, act.action, act.target)

    def _page_of(self, item: dict[str, Any]) -> Step:
        if self._page is not None and self._page[0] == id(item):
            return self._page[1]
        state = fields_of(item.get("state"))
        rows = [fields_of(tab) for tab in items_of(state.get("tabs"))[:200]]
        tabs = tuple(
            Tab(url=redact_url(text(tab.get("url"))), title=redact_text(text(tab.get("title"))))
            for tab in rows
            if tab
        )
        url = redact_url(text(state.get("url")))
        active = next((at for at, tab in enumerate(tabs) if tab.url == url), 0)
        encoded = text(state.get("screenshot"))
        digest = self._contents.encoded_picture(encoded) if encoded else ""
        step = Step(
            index=0,
            url=url,
            title=redact_text(text(state.get("title"))),
            tabs=tabs,
            active_tab=active,
            screenshot=digest or self._pictures.named(text(state.get("screenshot_path"))),
        )
        step = self._contents.with_tree(step, self._contents.said(tree_in(text(item.get("state_message")))))
        self._page = (id(item), step)
        return step


def _reason(brain: dict[str, Any]) -> str:
    """Return the model's thoughts: what it made of the step before, its thinking, what it wants next."""
    parts = [
        text(brain.get(name)).strip()
        for name in ("thinking", "evaluation_previous_goal", "prev_action_evaluation", "next_goal")
    ]
    return "\n".join(dict.fromkeys(part for part in parts if part))


def _seconds(metadata: dict[str, Any]) -> float:
    start, end = number(metadata.get("step_start_time"), None), number(metadata.get("step_end_time"), None)
    return max(end - start, 0.0) if start is not None and end is not None else 0.0


def _tokens(metadata: dict[str, Any]) -> tuple[int, int]:
    return max(integer(metadata.get("input_tokens"), 0), 0), max(integer(metadata.get("output_tokens"), 0), 0)


def _final(steps: list[Step]) -> Step | None:
    """Return the page after the last step, which is known where that step only gave the answer."""
    last = steps[-1] if steps else None
    if (
        last is None
        or last.action is None
        or last.action.kind not in ("send_msg_to_user", "report_infeasible")
    ):
        return None
    page = Step(index=len(steps), url=last.url, title=last.title, tabs=last.tabs, active_tab=last.active_tab)
    return replace(
        page,
        tree=last.tree,
        state=last.state,
        notices=last.notices,
        screenshot=last.screenshot,
        executed=False,
    )


def _run(
    raw: HistoryFile,
    whole: dict[str, Any],
    items: list[dict[str, Any]],
    steps: list[Step],
    contents: ForeignContents,
    notes: list[str],
) -> Run:
    name = raw.path.stem
    said = (task_in(text(item.get("state_message"))) for item in items)
    task = text(whole.get("task")).strip() or next(filter(None, said), "")
    if not task:
        task = re.sub(r"[_-]+", " ", name)
        notes.append("the task is not in the file: the file's name stands for it")
    last = next((result for item in reversed(items) if (result := _last_result(item))), _EMPTY)
    outcome, error = _outcome(last, steps)
    answer = None
    if last.get("is_done") is True:
        answer = contents.said(redact_text(text(last.get("extracted_content")))) or _said(steps)
    notes += _judgement(last)
    tokens = [step.tokens for step in steps]
    return Run(
        id=make_run_id(f"browser-use-{name}", raw.content_hash[:8]),
        source=SOURCE,
        task_id=name,
        intent=contents.said(redact_text(task)),
        start_url=next((step.url for step in steps if step.url and step.url != "about:blank"), ""),
        outcome=outcome,
        error=contents.said(error),
        answer=answer,
        step_limit=len(items) if outcome is Outcome.STEP_LIMIT else None,
        step_count=len(steps),
        started_at=next((step.started_at for step in steps if step.started_at), 0.0),
        source_path=printable(str(raw.path)),
        content_hash=raw.content_hash,
        policy=SOURCE,
        model=redact_text(text(whole.get("model"))),
        tokens=(sum(one for one, _ in tokens), sum(two for _, two in tokens)),
        notes=tuple(notes),
    )


def _last_result(item: dict[str, Any]) -> dict[str, Any]:
    results = items_of(item.get("result"))
    return fields_of(results[-1]) if results else _EMPTY


def _said(steps: list[Step]) -> str | None:
    action = steps[-1].action if steps else None
    if action is None or action.kind not in ("send_msg_to_user", "report_infeasible"):
        return None
    return str(next(iter(action.args.values()), ""))


def _outcome(last: dict[str, Any], steps: list[Step]) -> tuple[Outcome, str]:
    """Return how a run ended, and its error; only ``done`` without success says that it can't be done."""
    if last.get("is_done") is True:
        return (Outcome.INFEASIBLE if last.get("success") is False else Outcome.ANSWERED), ""
    error = redact_text(text(last.get("error")).strip())
    if _MOST_STEPS_ENDED in error:
        return Outcome.STEP_LIMIT, ""
    if steps and not steps[-1].executed:
        return Outcome.CRASHED, error
    return (Outcome.INTERRUPTED if steps else Outcome.UNKNOWN), ""


def _judgement(last: dict[str, Any]) -> list[str]:
    """Return the opinion of browser-use's own judge, a model: it is no score."""
    judged = fields_of(last.get("judgement"))
    verdict = judged.get("verdict")
    if not isinstance(verdict, bool):
        return []
    why = text(judged.get("failure_reason")) or text(judged.get("reasoning"))
    more = [
        words
        for key, words in (
            ("impossible_task", "it calls the task impossible"),
            ("reached_captcha", "it saw a captcha"),
        )
        if judged.get(key) is True
    ]
    said = f"browser-use's judge, a model, says {'done' if verdict else 'not done'}"
    return [one_line(redact_text("; ".join(filter(None, [f"{said}: {why}" if why else said, *more]))), 400)]


RUN_FORMAT = RunFormat(
    name=SOURCE,
    title="browser-use 0.2 to 0.13 (agent history JSON)",
    new_finder=lambda: _find,
    load=load,
    parse=parse,
)
