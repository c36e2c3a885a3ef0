"""The browser of an exploration: a first visit at every opening, and only reads are sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from app.engine.browser.browser_pool import BrowserDriver, BrowserPool
from app.engine.browser.driver import DriverFailure
from app.engine.browser.locators import locator_of
from app.engine.core.identity import keys_of
from app.engine.core.page_state import PageCapture
from app.engine.core.transition import Operation

PAGE = """<!doctype html><html lang="en"><title>Shop</title><main>
<p id="says"></p>
<button onclick="fetch('/store', {method: 'POST', body: 'x'})">Keep</button>
<button onclick="fetch('/thing', {method: 'DELETE'})">Quietly</button>
<button onclick="fetch('/search', {method: 'POST', body: 'x'})">More</button>
<button onclick="document.forms[0].submit()">Send</button>
<form method="post" action="/order"></form>
<ul style="display: none"><li><a href="/deep" data-method="get" class="x">Deep</a></li></ul>
</main><script>
localStorage.visits = Number(localStorage.visits || 0) + 1
sessionStorage.visits = Number(sessionStorage.visits || 0) + 1
says.textContent = [document.cookie, localStorage.visits, sessionStorage.visits].join(' | ')
document.cookie = 'seen=yes; path=/'
fetch('/search', {method: 'POST', body: 'first'})
</script>"""


class Wire:
    """A server that answers everything with one page and records the requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.asked.append(" ".join(head.split()[:2]))
            body = PAGE.encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                + f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except asyncio.IncompleteReadError:
            pass  # a connection the browser opened in advance
        finally:
            writer.close()


@pytest_asyncio.fixture(loop_scope="session")
async def wire() -> AsyncIterator[Wire]:
    served = Wire()
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server:
        yield served


async def press(driver: BrowserDriver, page: PageCapture, name: str) -> tuple[str, ...]:
    element = next(element for element in page.elements if element.name == name)
    deed = await driver.act(Operation.CLICK, locator_of(element, page))
    assert deed.ok, deed.why
    return deed.unsent


async def test_every_opening_is_the_first_one(wire: Wire):
    async with BrowserPool() as browsers:
        driver = browsers.drivers(1)[0]
        for _ in range(3):
            assert (await driver.open(wire.url)).ok
            assert "| 1 | 1" in (await driver.look(picture=False)).text
            assert "seen" not in (await driver.look(picture=False)).text


@pytest.mark.smoke
async def test_the_recorded_log_in_stays_while_everything_else_is_forgotten(wire: Wire, tmp_path: Path):
    cookie = {"name": "member", "value": "m1", "domain": "127.0.0.1", "path": "/", "expires": -1,
              "httpOnly": False, "secure": False, "sameSite": "Lax"}  # fmt: skip
    login = tmp_path / "login.json"
    login.write_text(json.dumps({"cookies": [cookie], "origins": []}), "utf-8")
    before = login.read_bytes()
    async with BrowserPool(storage_state=str(login)) as browsers:
        driver = browsers.drivers(1)[0]
        for _ in range(2):
            await driver.open(wire.url)
            assert "member=m1 | 1 | 1" in (await driver.look(picture=False)).text
    assert login.read_bytes() == before


async def test_nothing_is_sent_but_requests_that_read_or_that_loading_makes(wire: Wire):
    async with BrowserPool() as browsers:
        driver = browsers.drivers(1)[0]
        await driver.open(wire.url)
        page = await driver.look()
        assert "POST /search" in wire.asked
        loaded = len(wire.asked)
        assert await press(driver, page, "Keep") == ("POST /store",)
        assert await press(driver, page, "Quietly") == ("DELETE /thing",)
        assert await press(driver, page, "More") == ()
        assert await press(driver, page, "Send") == ("POST /order",)
        assert (await driver.look()).url == wire.url
        assert {asked for asked in wire.asked[loaded:] if not asked.startswith("GET")} == {"POST /search"}


async def test_a_page_thrown_away_is_followed_by_an_empty_one(wire: Wire):
    async with BrowserPool() as browsers:
        driver = browsers.drivers(1)[0]
        await driver.open(wire.url)
        await driver.reopen()
        assert (await driver.look()).url == "about:blank"
        assert (await driver.open(wire.url)).ok


async def test_an_element_that_is_not_there_is_not_guessed_at(wire: Wire):
    async with BrowserPool() as browsers:
        driver = browsers.drivers(1)[0]
        await driver.open(wire.url)
        page = await driver.look()
        locator = locator_of(next(e for e in page.elements if e.name == "More"), page)
        await driver.open("about:blank")
        await driver.look()
        deed = await driver.act(Operation.CLICK, locator)
        assert deed.trouble is DriverFailure.MISSING


async def test_links_that_cannot_be_seen_are_told_and_are_no_part_of_the_state(wire: Wire):
    async with BrowserPool() as browsers:
        driver = browsers.drivers(1)[0]
        await driver.open(wire.url)
        page = await driver.look()
        hidden = [element for element in page.elements if not element.visible and element.href]
        assert [(e.name, e.href, e.role) for e in hidden] == [("Deep", f"{wire.url}deep", "link")]
        assert ("data-method", "get") in hidden[0].attributes
        shown = replace(page, elements=tuple(e for e in page.elements if e.visible))
        assert keys_of(shown, wire.url) == keys_of(page, wire.url)
        assert (
            await driver.act(Operation.CLICK, locator_of(hidden[0], page))
        ).trouble is not DriverFailure.NONE
