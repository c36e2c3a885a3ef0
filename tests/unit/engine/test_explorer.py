"""The exploration on a site in memory: what is tried, what is not, and what happens when the site misbehaves."""

from __future__ import annotations

from app.engine.events import ExplorationChanged
from app.engine.graph.explorer import Explorer
from app.engine.graph_api import ExploreOptions, ExploreReport
from tests.support.paper_site import (
    HOME,
    NoRules,
    NoTime,
    PaperDriver,
    PaperRecorder,
    PaperSite,
    Thing,
)

SHOP = {
    "/": [
        Thing("Home", "/"),
        Thing("Catalogue", "/catalogue"),
        Thing("Browse", opens="browse"),
        Thing("Mugs", "/mugs", within="browse"),
        Thing("Bowls", "/bowls", within="browse"),
        Thing("Elsewhere", "http://other.example/"),
    ],
    "/catalogue": [
        Thing("Home", "/"),
        Thing("Catalogue", "/catalogue"),
        Thing("Browse", opens="browse"),
        Thing("Mugs", "/mugs", within="browse"),
        Thing("Bowls", "/bowls", within="browse"),
        Thing("Apron", "/catalogue/apron_1"),
        Thing("Bowl", "/catalogue/bowl_2"),
    ],
    "/mugs": [Thing("Home", "/"), Thing("Sort", opens="sort"), Thing("By price", "/mugs?sort=price", within="sort")],
    "/mugs?sort=price": [Thing("Home", "/")],
    "/bowls": [Thing("Home", "/"), Thing("Delete", leads="/deleted")],
    "/deleted": [],
    "/catalogue/apron_1": [Thing("Home", "/"), Thing("Details", opens="details"), Thing("Care", leads="/care", within="details")],
    "/catalogue/bowl_2": [Thing("Home", "/"), Thing("Details", opens="details")],
    "/care": [Thing("Home", "/")],
}  # fmt: skip


async def explore(
    site: PaperSite,
    *,
    store: PaperRecorder | None = None,
    rules: NoRules | None = None,
    told: list[ExplorationChanged] | None = None,
    workers: int = 1,
    **options: object,
) -> tuple[ExploreReport, PaperRecorder]:
    store = store or PaperRecorder()
    explorer = Explorer(
        "paper",
        HOME,
        ExploreOptions(**options),  # type: ignore[arg-type]
        store=store,
        rules=rules or NoRules(),
        drivers=[PaperDriver(site) for _ in range(workers)],
        tell=(told if told is not None else []).append,
        clock=NoTime(),
    )
    return await explorer.run(), store


def addresses(store: PaperRecorder) -> set[str]:
    return {state.keys.url for state in store.states.values()}


async def test_every_page_and_every_menu_is_found():
    report, store = await explore(PaperSite(SHOP), depth=4, rules=NoRules("Delete"))
    assert addresses(store) == set(SHOP) - {"/deleted"}
    assert report.ended == "done"
    assert report.frontier == 0
    assert report.tokens == 0
    assert report.interaction_only == 4
