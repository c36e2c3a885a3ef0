"""A model's answer becomes typed actions, or a sentence that helps to correct it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.engine.agent.answer_parser import parse_answer
from app.engine.core.actions.action_sets import action_help, actions_in
from app.engine.core.actions.recorded import format_recorded, to_recorded
from app.engine.core.actions.specs import FORMS, SPECS, Action, ActionSet
from app.engine.core.actions.types import (
    AnswerDialog,
    AskHuman,
    Branch,
    Calculate,
    Click,
    ClickAt,
    ClickMark,
    CloseTab,
    Drag,
    GoBack,
    GoForward,
    Goto,
    Hover,
    Navigate,
    NewTab,
    Press,
    Prune,
    ReportInfeasible,
    Scroll,
    Select,
    SelectText,
    SetChecked,
    SetSlider,
    Stop,
    SwitchTab,
    TakeNote,
    TypeKeys,
    TypeMark,
    TypeText,
    Upload,
    Wait,
)
from app.engine.core.page_state import Element, PageCapture
from tests.support.laws import examples

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine must not fail a law."""

ALL = actions_in(*ActionSet)
COMPACT = actions_in(ActionSet.COMPACT)

PAGE = PageCapture(
    url="http://shop.test/",
    elements=(
        Element(index=1, role="link", name="Orders"),
        Element(index=2, role="textbox", name="Search"),
        Element(index=3, role="button", name="Save order"),
    ),
)

texts = st.text(min_size=0, max_size=40)
numbers = st.integers(0, 9999)
reals = st.floats(-5000, 5000, allow_nan=False).map(lambda x: round(x, 3))
points = st.tuples(reals, reals)
addresses = st.from_regex(r"\Ahttp://[a-z]{1,8}\.test/[a-z0-9/?=&]{0,12}\Z")
actions = st.one_of(
    st.builds(Click, numbers, button=st.sampled_from(["left", "middle", "right"]), double=st.booleans()),
    st.builds(ClickAt, points, button=st.sampled_from(["left", "right"]), double=st.booleans()),
    st.builds(ClickMark, numbers, texts),
    st.builds(TypeMark, numbers, texts, st.booleans()),
    st.builds(TypeText, numbers, texts, st.booleans()),
    st.builds(TypeKeys, texts),
    st.builds(Press, texts, st.none() | numbers),
    st.builds(Hover, numbers),
    st.builds(Select, numbers, st.lists(texts, min_size=1, max_size=3).map(tuple)),
    st.builds(SetChecked, numbers, st.booleans()),
    st.builds(Scroll, reals, reals, st.none() | numbers),
    st.builds(Drag, numbers | points, numbers | points),
    st.builds(SetSlider, numbers, reals),
    st.builds(SelectText, numbers, numbers, st.integers(-1, 99)),
    st.builds(Upload, numbers, texts),
    st.builds(AnswerDialog, st.booleans(), texts),
    st.builds(Goto, addresses),
    st.builds(NewTab, st.just("") | addresses),
    st.builds(SwitchTab, numbers),
    st.builds(Navigate, texts, texts),
    st.builds(Wait, st.integers(0, 10).map(float)),
    st.builds(TakeNote, texts),
    st.builds(Calculate, texts),
    st.builds(Branch, texts, texts),
    st.builds(Prune, texts, texts),
    st.builds(Stop, texts),
    st.builds(ReportInfeasible, texts),
    st.builds(AskHuman, texts),
    st.sampled_from([GoBack(), GoForward(), CloseTab()]),
)


@settings(deadline=None, max_examples=examples(400))
@given(actions)
def test_every_action_is_parsed_from_its_stored_call(action: Action):
    parsed = parse_answer(f"<action>{format_recorded(to_recorded(action))}</action>", ALL)

    assert parsed.action == action, parsed.why


@untimed
@given(st.text(max_size=300))
def test_no_text_at_all_makes_it_raise(text: str):
    parsed = parse_answer(text, ALL, PAGE, most=3)

    assert bool(parsed.actions) != bool(parsed.why)


@untimed
@given(st.lists(st.sampled_from(
    ["<action>", "</action>", "<think>", "</think>", "click", "(", ")", "[", "]", '"', "'", "12", "```", "\n", "{",
     '"action"', ":", "}", ",", "\\", "stop", "<fact key='a'>", "</fact>"]), max_size=30))  # fmt: skip
