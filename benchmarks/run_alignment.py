"""Two runs of fifty steps aligned, an answer page of fifty long pages, and a likely cause, in the engine.

Beside each the time of reading the same runs alone; a busy machine slows both.  Runs: made up, 50 steps on 2,000-line
pages, one of them with detours; and, where the collection lies beside the checkout, its longest ones.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.ax_tree import content_key
from app.engine.core.trajectory import Outcome, Run, Step, add_blob
from app.engine.engine import Engine
from app.engine.imports import colorbrowseragent
from app.engine.store.workspace import Workspace
from tests.support.runs import COLLECTION, read

STEPS, LINES = 50, 2_000
ROUNDS = 7
ANSWER = (
    "There are 4711 open orders worth $1,234,567.89; the oldest is of Feb 30, 1999, by Zora Quill and 'Ada Finch'."
    " Customers complain about late parcels, and order 000099999 was cancelled on May 3, 2031."
)


def made_up(name: str, detours: int) -> tuple[Run, list[Step], dict[str, bytes]]:
    """A run through pages of an order grid, with a detour at every so many steps."""
    blobs: dict[str, bytes] = {}
    steps: list[Step] = []
    for at in range(STEPS):
        page = at * 7 % 40 if detours and at % detours == 0 else at
        names = (
            f"Order {page * LINES + n} Café Müller ${n}.50 Jan {n % 28 + 1}, 2023 Pending"
            for n in range(LINES)
        )
        rows = "\n".join(f"\t[{n}] row '{name}'" for n, name in enumerate(names))
        tree = f"RootWebArea 'Orders {page}'\n{rows}"
        steps.append(
            Step(
                index=at,
                url=f"http://shop.test/admin/orders/{page}?page={page}",
                title=f"Orders {page}",
                tree=add_blob(blobs, tree.encode()),
                state=content_key(tree),
                reason="Look at the next page.",
                action=RecordedAction(kind="click", args={"bid": str(page)}),
                target=ActionTarget(role="link", name=f"Order {page * LINES}"),
            )
        )
    last = RecordedAction(kind="send_msg_to_user", args={"text": ANSWER})
    steps[-1] = Step(index=STEPS - 1, url=steps[-1].url, title="Orders", tree=steps[-1].tree, action=last)
    run = Run(
        id=name, source="made up", site="shop", intent="How many orders are open?", score=0.0, answer=ANSWER,
        outcome=Outcome.ANSWERED, step_count=STEPS,
    )  # fmt: skip
    return run, steps, blobs


async def median_ms(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Median wall and CPU time of some calls, in milliseconds; the first one warms up."""
    await work()
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        await work()
        walls.append((time.perf_counter() - wall) * 1e3)
        cpus.append((time.process_time() - cpu) * 1e3)
    return statistics.median(walls), statistics.median(cpus)


async def measure(place: Path, pairs: list[tuple[str, str]]) -> None:
    engine = await Engine.open(place)
    try:
        print(f"{'':<34} {'wall ms':>8} {'CPU ms':>8} {'of reading':>10}")
        for left, right in pairs:

            async def reading(left: str = left, right: str = right) -> None:
                await engine.open_run(left)
                await engine.open_run(right)

            async def paging(left: str = left) -> None:
                opened = await engine.open_run(left)
                for digest in dict.fromkeys(step.tree for step in opened.steps if step.tree):
                    await engine.blob(digest)

            _, base = await median_ms(reading)
            wall, cpu = await median_ms(lambda left=left, right=right: engine.align_runs(left, right))
            print(f"{f'align {left[:14]} {right[:12]}':<34} {wall:8.1f} {cpu:8.1f} {cpu / base:10.1f}")
            _, base = await median_ms(paging)
            for name, work in (("answer page", engine.answer_page), ("likely cause", engine.likely_cause)):
                wall, cpu = await median_ms(lambda left=left, work=work: work(left))
                print(f"{f'{name} {left[:20]}':<34} {wall:8.1f} {cpu:8.1f} {cpu / base:10.1f}")
            wall, cpu = await median_ms(lambda left=left: engine.similar_runs(left))
            print(f"{f'similar runs {left[:20]}':<34} {wall:8.1f} {cpu:8.1f}")
    finally:
        await engine.aclose()


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        where = Path(place) / "w"
        pairs = [("made-up", "with-detours")]
        with Workspace.open(where) as workspace:
            for name, detours in (("made-up", 0), ("with-detours", 6)):
                workspace.runs.add(*made_up(name, detours))
            if COLLECTION.is_dir():
                got = [
                    read(f"{one.parts[-3]}/{one.name[5:]}") for one in colorbrowseragent.find_runs(COLLECTION)
                ]
                longest = sorted(got, key=lambda one: -len(one.steps))[:2]
                for one in longest:
                    workspace.runs.add(one.run, list(one.steps), dict(one.blobs))
                pairs.append((longest[0].run.id, longest[1].run.id))
            workspace.rebuild_index()
        asyncio.run(measure(where, pairs))


if __name__ == "__main__":
    main()
