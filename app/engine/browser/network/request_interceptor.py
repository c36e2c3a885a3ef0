"""Intercept the requests of a browser until the guard of their session has decided.

Requests are intercepted for the browser as a whole (``Fetch`` of the browser's own target), not tab
by tab, so that nothing can leave while a window, a frame of another host or a worker is being
created. Images, styles, scripts and fonts are not intercepted: they can only be requested by GET.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, cast

from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Page

from app.engine.core.request_nature import OutgoingRequest
from app.engine.core.write_permit import SentWrite

DOCUMENT = "Document"
INTERCEPTED_KINDS = (DOCUMENT, "XHR", "Fetch", "Ping", "CSPViolationReport", "EventSource", "Other")
"""Kinds of request that may have another method than GET."""
ANSWER_TIMEOUT = 1.0
"""Seconds a tab may take to list its frames."""
NO_SOCKETS = "connect-src http: https: data: blob: filesystem:"
"""Added to the script of a worker: a socket there could not be watched."""
_SCRIPT = re.compile("javascript|ecmascript", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RequestDecision:
    """Whether a request may leave. ``write`` is the record to complete with its status, ``None`` for a read."""

    passes: bool
    write: SentWrite | None = None


class RequestGuard(Protocol):
    """Decides the requests of one session; implemented by ``write_guard.WriteGuard``."""

    def decide(
        self, asked: OutgoingRequest, *, acting: bool, follows: SentWrite | None = None
    ) -> RequestDecision: ...
    def answered(self, write: SentWrite, status: int) -> None: ...
    def has_input(self, page: Page) -> bool: ...
    def arrived(self, page: Page) -> None: ...
    def acted(self) -> bool: ...
    async def close(self, page: Page) -> None: ...


@dataclass(slots=True)
class InterceptedTab:
    """A tab or window.

    Attributes:
        target: the browser's id of it, which is also that of its frame.
        blank: it has shown no document yet.
        inherited: it was opened by a page that had been given input and whose scripts can still reach it.
        refused: it was opened for a document that was refused.
    """

    guard: RequestGuard
    target: str
    page: Page | None = None
    wire: CDPSession | None = None
    loader: str = ""
    blank: bool = True
    inherited: bool = False
    refused: bool = False

    @property
    def acting(self) -> bool:
        """Whether its requests may result from an action."""
        if self.inherited:
            return True
        return self.guard.has_input(self.page) if self.page is not None else False


_interceptors: dict[Browser, asyncio.Task[RequestInterceptor]] = {}
"""One for each guarded browser; a browser that ends removes its own."""


async def interceptor_of(context: BrowserContext) -> RequestInterceptor:
    """Return the interceptor of the browser of this context.

    Raises ``playwright.async_api.Error`` when the browser is gone.
    """
    browser = context.browser
    if browser is None:
        raise Error("the browser is gone")
    if browser not in _interceptors or (
        _interceptors[browser].done() and _interceptors[browser].exception() is not None
    ):
        _interceptors[browser] = asyncio.ensure_future(RequestInterceptor.of(browser))
        browser.on("disconnected", _ended)
    return await asyncio.shield(_interceptors[browser])


def _ended(browser: Browser) -> None:
    _interceptors.pop(browser, None)


class RequestInterceptor:
    """One browser's requests, and the guards that decide them."""

    def __init__(self, wire: CDPSession) -> None:
        self._wire = wire
        self._guards: dict[str, RequestGuard] = {}
        self._contexts: dict[str, BrowserContext] = {}
        self._tabs: dict[str, InterceptedTab] = {}
        self._frames: dict[str, InterceptedTab] = {}
        self._leaving: dict[str, tuple[RequestGuard, SentWrite]] = {}
        self._scripts: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._on = False

    @classmethod
    async def of(cls, browser: Browser) -> RequestInterceptor:
        """Connect to a browser. Raises ``playwright.async_api.Error``."""
        wire = await browser.new_browser_cdp_session()
        post = cls(wire)
        wire.on("Fetch.requestPaused", post._paused)
        return post

    async def add(self, guard: RequestGuard, context: BrowserContext) -> None:
        """Intercept what this context sends, from now on; raises ``playwright.async_api.Error``."""
        pages = list(context.pages)
        wires = [await context.new_cdp_session(page) for page in pages]
        info = await self._target(None, wires[0]) if wires else {}
        name = str(info.get("browserContextId", ""))
        self._guards[name], self._contexts[name] = guard, context
        context.on("close", lambda _: self._forget(name))
        context.on("page", lambda page: self._spawn(self._opened(guard, page)))
        if not self._on:
            self._on = True
            patterns = [
                {"urlPattern": "*", "resourceType": kind, "requestStage": "Request"}
                for kind in INTERCEPTED_KINDS
            ]
            await self._wire.send("Fetch.enable", {"patterns": patterns})
        for page, wire in zip(pages, wires, strict=True):
            # Requests of an existing document bypass the browser's target until Fetch is toggled for its tab.
            await wire.send("Fetch.enable", {"patterns": [{"urlPattern": "nowhere:*"}]})
            await wire.send("Fetch.disable")
            await self._attend(guard, page, wire)

    async def know(self, guard: RequestGuard, context: BrowserContext) -> None:
        """Register every tab of a context; raises ``playwright.async_api.Error``."""
        known = {tab.page for tab in self._tabs.values()}
        for page in context.pages:
            if page not in known and not page.is_closed():
                await self._opened(guard, page)

    def _forget(self, name: str) -> None:
        guard = self._guards.pop(name, None)
        self._contexts.pop(name, None)
        self._tabs = {key: tab for key, tab in self._tabs.items() if tab.guard is not guard}
        self._frames = {key: tab for key, tab in self._frames.items() if tab.guard is not guard}

    # ---------------------------------------------------------------- tabs

    def _spawn(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _opened(self, guard: RequestGuard, page: Page) -> None:
        with suppress(Error):
            await self._attend(guard, page, await page.context.new_cdp_session(page))

    async def _attend(self, guard: RequestGuard, page: Page, wire: CDPSession) -> None:
        told = cast("dict[str, Any]", await wire.send("Page.getFrameTree"))
        frame = told["frameTree"]["frame"]
        target = str(frame["id"])
        tab = self._tabs.get(target) or self._tab(guard, target, await self._target(target))
        if tab.page is not None:
            return
        tab.page, tab.wire = page, wire
        tab.loader, tab.blank = str(frame["loaderId"]), _is_blank(str(frame["url"]))

        def came(event: dict[str, Any]) -> None:
            frame = cast("dict[str, Any]", event["frame"])
            if frame.get("parentId") or frame["loaderId"] == tab.loader:
                return
            tab.loader = str(frame["loaderId"])
            guard.arrived(page)
            if not tab.blank:
                tab.inherited = False
            tab.blank = _is_blank(str(frame["url"]))

        def framed(event: dict[str, Any]) -> None:
            self._frames[str(event["frameId"])] = tab

        # Recorded beforehand: a page that waits for its own request can't be asked for its frames.
        for inner in _frames_of(told["frameTree"]) - {target}:
            self._frames[inner] = tab
        wire.on("Page.frameAttached", framed)
        wire.on("Page.frameNavigated", came)
        await wire.send("Page.enable")
        page.on("close", lambda _: self._closed(tab))
        if tab.refused and tab.blank:
            await guard.close(page)

    def _closed(self, tab: InterceptedTab) -> None:
        self._tabs.pop(tab.target, None)
        self._frames = {key: owner for key, owner in self._frames.items() if owner is not tab}

    async def _owner(self, frame: str) -> tuple[RequestGuard | None, InterceptedTab | None]:
        tab = self._tabs.get(frame) or self._frames.get(frame)
        if tab is not None and (tab.page is None or not tab.page.is_closed()):
            return tab.guard, tab
        info = await self._target(frame)
        if not info:
            return await self._holder(frame)
        guard = self._guards.get(str(info.get("browserContextId", "")))
        if guard is None:
            return None, None
        if info["type"] == "page":
            return guard, self._tab(guard, frame, info)
        if info["type"] == "iframe" and (
            above := str(info.get("parentFrameId") or info.get("parentId") or "")
        ):
            _, tab = await self._owner(above)
            if tab is not None:
                self._frames[frame] = tab
            return guard, tab
        return guard, None

    def _tab(self, guard: RequestGuard, target: str, info: dict[str, Any]) -> InterceptedTab:
        """Add a tab; a window inherits from the page that opened it if that page's scripts can reach it."""
        if target not in self._tabs:
            opener = self._tabs.get(str(info.get("openerId", "")))
            reached = bool(info.get("canAccessOpener")) and opener is not None and opener.acting
            self._tabs[target] = InterceptedTab(guard, target, inherited=reached)
        return self._tabs[target]

    async def _holder(self, frame: str) -> tuple[RequestGuard | None, InterceptedTab | None]:
        """Return the tab whose own process contains a frame; if none is found, the only guard there is."""
        for tab in list(self._tabs.values()):
            if tab.wire is None:
                continue
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(ANSWER_TIMEOUT):
                    told = cast("dict[str, Any]", await tab.wire.send("Page.getFrameTree"))
                if frame in _frames_of(told["frameTree"]):
                    self._frames[frame] = tab
                    return tab.guard, tab
        guards = list(self._guards.values())
        return (guards[0] if guards else None), None

    async def _not_opened(self, tab: InterceptedTab) -> None:
        """Close a window that was opened for a refused document and shows nothing else."""
        if tab.page is None:
            tab.refused = True  # closed as soon as its page is known
        elif tab.blank and await tab.page.opener() is not None:
            await tab.guard.close(tab.page)

    async def _target(self, target: str | None, wire: CDPSession | None = None) -> dict[str, Any]:
        try:
            asked = {"targetId": target} if target is not None else {}
            told = cast("dict[str, Any]", await (wire or self._wire).send("Target.getTargetInfo", asked))
        except Error:
            return {}
        return told["targetInfo"]

    # ---------------------------------------------------------------- requests

    async def _paused(self, event: dict[str, Any]) -> None:
        key = str(event["requestId"])
        try:
            if "responseStatusCode" in event or "responseErrorReason" in event:
                await self._answered(key, event)
            else:
                await self._asked(key, event)
        except Error:
            # The request is gone, or no guard decided: an undecided request does not leave.
            with suppress(Error):
                await self._wire.send("Fetch.failRequest", {"requestId": key, "errorReason": "Aborted"})

    async def _asked(self, key: str, event: dict[str, Any]) -> None:
        request, kind = event["request"], str(event.get("resourceType", ""))
        headers = {name.lower(): str(value) for name, value in request["headers"].items()}
        before = self._leaving.pop(str(event.get("redirectedRequestId", "")), None)
        plain = request["method"] == "GET" and kind != "Other" and not _needs_reading(request["url"], headers)
        if plain or not self._guards:
            await self._wire.send("Fetch.continueRequest", {"requestId": key})
            return
        guard, tab = await self._owner(str(event.get("frameId", "")))
        if guard is None:
            await self._wire.send("Fetch.continueRequest", {"requestId": key})
            return
        body = _body(request)
        asked = OutgoingRequest(
            method=request["method"], url=request["url"], kind=kind, headers=headers, body=body
        )
        # A request without a network id comes from a page being left, or from a shared worker.
        acting = "networkId" not in event or (tab.acting if tab is not None else guard.acted())
        verdict = guard.decide(asked, acting=acting, follows=before[1] if before else None)
        if not verdict.passes:
            reason = "Aborted" if kind == DOCUMENT else "BlockedByClient"
            await self._wire.send("Fetch.failRequest", {"requestId": key, "errorReason": reason})
            if kind == DOCUMENT and tab is not None and tab.target == event.get("frameId"):
                await self._not_opened(tab)
            return
        if verdict.write is not None:
            self._leaving[key] = (guard, verdict.write)
        elif kind == "Other":
            self._scripts.add(key)
        seen = verdict.write is not None or kind == "Other"
        await self._wire.send("Fetch.continueRequest", {"requestId": key, "interceptResponse": seen})

    async def _answered(self, key: str, event: dict[str, Any]) -> None:
        left = self._leaving.get(key)
        status = int(event.get("responseStatusCode", 0))
        if left is not None:
            left[0].answered(left[1], status)
            if not 300 <= status < 400:
                self._leaving.pop(key, None)
        parameters: dict[str, Any] = {"requestId": key}
        if key in self._scripts:
            self._scripts.discard(key)
            headers = cast("list[dict[str, str]]", event.get("responseHeaders", []))
            if any(h["name"].lower() == "content-type" and _SCRIPT.search(h["value"]) for h in headers):
                parameters["responseCode"] = status
                parameters["responseHeaders"] = [
                    *headers,
                    {"name": "Content-Security-Policy", "value": NO_SOCKETS},
                ]
        verb = "Fetch.continueResponse" if len(parameters) > 1 else "Fetch.continueRequest"
        await self._wire.send(verb, parameters)


def _needs_reading(url: str, headers: dict[str, str]) -> bool:
    """Whether a GET is examined: it may carry a mutation, override its method, or prefetch."""
    query = url.partition("?")[2]
    return (
        "query=" in query
        or "%" in query
        or "purpose" in headers
        or "sec-purpose" in headers
        or any(name.startswith(("x-http-method", "x-method")) for name in headers)
    )


def _body(request: dict[str, Any]) -> bytes | None:
    entries = cast("list[dict[str, str]]", request.get("postDataEntries", []))
    if entries:
        return b"".join(base64.b64decode(entry["bytes"]) for entry in entries if "bytes" in entry) or None
    if "postData" in request:
        return str(request["postData"]).encode()
    return None if request.get("hasPostData") else b""


def _frames_of(tree: dict[str, Any]) -> set[str]:
    found = {str(tree["frame"]["id"])}
    for child in tree.get("childFrames", ()):
        found |= _frames_of(child)
    return found


def _is_blank(url: str) -> bool:
    return url in ("", ":", "about:blank")
