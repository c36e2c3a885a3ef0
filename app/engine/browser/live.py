"""A browser that stays open between two use cases: the one a person is taken through, or logs in with by hand."""

from __future__ import annotations

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self, cast

from app.engine.browser.session import Visit, open_browser, visit
from app.engine.errors import InputError, SiteloreError, StoreError


class LiveBrowser:
    """One browser with one visit.  Close it, or use it with ``async with``."""

    def __init__(self, stack: AsyncExitStack, tab: Visit, *, headed: bool) -> None:
        self._stack, self.visit, self.headed = stack, tab, headed

    @classmethod
    async def open(
        cls,
        setting: str = "",
        *,
        headed: bool = False,
        storage_state: str = "",
        size: tuple[int, int] = (1280, 800),
        keep_tabs: bool = False,
    ) -> Self:
        """Start a browser; ``storage_state`` is the path of a recorded log-in, ``size`` in CSS pixels.

        ``keep_tabs`` lets windows that pages open stay.

        Raises:
            NoBrowser: none can be started.  SiteloreError: it should be shown, and there is no display.
            InputError: the recorded log-in can't be read.
        """
        if headed and not has_display():
            raise SiteloreError("there is no display here to show a browser on; go without --headed")
        stack = AsyncExitStack()
        try:
            browser = await stack.enter_async_context(open_browser(setting, headless=not headed))
            tab = await stack.enter_async_context(
                visit(browser, size, storage_state=checked_login(storage_state), keep_tabs=keep_tabs)
            )
        except BaseException:
            await stack.aclose()
            raise
        return cls(stack, tab, headed=headed)

    @property
    def is_open(self) -> bool:
        """False once the person has closed its window, or it crashed."""
        browser = self.visit.context.browser
        return browser is not None and browser.is_connected() and bool(self.visit.pages)

    async def save_login(self, path: Path) -> None:
        """Keep cookies and local storage in a file that only its owner can read.

        Raises ``StoreError`` when it can't be written.
        """
        import orjson

        state = await self.visit.context.storage_state()
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
            raise StoreError(f"the log-in can't be kept in {path}: {error.strerror or error}") from error

    async def aclose(self) -> None:
        """Close the browser; closing twice does nothing more."""
        await self._stack.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def has_display() -> bool:
    """Whether a window can be shown."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def checked_login(path: str) -> str:
    """The path of a recorded log-in, seen to be one; "" stays "".

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
        raise InputError("this is no recorded log-in", path=path, remedy=remedy)
    for number, cookie in enumerate(cast("list[object]", cookies), start=1):
        fields = cast("dict[str, object]", cookie) if isinstance(cookie, dict) else {}
        if not all(isinstance(fields.get(name), str) for name in ("name", "value", "domain", "path")):
            raise InputError(
                f"cookie {number} of this log-in has no name, value, domain or path", path=path, remedy=remedy
            )
    return path
