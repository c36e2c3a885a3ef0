"""The sentences on what scheduled work found: only what is new, named, and short."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.api.graph_api import ChangedState, ExploreReport, GraphDiff, UpdateReport, VerifyGraphReport
from app.engine.api.tip_api import TipTest, TipTests
from app.engine.services.schedule_changes import (
    tip_test_changes,
    tip_test_failure,
    update_changes,
    verification_changes,
    verification_failure,
)

TIPS = {"a": "Press “Save” twice", "b": "Prices are " + "very " * 30 + "low"}


def verified(**fields: Any) -> VerifyGraphReport:
    return VerifyGraphReport(
        **{"site": "shop", "states": 9, "transitions": 9, "arrivals": {"exact": 9}, **fields}
    )


def updated(diff: GraphDiff, **fields: Any) -> UpdateReport:
    explored = ExploreReport(
        site="shop", exploration=2, states=9, new=0, transitions=9, templates=1, interaction_only=0, tried=0,
        skipped={}, frontier=0, seconds=1, ended="done",
    )  # fmt: skip
    return UpdateReport(verify=verified(**fields), explore=explored, diff=diff)


def test_an_update_that_found_nothing_says_nothing():
    assert update_changes(updated(GraphDiff(same=9)), TIPS) == ()


def test_an_update_says_what_vanished_came_changed_and_is_suspect():
    diff = GraphDiff(
        removed=(("1", "Stock", "/stock"), ("2", "Offers", "/offers")),
        added=tuple((str(n), "Shelf", f"/shelf/{n}") for n in range(5)),
        changed=(ChangedState(id="9", title="", url="/home", gone=("link A",), come=()),),
        removed_transitions=("Home: link A -> Stock",),
    )
    assert update_changes(updated(diff, suspect_tips=("a",)), TIPS) == (
        "2 states vanished: “Stock”, “Offers”",
        "5 new states: “Shelf (/shelf/0)”, “Shelf (/shelf/1)”, “Shelf (/shelf/2)” and 2 more",
        "1 state changed: “/home”",
        "1 transition is gone: “Home: link A -> Stock”",
        "1 tip is suspect: “Press “Save” twice”",
    )


def test_a_verification_names_states_by_their_titles():
    report = verified(gone_states=("1", "unknown-id"), gone_transitions=("t1", "t2"), suspect_tips=("b",))
    gone, transitions, suspect = verification_changes(report, {"1": "Stock"}, TIPS)
    assert gone == "2 states vanished: “Stock”, “unknown-”"
    assert transitions == "2 transitions are gone"
    assert suspect.startswith("1 tip is suspect: “Prices are very")
    assert len(suspect) < 90


@pytest.mark.parametrize(
    ("arrivals", "says"),
    [
        ({"exact": 9}, ""),
        ({"exact": 9, "error": 4}, ""),
        ({"exact": 4, "error": 2, "blocked": 2}, "4 of 8 pages of shop could not be opened"),
        ({"error": 1}, "1 of 1 pages of shop could not be opened"),
        ({}, ""),
    ],
)
def test_a_verification_that_reached_little_is_no_good_news(arrivals: dict[str, int], says: str):
    assert verification_failure(verified(arrivals=arrivals)) == says


def changes_of(outcome: str, before: str, **fields: Any) -> tuple[str, ...]:
    test = TipTest(tip="a", revision=1, outcome=outcome, **fields)
    return tip_test_changes(TipTests(site="shop", tests=(test,)), {"a": before}, TIPS)


@pytest.mark.parametrize(
    ("outcome", "before", "fields", "says"),
    [
        ("holds", "holds", {}, ()),
        ("holds", "", {}, ()),
        ("broke", "broke", {"step": 2}, ()),
        ("broke", "holds", {"step": 2}, ("1 tip broke: “Press “Save” twice at step 2”",)),
        ("holds", "broke", {"offer": "it holds again"}, ("1 tip holds again: “Press “Save” twice”",)),
        ("holds", "holds", {"offer": "it holds again"}, ()),
        ("not reached", "holds", {}, ("1 tip's page was not reached: “Press “Save” twice”",)),
        ("not reached", "not reached", {}, ()),
    ],
)
def test_tips_that_fare_as_before_are_no_change(
    outcome: str, before: str, fields: dict[str, Any], says: tuple[str, ...]
):
    assert changes_of(outcome, before, **fields) == says


def test_tests_that_reached_no_page_are_a_failure():
    lost = TipTest(tip="a", revision=1, outcome="not reached", message="no connection")
    assert (
        tip_test_failure(TipTests(site="shop", tests=(lost,)))
        == "no tip of shop could be tested: no connection"
    )
    held = TipTest(tip="b", revision=1, outcome="holds")
    assert tip_test_failure(TipTests(site="shop", tests=(lost, held))) == ""
    assert tip_test_failure(TipTests(site="shop")) == ""
