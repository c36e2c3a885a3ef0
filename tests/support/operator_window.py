"""The real window operated by real key events; keys are counted, waits have generous limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.models.common.notification_rules import Notification
from app.views.frame.main_window import MainWindow
from app.views.live.view import LiveView
from app.workbench import Workbench

WAIT = 150.0
"""Seconds allowed for what takes two on an idle machine."""
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
LARGE = QSize(2560, 1440)


class OperatorDriver:
    """An operator at the window.

    Attributes:
        pressed: number of key presses; typed text is not counted.
        calls: every notification with the time it was shown.
        out: a folder for screenshots, ``None`` for none.
    """

    def __init__(self, window: MainWindow, out: Path | None = None) -> None:
        bench, live = window.findChild(Workbench), window.perspective("live")
        assert isinstance(bench, Workbench)
        assert isinstance(live, LiveView)
        self.window, self.bench, self.live = window, bench, live
        self.model = live.model
        self.out = out
        self.pressed = 0
        self.calls: list[tuple[Notification, float]] = []
        bench.calls.calls.called.connect(lambda call: self.calls.append((call, time.time())))

    async def press(
        self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    ) -> None:
        """Send one real key event to the focus widget."""
        self.pressed += 1
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifiers)
        await asyncio.sleep(0.05)

    async def type(self, text: str) -> None:
        """Type text into the focus widget."""
        QTest.keyClicks(QApplication.focusWidget(), text)
        await asyncio.sleep(0.05)

    async def keys(self, *keys: Qt.Key) -> None:
        """Press plain keys one after the other."""
        for key in keys:
            await self.press(key)

    async def until(self, what: Callable[[], object], wanted: str, seconds: float = WAIT) -> None:
        """Wait for a condition."""
        end = time.monotonic() + seconds
        while not what():
            if time.monotonic() > end:
                rows = [(row.intent, row.state.value, row.outcome, row.why) for row in self.model.list.rows]
                said = self.window.toast.text
                raise AssertionError(f"it did not come to this: {wanted}; last said {said!r}; {rows}")
            await asyncio.sleep(0.02)

    async def shoot(self, name: str, sizes: Sequence[QSize] = (), wait: float = 0.4) -> None:
        """Take light and dark screenshots; does nothing without a folder."""
        if self.out is None:
            return
        usual = self.window.size()
        for size in (usual, *sizes):
            for mode in ("light", "dark"):
                self.window.theme.set_mode(mode)
                self.window.resize(size)
                await asyncio.sleep(wait if size == usual else 2.0)
                wide = "" if size == usual else f"-{size.width()}"
                self.window.grab().save(str(self.out / f"{name}{wide}-{mode}.png"))
        self.window.theme.set_mode("light")
        self.window.resize(usual)

    def announced(self, run: str) -> tuple[Notification, float] | None:
        """Return a run's notification and when it was shown."""
        return next(((call, at) for call, at in self.calls if run in call.runs), None)
