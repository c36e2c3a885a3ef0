"""An agent's observation of a page beside BrowserGym's of the same page: elements, text, length, time.

BrowserGym (browsergym-core 0.13.3) runs in a process and an environment of its own, created under the temporary
folder; both sides open the same addresses in the same Chromium, page by page in turn.  Measured on the pages of
MiniWoB++ if they are installed, on the demo site, on a shop if ``SITELORE_SHOP`` names one, and on generated lists of
500 to 5,000 elements.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import async_playwright

from app.demo.server import DemoServer
from app.engine.agent.vision.set_of_marks import element_marks, is_markable, visible_part
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.launch.launcher import launch
from app.engine.browser.session import BrowserSession, open_session
from app.engine.core.page_state import Element, PageCapture, Rect
from benchmarks.snapshot import page as made_up_page
from tests.support.demo_site_thread import demo_site
from tests.support.miniwob import HIDDEN, START, miniwob
from tests.support.shop import shop

PACKAGE = "browsergym-core==0.13.3"
SIZE = (1024, 640)
SEED = 1
ROUNDS = 3
REST = 0.4
"""Seconds a page may run before it is captured."""
ALIKE = 0.6
"""Minimum share of two boxes' union for a click in one to be a click in the other."""
SHOP = ("", "catalogue/", "basket/", "accounts/login/", "search/?q=shirt", "about/")
SIZES = (500, 2000, 5000)
VERBOSE = "-v" in sys.argv[1:]
"""Print what is missed."""
WORD = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True)
class Asked:
    """One page to capture; ``setup`` is a script and its argument."""

    group: str
    url: str
    setup: tuple[str, Any] | None = None


@dataclass
class Sum:
    """The totals of a group of pages."""

    pages: int = 0
    theirs: int = 0
    exact: int = 0
    reached: int = 0
    ours: int = 0
    known: int = 0
    length: list[float] = field(default_factory=list[float])
    seconds: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    words: int = 0
    told: int = 0
    missed: Counter[str] = field(default_factory=Counter[str])


