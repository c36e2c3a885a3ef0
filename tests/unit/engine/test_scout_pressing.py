"""A control that a task says to press by its name is pressed, once, in its order; another one never is."""

from __future__ import annotations

import pytest

from app.engine.core.actions.types import Action, Click, ReportInfeasible, Stop
from tests.support.scout_pages import el, page, play
from tests.support.scout_walk import document, walk

BUTTONS = page(
    el("button", "Save"), el("button", "Send"), el("button", "Send all"), el("link", "Terms"), "Words"
)


@pytest.mark.parametrize(
    ("intent", "pressed"),
    [
        ('Click on the "Save" button', [Click(0, label="Save")]),
        ('Press "Send"', [Click(1, label="Send")]),
        ('Click "Terms"', [Click(3, label="Terms")]),
        (
            'Click on "Save" and then click on "Send all"',
            [Click(0, label="Save"), Click(2, label="Send all")],
        ),
    ],
)
def test_what_the_task_says_to_press_is_pressed_once_and_in_its_order(
    intent: str, pressed: list[Action]
) -> None:
    assert play(intent, BUTTONS) == [*pressed, Stop("done")]


@pytest.mark.parametrize(
    "intent", ['Click on "Delete"', 'Do not click on "Save"', "What does the Save button do?"]
)
def test_nothing_else_is_pressed(intent: str) -> None:
    commands = play(intent, BUTTONS)
    assert not any(isinstance(one, Click) and one.label in ("Save", "Send", "Send all") for one in commands)


def test_a_control_that_stands_nowhere_is_told() -> None:
    made = walk('Click on "Kitchen"', {"/": document("Shop", "<p>Nothing.</p>")})
    assert isinstance(made.end, ReportInfeasible)
    assert "Kitchen" in made.end.reason


def test_the_press_is_all_that_is_claimed() -> None:
    pages = {"/": document("Shop", '<a href="/k">Kitchen</a>'), "/k": document("Pots", "<p>Pots.</p>")}
    made = walk('Click on "Kitchen"', pages)
    assert (made.paths, made.end) == (["/", "/k"], Stop("done"))
    assert made.decisions[-1].reason == 'pressed "Kitchen"'
