"""The engine host is killed under a window with eight active runs: ``python -m benchmarks.host_restart [RUNS]``.

Three times, each on a workspace of its own: the host alone is killed, its browsers alone, both.  The times are those of
the window's client.  Beside them is the floor of the same minute, with the host's priority: a host's imports, and one
browser with one page, alone.  Processor time depends little on what else the machine does; half of it, on two
processors, is the least that the times can be.  A further run waits for a person throughout.  At the end every step
and request has to be there, once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6  # noqa: F401  before qasync, which else looks for another binding
import qasync
from PySide6.QtWidgets import QApplication

from app.engine.api.run_api import WITHOUT_KNOWLEDGE, RunRequest
from app.engine.browser.live_browser import LiveBrowser
from app.engine.core.events import BrowserStarted, LiveRunChanged, LiveRunDismissed, RunAdvanced
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.supervision import LiveRow, RunState
from app.engine.host import NICENESS
from app.engine.store.workspace import Workspace
from app.models.common.engine_client import EngineClient
from tests.support.demo_site_thread import demo_site
from tests.support.operator_driver import asking

RUNS = 8
TASK = "What is the stock of the moon?"
"""The scout walks through all departments before it gives up."""
BASKET = "Put the Oak Tray into the basket"
ASKED_SECONDS = 15.0
WAIT = 300.0


def main() -> None:
    """Print the times and every fault."""
    if sys.argv[1:2] == ["floor"]:
        asyncio.run(one_page(sys.argv[2]))
        return
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    with demo_site() as server, qasync.QEventLoop(app) as loop:
        loop.run_until_complete(measure(server.shop_url, runs))


async def measure(shop: str, runs: int) -> None:
    """Kill three times, between two measurements of the floor."""
    print(f"{os.cpu_count()} processors, {runs} active runs on the demo shop, one more waits for a person")
    for name, host, browsers in (
        ("the host alone", True, False),
        ("the browsers alone", False, True),
        ("the host and its browsers", True, True),
    ):
        floor = await floors(shop)
        with tempfile.TemporaryDirectory() as folder:
            killed = Killed(Path(folder) / "workspace", shop, runs)
            await killed.go(host=host, browsers=browsers)
            print(f"\nkill -9 of {name}; load {os.getloadavg()[0]:.1f}")
            print(f"  floor: imports of a host {floor[0]:.1f} s, one browser with one page {floor[1]:.1f} s")
            print("\n".join(f"  {line}" for line in killed.told(floor)))
            faults = killed.faults()
            print(f"  missing, doubled or ended otherwise: {len(faults)}")
            print("".join(f"    {fault}\n" for fault in faults), end="", flush=True)


async def floors(shop: str) -> tuple[float, float]:
    """Median seconds of a host's imports, and of one browser that opens one page."""
    imports, pages = list[float](), list[float]()
    for _ in range(3):
        began = time.monotonic()
        await niced("-c", "import app.engine.host")
        imports.append(time.monotonic() - began)
        pages.append(float(await niced("-m", "benchmarks.host_restart", "floor", shop)))
    return statistics.median(imports), statistics.median(pages)


