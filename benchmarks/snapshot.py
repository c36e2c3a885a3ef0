"""One capture of a page, its elements, tree, text and picture: its duration, and its growth.

The same run measures, in turn with the captures, the comparisons: the page's own load, Chromium's own accessibility
tree, and a picture alone.  Figures are medians; processor time is that of the page's main thread and of this process,
which a busy machine changes less.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

from app.engine.browser.capture.screenshot import take_screenshot
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.session import BrowserSession, open_browser, open_session

SIZES = (500, 2000, 5000)
ROUNDS = 7
LOAD, TREE = "load", "Chromium's tree"
BUDGET = {500: 0.120, 2000: 0.250}
"""Seconds a state may cost besides its load: structure, text, identity, picture, store."""
SHARE = 0.6

ROW = """<li class="product"><article>
<a class="picture" href="/product/{n}"><img alt="Thing {n}" width="40" height="40"></a>
<h3><a href="/product/{n}">Thing number {n}</a></h3><p>Made by hand in <em>Fernhill</em>, sold by the piece.</p>
<form method="post" action="/basket/add/{n}"><label>Pieces <input name="quantity" value="1"></label>
<button type="submit" class="btn btn-add">Add to basket</button></form></article></li>"""
PAGE = """<!doctype html><html lang="en"><title>Things</title><style>li {{ float: left; width: 240px; height: 180px }}
article {{ border: 1px solid #ccc; border-radius: 4px; padding: 6px }} a {{ color: #246 }}</style>
<header><nav aria-label="Main"><ul>{menu}</ul></nav><form action="/search" role="search"><input type="search" name="q"
aria-label="Search"><button>Search</button></form></header>
<main><h1>Things</h1><ul class="products">{rows}</ul></main>"""


def page(elements: int) -> str:
    """A list page of about so many interactive elements, each with three to four others around it."""
    menu = "".join(f'<li><a href="/department/{n}">Department {n}</a></li>' for n in range(10))
    return PAGE.format(menu=menu, rows="".join(ROW.format(n=n) for n in range((elements - 12) // 4)))


async def _renderer(tab: BrowserSession) -> float:
    """Processor seconds of the page's main thread so far; other load is not included."""
    answer = await tab.send("Performance.getMetrics")
    return next(float(metric["value"]) for metric in answer["metrics"] if metric["name"] == "TaskDuration")


async def _timed(tab: BrowserSession, do: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Elapsed seconds, and processor seconds of the page and of this process."""
    busy, own = await _renderer(tab), time.process_time()
    began = time.perf_counter()
    await do()
    passed = time.perf_counter() - began
    own = time.process_time() - own
    return passed, await _renderer(tab) - busy + own


async def _measure(tab: BrowserSession, size: int) -> None:
    html = page(size)
    await tab.page.route("**/things", lambda route: route.fulfill(body=html, content_type="text/html"))
    await tab.send("Performance.enable", timeDomain="threadTicks")

    async def load() -> None:
        await tab.page.goto("http://things.example/things")
        await take_screenshot(tab)  # laid out and painted

    ways: dict[str, Callable[[], Awaitable[object]]] = {
        LOAD: load,
        "look": lambda: capture(tab),
        "look without picture": lambda: capture(tab, picture=False),
        "an agent's look": lambda: capture(tab, picture=False, thorough=True),
        "picture alone": lambda: take_screenshot(tab),
        TREE: lambda: tab.send("Accessibility.getFullAXTree"),
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, do in ways.items():
            taken[name].append(await _timed(tab, do))
    seen = await capture(tab, picture=False)
    await tab.page.unroute("**/things")
    nodes = await tab.page.evaluate("document.querySelectorAll('*').length")
    print(f"\n{len(seen.elements)} elements, {nodes} nodes, tree {len(seen.tree) // 1024} KiB")
    passed = {name: statistics.median(both[0] for both in times) for name, times in taken.items()}
    worked = {name: statistics.median(both[1] for both in times) for name, times in taken.items()}
    for name in ways:
        print(
            f"  {name:22} {passed[name] * 1000:7.1f} ms   {passed[name] / passed[LOAD]:5.2f} x load"
            f"   {passed[name] / passed[TREE]:5.2f} x tree"
            # a load changes the process, whose count begins anew
            + (f"   processor {worked[name] * 1000:7.1f} ms" if name != LOAD else "")
        )
    print(f"  a look takes {passed['look'] / len(seen.elements) * 1e6:.1f} us for each element", end="")
    if size in BUDGET:
        print(f"; {passed['look'] / BUDGET[size]:.2f} of a state's budget (aim {SHARE})", end="")
    print()


async def _run() -> None:
    async with open_browser() as browser, open_session(browser, (1280, 800)) as tab:
        for size in SIZES:
            await _measure(tab, size)


def main() -> None:
    asyncio.run(_run())


if __name__ == "__main__":
    sys.exit(main())
