"""A language model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.engine.agent.model.capabilities import EndpointCapabilities
from app.engine.agent.model.chat_format import answer_tokens, estimate_tokens, to_chat_messages
from app.engine.agent.model.limits import (
    Budget,
    Heartbeat,
    Meter,
    Price,
    RetryPolicy,
    budget_exhausted,
    known_price,
)
from app.engine.agent.model.recording_model import RecordingModel, sent_parameters
from app.engine.agent.model.request_errors import RequestFailed
from app.engine.agent.model.role_choices import refuse_unpriced, role_choices
from app.engine.agent.model.structured import read_json
from app.engine.agent.model.transport import ModelTransport, StreamedAnswer
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.model_api import (
    AgentRole,
    LanguageModel,
    ModelError,
    ModelErrorKind,
    ModelReply,
    ModelUsage,
)
from app.settings import KEY_VARIABLE, Settings

log = logging.getLogger(__name__)

_REJECTED_STATUSES = frozenset({400, 415, 422})
"""Statuses of a request that is rejected for its content."""


def open_model(
    chosen: Settings,
    key: str,
    *,
    sink: Callable[[bytes], str] | None = None,
    mask: Callable[[str], str] | None = None,
    heartbeat: Heartbeat | None = None,
) -> LanguageModel:
    """Return the endpoint of the settings, recorded where a sink is given. Nothing is sent yet.

    ``heartbeat`` is notified of every sign of life of the endpoint.

    Raises:
        ModelError: no endpoint is set.
        UsageError: a price can't be read, or a budget of money is set and a role's price is not known.
    """
    if not chosen.model_url and not key:
        raise ModelError(
            "no language model is set",
            ModelErrorKind.NO_MODEL,
            f"export SITELORE_MODEL_URL=... SITELORE_MODEL_NAME=... {KEY_VARIABLE}=...;"
            " the scout policy and the rules need none",
        )
    choices = role_choices(chosen)
    if chosen.run_money > 0:
        refuse_unpriced(choices)
    model = EndpointModel(
        chosen.model_url,
        chosen.model_name,
        key=key,
        models={role: choice.model for role, choice in choices.items() if choice.model},
        efforts={role: choice.effort for role, choice in choices.items() if choice.effort},
        prices={role: choice.price for role, choice in choices.items() if choice.price is not None},
        budget=Budget(
            seconds=max(0.0, chosen.run_seconds),
            tokens=max(0, chosen.run_tokens),
            money=max(0.0, chosen.run_money),
        ),
        heartbeat=heartbeat,
    )
    return RecordingModel(model, sink, mask) if sink is not None else model


class EndpointModel:
    """Asks an endpoint, streams its answers, and retries where that may help.

    Args:
        url: address, usually ending in ``/v1``; empty is OpenAI's.
        model: name of the model; ``models`` are others by role.
        efforts: reasoning effort by role.  prices: by role; others have ``price``, or the listed one.
        heartbeat: notified of every sign of life of the endpoint.
        sleep, rng: for tests.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        models: Mapping[AgentRole, str] | None = None,
        efforts: Mapping[AgentRole, str] | None = None,
        prices: Mapping[AgentRole, Price] | None = None,
        budget: Budget | None = None,
        retries: RetryPolicy | None = None,
        price: Price | None = None,
        heartbeat: Heartbeat | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._model, self._models = model, dict(models or {})
        self._efforts, self._prices = dict(efforts or {}), dict(prices or {})
        self._retries = retries or RetryPolicy()
        self._heartbeat = heartbeat or Heartbeat()
        self._transport = ModelTransport(url, key, self._retries, self._heartbeat)
        self._price, self._sleep, self._rng = price, sleep, rng or random.Random()
        self._capabilities: dict[str, EndpointCapabilities] = {}
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
        """See ``LanguageModel.ask``. Cancelling it closes the connection at once."""
        with self._heartbeat.asking():
            name = self._models.get(role) or self._model or await self._only_model()
            request = _ModelRequest(name, messages, schema, pictures or {}, estimate_tokens(messages))
            return await self._asked(role, request, most)

    async def _asked(self, role: AgentRole, request: _ModelRequest, most: int) -> ModelReply:
        price = self._prices.get(role) or self._price or known_price(request.model)
        capabilities = self._capabilities.get(request.model, EndpointCapabilities())
        failures = 0
        while True:
            try:
                with self.meter.reserve(request.tokens, capabilities.token_limit(most), price) as allowed:
                    reply = await self._attempt(role, request, capabilities, allowed, price)
            except RequestFailed as failed:
                reduced = self._reduced(capabilities, failed, request)
                if reduced is None:
                    failures += 1
                    await self._pause(role, failed, failures)
                capabilities = reduced or capabilities
            else:
                if reply.truncated and not reply.text and not capabilities.thinks:
                    capabilities = replace(
                        capabilities, thinks=True
                    )  # the whole allowance went into reasoning
                    continue
                self._capabilities[request.model] = capabilities
                return reply

    def usage(self) -> dict[AgentRole, ModelUsage]:
        """Return the usage by role."""
        return self.meter.used()

    async def aclose(self) -> None:
        """Close the connections; may be called twice."""
        await self._transport.aclose()

    async def _only_model(self) -> str:
        """Return the endpoint's model where none is set and it has exactly one."""
        try:
            names = await self._transport.models()
        except RequestFailed as failed:
            raise failed.error() from failed
        if len(names) != 1:
            some = ", ".join(names[:8])
            raise ModelError(
                f"the model endpoint has {len(names)} models and none is chosen",
                ModelErrorKind.NO_MODEL,
                f"set SITELORE_MODEL_NAME to one of: {some}" if some else "set SITELORE_MODEL_NAME",
            )
        self._model = names[0]
        return self._model

    def _reduced(
        self, capabilities: EndpointCapabilities, failed: RequestFailed, request: _ModelRequest
    ) -> EndpointCapabilities | None:
        """Return what to send instead where the endpoint rejected the request's content; ``None`` for a retry."""
        if failed.kind is not ModelErrorKind.REFUSED or failed.status not in _REJECTED_STATUSES:
            return None
        return capabilities.without_rejected(
            failed.endpoint_message, had_schema=request.schema is not None, had_pictures=request.has_pictures
        )

    async def _pause(self, role: AgentRole, failed: RequestFailed, failures: int) -> None:
        """Wait before the next attempt, or raise where there is to be none."""
        seconds = self._retries.delay(failures, failed.wait, self._rng)
        if not failed.transient or failures >= self._retries.attempts or seconds > self._retries.wait:
            raise failed.error(failures)
        if seconds > self.meter.seconds_left():
            raise failed.error(failures) from budget_exhausted(f"{self.meter.budget.seconds:g} seconds")
        self._heartbeat.pauses(seconds)
        started = time.monotonic()
        try:
            await self._sleep(seconds)
        finally:
            self.meter.count(role, retries=1, seconds=time.monotonic() - started)

    async def _attempt(
        self,
        role: AgentRole,
        request: _ModelRequest,
        capabilities: EndpointCapabilities,
        allowed: int,
        price: Price | None,
    ) -> ModelReply:
        answer = StreamedAnswer(allowed)
        left = self.meter.seconds_left()
        started = time.monotonic()
        body = request.body(capabilities, allowed)
        try:
            await self._transport.send(body, answer, min(self._retries.whole, left))
        except RequestFailed as failed:
            if failed.kind is ModelErrorKind.TIMEOUT and time.monotonic() - started >= left:
                raise budget_exhausted(f"{self.meter.budget.seconds:g} seconds") from failed
            raise
        finally:
            taken = time.monotonic() - started
            received = answer_tokens(answer.text) + answer_tokens(answer.thinking)
            tokens = answer.tokens or (request.tokens * bool(answer.events), received)
            log.debug("%s asked %s: %d + %d tokens, %.2f s", role.value, request.model, *tokens, taken)
            self.meter.count(
                role,
                calls=1,
                tokens=tokens,
                cached=answer.cached,
                seconds=taken,
                price=price,
                model=request.model,
            )
        return ModelReply(
            text=answer.text,
            thinking=answer.thinking,
            data=read_json(answer.text, request.schema) if request.schema is not None else None,
            tokens=tokens,
            cached=answer.cached,
            seconds=taken,
            first=max(0.0, answer.began - started),
            truncated=answer.cut or answer.finish == "length",
            model=answer.model or request.model,
            pictures_dropped=request.has_pictures and not capabilities.pictures,
            parameters=sent_parameters(body),
            money=price.of(tokens[0], tokens[1], answer.cached) if price is not None else None,
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

    def body(self, capabilities: EndpointCapabilities, most: int) -> dict[str, Any]:
        messages = list(self.messages)
        if self.schema is not None and (words := capabilities.schema_prompt(self.schema)):
            messages.append(
                ChatMessage(role=ChatRole.USER, parts=(MessagePart(kind=PartKind.TEXT, text=words),))
            )
        return {
            "model": self.model,
            "messages": to_chat_messages(
                messages,
                self.pictures,
                with_pictures=capabilities.pictures,
                with_system=capabilities.system,
            ),
            "stream": True,
            **capabilities.options(most, self.schema),
        }
