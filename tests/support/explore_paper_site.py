"""Short ways to explore a paper site and to ask what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.engine.api.graph_api import ExploreOptions, ExploreReport
from app.engine.core.events import ExplorationChanged
from app.engine.core.transition import FrontierItem, SkipReason
from app.engine.graph.explore.explorer import Explorer
from app.engine.graph.explore.pacing import Clock
from app.engine.graph.explore.robots import RobotsFile
from app.engine.graph.rules.block_list import BlockList
from tests.support.paper_site import HOME, NoRules, NoTime, PaperDriver, PaperRecorder, PaperSite


def explorer_of(
    site: PaperSite,
    *,
    store: PaperRecorder | None = None,
    rules: BlockList | None = None,
    told: list[ExplorationChanged] | None = None,
    workers: int = 1,
    drivers: Sequence[PaperDriver] = (),
    clock: Clock | None = None,
    spent: float = 0.0,
    robots: RobotsFile | None = None,
    **options: Any,
) -> tuple[Explorer, PaperRecorder]:
    """An exploration that has not begun, and where it will be kept."""
    store = store or PaperRecorder()
    explorer = Explorer(
        "paper",
        HOME,
        ExploreOptions(**options),
        store=store,
        rules=rules or NoRules(),
        drivers=drivers or [PaperDriver(site) for _ in range(workers)],
        tell=(told if told is not None else []).append,
        clock=clock or NoTime(),
        spent=spent,
        robots=robots,
    )
    return explorer, store


async def explore(site: PaperSite, **options: Any) -> tuple[ExploreReport, PaperRecorder]:
    """Explore a site to the end."""
    explorer, store = explorer_of(site, **options)
    return await explorer.run(), store


def addresses(store: PaperRecorder) -> set[str]:
    """Keys of the addresses of all states."""
    return {state.keys.url for state in store.states.values()}


def skipped(store: PaperRecorder, reason: SkipReason) -> list[FrontierItem]:
    """Items that were not tried for this reason."""
    return [item for item in store.items.values() if item.reason is reason]
