"""The two forms in which the protocol server answers: chat completions and responses, whole or as events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Request = dict[str, Any]
"""The body of a request, as it was sent."""
Json = dict[str, Any]

_BEGINNINGS = {
    "You carry out": "operator",
    "You oversee": "planner",
    "You keep an agent's memory": "summarizer",
    "You compare": "alignment",
    "You pick the page": "selector",
    "You look": "vision",
    "You check": "judge",
    "You decide whether": "judge",
    "You turn": "drafter",
}
"""Beginnings of the prompts in ``resources/prompts``."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to one request.

    Attributes:
        text, thinking: of the message.  finish: its ``finish_reason``, "" for none at all.
        calls: calls of tools, each a name and its arguments.
        reasoning: hidden tokens spent before it; an answer that does not fit beside them is cut empty.
        status: another one than 200 sends ``error`` as the protocol does.
        raw: bytes sent in place of all this, under ``kind``.
        letters: letters of a streamed chunk.  pause: seconds before each.  first: seconds before anything is sent.
        hang_after, cut_after: so many chunks are sent, then nothing more; then the connection is dropped.
        usage: tokens in and out; ``None`` counts a token for every four letters.  tells_usage: whether it is sent.
        as_json: a whole answer although a stream was asked for, as some proxies do.
        stays: the connection is kept open behind the last word, without an end.
    """

    text: str = ""
    thinking: str = ""
    finish: str = "stop"
    calls: tuple[tuple[str, Json], ...] = ()
    reasoning: int = 0
    status: int = 200
    error: str = ""
    code: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    kind: str = "application/json"
    letters: int = 24
    pause: float = 0.0
    first: float = 0.0
    hang_after: int | None = None
    cut_after: int | None = None
    usage: tuple[int, int] | None = None
    tells_usage: bool = True
    as_json: bool = False
    stays: bool = False


def text_of(request: Request) -> str:
    """All text of a request in either form, for a brain to read; a picture counts by its address."""
    return "\n".join(_line(message) for message in request.get("messages") or request.get("input") or [])


def role_of(request: Request) -> str:
    """The agent's role that asks, by the beginning of its prompt; "" where it is none of the known."""
    text = text_of(request).partition(": ")[2]
    return next((role for beginning, role in _BEGINNINGS.items() if text.startswith(beginning)), "")


def tokens_asked(request: Request) -> int:
    """Tokens the answer may have; 0 where the request sets no limit."""
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    return next((int(request[name]) for name in names if name in request), 0)


def _line(message: Json) -> str:
    if "role" not in message:  # an item of the responses form: reasoning, a call, its output
        return f"{message.get('type')}: " + str(message.get("output") or message.get("arguments") or "")
    content = message.get("content") or ""
    parts = content if isinstance(content, list) else [{"text": content}]
    words = [part.get("text") or _address(part.get("image_url"))[:400] for part in parts]
    calls = [json.dumps(call.get("function")) for call in message.get("tool_calls") or []]
    return f"{message['role']}: " + "\n".join([*words, *calls])


def _address(picture: object) -> str:
    return str(picture.get("url", "")) if isinstance(picture, dict) else str(picture or "")


def chat_events(body: Request, answer: Answer, usage: Json) -> Iterator[Json]:
    """The chunks of a streamed chat completion, without the end of it."""
    for delta in _deltas(answer):
        yield _chunk(body, delta, None)


def chat_end(body: Request, answer: Answer, usage: Json) -> Iterator[Json]:
    """The last chunks of a chat completion: why it ended, and its usage."""
    if answer.finish:
        yield _chunk(body, {}, "tool_calls" if answer.calls else answer.finish)
    if answer.stays:
        return
    if answer.tells_usage and (body.get("stream_options") or {}).get("include_usage"):
        yield {**_chunk(body, {}, None), "choices": [], "usage": usage}


def chat_whole(body: Request, answer: Answer, usage: Json) -> Json:
    """A chat completion in one document."""
    message: Json = {"role": "assistant", "content": answer.text}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.calls:
        message["tool_calls"] = [_tool_call(at, *call) for at, call in enumerate(answer.calls)]
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish or None}],
        **({"usage": usage} if answer.tells_usage else {}),
    }


def chat_usage(tokens_in: int, tokens_out: int, cached: int, reasoning: int) -> Json:
    """Usage as chat completions tell it."""
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def response_usage(tokens_in: int, tokens_out: int, cached: int, reasoning: int) -> Json:
    """Usage as responses tell it."""
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens_details": {"reasoning_tokens": reasoning},
    }


def response_events(body: Request, answer: Answer, usage: Json) -> Iterator[Json]:
    """The events of a streamed response, without its end."""
    yield {"type": "response.created", "response": {"id": "resp-1", "status": "in_progress"}}
    for at in range(0, len(answer.thinking), answer.letters):
        yield {
            "type": "response.reasoning_summary_text.delta",
            "delta": answer.thinking[at : at + answer.letters],
        }
    for at in range(0, len(answer.text), answer.letters):
        yield {"type": "response.output_text.delta", "delta": answer.text[at : at + answer.letters]}
    for item in _output(body, answer):
        yield {"type": "response.output_item.done", "item": item}


def response_end(body: Request, answer: Answer, usage: Json) -> Iterator[Json]:
    """The last event of a response."""
    whole = response_whole(body, answer, usage)
    if answer.finish:
        yield {"type": f"response.{whole['status']}", "response": whole}


def response_whole(body: Request, answer: Answer, usage: Json) -> Json:
    """A response in one document."""
    cut = answer.finish == "length"
    return {
        "id": "resp-1",
        "object": "response",
        "model": body.get("model", ""),
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": list(_output(body, answer)),
        **({"usage": usage} if answer.tells_usage else {}),
    }


def _output(body: Request, answer: Answer) -> Iterator[Json]:
    """The items of a response; reasoning is sealed where the request asks for it."""
    if answer.thinking or answer.reasoning:
        sealed = "reasoning.encrypted_content" in (body.get("include") or [])
        number = 1 + sum(item.get("type") == "reasoning" for item in body.get("input") or [])
        summary = [{"type": "summary_text", "text": answer.thinking}] if answer.thinking else []
        yield {
            "type": "reasoning",
            "id": f"rs_{number}",
            "summary": summary,
            **({"encrypted_content": f"sealed {number}"} if sealed else {}),
        }
    if answer.text:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        yield {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    for at, (name, arguments) in enumerate(answer.calls):
        yield {
            "type": "function_call",
            "id": f"fc_{at}",
            "call_id": f"call_{at}",
            "name": name,
            "arguments": json.dumps(arguments),
        }


def _deltas(answer: Answer) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    for at in range(0, len(answer.thinking), answer.letters):
        yield {"reasoning_content": answer.thinking[at : at + answer.letters]}
    for at in range(0, len(answer.text), answer.letters):
        yield {"content": answer.text[at : at + answer.letters]}
    for at, (name, arguments) in enumerate(answer.calls):
        call = _tool_call(at, name, arguments)
        text = call["function"]["arguments"]
        call["function"] = {"name": name, "arguments": text[:3]}
        yield {"tool_calls": [{"index": at, **call}]}
        yield {"tool_calls": [{"index": at, "function": {"arguments": text[3:]}}]}


def _tool_call(at: int, name: str, arguments: Json) -> Json:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{at}", "type": "function", "function": function}


def _chunk(body: Request, delta: Json, finish: str | None) -> Json:
    return {
        "id": "chat-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
