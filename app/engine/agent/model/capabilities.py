"""Capabilities of an endpoint, learnt from its rejections.

"OpenAI-compatible" means many things: a schema for the answer, usage with a stream, ``max_tokens``, a temperature,
pictures, tools and the effort of reasoning are each rejected somewhere. A rejection names the field, or else the
likeliest one is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any, cast

_CONTEXT_OVERFLOW_WORDS = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "maximum context",
    "n_ctx",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "too many input tokens",
)
_SCHEMA_WORDS = ("response_format", "json_schema", "json_object", "structured output", "grammar", "guided")
_NUMBER = r"([0-9][0-9,_]{2,11})"
_CONTEXT_SIZES = (
    rf"context (?:length|window|size)[a-z ]{{0,30}}[(:= ]+{_NUMBER}",
    rf"{_NUMBER} tokens? (?:context|maximum|limit)",
    rf"> *{_NUMBER} maximum",
    rf"(?:maximum|limit|at most|up to|n_ctx)[a-z_ ]{{0,30}}[(:= ]+{_NUMBER}",
)
_PROMPT_SIZES = (
    rf"{_NUMBER} (?:tokens )?(?:in|from|of) (?:the |your )?(?:messages|prompt|input)",
    rf"messages resulted in {_NUMBER}",
    rf"(?:prompt|input)[a-z ]{{0,40}}[(:= ]+{_NUMBER} tokens",
)
_OUTPUT_SIZES = (rf"(?:at most|up to|maximum|less than or equal to|<=)[a-z_ ]{{0,30}}[(:= ]*{_NUMBER}",)

FIRST_ROOM = 4_000
"""Tokens for the reasoning of a model that was cut while it reasoned; doubled each time it is cut again."""
MOST_ROOM = 64_000
MIN_ANSWER = 256
"""Tokens below which an answer is of no use; a request that leaves less is too long."""


class SchemaSupport(IntEnum):
    """How an answer's schema can be requested."""

    PROMPT = 0  # only by saying so in the prompt
    OBJECT = 1  # any JSON object
    SCHEMA = 2


class EffortSupport(IntEnum):
    """How the effort of reasoning can be requested."""

    NONE = 0
    OBJECT = 1  # ``reasoning: {effort}``, as OpenRouter takes it
    FIELD = 2  # ``reasoning_effort``


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointCapabilities:
    """Parameters that an endpoint takes for a model; all of them, until it rejects one.

    Attributes:
        completion_limit: ``max_completion_tokens`` in place of ``max_tokens``.
        system: a system message; some models take only the user's.
        tools, cache_marks, detail: native tool calls, marks for its cache, the detail of a picture.
        responses: it has the Responses API; sealed: and gives its reasoning to keep, encrypted.
        room: tokens the model spends on reasoning first; the limit has to cover both.
        context: tokens of prompt and answer together; output: of an answer at most. ``None``: not known.
    """

    schema: SchemaSupport = SchemaSupport.SCHEMA
    usage: bool = True
    temperature: bool = True
    completion_limit: bool = False
    pictures: bool = True
    system: bool = True
    tools: bool = True
    cache_marks: bool = True
    detail: bool = True
    effort: EffortSupport = EffortSupport.FIELD
    refused_efforts: tuple[str, ...] = ()
    responses: bool = True
    sealed: bool = True
    room: int = 0
    context: int | None = None
    output: int | None = None

    def token_limit(self, most: int, prompt: int = 0) -> int:
        """Return the tokens to allow for an answer of at most ``most`` to a prompt of about ``prompt`` tokens."""
        limit = most + self.room
        if self.output is not None:
            limit = min(limit, self.output)
        if self.context is not None:
            limit = min(limit, max(MIN_ANSWER, self.context - prompt))
        return limit

    def with_more_room(self) -> EndpointCapabilities | None:
        """Return what to send after reasoning filled the whole answer; ``None`` where no more can be allowed."""
        most = min(MOST_ROOM, self.output or MOST_ROOM, self.context or MOST_ROOM)
        room = min(most, max(FIRST_ROOM, 2 * self.room))
        return replace(self, room=room) if room > self.room else None

    def accepts_effort(self, effort: str) -> bool:
        """Whether an effort is sent."""
        return bool(effort) and self.effort is not EffortSupport.NONE and effort not in self.refused_efforts

    def schema_prompt(self, schema: Mapping[str, Any]) -> str:
        """Return the text to add to the prompt for an answer by the schema; "" where the endpoint enforces it."""
        if self.schema is SchemaSupport.SCHEMA:
            return ""
        return (
            "Answer with one JSON object and nothing else. It has to follow this JSON schema:\n"
            + json.dumps(schema, ensure_ascii=False, sort_keys=True)
        )

    def merged(self, other: EndpointCapabilities) -> EndpointCapabilities:
        """Return what both know: of two that learnt apart from each other, the more cautious value of each field."""
        return EndpointCapabilities(
            **{
                one.name: _MERGED.get(one.name, min)(getattr(self, one.name), getattr(other, one.name))
                for one in fields(self)
            }
        )

    def without_rejected(self, refusal: str, sent: SentParameters) -> EndpointCapabilities | None:
        """Return what to send after a rejection in these words; ``None`` where nothing can be left out."""
        low = refusal.lower()
        if is_overflow(low):
            return None
        for rule in _RULES:
            reduced = rule(self, low, sent)
            if reduced is not None and reduced != self:
                return reduced
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SentParameters:
    """Parameters of a rejected request that may have been the reason."""

    schema: bool = False
    pictures: bool = False
    tools: bool = False
    cache_marks: bool = False
    detail: bool = False
    effort: str = ""
    responses: bool = False
    limit: int = 0


