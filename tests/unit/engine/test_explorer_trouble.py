"""The exploration of a site that misbehaves: it says what happened, keeps what it has, and goes on or is resumed."""

from __future__ import annotations

from collections import Counter

import pytest

from app.engine.browser.driver import BrowserGone, DriverFailure, DriverResult
from app.engine.core.transition import FrontierStatus
from tests.support.explore_paper_site import addresses, explore, explorer_of
from tests.support.paper_site import HOME, PaperDriver, PaperRecorder, PaperSite, Thing, lost

STAR = {"/": [Thing(f"P{n}", f"/{n}") for n in range(1, 9)]} | {f"/{n}": [] for n in range(1, 9)}
FAULT = DriverResult(trouble=DriverFailure.SERVER, why="the server failed (status 500)", status=500)
SILENT = DriverResult(trouble=DriverFailure.UNREACHABLE, why="paper.example does not answer")


def failed(store: PaperRecorder) -> dict[str, str]:
    return {item.value: item.detail for item in store.items.values() if item.status is FrontierStatus.FAILED}


async def test_a_server_that_fails_half_of_the_time_is_explored_completely():
    asked: Counter[str] = Counter()

    def half(path: str) -> DriverResult | None:
        asked[path] += 1
        return FAULT if asked.total() % 2 else None

    site = PaperSite(STAR, trouble=half)
    report, store = await explore(site)
    assert addresses(store) == set(STAR)
    assert report.ended == "done"
    assert max(asked.values()) <= 3


async def test_a_page_that_always_fails_is_abandoned_after_a_few_tries_and_noted():
    site = PaperSite(STAR, trouble=lambda path: FAULT if path == "/3" else None)
    report, store = await explore(site)
    assert site.opened["/3"] == 3
    assert failed(store) == {f"{HOME}3": FAULT.why}
    assert report.states == 8


async def test_a_page_without_a_response_is_retried_after_the_others():
    asked: list[str] = []

    def late(path: str) -> DriverResult | None:
        asked.append(path)
        return SILENT if path == "/7" or (path == "/3" and "/8" not in asked) else None

    report, store = await explore(PaperSite(STAR, trouble=late))
    assert addresses(store) == set(STAR) - {"/7"}
    assert failed(store) == {f"{HOME}7": SILENT.why}
    assert asked[-1] == "/7"
    assert (report.ended, report.frontier) == ("done", 0)


async def test_a_missing_page_is_no_state():
    site = PaperSite(STAR | {"/": [*STAR["/"], Thing("Gone", "/gone")]})
    _, store = await explore(site)
    assert "/gone" not in addresses(store)
    assert failed(store) == {f"{HOME}gone": "the site returned status 404"}


async def test_a_crashed_page_is_reopened_once_and_then_abandoned():
    crashes: Counter[str] = Counter()

    def crash(path: str) -> None:
        crashes[path] += 1
        if path == "/2" or (path == "/3" and crashes[path] == 1):
            raise lost("the page crashed")

    site = PaperSite(STAR, look_trouble=crash)
    report, store = await explore(site)
    assert addresses(store) == set(STAR) - {"/2"}
    assert failed(store) == {f"{HOME}2": "the page crashed"}
    assert site.reopened == 3
    assert report.ended == "done"


async def test_a_crash_on_the_way_to_a_menu_is_survived():
    crashes: Counter[str] = Counter()

    def crash(path: str) -> None:
        crashes[path] += 1
        if crashes[path] == 3:
            raise lost()

    pages = {"/": [Thing("More", opens="more"), Thing("In", leads="/in", within="more")], "/in": []}
    report, store = await explore(PaperSite(pages, look_trouble=crash))
    assert addresses(store) == {"/", "/in"}
    assert report.ended == "done"


async def test_a_browser_that_does_not_start_again_leaves_the_rest_waiting():
    class Broken(PaperDriver):
        async def reopen(self) -> None:
            raise BrowserGone("no browser could be started")

    site = PaperSite(STAR, look_trouble=lambda path: _crash_on("/4", path))
    explorer, _ = explorer_of(site, drivers=[Broken(site)])
    report = await explorer.run()
    assert report.ended == "failed"
    assert report.states == 4
    assert report.frontier == 5
    assert any("no browser could be started" in note for note in report.notes)


