"""A server on this machine that speaks the chat protocol of OpenAI-compatible endpoints, well or badly, as told.

Nothing in it is a language model: a scripted *brain* (a function of the request) or a list of prepared answers says
what to send, so that what is tested is the plumbing.  It runs in threads of its own, so that it serves a test's loop, a
child process or a command line alike.

    with ProtocolServer(brain=lambda request: 'click("3")') as server:
        model = EndpointModel(server.url, "test-model", key="k")

    python -m tests.support.protocol_server --port 8000     a brain that stops at once, to try a command line against
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.support import protocol_dialects as dialects
from tests.support.protocol_dialects import Answer, Request, role_of, text_of, tokens_asked

__all__ = ["Answer", "Asked", "Brain", "ProtocolServer", "Request", "role_of", "text_of"]

Brain = Callable[[Request], "str | Answer"]


def slowly(text: str, *, pause: float = 0.02, letters: int = 4) -> Answer:
    """A stream in small, late pieces."""
    return Answer(text=text, pause=pause, letters=letters)


def hanging(text: str = "", *, after: int = 0) -> Answer:
    """Some chunks, then silence on an open connection."""
    return Answer(text=text or "x" * 100, hang_after=after)


def cut(text: str, *, after: int = 1) -> Answer:
    """A connection that breaks in the middle of the stream."""
    return Answer(text=text, cut_after=after, letters=4)


def failing(status: int, error: str = "it failed", *, retry_after: str = "", code: str = "") -> Answer:
    """An error of the protocol."""
    headers = {"Retry-After": retry_after} if retry_after else {}
    return Answer(status=status, error=error, code=code, headers=headers)


def broken() -> Answer:
    """A stream whose JSON is none."""
    return Answer(
        raw=b'data: {"choices": [{"delta": {"content": "cl\n\ndata: [DONE]\n\n', kind="text/event-stream"
    )


def empty() -> Answer:
    """An answer without a word."""
    return Answer(text="", usage=(10, 0))


def huge(letters: int = 10_000_000) -> Answer:
    """An answer far too long."""
    return Answer(text="word " * (letters // 5), letters=50_000)


@dataclass(frozen=True)
class Asked:
    """One request that arrived: when (``time.monotonic``), at which path, with which headers (lower case) and body.

    ``peer`` is the client's port: the same for requests over one connection.
    """

    at: float
    path: str
    headers: dict[str, str]
    body: Request
    peer: int = 0


class ProtocolServer:
    """The server; a context manager.

    Args:
        brain: answers what ``answers`` do not.
        answers: sent first, one a request, in order.
        key: where given, any other key is answered with 401.
        models: names under ``/models``.
        refuses: request fields at any depth (``response_format``, ``max_tokens``, ``reasoning_effort``,
            ``temperature``, ``tools``, ``cache_control``, ``image_url``) and roles (``system``)
            that are answered with 400, as endpoints do that don't know them.
        reasoning: hidden tokens spent before each answer; a limit below them cuts it empty.
        context: tokens (a fourth of the letters) that prompt and answer may have together; more is answered with 400.
        azure: an api-version: the classic address of Azure (deployments, ``api-key``) is served in place of ``/v1``.
        responses: whether there is a ``/responses``.

    Attributes:
        asked: chat requests, in order of arrival.  dropped: how many were given up by the client while being served.
    """

    def __init__(
        self,
        brain: Brain | None = None,
        *,
        answers: Iterable[str | Answer] = (),
        key: str = "",
        models: tuple[str, ...] = ("test-model",),
        refuses: Iterable[str] = (),
        reasoning: int = 0,
        context: int = 0,
        azure: str = "",
        responses: bool = True,
        port: int = 0,
    ) -> None:
        self.brain: Brain = brain or (lambda request: "")
        self.answers: deque[str | Answer] = deque(answers)
        self.key, self.models, self.refuses = key, models, frozenset(refuses)
        self.reasoning, self.context, self.azure, self.responses = reasoning, context, azure, responses
        self.asked: list[Asked] = []
        self.dropped = 0
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self._port = port
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        assert self._server is not None
        assert self._thread is not None
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The address for the settings."""
        return f"{self.root}/openai/deployments/{self.models[0]}" if self.azure else f"{self.root}/v1"

    @property
    def root(self) -> str:
        """The address without a path: a resource of Azure."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def bodies(self) -> list[Request]:
        """The requests' bodies."""
        return [asked.body for asked in self.asked]

    def answer_to(self, body: Request) -> Answer:
        """The next prepared answer, else the brain's."""
        refusal = self._refusal(body)
        if refusal is not None:
            return refusal
        with self.lock:
            given = self.answers.popleft() if self.answers else None
        given = given if given is not None else self.brain(body)
        answer = Answer(text=given) if isinstance(given, str) else given
        spent = answer.reasoning or self.reasoning
        limit = tokens_asked(body)
        if spent and limit and spent + len(answer.text) // 4 > limit:
            return replace(
                answer,
                text="",
                calls=(),
                finish="length",
                reasoning=limit,
                usage=(_prompt_tokens(body), limit),
            )
        return replace(answer, reasoning=spent)

    def _refusal(self, body: Request) -> Answer | None:
        sent = json.dumps(body)
        for name in sorted(self.refuses):
            if name in body or f'"{name}":' in sent:
                why = f"Unsupported parameter: '{name}' is not supported here."
                return failing(400, why, code="unsupported")
            if f'"role": "{name}"' in sent:
                return failing(400, f"The role '{name}' is not supported.", code="unsupported")
        prompt, answer = _prompt_tokens(body), tokens_asked(body)
        if self.context and prompt + answer > self.context:
            why = (
                f"This model's maximum context length is {self.context} tokens. However, you requested"
                f" {prompt + answer} tokens ({prompt} in the messages, {answer} in the completion). Please reduce the"
                " length of the messages or completion."
            )
            return failing(400, why, code="context_length_exceeded")
        return None

    def cached_tokens(self, body: Request) -> int:
        """Tokens of the longest beginning that an earlier request had too, as a prefix cache would count them."""
        prompt = text_of(body)
        with self.lock:
            before = [text_of(asked.body) for asked in self.asked[-20:-1]]
        return max((_common(prompt, other) for other in before), default=0) // 4


