"""Open addresses; report in one sentence what went wrong.

Handles what pages do to any visitor: hosts that don't answer, redirect loops, errors that go away at
the second try, pages that never become idle.
"""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.async_api import Error, Response
from playwright.async_api import TimeoutError as Late

from app.engine.browser.capture.page_idle import (
    IDLE_TIMEOUT,
    LOAD_TIMEOUT,
    wait_until_idle,
)
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import Cause
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.text import first_line

RETRY_DELAY = 0.5
"""Seconds after which a page that answered with a server fault is requested once more."""

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


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The result of opening a page, or of an operation that may have led to one.

    Attributes:
        error: empty on success, else one sentence.
        status: HTTP status of the page that was opened; 0 if none was, or it is unknown.
        seconds: from the start until the page was idle.
        notes: remarks on a success, such as "answered at the second try only".
        cause: the kind of ``error``.
    """

    error: str = ""
    status: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    cause: Cause = Cause.NETWORK

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return not self.error


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
    return LoadResult(error, status, round(time.monotonic() - began, 3), notes)


async def _go(session: BrowserSession, url: str) -> tuple[int, str]:
    """Open an address; return the HTTP status (0 without one), and one sentence if no page came."""
    page = session.page
    traffic = session.network
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
    return sentence.format(
        host=_host(url),
        url=_short(url),
        why=name or redact_text(first_line(message, "no reason given"))[:160],
    )


async def _has_crashed(session: BrowserSession) -> bool:
    """Whether the tab has crashed; the browser may report it a moment after the page failed."""
    await asyncio.sleep(0.1)
    return session.crashed


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _short(url: str) -> str:
    return redact_url(url)[:160]
