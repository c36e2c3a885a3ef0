"""Test of an endpoint and one of its models by a handful of small questions, bounded in tokens and time."""

from __future__ import annotations

import base64
import random
import struct
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.engine.agent.model.capabilities import EndpointCapabilities, SchemaSupport
from app.engine.agent.model.endpoint_url import DEFAULT_URL, display_url, endpoint_of
from app.engine.agent.model.limits import RetryPolicy, known_price, parse_price
from app.engine.agent.model.request_errors import RequestFailed
from app.engine.agent.model.streamed_answer import StreamedAnswer
from app.engine.agent.model.structured import read_json
from app.engine.agent.model.transport import ModelTransport
from app.engine.api.model_test_api import ModelCheck, ModelReport, ModelTestRequest
from app.engine.core.model_api import INTEGER, ModelErrorKind, object_schema

MOST_TOKENS = 64
REASONING_ROOM = 2_000
"""Tokens of the second try where all of the first went into reasoning."""
SECONDS = 45.0
"""Longest wait for one answer."""
MOST_NAMES = 500
"""Names of models that a report keeps."""
COLORS = {"red": (214, 40, 40), "green": (30, 150, 60), "blue": (40, 80, 200), "yellow": (245, 215, 40)}
_SUM = object_schema("sum", sum=INTEGER)
_TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two whole numbers",
        "parameters": object_schema(a=INTEGER, b=INTEGER),
    },
}


