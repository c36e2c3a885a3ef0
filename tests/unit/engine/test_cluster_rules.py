"""The rules of clusters: which failures are of one kind, what they are called, which verdict they suggest."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.verdicts import Flag, Label, Severity
from app.engine.detectors.cluster_rules import ClusterOfFacts, cluster_failures
from app.engine.detectors.failure_facts import (
    FailureFacts,
    control_of,
    error_of,
    telling_flag,
    without_values,
)
from app.engine.detectors.failure_words import label_of, title_of


def failure(run: str = "r1", **fields: Any) -> FailureFacts:
    base = FailureFacts(
        run=run,
        site="shop",
        outcome="answered",
        steps=9,
        detector="no-effect",
        page="/cart",
        section="/cart",
        control="button 'Save'",
        action="click button 'Save'",
    )
    return replace(base, **fields)


def of(*failures: FailureFacts) -> dict[frozenset[str], ClusterOfFacts]:
    """Clusters by their runs."""
    return {frozenset(one.run for one in found.members): found for found in cluster_failures(failures)}


# ---------------------------------------------------------------- which failures are of one kind
@pytest.mark.parametrize(
    ("rule", "other", "together"),
    [
        ("the same page and control", {}, True),
        ("the same page, another control", {"control": "button 'Add'"}, True),
        ("another page of the same section", {"page": "/p/{n}", "section": "/cart"}, True),
        ("the same control on another page", {"page": "/x", "section": "/x"}, True),
        (
            "another page and control of the site",
            {"page": "/x", "section": "/x", "control": "link 'A'"},
            True,
        ),
        ("another site", {"site": "forum", "page": "/x", "section": "/x", "control": "link 'A'"}, True),
        ("another detector", {"detector": "error-page"}, False),
    ],
)
def test_a_pair_is_together_down_to_its_detector(rule: str, other: dict[str, str], together: bool):
    found = of(failure("r1"), failure("r2", **other))
    assert (frozenset({"r1", "r2"}) in found) is together, rule


@pytest.mark.parametrize(
    ("finer", "coarser"),
    [
        ({"control": "button 'Add'"}, {"control": "button 'Drop'"}),  # control before page
        ({"page": "/a", "section": "/a"}, {"page": "/b", "section": "/b"}),  # page before site
        ({"site": "a"}, {"site": "b"}),  # site before detector
    ],
)
def test_the_finest_level_that_makes_two_of_a_kind_wins(finer: dict[str, str], coarser: dict[str, str]):
    found = of(
        failure("f1", **finer), failure("f2", **finer), failure("c1", **coarser), failure("c2", **coarser)
    )
    assert set(found) == {frozenset({"f1", "f2"}), frozenset({"c1", "c2"})}


def test_crumbs_of_a_page_are_one_cluster_and_not_many():
    crumbs = [failure(f"r{number}", control=f"button '{number}'") for number in "abcd"]
    (found,) = cluster_failures(crumbs)
    assert (found.page, found.control, len(found.members)) == ("/cart", "", 4)


@pytest.mark.parametrize("detector", ["crash", "gave-up", ""])
def test_endings_of_different_kinds_are_never_one_cluster(detector: str):
    one = failure("r1", detector=detector, control="", error="asked")
    assert len(of(one, replace(one, run="r2", error="nothing"))) == 2


def test_wrong_answers_to_tasks_of_one_template_are_alike_before_those_on_one_page():
    counts = [
        failure(
            f"c{number}",
            detector="",
            control="",
            error="numbers",
            goal="How many reviews are there",
            page=page,
        )
        for number, page in enumerate(("/cart", "/list"))
    ]
    others = [
        failure(f"o{number}", detector="", control="", error="numbers", goal=goal)
        for number, goal in enumerate(("What is the sum of all", "Which year was the best of"))
    ]
    assert set(of(*counts, *others)) == {frozenset({"c0", "c1"}), frozenset({"o0", "o1"})}


def test_runs_with_no_more_than_a_hint_go_by_how_they_ended_before_two_sites_are_mixed():
    hint = failure("h1", is_hint=True, ending="numbers")
    elsewhere = failure("h2", is_hint=True, ending="words", site="forum")
    plain = failure("e1", detector="", control="", action="", error="numbers", page="/x", section="/x")
    assert set(of(hint, elsewhere, plain)) == {frozenset({"h1", "e1"}), frozenset({"h2"})}
    near = replace(hint, run="h3", control="link 'A'")
    assert set(of(hint, near, plain)) == {frozenset({"h1", "h3"}), frozenset({"e1"})}, (
        "on one page a hint tells much"
    )


def test_facts_that_are_not_known_make_nothing_alike():
    bare = {"page": "", "section": "", "control": "", "goal": ""}
    (found,) = cluster_failures([failure("r1", **bare), failure("r2", **bare)])
    assert (
        found.key == cluster_failures([failure("r1", **bare), failure("r2", **{**bare, "page": "/x"})])[0].key
    )


def test_crashes_are_alike_by_their_error_on_any_page_and_site():
    one = failure("r1", detector="crash", control="", error="no task config was found")
    other = replace(one, run="r2", site="forum", page="", section="")
    (found,) = cluster_failures([one, other])
    assert (found.title, found.sites, found.page) == ("no task config was found", ("forum", "shop"), "")


def test_two_detectors_of_repetition_see_one_kind_of_failure():
    assert (
        len(of(failure("r1", detector="state-action-loop"), failure("r2", detector="repeated-action"))) == 1
    )


FAILURES = st.lists(
    st.builds(
        failure,
        detector=st.sampled_from(["no-effect", "crash", "", "gave-up", "repeated-action"]),
        site=st.sampled_from(["shop", "forum", ""]),
        page=st.sampled_from(["/a", "/b", ""]),
        control=st.sampled_from(["button 'A'", "link 'B'", ""]),
        error=st.sampled_from(["", "asked", "numbers"]),
    ),
    max_size=30,
)


@given(FAILURES, st.randoms(use_true_random=False))
def test_each_run_is_in_one_cluster_and_order_does_not_matter(
    failures: Sequence[FailureFacts], chance: random.Random
):
    failures = [replace(one, run=f"r{number}") for number, one in enumerate(failures)]
    found = cluster_failures(failures)
    members = [one.run for cluster in found for one in cluster.members]
    assert sorted(members) == sorted(one.run for one in failures)
    assert len({cluster.key for cluster in found}) == len(found)
    mixed = list(failures)
    chance.shuffle(mixed)
    assert cluster_failures(mixed) == found


# ---------------------------------------------------------------- the flag that explains best
def flag(detector: str, severity: Severity = Severity.WARNING, **fields: Any) -> Flag:
    given: dict[str, Any] = {"run": "r", "step": 3, "confidence": 0.6, "message": "odd", **fields}
    return Flag(detector=detector, severity=severity, **given)


HINT, WARNING, ERROR = Severity.HINT, Severity.WARNING, Severity.ERROR


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (flag("crash", ERROR), flag("state-action-loop")),  # what ended the run, before what stood in its way
        (flag("left-sites", ERROR), flag("error-page")),
        (flag("state-action-loop"), flag("step-limit", ERROR)),  # a hindrance, before that it failed
        (flag("login-wall"), flag("gave-up")),  # a hindrance, before how it ended
        (flag("gave-up"), flag("no-effect", HINT)),  # how it ended, before a hint
        (flag("no-effect", HINT), flag("far-longer", HINT)),  # a hint, before that it was long
        (flag("gave-up"), flag("covered-element")),  # as many passed runs have it
        (flag("login-wall"), flag("other-target")),
        (flag("state-action-loop", step=1), flag("action-cycle", step=9)),  # of two loops always the same one
        (
            flag("no-effect", confidence=0.9),
            flag("no-effect", confidence=0.3),
        ),  # the most certain of one detector
    ],
)
def test_the_flag_that_explains_best_names_the_kind(better: Flag, worse: Flag):
    assert telling_flag({1: worse, 2: better}) == 2
    assert telling_flag({1: better, 2: worse}) == 1


# ---------------------------------------------------------------- errors and names without their values
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("ValueError: no task 17 of 20", "ValueError: no task … of …"),
        ("cannot find 'Save' here", "cannot find … here"),
        ("GET http://10.0.0.1:80/x?y=1 failed", "GET … failed"),
        ("blob 0f3a9c771b2e is missing", "blob … is missing"),
        ("two\n  lines", "two lines"),
    ],
)
def test_values_are_taken_out_of_an_error(text: str, kept: str):
    assert without_values(text) == kept


@pytest.mark.parametrize(
    ("target", "control"),
    [
        ("button Save", "button 'Save'"),
        ("link $1,000.00 - $1,999.99( 38 item )", "link '$… - $…( … item )'"),
        ("button ", "button without a name"),
        ("", ""),
        ("link \ue608Export", "link 'Export'"),
    ],
)
def test_controls_are_named_without_numbers_and_icons(target: str, control: str):
    assert control_of(target) == control


CRASH = flag("crash", ERROR, evidence={"error": "Error: odd"})


@pytest.mark.parametrize(
    ("found", "outcome", "error", "answer", "pages", "told"),
    [
        (CRASH, "crashed", "ValueError: Could not find any task config with task_id=None.", "", 0,
         "no task config was found"),
        (CRASH, "crashed", "InternalServerError: The server had an error", "", 3, "the model's server had an error"),
        (CRASH, "crashed", "Error: Page.goto: net::ERR_CONNECTION_REFUSED at http://x/", "", 0,
         "the site could not be reached"),
        (CRASH, "crashed", "Error: odd", "", 3, "Error: odd"),
        (flag("gave-up", message="Asked the user: 'Which one?'"), "answered", "", "x", 3, "asked"),
        (flag("gave-up", message="Answered that it could not: 'I am'"), "answered", "", "x", 3, "could not"),
        (flag("gave-up", message="Gave up as infeasible"), "infeasible", "", "x", 3, "infeasible"),
        (None, "answered", "", "Done. I created the issue.", 4, "claimed"),
        (None, "answered", "", "I’ve posted a reminder", 4, "claimed"),
        (None, "answered", "", "He did not answer. I posted a reminder.", 4, "claimed"),
        (None, "answered", "", "I went on; I’ll now count the rest.", 4, "going on"),
        (None, "answered", "", "[338, 343]", 4, "numbers"),
        (None, "answered", "", "2.4%", 4, "numbers"),
        (None, "answered", "", "The Oaklander Hotel", 4, "words"),
        (None, "answered", "", "The Oaklander Hotel", 1, "one page"),
        (None, "step_limit", "", "", 4, "step_limit"),
    ],
)  # fmt: skip
def test_an_error_or_an_ending_tells_failures_apart(
    found: Flag | None, outcome: str, error: str, answer: str, pages: int, told: str
):
    assert error_of(found, outcome, error, answer, pages) == told


# ---------------------------------------------------------------- words and verdicts
@pytest.mark.parametrize(
    ("fields", "title", "label"),
    [
        ({}, "the click on 'Save' changed nothing", None),
        ({"control": "", "action": ""}, "an action changed nothing on /cart", None),
        ({"detector": "crash", "error": "no task config was found", "steps": 0}, "no task config was found",
         Label.HARNESS_FAULT),
        ({"detector": "crash", "error": "the site could not be reached"}, "the site could not be reached",
         Label.ENVIRONMENT_FAULT),
        ({"detector": "crash", "error": "Error: odd", "steps": 4}, "crashed: Error: odd", None),
        ({"detector": "crash", "error": "Error: odd", "steps": 0}, "crashed: Error: odd", Label.HARNESS_FAULT),
        ({"detector": "repeated-action", "outcome": "step_limit"},
         "repeated the click on 'Save', until the steps ran out", Label.LOOP),
        ({"detector": "back-and-forth", "action": "", "other": "/list"},
         "went back and forth between /cart and /list", Label.LOOP),
        ({"detector": "login-wall", "action": ""}, "a log-in or captcha stood in the way on /cart", Label.BLOCKED),
        ({"detector": "gave-up", "error": "could not", "action": ""},
         "answered that it could not do it on /cart", Label.GAVE_UP),
        ({"detector": "step-limit", "outcome": "step_limit", "action": ""}, "used all its steps on /cart", None),
        ({"detector": "", "error": "numbers", "action": ""}, "gave wrong numbers on /cart", Label.WRONG_ANSWER),
        ({"detector": "", "error": "claimed", "action": ""},
         "reported the task as done on /cart, but it was not", None),
    ],
)  # fmt: skip
def test_a_kind_of_failure_has_words_and_where_clear_a_verdict(
    fields: dict[str, Any], title: str, label: Label | None
):
    one = failure(**fields)
    assert title_of([one]) == title
    assert label_of(one) is label


def test_a_title_tells_no_more_than_what_all_runs_share():
    assert title_of([failure("r1"), failure("r2", control="link 'A'", action="click link 'A'")]) == (
        "an action changed nothing on /cart"
    )


def test_clusters_with_the_same_words_say_where_they_are():
    saves = [failure(f"{site}{number}", site=site) for site in ("shop", "forum") for number in (1, 2)]
    other = [replace(one, run=f"x{one.run}", page="/x", section="/x") for one in saves[:2]]
    assert {one.title for one in cluster_failures([*saves, *other])} == {
        "the click on 'Save' changed nothing on /x",
        "the click on 'Save' changed nothing on /cart of forum",
        "the click on 'Save' changed nothing on /cart of shop",
    }
