"""An exchange with a model as it is stored with a run: the request without pictures and secrets, and the answer.

A request is found by its key: role, texts and schema. Pictures don't count, since no two of a page are equal to the
bit, nor does the random marker of the fence around a page's text; the same texts with other pictures are told apart
by order.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import orjson

from app.engine.core.chat_messages import ChatMessage, MessagePart, PartKind
from app.engine.core.model_api import AgentRole, ModelError, ModelErrorKind, ModelReply
from app.errors import InputError

FORMAT = 1
"""Format number; a reader refuses a newer one."""
_MARKER = re.compile(rb"<<end of [^<>\\]{1,60} ([0-9a-f]{12})>>")
"""The random marker of a fence, in its closing line."""
Clean = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExchange:
    """A request by its key, and the answer or the error."""

    key: str
    role: AgentRole
    reply: ModelReply | None = None
    error: ModelError | None = None


def request_document(
    role: AgentRole, messages: Sequence[ChatMessage], schema: dict[str, Any] | None, clean: Clean
) -> dict[str, Any]:
    """Return a request as plain data, cleaned; ``turn`` and the fields for eviction are left out."""
    return {
        "role": role.value,
        "schema": schema,
        "messages": [
            {"role": message.role.value, "parts": [_part(part, clean) for part in message.parts]}
            for message in messages
        ],
    }


def key_of(request: dict[str, Any]) -> str:
    """Return the key of a request that ``request_document`` returned."""
    words = {
        **request,
        "messages": [
            [message["role"], *([part["kind"], part["text"]] for part in message["parts"])]
            for message in request["messages"]
        ],
    }
    data = orjson.dumps(words, option=orjson.OPT_SORT_KEYS)
    for marker in sorted(set(_MARKER.findall(data))):
        data = data.replace(marker, b"")
    return hashlib.sha256(data).hexdigest()


def encode_exchange(
    request: dict[str, Any], came: ModelReply | ModelError, clean: Clean, *, at: float, most: int
) -> bytes:
    """Return an exchange as JSON."""
    document: dict[str, Any] = {"format": FORMAT, "key": key_of(request), "at": at, "most": most, **request}
    if isinstance(came, ModelReply):
        answer = {field.name: getattr(came, field.name) for field in fields(came)}
        del answer["digest"]
        answer["text"], answer["thinking"] = clean(came.text), clean(came.thinking)
        answer["data"] = _cleaned(came.data, clean)
        document["reply"] = answer
    else:
        document["error"] = {"trouble": came.trouble.value, "message": clean(str(came))}
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS, default=repr)


def decode_exchange(data: bytes) -> ModelExchange:
    """Read an exchange that ``encode_exchange`` wrote.

    Raises:
        InputError: it is none, or one of a newer format.
    """
    try:
        document: Any = orjson.loads(data)
        if document["format"] > FORMAT:
            raise InputError(
                f"the exchange has format {document['format']}; this program reads {FORMAT}",
                remedy="update it",
            )
        role, key = AgentRole(document["role"]), str(document["key"])
        if "error" in document:
            told = document["error"]
            error = ModelError(str(told["message"]), ModelErrorKind(told["trouble"]))
            return ModelExchange(key=key, role=role, error=error)
        return ModelExchange(key=key, role=role, reply=_reply(document["reply"]))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"this is no recorded exchange with a model: {error}") from error


def _reply(answer: dict[str, Any]) -> ModelReply:
    data = answer["data"]
    tokens_in, tokens_out = answer["tokens"]
    return ModelReply(
        text=str(answer["text"]),
        thinking=str(answer["thinking"]),
        data=cast("dict[str, Any]", data) if isinstance(data, dict) else None,
        tokens=(int(tokens_in), int(tokens_out)),
        cached=int(answer["cached"]),
        seconds=float(answer["seconds"]),
        first=float(answer["first"]),
        cut=bool(answer["cut"]),
        model=str(answer["model"]),
        unseen=bool(answer.get("unseen", False)),
    )


def _part(part: MessagePart, clean: Clean) -> dict[str, str]:
    kept = {"kind": part.kind.value, "text": clean(part.text)}
    if part.kind is PartKind.IMAGE:
        kept["digest"] = part.digest
    return kept


def _cleaned(value: Any, clean: Clean) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {
            clean(str(name)): _cleaned(part, clean) for name, part in cast("dict[Any, Any]", value).items()
        }
    if isinstance(value, list):
        return [_cleaned(part, clean) for part in cast("list[Any]", value)]
    return value
