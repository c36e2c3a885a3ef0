"""Commands to another process that answers them: the text that is sent, the answer, and waiting for it."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from app.engine.services.core import Core
from app.errors import Conflict, SiteloreError

REPLY_TIMEOUT = 20.0
"""Seconds that the other process has to answer."""
REPLY_INTERVAL = 0.1


def command_text(**asked: object) -> str:
    """Return the text of a new command, with the token by which it is answered."""
    return json.dumps({"token": uuid.uuid4().hex, **asked})


async def reply_to(core: Core, target: str, what: str, text: str, *, who: str) -> Any:
    """Wait for the answer to a command that was sent to the process of ``target``; ``who`` names that process.

    Raises:
        Conflict: it refused, with its own sentence, or does not answer.
    """
    rows, token = core.workspace.supervision, json.loads(text)["token"]
    try:
        async with asyncio.timeout(REPLY_TIMEOUT):
            while not (said := await core.on_store(rows.take_reply, token)):  # noqa: ASYNC110
                await asyncio.sleep(REPLY_INTERVAL)  # another process writes it
    except TimeoutError:
        nobody = await core.on_store(rows.withdraw_remote_command, target, what, text)
        then = "nothing was done" if nobody else "look whether it was done"
        raise Conflict(f"{who} does not answer; {then}") from None
    reply: dict[str, Any] = json.loads(said)
    if "done" not in reply:
        raise Conflict(str(reply.get("error", "the answer can't be read")))
    return reply["done"]


async def answer_command(core: Core, text: str, do: Callable[[dict[str, Any]], Awaitable[object]]) -> None:
    """Do what another process asks for, and answer it; its result must be plain JSON data."""
    asked: dict[str, Any] = json.loads(text)
    try:
        reply = {"done": await do(asked)}
    except SiteloreError as error:
        reply = {"error": str(error)}
    await core.on_store(core.workspace.supervision.add_reply, asked["token"], json.dumps(reply))
