"""Record every exchange with a model and the pictures it was sent, without secrets, so that a run can be audited.

An exchange names its request by a key of role, texts and schema. Pictures don't count, since no two of a page are equal
to the bit, nor does the random marker of the fence around a page's text.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

import orjson

from app.engine.api.exchange_api import EXCHANGE_FORMAT
from app.engine.core.chat_messages import ChatMessage, MessagePart, PartKind
from app.engine.core.model_api import AgentRole, LanguageModel, ModelError, ModelReply, ModelUsage
from app.engine.core.redaction import redact_text
from app.engine.core.trajectory import add_blob

SENT = (
    "model",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "temperature",
    "top_p",
    "reasoning_effort",
    "reasoning",
    "verbosity",
    "parallel_tool_calls",
    "tool_choice",
)
"""Fields of a request that are recorded; any other might hold what nobody may read."""
_MARKER = re.compile(rb"<<end of [^<>\\]{1,60} ([0-9a-f]{12})>>")
"""The random marker of a fence, in its closing line."""


MAX_PICTURE_BYTES = 64_000_000
"""Bytes of sent pictures that are stored with one run; an exchange names further ones without their contents."""


class RecordingModel:
    """A model whose exchanges go to a sink, without secrets.

    Args:
        sink: stores an exchange and returns its digest.
        mask: removes the values from a text that this run may type and nobody may read.
    """

    def __init__(
        self, model: LanguageModel, sink: Callable[[bytes], str], mask: Callable[[str], str] | None = None
    ) -> None:
        self._model, self._sink, self._mask = model, sink, mask
        self._stored, self._room = set[str](), MAX_PICTURE_BYTES

    async def ask(
        self,
        role: AgentRole,
        messages: Sequence[ChatMessage],
        *,
        schema: dict[str, Any] | None = None,
        pictures: dict[str, bytes] | None = None,
        most: int = 1024,
        actions: Collection[str] | None = None,
    ) -> ModelReply:
        """See ``LanguageModel.ask``; ``ModelReply.digest`` names the exchange.

        A failed exchange is kept too, a cancelled one is not.
        """
        request = {"at": time.time(), "most": most, **self._request(role, messages, schema)}
        try:
            reply = await self._model.ask(
                role, messages, schema=schema, pictures=pictures, most=most, actions=actions
            )
        except ModelError as error:
            failure = {"trouble": error.kind.value, "message": self._clean(str(error))}
            self._store({**request, "error": failure})
            raise
        reply = replace(reply, digest=self._store({**request, "reply": self._answer(reply)}))
        if pictures and not reply.pictures_dropped:
            self._store_pictures(messages, pictures)
        return reply

    def usage(self) -> dict[AgentRole, ModelUsage]:
        """Return the wrapped model's usage."""
        return self._model.usage()

    async def aclose(self) -> None:
        """Close the wrapped model."""
        await self._model.aclose()

    def _request(
        self, role: AgentRole, messages: Sequence[ChatMessage], schema: dict[str, Any] | None
    ) -> dict[str, Any]:
        sent = [
            {"role": message.role.value, "parts": [self._part(part) for part in message.parts]}
            for message in messages
        ]
        request = {"role": role.value, "schema": schema, "messages": sent}
        return {"format": EXCHANGE_FORMAT, "key": request_key(request), **request}

    def _store_pictures(self, messages: Sequence[ChatMessage], pictures: Mapping[str, bytes]) -> None:
        """Store the pictures of a request under the digests that it names, each once, up to a bound for the run."""
        sent = {part.digest for one in messages for part in one.parts if part.kind is PartKind.IMAGE}
        for digest in sorted(sent & pictures.keys() - self._stored):
            if len(pictures[digest]) <= self._room:
                self._room -= len(pictures[digest])
                self._stored.add(digest)
                self._sink(pictures[digest])

    def _part(self, part: MessagePart) -> dict[str, str]:
        kept = {"kind": part.kind.value, "text": self._clean(part.text)}
        match part.kind:
            case PartKind.IMAGE:
                return {**kept, "digest": part.digest}
            case PartKind.TIPS:
                return {**kept, "tip": part.tip}
            case _:
                return kept

    def _answer(self, reply: ModelReply) -> dict[str, Any]:
        answer = {field.name: getattr(reply, field.name) for field in fields(reply) if field.name != "digest"}
        return self._clean_json(answer)

    def _store(self, document: dict[str, Any]) -> str:
        return self._sink(orjson.dumps(document, option=orjson.OPT_SORT_KEYS, default=repr))

    def _clean(self, text: str) -> str:
        return redact_text(self._mask(text) if self._mask is not None else text)

    def _clean_json(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._clean(value)
        if isinstance(value, dict):
            found = cast("dict[Any, Any]", value)
            return {self._clean(str(name)): self._clean_json(part) for name, part in found.items()}
        if isinstance(value, list):
            return [self._clean_json(part) for part in cast("list[Any]", value)]
        return value


def sent_parameters(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request's body holds beside its messages and their schema; never a header or a key."""
    schema = cast("dict[str, Any]", body.get("response_format") or {}).get("type", "")
    return {
        "api": "responses" if "input" in body else "chat",
        **{name: body[name] for name in SENT if name in body},
        **({"response_format": schema} if schema else {}),
    }


def is_exchange(data: bytes) -> bool:
    """Whether a content of a run is an exchange; the others that come with one are pictures."""
    return data.startswith(b"{")


def request_key(request: dict[str, Any]) -> str:
    """Return the key of a request: a hash without pictures and without a fence's random marker."""
    words = {
        **request,
        "messages": [
            [message["role"], *([part["kind"], part["text"]] for part in message["parts"])]
            for message in request["messages"]
        ],
    }
    data = orjson.dumps(words, option=orjson.OPT_SORT_KEYS)
    for marker in sorted(set(_MARKER.findall(data))):
        data = data.replace(marker, b"")
    return hashlib.sha256(data).hexdigest()


class BlobBuffer:
    """A sink for ``RecordingModel``: names a content (SHA-256) and holds it until it is taken."""

    def __init__(self) -> None:
        self._held: dict[str, bytes] = {}

    def __call__(self, data: bytes) -> str:
        return add_blob(self._held, data)

    def take(self) -> dict[str, bytes]:
        """Return and clear the contents by name."""
        held, self._held = self._held, {}
        return held
