"""Exporter: a run as a task's folder of Online-Mind2Web v2, as its judges read it: ``result.json`` and ``trajectory/``.

A run that begins by opening its site gets the pictures after each action, any other those before, as
``app.engine.imports.online_mind2web`` reads them.  The last entry is the answer: judges leave its action out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.text import one_line
from app.engine.core.trajectory import ErrorClass, Outcome, Step
from app.engine.exports.run_export import ExportSource, RunExport
from app.errors import InputError, SiteloreError

SCHEMA = "online-mind2web-v2"

_MAX_VALUE = 2000
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]+")
_SUFFIXES = ((b"\x89PNG", ".png"), (b"\xff\xd8\xff", ".jpg"), (b"RIFF", ".webp"))
_ENDS = ("send_msg_to_user", "report_infeasible")
_VERBS: Mapping[str, tuple[str, str]] = {
    "click": ("CLICK", ""),
    "dblclick": ("DOUBLE_CLICK", ""),
    "mouse_click": ("CLICK", ""),
    "mouse_dblclick": ("DOUBLE_CLICK", ""),
    "hover": ("HOVER", ""),
    "fill": ("TYPE", "value"),
    "keyboard_type": ("TYPE", "text"),
    "select_option": ("SELECT", "options"),
    "check": ("CHECK", ""),
    "uncheck": ("UNCHECK", ""),
    "clear": ("CLEAR", ""),
    "press": ("PRESS_KEY", "key_comb"),
    "keyboard_press": ("PRESS_KEY", "key"),
    "goto": ("NAVIGATE", "url"),
    "new_tab": ("NEW_TAB", "url"),
    "go_back": ("GO_BACK", ""),
    "go_forward": ("GO_FORWARD", ""),
    "reload": ("REFRESH", ""),
    "tab_focus": ("SWITCH_TAB", "index"),
    "tab_close": ("CLOSE_TAB", ""),
    "upload_file": ("UPLOAD", "file"),
    "noop": ("WAIT", ""),
    "take_note": ("MEMORIZE", "text"),
}


@dataclass(frozen=True, slots=True)
class _Page:
    url: str
    screenshot: str


def write(source: ExportSource, path: Path) -> list[str]:
    """Write a run to a new folder.

    Raises:
        InputError: none of its steps has a picture.
    """
    run, steps = source.run, [step for step in source.steps if step.action is not None]
    if not steps:
        raise InputError(f"run {run.id} has no actions", remedy="choose a run with steps")
    said: list[str] = []
    if len(steps) < len(source.steps):
        said.append(f"Steps without an action are left out: {len(source.steps) - len(steps)}.")
    ended = steps[-1].action is not None and steps[-1].action.kind in _ENDS
    acts = steps[:-1] if ended else steps
    pages = _pages(steps, run.final, ended=ended)
    pictures = _pictures(source, [page.screenshot for page in pages], said)
    answer = run.answer or ""
    if not ended and run.outcome is not Outcome.ANSWERED:
        said.append(
            "The run did not end with an answer: an empty one stands at its end, as judges leave the last out."
        )
    history = [
        _entry(index, page, phrase, status, thought)
        for index, (page, (phrase, status, thought)) in enumerate(
            zip(
                pages,
                [
                    *map(_acted, acts),
                    (f"TASK_COMPLETE -> ANSWER: {answer}", None, _last_thought(steps, ended)),
                ],
                strict=True,
            )
        )
    ]
    trajectory = path / "trajectory"
    trajectory.mkdir(parents=True)
    written: dict[int, str] = {}
    for index, data in enumerate(pictures):
        name = f"{index:04d}{_suffix(data)}"
        (trajectory / name).write_bytes(data)
        written[index] = name
    result = {
        "schema_version": SCHEMA,
        "task": run.intent,
        "task_id": _NOT_IN_IDS.sub("_", run.task_id or run.id).strip("_") or "task",
        "agent_final_answer": answer or None,
        "action_history": [{**entry, "screenshot": written[index]} for index, entry in enumerate(history)],
    }
    if run.start_url:
        result["start_url"] = run.start_url
    (path / "result.json").write_text(
        json.dumps(result, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
    )
    said.append("A run has no reference_length: add the task's own before you submit it.")
    return said


def _pages(steps: list[Step], final: Step | None, *, ended: bool) -> list[_Page]:
    """Return a page for each action and one for the answer: those after, of a run that begins by opening its site."""
    before = [_Page(step.url, step.screenshot) for step in steps]
    last = _Page(final.url, final.screenshot) if final is not None else before[-1]
    first = steps[0].action
    if first is not None and first.kind == "goto":
        return [*before[1:], last] if ended else [*before[1:], last, last]
    return before if ended else [*before, last]


def _pictures(source: ExportSource, wanted: list[str], said: list[str]) -> list[bytes]:
    """Return a picture for every page; one without is given that of its neighbour, which is said."""
    found: list[bytes] = []
    for digest in wanted:
        try:
            found.append(source.read_blob(digest) if digest else b"")
        except SiteloreError:
            found.append(b"")
    if not any(found):
        raise InputError(
            f"run {source.run.id} has no pictures, and Online-Mind2Web judges by pictures",
            remedy="choose a run with pictures, or export it as native, atif or otlp",
        )
    lacking = sum(not data for data in found)
    if lacking:
        said.append(
            f"Pages without a picture, which show that of the page before or the first one: {lacking}."
        )
    shown = next(data for data in found if data)
    for index, data in enumerate(found):
        shown = data or shown
        found[index] = shown
    return found


def _entry(index: int, page: _Page, phrase: str, status: str | None, thought: str) -> dict[str, Any]:
    return {
        "step": index,
        "screenshot": "",
        "url": page.url or None,
        "action": f"{phrase} | {status}" if status else phrase,
        "action_status": status,
        "thought": thought or None,
    }


def _acted(step: Step) -> tuple[str, str | None, str]:
    """Return a step's action as a phrase, its status, and the thought before it."""
    failed = step.error_class is ErrorClass.HARD
    return _phrase(step.action, step.target), "FAILED" if failed else "SUCCESS", step.reason


