"""Typed messages in the format of chat completions.

Only roles and texts that every endpoint knows are used: the agent's actions are the assistant's text, their results the
user's. The same messages always give the same bytes, and messages added at the end leave the ones before unchanged, so
that an endpoint can cache the beginning.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind

_IMAGE_TYPES = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"RIFF", "image/webp"),
    (b"GIF8", "image/gif"),
)


def to_chat_messages(
    messages: Sequence[ChatMessage],
    pictures: Mapping[str, bytes] | None = None,
    *,
    with_pictures: bool = True,
    with_system: bool = True,
) -> list[dict[str, Any]]:
    """Return messages of the protocol; neighbours of one role are merged, and only the first can be the system's.

    A picture without bytes, or that the endpoint does not take, is replaced by its description; a system message that
    it does not take becomes the user's.
    """
    sent: list[tuple[str, list[MessagePart]]] = []
    for message in messages:
        is_first = not sent or (len(sent) == 1 and sent[0][0] == "system")
        role = _role(message.role, is_first=with_system and is_first)
        if sent and sent[-1][0] == role:
            sent[-1][1].extend(message.parts)
        else:
            sent.append((role, list(message.parts)))
    shown = pictures or {} if with_pictures else {}
    return [{"role": role, "content": _content(role, parts, shown)} for role, parts in sent]


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


def _content(
    role: str, parts: Sequence[MessagePart], pictures: Mapping[str, bytes]
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
        kind = next((name for start, name in _IMAGE_TYPES if data.startswith(start)), "image/png")
        url = f"data:{kind};base64,{base64.b64encode(data).decode()}"
        blocks.append({"type": "image_url", "image_url": {"url": url}})
        lines = []
    if not blocks:
        return "\n".join(line for line in lines if line)
    return [*blocks, _text(lines)] if any(lines) else blocks


def _text(lines: Sequence[str]) -> dict[str, Any]:
    return {"type": "text", "text": "\n".join(line for line in lines if line)}
