"""The demo shop, served on this machine only: shop, admin part, and a maker's external site."""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from http.cookies import CookieError, SimpleCookie
from typing import Self
from urllib.parse import parse_qsl, unquote, urlsplit

from app.assets import resource
from app.demo import pages as pages
from app.demo.pages import Html, fill
from app.demo.state import DemoState

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
MAX_BODY = 64 * 1024
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One complete request; ``form`` holds a POST's fields."""

    method: str
    path: str
    query: dict[str, str]
    form: dict[str, str]
    cookies: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One response; ``location`` makes it a redirect, ``cookie`` is set if it is not empty."""

    body: bytes = b""
    status: str = "200 OK"
    content_type: str = "text/html; charset=utf-8"
    location: str = ""
    cookie: str = ""


Site = Callable[[Request], Response]


class DemoServer:
    """Three small sites over one state.  ``async with await DemoServer.start() as server: ...``

    Attributes:
        state: the shop's data; a run is checked against it.
        shop_url, admin_url, maker_url: addresses without a final slash.
    """

    def __init__(self) -> None:
        self.state = DemoState.seeded()
        self.shop_url = self.admin_url = self.maker_url = ""
        self._servers: list[asyncio.Server] = []
        self._sessions = itertools.count(1)
        self._signed_in: set[str] = set()

    @classmethod
    async def start(cls, port: int = 0) -> Self:
        """Listen on ``port``, ``port + 1`` and ``port + 2`` (shop, admin, maker), or on free ones for 0.

        Raises ``OSError`` if a port is taken.
        """
        server = cls()
        addresses: list[str] = []
        try:
            for offset, site in enumerate((server.shop, server.admin, server.maker)):
                listening = await server.listen(site, port + offset if port else 0)
                addresses.append(f"http://{HOST}:{listening}")
        except OSError:
            await server.stop()
            raise
        server.shop_url, server.admin_url, server.maker_url = addresses
        return server

    async def listen(self, site: Site, port: int) -> int:
        """Serve one site and return its port."""

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await _serve(site, reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                log.debug("a connection to the demo site closed early")
            finally:
                writer.close()

        server = await asyncio.start_server(connected, HOST, port)
        self._servers.append(server)
        return server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and close open connections."""
        for server in self._servers:
            server.close()
        for server in self._servers:
            await server.wait_closed()
        self._servers.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # the three sites

    def shop(self, request: Request) -> Response:
        """The shop's pages."""
        session = request.cookies.get("shop_session", "")
        if not session:
            session = f"visitor-{next(self._sessions)}"
            return replace(self._shop(request, session), cookie=f"shop_session={session}")
        return self._shop(request, session)

    def _shop(self, request: Request, session: str) -> Response:
        state = self.state

        def page(title: str, body: Html, department: str = "") -> Response:
            return _html(pages.shop_page(state, session, title, body, department=department))

        match (request.method, *request.path.strip("/").split("/")):
            case ("GET", ""):
                return page("Home", pages.department_page(state, "", request.query.get("sort", "shelf")))
            case ("GET", "department", name) if name in pages.DEPARTMENTS:
                body = pages.department_page(state, name, request.query.get("sort", "shelf"))
                return page(name, body, name)
            case ("GET", "product", slug) if slug in state.products:
                product = state.products[slug]
                body = pages.product_page(product, added="added" in request.query)
                return page(product.name, body, product.department)
            case ("GET", "basket"):
                return page("Basket", pages.basket_page(state, session))
            case ("GET", "checkout"):
                return page("Check out", pages.checkout_page(state, session))
            case ("POST", *rest):
                return self._shop_post(request, session, rest, page)
            case _:
                return _not_found(page("Nothing here", fill("missing", home="/")))

    def _shop_post(
        self, request: Request, session: str, path: list[str], page: Callable[[str, Html], Response]
    ) -> Response:
        state = self.state
        match path:
            case ["basket", "add"]:
                slug = request.form.get("product", "")
                added = state.add_to_basket(session, slug, request.form.get("size", ""))
                return Response(
                    status="303 See Other", location=f"/product/{slug}" + ("?added=1" if added else "")
                )
            case ["basket", "remove"]:
                state.remove_from_basket(session, request.form.get("line", ""))
                return Response(status="303 See Other", location="/basket")
            case ["checkout"]:
                name, town = request.form.get("name", ""), request.form.get("town", "")
                order = state.place_order(session, name, town)
                if order is None:
                    return page("Check out", pages.checkout_page(state, session, incomplete=True))
                return page("Thank you", fill("placed", name=name, town=town, order=order))
            case _:
                return _not_found(page("Nothing here", fill("missing", home="/")))

    def admin(self, request: Request) -> Response:
        """The admin part's pages; all but the sign-in page require a session."""
        if request.path == "/admin/sign-in":
            if request.method == "POST" and (request.form.get("user"), request.form.get("password")) == (
                "demo",
                "larkspur",
            ):
                session = f"admin-{next(self._sessions)}"
                self._signed_in.add(session)
                return Response(status="303 See Other", location="/admin", cookie=f"admin_session={session}")
            return _html(fill("admin_gate", body=fill("sign_in")))
        if request.cookies.get("admin_session") not in self._signed_in:
            return Response(status="303 See Other", location="/admin/sign-in")
        return self._admin(request)

    def _admin(self, request: Request) -> Response:
        state = self.state

        def page(title: str, body: Html, current: str = "") -> Response:
            return _html(pages.admin_page(title, body, current=current))

        match (request.method, *request.path.strip("/").split("/")):
            case ("GET", "" | "admin"):
                return page("Dashboard", pages.dashboard(state))
            case ("GET", "admin", "products"):
                return page("Products", pages.products_page(state, self.maker_url), "Products")
            case (_, "admin", "products", slug) if slug in state.products:
                return self._admin_product(request, slug, page)
            case ("GET", "admin", "orders"):
                news = "admin_news" not in request.cookies
                return page("Orders", pages.orders_page(state, request.query, news=news), "Orders")
            case ("GET", "admin", "orders", number) if number.isdecimal() and int(number) in state.orders:
                return page(f"Order {number}", pages.order_page(state, state.orders[int(number)]), "Orders")
            case ("GET", "admin", "customers"):
                return page("Customers", pages.customers_page(state, request.query), "Customers")
            case ("GET", "admin", "reports", name) if name in _REPORTS:
                title, report = _REPORTS[name]
                return page(title, report(state))
            case ("GET", "admin", "help"):
                return page("Words we use", fill("help"), "Help")
            case _:
                return _not_found(page("Nothing here", fill("missing", home="/admin")))

    def _admin_product(
        self, request: Request, slug: str, page: Callable[[str, Html, str], Response]
    ) -> Response:
        product, notice = self.state.products[slug], "saved" if "saved" in request.query else ""
        if request.method == "POST":
            form = request.form
            if self.state.change_product(slug, form.get("price", ""), form.get("stock", "")):
                return Response(status="303 See Other", location=f"/admin/products/{slug}?saved=1")
            notice = "refused"
        return page(product.name, pages.product_form(product, notice), "Products")

    def maker(self, request: Request) -> Response:
        """The site of a product's maker, without any functions."""
        product = self.state.products.get(request.path.strip("/"))
        if product is None:
            return _html(fill("maker", maker="Makers", name="things"))
        return _html(fill("maker", maker=product.maker, name=product.name))


