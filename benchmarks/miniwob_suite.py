"""A suite of MiniWoB++ in Sitelore's own form: every page with a few seeds, each page's instruction read in Chromium.

    python -m benchmarks.miniwob suite OUT.json [--seeds 3] [--first 0] [--tasks a,b] [--tabs 2]

A task names its page by ``__MINIWOB__``, which the table of sites binds to the address the pages are served at::

    sitelore sites add miniwob --host 127.0.0.1:8102 --base __MINIWOB__=http://127.0.0.1:8102
    sitelore suite add OUT.json --name miniwob

A run is right if the page itself gave its first episode a reward above 0.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

import orjson
from playwright.async_api import Error

from app.engine.browser.page_setups import apply_setup
from app.engine.browser.session import open_browser, open_session
from tests.support.miniwob import READY, UTTERANCE, MiniWob, miniwob

BEGUN = "() => typeof core !== 'undefined' && core.EP_TIMER !== null && WOB_TASK_READY"
"""The episode that the set-up begins is on."""
REWARD = "func:miniwob_reward()"


def task_of(name: str, seed: int, intent: str) -> dict[str, Any]:
    """Return one task of the suite file."""
    return {
        "id": f"{name}.{seed}",
        "intent": intent,
        "sites": ["miniwob"],
        "start_url": f"__MINIWOB__/miniwob/{name}.html",
        "template": name,
        "kind": "page",
        "setup": f"miniwob:{seed}",
        "writes": False,
        "oracle": {
            "evaluators": ["program_html"],
            "html": [{"url": "last", "locator": REWARD, "exact_match": "1"}],
        },
    }


def document(tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the suite file."""
    return {
        "format": "sitelore-suite",
        "version": 1,
        "title": "MiniWoB++ 1.1.0",
        "dialect": "webarena",
        "tasks": tasks,
    }


async def read_tasks(site: MiniWob, names: list[str], seeds: range, tabs: int) -> list[dict[str, Any]]:
    """Open each page once with each seed and return the tasks; a page that gives no instruction is left out."""
    queue: asyncio.Queue[tuple[str, int]] = asyncio.Queue()
    for name in names:
        for seed in seeds:
            queue.put_nowait((name, seed))
    found: dict[tuple[str, int], str] = {}

    async def work() -> None:
        async with open_browser() as browser:
            while not queue.empty():
                name, seed = queue.get_nowait()
                async with open_session(browser) as session:
                    await apply_setup(session, f"miniwob:{seed}")
                    try:
                        await session.page.goto(site.page(name))
                        await session.page.wait_for_function(BEGUN, timeout=READY)
                        told = " ".join(str(await session.page.evaluate(UTTERANCE)).split())
                    except Error as error:
                        told = ""
                        print(f"{name} seed {seed}: {error}".splitlines()[0], file=sys.stderr)
                if told:
                    found[name, seed] = told

    async with asyncio.TaskGroup() as group:
        for _ in range(tabs):
            group.create_task(work())
    return [task_of(name, seed, found[name, seed]) for name, seed in sorted(found)]


def main(arguments: list[str]) -> None:
    """Write the suite."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.miniwob suite")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tasks", default="")
    parser.add_argument("--tabs", type=int, default=2)
    asked = parser.parse_args(arguments)
    with miniwob() as site:
        if site is None:
            sys.exit("MiniWoB++ is not installed: set SITES_HOME")
        names = asked.tasks.split(",") if asked.tasks else list(site.tasks)
        seeds = range(asked.first, asked.first + asked.seeds)
        tasks = asyncio.run(read_tasks(site, names, seeds, asked.tabs))
    asked.out.write_bytes(orjson.dumps(document(tasks), option=orjson.OPT_INDENT_2) + b"\n")
    print(f"{len(tasks)} tasks of {len(names)} pages in {asked.out}")
