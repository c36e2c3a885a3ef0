"""A map kept true on a site in memory: what stands is verified cheaply, what went is marked, what is new is tried."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import replace

import pytest

from app.engine.api.graph_api import ExploreOptions, ExploreReport, VerifyGraphReport
from app.engine.browser.driver import DriverFailure, DriverResult, FetchedDocument
from app.engine.core.page_state import Mode, PageCapture, PageState, Source
from app.engine.core.transition import FrontierStatus, ReplayVerdictKind
from app.engine.graph.graph import InteractionGraph
from app.engine.graph.maintain.maintenance import MaintenanceResult, update, verify
from app.errors import SiteloreError, UsageError
from tests.support.explore_paper_site import addresses, explorer_of
from tests.support.paper_site import HOME, NoRules, NoTime, PaperDriver, PaperRecorder, PaperSite, Thing

OPTIONS = ExploreOptions(depth=4, workers=1)


def big_site() -> dict[str, list[Thing]]:
    """A home page with a menu, ten sections of five pages each, a control that opens something on every page."""
    nav = [Thing("Home", "/"), *(Thing(f"Section {s}", f"/{s}") for s in "abcdefghij")]
    more = [
        Thing("More", opens="more"),
        Thing("Export", "/export", within="more"),
        Thing("Help", "/help", within="more"),
    ]
    pages: dict[str, list[Thing]] = {"/": [*nav, *more], "/export": [*nav], "/help": [*nav]}
    for s in "abcdefghij":
        pages[f"/{s}"] = [
            *nav,
            *more,
            *(Thing(f"Page {s} {w}", f"/{s}/{w}") for w in ("one", "two", "three", "four")),
        ]
        for w in ("one", "two", "three", "four"):
            pages[f"/{s}/{w}"] = [
                *nav,
                *more,
                Thing("Filter", opens="filter"),
                Thing("Newest", within="filter"),
            ]
    return pages


class AskingDriver(PaperDriver):
    """Tells what a document offers by the things on the page at its loading."""

    scripts = "s1"

    async def ask(self, url: str) -> FetchedDocument:
        path = "/" + url.removeprefix(HOME)
        self.site.asked[path] += 1
        if (deed := self.site.trouble(path)) is not None:
            return (
                FetchedDocument(why=deed.why)
                if not deed.status
                else FetchedDocument(url=url, status=deed.status)
            )
        path = self.site.redirects.get(path, path)
        if path not in self.site.pages:
            return FetchedDocument(url=url, status=404)
        return FetchedDocument(
            url=HOME + path[1:], status=200, served=served(self.site, path), scripts=self.scripts
        )

    async def look(self, *, picture: bool = True) -> PageCapture:
        page = await super().look(picture=picture)
        return replace(page, served=served(self.site, "/" + page.url.removeprefix(HOME)))


def served(site: PaperSite, path: str) -> str:
    if path not in site.pages or path in site.shells:
        return ""
    return repr(sorted((thing.name, thing.href) for thing in site.pages[path]))


@dataclasses.dataclass
class Asked(PaperSite):
    asked: Counter[str] = dataclasses.field(default_factory=Counter)
    shells: set[str] = dataclasses.field(default_factory=set)


class Keeper(PaperRecorder):
    """As the workspace keeps a graph."""

    async def begin_update(self, home: str, options: dict[str, object], at: float) -> int:
        self.number += 1
        self.home, self.options, self.ended = home, options, ""
        return self.number

    async def mark_gone(self, pages, transitions, at: float) -> None:
        self.states.update({name: replace(self.states[name], gone_at=at) for name in pages})
        for name in transitions:
            self.transitions[name] = replace(self.transitions[name], gone_at=at)

    @property
    def standing(self) -> set[str]:
        return {name for name, state in self.states.items() if not state.gone_at}


class Map:
    """An explored paper site."""

    def __init__(self, pages: dict[str, list[Thing]] | None = None) -> None:
        self.site = Asked(pages or big_site())
        self.keeper = Keeper()
        self.first = 0

    async def explored(self) -> Map:
        drivers = [AskingDriver(self.site)]
        explorer, _ = explorer_of(
            self.site, store=self.keeper, drivers=drivers, **dataclasses.asdict(OPTIONS)
        )
        await explorer.run()
        self.first = self.site.loads
        self.forget()
        return self

    def forget(self) -> None:
        self.site.opened.clear(), self.site.acted.clear(), self.site.asked.clear()

    @property
    def graph(self) -> InteractionGraph:
        store = self.keeper
        return InteractionGraph("paper", HOME, Mode.FULL, store.states.values(), store.transitions.values())

    async def verify(self, *, drivers: int = 1, **how: bool) -> MaintenanceResult:
        chosen = [AskingDriver(self.site) for _ in range(drivers)]
        return await verify(self.graph, self.keeper, chosen, clock=NoTime(), **how)

    async def update(self, *blocked: str) -> tuple[VerifyGraphReport, ExploreReport]:
        return await update(
            self.graph,
            self.keeper,
            [AskingDriver(self.site)],
            options=OPTIONS,
            rules=NoRules(*blocked),
            clock=NoTime(),
        )

    def at(self, path: str) -> list[PageState]:
        return [s for s in self.keeper.states.values() if s.keys.url == path and not s.gone_at]

    async def anew(self) -> set[str]:
        """Return the result and the cost of a full exploration of the site as it is now."""
        self.forget()
        drivers = [AskingDriver(self.site)]
        explorer, store = explorer_of(
            self.site, store=Keeper(), drivers=drivers, **dataclasses.asdict(OPTIONS)
        )
        await explorer.run()
        return set(store.states)


async def test_an_unchanged_site_is_verified_by_requests_with_few_pages_opened():
    here = await Map().explored()
    done = await here.verify()
    report = done.report
    assert report.gone_states == report.changed_states == report.gone_transitions == ()
    assert report.states == len(here.keeper.states)
    assert set(report.arrivals) == {"exact"}
    assert sum(report.arrivals.values()) == report.states, "every state has a verdict"
    assert report.loads == here.site.loads
    assert report.loads * 4 <= here.first
    assert here.site.asked.total() == len(addresses(here.keeper))


async def test_a_thorough_verification_opens_every_page_and_makes_every_transition():
    here = await Map().explored()
    report = (await here.verify(thorough=True)).report
    assert report.gone_states == report.gone_transitions == ()
    assert here.site.asked.total() == 0
    assert here.site.opened.total() >= len(addresses(here.keeper))
    tried = [found for found in here.keeper.transitions.values() if found.attempts]
    assert here.site.acted.total() >= len(tried)


async def test_an_update_after_a_small_change_finds_what_a_full_exploration_finds_for_a_quarter():
    here = await Map().explored()
    pages = here.site.pages
    pages["/c"] = [*pages["/c"], Thing("Offers", "/c/offers")]
    pages["/c/offers"] = [*pages["/c/one"], Thing("Today only", "/c/offers/today")]
    pages["/c/offers/today"] = [*pages["/c/one"]]
    del pages["/e/two"]
    pages["/e"] = [thing for thing in pages["/e"] if thing.href != "/e/two"]
    before = set(here.keeper.standing)

    verified, explored = await here.update()

    cost = here.site.loads
    assert {"/c/offers", "/c/offers/today"} <= {
        s.keys.url for s in here.keeper.states.values() if not s.gone_at
    }
    assert here.at("/e/two") == []
    assert here.keeper.standing == await here.anew()
    assert before - here.keeper.standing
    assert verified.gone_states
    assert explored.ended == "done"
    assert 0 < explored.tried < 20, "only what is new counts"
    assert verified.loads + explored.tried <= cost
    assert cost * 4 <= here.site.loads


def shelf(*names: str) -> list[Thing]:
    return [Thing(name, f"/c/{name}", repeat="ul>li") for name in names]


async def test_a_row_more_in_a_list_is_followed_though_the_page_is_the_same_state_and_a_row_less_is_noted():
    site = big_site()
    site["/c"] = [*site["/c"], *shelf("mug", "jug")]
    site |= {f"/c/{name}": [*site["/c/one"], Thing("Buy")] for name in ("mug", "jug", "bowl")}
    here = Map(site)
    await here.explored()
    assert here.at("/c/bowl") == []
    page = next(state for state in here.at("/c") if state.direct)
    tried = {key for key, item in here.keeper.items.items() if item.status is FrontierStatus.TRIED}
    site["/c"] = [*big_site()["/c"], *shelf("mug", "bowl")]
    del site["/c/jug"]

    verified, explored = await here.update()

    assert here.at("/c")[0].id == page.id, "a list with other rows is the same state"
    assert here.at("/c/jug") == []
    assert len(verified.gone_states) >= 1
    assert [state.direct for state in here.at("/c/bowl")][:1] == [True]
    assert here.keeper.standing == await here.anew()
    assert 1 <= explored.tried <= 8
    assert all(here.keeper.items[key].status is FrontierStatus.TRIED for key in tried)
    leads = {f.target for f in here.keeper.transitions.values() if f.source == page.id and not f.gone_at}
    assert here.at("/c/bowl")[0].id in leads


async def test_nothing_changed_means_nothing_is_explored():
    here = await Map().explored()
    before = set(here.keeper.standing)
    _, explored = await here.update()
    assert explored.new == 0
    assert here.keeper.standing == before
    assert here.site.loads * 4 <= here.first


async def test_a_page_with_a_new_button_replaces_the_old_state_and_keeps_its_links():
    here = await Map().explored()
    old = here.at("/c")[0]
    outgoing = {f.target for f in here.keeper.transitions.values() if f.source == old.id}
    here.site.pages["/c"] = [*here.site.pages["/c"], Thing("Sort")]
    done = await here.verify()
    new = next(state for state in here.at("/c") if state.direct)
    assert new.id != old.id
    assert done.findings.replaced[old.id] == new.id
    assert old.id in done.report.changed_states
    ways = [f for f in here.keeper.transitions.values() if not f.gone_at]
    to = {f.target for f in ways if f.source == new.id}
    kept = {target for target in outgoing if target in here.keeper.standing}
    assert kept <= to
    assert any(f.target == new.id for f in ways), "it is reached as before"
    assert all(f.source != old.id and f.target != old.id for f in ways)
    assert done.known[new.id] >= set(old.element_keys)


async def test_states_behind_a_removed_page_are_removed():
    here = await Map().explored()
    assert len(here.at("/e/two")) == 2, "the page, and its filter open"
    del here.site.pages["/e/two"]
    report = (await here.verify()).report
    assert here.at("/e/two") == []
    assert len(report.gone_states) == 2
    assert all(not f.gone_at or "/e/two" in _ends(here, f) for f in here.keeper.transitions.values())


def _ends(here: Map, found) -> set[str]:
    return {here.keeper.states[name].keys.url for name in (found.source, found.target)}


async def test_a_menu_that_leads_elsewhere_is_tried_on_all_pages():
    here = await Map().explored()
    opened = [s for s in here.keeper.states.values() if not s.direct]
    assert len(opened) >= 4
    here.site.stuck = lambda: True
    report = (await here.verify()).report
    assert here.site.acted.total() > 2
    assert {state.id for state in opened} <= set(report.gone_states)
    assert all(name in report.gone_states or here.keeper.states[name].direct for name in here.keeper.states)


async def test_changed_scripts_are_detected_on_one_page_and_then_checked_on_all():
    here = await Map().explored()

    class Scripted(AskingDriver):
        """The server sends what it sent; a script adds a button."""

        def _things(self) -> list[Thing]:
            return [*super()._things(), Thing("Chat with us")]

    await verify(here.graph, here.keeper, [Scripted(here.site)], clock=NoTime())
    assert here.site.opened.total() >= len(addresses(here.keeper))
    assert all(len([s for s in here.at(url) if s.direct]) == 1 for url in ("/", "/a", "/a/one"))


async def test_a_page_without_a_known_response_is_opened():
    here = Map()
    here.site.shells = {"/a", "/b"}
    await here.explored()
    await here.verify()
    assert here.site.opened["/a"] == here.site.opened["/b"] == 1
    assert here.site.asked["/a"] == 0
    assert here.site.opened["/c/one"] == 0


async def test_an_unreachable_host_removes_nothing():
    here = await Map().explored()
    standing = set(here.keeper.standing)
    here.site.trouble = lambda _: DriverResult(
        trouble=DriverFailure.UNREACHABLE, why="paper.example does not answer"
    )
    with pytest.raises(
        SiteloreError, match=r"can't be verified: paper.example does not answer; nothing was changed"
    ):
        await here.verify()
    assert here.keeper.standing == standing


async def test_an_expired_login_removes_nothing():
    here = await Map().explored()
    standing = set(here.keeper.standing)
    here.site.redirects = {path: "/login" for path in here.site.pages if path != "/login"}
    here.site.pages["/login"] = [Thing("Sign in")]
    here.site.logins = frozenset({"/login"})
    with pytest.raises(SiteloreError, match="asks for a login; nothing was changed"):
        await here.verify()
    assert here.keeper.standing == standing


async def test_a_page_with_a_fault_is_not_gone_and_counted():
    here = await Map().explored()
    faulty = DriverResult(trouble=DriverFailure.SERVER, status=500, why="the server failed")
    here.site.trouble = lambda path: faulty if path == "/c/one" else None
    report = (await here.verify()).report
    assert report.gone_states == ()
    assert report.arrivals["error"] == 1


async def test_a_page_that_leads_elsewhere_now_is_gone():
    here = await Map().explored()
    here.site.redirects = {"/d/four": "/d"}
    done = await here.verify()
    assert here.at("/d/four") == []
    wrong = [name for name, kind in done.findings.arrivals.items() if kind is ReplayVerdictKind.WRONG]
    assert [here.keeper.states[name].keys.url for name in wrong] == ["/d/four"]


async def test_several_pages_at_once_find_the_same():
    one, many = await Map().explored(), await Map().explored()
    for here in (one, many):
        here.site.pages["/c"] = [*here.site.pages["/c"], Thing("Sort")]
        del here.site.pages["/e/two"]
    first, second = (await one.verify()).report, (await many.verify(drivers=3)).report
    assert one.keeper.standing == many.keeper.standing
    assert (first.gone_states, first.changed_states) == (second.gone_states, second.changed_states)


async def test_a_state_found_again_is_restored():
    here = await Map().explored()
    first = set(here.keeper.standing)
    pages = dict(here.site.pages)
    here.site.pages["/e"] = [thing for thing in pages["/e"] if thing.href != "/e/two"]
    del here.site.pages["/e/two"]
    await here.update()
    assert here.keeper.standing < first | here.keeper.standing
    here.site.pages.update(pages)
    await here.update()
    assert here.keeper.standing == await here.anew()


async def test_states_of_runs_alone_are_left_as_they_are():
    here = await Map().explored()
    run = replace(
        next(iter(here.keeper.states.values())),
        id="r" * 16,
        source=Source.RUN,
        direct=None,
        url="http://far.test/",
    )
    here.keeper.states[run.id] = run
    await here.verify()
    assert here.keeper.states[run.id].gone_at == 0
    here.keeper.states = {run.id: run}
    with pytest.raises(UsageError, match="explore the site first"):
        await here.verify()


async def test_a_failed_update_ends_the_exploration_it_began():
    here = await Map().explored()
    here.site.trouble = lambda _: DriverResult(
        trouble=DriverFailure.UNREACHABLE, why="paper.example does not answer"
    )
    with pytest.raises(SiteloreError):
        await here.update()
    assert here.keeper.ended == "failed"
