"""The control that a step of a tip means: one row a clause of the rules in ``procedures.controls``."""

from __future__ import annotations

import pytest

from app.engine.agent.procedures.controls import find_control
from kb.procedure import ProcedureStep, StepKind
from tests.support.scout_pages import el, page

PRESS, FILL, CHOOSE = StepKind.PRESS, StepKind.FILL, StepKind.CHOOSE


def step(kind: StepKind, target: str = "", **more: str) -> ProcedureStep:
    return ProcedureStep(kind=kind, target=target, **more)


SORTING = page(
    el("combobox", "Sort by", rect=(10, 10, 100, 20), options=("Price", "Name")),
    el("link", "Set Descending Direction", classes="sort-arrow", rect=(120, 10, 20, 20)),
    el("link", "Compare", rect=(10, 200, 80, 20)),
)
ROWS = page(
    el("link", "Red lamp", rect=(10, 100, 100, 20), repeat="r", repeat_index=0),
    el("button", "Delete", rect=(200, 100, 50, 20), repeat="r", repeat_index=0),
    el("link", "Blue lamp", rect=(10, 130, 100, 20), repeat="r", repeat_index=1),
    el("button", "Delete", rect=(200, 130, 50, 20), repeat="r", repeat_index=1),
)
FORM = page(
    el("textbox", "Title (required)"),
    el("textbox", "", label="Due date"),
    el("combobox", "Status", options=("Open", "Closed")),
    el("button", "Save changes"),
    el("button", "Save", states=("disabled",)),
)
TWICE = page(
    el("link", "Orders", href="http://place.test/a", landmarks=("navigation",)),
    el("link", "Orders", href="http://place.test/b", landmarks=("contentinfo",)),
)
ONE_IN_MAIN = page(
    el("link", "Orders", href="http://place.test/a", landmarks=("navigation",)),
    el("link", "Orders", href="http://place.test/b", landmarks=("main",)),
)
SAME_PLACE = page(
    el("link", "Orders", href="http://place.test/a"),
    el("link", "Orders", href="http://place.test/a"),
)


@pytest.mark.parametrize(
    ("clause", "wanted", "seen", "number"),
    [
        ("an equal name", step(PRESS, "Compare"), SORTING, 2),
        ("case and dots do not count", step(PRESS, "compare."), SORTING, 2),
        ("the beginning of a name", step(FILL, "Title"), FORM, 0),
        ("the label beside a nameless field", step(FILL, "Due date"), FORM, 1),
        ("only fields are filled", step(FILL, "Save changes"), FORM, None),
        ("a disabled control is none", step(PRESS, "Save"), FORM, 3),
        ("a list that has the option", step(CHOOSE, "Status", value="Closed"), FORM, 2),
        ("a list without the option", step(CHOOSE, "Status", value="Lost"), FORM, None),
        (
            "a nameless thing beside its landmark",
            step(PRESS, "arrow", near="Sort by", where="beside"),
            SORTING,
            1,
        ),
        ("on the named side", step(PRESS, "arrow", near="Sort by", where="left of"), SORTING, None),
        ("a landmark that is not here", step(PRESS, "arrow", near="Filter", where="beside"), SORTING, None),
        ("in the row of a thing", step(PRESS, "Delete", near="Blue lamp", where="in"), ROWS, 3),
        ("several that fit are none", step(PRESS, "Delete"), ROWS, None),
        ("two links to one place are one", step(PRESS, "Orders"), SAME_PLACE, 0),
        ("two links to two places are none", step(PRESS, "Orders"), TWICE, None),
        ("the one in the main part", step(PRESS, "Orders"), ONE_IN_MAIN, 1),
        ("words that hardly fit are no fit", step(PRESS, "Compare all products of this shop"), SORTING, None),
        ("a placeholder without a value", step(PRESS, "{name}"), FORM, None),
    ],
)
def test_a_step_finds_the_control_it_means(
    clause: str, wanted: ProcedureStep, seen: object, number: int | None
):
    found = find_control(wanted, seen)  # type: ignore[arg-type]
    assert (found.element.index if found.element is not None else None) == number, clause
    assert bool(found.why) == (number is None)


def test_what_a_tip_warns_of_is_never_its_control():
    assert find_control(step(PRESS, "Compare"), SORTING, never=("Compare",)).element is None


def test_a_landmark_is_never_pressed_in_place_of_its_neighbour():
    only = page(el("button", "Sort", rect=(10, 10, 100, 20)))
    assert find_control(step(PRESS, "arrow", near="Sort", where="beside"), only).element is None


def test_ambiguity_is_told_apart_from_absence():
    assert find_control(step(PRESS, "Delete"), ROWS).ambiguous
    assert not find_control(step(PRESS, "Vanish"), ROWS).ambiguous


def test_of_two_names_in_other_capitals_the_one_written_as_in_the_tip_is_meant():
    twice = page(
        el("link", "admin", href="http://place.test/me"), el("link", "Admin", href="http://place.test/a")
    )
    assert find_control(step(PRESS, "Admin"), twice).element == twice.elements[1]
    assert find_control(step(PRESS, "ADMIN"), twice).ambiguous
