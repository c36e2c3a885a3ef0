"""Transport to an endpoint: sends one request, reads the answer, and explains failures."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from app.engine.agent.model import request_errors
from app.engine.agent.model.heartbeat import Heartbeat
from app.engine.agent.model.request_errors import RequestFailed
from app.engine.agent.model.retry_policy import RetryPolicy
from app.engine.agent.model.stream_parser import EndpointReportedError, StreamParser

if TYPE_CHECKING:
    import openai

DEFAULT_URL = "https://api.openai.com/v1"
NO_KEY = "none"
"""Sent where there is no key: a local server asks for none, and the openai package insists on one."""
CONNECT_SECONDS = 10.0
DRAIN_SECONDS = 0.25
USAGE_SECONDS = 5.0
"""Wait for the token count after the end of an answer."""


class ModelTransport:
    """Requests to one endpoint over connections that are kept open."""

    def __init__(self, url: str, key: str, patience: RetryPolicy, pulse: Heartbeat | None = None) -> None:
        self._url, self._key, self._patience = url or DEFAULT_URL, key, patience
        self._pulse = pulse or Heartbeat()
        self.where = display_url(self._url)
        self._client: openai.AsyncOpenAI | None = None
        self._opening = asyncio.Lock()

    async def send(self, body: dict[str, Any], hearing: StreamParser, seconds: float) -> None:
        """Send a request and read the answer to its end, or until it is longer than ``hearing`` allows.

        Raises:
            Failed: no answer came, it broke off, or it took longer than ``seconds``.
        """
        client = await self._connected()
        self._pulse.sent()
        try:
            async with asyncio.timeout(seconds):
                await self._talk(client, body, hearing)
        except TimeoutError:
            raise RequestFailed(
                request_errors.too_slow(self.where, "had not answered in full", seconds)
            ) from None

    async def models(self) -> list[str]:
        """Return the names of the endpoint's models.

        Raises:
            Failed: it does not list them.
        """
        client = await self._connected()
        import openai

        try:
            return [model.id async for model in client.models.list()]
        except openai.APIError as error:
            raise RequestFailed(self._fault_of(error)) from error

    async def aclose(self) -> None:
        """Close the connections; may be called twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _connected(self) -> openai.AsyncOpenAI:
        async with self._opening:
            if self._client is None:
                # The import takes a second, and certificates are read: not on a loop that others wait for.
                self._client = await asyncio.to_thread(_client, self._url, self._key, self._patience)
        return self._client

    async def _talk(self, client: openai.AsyncOpenAI, body: dict[str, Any], hearing: StreamParser) -> None:
        import openai

        asking: Any = client.chat.completions.with_streaming_response.create
        try:
            async with asking(**body) as response:
                kind = response.headers.get("content-type", "").lower()
                if "html" in kind:
                    raise RequestFailed(request_errors.unreadable(self.where, "a page for a browser"))
                hearing.is_events = "json" not in kind or "stream" in kind
                await self._hear(response.iter_bytes(), hearing)
        except openai.APIError as error:
            raise RequestFailed(self._fault_of(error)) from error
        except EndpointReportedError as error:
            said = request_errors.clean_message(str(error), self._key)
            raise RequestFailed(request_errors.broken_off(self.where, said)) from error
        if not hearing.heard:
            what = "its JSON is broken" if hearing.broken else "it is empty"
            raise RequestFailed(request_errors.unreadable(self.where, what))

    async def _hear(self, pieces: AsyncIterator[bytes], hearing: StreamParser) -> None:
        while True:
            limit = self._patience.idle if hearing.began else self._patience.first
            limit = min(limit, USAGE_SECONDS) if hearing.finish else limit
            try:
                async with asyncio.timeout(limit):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                break
            except TimeoutError:
                if hearing.finish:
                    return  # all is said; the endpoint only forgot to hang up
                what = "fell silent" if hearing.began else "did not begin to answer"
                raise RequestFailed(request_errors.too_slow(self.where, what, limit)) from None
            # The package does not wrap what its HTTP library raises here, and that library is another one in each of
            # its major versions.
            except Exception as error:
                if hearing.finish:
                    return
                reason = request_errors.clean_message(str(error), self._key) or type(error).__name__
                raise RequestFailed(request_errors.broken_off(self.where, reason)) from error
            hearing.began = hearing.began or time.monotonic()
            self._pulse.heard()
            if not hearing.feed(piece):
                if hearing.is_done:
                    await _drain(pieces)
                return
        hearing.close()

    def _fault_of(self, error: openai.APIError) -> request_errors.RequestFailure:
        import openai

        if isinstance(error, openai.APIStatusError):
            return request_errors.failure_of_status(error, self.where, self._key)
        if isinstance(error, openai.APITimeoutError):
            return request_errors.too_slow(self.where, "did not begin to answer", self._patience.first)
        if isinstance(error, openai.APIConnectionError):
            cause = error.__cause__
            return request_errors.unreachable(
                self.where, request_errors.clean_message(str(cause or error), self._key) or "no connection"
            )
        return request_errors.unreadable(self.where, request_errors.clean_message(str(error), self._key))


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read the few bytes after the end of an answer, without which the connection can't be reused."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in pieces:
                pass


def display_url(url: str) -> str:
    """Return an address without user and query, for display."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def _client(url: str, key: str, patience: RetryPolicy) -> openai.AsyncOpenAI:
    import openai

    timeout = openai.Timeout(patience.first, connect=min(CONNECT_SECONDS, patience.first))
    # A server on one's own machine is not behind the proxy that the environment names for the rest of the world.
    own = (
        openai.DefaultAsyncHttpxClient(base_url=url, timeout=timeout, trust_env=False)
        if _is_local(url)
        else None
    )
    return openai.AsyncOpenAI(
        api_key=key or NO_KEY, base_url=url, max_retries=0, timeout=timeout, http_client=own
    )


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == "localhost" or host == "::1" or host.startswith("127.")