def test_no_arrangement_of_the_grammar_s_own_pieces_makes_it_raise(pieces: list[str]):
    parsed = parse_answer("".join(pieces), ALL, PAGE)

    assert bool(parsed.actions) != bool(parsed.why)


def test_every_action_has_a_usage_that_reads_as_itself():
    for form in FORMS.values():
        assert type(parse_answer(f"<action>{form.usage}</action>", ALL).action) is form.makes, form.usage
    assert {form.makes for form in FORMS.values()} == set(SPECS)
    assert {form.shown for form in FORMS.values()} == ALL


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ('<think>The link.</think><action>click("1")</action>', Click(1)),
        ('<think>The link.</think><action>\n```click("1")```\n</action>', Click(1)),
        ('<think>cut</think><action>click("1")', Click(1)),
        ('<think>cut</think>\n<action>click("1")</acti', Click(1)),
        ("In short: ```click [1]```", Click(1)),
        ("REASON: the link.\nACTION: click [1]", Click(1)),
        ("**Action:** `click(1)`", Click(1)),
        ("click(1)", Click(1)),
        ("I open it.\n\nclick('1')", Click(1)),
        ("type [2] [red [large] shoes] [0]", TypeText(2, "red [large] shoes")),
        ("type [2] [red shoes]", TypeText(2, "red shoes", enter=True)),
        ("type [2] [a] [b] [press_enter_after=1]", TypeText(2, "a] [b", enter=True)),
        ("stop [a ] b]", Stop("a ] b")),
        ("stop []", Stop("")),
        ("optimal_navigate [I want orders] [shop] [the table of orders]", Navigate("shop", "the table of orders")),
        ("scroll [down]", Scroll(600.0)),
        ("scroll('up', 3)", Scroll(-600.0, 0.0, 3)),
        ("scroll(0, 400)", Scroll(400.0)),
        ("branch [2] [find the number first]", Branch("2", "find the number first")),
        ("go back", GoBack()),
        ("go_back", GoBack()),
        ("press [Control+a]", None),
        ("tab_focus [1]", SwitchTab(1)),
        ("wait(2)", Wait(2.0)),
        ("noop(2000)", Wait(2.0)),
        ("noop()", Wait(1.0)),
        ("wait(seconds=99)", Wait(10.0)),
        ('{"action": "click", "element": 1}', Click(1)),
        ('{"thought": "x", "action": {"name": "click", "args": {"bid": "1"}}}', Click(1)),
        ('```json\n{"action": "fill(\\"2\\", \\"red\\")"}\n```', TypeText(2, "red")),
        ('{"name": "fill", "arguments": "{\\"element\\": 2, \\"text\\": \\"red\\"}"}', TypeText(2, "red")),
        ('[{"click": {"element": 1}}]', Click(1)),
        ('{"actions": [{"fill": {"bid": 2, "value": "1.50"}}]}', TypeText(2, "1.50")),
        ('Here it is:\n{"action": "go_back"}', GoBack()),
        ("<action>fill(2, 1.50)</action>", TypeText(2, "1.50")),
        ('<action>fill("2", "two\nlines")</action>', TypeText(2, "two\nlines")),
        (r'<action>fill("2", "C:\dir \"x\" \u00e9")</action>', TypeText(2, 'C:\\dir "x" é')),
        ("<action>select_option('3', ['a', 'b'])</action>", Select(3, ("a", "b"))),
        ("<action>select_option(3, 'a', 'b')</action>", Select(3, ("a", "b"))),
        ("<action>click_mark('V3', 'Sort')</action>", ClickMark(3, "Sort")),
        ("<ACTION>Click(bid=[1])</ACTION>", None),
        ("<action>fill('2', '</think> <b>')</action>", TypeText(2, "</think> <b>")),
        ("<think>maybe <action>go_forward()</action> no</think><action>go_back()</action>", GoBack()),
    ],
)  # fmt: skip
def test_the_ways_models_write(answer: str, action: Action | None):
    parsed = parse_answer(answer, ALL, PAGE)

    assert parsed.action == (action or parsed.action), parsed.why
    assert (parsed.action is not None) == (not parsed.why)


def test_the_parts_around_the_action_are_kept_apart():
    parsed = parse_answer(
        "<think>It is the second.</think><expect>the list of orders opens</expect>"
        '<fact key="order number">000000187</fact><action>click("1")</action>',
        ALL,
    )

    assert parsed.reason == "It is the second."
    assert parsed.expect == "the list of orders opens"
    assert parsed.facts == (("order number", "000000187"),)
    assert parsed.call == 'click("1")'


