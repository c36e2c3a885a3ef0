"""From a click to the picture that shows it: DevTools alone, our browser side, the whole window, and X from outside.

    python -m benchmarks.click_latency [CLICKS]

All in one run, so that each figure has its floor beside it.  "From outside" is another process: it presses the button
by XTest in a virtual X screen (Xvfb) and polls the screen until a pixel of the page changes; it is left out, and said
so, where Xvfb or libXtst is missing.  Clicks come at a person's pace, so that some meet the taking of notes.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from ctypes.util import find_library

from benchmarks.screencast import FLIPS, SIZE

CLICKS = 60
PAUSE = (0.3, 0.9)
"""Seconds between two clicks, at random: between pages that are captured after 0.4 s of rest."""
REST = (0.05, 0.15)
"""Seconds the pointer rests on its place before the button goes down."""
HELD = 0.08
"""Seconds the button is down."""
PATIENCE = 5.0
"""Seconds after which a click counts as unanswered."""
SCREEN = (1900, 1100)
CORNER = 6
"""Pixels from the picture's lower right corner at which the page's colour is read."""

Taken = list[float]


def main() -> None:
    if sys.argv[1:2] == ["--window"]:
        window()
        return
    count = int(sys.argv[1]) if sys.argv[1:] else CLICKS
    random.seed(5)
    print(f"{os.cpu_count()} processors; from a click to the picture that shows it, {count} clicks each")
    floor = asyncio.run(in_one_process(count))
    with served_window() as screen:
        if screen is not None:
            tell("window, from outside by X", from_outside(screen, count), floor)


def tell(what: str, taken: Taken, floor: Taken | None = None) -> None:
    """Print a line: median and p95 in ms, the ratio to the floor, clicks without an answer, load of the machine."""
    ordered = sorted(taken)
    median, p95 = statistics.median(ordered), ordered[max(0, round(len(ordered) * 0.95) - 1)]
    ratio = ""
    if floor:
        least = sorted(floor)
        low, high = statistics.median(least), least[max(0, round(len(least) * 0.95) - 1)]
        ratio = f"   {median / low:4.1f} and {p95 / high:4.1f} of the floor"
    lost = sum(value == float("inf") for value in taken)
    print(
        f"  {what:<28} median {median:5.0f}   p95 {p95:5.0f} ms   n {len(taken)}{ratio}"
        f"   load {os.getloadavg()[0]:.1f}{f'   {lost} without an answer' if lost else ''}",
        flush=True,
    )


# ---------------------------------------------------------------------------------------------------- in one process


async def in_one_process(count: int) -> Taken:
    """Print DevTools alone, and our browser side without and with notes; return the floor."""
    from app.engine.agent.secrets import Secrets
    from app.engine.agent.takeover.takeover import Takeover
    from app.engine.browser.capture.screencast import Screencast
    from app.engine.browser.manual_input.input_forwarder import InputForwarder
    from app.engine.browser.session import open_browser, open_session
    from app.engine.core.events import EventBus
    from app.engine.jobs import JobRegistry
    from benchmarks.screencast import Pictures, at_point, keep, plain_click, raw, timed

    registry = JobRegistry(EventBus())

    async def nowhere(_step: object, _blobs: object) -> int:
        return 0

    async with open_browser() as browser:
        async with open_session(browser, SIZE) as tab:
            await tab.page.set_content(FLIPS)
            wire, pictures = await raw(tab, SIZE)
            await asyncio.sleep(1)
            floor = await timed(pictures, lambda: plain_click(wire), count, PAUSE)
            tell("DevTools alone (floor)", floor)
        async with open_session(browser, SIZE) as tab:
            await tab.page.set_content(FLIPS)
            got: Pictures = []
            cast = Screencast(tab, keep(got), registry.hold)
            await cast.watch(*SIZE, 25)
            await asyncio.sleep(1)
            forwarder = InputForwarder(tab)

            async def plain() -> None:
                cast.hurry()
                await forwarder.send(at_point())

            tell("browser side, no notes", await timed(got, plain, count, PAUSE), floor)
            takeover = Takeover(
                tab, secrets=Secrets(), home="http://page.test/", write=nowhere, spawn=registry.hold
            )
            await takeover.begin()

            async def noted() -> None:
                cast.hurry()
                await takeover.input(at_point())

            tell("browser side, with notes", await timed(got, noted, count, PAUSE), floor)
            steps = (await takeover.end()).steps
            print(f"    {steps} steps were noted meanwhile")
            await cast.aclose()
    await registry.aclose()
    return floor


# ---------------------------------------------------------------------------------------------------- from outside


class Screen:
    """An X screen whose pointer is moved and pressed by XTest, and whose pixels are read."""

    def __init__(self, display: str, place: dict[str, float]) -> None:
        self._x11 = ctypes.CDLL(find_library("X11") or "")
        self._xtst = ctypes.CDLL(find_library("Xtst") or "")
        for function, result in (
            (self._x11.XOpenDisplay, ctypes.c_void_p),
            (self._x11.XDefaultRootWindow, ctypes.c_ulong),
            (self._x11.XGetImage, ctypes.c_void_p),
            (self._x11.XGetPixel, ctypes.c_ulong),
        ):
            function.restype = result
        self._display = ctypes.c_void_p(self._x11.XOpenDisplay(display.encode()))
        self._root = ctypes.c_ulong(self._x11.XDefaultRootWindow(self._display))
        self.place = place

    def point(self, x: float, y: float) -> None:
        """Move the pointer."""
        self._xtst.XTestFakeMotionEvent(self._display, -1, int(x), int(y), ctypes.c_ulong(0))
        self._x11.XFlush(self._display)

    def button(self, *, down: bool) -> None:
        """Press or release the left button."""
        self._xtst.XTestFakeButtonEvent(self._display, 1, int(down), ctypes.c_ulong(0))
        self._x11.XFlush(self._display)

    def is_white(self) -> bool:
        """Whether the page is white on the screen now."""
        x = int(self.place["x"] + self.place["width"]) - CORNER
        y = int(self.place["y"] + self.place["height"]) - CORNER
        all_planes, z_pixmap = ctypes.c_ulong(0xFFFFFF), 2
        image = ctypes.c_void_p(
            self._x11.XGetImage(self._display, self._root, x, y, 1, 1, all_planes, z_pixmap)
        )
        pixel = int(self._x11.XGetPixel(image, 0, 0))
        self._x11.XDestroyImage(image)
        return (pixel >> 8 & 0xFF) > 128


def from_outside(screen: Screen, count: int) -> Taken:
    """Milliseconds from each button press to the first changed pixel."""
    place, taken = screen.place, list[float]()
    for _ in range(count):
        screen.point(
            place["x"] + random.uniform(0.05, 0.9) * place["width"],
            place["y"] + random.uniform(0.05, 0.9) * place["height"],
        )
        time.sleep(random.uniform(*REST))
        white, began, down = screen.is_white(), time.perf_counter(), True
        screen.button(down=True)
        while screen.is_white() is white and time.perf_counter() - began < PATIENCE:
            if down and time.perf_counter() - began > HELD:
                down = False
                screen.button(down=down)
            time.sleep(0.001)
        late = time.perf_counter() - began
        taken.append(late * 1000 if late < PATIENCE else float("inf"))
        if down:
            time.sleep(max(0.0, HELD - late))
            screen.button(down=False)
        time.sleep(random.uniform(*PAUSE))
    return taken


@contextlib.contextmanager
def served_window() -> Generator[Screen | None]:
    """The workbench's live view in a virtual X screen, a run's page large and under a person's control."""
    missing = [
        name
        for name, there in (("Xvfb", shutil.which("Xvfb")), ("libXtst", find_library("Xtst")))
        if not there
    ]
    if missing:
        print(f"  window, from outside by X: left out, {' and '.join(missing)} not found on this machine")
        yield None
        return
    read, write = os.pipe()
    command = [
        "Xvfb",
        "-displayfd",
        str(write),
        "-screen",
        "0",
        f"{SCREEN[0]}x{SCREEN[1]}x24",
        "-nolisten",
        "tcp",
    ]
    server = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    if not number:
        server.wait()
        print("  window, from outside by X: left out, Xvfb ends at once (does it find xkbcomp?)")
        yield None
        return
    display = f":{number}"
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.click_latency", "--window"],
        env={**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        line = next((line for line in child.stdout if line.startswith("{")), "")
        if line:
            yield Screen(display, json.loads(line))
        else:
            print("  window, from outside by X: left out, the window did not open")
            yield None
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=60)
        child.kill()
        server.terminate()
        server.wait()


def window() -> None:
    """Show the live view; print where the page is on the screen; end when standard input closes."""
    import qasync
    from PySide6.QtWidgets import QApplication

    from benchmarks import live_window
    from tests.support.protocol_server import ProtocolServer

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)

    async def show(site: str) -> None:
        async with live_window.bench() as desk:
            desk.view.move(0, 0)
            run = await desk.in_hand(f"{site}/flips")
            rect = desk.canvas.page_geometry.rect
            corner = desk.canvas.mapToGlobal(rect.topLeft().toPoint())
            place = {"x": corner.x(), "y": corner.y(), "width": rect.width(), "height": rect.height()}
            print(json.dumps(place), flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
            await desk.end(run)

    loop = qasync.QEventLoop(app)
    with (
        loop,
        live_window.serving() as site,
        ProtocolServer(brain=live_window.brain, models=("m",)) as model,
    ):
        os.environ |= {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k"}
        loop.run_until_complete(show(site))


if __name__ == "__main__":
    main()
