"""The wall of Live under load: the longest block of the window's loop, and its memory over 100 ended runs.

    python -m benchmarks.live_wall [SECONDS]

Fake runs in the real view, drawn offscreen by the processor: a third of them go on, each with one picture and two
changes of its row a second, and one run a second changes its state and so its place.  The floor is the same window
without runs; the working time of the window's thread is its own share on a busy machine.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import time
from dataclasses import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6  # noqa: F401  before qasync, which else looks for another binding
import qasync
from PySide6.QtWidgets import QApplication

from app.engine.core.events import PageFrame
from app.engine.core.supervision import RunState
from app.models.common.commands import CommandCenter
from app.models.common.engine_client import LocalClient
from app.models.common.tasks import Tasks
from app.models.live.model import LiveModel
from app.views.frame.theme import Theme
from app.views.live.view import LiveView
from benchmarks.live_window import Gaps, resident, stalls
from tests.support.fake_engine import FakeEngine
from tests.support.fake_live import page_jpeg
from tests.support.many_live_runs import many_rows

WINDOW = (1864, 1000)
COUNTS = (15, 30, 60, 120)
LIVE = 20
"""Runs that go on, of 60; a third of each number."""
SMALL = 168
"""Width of the smallest tiles: most runs are in sight."""
ENDED = 100


class Wall:
    """The view over a fake engine."""

    def __init__(self, count: int, theme: Theme) -> None:
        self.engine = FakeEngine()
        rows = many_rows(count, count * LIVE // 60, now=time.time())
        self.engine.rows = {row.run: row for row in rows}
        self.engine.needs = {}
        self.client, self.tasks = LocalClient(self.engine, self.engine.bus), Tasks()
        center = CommandCenter()
        center.set_place("live")
        self.model = LiveModel(self.client, self.tasks)
        self.view = LiveView(self.model, center, theme)
        self.view.resize(*WINDOW)
        self.model.wall.set_tile_width(SMALL)
        self.model.start()
        self.view.show()
        self.pictures: dict[tuple[int, int], list[bytes]] = {}
        self.sent = self.changed = 0

    async def load(self, seconds: float) -> None:
        """Send pictures, changed rows and changed states at the real rate."""
        live = [run for run, row in self.engine.rows.items() if row.state is RunState.RUNNING]
        steps = max(len(live) * 3, 1)  # a second: a picture and two changes of each run
        began = time.monotonic()
        for turn in range(round(seconds * steps)):
            await asyncio.sleep(max(began + turn / steps - time.monotonic(), 0))
            if not live:
                continue
            run = live[turn // 3 % len(live)]
            if turn % 3 == 0:
                self._picture(run, turn)
            else:
                self._change(run, turn)
            if turn % steps == 0:
                self._move(live[turn // steps % len(live)])

    def _picture(self, run: str, number: int) -> None:
        wish = self.engine.watched.get(run)
        if wish is None:
            return  # out of sight
        size = wish[:2]
        if size not in self.pictures:
            self.pictures[size] = [page_jpeg(*size, shade) for shade in range(0, 40, 10)]
        made = self.pictures[size]
        self.engine.bus.publish(
            PageFrame(
                run=run, number=number, width=size[0], height=size[1], page_width=1280, page_height=800,
                jpeg=made[number % len(made)], url=self.engine.rows[run].url,
            )
        )  # fmt: skip
        self.sent += 1

    def _change(self, run: str, number: int) -> None:
        row = self.engine.rows[run]
        self.engine.put(
            replace(row, step=number % 29 + 1, words=f"click link {number}", tokens=row.tokens + 100)
        )
        self.changed += 1

    def _move(self, run: str) -> None:
        row = self.engine.rows[run]
        state = RunState.PAUSED if row.state is RunState.RUNNING else RunState.RUNNING
        self.engine.put(replace(row, state=state))

    async def close(self) -> None:
        self.view.hide()
        self.view.page.close_pictures()
        await self.tasks.aclose()
        self.model.frames.close()
        await self.client.aclose()
        self.view.deleteLater()
        self.model.deleteLater()
        await asyncio.sleep(0.1)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    theme = Theme()
    theme.set_mode("light")
    theme.apply(app)
    theme.load_icons()
    loop = qasync.QEventLoop(app)
    with loop:
        loop.run_until_complete(measure(seconds, theme))


async def measure(seconds: float, theme: Theme) -> None:
    load = f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors"
    print(f"Window of {WINDOW[0]} x {WINDOW[1]}, tiles of {SMALL} px; {load}")
    print("Turns of the window's loop, ms (waited, and at work on the window's thread)")
    for form in ("tiles", "tiles grouped by site", "list"):
        for count in (0, *COUNTS) if form == "tiles" else (60,):
            wall = Wall(count, theme)
            if form == "list":
                wall.model.wall.toggle_table()
            elif "grouped" in form:
                wall.model.wall.set_grouping("site")
            await asyncio.sleep(1.0)
            await wall.load(1.0)
            wall.sent = wall.changed = 0
            gc.collect()
            gaps, _ = await asyncio.gather(stalls(seconds), wall.load(seconds))
            about = f"{len(wall.view.wall.tiles.in_sight):3} in sight, {wall.sent} pictures, {wall.changed} changes"
            print(f"  {count:3} runs as {form:22} {words(gaps)}   {about if count else 'floor'}")
            await wall.close()
    await ended_runs(theme)


def words(gaps: Gaps) -> str:
    waited, worked = (sorted(column) for column in zip(*gaps, strict=True))
    place = round(len(gaps) * 0.99) - 1
    return (
        f"p99 {waited[place]:6.1f}  longest {waited[-1]:6.1f}   "
        f"at work: p99 {worked[place]:5.1f}  longest {worked[-1]:5.1f}"
    )


async def ended_runs(theme: Theme) -> None:
    """Open, watch and end runs one after the other; the pictures that are held, and the process's memory."""
    wall = Wall(1, theme)
    await asyncio.sleep(1.0)
    template, sizes = next(iter(wall.engine.rows.values())), list[tuple[int, float, float]]()
    large = page_jpeg(1280, 800)
    for number in range(1, ENDED + 1):
        row = replace(
            template, run=f"ended-{number:03d}", started_at=2_000.0 + number, state=RunState.RUNNING
        )
        wall.engine.put(row)
        wall.model.open(row.run)
        await asyncio.sleep(0.05)
        wall.model.frames.take(
            PageFrame(
                run=row.run, number=1, width=1280, height=800, page_width=1280, page_height=800, jpeg=large
            )
        )
        while wall.model.frames.get(row.run) is None:
            await asyncio.sleep(0.01)
        wall.engine.put(replace(row, state=RunState.ENDED, outcome="answered", ended_at=time.time()))
        wall.model.close()
        await asyncio.sleep(0.05)
        if number in (20, 60, ENDED):
            gc.collect()
            sizes.append((number, wall.model.frames.held / 1e6, resident()))
    print(f"\n{ENDED} runs opened large and ended, one after the other")
    for number, held, memory in sizes:
        print(f"  after {number:3}: {held:5.1f} MB of pictures held, the process has {memory:.0f} MB")
    await wall.close()


if __name__ == "__main__":
    main()
