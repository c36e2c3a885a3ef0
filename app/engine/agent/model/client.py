"""A language model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.engine.agent.model.budget import Budget, Meter, budget_exhausted
from app.engine.agent.model.capabilities import EndpointCapabilities
from app.engine.agent.model.chat_format import answer_tokens, estimate_tokens, to_chat_messages
from app.engine.agent.model.heartbeat import Heartbeat
from app.engine.agent.model.prices import Price, known_price
from app.engine.agent.model.request_errors import RequestFailed, RequestFailure
from app.engine.agent.model.retry_policy import RetryPolicy
from app.engine.agent.model.stream_parser import StreamParser
from app.engine.agent.model.structured import read_json
from app.engine.agent.model.transport import ModelTransport
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.model_api import AgentRole, ModelError, ModelErrorKind, ModelReply, ModelUsage

log = logging.getLogger(__name__)

_REJECTED_STATUSES = frozenset({400, 415, 422})
"""Statuses of a request that is rejected for its content."""


class EndpointModel:
    """Asks an endpoint, streams its answers, and retries where that may help.

    Args:
        url: address, usually ending in ``/v1``; empty is OpenAI's.
        model: name of the model; ``models`` are others by role.
        price: of all models; without one the listed prices are used.
        pulse: notified of every sign of life of the endpoint.
        sleep, rng: for tests.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        models: Mapping[AgentRole, str] | None = None,
        budget: Budget | None = None,
        patience: RetryPolicy | None = None,
        price: Price | None = None,
        pulse: Heartbeat | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._model, self._models = model, dict(models or {})
        self._patience = patience or RetryPolicy()
        self._pulse = pulse or Heartbeat()
        self._line = ModelTransport(url, key, self._patience, self._pulse)
        self._price, self._sleep, self._rng = price, sleep, rng or random.Random()
        self._manners: dict[str, EndpointCapabilities] = {}
        self.meter = Meter(budget)

    async def ask(
        self,
        role: AgentRole,
        messages: Sequence[ChatMessage],
        *,
        schema: dict[str, Any] | None = None,
        pictures: dict[str, bytes] | None = None,
        most: int = 1024,
    ) -> ModelReply:
        """See ``Model.ask``. Cancelling it closes the connection at once."""
        with self._pulse.asking():
            return await self._ask(role, messages, schema, pictures or {}, most)

    async def _ask(
        self,
        role: AgentRole,
        messages: Sequence[ChatMessage],
        schema: dict[str, Any] | None,
        pictures: dict[str, bytes],
        most: int,
    ) -> ModelReply:
        name = self._models.get(role) or self._model or await self._only_model()
        question = _ModelRequest(name, messages, schema, pictures, estimate_tokens(messages))
        price = self._price or known_price(name)
        manners, failures = self._manners.get(name, EndpointCapabilities()), 0
        while True:
            try:
                with self.meter.reserve(question.tokens, manners.room(most), price) as allowed:
                    reply = await self._attempt(role, question, manners, allowed, price)
            except RequestFailed as failed:
                milder = self._milder(manners, failed.fault, question)
                if milder is None:
                    failures += 1
                    await self._pause(role, failed.fault, failures)
                manners = milder or manners
            else:
                if reply.cut and not reply.text and not manners.thinks:
                    manners = replace(manners, thinks=True)  # the whole allowance went into reasoning
                    continue
                self._manners[name] = manners
                return reply

    def usage(self) -> dict[AgentRole, ModelUsage]:
        """Return the usage by role."""
        return self.meter.used()

    async def aclose(self) -> None:
        """Close the connections; may be called twice."""
        await self._line.aclose()

    async def _only_model(self) -> str:
        """Return the endpoint's model where none is set and it has exactly one."""
        try:
            names = await self._line.models()
        except RequestFailed as failed:
            raise failed.fault.error() from failed
        if len(names) != 1:
            some = ", ".join(names[:8])
            raise ModelError(
                f"the model endpoint has {len(names)} models and none is chosen",
                ModelErrorKind.NO_MODEL,
                f"set SITELORE_MODEL_NAME to one of: {some}" if some else "set SITELORE_MODEL_NAME",
            )
        self._model = names[0]
        return self._model

    def _milder(
        self, manners: EndpointCapabilities, fault: RequestFailure, question: _ModelRequest
    ) -> EndpointCapabilities | None:
        if fault.trouble is not ModelErrorKind.REFUSED or fault.status not in _REJECTED_STATUSES:
            return None
        return manners.after(
            fault.said, had_schema=question.schema is not None, had_pictures=question.has_pictures
        )

    async def _pause(self, role: AgentRole, fault: RequestFailure, failures: int) -> None:
        """Wait before the next attempt, or raise where there is to be none."""
        seconds = self._patience.before(failures, fault.wait, self._rng)
        if not fault.passing or failures >= self._patience.attempts or seconds > self._patience.wait:
            raise fault.error(failures)
        if seconds > self.meter.seconds_left():
            raise fault.error(failures) from budget_exhausted(f"{self.meter.budget.seconds:g} seconds")
        self._pulse.waits(seconds)
        started = time.monotonic()
        try:
            await self._sleep(seconds)
        finally:
            self.meter.count(role, retries=1, seconds=time.monotonic() - started)

    async def _attempt(
        self,
        role: AgentRole,
        question: _ModelRequest,
        manners: EndpointCapabilities,
        allowed: int,
        price: Price | None,
    ) -> ModelReply:
        hearing = StreamParser(allowed)
        body = question.body(manners, allowed)
        left = self.meter.seconds_left()
        started = time.monotonic()
        try:
            await self._line.send(body, hearing, min(self._patience.whole, left))
        except RequestFailed as failed:
            if failed.fault.trouble is ModelErrorKind.TIMEOUT and time.monotonic() - started >= left:
                raise budget_exhausted(f"{self.meter.budget.seconds:g} seconds") from failed
            raise
        finally:
            taken = time.monotonic() - started
            heard = answer_tokens(hearing.text) + answer_tokens(hearing.thinking)
            tokens = hearing.tokens or (question.tokens * bool(hearing.heard), heard)
            log.debug("%s asked %s: %d + %d tokens, %.2f s", role.value, question.model, *tokens, taken)
            self.meter.count(role, calls=1, tokens=tokens, cached=hearing.cached, seconds=taken, price=price)
        return ModelReply(
            text=hearing.text,
            thinking=hearing.thinking,
            data=read_json(hearing.text, question.schema) if question.schema is not None else None,
            tokens=tokens,
            cached=hearing.cached,
            seconds=taken,
            first=max(0.0, hearing.began - started),
            cut=hearing.cut or hearing.finish == "length",
            model=hearing.model or question.model,
            unseen=question.has_pictures and not manners.pictures,
        )


@dataclass(frozen=True, slots=True)
class _ModelRequest:
    """A request, independent of what the endpoint accepts."""

    model: str
    messages: Sequence[ChatMessage]
    schema: dict[str, Any] | None
    pictures: Mapping[str, bytes]
    tokens: int

    @property
    def has_pictures(self) -> bool:
        return any(
            part.kind is PartKind.IMAGE and part.digest in self.pictures
            for message in self.messages
            for part in message.parts
        )

    def body(self, manners: EndpointCapabilities, most: int) -> dict[str, Any]:
        messages = list(self.messages)
        if self.schema is not None and (words := manners.schema_prompt(self.schema)):
            messages.append(
                ChatMessage(role=ChatRole.USER, parts=(MessagePart(kind=PartKind.TEXT, text=words),))
            )
        return {
            "model": self.model,
            "messages": to_chat_messages(
                messages, self.pictures, with_pictures=manners.pictures, with_system=manners.system
            ),
            "stream": True,
            **manners.options(most, self.schema),
        }
