"""An expert's way in the real window, by keyboard only: from a failed run to a tip that acts, and turns suspect."""

from __future__ import annotations

import pytest

from tests.support.played_session import played

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]


@pytest.fixture(scope="module")
def told(tmp_path_factory, browser):
    """The report of the session, played in a window process."""
    return played("expert_session", tmp_path_factory.mktemp("expert"))


def test_without_the_tip_the_run_fails(told):
    assert told["without the tip"][0] != "answered"


def test_the_tip_is_written_with_a_region_and_its_steps_are_read_while_it_is_typed(told):
    assert told["region"] == 'Found by: "Reports" button beside "Help"'
    assert told["steps"] == [
        "step 1: hover over Reports",
        "step 2: press Orders by month",
        "step 3: read Orders",
    ]


def test_its_test_in_a_browser_is_green(told):
    assert told["tested"] == ["✓ Holds", ["done", "done", "done"]]


def test_it_is_found_on_another_page_with_its_why(told):
    assert "month" in told["why"]
    assert "anchor" in told["routes"], "the next run begins on a page that the region was not chosen on"


def test_the_next_run_follows_it_step_by_step_and_answers(told):
    assert told["with the tip"] == ["answered", "September"]
    assert told["credit"] == [f"step {number} of 3 done, effect seen" for number in (1, 2, 3)]
    assert told["record"].startswith("Steps of runs: 3 applied, 3 done, 3 with their effect seen")


def test_when_the_site_changes_the_tip_breaks_there_and_turns_suspect(told):
    assert told["after the change"] == ["✕ Broke at step 2 of 3", ["done", "not done", ""]]
    assert told["status"] == "suspect"


def test_when_the_site_is_as_before_it_holds_and_is_offered_again(told):
    assert told["after it is mended"] == ["✓ Holds", ["done", "done", "done"]]
    assert told["offered"]
