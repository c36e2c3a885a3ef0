"""MiniWoB++ for tests and benchmarks: 130 small pages that score themselves, served from an installed package.

They are found under ``SITES_HOME``, or installed there by the installer that may lie beside the checkout; nothing of
them is part of this repository.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.async_api import Page

from app.engine.browser.session import BrowserSession

SITES = Path(os.environ.get("SITELORE_SHARED", Path(__file__).parents[3] / "shared")) / "sites"
PAGES = Path("miniwob") / "package" / "miniwob" / "html"
"""Within ``SITES_HOME``."""
INSTALLING = 300
"""Seconds the installation may take."""
READY = 10_000
"""Milliseconds a task may take to set itself up."""

HIDDEN = "#reward-display, #click-canvas, #sync-task-cover { display: none !important }"
"""What is no part of a task: the last reward, the drawing of clicks, the cover between two episodes."""
START = """([seed, hidden]) => {
  const style = document.createElement("style");
  style.textContent = hidden;
  document.head.append(style);
  Math.seedrandom(seed);
  core.EPISODE_MAX_TIME = 600000;
  core.startEpisodeReal();
  clearInterval(core.CD_TIMER);     // it changes the page every second
  core.startEpisode = () => {};     // one episode a page: its reward stays, and no later click begins another
}"""
UTTERANCE = "() => { const told = core.getUtterance(); return told.utterance ?? told; }"


@dataclass(frozen=True)
class MiniWob:
    """The served pages; ``url`` ends without a slash, ``tasks`` are their names in order."""

    url: str
    tasks: tuple[str, ...]

    def page(self, task: str) -> str:
        """Address of a task."""
        return f"{self.url}/miniwob/{task}.html"


@dataclass(frozen=True)
class Episode:
    """One task that was started in a tab; ``utterance`` says what is to be done."""

    task: str
    seed: int
    utterance: str
    page: Page

    async def reward(self) -> float:
        """The page's reward without its discount for time; 0 while the episode runs, above 0 is success."""
        return float(await self.page.evaluate("() => WOB_DONE_GLOBAL ? WOB_RAW_REWARD_GLOBAL : 0"))

    async def done(self) -> bool:
        """The page has given its reward."""
        return bool(await self.page.evaluate("() => WOB_DONE_GLOBAL"))

    async def why(self) -> str:
        """The page's remark on its reward, if it has one."""
        return str(await self.page.evaluate("() => WOB_REWARD_REASON ?? ''"))


@asynccontextmanager
async def episode(session: BrowserSession, site: MiniWob, task: str, seed: int) -> AsyncGenerator[Episode]:
    """Open a task in the tab in front and start it; the same seed makes the same task (three move by themselves).

    The tab is left on an empty page, so that no timer of the task goes on.
    """
    page = session.page
    await page.goto(site.page(task))
    await page.evaluate(START, [seed, HIDDEN])
    await page.wait_for_function("() => WOB_TASK_READY", timeout=READY)
    utterance = " ".join(str(await page.evaluate(UTTERANCE)).split())
    try:
        yield Episode(task, seed, utterance, page)
    finally:
        if not page.is_closed():
            await page.goto("about:blank")


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def pages_folder() -> Path | None:
    """Where the package's pages lie; installed first where there is an installer; ``None`` without either."""
    home = Path(os.environ.get("SITES_HOME") or Path.home() / ".cache" / "agent-sites")
    folder, script = home / PAGES, SITES / "miniwob.sh"
    if not folder.is_dir() and script.is_file():
        ours = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
        environment = {
            **os.environ,
            "SITES_HOME": str(home),
            "PATH": ours,
        }  # the system's Python may have no pip
        try:
            subprocess.run(
                ["bash", str(script), "install"],
                env=environment,
                timeout=INSTALLING,
                check=True,
                capture_output=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
    return folder if folder.is_dir() else None


@contextmanager
def miniwob() -> Generator[MiniWob | None]:
    """The pages, served on a free port of this machine for the time of the block; ``None`` where there are none."""
    folder = pages_folder()
    if folder is None:
        yield None
        return
    tasks = tuple(sorted(path.stem for path in (folder / "miniwob").glob("*.html")))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="miniwob")
    thread.start()
    try:
        yield MiniWob(f"http://127.0.0.1:{server.server_port}", tasks)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