async def niced(*command: str) -> str:
    """Run Python with the host's priority; return its output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=subprocess.PIPE, preexec_fn=lambda: os.nice(NICENESS)
    )
    output, _ = await process.communicate()
    return output.decode()


async def one_page(shop: str) -> None:
    """Print the seconds that one browser with one page takes."""
    import playwright.async_api  # noqa: F401  its import is no part of it

    began = time.monotonic()
    async with await LiveBrowser.open() as browser:
        await browser.go(shop)
        print(time.monotonic() - began)


@dataclass
class Times:
    """Seconds from the kill: of the connection, the browsers, and per run its active row, its page, its next step."""

    connected: float = 0.0
    browsers: list[float] = field(default_factory=list[float])
    active: dict[str, float] = field(default_factory=dict[str, float])
    page: dict[str, float] = field(default_factory=dict[str, float])
    step: dict[str, float] = field(default_factory=dict[str, float])
    processor: dict[str, float] = field(default_factory=dict[str, float])
    """Processor seconds of the host and of its browsers and their drivers, until the last step."""


class Killed:
    """A window's client with runs, whose host or browsers are killed once."""

    def __init__(self, workspace: Path, shop: str, runs: int) -> None:
        self._workspace, self._shop, self._count = workspace, shop, runs
        self._client = EngineClient()
        self._rows: dict[str, LiveRow] = {}
        self._steps: dict[str, int] = {}
        self._at = 0.0
        self._lost: set[str] = set()
        self.times = Times()
        self._waits = self._request = ""
        self._client.live_run_changed.connect(self._row_changed)
        self._client.live_run_dismissed.connect(self._row_gone)
        self._client.run_advanced.connect(self._advanced)
        self._client.browser_started.connect(self._browser)
        self._client.host_changed.connect(self._host)

    async def go(self, *, host: bool, browsers: bool) -> None:
        """Start the runs, kill, wait for everyone's next step, close."""
        await self._client.spawn(self._workspace)
        try:
            await self._start()
            before = {run: row.step for run, row in self._rows.items()}
            self._steps = {run: step for run, step in before.items() if run != self._waits}
            pid = self._client.host_pid
            assert pid is not None
            family = descendants(pid)
            chromium = [one for one, name in family.items() if is_browser(name)]
            used = processor(pid)
            self._at = time.monotonic()
            kill([*([pid] if host else ()), *(family if host and browsers else chromium if browsers else ())])
            await until(lambda: len(self.times.step) == len(self._steps))
            await until(lambda: bool(self._rows[self._waits].needs))
            now = processor(self._client.host_pid or 0)
            self.times.processor = {
                name: now[name] - (0.0 if host else used.get(name, 0.0)) for name in sorted(now)
            }
            await self._client.api.live_runs()
        finally:
            await self._client.aclose()

    async def _start(self) -> None:
        """Bring each run beyond its first step; one waits for a person."""
        api = self._client.api
        await api.save_intervention_policy(asking(RiskClass.SENDS))
        basket = RunRequest(
            intent=BASKET, start_url=f"{self._shop}/product/oak-tray", kb=WITHOUT_KNOWLEDGE, max_steps=8
        )
        (self._waits,) = await api.start_runs([basket], at_once=self._count)
        await until(lambda: self._waits in self._rows and bool(self._rows[self._waits].needs))
        self._request = self._rows[self._waits].needs[0].id
        task = RunRequest(intent=TASK, start_url=self._shop, kb=WITHOUT_KNOWLEDGE, max_steps=40)
        runs = await api.start_runs([task] * self._count, at_once=self._count)
        held = set[str]()
        while len(held) < len(runs):
            for run in runs:
                row = self._rows.get(run)
                if row is not None and row.step > 0 and run not in held:
                    held.add(run)
                    await api.pause_run(run)
            await asyncio.sleep(0.02)
        await until(lambda: all(self._rows[run].state is RunState.PAUSED for run in runs))
        for run in runs:
            await api.continue_run(run)
        await until(lambda: all(self._rows[run].state is RunState.RUNNING for run in runs))
        await api.live_runs()  # the store thread has written the states before it answers

    def told(self, floor: tuple[float, float]) -> list[str]:
        """The times in lines."""
        found, imports, page = self.times, *floor
        last = max(found.step.values())
        lines = [
            spread("browsers started, s", found.browsers),
            spread("row active again, s", found.active.values()),
            spread("page open again, s", found.page.values()),
            spread("next step taken, s", found.step.values()),
            f"processor time until then: {sum(found.processor.values()):.1f} s ("
            + ", ".join(f"{name} {seconds:.1f}" for name, seconds in found.processor.items())
            + ")",
            f"all went on after {last:.1f} s ({ASKED_SECONDS:g} asked), {last / (imports + page):.1f} times both floors"
            f", {last / (imports + page * self._count / (os.cpu_count() or 1)):.2f} times the floor of "
            f"{self._count} pages on {os.cpu_count()} processors",
        ]
        return [f"connected again after {found.connected:.1f} s", *lines] if found.connected else lines

    def faults(self) -> list[str]:
        """Differences from before on the disk: missing, doubled or otherwise."""
        found: list[str] = []
        with Workspace.open(self._workspace) as workspace:
            for run, before in self._steps.items():
                _, steps = workspace.runs.load(run)
                numbers = [step.index for step in steps]
                if numbers != list(range(len(numbers))) or len(numbers) < before:
                    found.append(f"run {run} had {before} steps and has {numbers}")
            if extra := workspace.runs.ids() - {*self._steps, self._waits}:
                found.append(f"runs that nobody started: {sorted(extra)}")
            asked = workspace.supervision.requests(self._waits, closed=True)
            valid = [one.id for one in asked if not one.void]  # one about a page that was lost is asked again
            if self._request not in {one.id for one in asked} or len(valid) != 1:
                found.append(f"the run that waited has the requests {asked}")
        return found

    # what the client says

    def _since(self) -> float:
        return time.monotonic() - self._at

    def _host(self, words: str) -> None:
        if self._at and not words:
            self.times.connected = self._since()
            self._lost = set(self._steps)

    def _browser(self, _: BrowserStarted) -> None:
        if self._at:
            self.times.browsers.append(self._since())

    def _row_gone(self, event: LiveRunDismissed) -> None:
        self._rows.pop(event.run, None)

    def _row_changed(self, event: LiveRunChanged) -> None:
        row = self._rows[event.row.run] = event.row
        if not self._at or row.run not in self._steps:
            return
        if row.state is RunState.RECOVERING:
            self._lost.add(row.run)
        if row.run not in self._lost:
            return  # said before its end was noticed
        if row.state in (RunState.STARTING, RunState.RUNNING, RunState.RECOVERING):
            self.times.active.setdefault(row.run, self._since())
        if row.state is RunState.RUNNING:
            self.times.page.setdefault(row.run, self._since())

    def _advanced(self, event: RunAdvanced) -> None:
        before = self._steps.get(event.run)
        if not self._at or before is None:
            return
        went_on = event.words and event.step >= before and event.run in self.times.page
        if went_on or event.state != "running":
            self.times.step.setdefault(event.run, self._since())


