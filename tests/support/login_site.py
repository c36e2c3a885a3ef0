"""A site whose orders are behind a log-in: ``with LoginSite() as site: ... site.orders``.

Its session is a cookie that scripts can't read; its orders also want a token from local storage, which the page after
the log-in puts there.  Neither stands in any page.  The home page is open to everybody and sets a cookie.
"""

from __future__ import annotations

import html
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, quote, urlsplit

USER, PASSWORD = "anna", "swordfish9"
ANSWER = "order 4711"


class LoginSite:
    """One such site on a port of its own.

    Attributes:
        sessions: values of the cookie that are logged in, with their token.
        visits: sessions that saw the orders, in order.
    """

    def __init__(self, *, names_page: bool = True, sign_on: bool = False, back_to: str = "/orders") -> None:
        self.sessions: dict[str, str] = {}
        self.visits: list[str] = []
        self.names_page = names_page
        """Whether the log-in's address names the page that was asked for."""
        self.back_to = back_to
        """The page that the log-in's address names."""
        self.sign_on = sign_on
        """Whether the log-in is on another host, which has a cookie of its own (single sign-on)."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.get(self)

            def do_POST(self) -> None:
                site.post(self)

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.orders = f"{self.url}/orders"
        self.sign_on_url = self.url.replace("127.0.0.1", "localhost")

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def get(self, asked: BaseHTTPRequestHandler) -> None:
        path = urlsplit(asked.path)
        session = self._session(asked)
        match path.path:
            case "/orders" if session:
                self.visits.append(session)
                self._page(asked, "My orders", _ORDERS)
            case "/newest" if session and asked.headers.get("X-Token") == self.sessions[session]:
                self._send(asked, 200, ANSWER.encode())
            case "/token" if session:
                self._send(asked, 200, self.sessions[session].encode())
            case "/orders" if self.sign_on:
                to = f"{self.sign_on_url}/login?return_to={quote(self.orders, safe='')}"
                self._send(asked, 302, headers={"Location": to})
            case "/ticket" if path.query in self.sessions:
                cookie = f"sid={path.query}; Path=/; HttpOnly; SameSite=Lax"
                self._send(asked, 303, headers={"Location": "/welcome", "Set-Cookie": cookie})
            case "/orders":
                to = f"?next={quote(self.back_to, safe='')}" if self.names_page else ""
                self._send(asked, 302, headers={"Location": f"/login{to}"})
            case "/welcome" if session:
                self._page(asked, "Welcome", _WELCOME)
            case "/login" if session:
                self._send(asked, 302, headers={"Location": "/"})
            case "/login":
                self._page(asked, "Sign in", _FORM)
            case "/":
                self._page(asked, "Shop", '<p>Everybody is welcome.</p><a href="/orders">My orders</a>')
            case _:
                self._send(asked, 404)

    def post(self, asked: BaseHTTPRequestHandler) -> None:
        given = parse_qs(asked.rfile.read(int(asked.headers["Content-Length"])).decode())
        if (given.get("user"), given.get("password")) != ([USER], [PASSWORD]):
            self._page(asked, "Sign in", "<p role='alert'>Wrong name or password.</p>" + _FORM)
            return
        session = f"sid-{secrets.token_hex(16)}"
        self.sessions[session] = f"token-{secrets.token_hex(16)}"
        cookie, to = f"sid={session}; Path=/; HttpOnly; SameSite=Lax", "/welcome"
        if self.sign_on:
            cookie, to = f"sso=of-{session}; Path=/; HttpOnly; SameSite=Lax", f"{self.url}/ticket?{session}"
        self._send(asked, 303, headers={"Location": to, "Set-Cookie": cookie})

    def _session(self, asked: BaseHTTPRequestHandler) -> str:
        cookies = dict(
            part.strip().partition("=")[::2] for part in asked.headers.get("Cookie", "").split(";")
        )
        session = cookies.get("sid", "")
        return session if session in self.sessions else ""

    def _page(self, asked: BaseHTTPRequestHandler, title: str, body: str) -> None:
        text = f"<!doctype html><html lang=en><title>{html.escape(title)}</title><h1>{html.escape(title)}</h1>{body}"
        headers = {"Content-Type": "text/html; charset=utf-8"}
        if asked.path == "/":
            headers["Set-Cookie"] = "csrf=of-nobody; Path=/"
        self._send(asked, 200, text.encode(), headers)

    def _send(
        self,
        asked: BaseHTTPRequestHandler,
        status: int,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
    ) -> None:
        asked.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            asked.send_header(name, value)
        asked.end_headers()
        asked.wfile.write(body)


_FORM = (
    "<form method=post><label>Name <input name=user autofocus></label>"
    "<label>Password <input type=password name=password></label><button>Sign in</button></form>"
)
_WELCOME = """<p>You are signed in.</p><a href="/orders">My orders</a><p id=ready></p><script>
fetch('/token').then(answer => answer.text()).then(token => {
  localStorage.setItem('token', token); ready.textContent = 'Ready.'
})</script>"""
_ORDERS = """<p id=told>Nothing to see without the token.</p><script>
fetch('/newest', {headers: {'X-Token': localStorage.getItem('token')}}).then(answer => answer.text())
  .then(newest => { told.textContent = newest })</script>"""
