"""Model, effort and price by role: the fallbacks, one row each, and what a cost of unknown parts says."""

from __future__ import annotations

import pytest

from app.engine.agent.model.client import open_model
from app.engine.agent.model.limits import Meter, Price, known_price
from app.engine.agent.model.role_choices import role_choices, with_main_model
from app.engine.core.cost import Cost, amount, cost_of
from app.engine.core.model_api import AgentRole, ModelUsage
from app.errors import UsageError
from app.settings import RoleSettings, Settings

MAIN = {"model_name": "main", "model_effort": "high", "model_price": "2/8"}
TWO = Price(tokens_in=2, tokens_out=8)
ONE = Price(tokens_in=1, tokens_out=4)


def role(model: str = "", effort: str = "", price: str = "") -> RoleSettings:
    return RoleSettings(model=model, effort=effort, price=price)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("roles", "asked", "model", "effort", "price"),
    [
        pytest.param({}, "planner", "main", "high", TWO, id="nothing set is the main model"),
        pytest.param({}, "judge", "main", "high", TWO, id="a fallback of a fallback is the main model"),
        pytest.param({"planner": role("big")}, "planner", "big", "", None, id="no effort or price from elsewhere"),
        pytest.param({"planner": role("big")}, "operator", "main", "high", TWO, id="other roles stay"),
        pytest.param({"planner": role("big", "low", "1/4")}, "planner", "big", "low", ONE, id="all three"),
        pytest.param({"planner": role("", "low")}, "planner", "main", "low", TWO, id="only an effort"),
        pytest.param({"planner": role("", "", "1/4")}, "planner", "main", "high", ONE, id="only a price"),
        pytest.param({"planner": role("", "", "1/4")}, "operator", "main", "high", TWO, id="and it is its own"),
        pytest.param({"summarizer": role("s", "low", "1/4")}, "alignment", "s", "low", ONE, id="alignment: summarizer"),
        pytest.param({"alignment": role("a")}, "summarizer", "main", "high", TWO, id="not the other way round"),
        pytest.param({"vision": role("eye", "", "1/4")}, "judge", "eye", "", ONE, id="judge: vision"),
        pytest.param(
            {"vision": role("eye"), "judge": role("", "low")}, "judge", "eye", "low", None, id="judge's own effort"
        ),
        pytest.param({"larger vision": role("wide")}, "vision", "main", "high", TWO, id="the larger is separate"),
        pytest.param({"planner": role("main")}, "planner", "main", "", TWO, id="a price belongs to the model"),
        pytest.param(
            {"planner": role("x", "", "1/4"), "drafter": role("x")}, "drafter", "x", "", ONE, id="in whatever role"
        ),
        pytest.param(
            {"drafter": role("gpt-4o")}, "drafter", "gpt-4o", "", known_price("gpt-4o"), id="the listed price"
        ),
        pytest.param({"from the future": role("new")}, "planner", "main", "high", TWO, id="unknown roles are left"),
    ],
)  # fmt: skip
def test_an_empty_field_of_a_role_falls_back(roles, asked, model, effort, price):
    choice = role_choices(Settings(**MAIN, roles=roles))[AgentRole(asked)]
    assert (choice.model, choice.effort, choice.price) == (model, effort, price)


def test_a_price_of_nothing_is_known():
    choice = role_choices(Settings(model_name="local", model_price="0/0"))[AgentRole.PLANNER]
    assert choice.price == Price(tokens_in=0, tokens_out=0)


@pytest.mark.parametrize(
    ("roles", "named"),
    [
        ({"vision": role("flash")}, r"flash \(vision, judge\)"),
        ({"vision": role("flash"), "judge": role("strict")}, r"flash \(vision\) and strict \(judge\)"),
    ],
)
def test_a_budget_of_money_names_the_roles_without_a_price(roles, named):
    chosen = Settings(**MAIN, model_url="http://127.0.0.1:1/v1", run_money=1.0, roles=roles)
    with pytest.raises(UsageError, match=named):
        open_model(chosen, "")


