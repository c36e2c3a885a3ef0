"""Page identity in a real Chromium: what changes from visit to visit, and what makes another state."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Route

from app.demo.server import DemoServer
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.session import BrowserSession, open_session
from app.engine.core.identity import element_key, is_interactive, keys_of, node_id, page_id
from app.engine.core.page_state import Mode, PageCapture

HOME = "http://shop.example/"


def markup(name: str, seed: int, related: int) -> str:
    """A product page of a shop with every bad habit: other ids, tokens, adverts and counts at every visit."""
    items = "".join(
        f'<li class="card css-{seed:x}{n}" id="card-{seed}-{n}"><a href="/product/other{n + seed}?sid={seed}">'
        f"Other {n + seed}</a><button id='b{seed}{n}'>Add</button></li>"
        for n in range(related)
    )
    advert = (
        f'<div class="ad-slot" id="ad-{seed}"><a href="http://ads.example/{seed}">Offer {seed}!</a></div>'
    )
    return f"""<!doctype html><title>{name}</title>
<header><nav aria-label="Main"><a href="/">Home</a><a href="/basket?_={seed}">Basket ({seed % 7})</a>
<button aria-haspopup="menu" aria-expanded="false" id="m{seed}"
 onclick="this.ariaExpanded = 'true'; document.querySelector('[role=menu]').hidden = false">Account</button>
<div role="menu" hidden><a role="menuitem" href="/profile">Profile</a></div></nav></header>
<main>{advert if seed % 2 else ""}<h1>{name}</h1><p>Updated {seed % 50} minutes ago</p>
<form method="post" action="/basket/add"><input type="hidden" name="csrf_token" value="{seed:032x}">
<input name="quantity" aria-label="Quantity" value="{seed % 9}"><button>Add {name} to basket</button></form>
<button onclick="document.querySelector('#said').innerHTML = '<button>Dismiss</button>'">Notify me</button>
<div id="said" role="status"></div>
<div role="tablist"><button role="tab" aria-selected="true">Details</button><button role="tab" aria-selected="false"
 onclick="this.setAttribute('aria-selected', 'true')">Reviews</button></div>
<ul class="related">{items}</ul></main>{"" if seed % 2 else advert}"""


class Shop:
    """Serves a product under its address, different at every visit."""

    def __init__(self, tab: BrowserSession) -> None:
        self.tab, self.seed, self.related = tab, 1000, 4

    async def answer(self, route: Route) -> None:
        name = route.request.url.partition("?")[0].rpartition("/")[2].title()
        await route.fulfill(content_type="text/html", body=markup(name, self.seed, self.related))

    async def visit(self, path: str, *, seed: int, related: int = 4) -> PageCapture:
        self.seed, self.related = seed, related
        await self.tab.page.goto(HOME + path)
        return await self.look()

    async def look(self) -> PageCapture:
        return await capture(self.tab, picture=False)


@pytest_asyncio.fixture(loop_scope="session")
async def shop(chromium: Browser) -> AsyncIterator[Shop]:
    async with open_session(chromium) as tab:
        there = Shop(tab)
        await tab.page.route("**/*", there.answer)
        yield there


def ids(page: PageCapture) -> tuple[str, str]:
    keys = keys_of(page, HOME)
    return page_id(keys), node_id(keys, Mode.SKELETON)


async def test_a_page_visited_again_is_the_same_state_whatever_its_machinery_says(shop: Shop):
    first = await shop.visit(f"product/apron?utm_source=mail&csrf_token={7:032x}", seed=1001)
    again = await shop.visit("product/apron?gclid=55", seed=2044, related=9)
    assert keys_of(first, HOME).structure == keys_of(again, HOME).structure
    assert ids(first) == ids(again)
    assert len([element for element in first.elements if is_interactive(element)]) >= 12


async def test_the_elements_of_the_chrome_have_the_same_keys_on_two_pages(shop: Shop):
    keys = [
        {element_key(element, HOME) for element in page.elements if "banner" in element.landmarks}
        for page in (await shop.visit("product/apron", seed=3), await shop.visit("product/mug", seed=4))
    ]
    assert keys[0] == keys[1] != set()


async def test_two_products_are_two_states_of_one_skeleton_node(shop: Shop):
    apron, teapot = (
        await shop.visit("product/apron", seed=5),
        await shop.visit("product/teapot", seed=6, related=0),
    )
    assert ids(apron)[0] != ids(teapot)[0]
    assert ids(apron)[1] == ids(teapot)[1]


@pytest.mark.smoke
async def test_an_opened_menu_and_a_chosen_tab_are_states_and_a_notice_is_none(shop: Shop):
    plain = ids(await shop.visit("product/apron", seed=5))
    await shop.tab.page.get_by_role("button", name="Notify me").click()
    noticed = await shop.look()
    assert [element.in_live for element in noticed.elements if element.name == "Dismiss"] == [True]
    assert ids(noticed) == plain
    await shop.tab.page.get_by_role("textbox", name="Quantity").fill("88")
    assert ids(await shop.look()) == plain
    await shop.tab.page.get_by_role("tab", name="Reviews").click()
    chosen = ids(await shop.look())
    await shop.tab.page.get_by_role("button", name="Account").click()
    opened = ids(await shop.look())
    assert len({plain[0], chosen[0], opened[0]}) == len({plain[1], chosen[1], opened[1]}) == 3


async def test_two_visitors_of_the_demo_site_see_the_same_states(chromium: Browser, server: DemoServer):
    async def walk(home: str) -> list[tuple[str, str]]:
        async with open_session(chromium) as tab:
            await tab.page.goto(f"{home}/")
            first = await capture(tab, picture=False)
            found = [(page_id(keys_of(first, home)), keys_of(first, home).url)]
            links = {e.href for e in first.elements if e.role == "link" and e.href.startswith(home)}
            for link in sorted(links)[:6]:
                await tab.page.goto(link)
                keys = keys_of(await capture(tab, picture=False), home)
                found.append((page_id(keys), keys.url))
            return found

    one = await walk(server.shop_url)
    async with await DemoServer.start() as elsewhere:
        assert await walk(elsewhere.shop_url) == one
    assert len({state for state, _ in one}) >= 5