class _Handler(BaseHTTPRequestHandler):
    owner: ProtocolServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if not self._is_let_in():
            return
        if self.path.rstrip("/").endswith("/models"):
            listed = [
                {"id": name, "object": "model", "created": 0, "owned_by": "tests"}
                for name in self.owner.models
            ]
            self._send(200, json.dumps({"object": "list", "data": listed}).encode())
        else:
            self._send(404, _error("no such address", ""))

    def do_POST(self) -> None:
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
        except ValueError:
            self._send(400, _error("the request is no JSON", ""))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.owner.lock:
            self.owner.asked.append(Asked(time.monotonic(), self.path, headers, body, self.client_address[1]))
        if not self._is_let_in():
            return
        if not self._is_served():
            self._send(404, _error("Resource not found", "404"))
            return
        try:
            self._answer(body, self.owner.answer_to(body))
        except OSError:  # the client went away, which is what some tests want
            self.owner.dropped += 1
            self.close_connection = True

    def _is_served(self) -> bool:
        parts = urlsplit(self.path)
        ends = parts.path.endswith("/chat/completions") or (self.owner.responses and self._in_responses)
        if not self.owner.azure:
            return ends
        version = parse_qs(parts.query).get("api-version") == [self.owner.azure]
        return ends and version and parts.path.startswith(("/openai/deployments/", "/openai/responses"))

    @property
    def _in_responses(self) -> bool:
        return urlsplit(self.path).path.endswith("/responses")

    def _is_let_in(self) -> bool:
        """Whether the key is right; Azure wants it in a header of its own, and takes another one for a token."""
        given, wanted = self.headers.get("Authorization"), f"Bearer {self.owner.key}"
        if self.owner.azure:
            given, wanted = (self.headers.get("api-key") if given is None else "a token"), self.owner.key
        if self.owner.key and given != wanted:
            self._send(401, _error("Incorrect API key provided", "invalid_api_key"))
            return False
        return True

    def _answer(self, body: Request, answer: Answer) -> None:
        self._wait(answer.first)
        if answer.raw is not None:
            self._send(answer.status, answer.raw, kind=answer.kind, headers=answer.headers)
        elif answer.status != 200:
            self._send(answer.status, _error(answer.error, answer.code), headers=answer.headers)
        elif body.get("stream") and not answer.as_json:
            self._stream(body, self._counted(body, answer))
        else:
            whole = dialects.response_whole if self._in_responses else dialects.chat_whole
            answer = self._counted(body, answer)
            self._send(200, json.dumps(whole(body, answer, self._usage(body, answer))).encode())

    def _counted(self, body: Request, answer: Answer) -> Answer:
        if answer.usage is not None:
            return answer
        said = (len(answer.text) + len(answer.thinking)) // 4 + answer.reasoning
        return replace(answer, usage=(_prompt_tokens(body), said))

    def _usage(self, body: Request, answer: Answer) -> dict[str, Any]:
        tokens_in, tokens_out = answer.usage or (0, 0)
        told = dialects.response_usage if self._in_responses else dialects.chat_usage
        return told(tokens_in, tokens_out, min(tokens_in, self.owner.cached_tokens(body)), answer.reasoning)

    def _stream(self, body: Request, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        usage = self._usage(body, answer)
        events = dialects.response_events if self._in_responses else dialects.chat_events
        end = dialects.response_end if self._in_responses else dialects.chat_end
        for number, event in enumerate(events(body, answer, usage)):
            if answer.hang_after is not None and number >= answer.hang_after:
                self._hang()
                return
            if answer.cut_after is not None and number >= answer.cut_after:
                self.close_connection = True
                return
            self._wait(answer.pause)
            self._event(event)
        for event in end(body, answer, usage):
            self._event(event)
        if answer.stays:
            self._hang()
            return
        if answer.finish and not self._in_responses:
            self._piece(b"data: [DONE]\n\n")
        self._piece(b"")

    def _hang(self) -> None:
        """Silence until the client goes or the server closes."""
        self.connection.settimeout(0.05)
        while not self.owner.closing.is_set():
            try:
                if self.connection.recv(1) == b"":
                    break
            except TimeoutError:
                continue
        self.owner.dropped += 1
        self.close_connection = True

    def _wait(self, seconds: float) -> None:
        if seconds:
            self.owner.closing.wait(seconds)

    def _event(self, data: dict[str, Any]) -> None:
        name = f"event: {data['type']}\n".encode() if self._in_responses else b""
        self._piece(name + b"data: " + json.dumps(data).encode() + b"\n\n")

    def _piece(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _send(
        self,
        status: int,
        body: bytes,
        *,
        kind: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def _prompt_tokens(body: Request) -> int:
    return len(text_of(body)) // 4


def _error(message: str, code: str) -> bytes:
    return json.dumps(
        {"error": {"message": message, "type": "error", "code": code or None, "param": None}}
    ).encode()


def _common(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def main() -> None:
    """Serve until interrupted; the brain claims at once that the task is done."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--answer", default='stop("done")')
    chosen = parser.parse_args()
    with ProtocolServer(lambda request: chosen.answer, port=chosen.port) as server:
        sys.stdout.write(f"export SITELORE_MODEL_URL={server.url} SITELORE_MODEL_NAME=test-model\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
