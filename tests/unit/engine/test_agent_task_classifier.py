"""The verb classifier adds scores as algorithm 7 does, and the circuit breaker ends what leads nowhere."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.engine.agent.llm.orchestrator import (
    Orchestrator,
    PatternFamily,
    TaskKind,
    classify_task,
    families_of,
)
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.types import Navigate
from app.engine.core.observation import HistoryEntry, Observation
from app.engine.core.page_state import PageCapture

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine must not fail a law."""


@pytest.mark.parametrize(
    ("intent", "kind", "confidence"),
    [
        ("Delete the review of the red shirt", TaskKind.BROWSER, 0.8),
        ("Book a hotel room for 3 nights from 12 May", TaskKind.BROWSER, 1.0),
        ("Go to the orders page", TaskKind.BROWSER, 0.85),
        ("Take a screenshot", TaskKind.BROWSER, 0.8),
        ("What is the average price of all products?", TaskKind.SEARCH, 1.0),
        ("Who is the author of this book?", TaskKind.SEARCH, 0.6),
        ("What does the logo look like, and who is on it?", TaskKind.BROWSER, 0.8),
        ("Hm.", TaskKind.BROWSER, 0.0),
        ("", TaskKind.BROWSER, 0.0),
    ],
)
def test_scores_of_families_are_added(intent: str, kind: TaskKind, confidence: float):
    found = classify_task(intent)

    assert found.kind is kind
    assert found.confidence == pytest.approx(confidence)


def test_a_date_and_a_plural_weigh_only_together_with_another_family():
    assert classify_task("tomorrow").scores[TaskKind.BROWSER] == 0
    assert classify_task("the seats for tomorrow").scores[TaskKind.BROWSER] == 0.9
    assert classify_task("the total").scores[TaskKind.SEARCH] == 0
    assert classify_task("the total of these orders").scores[TaskKind.SEARCH] == 0.7


def test_a_noun_that_sounds_like_a_deed_is_none():
    for intent in (
        "the status of my last order",
        "the newest post in this forum",
        "the mean value of the ratings",
    ):
        assert PatternFamily.ACTION not in families_of(intent), intent


def test_quoted_words_say_nothing_of_the_task():
    assert PatternFamily.ACTION not in families_of('How many reviews say "please delete this"?')


def test_known_sites_are_brands():
    assert classify_task("the boots at Oscar", brands=frozenset({"oscar"})).scores[TaskKind.BROWSER] == 0.7
    assert PatternFamily.BRAND not in families_of("the boots at Oscarsborg", frozenset({"oscar"}))


@untimed
@given(st.text(max_size=300))
def test_the_same_words_always_give_the_same_route(intent: str):
    found = classify_task(intent)

    assert found == classify_task(intent)
    assert 0 <= found.confidence <= 1


def navigated(action: Navigate, success: bool, number: int) -> HistoryEntry:
    result = ActionResult(success=success, effect=Effect.NAVIGATED if success else Effect.NOTHING)
    return HistoryEntry(
        step=number, url="http://shop.test/", title="", state="", action=action, result=result, words=""
    )


def objection(action: Navigate, *before: tuple[Navigate, bool]) -> str:
    seen = Observation(
        step=9,
        steps_left=9,
        intent="",
        start_url="http://shop.test/",
        page=PageCapture(url="http://shop.test/"),
        history=tuple(navigated(*one, number) for number, one in enumerate(before)),
    )
    return Orchestrator().objection(action, seen)


def test_what_gave_something_is_not_begun_again():
    known = (Navigate("shop", "the table of  Orders"), True)

    assert "gave a result" in objection(Navigate("Shop", "the table of orders"), known)
    assert objection(Navigate("admin", "the table of orders"), known) == ""


def test_what_failed_may_be_tried_twice():
    failed = (Navigate("shop", "x"), False)

    assert objection(Navigate("shop", "x"), failed) == ""
    assert "tried 2 times" in objection(Navigate("shop", "x"), failed, failed)