@pytest.mark.parametrize(
    ("cost", "words", "short"),
    [
        (Cost(), "0.00 US dollars", "$0.00"),
        (Cost(known=0.12), "0.12 US dollars", "$0.12"),
        (Cost(known=0.0123), "0.0123 US dollars", "$0.0123"),
        (Cost(known=0.00001), "under 0.0001 US dollars", "under $0.0001"),
        (Cost(unpriced=(("flash", 2),)), "cost unknown: price of flash unknown", "cost unknown"),
        (
            Cost(known=0.12, unpriced=(("flash", 2),)),
            "at least 0.12 US dollars, price of flash unknown",
            "at least $0.12",
        ),
        (Cost(unpriced=(("", 1),)), "cost unknown: price of the model unknown", "cost unknown"),
    ],
)
def test_a_cost_says_which_part_is_not_known(cost: Cost, words: str, short: str):
    assert (cost.words, cost.short) == (words, short)


def test_costs_are_summed_and_what_came_since_is_their_difference():
    earlier = Cost(known=0.5, unpriced=(("flash", 2),))
    later = earlier + Cost(known=0.25) + Cost(unpriced=(("flash", 1), ("other", 1)))
    assert later == Cost(known=0.75, unpriced=(("flash", 3), ("other", 1)))
    assert later - earlier == Cost(known=0.25, unpriced=(("flash", 1), ("other", 1)))
    assert earlier - earlier == Cost()
    assert later.total is None
    assert amount(None) == "unknown"


def test_the_cost_of_a_role_is_unknown_once_an_unpriced_model_has_answered():
    meter = Meter()
    meter.count(AgentRole.PLANNER, calls=1, tokens=(1_000_000, 0), price=TWO, model="main")
    meter.count(AgentRole.VISION, calls=1, tokens=(10, 1), price=None, model="flash")
    meter.count(AgentRole.VISION, retries=1, seconds=1.0)
    used = meter.used()
    assert (used[AgentRole.PLANNER].money, used[AgentRole.VISION].money) == (2.0, None)
    assert meter.total().money is None
    assert cost_of(used.values()) == Cost(known=2.0, unpriced=(("flash", 1),))


def test_a_failed_request_without_a_token_costs_nothing_whatever_the_price():
    meter = Meter()
    meter.count(AgentRole.PLANNER, calls=1, tokens=(0, 0), price=None)
    assert cost_of(meter.used().values()) == Cost()
    assert ModelUsage().money == 0.0


@pytest.mark.parametrize(
    ("roles", "asked", "model", "effort", "price"),
    [
        pytest.param({}, "planner", "other", "", None, id="its effort and its price are not the main model's"),
        pytest.param({"planner": role("big", "low", "1/4")}, "planner", "big", "low", ONE, id="an own model stays"),
        pytest.param({"planner": role("main")}, "planner", "main", "", TWO, id="with the price it had as main model"),
        pytest.param({"planner": role("", "low", "1/4")}, "planner", "other", "", None, id="roles of main, too"),
        pytest.param(
            {"summarizer": role("s"), "alignment": role("", "low", "1/4")}, "alignment", "s", "low", ONE,
            id="the role it falls back to stays, too",
        ),
        pytest.param({"planner": role("other", "", "1/4")}, "operator", "other", "", ONE, id="a price of the model"),
    ],
)  # fmt: skip
def test_a_runs_own_model_takes_the_place_of_the_main_one(roles, asked, model, effort, price):
    chosen = with_main_model(Settings(**MAIN, roles=roles), "other")
    choice = role_choices(chosen)[AgentRole(asked)]
    assert (choice.model, choice.effort, choice.price) == (model, effort, price)


@pytest.mark.parametrize("name", ["", "main"])
def test_without_another_model_the_settings_stay(name):
    chosen = Settings(**MAIN, roles={"planner": role("", "low")})
    assert with_main_model(chosen, name) is chosen
