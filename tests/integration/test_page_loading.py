"""Opening pages, operating elements and waiting until idle: a real Chromium on good and bad pages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from app.demo.server import HOST, DemoServer, Request, Response
from app.engine.browser import page_loading
from app.engine.browser.capture.page_idle import wait_until_idle
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.executor import Executor
from app.engine.browser.graph_operations import graph_executor, operate
from app.engine.browser.locators import locator_of, resolve
from app.engine.browser.page_loading import open_page
from app.engine.browser.session import BrowserSession
from app.engine.core.page_state import Element
from app.engine.core.transition import Operation, Tier

CONTROLS = """<!doctype html><title>Controls</title><body style="margin:0">
<a href="/other">Other page</a> <a href="/other" target="_blank">New window</a>
<button onclick="document.title='pressed'">Press me</button>
<button disabled>Off</button>
<div style="position:relative"><button>Under</button>
  <section style="position:absolute;inset:0;background:#eee">A notice</section></div>
<label>Name <input id="n"></label>
<select aria-label="Colour"><option>red</option><option>dark green</option></select>
<div onmouseenter="this.nextElementSibling.hidden=false" role="button" tabindex="0">More</div>
<p hidden>more there is</p>
<input aria-label="Search" onkeydown="if (event.key === 'Enter') document.title = 'sought ' + this.value">
<iframe name="inner" srcdoc="<button onclick='parent.document.title=&quot;from within&quot;'
  >Inside</button>"></iframe>
<my-card></my-card>
<script>
customElements.define("my-card", class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: "open"}).innerHTML = "<button>Shadowed</button>";
    this.shadowRoot.querySelector("button").onclick = () => { document.title = "from the shadow"; };
  }
});
</script>"""

PAGES = {
    "/": CONTROLS,
    "/other": "<!doctype html><title>Other</title><h1>Other</h1>",
    "/tick": "<p id=p><script>setInterval(() => { p.textContent = Date.now(); }, 20)</script>",
    "/spin": "<style>@keyframes s {to {rotate: 1turn}} p {animation: s 1s infinite}</style><p>spinning",
    "/grow": "<script>setInterval(() => document.body.append(document.createElement('p')), 20)</script><body>",
    "/stuck": "<script>setTimeout(() => { for (;;); }, 60)</script>",
    "/late": "<body><script>setTimeout(() => fetch('/slow').then(() => {"
    "document.body.innerHTML = '<button>Here at last</button>'}), 80)</script>",
    "/poll": "<body><script>setInterval(() => fetch('/api'), 40)</script>",
    "/slide": "<style>p {transition: margin 400ms} .on {margin: 90px}</style>"
    "<p>x</p><button onclick=\"document.querySelector('p').className = 'on'\">Slide</button>",
    "/api": "{}",
}


class Odd:
    """A site with misbehaving pages; ``asked`` counts requests by path."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}

    def __call__(self, request: Request) -> Response:
        path = request.path
        self.asked[path] = self.asked.get(path, 0) + 1
        if path == "/circle":
            return Response(status="302 Found", location="/circle")
        if path == "/sometimes":
            faulty = self.asked[path] % 2 == 1
            return Response(status="500 Oh" if faulty else "200 OK", body=b"<title>Well</title>")
        if path == "/fault":
            return Response(status="503 Busy", body=b"busy")
        if path == "/file":
            return Response(content_type="application/zip", body=b"PK")
        if path in PAGES:
            return Response(body=PAGES[path].encode())
        return Response(status="404 Not Found", body=b"<title>No</title>nothing here")


