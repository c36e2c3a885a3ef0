"""Detectors of endings and length: each fires on its smallest case and not on the nearest other one."""

from __future__ import annotations

import pytest

from app.engine.core.verdicts import Severity
from app.engine.detectors.base import RunEnding
from app.engine.detectors.rules.endings import Crash, GaveUp, LeftSites, NoAnswer, StepLimit
from app.engine.detectors.rules.length import TooLong
from tests.support.detector_steps import SHOP, action, flags_of, goto, messages, step

ANSWERED = RunEnding(answer="It costs 12 dollars.")


def run_of(count: int) -> list:
    return [step(index, f"/{index}") for index in range(count)]


def test_the_step_limit_is_flagged_at_the_last_step_of_a_live_run():
    [flag] = flags_of(StepLimit, run_of(3), step_limit=3)

    assert (flag.step, flag.severity, flag.message) == (
        2,
        Severity.ERROR,
        "Used all 3 steps without an answer",
    )


def test_the_step_limit_is_flagged_by_the_ending_when_it_was_unknown():
    assert messages(StepLimit, run_of(4), ending=RunEnding(at_step_limit=True)) == [
        "Used all 4 steps without an answer"
    ]


def test_the_step_limit_is_flagged_once():
    assert len(flags_of(StepLimit, run_of(3), step_limit=3, ending=RunEnding(at_step_limit=True))) == 1


def test_an_answer_at_the_last_allowed_step_is_no_step_limit():
    steps = [*run_of(2), step(2, action=action("send_msg_to_user", text="12"))]

    assert not flags_of(StepLimit, steps, step_limit=3, ending=ANSWERED)
    assert not flags_of(StepLimit, run_of(2), step_limit=3)


def test_a_crash_says_after_how_many_steps_and_why():
    wrapped = "Exception uncaught by agent or environment in task x.1.\nInternalServerError:\nThe server had an error"

    assert messages(Crash, run_of(2), ending=RunEnding(crash="ValueError: no\nmore")) == [
        "The run crashed after 2 steps: 'ValueError: no'"
    ]
    assert messages(Crash, [], ending=RunEnding(crash=wrapped)) == [
        "The run crashed before the first step: 'InternalServerError: The server had an error'"
    ]
    assert not flags_of(Crash, run_of(2), ending=ANSWERED)


def test_leaving_the_allowed_sites_names_the_action_and_the_place():
    steps = [step(0, **goto("https://github.com/x")), step(1, url="https://github.com/x")]

    [flag] = flags_of(LeftSites, steps, allowed_hosts=frozenset({"shop.test:7770"}))

    assert flag.step == 0
    assert flag.message == "Left the allowed sites to https://github.com/x with: go to https://github.com/x"


def test_leaving_is_flagged_by_the_ending_when_the_allowed_hosts_are_unknown():
    steps = [step(0), step(1, **goto("https://github.com/x"))]
    gone = step(2, url="chrome-error://chromewebdata/")

    [flag] = flags_of(LeftSites, steps, final=gone, ending=RunEnding(left_sites=True))

    assert (flag.step, flag.message) == (1, "Left the allowed sites with: go to https://github.com/x")


@pytest.mark.parametrize("url", [f"{SHOP}/cart", "http://SHOP.test:7770/", "about:blank", "http://[broken"])
def test_pages_of_the_task_and_blank_pages_do_not_leave_it(url: str):
    assert not flags_of(
        LeftSites, [step(0, url=url)], allowed_hosts=frozenset({"shop.test:7770"}), ending=ANSWERED
    )


def test_an_allowed_host_without_a_port_allows_every_port():
    assert not flags_of(LeftSites, [step(0)], allowed_hosts=frozenset({"shop.test"}))


@pytest.mark.parametrize("url", ["http://shop.test/", "http://WWW.shop.test/", "http://admin.shop.test/x"])
def test_an_allowed_navigation_is_not_flagged_as_leaving(url: str):
    assert not flags_of(
        LeftSites, [step(0, url=url)], allowed_hosts=frozenset({"www.shop.test"}), ending=ANSWERED
    )


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (RunEnding(infeasible="no rights"), "Gave up as infeasible: 'no rights'"),
        (RunEnding(infeasible=""), "Gave up as infeasible"),
        (
            RunEnding(answer="I looked. I couldn’t find the order. Sorry."),
            "Answered that it could not: 'I couldn't find the order. Sorry.'",
        ),
        (RunEnding(answer="N/A"), "Answered that there is nothing: 'N/A'"),
        (
            RunEnding(answer="There are two. Do you want me to delete both? Thanks."),
            "Asked the user: 'Do you want me to delete both?'",
        ),
    ],
)
def test_giving_up_quotes_what_was_said(ending: RunEnding, told: str):
    assert messages(GaveUp, run_of(2), ending=ending) == [told]


@pytest.mark.parametrize("answer", ["12", "None of them is cheaper than 12 dollars", "Nathan", "", None])
def test_an_answer_is_not_giving_up(answer: str | None):
    assert not flags_of(GaveUp, run_of(2), ending=RunEnding(answer=answer))


def test_an_empty_answer_and_none_at_all_are_flagged():
    assert messages(NoAnswer, run_of(2), ending=RunEnding(answer=" ")) == ["The answer is empty"]
    assert messages(NoAnswer, run_of(2), ending=RunEnding()) == ["Ended without an answer"]


@pytest.mark.parametrize(
    "ending",
    [
        ANSWERED,
        RunEnding(infeasible="no"),
        RunEnding(crash="x"),
        RunEnding(at_step_limit=True),
        RunEnding(left_sites=True),
    ],
)
def test_no_answer_stays_silent_where_another_ending_says_why(ending: RunEnding):
    assert not flags_of(NoAnswer, run_of(2), ending=ending)


def test_a_long_run_is_flagged_at_twice_and_four_times_the_usual_length():
    flags = flags_of(TooLong, run_of(20), usual_steps=4.5, site="gitlab")

    assert [flag.step for flag in flags] == [9, 18]
    assert flags[0].message == "Took 10 steps so far; runs on gitlab usually take 4.5"
    assert flags[0].confidence < flags[1].confidence


@pytest.mark.parametrize(("count", "usual"), [(8, 4.0), (6, 1.0), (50, None), (50, 0.0)])
def test_a_run_of_usual_length_is_not_long(count: int, usual: float | None):
    assert not flags_of(TooLong, run_of(count), usual_steps=usual)
