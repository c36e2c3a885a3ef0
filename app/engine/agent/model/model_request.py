"""A request to a model, and its body in the form that the endpoint takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.engine.agent.model.capabilities import (
    EffortSupport,
    EndpointCapabilities,
    SchemaSupport,
    SentParameters,
    is_strict,
)
from app.engine.agent.model.chat_format import FormatOptions, to_chat_messages
from app.engine.agent.model.responses_format import SealedReasoning, to_response_input
from app.engine.agent.model.tool_calls import TOOLS_PROMPT, tool_functions
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """Options for an endpoint; each is left out where the endpoint does not take it.

    Attributes:
        responses: the Responses API in place of chat completions.
        tools: offer actions as tools.
        cache_marks: mark the stable part of a prompt.
    """

    responses: bool = False
    tools: bool = False
    cache_marks: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request, independent of what the endpoint accepts; ``tokens``: of the prompt, about."""

    model: str
    messages: Sequence[ChatMessage]
    schema: dict[str, Any] | None
    pictures: Mapping[str, bytes]
    tokens: int
    actions: Collection[str] | None
    options: EndpointOptions
    effort: str = ""

    @property
    def has_pictures(self) -> bool:
        """Whether a picture is to be sent."""
        return any(self._is_picture(part) for message in self.messages for part in message.parts)

    def uses_responses(self, have: EndpointCapabilities) -> bool:
        """Whether it goes to the Responses API."""
        return self.options.responses and have.responses

    def sent(self, have: EndpointCapabilities, limit: int) -> SentParameters:
        """Return the parameters that an endpoint may reject."""
        parts = [part for message in self.messages for part in message.parts]
        responses = self.uses_responses(have)
        return SentParameters(
            schema=self.schema is not None,
            pictures=self.has_pictures and have.pictures,
            tools=self._offers_tools(have),
            cache_marks=self.options.cache_marks and have.cache_marks and not responses,
            detail=have.detail and any(part.detail for part in parts if self._is_picture(part)),
            effort=self.effort if have.accepts_effort(self.effort) else "",
            responses=responses,
            limit=limit,
        )

    def body(self, have: EndpointCapabilities, limit: int, sealed: SealedReasoning) -> dict[str, Any]:
        """Return the body of a request for an answer of at most ``limit`` tokens, reasoning included."""
        sent = self.sent(have, limit)
        format_options = FormatOptions(
            pictures=have.pictures,
            system=have.system,
            detail=have.detail,
            tools=sent.tools,
            cache_marks=sent.cache_marks,
        )
        body: dict[str, Any] = {"model": self.model, "stream": True}
        messages = self._prompt(have, sent)
        if have.temperature:
            body["temperature"] = 0.0
        if sent.responses:
            items = to_response_input(messages, self.pictures, format_options, sealed if have.sealed else {})
            return {**body, "input": items, **self._response_fields(have, sent, limit)}
        messages = to_chat_messages(messages, self.pictures, format_options)
        return {**body, "messages": messages, **self._chat_fields(have, sent, limit)}

    def _is_picture(self, part: MessagePart) -> bool:
        return part.kind is PartKind.IMAGE and part.digest in self.pictures

    def _offers_tools(self, have: EndpointCapabilities) -> bool:
        return bool(self.options.tools and self.actions and have.tools)

    def _prompt(self, have: EndpointCapabilities, sent: SentParameters) -> list[ChatMessage]:
        messages = list(self.messages)
        if self.schema is not None and (words := have.schema_prompt(self.schema)):
            messages.append(ChatMessage(role=ChatRole.USER, parts=(_text(words),)))
        if sent.tools and messages and messages[0].role is ChatRole.SYSTEM:
            messages[0] = replace(messages[0], parts=(*messages[0].parts, _text(TOOLS_PROMPT)))
        return messages

    def _chat_fields(self, have: EndpointCapabilities, sent: SentParameters, limit: int) -> dict[str, Any]:
        found: dict[str, Any] = {"max_completion_tokens" if have.completion_limit else "max_tokens": limit}
        if have.usage:
            found["stream_options"] = {"include_usage": True}
        if sent.effort and have.effort is EffortSupport.FIELD:
            found["reasoning_effort"] = sent.effort
        elif sent.effort:
            found["reasoning"] = {"effort": sent.effort}
        if sent.tools:
            functions = tool_functions(self.actions or ())
            found["tools"] = [{"type": "function", "function": function} for function in functions]
        shape = self._schema_format(have)
        if shape is not None:
            kind, named = shape
            found["response_format"] = {"type": kind, **({kind: named} if named else {})}
        return found

    def _response_fields(
        self, have: EndpointCapabilities, sent: SentParameters, limit: int
    ) -> dict[str, Any]:
        found: dict[str, Any] = {"max_output_tokens": limit, "store": False}
        if have.sealed:
            found["include"] = ["reasoning.encrypted_content"]
        if sent.effort:
            found["reasoning"] = {"effort": sent.effort}
        if sent.tools:
            found["tools"] = [
                {"type": "function", "strict": False, **one} for one in tool_functions(self.actions or ())
            ]
        shape = self._schema_format(have)
        if shape is not None:
            kind, named = shape
            found["text"] = {"format": {"type": kind, **named}}
        return found

    def _schema_format(self, have: EndpointCapabilities) -> tuple[str, dict[str, Any]] | None:
        if self.schema is None or have.schema is SchemaSupport.PROMPT:
            return None
        if have.schema is SchemaSupport.OBJECT:
            return "json_object", {}
        title = self.schema.get("title", "answer")
        return "json_schema", {"name": title, "schema": self.schema, "strict": is_strict(self.schema)}


def _text(words: str) -> MessagePart:
    return MessagePart(kind=PartKind.TEXT, text=words)
