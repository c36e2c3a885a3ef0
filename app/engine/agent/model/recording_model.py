"""Record every exchange with a model, so that a run can be audited."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from app.engine.agent.model import exchange
from app.engine.core.chat_messages import ChatMessage
from app.engine.core.model_api import AgentRole, LanguageModel, ModelError, ModelReply, ModelUsage
from app.engine.core.redaction import redact_text


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
        self._kept: list[str] = []

    async def ask(
        self,
        role: AgentRole,
        messages: Sequence[ChatMessage],
        *,
        schema: dict[str, Any] | None = None,
        pictures: dict[str, bytes] | None = None,
        most: int = 1024,
    ) -> ModelReply:
        """See ``LanguageModel.ask``; ``ModelReply.digest`` names the exchange. A failed one is kept too, a cancelled one is
        not.
        """
        at = time.time()
        try:
            reply = await self._model.ask(role, messages, schema=schema, pictures=pictures, most=most)
        except ModelError as error:
            self._keep(role, messages, schema, error, at, most)
            raise
        return replace(reply, digest=self._keep(role, messages, schema, reply, at, most))

    def taken(self) -> tuple[str, ...]:
        """Return and clear the digests of exchanges since the last call, failed ones included."""
        kept, self._kept = tuple(self._kept), []
        return kept

    def usage(self) -> dict[AgentRole, ModelUsage]:
        """Return the wrapped model's usage."""
        return self._model.usage()

    async def aclose(self) -> None:
        """Close the wrapped model."""
        await self._model.aclose()

    def _keep(
        self,
        role: AgentRole,
        messages: Sequence[ChatMessage],
        schema: dict[str, Any] | None,
        came: ModelReply | ModelError,
        at: float,
        most: int,
    ) -> str:
        request = exchange.request_document(role, messages, schema, self._clean)
        digest = self._sink(exchange.encode_exchange(request, came, self._clean, at=at, most=most))
        self._kept.append(digest)
        return digest

    def _clean(self, text: str) -> str:
        return redact_text(self._mask(text) if self._mask is not None else text)