async def test_the_other_pages_do_the_work_of_one_whose_browser_is_gone():
    class Broken(PaperDriver):
        async def reopen(self) -> None:
            raise BrowserGone("no browser could be started")

    crashed: list[str] = []

    def once(path: str) -> None:
        if path == "/4" and not crashed:
            crashed.append(path)
            raise lost()

    site = PaperSite(STAR, look_trouble=once)
    explorer, store = explorer_of(site, drivers=[Broken(site), Broken(site)])
    report = await explorer.run()
    assert addresses(store) == set(STAR)
    assert report.ended == "done"


@pytest.mark.parametrize(
    "trouble", [SILENT, FAULT, DriverResult(trouble=DriverFailure.NO_PAGE, why="redirects in a loop")]
)
async def test_without_a_home_page_there_is_nothing_to_explore(trouble: DriverResult):
    report, store = await explore(PaperSite(STAR, trouble=lambda _: trouble))
    assert report.ended == store.ended == "failed"
    assert report.states == 0
    assert [trouble.why in note for note in report.notes] == [True]


async def test_a_host_that_goes_away_pauses_it_and_it_can_be_resumed():
    down = [True]
    site = PaperSite(STAR, trouble=lambda path: SILENT if down[0] and path not in ("/", "/1") else None)
    store = PaperRecorder()
    report, _ = await explore(site, store=store)
    assert report.ended == "paused"
    assert any("does not answer" in note for note in report.notes)
    assert report.states == 2
    down[0] = False
    again, _ = await explore(site, store=store)
    assert again.ended == "done"
    assert addresses(store) == set(STAR)


def _members(expired: list[bool]) -> PaperSite:
    pages = {
        "/": [Thing("Account", "/account"), Thing("Orders", "/orders"), Thing("Help", "/help")],
        "/account": [Thing("Home", "/"), Thing("Addresses", "/addresses")],
        "/orders": [Thing("Home", "/"), Thing("Order 1", "/orders/1")],
        "/orders/1": [], "/addresses": [], "/help": [],
        "/login": [Thing("Forgot", "/forgot")], "/forgot": [],
    }  # fmt: skip
    site = PaperSite(pages, logins=frozenset({"/login"}))

    def door(path: str) -> None:
        closed = ("/account", "/orders", "/orders/1", "/addresses")
        site.redirects = dict.fromkeys(closed, "/login") if expired[0] else {}

    def trouble(path: str) -> None:
        door(path)
        return

    site.trouble = trouble
    return site


async def test_a_login_that_expires_half_way_pauses_it_and_keeps_everything():
    expired = [False]
    site, store = _members(expired), PaperRecorder()
    count = [0]
    inner = site.trouble

    def later(path: str) -> DriverResult | None:
        count[0] += 1
        expired[0] = count[0] > 4
        return inner(path)

    site.trouble = later
    report, _ = await explore(site, store=store)
    assert report.ended == "paused"
    assert any("login has expired" in note for note in report.notes)
    assert addresses(store) == {"/", "/account", "/orders", "/help"}
    count[0] = -100
    again, _ = await explore(site, store=store)
    assert again.ended == "done"
    assert addresses(store) == {"/", "/account", "/orders", "/help", "/addresses", "/orders/1"}
    assert again.exploration == report.exploration


async def test_a_login_page_of_an_anonymous_visit_is_an_ordinary_state():
    report, store = await explore(_members([True]))
    assert report.ended == "done"
    assert addresses(store) == {"/", "/help", "/login", "/forgot"}


async def test_an_alert_of_a_page_is_reported():
    pages = {"/": [Thing("Hello", says="Hello there")]}
    _, store = await explore(PaperSite(pages))
    assert [item.detail for item in store.items.values()] == ["nothing changed; alert: Hello there"]


async def test_a_page_with_random_content_is_explored():
    class Shifting(PaperDriver):
        looks = 0

        def _things(self) -> list[Thing]:
            Shifting.looks += 1
            return [
                *super()._things(),
                Thing(f"Offer {'abcdefghijklmnop'[Shifting.looks % 16]}", leads="/offer"),
            ]

    pages = {
        "/": [*(Thing(w, opens=w) for w in ("One", "Two")), *(Thing(f"L{n}", f"/{n}") for n in range(12))]
    }
    pages |= {f"/{n}": [] for n in range(12)} | {"/offer": []}
    site = PaperSite(pages)
    explorer, store = explorer_of(site, depth=1, drivers=[Shifting(site)])
    report = await explorer.run()
    assert report.ended == "done"
    assert addresses(store) >= set(pages) - {"/offer"}
    assert report.states < 2 * len(pages)


def _crash_on(bad: str, path: str) -> None:
    if path == bad:
        raise lost()
