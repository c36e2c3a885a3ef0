"""Live video of a page: rate, size, always the last frame; and nothing a page does ends it."""

from __future__ import annotations

import asyncio
import io
from contextlib import suppress

import pytest
from PIL import Image
from playwright.async_api import Browser, Error

from app.engine.browser.capture.screencast import ScreencastFrame
from app.engine.browser.session import BrowserSession, open_browser, open_session
from app.engine.core.events import EventBus
from app.engine.jobs import JobRegistry
from tests.support.live_hands import Screencast, filmed, until

BURST = """<body style="margin:0;background:#fff"><script>
window.burst = (ms) => new Promise((done) => {
  const began = performance.now();
  (function step() {
    document.body.style.background = "#" + Math.floor(Math.random() * 4096).toString(16).padStart(3, "0");
    if (performance.now() - began < ms) requestAnimationFrame(step);
    else { document.body.style.background = "#0000ff"; done(); }
  })();
});</script>"""
MOVING = """<h1>0</h1><script>let n = 0; const head = document.querySelector("h1");
(function step() { head.textContent = ++n; requestAnimationFrame(step); })();</script>"""
RESTLESS = """<h1>Restless</h1>
<button style="position:fixed;inset:0" onclick="document.documentElement.requestFullscreen()">x</button>
<script>
let n = 0;
const body = document.body;
setInterval(() => { for (let line = 0; line < 200; line++) console.log("line", n, "x".repeat(500)); }, 20);
setInterval(() => { body.style.width = (n++ % 7) * 900 + "px"; body.style.height = (n % 5) * 5000 + "px"; }, 10);
setInterval(() => { body.style.cursor = n % 2 ? "none" : "url(data:image/png;base64,AAAA), wait"; }, 15);
addEventListener("mousemove", () => document.body.requestPointerLock?.());
setInterval(() => { window.open("about:blank", "w" + n, "width=200,height=100"); }, 300);
</script>"""


