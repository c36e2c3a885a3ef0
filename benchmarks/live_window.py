"""Live with the operator's setup: window, socket, engine host, Chromium.  Frames, a click's round trip, stalls.

    python -m benchmarks.live_window

Beside each figure is its floor from the same run: DevTools alone in one process for frames and clicks, the same
window without runs for stalls.  The window is drawn offscreen by the processor.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import re
import statistics
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6  # noqa: F401  before qasync, which else looks for another binding
import qasync
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.engine.api.run_api import WITHOUT_KNOWLEDGE, RunRequest
from app.engine.browser.session import open_browser, open_session
from app.engine.core.supervision import RunState, Stage
from app.models.common.commands import CommandCenter
from app.models.common.engine_client import EngineClient
from app.models.common.tasks import Tasks
from app.models.live.model import LiveModel
from app.views.frame.theme import Theme
from app.views.live.view import LiveView
from benchmarks.screencast import FLIPS, MOVING, SIZE, floor_of_clicks, raw
from tests.support.protocol_server import Answer, ProtocolServer

WINDOW = (1900, 1100)
"""Large enough for a page of 1280 x 800 at full size."""
SECONDS = 6.0
CLICKS = 50
RUNS = 8
STALL_SECONDS = 25.0
SOAK_SECONDS = 25.0
TICK_MS = 5
ROWS = 660
"""Links of a page that the eight runs walk through; with their words it has 2,000 elements."""


def main() -> None:
    floor_rate = asyncio.run(floors())
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    loop = qasync.QEventLoop(app)
    with loop, serving() as site, ProtocolServer(brain=brain, models=["m"]) as model:
        os.environ |= {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k"}
        loop.run_until_complete(through_the_window(site, floor_rate))


async def floors() -> float:
    """Frames a second of DevTools alone in one process; a click's time is printed."""
    async with open_browser() as browser:
        print(f"Chromium {browser.version}, {os.cpu_count()} processors, pages of {SIZE[0]} x {SIZE[1]}")
        async with open_session(browser, SIZE) as tab:
            await tab.page.set_content(MOVING)
            wire, pictures = await raw(tab, SIZE)
            await asyncio.sleep(SECONDS)
            await wire.detach()
        print("\nFrom a click to the picture that shows it, in one process: ms")
        await floor_of_clicks(browser)
    return len(pictures) / SECONDS


async def through_the_window(site: str, floor_rate: float) -> None:
    async with bench() as desk:
        idle = await stalls(4.0)
        await rates(desk, site, floor_rate)
        await clicks(desk, site)
        await eight(desk, site, idle)


# ------------------------------------------------------------------------------------------------ the desk


class Desk:
    """The view, its model, and the keys."""

    def __init__(self, client: EngineClient, tasks: Tasks) -> None:
        self.client = client
        theme = Theme()
        theme.set_mode("light")
        theme.apply(QApplication.instance())
        theme.load_icons()
        center = CommandCenter()
        center.set_place("live")
        self.model = LiveModel(client, tasks)
        self.view = LiveView(self.model, center, theme)
        self.view.resize(*WINDOW)
        self.canvas = self.view.page.canvas
        self.model.start()
        self.view.show()
        self.view.activateWindow()

    async def begin(self, *requests: RunRequest) -> list[str]:
        """Start runs and wait until each has a page."""
        runs = await self.client.api.start_runs(list(requests), len(requests))
        await until(lambda: all(self.is_there(run) for run in runs), 120)
        return runs

    def is_there(self, run: str) -> bool:
        """Whether its page was captured once."""
        row = self.model.row_of(run)
        return row is not None and (row.step > 0 or row.stage is Stage.THINKING)

    async def in_hand(self, url: str) -> str:
        """A run whose page is large and under the operator's control."""
        (run,) = await self.begin(task("Stay where you are", url))
        self.model.open(run)
        self.model.take_over()
        await until(lambda: self.canvas.is_capturing and self.model.frames.get(run) is not None, 60)
        await asyncio.sleep(1.5)
        return run

    async def end(self, *runs: str) -> None:
        """End runs and dismiss them."""
        self.model.close()
        for run in runs:
            if self.model.row_of(run).state is RunState.TAKEN_OVER:
                await self.client.api.release(run)
            await self.client.api.end_run(run)
        await until(lambda: all(self.model.row_of(run).state is RunState.ENDED for run in runs), 180)
        for run in runs:
            await self.client.api.dismiss_run(run)


