"""Perform a recorded action on a page with real pointer and keys."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from playwright.async_api import ElementHandle, Error, Page, Request

from app.engine.browser.capture.frames import NoSuchElement
from app.engine.browser.capture.snapshot import element_handle
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.recorded import RecordedAction

ACTION_TIMEOUT = 1.0
"""Seconds an action may wait for its element to be visible, still and reachable."""
SETTLE = 0.35
"""Seconds a page gets to react before it is captured again."""
LOAD = 10.0
"""Seconds a new page may take to load."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The result of opening or operating a page.

    Attributes:
        error: empty when the action was done, else one sentence (from the recorder's path:
            Playwright's message).
        status: HTTP status of the page that was opened; 0 if none was, or it is unknown.
        settled: the page became idle afterwards.
        seconds: from the start of the action until the page was idle.
        notes: remarks on an action that succeeded, such as "answered at the second try only".
    """

    error: str = ""
    status: int = 0
    settled: bool = True
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """The action was done."""
        return not self.error


async def perform(
    session: BrowserSession,
    action: RecordedAction,
    *,
    timeout: float = ACTION_TIMEOUT,
    settle: float = SETTLE,
) -> LoadResult:
    """Do one action on the tab in front and let the page settle.

    Answers to the user, notes and calculations touch no page and are always done.  Only the browser's refusals come
    back as ``error``; an action of an unknown kind is one too.
    """
    try:
        with _PageLoadWait(session.page) as arrival:
            await _act(session, action, timeout * 1000)
            await asyncio.sleep(settle)
            await arrival.wait()
        await session.page.wait_for_load_state("load", timeout=LOAD * 1000)
    except (Error, NoSuchElement) as error:
        return LoadResult(f"{type(error).__name__}: {error}")
    return LoadResult()


class _PageLoadWait:
    """Waits for the page that an action navigates to.

    A click returns long before the page loads, and until then the old page counts as loaded. A slow page
    is not an error: after ``LOAD`` seconds it is taken as it is.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._there = asyncio.Event()
        self._there.set()

    def __enter__(self) -> Self:
        self._page.on("request", self._asked)
        self._page.on("requestfailed", self._failed)
        self._page.on("load", self._loaded)
        self._page.on("close", self._loaded)
        return self

    def __exit__(self, *_: object) -> None:
        self._page.remove_listener("request", self._asked)
        self._page.remove_listener("requestfailed", self._failed)
        self._page.remove_listener("load", self._loaded)
        self._page.remove_listener("close", self._loaded)

    async def wait(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._there.wait(), LOAD)

    def _asked(self, request: Request) -> None:
        if self._is_for_the_page(request):
            self._there.clear()

    def _failed(self, request: Request) -> None:
        if self._is_for_the_page(request):
            self._there.set()

    def _loaded(self, _: Page) -> None:
        self._there.set()

    def _is_for_the_page(self, request: Request) -> bool:
        return request.is_navigation_request() and request.frame == self._page.main_frame


async def element(session: BrowserSession, bid: str) -> ElementHandle:
    """Return the element with this id, its number in the last capture.

    Raises:
        NoSuchElement: the id is not a number, or its element has left the page.
    """
    if not bid.isdecimal():
        raise NoSuchElement(f"Could not find element with bid {bid!r}")
    return await element_handle(session, int(bid))


async def operate_handle(
    handle: ElementHandle, verb: str, value: str | list[str] = "", *, timeout: float = ACTION_TIMEOUT * 1000
) -> None:
    """Operate one element with real pointer and keys; ``timeout`` in milliseconds.

    Raises ``playwright.async_api.Error`` if the element can't be reached, or is covered or disabled.
    """
    text = value if isinstance(value, str) else value[0] if value else ""
    match verb:
        case "click":
            await handle.click(timeout=timeout)
        case "dblclick":
            await handle.dblclick(timeout=timeout)
        case "fill":
            await handle.fill(text, timeout=timeout)
        case "clear":
            await handle.fill("", timeout=timeout)
        case "check":
            await handle.check(timeout=timeout)
        case "uncheck":
            await handle.uncheck(timeout=timeout)
        case "hover":
            await handle.hover(timeout=timeout)
        case "focus":
            await handle.focus()
        case "press":
            await handle.press(text, timeout=timeout)
        case "select":
            await handle.select_option(label=value, timeout=timeout)
        case _:
            raise NoSuchElement(f"Invalid action type: {verb}")


async def _act(session: BrowserSession, action: RecordedAction, timeout: float) -> None:
    """``timeout`` in milliseconds."""
    page = session.page

    def text(name: str) -> str:
        value = action.args.get(name)
        return "" if value is None else str(value)

    async def target() -> ElementHandle:
        return await element(session, action.bid or "")

    match action.kind:
        case "click" | "dblclick" | "fill" | "clear" | "check" | "uncheck" | "hover" | "focus" | "press":
            await operate_handle(
                await target(), action.kind, text("key_comb") or text("value"), timeout=timeout
            )
        case "select_option":
            chosen = action.args.get("options")
            names = [str(option) for option in chosen] if isinstance(chosen, list) else [text("options")]
            await operate_handle(await target(), "select", names, timeout=timeout)
        case "keyboard_press":
            await page.keyboard.press(text("key"))
        case "keyboard_type":
            await page.keyboard.type(text("text"))
        case "scroll":
            await page.mouse.wheel(_number(action, "delta_x"), _number(action, "delta_y"))
        case "goto":
            await page.goto(text("url"), timeout=LOAD * 1000)
        case "go_back":
            await page.go_back(timeout=LOAD * 1000)
        case "go_forward":
            await page.go_forward(timeout=LOAD * 1000)
        case "new_tab" | "tab_close" | "tab_focus":
            await _switch(session, action)
        case "noop":
            await asyncio.sleep(min(_number(action, "wait_ms"), LOAD * 1000) / 1000)
        case "take_note" | "calculate" | "send_msg_to_user" | "report_infeasible":
            pass
        case _:
            raise NoSuchElement(f"Invalid action type: {action.kind}")


async def _switch(session: BrowserSession, action: RecordedAction) -> None:
    if action.kind == "new_tab":
        await session.open_tab()
    elif action.kind == "tab_close":
        await session.page.close()
        session.active = max(0, len(session.pages) - 1)
    else:
        wanted = int(_number(action, "index"))
        if not 0 <= wanted < len(session.pages):
            raise NoSuchElement(f"no tab {wanted}; {len(session.pages)} are open")
        session.active = wanted
        await session.page.bring_to_front()


def _number(action: RecordedAction, name: str) -> float:
    value = action.args.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