class EndpointTest:
    """One test; ``say`` is told each line as soon as it is known.

    Args:
        request: with the address, key and model to use; "" is the endpoint's only model.
    """

    def __init__(
        self, request: ModelTestRequest, say: Callable[[ModelCheck], None], rng: random.Random | None = None
    ) -> None:
        self._request, self._say, self._rng = request, say, rng or random.Random()
        policy = RetryPolicy(first=SECONDS, idle=20.0, whole=SECONDS, attempts=1)
        endpoint = endpoint_of(
            request.url, request.key, headers=request.headers, api_version=request.api_version
        )
        self._transport = ModelTransport(endpoint, policy)
        self.learnt = EndpointCapabilities()
        """What was found, for the runs that follow."""
        self._url = request.url or DEFAULT_URL
        self._model = request.model
        self._fields: dict[str, Any] = {"stream_options": {"include_usage": True}}
        self._limit, self._room = "max_tokens", MOST_TOKENS
        self._checks: list[ModelCheck] = []
        self._tokens = (0, 0)
        self._names: tuple[str, ...] = ()

    async def run(self) -> ModelReport:
        """Ask all questions; nothing further is asked where the first gets no answer."""
        try:
            await self._models()
            if self._model and await self._answers():
                await self._schema()
                await self._tools()
                await self._pictures()
                await self._effort()
                self._price()
        finally:
            await self._transport.aclose()
        return ModelReport(
            url=display_url(self._url),
            model=self._model,
            at=time.time(),
            checks=tuple(self._checks),
            tokens=self._tokens,
            models=self._names,
        )

    # the questions

    async def _models(self) -> None:
        try:
            names = await self._transport.models()
        except RequestFailed as failed:
            if failed.kind is ModelErrorKind.REFUSED:  # it need not list its models
                self._add("models", None, "not listed")
            else:
                name = "key" if failed.kind is ModelErrorKind.UNAUTHORISED else "reachable"
                self._add(name, False, failed.what, failed.remedy)
                self._model = ""
            return
        self._names = tuple(names)[:MOST_NAMES]
        some = ", ".join(self._names[:8]) + ("…" if len(names) > 8 else "")
        if not self._model and len(names) == 1:
            self._model = self._names[0]
        if self._model in names:
            self._add("models", True, f"{len(names)} listed, {self._model} among them")
            self._context(names[self._model])
        elif self._model:
            self._add("models", None, f"{self._model} is not among the {len(names)} listed: {some}")
        else:
            self._add("models", False, f"{len(names)} listed, and none is chosen", f"choose one: {some}")

    def _context(self, tokens: int | None) -> None:
        self.learnt = replace(self.learnt, context=tokens)
        self._add("context", True if tokens else None, f"{tokens:,} tokens" if tokens else "not stated")

    async def _answers(self) -> bool:
        began = time.monotonic()
        try:
            answer = await self._asked("Answer with the single word: ready")
            if not answer.text and answer.finish == "length":
                self._room = REASONING_ROOM
                self.learnt = replace(self.learnt, room=REASONING_ROOM)
                began = time.monotonic()
                answer = await self._asked("Answer with the single word: ready")
        except RequestFailed as failed:
            name = "key" if failed.kind is ModelErrorKind.UNAUTHORISED else "answer"
            self._add(name, False, failed.what, failed.remedy)
            return False
        self._add("key", True, "accepted" if self._request.key else "none needed")
        if not answer.text.strip():
            self._add("answer", False, "it answers with nothing", "choose another model, or less effort")
            return False
        self._add("answer", True, f"{self._model} answers")
        await self._speed(began, answer)
        return True

    async def _speed(self, began: float, first: StreamedAnswer) -> None:
        reasons = bool(first.thinking) or self._room > MOST_TOKENS
        words = "reasons before it answers" if reasons else "none seen"
        self._add("reasoning", True if reasons else None, words)
        started = time.monotonic()
        try:
            answer = await self._asked("Count from 1 to 20 in digits, separated by spaces.")
        except RequestFailed as failed:
            self._add("speed", None, f"not measured: {failed.what}")
            return
        taken = max(time.monotonic() - started, 1e-3)
        waited = first.began - began
        out = answer.tokens[1] if answer.tokens else len(answer.text) // 4
        self._add("speed", True, f"first token after {waited:.2f} s, {out / taken:.0f} tokens a second")

    async def _schema(self) -> None:
        question = "What is 17 + 25? Answer with a JSON object with the field sum."
        strict = {"name": "sum", "schema": _SUM, "strict": True}
        forms = (
            (SchemaSupport.SCHEMA, "JSON schema", {"type": "json_schema", "json_schema": strict}),
            (SchemaSupport.OBJECT, "JSON object", {"type": "json_object"}),
            (SchemaSupport.PROMPT, "in words", None),
        )
        for level, words, form in forms:
            try:
                answer = await self._asked(question, **({"response_format": form} if form else {}))
            except RequestFailed:
                continue
            data = read_json(answer.text, _SUM) or {}
            if data.get("sum") == 42:
                self.learnt = replace(self.learnt, schema=level)
                self._add("answers by schema", True, words)
                return
        self._add("answers by schema", False, "no readable JSON", "choose a more capable model")

    async def _tools(self) -> None:
        try:
            answer = await self._asked("Add 17 and 25 with the tool.", tools=[_TOOL])
        except RequestFailed:
            self.learnt = replace(self.learnt, tools=False)
            self._add("tool calls", False, "not accepted")
            return
        called = answer.finish == "tool_calls"
        self._add("tool calls", called, "work" if called else "accepted, and not used")

    async def _pictures(self) -> None:
        upper, lower = self._rng.sample(sorted(COLORS), 2)
        picture = base64.b64encode(two_color_png(COLORS[upper], COLORS[lower])).decode()
        parts = [
            {"type": "text", "text": "Which colour is the upper half, which the lower? Answer: upper, lower"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}},
        ]
        try:
            answer = await self._asked(parts)
        except RequestFailed:
            self.learnt = replace(self.learnt, pictures=False)
            self._add("pictures", False, "not accepted", "set a vision model for its role")
            return
        said = answer.text.lower()
        seen = [name for name in sorted(COLORS, key=said.find) if name in said] == [upper, lower]
        self.learnt = replace(self.learnt, pictures=seen)
        found = "seen" if seen else f"accepted, and not seen: {upper} over {lower} was shown"
        self._add("pictures", seen, found, "" if seen else "set a vision model for its role")

    async def _effort(self) -> None:
        effort = self._request.effort or "low"
        try:
            await self._asked("Answer with the single word: ready", reasoning_effort=effort)
        except RequestFailed:
            self._add("reasoning effort", False, f"{effort} is not accepted", "leave the effort empty")
        else:
            self._add("reasoning effort", True, f"{effort} is accepted")

    def _price(self) -> None:
        price = parse_price(self._request.price) or known_price(self._model)
        if price is None:
            self._add(
                "price", None, "unknown", "set it to see what runs cost: dollars per million tokens in/out"
            )
        else:
            self._add(
                "price", True, f"{price.tokens_in:g}/{price.tokens_out:g} US dollars per million tokens"
            )

    # how they are sent

    async def _asked(self, content: object, **more: object) -> StreamedAnswer:
        """Ask one question; fields that every endpoint is not obliged to know are left out once rejected."""
        while True:
            body: dict[str, Any] = {
                "model": self._model,
                "messages": [{"role": "user", "content": content}],
                "stream": True,
                self._limit: self._room,
                **self._fields,
                **more,
            }
            answer = StreamedAnswer(self._room)
            try:
                path = self._transport.endpoint.path(self._model, responses=False)
                await self._transport.send(path, body, answer, SECONDS)
            except RequestFailed as failed:
                if not self._reduced(failed):
                    raise
                continue
            spent = answer.tokens or (0, len(answer.text) // 4)
            self._tokens = self._tokens[0] + spent[0], self._tokens[1] + spent[1]
            return answer

    def _reduced(self, failed: RequestFailed) -> bool:
        said = failed.endpoint_message.lower()
        if "max_tokens" in said and self._limit == "max_tokens":
            self._limit = "max_completion_tokens"
            self.learnt = replace(self.learnt, completion_limit=True)
            return True
        if "stream_options" in said and self._fields.pop("stream_options", None):
            self.learnt = replace(self.learnt, usage=False)
            return True
        return False

    def _add(self, name: str, ok: bool | None, found: str, remedy: str = "") -> None:
        check = ModelCheck(name=name, ok=ok, found=found, remedy=remedy)
        self._checks.append(check)
        self._say(check)


def two_color_png(upper: tuple[int, int, int], lower: tuple[int, int, int], side: int = 128) -> bytes:
    """Return a square PNG picture of two colours, one above the other."""
    rows = b"".join(b"\0" + bytes(upper if row < side // 2 else lower) * side for row in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
