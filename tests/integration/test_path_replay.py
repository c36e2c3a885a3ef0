"""Going a recorded way again in a real Chromium: verified at each step, ended where it leads elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from app.demo.server import HOST, DemoServer, Request, Response
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.graph_operations import graph_executor, operate
from app.engine.browser.locators import locator_of
from app.engine.browser.page_loading import open_page
from app.engine.browser.session import BrowserSession, open_session
from app.engine.core.identity import element_key, is_interactive, keys_of, page_id, transition_id
from app.engine.core.page_state import Challenge, PageState
from app.engine.core.transition import Attempt, Operation, ReplayVerdictKind, Source, Tier, Transition
from app.engine.graph.replay.path_replayer import PathReplayer

NAV = "<nav><a href='/'>Home</a> <a href='/orders'>Orders</a> <a href='/help'>Help</a></nav>"


def html(title: str, body: str) -> str:
    return f"<!doctype html><html lang=en><title>{title}</title>{NAV}<main><h1>{title}</h1>{body}</main>"


MENU = (
    "<button id=more aria-expanded=false onclick=\"this.setAttribute('aria-expanded', 'true');"
    "document.querySelector('[role=menu]').hidden = false\">More</button>"
    "<div role=menu hidden><a role=menuitem href='/archive'>Archive</a>"
    "<a role=menuitem href='/export'>Export</a></div>"
)


@dataclass
class Office:
    """A small site whose pages a test may change; ``pages`` by path."""

    pages: dict[str, str] = field(
        default_factory=lambda: {
            "/": html("Office", MENU),
            "/orders": html("Orders", "<button>New order</button><a href='/orders/12'>Order 12</a>"),
            "/orders/12": html("Order 12", "<button>Print</button><button>Note</button>"),
            "/archive": html("Archive", "<button>Restore</button>"),
            "/help": html("Help", "<a href='/'>Back</a>"),
            "/login": html(
                "Sign in",
                "<form><input name=user><input type=password name=password><button>Sign in</button></form>",
            ),
        }
    )
    status: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> Response:
        self.asked.append(request.path)
        if request.path in self.moved:
            return Response(status="302 Found", location=self.moved[request.path])
        body = self.pages.get(request.path)
        status = self.status.get(request.path, "200 OK" if body is not None else "404 Not Found")
        return Response(status=status, body=(body or html("Nothing", "")).encode())


class Walk:
    """Walks a site once and keeps states and transitions, as an exploration does."""

    def __init__(self, tab: BrowserSession, home: str) -> None:
        self.tab, self.home = tab, home
        self.states: dict[str, PageState] = {}
        self.legs: list[Transition] = []
        self.attempts: list[Attempt] = []
        self.here = ""

    async def start(self) -> None:
        await open_page(self.tab, self.home)
        self.here = (await self.look(direct=True)).id

    async def look(self, *, direct: bool | None = None) -> PageState:
        page = await capture(self.tab, picture=False)
        keys = keys_of(page, self.home)
        counted = [e for e in page.elements if is_interactive(e)]
        state = PageState(
            id=page_id(keys),
            keys=keys,
            url=page.url,
            controls=tuple(f"{e.role} {e.name}" for e in counted),
            element_keys=tuple(sorted({element_key(e, self.home) for e in counted})),
            direct=direct,
            challenge=page.challenge,
            status=page.status,
        )
        self.states.setdefault(state.id, state)
        return self.states[state.id]

    async def click(self, name: str) -> None:
        executor = graph_executor(self.tab)
        page = await executor.capture(picture=False)
        element = next(e for e in page.elements if e.name == name)
        assert (await operate(executor, element, Operation.CLICK)).error == ""
        locator, target = locator_of(element, page), await self.look()
        self.legs.append(
            Transition(
                id=transition_id(self.here, Operation.CLICK, "", locator, target.id),
                source=self.here,
                target=target.id,
                locator=locator,
            )
        )
        self.here = target.id

    async def again(self, tab: BrowserSession):
        async def record(attempt: Attempt) -> None:
            self.attempts.append(attempt)

        return await PathReplayer(tab, self.states, home=self.home, record=record).go(self.legs)


@pytest_asyncio.fixture(loop_scope="session")
async def office(server: DemoServer) -> tuple[Office, str]:
    site = Office()
    return site, f"http://{HOST}:{await server.listen(site, 0)}/"


async def walked(chromium: Browser, home: str, *names: str) -> Walk:
    async with open_session(chromium) as tab:
        walk = Walk(tab, home)
        await walk.start()
        for name in names:
            await walk.click(name)
        return walk


@pytest.mark.smoke
async def test_a_way_is_gone_again_from_the_home_page_and_every_step_is_recorded(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    walk = await walked(chromium, office[1], "Orders", "Order 12")
    arrivals = await walk.again(blank)
    assert [a.kind for a in arrivals] == [ReplayVerdictKind.EXACT, ReplayVerdictKind.EXACT]
    assert [a.tier for a in arrivals] == [Tier.ATTRIBUTES, Tier.ATTRIBUTES]
    assert [a.transition for a in walk.attempts] == [leg.id for leg in walk.legs]
    assert all(a.seconds > 0 and a.by is Source.TRAVELLED and a.divergence == "" for a in walk.attempts)
    assert blank.page.url.endswith("/orders/12")


async def test_a_state_without_an_address_is_reached_by_operating_the_menu(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    walk = await walked(chromium, office[1], "More", "Archive")
    assert walk.states[walk.legs[0].target].keys.url == "/"
    arrivals = await walk.again(blank)
    assert [a.kind for a in arrivals] == [ReplayVerdictKind.EXACT, ReplayVerdictKind.EXACT]
    assert blank.page.url.endswith("/archive")


async def test_a_way_goes_on_from_where_the_browser_stands(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    site, home = office
    walk = await walked(chromium, home, "Orders", "Order 12")
    await open_page(blank, home + "orders")
    site.asked.clear()
    walk.legs = walk.legs[1:]
    assert [a.kind for a in await walk.again(blank)] == [ReplayVerdictKind.EXACT]
    assert site.asked.count("/") == 0
    assert site.asked.count("/orders") == 0


async def test_a_menu_that_no_longer_opens_ends_the_way_before_the_next_click(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    site, home = office
    walk = await walked(chromium, home, "More", "Archive")
    site.pages["/"] = html("Office", MENU.replace("onclick", "data-off"))
    site.asked.clear()
    arrivals = await walk.again(blank)
    assert [a.kind for a in arrivals] == [ReplayVerdictKind.WRONG]
    assert "nothing changed" in arrivals[0].why
    assert site.asked.count("/archive") == 0


async def test_after_wrong_nothing_more_is_done(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    site, home = office
    walk = await walked(chromium, home, "Orders", "Order 12")
    site.moved["/orders"] = "/help"
    arrivals = await walk.again(blank)
    assert [a.kind for a in arrivals] == [ReplayVerdictKind.WRONG]
    assert arrivals[0].why == "reached /help instead of /orders"
    assert walk.attempts[-1].divergence == arrivals[0].why


async def test_a_log_in_on_the_way_is_a_block(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    site, home = office
    walk = await walked(chromium, home, "Orders", "Order 12")
    site.moved["/orders"] = "/login"
    assert [a.kind for a in await walk.again(blank)] == [ReplayVerdictKind.BLOCKED]
    login = await walked(chromium, home, "Orders")
    assert login.states[login.here].challenge is Challenge.LOGIN


async def test_a_fault_of_the_server_and_a_page_that_is_gone_are_told_apart(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    site, home = office
    walk = await walked(chromium, home, "Orders")
    site.status["/orders"] = "500 Oh"
    assert [a.kind for a in await walk.again(blank)] == [ReplayVerdictKind.ERROR]
    del site.status["/orders"], site.pages["/orders"]
    gone = await walk.again(blank)
    assert [a.kind for a in gone] == [ReplayVerdictKind.WRONG]
    assert "was not found (status 404)" in gone[0].why


async def test_an_element_that_is_gone_is_an_error_that_names_it(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    site, home = office
    walk = await walked(chromium, home, "Orders", "Order 12")
    site.pages["/orders"] = html("Orders", "<button>New order</button>")
    arrivals = await walk.again(blank)
    assert [a.kind for a in arrivals] == [ReplayVerdictKind.SAME_TEMPLATE, ReplayVerdictKind.ERROR], arrivals
    assert arrivals[0].why.endswith("without link Order 12")
    assert "link 'Order 12' is not on this page" in arrivals[1].why


async def test_a_renamed_and_moved_link_is_followed_still_and_the_drift_is_told(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    site, home = office
    walk = await walked(chromium, home, "Orders", "Order 12")
    site.pages["/orders"] = html(
        "Orders",
        "<p><a href='/orders/12'>Twelfth order</a></p><button>New order</button><button>Sort</button>",
    )
    arrivals = await walk.again(blank)
    assert [a.kind for a in arrivals] == [ReplayVerdictKind.DRIFTED, ReplayVerdictKind.EXACT]


async def test_a_way_that_begins_elsewhere_opens_its_first_page_by_address_and_verifies_that(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    site, home = office
    walk = await walked(chromium, home, "Orders", "Order 12")
    walk.legs = walk.legs[1:]
    await open_page(blank, home + "help")
    assert [a.kind for a in await walk.again(blank)] == [ReplayVerdictKind.EXACT]
    site.moved["/orders"] = "/help"
    await open_page(blank, home + "help")
    arrivals = await walk.again(blank)
    assert [a.kind for a in arrivals] == [ReplayVerdictKind.WRONG]
    assert walk.attempts[-1].arrival is ReplayVerdictKind.EXACT, "no step was made from the wrong page"


async def test_an_address_is_a_step_like_any_other(
    chromium: Browser, blank: BrowserSession, office: tuple[Office, str]
):
    walk = await walked(chromium, office[1], "Orders", "Order 12")
    last = walk.states[walk.legs[-1].target]
    walk.legs = [
        replace(walk.legs[0], operation=Operation.OPEN, value=last.url, locator=None, target=last.id)
    ]
    assert [a.kind for a in await walk.again(blank)] == [ReplayVerdictKind.EXACT]


async def test_a_host_that_has_gone_is_said(chromium: Browser, blank: BrowserSession, server: DemoServer):
    site = Office()
    home = f"http://{HOST}:{await server.listen(site, 0)}/"
    walk = await walked(chromium, home, "Orders")
    server._servers[-1].close()
    arrivals = await walk.again(blank)
    assert [a.kind for a in arrivals] == [ReplayVerdictKind.ERROR]
    assert "refuses the connection" in arrivals[0].why


async def test_the_bundled_shop_is_travelled_through(
    chromium: Browser, blank: BrowserSession, server: DemoServer
):
    walk = await walked(chromium, server.shop_url + "/", "Wear", "Linen Apron")
    assert [a.kind for a in await walk.again(blank)] == [ReplayVerdictKind.EXACT, ReplayVerdictKind.EXACT]
