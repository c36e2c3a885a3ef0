"""A page's screencast: frames a second, from a click to the frame that shows it, the cost of eight tiles.

    python -m benchmarks.screencast

The floor is DevTools itself in the same browser: every frame acknowledged at once, a click without hit testing.  All
in one process; ``live_window`` measures the window's side.
"""

from __future__ import annotations

import asyncio
import base64
import io
import os
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.async_api import Browser, CDPSession, Error

from app.engine.agent.secrets import Secrets
from app.engine.agent.takeover.takeover import Takeover
from app.engine.browser.capture.screencast import Screencast, ScreencastFrame
from app.engine.browser.manual_input.input_forwarder import InputForwarder
from app.engine.browser.session import BrowserSession, open_browser, open_session
from app.engine.core.events import EventBus
from app.engine.core.page_input import InputKind, MouseButton, PageInput
from app.engine.jobs import JobRegistry

SIZE = (1280, 800)
TILE = (320, 200)
TILES = 8
SECONDS = 5.0
CLICKS = 60
ROWS = 2000
MOVING = """<style>i { position: absolute; width: 60px; height: 60px; background: teal }</style><h1>Moving</h1><i></i>
<script>const box = document.querySelector("i"); let n = 0;
(function step() { box.style.left = (n++ * 5 % 1200) + "px"; requestAnimationFrame(step); })();</script>"""
STILL = "<h1>Still</h1>" + "<p><a href='#'>A line of a page</a> with some words in it</p>" * 30
FLIPS = (
    "<body style='background:#000;margin:0'>"
    + "".join(
        f"<a href='#' style='color:#777' onclick='return false'>Thing {number}</a> " for number in range(ROWS)
    )
    + """<script>let white = false;
addEventListener("mousedown", () => {
  white = !white;
  document.body.style.background = white ? "#fff" : "#000";
});</script>"""
)

Pictures = list[tuple[float, bytes]]


async def main_async() -> None:
    registry = JobRegistry(EventBus())
    async with open_browser() as browser:
        print(f"Chromium {browser.version}, {os.cpu_count()} processors, pages of {SIZE[0]} x {SIZE[1]}")
        await rates(browser, registry)
        await clicks(browser, registry)
    await registry.aclose()
    await costs()


# ---------------------------------------------------------------------------------------------------- pictures a second


async def rates(browser: Browser, registry: JobRegistry) -> None:
    print(f"\nA page that moves all the time, {SECONDS:g} s: pictures a second, KB each")
    async with open_session(browser, SIZE) as tab:
        await tab.page.set_content(MOVING)
        wire, pictures = await raw(tab, SIZE)
        await asyncio.sleep(SECONDS)
        await wire.detach()
        floor = len(pictures) / SECONDS
        print(f"  DevTools, all there are   {floor:5.1f}   {kilobytes(pictures)}")
        for what, size, rate in (("the open run, 25 wanted", SIZE, 25.0), ("a tile, 1 wanted", TILE, 1.0)):
            got: Pictures = []
            cast = Screencast(tab, keep(got), registry.hold)
            await cast.watch(*size, rate)
            await asyncio.sleep(1.0)
            got.clear()
            await asyncio.sleep(SECONDS)
            await cast.aclose()
            ratio = len(got) / SECONDS / floor
            print(f"  {what:<25} {len(got) / SECONDS:5.1f}   {kilobytes(got)}   {ratio:.2f} of all")


def kilobytes(pictures: Pictures) -> str:
    return f"{statistics.mean(len(jpeg) for _, jpeg in pictures) / 1024:6.1f} KB" if pictures else "none"


def keep(into: Pictures) -> Callable[[ScreencastFrame], None]:
    return lambda frame: into.append((time.perf_counter(), frame.jpeg))


async def raw(tab: BrowserSession, size: tuple[int, int]) -> tuple[CDPSession, Pictures]:
    """The screencast without our code: every frame is acknowledged when it comes."""
    got: Pictures = []
    wire = await tab.context.new_cdp_session(tab.page)

    async def came(event: dict[str, Any]) -> None:
        got.append((time.perf_counter(), base64.b64decode(event["data"])))
        with suppress(Error):  # the page may be closed by now
            await wire.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    wire.on("Page.screencastFrame", came)
    size_wanted = {"maxWidth": size[0], "maxHeight": size[1]}
    await wire.send("Page.startScreencast", {"format": "jpeg", "quality": 60, **size_wanted})
    return wire, got


# ---------------------------------------------------------------------------------------------------- click to picture


def at_point() -> list[PageInput]:
    x, y = random.uniform(50, SIZE[0] - 50), random.uniform(50, SIZE[1] - 50)
    return [
        PageInput(kind=kind, x=x, y=y, button=MouseButton.LEFT)
        for kind in (InputKind.MOVE, InputKind.PRESS, InputKind.RELEASE)
    ]


