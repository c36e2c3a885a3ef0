"""Cost of a state besides the page's own load and settling: capture and picture, identity, storing, planning; its
growth.

Pages of 500, 2,000 and 5,000 interactive elements are opened and processed like a state of an exploration.  The load
is measured in the same run for comparison.  Figures are medians.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from app.engine.api.graph_api import ExploreOptions
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.page_loading import open_page
from app.engine.browser.session import BrowserSession, open_browser, open_session
from app.engine.core import identity
from app.engine.core.page_state import PageCapture, PageState
from app.engine.graph.captured_states import contents_of, state_of
from app.engine.graph.explore.exploration_store import GraphTransaction, PageContents
from app.engine.graph.explore.frontier import FrontierPlanner, StateContext
from app.engine.graph.rules.block_list import BlockList
from app.engine.services.core import Core
from app.engine.services.graph_recording import StoredGraphRecorder
from benchmarks.snapshot import BUDGET, SIZES, page

HOME = "http://things.example/"
ROUNDS = 11
PARTS = ("look", "identity", "store", "plan")


class Clock:
    """Seconds by part, a list of rounds each."""

    def __init__(self) -> None:
        self.parts: dict[str, list[float]] = {}

    async def of(self, part: str, do: Callable[[], Awaitable[PageCapture | None]]) -> PageCapture | None:
        """Time one part."""
        began = time.perf_counter()
        done = await do()
        self.parts.setdefault(part, []).append(time.perf_counter() - began)
        return done

    def median(self, part: str) -> float:
        """Median of the rounds."""
        return statistics.median(self.parts[part])


async def measure(tab: BrowserSession, store: StoredGraphRecorder, size: int) -> Clock:
    """Every part at one size."""
    html, clock = page(size), Clock()
    turns = iter(range(ROUNDS + 1))
    await tab.page.route(f"{HOME}**", lambda route: route.fulfill(body=html, content_type="text/html"))
    for turn in turns:
        url = f"{HOME}{size}/{turn}"

        async def load(url: str = url) -> None:
            await open_page(tab, url)

        await clock.of("load", load)
        seen = await clock.of("look", lambda: capture(tab))
        assert seen is not None
        await state(clock, store, seen)
        if turn == 0:
            clock.parts.clear()  # the first of a size is for the caches
    await tab.page.unroute_all()
    return clock


async def state(clock: Clock, store: StoredGraphRecorder, seen: PageCapture) -> None:
    """Process one capture."""
    rules = BlockList.builtin("en")

    async def identify() -> None:
        keys = identity.keys_of(seen, HOME)
        known = state_of(seen, keys, home=HOME, depth=1, exploration=1, at=time.time(), direct=True)
        made.append((known, contents_of(seen)))

    async def keep() -> None:
        found, contents = made[0]
        shown = replace(contents, text=f"{contents.text}\n{found.url}")
        await store.save(GraphTransaction(at=time.time(), exploration=1, states=((found, shown),)))

    async def plan() -> None:
        spot = StateContext(state=made[0][0], elements=made[0][1].elements, language="en")
        FrontierPlanner(HOME, ExploreOptions(), rules).judge(spot)

    made: list[tuple[PageState, PageContents]] = []
    await clock.of("identity", identify)
    await clock.of("store", keep)
    await clock.of("plan", plan)


async def run() -> None:
    """All sizes."""
    print("milliseconds, median; planning is what an exploration adds for elements that are all new")
    print(
        f"{'elements':>8} {'load':>7} "
        + " ".join(f"{part:>9}" for part in PARTS)
        + "  look to store   budget"
    )
    first = 0.0
    with tempfile.TemporaryDirectory() as folder:
        core = await Core.open(Path(folder), "benchmark")
        async with open_browser() as browser, open_session(browser, (1280, 800)) as tab:
            for size in SIZES:
                clock = await measure(tab, StoredGraphRecorder(core, "things"), size)
                parts = [1000 * clock.median(part) for part in PARTS]
                cost = sum(parts[:3])
                budget = f"{1000 * BUDGET[size]:.0f}" if size in BUDGET else "linear"
                print(
                    f"{size:>8} {1000 * clock.median('load'):>7.0f} "
                    + " ".join(f"{part:>9.0f}" for part in parts)
                    + f"  {cost:>13.0f}   {budget}"
                )
                first = first or cost / size
                last = cost / size
        await core.aclose()
    print(f"an element of the largest page costs {last / first:.2f} of one of the smallest")


def main() -> None:
    """Measure."""
    asyncio.run(run())


if __name__ == "__main__":
    main()
