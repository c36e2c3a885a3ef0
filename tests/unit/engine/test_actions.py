"""Every action can be stored in a step and read back."""

from __future__ import annotations

import pytest

from app.engine.core.actions.action_sets import actions_in, calls_of
from app.engine.core.actions.recorded import (
    RecordedAction,
    format_recorded,
    from_recorded,
    to_recorded,
)
from app.engine.core.actions.specs import SPECS, ActionSet
from app.engine.core.actions.types import (
    Action,
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
    Look,
    Navigate,
    NewTab,
    Press,
    Prune,
    ReadNotes,
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
    elements_of,
)
from app.engine.imports.step_records import read_call

EVERY: tuple[Action, ...] = (
    Click(3), Click(3, "right"), Click(3, double=True), ClickAt((1.5, 2.0)), ClickAt((1.0, 2.0), double=True),
    Look(), ClickMark(4, "Save"), TypeMark(4, "x", enter=True),
    TypeText(5, "a 'quoted' \"text\""), TypeText(5, "", enter=True),
    TypeKeys("abc"), Press("Enter"), Press("Control+A", 6), Hover(7), Select(8, ("One", "Two")), SetChecked(9),
    SetChecked(9, on=False),
    Scroll(300.0), Scroll(-1.0, 2.0, 10), Drag(1, 2), Drag((1.0, 2.0), 3), Drag((0.0, 0.0), (9.0, 9.0)),
    SetSlider(11, 42.5), SelectText(12), SelectText(12, 1, 5), Upload(13, "a.txt"), AnswerDialog(),
    AnswerDialog(accept=False, text="no"), GoBack(), GoForward(), Goto("http://shop.example/a?b=c"), NewTab(),
    NewTab("http://shop.example/"), SwitchTab(2), CloseTab(), Navigate("shop", "orders [all]"), Wait(0.5),
    TakeNote("n"), ReadNotes(), ReadNotes("3-7"),
    Calculate("1 + 2"), Branch("", "find it"), Prune("p1", "dead"), Stop("42"), Stop(""),
    ReportInfeasible("no such page"),
    AskHuman("which one?"),
)  # fmt: skip


@pytest.mark.parametrize("action", EVERY, ids=repr)
def test_an_action_is_stored_and_read_back(action: Action):
    assert from_recorded(to_recorded(action)) == action


@pytest.mark.parametrize("action", EVERY, ids=repr)
def test_its_call_is_printed_and_parsed(action: Action):
    recorded = to_recorded(action)
    assert read_call(format_recorded(recorded)) == recorded


def test_every_action_has_a_row_and_every_call_belongs_to_exactly_one_group():
    kinds = set(SPECS)
    assert {type(action) for action in EVERY} == kinds
    offered = [call for group in ActionSet for call in actions_in(group)]
    assert set(offered) == calls_of(*kinds)
    assert len(offered) == len(set(offered))


def test_a_foreign_or_damaged_call_is_no_action():
    assert from_recorded(RecordedAction(kind="dance")) is None
    assert from_recorded(RecordedAction(kind="click", args={"bid": "a12"})) is None
    assert from_recorded(RecordedAction(kind="set_slider", args={"bid": "1", "value": None})) is None


def test_the_elements_of_a_drag_are_both_its_ends():
    assert elements_of(Drag(3, 4)) == (3, 4)
    assert elements_of(Drag((1.0, 1.0), 4)) == (4,)
    assert elements_of(GoBack()) == ()
