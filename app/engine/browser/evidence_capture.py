"""Captures what a browser shows at the end of a run, for its evaluation: tabs, the page's HTML, the suite's targets.

The page in front is read where it is; every other target in a page of its own, so that the agent's tabs stay as they
are. Only reading requests leave, as everywhere without a permit. Scripts that a suite brings (its locators and
``prep_actions``) are run as published, in the page alone, with no way to any other host than the sites of the run.
"""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache

from playwright.async_api import Error, Page, Route

from app.assets import resource
from app.engine.browser.capture.frames import main_world
from app.engine.browser.evidence_helpers import HelperScope, UnreadableTarget, call_helper
from app.engine.browser.network.navigation_policy import NavigationPolicy
from app.engine.browser.network.write_guard import WriteGuard, read_only
from app.engine.browser.page_loading import load_failure
from app.engine.browser.session import BROWSER_GONE, BrowserSession
from app.engine.core.addresses import browser_host, is_on_any_host
from app.engine.core.evaluation.helper_calls import is_helper, parse_helper, place_of
from app.engine.core.evaluation.run_evidence import RunEvidence, TargetEvidence
from app.engine.core.evaluation.suite import HtmlTarget
from app.engine.core.text import first_line
from app.errors import InputError

LAST = "last"
MAX_TARGETS = 60
MAX_TEXT = 16_000_000
"""Longest text of a page or a target, in characters."""
_NAME = re.compile(r"__[A-Z][A-Z0-9_]*__")
_OWN_SOURCES = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:"
_CONFINE = """(policy) => {
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = policy;
  document.head.append(meta);
  meta.remove();
}"""
"""Puts a policy in force for a document and the empty windows it opens; the element need not stay for that."""
_OF_HELPERS = frozenset({"__last_url__", "__page__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLimits:
    """Seconds that parts of a capture may take."""

    tabs: float = 2.0
    page: float = 10.0
    target: float = 15.0
    settle: float = 3.0
    """For a page that was opened for a target to become idle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSurroundings:
    """Hosts, addresses and credentials of a run's sites.

    Attributes:
        hosts: those that the run may visit; none means any.
        bases: addresses by names such as ``__SHOPPING__``.
        shop_admin: ``USER:PASSWORD`` for the shop's REST interface, "" for none.
    """

    hosts: frozenset[str] = frozenset()
    bases: Mapping[str, str] = field(default_factory=dict[str, str])
    shop_admin: str = field(default="", repr=False)

    @property
    def readable(self) -> frozenset[str]:
        """Hosts of the run and of the sites that the workspace's table binds to a name."""
        return self.hosts | {host for host in map(browser_host, self.bases.values()) if host}


async def capture_evidence(
    session: BrowserSession,
    targets: Sequence[tuple[str, HtmlTarget]] = (),
    surroundings: EvidenceSurroundings | None = None,
    limits: EvidenceLimits | None = None,
) -> RunEvidence:
    """Return what a browser shows, with the content at every target; what can't be read is noted and costs no more.

    Values that a person would keep to themselves are still in it, but for those of password fields.
    """
    reader = _EvidenceReader(session, surroundings or EvidenceSurroundings(), limits or EvidenceLimits())
    try:
        return await reader.read(targets)
    except Error as error:
        why = BROWSER_GONE if not session.is_connected else _reason(error)
        return replace(reader.found, notes=(*reader.found.notes, f"the browser could not be read: {why}"))


class _EvidenceReader:
    """One capture; ``found`` is what it has so far."""

    def __init__(self, session: BrowserSession, around: EvidenceSurroundings, limits: EvidenceLimits) -> None:
        self._session, self._around, self._limits = session, around, limits
        self._readable = around.readable
        self._tabs: frozenset[Page] = frozenset()
        self._aside: Page | None = None
        self._confined: set[Page] = set()
        self._silent = ""
        self.found = RunEvidence()

    async def read(self, targets: Sequence[tuple[str, HtmlTarget]]) -> RunEvidence:
        """Read tabs, page and targets, in this order."""
        session = self._session
        if not session.pages:
            raise Error("no tab is open")
        tabs, active = await session.tabs(self._limits.tabs)
        policy = NavigationPolicy(self._around.hosts)
        left = bool(self._around.hosts) and any(
            policy.outside(page.url) is not None for page in session.pages
        )
        self.found = replace(self.found, tabs=tabs, active=active, left_sites=left)
        self._readable = self._readable or frozenset(filter(None, [browser_host(session.page.url)]))
        self._tabs = frozenset(session.pages)
        async with read_only(session) as guard:
            await self._read_page()
            read: list[TargetEvidence] = []
            try:
                for number, target in targets[:MAX_TARGETS]:
                    read.append(await self._read_target(number, target, guard))
                    self.found = replace(self.found, targets=tuple(read))
            finally:
                await self._release()
        if len(targets) > MAX_TARGETS:
            words = f"only {MAX_TARGETS} of {len(targets)} targets were read"
            self.found = replace(self.found, notes=(*self.found.notes, words))
        return self.found

    async def _read_page(self) -> None:
        """Read the page in front; one that does not answer is not asked for any target either."""
        note = ""
        try:
            async with asyncio.timeout(self._limits.page):
                text = str(await (await main_world(self._session)).call(_live_html()) or "")
            if len(text) > MAX_TEXT:
                note = f"the page in front has {len(text):,} characters and is left out"
            else:
                self.found = replace(self.found, html=text)
        except TimeoutError:
            self._silent = f"the page in front did not answer for {self._limits.page:.0f} s"
        except (Error, RuntimeError) as error:
            note = f"the page in front could not be read: {_reason(error)}"
        if note or self._silent:
            self.found = replace(self.found, notes=(*self.found.notes, note or self._silent))

    # ---------------------------------------------------------------- targets

    async def _read_target(self, number: str, target: HtmlTarget, guard: WriteGuard) -> TargetEvidence:
        try:
            async with asyncio.timeout(self._limits.target):
                url, text = await self._content(target, guard)
        except TimeoutError:
            why = f"it did not answer within {self._limits.target:.0f} s"
        except (UnreadableTarget, InputError) as error:
            why = str(error)
        except Error as error:
            why = _reason(error)
        else:
            if len(text) <= MAX_TEXT:
                return TargetEvidence(
                    target=number, url=url, value=html.unescape(text), place=place_of(target)
                )
            why = f"it has {len(text):,} characters"
        return TargetEvidence(target=number, why=why, place=place_of(target))

    async def _content(self, target: HtmlTarget, guard: WriteGuard) -> tuple[str, str]:
        """Return the address that was read and the text found there; raises where there is none."""
        page = self._session.page
        if target.url == LAST:
            if self._silent:
                raise UnreadableTarget(self._silent)
            return page.url, await self._located(page, target, guard)
        url = await self._address(target.url, page.url)
        if not is_on_any_host(url, self._readable):
            raise UnreadableTarget(
                f"{browser_host(url) or url[:80]} belongs to no site of the run, and none of the table"
            )
        async with self._session.page_aside() as aside:
            self._aside = aside
            await self._open(aside, url)
            return aside.url, await self._located(aside, target, guard)

    async def _address(self, url: str, last_url: str) -> str:
        """Return the address of a target: with names of sites replaced, or the one that a helper tells."""
        if not is_helper(url):
            return self._bound(url)
        return await call_helper(parse_helper(self._bound(url)), self._scope(last_url))

    def _bound(self, text: str) -> str:
        def address(match: re.Match[str]) -> str:
            if match[0] in _OF_HELPERS:
                return match[0]
            if match[0] not in self._around.bases:
                raise UnreadableTarget(
                    f"the table of sites has no address for {match[0]}: sitelore sites edit SITE --base {match[0]}=URL"
                )
            return self._around.bases[match[0]].rstrip("/")

        return _NAME.sub(address, text)

    def _scope(self, last_url: str, page: Page | None = None) -> HelperScope:
        return HelperScope(
            last_url=last_url,
            request=self._session.context.request,
            bases=self._around.bases,
            shop_admin=self._around.shop_admin,
            page=page,
        )

    async def _open(self, page: Page, url: str) -> None:
        """Open an address; a page that answers 404 or asks for a log-in is a page."""
        try:
            await page.goto(url, wait_until="domcontentloaded", timeout=0)
        except Error as error:
            raise UnreadableTarget(load_failure(url, error.message)) from error
        with suppress(Error):
            await page.wait_for_load_state("networkidle", timeout=self._limits.settle * 1000)

    # ---------------------------------------------------------------- locators

    async def _located(self, page: Page, target: HtmlTarget, guard: WriteGuard) -> str:
        locator = target.locator
        if not locator.strip():
            return await page.content()
        guard.give_input(page)
        await self._confine(page)
        if is_helper(locator):
            return await call_helper(
                parse_helper(self._bound(locator)), self._scope(self._session.page.url, page)
            )
        if not locator.startswith(("document.", "[...document.")):
            raise UnreadableTarget(f"its locator is of no known kind: {locator[:60]!r}")
        for script in target.prep_actions:
            if not await self._prepared(page, script):
                break
        try:
            # As published: Python's spelling of the result, so that JavaScript's null is "None".
            return str(await page.evaluate(f"() => {self._bound(locator)}"))
        except Error:
            if page.is_closed() or self._session.failure:
                raise
            return ""

    async def _prepared(self, page: Page, script: str) -> bool:
        try:
            await page.evaluate(f"() => {script}")
        except Error:
            return False
        return True

    async def _confine(self, page: Page) -> None:
        """Let the page ask no other host than those of the sites from now on: what it shows is nobody else's.

        The same for every window and worker that was opened meanwhile: a suite's script may have opened it.
        """
        if not self._confined:
            await self._session.context.route(self._is_elsewhere, self._refuse)
        self._confined.add(page)
        # An empty window can ask before its requests can be routed, and sockets are not routed: both obey the policy.
        for frame in page.frames:
            with suppress(Error):
                await frame.evaluate(_CONFINE, f"{_OWN_SOURCES} {' '.join(sorted(self._readable))}")

    async def _release(self) -> None:
        """Let pages ask other hosts again, and close the windows that scripts of the suite opened."""
        if not self._confined:
            return
        for page in [page for page in self._session.pages if page not in self._tabs]:
            with suppress(Error, TimeoutError):
                await asyncio.wait_for(page.close(), self._limits.tabs)
        with suppress(Error):
            await self._session.context.unroute(self._is_elsewhere, self._refuse)

    def _is_elsewhere(self, url: str) -> bool:
        return not is_on_any_host(url, self._readable)

    async def _refuse(self, route: Route) -> None:
        """Refuse a request to another host, but for those of pages in which no script of the suite was run."""
        try:
            page = route.request.frame.page
        except Error:  # the first request of a window, or a worker's
            page = None
        is_own = page is not None and (page in self._tabs or page is self._aside)
        with suppress(Error):
            await (route.fallback() if is_own and page not in self._confined else route.abort())


def _reason(error: Exception) -> str:
    return first_line(str(error), "no reason given").removeprefix("Page.evaluate: ")[:160]


@cache
def _live_html() -> str:
    text = resource("js", "live_html.js").read_text("utf-8")
    return text[text.index("(function") :].strip()
