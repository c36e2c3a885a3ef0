"""Retrieve-Reason-Teleport: the graph is switched by its domain, one state is chosen or none, and the truth is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.engine.agent.navigator import (
    CompletedRoute,
    GlobalNavigator,
    LikelyCandidates,
    StateCandidate,
    best_candidate,
)
from app.engine.core.action_result import Cause, Effect
from app.engine.core.actions.types import Navigate
from app.engine.core.observation import NavigableSite
from app.engine.core.transition import ReplayVerdict, ReplayVerdictKind
from app.errors import SiteloreError

ORDERS = StateCandidate(
    node="n1", title="Orders", url="http://a.test/orders", headings=("All orders",), score=0.6
)
REPORTS = StateCandidate(
    node="n2", title="Reports", url="http://a.test/reports", controls=("Sales",), score=0.5
)


class Maps:
    """Two domains; going ends as it is told to."""

    def __init__(
        self, *kinds: ReplayVerdictKind, legs: int = 2, found: Sequence[StateCandidate] = (ORDERS, REPORTS)
    ) -> None:
        self.kinds, self.legs, self.found = kinds, legs, found
        self.asked: list[tuple[str, str]] = []
        self.went: list[tuple[str, str]] = []
        self.refuses, self.like = "", True

    def domains(self) -> tuple[NavigableSite, ...]:
        return (
            NavigableSite(name="shop", states=9, home="http://a.test/"),
            NavigableSite(name="Admin", states=4, home="http://b.test/"),
        )

    async def find(self, domain: str, query: str) -> LikelyCandidates:
        self.asked.append((domain, query))
        return LikelyCandidates(self.like and bool(self.found), self.found)

    async def go(self, domain: str, node: str) -> CompletedRoute:
        if self.refuses:
            raise SiteloreError(self.refuses)
        self.went.append((domain, node))
        arrivals = tuple(
            ReplayVerdict(kind=kind, why="" if kind.ok else f"it is {kind}") for kind in self.kinds
        )
        legs = tuple(f"leg {number}" for number in range(self.legs))
        return CompletedRoute(legs=legs, arrivals=arrivals, url="http://a.test/here", title="Here")


async def first(query: str, intent: str, candidates: Sequence[StateCandidate]) -> int | None:
    return 0


async def none(query: str, intent: str, candidates: Sequence[StateCandidate]) -> int | None:
    return None


async def go(maps: Maps, domain: str = "shop", query: str = "orders", chooser=first):
    return await GlobalNavigator(maps, chooser).navigate(Navigate(domain, query), "Count the orders")


async def test_an_arrival_that_was_verified_is_a_success_and_says_where():
    maps = Maps(ReplayVerdictKind.EXACT, ReplayVerdictKind.EXACT)
    done = await go(maps)
    assert maps.went == [("shop", "n1")]
    assert (done.success, done.effect) == (True, Effect.NAVIGATED)
    assert "Here" in done.output


async def test_a_page_of_the_same_kind_is_told_as_one():
    done = await go(Maps(ReplayVerdictKind.EXACT, ReplayVerdictKind.SAME_TEMPLATE))
    assert done.success
    assert "same kind" in done.output


@pytest.mark.parametrize(
    "kind", [ReplayVerdictKind.WRONG, ReplayVerdictKind.DRIFTED, ReplayVerdictKind.ERROR]
)
async def test_a_way_that_did_not_arrive_is_no_success_and_tells_where_the_agent_really_is(
    kind: ReplayVerdictKind,
):
    done = await go(Maps(ReplayVerdictKind.EXACT, kind))
    assert not done.success
    assert done.cause is Cause.NAVIGATOR
    assert "http://a.test/here" in done.why
    assert "Orders" in done.why


async def test_a_way_that_ended_early_is_no_success_though_its_last_step_was_right():
    done = await go(Maps(ReplayVerdictKind.EXACT, legs=3))
    assert not done.success
    assert "1 of 3 steps" in done.why


async def test_a_log_in_on_the_way_is_told_as_one():
    assert (await go(Maps(ReplayVerdictKind.BLOCKED))).cause is Cause.LOGIN


async def test_the_graph_is_switched_by_the_domain_in_any_spelling():
    maps = Maps(ReplayVerdictKind.EXACT, ReplayVerdictKind.EXACT)
    await go(maps, "admin")
    assert maps.asked == [("Admin", "orders")]


async def test_an_unknown_domain_is_refused_with_those_there_are():
    done = await go(Maps(), "gitlab")
    assert done.effect is Effect.REFUSED
    assert "shop, Admin" in done.alternatives[0]


@pytest.mark.parametrize(
    ("maps", "query", "chooser"), [(Maps(), " ", first), (Maps(found=()), "x", first), (Maps(), "x", none)]
)
async def test_nothing_asked_nothing_found_and_nothing_that_fits_move_nothing(maps, query, chooser):
    done = await go(maps, query=query, chooser=chooser)
    assert (done.success, done.cause) == (False, Cause.NAVIGATOR)
    assert maps.went == []


async def test_where_the_map_has_nothing_like_it_the_nearest_are_told_and_nothing_moves():
    maps = Maps()
    maps.like = False
    done = await go(maps, query="a dentist's appointment")
    assert (done.success, done.cause, maps.went) == (False, Cause.NAVIGATOR, [])
    assert done.why.startswith(
        'nothing on the map of shop is like "a dentist\'s appointment"; nearest: Orders ('
    )
    assert done.alternatives


async def test_a_way_that_may_not_be_gone_is_a_result_and_no_error():
    maps = Maps()
    maps.refuses = "the only way known passes 'Place order'"
    done = await go(maps)
    assert done.why == maps.refuses
    assert done.alternatives


# ---------------------------------------------------------------- choosing without a model
def test_the_state_that_holds_most_of_the_query_is_chosen():
    assert best_candidate("page of all orders", "", [REPORTS, ORDERS]) == 1
    assert best_candidate("sales report", "", [ORDERS, REPORTS]) == 1


def test_a_title_tells_more_than_a_button():
    button = StateCandidate(node="b", title="Home", url="http://a.test/", controls=("Orders",), score=0.9)
    assert best_candidate("orders", "", [button, ORDERS]) == 1


def test_none_is_chosen_where_no_word_is_shared():
    assert best_candidate("sonnets on teapots", "", [ORDERS, REPORTS]) is None
    assert best_candidate("", "", [ORDERS]) is None


def test_a_state_whose_text_alone_holds_the_word_can_be_chosen():
    terms = StateCandidate(node="t", title="Small print", url="http://a.test/print", matched=("returns",))
    assert best_candidate("returns", "", [REPORTS, terms]) == 1
    assert best_candidate("orders returned", "", [terms, ORDERS]) == 1


def test_the_intent_breaks_a_tie():
    one = StateCandidate(node="1", title="Orders parked", url="http://a.test/1")
    other = StateCandidate(node="2", title="Orders shipped", url="http://a.test/2")
    assert best_candidate("orders", "Which were shipped?", [one, other]) == 1
