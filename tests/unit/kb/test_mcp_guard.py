"""The guard before the MCP server over HTTP: one row a clause, without a server; and the token it asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kb.errors import KbError
from kb.mcp_serving import TOKEN_VARIABLE, Guard, chosen_token

TOKEN, PORT = "0123456789abcdef-token", 8765
HOST = (b"host", b"127.0.0.1:8765")
RIGHT = (b"authorization", b"Bearer " + TOKEN.encode())


async def asked(*headers: tuple[bytes, bytes], kind: str = "http") -> tuple[int, str]:
    """The status and sentence of a refusal, 0 for a request that passes."""
    sent: list[Any] = []

    async def app(*_: Any) -> None:
        sent.append("passed")

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("a refused request is never read")

    await Guard(app, TOKEN, PORT)({"type": kind, "headers": list(headers)}, receive, send)
    if sent == ["passed"]:
        return 0, ""
    return sent[0]["status"], json.loads(sent[1]["body"])["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([HOST, RIGHT], 0),
        ([(b"host", b"localhost:8765"), RIGHT], 0),
        ([(b"host", b"LOCALHOST:8765"), RIGHT], 0),
        ([(b"host", b"[::1]:8765"), RIGHT], 0),
        ([HOST, (b"authorization", b"bearer " + TOKEN.encode())], 0),
        ([HOST, RIGHT, (b"origin", b"http://127.0.0.1:8765")], 0),
        ([HOST], 401),
        ([HOST, (b"authorization", b"")], 401),
        ([HOST, (b"authorization", b"Bearer")], 401),
        ([HOST, (b"authorization", b"Bearer " + TOKEN[:-1].encode())], 401),
        ([HOST, (b"authorization", b"Bearer \xff\xfe")], 401),
        ([HOST, (b"authorization", b"Basic " + TOKEN.encode())], 401),
        ([HOST, (b"authorization", TOKEN.encode())], 401),
        ([HOST, RIGHT, (b"authorization", b"Bearer other")], 401),
        ([RIGHT], 421),
        ([HOST, (b"host", b"evil.example"), RIGHT], 421),
        ([(b"host", b"evil.example:8765"), RIGHT], 421),
        ([(b"host", b"127.0.0.1"), RIGHT], 421),
        ([(b"host", b"127.0.0.1:1"), RIGHT], 421),
        ([(b"host", b"127.0.0.1:8765.evil.example"), RIGHT], 421),
        ([HOST, RIGHT, (b"origin", b"https://evil.example")], 403),
        ([HOST, RIGHT, (b"origin", b"http://localhost:3000")], 403),
        ([HOST, RIGHT, (b"origin", b"null")], 403),
        ([HOST, RIGHT, (b"origin", b"http://127.0.0.1:8765"), (b"origin", b"http://evil.example")], 403),
    ],
)
async def test_a_request_passes_only_from_this_machine_and_with_the_token(
    headers: list[tuple[bytes, bytes]], status: int
) -> None:
    found, sentence = await asked(*headers)
    assert found == status
    assert bool(sentence) == bool(status)
    assert TOKEN not in sentence


async def test_what_is_no_request_passes_unasked() -> None:
    assert await asked(kind="lifespan") == (0, "")


def test_the_token_is_given_or_named_or_usual_or_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    first, made = chosen_token("")
    assert made
    assert first != chosen_token("")[0]
    monkeypatch.setenv(TOKEN_VARIABLE, "usual-token-0123456789")
    monkeypatch.setenv("MINE", "named-token-0123456789")
    assert chosen_token("") == ("usual-token-0123456789", False)
    assert chosen_token("$MINE") == chosen_token("${MINE}") == ("named-token-0123456789", False)
    assert chosen_token("given-token-0123456789") == ("given-token-0123456789", False)
    for bad in ("short", "with a blank 0123456789", "umlaut-ü-0123456789", "$NOT_SET"):
        with pytest.raises(KbError):
            chosen_token(bad)
