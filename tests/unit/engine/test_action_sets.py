"""The sets of actions an agent is offered, by their rules."""

from __future__ import annotations

import re

import pytest

from app.engine.agent.answer_parser import parse_answer
from app.engine.agent.llm.prompting import prompt
from app.engine.core.actions.action_sets import BUILT_IN, DEFAULT_SET, action_help, all_calls, make_set
from app.errors import UsageError

THE_PAPERS_SIX = {"click", "fill", "stop", "take_note", "go_back", "navigate"}
"""WebNavigator, table 6: click, type, stop, note, go_back, navigate."""


def test_the_compact_set_is_the_papers_six_and_nothing_else():
    assert set(BUILT_IN["compact"].calls) == THE_PAPERS_SIX


def test_the_sets_grow_and_the_last_holds_every_call():
    compact, standard, every = (set(BUILT_IN[name].calls) for name in ("compact", "standard", "all"))
    assert compact < standard < every == {form.shown for form in all_calls()}
    assert DEFAULT_SET == "standard"


@pytest.mark.parametrize(
    "call", ["drag_and_drop", "mouse_dblclick", "dblclick", "select_text", "branch", "prune"]
)
def test_pointing_dragging_and_plans_are_not_in_the_standard_set(call: str):
    assert call not in BUILT_IN["standard"].calls


@pytest.mark.parametrize(
    "call",
    [
        "select_option",
        "tab_focus",
        "goto",
        "calculate",
        "scroll",
        "hover",
        "mouse_click",
        "report_infeasible",
    ],
)
def test_forms_tabs_addresses_and_notes_are_in_the_standard_set(call: str):
    assert call in BUILT_IN["standard"].calls


@pytest.mark.parametrize("one", BUILT_IN.values(), ids=list(BUILT_IN))
def test_every_set_says_what_it_is_for_and_has_a_version(one):
    assert one.why.endswith(".")
    assert len(one.digest) == 64


@pytest.mark.parametrize(
    ("name", "calls", "why"),
    [
        ("reader", ["click", "go_back"], "no action that ends a task"),
        ("reader", [], "no action that ends a task"),
        ("reader", ["stop", "dance"], "no action 'dance'"),
        ("", ["stop"], "can't name a set"),
        ("x" * 61, ["stop"], "can't name a set"),
        ("a\nb", ["stop"], "can't name a set"),
        ("compact", ["stop"], "is a built-in set"),
    ],
)
def test_a_set_that_breaks_a_rule_is_refused(name: str, calls: list[str], why: str):
    with pytest.raises(UsageError, match=why):
        make_set(name, calls, own=True)


def test_the_version_is_of_the_calls_whatever_their_order_and_names():
    one = make_set("a", ["stop", "click", "type"], own=True)
    other = make_set("b", ["left_click", "fill", "done", "click"], own=True)

    assert one.calls == other.calls == ("click", "fill", "stop")
    assert one.digest == other.digest
    assert one.digest != make_set("a", ["stop", "click"], own=True).digest


def test_an_action_outside_the_set_is_refused_with_the_names_of_those_inside():
    parsed = parse_answer("<action>dblclick(1)</action>", BUILT_IN["compact"].calls)

    assert parsed.action is None
    assert "dblclick is not available in this run" in parsed.why
    assert all(name in parsed.why for name in THE_PAPERS_SIX)


@pytest.mark.parametrize("one", BUILT_IN.values(), ids=list(BUILT_IN))
@pytest.mark.parametrize("call", ["navigate", "scroll", "calculate", "report_infeasible"])
def test_the_operators_prompt_names_an_action_only_where_it_is_offered(one, call: str):
    told = prompt("operator", one.calls, marker="m", most="5", actions=action_help(one.calls))
    assert (re.search(rf"\b{call}\b", told) is not None) is (call in one.calls)
