"""Turn the window's loop in tests: for a while, until a condition holds, until nothing is left to do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import qasync
from PySide6.QtCore import QElapsedTimer, QEventLoop, QTimer

PATIENCE = 120.0
"""Seconds until a wait for a condition fails; only a failing test ever waits that long."""
MOST_TURNS = 2000


class CountingLoop(qasync.QEventLoop):
    """qasync's loop, which counts the callbacks that were ready at once: it is idle while none is added."""

    ready = 0

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Any:
        if delay <= 0:
            self.ready += 1
        return super().call_later(delay, callback, *args, context=context)


def turn(seconds: float = 0.02) -> None:
    """Turn the loop for some time, for timers to fire, then until nothing that is ready is left to do."""
    _spin(seconds)
    loop = asyncio.events._get_running_loop()
    if not isinstance(loop, CountingLoop):
        return
    quiet = 0
    for _ in range(MOST_TURNS):
        before = loop.ready
        _spin(0)
        quiet = quiet + 1 if loop.ready == before else 0
        if quiet == 2:
            return


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Turn the loop until the condition holds."""
    clock = QElapsedTimer()
    clock.start()
    while not condition():
        assert clock.elapsed() < seconds * 1000, "the condition did not come true"
        _spin(0.01)


def _spin(seconds: float) -> None:
    inner = QEventLoop()
    QTimer.singleShot(int(seconds * 1000), inner.quit)
    inner.exec()
