"""Assemble an answer from the bytes of a response, server-sent events or one JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

MAX_RESPONSE_BYTES = 32_000_000
"""Of a response: an answer of 30,000 tokens, each in its own event, is a quarter of this."""
CHARACTERS_PER_TOKEN = 32
SPARE_CHARACTERS = 10_000
"""An answer may have so many characters for each requested token, plus these."""


class EndpointReportedError(Exception):
    """The endpoint reported an error in the middle of an answer."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class StreamParser:
    """One answer while it arrives.

    Args:
        most: tokens that were requested at most.

    Attributes:
        is_events: whether server-sent events arrive, or one JSON document.
        began: when the first bytes came (``time.monotonic``), 0 before.
        finish: why the model stopped, "" while it has not said.
        is_done: the answer is complete. cut: it was too long.
        tokens: in and out as the endpoint counted them. cached: of those in.
        broken: pieces that could not be read. heard: pieces that could.
    """

    def __init__(self, most: int) -> None:
        self._room = most * CHARACTERS_PER_TOKEN + SPARE_CHARACTERS
        self.is_events, self.began = True, 0.0
        self._buffer = bytearray()
        self._searched = 0
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._data: list[bytes] = []
        self._bytes = 0
        self.finish, self.model = "", ""
        self.tokens: tuple[int, int] | None = None
        self.cached = 0
        self.is_done = self.cut = False
        self.broken = self.heard = 0

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._texts)

    @property
    def thinking(self) -> str:
        """The reasoning so far, where the endpoint sends it."""
        return "".join(self._thoughts)

    def feed(self, data: bytes) -> bool:
        """Parse the next bytes; False once no more are wanted.

        Raises:
            EndpointReportedError: they report an error.
        """
        self._bytes += len(data)
        if self._bytes > MAX_RESPONSE_BYTES:
            self.cut = True
            return False
        self._buffer += data
        if self.is_events:
            self._lines()
        return not (self.is_done or self.cut)

    def close(self) -> None:
        """Parse the rest at the end of the response."""
        if self.is_events:
            self._line(bytes(self._buffer))
            self._line(b"")
        elif self._buffer and not self.cut:
            self._event(bytes(self._buffer))
        self._buffer.clear()

    def _lines(self) -> None:
        while not (self.is_done or self.cut):
            end = self._buffer.find(b"\n", self._searched)
            if end == -1:
                self._searched = len(self._buffer)
                return
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            self._searched = 0
            self._line(line)

    def _line(self, line: bytes) -> None:
        line = line.rstrip(b"\r")
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            event, self._data = b"\n".join(self._data), []
            self._event(event)

    def _event(self, event: bytes) -> None:
        if event.startswith(b"[DONE]"):
            self.is_done = True
            return
        try:
            found: Any = json.loads(event)
        except (ValueError, RecursionError):
            self.broken += 1
            return
        if not isinstance(found, dict):
            self.broken += 1
            return
        self._take(cast("dict[str, Any]", found))

    def _take(self, event: dict[str, Any]) -> None:
        if event.get("error"):
            raise _fault(event["error"])
        self.heard += 1
        self.model = self.model or _word(event.get("model"))
        choices: Any = event.get("choices")
        if isinstance(choices, list) and choices:
            choice = _mapping(cast("list[Any]", choices)[0])
            self._say(_mapping(choice.get("delta") or choice.get("message")))
            self.finish = _word(choice.get("finish_reason")) or self.finish
        usage = _mapping(event.get("usage"))
        if usage:
            self.tokens = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
            self.cached = _count(_mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))

    def _say(self, piece: Mapping[str, Any]) -> None:
        thought = _words(piece.get("reasoning_content")) or _words(piece.get("reasoning"))
        answer = _words(piece.get("content")) or _words(piece.get("refusal"))
        for said, kept in ((thought, self._thoughts), (answer, self._texts)):
            if said:
                kept.append(said[: self._room])
                self._room -= len(said)
        self.cut = self.cut or self._room < 0


def _fault(error: object) -> EndpointReportedError:
    told = _mapping(error)
    message = _word(told.get("message")) or (error if isinstance(error, str) else "it tells of an error")
    return EndpointReportedError(message, str(told.get("code") or told.get("type") or ""))


def _words(content: object) -> str:
    """Return a content's text; it is a text, or parts with texts."""
    if isinstance(content, list):
        return "".join(_word(_mapping(part).get("text")) for part in cast("list[object]", content))
    return _word(content)


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 10**9 else 0


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
