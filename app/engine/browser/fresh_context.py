"""Make every opening of a page a first visit: discard what a site stores in the browser in between.

With "recently viewed" lists, dismissed banners or a chosen view, a page depends on the path to it,
and two explorations would find different states. The recorded log-in stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import orjson
from playwright.async_api import Error

from app.engine.browser.session import BrowserSession

_STORES = "local_storage,indexeddb,service_workers,cache_storage"


class FreshContext:
    """Resets a session to that of a first-time visitor: nothing stored, or the recorded log-in.

    Args:
        storage_state: path of the recorded log-in; "" for none. It is read, never written.
    """

    def __init__(self, storage_state: str = "") -> None:
        state = cast(
            "dict[str, Any]", orjson.loads(Path(storage_state).read_bytes()) if storage_state else {}
        )
        self._cookies = {str(cookie.get("name")) for cookie in state.get("cookies", ())}
        self._origins = {
            str(origin.get("origin")) for origin in state.get("origins", ()) if origin.get("localStorage")
        }

    async def forget(self, session: BrowserSession) -> None:
        """Drop cookies and storage that are not part of the log-in; values the site renewed stay renewed."""
        try:
            await self._drop_cookies(session)
            parts = urlsplit(session.page.url)
            if parts.scheme not in ("http", "https"):
                return
            origin = f"{parts.scheme}://{parts.netloc}"
            if origin not in self._origins:
                await session.send("Storage.clearDataForOrigin", origin=origin, storageTypes=_STORES)
            await session.send("Runtime.evaluate", expression="try { sessionStorage.clear() } catch {}")
        except Error:
            return  # a page that is gone stores nothing

    async def _drop_cookies(self, session: BrowserSession) -> None:
        if not self._cookies:
            await session.context.clear_cookies()
            return
        for cookie in await session.context.cookies():
            name = cookie.get("name", "")
            if name and name not in self._cookies:
                await session.context.clear_cookies(name=name, domain=cookie.get("domain"))