def colour(frame: ScreencastFrame) -> tuple[int, int, int]:
    with Image.open(io.BytesIO(frame.jpeg)) as picture:
        pixel = picture.convert("RGB").getpixel((picture.width // 2, picture.height // 2))
    assert isinstance(pixel, tuple)
    return pixel[0], pixel[1], pixel[2]


def is_blue(frame: ScreencastFrame) -> bool:
    red, green, blue = colour(frame)
    return red < 40 and green < 40 and blue > 215


@pytest.mark.smoke
async def test_a_picture_is_as_big_as_wanted_and_says_how_big_the_page_is(chromium: Browser) -> None:
    async with open_session(chromium, (1280, 800)) as tab, filmed(tab) as (cast, frames):
        await tab.page.set_content("<h1>Still</h1>")
        await cast.watch(640, 640, 25)
        await until(lambda: bool(frames))
        first = frames[0]
        assert (first.width, first.height) == (640, 400)
        assert (first.page_width, first.page_height) == (1280, 800)
        with Image.open(io.BytesIO(first.jpeg)) as picture:
            assert picture.size == (640, 400)
        await cast.watch(320, 200, 25)
        await until(lambda: frames[-1].width == 320)


async def test_a_page_that_stays_as_it_is_costs_one_picture(blank: BrowserSession) -> None:
    await blank.page.set_content("<h1>Still</h1>")
    async with filmed(blank) as (cast, frames):
        await cast.watch(320, 200, 25)
        await until(lambda: bool(frames))
        await asyncio.sleep(0.5)
        known = len(frames)
        await asyncio.sleep(1.2)
        assert len(frames) == known


@pytest.mark.parametrize("rate", [2.0, 10.0])
async def test_a_page_that_moves_all_the_time_is_shown_no_more_often_than_wanted(
    blank: BrowserSession, rate: float
) -> None:
    await blank.page.set_content(MOVING)
    async with filmed(blank) as (cast, frames):
        await cast.watch(320, 200, rate)
        await until(lambda: bool(frames))
        frames.clear()
        await asyncio.sleep(2.0)
        assert 1 <= len(frames) <= 2 * rate + 2


@pytest.mark.parametrize("rate", [1.0, 25.0])
async def test_what_a_page_looks_like_at_the_end_of_a_burst_is_always_shown(
    blank: BrowserSession, rate: float
) -> None:
    await blank.page.set_content(BURST)
    async with filmed(blank) as (cast, frames):
        await cast.watch(320, 200, rate)
        await until(lambda: bool(frames))
        for _ in range(3):
            await blank.page.evaluate("burst(250)")
            await until(lambda: is_blue(frames[-1]))
            await blank.page.evaluate("document.body.style.background = '#fff'")
            await until(lambda: colour(frames[-1]) == (255, 255, 255))


async def test_the_tab_in_front_is_shown_whichever_it_is(blank: BrowserSession) -> None:
    await blank.page.set_content("<body style='background:#fff'>")
    async with filmed(blank) as (cast, frames):
        await cast.watch(320, 200, 10)
        await until(lambda: bool(frames))
        await blank.open_tab()
        await blank.page.set_content("<body style='background:#00f'>")
        await until(lambda: is_blue(frames[-1]))
        blank.active = 0
        await until(lambda: colour(frames[-1]) == (255, 255, 255))
        await blank.renew()
        await blank.page.set_content("<body style='background:#00f'>")
        await until(lambda: is_blue(frames[-1]))
        assert [frame.number for frame in frames] == list(range(1, len(frames) + 1))


async def test_after_a_crash_the_next_page_is_shown(blank: BrowserSession) -> None:
    async with filmed(blank) as (cast, frames):
        await cast.watch(320, 200, 10)
        await until(lambda: bool(frames))
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(blank.page.goto("chrome://crash"), 5)
        await blank.renew()
        await blank.page.set_content("<body style='background:#00f'>")
        await until(lambda: is_blue(frames[-1]))


async def test_nobody_who_looks_gets_no_pictures_until_somebody_looks_again(blank: BrowserSession) -> None:
    await blank.page.set_content(MOVING)
    async with filmed(blank) as (cast, frames):
        await cast.watch(320, 200, 25)
        await until(lambda: bool(frames))
        await cast.watch(320, 200, 0)
        await asyncio.sleep(0.5)
        frames.clear()
        await asyncio.sleep(0.7)
        assert frames == []
        await cast.watch(320, 200, 25)
        await until(lambda: bool(frames))


async def test_a_browser_that_dies_is_silence_and_no_error() -> None:
    async with open_browser() as browser, open_session(browser) as tab, filmed(tab) as (cast, frames):
        await cast.watch(320, 200, 25)
        await until(lambda: bool(frames))
        await browser.close()
        await asyncio.sleep(0.3)
        await cast.watch(640, 400, 25)
        await asyncio.sleep(0.8)
        await cast.watch(640, 400, 0)
        await cast.aclose()
        await cast.aclose()


async def test_a_page_that_does_everything_at_once_is_shown_all_the_same(blank: BrowserSession) -> None:
    await blank.page.set_content(RESTLESS)
    async with filmed(blank) as (cast, frames):
        await cast.watch(640, 400, 10)
        await asyncio.sleep(2.0)
        blank.active = 0
        known = len(frames)
        await until(lambda: len(frames) > known + 3)
        assert all(frame.width <= 640 and frame.height <= 400 for frame in frames)
        assert len(blank.pages) <= 21


async def test_a_listener_that_fails_misses_its_picture_alone(blank: BrowserSession) -> None:
    shown: list[ScreencastFrame] = []

    def sink(frame: ScreencastFrame) -> None:
        shown.append(frame)
        if len(shown) == 1:
            raise RuntimeError("the listener's own fault")

    registry = JobRegistry(EventBus())
    cast = Screencast(blank, sink, registry.hold)
    await blank.page.set_content(MOVING)
    await cast.watch(320, 200, 25)
    await until(lambda: len(shown) > 2)
    await cast.aclose()
    await registry.aclose()
