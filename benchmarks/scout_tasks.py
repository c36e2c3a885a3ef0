"""The scout on the tasks of the shop, with nothing, with tips, with the graph, with both: success, steps per success.

``python -m benchmarks.scout_tasks [--only ID,ID] [--kind KIND] [--arms nothing,tips,graph,both] [--graphs DIR]``

Needs a running shop (``SITELORE_SHOP``, ``SITELORE_SHOP_DATABASE``), which is reset before each task that writes.
``--graphs`` names a workspace with graphs of the shop (sites ``northgate`` and ``northgate-admin``); without it both
are explored first.  The answers come from the shop's database at the time of the run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.engine.api.run_api import LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE, RunRequest, RunSummary
from app.engine.browser.session import open_browser
from app.engine.core.page_state import Mode
from app.engine.engine import Engine
from app.engine.services.exploration import ExploreOptions
from kb.tip import Status
from tests.support.shop import ADMIN, SHOPPER, Rows, record_login, rows_of, started_shop
from tests.support.shop_facts import TASKS, ShopTask, expected, load_tasks, verdict

SITE, ADMIN_SITE = "northgate", "northgate-admin"
ARMS = ("nothing", "tips", "graph", "both")
MOST_STEPS = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """One task in one arm; ``why`` says why it failed."""

    task: ShopTask
    arm: str
    why: str
    summary: RunSummary


class Shop:
    """The copy the tasks run on; their changes to its database are undone."""

    def __init__(self, url: str, database: Path, kept: Path) -> None:
        self.url, self.database, self._kept = url.rstrip("/"), database, kept
        self.keep()

    def keep(self) -> None:
        """Make the current state the one that ``reset`` restores."""
        _copy(self.database, self._kept)

    def reset(self) -> None:
        """Restore every row; the shop's server keeps running."""
        _copy(self._kept, self.database)

    def rows(self) -> Rows:
        """Every relevant row."""
        return rows_of(self.database)


def _copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target, timeout=30)) as other:
        one.backup(other)


@contextmanager
def copied(folder: Path) -> Generator[Shop]:
    """The running shop with its database backed up."""
    with started_shop() as shop:
        if shop is None:
            sys.exit("no shop: set SITELORE_SHOP and SITELORE_SHOP_DATABASE")
        made = Shop(shop.url, shop.database, folder / "kept.sqlite3")
        try:
            yield made
        finally:
            made.reset()


async def prepare(engine: Engine, shop: Shop, folder: Path, graphs: str) -> dict[str, str]:
    """Logins, tips and graphs; the paths of the logins by role."""
    logins = {"": ""}
    async with open_browser() as browser:
        for role, account in (("shopper", SHOPPER), ("admin", ADMIN)):
            logins[role] = str(await record_login(browser, shop.url, account, folder / f"{role}.json"))
    shop.keep()  # with the sessions of the log-ins
    await engine.kb_import(str(TASKS.with_name("scout_tips.jsonl")), "jsonl", SITE)
    tips = [tip.id for tip in await engine.list_tips(SITE)]
    await engine.set_status(tips, Status.REVIEWED)
    await engine.load_encoder(allow_export=False)
    if not graphs:
        for start, site, login in (("/", SITE, ""), ("/dashboard/", ADMIN_SITE, logins["admin"])):
            options = ExploreOptions(
                mode=Mode.SKELETON, depth=2, workers=1, max_states=120, storage_state=login
            )
            await engine.explore(f"{shop.url}{start}", site, options)
    return logins


async def run(engine: Engine, shop: Shop, task: ShopTask, arm: str, logins: dict[str, str]) -> Outcome:
    """One task in one arm."""
    if task.writes:
        shop.reset()
    wanted = expected(shop.database, task)
    before = shop.rows()
    graph = ADMIN_SITE if task.login == "admin" else SITE
    summary = await engine.run_task(
        RunRequest(
            intent=task.intent,
            start_url=f"{shop.url}{task.start}",
            kb=LIVE_KNOWLEDGE if arm in ("tips", "both") else WITHOUT_KNOWLEDGE,
            graph=(graph,) if arm in ("graph", "both") else (),
            site=SITE,
            max_steps=MOST_STEPS,
            storage_state=logins[task.login],
            suite="scout",
            task_id=task.id,
        )
    )
    why = verdict(task, summary.answer, wanted, shop.database, before, shop.rows())
    if summary.outcome != "answered":
        why = why or f"ended as {summary.outcome}"
        why = f"{why} ({summary.outcome}: {(summary.error or summary.answer or '')[:80]})"
    if task.writes:
        shop.reset()
    return Outcome(task, arm, why, summary)


