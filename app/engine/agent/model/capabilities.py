"""Capabilities of an endpoint, learnt from its rejections.

"OpenAI-compatible" means many things: a schema for the answer, usage with a stream, ``max_tokens``, a temperature and
pictures are each rejected somewhere. A rejection names the field, or else the likeliest one is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, cast

_CONTEXT_OVERFLOW_WORDS = (
    "context length",
    "context_length",
    "maximum context",
    "too long",
    "too many tokens",
    "context window",
)
_SCHEMA_WORDS = ("response_format", "json_schema", "json_object", "structured output", "grammar", "guided")

REASONING_TOKENS = 4_000
"""Tokens for the reasoning of a model that thinks before it answers."""


class SchemaSupport(IntEnum):
    """How an answer's schema can be requested."""

    PROMPT = 0  # only by saying so in the prompt
    OBJECT = 1  # any JSON object
    SCHEMA = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointCapabilities:
    """Parameters to send to an endpoint; all of them, until it rejects one."""

    schema: SchemaSupport = SchemaSupport.SCHEMA
    usage: bool = True
    temperature: bool = True
    completion_limit: bool = False
    """``max_completion_tokens`` in place of ``max_tokens``."""
    pictures: bool = True
    system: bool = True
    """A system message; some models take only the user's."""
    thinks: bool = False
    """The model spends tokens on reasoning first: the limit has to cover both."""

    def token_limit(self, most: int) -> int:
        """Return the tokens to allow for an answer of at most ``most``."""
        return most + REASONING_TOKENS if self.thinks else most

    def options(self, most: int, schema: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the fields of a request beside its messages."""
        options: dict[str, Any] = {"max_completion_tokens" if self.completion_limit else "max_tokens": most}
        if self.temperature:
            options["temperature"] = 0.0
        if self.usage:
            options["stream_options"] = {"include_usage": True}
        if schema is not None and self.schema is SchemaSupport.SCHEMA:
            named = {"name": schema.get("title", "answer"), "schema": schema, "strict": is_strict(schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": named}
        elif schema is not None and self.schema is SchemaSupport.OBJECT:
            options["response_format"] = {"type": "json_object"}
        return options

    def schema_prompt(self, schema: Mapping[str, Any]) -> str:
        """Return the text to add to the prompt for an answer by the schema; "" where the endpoint enforces it."""
        if self.schema is SchemaSupport.SCHEMA:
            return ""
        return (
            "Answer with one JSON object and nothing else. It has to follow this JSON schema:\n"
            + json.dumps(schema, ensure_ascii=False, sort_keys=True)
        )

    def without_rejected(
        self, refusal: str, *, had_schema: bool, had_pictures: bool
    ) -> EndpointCapabilities | None:
        """Return what to send after a rejection in these words; ``None`` where nothing can be left out."""
        low = refusal.lower()
        if any(words in low for words in _CONTEXT_OVERFLOW_WORDS):
            return None
        if not self.completion_limit and ("max_tokens" in low or "max_completion_tokens" in low):
            return replace(self, completion_limit=True)
        if self.temperature and "temperature" in low:
            return replace(self, temperature=False)
        if self.usage and "stream_options" in low:
            return replace(self, usage=False)
        shaped = had_schema and self.schema is not SchemaSupport.PROMPT
        if shaped and any(words in low for words in _SCHEMA_WORDS):
            return replace(self, schema=SchemaSupport(self.schema - 1))
        if self.system and "system" in low and ("role" in low or "system message" in low):
            return replace(self, system=False)
        if had_pictures and self.pictures and ("image" in low or "multimodal" in low or "vision" in low):
            return replace(self, pictures=False)
        if shaped:
            return replace(self, schema=SchemaSupport(self.schema - 1))
        return replace(self, usage=False) if self.usage else None


def is_strict(schema: object) -> bool:
    """Whether a schema follows strict mode: each object closed, and all of its properties required."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in cast("list[object]", schema))
    if not isinstance(schema, dict):
        return True
    fields = cast("dict[str, Any]", schema)
    if fields.get("type") == "object" or "properties" in fields:
        properties = cast("dict[str, Any]", fields.get("properties") or {})
        if fields.get("additionalProperties") is not False or set(fields.get("required") or ()) != set(
            properties
        ):
            return False
    return all(is_strict(part) for part in fields.values())
