"""Detectors of pages and of action errors."""

from __future__ import annotations

import pytest

from app.engine.core.actions.recorded import ActionTarget
from app.engine.core.trajectory import ErrorClass
from app.engine.core.verdicts import Severity
from app.engine.detectors.rules.errors import CoveredElement, HardErrors, UnreadableOutput
from app.engine.detectors.rules.pages import ErrorPage, LoginWall, NoEffect
from tests.support.detector_steps import action, click, failed, flags_of, goto, messages, step

COVERED = (
    "TimeoutError: Locator.click: Timeout 500ms exceeded.\nCall log:\n  - attempting click action\n"
    '  -   <div data-x="1" class="modal-inner">…</div> from <aside role="dialog" class="modals">…</aside> '
    "subtree intercepts pointer events\n  - retrying click action"
)


def unchanged(count: int, **fields: object) -> list:
    return [step(index, state="same", **fields) for index in range(count)]


def test_a_click_without_effect_is_flagged_with_its_count():
    told = messages(NoEffect, unchanged(4, **click("Save")))

    assert told == [
        "The click on button 'Save' changed nothing",
        "The click on button 'Save' changed nothing (2nd time)",
        "The click on button 'Save' changed nothing (3rd time)",
    ]


def test_an_element_keeps_its_count_when_ids_change():
    steps = [
        step(0, state="a", **click("Save")),
        step(1, state="a", **click("Save", bid="8")),
        step(2, state="a"),
    ]

    assert messages(NoEffect, steps)[1] == "The click on button 'Save' changed nothing (2nd time)"


def test_the_third_action_without_effect_is_a_warning():
    severities = [flag.severity for flag in flags_of(NoEffect, unchanged(4, **click("Save")))]

    assert severities == [Severity.HINT, Severity.HINT, Severity.WARNING]


def test_the_last_action_is_judged_by_the_page_after_it():
    [flag] = flags_of(NoEffect, unchanged(1, **click("Save")), final=step(1, state="same"))

    assert flag.step == 0


def test_typing_the_same_value_changed_nothing():
    typed = {
        "action": action("fill", bid="1", value="x"),
        "target": ActionTarget(role="textbox", name="Name"),
    }

    assert messages(NoEffect, unchanged(2, **typed)) == ["The typing into textbox 'Name' changed nothing"]


@pytest.mark.parametrize(
    "fields",
    [
        {"action": action("noop", wait_ms=500)},
        {"action": action("take_note", text="x")},
        {"action": action("send_msg_to_user", text="x")},
        {"action": action("scroll", delta_x=0, delta_y=9)},
        {"action": None},
        {**click("Save"), "executed": False},
        failed("ValueError: no such element", **click("Save")),
        click("Name", role="textbox"),
    ],
    ids=["wait", "note", "answer", "scroll", "unreadable", "never ran", "hard error", "cursor"],
)
def test_actions_of_which_no_change_is_expected(fields: dict):
    assert not flags_of(NoEffect, unchanged(3, **fields))


def test_a_changed_page_an_unknown_page_and_another_address_are_an_effect():
    assert not flags_of(NoEffect, [step(0, **click("Save")), step(1)])
    assert not flags_of(NoEffect, [step(0, state="", **click("Save")), step(1, state="")])
    assert not flags_of(NoEffect, [step(0, "/a", state="x", **click("Save")), step(1, "/b", state="x")])


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ({"title": "404 Not Found"}, "Led to an error page, '404 Not Found' at '/x'"),
        ({"title": "Page not found · GitLab"}, "Led to an error page, 'Page not found · GitLab' at '/x'"),
        ({"title": "Error 503"}, "Led to an error page, 'Error 503' at '/x'"),
        (
            {"url": "chrome-error://chromewebdata/"},
            "Led to a page that the browser could not load",
        ),
        ({"notices": ("Whoops, our bad...",)}, "Led to a page with the error 'Whoops, our bad...' at '/x'"),
        ({"title": "", "tree": "", "screenshot": "white"}, "Led to an empty page at '/x'"),
    ],
)
def test_error_pages_blame_the_action_before(page: dict, told: str):
    [flag] = flags_of(ErrorPage, [step(0, **click("More", role="link"))], final=step(1, "/x", **page))

    assert flag.step == 0
    assert flag.message == f"{told}: click link 'More'"


def test_a_run_that_begins_on_an_error_page_says_so():
    assert messages(ErrorPage, [step(0, "/x", title="502 Bad Gateway")]) == [
        "The run began on an error page, '502 Bad Gateway' at '/x'"
    ]


