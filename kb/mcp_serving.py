"""Runs the MCP server of ``kb.mcp_server``: over standard input and output, or over HTTP on this machine.

Over HTTP every request needs the bearer token, compared in constant time, and must name this machine in ``Host`` (and
in ``Origin``, where a browser sends one): a page on the web can't reach the server by a name of its own that resolves
to 127.0.0.1.  The token is never logged.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import secrets
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.errors import KbError

if TYPE_CHECKING:
    from kb.knowledge import FrozenKnowledge
    from kb.mcp_server import KnowledgeServer, MapSource
    from kb.site_map import SiteMap

HOST, PORT, PATH = "127.0.0.1", 8765, "/mcp"
TOKEN_VARIABLE = "SITELORE_MCP_TOKEN"
"""The environment variable that holds the token, unless another one is named."""

SHORTEST_TOKEN = 16
LONGEST_LINE = 8 * 2**20
"""Bytes of one message over standard input; a longer one is answered as unreadable."""

_CHUNK = 65_536
_NO_SDK = "the MCP server needs the official SDK: install the extra 'mcp', or pip install 'mcp>=2.3,<3'"
_PACKAGES = ("sitelore", "sitelore-kb")
_TOKEN = re.compile(r"[\x21-\x7e]+")

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """How a frozen file is served.

    Attributes:
        http: over HTTP instead of standard input and output; ``port`` 0 takes a free one.
        token: the bearer token; "" makes a new one.
        graphs: files of ``sitelore graph export``.
        encoder: folder of an encoder, "" for none; tips are encoded in the background.
    """

    http: bool = False
    port: int = PORT
    token: str = ""
    graphs: tuple[str, ...] = ()
    encoder: str = ""


def opened(file: Path | str, options: ServeOptions) -> tuple[FrozenKnowledge, list[SiteMap]]:
    """Open everything that is served; raises ``BadFile``."""
    from kb.knowledge import open_frozen
    from kb.site_map import SiteMap

    knowledge = open_frozen(file, encoder=options.encoder or None, wait=False)
    knowledge.check_ahead()
    return knowledge, [SiteMap.read(path) for path in options.graphs]


def check_served(file: Path | str, options: ServeOptions) -> tuple[str, ...]:
    """Open everything that would be served but the encoder, and close it; return the notes.  Raises ``BadFile``."""
    knowledge, _ = opened(file, replace(options, encoder=""))
    with knowledge:
        return tuple(knowledge.notes)


def made(knowledge: FrozenKnowledge, maps: MapSource | Sequence[SiteMap]) -> KnowledgeServer:
    """Return the server; raises ``KbError`` with the remedy if the SDK is missing or of another major version."""
    try:
        from kb.mcp_server import ExportedMaps, knowledge_server
    except ImportError as error:
        raise KbError(_NO_SDK) from error
    source = ExportedMaps(maps) if isinstance(maps, Sequence) and maps else maps
    return knowledge_server(knowledge, None if isinstance(source, Sequence) else source, _version())


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            return version(package)
    return ""


def chosen_token(given: str) -> tuple[str, bool]:
    """The token to ask for, and whether it was made now.

    ``given`` is the token, ``$NAME`` for a variable of the environment, or "": the usual variable, or a new token.

    Raises:
        KbError: the variable is not set, or the token is too short or holds other characters than an HTTP header.
    """
    token = given or os.environ.get(TOKEN_VARIABLE, "")
    if given.startswith("$"):
        token = os.environ.get(given[1:].strip("{}"), "")
        if not token:
            raise KbError(f"the environment has no variable {given[1:].strip('{}')} for the token")
    if not token:
        return secrets.token_urlsafe(32), True
    if len(token) < SHORTEST_TOKEN or _TOKEN.fullmatch(token) is None:
        raise KbError(f"a token needs at least {SHORTEST_TOKEN} characters of ASCII, without blanks")
    return token, False


async def serve(server: KnowledgeServer, options: ServeOptions) -> None:
    """Serve until the client leaves (standard input ends), or until this is cancelled."""
    if options.http:
        await _serve_http(server, options)
    else:
        await _serve_stdio(server)


async def _serve_stdio(server: KnowledgeServer) -> None:
    from mcp.server.stdio import stdio_server

    low: Any = server._lowlevel_server  # pyright: ignore[reportPrivateUsage] - its own method reads input that can't be stopped
    lines: Any = _InputLines()
    async with stdio_server(stdin=lines) as (reading, writing):
        await low.run(reading, writing, low.create_initialization_options())


class _InputLines:
    """Lines of standard input, read on a thread that ends with the process: Ctrl+C is not kept waiting by a read."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read, name="kb-stdin", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            yield line

    def _read(self) -> None:
        rest = bytearray()
        too_long = False
        with suppress(RuntimeError):  # the loop is closed: nobody listens
            while chunk := _input():
                *whole, last = chunk.split(b"\n")
                for line in whole:
                    self._put(b"" if too_long else bytes(rest + line))
                    rest, too_long = bytearray(), False
                rest += last
                if len(rest) > LONGEST_LINE:
                    rest, too_long = bytearray(), True
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)

    def _put(self, line: bytes) -> None:
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line.decode("utf-8", "replace"))


