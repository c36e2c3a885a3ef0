"""Exporter: ATIF 1.8, a folder with ``trajectory.json`` and the pictures that it names.

A step is an agent's step with one tool call, whose result is the page after it. The first page, which no call led to,
is the result of a system step. The format takes no fields of others; what it has no place for stands in its ``extra``
objects under ``sitelore``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from app.engine.core.trajectory import Step
from app.engine.exports.run_export import ExportSource, RunExport
from app.errors import InputError, SiteloreError

SCHEMA = "ATIF-v1.8"
FILE = "trajectory.json"
LONGEST_TREE = 400_000
"""Characters of a page's tree in a result."""

_KINDS = (
    (b"\x89PNG", "image/png", ".png"),
    (b"\xff\xd8\xff", "image/jpeg", ".jpeg"),
    (b"RIFF", "image/webp", ".webp"),
)
_NEVER_KEPT = "The file holds neither the HTML of pages nor the whole exchanges with the model."

Fields = dict[str, Any]


def write(source: ExportSource, path: Path) -> list[str]:
    """Write a run to a new folder.

    Raises:
        InputError: it has no steps.
    """
    if not source.steps:
        raise InputError(f"run {source.run.id} has no steps", remedy="choose a run with steps")
    path.mkdir(parents=True)
    trajectory = _Trajectory(source, path)
    document = trajectory.document()
    (path / FILE).write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return [*trajectory.left_out(), _NEVER_KEPT]


