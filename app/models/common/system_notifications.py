"""Notifications of Windows and macOS, through ``desktop-notifier``; the library is imported with the first one."""

from __future__ import annotations

import importlib
import logging
import sys
from typing import TYPE_CHECKING, Any

from app.assets import resource
from app.errors import SiteloreError

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)


def has_system_notifications() -> bool:
    """Whether this is a system whose notifications do not go over D-Bus."""
    return sys.platform in ("win32", "darwin")


class SystemNotifications:
    """Shows, replaces and withdraws notifications by key; ``followed`` is called with the key of a clicked one."""

    def __init__(self, followed: Callable[[str], None]) -> None:
        self._followed = followed
        self._library: Any = None
        self._notifier: Any = None
        self._shown: dict[str, str] = {}

    async def show(self, key: str, title: str, body: str, urgency: int) -> None:
        """Show a notification in place of the one with the same key; ``urgency`` is 0 to 2.

        Raises ``SiteloreError`` where the system shows none: the library is missing, nobody gave permission, or (macOS)
        the program is no bundle of its own.
        """
        await self._connect()
        library, dispatched = self._library, list[bool]()
        urgencies = (library.Urgency.Low, library.Urgency.Normal, library.Urgency.Critical)
        await self.withdraw(key)
        self._shown[key] = await self._notifier.send(
            title=title,
            message=body,
            urgency=urgencies[urgency],
            on_dispatched=lambda: dispatched.append(True),
            on_clicked=lambda: self._followed(key),
        )
        if not dispatched:
            self._shown.pop(key, None)
            raise SiteloreError("the system did not take the notification")

    async def withdraw(self, key: str) -> None:
        """Remove a notification, if it is there; a failure is logged."""
        identifier = self._shown.pop(key, "")
        if identifier and self._notifier is not None:
            try:
                await self._notifier.clear(identifier)
            except Exception:
                log.info("a notification could not be withdrawn", exc_info=True)

    async def _connect(self) -> None:
        if self._notifier is not None:
            return
        try:
            self._library = importlib.import_module("desktop_notifier")
            icon = self._library.Icon(path=resource("icons", "png", "sitelore-128.png"))
            notifier = self._library.DesktopNotifier(app_name="Sitelore", app_icon=icon)
            abilities = await notifier.get_capabilities()
        except Exception as error:  # as above
            log.info("no notifications of this system", exc_info=True)
            raise SiteloreError("no notifications on this system") from error
        if not abilities:  # the library's stand-in, which shows nothing and says so to nobody
            raise SiteloreError("no notifications on this system")
        self._notifier = notifier