@contextlib.asynccontextmanager
async def bench() -> AsyncIterator[Desk]:
    """An engine host on a workspace of its own, and the view over it."""
    with tempfile.TemporaryDirectory() as folder:
        client, tasks = EngineClient(), Tasks()
        tasks.error.connect(lambda words: print(f"  ! {words}"))
        await client.spawn(Path(folder) / "workspace")
        desk = Desk(client, tasks)
        try:
            yield desk
        finally:
            desk.view.hide()
            desk.view.page.close_pictures()
            await tasks.aclose()
            desk.model.frames.close()
            await client.aclose()


def task(intent: str, url: str) -> RunRequest:
    return RunRequest(intent=intent, start_url=url, policy="llm", kb=WITHOUT_KNOWLEDGE, max_steps=500)


def brain(request: dict[str, object]) -> str | Answer:
    """The model: it either thinks for ever about staying, or goes to the next page."""
    return Answer(text='click("0")', first=600.0) if "Stay where you are" in str(request) else 'click("0")'


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """A site: a page that moves, one that changes colour when it is clicked, and catalogue pages without end."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = int(re.sub(r"\D", "", self.path) or 0)
            page = {"/moving": MOVING, "/flips": FLIPS}.get(self.path) or (
                f"<title>Page {number}</title><h1>Page {number}</h1><a href='/page/{number + 1}'>Next</a>"
                + "".join(f"<p><a href='#{n}'>Thing {n}</a> <b>{n} in stock</b></p>" for n in range(ROWS))
            )
            body = page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda request, client_address: (
        None
    )  # a browser that is closed drops its connections
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def until(condition, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not happen")
        await asyncio.sleep(0.02)


# ------------------------------------------------------------------------------------------------ pictures


class Painted(QObject):
    """Counts how often the canvas was painted."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.times: list[float] = []
        self._canvas = desk.canvas
        self._canvas.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.Paint:
            self.times.append(time.perf_counter())
        return False

    def stop(self) -> None:
        self._canvas.removeEventFilter(self)


async def rates(desk: Desk, site: str, floor_rate: float) -> None:
    run = await desk.in_hand(f"{site}/moving")
    painted, counts = Painted(desk), desk.model.frames.counts
    before, dropped, began = counts.decoded, counts.dropped, time.perf_counter()
    worked, in_front = time.process_time(), time.thread_time()
    await asyncio.sleep(SECONDS)
    seconds = time.perf_counter() - began
    worked, in_front = time.process_time() - worked, time.thread_time() - in_front
    arrived = (counts.decoded - before) / seconds
    print(f"\nA page that moves all the time, open and large, {SECONDS:g} s: pictures a second")
    print(f"  DevTools in one process, all there are   {floor_rate:5.1f}")
    print(f"  decoded in the window (25 wanted)        {arrived:5.1f}   {arrived / floor_rate:.2f} of all")
    rate = len(painted.times) / seconds
    print(f"  painted                                  {rate:5.1f}   {counts.dropped - dropped} dropped")
    pictures = max(counts.decoded - before, 1)
    print(
        f"  processor time for a picture: {worked / pictures * 1000:.1f} ms of the window's process, "
        f"{in_front / pictures * 1000:.1f} ms of them on the thread that draws"
    )
    painted.stop()
    await soak(desk)
    await desk.end(run)