class _Trajectory:
    def __init__(self, source: ExportSource, folder: Path) -> None:
        self._source, self._run, self._folder = source, source.run, folder
        final = self._run.final
        self._pages: list[Step] = [*source.steps, *([final] if final is not None else [])]
        self._names: dict[str, tuple[str, str]] = {}
        self._missing = self._cut = 0

    def document(self) -> Fields:
        """Return the trajectory."""
        run = self._run
        steps: list[Fields] = [
            {"source": "user", "message": run.intent},
            *self._first_page(),
            *(self._step(position) for position in range(len(self._source.steps))),
            *self._answer(),
        ]
        for number, step in enumerate(steps, start=1):
            step["step_id"] = number
        metrics: Fields = {
            "total_prompt_tokens": run.tokens[0],
            "total_completion_tokens": run.tokens[1],
            "total_cost_usd": run.cost.total if run.cost is not None else None,
            "total_steps": len(steps),
        }
        own: Fields = {
            "suite": run.suite,
            "task_id": run.task_id,
            "outcome": run.outcome.value,
            "error": run.error,
            "start_url": run.start_url,
            "knowledge": run.knowledge,
        }
        extra: Fields = {"sitelore": {name: value for name, value in own.items() if value}}
        if run.score is not None:
            extra["reward"] = run.score
        if run.task_id:
            extra["task_id"] = run.task_id
        agent: Fields = {
            "name": run.policy or run.source,
            "version": "unknown",
            "model_name": run.model or None,
        }
        return {
            "schema_version": SCHEMA,
            "session_id": run.id,
            "trajectory_id": run.id,
            "agent": _filled(agent),
            "steps": steps,
            "final_metrics": _filled(metrics),
            "extra": extra,
        }

    def left_out(self) -> Iterator[str]:
        """Yield a sentence for everything that the folder lacks."""
        if self._missing:
            yield f"Pictures left out, missing or unusable: {self._missing}."
        if self._cut:
            yield f"Pages cut after {LONGEST_TREE:,} characters: {self._cut}."

    def _first_page(self) -> Iterator[Fields]:
        content = self._page(self._pages[0])
        if content:
            yield _filled(
                {
                    "source": "system",
                    "message": "The page at the start.",
                    "timestamp": _timestamp(self._pages[0].started_at),
                    "observation": {"results": [{"content": content}]},
                }
            )

    def _step(self, position: int) -> Fields:
        step = self._source.steps[position]
        after = self._pages[position + 1] if position + 1 < len(self._pages) else None
        without_model = not (step.reason or any(step.tokens) or step.model_seconds)
        metrics: Fields = {
            "prompt_tokens": step.tokens[0] or None,
            "completion_tokens": step.tokens[1] or None,
            "cost_usd": step.cost.total if step.cost is not None else None,
        }
        written: Fields = {
            "source": "agent",
            "timestamp": _timestamp(step.started_at),
            "message": step.reason,
            "metrics": None if without_model else _filled(metrics) or None,
            "llm_call_count": 0 if without_model else None,
        }
        if step.action is not None:
            call = f"call_{step.index}"
            target = step.target
            about: Fields = {
                "target_role": target.role if target is not None else "",
                "target_name": target.name if target is not None else "",
                "error_class": step.error_class.value,
                "by": step.by,
                "tips": list(step.tips),
            }
            own = {name: value for name, value in about.items() if value}
            written["tool_calls"] = [
                _filled(
                    {
                        "tool_call_id": call,
                        "function_name": step.action.kind,
                        "arguments": step.action.args,
                        "extra": {"sitelore": own} if own else None,
                    }
                )
            ]
            written["observation"] = {"results": list(self._results(step, after, call))}
        elif step.error:
            written["extra"] = {"sitelore": {"error": step.error, "raw_output": step.raw_output}}
        return _filled(written)

    def _results(self, step: Step, after: Step | None, call: str) -> Iterator[Fields]:
        if step.error:
            yield {"source_call_id": call, "content": step.error, "extra": {"is_error": True}}
        elif step.output:
            yield {"source_call_id": call, "content": step.output}
        content = self._page(after) if after is not None else []
        if content:
            yield {"source_call_id": call, "content": content}

    def _answer(self) -> Sequence[Fields]:
        last = self._source.steps[-1].action
        said = last is not None and last.kind in ("send_msg_to_user", "report_infeasible")
        return [{"source": "agent", "message": self._run.answer}] if self._run.answer and not said else []

    def _page(self, page: Step) -> list[Fields]:
        """Return a page as parts of a result: address, title and tree as text, and its picture."""
        parts: list[Fields] = []
        tree = self._tree(page.tree) if page.tree else ""
        head = f"Page URL: {page.url}\nPage Title: {page.title}" if page.url else ""
        if tree or head:
            shown = {"url": page.url, "title": page.title, "axtree_txt": tree}
            parts.append({"type": "text", "text": orjson.dumps(shown).decode() if tree else head})
        picture = self._picture(page.screenshot) if page.screenshot else None
        if picture is not None:
            kind, name = picture
            parts.append({"type": "image", "source": {"media_type": kind, "path": f"images/{name}"}})
        return parts

    def _tree(self, digest: str) -> str:
        try:
            tree = self._source.read_blob(digest).decode("utf-8", "replace")
        except SiteloreError:
            return ""
        self._cut += len(tree) > LONGEST_TREE
        return tree[:LONGEST_TREE]

    def _picture(self, digest: str) -> tuple[str, str] | None:
        if digest in self._names:
            return self._names[digest]
        try:
            data = self._source.read_blob(digest)
        except SiteloreError:
            data = b""
        for magic, kind, suffix in _KINDS:
            if data.startswith(magic):
                images = self._folder / "images"
                images.mkdir(exist_ok=True)
                name = f"{len(self._names):04d}{suffix}"
                (images / name).write_bytes(data)
                self._names[digest] = (kind, name)
                return kind, name
        self._missing += 1
        return None


def _filled(fields: Fields) -> Fields:
    """Return the fields that have a value; the format tells a field that is absent from an empty one."""
    return {name: value for name, value in fields.items() if value is not None}


def _timestamp(seconds: float) -> str | None:
    if not seconds:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, OSError, ValueError):
        return None


RUN_EXPORT = RunExport(name="atif", title="ATIF 1.8 (folder)", suffix="", write=write)
