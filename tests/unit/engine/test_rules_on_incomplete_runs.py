"""Rules on runs that lack something: each row is a rule, what is absent, and that it is silent then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.engine.api.page_diff import step_view
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step
from app.engine.detectors.base import step_action_key
from app.engine.detectors.cause_material import CauseMaterial
from app.engine.detectors.runner import detect_run
from app.engine.detectors.suspect import find_suspect

SAVE = ActionTarget(role="button", name="Save", bid="7")
CLICK = RecordedAction(kind="click", args={"bid": "7"})
TREE = "RootWebArea 'Shop'\n\t[7] button 'Save'\n\t[8] link 'Home'"
TREES = {"tree": TREE.encode(), "controls": b"[12] link 'Answer'", "words": b"StaticText 'Save'"}
FULL = Step(
    index=0,
    url="https://shop.example/edit",
    title="Shop",
    reason="I click Save.",
    raw_output="click('7')",
    action=CLICK,
    target=SAVE,
    tree="tree",
    html="html",
    screenshot="picture",
    state="same",
)
RUN = Run(id="r", source="other", site="shop", intent="Change the name", outcome=Outcome.UNKNOWN)


def flags(steps: Sequence[Step], **about: object) -> set[str]:
    run = replace(RUN, **about)  # type: ignore[arg-type]
    numbered = [replace(step, index=at) for at, step in enumerate(steps)]
    return {flag.detector for flag in detect_run(run, numbered, None, TREES.__getitem__)}


def at(*urls: str, **fields: object) -> list[Step]:
    return [replace(FULL, url=url, **fields) for url in urls]  # type: ignore[arg-type]


A, B, C, D, E = (f"https://shop.example/{name}" for name in "abcde")
ANSWERED = {"outcome": Outcome.ANSWERED, "answer": "Done, I have changed the name."}
OPEN_HOME = {"action": RecordedAction(kind="goto", args={"url": A}), "target": None}
NAMED = {"outcome": Outcome.ANSWERED, "answer": "The cheapest are Zyx Wuv by Quo Rst."}


@pytest.mark.parametrize(
    ("rule", "complete", "about", "lacking"),
    [
        ("state-action-loop", [FULL] * 3, {}, {"state": ""}),
        ("no-effect", [FULL] * 3, {}, {"state": ""}),
        ("no-effect", [FULL] * 3, {}, {"action": RecordedAction(kind="browser_snapshot")}),
        ("repeated-action", at(A, B, C, D, E), {}, {"target": None, "tree": ""}),
        ("repeated-action", [FULL] * 3, {}, {"target": None, "tree": "", "url": "", "screenshot": ""}),
        (
            "repeated-action",
            [FULL] * 3,
            {},
            {"target": None, "tree": "", "action": RecordedAction(kind="click")},
        ),
        ("repeated-action", [FULL] * 3, {}, {"action": None}),
        (
            "repeated-action",
            [replace(FULL, action=RecordedAction(kind="pyautogui", args={"code": "x"}), target=None)] * 3,
            {},
            {"action": RecordedAction(kind="browser_snapshot")},
        ),
        (
            "action-cycle",
            [FULL, replace(FULL, action=RecordedAction(kind="click", args={"bid": "8"}))] * 2,
            {},
            {"target": None, "tree": "", "url": "", "screenshot": ""},
        ),
        ("back-and-forth", at(A, B, A, B), {}, {"url": ""}),
        ("url-revisits", at(A, B, A, B, A, B, A, B), {}, {"url": ""}),
        (
            "error-page",
            [FULL, replace(FULL, url=A, title="", tree="", html="")],
            {},
            {"tree": "", "html": ""},
        ),
        (  # only some pages were recorded: of the last no more than its address
            "error-page",
            [FULL, replace(FULL, url=A, title="", tree="", html="")],
            {},
            {"screenshot": ""},
        ),
        ("error-page", at(A, title="404 Not Found"), {}, {"title": ""}),
        ("login-wall", at("https://shop.example/login"), {}, {"url": ""}),
        ("unreadable-output", [replace(FULL, action=None)], {}, {"raw_output": ""}),
        (
            "hard-errors",
            at(A, B, C, error="no", error_class=ErrorClass.HARD),
            {},
            {"error_class": ErrorClass.NONE},
        ),
        ("covered-element", at(A, cause="covered"), {}, {"cause": ""}),
        (
            "target-not-on-page",
            [replace(FULL, action=RecordedAction(kind="click", args={"bid": "9"}), target=None)] * 2,
            {},
            {"tree": ""},
        ),
        (
            "other-target",
            [replace(FULL, reason='I click "Home".')],
            {},
            {"tree": ""},
        ),
        ("other-target", [replace(FULL, reason='I click "Home".')], {}, {"reason": ""}),
        ("unproven-claim", at(A, **OPEN_HOME), ANSWERED, {"action": None}),
        ("unproven-claim", at(A, **OPEN_HOME), ANSWERED, {"action": RecordedAction(kind="pyautogui")}),
        ("untouched-constraint", [FULL], {"intent": 'Find "Zyxel 9".', **ANSWERED}, {"tree": ""}),
        ("answer-not-on-pages", [FULL], NAMED, {"tree": ""}),
        ("answer-not-on-pages", [FULL], NAMED, {"tree": "controls"}),
        (
            "no-answer",
            [replace(FULL, action=RecordedAction(kind="send_msg_to_user", args={"text": ""}))],
            {"outcome": Outcome.ANSWERED},
            {"action": RecordedAction(kind="send_msg_to_user")},
        ),
    ],
)
def test_a_rule_whose_evidence_is_absent_is_silent(
    rule: str, complete: list[Step], about: dict[str, object], lacking: dict[str, object]
) -> None:
    assert rule in flags(complete, **about)
    assert rule not in flags([replace(step, **lacking) for step in complete], **about)  # type: ignore[arg-type]


def test_pages_that_nobody_recorded_may_hold_what_the_others_do_not() -> None:
    wanted: dict[str, object] = {"intent": 'Find "Zyxel 9".', **ANSWERED}
    assert "untouched-constraint" not in flags([FULL, replace(FULL, tree="")], **wanted)
    assert "answer-not-on-pages" not in flags([FULL, replace(FULL, tree="")], **NAMED)


@pytest.mark.parametrize(
    ("step", "known"),
    [
        (FULL, True),
        (replace(FULL, target=None), True),
        (replace(FULL, target=None, tree=""), True),
        (replace(FULL, target=None, tree="", url=""), True),
        (replace(FULL, target=None, tree="", url="", screenshot=""), False),
        (replace(FULL, target=None, tree="", action=RecordedAction(kind="fill", args={"value": "x"})), False),
        (replace(FULL, tree="", target=None, action=RecordedAction(kind="mouse_click", args={"x": 1})), True),
        (replace(FULL, tree="", target=None, url="", action=RecordedAction(kind="pyautogui")), True),
        (replace(FULL, action=None), False),
    ],
)
def test_an_action_is_the_same_as_another_only_where_its_element_is_known(step: Step, known: bool) -> None:
    assert (step_action_key(step) is not None) is known


def test_a_run_of_steps_with_nothing_has_no_flag_and_opens_at_its_last_step() -> None:
    bare = [Step(index=index, url="", title="") for index in range(12)]
    assert detect_run(RUN, bare, None) == []
    assert find_suspect(RUN, bare, []).step == 11
    assert detect_run(replace(RUN, site="", intent=""), [], None) == []


@pytest.mark.parametrize("url", ["http://[::1", "http://ex℀mple.com/", "http://a:b@c:d/", "\ud800"])
def test_addresses_that_cannot_be_read_stop_no_rule(url: str) -> None:
    steps = [replace(FULL, index=index, url=url) for index in range(3)]
    assert flags(steps)
    assert step_view("r", steps[0], steps[1], TREES.__getitem__).index == 0


@pytest.mark.parametrize(
    ("step", "sent"),
    [
        (replace(FULL, target=ActionTarget(role="link", name="Home")), False),
        (FULL, True),
        (replace(FULL, target=None, tree=""), True),
        (replace(FULL, action=RecordedAction(kind="pyautogui")), True),
        (replace(FULL, action=None), False),
    ],
)
def test_what_was_done_in_another_programs_words_may_have_sent_something(step: Step, sent: bool) -> None:
    assert CauseMaterial(run=RUN, steps=[step]).sent_something is sent


@pytest.mark.parametrize(("pictures", "same"), [(("a", "a", "a"), True), (("a", "b", "c"), False)])
def test_words_read_in_pictures_that_differ_are_not_the_same_page(
    pictures: Sequence[str], same: bool
) -> None:
    found = flags([replace(FULL, tree="words", html="", screenshot=name) for name in pictures])
    assert ("no-effect" in found) is same
    assert ("state-action-loop" in found) is same
