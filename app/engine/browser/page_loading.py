"""Open addresses and operate elements; report in one sentence what went wrong.

Handles what pages do to any visitor: hosts that don't answer, redirect loops, errors that go away at
the second try, pages that never become idle, covered elements.
"""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from urllib.parse import urlsplit

from playwright.async_api import Error, Response
from playwright.async_api import TimeoutError as Late

from app.engine.browser.capture.frames import NoSuchElement
from app.engine.browser.capture.page_idle import (
    IDLE_TIMEOUT,
    LOAD_TIMEOUT,
    QUIET_TIME,
    NetworkActivity,
    wait_until_idle,
)
from app.engine.browser.capture.snapshot import element_handle
from app.engine.browser.scripted_actions import ACTION_TIMEOUT, LoadResult, operate_handle
from app.engine.browser.session import BrowserSession
from app.engine.core.page_state import Element
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.text import first_line
from app.engine.core.transition import Operation

RETRY_DELAY = 0.5
"""Seconds after which a page that answered with a server fault is requested once more."""

SLOW_TIMEOUT_FACTOR = 4
"""Factor by which the second wait for an unobstructed element is longer than the first."""

HOVER_DELAY = 0.5
"""Seconds the pointer rests on an element it hovers over: many menus wait a quarter of one before they
open.
"""

_VERBS = {
    Operation.CLICK: "click",
    Operation.HOVER: "hover",
    Operation.SELECT: "select",
    Operation.TYPE: "fill",
    Operation.PRESS: "press",
}
_OPENED_ELSEWHERE = frozenset({"", "_self", "_parent", "_top"})
_DONE = "waiting for scheduled navigations to finish"
"""The end of Playwright's message for an action that was done and whose page has not come yet."""
_COVERED = re.compile(r"<(\w+)[^>]*>.*? intercepts pointer events")
_NET = re.compile(r"net::(ERR_[A-Z_]+)")
_SENTENCES = {
    "ERR_CONNECTION_REFUSED": "{host} does not answer: it refuses the connection",
    "ERR_CONNECTION_TIMED_OUT": "{host} does not answer",
    "ERR_ADDRESS_UNREACHABLE": "{host} can't be reached",
    "ERR_INTERNET_DISCONNECTED": "{host} can't be reached: there is no network",
    "ERR_NAME_NOT_RESOLVED": "there is no host {host}",
    "ERR_TOO_MANY_REDIRECTS": "{url} redirects in a loop",
    "ERR_CONNECTION_RESET": "{host} dropped the connection",
    "ERR_CONNECTION_CLOSED": "{host} dropped the connection",
    "ERR_EMPTY_RESPONSE": "{host} sent an empty response",
    "ERR_INVALID_RESPONSE": "{host} sent an invalid response",
    "ERR_UNSAFE_PORT": "browsers block the port of {host}",
    "ERR_ABORTED": "{url} brings no page",
}


async def open_page(session: BrowserSession, url: str, *, most: float = IDLE_TIMEOUT) -> LoadResult:
    """Open an address and wait until the page is idle.

    A server fault (5xx) or a broken connection is retried once. ``error`` is one sentence if no page
    came, or if the server still had a fault; a page that answers 404 or asks for a log-in is a page, told
    by ``status``. A crashed tab is replaced first.
    """
    began = time.monotonic()
    if urlsplit(url).scheme not in ("http", "https", "about"):
        return LoadResult(f"{_short(url)} is not the address of a page")
    if session.crashed or session.stopped or not session.pages:
        await session.renew()
    status, error = await _go(session, url)
    if error and await _has_crashed(session):
        await session.renew()
        status, error = await _go(session, url)
    notes: tuple[str, ...] = ()
    if status >= 500 or error.endswith(("dropped the connection", "sent an empty response")):
        first = error or f"the server answered {status}"
        await asyncio.sleep(RETRY_DELAY)
        status, error = await _go(session, url)
        notes = (f"answered at the second try only ({first})",) if not error and status < 500 else ()
    if not error and status >= 500:
        error = f"{_short(url)}: the server failed (status {status}, twice)"
    settled = await wait_until_idle(session, most=most) if not error or status else False
    if not error and not settled:
        notes = (*notes, "the page never became idle")
    return LoadResult(error, status, settled, round(time.monotonic() - began, 3), notes)


