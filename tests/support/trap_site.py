"""A site that tempts and traps: things by several people, orders to agents, and buttons that write in hidden ways.

It answers under two hosts (``home`` on 127.0.0.1, ``other`` on localhost, each with a port of its own) from threads, so
that it serves a browser of this process and of another one alike.  **Every write that reaches it is recorded**, so that
a test asserts what really left a browser::

    with trap_site() as site:
        ...  # open f"{site.home}/trap/beacon", press "Show more"
        assert site.writes == ()

Pages (HTML of all of them: ``tests.support.trap_pages``):

``/``                       links to all of these
``/things``, ``/things/3``  six things by alice, bob and carol: Mark (script), Archive (form), Delete (script); the page
                            of one has a comment form and a notes field.  What is done to them is in ``site.things``.
``/guestbook``, ``/order``, ``/settings``, ``/login``
                            a form each; settings has a token field and "Delete everything".  Any user name with the
                            password ``site.password`` is let in.
``/say/ORDER/CARRIER``      a price list with an order to the agent (``ORDERS``) in one place of the page
                            (``CARRIERS``), and all that is needed to obey it
``/trap/NAME``              a harmless-looking button that writes in one way (``TRAPS``)
``/trap-door``              an address that no task asks for; seen in ``site.visits``
``/kept``                   a page whose script the browser may keep
``/tried``                  asked for by a trap's worker when its socket was tried; seen in ``site.visits``
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.support import trap_pages as pages
from tests.support.trap_pages import CARRIERS, ORDERS, TRAPS, Thing, the_things

__all__ = ["CARRIERS", "ORDERS", "TRAPS", "TrapSite", "Write", "trap_site"]

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_THING = re.compile(r"/things/(\d+)(?:/(mark|archive|comments|notes))?")
_DOT = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")


@dataclass(frozen=True, slots=True)
class Write:
    """A write that reached the server; ``SEND`` is the method of a message over a socket."""

    host: str
    method: str
    path: str
    body: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class TrapSite:
    """The state of the site.

    Attributes:
        home, other: addresses of its two hosts, without a final slash.
        things: by number, with their changes. entries: of the guest book.
        password: the password its log-in accepts.
    """

    def __init__(self) -> None:
        self.home = self.other = ""
        self.password = "open-sesame-7"
        self._lock = threading.Lock()
        self._came = threading.Condition(self._lock)
        self.reset()

    def reset(self) -> None:
        """Forget the writes and undo them."""
        with self._lock:
            self.things: dict[int, Thing] = the_things()
            self.entries: list[str] = []
            self._writes: list[Write] = []
            self._visits: list[str] = []
            self._read: list[str] = []

    @property
    def writes(self) -> tuple[Write, ...]:
        """Every write that has reached the server, in order; a log-in is none."""
        with self._lock:
            return tuple(self._writes)

    @property
    def wrote(self) -> tuple[str, ...]:
        """The same as ``METHOD /path``."""
        return tuple(map(str, self.writes))

    @property
    def visits(self) -> tuple[str, ...]:
        """Addresses of requested documents, with the host."""
        with self._lock:
            return tuple(self._visits)

    @property
    def read(self) -> tuple[str, ...]:
        """Requests by POST that only read (``/rpc`` with ``list``, ``/graphql`` with a query)."""
        with self._lock:
            return tuple(self._read)

    def wait_for_write(self, seconds: float = 10.0) -> bool:
        """Wait until there is any; call it from a thread."""
        with self._came:
            return self._came.wait_for(lambda: bool(self._writes), seconds)

    # ---------------------------------------------------------------- what the handlers call

    def visited(self, url: str) -> None:
        """Record a requested document."""
        with self._lock:
            self._visits.append(url)

    def take(self, host: str, method: str, path: str, body: str) -> tuple[int, str, str]:
        """Carry out and record a request; return status, redirect address, text."""
        with self._came:
            if _only_reads(method, path, body):
                self._read.append(f"{method} {path}")
                return 200, "", "[]"
            if path == "/session":
                right = dict(parse_qsl(body)).get("password") == self.password
                return (303, "/things", "") if right else (403, "", "Wrong password")
            method = dict(parse_qsl(body)).get("_method", method)
            self._writes.append(Write(host, method, path, body))
            self._came.notify_all()
            return self._done(method, path, body)

    def _done(self, method: str, path: str, body: str) -> tuple[int, str, str]:
        if path == "/guestbook":
            self.entries.append(dict(parse_qsl(body)).get("entry", ""))
            return 303, "/guestbook", ""
        if path in ("/order", "/token", "/delete-all"):
            return 303, "/", ""
        found = _THING.fullmatch(path)
        thing = self.things.get(int(found[1])) if found else None
        if found is None or thing is None:
            return 200, "", "done"
        match method, found[2]:
            case "DELETE", None:
                thing.state = "deleted"
            case "POST", "archive":
                thing.state = "archived"
                return 303, "/things", ""
            case "POST", "comments":
                thing.comments.append(dict(parse_qsl(body)).get("text", ""))
                return 303, f"/things/{thing.number}", ""
            case "PUT", "notes":
                thing.notes = str(json.loads(body).get("notes", ""))
            case _:
                thing.marked = True
        return 200, "", f"{thing.state}{', marked' if thing.marked else ''}"


def _only_reads(method: str, path: str, body: str) -> bool:
    """The site's own rule for its two shared paths; all else that is no GET writes."""
    if method != "POST" or path not in ("/rpc", "/graphql"):
        return False
    if path == "/graphql":
        return "mutation" not in body
    try:
        calls = json.loads(body)
    except ValueError:
        return False
    calls = calls if isinstance(calls, list) else [calls]
    return all(call.get("method") == "list" for call in calls)


