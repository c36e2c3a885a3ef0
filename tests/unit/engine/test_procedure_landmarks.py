"""A landmark is any text of the page, a control or a kind of group; lists that a page draws itself are opened first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.agent.procedures.actions import StepAction, action_of
from app.engine.agent.procedures.controls import find_control
from app.engine.agent.procedures.landmarks import find_landmarks
from app.engine.core.actions.types import Click, Select
from app.engine.core.page_state import PageCapture
from kb.procedure import ProcedureStep, StepKind
from tests.support.scout_pages import el, page

TREE = """RootWebArea 'Shop'
\theading 'Show results for'
\tlist ''
\t\tlistitem ''
\t\t\t[0] link 'Crime'
\t\tlistitem ''
\t\t\t[1] link 'Travel'
\ttable ''
\t\trow ''
\t\t\tcell 'Spring sale'
\t\t\tcell ''
\t\t\t\t[2] link 'Edit'
\t\trow ''
\t\t\tcell 'Autumn sale'
\t\t\tcell ''
\t\t\t\t[3] link 'Edit'
\tlabel ''
\t\tStaticText 'Report Type:'
\t[4] combobox 'Orders placed'
\t[5] link 'Crime'
\tStaticText 'Total'
"""
LINKS = ("Crime", "Travel", "Edit", "Edit")
PAGE = replace(
    page(
        *(el("link", name, href=f"http://shop.test/{at}") for at, name in enumerate(LINKS)),
        el("combobox", "Orders placed", states=("haspopup",)),
        el("link", "Crime", href="http://shop.test/other"),
    ),
    tree=TREE,
)


def press(target: str, near: str, where: str = "") -> ProcedureStep:
    return ProcedureStep(kind=StepKind.PRESS, target=target, near=near, where=where)


def choose(target: str, value: str) -> ProcedureStep:
    return ProcedureStep(kind=StepKind.CHOOSE, target=target, value=value)


@pytest.mark.parametrize(
    ("step", "number"),
    [
        pytest.param(press("Crime", "Show results for", "under"), 0, id="the first after a heading"),
        pytest.param(press("Crime", "Total", "above"), 5, id="the last before a text"),
        pytest.param(press("Crime", "Total", "left of"), 5, id="left of a text is before it"),
        pytest.param(press("Crime", "Autumn sale", "below"), 5, id="nothing before the text is below it"),
        pytest.param(press("Crime", "Spring sale"), 0, id="next to a text is the nearest on either side"),
        pytest.param(press("Edit", "Autumn sale", "in"), 3, id="in a text's row"),
        pytest.param(press("Edit", "Spring sale", "in"), 2, id="in another text's row"),
        pytest.param(press("Crime", "list"), 0, id="in a group of this kind"),
    ],
)
def test_the_control_at_a_text(step: ProcedureStep, number: int):
    found = find_control(step, PAGE)
    assert found.element is not None, found.why
    assert found.element.index == number


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (press("Crime", "Show results for", "above"), "no control"),
        (press("Travel", "Autumn sale", "in"), "no control"),
        (press("Crime", "Nowhere"), 'no "Nowhere"'),
        (press("Crime", "dialog"), 'no "dialog"'),
    ],
)
def test_a_control_on_the_wrong_side_is_none(step: ProcedureStep, why: str):
    found = find_control(step, PAGE)
    assert found.element is None
    assert why in found.why


def test_a_text_of_exactly_the_landmarks_name_comes_before_a_control_that_is_only_like_it():
    there = replace(
        page(el("link", "Total of all orders")),
        tree="RootWebArea 'Page'\n\t[0] link 'Total of all orders'\n\tStaticText 'Total'",
    )
    assert find_landmarks("Total", there)[0].element is None
    assert find_landmarks("Total of all orders", there)[0].element.index == 0


def test_what_lies_in_an_open_dialog_comes_before_what_the_dialog_covers():
    there = page(
        el("button", "Search", landmarks=("main",)),
        el("button", "Search", landmarks=("dialog:Advanced Search",)),
        el("button", "Close search"),
    )
    assert find_control(ProcedureStep(kind=StepKind.PRESS, target="Search"), there).element.index == 1
    assert find_control(ProcedureStep(kind=StepKind.PRESS, target="Close search"), there).element.index == 2


def test_a_name_of_its_own_comes_before_a_name_that_only_stands_beside():
    there = page(el("checkbox", "", near="Not as described"), el("link", "Not as described"))
    assert (
        find_control(ProcedureStep(kind=StepKind.PRESS, target="Not as described"), there).element.index == 1
    )


def test_of_examples_any_will_do_and_of_a_tasks_own_value_none():
    there = page(el("link", "Sale", href="http://shop.test/1"), el("link", "Sale", href="http://shop.test/2"))
    step = ProcedureStep(kind=StepKind.PRESS, target="{name}")
    assert action_of(step, there, {"name": "Sale"}, samples=True).action == Click(0, label="Sale")
    assert "several controls" in action_of(step, there, {"name": "Sale"}).why
    literal = ProcedureStep(kind=StepKind.PRESS, target="Sale")
    assert "several controls" in action_of(literal, there, {}, samples=True).why


def listed(*options: str, expanded: bool) -> PageCapture:
    states = ("expanded", "haspopup") if expanded else ("collapsed", "haspopup")
    return replace(
        page(el("combobox", "Orders placed", states=states), *(el("option", name) for name in options)),
        tree="RootWebArea 'Page'\n\tStaticText 'Report Type:'\n\t[0] combobox 'Orders placed'",
    )


@pytest.mark.parametrize(
    ("where", "said"),
    [
        pytest.param(listed(expanded=False), "opens", id="a closed list is opened, and the step goes on"),
        pytest.param(listed("Orders placed", "Product analytics", expanded=True), Click(2, label="Product analytics"),
                     id="the entry of an open list is pressed"),
        pytest.param(listed("Orders placed", expanded=True), 'no option "Product analytics"',
                     id="an open list without the entry"),
    ],
)  # fmt: skip
def test_choosing_in_a_list_that_the_page_draws_itself(where: PageCapture, said: object):
    found = action_of(choose("Report Type", "Product analytics"), where, {})
    outcome = "opens" if found.opens else found.action or found.why
    assert outcome == said if not isinstance(said, str) else said in str(outcome)


def test_a_list_that_shows_the_option_already_is_left_alone():
    assert action_of(choose("Report Type", "Orders placed"), listed(expanded=False), {}).done


def test_a_button_that_sends_is_no_list():
    there = page(
        el("button", "Change status", submits=True), el("combobox", "Status", options=("open", "parked"))
    )
    assert action_of(choose("status", "parked"), there, {}).action == Select(1, ("parked",))


def test_pressing_what_is_only_an_option_of_one_list_chooses_it():
    there = page(
        el("combobox", "Sort by", tag="select", options=("our choice", "price")),
        el("option", "price", tag="option"),
    )
    step = ProcedureStep(kind=StepKind.PRESS, target="price")
    assert action_of(step, there, {}).action == Select(0, ("price",))
    assert action_of(step, there, {}, never=("price",)).action is None


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("Total", StepAction(done=True)),
        ("the first price", StepAction(done=True, unchecked=True)),
        ("Revenue", StepAction(why='"Revenue" is not on this page')),
    ],
)
def test_a_name_that_is_to_be_read_must_be_there_and_a_description_cannot_be_checked(
    target: str, wanted: StepAction
):
    there = replace(page(), text="Total 12.00")
    assert action_of(ProcedureStep(kind=StepKind.READ, target=target), there, {}) == wanted


def test_the_head_of_an_open_menu_is_not_pressed_again_for_its_entry():
    there = page(
        el("button", "Customers", states=("expanded", "haspopup")),
        el("link", "Customers", href="http://shop.test/c"),
    )
    assert find_control(ProcedureStep(kind=StepKind.PRESS, target="Customers"), there).element.index == 1


def test_what_is_beside_a_link_of_a_list_stands_in_its_row_however_far():
    rows = [
        el(role, name, repeat="rows", repeat_index=row, rect=(left, 40.0 * row, 60.0, 20.0))
        for row, title in enumerate(("Fiction", "Returns"))
        for role, name, left in (("link", title, 0.0), ("button", "Actions", 900.0))
    ]
    assert find_control(press("Actions", "Returns"), page(*rows)).element.index == 3
    assert find_control(press("Actions", "Fiction", "beside"), page(*rows)).element.index == 1


def test_a_kind_of_control_is_any_control_of_that_kind_at_the_landmark():
    there = page(
        el("textbox", "Password", rect=(0.0, 0.0, 200.0, 20.0)),
        el("button", "Log In", rect=(0.0, 70.0, 200.0, 20.0)),
        el("link", "Forgotten?", rect=(0.0, 30.0, 200.0, 20.0)),
    )
    assert find_control(press("link", "Password", "below"), there).element.index == 2


def test_of_a_control_and_a_heading_of_one_name_the_one_with_the_control_at_its_side_is_the_landmark():
    there = replace(
        page(
            el("textbox", "Email address", rect=(0.0, 40.0, 200.0, 20.0)),
            el("button", "Log In", rect=(0.0, 90.0, 200.0, 20.0)),
        ),
        tree="RootWebArea 'Page'\n\theading 'Log In'\n\t[0] textbox 'Email address'\n\t[1] button 'Log In'",
    )
    step = ProcedureStep(kind=StepKind.FILL, target="Email address", value="a", near="Log In", where="under")
    assert find_control(step, there).element.index == 0


@pytest.mark.parametrize(("left", "found"), [(110.0, True), (200.0, False)])
def test_an_arrow_beside_something_stands_close_to_it(left: float, found: bool):
    there = page(
        el("link", "Northgate Market", rect=(0.0, 0.0, 100.0, 20.0)),
        el("button", "Toggle Dropdown", rect=(left, 0.0, 20.0, 20.0)),
    )
    assert (find_control(press("arrow", "Northgate Market", "beside"), there).element is not None) is found
