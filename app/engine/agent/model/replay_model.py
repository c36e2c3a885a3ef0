"""Answers from a recording in place of an endpoint: the same questions get the same answers, at no cost."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from app.engine.agent.model import exchange
from app.engine.agent.model.budget import Meter
from app.engine.agent.model.exchange import ModelExchange
from app.engine.core.chat_messages import ChatMessage
from app.engine.core.model_api import AgentRole, ModelError, ModelErrorKind, ModelReply, ModelUsage
from app.engine.core.redaction import redact_text
from app.engine.core.trajectory import Step


def exchanges_of(steps: Iterable[Step], read: Callable[[str], bytes]) -> Iterator[bytes]:
    """Exchanges of a stored run in their order; ``read`` gives a content by its digest."""
    return (read(digest) for digest in dict.fromkeys(digest for step in steps for digest in step.calls))


class ReplayModel:
    """Recorded answers by request; those to the same request in the order they came.

    Args:
        exchanges: what ``RecordingModel`` gave to its sink, in order.
        by_order: where no exchange has the request, the next one of its role answers: for pages that are never quite
            the same.
        mask: as it was given to the recorder.
    """

    def __init__(
        self, exchanges: Iterable[bytes], *, by_order: bool = False, mask: Callable[[str], str] | None = None
    ) -> None:
        self._waiting: dict[str, deque[ModelExchange]] = defaultdict(deque)
        self._in_order: dict[AgentRole, deque[ModelExchange]] = defaultdict(deque)
        for data in exchanges:
            one = exchange.decode_exchange(data)
            self._waiting[one.key].append(one)
            self._in_order[one.role].append(one)
        self._by_order, self._mask = by_order, mask
        self._meter = Meter()

    async def ask(
        self,
        role: AgentRole,
        messages: Sequence[ChatMessage],
        *,
        schema: dict[str, Any] | None = None,
        pictures: dict[str, bytes] | None = None,
        most: int = 1024,
    ) -> ModelReply:
        """See ``Model.ask``; an error that was recorded is raised again.  Tokens count, time and money don't."""
        found = self._take(
            role, exchange.key_of(exchange.request_document(role, messages, schema, self._clean))
        )
        if found.error is not None:
            raise ModelError(str(found.error), found.error.trouble)
        assert found.reply is not None
        self._meter.count(role, calls=1, tokens=found.reply.tokens, cached=found.reply.cached)
        return found.reply

    def usage(self) -> dict[AgentRole, ModelUsage]:
        """Calls and tokens of what was answered."""
        return self._meter.used()

    async def aclose(self) -> None:
        """Nothing is held."""

    def _take(self, role: AgentRole, key: str) -> ModelExchange:
        waiting, in_order = self._waiting.get(key), self._in_order[role]
        if waiting:
            found = waiting.popleft()
            in_order.remove(found)
            return found
        if self._by_order and in_order:
            found = in_order.popleft()
            self._waiting[found.key].remove(found)
            return found
        raise ModelError(
            f"the recording has no answer to this request of the {role.value}",
            ModelErrorKind.NO_MODEL,
            "what is asked has changed since: record it again",
        )

    def _clean(self, text: str) -> str:
        return redact_text(self._mask(text) if self._mask is not None else text)
