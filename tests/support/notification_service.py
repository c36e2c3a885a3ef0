"""A private bus with a notification service that records requests and clicks on demand."""

from __future__ import annotations

import contextlib
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
"""
NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"


@contextlib.contextmanager
def private_bus(folder: Path) -> Iterator[str]:
    """Yield the address of a bus that lives as long as the block; ``dbus-daemon`` has to be installed."""
    program = shutil.which("dbus-daemon")
    assert program is not None
    config = folder / "bus.conf"
    config.write_text(CONFIG.format(path=folder / "bus"), "utf-8")
    process = subprocess.Popen(
        [program, f"--config-file={config}", "--nofork", "--print-address"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip().split(",")[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@dataclass
class NotificationService:
    """A desktop's notification service, on a thread of its own."""

    address: str
    abilities: tuple[str, ...] = ("body", "body-markup", "actions")
    answers: bool = True
    """Whether it answers; False simulates one that hangs."""
    shown: list[tuple[Any, ...]] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    _wanted: queue.Queue[tuple[str, str, tuple[Any, ...]]] = field(default_factory=queue.Queue)
    _ending: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def running(self) -> Iterator[NotificationService]:
        """Own the name until the block ends."""
        from jeepney import DBusAddress, new_method_call
        from jeepney.io.blocking import open_dbus_connection

        connection = open_dbus_connection(self.address)
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        connection.send_and_get_reply(new_method_call(bus, "RequestName", "su", (NAME, 4)), timeout=10)
        thread = threading.Thread(target=self._work, args=(connection,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._ending.set()
            thread.join(10)
            connection.close()

    def click(self, number: int) -> None:
        """Click on a notification."""
        self._wanted.put(("ActivationToken", "us", (number, "token-1")))
        self._wanted.put(("ActionInvoked", "us", (number, "default")))
        self._wanted.put(("NotificationClosed", "uu", (number, 2)))

    def _work(self, connection: Any) -> None:
        from jeepney import DBusAddress, MessageType, new_method_return, new_signal

        emitter = DBusAddress(PATH, interface=NAME)
        while not self._ending.is_set():
            with contextlib.suppress(queue.Empty):
                while True:
                    member, signature, body = self._wanted.get_nowait()
                    connection.send(new_signal(emitter, member, signature, body))
            try:
                message = connection.receive(timeout=0.02)
            except TimeoutError:
                continue
            except (ConnectionError, OSError):
                return
            if message.header.message_type is MessageType.method_call:
                answer = self._answer(message)
                if answer is not None and self.answers:
                    connection.send(new_method_return(message, *answer))

    def _answer(self, message: Any) -> tuple[str, tuple[Any, ...]] | None:
        from jeepney import HeaderFields

        member = message.header.fields[HeaderFields.member]
        self.heard.append(member)
        match member:
            case "GetCapabilities":
                return "as", (list(self.abilities),)
            case "Notify":
                assert message.header.fields[HeaderFields.signature] == "susssasa{sv}i"
                self.shown.append(message.body)
                return "u", (message.body[1] or len(self.shown),)
            case "CloseNotification":
                self.closed.append(message.body[0])
                return "", ()
            case _:
                return None
