"""One window per workspace: a second start hands its files to the first and ends.

The lock decides who is first and is safe after a crash; the socket, for this user only, carries the message.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from app.errors import Conflict

PROTOCOL = 1
ANSWER_MS = 3000
MAX_MESSAGE_BYTES = 1_000_000
"""A longer message is not from one of our windows."""


class SingleInstance(QObject):
    """``claim`` reports whether this process is the workspace's window; ``called`` carries the paths of later
    starts.
    """

    called = Signal(list, str)
    """Paths to open, perhaps none, and the perspective to show; the window should come to the front."""

    def __init__(self, workspace: Path, runtime: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        name = hashlib.blake2b(str(workspace.resolve()).encode(), digest_size=8).hexdigest()
        self._workspace = workspace
        self._address = f"sitelore-{name}" if sys.platform == "win32" else str(runtime / f"{name}.window")
        self._lock = QLockFile(str(runtime / f"{name}.lock"))
        self._lock.setStaleLockTime(0)  # never by age: a lock is stale only when its process is gone
        self._server: QLocalServer | None = None
        self._waiting: list[tuple[list[str], str]] | None = []

    def claim(self, paths: Sequence[str] = (), place: str = "") -> bool:
        """Return True when this is the first; else send ``paths`` to the first and bring it to the front.

        ``place`` is the perspective it is to show.

        Raises ``Conflict`` when the window that holds the workspace does not answer or is another version.
        """
        if not self._lock.tryLock(0):
            self._hand_over(paths, place)
            return False
        QLocalServer.removeServer(self._address)  # left over from a crash: the lock was free
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._answer)
        if server.listen(self._address):
            self._server = server
        return True

    def listen(self, called: Callable[[list[str], str], None]) -> None:
        """Call this for every later start from now on, and for those that came while the window was being filled."""
        self.called.connect(called)
        waiting, self._waiting = self._waiting, None
        for message in waiting or ():
            called(*message)

    def release(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._lock.isLocked():
            self._lock.unlock()

    def _hand_over(self, paths: Sequence[str], place: str = "") -> None:
        socket = QLocalSocket()
        socket.connectToServer(self._address)
        if not socket.waitForConnected(ANSWER_MS):
            raise Conflict(
                f"another process has {self._workspace} open and does not answer; end it, then start again"
            )
        whole = [str(Path(path).resolve()) for path in paths]
        socket.write(json.dumps({"protocol": PROTOCOL, "paths": whole, "place": place}).encode() + b"\n")
        socket.flush()
        answer = b""
        while b"\n" not in answer and socket.waitForReadyRead(ANSWER_MS):
            answer += bytes(socket.readAll().data())
        socket.disconnectFromServer()
        if json.loads(answer or b"{}").get("protocol") != PROTOCOL:
            raise Conflict(
                f"a window of another version has {self._workspace} open; close it, then start again"
            )

    def _answer(self) -> None:
        if self._server is None:
            return
        socket = self._server.nextPendingConnection()
        socket.readyRead.connect(lambda: self._read(socket))
        socket.disconnected.connect(socket.deleteLater)
        self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if socket.bytesAvailable() > MAX_MESSAGE_BYTES:
            socket.abort()
            return
        if not socket.canReadLine():
            return
        message = _read_message(bytes(socket.readLine().data()))
        socket.write(json.dumps({"protocol": PROTOCOL}).encode() + b"\n")
        socket.flush()
        socket.disconnectFromServer()
        if message is not None:
            if self._waiting is not None:
                self._waiting.append(message)
            self.called.emit(*message)


def _read_message(line: bytes) -> tuple[list[str], str] | None:
    """Return the paths and the place in a message of this protocol, ``None`` for anything else."""
    try:
        message: Any = json.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    fields = cast("dict[str, Any]", message)
    if fields.get("protocol") != PROTOCOL or not isinstance(fields.get("paths"), list):
        return None
    return [str(path) for path in cast("list[Any]", fields["paths"])], str(fields.get("place", ""))
