"""The demo server's own manners: what it serves, what it refuses."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from app.demo.server import DemoServer
from app.demo.state import DemoState


async def ask(url: str, head: str) -> tuple[str, str]:
    """Status and body of one raw request to the host of ``url``."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(head.encode())
    await writer.drain()
    answer = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    top, _, body = answer.partition("\r\n\r\n")
    return top.split("\r\n")[0].removeprefix("HTTP/1.1 "), body


@pytest.mark.parametrize(
    "path",
    [
        "/static/../data.json",
        "/static/%2e%2e/data.json",
        "/static//etc/passwd",
        "/static/products/../../x.js",
    ],
)
async def test_nothing_outside_the_static_folder_is_served(server: DemoServer, path: str):
    status, body = await ask(server.shop_url, f"GET {path} HTTP/1.1\r\n\r\n")
    assert status == "404 Not Found"
    assert "customers" not in body


async def test_what_is_no_request_is_refused_and_the_server_goes_on(server: DemoServer):
    assert (await ask(server.shop_url, "hello\r\n\r\n"))[0] == "400 Bad Request"
    long = "POST /basket/add HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n"
    assert (await ask(server.shop_url, long))[0] == "400 Bad Request"
    assert (await ask(server.shop_url, "GET / HTTP/1.1\r\n\r\n"))[0] == "200 OK"


async def test_an_unknown_page_says_so(server: DemoServer):
    status, body = await ask(server.shop_url, "GET /product/unknown HTTP/1.1\r\n\r\n")
    assert status == "404 Not Found"
    assert "Nothing here" in body


async def test_what_is_typed_comes_back_as_text_and_not_as_markup(server: DemoServer):
    server.state.add_to_basket("me", "oak-tray", "One size")
    form = "name=%3Cb%3EIris%3C%2Fb%3E&town=Leeds"
    head = f"POST /checkout HTTP/1.1\r\nCookie: shop_session=me\r\nContent-Length: {len(form)}\r\n\r\n{form}"
    _, body = await ask(server.shop_url, head)
    assert "&lt;b&gt;Iris&lt;/b&gt;" in body
    assert "<b>Iris" not in body


async def test_a_taken_port_leaves_no_server_behind(server: DemoServer):
    taken = urlsplit(server.shop_url).port
    with pytest.raises(OSError, match="address already in use"):
        await DemoServer.start(taken)


def test_the_shop_opens_the_same_every_morning():
    assert DemoState.seeded() == DemoState.seeded()


def test_what_makes_no_sense_changes_nothing():
    state = DemoState.seeded()
    assert not state.add_to_basket("me", "oak-tray", "Huge")
    assert not state.add_to_basket("me", "no-such-thing", "One size")
    assert not state.change_product("oak-tray", "NaN", "1")
    assert not state.change_product("oak-tray", "1.00", "-1")
    assert state.place_order("me", "Iris", "Leeds") is None
    state.remove_from_basket("me", "7")
    assert state == DemoState.seeded()
