"""Time from the L key to the painted next step, on the real runs, through the engine host as in the window.

Floor: the same two pages as raw tree text, fetched from the same host and painted in two plain text fields.
Gap: the longest time in which a 5 ms timer of the window did not fire.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6  # noqa: F401  before qasync, which else looks for another binding
import qasync
from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPlainTextEdit, QWidget

from app.models.common.commands import CommandCenter
from app.models.common.engine_client import EngineClient
from app.models.common.tasks import Tasks
from app.models.review.review_model import ReviewModel
from app.views.frame.theme import Theme
from app.views.review.review_view import ReviewView

SHARED = Path(os.environ.get("SITELORE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
RUNS = 12
"""Number of longest runs stepped through."""
PACE_MS = 150
"""A fast pace: between two keys the neighbours are prefetched."""


class Painted(QObject):
    """Ends a wait once a widget was painted in the expected state."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self._ready: Callable[[], bool] = lambda: False
        self._loop = QEventLoop()
        self._widget = widget
        widget.installEventFilter(self)

    def after(self, act: Callable[[], Any], ready: Callable[[], bool]) -> float:
        """Do ``act``; return milliseconds until the widget was painted with ``ready`` true."""
        self._ready = ready
        began = time.perf_counter()
        act()
        self._widget.update()
        QTimer.singleShot(20_000, self._loop, lambda: self._loop.exit(1))
        if self._loop.exec():
            raise TimeoutError("the step was not painted")
        return (time.perf_counter() - began) * 1000

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 Qt's name
        if event.type() is QEvent.Type.Paint and self._ready():
            self._ready = lambda: False
            QTimer.singleShot(0, self._loop.quit)  # runs when this painting has ended
        return False


class Gaps:
    """The longest time without a turn of the window's loop, in milliseconds."""

    def __init__(self) -> None:
        self.longest, self._last = 0.0, time.perf_counter()
        self._timer = QTimer(interval=5)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    @contextmanager
    def watching(self) -> Iterator[None]:
        self._last = time.perf_counter()
        self._timer.start()
        yield
        self._timer.stop()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.longest = max(self.longest, (now - self._last) * 1000)
        self._last = now


def rank(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def pause(milliseconds: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the window did not get there")
        pause(5)


def walk(view: ReviewView, model: ReviewModel, run: str, pace: int, gaps: Gaps) -> list[float]:
    """Step through a run by key, from its first step to its last."""
    view.activateWindow()
    view.focus_first()
    until(view.isActiveWindow)
    model.open_run(run, 0)
    until(lambda: model.detail is not None and model.view is not None)
    model.show_step(0)
    pause(max(pace, 400))
    painted = Painted(view.step.before.lines.viewport())
    times: list[float] = []
    assert model.detail is not None
    for index in range(1, len(model.detail.steps)):
        with gaps.watching():
            times.append(
                painted.after(
                    lambda: QTest.keyClick(QApplication.focusWidget() or view, Qt.Key.Key_L),
                    lambda index=index: model.view is not None and model.view.index == index,
                )
            )
            pause(pace)
    return times


def raw(client: EngineClient, model: ReviewModel, tasks: Tasks) -> list[float]:
    """The floor: fetch two trees as text and paint them."""
    window, edits = QWidget(), (QPlainTextEdit(), QPlainTextEdit())
    layout = QHBoxLayout(window)
    for edit in edits:
        layout.addWidget(edit)
    window.resize(640, 460)
    window.show()
    pause(100)
    painted = Painted(edits[1].viewport())
    times: list[float] = []
    steps = model.detail.steps if model.detail is not None else ()
    for one, other in pairwise(steps):
        got: list[bool] = []

        async def fetch(digests: tuple[str, str] = (one.tree, other.tree)) -> None:
            for edit, digest in zip(edits, digests, strict=True):
                edit.setPlainText((await client.api.blob(digest)).decode("utf-8", "replace"))

        def show(work: Any = fetch, got: list[bool] = got) -> None:
            tasks.start(work(), lambda _none: (got.append(True), edits[1].viewport().update()))

        times.append(painted.after(show, lambda got=got: bool(got)))
    window.close()
    return times


def report(name: str, times: list[float]) -> None:
    print(
        f"  {name:<34} p50 {rank(times, 0.5):6.1f} ms   p95 {rank(times, 0.95):6.1f} ms   "
        f"max {max(times):6.1f} ms   ({len(times)} steps)"
    )


def main() -> None:
    source = SHARED / "data" / "colorbrowseragent"
    if not source.is_dir():
        print(f"skipped: {source} is not here")
        return
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    loop = qasync.QEventLoop(app, already_running=True)

    def run(work: Any) -> Any:
        task = asyncio.ensure_future(work, loop=loop)
        inner = QEventLoop()
        task.add_done_callback(lambda _task: inner.quit())
        if not task.done():
            inner.exec()
        return task.result()

    with tempfile.TemporaryDirectory() as folder:
        client, tasks = EngineClient(), Tasks()
        run(client.spawn(Path(folder) / "workspace"))
        run(client.api.import_runs([str(source)]))
        theme, center = Theme(), CommandCenter()
        theme.set_mode("light")
        theme.apply(app)
        model = ReviewModel(client, tasks)
        view = ReviewView(model, center, theme)
        view.addActions(center.actions())
        center.set_place("review")
        view.resize(1224, 720)
        view.show()
        view.activateWindow()
        view.focus_first()
        model.start()
        until(lambda: model.view is not None)
        rows = sorted(model.queue.model.rows, key=lambda row: -row.steps)[:RUNS]
        paced, hasty, floor = list[float](), list[float](), list[float]()
        calm, rush = Gaps(), Gaps()
        for row in rows:
            paced += walk(view, model, row.id, PACE_MS, calm)
            floor += raw(client, model, tasks)
        for row in rows:
            model.views.forget(row.id)
            hasty += walk(view, model, row.id, 0, rush)
        lines = [len(known.before.lines) for known in model.views.held]
        print(f"next step: {len(rows)} longest runs, pages of {rank(lines, 0.5)} lines (median), 1224x720")
        report(f"a key every {PACE_MS} ms", paced)
        report("keys as fast as it paints", hasty)
        report("floor: raw text, fetched, painted", floor)
        print(
            f"  ratio to the floor at p95: {rank(paced, 0.95) / rank(floor, 0.95):.2f} paced, "
            f"{rank(hasty, 0.95) / rank(floor, 0.95):.2f} in haste"
        )
        print(f"  longest gap of the loop: {calm.longest:.1f} ms paced, {rush.longest:.1f} ms in haste")
        view.hide()
        model.pictures.close()
        run(tasks.aclose())
        run(client.aclose())
    asyncio.events._set_running_loop(None)
    loop.stop()
    loop.close()


if __name__ == "__main__":
    main()