def _html(page: Html) -> Response:
    return Response(body=page.encode())


def _not_found(page: Response) -> Response:
    return replace(page, status="404 Not Found")


_REPORTS = {"orders": ("Orders by month", pages.orders_report), "stock": ("Stock", pages.stock_report)}
_STATIC = re.compile(r"/static/((?:products/)?[a-z-]+\.(?:css|js|svg))")


def _static(path: str) -> Response | None:
    """A file of ``resources/demo_site/static``; the pattern allows no path out of the folder."""
    match = _STATIC.fullmatch(path)
    if match is None:
        return None
    file = resource("demo_site", "static", *match[1].split("/"))
    if not file.is_file():
        return Response(status="404 Not Found", content_type="text/plain")
    return Response(body=file.read_bytes(), content_type=TYPES[file.suffix])


async def _serve(site: Site, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read one request, respond, and close the connection."""
    request = await _read(reader)
    if request is None:
        response = Response(status="400 Bad Request", content_type="text/plain", body=b"not understood")
    else:
        response = _static(request.path) or site(request)
        log.debug("%s %s: %s", request.method, request.path, response.status)
    head = [
        f"HTTP/1.1 {response.status}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    if response.location:
        head.append(f"Location: {response.location}")
    if response.cookie:
        head.append(f"Set-Cookie: {response.cookie}; Path=/; SameSite=Lax")
    writer.write("\r\n".join([*head, "", ""]).encode("latin-1") + response.body)
    await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """Read one request; ``None`` if it is malformed or its body is too long."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    words = head[0].split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (h.partition(":") for h in head[1:])}
    length = headers.get("content-length", "0")
    if len(words) != 3 or not length.isdecimal() or int(length) > MAX_BODY:
        return None
    body = (await reader.readexactly(int(length))).decode("utf-8", "replace")
    address = urlsplit(words[1])
    return Request(
        method=words[0],
        path=unquote(address.path),
        query=dict(parse_qsl(address.query)),
        form=dict(parse_qsl(body)),
        cookies=_cookies(headers.get("cookie", "")),
    )


def _cookies(header: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header).items()}
    except CookieError:
        return {}
