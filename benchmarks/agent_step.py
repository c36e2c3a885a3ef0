"""Cost of the executor beside the browser at each step, and its growth with the page.

A step here is a click that changes one word, and the capture after it.  The same run measures, in turn, the floor:
such a click by Playwright alone, the same wait for idle, the same capture.  The executor's overhead (actionability
checks and the effect of the click) is given as a share of the capture.  Processor time, which a busy machine changes
less, is that of the page's main thread and of this process.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

from app.engine.browser.capture.page_idle import wait_until_idle
from app.engine.browser.capture.snapshot import capture, element_handle
from app.engine.browser.executor import Executor
from app.engine.browser.session import BrowserSession, open_browser, open_session
from app.engine.core.actions.types import Click, TypeText
from app.engine.core.fingerprint import fingerprints_of
from benchmarks.snapshot import page

SIZES = (500, 2000, 5000)
ROUNDS = 9
BUDGET = 0.040
"""Own seconds an agent's step may take at 500 elements."""
EXTRA = """<button onclick="m.textContent = Number(m.textContent) + 1">Plain count</button><b id="m">0</b>
<button onclick="n.textContent = Number(n.textContent) + 1">Count</button><b id="n">0</b><input aria-label="Word">"""


async def _measure(tab: BrowserSession, size: int) -> None:
    await tab.page.set_content(page(size).replace("<h1>", EXTRA + "<h1>"))
    await tab.send("Performance.enable", timeDomain="threadTicks")
    hand = Executor(tab)
    seen = await hand.look(picture=False)
    count = next(one.index for one in seen.elements if one.name == "Count")
    plain = next(one.index for one in seen.elements if one.name == "Plain count")
    word = next(one.index for one in seen.elements if one.name == "Word")

    async def floor() -> None:
        await (await element_handle(tab, plain)).click()
        await wait_until_idle(tab, acted=True)

    async def click() -> None:
        result = await hand.do(Click(count))
        assert result.success, result

    async def type_text() -> None:
        result = await hand.do(TypeText(word, f"w{time.monotonic_ns() % 1000}"))
        assert result.success, result

    async def look() -> None:
        await capture(tab, picture=False, thorough=True)

    async def hands_look() -> None:
        await hand.look(picture=False)

    async def rest() -> None:
        await wait_until_idle(tab, acted=True)

    ways: dict[str, Callable[[], Awaitable[None]]] = {
        "rest": rest,
        "Playwright's click and rest": floor,
        "the hand's click": click,
        "the hand's typing": type_text,
        "look": look,
        "the hand's look": hands_look,
    }
    taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began = await _clocks(tab)
            await way()
            ended = await _clocks(tab)
            taken[name].append((ended[0] - began[0], ended[1] - began[1], ended[2] - began[2]))
    middle = {
        name: tuple(statistics.median(kind) for kind in zip(*times, strict=True))
        for name, times in taken.items()
    }
    print(f"{len(seen.elements)} elements (median of {ROUNDS})")
    for name, (passed, own, pages) in middle.items():
        print(f"  {name:28} {passed * 1000:7.1f} ms   {passed / middle['look'][0]:5.2f} x look"
              f"   processor: own {own * 1000:6.1f} ms, page {pages * 1000:7.1f} ms")  # fmt: skip
    began_prints = time.process_time()
    fingerprints_of(seen)
    print(f"  {'typed fingerprints':28} {'':34} own {(time.process_time() - began_prints) * 1000:6.1f} ms")
    for at, what in enumerate(("time", "own processor", "page's processor")):
        more = middle["the hand's click"][at] - middle["Playwright's click and rest"][at]
        more += middle["the hand's look"][at] - middle["look"][at]
        print(
            f"  {what} on top of the floor: {more * 1000:.1f} ms, {more / middle['look'][at]:.2f} x look",
            end="",
        )
        print(f", {more / BUDGET:.2f} of a step's budget" if size == SIZES[0] else "")


async def _clocks(tab: BrowserSession) -> tuple[float, float, float]:
    """Seconds: wall clock, this process, the page's main thread."""
    told = await tab.send("Performance.getMetrics")
    pages = next(float(metric["value"]) for metric in told["metrics"] if metric["name"] == "TaskDuration")
    return time.perf_counter(), time.process_time(), pages


async def _run() -> None:
    async with open_browser() as browser, open_session(browser, (1280, 800)) as tab:
        for size in SIZES:
            await _measure(tab, size)


def main() -> None:
    asyncio.run(_run())


if __name__ == "__main__":
    sys.exit(main())