class Other:
    """BrowserGym in its own process, queried page by page."""

    def __init__(self, options: dict[str, Any]) -> None:
        side = Path(__file__).with_name("_browsergym_side.py")
        self._process = subprocess.Popen(
            [str(_environment()), str(side), json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def look(self, asked: Asked) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        told = {"url": asked.url, "setup": asked.setup, "rest": REST, "rounds": ROUNDS}
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"BrowserGym's process ended with {self._process.wait()} at {asked.url}")
        return json.loads(line)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


def _environment() -> Path:
    """Python of an environment that has BrowserGym and nothing of this program; created once."""
    folder = Path(tempfile.gettempdir()) / f"sitelore-{PACKAGE.replace('==', '-')}"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ready = folder / "ready"
    if not ready.is_file():
        venv.create(folder, with_pip=True, clear=True)
        quiet = ["-q", "--disable-pip-version-check"]
        subprocess.run([str(python), "-m", "pip", "install", *quiet, PACKAGE], check=True, timeout=600)
        ready.touch()
    return python


async def _ours(tab: BrowserSession, asked: Asked) -> tuple[PageCapture, float]:
    await tab.page.goto(asked.url)
    if asked.setup:
        await tab.page.evaluate(*asked.setup)
    await asyncio.sleep(REST)
    seconds: list[float] = []
    page = await capture(tab, picture=False, thorough=True)
    for _ in range(ROUNDS):
        began = time.perf_counter()
        page = await capture(tab, picture=False, thorough=True)
        seconds.append(time.perf_counter() - began)
    return page, statistics.median(seconds)


def _overlap(one: Rect, other: Sequence[float]) -> float:
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    both = max(0.0, width) * max(0.0, height)
    return both / (one[2] * one[3] + other[2] * other[3] - both) if both else 0.0


def _compare(group: Sum, page: PageCapture, other: dict[str, Any], seconds: float) -> None:
    paths = {element.xpath for element in page.elements}
    boxes = [element.rect for element in page.elements if element.rect and element.visible]
    group.pages += 1
    for target in other["targets"]:
        if target["tag"] in ("html", "body"):
            continue
        group.theirs += 1
        exact = target["path"] in paths
        near = any(_overlap(box, target["box"]) >= ALIKE for box in boxes)
        group.exact += exact
        if exact or (target["control"] and target["control"] in paths) or near:
            group.reached += 1
        else:
            group.missed[f"{target['tag']} {target['words']!r}" if VERBOSE else target["tag"]] += 1
    _the_other_way(group, page, {*other["numbered"]})
    group.length.append(len(page.tree) / max(1, len(other["text"])))
    group.seconds.append((seconds, other["seconds"]))
    said = {word.lower() for word in WORD.findall(f"{page.tree} {page.text}")}
    theirs = {word.lower() for name in _names(other["text"]) for word in WORD.findall(name)}
    group.words += len(theirs)
    group.told += len(theirs & said)
    if VERBOSE and theirs - said:
        print(page.url.rpartition("/")[2], "does not tell", *sorted(theirs - said)[:12])


def _the_other_way(group: Sum, page: PageCapture, numbered: set[str]) -> None:
    """Number of our marks to which BrowserGym gives any number."""

    def top(element: Element) -> bool:
        return bool(element.xpath) and not element.frame and visible_part(element, page.viewport) is not None

    marks = [page.elements[mark.number] for mark in element_marks(page, most=100000)]
    mine = [element for element in marks if top(element) and is_markable(element)]
    group.ours += len(mine)
    group.known += sum(element.xpath in numbered for element in mine)


def _names(tree: str) -> list[str]:
    """Names and texts of BrowserGym's tree: the quoted parts."""
    return [name for _, name in re.findall(r"""\w+ (['"])(.*?)\1(?:,|$|\n| value)""", tree)]


def _print(name: str, group: Sum) -> None:
    if not group.pages:
        return
    own = statistics.median(mine for mine, _ in group.seconds)
    theirs = statistics.median(their for _, their in group.seconds)
    ratio = statistics.median(mine / their for mine, their in group.seconds)
    print(
        f"{name:14} {group.pages:4} {group.theirs:6} {group.exact / max(1, group.theirs):7.1%}"
        f" {group.reached / max(1, group.theirs):8.1%} {group.ours:6} {group.known / max(1, group.ours):7.1%}"
        f" {group.told / max(1, group.words):7.1%} {statistics.median(group.length):8.2f}"
        f" {own * 1000:7.1f} {theirs * 1000:7.1f} {ratio:6.2f}"
    )


def _asked(stack: ExitStack) -> list[Asked]:
    asked: list[Asked] = []
    if (site := stack.enter_context(miniwob())) is not None:
        asked.extend(Asked("MiniWoB++", site.page(task), (START, [SEED, HIDDEN])) for task in site.tasks)
    demo: DemoServer = stack.enter_context(demo_site())
    asked.extend(Asked("demo site", f"{demo.shop_url}/{path}") for path in ("", "search", "cart"))
    asked.append(Asked("demo site", f"{demo.admin_url}/admin"))
    if (found := shop()) is not None:
        asked.extend(Asked("shop", found.url + path) for path in SHOP)
    script = "html => { document.open(); document.write(html); document.close(); }"
    asked.extend(Asked(f"{size} elements", "about:blank", (script, made_up_page(size))) for size in SIZES)
    return asked


async def _run(say: Callable[[str, Sum], None]) -> None:
    sums: dict[str, Sum] = {}
    with ExitStack() as stack:
        pages = _asked(stack)
        async with async_playwright() as playwright:
            browser, candidate = await launch(playwright)
            options = candidate.launch_options() or {"executable_path": playwright.chromium.executable_path}
            other = Other({"launch": options, "size": SIZE})
            async with open_session(browser, SIZE) as tab:
                for asked in pages:
                    told = await asyncio.to_thread(other.look, asked)
                    page, seconds = await _ours(tab, asked)
                    _compare(sums.setdefault(asked.group, Sum()), page, told, seconds)
            other.close()
            await browser.close()
    for name, group in sums.items():
        say(name, group)
    missed = sum((group.missed for group in sums.values()), Counter[str]())
    print(
        "of theirs not among ours, by tag:",
        ", ".join(f"{tag} {n}" for tag, n in missed.most_common(12)) or "none",
    )


def main() -> None:
    print(
        "                pages theirs   exact  reached   ours   known   words   length      ms   their  ratio\n"
        "theirs: what BrowserGym calls clickable and visible; exact: ours numbers the same element; reached: it, its\n"
        "control or one of its box; ours: our marks; known: BrowserGym numbers them at all; words: those of its text\n"
        "that ours tells; length, ratio: ours to its, medians"
    )
    asyncio.run(_run(_print))


if __name__ == "__main__":
    main()