async def operate(
    session: BrowserSession,
    element: Element,
    operation: Operation,
    value: str = "",
    *,
    timeout: float = ACTION_TIMEOUT,
    quiet: float = QUIET_TIME,
    most: float = IDLE_TIMEOUT,
) -> LoadResult:
    """Perform one operation on an element of the last capture and wait until the page is idle.

    Links that open a window of their own are followed in this tab. ``value`` is the address to open, the
    label of the option to select, the text to type or the key to press; ``timeout`` is in seconds.
    """
    if operation is Operation.OPEN:
        return await open_page(session, value or element.href, most=most)
    if operation is Operation.CLICK and element.href and element.target not in _OPENED_ELSEWHERE:
        return await open_page(session, element.href, most=most)
    began = time.monotonic()
    traffic = NetworkActivity.of(session.page)
    before, documents = traffic.document, traffic.documents
    if operation is Operation.HOVER:
        quiet = max(quiet, HOVER_DELAY)
        with suppress(Error):  # a page that is gone is told of below
            await session.page.mouse.move(0, 0)  # the pointer has to come; it may rest there already
    error = await _touch(session, element, _VERBS[operation], value, timeout)
    if error:
        return LoadResult(error, 0, False, round(time.monotonic() - began, 3))
    settled = await wait_until_idle(session, quiet=quiet, most=most, acted=True)
    status = await traffic.status_since(before, documents)
    notes = () if settled else ("the page never became idle",)
    error = f"the server failed (status {status})" if status >= 500 else ""
    if session.page.url.startswith("chrome-error://"):
        error = f"the page behind {_named(element)} can't be reached"
    return LoadResult(error, status, settled, round(time.monotonic() - began, 3), notes)


async def _go(session: BrowserSession, url: str) -> tuple[int, str]:
    """Open an address; return the HTTP status (0 without one), and one sentence if no page came."""
    page = session.page
    traffic = NetworkActivity.of(page)
    before = traffic.document
    answer: Response | None
    try:
        answer = await page.goto(url, wait_until="domcontentloaded", timeout=LOAD_TIMEOUT * 1000)
    except Late:
        answer = traffic.document
        if answer is None or answer is before:
            with suppress(Error):  # else it stays under way, and what is asked of the tab next waits for it
                await session.send("Page.stopLoading")
            return 0, f"{_host(url)} does not answer ({_short(url)}, {LOAD_TIMEOUT:.0f} s)"
    except Error as error:
        if page.is_closed():
            return 0, "the browser's tab was closed"
        return 0, load_failure(url, error.message)
    return (answer.status if answer is not None else 0), ""


def load_failure(url: str, message: str) -> str:
    """Return one sentence on why no page came for an address; ``message`` is Playwright's."""
    if "Download is starting" in message:
        return f"{_short(url)} is no page: it offers a file"
    found = _NET.search(message)
    refused = "ERR_CONNECTION_REFUSED" if "ECONNREFUSED" in message else ""
    name = found[1] if found else refused
    sentence = _SENTENCES.get(name, "{url} can't be opened: {why}")
    return sentence.format(host=_host(url), url=_short(url), why=name or _browser_message(message))


async def _has_crashed(session: BrowserSession) -> bool:
    """Whether the tab has crashed; the browser may report it a moment after the page failed."""
    await asyncio.sleep(0.1)
    return session.crashed


async def _touch(session: BrowserSession, element: Element, verb: str, value: str, timeout: float) -> str:
    """Operate the element; return one sentence on what obstructed it, "" if nothing did.

    An obstructed element is given up after ``timeout`` seconds; one that is only slow gets a second
    chance.
    """
    for seconds in (timeout, SLOW_TIMEOUT_FACTOR * timeout):
        try:
            await operate_handle(
                await element_handle(session, element.index), verb, value, timeout=seconds * 1000
            )
        except (Error, NoSuchElement) as error:
            if _DONE in str(error):  # what took too long is the page it leads to
                return ""
            said = _reason(element, error)
            if said or not isinstance(error, Late):
                return said or f"{_named(element)}: {_browser_message(str(error))}"
        else:
            return ""
    return f"{_named(element)} could not be reached within {SLOW_TIMEOUT_FACTOR * timeout:g} s"


def _reason(element: Element, error: Exception) -> str:
    """Return what obstructed the element, in one sentence; "" if unknown."""
    text = str(error)
    named = _named(element)
    covered = _COVERED.search(text)
    if isinstance(error, NoSuchElement):
        return f"{named} has left the page"
    if covered:
        return f"{named} is covered by another element (<{covered[1]}>)"
    if "outside of the viewport" in text:
        return f"{named} lies outside of the page's visible part"
    if "element is not visible" in text:
        return f"{named} is not visible"
    if "element is not enabled" in text:
        return f"{named} is disabled"
    if "not attached" in text:
        return f"{named} has left the page"
    if "did not find some options" in text:
        return f"{named} has no such option"
    return ""


def _named(element: Element) -> str:
    return f"{element.role or 'element'} '{redact_text(element.name or element.text or element.tag)[:80]}'"


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _short(url: str) -> str:
    return redact_url(url)[:160]


def _browser_message(text: str) -> str:
    return redact_text(first_line(text, "no reason given"))[:160]
