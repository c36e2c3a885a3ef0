"""A browser that stays open: for a run, for a person navigating a graph, or for a manual log-in.

One that died can be reopened: the session continues in another browser with the cookies and storage it had.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, cast

from playwright.async_api import Error, Page

from app.engine.browser.capture.snapshot import PageGone, capture
from app.engine.browser.launch.launcher import has_display
from app.engine.browser.page_loading import open_page
from app.engine.browser.session import BrowserSession, open_browser, open_tab_in_fresh_context
from app.engine.browser.session_state import (
    SessionState,
    add_login_state,
    asks_for_login,
    browser_process_id,
    is_behind_login,
    is_responsive,
    kill_browser,
    put_back_login_state,
    read_session_state,
    restore_session_storage,
    shows_no_login,
)
from app.engine.core.local_time import BROWSER_LOCALE, BROWSER_TIMEZONE
from app.engine.core.page_state import PageCapture
from app.errors import InputError, SiteloreError, StoreError

STATE_INTERVAL = 10.0
"""Minimum seconds between two reads of the session state."""

RENEW_TIMEOUT = 8.0
"""Seconds a browser may take to replace lost tabs by an empty one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSettings:
    """How a browser is started; see ``LiveBrowser.open``."""

    setting: str = ""
    headed: bool = False
    storage_state: str = ""
    size: tuple[int, int] = (1280, 800)
    timezone: str = BROWSER_TIMEZONE
    locale: str = BROWSER_LOCALE


class LiveBrowser:
    """One browser with one session. Close it, or use it with ``async with``.

    Attributes:
        process: the id of its process, 0 if unknown.
        replaced_for: the fault that the browser replaced last reported at its end, "" for none.
    """

    def __init__(
        self,
        stack: AsyncExitStack,
        tab: BrowserSession,
        *,
        headed: bool,
        opening: LaunchSettings | None = None,
    ) -> None:
        self._stack, self.session, self.headed = stack, tab, headed
        self._opening = opening or LaunchSettings(headed=headed)
        self._belongings = SessionState()
        self._remembered = 0.0
        self._mending = asyncio.Lock()
        self._closed = False
        self.process = 0
        self.replaced_for = ""

    @classmethod
    async def open(
        cls,
        setting: str = "",
        *,
        headed: bool = False,
        storage_state: str = "",
        size: tuple[int, int] = (1280, 800),
        timezone: str = BROWSER_TIMEZONE,
        locale: str = BROWSER_LOCALE,
        keep_tabs: bool = False,
    ) -> Self:
        """Start a browser; ``storage_state`` is the path of a recorded log-in, ``size`` in CSS pixels.

        ``timezone`` (an IANA name) and ``locale`` (a language tag) are those that pages see; ``keep_tabs`` keeps
        windows that pages open.

        Raises:
            NoBrowser: none can be started. SiteloreError: it should be visible, and there is no display.
            InputError: the recorded log-in can't be read.
        """
        if headed and not has_display():
            raise SiteloreError("there is no display here to show a browser on; leave out --headed")
        opening = LaunchSettings(
            setting=setting,
            headed=headed,
            storage_state=checked_login(storage_state),
            size=size,
            timezone=timezone,
            locale=locale,
        )
        stack, page, process = await _started(opening, SessionState())
        live = cls(stack, BrowserSession(page, keep_tabs=keep_tabs), headed=headed, opening=opening)
        live.process = process
        return live

    @property
    def is_open(self) -> bool:
        """False once the user has closed its window, or it crashed."""
        return self.session.is_connected and bool(self.session.pages)

    @property
    def broken(self) -> str:
        """The fault that browser or page report themselves; "" if there is none."""
        return self.session.failure

    @property
    def address(self) -> str:
        """The address of the page in front, "" without one."""
        return self.session.page.url if self.session.pages else ""

    @property
    def open_tabs(self) -> int:
        """Number of open tabs."""
        return len(self.session.pages)

    async def answers(self) -> bool:
        """Whether the page in front responds in time."""
        return await is_responsive(self.session)

    async def go(self, url: str) -> str:
        """Open an address in the tab in front; return one sentence on why no page came, "" when one did."""
        return (await open_page(self.session, url)).error

    async def look_at(self, url: str) -> PageCapture | None:
        """Open an address in the tab in front and capture the page, without a picture; ``None`` where none came."""
        with suppress(Error, PageGone):
            if (await open_page(self.session, url)).ok:
                return await capture(self.session, picture=False)
        return None

    async def remember(self) -> None:
        """Keep cookies and storage in memory for ``reopen``; frequent calls are throttled.

        Call it while the page responds. What can't be read in time stays as it was.
        """
        now = time.monotonic()
        if self._remembered and now - self._remembered < STATE_INTERVAL:
            return
        self._remembered = now
        kept = await read_session_state(self.session)
        if kept is not None:
            self._belongings = replace(kept, session={**self._belongings.session, **kept.session})

    async def relaunch(self, *, anew: bool = False) -> bool:
        """Replace lost tabs by an empty one, in another browser if this one is dead or unresponsive, or with
        ``anew``. Return whether it is another browser.

        Raises as ``reopen`` does.
        """
        if not anew and self.session.is_connected:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(RENEW_TIMEOUT):
                    await self.session.renew()
                if await is_responsive(self.session):
                    return False
        await self.reopen()
        return True

    async def reopen(self) -> None:
        """End what is left of the browser and continue the session in another one, with the cookies and
        storage remembered last (at first those of the recorded log-in) and one empty tab.

        Raises:
            NoBrowser: none can be started. SiteloreError: it was closed meanwhile.
        """
        async with self._mending:
            self.replaced_for = self.broken
            await kill_browser(self._stack, self.process)
            self._stack, self.process = AsyncExitStack(), 0
            try:
                stack, page, process = await _started(self._opening, self._belongings)
            except (Error, OSError) as error:
                raise SiteloreError(
                    f"the browser could not be opened again: {error}".splitlines()[0]
                ) from error
            if self._closed:
                await stack.aclose()
                raise SiteloreError("the browser was closed")
            self._stack, self.process = stack, process
            self.session.switch_browser(page)
            if self.session.init_script:
                with suppress(Error):
                    await page.context.add_init_script(self.session.init_script)
            if self.session.guard is not None:
                with suppress(Error):  # the next caller finds it gone
                    await self.session.guard.watch(self.session)

    async def add_login(self, state: Mapping[str, list[Any]]) -> None:
        """Add a recorded log-in to the session, also for the browser that may replace this one.

        Raises ``SiteloreError`` where the browser does not take it.
        """
        try:
            await add_login_state(self.session, state)
        except Error as error:
            raise SiteloreError("the browser did not take the log-in") from error
        self._remembered = 0.0
        await self.remember()

    async def put_back_login(self, now: Mapping[str, list[Any]], before: Mapping[str, list[Any]]) -> None:
        """Put cookies and local storage of some hosts back as they were ``before``.

        Raises ``SiteloreError`` where the browser does not do it.
        """
        try:
            await put_back_login_state(self.session, now, before)
        except Error as error:
            raise SiteloreError("the browser did not give the log-in back") from error
        self._remembered = 0.0
        await self.remember()

    async def login_state(self) -> dict[str, list[Any]]:
        """Return cookies and local storage of all hosts: secrets.  Raises ``SiteloreError`` where there are none."""
        kept = await read_session_state(self.session)
        if kept is None or kept.state is None:
            raise SiteloreError("the browser does not answer")
        return cast("dict[str, list[Any]]", kept.state)

    async def shows_no_login(self, url: str, seconds: float) -> str:
        """Open a page aside and return its address, "" where it asks for a log-in, fails, or does not come in time."""
        return await shows_no_login(self.session, url, seconds)

    async def is_behind_login(self, url: str, wall: str, seconds: float) -> bool:
        """Whether a page leads somebody without cookies to the log-in page ``wall``, or to another one."""
        return await is_behind_login(self.session, url, wall, seconds)

    async def asks_for_login(self) -> bool:
        """Whether the page in front asks for a log-in, or does not answer."""
        return await asks_for_login(self.session)

    async def save_login_state(self, path: Path) -> None:
        """Write cookies and local storage to a file that only its owner can read.

        Raises ``StoreError`` when it can't be written.
        """
        import orjson

        state = await self.session.context.storage_state()
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(orjson.dumps(state))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise StoreError(f"the log-in can't be saved in {path}: {error.strerror or error}") from error

    async def aclose(self) -> None:
        """Close the browser; closing twice is harmless."""
        self._closed = True
        await self._stack.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


