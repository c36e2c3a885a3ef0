"""Cost of the scout per decision, and its growth with the page.  The floor: reading the page's tree once.

    python -m benchmarks.scout_cost

No browser: pages are generated, each decision is made on a new page, as in a run, then once more on the same page.
Times are of the processor; a busy machine changes them, too, but hardly their ratio to the floor.
"""

from __future__ import annotations

import asyncio
import statistics
import time

from app.engine.agent.scout.policy import ScoutPolicy
from app.engine.agent.scout.task import read_task
from app.engine.core.ax_tree import parse_tree
from app.engine.core.observation import Observation
from app.engine.core.page_state import Element, PageCapture

SIZES = (500, 2000, 5000)
ROUNDS = 7
BUDGETS = {500: 0.015, 2000: 0.090}
"""Seconds a decision may cost, by the number of elements."""
INTENTS = (
    "Open the page of Thing 77.",
    'Open the page of "Nothing of the kind".',
    "How many things are made by Maker 12?",
    "Which thing has the lowest price, and who made it?",
    'Set the pieces of "Thing 5" to 3 and save it.',
    'Delete "Thing 9".',
    'Add a note to "Thing 12" saying "call back on Tuesday".',
)


def made(size: int, salt: str) -> PageCapture:
    """A list of items, four elements each, with words between them."""
    elements: list[Element] = []
    lines = [f"RootWebArea 'Things {salt}'"]

    def put(role: str, name: str, **more: object) -> None:
        index = len(elements)
        rect = (10.0, 20.0 * index, 90.0, 18.0)
        elements.append(
            Element(index=index, role=role, name=name, rect=rect, css=f"#e{index}", met=index < 30, **more)
        )  # type: ignore[arg-type]
        lines.append(f"\t[{index}] {role} {name!r}")

    row = 0
    while len(elements) < size:
        lines.append(f"\tStaticText 'Maker {row} of {salt}'")
        put("link", f"Thing {row}", href=f"http://place.test/{salt}/{row}")
        put("checkbox", f"Thing {row}")
        put("button", f"Buy for ${row * 7 % 901 + 1}", attributes=(("class", "buy"),))
        put("textbox", "Pieces", value="1")
        row += 1
    put("button", "Submit", submits=True)
    return PageCapture(
        url=f"http://place.test/{salt}", elements=tuple(elements), tree="\n".join(lines), viewport=(1024, 640)
    )


async def _seconds(sight: Observation) -> float:
    """Return the processor time of one decision of a new policy."""
    policy = ScoutPolicy()
    began = time.process_time()
    await policy.decide(sight)
    return time.process_time() - began


async def _measure(size: int, said: str) -> tuple[float, float, float]:
    """Return medians: a decision on a new page, the same once more, and reading the page's tree."""
    cold, warm, floor = list[float](), list[float](), list[float]()
    for turn in range(ROUNDS):
        page = made(size, f"{turn}-{INTENTS.index(said)}")
        sight = Observation(step=0, steps_left=9, intent=said, start_url=page.url, page=page)
        began = time.process_time()
        parse_tree(page.tree)
        floor.append(time.process_time() - began)
        cold.append(await _seconds(sight))
        warm.append(await _seconds(sight))
    return statistics.median(cold), statistics.median(warm), statistics.median(floor)


async def _all() -> None:
    for said in INTENTS:
        await _measure(20, said)  # what is imported late is no part of a step
    for size in SIZES:
        found = [await _measure(size, said) for said in INTENTS]
        middle = statistics.median(cold for cold, _, _ in found)
        worst = max(cold for cold, _, _ in found)
        print(
            f"{size} elements: a decision costs {middle * 1000:.1f} ms, the dearest task {worst * 1000:.1f} ms"
        )
        if budget := BUDGETS.get(size):
            print(f"  budget {budget * 1000:.0f} ms: {'kept' if worst <= budget else 'MISSED'}")
        for said, (cold, warm, floor) in zip(INTENTS, found, strict=True):
            mode = read_task(said).parts[0].mode.value
            print(
                f"  {mode:8} new page {cold * 1000:6.1f} ms, {cold / floor:4.1f} times reading the tree "
                f"({floor * 1000:.1f} ms); again {warm * 1000:6.1f} ms: {said}"
            )


def main() -> None:
    asyncio.run(_all())


if __name__ == "__main__":
    main()