async def soak(desk: Desk) -> None:
    gc.collect()
    sizes, counts = [resident()], desk.model.frames.counts
    before = counts.decoded
    for _ in range(4):
        await asyncio.sleep(SOAK_SECONDS / 4)
        sizes.append(resident())
    grown = sizes[-1] - sizes[1]
    shown = " ".join(f"{size:.0f}" for size in sizes)
    pictures = counts.decoded - before
    print(f"  memory of the window over {SOAK_SECONDS:g} s and {pictures} pictures, MB: {shown}")
    print(
        f"    after the first quarter {grown:+.1f} MB; {desk.model.frames.held / 1e6:.1f} MB of pictures held"
    )


def resident() -> float:
    """Resident megabytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


# ------------------------------------------------------------------------------------------------ clicks


async def clicks(desk: Desk, site: str) -> None:
    run = await desk.in_hand(f"{site}/flips")
    painted, times = Painted(desk), []
    for _ in range(CLICKS):
        await asyncio.sleep(0.1 + random.random() * 0.1)
        ground, white = desk.canvas.page_geometry, is_white(desk, run)
        place = ground.place(random.uniform(50, SIZE[0] - 50), random.uniform(50, SIZE[1] - 50)).toPoint()
        began = time.perf_counter()
        QTest.mouseClick(desk.canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        while is_white(desk, run) is white or not painted.times or painted.times[-1] < began:
            await asyncio.sleep(0.001)
            if time.perf_counter() - began > 3:
                break
        times.append((time.perf_counter() - began) * 1000)
    painted.stop()
    times.sort()
    print(f"\nFrom a click on the canvas to the painted picture that shows it, {len(times)} clicks: ms")
    print(
        f"  through window, socket, host, Chromium and back   median {statistics.median(times):.0f}, "
        f"p95 {times[round(len(times) * 0.95) - 1]:.0f}, slowest {times[-1]:.0f}"
    )
    await desk.end(run)


def is_white(desk: Desk, run: str) -> bool:
    """Whether the page's background is white in the displayed picture."""
    image = desk.model.frames.get(run).image
    return image.pixelColor(image.width() - 3, image.height() - 3).lightness() > 128


# ------------------------------------------------------------------------------------------------ stalls


Gaps = list[tuple[float, float]]
"""Milliseconds from one turn of the window's loop to the next, and its thread's working time in them."""


async def stalls(seconds: float) -> Gaps:
    """The longest loop turns; on a busy machine the working time shows the window's own share."""
    gaps: Gaps = []
    last, worked = time.perf_counter(), time.thread_time()

    def tick() -> None:
        nonlocal last, worked
        now, work = time.perf_counter(), time.thread_time()
        gaps.append(((now - last) * 1000, (work - worked) * 1000))
        last, worked = now, work

    timer = QTimer(interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start()
    await asyncio.sleep(seconds)
    timer.stop()
    return gaps


async def eight(desk: Desk, site: str, idle: Gaps) -> None:
    requests = [
        task(f"Walk through the catalogue, number {n}", f"{site}/page/{n * 1000}") for n in range(RUNS)
    ]
    runs = await desk.begin(*requests)
    for where in ("wall", "one large"):
        if where == "one large":
            desk.model.open(runs[0])
        steps, counts = sum(row.step for row in desk.model.list.rows), desk.model.frames.counts
        before = counts.decoded
        gaps = await stalls(STALL_SECONDS)
        steps = sum(row.step for row in desk.model.list.rows) - steps
        print(
            f"\n{RUNS} runs on pages of 2,000 elements, {where}, {STALL_SECONDS:g} s: turns of the window's loop, ms"
        )
        print(f"  {steps} steps and {counts.decoded - before} pictures meanwhile")
        print(f"  the window without runs   {told(idle)}")
        print(f"  with them                 {told(gaps)}")
    await desk.end(*runs)


def told(gaps: Gaps) -> str:
    waited, worked = (sorted(column) for column in zip(*gaps, strict=True))
    place = round(len(gaps) * 0.99) - 1
    return (
        f"p99 {waited[place]:6.1f}   longest {waited[-1]:6.1f}   over 50 ms: {sum(gap > 50 for gap in waited):3}"
        f"   of them at work: p99 {worked[place]:5.1f}   longest {worked[-1]:5.1f}"
    )


if __name__ == "__main__":
    main()
