"""Transport to an endpoint: streams one answer through the openai package, and explains failures."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from app.engine.agent.model.limits import Heartbeat, RetryPolicy
from app.engine.agent.model.request_errors import RequestFailed, clean_message, failure_of_status
from app.engine.core.model_api import ModelErrorKind

if TYPE_CHECKING:
    import openai

DEFAULT_URL = "https://api.openai.com/v1"
NO_KEY = "none"
"""Sent where there is no key: a local server asks for none, and the openai package insists on one."""
CONNECT_SECONDS = 10.0
USAGE_SECONDS = 5.0
"""Wait for the token count after the end of an answer."""
MAX_RESPONSE_BYTES = 32_000_000
"""An answer of 30,000 tokens, each in its own event, is a quarter of this."""
CHARACTERS_PER_TOKEN = 32
SPARE_CHARACTERS = 10_000
"""An answer may have so many characters for each requested token, plus these."""


class StreamedAnswer:
    """One answer while it arrives.

    Args:
        max_tokens: tokens that were requested at most.

    Attributes:
        began: when the first bytes came (``time.monotonic``), 0 before.
        finish: why the model stopped, "" while it has not said.
        cut: the answer was too long and is incomplete.
        tokens: in and out as the endpoint counted them. cached: of those in.
        events: number of events so far.
    """

    def __init__(self, max_tokens: int) -> None:
        self._room = max_tokens * CHARACTERS_PER_TOKEN + SPARE_CHARACTERS
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self.began, self.finish, self.model, self.cut = 0.0, "", "", False
        self.tokens: tuple[int, int] | None = None
        self.cached = self.events = 0

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._texts)

    @property
    def thinking(self) -> str:
        """The reasoning so far, where the endpoint sends it."""
        return "".join(self._thoughts)

    def add(self, event: object) -> None:
        """Add a chunk of a stream, or a complete chat completion.

        Raises:
            ValueError: it is no JSON object.
        """
        if not isinstance(event, dict):
            raise ValueError("no JSON object")
        found = cast("dict[str, Any]", event)
        self.events += 1
        self.model = self.model or _text(found.get("model"))
        choices: Any = found.get("choices")
        if isinstance(choices, list) and choices:
            choice = _mapping(cast("list[Any]", choices)[0])
            self._append(_mapping(choice.get("delta") or choice.get("message")))
            self.finish = _text(choice.get("finish_reason")) or self.finish
        usage = _mapping(found.get("usage"))
        if usage:
            self.tokens = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
            self.cached = _count(_mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))

    def _append(self, piece: Mapping[str, Any]) -> None:
        thought = _content(piece.get("reasoning_content")) or _content(piece.get("reasoning"))
        answer = _content(piece.get("content")) or _content(piece.get("refusal"))
        for said, kept in ((thought, self._thoughts), (answer, self._texts)):
            if said:
                kept.append(said[: self._room])
                self._room -= len(said)
        self.cut = self.cut or self._room < 0


class ModelTransport:
    """Requests to one endpoint over connections that are kept open."""

    def __init__(self, url: str, key: str, retries: RetryPolicy, heartbeat: Heartbeat | None = None) -> None:
        self._url, self._key, self._retries = url or DEFAULT_URL, key, retries
        self._heartbeat = heartbeat or Heartbeat()
        self.where = display_url(self._url)
        self._client: openai.AsyncOpenAI | None = None
        self._opening = asyncio.Lock()

    async def send(self, body: dict[str, Any], answer: StreamedAnswer, seconds: float) -> None:
        """Send a request and read the answer to its end, or until it is too long.

        Raises:
            RequestFailed: no answer came, it broke off, or it took longer than ``seconds``.
        """
        client = await self._connected()
        self._heartbeat.sent()
        try:
            async with asyncio.timeout(seconds):
                await self._stream(client, body, answer)
        except TimeoutError:
            raise self._too_slow("had not answered in full", seconds) from None

    async def models(self) -> list[str]:
        """Return the names of the endpoint's models.

        Raises:
            RequestFailed: it does not list them.
        """
        client = await self._connected()
        import openai

        try:
            return [model.id async for model in client.models.list()]
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
                self._client = await asyncio.to_thread(_client, self._url, self._key, self._retries)
        return self._client

    async def _stream(self, client: openai.AsyncOpenAI, body: dict[str, Any], answer: StreamedAnswer) -> None:
        import openai

        try:
            stream = await client.post(
                "/chat/completions",
                body=body,
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
        return clean_message(str(error), self._key)

    def _failure(self, error: openai.APIError) -> RequestFailed:
        import openai

        if isinstance(error, openai.APIStatusError):
            return failure_of_status(error, self.where, self._key)
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


def display_url(url: str) -> str:
    """Return an address without user and query, for display."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def _client(url: str, key: str, retries: RetryPolicy) -> openai.AsyncOpenAI:
    import openai

    timeout = openai.Timeout(retries.first, connect=min(CONNECT_SECONDS, retries.first))
    # A local server is not behind the proxy that the environment names for the rest of the world.
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


def _content(content: object) -> str:
    """Return a content's text; it is a text, or parts with texts."""
    if isinstance(content, list):
        return "".join(_text(_mapping(part).get("text")) for part in cast("list[object]", content))
    return _text(content)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 10**9 else 0


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
