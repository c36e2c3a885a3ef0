"""Tips of the demo shop are tested in a real browser: they hold, and where the site changed they break at that step."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from app import settings
from app.engine.agent.takeover.procedure_draft import draft_procedure
from app.engine.api.run_api import RunRequest
from app.engine.browser.session import open_session
from app.engine.core.events import Event, JobChanged, KnowledgeChanged
from app.engine.engine import Engine
from app.engine.services.site_logins import login_path
from app.errors import UsageError
from kb.tip import Scope, Status, TipDraft
from tests.support.changing_shop import ChangingShop
from tests.support.live_hands import click, in_hand, key, middle, typed, until

SHOP, ADMIN = "larkspur", "larkspur-admin"

TIPS = {
    "sort": (SHOP, "/", 'Choose "price, low to high" in the "Sort by" list.'),
    "tray": (SHOP, "/", 'Press "Kitchen", then press "Oak Tray".'),
    "basket": (SHOP, "/", 'Open /basket, then press "Keep looking".'),
    "size": (SHOP, "/product/linen-apron", 'Press "One size".'),
    "garden": (SHOP, "/", 'Press "Garden", then choose "name" in the "Sort by" list.'),
    "crumbs": (SHOP, "/product/oak-tray", 'Press "Home".'),
    "reports": (ADMIN, "/admin", 'Hover over "Reports", then press "Orders by month".'),
    "status": (ADMIN, "/admin/orders", 'Press "Got it", then choose "parked" in the "Status" list.'),
    "edit": (ADMIN, "/admin/products", 'Press "Edit Oak Tray", then press "Products".'),
    "customers": (ADMIN, "/admin/customers", 'Press "next".'),
}


@pytest_asyncio.fixture(loop_scope="session")
async def shop() -> AsyncIterator[ChangingShop]:
    async with await ChangingShop.start() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Engine]:
    monkeypatch.setattr(settings, "logins_dir", lambda: tmp_path / "logins")
    opened = await Engine.open(tmp_path / "workspace", author="ada")
    yield opened
    await opened.aclose()


async def store(engine: Engine, shop: ChangingShop, site: str, path: str, do: str, *, host: str = "") -> str:
    base = shop.admin_url if site == ADMIN else shop.shop_url
    scope = Scope(host=host or base.removeprefix("http://"), path=path)
    saved = await engine.save_tip(TipDraft(site=site, text=do, do=do, scope=scope))
    await engine.set_status([saved.id], Status.REVIEWED)
    return saved.id


async def status_of(engine: Engine, tip: str) -> Status:
    return (await engine.tip(tip)).status


async def test_ten_tips_hold_and_those_the_site_breaks_turn_suspect_at_the_right_step(
    engine: Engine, shop: ChangingShop
):
    shop.sign_in(login_path(ADMIN))
    ids = {name: await store(engine, shop, *one) for name, one in TIPS.items()}
    tests = [*(await engine.test_tips(SHOP)).tests, *(await engine.test_tips(ADMIN)).tests]
    assert {one.tip: (one.outcome, one.message) for one in tests if one.outcome != "holds"} == {}
    assert len(tests) == 10

    shop.changes = {
        ">Oak Tray</a>": ">Serving board</a>",
        ">Orders by month<": ">Sales calendar<",
        ">parked</option>": ">waiting</option>",
    }
    heard: list[Event] = []
    engine.bus.subscribe(heard.append)
    tests = [*(await engine.test_tips(SHOP)).tests, *(await engine.test_tips(ADMIN)).tests]
    broke = {one.tip: (one.outcome, one.step) for one in tests if one.outcome != "holds"}
    assert broke == {ids[name]: ("broke", 2) for name in ("tray", "reports", "status")}
    assert {one.tip for one in tests if one.became_suspect} == set(broke)
    for name, tip in ids.items():
        assert (await status_of(engine, tip) is Status.SUSPECT) == (tip in broke), name
    assert {tip for event in heard if isinstance(event, KnowledgeChanged) for tip in event.tips} == set(
        ids.values()
    )
    assert max(event.total or 0 for event in heard if isinstance(event, JobChanged)) == 6
    assert shop.sent == []

    undone = await engine.undo("knowledge")
    assert "broke at step 2" in undone.did
    standing = await engine.tip_standing(ids["reports"])
    assert (standing.record.tests, standing.record.broke, standing.tested_by) == (2, 1, "ada")


async def test_a_step_that_would_write_is_not_done(engine: Engine, shop: ChangingShop):
    shop.sign_in(login_path(ADMIN))
    buying = await store(
        engine, shop, SHOP, "/product/linen-apron", 'Press "One size", then press "Add to basket".'
    )
    saving = await store(
        engine, shop, ADMIN, "/admin/products/oak-tray", 'Fill "Stock" with "14", then press "Save".'
    )
    for tip in (buying, saving):
        done = await engine.test_tip(tip)
        assert (done.outcome, done.step) == ("stopped before a write", 2), done.message
        assert [step.outcome for step in done.steps] == ["done", "would write"]
        assert await status_of(engine, tip) is Status.REVIEWED
    assert shop.sent == []
    assert shop.state.products["oak-tray"].stock == 9


@pytest.mark.smoke
async def test_a_write_of_a_script_behind_a_harmless_name_is_held_back(engine: Engine, shop: ChangingShop):
    script = "onclick=\"fetch('/basket/add', {method: 'POST', body: 'product=oak-tray'}); this.textContent='Shown'\""
    shop.changes = {"<h1>Good things": f'<button type="button" {script}>Show more</button><h1>Good things'}
    tip = await store(
        engine,
        shop,
        SHOP,
        "/",
        'Choose ORDER in the "Sort by" list, then press "Show more" above "Good things for plain days".',
    )
    done = await engine.test_tip(tip)
    assert (done.outcome, done.step) == ("stopped before a write", 2), done.message
    assert shop.sent == []


@pytest.mark.smoke
async def test_a_notice_over_the_page_is_closed_before_the_tip_is_judged(engine: Engine, shop: ChangingShop):
    shop.sign_in(login_path(ADMIN))
    tip = await store(
        engine, shop, ADMIN, "/admin/orders", 'Hover over "Reports", then press "Orders by month".'
    )
    done = await engine.test_tip(tip)
    assert done.outcome == "holds", done.message
    assert shop.sent == []


async def test_a_log_in_or_a_host_that_is_down_never_makes_a_tip_suspect(engine: Engine, shop: ChangingShop):
    walled = await store(engine, shop, *TIPS["status"])
    lost = await store(engine, shop, SHOP, "/", 'Press "Home page".', host="127.0.0.1:9")
    for tip in (walled, lost):
        done = await engine.test_tip(tip)
        assert done.outcome == "not reached", done.message
        assert await status_of(engine, tip) is Status.REVIEWED


async def test_a_suspect_tip_that_holds_again_is_offered_and_stays_suspect(
    engine: Engine, shop: ChangingShop
):
    tip = await store(engine, shop, *TIPS["sort"])
    shop.changes = {">price, low to high<": ">cheap things first<"}
    broke = await engine.test_tip(tip)
    assert (broke.outcome, broke.step, broke.became_suspect) == ("broke", 1, True)
    shop.changes = {}
    again = await engine.test_tip(tip)
    assert (again.outcome, bool(again.offer)) == ("holds", True)
    assert await status_of(engine, tip) is Status.SUSPECT


async def test_placeholders_take_given_values_then_those_of_the_page_and_are_never_invented(
    engine: Engine, shop: ChangingShop
):
    shop.sign_in(login_path(ADMIN))
    sort = await store(engine, shop, SHOP, "/", 'Choose ORDER in the "Sort by" list.')
    steps = (await engine.tip_standing(sort)).steps
    assert "{" in steps[0], steps
    sampled = await engine.test_tip(sort)
    assert (sampled.outcome, sampled.steps[0].line.count("price")) == ("holds", 1)
    given = await engine.test_tip(sort, values={"order": "name"})
    with pytest.raises(UsageError, match=r"has no placeholder 'nosuch'.*it has order"):
        await engine.test_tip(sort, values={"nosuch": "1"})
    assert (given.outcome, '"name"' in given.steps[0].line) == ("holds", True)
    stock = await store(engine, shop, ADMIN, "/admin/products/oak-tray", 'Fill "Stock" with NUMBER.')
    left = await engine.test_tip(stock)
    assert (left.outcome, [step.outcome for step in left.steps]) == ("not reached", ["left out"])
    assert (await engine.test_tip(stock, values={"NUMBER": "14"})).outcome == "holds"
    assert shop.sent == []


@pytest.mark.smoke
async def test_a_run_that_follows_a_tip_adds_to_its_record_and_says_which_steps(
    engine: Engine, shop: ChangingShop
):
    tip = await store(engine, shop, *TIPS["tray"])
    request = RunRequest(
        intent="Open the page of the Oak Tray in the Kitchen department", start_url=f"{shop.shop_url}/basket",
        site=SHOP, max_steps=4,
    )  # fmt: skip
    summary = await engine.run_task(request)
    (use,) = summary.tips
    assert (use.steps, use.effect, use.failed) == ((1, 2), 2, 0), use.words
    assert "steps 1-2 done, effect seen" in use.words
    assert (await engine.tip(tip)).record.effect == 2
    assert (await engine.open_run(summary.run)).uses == summary.tips


async def test_a_takeover_becomes_a_tip_with_steps_that_is_tested_at_once(
    chromium: Browser, engine: Engine, shop: ChangingShop
):
    shop.sign_in(login_path(ADMIN))
    url = f"{shop.admin_url}/admin/products"
    async with open_session(chromium, (1280, 800), keep_tabs=True) as tab:
        await tab.page.context.add_cookies(
            [{"name": "admin_session", "value": "by-the-test", "url": shop.admin_url}]
        )
        await tab.page.goto(url)
        async with in_hand(tab, url) as (hands, kept):
            await hands.input(click(*await middle(tab, "text=Customers")))
            await until(lambda: len(kept.steps) >= 1)
            await hands.input(key("ArrowLeft", 1))
            await until(lambda: len(kept.steps) >= 2)
            await hands.input(click(*await middle(tab, "[aria-label='Edit Brass Lamp']")))
            await until(lambda: len(kept.steps) >= 3)
            await hands.input([*click(*await middle(tab, "#stock")), *key("a", 2), *typed("7")])
            await hands.end()
    made = draft_procedure(kept.steps, "Set the stock of the Brass Lamp to 7")
    assert made is not None
    assert made.lines == ('press "Edit Brass Lamp" link', 'fill "Stock" field with "{stock}"')
    assert all(step.locator for step in made.steps)
    host = shop.admin_url.removeprefix("http://")
    draft = TipDraft(
        site=ADMIN,
        text="Stock is changed behind Edit.",
        procedure=made,
        scope=Scope(host=host, path="/admin/products"),
    )
    saved = await engine.save_tip(draft)
    done = await engine.test_tip(saved.id, values={"stock": "7"})
    assert (done.outcome, [step.outcome for step in done.steps]) == ("holds", ["done", "done"]), done.message
    assert shop.sent == []