def test_an_answer_that_lacks_only_its_closing_tag_is_read():
    whole = parse_answer('<action>click("1")</action>', ALL)
    assert parse_answer('<action>click("1")', ALL) == whole
    assert whole.action is not None


def test_several_actions_are_read_up_to_the_number_allowed():
    answer = '<action>\nfill("2", "a")\nfill("3", "b"); click("1")\n</action>'

    assert parse_answer(answer, ALL, PAGE, most=5).actions == (TypeText(2, "a"), TypeText(3, "b"), Click(1))
    assert parse_answer(answer, ALL, PAGE).actions == (TypeText(2, "a"),)
    assert parse_answer(answer, ALL, PAGE).dropped == 2


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("", "empty"),
        ("I will look at the orders first.", "<action>click("),
        ("<action></action>", "<action>click("),
        ("<action>clik('1')</action>", 'closest: click("12")'),
        ("<action>goto('http://x.test/')</action>", "not available"),
        ("<action>click('99')</action>", "1 link 'Orders'"),
        ("<action>click('99', label='Save')</action>", "3 button 'Save order'"),
        ("<action>click('Save order')</action>", "3 button 'Save order'"),
        ("<action>fill('2')</action>", "needs value"),
        ("<action>fill('2', 'a', colour='red')</action>", "no argument 'colour'"),
        ("<action>fill('2', 'it's')</action>", "backslash"),
        ("<action>fill('2', 'cut of", "not closed"),
        ("<action>click(1", "missing before the end of the answer"),
        ("<action>click(__import__('os'))</action>", "quotes"),
        ("<action>fill(2, hello)</action>", "quotes"),
        ("<action>click [1] because of it</action>", "only the action"),
        ("<action>please click('1')</action>", "'('"),
        ('<action>{"action": "click"</action>', "JSON"),
        ("First I thought click [1]\nclick(1)\nor rather\nclick(2)\nI am not sure.", "several actions"),
        ("<action>click('1', modifiers=['Shift'])</action>", "modifier"),
        ("<action>click('-1')</action>", "number of an element"),
        ("<action>" + "(" * 60_000 + "</action>", "characters long"),
        ('{"answer": 42, "why": 3}', "no action"),
    ],
)
def test_what_can_not_be_read_is_told_so_that_it_can_be_mended(answer: str, told: str):
    parsed = parse_answer(answer, COMPACT, PAGE)

    assert parsed.actions == ()
    assert told in parsed.why
    assert len(parsed.why) < 900


def test_nothing_of_an_answer_is_ever_run(tmp_path):
    target = tmp_path / "made"
    for code in (f"open({str(target)!r}, 'w')", f"click(open({str(target)!r}, 'w'))"):
        for text in (f"<action>{code}</action>", f'{{"action": "{code}"}}', f"```{code}```", code):
            assert parse_answer(text, ALL).action is None
    assert not target.exists()


@pytest.mark.parametrize(
    "flood",
    [
        "x" * 10_000_000,
        "<" * 10_000_000,
        "<think>" * 1_400_000,
        "<fact key='a'>" * 700_000,
        "[" * 10_000_000,
        '{"a":' * 2_000_000,
        "click [" * 1_400_000,
        "```" * 3_000_000,
        "<action>" * 1_200_000,
        '<action>fill("1", "' + "\\" * 10_000_000,
        "click(1)\n" * 1_000_000,
    ],
    ids=lambda flood: flood[:8],
)
@pytest.mark.timeout(60)  # about a second each; reading that looks back for every sign would take hours
def test_ten_megabytes_of_any_one_piece_are_read_in_one_pass(flood: str):
    parsed = parse_answer(flood, ALL, PAGE)

    assert len(parsed.why) < 2000
    assert len(parsed.call) < 2000
    assert bool(parsed.why) != bool(parsed.actions)


def test_the_action_behind_ten_megabytes_of_thinking_is_found():
    parsed = parse_answer(
        "<think>" + "so it is. " * 1_000_000 + '</think><action>click("1")</action>', ALL, PAGE
    )

    assert parsed.action == Click(1)
    assert len(parsed.reason) < 50_000


def test_a_model_is_told_only_of_what_it_may_use():
    told = action_help(COMPACT)

    assert [line.partition("(")[0] for line in told.splitlines()] == [
        "click", "fill", "stop", "take_note", "go_back", "navigate",
    ]  # fmt: skip
