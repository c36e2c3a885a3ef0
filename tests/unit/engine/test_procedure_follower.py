"""A tip's steps are followed in order, skipped only where the page has them done, and given up with a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.agent.procedures.follower import ProcedureFollower
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.types import Click, Goto, Select, Stop, TypeText
from app.engine.core.observation import Observation, ProcedureState, RetrievedTip, TipCredit
from app.engine.core.page_state import PageCapture
from app.engine.core.trajectory import Exposure, Step, steps_done
from kb.compiler import compile_text
from tests.support.scout_pages import el, page

HOST = "http://place.test"
SEEN = ActionResult(success=True, effect=Effect.CHANGED)
ANSWERED = ActionResult(success=True, effect=Effect.NOTHING)
HOME = page(el("link", "Reports", href=f"{HOST}/r"), el("link", "Sales", href=f"{HOST}/s"), url=f"{HOST}/")
REPORTS = page(el("link", "Orders", href=f"{HOST}/o"), url=f"{HOST}/r")


def tip(do: str, when: str = "", why: str = "", name: str = "t1") -> RetrievedTip:
    return RetrievedTip(
        tip=name, text=f"{when} {do}", when=when, do=do, procedure=compile_text(do, when, "", why)
    )


def seen(where: PageCapture, *tips: RetrievedTip, intent: str = "Show the orders report") -> Observation:
    return Observation(step=0, steps_left=9, intent=intent, start_url=HOST, page=where, tips=tips)


def one(follower: ProcedureFollower, observation: Observation) -> ProcedureState:
    (state,) = follower.look(observation)
    return state


def test_steps_are_proposed_in_their_order_and_count_when_their_effect_is_seen():
    follower, way = ProcedureFollower("Show the orders report"), tip("Go to Reports > Orders.")
    first = one(follower, seen(HOME, way))
    assert (first.number, first.steps, first.action) == (1, 2, Click(0, label="Reports"))
    assert follower.credit(first.action, SEEN)["t1"].step == 1
    second = one(follower, seen(REPORTS, way))
    assert (second.number, second.action) == (2, Click(0, label="Orders"))
    assert follower.credit(second.action, SEEN)["t1"].effect
    assert one(follower, seen(page(url=f"{HOST}/o"), way)).over


def test_a_tip_that_was_begun_is_under_way_with_its_next_step_before_the_next_page_has_tips():
    follower, way = ProcedureFollower("Show the orders report"), tip("Go to Reports > Orders.")
    first = one(follower, seen(HOME, way))
    assert follower.under_way() == ()
    follower.credit(first.action, SEEN)
    (state,) = follower.under_way()
    assert (state.tip, state.number, state.applies) == ("t1", 2, True)
    assert "Orders" in state.line
    follower.credit(one(follower, seen(REPORTS, way)).action, SEEN)
    assert follower.under_way() == ()


def test_what_is_to_be_read_is_credited_to_the_action_at_the_page_that_shows_it():
    follower, way = (
        ProcedureFollower("Show the orders report"),
        tip('Press "Reports", then read the "Orders" link.'),
    )
    first = one(follower, seen(HOME, way))
    assert follower.credit(first.action, SEEN) == {"t1": TipCredit(step=1, effect=True)}
    assert one(follower, seen(REPORTS, way)).over
    assert follower.credit(Stop("12"), ANSWERED) == {"t1": TipCredit(step=2, effect=True)}
    one(follower, seen(REPORTS, way))
    assert follower.credit(Stop("12"), ANSWERED) == {}, "once"


def test_a_page_that_shows_what_is_to_be_read_before_any_step_was_done_earns_nothing():
    follower, way = ProcedureFollower("Show the orders report"), tip('Read the "Orders" link.')
    one(follower, seen(REPORTS, way))
    assert follower.credit(Stop("12"), ANSWERED) == {}


def test_an_action_of_another_kind_is_credited_to_no_step():
    follower, way = ProcedureFollower("Show the orders report"), tip("Go to Reports > Orders.")
    one(follower, seen(HOME, way))
    credit = follower.credit(Click(1, label="Sales"), SEEN)["t1"]
    assert (credit.step, credit.effect) == (0, False)
    assert one(follower, seen(HOME, way)).number == 1


@pytest.mark.parametrize(
    "result",
    [
        ActionResult(success=True, effect=Effect.NOTHING),
        ActionResult(success=True, effect=Effect.UNRELATED),
        ActionResult(success=True, effect=Effect.NAVIGATED, status=404),
        refused(Cause.COVERED, "a veil lies over it"),
    ],
)
def test_a_step_without_a_seen_effect_is_not_done_and_after_two_tries_the_tip_is_given_up(
    result: ActionResult,
):
    follower, way = ProcedureFollower("Show the orders report"), tip("Go to Reports > Orders.")
    for _ in range(2):
        state = one(follower, seen(HOME, way))
        assert state.action is not None
        assert not follower.credit(state.action, result)["t1"].effect
    state = one(follower, seen(HOME, way))
    assert state.action is None
    assert state.why.startswith("step 1 of 2 failed")


def test_a_menu_that_is_open_already_is_not_opened_again():
    follower, way = ProcedureFollower("Show the orders report"), tip("Go to Reports > Orders.")
    assert one(follower, seen(REPORTS, way)).action == Click(0, label="Orders")


def test_an_address_that_is_open_is_passed_over():
    follower, way = ProcedureFollower("Show the orders report"), tip('Open /r and press "Orders".')
    assert one(follower, seen(REPORTS, way)).action == Click(0, label="Orders")
    assert one(ProcedureFollower("Show orders"), seen(HOME, way)).action == Goto(f"{HOST}/r")


def test_a_filled_field_is_passed_over_and_a_choice_of_an_option_is_made():
    form = page(
        el("textbox", "Customer", value="Ann"),
        el("combobox", "Status", options=("Open", "Closed"), value="Open"),
    )
    way = tip('Type the customer\'s name into "Customer" and set Status to Closed.')
    task = 'Close the orders of customer "Ann"'
    assert one(ProcedureFollower(task), seen(form, way, intent=task)).action == Select(1, ("Closed",))
    empty = page(el("textbox", "Customer"), el("combobox", "Status", options=("Open", "Closed")))
    assert one(ProcedureFollower(task), seen(empty, way, intent=task)).action == TypeText(0, "Ann")


def test_a_value_the_task_does_not_give_is_asked_for_and_not_made_up():
    state = one(ProcedureFollower("Show the orders"), seen(HOME, tip("Open /orders/NUMBER")))
    assert state.action is None
    assert "number" in state.why


def test_of_a_choice_the_way_that_can_be_gone_here_is_taken():
    way = tip('Either press "Vanished", or press "Sales".')
    assert one(ProcedureFollower("Show the orders report"), seen(HOME, way, intent="sales")).action == Click(
        1, label="Sales"
    )


def test_what_the_tip_warns_of_is_never_proposed():
    way = tip('Go to Reports > Orders. Never press "Sales".', why='"Reports" of the footer is broken.')
    states = [one(ProcedureFollower("x sales report"), seen(HOME, way, intent="sales report"))]
    assert all(state.action != Click(1, label="Sales") for state in states)


@pytest.mark.parametrize(
    ("when", "intent", "title", "holds"),
    [
        ("you look for refunds", "How many refunds are open?", "", True),
        ("you look for refunds", "How many lamps are there?", "", False),
        ("you look for refunds", "How many lamps are there?", "Refunds", True),
        ("", "Show the report of reports", "", True),
        ("", "Who is Ann?", "", False),
    ],
)
def test_a_tip_applies_where_its_condition_holds(when: str, intent: str, title: str, holds: bool):
    where = replace(HOME, title=title)
    state = one(ProcedureFollower(intent), seen(where, tip("Go to Reports > Orders.", when), intent=intent))
    assert state.applies is holds
    assert (state.action is not None) is holds


def test_a_resumed_run_goes_on_after_the_last_step_whose_effect_was_seen():
    way = tip("Go to Reports > Orders.")
    steps = [
        Step(index=0, url=HOST, title="", exposures=(Exposure(tip="t1", step=1, effect=True),)),
        Step(index=1, url=HOST, title="", exposures=(Exposure(tip="t1", step=2, effect=False),)),
    ]
    follower = ProcedureFollower("Show the orders report", steps_done(steps))
    assert one(follower, seen(REPORTS, way)).number == 2


def test_a_tip_that_cannot_begin_here_waits_and_does_not_fail():
    follower, way = ProcedureFollower("Show the orders report"), tip('Press "Orders", then press "Export".')
    for _ in range(4):
        assert one(follower, seen(HOME, way)).action is None
    assert one(follower, seen(REPORTS, way)).action == Click(0, label="Orders")


def test_hints_of_a_person_are_no_procedures():
    person = replace(tip("Press Orders"), kind="person")
    assert ProcedureFollower("x").look(seen(REPORTS, person)) == ()
