"""Keep a session from changing anything on a site unless that was decided, whatever its scripts make of a click.

The block list and the agent's write gate judge elements by their appearance. This is the second line of defence, at
the network, and it covers the whole session: tabs and windows, frames of other hosts, workers, beacons, sockets. What
counts as a change is defined in ``app.engine.core.request_nature``. If that is unclear, loading and acting are told
apart: a page that has had no input yet may send the request; after input, only requests like those of some page that
loaded may leave.

The requests come from ``app.engine.browser.network.request_interceptor``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import cache
from urllib.parse import urlsplit

from playwright.async_api import Error, Page, WebSocketRoute

from app.assets import resource
from app.engine.browser.network.request_interceptor import (
    DOCUMENT,
    RequestDecision,
    RequestInterceptor,
    interceptor_of,
)
from app.engine.browser.session import BrowserSession
from app.engine.core.addresses import browser_host, is_on_any_host
from app.engine.core.redaction import redact_url
from app.engine.core.request_nature import (
    OutgoingRequest,
    RequestNature,
    classify_request,
    is_telemetry,
    message_key,
    message_writes,
)
from app.engine.core.write_permit import SentWrite, WritePermit

UNREADABLE_KINDS = frozenset({"Ping", "CSPViolationReport"})
"""Kinds of request whose response no page can read: no page needs them for loading."""
MAX_KNOWN_REQUESTS = 4096
"""Requests of loading pages that are remembered."""
MAX_REFUSALS = 100
"""Refusals kept until they are taken."""


class WriteGuard:
    """Lets only reads out of a session, and the writes of one action if those are permitted.

    Args:
        hosts: the run's own hosts (with or without a port); none: the host of the page in front.
    """

    def __init__(self, hosts: frozenset[str] = frozenset()) -> None:
        self._own = hosts
        self._session: BrowserSession | None = None
        self._seat = -1
        self._post: RequestInterceptor | None = None
        self._watching = asyncio.Lock()
        self._permit: WritePermit | None = None
        self._submissions = 0
        self._done: set[Hashable] = set()
        self.aside = False
        self._known: set[Hashable] = set()
        self._refused: list[str] = []
        self._sent: list[SentWrite] = []
        self._given_input: set[Page] = set()
        self._front: Page | None = None
        self._here = ""

    # ---------------------------------------------------------------- called by the executor

    async def watch(self, session: BrowserSession) -> None:
        """Intercept everything the session sends; does nothing if it does so already in the same browser.

        Call it before the first page is opened: sockets of existing documents are not seen.

        Raises ``playwright.async_api.Error`` when the browser is gone.
        """
        async with self._watching:
            context = session.context
            if session is not self._session or self._seat != session.browser_switches or self._post is None:
                self._post = await interceptor_of(context)
                await context.route_web_socket("**/*", self._socket)
                await context.add_init_script(_script())
                await self._post.add(self, context)
                self._session, self._seat, session.guard = session, session.browser_switches, self
            await self._post.know(self, context)

    def begin(self, permit: WritePermit | None = None) -> None:
        """Begin an action that gives the page in front input. Without a permit only reads may leave."""
        self._permit, self._submissions = permit, permit.submissions if permit is not None else 0
        self._done.clear()
        self._touch()

    def end(self) -> None:
        """End the action: only reads may leave."""
        self._permit = None

    def set_bypassed(self, on: bool) -> None:
        """Bypass the guard while a person controls the page: everything leaves, and writes are recorded."""
        self.aside = on
        self._touch(everywhere=True)

    def refused(self) -> tuple[str, ...]:
        """Return requests blocked since the last call, as ``POST /basket/add``."""
        told, self._refused = tuple(self._refused), []
        return told

    def sent(self) -> tuple[SentWrite, ...]:
        """Return writes that left since the last call."""
        told, self._sent = tuple(self._sent), []
        return told

    # ---------------------------------------------------------------- called by the interceptor

    def has_input(self, page: Page) -> bool:
        """Whether this page was given input since its document loaded."""
        return page in self._given_input

    def give_input(self, page: Page) -> None:
        """Regard a page as given input: a script that is not its own is run in it."""
        self._given_input.add(page)

    def arrived(self, page: Page) -> None:
        """Record that a new document has loaded in this tab and has had no input."""
        self._given_input.discard(page)

    def acted(self) -> bool:
        """Whether any page of the session was given input."""
        self._given_input = {page for page in self._given_input if not page.is_closed()}
        return bool(self._given_input)

    def decide(
        self, asked: OutgoingRequest, *, acting: bool, follows: SentWrite | None = None
    ) -> RequestDecision:
        """Decide whether a request may leave.

        Args:
            acting: it may come from a page that was given input.
            follows: the write that the server answered with this address (a redirect that keeps the method).
        """
        found = classify_request(asked)
        if found.nature is RequestNature.READS:
            prefetch = "prefetch" in asked.headers.get("sec-purpose", asked.headers.get("purpose", ""))
            return RequestDecision(passes=self.aside or not prefetch)
        write = _write(found.method, asked.url)
        if self.aside:
            return self._passes(write)
        if (
            found.nature is RequestNature.UNCLEAR
            and asked.kind != DOCUMENT
            and asked.kind not in UNREADABLE_KINDS
        ):
            if not acting:
                if len(self._known) < MAX_KNOWN_REQUESTS:
                    self._known.add(found.likeness)
                return RequestDecision(passes=True)
            if found.likeness in self._known:
                return RequestDecision(passes=True)
        if self._is_permitted(asked, found.method, follows):
            return self._passes(write)
        if not (
            is_telemetry(asked.url)
            and (asked.kind in UNREADABLE_KINDS or not is_on_any_host(asked.url, self._hosts_of(None)))
        ):
            self._hold_back(write)
        return RequestDecision(passes=False)

    def answered(self, write: SentWrite, status: int) -> None:
        """Record the server's status for a write that left."""
        if write in self._sent:
            self._sent[self._sent.index(write)] = replace(write, status=status)

    async def close(self, page: Page) -> None:
        """Close a window that was opened for a blocked form; the page that opened it is in front again."""
        session, front = self._session, self._front
        with suppress(Error):
            await page.close()
        if session is not None and front is not None and front in session.pages:
            session.active = session.pages.index(front)

    # ---------------------------------------------------------------- inside

    def _touch(self, *, everywhere: bool = False) -> None:
        pages = self._session.pages if self._session is not None else []
        if self._session is None or not pages:
            return
        try:
            self._front = self._session.page
        except Error:
            return
        self._here = browser_host(self._front.url) or self._here
        self._given_input.update(pages if everywhere else [self._front])

    def _is_permitted(self, asked: OutgoingRequest, method: str, follows: SentWrite | None) -> bool:
        permit = self._permit
        if permit is None or not is_on_any_host(asked.url, self._hosts_of(permit)):
            return False
        if follows is not None:
            return True
        if asked.kind == DOCUMENT:
            if permit.form and f"{method.lower()}:{urlsplit(asked.url).path}" != _form_path(permit.form):
                return False
            self._submissions -= 1
            return self._submissions >= 0
        same = (method, asked.url, asked.body)
        if same in self._done:
            return False
        self._done.add(same)
        return True

    def _hosts_of(self, permit: WritePermit | None) -> frozenset[str]:
        return (permit and permit.hosts) or self._own or frozenset({self._here} - {""})

    def _passes(self, write: SentWrite) -> RequestDecision:
        self._sent.append(write)
        return RequestDecision(passes=True, write=write)

    def _hold_back(self, write: SentWrite) -> None:
        if len(self._refused) < MAX_REFUSALS:
            self._refused.append(f"{write.method} {write.path}"[:160])

    # ---------------------------------------------------------------- sockets

    def _socket(self, route: WebSocketRoute) -> None:
        """Open a socket and let its messages in; decide each message that the page sends as a request is decided."""
        server = route.connect_to_server()

        def said(message: str | bytes) -> None:
            if self._may_say(route.url, message):
                server.send(message)

        route.on_message(said)

    def _may_say(self, url: str, message: str | bytes) -> bool:
        address = f"http{url[2:]}"  # ws: as http:, wss: as https:
        write = _write("SEND", address)
        if self.aside:
            return self._passes(write).passes
        if not message_writes(message):
            alike = (address.partition("?")[0], message_key(message))
            if not self.acted():
                if len(self._known) < MAX_KNOWN_REQUESTS:
                    self._known.add(alike)
                return True
            if alike in self._known:
                return True
        if self._permit is not None and is_on_any_host(address, self._hosts_of(self._permit)):
            return self._passes(write).passes
        self._hold_back(write)
        return False