def test_an_error_page_is_flagged_once_and_again_on_return():
    pages = [
        step(0),
        step(1, "/x", title="404"),
        step(2, "/x", title="404"),
        step(3),
        step(4, "/x", title="404"),
    ]

    assert [flag.evidence["times"] for flag in flags_of(ErrorPage, pages)] == [1, 2]


@pytest.mark.parametrize(
    "page",
    [
        {"title": "Search results for: '404'"},
        {"title": "500 results"},
        {"title": "Room 500 by A. Author"},
        {"title": "", "tree": "t"},
        {"title": "", "tree": "", "url": "about:blank"},
        {"title": "Shop", "tree": ""},
        {"notices": ("We couldn't find any records.",)},
    ],
)
def test_ordinary_pages_are_no_error_pages(page: dict):
    assert not flags_of(ErrorPage, [step(0), step(1, **page)])


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ({"url": "http://x.test/users/sign_in"}, "A login form blocks the page at '/users/sign_in'"),
        ({"url": "http://x.test/customer/account/login/"}, "A login form blocks the page"),
        ({"title": "Sign in · GitLab"}, "A login form blocks the page"),
        ({"notices": ("You need to sign in before continuing.",)}, "A log-in prompt blocks the page"),
        ({"title": "Just a moment..."}, "A captcha blocks the page"),
        ({"notices": ("Please verify you are human",)}, "A captcha blocks the page"),
    ],
)
def test_login_walls(page: dict, told: str):
    [message] = messages(LoginWall, [step(0), step(1, **page), step(2, **page)])

    assert message.startswith(told)


@pytest.mark.parametrize(
    "page",
    [
        {"url": "http://x.test/f/login_problems/12"},
        {"url": "http://x.test/wiki/Login_page.html", "title": "How to write a login page"},
        {"notices": ("You can't push or pull repositories using SSH until you add an SSH key",)},
    ],
)
def test_pages_about_logging_in_are_no_wall(page: dict):
    assert not flags_of(LoginWall, [step(0, **page)])


def test_the_third_hard_error_is_flagged_with_the_action_and_the_error():
    [flag] = flags_of(HardErrors, [step(i, **failed("Error: gone\nlog", **click(f"B{i}"))) for i in range(4)])

    assert flag.step == 2
    assert flag.message == "3 actions failed so far, the last one: click button 'B2' ('Error: gone')"


def test_soft_errors_and_two_hard_ones_are_not_flagged():
    soft = [step(i, error="TimeoutError", error_class=ErrorClass.SOFT, **click("A")) for i in range(9)]

    assert not flags_of(HardErrors, [*soft, *(step(9 + i, **failed("x")) for i in range(2))])


def test_output_without_a_readable_action_is_flagged():
    empty = {
        "action": None,
        "error": "ValueError: Received an empty action.",
        "error_class": ErrorClass.HARNESS,
    }

    assert messages(UnreadableOutput, [step(0, **empty), step(1), step(2, **empty)]) == [
        "The agent's output could not be read: 'ValueError: Received an empty action.'",
        "The agent's output could not be read (2nd time): 'ValueError: Received an empty action.'",
    ]
    assert not flags_of(UnreadableOutput, [step(0), step(1, **failed("x"))])


def test_an_unclosed_action_is_unreadable_though_a_call_can_be_guessed():
    assert flags_of(UnreadableOutput, [step(0, **click("A"), error_class=ErrorClass.HARNESS, executed=False)])


def test_a_covered_element_names_its_cover():
    covered = step(0, **failed(COVERED, **click("Save"), notices=("Newsletter: subscribe now",)))

    assert messages(CoveredElement, [covered]) == [
        'Could not click button \'Save\': <aside role="dialog" class="modals"> covers it; '
        "open on the page: 'Newsletter: subscribe now'"
    ]


def test_an_element_that_was_clicked_in_the_end_was_not_covered():
    assert not flags_of(
        CoveredElement, [step(0, error=COVERED, error_class=ErrorClass.SOFT, **click("Save"))]
    )
    assert not flags_of(CoveredElement, [step(0, **failed("TimeoutError: Timeout 500ms", **click("Save")))])


def test_a_run_without_errors_is_silent_everywhere():
    steps = [step(i, f"/{i}", **goto(f"http://x.test/{i}")) for i in range(5)]

    for detector in (NoEffect, ErrorPage, LoginWall, HardErrors, UnreadableOutput, CoveredElement):
        assert not flags_of(detector, steps)