@asynccontextmanager
async def silent_server(answer: bytes = b"", wait: float = 60.0) -> AsyncIterator[str]:
    """Accept connections and send ``answer`` after ``wait`` seconds."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            if answer:
                writer.write(answer)
                await writer.drain()
            await asyncio.sleep(wait)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, HOST, 0)
    try:
        yield f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


@pytest_asyncio.fixture(loop_scope="session")
async def odd(server: DemoServer) -> tuple[Odd, str]:
    site = Odd()
    return site, f"http://{HOST}:{await server.listen(site, 0)}"


async def look(tab: BrowserSession) -> dict[str, Element]:
    return {element.name: element for element in (await capture(tab, picture=False)).elements}


async def elements(executor: Executor) -> dict[str, Element]:
    return {element.name: element for element in (await executor.capture(picture=False)).elements}


async def timed(tab: BrowserSession, **how: float | bool) -> tuple[bool, float]:
    began = time.monotonic()
    return await wait_until_idle(tab, **how), time.monotonic() - began


# rest


async def test_a_page_that_is_quiet_is_not_waited_for_long_and_one_just_touched_a_little_longer(
    blank: BrowserSession, odd: tuple[Odd, str]
):
    await open_page(blank, odd[1] + "/other")
    passed = [await timed(blank) for _ in range(5)]
    touched = [await timed(blank, acted=True) for _ in range(5)]
    assert all(still for still, _ in passed + touched)
    assert min(seconds for _, seconds in passed) < min(seconds for _, seconds in touched)
    assert min(seconds for _, seconds in touched) >= 0.15


@pytest.mark.parametrize("path", ["/tick", "/spin", "/poll"])
async def test_what_goes_on_for_ever_is_not_waited_for(
    blank: BrowserSession, odd: tuple[Odd, str], path: str
):
    done = await open_page(blank, odd[1] + path)
    assert (done.error, done.notes) == ("", ())
    assert done.seconds < 4


async def test_what_comes_late_is_waited_for(blank: BrowserSession, odd: tuple[Odd, str]):
    assert (await open_page(blank, odd[1] + "/late")).notes == ()
    assert "Here at last" in await look(blank)


async def test_a_movement_that_ends_is_waited_for(blank: BrowserSession, odd: tuple[Odd, str]):
    await open_page(blank, odd[1] + "/slide")
    executor = graph_executor(blank)
    assert (await operate(executor, (await elements(executor))["Slide"], Operation.CLICK)).ok
    assert (
        await blank.page.evaluate("() => getComputedStyle(document.querySelector('p')).marginTop") == "90px"
    )


async def test_a_page_that_never_comes_to_rest_is_taken_as_it_is_and_said_so(
    blank: BrowserSession, odd: tuple[Odd, str]
):
    done = await open_page(blank, odd[1] + "/grow", most=0.8)
    assert (done.error, done.notes) == ("", ("the page never became idle",))


async def test_a_page_whose_script_never_ends_does_not_hold_us(blank: BrowserSession, odd: tuple[Odd, str]):
    done = await open_page(blank, odd[1] + "/stuck", most=0.8)
    assert "the page never became idle" in done.notes
    assert done.seconds < 8


# addresses


async def test_a_page_that_opens_tells_its_status(blank: BrowserSession, odd: tuple[Odd, str]):
    assert (await open_page(blank, odd[1] + "/other")).status == 200
    missing = await open_page(blank, odd[1] + "/nowhere")
    assert (missing.error, missing.status) == ("", 404)


async def test_a_fault_that_goes_away_at_the_second_try_is_noted(blank: BrowserSession, odd: tuple[Odd, str]):
    done = await open_page(blank, odd[1] + "/sometimes")
    assert (done.error, done.status) == ("", 200)
    assert done.notes == ("answered at the second try only (the server answered 500)",)


async def test_a_fault_that_stays_is_an_error_after_two_tries(blank: BrowserSession, odd: tuple[Odd, str]):
    site, url = odd
    done = await open_page(blank, url + "/fault")
    assert done.error.endswith("/fault: the server failed (status 503, twice)")
    assert site.asked["/fault"] == 2


async def test_every_address_without_a_page_has_its_sentence(blank: BrowserSession, odd: tuple[Odd, str]):
    said = {
        odd[1] + "/circle": "redirects in a loop",
        odd[1] + "/file": "is no page: it offers a file",
        f"http://{HOST}:1/": "browsers block the port",
        "http://nobody.invalid/": "there is no host nobody.invalid",
        "javascript:alert(1)": "is not the address of a page",
        "file:///etc/hostname": "is not the address of a page",
        "mailto:a@b.test": "is not the address of a page",
    }
    for url, sentence in said.items():
        assert sentence in (await open_page(blank, url)).error, url
    async with silent_server() as url:
        pass
    assert "refuses the connection" in (await open_page(blank, url)).error


async def test_a_host_that_says_nothing_is_given_up(blank: BrowserSession, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(page_loading, "LOAD_TIMEOUT", 0.7)
    async with silent_server() as url:
        done = await open_page(blank, url + "/")
    assert "does not answer" in done.error
    assert done.seconds < 5


async def test_a_page_that_is_never_sent_whole_is_taken_as_far_as_it_came(
    blank: BrowserSession, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(page_loading, "LOAD_TIMEOUT", 0.7)
    half = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<h1>Half</h1><a href=/x>Way</a>"
    async with silent_server(half) as url:
        done = await open_page(blank, url + "/", most=0.8)
        assert (done.error, done.status, done.notes) == ("", 200, ("the page never became idle",))
        assert "Way" in await look(blank)


async def test_after_a_crash_the_next_address_opens_in_a_new_tab(blank: BrowserSession, odd: tuple[Odd, str]):
    await open_page(blank, odd[1] + "/")
    await open_page(blank, "about:blank")
    with pytest.raises(Exception, match="crash"):
        await blank.page.goto("chrome://crash")
    assert (await open_page(blank, odd[1] + "/other")).status == 200


# elements


async def test_each_operation_does_what_it_says(blank: BrowserSession, odd: tuple[Odd, str]):
    await open_page(blank, odd[1] + "/")
    page = blank.page
    executor = graph_executor(blank)
    here = await elements(executor)
    for name, operation, value, title in (
        ("Press me", Operation.CLICK, "", "pressed"),
        ("Inside", Operation.CLICK, "", "from within"),
        ("Shadowed", Operation.CLICK, "", "from the shadow"),
        ("Search", Operation.TYPE, "jug", "from the shadow"),
        ("Search", Operation.PRESS, "Enter", "sought jug"),
    ):
        assert (await operate(executor, here[name], operation, value)).error == ""
        assert await page.title() == title
    assert (await operate(executor, here["Colour"], Operation.SELECT, "dark green")).ok
    assert await page.evaluate("() => document.querySelector('select').value") == "dark green"
    assert (await operate(executor, here["More"], Operation.HOVER)).ok
    assert await page.is_visible("text=more there is")
    assert (await operate(executor, here["Name"], Operation.TYPE, "Iris")).ok
    assert await page.input_value("#n") == "Iris"


async def test_a_link_is_followed_and_the_status_told_in_this_tab_even_if_it_wants_another(
    blank: BrowserSession, odd: tuple[Odd, str]
):
    for name in ("Other page", "New window"):
        await open_page(blank, odd[1] + "/")
        executor = graph_executor(blank)
        done = await operate(executor, (await elements(executor))[name], Operation.CLICK)
        assert (done.error, done.status) == ("", 200)
        assert blank.page.url == odd[1] + "/other"
        assert len(blank.pages) == 1


async def test_a_link_to_a_slow_page_is_clicked_once_and_waited_for(blank: BrowserSession):
    slow = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\n\r\n<title>Slow</title>xx"
    asked: list[bytes] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        await asyncio.sleep(1.5)
        writer.write(slow)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(connected, HOST, 0) as server:
        port = server.sockets[0].getsockname()[1]
        await blank.page.set_content(f"<a href='http://{HOST}:{port}/slow'>Slow page</a>")
        executor = graph_executor(blank)
        done = await operate(executor, (await elements(executor))["Slow page"], Operation.CLICK)
        assert (done.error, done.status) == ("", 200)
        assert await blank.page.title() == "Slow"
        assert sum(b"GET /slow" in request for request in asked) == 1


async def test_what_stands_in_the_way_is_said_in_one_sentence(blank: BrowserSession, odd: tuple[Odd, str]):
    await open_page(blank, odd[1] + "/")
    executor = graph_executor(blank)
    here = await elements(executor)
    refused = {
        "Off": "button 'Off' is disabled",
        "Under": "button 'Under' is covered by <section> 'A notice'",
    }
    for name, sentence in refused.items():
        done = await operate(executor, here[name], Operation.CLICK)
        assert done.error == sentence
    assert "no such option" in (await operate(executor, here["Colour"], Operation.SELECT, "mauve")).error
    await open_page(blank, odd[1] + "/other")
    assert (
        await operate(executor, here["Press me"], Operation.CLICK)
    ).error == "button 'Press me' has left the page since it was looked at"


# locators on a real page


async def test_every_element_of_a_page_is_found_again_after_it_was_loaded_anew(
    blank: BrowserSession, odd: tuple[Odd, str]
):
    await open_page(blank, odd[1] + "/")
    first = await capture(blank, picture=False)
    await open_page(blank, odd[1] + "/")
    again = await capture(blank, picture=False)
    shown = [element for element in first.elements if element.visible]
    assert len(shown) >= 11
    for element in shown:
        found = resolve(locator_of(element, first), again)
        assert found.element is not None, (element.name, found.why)
        assert (found.element.role, found.element.name) == (element.role, element.name)
        assert found.element.frame == element.frame


async def test_elements_are_found_after_ids_were_regenerated_and_the_page_was_rearranged(
    blank: BrowserSession, odd: tuple[Odd, str]
):
    await open_page(blank, odd[1] + "/")
    first = await capture(blank, picture=False)
    await blank.page.evaluate(
        """() => {
            for (const child of [...document.body.children].reverse()) document.body.append(child);
            for (const input of document.querySelectorAll("input")) input.id = "x" + Math.random();
        }"""
    )
    again = await capture(blank, picture=False)
    for name in ("Press me", "Name", "Colour", "Search", "Shadowed", "Other page"):
        element = next(e for e in first.elements if e.name == name)
        found = resolve(locator_of(element, first), again)
        assert found.element is not None, found.why
        assert found.element.name == name
        assert found.tier in (Tier.ATTRIBUTES, Tier.ROLE_NAME)
