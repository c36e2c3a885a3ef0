"""One answer while it arrives, as a chat completion or as a response; whole or in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

CHARACTERS_PER_TOKEN = 32
SPARE_CHARACTERS = 10_000
"""An answer may have so many characters for each requested token, plus these."""


@dataclass(slots=True)
class ToolCall:
    """A call of a tool; ``arguments`` is JSON, as far as it has come."""

    name: str = ""
    arguments: str = ""


class StreamedAnswer:
    """One answer while it arrives.

    Args:
        max_tokens: tokens that were requested at most.

    Attributes:
        began: when the first bytes came (``time.monotonic``), 0 before.
        finish: why the model stopped, "" while it has not said; ``length`` at the token limit.
        cut: the answer was too long and is incomplete.
        tokens: in and out as the endpoint counted them. cached: of those in.
        events: number of events so far.
        failure: the endpoint's own words where it gave up, "" otherwise.
        reasoning: sealed items of a response's reasoning, to be sent again.
    """

    def __init__(self, max_tokens: int) -> None:
        self._room = max_tokens * CHARACTERS_PER_TOKEN + SPARE_CHARACTERS
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: dict[object, ToolCall] = {}
        self.began, self.finish, self.model, self.cut = 0.0, "", "", False
        self.tokens: tuple[int, int] | None = None
        self.cached = self.events = 0
        self.failure = ""
        self.reasoning: list[dict[str, Any]] = []

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._texts)

    @property
    def thinking(self) -> str:
        """The reasoning so far, where the endpoint sends it."""
        return "".join(self._thoughts)

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of tools so far, in order."""
        return [call for call in self._calls.values() if call.name]

    def add(self, event: object) -> None:
        """Add a chunk of a stream, or a complete answer.

        Raises:
            ValueError: it is no JSON object.
        """
        if not isinstance(event, dict):
            raise ValueError("no JSON object")
        found = cast("dict[str, Any]", event)
        self.events += 1
        self.model = self.model or _text(found.get("model"))
        kind = _text(found.get("type"))
        if kind.startswith("response.") or kind == "error":
            self._add_event(kind, found)
        elif found.get("object") == "response" or "output" in found:
            self._add_output(found)
            self._end(found)
        else:
            self._add_chunk(found)

    def _add_chunk(self, found: Mapping[str, Any]) -> None:
        choices: Any = found.get("choices")
        if isinstance(choices, list) and choices:
            choice = _mapping(cast("list[Any]", choices)[0])
            self._append(_mapping(choice.get("delta") or choice.get("message")))
            self.finish = _text(choice.get("finish_reason")) or self.finish
        self._count(_mapping(found.get("usage")))

    def _append(self, piece: Mapping[str, Any]) -> None:
        self._keep(
            _content(piece.get("reasoning_content")) or _content(piece.get("reasoning")), self._thoughts
        )
        self._keep(_content(piece.get("content")) or _content(piece.get("refusal")), self._texts)
        for at, item in enumerate(_list(piece.get("tool_calls"))):
            call = _mapping(item)
            function = _mapping(call.get("function"))
            known = self._calls.setdefault(call.get("index", at), ToolCall())
            known.name = known.name or _text(function.get("name"))
            known.arguments += self._kept(_text(function.get("arguments")))

    def _add_event(self, kind: str, found: Mapping[str, Any]) -> None:
        """Add an event of a streamed response; unknown ones tell nothing that is needed."""
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                self._keep(_text(found.get("delta")), self._texts)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._keep(_text(found.get("delta")), self._thoughts)
            case "response.output_item.done":
                self._add_item(_mapping(found.get("item")))
            case "response.completed" | "response.incomplete":
                self._end(_mapping(found.get("response")))
            case "response.failed" | "error":
                error = _mapping(_mapping(found.get("response")).get("error") or found.get("error") or found)
                self.failure = _text(error.get("message")) or "it gives no reason"
            case _:
                return

    def _add_item(self, item: Mapping[str, Any]) -> None:
        if item.get("type") == "function_call":
            arguments = self._kept(_text(item.get("arguments")))
            self._calls[len(self._calls)] = ToolCall(_text(item.get("name")), arguments)
        elif item.get("type") == "reasoning" and item.get("encrypted_content"):
            names = ("type", "id", "summary", "encrypted_content")
            self.reasoning.append({name: item[name] for name in names if name in item})

    def _add_output(self, found: Mapping[str, Any]) -> None:
        for item in map(_mapping, _list(found.get("output"))):
            self._add_item(item)
            if item.get("type") == "message":
                self._keep(_content(item.get("content")), self._texts)
            elif item.get("type") == "reasoning":
                self._keep(_content(item.get("summary")), self._thoughts)

    def _end(self, response: Mapping[str, Any]) -> None:
        self.model = _text(response.get("model")) or self.model
        self.finish = "length" if response.get("status") == "incomplete" else "stop"
        self._count(_mapping(response.get("usage")))

    def _count(self, usage: Mapping[str, Any]) -> None:
        if not usage:
            return
        tokens_in = usage.get("prompt_tokens", usage.get("input_tokens"))
        tokens_out = usage.get("completion_tokens", usage.get("output_tokens"))
        details = _mapping(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
        self.tokens = _number(tokens_in), _number(tokens_out)
        self.cached = _number(details.get("cached_tokens"))

    def _keep(self, said: str, kept: list[str]) -> None:
        if said:
            kept.append(self._kept(said))

    def _kept(self, said: str) -> str:
        kept = said[: max(0, self._room)]
        self._room -= len(said)
        self.cut = self.cut or self._room < 0
        return kept


def _content(content: object) -> str:
    """Return a content's text; it is a text, or parts with texts."""
    if isinstance(content, list):
        return "".join(_text(_mapping(part).get("text")) for part in cast("list[object]", content))
    return _text(content)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 10**9 else 0


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