def _input() -> bytes:
    try:
        return os.read(0, _CHUNK)
    except OSError:
        return b""


async def _serve_http(server: KnowledgeServer, options: ServeOptions) -> None:
    import uvicorn

    token, is_new = chosen_token(options.token)
    listening = _listening(options.port)
    port = listening.getsockname()[1]
    app: Any = server.streamable_http_app(streamable_http_path=PATH, json_response=True, host=HOST)
    config = uvicorn.Config(
        Guard(app, token, port),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )

    class Announced(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            note(f"serving http://{HOST}:{port}{PATH}; stop with Ctrl+C")
            if is_new:
                note(f"token (shown once): {token}")

    await Announced(config).serve(sockets=[listening])


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        raise KbError(
            f"port {port} of this machine can't be used ({error.strerror or error}); choose another, or 0 for any"
        ) from error
    return listening


class Guard:
    """Lets requests to an ASGI application pass that come from this machine and have the token."""

    def __init__(self, app: _App, token: str, port: int) -> None:
        self._app, self._token = app, token.encode()
        names = ("127.0.0.1", "localhost", "[::1]")
        self._hosts = {f"{name}:{port}" for name in names} | (set(names) if port == 80 else set[str]())

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif refusal := self._refusal(scope):
            await _refuse(send, *refusal)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: _Scope) -> tuple[int, str] | None:
        found: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            found.setdefault(name.lower(), []).append(value)
        hosts = [host.decode("latin-1").lower() for host in found.get(b"host", [])]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, "this server answers requests to this machine only; ask 127.0.0.1 or localhost"
        for origin in found.get(b"origin", []):
            if origin.decode("latin-1").lower().removeprefix("http://") not in self._hosts:
                return 403, "pages of other origins may not ask this server"
        given = found.get(b"authorization", [b""])
        kind, _, token = given[0].partition(b" ")
        right = hmac.compare_digest(token.strip(), self._token)
        if len(given) != 1 or kind.lower() != b"bearer" or not right:
            what = "the token is wrong" if given[0] else "a token is missing"
            return 401, f"{what}; send the header 'Authorization: Bearer TOKEN' with the server's token"
        return None


async def _refuse(send: _Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def client_config(command: Sequence[str], file: Path, options: ServeOptions) -> str:
    """The JSON that clients read (``mcpServers`` of Claude, Cursor, browser-use); the token is left to a variable.

    ``command`` starts the program up to ``serve``.
    """
    if options.http:
        entry: dict[str, Any] = {
            "type": "http",
            "url": f"http://{HOST}:{options.port}{PATH}",
            "headers": {"Authorization": f"Bearer ${{{TOKEN_VARIABLE}}}"},
        }
    else:
        more = [part for graph in options.graphs for part in ("--graph", _full(graph))]
        more += ["--encoder", _full(options.encoder)] if options.encoder else []
        entry = {"command": command[0], "args": [*command[1:], _full(file), *more]}
    return json.dumps({"mcpServers": {"site-knowledge": entry}}, indent=2, ensure_ascii=False)


def _full(path: Path | str) -> str:
    return str(Path(path).expanduser().resolve())


def note(text: str) -> None:
    """A line for a person, on standard error: standard output belongs to the protocol."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


__all__ = [
    "Guard",
    "ServeOptions",
    "check_served",
    "chosen_token",
    "client_config",
    "made",
    "note",
    "opened",
    "serve",
]
