"""A new operator's session in the real window, by keyboard only."""

from __future__ import annotations

import pytest

from tests.support.played_session import played

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]


@pytest.fixture(scope="module")
def day(tmp_path_factory, browser):
    """The report of three runs and an approval, in a window process."""
    told = played("operator_session", tmp_path_factory.mktemp("operator"))
    print(told["seconds to the call"], "s from the request to the call;", told["seconds"], "s in all")  # noqa: T201
    return told


def test_the_blocked_run_is_announced(day):
    assert day["need"] == "wall"
    assert day["title"].startswith("(1) ")
    assert day["call"].startswith("Needs you: How many things are in the Kitchen department?")
    assert day["seconds to the call"] < 60, "figures are printed: a loaded machine is slow"


def test_from_the_call_to_the_decision_it_is_two_keys(day):
    assert day["keys from call to decision"] <= 2


def test_from_the_takeover_to_the_draft_it_is_one_key(day):
    assert "click button 'I am human'" in day["account"]
    assert day["keys from release to draft"] == 1
    assert "I am human" in day["draft"]
    assert day["draft is new"]


def test_the_run_goes_on_from_the_true_state_to_its_answer(day):
    assert (day["outcome"], day["answer"]) == ("answered", "5")


def test_the_finished_run_is_in_review_with_its_interventions(day):
    assert day["deeds"] == ["asked", "took over", "released"]


def test_the_saved_tip_is_given_to_the_next_run_and_shown_beside_it(day):
    assert day["tip is given"]
    assert day["route"] == "url"


def test_a_policy_saved_by_keys_asks_before_anything_is_sent(day):
    assert day["preview"].startswith("Would have paused ")
    assert day["asked"] == ["approval", "sends"]
    assert day["in the basket before"] == []


def test_a_denial_with_its_reason_is_a_step_and_an_approval_later_is_done(day):
    cause, error = day["denied"]
    assert cause == "person"
    assert "not this one" in error
    assert day["in the basket after"] == []
    assert day["asked again"]
    assert day["in the basket at last"]
