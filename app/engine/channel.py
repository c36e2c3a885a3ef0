"""The typed message channel between the window and the engine host.

A frame is two big-endian lengths (JSON, bytes), the JSON, and raw bytes beside it (a picture).  Requests name a
method of ``EngineApi``; its annotations define how arguments and results are decoded, so that a malformed message is
refused at the border.  Both ends are plain asyncio streams.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import inspect
import struct
import typing
from dataclasses import dataclass
from typing import Any

import orjson

from app.engine.api.engine_api import EngineApi
from app.engine.core.events import EVENTS, Event, PageFrame
from app.errors import (
    Conflict,
    DamagedIndex,
    InputError,
    NotFound,
    SiteloreError,
    StoreError,
    UsageError,
)

PROTOCOL = 1
"""Raised when a message changes its meaning; both ends must agree."""

MAX_FRAME = 256 * 1024 * 1024
_HEAD = struct.Struct(">II")

_FRAME_FIELDS = tuple(field.name for field in dataclasses.fields(PageFrame) if field.name != "jpeg")

ERRORS: dict[str, type[SiteloreError]] = {
    kind.__name__: kind for kind in (SiteloreError, UsageError, NotFound, Conflict, StoreError, DamagedIndex)
}


class ChannelError(SiteloreError):
    """The other end is gone or does not speak this protocol."""


@dataclass(frozen=True, slots=True)
class ChannelMethod:
    """The wire form of one use case: types of its arguments and result, and whether the result is raw bytes."""

    name: str
    parameters: dict[str, Any]
    result: Any
    raw: bool


@functools.cache
def _adapter(annotation: Any) -> Any:
    from pydantic import TypeAdapter  # 0.1 s: after the window's first picture

    return TypeAdapter(annotation)


@functools.cache
def method(name: str) -> ChannelMethod:
    """Return the method of ``EngineApi`` with this name; ``ChannelError`` when there is none."""
    function = getattr(EngineApi, name, None)
    if name.startswith("_") or not inspect.iscoroutinefunction(function):
        raise ChannelError(f"the engine has no method {name!r}")
    hints = typing.get_type_hints(function)
    result = hints.pop("return", None)
    return ChannelMethod(name=name, parameters=hints, result=result, raw=result is bytes)


def use_cases() -> list[str]:
    """Return the names of the methods of ``EngineApi``."""
    return [
        name
        for name in dir(EngineApi)
        if not name.startswith("_") and inspect.iscoroutinefunction(getattr(EngineApi, name))
    ]


def warm_up() -> None:
    """Build every codec now, on a worker thread: the first answers would each wait 50 ms for theirs."""
    for name in use_cases():
        use_case = method(name)
        for annotation in (use_case.result, *use_case.parameters.values()):
            _adapter(annotation)
    for event in EVENTS.values():
        _adapter(event)


def pack(message: dict[str, Any], raw: bytes = b"") -> bytes:
    """Encode one frame."""
    body = orjson.dumps(message, option=orjson.OPT_PASSTHROUGH_DATETIME)
    if len(body) + len(raw) > MAX_FRAME:
        raise ChannelError(f"a message of {(len(body) + len(raw)) >> 20} MB is too large")
    return _HEAD.pack(len(body), len(raw)) + body + raw


async def read_frame(
    reader: asyncio.StreamReader, most: int = MAX_FRAME
) -> tuple[dict[str, Any], bytes] | None:
    """Return the next frame, ``None`` at the end of the stream.

    Raises:
        ChannelError: it is longer than ``most`` bytes, of which none is read then; or it is no message.
    """
    try:
        head = await reader.readexactly(_HEAD.size)
        length, extra = _HEAD.unpack(head)
        if length + extra > most:
            raise ChannelError("the other end sent a frame that is too large")
        body = await reader.readexactly(length)
        raw = await reader.readexactly(extra) if extra else b""
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ChannelError("the other end sent an invalid message") from error
    if not isinstance(message, dict):
        raise ChannelError("the other end sent an invalid message")
    return typing.cast("dict[str, Any]", message), raw


def encode(value: Any, annotation: Any) -> Any:
    """Encode a value as plain JSON data."""
    return _adapter(annotation).dump_python(value, mode="json")


def decode(value: Any, annotation: Any) -> Any:
    """Decode JSON data as the annotated type; ``ChannelError`` when it does not fit."""
    from pydantic import ValidationError

    try:
        return _adapter(annotation).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ChannelError(f"a message does not fit: {where} {first['msg']}") from error


def encode_event(event: Event) -> tuple[dict[str, Any], bytes]:
    """Encode an event as a message, and the bytes beside it: a picture's."""
    if isinstance(event, PageFrame):
        # By hand: 25 of them a second, and JSON takes no bytes.
        value = {name: getattr(event, name) for name in _FRAME_FIELDS}
        return {"event": "PageFrame", "value": value}, event.jpeg
    return {"event": type(event).__name__, "value": encode(event, type(event))}, b""


def decode_event(message: dict[str, Any], raw: bytes = b"") -> Event:
    """Decode the event of a message."""
    kind = EVENTS.get(str(message.get("event")))
    if kind is None:
        raise ChannelError(f"unknown event {message.get('event')!r}")
    value: Any = message.get("value")
    if kind is PageFrame:
        if not isinstance(value, dict):
            raise ChannelError("a picture without its size")
        value = {**typing.cast("dict[str, Any]", value), "jpeg": raw}
    return decode(value, kind)


def encode_error(error: SiteloreError) -> dict[str, str]:
    """Encode an expected error; its sentence is what matters."""
    if isinstance(error, InputError):
        return {"kind": "InputError", "what": error.what, "path": error.path, "remedy": error.remedy}
    return {"kind": type(error).__name__, "what": str(error)}


def decode_error(data: dict[str, str]) -> SiteloreError:
    """Decode an error as its own type."""
    if data.get("kind") == "InputError":
        return InputError(data.get("what", ""), path=data.get("path", ""), remedy=data.get("remedy", ""))
    return ERRORS.get(data.get("kind", ""), SiteloreError)(data.get("what", "unknown error"))
