"""Stored pages of runs, opened offline in Chromium so that a suite's locators can be evaluated in them.

Nothing of a page gets out and none of its scripts runs: it has a browser context of its own in which JavaScript is off
and every request is refused. A locator is JavaScript that a suite's file brings; it is evaluated in that page alone,
with a time limit, and sees nothing but the page.
"""

from __future__ import annotations

import asyncio
import html as html_entities
import math
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any, Self, cast

from playwright.async_api import Browser, CDPSession, Error, Page, Route

from app.engine.browser.session import BROWSER_GONE, open_browser
from app.engine.core.local_time import BROWSER_LOCALE
from app.errors import SiteloreError

NOT_STORED = "what was typed is not in the stored page"
NOT_READABLE = "the stored page could not be opened"
TOO_LONG = "the locator did not come to an end"
PAGE_TIMEOUT = 15.0
"""Seconds that a stored page may take to open."""
LOCATOR_TIMEOUT = 3.0
"""Seconds that one locator may take."""
AT_ONCE = 2
"""Pages that are open at the same time."""

_NOWHERE = "http://stored.invalid/"
_FIELD_STATE = re.compile(
    r"\.(?:value(?:As\w+)?|checked|selected\w*|files|indeterminate|validity|willValidate|form\w*|elements)\b"
    r"|[\[\"'](?:value|checked|selected\w*|files)[\"']\]|:checked|:selected|:invalid|:valid|FormData|activeElement"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLocator:
    """A place to read in a stored page: JavaScript, after other JavaScript whose errors do not count."""

    id: str
    script: str
    prepare: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedText:
    """The text at a place; ``None`` with a reason where a stored page can't hold it.

    ``missing`` says that the locator failed in the page, which as published gives an empty text.
    """

    value: str | None = None
    why: str = ""
    missing: bool = False


def needs_field_values(script: str) -> bool:
    """Whether a locator reads what was typed or chosen, which HTML does not hold."""
    return _FIELD_STATE.search(script) is not None


_FIELD = re.compile(
    r"""(document\.(?:querySelector|getElementById)\((?:"[^"\\]*"|'[^'\\]*')\))\.(?:value|checked|selectedIndex)"""
)
"""A locator that reads the state of one field, which it names."""
_HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'",
}
"""The policy keeps the page from asking for hundreds of pictures and files, each of which would have to be refused."""
_ADDRESS = re.compile(r"location|URL|baseURI|domain|referrer|href|src|srcset|action|origin|window|globalThis")
"""Parts of a locator that depend on the page's address, or whose effect could outlive the page."""
_REFRESH = re.compile(r"http-equiv\s*=\s*[\"']?refresh", re.IGNORECASE)
"""It would lead away from the page while that is read."""


class StoredPages:
    """A browser for stored pages, started at the first one; use it with ``async with``."""

    def __init__(self, setting: str = "") -> None:
        self._setting = setting
        self._stack = AsyncExitStack()
        self._browser: Browser | None = None
        self._starting, self._gate = asyncio.Lock(), asyncio.Semaphore(AT_ONCE)
        self._idle: list[_OfflinePage] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def read(self, html: str, url: str, locators: Sequence[StoredLocator]) -> dict[str, LocatedText]:
        """Return the text at each place of a page.

        Raises:
            NoBrowser: none can be started.  SiteloreError: it died.
        """
        found = {one.id: LocatedText(why=NOT_STORED) for one in locators if not _is_readable(one)}
        wanted = [one for one in locators if one.id not in found]
        if not wanted:
            return found
        async with self._gate:
            try:
                found |= await self._read(html, url, wanted)
            except (Error, TimeoutError) as error:
                if self._browser is None or not self._browser.is_connected():
                    raise SiteloreError(BROWSER_GONE) from error
                found |= {one.id: LocatedText(why=NOT_READABLE) for one in wanted}
        return found

    async def start(self) -> None:
        """Start the browser now, so that the first page need not wait for it.  Raises as ``read``."""
        await self._started()

    async def _read(self, html: str, url: str, locators: Sequence[StoredLocator]) -> dict[str, LocatedText]:
        browser = await self._started()
        page = self._idle.pop() if self._idle else await _OfflinePage.open(browser)
        found: dict[str, LocatedText] = {}
        try:
            quickly = not any(one.prepare or _ADDRESS.search(one.script) for one in locators)
            if not await (page.show_nowhere(html) if quickly else page.show(html, url)):
                return {one.id: LocatedText(why=NOT_READABLE) for one in locators}
            for one in locators:
                found[one.id] = await page.text_at(one)
        except BaseException:
            await page.close()
            raise
        if any(one.why == TOO_LONG for one in found.values()):
            await page.close()
        else:
            self._idle.append(page)
        return found

    async def _started(self) -> Browser:
        async with self._starting:
            if self._browser is None or not self._browser.is_connected():
                self._idle.clear()
                self._browser = await self._stack.enter_async_context(open_browser(self._setting))
            return self._browser