def table(outcomes: Sequence[Outcome], arms: Sequence[str]) -> None:
    """A line a task, then success and steps per success of each arm, by kind."""
    by_task: dict[str, dict[str, Outcome]] = defaultdict(dict)
    for one in outcomes:
        by_task[one.task.id][one.arm] = one
    print(f"\n{'task':18} {'kind':10} " + " ".join(f"{arm:>12}" for arm in arms))
    for found in by_task.values():
        task = next(iter(found.values())).task
        cells = (
            f"{'ok' if not one.why else '-'} {one.summary.steps:3} steps"
            for one in (found[arm] for arm in arms)
        )
        print(f"{task.id:18} {task.kind:10} " + " ".join(f"{cell:>12}" for cell in cells))
    kinds = list(dict.fromkeys(one.task.kind for one in outcomes))
    print()
    for arm in arms:
        mine = [one for one in outcomes if one.arm == arm]
        won = [one for one in mine if not one.why]
        steps = statistics.mean(one.summary.steps for one in won) if won else 0.0
        own = statistics.median(one.summary.own_ms for one in mine)
        parts = ", ".join(
            f"{kind} {sum(not o.why for o in mine if o.task.kind == kind)}/{sum(o.task.kind == kind for o in mine)}"
            for kind in kinds
        )
        figures = f"{steps:.1f} steps per success; own cost {own:.0f} ms a step"
        print(f"{arm:8} {len(won)} of {len(mine)}; {figures}; {parts}")
    everywhere = {id for id, found in by_task.items() if len(found) == len(arms)}
    shared = [id for id in by_task if id in everywhere and not any(one.why for one in by_task[id].values())]
    if shared and len(arms) > 1:
        means = (
            f"{arm} {statistics.mean(by_task[id][arm].summary.steps for id in shared):.1f}" for arm in arms
        )
        print(f"steps on the {len(shared)} tasks that every arm does: {', '.join(means)}")


async def trace(engine: Engine, one: Outcome) -> None:
    """Every step of a run."""
    for step in (await engine.open_run(one.summary.run)).steps:
        said = f"{step.words[:60]:60} | {step.reason[:90]} | {step.effect} {step.error[:100]}"
        print(f"      {step.index:2} {step.url[-45:]:45} {said}", flush=True)


async def measure(asked: argparse.Namespace, shop: Shop, folder: Path) -> None:
    """All tasks in all arms."""
    tasks = [
        task
        for task in load_tasks()
        if (not asked.only or task.id in asked.only.split(","))
        and (not asked.kind or task.kind == asked.kind)
    ]
    if asked.shuffle:
        random.Random(asked.shuffle).shuffle(tasks)
    arms = [arm for arm in ARMS if arm in asked.arms.split(",")]
    workspace = folder / "workspace"
    if asked.graphs:
        shutil.copytree(asked.graphs, workspace)
    engine = await Engine.open(workspace, "benchmark")
    outcomes: list[Outcome] = []
    try:
        needs_graph = not asked.graphs and bool({"graph", "both"} & set(arms))
        logins = await prepare(engine, shop, folder, asked.graphs or ("" if needs_graph else "none"))
        for task in tasks:
            for arm in arms:
                began = time.monotonic()
                one = await run(engine, shop, task, arm, logins)
                outcomes.append(one)
                took = time.monotonic() - began
                print(
                    f"{task.id:18} {arm:8} {one.summary.steps:3} steps {took:5.1f} s  {one.why or 'ok'}",
                    flush=True,
                )
                if asked.trace:
                    await trace(engine, one)
    finally:
        await engine.aclose()
    table(outcomes, arms)


def main() -> None:
    """Run the tasks and print the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", default="")
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--graphs", default="")
    parser.add_argument(
        "--shuffle", type=int, default=0, help="a seed: what is cut short then is a fair sample"
    )
    parser.add_argument("--trace", action="store_true", help="print every step")
    asked = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with tempfile.TemporaryDirectory() as name, copied(Path(name)) as shop:
        asyncio.run(measure(asked, shop, Path(name)))


if __name__ == "__main__":
    main()
