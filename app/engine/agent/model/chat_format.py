"""Typed messages in the format of chat completions.

Roles and texts that every endpoint knows are used: the agent's actions are the assistant's text, their results the
user's; calls of tools only where they are offered. The same messages always give the same bytes, and messages added at
the end leave the ones before unchanged, so that an endpoint can cache the beginning.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.engine.agent.model.tool_calls import paired_calls
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind

_IMAGE_TYPES = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"RIFF", "image/webp"),
    (b"GIF8", "image/gif"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatOptions:
    """How messages are written.

    Attributes:
        pictures, system, detail: whether the endpoint takes them.
        tools: calls and results are sent as such, where both are there.
        cache_marks: mark the end of the system message and of the turns that stay as they are.
    """

    pictures: bool = True
    system: bool = True
    detail: bool = True
    tools: bool = False
    cache_marks: bool = False


def to_chat_messages(
    messages: Sequence[ChatMessage],
    pictures: Mapping[str, bytes] | None = None,
    options: FormatOptions | None = None,
) -> list[dict[str, Any]]:
    """Return messages of the protocol; neighbours of one role are merged, and only the first can be the system's.

    A picture without bytes, or that the endpoint does not take, is replaced by its description; a system message that
    it does not take becomes the user's.
    """
    options = options or FormatOptions()
    calls = paired_calls(messages) if options.tools else {}
    shown = pictures or {} if options.pictures else {}
    sent: list[dict[str, Any]] = []
    for role, run in merged_messages(messages, options, calls):
        if role == "tool":
            sent += _results(run[0].parts[0], calls)
            continue
        content = _marked(role, run, shown, options) if options.cache_marks else None
        parts = [part for message in run for part in message.parts]
        made = next((calls[part.call] for part in parts if is_sent_call(part, calls)), None)
        if made is not None:
            parts = [part for part in parts if not is_sent_call(part, calls)]
            content = _content(role, parts, shown, options) or None
            call = next(part.call for message in run for part in message.parts if part.call)
            sent.append({"role": role, "content": content, "tool_calls": _tool_calls(call, made)})
        else:
            sent.append({"role": role, "content": content or _content(role, parts, shown, options)})
    return sent


def merged_messages(
    messages: Sequence[ChatMessage], options: FormatOptions, calls: Mapping[str, object]
) -> list[tuple[str, list[ChatMessage]]]:
    """Return runs of messages of one role of the protocol; a result that is sent as such stands alone."""
    sent: list[tuple[str, list[ChatMessage]]] = []
    for message in messages:
        is_first = not sent or (len(sent) == 1 and sent[0][0] == "system")
        role = _role(message.role, is_first=options.system and is_first)
        if any(part.kind is PartKind.TOOL_RESULT and part.call in calls for part in message.parts):
            role = "tool"
        if sent and sent[-1][0] == role and role != "tool" and not _has_call(sent[-1][1], calls):
            sent[-1][1].append(message)
        else:
            sent.append((role, [message]))
    return sent


def is_sent_call(part: MessagePart, calls: Mapping[str, object]) -> bool:
    """Whether a part is sent as a call of a tool and not as text."""
    return part.kind is PartKind.TOOL_CALL and part.call in calls


def result_texts(part: MessagePart, count: int) -> list[str]:
    """Return the results of an answer's calls: the context has one for all of them."""
    return [part.text, *["The result of the first call is that of all."] * (count - 1)]


def _has_call(run: Sequence[ChatMessage], calls: Mapping[str, object]) -> bool:
    return any(is_sent_call(part, calls) for message in run for part in message.parts)


def _tool_calls(call: str, made: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        {"id": f"{call}-{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(made)
    ]


def _results(part: MessagePart, calls: Mapping[str, Sequence[object]]) -> list[dict[str, Any]]:
    texts = result_texts(part, len(calls[part.call]))
    return [
        {"role": "tool", "tool_call_id": f"{part.call}-{at}", "content": text}
        for at, text in enumerate(texts)
    ]


def _marked(
    role: str, run: Sequence[ChatMessage], pictures: Mapping[str, bytes], options: FormatOptions
) -> list[dict[str, Any]]:
    """Return each message as blocks of its own, with a mark behind the last one that stays.

    What is new at every step is no turn's (-1) and stands last, so the blocks before it are the same at the next step;
    only the mark moves on, and that is no part of what is cached.
    """
    blocks: list[dict[str, Any]] = []
    marked = -1
    for message in run:
        content = _content(role, message.parts, pictures, options)
        blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
        if role == "system" or message.turn >= 0:
            marked = len(blocks) - 1
    if marked >= 0 and role != "assistant":
        blocks[marked] = {**blocks[marked], "cache_control": {"type": "ephemeral"}}
    return blocks


def estimate_tokens(messages: Sequence[ChatMessage]) -> int:
    """Estimate the tokens of a request, rather too high: four bytes a token, 1,000 a picture."""
    parts = [part for message in messages for part in message.parts]
    pictures = sum(part.kind is PartKind.IMAGE and bool(part.digest) for part in parts)
    return sum(len(part.text.encode()) for part in parts) // 4 + 4 * len(messages) + 1000 * pictures


def answer_tokens(text: str) -> int:
    """Estimate the tokens of an answer that the endpoint did not count: four bytes each."""
    return (len(text.encode()) + 3) // 4


def _role(role: ChatRole, *, is_first: bool) -> str:
    if role is ChatRole.SYSTEM:
        return "system" if is_first else "user"
    return "assistant" if role is ChatRole.ASSISTANT else "user"


def picture_url(data: bytes) -> str:
    """Return a picture as the address that holds it."""
    kind = next((name for start, name in _IMAGE_TYPES if data.startswith(start)), "image/png")
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def _content(
    role: str, parts: Sequence[MessagePart], pictures: Mapping[str, bytes], options: FormatOptions
) -> str | list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    lines: list[str] = []
    for part in parts:
        data = pictures.get(part.digest) if part.kind is PartKind.IMAGE and role == "user" else None
        if data is None:
            hidden = f"[picture not shown: {part.text}]" if part.text else "[picture not shown]"
            lines.append(part.text if part.kind is not PartKind.IMAGE else hidden)
            continue
        if part.text:
            lines.append(part.text)
        if any(lines):
            blocks.append(_text(lines))
        detail = {"detail": part.detail} if part.detail and options.detail else {}
        blocks.append({"type": "image_url", "image_url": {"url": picture_url(data), **detail}})
        lines = []
    if not blocks:
        return "\n".join(line for line in lines if line)
    return [*blocks, _text(lines)] if any(lines) else blocks


def _text(lines: Sequence[str]) -> dict[str, Any]:
    return {"type": "text", "text": "\n".join(line for line in lines if line)}