@asynccontextmanager
async def read_only(session: BrowserSession) -> AsyncGenerator[WriteGuard]:
    """Let only reads out of a session for the time of the block, in which the page in front is operated.

    The session's own guard is used if it has one; otherwise a new one, which is bypassed afterwards,
    since a person then controls the page.

    Raises ``playwright.async_api.Error`` when the browser is gone.
    """
    guard = session.guard if isinstance(session.guard, WriteGuard) else WriteGuard()
    aside = session.guard is None or guard.aside
    await guard.watch(session)
    if guard.aside:
        guard.set_bypassed(False)
    guard.begin(None)
    try:
        yield guard
    finally:
        guard.end()
        if aside:
            guard.set_bypassed(True)


@cache
def _script() -> str:
    text = resource("js", "guard.js").read_text("utf-8")
    own = text[text.index("(function guard") :].strip()
    return f"{own}({json.dumps(own[1:-1])});"


def _write(method: str, url: str) -> SentWrite:
    parts = urlsplit(url)
    return SentWrite(method=method, host=browser_host(url), path=redact_url(parts.path)[:200])


def _form_path(form: str) -> str:
    """Return ``post:/basket/add`` for a form whose address includes its host."""
    method, _, address = form.partition(":")
    return f"{method}:{urlsplit(address).path or '/'}"
