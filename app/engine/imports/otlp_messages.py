"""Conventions of agents' spans: OpenTelemetry GenAI, OpenInference, OpenLLMetry and the Vercel AI SDK."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from app.engine.imports.json_values import fields_of, items_of, parsed
from app.engine.imports.otlp_spans import TracedSpan
from app.engine.imports.otlp_values import Mapped, mappings, real, text, whole

MAX_TEXT = 200_000
"""Characters read of one message."""


class SpanKind(Enum):
    """Kinds of spans that matter to a run."""

    AGENT = "agent"
    MODEL = "model"
    TOOL = "tool"
    OTHER = "other"


@dataclass(slots=True)
class Call:
    """A tool call in a model's answer."""

    id: str
    name: str
    args: Mapped


@dataclass(slots=True)
class Message:
    """One message: its words, its tool calls, the results it brings by the ids of their calls, its raw parts."""

    role: str
    text: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list[Call])
    results: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])
    raw: object = None


_OPERATIONS = {
    "chat": SpanKind.MODEL,
    "text_completion": SpanKind.MODEL,
    "generate_content": SpanKind.MODEL,
    "completion": SpanKind.MODEL,
    "execute_tool": SpanKind.TOOL,
    "invoke_agent": SpanKind.AGENT,
    "invoke_workflow": SpanKind.AGENT,
}
_OPENINFERENCE = {
    "AGENT": SpanKind.AGENT,
    "CHAIN": SpanKind.OTHER,
    "LLM": SpanKind.MODEL,
    "TOOL": SpanKind.TOOL,
}
_TRACELOOP = {
    "agent": SpanKind.AGENT,
    "workflow": SpanKind.AGENT,
    "tool": SpanKind.TOOL,
    "task": SpanKind.OTHER,
}
_AI_SDK = {
    "ai.toolCall": SpanKind.TOOL,
    "ai.generateText": SpanKind.AGENT,
    "ai.streamText": SpanKind.AGENT,
    "ai.generateText.doGenerate": SpanKind.MODEL,
    "ai.streamText.doStream": SpanKind.MODEL,
}
_CONTENT_EVENTS = (
    "gen_ai.client.inference.operation.details",
    "gen_ai.content.prompt",
    "gen_ai.content.completion",
)
_MESSAGE_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")


