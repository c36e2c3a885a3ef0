"""Pictures decoded on worker threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal


class _Carrier(QObject):
    """Carries results from a worker; it has no parent, as a worker may emit while the model that made it goes."""

    done = Signal(object, object)


class Decoder(QObject):
    """Runs work on two threads and hands each result to its callback on the window's thread.

    Once the parent is deleted no callback is called any more.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(2)
        self._carrier = _Carrier()
        self._carrier.done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def start(self, work: Callable[[], Any], then: Callable[[Any], None], *, priority: int = 0) -> None:
        """Do the work, the highest priority first, and call ``then`` with its result."""
        done = self._carrier.done
        self._pool.start(lambda: done.emit(then, work()), priority)

    def close(self) -> None:
        """Forget what has not begun and wait for the rest."""
        self._pool.clear()
        self._pool.waitForDone()

    def _deliver(self, then: Callable[[Any], None], result: Any) -> None:
        then(result)
