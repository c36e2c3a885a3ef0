"""Typed messages in the format of the Responses API.

A reasoning model's thoughts are kept between turns by sending its sealed reasoning again, in front of the answer it led
to, and not by ``previous_response_id``: that would put the provider's copy of the whole conversation in front of ours,
so that nothing could be evicted from it, and would have it stored there. With ``store: false`` our messages are the
only ones; the sealed reasoning belongs to a turn's thinking and is evicted with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.engine.agent.model.chat_format import (
    FormatOptions,
    is_sent_call,
    merged_messages,
    result_texts,
    to_chat_messages,
)
from app.engine.agent.model.tool_calls import paired_calls
from app.engine.core.chat_messages import ChatMessage, MessagePart, PartKind

SealedReasoning = Mapping[str, Sequence[dict[str, Any]]]
"""Items of reasoning by the digest of a thinking part."""


def to_response_input(
    messages: Sequence[ChatMessage],
    pictures: Mapping[str, bytes] | None,
    options: FormatOptions,
    sealed: SealedReasoning,
) -> list[dict[str, Any]]:
    """Return the items of a request: messages, calls with their results, and sealed reasoning."""
    calls = paired_calls(messages) if options.tools else {}
    items: list[dict[str, Any]] = []
    for role, run in merged_messages(messages, options, calls):
        parts = [part for message in run for part in message.parts]
        if role == "tool":
            texts = result_texts(parts[0], len(calls[parts[0].call]))
            items += [
                {"type": "function_call_output", "call_id": f"{parts[0].call}-{at}", "output": text}
                for at, text in enumerate(texts)
            ]
        elif role == "assistant":
            for message in run:
                items += _answer(message.parts, calls, sealed)
        else:
            (sent,) = to_chat_messages(run, pictures, options)
            items.append({"role": role, "content": _content(sent["content"])})
    return items


def _answer(
    parts: Sequence[MessagePart], calls: Mapping[str, Sequence[tuple[str, str]]], sealed: SealedReasoning
) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    lines: list[str] = []
    called: list[dict[str, Any]] = []
    for part in parts:
        if part.kind is PartKind.THINKING and part.digest in sealed:
            items += sealed[part.digest]
        elif is_sent_call(part, calls):
            called += [
                {
                    "type": "function_call",
                    "call_id": f"{part.call}-{at}",
                    "name": name,
                    "arguments": arguments,
                }
                for at, (name, arguments) in enumerate(calls[part.call])
            ]
        elif part.text:
            lines.append(part.text)
    if lines:
        items.append({"role": "assistant", "content": "\n".join(lines)})
    return [*items, *called]


def _content(content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    return content if isinstance(content, str) else [_block(block) for block in content]


def _block(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "image_url":
        picture = block["image_url"]
        detail = {"detail": picture["detail"]} if "detail" in picture else {}
        return {"type": "input_image", "image_url": picture["url"], **detail}
    return {"type": "input_text", "text": block["text"]}