def spread(name: str, values: Iterable[float]) -> str:
    """First, median and last of some times."""
    found = sorted(values)
    if not found:
        return f"{name:24} none"
    return f"{name:24} first {found[0]:5.1f}   median {statistics.median(found):5.1f}   last {found[-1]:5.1f}"


def processor(parent: int) -> dict[str, float]:
    """Processor seconds that a process and all it started have used, by kind."""
    used = {"host": 0.0, "browsers": 0.0, "drivers": 0.0}
    for process, name in {parent: "host", **descendants(parent)}.items():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            mine, reaped = (int(fields[one]) + int(fields[one + 1]) for one in (11, 13))
            kind = name if process == parent else "browsers" if is_browser(name) else "drivers"
            used[kind] += mine / os.sysconf("SC_CLK_TCK")
            used["browsers"] += reaped / os.sysconf("SC_CLK_TCK")
    return used


def is_browser(name: str) -> bool:
    """Whether a process of this name belongs to a browser."""
    return "chrom" in name or "headless" in name


def descendants(parent: int) -> dict[int, str]:
    """Names of all processes that one has started, by id (Linux)."""
    parents: dict[int, tuple[int, str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            parents[int(folder.name)] = int(rest.split()[1]), name
    family = {parent}
    while more := {one for one, (above, _) in parents.items() if above in family} - family:
        family |= more
    return {one: parents[one][1] for one in family if one != parent}


def kill(processes: Iterable[int]) -> None:
    """Kill these at once."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for it; raises ``TimeoutError``."""
    async with asyncio.timeout(WAIT):
        while not condition():
            await asyncio.sleep(0.02)


if __name__ == "__main__":
    main()
