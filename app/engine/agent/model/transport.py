"""Transport to an endpoint: streams one answer through the openai package, and explains failures."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from app.engine.agent.model.endpoint_url import Endpoint, display_url
from app.engine.agent.model.limits import Heartbeat, RetryPolicy
from app.engine.agent.model.request_errors import RequestFailed, clean_message, failure_of_status
from app.engine.agent.model.streamed_answer import StreamedAnswer
from app.engine.core.model_api import ModelErrorKind

if TYPE_CHECKING:
    import openai

NO_KEY = "none"
"""Sent where there is no key: a local server asks for none, and the openai package insists on one."""
CONNECT_SECONDS = 10.0
USAGE_SECONDS = 5.0
"""Wait for the token count after the end of an answer."""
MAX_RESPONSE_BYTES = 32_000_000
"""An answer of 30,000 tokens, each in its own event, is a quarter of this."""


class ModelTransport:
    """Requests to one endpoint over connections that are kept open."""

    def __init__(self, endpoint: Endpoint, retries: RetryPolicy, heartbeat: Heartbeat | None = None) -> None:
        self.endpoint, self._retries = endpoint, retries
        self._heartbeat = heartbeat or Heartbeat()
        self.where = display_url(endpoint.url)
        self._client: openai.AsyncOpenAI | None = None
        self._opening = asyncio.Lock()

    async def send(self, path: str, body: dict[str, Any], answer: StreamedAnswer, seconds: float) -> None:
        """Send a request to a path of the endpoint and read the answer to its end, or until it is too long.

        Raises:
            RequestFailed: no answer came, it broke off, or it took longer than ``seconds``.
        """
        client = await self._connected()
        self._heartbeat.sent()
        try:
            async with asyncio.timeout(seconds):
                await self._stream(client, path, body, answer)
        except TimeoutError:
            raise self._too_slow("had not answered in full", seconds) from None

    async def models(self) -> dict[str, int | None]:
        """Return the endpoint's models by name, with the tokens of their context where it states them.

        Raises:
            RequestFailed: it does not list them.
        """
        client = await self._connected()
        import openai

        try:
            return {model.id: _stated_context(model.model_extra) async for model in client.models.list()}
        except openai.APIError as error:
            raise self._failure(error) from error

    async def aclose(self) -> None:
        """Close the connections; may be called twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _connected(self) -> openai.AsyncOpenAI:
        async with self._opening:
            if self._client is None:
                # The import takes a second, and certificates are read: not on a loop that others wait for.
                self._client = await asyncio.to_thread(_client, self.endpoint, self._retries)
        return self._client

    async def _stream(
        self, client: openai.AsyncOpenAI, path: str, body: dict[str, Any], answer: StreamedAnswer
    ) -> None:
        import openai

        # Azure takes a bearer for a token of its directory and rejects a key sent as one.
        names = {name.lower() for name in self.endpoint.headers}
        is_keyed = self.endpoint.azure and "authorization" not in names
        try:
            stream = await client.post(
                path,
                body=body,
                options={"headers": {"Authorization": openai.Omit()}} if is_keyed else {},
                cast_to=object,
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
        except openai.APIError as error:
            raise self._failure(error) from error
        try:
            await self._read(stream, answer)
        except RequestFailed:
            raise
        except ValueError as error:
            if not (answer.finish or answer.cut):
                raise self._unreadable("its JSON is broken") from error
        # Not every version of the package wraps the errors of its HTTP library, and the library differs too.
        except Exception as error:
            if not answer.finish:
                reason = self._clean(error.__cause__ or error)
                raise self._broken_off(reason or type(error).__name__) from error
        finally:
            await stream.close()
        if answer.failure and not answer.finish:
            raise self._broken_off(self._clean(answer.failure))
        if not (answer.events or answer.cut):
            raise self._unreadable("it is empty")

    async def _read(self, stream: openai.AsyncStream[object], answer: StreamedAnswer) -> None:
        """Read a stream of events, or one JSON document from an endpoint that does not stream."""
        response: Any = stream.response
        kind = response.headers.get("content-type", "").lower()
        if "html" in kind:
            raise self._unreadable("a page for a browser")
        response.aiter_bytes = self._watched(response.aiter_bytes(), answer).__aiter__
        if "json" in kind and "stream" not in kind:
            document: object = json.loads(b"".join([piece async for piece in response.aiter_bytes()]))
            if error := _mapping(document).get("error"):
                raise self._broken_off(self._clean(error))
            answer.add(document)
            return
        async for event in stream:
            answer.add(event)
            if answer.cut:
                return

    async def _watched(self, pieces: AsyncIterator[bytes], answer: StreamedAnswer) -> AsyncIterator[bytes]:
        """Yield the response's bytes: each is a sign of life, and both silence and size are limited."""
        received = 0
        while True:
            limit = self._retries.idle if answer.began else self._retries.first
            limit = min(limit, USAGE_SECONDS) if answer.finish else limit
            try:
                async with asyncio.timeout(limit):
                    piece = await anext(pieces, None)
            except TimeoutError:
                if answer.finish:
                    return  # the answer is complete; the endpoint only keeps the connection open
                what = "fell silent" if answer.began else "did not begin to answer"
                raise self._too_slow(what, limit) from None
            if piece is None:
                return
            answer.began = answer.began or time.monotonic()
            self._heartbeat.received()
            received += len(piece)
            if received > MAX_RESPONSE_BYTES:
                answer.cut = True
                return
            yield piece

    def _clean(self, error: object) -> str:
        return clean_message(str(error), self.endpoint.secrets)

    def _failure(self, error: openai.APIError) -> RequestFailed:
        import openai

        if isinstance(error, openai.APIStatusError):
            return failure_of_status(error, self.where, self.endpoint.secrets)
        if isinstance(error, openai.APITimeoutError):
            return self._too_slow("did not begin to answer", self._retries.first)
        reason = self._clean(error.__cause__ or error)
        if isinstance(error, openai.APIConnectionError):
            why = f"the model endpoint {self.where} can't be reached: {reason or 'no connection'}"
            return RequestFailed(ModelErrorKind.UNREACHABLE, why)
        return self._unreadable(reason)

    def _too_slow(self, what: str, seconds: float) -> RequestFailed:
        return RequestFailed(
            ModelErrorKind.TIMEOUT, f"the model endpoint {self.where} {what} within {seconds:g} s"
        )

    def _broken_off(self, reason: str) -> RequestFailed:
        why = f"the answer of the model endpoint {self.where} broke off: {reason}"
        return RequestFailed(ModelErrorKind.UNREACHABLE, why)

    def _unreadable(self, what: str) -> RequestFailed:
        why = f"the model endpoint {self.where} sent no readable answer: {what}"
        return RequestFailed(ModelErrorKind.UNREADABLE, why)


def _client(endpoint: Endpoint, retries: RetryPolicy) -> openai.AsyncOpenAI:
    import openai

    timeout = openai.Timeout(retries.first, connect=min(CONNECT_SECONDS, retries.first))
    # A local server is not behind the proxy that the environment names for the rest of the world.
    own = (
        openai.DefaultAsyncHttpxClient(base_url=endpoint.url, timeout=timeout, trust_env=False)
        if _is_local(endpoint.url)
        else None
    )
    headers: dict[str, Any] = dict(endpoint.headers)
    if endpoint.azure:
        headers = {"api-key": endpoint.key or NO_KEY, **headers}
    return openai.AsyncOpenAI(
        api_key=endpoint.key or NO_KEY,
        base_url=endpoint.url,
        max_retries=0,
        timeout=timeout,
        http_client=own,
        default_headers=headers,
        default_query=dict(endpoint.query),
    )


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == "localhost" or host == "::1" or host.startswith("127.")


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _stated_context(extra: Mapping[str, object] | None) -> int | None:
    """Return the context length that a list of models states: vLLM and OpenRouter do, each under its own name."""
    stated = [(extra or {}).get(name) for name in ("max_model_len", "context_length", "context_window")]
    return next((one for one in stated if isinstance(one, int) and one > 0), None)