class _OfflinePage:
    """One tab without scripts and without a network, in which one stored page after another is shown."""

    def __init__(self, page: Page, wire: CDPSession) -> None:
        self._page, self._wire = page, wire
        self._html = ""
        self._is_due = self._is_nowhere = False
        self._frame = ""

    @classmethod
    async def open(cls, browser: Browser) -> _OfflinePage:
        context = await browser.new_context(
            java_script_enabled=False, service_workers="block", locale=BROWSER_LOCALE, accept_downloads=False
        )
        page = await context.new_page()
        offline = cls(page, await context.new_cdp_session(page))
        await context.route("**/*", offline._serve)
        return offline

    async def show(self, html: str, url: str) -> bool:
        """Show a page under its address; return whether it is there."""
        address = url if re.match(r"https?://[^\s/]", url) else _NOWHERE
        self._is_nowhere = False
        self._html, self._is_due = _REFRESH.sub("data-was-refresh", html), True
        try:
            if "#" in address:  # else the same address again would only scroll
                await self._page.goto("about:blank")
            await self._page.goto(address, wait_until="domcontentloaded", timeout=PAGE_TIMEOUT * 1000)
        except Error:
            if self._page.is_closed():
                raise
            return False
        return not self._is_due

    async def show_nowhere(self, html: str) -> bool:
        """Show a page under an address that is none; return whether it is there.

        It takes the place of the one before in its document: opening an address starts a process for each new host.
        """
        if not self._is_nowhere:
            if not await self.show("", _NOWHERE):
                return False
            tree = cast("dict[str, Any]", await self._wire.send("Page.getFrameTree"))
            self._frame, self._is_nowhere = str(tree["frameTree"]["frame"]["id"]), True
        async with asyncio.timeout(PAGE_TIMEOUT):
            await self._wire.send(
                "Page.setDocumentContent",
                {"frameId": self._frame, "html": _REFRESH.sub("data-was-refresh", html)},
            )
        return True

    async def text_at(self, locator: StoredLocator) -> LocatedText:
        """Return the text at a place, in Python's spelling as published: JavaScript's ``null`` is ``None``."""
        for script in locator.prepare:
            if not (await self._evaluated(script))[0]:
                break
        if field := _FIELD.fullmatch(locator.script.strip()):
            return await self._state_of(field[1])
        done, value = await self._evaluated(locator.script)
        if value is _STUCK:
            return LocatedText(why=TOO_LONG)
        return LocatedText(value=html_entities.unescape(str(value)) if done else "", missing=not done)

    async def _state_of(self, field: str) -> LocatedText:
        """Return what can be said of a field's state: nothing, or that there is no such field."""
        done, is_there = await self._evaluated(f"{field} !== null")
        if is_there is _STUCK:
            return LocatedText(why=TOO_LONG)
        return LocatedText(why=NOT_STORED) if done and is_there else LocatedText(value="", missing=True)

    async def close(self) -> None:
        """Close the tab, even one whose script does not end."""
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(PAGE_TIMEOUT):
                await self._page.context.close()

    async def _evaluated(self, script: str) -> tuple[bool, Any]:
        """Evaluate JavaScript; return whether it came to a value, and that."""
        asked: dict[str, Any] = {
            "expression": f"(() => {script})()",
            "returnByValue": True,
            "awaitPromise": True,
            "timeout": LOCATOR_TIMEOUT * 1000,
        }
        try:
            async with asyncio.timeout(LOCATOR_TIMEOUT * 2):
                answer = cast("dict[str, Any]", await self._wire.send("Runtime.evaluate", asked))
        except (TimeoutError, Error):  # JavaScript's own errors come as an answer
            return False, _STUCK
        if answer.get("exceptionDetails"):
            return False, None
        result: dict[str, Any] = answer.get("result", {})
        if "unserializableValue" in result:
            return True, _number(str(result["unserializableValue"]))
        return True, result.get("value")

    async def _serve(self, route: Route) -> None:
        """Answer the page itself with what was stored, and nothing else."""
        request = route.request
        with suppress(Error):
            if not request.is_navigation_request() or request.frame != self._page.main_frame:
                await route.abort()
            elif self._is_due:
                self._is_due = False
                await route.fulfill(body=self._html, headers=_HEADERS)
            else:
                await route.fulfill(status=204)  # it wants to lead elsewhere: it stays where it is


_STUCK = object()


def _is_readable(locator: StoredLocator) -> bool:
    """Whether a stored page may say what is at a place; of a field's state at least whether the field is there."""
    if any(map(needs_field_values, locator.prepare)):
        return False
    return not needs_field_values(locator.script) or _FIELD.fullmatch(locator.script.strip()) is not None


def _number(text: str) -> object:
    """Return a number that JSON has no form for, as Python spells it."""
    match text:
        case "NaN":
            return math.nan
        case "Infinity":
            return math.inf
        case "-Infinity":
            return -math.inf
        case "-0":
            return 0
        case _:
            return text.removesuffix("n")
