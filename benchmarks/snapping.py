"""How often a badly drawn box still leads to the intended element, against clicking its middle.

On pages of the demo site, in a real Chromium, every element in view is boxed the way vision models box: moved, and
drawn too large or too small (seeded).  ``middle`` clicks the middle of the box.  ``snapped`` uses
``app.engine.agent.vision.snapper``, with the element's own name, with none, and with a slightly wrong name.
Rows with a small arrow at their end are counted separately: there the arrow is meant, and the box spans the whole row.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence

from app.demo.pages import DEPARTMENTS
from app.demo.server import DemoServer
from app.engine.agent.vision.snapper import in_view, middle, sample_points, snap
from app.engine.browser.capture.hit_testing import elements_at
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.session import BrowserSession, open_browser, open_session
from app.engine.core.page_state import Element, PageCapture, Rect
from tests.support.pages_server import serving

SLIPS = (0.0, 0.3, 0.6, 0.9)
"""Maximum share of its size that a box is moved, and drawn larger or smaller."""
ROUNDS = 3
WAYS = ("middle", "no name", "name", "odd name")
ROW = (308.0, 32.0)


def slipped(rect: Rect, slip: float, chance: random.Random) -> Rect:
    """The box as a model might draw it."""
    left, top, width, height = rect
    wide, high = width * chance.uniform(1 - slip, 1 + slip), height * chance.uniform(1 - slip, 1 + slip)
    x = left + (width - wide) / 2 + width * chance.uniform(-slip, slip)
    y = top + (height - high) / 2 + height * chance.uniform(-slip, slip)
    return (x, y, max(1.0, wide), max(1.0, high))


def found(
    page: PageCapture, box: Rect, name: str, stacks: dict[tuple[float, float], tuple[int, ...]]
) -> dict[str, int]:
    """The element found in each way."""
    odd = f"{name} button" if name else ""
    snaps = {"no name": snap(box, page, "", stacks), "name": snap(box, page, name, stacks),
             "odd name": snap(box, page, odd, stacks)}  # fmt: skip
    at_middle = stacks.get(middle(box), ())
    return {
        "middle": at_middle[0] if at_middle else -1,
        **{way: -1 if one is None or one.element is None else one.element for way, one in snaps.items()},
    }


async def _meant(tab: BrowserSession, page: PageCapture) -> list[tuple[Element, Rect]]:
    """The uncovered elements in view, with their boxes."""
    placed = [(element, element.rect) for element in in_view(page) if element.rect is not None]
    stacks = await elements_at(tab, page, [middle(rect) for _, rect in placed])
    return [
        (element, rect) for element, rect in placed if stacks.get(middle(rect), ())[:1] == (element.index,)
    ]


async def _on(
    tab: BrowserSession, page: PageCapture, boxes: Sequence[tuple[Element, Rect, str]], hits: Counter[str]
) -> float:
    """Count the hits of each way; own processor seconds for each box."""
    spent = 0.0
    for element, box, name in boxes:
        stacks = await elements_at(tab, page, sample_points(box, page))
        began = time.process_time()
        led = found(page, box, name, stacks)
        spent += (time.process_time() - began) / 3
        hits.update(way for way, number in led.items() if number == element.index)
    return spent / max(1, len(boxes))


def _show(title: str, hits: Counter[str], boxes: int) -> None:
    print(f"{title:>24} {boxes:>6} " + " ".join(f"{hits[way] / max(1, boxes):>9.1%}" for way in WAYS))


async def _measure() -> None:
    chance = random.Random(7)
    print(f"{'boxes':>24} {'number':>6} " + " ".join(f"{way:>9}" for way in WAYS))
    async with await DemoServer.start() as demo, open_browser() as browser, open_session(browser) as tab:
        shop, admin = demo.shop_url, demo.admin_url
        await tab.page.goto(f"{admin}/admin")
        await tab.page.get_by_role("button", name="Sign in").click()
        addresses = [
            f"{shop}/",
            f"{shop}/department/{DEPARTMENTS[0]}",
            f"{admin}/admin/orders",
            f"{admin}/admin/customers",
        ]
        cost: list[float] = []
        for slip in SLIPS:
            hits, boxes = Counter[str](), 0
            for address in addresses:
                await tab.page.goto(address)
                page = await capture(tab, picture=False)
                drawn = [
                    (element, slipped(rect, slip, chance), element.name)
                    for _ in range(ROUNDS if slip else 1)
                    for element, rect in await _meant(tab, page)
                ]
                cost.append(await _on(tab, page, drawn, hits))
                boxes += len(drawn)
            _show(f"off by up to {slip:.0%}", hits, boxes)
        with serving() as pages:
            hits, boxes = Counter[str](), 0
            for name in ("rows.html", "rows_within.html"):
                await tab.page.goto(f"{pages}/{name}")
                page = await capture(tab, picture=False)
                drawn = [
                    (element, _row(rect), f"{element.name} ▾")
                    for element, rect in await _meant(tab, page)
                    if "collapsed" in element.states
                ]
                await _on(tab, page, drawn, hits)
                boxes += len(drawn)
            _show("rows with an arrow", hits, boxes)
    print(f"one box costs {1000 * sum(cost) / len(cost):.2f} ms of our own processor time")


def _row(arrow: Rect) -> Rect:
    right, across = arrow[0] + arrow[2], arrow[1] + arrow[3] / 2
    return (right - ROW[0], across - ROW[1] / 2, *ROW)


def main() -> None:
    asyncio.run(_measure())


if __name__ == "__main__":
    main()