def kind_of(span: TracedSpan) -> SpanKind:
    """Return what a span is, by the first convention that says so."""
    found = span.attributes
    named = _OPENINFERENCE.get(text(found.get("openinference.span.kind")).upper())
    named = named or _OPERATIONS.get(text(found.get("gen_ai.operation.name")))
    named = named or _TRACELOOP.get(text(found.get("traceloop.span.kind")))
    named = named or _AI_SDK.get(text(found.get("ai.operationId")).split(" ")[0])
    if named is not None:
        return named
    if (
        text(found.get("mcp.method.name")) == "tools/call"
        or "gen_ai.tool.name" in found
        or "tool.name" in found
    ):
        return SpanKind.TOOL
    if span.name.startswith("execute_tool "):
        return SpanKind.TOOL
    if span.name.startswith("invoke_agent"):
        return SpanKind.AGENT
    if found.keys() & {"gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "llm.request.type"}:
        return SpanKind.MODEL
    return SpanKind.OTHER


def tool_name(span: TracedSpan) -> str:
    """Return the name of the tool that a span called."""
    found = span.attributes
    for name in ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"):
        if value := text(found.get(name)):
            return value
    return span.name.removeprefix("execute_tool ").removeprefix("tools/call ").strip()


def tool_args(span: TracedSpan) -> Mapped:
    """Return the arguments of a tool span."""
    found = span.attributes
    for name in (
        "gen_ai.tool.call.arguments",
        "ai.toolCall.args",
        "input.value",
        "tool.parameters",
        "gen_ai.tool.input",
    ):
        if name in found and (args := read_args(found[name])):
            return args
    entity = read_args(found.get("traceloop.entity.input"))
    for name in ("kwargs", "inputs", "input", "tool_input"):
        if args := read_args(entity.get(name)):
            return args
    return {name: value for name, value in entity.items() if name not in ("args", "tags", "metadata")}


def tool_result(span: TracedSpan) -> object:
    """Return the result of a tool span, ``None`` where it has none."""
    for name in ("gen_ai.tool.call.result", "output.value", "ai.toolCall.result", "gen_ai.tool.output"):
        if (value := span.attributes.get(name)) not in (None, ""):
            return value
    entity = parsed(span.attributes.get("traceloop.entity.output"))
    if entity not in (None, ""):
        return fields_of(entity).get("output", entity)
    for event in span.events:
        if event.name == "gen_ai.tool.message":
            return fields_of(event.body).get("content") or event.attributes.get("content")
    return None


def tool_call_id(span: TracedSpan) -> str:
    """Return the id of the call that a tool span answers."""
    return next(
        (
            value
            for name in ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id", "tool.id")
            if (value := text(span.attributes.get(name)))
        ),
        "",
    )


def sent_messages(span: TracedSpan) -> list[Message]:
    """Return the messages that a model or an agent was given."""
    found = span.attributes
    read = _messages(found.get("gen_ai.input.messages"))
    read = read or [_message(one) for one in _unflattened(found, "llm.input_messages.")]
    read = read or [_message(one) for one in _unflattened(found, "gen_ai.prompt.")]
    read = read or _messages(found.get("ai.prompt.messages")) or _messages(found.get("gen_ai.prompt"))
    read = read or _event_messages(span, "gen_ai.input.messages", "gen_ai.prompt", answers=False)
    return read or _messages(fields_of(parsed(found.get("input.value"))).get("messages"))


def answer_messages(span: TracedSpan) -> list[Message]:
    """Return the messages that a model or an agent answered."""
    found = span.attributes
    read = _messages(found.get("gen_ai.output.messages"))
    read = read or [_message(one) for one in _unflattened(found, "llm.output_messages.")]
    read = read or [_message(one) for one in _unflattened(found, "gen_ai.completion.")]
    read = read or _event_messages(span, "gen_ai.output.messages", "gen_ai.completion", answers=True)
    read = read or _messages(found.get("gen_ai.completion"))
    if not read and ("ai.response.text" in found or "ai.response.toolCalls" in found):
        message = {
            "content": found.get("ai.response.text"),
            "tool_calls": parsed(found.get("ai.response.toolCalls")),
        }
        read = [_message(message)]
    return read


def tokens_of(span: TracedSpan) -> tuple[int, int]:
    """Return the tokens in and out of a model's span."""
    return (
        _count(
            span,
            "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
            "llm.usage.prompt_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens",
        ),
        _count(
            span,
            "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
            "llm.usage.completion_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens",
        ),
    )  # fmt: skip


def cost_of_span(span: TracedSpan) -> float | None:
    """Return the US dollars that a model's span says it cost."""
    for name in (
        "gen_ai.usage.cost",
        "llm.cost.total",
        "gen_ai.cost.total",
        "operation.cost",
        "llm.usage.cost",
    ):
        value = real(span.attributes.get(name))
        if value is not None and 0 <= value < 1e6:
            return value
    return None


def model_of(span: TracedSpan) -> str:
    """Return the model that a span names."""
    for name in (
        "gen_ai.response.model",
        "gen_ai.request.model",
        "llm.model_name",
        "ai.response.model",
        "ai.model.id",
    ):
        if value := text(span.attributes.get(name)):
            return value[:200]
    return ""


def read_args(value: object) -> Mapped:
    """Return arguments from an object, its JSON text, or a text alone."""
    found = parsed(value)
    if fields := fields_of(found):
        return fields
    if rows := items_of(found):
        return {"input": rows}
    return {"input": found} if isinstance(found, str) and found.strip() else {}


def _count(span: TracedSpan, *names: str) -> int:
    found = (whole(span.attributes.get(name)) for name in names)
    return next((count for count in found if count is not None and 0 <= count < 2**31), 0)


def _messages(value: object) -> list[Message]:
    found = parsed(value)
    found = items_of(fields_of(found).get("messages")) or found
    if isinstance(found, str) and found.strip():
        return [Message(role="", text=found[:MAX_TEXT])]
    return [
        _message(one) for one in mappings(found) or ([fields_of(found)] if "role" in fields_of(found) else [])
    ]


def _message(value: Mapped) -> Message:
    """Read a message: parts of the GenAI conventions, or contents and tool calls as the models' APIs have them."""
    inner = fields_of(value.get("message")) or value
    read = Message(role=text(inner.get("role")) or text(value.get("role")), raw=inner)
    parts = items_of(parsed(inner.get("parts"))) + items_of(parsed(inner.get("contents")))
    content: object = inner.get("content")
    content = (
        parsed(content) if isinstance(content, str) and content.lstrip()[:2] in ("[{", "[]") else content
    )
    if isinstance(content, str):
        _add_text(read, content)
    elif rows := items_of(content):
        parts += rows
        read.raw = {**inner, "content": rows}
    elif fields := fields_of(content):
        parts.append(fields)
    for part in parts:
        if isinstance(part, str):
            _add_text(read, part)
        else:
            one = fields_of(part)
            _read_part(read, fields_of(one.get("message_content")) or one)
    for call in mappings(parsed(inner.get("tool_calls"))):
        one = fields_of(call.get("tool_call")) or call
        _add_call(read, one, fields_of(one.get("function")) or one)
    answered = text(inner.get("tool_call_id")) or (text(inner.get("id")) if read.role == "tool" else "")
    if answered and read.role == "tool":
        result: object = inner.get("content")
        read.results.append((answered, read.text if result is None else result))
    for name in ("reasoning", "reasoning_content", "thinking"):
        read.reasoning = read.reasoning or text(inner.get(name))[:MAX_TEXT]
    return read


def _read_part(read: Message, part: Mapped) -> None:
    kind = text(part.get("type"))
    said = part.get("content", part.get("text"))
    match kind:
        case "text" | "input_text" | "output_text" | "":
            _add_text(read, text(said))
        case "reasoning" | "thinking":
            read.reasoning = "\n".join(
                filter(None, (read.reasoning, text(said or part.get("thinking"))[:MAX_TEXT]))
            )
        case "tool_call" | "tool_use" | "function_call" | "tool-call":
            _add_call(read, part, part)
        case "tool_call_response" | "tool_result" | "tool-result":
            answered = text(part.get("id")) or text(part.get("tool_use_id")) or text(part.get("toolCallId"))
            names = ("response", "result", "content", "output")
            read.results.append((answered, next((part[name] for name in names if name in part), None)))
        case _:
            return


def _add_text(read: Message, more: str) -> None:
    if more.strip():
        read.text = "\n".join(filter(None, (read.text, more)))[:MAX_TEXT]


def _add_call(read: Message, outer: Mapped, inner: Mapped) -> None:
    name = text(inner.get("name")) or text(inner.get("toolName"))
    if not name:
        return
    args = next((inner[key] for key in ("arguments", "input", "args", "parameters") if key in inner), None)
    call = text(outer.get("id")) or text(outer.get("call_id")) or text(outer.get("toolCallId"))
    read.calls.append(Call(id=call, name=name, args=read_args(args)))


def _event_messages(span: TracedSpan, details: str, whole_text: str, *, answers: bool) -> list[Message]:
    read: list[Message] = []
    for event in span.events:
        body = fields_of(event.body) or fields_of(parsed(event.attributes.get("gen_ai.event.content")))
        if event.name in _CONTENT_EVENTS:
            found = event.attributes.get(details, body.get(details, event.attributes.get(whole_text)))
            read += _messages(found)
        elif answers and event.name == "gen_ai.choice":
            message = fields_of(parsed(body.get("message", event.attributes.get("message"))))
            read.append(_message(message or body or dict(event.attributes)))
        elif not answers and (named := _MESSAGE_EVENT.fullmatch(event.name)):
            read.append(_message({"role": named[1], **event.attributes, **body}))
    return read


def _unflattened(found: Mapped, prefix: str) -> list[Mapped]:
    """Return the objects that keys such as ``llm.input_messages.0.message.role`` spell out."""
    root: Mapped = {}
    for key, value in found.items():
        if not key.startswith(prefix):
            continue
        here, names = root, key[len(prefix) :].split(".")
        for name in names[:-1]:
            if not isinstance(here.get(name), dict):
                here[name] = dict[str, Any]()
            here = fields_of(here[name])
        if not isinstance(here.get(names[-1]), dict):
            here[names[-1]] = value
    rows = _as_lists(root)
    return mappings(rows)


def _as_lists(value: object) -> object:
    fields = fields_of(value)
    if not fields:
        return value
    if all(name.isdecimal() and len(name) < 7 for name in fields):
        return [_as_lists(fields[name]) for name in sorted(fields, key=int)]
    return {name: _as_lists(one) for name, one in fields.items()}


def words_of(messages: Iterable[Message], roles: tuple[str, ...] = ("user", "human", "")) -> str:
    """Return the text of the first message of these roles that has one."""
    return next((one.text for one in messages if one.role in roles and one.text.strip()), "")


def metadata_of(found: Mapping[str, Any]) -> Mapped:
    """Return what a span's ``metadata`` says, and the attributes of that prefix."""
    said = fields_of(parsed(found.get("metadata")))
    flat = {
        name.removeprefix("metadata."): one for name, one in found.items() if name.startswith("metadata.")
    }
    return {**said, **flat}
