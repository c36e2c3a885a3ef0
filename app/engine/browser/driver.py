"""The browser interface of an exploration: open, operate, capture, restart after a crash."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.engine.core.page_state import PageCapture
from app.engine.core.transition import Locator, Operation, Tier
from app.errors import SiteloreError


class DriverFailure(StrEnum):
    """Why a driver call failed."""

    NONE = ""
    MISSING = "missing"  # the element is not there, or ambiguous
    REFUSED = "refused"  # it can't be operated: covered, disabled
    FILE = "file"  # the address is a download
    NO_PAGE = "no page"  # a redirect loop, or a response that is no page
    SERVER = "server"  # a server error (5xx), at the second try too
    UNREACHABLE = "unreachable"  # the host does not answer
    LOST = "lost"  # the page or the browser is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverResult:
    """The result of one driver call; ``why`` is a sentence on failure, ``notes`` are remarks on success.

    ``status`` is the HTTP status of the loaded page, 0 if none or unknown; ``seconds`` last until the
    page was idle. ``unsent`` are blocked requests that would have changed something, as ``POST
    /basket/add``.
    """

    trouble: DriverFailure = DriverFailure.NONE
    why: str = ""
    status: int = 0
    tier: Tier | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    unsent: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.trouble is DriverFailure.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedDocument:
    """A document fetched without opening it.

    ``url`` is the final address, ``status`` the HTTP status (0 for none); ``served`` and ``scripts`` are
    the document's keys (``app.engine.core.static_page``); ``why`` is a sentence if nothing was received.
    """

    url: str = ""
    status: int = 0
    served: str = ""
    scripts: str = ""
    why: str = ""


class BrowserGone(SiteloreError):
    """No browser can be started any more; ``slow`` if there is one that did not answer in time."""

    slow = False


class PageLost(SiteloreError):
    """The page crashed, was closed, or keeps navigating away during a capture."""


class Driver(Protocol):
    """One page of one browser; ``open`` and ``act`` wait until it is idle.

    Only ``look`` raises for what a site does (``PageLost``); every method may raise ``BrowserGone``.
    """

    async def open(self, url: str) -> DriverResult: ...
    async def act(self, operation: Operation, locator: Locator, value: str = "") -> DriverResult: ...
    async def look(self, *, picture: bool = True) -> PageCapture: ...
    async def reopen(self) -> None: ...


class FetchingDriver(Driver, Protocol):
    """A driver that can fetch an address without opening it."""

    async def ask(self, url: str) -> FetchedDocument: ...