def _last_thought(steps: list[Step], ended: bool) -> str:
    return steps[-1].reason if ended else ""


def _phrase(action: RecordedAction | None, target: ActionTarget | None) -> str:
    """Return ``<button> Sign in -> CLICK``, ``page -> NAVIGATE -> address``."""
    if action is None:
        return "page -> WAIT"
    verb, argument = _VERBS.get(action.kind, (_NOT_IN_IDS.sub("_", action.kind).upper(), ""))
    args = action.args
    if action.kind == "scroll":
        return f"page -> SCROLL: {_scrolled(args)}"
    where = f"<{target.role or 'element'}> {_line(target.name)}" if target is not None else "page"
    if action.kind in ("mouse_click", "mouse_dblclick"):
        where = f"coords({args.get('x')}, {args.get('y')})"
    elif target is None and action.bid:
        where = f"<element> {action.bid}"
    value = _line(args.get(argument)) if argument else ""
    if action.kind not in _VERBS:
        value = _line(", ".join(f"{name}={one}" for name, one in args.items()))
    if action.kind == "goto":
        return f"page -> NAVIGATE -> {value}"
    return f"{where.strip()} -> {verb}: {value}" if value else f"{where.strip()} -> {verb}"


def _scrolled(args: Mapping[str, object]) -> str:
    if isinstance(args.get("direction"), str):
        return str(args["direction"])
    across, down = args.get("delta_x"), args.get("delta_y")
    if isinstance(down, int | float) and down:
        return "down" if down > 0 else "up"
    return ("right" if across > 0 else "left") if isinstance(across, int | float) and across else "down"


def _line(value: object) -> str:
    """Return a value on one line, without the bar that sets off a status."""
    if isinstance(value, list):
        value = ", ".join(map(str, value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    said = "" if value is None else str(value)  # pyright: ignore[reportUnknownArgumentType]
    return one_line(said, _MAX_VALUE).replace("|", "/")


def _suffix(data: bytes) -> str:
    return next((suffix for magic, suffix in _SUFFIXES if data.startswith(magic)), ".png")


RUN_EXPORT = RunExport(name="online-mind2web", title="Online-Mind2Web v2 (folder)", suffix="", write=write)
