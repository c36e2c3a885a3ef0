"""Reads recorded exchanges.  A record may come with somebody's runs, so nothing in it is taken for granted."""

from __future__ import annotations

import re
from typing import Any, cast

import orjson

from app.engine.api.exchange_api import EXCHANGE_FORMAT, Exchange, ExchangeMessage, ExchangePart, ExchangeRow
from app.engine.core.chat_messages import ChatRole, PartKind
from app.errors import StoreError

MAX_BYTES = 64 * 2**20
"""Longest record that is read."""
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST_TOKENS = 10**12


def read_exchange(data: bytes, digest: str, step: int | None = None) -> Exchange:
    """Return an exchange from its record.

    Raises:
        StoreError: it is damaged, too long, or of a newer version.
    """
    document = _document(data, digest)
    answer = _mapping(document.get("reply"))
    error = _mapping(document.get("error"))
    tokens = _list(answer.get("tokens"))
    parameters = _parameters(answer.get("parameters"))
    row = ExchangeRow(
        digest=digest,
        step=step,
        role=_text(document.get("role")),
        model=_text(answer.get("model")) or parameters.get("model", ""),
        at=_number(document.get("at")),
        tokens_in=_count(tokens[0]) if len(tokens) == 2 else 0,
        tokens_out=_count(tokens[1]) if len(tokens) == 2 else 0,
        cached=_count(answer.get("cached")),
        seconds=_number(answer.get("seconds")),
        money=_number(answer["money"]) if _is_number(answer.get("money")) else None,
        truncated=answer.get("truncated") is True,
        error=_text(error.get("message")) or _text(error.get("trouble")),
        size=len(data),
    )
    return Exchange(
        row=row,
        format=_count(document.get("format")) or 1,
        messages=tuple(_message(message) for message in _list(document.get("messages"))),
        parameters=parameters,
        most=_count(document.get("most")),
        schema=_text(_mapping(document.get("schema")).get("title")),
        text=_text(answer.get("text")),
        thinking=_text(answer.get("thinking")),
        data=_indented(answer.get("data")),
        first=_number(answer.get("first")),
        pictures_dropped=answer.get("pictures_dropped") is True,
    )


def read_schema(data: bytes, digest: str) -> dict[str, Any] | None:
    """Return the schema that the answer of an exchange had to follow.  Raises ``StoreError`` as ``read_exchange``."""
    return _mapping(_document(data, digest).get("schema")) or None


def picture_digests(data: bytes) -> tuple[str, ...]:
    """Return the digests of the pictures that an exchange was sent; of a content that is no readable exchange none."""
    try:
        found = read_exchange(data, "")
    except StoreError:
        return ()
    parts = (part for message in found.messages for part in message.parts)
    return tuple(
        dict.fromkeys(part.digest for part in parts if part.kind == PartKind.IMAGE.value and part.digest)
    )


def _document(data: bytes, digest: str) -> dict[str, Any]:
    where = f"the recorded exchange {digest[:12]}"
    if len(data) > MAX_BYTES:
        raise StoreError(f"{where} is longer than {MAX_BYTES >> 20} MB; it is not read")
    try:
        document: object = orjson.loads(data)
    except ValueError as error:
        raise StoreError(f"{where} is damaged: it is no JSON") from error
    if not isinstance(document, dict):
        raise StoreError(f"{where} is damaged: it is no JSON object")
    found = cast("dict[str, Any]", document)
    if _count(found.get("format")) > EXCHANGE_FORMAT:
        raise StoreError(
            f"{where} was recorded by a newer version (format {found['format']}); update Sitelore"
        )
    if not isinstance(found.get("messages"), list) or not _text(found.get("role")):
        raise StoreError(f"{where} is damaged: it holds no messages of a role")
    return found


def _message(value: object) -> ExchangeMessage:
    message = _mapping(value)
    role = _text(message.get("role"))
    known = role if role in {one.value for one in ChatRole} else ChatRole.USER.value
    return ExchangeMessage(role=known, parts=tuple(_part(part) for part in _list(message.get("parts"))))


def _part(value: object) -> ExchangePart:
    part = _mapping(value)
    kind = _text(part.get("kind"))
    digest = _text(part.get("digest"))
    return ExchangePart(
        kind=kind if kind in {one.value for one in PartKind} else PartKind.TEXT.value,
        text=_text(part.get("text")),
        digest=digest if _DIGEST.fullmatch(digest) else "",
        tip=_text(part.get("tip")),
    )


def _parameters(value: object) -> dict[str, str]:
    """Return parameters as texts; those of the Responses API are nested once."""
    found: dict[str, str] = {}
    for name, setting in _mapping(value).items():
        if isinstance(setting, dict):
            found |= {f"{name}.{key}": str(one)[:200] for key, one in cast("dict[str, Any]", setting).items()}
        elif setting is not None:
            found[name] = str(setting)[:200]
    return found


def _indented(value: object) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() if isinstance(value, dict) else ""
    except TypeError:  # nested too deeply; the text of the answer has it as it came
        return ""


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: object) -> float:
    return (
        float(cast("float", value)) if _is_number(value) and 0 <= cast("float", value) < _MOST_TOKENS else 0.0
    )


def _count(value: object) -> int:
    return int(_number(value))
