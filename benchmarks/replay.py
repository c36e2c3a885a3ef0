"""Are explored states reached again?  ``python -m benchmarks.replay [WORKSPACE SITE] [--count N --seed S]``.

Random states of a map are each reached from the home page, in a fresh context, over the cheapest path of recorded
transitions (opening by address only if there is no such path), and every page is verified.  Without a workspace the
bundled shop is explored first.  Printed: verdicts at the goal, the locator tiers that found elements, the other
results, and how many would have passed for a success without verification.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.engine.browser.launch.launcher import NoBrowser
from app.engine.browser.session import open_browser, open_session
from app.engine.core.transition import Attempt, Operation, ReplayVerdict, ReplayVerdictKind, Transition
from app.engine.graph.graph import InteractionGraph
from app.engine.graph.replay.path_replayer import PathReplayer
from app.engine.store.workspace import Workspace
from app.errors import NotFound

ENOUGH = 0.97


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("workspace", nargs="?", type=Path)
    asked.add_argument("site", nargs="?", default="demo-shop")
    asked.add_argument("--count", type=int, default=100)
    asked.add_argument("--seed", type=int, default=7)
    asked.add_argument("--storage-state", default="")
    chosen = asked.parse_args()
    with _workspace(chosen.workspace, chosen.site) as path:
        with Workspace.open(path, create=False) as workspace:
            graph = InteractionGraph.load(workspace.graph(chosen.site))
        asyncio.run(replay(graph, chosen.count, chosen.seed, chosen.storage_state))


async def replay(graph: InteractionGraph, count: int, seed: int, login: str) -> None:
    standing = sorted(page.id for page in graph.pages.values() if not page.gone_at)
    drawn = random.Random(seed).sample(standing, min(count, len(standing)))
    print(f"{graph.site}: {len(drawn)} of {len(standing)} states, seed {seed}")
    verdicts, tiers, lengths, told = Counter[str](), Counter[str](), Counter[int](), list[str]()
    believed = by_address = 0
    began = time.perf_counter()
    try:
        async with open_browser() as browser:
            for page in drawn:
                way, opened = _way(graph, page)
                by_address += opened
                async with open_session(browser, (1280, 800), storage_state=login or None) as tab:
                    arrivals = await _go(
                        graph, page, way, PathReplayer(tab, graph.pages, home=graph.home, record=_forget)
                    )
                last = arrivals[-1] if len(arrivals) >= max(1, len(way)) else _cut_short(arrivals[-1])
                verdicts[last.kind.value] += 1
                lengths[len(way)] += 1
                tiers.update(arrival.tier.value for arrival in arrivals if arrival.tier is not None)
                believed += last.kind is not ReplayVerdictKind.ERROR
                if not last.kind.ok:
                    where = f"{graph.pages[page].keys.url} after {len(arrivals)} of {len(way)}"
                    told.append(f"  {last.kind.value}: {where}: {last.why}")
    except NoBrowser as missing:
        print(missing)
        return
    good = sum(verdicts[kind.value] for kind in ReplayVerdictKind if kind.ok)
    seconds = time.perf_counter() - began
    share = good / len(drawn)
    print(f"verdicts: {dict(verdicts)}")
    print(f"exact or same template: {good} of {len(drawn)} ({share:.0%}, aim {ENOUGH:.0%})")
    print(f"believed without verification: {believed}; steps by tier: {dict(tiers)}")
    print(f"transitions to the goal: {dict(sorted(lengths.items()))}; {by_address} only by their address")
    print(f"{seconds:.0f} s, {seconds / len(drawn):.2f} s a state")
    print("\n".join(told) or "  nothing else to classify")


def _way(graph: InteractionGraph, page: str) -> tuple[list[Transition], bool]:
    """A path over transitions, and whether it needs to open an address."""
    try:
        return graph.route("", page, opening=False).transitions, False
    except NotFound:
        return graph.route("", page).transitions, True


async def _go(
    graph: InteractionGraph, page: str, way: list[Transition], traveller: PathReplayer
) -> tuple[ReplayVerdict, ...]:
    if not way:
        return (await traveller.go_to_state(graph.pages[page]),)
    if way[0].operation is Operation.OPEN:
        await traveller.go_to_state(graph.pages[graph.home_pages[0]])
    return await traveller.go(way)


def _cut_short(last: ReplayVerdict) -> ReplayVerdict:
    """A path that ended before its goal: the verdict that ended it."""
    if last.kind.ok:
        return ReplayVerdict(
            kind=ReplayVerdictKind.ERROR, expected=last.expected, why="the way was not gone to its end"
        )
    return last


async def _forget(_: Attempt) -> None:
    """Record nothing: a benchmark leaves the map unchanged."""


@contextmanager
def _workspace(path: Path | None, site: str) -> Iterator[Path]:
    """The requested workspace, or one with a map of the bundled shop, which is served meanwhile."""
    if path is not None:
        yield path
        return
    from tests.support.demo_site_thread import demo_site

    with demo_site() as server, tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "workspace"
        words = ["explore", server.shop_url, "--site", site, "--depth", "3", "--json"]
        subprocess.run(
            [sys.executable, "-m", "app", "--workspace", str(made), *words],
            check=True, capture_output=True, timeout=600,
        )  # fmt: skip
        yield made


if __name__ == "__main__":
    main()
