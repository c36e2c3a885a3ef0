"""Parts of a prompt about a page: bounded, what is in view first, no invisible characters."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.engine.agent.llm.prompt_parts import fit_tree, render_page, render_result, render_tips
from app.engine.agent.llm.prompting import Fence, prompt, truncate, visible
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.observation import ProcedureState, RetrievedTip
from app.engine.core.page_state import Challenge, Element, PageCapture

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine must not fail a law."""

FENCE = Fence("f00d")


def long_page(count: int = 400, scrolled: int = 0) -> PageCapture:
    elements = tuple(
        Element(index=n, role="link", name=f"Item {n}", rect=(10.0, 30.0 * n - scrolled, 100.0, 20.0))
        for n in range(count)
    )
    rows = [f"\t\tlistitem ''\n\t\t\t[{one.index}] link '{one.name}'" for one in elements]
    return PageCapture(
        url="",
        tree="\n".join(["RootWebArea 'Shop'", "\tmain ''", *rows]),
        elements=elements,
        viewport=(1280, 720),
    )


def test_a_short_tree_is_shown_whole_but_for_empty_names():
    page = PageCapture(
        url="", tree="RootWebArea 'Shop'\n\tmain ''\n\t\t[0] link ''\n\t\t[1] textbox '', focused"
    )

    assert fit_tree(page, 1000) == "RootWebArea 'Shop'\n\tmain\n\t\t[0] link\n\t\t[1] textbox '', focused"


def test_of_a_long_tree_what_is_in_view_is_kept_with_what_it_hangs_from():
    shown = fit_tree(long_page(scrolled=6000), 2000)

    assert len(shown) < 2300
    assert [f"[{n}] link" in shown for n in (199, 200, 223, 224, 399)] == [False, True, True, False, False]
    assert shown.startswith("RootWebArea 'Shop'\n\tmain\n\t\tlistitem")
    assert shown.endswith("lines are left out)")


@untimed
@given(st.integers(0, 12_000), st.integers(60, 12_000))
def test_a_shortened_tree_keeps_length_and_order_and_names_every_gap(scrolled: int, most: int):
    page = long_page(200, scrolled)
    lines = fit_tree(page, most).split("\n")
    gaps = [int(number) for line in lines for number in re.findall(r"^\((\d+) lines are left out\)$", line)]
    kept = [line for line in lines if not line.startswith("(")]

    assert sum(len(line) + 1 for line in kept) <= most + 1
    assert len(kept) + sum(gaps) == page.tree.count("\n") + 1
    whole = page.tree.replace(" ''\n", "\n").split("\n")
    places = iter(whole)
    assert all(any(line == other for other in places) for line in kept)


def test_one_line_that_never_ends_is_cut():
    page = PageCapture(url="", tree="RootWebArea 'x'\n\tStaticText '" + "a" * 100_000 + "'")

    assert len(fit_tree(page, 5000)) < 600


def test_a_page_without_a_tree_is_rendered_by_its_text_or_as_empty():
    assert "some words" in render_page(PageCapture(url="", text="some words"), FENCE)
    assert "nothing can be read" in render_page(PageCapture(url=""), FENCE)


def test_walls_and_drawn_pages_are_named():
    page = PageCapture(url="", text="x", challenge=Challenge.CAPTCHA, canvas_only=True)

    assert "a captcha stands before this page" in render_page(page, FENCE)
    assert "most of this page is drawn" in render_page(page, FENCE)


def test_results_name_effect_cause_and_alternatives():
    done = ActionResult(success=True, effect=Effect.NAVIGATED, output="arrived at\n'Orders'")
    failed = refused(Cause.DISABLED, "the button is disabled", 'check("3") first', tried=("cdp",))

    assert render_result(done, FENCE) == "navigated: arrived at 'Orders'"
    assert render_result(failed, FENCE) == (
        'failed (disabled): the button is disabled\n  instead: check("3") first'
    )
    assert render_result(ActionResult(success=True, effect=Effect.CHANGED), FENCE) == "changed"


def test_tips_are_numbered_with_their_parts():
    tips = (
        RetrievedTip(tip="a", text="Sizes come first.", before="choose a size", when="on product pages"),
        RetrievedTip(tip="b", text="x"),
    )

    assert render_tips(tips, FENCE).splitlines()[1:] == [
        "1. Sizes come first. | when: on product pages | before that: choose a size", "2. x",
    ]  # fmt: skip
    assert render_tips((), FENCE) == ""


@untimed
@given(st.text())
def test_the_marker_is_only_in_the_two_lines_of_a_fence(text: str):
    lines = FENCE.around("page", text + " f00d " + text).split("\n")

    assert lines[0] == "<<page f00d>>"
    assert lines[-1] == "<<end of page f00d>>"
    assert "f00d" not in "\n".join(lines[1:-1])


@untimed
@given(st.text())
def test_a_line_is_one_line_of_bounded_length_and_opens_no_fence(text: str):
    line = FENCE.line(text, 50)

    assert len(line) <= 50
    assert line.splitlines() in ([], [line])
    assert "<<" not in line


def test_invisible_characters_are_removed_and_joiners_kept():
    assert visible("a\u202eb\u200bc\U000e0041d\x00e\nf") == "abcde\nf"
    assert visible("می\u200cخواهم 👩\u200d🚀 né") == "می\u200cخواهم 👩\u200d🚀 né"


def test_what_is_cut_says_so():
    assert truncate("a\n" * 100, 50, "the page").endswith("more characters of the page are left out]")
    assert truncate("short", 50) == "short"


def test_a_prompt_with_an_open_place_is_an_error_and_values_hold_no_places():
    with pytest.raises(KeyError):
        prompt("selector")
    assert "{{actions}}" in prompt("operator", marker="{{actions}}", actions="x", most="1")


def test_the_steps_of_a_tip_that_applies_are_shown_with_the_next_one_marked():
    tip = RetrievedTip(tip="t", text="Orders are at Reports > Orders.")
    lines = ('press "Reports"', 'press "Orders"')
    here = ProcedureState(tip="t", lines=lines, steps=2, number=2, line='press "Orders"', applies=True)
    shown = render_tips((tip,), FENCE, (here,))
    assert '   - press "Reports"' in shown
    assert shown.endswith('   next, step 2 of 2: press "Orders"')
    assert len(render_tips((tip,), FENCE, (replace(here, applies=False),)).splitlines()) == 2
    assert "steps are done" in render_tips((tip,), FENCE, (replace(here, over=True),))
    failed = replace(here, line="", why="step 2 of 2 failed: it is covered")
    assert "step 2 of 2 failed: it is covered" in render_tips((tip,), FENCE, (failed,))