async def clicks(browser: Browser, registry: JobRegistry) -> None:
    print(f"\nFrom a click to the picture that shows it, a page of {ROWS} links, {CLICKS} clicks: ms")
    await floor_of_clicks(browser)
    async with open_session(browser, SIZE) as tab:
        await tab.page.set_content(FLIPS)
        got: Pictures = []
        cast = Screencast(tab, keep(got), registry.hold)
        await cast.watch(*SIZE, 25)
        await asyncio.sleep(1)
        report("our screencast and hands", await timed(got, lambda: InputForwarder(tab).send(at_point())))
        takeover = Takeover(
            tab, secrets=Secrets(), home="http://page.test/", write=_nowhere, spawn=registry.hold
        )
        await takeover.begin()
        report("with the taking of notes", await timed(got, lambda: takeover.input(at_point())))
        account = await takeover.end()
        print(f"    {account.steps} steps were recorded meanwhile")
        await cast.aclose()


async def floor_of_clicks(browser: Browser) -> None:
    async with open_session(browser, SIZE) as tab:
        await tab.page.set_content(FLIPS)
        wire, pictures = await raw(tab, SIZE)

        await asyncio.sleep(1)
        report("DevTools alone (floor)", await timed(pictures, lambda: plain_click(wire)))


async def plain_click(wire: CDPSession) -> None:
    """Click somewhere, by DevTools alone."""
    x, y = random.uniform(50, SIZE[0] - 50), random.uniform(50, SIZE[1] - 50)
    for kind in ("mousePressed", "mouseReleased"):
        event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
        await wire.send("Input.dispatchMouseEvent", event)


async def timed(
    pictures: Pictures,
    click: Callable[[], Awaitable[None]],
    count: int = CLICKS,
    pause: tuple[float, float] = (0.35, 0.7),
) -> list[float]:
    """Milliseconds from each click to the first frame of the other colour; clicks come at a person's pace."""
    taken: list[float] = []
    white = is_white(pictures[-1][1])
    for _ in range(count):
        pictures.clear()
        began = time.perf_counter()
        await click()
        await asyncio.sleep(random.uniform(*pause))
        shown = next((at for at, jpeg in pictures if is_white(jpeg) is not white), None)
        white = not white
        taken.append((shown - began) * 1000 if shown is not None else float("inf"))
    return taken


def is_white(jpeg: bytes) -> bool:
    with Image.open(io.BytesIO(jpeg)) as picture:
        corner = picture.convert("L").getpixel((picture.width - 4, picture.height - 4))
    return isinstance(corner, int | float) and corner > 128


def report(what: str, taken: list[float]) -> None:
    ordered = sorted(taken)
    p95 = ordered[int(len(ordered) * 0.95)]
    print(
        f"  {what:<25} median {statistics.median(ordered):5.0f}   p95 {p95:5.0f}   worst {ordered[-1]:5.0f}"
    )


async def _nowhere(step: object, blobs: object) -> int:
    return 0


# ---------------------------------------------------------------------------------------------------- what tiles cost


async def costs() -> None:
    print(f"\n{TILES} pages in browsers of their own, {SECONDS:g} s: processor time a second, all processes")
    for name, page in (("still pages", STILL), ("moving pages", MOVING)):
        idle = await watched(page, None)
        tiles = await watched(page, 1.0)
        whole = await watched(page, 0.0)
        print(
            f"  {name:<13} nobody looks {idle:5.2f}   tiles {tiles:5.2f} (+{tiles - idle:.2f})"
            f"   DevTools, all pictures at full size {whole:5.2f} (+{whole - idle:.2f})"
        )


async def watched(page: str, rate: float | None) -> float:
    """Seconds of processor time a second with ``rate`` frames a second; ``None`` none, 0 all."""
    registry = JobRegistry(EventBus())
    async with AsyncExitStack() as stack:
        closing: list[Coroutine[Any, Any, None]] = []
        for _ in range(TILES):
            browser = await stack.enter_async_context(open_browser())
            tab = await stack.enter_async_context(open_session(browser, SIZE))
            await tab.page.set_content(page)
            if rate == 0.0:
                await raw(tab, SIZE)
            elif rate is not None:
                cast = Screencast(tab, lambda _: None, registry.hold)
                await cast.watch(*TILE, rate)
                closing.append(cast.aclose())
        await asyncio.sleep(1.5)
        before, began = spent(), time.monotonic()
        await asyncio.sleep(SECONDS)
        share = (spent() - before) / (time.monotonic() - began)
        for close in closing:
            await close
    await registry.aclose()
    return share


def spent() -> float:
    """Processor seconds of this process and of its living children (Linux)."""
    parents: dict[int, int] = {}
    times: dict[int, float] = {}
    tick = os.sysconf("SC_CLK_TCK")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            parents[int(entry.name)] = int(fields[1])
            times[int(entry.name)] = (int(fields[11]) + int(fields[12])) / tick
    own = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in own and process not in own}:
        own |= more
    return sum(times[process] for process in own if process in times)


def main() -> None:
    random.seed(5)
    asyncio.run(main_async())


if __name__ == "__main__":
    main()
