"""Every command can be kept as a step's action and read back."""

from __future__ import annotations

from typing import get_args

import pytest

from app.engine.action import Action, format_action, parse_action
from app.engine.calls import from_action, to_action
from app.engine.command import (
    SETS,
    AnswerDialog,
    AskHuman,
    Branch,
    Calculate,
    Check,
    Click,
    ClickAt,
    ClickMark,
    CloseTab,
    Command,
    Drag,
    GoBack,
    GoForward,
    Goto,
    Hover,
    Navigate,
    NewTab,
    Note,
    Press,
    Prune,
    ReportInfeasible,
    Scroll,
    Select,
    SelectText,
    SetSlider,
    Stop,
    SwitchTab,
    TypeKeys,
    TypeMark,
    TypeText,
    Upload,
    Wait,
    elements_of,
)

EVERY: tuple[Command, ...] = (
    Click(3), Click(3, "right"), Click(3, double=True), ClickAt((1.5, 2.0)), ClickAt((1.0, 2.0), double=True),
    ClickMark(4, "Save"), TypeMark(4, "x", enter=True), TypeText(5, "a 'quoted' \"text\""), TypeText(5, "", enter=True),
    TypeKeys("abc"), Press("Enter"), Press("Control+A", 6), Hover(7), Select(8, ("One", "Two")), Check(9),
    Check(9, on=False),
    Scroll(300.0), Scroll(-1.0, 2.0, 10), Drag(1, 2), Drag((1.0, 2.0), 3), Drag((0.0, 0.0), (9.0, 9.0)),
    SetSlider(11, 42.5), SelectText(12), SelectText(12, 1, 5), Upload(13, "a.txt"), AnswerDialog(),
    AnswerDialog(accept=False, text="no"), GoBack(), GoForward(), Goto("http://shop.example/a?b=c"), NewTab(),
    NewTab("http://shop.example/"), SwitchTab(2), CloseTab(), Navigate("shop", "orders [all]"), Wait(0.5), Note("n"),
    Calculate("1 + 2"), Branch("", "find it"), Prune("p1", "dead"), Stop("42"), Stop(""),
    ReportInfeasible("no such page"),
    AskHuman("which one?"),
)  # fmt: skip


@pytest.mark.parametrize("command", EVERY, ids=repr)
def test_a_command_survives_being_kept_as_an_action(command: Command):
    assert from_action(to_action(command)) == command


@pytest.mark.parametrize("command", EVERY, ids=repr)
def test_its_call_can_be_written_and_read(command: Command):
    action = to_action(command)
    assert parse_action(format_action(action)) == action


def test_every_kind_is_tried_and_offered_in_exactly_one_set():
    kinds = set(get_args(Command))
    assert {type(command) for command in EVERY} == kinds
    offered = [kind for members in SETS.values() for kind in members]
    assert set(offered) == kinds
    assert len(offered) == len(set(offered))


def test_a_foreign_or_damaged_action_is_no_command():
    assert from_action(Action(kind="dance")) is None
    assert from_action(Action(kind="click", args={"bid": "a12"})) is None
    assert from_action(Action(kind="set_slider", args={"bid": "1", "value": None})) is None


def test_the_elements_of_a_drag_are_both_its_ends():
    assert elements_of(Drag(3, 4)) == (3, 4)
    assert elements_of(Drag((1.0, 1.0), 4)) == (4,)
    assert elements_of(GoBack()) == ()