async def _started(opening: LaunchSettings, kept: SessionState) -> tuple[AsyncExitStack, Page, int]:
    """Start another browser; return what closes it, its empty tab, and its process id.

    Raises ``NoBrowser``.
    """
    stack = AsyncExitStack()
    try:
        browser = await stack.enter_async_context(open_browser(opening.setting, headless=not opening.headed))
        state = kept.state or opening.storage_state
        page = await stack.enter_async_context(
            open_tab_in_fresh_context(
                browser, opening.size, state, timezone=opening.timezone, locale=opening.locale
            )
        )
        await restore_session_storage(page, kept)
        return stack, page, await browser_process_id(browser)
    except BaseException:
        await stack.aclose()
        raise


def checked_login(path: str) -> str:
    """Return the path of a recorded log-in after validating the file; "" stays "".

    Raises ``InputError`` that says what is wrong with the file.
    """
    if not path:
        return ""
    import orjson

    remedy = "record one with Playwright's storage_state, or log in by hand"
    try:
        state = orjson.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"this log-in can't be read: {error}", path=path, remedy=remedy) from error
    cookies: object = state.get("cookies") if isinstance(state, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(cookies, list):
        raise InputError("this is not a recorded log-in", path=path, remedy=remedy)
    for number, cookie in enumerate(cast("list[object]", cookies), start=1):
        fields = cast("dict[str, object]", cookie) if isinstance(cookie, dict) else {}
        if not all(isinstance(fields.get(name), str) for name in ("name", "value", "domain", "path")):
            raise InputError(
                f"cookie {number} of this log-in has no name, value, domain or path", path=path, remedy=remedy
            )
    return path
