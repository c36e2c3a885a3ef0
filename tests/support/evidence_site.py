"""A small site whose pages are read as evidence; every request that reaches it is recorded.

``/form`` has fields of all kinds, ``/item/N`` a heading, ``/f/books/7/a-post`` a post, ``/members`` a table of members,
``/hangs`` a script without end, ``/slow`` never answers, ``/rest/…`` is a shop's interface for its administrator.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

ADMIN = "admin:admin-pass-1"
FORM = """<!DOCTYPE html><html><head><title>Form</title></head><body>
<form action="/save" method="post">
  <input id="name" name="name" value="before">
  <input id="tick" type="checkbox" checked><input id="other" type="checkbox">
  <label>Password <input id="secret" type="password" name="password" value="from-the-server-1"></label>
  <textarea id="words">old words</textarea>
  <select id="kind"><option value="a" selected>A</option><option value="b">B &amp; C</option></select>
  <input id="card" autocomplete="cc-number" value="4111111111111111">
</form><p id="entity">Fish &amp;amp; chips</p>
<button id="save" onclick="fetch('/save', {method: 'POST', body: 'x=1'})">Save</button>
</body></html>"""
MEMBERS = """<title>Members</title><table>
<tr><td data-label='Account'><span class='gl-avatar-labeled-sublabel'>@ann</span></td>
<td class='col-max-role'><span>Owner</span></td></tr>
<tr><td data-label='Account'><span class='gl-avatar-labeled-sublabel'>@yjlou</span></td>
<td class='col-max-role'><span>Guest</span></td></tr></table>"""
REVIEWS = [
    {"nickname": "Ann", "ratings": [{"rating_name": "Rating", "percent": 40}]},
    {"nickname": "Emma", "ratings": [{"rating_name": "Rating", "percent": 100}]},
]


class EvidenceSite:
    """The running site: its address without a final slash, and the requests that reached it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[str] = []
        self.ended = threading.Event()

    @property
    def writes(self) -> list[str]:
        """Requests other than GET and HEAD."""
        return [one for one in self.requests if not one.startswith(("GET", "HEAD"))]


class _Handler(BaseHTTPRequestHandler):
    site: EvidenceSite

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.site.requests.append(f"GET {path}")
        if path == "/slow":
            self.site.ended.wait(60)
            return
        if path.startswith("/rest/"):
            self._rest(path)
            return
        page = _page(path)
        self._send(page or "<title>Not here</title>", status=200 if page else 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        path = urlsplit(self.path).path
        self.site.requests.append(f"POST {path}")
        if path == "/rest/default/V1/integration/admin/token":
            given = json.loads(body)
            known = f"{given['username']}:{given['password']}" == ADMIN
            self._send('"token-of-the-shop"' if known else '"no"', "application/json", 200 if known else 401)
            return
        self._send("saved")

    def _rest(self, path: str) -> None:
        if self.headers.get("Authorization") != "Bearer token-of-the-shop":
            self._send('"no"', "application/json", 401)
        elif path == "/rest/V1/orders":
            self._send(json.dumps({"items": [{"increment_id": "000000187"}]}), "application/json")
        elif path.endswith("/B00J8RZL7I/reviews"):
            self._send(json.dumps(REVIEWS), "application/json")
        else:
            self._send("[]", "application/json")

    def _send(self, text: str, kind: str = "text/html; charset=utf-8", status: int = 200) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Set-Cookie", "sid=cookie-of-the-site; HttpOnly")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def _page(path: str) -> str:
    if path == "/form":
        return FORM
    if path == "/members":
        return MEMBERS
    if path.startswith(("/item/", "/f/")):
        return (
            f"<title>{path}</title><h1 id='head'>Page {path}</h1><div data-index='actions' hidden>later</div>"
        )
    if path == "/hangs":
        return "<title>Hangs</title><h1>Hangs</h1><script>setTimeout(() => { for (;;); }, 300)</script>"
    return "<title>Start</title><h1>Start</h1>" if path == "/" else ""


@contextmanager
def evidence_site() -> Iterator[EvidenceSite]:
    """The site on a free port of this machine, for the time of the block."""
    handler = type("_EvidenceHandler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    handler.site = site = EvidenceSite(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield site
    finally:
        site.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
