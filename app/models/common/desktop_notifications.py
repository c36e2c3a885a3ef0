"""Desktop notifications over D-Bus (freedesktop Desktop Notifications 1.2), sent without blocking the window.

Qt's own D-Bus classes can't send the unsigned numbers this interface asks for from Python, so the messages are made
by ``jeepney``, which the keyring brings along on Linux.  Windows and macOS have ``system_notifications``.  Where
nothing can be shown, ``lost`` reports it.
"""

from __future__ import annotations

import asyncio
import html
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, Signal

from app.assets import resource
from app.errors import SiteloreError
from app.models.common.system_notifications import SystemNotifications, has_system_notifications

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.models.common.tasks import Tasks

TIMEOUT_SECONDS = 1.0
"""Time-out for a bus or a service that does not answer."""
NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
LONGEST_TITLE, LONGEST_BODY = 160, 600


@dataclass(frozen=True, slots=True, kw_only=True)
class DesktopNotification:
    """A notification.  A newer one of the same ``key`` replaces the older; ``urgency`` is 0 to 2."""

    key: str
    title: str
    body: str
    urgency: int = 1


class DesktopNotifications(QObject):
    """Signals:

    followed: a notification was clicked; carries its key.
    lost: the desktop could not show a notification; it carries the notification, to be shown in another way.
    """

    followed = Signal(str)
    lost = Signal(object)

    def __init__(self, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._router: Any = None
        self._ready: asyncio.Future[None] | None = None
        self._abilities: frozenset[str] = frozenset()
        self._ids: dict[str, int] = {}
        self._name = "Sitelore"
        self._system = SystemNotifications(self.followed.emit) if has_system_notifications() else None

    def show(self, note: DesktopNotification) -> None:
        self._tasks.start(self._show(note), None, lambda _error: self._lost(note))

    def withdraw(self, key: str) -> None:
        """Remove a notification from the screen, if it is there."""
        if self._system is not None:
            self._tasks.start(self._system.withdraw(key), None, lambda _error: None)
            return
        number = self._ids.pop(key, 0)
        if number and self._router is not None:
            self._tasks.start(
                self._call("CloseNotification", "u", (number,)), None, lambda _error: self._forget()
            )

    # ------------------------------------------------------------ messages
    async def _show(self, note: DesktopNotification) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            if self._system is not None:
                title, body = _plain(note.title)[:LONGEST_TITLE], _plain(note.body)[:LONGEST_BODY]
                await self._system.show(note.key, title, body, note.urgency)
                return
            await self._connect()
            body = note.body[:LONGEST_BODY]
            if "body-markup" in self._abilities:
                body = html.escape(body, quote=False)
            actions = ["default", self.tr("Open")] if "actions" in self._abilities else []
            hints = {"urgency": ("y", note.urgency), "desktop-entry": ("s", "sitelore")}
            answer = await self._call(
                "Notify",
                "susssasa{sv}i",
                (
                    self._name,
                    self._ids.get(note.key, 0),
                    resource("icons", "sitelore.svg").as_uri(),
                    _plain(note.title)[:LONGEST_TITLE],
                    _plain(body),
                    actions,
                    hints,
                    -1,
                ),
            )
            self._ids[note.key] = int(answer[0])

    async def _call(self, method: str, signature: str = "", body: tuple[object, ...] = ()) -> Sequence[Any]:
        import jeepney
        from jeepney.wrappers import unwrap_msg

        address = jeepney.DBusAddress(PATH, bus_name=NAME, interface=NAME)
        message = cast("Any", jeepney).new_method_call(address, method, signature or None, body)
        return cast("Sequence[Any]", unwrap_msg(await self._router.send_and_get_reply(message)))

    async def _connect(self) -> None:
        if self._ready is None:
            if not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
                raise SiteloreError("no session bus found")
            ready = self._ready = asyncio.get_running_loop().create_future()
            self._tasks.start(
                self._serve(ready), None, lambda _error: self._ended(ready), key="desktop-notes"
            )
        await asyncio.shield(self._ready)

    async def _serve(self, ready: asyncio.Future[None]) -> None:
        """Listen to the bus until it or the window closes."""
        try:
            from jeepney.io.asyncio import DBusRouter, open_dbus_connection

            connection = await open_dbus_connection()
            try:
                async with DBusRouter(connection) as router:
                    self._router = router
                    await self._listen(router, ready)
            finally:
                connection.writer.close()  # the router leaves a closed bus's socket open
        except ImportError as error:  # not on Linux
            raise SiteloreError("D-Bus is not available") from error
        finally:
            self._router = None
            if not ready.done():
                ready.set_exception(SiteloreError("no notifications on this desktop"))
                ready.exception()  # mark as retrieved: nobody may be waiting

    async def _listen(self, router: Any, ready: asyncio.Future[None]) -> None:
        from jeepney import MatchRule, message_bus
        from jeepney.io.asyncio import Proxy

        rule = MatchRule(type="signal", interface=NAME, path=PATH)
        heard: asyncio.Queue[Any] = asyncio.Queue(64)
        with router.filter(rule, queue=heard):
            await Proxy(message_bus, router).AddMatch(rule)
            self._abilities = frozenset((await self._call("GetCapabilities"))[0])
            if not ready.done():
                ready.set_result(None)
            while True:
                self._hear(await heard.get())

    def _hear(self, message: Any) -> None:
        from jeepney import HeaderFields

        member, body = message.header.fields.get(HeaderFields.member), message.body
        key = next((key for key, number in self._ids.items() if body and body[0] == number), None)
        if key is None:
            return
        match member:
            case "ActionInvoked":
                self.followed.emit(key)
            case "NotificationClosed":
                self._ids.pop(key, None)
            case "ActivationToken":  # a Wayland compositor lets the window come to the front with this alone
                os.environ["XDG_ACTIVATION_TOKEN"] = str(body[1])
            case _:
                pass

    # ------------------------------------------------------------ failures
    def _ended(self, ready: asyncio.Future[None]) -> None:
        if self._ready is ready:
            self._forget()

    def _lost(self, note: DesktopNotification) -> None:
        self._forget()
        self.lost.emit(note)

    def _forget(self) -> None:
        """Forget the connection after the bus or the service went away: the next notification connects again."""
        self._ready, self._router = None, None
        self._ids.clear()
        self._tasks.cancel("desktop-notes")


def _plain(text: str) -> str:
    return "".join(letter if letter >= " " or letter == "\n" else " " for letter in text)