class _Handler(BaseHTTPRequestHandler):
    site: ClassVar[TrapSite]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        host = self.headers.get("Host", "")
        if self.headers.get("Upgrade", "").lower() == "websocket":
            self._socket(host, parts.path)
            return
        if parts.path == "/graphql" and "mutation" in parts.query:
            self.site.take(host, "GET", parts.path, parts.query)
        if parts.path in pages.SCRIPTS:
            self._send(self._addressed(pages.SCRIPTS[parts.path]), "text/javascript")
            return
        if parts.path == "/dot.png":
            self._send(_DOT, "image/gif")
            return
        page = self._page(parts.path, parse_qs(parts.query))
        if page is not None:
            self.site.visited(f"http://{host}{parts.path}")
        self._send(page or "<title>Not here</title><h1>Not here</h1>", status=200 if page else 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8", "replace")
        method = self.headers.get("X-HTTP-Method-Override", self.command)
        status, to, text = self.site.take(
            self.headers.get("Host", ""), method, urlsplit(self.path).path, body
        )
        self._send(text, "text/plain", status=status, to=to)

    def __getattr__(self, name: str) -> Any:
        """Handle ``do_PUT`` and every other method like POST."""
        if name in ("do_PUT", "do_PATCH", "do_DELETE"):
            return self.do_POST
        raise AttributeError(name)

    def do_OPTIONS(self) -> None:
        self._send("", status=204)

    def _page(self, path: str, query: dict[str, list[str]]) -> str | None:
        site = self.site
        home, other = site.home, site.other
        things = list(site.things.values())
        match path.strip("/").split("/"):
            case [""]:
                return self._home()
            case ["things"]:
                word = query.get("q", [""])[0].lower()
                return pages.listing([thing for thing in things if word in thing.name.lower()])
            case ["things", number] if number.isdecimal() and int(number) in site.things:
                return pages.thing_page(site.things[int(number)])
            case ["guestbook"]:
                return pages.guest_book(site.entries)
            case ["say", order, carrier] if order in ORDERS and carrier in CARRIERS:
                return pages.order_page(order, carrier, home, other, things)
            case ["trap", name] if name in TRAPS:
                return self._addressed(pages.trap_page(name))
            case [name]:
                return {
                    "order": pages.ORDER_FORM, "settings": pages.SETTINGS, "login": pages.LOGIN,
                    "frame": pages.FRAME, "opened": pages.OPENED,
                    "window": pages.WINDOW, "tried": "tried", "kept": pages.KEPT,
                    "trap-door": pages.html("Trap door", "<p>No task leads here.</p>"),
                }.get(name)  # fmt: skip
            case _:
                return None

    def _addressed(self, text: str) -> str:
        home, other = self.site.home, self.site.other
        return (
            text.replace("SOCKET", home.replace("http", "ws", 1))
            .replace("HOME", home)
            .replace("OTHER", other)
        )

    def _home(self) -> str:
        links = [f"/trap/{name}" for name in TRAPS] + [
            f"/say/{order}/{carrier}" for order in ORDERS for carrier in CARRIERS
        ]
        return pages.html("Trap site", "".join(f"<p><a href='{link}'>{link}</a></p>" for link in links))

    def _socket(self, host: str, path: str) -> None:
        key = self.headers.get("Sec-WebSocket-Key", "").encode()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header(
            "Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key + _MAGIC).digest()).decode()
        )
        self.end_headers()
        self.close_connection = True
        while (text := self._message()) is not None:
            self.site.take(host, "SEND", path, text)

    def _message(self) -> str | None:
        head = self.rfile.read(2)
        if len(head) < 2 or head[0] & 15 == 8:
            return None
        size = head[1] & 127
        if size >= 126:
            size = struct.unpack(">H" if size == 126 else ">Q", self.rfile.read(2 if size == 126 else 8))[0]
        mask = self.rfile.read(4)
        return bytes(c ^ mask[i % 4] for i, c in enumerate(self.rfile.read(size))).decode("utf-8", "replace")

    def _send(
        self, body: str | bytes, kind: str = "text/html; charset=utf-8", *, status: int = 200, to: str = ""
    ) -> None:
        told = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(told)))
        if self.path.endswith("kept.js"):
            self.send_header("Cache-Control", "max-age=600")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Methods", "*")
        self.send_header("Access-Control-Allow-Headers", "*")
        if to:
            self.send_header("Location", to)
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            return  # the browser broke it off


@contextmanager
def trap_site() -> Iterator[TrapSite]:
    """The site under its two hosts, for the time of the block."""
    site = TrapSite()
    handler: Any = type("Handler", (_Handler,), {"site": site})
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(2)]
    site.home = f"http://127.0.0.1:{servers[0].server_port}"
    site.other = f"http://localhost:{servers[1].server_port}"
    threads = [
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}) for server in servers
    ]
    for server, thread in zip(servers, threads, strict=True):
        server.daemon_threads = True
        thread.start()
    try:
        yield site
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()
