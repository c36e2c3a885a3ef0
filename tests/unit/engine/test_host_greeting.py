"""The host reads next to nothing of a client that has not shown the secret, and a refused one changes nothing."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from app.engine import host as hosts
from app.engine.channel import MAX_FRAME, PROTOCOL, pack, read_frame
from app.engine.core.events import EventBus
from app.engine.engine import Engine
from app.engine.host import MAX_HELLO_BYTES, Host
from app.engine.jobs import JobRegistry

SECRET = "the-right-secret"


class LoneEngine:
    """As much of an engine as a greeting touches; counts how often it was left to itself."""

    def __init__(self) -> None:
        self.bus = EventBus()
        self.registry = JobRegistry(self.bus)
        self.left_alone = 0

    async def on_clients_gone(self) -> None:
        self.left_alone += 1


class Client(asyncio.StreamWriter):
    """The writing end, into a list."""

    def __init__(self) -> None:
        self.sent = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def __del__(self, *_: object) -> None:
        return


async def greet(*frames: bytes) -> tuple[LoneEngine, Client, asyncio.StreamReader]:
    engine = LoneEngine()
    reader = asyncio.StreamReader()
    for frame in frames:
        reader.feed_data(frame)
    reader.feed_eof()
    client = Client()
    await Host(cast("Engine", engine), SECRET).serve(reader, client)
    await asyncio.sleep(0)
    return engine, client, reader


def hello(secret: object = SECRET, **more: object) -> bytes:
    return pack({"secret": secret, "protocol": PROTOCOL, **more})


async def answer_of(client: Client) -> dict[str, Any]:
    reader = asyncio.StreamReader()
    reader.feed_data(client.sent)
    reader.feed_eof()
    frame = await read_frame(reader)
    assert frame is not None
    return frame[0]


async def test_who_shows_the_secret_is_let_in_and_its_leaving_is_noticed():
    engine, client, _ = await greet(hello())
    assert (await answer_of(client))["protocol"] == PROTOCOL
    assert engine.left_alone == 1


@pytest.mark.parametrize("secret", ["wrong", "", "the-right-secreT", "gehe\u00efm", None, 7, ["x"]])
async def test_a_refused_client_leaves_nobody_alone(secret: object):
    engine, client, _ = await greet(hello(secret))
    assert "refused" in await answer_of(client)
    assert client.closed
    assert engine.left_alone == 0


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"\x00",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        struct.pack(">II", 3, 0) + b"{no",
        struct.pack(">II", 2, 0) + b"[]",
    ],
)
async def test_who_speaks_something_else_is_dropped(first: bytes):
    engine, client, _ = await greet(first)
    assert client.closed
    assert engine.left_alone == 0


@pytest.mark.parametrize(
    "lengths", [(MAX_HELLO_BYTES + 1, 0), (10, MAX_HELLO_BYTES), (MAX_FRAME, 0), (0, MAX_FRAME)]
)
async def test_nothing_large_is_read_before_the_secret_is_shown(lengths: tuple[int, int]):
    body = b"x" * 20_000
    engine, client, reader = await greet(struct.pack(">II", *lengths) + body)
    assert client.closed
    assert client.sent == b""
    assert await reader.read() == body  # not a byte of it was taken
    assert engine.left_alone == 0


async def test_a_large_first_message_is_refused_even_with_the_secret():
    engine, client, _ = await greet(hello(more="x" * MAX_HELLO_BYTES))
    assert client.sent == b""
    assert engine.left_alone == 0


async def test_who_says_nothing_is_dropped_after_a_while(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hosts, "HELLO_TIMEOUT", 0.01)
    engine, client = LoneEngine(), Client()
    serve: Callable[..., Awaitable[None]] = Host(cast("Engine", engine), SECRET).serve
    await serve(asyncio.StreamReader(), client)
    assert client.closed
    assert engine.left_alone == 0