def is_overflow(refusal: str) -> bool:
    """Whether a rejection says that the prompt is too long for the context."""
    low = refusal.lower()
    return any(words in low for words in _CONTEXT_OVERFLOW_WORDS)


def context_size(refusal: str) -> int | None:
    """Return the context's tokens that a rejection for length names."""
    return _first_number(_CONTEXT_SIZES, refusal)


def prompt_size(refusal: str) -> int | None:
    """Return the prompt's tokens that a rejection for length names."""
    return _first_number(_PROMPT_SIZES, refusal)


_Rule = Callable[[EndpointCapabilities, str, SentParameters], EndpointCapabilities | None]


def _output_limit(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    """The name of the limit is known, its value is too large: the largest is in the message, or else the half."""
    if "max_" not in low or not any(
        words in low for words in ("too large", "at most", "maximum value", "must be less")
    ):
        return None
    named = _first_number(_OUTPUT_SIZES, low)
    output = named if named is not None and named < sent.limit else sent.limit // 2
    return replace(have, output=output) if output >= MIN_ANSWER else None


def _limit_name(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    if have.completion_limit or sent.responses:
        return None
    named = "max_tokens" in low or "max_completion_tokens" in low
    return replace(have, completion_limit=True) if named else None


def _temperature(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    return replace(have, temperature=False) if have.temperature and "temperature" in low else None


def _usage(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    return replace(have, usage=False) if have.usage and "stream_options" in low else None


def _sealed(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    words = ("encrypted", "'include", "'reasoning' was provided", "'store")
    named = sent.responses and have.sealed and any(word in low for word in words)
    return replace(have, sealed=False) if named else None


def _effort(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    """An effort is refused by its value (only that one is left out), or in the form it was sent in."""
    if not have.accepts_effort(sent.effort) or not ("effort" in low or "reasoning" in low):
        return None
    if "value" in low and sent.effort in low:
        return replace(have, refused_efforts=tuple(sorted({*have.refused_efforts, sent.effort})))
    lesser = EffortSupport.NONE if sent.responses else EffortSupport(have.effort - 1)
    return replace(have, effort=lesser)


def _tools(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    named = sent.tools and ("tool" in low or "function" in low)
    return replace(have, tools=False) if named else None


def _cache_marks(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    return replace(have, cache_marks=False) if sent.cache_marks and "cache_control" in low else None


def _named_schema(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    words = (*_SCHEMA_WORDS, "text.format") if sent.responses else _SCHEMA_WORDS
    return _schema(have, low, sent) if any(word in low for word in words) else None


def _system(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    named = have.system and "system" in low and ("role" in low or "system message" in low)
    return replace(have, system=False) if named else None


def _detail(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    return replace(have, detail=False) if sent.detail and "detail" in low else None


def _pictures(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    named = sent.pictures and ("image" in low or "multimodal" in low or "vision" in low)
    return replace(have, pictures=False) if named else None


def _schema(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    shaped = sent.schema and have.schema is not SchemaSupport.PROMPT
    return replace(have, schema=SchemaSupport(have.schema - 1)) if shaped else None


def _guess(have: EndpointCapabilities, low: str, sent: SentParameters) -> EndpointCapabilities | None:
    """Nothing is named: leave out the least common of what was sent."""
    optional = {
        "sealed": sent.responses,
        "cache_marks": sent.cache_marks,
        "detail": sent.detail,
        "tools": sent.tools,
    }
    for name, was_sent in optional.items():
        if was_sent and getattr(have, name):
            return replace(have, **{name: False})
    return replace(have, usage=False) if have.usage and not sent.responses else None


_RULES: tuple[_Rule, ...] = (
    _output_limit,
    _limit_name,
    _temperature,
    _usage,
    _effort,
    _sealed,
    _cache_marks,
    _named_schema,
    _tools,
    _system,
    _detail,
    _pictures,
    _schema,
    _guess,
)
"""Tried in order; the first that finds its field named leaves it out."""


def _known_least(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return min(known, default=None)


_MERGED: dict[str, Callable[[Any, Any], Any]] = {
    "completion_limit": max,
    "room": max,
    "context": _known_least,
    "output": _known_least,
    "refused_efforts": lambda one, other: tuple(sorted({*one, *other})),
}
"""How two values are merged, where it is not by the smaller one."""


def _first_number(patterns: tuple[str, ...], text: str) -> int | None:
    for pattern in patterns:
        found = re.search(pattern, text.lower())
        if found is not None:
            return int(found[1].replace(",", "").replace("_", ""))
    return None


def is_strict(schema: object) -> bool:
    """Whether a schema follows strict mode: each object closed, and all of its properties required."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in cast("list[object]", schema))
    if not isinstance(schema, dict):
        return True
    fields_of = cast("dict[str, Any]", schema)
    if fields_of.get("type") == "object" or "properties" in fields_of:
        properties = cast("dict[str, Any]", fields_of.get("properties") or {})
        if fields_of.get("additionalProperties") is not False or set(fields_of.get("required") or ()) != set(
            properties
        ):
            return False
    return all(is_strict(part) for part in fields_of.values())
