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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Request = dict[str, Any]
"""The body of a chat request, as it was sent."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to one request.

    Attributes:
        text, thinking: of the message.  finish: its ``finish_reason``, "" for none at all.
        status: another one than 200 sends ``error`` as the protocol does.
        raw: bytes sent in place of all this, under ``kind``.
        letters: letters of a streamed chunk.  pause: seconds before each.  first: seconds before anything is sent.
        hang_after, cut_after: so many chunks are sent, then nothing more; then the connection is dropped.
        usage: tokens in and out; ``None`` counts a token for every four letters.  tells_usage: whether it is sent.
        as_json: a whole answer although a stream was asked for, as some proxies do.
        stays: the connection is kept open behind the last word, without an end.
    """

    text: str = ""
    thinking: str = ""
    finish: str = "stop"
    status: int = 200
    error: str = ""
    code: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    kind: str = "application/json"
    letters: int = 24
    pause: float = 0.0
    first: float = 0.0
    hang_after: int | None = None
    cut_after: int | None = None
    usage: tuple[int, int] | None = None
    tells_usage: bool = True
    as_json: bool = False
    stays: bool = False


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
        refuses: request fields (``response_format``, ``stream_options``, ``max_tokens``, ``temperature``) and
            ``image_url`` that are answered with 400, as endpoints do that don't know them.

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
        port: int = 0,
    ) -> None:
        self.brain: Brain = brain or (lambda request: "")
        self.answers: deque[str | Answer] = deque(answers)
        self.key, self.models, self.refuses = key, models, frozenset(refuses)
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
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def bodies(self) -> list[Request]:
        """The requests' bodies."""
        return [asked.body for asked in self.asked]

    def answer_to(self, body: Request) -> Answer:
        """The next prepared answer, else the brain's."""
        for name in sorted(self.refuses):
            if name in body or (name == "image_url" and '"image_url"' in json.dumps(body)):
                return failing(
                    400, f"Unsupported parameter: '{name}' is not supported here.", code="unsupported"
                )
        with self.lock:
            given = self.answers.popleft() if self.answers else None
        given = given if given is not None else self.brain(body)
        return Answer(text=given) if isinstance(given, str) else given

    def cached_tokens(self, body: Request) -> int:
        """Tokens of the longest beginning that an earlier request had too, as a prefix cache would count them."""
        prompt = _prompt(body)
        with self.lock:
            before = [_prompt(asked.body) for asked in self.asked[-20:-1]]
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
        if not self.path.endswith("/chat/completions"):
            self._send(404, _error("no such address", ""))
            return
        try:
            self._answer(body, self.owner.answer_to(body))
        except OSError:  # the client went away, which is what some tests want
            self.owner.dropped += 1
            self.close_connection = True

    def _is_let_in(self) -> bool:
        if self.owner.key and self.headers.get("Authorization") != f"Bearer {self.owner.key}":
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
            self._send(200, json.dumps(_whole(body, self._counted(body, answer), self.owner)).encode())

    def _counted(self, body: Request, answer: Answer) -> Answer:
        if answer.usage is not None:
            return answer
        return replace(
            answer, usage=(len(_prompt(body)) // 4, (len(answer.text) + len(answer.thinking)) // 4)
        )

    def _stream(self, body: Request, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for number, delta in enumerate(_deltas(answer)):
            if answer.hang_after is not None and number >= answer.hang_after:
                self._hang()
                return
            if answer.cut_after is not None and number >= answer.cut_after:
                self.close_connection = True
                return
            self._wait(answer.pause)
            self._event(_chunk(body, delta, None))
        if answer.finish:
            self._event(_chunk(body, {}, answer.finish))
        if answer.stays:
            self._hang()
            return
        if answer.tells_usage and (body.get("stream_options") or {}).get("include_usage"):
            self._event({**_chunk(body, {}, None), "choices": [], "usage": _usage(body, answer, self.owner)})
        if answer.finish:
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
        self._piece(b"data: " + json.dumps(data).encode() + b"\n\n")

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


def _deltas(answer: Answer) -> Iterator[dict[str, str]]:
    yield {"role": "assistant", "content": ""}
    for at in range(0, len(answer.thinking), answer.letters):
        yield {"reasoning_content": answer.thinking[at : at + answer.letters]}
    for at in range(0, len(answer.text), answer.letters):
        yield {"content": answer.text[at : at + answer.letters]}


def _chunk(body: Request, delta: dict[str, str], finish: str | None) -> dict[str, Any]:
    return {
        "id": "chat-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _whole(body: Request, answer: Answer, server: ProtocolServer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish or None}],
        **({"usage": _usage(body, answer, server)} if answer.tells_usage else {}),
    }


def _usage(body: Request, answer: Answer, server: ProtocolServer) -> dict[str, Any]:
    tokens_in, tokens_out = answer.usage or (0, 0)
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "prompt_tokens_details": {"cached_tokens": min(tokens_in, server.cached_tokens(body))},
    }


def _error(message: str, code: str) -> bytes:
    return json.dumps(
        {"error": {"message": message, "type": "error", "code": code or None, "param": None}}
    ).encode()


def text_of(request: Request) -> str:
    """All text of a request, for a brain to read."""
    return _prompt(request)


def _prompt(body: Request) -> str:
    """The messages as one text; a picture counts by its address."""
    lines: list[str] = []
    for message in body.get("messages", []):
        content = message.get("content") or ""
        parts = content if isinstance(content, list) else [{"text": content}]
        words = (part.get("text") or (part.get("image_url") or {}).get("url", "")[:400] for part in parts)
        lines.append(f"{message.get('role')}: " + "\n".join(words))
    return "\n".join(lines)


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
