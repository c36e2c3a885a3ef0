"""A whole exploration with a real browser into a workspace, here or as a process of its own.

``python -m tests.support.exploration_process URL WORKSPACE OPTIONS`` (options as JSON) prints its result as JSON so
that tests can kill one half-way and compare two processes.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.engine.api.graph_api import ExploreOptions, ExploreReport
from app.engine.browser.browser_pool import BrowserPool
from app.engine.core.page_state import PageState
from app.engine.core.transition import FrontierItem, Transition
from app.engine.graph.explore.explorer import Explorer
from app.engine.graph.rules.block_list import BlockList
from app.engine.services.core import Core
from app.engine.services.graph_recording import StoredGraphRecorder

SITE = "explored"


@dataclass(frozen=True)
class Expedition:
    """Result of an exploration and its rows in the workspace; seconds are the sum over all pages."""

    report: ExploreReport
    states: tuple[PageState, ...]
    transitions: tuple[Transition, ...]
    items: tuple[FrontierItem, ...]
    load_seconds: float
    capture_seconds: float

    @property
    def ids(self) -> set[str]:
        """Ids of all states."""
        return {state.id for state in self.states}

    @property
    def addresses(self) -> set[str]:
        """Keys of all addresses."""
        return {state.keys.url for state in self.states}

    @property
    def templates(self) -> set[str]:
        """Templates of all addresses."""
        return {state.keys.template for state in self.states}


async def expedition(url: str, workspace: Path, **options: Any) -> Expedition:
    """Explore a site."""
    core = await Core.open(workspace, "tester")
    chosen = ExploreOptions(**options)
    store = StoredGraphRecorder(core, SITE)
    try:
        async with BrowserPool(
            headed=chosen.headed, size=chosen.viewport, storage_state=chosen.storage_state
        ) as browsers:
            explorer = Explorer(
                SITE,
                url,
                chosen,
                store=store,
                rules=BlockList.builtin(),
                drivers=browsers.drivers(chosen.workers),
            )
            report = await explorer.run()
        memory = await store.memory()
        return Expedition(report, memory.states, memory.transitions, memory.items, *explorer.work_seconds)
    finally:
        await core.aclose()


def start(url: str, workspace: Path, **options: Any) -> subprocess.Popen[str]:
    """The same in another process; its output is one JSON object."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.exploration_process", url, str(workspace), json.dumps(options)],
        cwd=Path(__file__).resolve().parents[2],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def main() -> None:
    """Explore as the arguments say."""
    url, workspace, options = sys.argv[1:]
    done = asyncio.run(expedition(url, Path(workspace), **json.loads(options)))
    told = {"report": dataclasses.asdict(done.report), "ids": sorted(done.ids)}
    told |= {"templates": sorted(done.templates), "seconds": [done.load_seconds, done.capture_seconds]}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
