"""Exporter: OpenTelemetry in OTLP/JSON, one export request on one line, by the GenAI conventions.

The run is an ``invoke_agent`` span. A step is a ``chat`` span, where it records what the model said or cost, and an
``execute_tool`` span, whose result is the page after the action. Score, verdicts and flags are events
``gen_ai.evaluation.result``. What the conventions have no name for is named ``sitelore.*``.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from app.engine.core.trajectory import Outcome, Step
from app.engine.core.verdicts import Flag, Verdict
from app.engine.exports.run_export import ExportSource, RunExport
from app.errors import SiteloreError

MAX_PICTURE = 8 * 2**20
MAX_PICTURES = 96 * 2**20
"""Bytes of pictures in one file."""

_INTERNAL, _CLIENT, _ERROR = 1, 3, 2
"""Kinds of spans and the status of a failed one, as the protocol numbers them."""
_NEVER_KEPT = "The file holds neither the HTML of pages nor the whole exchanges with the model."

_KINDS = {"a person": "HUMAN", "a program": "CODE", "an evaluator of an unknown kind": ""}
_SCORED_BY = re.compile(
    r"the score is the evaluation (?P<name>.{1,200}?)(?: -?[\d.]+(?:e[-+]?\d+)?)?(?: \([^)]*\))?,"
    rf" by (?P<by>{'|'.join(_KINDS)})(?=:|$)"
)
"""The note of an import from OTLP that says who gave the score."""

Fields = dict[str, Any]


def write(source: ExportSource, path: Path) -> list[str]:
    """Write a run as one export request."""
    trace = _Trace(source)
    path.write_bytes(orjson.dumps(trace.request(), option=orjson.OPT_APPEND_NEWLINE))
    return [*trace.left_out(), _NEVER_KEPT]


class _Trace:
    """The spans of one run. Ids follow from the run, so that an export is the same each time."""

    def __init__(self, source: ExportSource) -> None:
        self._source, self._run = source, source.run
        self._seed = f"{self._run.id}\0{self._run.content_hash}"
        self._room = MAX_PICTURES
        self._pictures_missing = self._without_action = 0
        final = self._run.final
        self._pages: list[Step] = [*source.steps, *([final] if final is not None else [])]
        self._has_times = bool(self._run.started_at) or any(step.started_at for step in source.steps)

    def request(self) -> Fields:
        """Return the export request."""
        spans = [span for position in range(len(self._source.steps)) for span in self._step_spans(position)]
        resource = {"service.name": "sitelore", "sitelore.run": self._run.id}
        scope = {"scope": {"name": "sitelore"}, "spans": [self._root(), *spans]}
        return {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}]}

    def left_out(self) -> Iterator[str]:
        """Yield a sentence for everything that the file lacks."""
        if self._pictures_missing:
            yield f"Pictures left out, missing or unusable: {self._pictures_missing}."
        if self._without_action:
            yield f"Answers without a readable action, which are model spans alone: {self._without_action}."
        if not self._has_times:
            yield "The run records no times: the spans have none."

    def _root(self) -> Fields:
        run = self._run
        about = {"suite": run.suite, "task_id": run.task_id, "site": run.site, "outcome": run.outcome.value}
        attributes: Fields = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": run.policy or run.source,
            "gen_ai.conversation.id": run.id,
            "gen_ai.request.model": run.model,
            "gen_ai.input.messages": _messages("user", [{"type": "text", "content": run.intent}]),
            "gen_ai.output.messages": _messages("assistant", [{"type": "text", "content": run.answer or ""}])
            if run.answer
            else "",
            "gen_ai.usage.input_tokens": run.tokens[0],
            "gen_ai.usage.output_tokens": run.tokens[1],
            "gen_ai.usage.cost": run.cost.total if run.cost is not None else None,
            "url.full": run.start_url,
            "metadata": orjson.dumps({name: value for name, value in about.items() if value}).decode(),
        }
        starts = [step.started_at for step in self._source.steps if step.started_at]
        start = run.started_at or min(starts, default=0.0)
        end = max((self._end(step) for step in self._source.steps), default=start)
        span = self._span(
            "root", f"invoke_agent {run.policy or run.source}", "", start, max(end, start), attributes
        )
        span["events"] = [*self._score_events(end), *map(self._verdict_event, self._verdicts(None))]
        if run.outcome is Outcome.CRASHED:
            span["status"] = {"code": _ERROR, "message": run.error}
        return span

    def _step_spans(self, position: int) -> Iterator[Fields]:
        step = self._source.steps[position]
        thought = step.started_at + (step.agent_seconds or step.model_seconds)
        call = f"call_{step.index}"
        if step.reason or step.raw_output or any(step.tokens) or step.model_seconds:
            yield self._chat(step, call, thought)
        if step.action is None:
            self._without_action += 1
            return
        after = self._pages[position + 1] if position + 1 < len(self._pages) else None
        target = step.target
        attributes: Fields = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": step.action.kind,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call,
            "gen_ai.tool.call.arguments": orjson.dumps(step.action.args).decode(),
            "gen_ai.tool.call.result": self._page(after, step.output),
            "sitelore.step": step.index,
            "sitelore.target.role": target.role if target is not None else "",
            "sitelore.target.name": target.name if target is not None else "",
            "sitelore.by": step.by,
            "sitelore.error_class": step.error_class.value,
            "sitelore.page.before": self._page(step, "") if position == 0 else "",
        }
        span = self._span(
            f"tool {step.index}",
            f"execute_tool {step.action.kind}",
            "root",
            thought,
            self._end(step),
            attributes,
        )
        if step.error:
            span["status"] = {"code": _ERROR, "message": step.error}
            span["events"].append(_event("exception", thought, {"exception.message": step.error}))
        flags = [flag for flag in self._source.flags if flag.step == step.index]
        span["events"] += [
            *map(self._flag_event, flags),
            *map(self._verdict_event, self._verdicts(step.index)),
        ]
        yield span

    def _chat(self, step: Step, call: str, end: float) -> Fields:
        parts: list[Fields] = [{"type": "text", "content": step.reason or step.raw_output}]
        if step.action is not None:
            parts.append(
                {"type": "tool_call", "id": call, "name": step.action.kind, "arguments": step.action.args}
            )
        attributes: Fields = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": self._run.model,
            "gen_ai.usage.input_tokens": step.tokens[0],
            "gen_ai.usage.output_tokens": step.tokens[1],
            "gen_ai.usage.cost": step.cost.total if step.cost is not None else None,
            "gen_ai.output.messages": _messages("assistant", parts),
        }
        name = f"chat {self._run.model}".strip()
        return self._span(f"chat {step.index}", name, "root", step.started_at, end, attributes, _CLIENT)

    def _page(self, page: Step | None, output: str) -> str:
        """Return a page, or the action's own output, as the JSON of a tool's result."""
        fields: Fields = {"output": output} if output else {}
        if page is not None:
            fields |= {"url": page.url, "title": page.title, "tree": self._text(page.tree)}
            fields["screenshot"] = self._picture(page.screenshot)
        return (
            orjson.dumps({name: value for name, value in fields.items() if value}).decode() if fields else ""
        )

    def _text(self, digest: str) -> str:
        try:
            return self._source.read_blob(digest).decode("utf-8", "replace") if digest else ""
        except SiteloreError:
            return ""

    def _picture(self, digest: str) -> str:
        if not digest:
            return ""
        try:
            data = self._source.read_blob(digest)
        except SiteloreError:
            data = b""
        kind = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"RIFF": "webp"}
        suffix = next((name for start, name in kind.items() if data.startswith(start)), "")
        if not suffix or len(data) > min(MAX_PICTURE, self._room):
            self._pictures_missing += 1
            return ""
        self._room -= len(data)
        return f"data:image/{suffix};base64,{base64.b64encode(data).decode()}"

    def _end(self, step: Step) -> float:
        return step.started_at + (step.agent_seconds or step.model_seconds) + step.env_seconds

    def _verdicts(self, step: int | None) -> Sequence[Verdict]:
        known = {one.index for one in self._source.steps if one.action is not None}
        return [
            one
            for one in self._source.verdicts
            if one.step == step or (step is None and one.step not in known)
        ]

    def _score_events(self, at: float) -> Iterator[Fields]:
        if self._run.score is not None:
            label = "pass" if self._run.score >= 1 else "fail"
            name, kind = _evaluator(self._run.notes)
            yield _evaluation(at, name, label, "", kind, self._run.score)

    def _verdict_event(self, one: Verdict) -> Fields:
        more = {"sitelore.author": one.author, "sitelore.step": one.step, "sitelore.detector": one.detector}
        return _evaluation(one.at, "verdict", one.label.value, one.note, "HUMAN", None, more)

    def _flag_event(self, flag: Flag) -> Fields:
        more = {"sitelore.step": flag.step, "sitelore.confidence": float(flag.confidence)}
        return _evaluation(0.0, flag.detector, flag.severity.value, flag.message, "CODE", None, more)

    def _span(
        self,
        key: str,
        name: str,
        parent: str,
        start: float,
        end: float,
        attributes: Fields,
        kind: int = _INTERNAL,
    ) -> Fields:
        span: Fields = {
            "traceId": self._id("trace", 32),
            "spanId": self._id(key, 16),
            **({"parentSpanId": self._id(parent, 16)} if parent else {}),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": _nanoseconds(start),
            "endTimeUnixNano": _nanoseconds(max(start, end)),
            "attributes": _attributes(attributes),
            "events": [],
            "status": {},
        }
        return span

    def _id(self, key: str, digits: int) -> str:
        return hashlib.sha256(f"{self._seed}\0{key}".encode("utf-8", "replace")).hexdigest()[:digits]


def _evaluator(notes: Sequence[str]) -> tuple[str, str]:
    """Return the name and kind of the evaluator that gave the score, as the notes of an import name it."""
    for note in notes:
        if found := _SCORED_BY.match(note):
            return found["name"], _KINDS[found["by"]]
    return "recorded score", ""


def _messages(role: str, parts: list[Fields]) -> str:
    return orjson.dumps([{"role": role, "parts": parts}]).decode()


def _evaluation(
    at: float, name: str, label: str, why: str, kind: str, score: float | None, more: Fields | None = None
) -> Fields:
    attributes: Fields = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": score,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": why,
        "sitelore.annotator_kind": kind,
        **(more or {}),
    }
    return _event("gen_ai.evaluation.result", at, attributes)


def _event(name: str, at: float, attributes: Fields) -> Fields:
    return {"timeUnixNano": _nanoseconds(at), "name": name, "attributes": _attributes(attributes)}


def _attributes(values: Fields) -> list[Fields]:
    """Return attributes of the protocol; what is empty or ``None`` has none."""
    return [
        {"key": name, "value": _value(value)} for name, value in values.items() if value not in (None, "")
    ]


def _value(value: object) -> Fields:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case _:
            return {"stringValue": str(value)}


def _nanoseconds(seconds: float) -> str:
    return str(max(round(seconds * 1e9), 0))


RUN_EXPORT = RunExport(
    name="otlp", title="OpenTelemetry (OTLP/JSON, GenAI conventions)", suffix=".otlp.json", write=write
)
