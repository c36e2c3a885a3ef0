"""The scout on the bundled demo shop, with a real browser: it reads, compares, and says what it can't find."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.demo.server import DemoServer
from app.demo.state import Product
from app.engine.agent.scout.policy import ScoutPolicy
from app.engine.browser.executor import Executor
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.types import Action, Goto, ReportInfeasible, Stop
from app.engine.core.observation import HistoryEntry, Observation
from tests.support.browser_walker import Walker

DONE = ActionResult(success=True, effect=Effect.NOTHING)


async def scouted(hands: Executor, start: str, intent: str, most: int = 16) -> tuple[Action, list[str]]:
    """The scout in a loop of look, decide, act; its last command, and the addresses it was at."""
    await hands.do(Goto(start))
    policy, turns, seen = ScoutPolicy(), list[HistoryEntry](), list[str]()
    for step in range(most):
        page = await hands.look(picture=False)
        seen.append(page.url)
        sight = Observation(
            step=step, steps_left=most - step, intent=intent, start_url=start, page=page, history=tuple(turns)
        )
        decision = await policy.decide(sight)
        assert decision.action is not None
        if isinstance(decision.action, Stop | ReportInfeasible):
            return decision.action, seen
        result = await hands.do(decision.action)
        turns.append(
            HistoryEntry(
                step=step,
                url=page.url,
                title=page.title,
                state="",
                action=decision.action,
                result=result,
                words="",
            )
        )
    raise AssertionError(f"it did not come to an end: {seen}")


def named(server: DemoServer, place: int) -> Product:
    """One of the shop's products, by its place."""
    return list(server.state.products.values())[place]


@pytest.mark.smoke
async def test_it_reads_the_price_of_a_thing_from_the_page_of_the_thing(
    shop: Walker, server: DemoServer
) -> None:
    wanted = named(server, 3)
    command, seen = await scouted(
        Executor(shop.tab), f"{server.shop_url}/", f'What is the price of "{wanted.name}"?'
    )
    assert isinstance(command, Stop)
    assert Decimal(command.answer.lstrip("£")) == wanted.price
    assert len(seen) <= 4


async def test_it_finds_the_dearest_thing_of_a_part_of_the_site(shop: Walker, server: DemoServer) -> None:
    garden = [one for one in server.state.products.values() if one.department == "Garden"]
    command, _ = await scouted(
        Executor(shop.tab),
        f"{server.shop_url}/",
        "What is the price of the most expensive product in the category Garden?",
    )
    assert isinstance(command, Stop)
    assert Decimal(command.answer.lstrip("£")) == max(one.price for one in garden)


async def test_it_says_so_when_there_is_no_such_thing(shop: Walker, server: DemoServer) -> None:
    command, _ = await scouted(
        Executor(shop.tab), f"{server.shop_url}/", "What is the price of the Zephyr Hoverboard?", most=25
    )
    assert isinstance(command, ReportInfeasible)
    assert "Zephyr Hoverboard" in command.reason


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("intent", "end", "looks"),
    [
        ('Open "Kitchen"', "/department/Kitchen", 2),
        ("Open the Garden department", "/department/Garden", 2),
        ("Go to the basket", "/basket", 2),
    ],
)
async def test_it_opens_what_is_named_and_stops(
    shop: Walker, server: DemoServer, intent: str, end: str, looks: int
) -> None:
    command, seen = await scouted(Executor(shop.tab), f"{server.shop_url}/", intent)
    assert command == Stop("done")
    assert (seen[-1], len(seen)) == (f"{server.shop_url}{end}", looks)


@pytest.mark.smoke
async def test_it_counts_what_belongs_to_the_part_of_the_site_that_the_question_names(
    shop: Walker, server: DemoServer
) -> None:
    kitchen = [one for one in server.state.products.values() if one.department == "Kitchen"]
    command, _ = await scouted(
        Executor(shop.tab), f"{server.shop_url}/", "How many things are in the Kitchen department?"
    )
    assert command == Stop(answer=str(len(kitchen)))
    assert 0 < len(kitchen) < len(server.state.products)


async def test_it_does_not_tell_of_a_page_what_another_page_says(shop: Walker, server: DemoServer) -> None:
    wanted = named(server, -1)
    command, seen = await scouted(
        Executor(shop.tab), f"{server.shop_url}/", f"What does the {wanted.name} page say about parcels?"
    )
    assert isinstance(command, ReportInfeasible)
    assert seen[-1].endswith(f"/product/{wanted.slug}")


@pytest.mark.smoke
async def test_it_chooses_the_size_and_puts_the_thing_into_the_basket(
    shop: Walker, server: DemoServer
) -> None:
    wanted = next(one for one in server.state.products.values() if len(one.sizes) > 1)
    intent = f"Add the {wanted.name} in size {wanted.sizes[-1]} to the basket"
    command, _ = await scouted(Executor(shop.tab), f"{server.shop_url}/", intent)
    assert isinstance(command, Stop | ReportInfeasible)
    (basket,) = server.state.baskets.values()
    assert [(line.product, line.size) for line in basket] == [(wanted.slug, wanted.sizes[-1])]


async def test_it_does_not_guess_among_several_sizes(shop: Walker, server: DemoServer) -> None:
    several = next(one for one in server.state.products.values() if len(one.sizes) > 1)
    hands = Executor(shop.tab)
    command, _ = await scouted(hands, f"{server.shop_url}/", f"Add the {several.name} to the basket")
    assert isinstance(command, ReportInfeasible)
    assert several.name in command.reason
    assert not any(server.state.baskets.values())
