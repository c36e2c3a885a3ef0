"""A language model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import random
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.engine.agent.model.capabilities import MIN_ANSWER, EndpointCapabilities, context_size, prompt_size
from app.engine.agent.model.capability_store import CapabilityStore, capabilities_path
from app.engine.agent.model.chat_format import answer_tokens, estimate_tokens
from app.engine.agent.model.endpoint_url import DEFAULT_URL, endpoint_of
from app.engine.agent.model.limits import (
    Budget,
    Heartbeat,
    Meter,
    Price,
    RetryPolicy,
    budget_exhausted,
    known_price,
)
from app.engine.agent.model.model_request import EndpointOptions, ModelRequest
from app.engine.agent.model.recording_model import RecordingModel, sent_parameters
from app.engine.agent.model.request_errors import RequestFailed
from app.engine.agent.model.role_choices import RoleChoice, refuse_unpriced, role_choices
from app.engine.agent.model.streamed_answer import StreamedAnswer
from app.engine.agent.model.structured import read_json
from app.engine.agent.model.tool_calls import with_calls
from app.engine.agent.model.transport import ModelTransport
from app.engine.core.chat_messages import ChatMessage
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
_MISSING_STATUSES = frozenset({404, 405, 501})
"""Statuses of an address that an endpoint does not have."""
_MOST_SEALED = 64


def check_model_settings(chosen: Settings, key: str) -> dict[AgentRole, RoleChoice]:
    """Return the choice of every role; raises as ``open_model``."""
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
    return choices


def open_model(
    chosen: Settings,
    key: str,
    *,
    sink: Callable[[bytes], str] | None = None,
    mask: Callable[[str], str] | None = None,
    heartbeat: Heartbeat | None = None,
    meter: Meter | None = None,
) -> LanguageModel:
    """Return the endpoint of the settings, recorded where a sink is given. Nothing is sent yet.

    ``heartbeat`` is notified of every sign of life of the endpoint; ``meter`` counts, and is given the budget.

    Raises:
        ModelError: no endpoint is set.
        UsageError: a price can't be read, or a budget of money is set and a role's price is not known.
    """
    choices = check_model_settings(chosen, key)
    meter = meter or Meter()
    meter.budget = Budget(
        seconds=max(0.0, chosen.run_seconds),
        tokens=max(0, chosen.run_tokens),
        money=max(0.0, chosen.run_money),
    )
    model = EndpointModel(
        chosen.model_url,
        chosen.model_name,
        key=key,
        models={role: choice.model for role, choice in choices.items() if choice.model},
        efforts={role: choice.effort for role, choice in choices.items() if choice.effort},
        prices={role: choice.price for role, choice in choices.items() if choice.price is not None},
        meter=meter,
        heartbeat=heartbeat,
        options=EndpointOptions(
            responses=chosen.model_api == "responses",
            tools=chosen.model_tools == "on",
            cache_marks=chosen.model_cache_marks == "on",
        ),
        headers=chosen.model_headers,
        api_version=chosen.model_api_version,
        store=CapabilityStore(capabilities_path()),
    )
    return RecordingModel(model, sink, mask) if sink is not None else model


class EndpointModel:
    """Asks an endpoint, streams its answers, and retries where that may help.

    Args:
        url: address, usually ending in ``/v1``; empty is OpenAI's.
        model: name of the model; ``models`` are others by role.
        efforts: reasoning effort by role.  prices: by role; others have ``price``, or the listed one.
        meter: counts in place of one of its own, with its budget.
        heartbeat: notified of every sign of life of the endpoint.
        options: API, tools, marks.  headers, api_version: see ``endpoint_of``.
        store: what was learnt of the endpoint, kept between runs.
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
        meter: Meter | None = None,
        retries: RetryPolicy | None = None,
        price: Price | None = None,
        heartbeat: Heartbeat | None = None,
        options: EndpointOptions | None = None,
        headers: str = "",
        api_version: str = "",
        store: CapabilityStore | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._model, self._models = model, dict(models or {})
        self._efforts, self._prices = dict(efforts or {}), dict(prices or {})
        self._retries = retries or RetryPolicy()
        self._heartbeat = heartbeat or Heartbeat()
        endpoint = endpoint_of(url, key, headers=headers, api_version=api_version)
        self._transport = ModelTransport(endpoint, self._retries, self._heartbeat)
        self._options, self._store, self._url = options or EndpointOptions(), store, url or DEFAULT_URL
        self._sealed: dict[str, list[dict[str, Any]]] = {}
        self._price, self._sleep, self._rng = price, sleep, rng or random.Random()
        self._capabilities: dict[str, EndpointCapabilities] = {}
        self.meter = meter or Meter(budget)

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
        """See ``LanguageModel.ask``. Cancelling it closes the connection at once."""
        with self._heartbeat.asking():
            name = self._transport.endpoint.model(self._models.get(role) or self._model)
            request = ModelRequest(
                name or await self._only_model(),
                messages,
                schema,
                pictures or {},
                estimate_tokens(messages),
                actions,
                self._options,
                self._efforts.get(role, ""),
            )
            return await self._asked(role, request, most)

    async def _asked(self, role: AgentRole, request: ModelRequest, most: int) -> ModelReply:
        price = self._prices.get(role) or self._price or known_price(request.model)
        have = await self._known(request.model)
        failures = 0
        while True:
            _check_length(have, request)
            limit = have.token_limit(most, request.tokens)
            try:
                with self.meter.reserve(request.tokens, limit, price) as allowed:
                    reply = await self._attempt(role, request, have, allowed, price)
            except RequestFailed as failed:
                if failed.kind is ModelErrorKind.TOO_LONG:
                    have, request = await self._shortened(have, request, failed, most)
                    continue
                reduced = _reduced(have, failed, request, limit)
                if reduced is None:
                    failures += 1
                    await self._pause(role, failed, failures)
                have = reduced or have
            else:
                # Where the budget set the limit, more room would not be given either.
                grown = have.with_more_room() if _is_only_reasoning(reply) and allowed == limit else None
                if grown is not None and grown.token_limit(most, request.tokens) > limit:
                    have = grown
                    continue
                await self._learn(request.model, have)
                return replace(reply, context=have.context)

    async def _known(self, model: str) -> EndpointCapabilities:
        if model not in self._capabilities:
            stored = EndpointCapabilities()
            if self._store is not None:
                stored = await asyncio.to_thread(self._store.load, self._url, model)
            self._capabilities.setdefault(model, stored)
        return self._capabilities[model]

    async def _learn(self, model: str, learnt: EndpointCapabilities) -> None:
        """Remember what worked; a request at the same time may have learnt something else."""
        known = self._capabilities.get(model, EndpointCapabilities())
        merged = learnt.merged(known)
        if merged == known:
            return
        self._capabilities[model] = merged
        if self._store is not None:
            await asyncio.to_thread(self._store.save, self._url, model, merged)

    async def _shortened(
        self, have: EndpointCapabilities, request: ModelRequest, failed: RequestFailed, most: int
    ) -> tuple[EndpointCapabilities, ModelRequest]:
        """Return what to send where only prompt and answer together are too long.

        Raises:
            ModelError: the prompt alone is; the context is remembered where the endpoint names it.
        """
        size = context_size(failed.endpoint_message)
        told = replace(have, context=size) if size is not None else have
        if size is not None:
            await self._learn(request.model, told)
        longer = replace(request, tokens=max(request.tokens, prompt_size(failed.endpoint_message) or 0))
        fits = size is not None and longer.tokens + MIN_ANSWER <= size
        if not fits or told.token_limit(most, longer.tokens) >= have.token_limit(most, request.tokens):
            fitting = size if size is not None else max(MIN_ANSWER, request.tokens * 3 // 4)
            raise ModelError(failed.what, failed.kind, failed.remedy, context=fitting)
        return told, longer

    def usage(self) -> dict[AgentRole, ModelUsage]:
        """Return the usage by role."""
        return self.meter.used()

    async def aclose(self) -> None:
        """Close the connections; may be called twice."""
        await self._transport.aclose()

    async def _only_model(self) -> str:
        """Return the endpoint's model where none is set and it has exactly one."""
        try:
            names = list(await self._transport.models())
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
        request: ModelRequest,
        capabilities: EndpointCapabilities,
        allowed: int,
        price: Price | None,
    ) -> ModelReply:
        answer = StreamedAnswer(allowed)
        left = self.meter.seconds_left()
        started = time.monotonic()
        body = request.body(capabilities, allowed, self._sealed)
        try:
            path = self._transport.endpoint.path(
                request.model, responses=request.uses_responses(capabilities)
            )
            await self._transport.send(path, body, answer, min(self._retries.whole, left))
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
        text = with_calls(answer.text, answer.calls)
        return ModelReply(
            text=text,
            thinking=answer.thinking,
            data=read_json(text, request.schema) if request.schema is not None else None,
            tokens=tokens,
            cached=answer.cached,
            seconds=taken,
            first=max(0.0, answer.began - started),
            truncated=answer.cut or answer.finish == "length",
            model=answer.model or request.model,
            pictures_dropped=request.has_pictures and not capabilities.pictures,
            parameters=sent_parameters(body),
            money=price.of(tokens[0], tokens[1], answer.cached) if price is not None else None,
            reasoning=self._seal(answer),
        )

    def _seal(self, answer: StreamedAnswer) -> str:
        """Keep an answer's sealed reasoning for the next requests, and return its name."""
        if not answer.reasoning:
            return ""
        name = hashlib.sha256(json.dumps(answer.reasoning, sort_keys=True).encode()).hexdigest()
        self._sealed = dict([*self._sealed.items(), (name, answer.reasoning)][-_MOST_SEALED:])
        return name


def _check_length(have: EndpointCapabilities, request: ModelRequest) -> None:
    """Raise where a request is known not to fit, so that it is not sent in vain."""
    if have.context is not None and request.tokens + MIN_ANSWER > have.context:
        raise ModelError(
            f"the prompt of about {request.tokens} tokens does not fit into the model's context of {have.context}",
            ModelErrorKind.TOO_LONG,
            "use a model with a longer context",
            context=have.context,
        )


def _reduced(
    have: EndpointCapabilities, failed: RequestFailed, request: ModelRequest, limit: int
) -> EndpointCapabilities | None:
    """Return what to send instead where the endpoint rejected the request's content; ``None`` for a retry."""
    if failed.kind is not ModelErrorKind.REFUSED:
        return None
    if failed.status in _MISSING_STATUSES and request.uses_responses(have):
        return replace(have, responses=False)
    if failed.status not in _REJECTED_STATUSES:
        return None
    return have.without_rejected(failed.endpoint_message, request.sent(have, limit))


def _is_only_reasoning(reply: ModelReply) -> bool:
    """Whether an answer was cut before it began; some models write their reasoning into the text."""
    text = reply.text.strip()
    return reply.truncated and (not text or (text.startswith("<think") and "</think" not in text))
