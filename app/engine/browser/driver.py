"""What an exploration needs of a browser: open an address, do one thing, look, start again after a crash."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.engine.errors import SiteloreError
from app.engine.page_state import PageCapture
from app.engine.transition import Locator, Operation, Tier


class Trouble(StrEnum):
    """Why a step did not end as it should."""

    NONE = ""
    MISSING = "missing"  # the element is not there, or not alone
    REFUSED = "refused"  # it is there and can't be operated: covered, disabled
    FILE = "file"  # the address brings a file
    NO_PAGE = "no page"  # it brings none: a circle of redirects, what is no page
    SERVER = "server"  # a fault of the server (5xx), also at the second try
    UNREACHABLE = "unreachable"  # nobody answers
    LOST = "lost"  # the page or the browser is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What came of one step; ``why`` is a sentence where there was trouble, ``notes`` are worth knowing all the same.

    ``status`` is the HTTP status of the page that came, 0 where none did or it is not known; ``seconds`` last until the
    page had come to rest.  ``unsent`` are requests it would have caused that are no reading, as ``POST /basket/add``.
    """

    trouble: Trouble = Trouble.NONE
    why: str = ""
    status: int = 0
    tier: Tier | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    unsent: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """It was done."""
        return self.trouble is Trouble.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server sends for an address.

    ``url`` is where it led, ``status`` the HTTP status, 0 for none; ``served`` and ``scripts`` are the document's keys
    (``app.engine.served``); ``why`` is a sentence where nothing came.
    """

    url: str = ""
    status: int = 0
    served: str = ""
    scripts: str = ""
    why: str = ""


class BrowserGone(SiteloreError):
    """No browser can be started any more; ``slow`` where there is one that did not answer in time."""

    slow = False


class PageLost(SiteloreError):
    """The page crashed, was closed, or keeps going away while it is looked at."""


class Driver(Protocol):
    """One page of one browser.

    Only ``look`` raises for what a site does (``PageLost``); everything may raise ``BrowserGone``.
    """

    async def open(self, url: str) -> Deed:
        """Go to an address as somebody who comes for the first time, and wait until the page has come to rest."""
        ...

    async def act(self, operation: Operation, locator: Locator, value: str = "") -> Deed:
        """Do one thing to an element of the page looked at last, and wait until the page has come to rest."""
        ...

    async def look(self, *, picture: bool = True) -> PageCapture:
        """Look at the page.  Raises ``PageLost``."""
        ...

    async def reopen(self) -> None:
        """Begin anew with an empty page, in another browser if need be.  Raises ``BrowserGone``."""
        ...


class Asker(Driver, Protocol):
    """A page that can ask for an address without opening it."""

    async def ask(self, url: str) -> Answer:
        """What somebody who comes for the first time would be sent."""
        ...
