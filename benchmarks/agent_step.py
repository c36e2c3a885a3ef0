"""What the agent's hand costs beside the browser at each step, and how that grows with the page.

A step here is a click that changes one word, and the look after it.  The same run measures, in turn, the floor: such a
click by Playwright alone, the same wait for rest, the same look.  What the hand has on top (finding out whether the
element can be reached, and what the click did) is given as a share of the look; processor time is that of this process.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

from app.engine.browser.executor import Executor
from app.engine.browser.session import Visit, open_browser, visit
from app.engine.browser.settle import settle
from app.engine.browser.snapshot import capture, handle_of
from app.engine.command import Click, TypeText
from app.engine.fingerprint import prints_of
from benchmarks.snapshot import page

SIZES = (500, 2000, 5000)
ROUNDS = 9
BUDGET = 0.040
"""Seconds of its own an agent's step may take at 500 elements."""
EXTRA = """<button onclick="m.textContent = Number(m.textContent) + 1">Plain count</button><b id="m">0</b>
<button onclick="n.textContent = Number(n.textContent) + 1">Count</button><b id="n">0</b><input aria-label="Word">"""


async def _measure(tab: Visit, size: int) -> None:
    await tab.page.set_content(page(size).replace("<h1>", EXTRA + "<h1>"))
    hand = Executor(tab)
    seen = await hand.look(picture=False)
    count = next(one.index for one in seen.elements if one.name == "Count")
    plain = next(one.index for one in seen.elements if one.name == "Plain count")
    word = next(one.index for one in seen.elements if one.name == "Word")

    async def floor() -> None:
        await (await handle_of(tab, plain)).click()
        await settle(tab, acted=True)

    async def click() -> None:
        result = await hand.do(Click(count))
        assert result.success, result

    async def type_text() -> None:
        result = await hand.do(TypeText(word, f"w{time.monotonic_ns() % 1000}"))
        assert result.success, result

    async def look() -> None:
        await capture(tab, picture=False)

    async def hands_look() -> None:
        await hand.look(picture=False)

    async def rest() -> None:
        await settle(tab, acted=True)

    ways: dict[str, Callable[[], Awaitable[None]]] = {
        "rest": rest,
        "Playwright's click and rest": floor,
        "the hand's click": click,
        "the hand's typing": type_text,
        "look": look,
        "the hand's look": hands_look,
    }
    passed: dict[str, list[float]] = {name: [] for name in ways}
    worked: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began, busy = time.perf_counter(), time.process_time()
            await way()
            passed[name].append(time.perf_counter() - began)
            worked[name].append(time.process_time() - busy)
    print(f"{len(seen.elements)} elements (median of {ROUNDS})")
    middle = {name: statistics.median(times) for name, times in passed.items()}
    own = {name: statistics.median(times) for name, times in worked.items()}
    for name in ways:
        print(f"  {name:28} {middle[name] * 1000:7.1f} ms   {middle[name] / middle['look']:5.2f} x look"
              f"   own processor {own[name] * 1000:6.1f} ms")  # fmt: skip
    began = time.perf_counter()
    prints_of(seen)
    print(f"  {'typed fingerprints':28} {(time.perf_counter() - began) * 1000:7.1f} ms")
    for what, times in (("time", middle), ("own processor", own)):
        more = times["the hand's click"] - times["Playwright's click and rest"]
        more += times["the hand's look"] - times["look"]
        print(
            f"  {what} on top of the floor: {more * 1000:.1f} ms, {more / times['look']:.2f} x look", end=""
        )
        print(f", {more / BUDGET:.2f} of a step's budget" if size == SIZES[0] else "")


async def _run() -> None:
    async with open_browser() as browser, visit(browser, (1280, 800)) as tab:
        for size in SIZES:
            await _measure(tab, size)


def main() -> None:
    asyncio.run(_run())


if __name__ == "__main__":
    sys.exit(main())
