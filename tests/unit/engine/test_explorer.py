"""The exploration on a site in memory: what is tried, what is not, and how it ends."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.core.events import ExplorationChanged
from app.engine.core.page_state import Mode, Source
from app.engine.core.transition import FrontierStatus, Operation, SkipReason
from tests.support.explore_paper_site import addresses, explore, explorer_of, skipped
from tests.support.laws import examples
from tests.support.paper_site import Killed, NoRules, PaperRecorder, PaperSite, Thing

NAVIGATION = [
    Thing("Home", "/"),
    Thing("Catalogue", "/catalogue"),
    Thing("Browse", opens="browse"),
    Thing("Mugs", "/mugs", within="browse"),
    Thing("Bowls", "/bowls", within="browse"),
]
SHOP = {
    "/": [*NAVIGATION, Thing("Elsewhere", "http://other.example/")],
    "/catalogue": [*NAVIGATION, Thing("Apron", "/catalogue/apron_1"), Thing("Bowl", "/catalogue/bowl_2")],
    "/mugs": [
        *NAVIGATION,
        Thing("Sort", opens="sort"),
        Thing("By price", "/mugs?color=red", within="sort"),
    ],
    "/mugs?color=red": [*NAVIGATION],
    "/bowls": [*NAVIGATION, Thing("Delete", leads="/deleted")],
    "/deleted": [],
    "/catalogue/apron_1": [
        *NAVIGATION,
        Thing("Details", opens="details"),
        Thing("Care", leads="/care", within="details"),
        Thing("Sizes", opens="sizes", within="details"),
    ],
    "/catalogue/bowl_2": [*NAVIGATION, Thing("Details", opens="details")],
    "/care": [*NAVIGATION],
}
SAFE = NoRules("Delete")


async def test_every_page_and_every_menu_is_found():
    report, store = await explore(PaperSite(SHOP), depth=5, rules=SAFE)
    assert addresses(store) == set(SHOP) - {"/deleted"}
    assert (report.ended, report.frontier, report.tokens) == ("done", 0, 0)
    assert report.states == len(store.states) == 13
    assert report.interaction_only == 5  # browse, sort, details (twice), sizes
    assert report.depths[-1].states == 13


async def test_half_the_attempts_of_naive_breadth_first_suffice_for_a_state():
    report, _ = await explore(PaperSite(SHOP), depth=5, rules=SAFE)
    naive, _ = await explore(PaperSite(SHOP), depth=5, rules=SAFE, naive=True)
    assert report.tried / report.states <= 0.5 * naive.tried / naive.states


async def test_no_element_is_tried_twice_and_none_inherited_from_the_preceding_page():
    site = PaperSite(SHOP)
    _, store = await explore(site, depth=5, rules=SAFE)
    assert site.acted["/", "Browse"] == 1
    assert site.acted["/catalogue", "Browse"] == 0
    inherited = skipped(store, SkipReason.INHERITED)
    assert {item.page for item in inherited} >= {
        s.id for s in store.states.values() if s.keys.url == "/bowls"
    }


async def test_a_link_to_a_known_page_is_kept_without_being_followed():
    pages = {"/": [Thing("A", "/a"), Thing("B", "/b")], "/a": [Thing("To B", "/b")], "/b": []}
    site = PaperSite(pages)
    _, store = await explore(site)
    state = {s.keys.url: s.id for s in store.states.values()}
    kept = [t for t in store.transitions.values() if (t.source, t.target) == (state["/a"], state["/b"])]
    assert [(t.found_by, t.attempts) for t in kept] == [(Source.SEEN, 0)]
    assert site.opened["/b"] == 1


async def test_states_behind_a_menu_are_reached_through_the_verified_menu():
    site = PaperSite(SHOP)
    _, store = await explore(site, depth=5, rules=SAFE)
    care = next(s for s in store.states.values() if s.keys.url == "/care")
    way = next(t for t in store.transitions.values() if t.target == care.id and t.attempts)
    assert store.states[way.source].keys.url == "/catalogue/apron_1"
    assert store.states[way.source].direct is None  # "Details" open has no address of its own
    assert all(attempt.arrival.ok for attempt in store.attempts)


async def test_a_hover_menu_is_opened_by_hovering():
    menu = Thing("Reports", opens="reports", by_pointer=True, states=("haspopup",))
    site = PaperSite({"/": [menu, Thing("Monthly", href="/monthly", within="reports")], "/monthly": []})
    report, store = await explore(site, depth=2)
    assert addresses(store) == {"/", "/monthly"}
    assert report.interaction_only == 1
    assert Operation.HOVER in {transition.operation for transition in store.transitions.values()}


async def test_an_element_that_does_not_declare_a_popup_is_not_hovered():
    site = PaperSite({"/": [Thing("Dead"), Thing("Menu", states=("haspopup",))]})
    await explore(site, depth=2)
    assert site.acted == {("/", "Dead"): 1, ("/", "Menu"): 2}


async def test_nothing_is_tried_where_the_menu_does_not_open_again():
    class Moody(PaperSite):
        """Its panel opens once only."""

    site = Moody(
        {
            "/": [Thing("More", opens="more"), Thing("One", leads="/one", within="more"),
                  Thing("Two", leads="/two", within="more")],
            "/one": [], "/two": [],
        }
    )  # fmt: skip
    site.stuck = lambda: site.acted["/", "More"] > 1
    _, store = await explore(site)
    assert "/two" not in addresses(store)
    failed = [item for item in store.items.values() if item.status is FrontierStatus.FAILED]
    assert ["was not reached again" in item.detail for item in failed] == [True]


async def test_skipped_elements_have_a_reason():
    things = [
        Thing("Elsewhere", "http://other.example/"),
        Thing("Write", "mailto:me@paper.example"),
        Thing("Paper", "/paper.pdf"),
        Thing("Off", states=("disabled",)),
        Thing("Delete", leads="/deleted"),
        Thing("Gone", visible=False),
        Thing("Agree", role="checkbox", form="post:/order"),
        Thing("Run", "javascript:go()"),
        Thing("Here", "/"),
    ]
    _, store = await explore(PaperSite({"/": things}), rules=SAFE)
    page = store.contents[next(iter(store.states))]
    told = [item.reason for item in sorted(store.items.values(), key=lambda item: item.order)]
    assert len(page) == len(things)
    assert told == [
        SkipReason.EXTERNAL, SkipReason.SCHEME, SkipReason.DOWNLOAD, SkipReason.DISABLED, SkipReason.BLOCKED,
        SkipReason.HIDDEN, SkipReason.FORM, SkipReason.SCHEME, SkipReason.KNOWN,
    ]  # fmt: skip


async def test_a_hidden_link_is_opened_by_its_address():
    pages = {"/": [Thing("Menu", opens="m"), Thing("Deep", "/deep", visible=False)], "/deep": []}
    _, store = await explore(PaperSite(pages), depth=1)
    way = next(t for t in store.transitions.values() if store.states[t.target].keys.url == "/deep")
    assert (way.operation, way.value) == (Operation.OPEN, "http://paper.example/deep")


async def test_a_link_seen_on_a_later_page_is_clicked_rather_than_opened_by_its_address():
    pages = {"/": [Thing("Hidden", "/x", visible=False), Thing("Seen", "/x")], "/x": []}
    _, store = await explore(PaperSite(pages), depth=1)
    assert {t.operation for t in store.transitions.values()} == {Operation.CLICK}


async def test_one_row_represents_the_controls_of_all_rows():
    site = PaperSite({"/": [Thing("Actions", opens=f"row{n}", repeat="table") for n in range(5)]})
    report, _ = await explore(site)
    assert site.acted.total() == report.tried == 1


async def test_in_skeleton_mode_one_page_represents_its_template():
    pages = {"/": [Thing(f"P{n}", f"/product/p_{n}") for n in range(9)]}
    pages |= {f"/product/p_{n}": [Thing("Read", opens="text")] for n in range(9)}
    report, store = await explore(PaperSite(pages), mode=Mode.SKELETON)
    assert report.states == 3
    assert len(skipped(store, SkipReason.TEMPLATE)) == 8
    full, _ = await explore(PaperSite(pages), mode=Mode.FULL)
    assert full.states == 1 + 9 + 3, "a control tried on three pages of a kind is known on all of them"


@pytest.mark.parametrize(("depth", "deepest"), [(0, 0), (1, 1), (2, 2)])
async def test_no_deeper_than_allowed(depth: int, deepest: int):
    chain = {f"/{n or ''}": [Thing("Next", f"/{n + 1}")] for n in range(6)}
    report, store = await explore(PaperSite(chain), depth=depth)
    assert max(state.depth for state in store.states.values()) == deepest
    assert report.skipped.get("deeper than allowed") == 1


async def test_the_budget_of_states_ends_it_and_the_rest_stays_waiting():
    pages = {"/": [Thing(f"P{n}", f"/{n}") for n in range(20)]} | {f"/{n}": [] for n in range(20)}
    store = PaperRecorder()
    report, _ = await explore(PaperSite(pages), store=store, max_states=6)
    assert (report.ended, report.states, report.frontier) == ("states", 6, 15)
    more, _ = await explore(PaperSite(pages), store=store, max_states=100)
    assert (more.ended, more.states, more.exploration, more.frontier) == ("done", 21, 1, 0)


async def test_the_budget_of_time_ends_it():
    pages = {"/": [Thing(f"P{n}", f"/{n}") for n in range(20)]} | {f"/{n}": [] for n in range(20)}
    report, _ = await explore(PaperSite(pages), max_seconds=0.03)
    assert report.ended == "seconds"
    assert 0 < report.frontier < 20


async def test_exploration_pauses_resumes_and_stops():
    pages = {"/": [Thing(f"P{n}", f"/{n}") for n in range(20)]} | {f"/{n}": [] for n in range(20)}
    site, told = PaperSite(pages), list[ExplorationChanged]()
    explorer, store = explorer_of(site, told=told)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(explorer.run())
        while site.loads < 5:
            await asyncio.sleep(0)
        explorer.pause()
        for _ in range(200):
            await asyncio.sleep(0)
        stood = site.loads
        assert stood < 10
        assert told[-1].state in ("paused", "running")
        explorer.resume()
        while site.loads < stood + 3:
            await asyncio.sleep(0)
        explorer.stop()
    report = running.result()
    assert report.ended == store.ended == "stopped"
    assert report.frontier == 20 - report.tried > 0
    assert any(event.state == "paused" for event in told)


async def test_progress_events_name_the_current_item():
    told: list[ExplorationChanged] = []
    report, _ = await explore(PaperSite(SHOP), told=told, depth=5, rules=SAFE)
    assert told[-1].state == "done"
    assert told[-1].tried == report.tried
    assert any("button 'Browse' on /" in event.trying for event in told)
    assert dict(told[-1].skipped) == report.skipped


@settings(max_examples=25, deadline=None)
@given(at=st.integers(3, 14))
def test_a_killed_exploration_resumes_without_trying_anything_twice(at: int):
    async def both() -> None:
        whole, complete = await explore(PaperSite(SHOP), depth=5, rules=SAFE)
        site, store = PaperSite(SHOP), PaperRecorder(fails_at=at)
        with pytest.raises((Killed, BaseExceptionGroup)):
            await explore(site, store=store, depth=5, rules=SAFE)
        before = {key: item for key, item in store.items.items() if item.status is not FrontierStatus.WAITING}
        tries = site.opened.copy()
        store.fails_at = 0
        report, _ = await explore(site, store=store, depth=5, rules=SAFE)
        assert set(store.states) == set(complete.states)
        assert set(store.transitions) == set(complete.transitions)
        assert {key: store.items[key] for key in before} == before
        assert report.tried == whole.tried
        assert report.exploration == 1
        followed = [t for t in store.transitions.values() if t.attempts and t.locator and t.locator.href]
        assert all(t.attempts == 1 for t in followed)
        assert tries.total() < site.opened.total()

    asyncio.run(both())


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), workers=st.integers(1, 4))
def test_any_timing_and_any_number_of_pages_find_the_same_states(seed: int, workers: int):
    chance = random.Random(seed)
    site = PaperSite(SHOP, delay=lambda: chance.choice((0.0, 0.0, 0.001, 0.002)))

    async def both() -> None:
        _, alone = await explore(PaperSite(SHOP), depth=5, rules=SAFE)
        report, together = await explore(site, depth=5, rules=SAFE, workers=workers)
        assert set(together.states) == set(alone.states)
        assert set(together.transitions) == set(alone.transitions)
        assert {k: (i.status, i.reason) for k, i in together.items.items()} == {
            k: (i.status, i.reason) for k, i in alone.items.items()
        }
        assert report.ended == "done"

    asyncio.run(both())


@settings(max_examples=examples(40), deadline=None)
@given(
    links=st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=5), max_size=10),
    depth=st.integers(0, 4),
)
def test_every_page_a_link_crawler_finds_is_found(links: dict[int, list[int]], depth: int):
    pages = {f"/{n or ''}": [Thing(f"To {to}", f"/{to or ''}") for to in links.get(n, [])] for n in range(10)}
    crawled, level = {0}, {0}
    for _ in range(depth):
        level = {to for n in level for to in links.get(n, [])} - crawled
        crawled |= level

    _, store = asyncio.run(explore(PaperSite(pages), depth=depth))
    assert addresses(store) == {f"/{n or ''}" for n in crawled}


async def test_a_link_with_a_secret_in_its_address_is_clicked_and_the_secret_is_not_stored():
    secret = "abcdef0123456789abcdef"
    pages = {"/": [Thing("Reset", f"/reset?access_token={secret}")], f"/reset?access_token={secret}": []}
    site = PaperSite(pages)
    _, store = await explore(site)
    assert addresses(store) == {"/", "/reset"}
    assert site.acted["/", "Reset"] == 1
    assert secret not in repr(store.entries)
