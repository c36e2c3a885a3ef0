"""A takeover becomes a tip's steps: noise is folded, typed texts are placeholders, controls keep their locators."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.agent.procedures.controls import find_control
from app.engine.agent.procedures.recorded_locators import read_locator, recorded_locator
from app.engine.agent.takeover.procedure_draft import draft_procedure, placeholder_name
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.redaction import MARK
from app.engine.core.trajectory import BY_PERSON, Step
from kb.procedure import ProcedureOrigin, ProcedureStep, StepKind, procedure_from_json, procedure_to_json
from tests.support.scout_pages import el, page

URL = "http://shop.test/list"


def did(
    kind: str, target: str = "", effect: str = "changed", state: str = "", url: str = URL, **args: object
) -> Step:
    role, _, name = target.partition(" ")
    return Step(
        index=0, url=url, title="", by=BY_PERSON, effect=effect, page_state=state,
        action=RecordedAction(kind=kind, args=dict(args)),  # type: ignore[arg-type]
        target=ActionTarget(role=role, name=name) if target else None,
    )  # fmt: skip


CLICK, FILL = did("click", "link Orders", "navigated"), did("fill", "textbox Name", value="Ada")


def lines(*steps: Step, task: str = "") -> list[str]:
    made = draft_procedure(steps, task)
    return list(made.lines) if made is not None else []


@pytest.mark.parametrize(
    ("what", "steps", "expected"),
    [
        ("a click", [CLICK], ['press "Orders" link']),
        ("scrolling", [did("scroll", delta_y=9), CLICK], ['press "Orders" link']),
        ("moving between fields", [FILL, did("keyboard_press", key="Tab")], ['fill "Name" field with "{name}"']),
        ("no effect", [did("click", "button Idle", "nothing"), CLICK], ['press "Orders" link']),
        ("a look at another page", [did("click", "link Help", "navigated"), did("go_back"), CLICK],
         ['press "Orders" link']),
        ("a click before typing", [did("click", "textbox Name"), FILL], ['fill "Name" field with "{name}"']),
        ("a click into another field", [did("click", "textbox Town"), FILL],
         ['press "Town" field', 'fill "Name" field with "{name}"']),
        ("typing it again", [FILL, did("fill", "textbox Town", value="York"), FILL],
         ['fill "Town" field with "{town}"', 'fill "Name" field with "{name}"']),
        ("typing it again after a press", [FILL, CLICK, FILL],
         ['fill "Name" field with "{name}"', 'press "Orders" link', 'fill "Name" field with "{name}"']),
        ("a menu opened and closed",
         [did("click", "button Menu", state="a"), did("click", "button Menu", state="b"),
          replace(CLICK, page_state="a")],
         ['press "Orders" link']),
        ("a menu closed by Escape",
         [did("click", "button Menu", state="a"), did("keyboard_press", state="b", key="Escape"),
          replace(CLICK, page_state="a")],
         ['press "Orders" link']),
        ("a counter pressed twice",
         [did("click", "button +", state="a"), did("click", "button +", state="a"), replace(CLICK, page_state="a")],
         ['press "+" button', 'press "+" button', 'press "Orders" link']),
        ("Enter", [FILL, did("press", "textbox Name", "navigated", key_comb="Enter")],
         ['fill "Name" field with "{name}"', 'press "Enter"']),
        ("an option", [did("select_option", "combobox Status", options=["parked"])],
         ['choose "parked" in "Status" select']),
        ("a double click", [did("dblclick", "button Row")], ['press "Row" button']),
        ("a right click", [did("click", "button Row", button="right")], []),
    ],
)  # fmt: skip
def test_what_was_done_in_steps(what: str, steps: list[Step], expected: list[str]):
    assert lines(*steps) == expected, what


def test_addresses_of_the_site_are_paths_and_secrets_make_no_step():
    opened = Step(
        index=0, url=URL, title="", action=RecordedAction(kind="goto", args={"url": "http://shop.test/a?b=c"})
    )
    away = replace(opened, action=RecordedAction(kind="goto", args={"url": "http://other.test/x"}))
    hidden = replace(opened, action=RecordedAction(kind="goto", args={"url": f"http://shop.test/{MARK}"}))
    made = draft_procedure([opened, away, hidden], "")
    assert made is not None
    assert made.lines == ("open /a?b=c", "open http://other.test/x")
    assert len(made.unread) == 1
    assert draft_procedure([did("fill", f"textbox {MARK}", value=MARK)], "") is not None
    assert MARK not in str(draft_procedure([did("fill", f"textbox {MARK}", value=MARK)], ""))


def test_options_of_the_task_and_every_typed_text_are_placeholders():
    steps = [
        did("fill", "textbox Order number", value="1007"), did("select_option", "combobox Status", options=["parked"]),
        did("fill", "textbox Note", value="hello"), did("click", "button x"),
        did("fill", "spinbutton Note", value="again"),
    ]  # fmt: skip
    made = draft_procedure(steps, "Show the parked orders")
    assert made is not None
    assert [step.value for step in made.steps] == ["{order_number}", "{status}", "{note}", "", "{note_2}"]
    assert made.origin is ProcedureOrigin.TAKEOVER
    assert procedure_from_json(procedure_to_json(made)) == made


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("Order number", "order_number"),
        ("Größe (cm)", "groe_cm"),
        ("2nd name", "value_2nd_name"),
        ("名", "value"),
    ],
)
def test_placeholders_are_named_by_their_field(field: str, name: str):
    assert placeholder_name(field) == name


def test_a_click_beside_every_control_is_told_without_coordinates_and_left_out_where_nothing_came_of_it():
    beside = did("mouse_click", x=192.6, y=113.8)
    made = draft_procedure([CLICK, *[replace(beside, effect="changed")] * 3, replace(beside, effect="")], "")
    assert made is not None
    assert (len(made.entries), made.unread) == (1, ("click where no control is",))
    made = draft_procedure([CLICK, replace(beside, effect=""), replace(beside, effect="nothing")], "")
    assert made is not None
    assert made.unread == ()


def test_what_has_no_step_is_kept_as_unread_and_nothing_is_no_procedure():
    made = draft_procedure([CLICK, did("drag_and_drop", from_x=1, to_x=2)], "")
    assert made is not None
    assert (len(made.entries), len(made.unread)) == (1, 1)
    assert draft_procedure([], "") is None
    assert draft_procedure([did("scroll")], "") is None


SAVES = page(
    el("button", "Save", test_id="save-name"),
    el("button", "Save", test_id="save-town"),
    url="http://shop.test/",
)


def step_on(number: int, **more: str) -> ProcedureStep:
    return ProcedureStep(
        kind=StepKind.PRESS, target="Save", locator=recorded_locator(SAVES.elements[number], SAVES), **more
    )


def test_a_recorded_locator_names_one_of_two_alike():
    assert find_control(ProcedureStep(kind=StepKind.PRESS, target="Save"), SAVES).ambiguous
    for number in (0, 1):
        assert find_control(step_on(number), SAVES).element is SAVES.elements[number]


def test_where_the_locator_names_none_the_name_decides_and_a_warning_always_holds():
    moved = page(el("button", "Save", css="b > button"), url="http://shop.test/other")
    assert find_control(step_on(0), moved).element is moved.elements[0]
    assert find_control(step_on(0), SAVES, never=["Save"]).element is None
    disabled = replace(SAVES, elements=(replace(SAVES.elements[0], states=("disabled",)), SAVES.elements[1]))
    assert find_control(step_on(0), disabled).element is not disabled.elements[0]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"role": 5}', '{"landmarks": "main"}', '{"nth": "x"}'])
def test_a_locator_from_elsewhere_that_is_none_is_ignored(text: str):
    assert read_locator(text) is None
    wanted = ProcedureStep(kind=StepKind.PRESS, target="Save", locator=text)
    assert find_control(wanted, page(el("button", "Save"), url="http://shop.test/")).element is not None


def test_a_locator_with_a_secret_or_too_long_is_not_stored():
    long = page(el("link", "x" * 3_000), url="http://shop.test/")
    assert recorded_locator(long.elements[0], long) == ""
    secret = page(
        el("link", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"), url="http://shop.test/"
    )
    assert "eyJ" not in recorded_locator(secret.elements[0], secret)
