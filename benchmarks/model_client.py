"""Overhead of the model client: a call against the openai package's own stream, and parsing models' answers.

    python -m benchmarks.model_client

The endpoint is the tests' server in a process of its own, which answers at once, so that only the work of client and
package remains.  Both request the same, in turn.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import openai

from app.engine.agent.model.client import EndpointModel
from app.engine.agent.model.recording_model import RecordingModel
from app.engine.agent.model.structured import read_json
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.model_api import AgentRole, ModelReply, ModelUsage

PORT = 8399
ANSWER = 'I look for the order first. click("12") ' * 6
LINE = "[{}] link 'Order number {}' url='/orders/{}', visible, clickable\n"
ROUNDS = 15


def prompt(letters: int) -> str:
    lines = "".join(LINE.format(n, n * 7, n) for n in range(letters // 60 + 1))
    return lines[:letters]


async def seconds(call: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await call()
    return time.perf_counter() - began


async def calls(url: str) -> None:
    ours = EndpointModel(url, "test-model", key="k")
    theirs = openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=0)
    for letters in (2_000, 20_000, 200_000):
        text = prompt(letters)
        messages = [ChatMessage(role=ChatRole.USER, parts=(MessagePart(kind=PartKind.TEXT, text=text),))]

        async def mine(messages: list[ChatMessage] = messages) -> object:
            return await ours.ask(AgentRole.OPERATOR, messages)

        async def plain(text: str = text) -> object:
            stream = await theirs.chat.completions.create(
                model="test-model",
                messages=[{"role": "user", "content": text}],
                stream=True,
                stream_options={"include_usage": True},
            )
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

        await mine()
        await plain()
        times = [(await seconds(mine), await seconds(plain)) for _ in range(ROUNDS)]
        own, package = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
        print(
            f"a call with {letters:>7,} letters: ours {own:6.1f} ms, the package's own stream {package:6.1f} ms;"
            f" ratio {own / package:.2f}"
        )
    await ours.aclose()
    await theirs.close()


def median_ms(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    times: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


class Replies:
    """A model that answers at once."""

    async def ask(self, *args: object, **options: object) -> ModelReply:
        return ModelReply(text=ANSWER)

    def usage(self) -> dict[AgentRole, ModelUsage]:
        return {}

    async def aclose(self) -> None:
        pass


def recording() -> None:
    recorder = RecordingModel(Replies(), lambda data: "")
    for letters in (2_000, 20_000, 200_000):
        messages = [
            ChatMessage(role=ChatRole.USER, parts=(MessagePart(kind=PartKind.TEXT, text=prompt(letters)),))
        ]
        floor = median_ms(lambda messages=messages: json.dumps(messages[0].parts[0].text).encode())
        own = median_ms(
            lambda messages=messages: asyncio.run(recorder.ask(AgentRole.OPERATOR, messages)).text
        )
        print(
            f"recording an exchange of {letters:>7,} letters without secrets: {own:6.2f} ms;"
            f" json.dumps of its text {floor:5.2f} ms; ratio {own / floor:.1f}"
        )


def reading() -> None:
    for letters in (1_000, 100_000, 10_000_000):
        answer = (
            "Here it is:\n```json\n"
            + json.dumps({"boxes": [{"label": "x" * 40}] * (letters // 60)})
            + "\n```"
        )
        nonsense = '{"a": ' * (letters // 6)
        print(
            f"JSON out of an answer of {letters:>10,} letters: {median_ms(lambda a=answer: read_json(a), 3):8.2f} ms;"
            f" out of nonsense {median_ms(lambda a=nonsense: read_json(a), 3):8.2f} ms"
        )


def main() -> None:
    command = [sys.executable, "-m", "tests.support.protocol_server", "--port", str(PORT), "--answer", ANSWER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()  # it serves
            asyncio.run(calls(f"http://127.0.0.1:{PORT}/v1"))
        finally:
            server.terminate()
    recording()
    reading()


if __name__ == "__main__":
    main()
