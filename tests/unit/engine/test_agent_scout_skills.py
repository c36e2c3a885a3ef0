"""The scout's abilities, each on a small page that has nothing to do with any task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.core.action_result import ActionResult, Cause, Effect
from app.engine.core.actions.types import (
    Action,
    Click,
    ClickAt,
    Drag,
    Hover,
    Press,
    ReportInfeasible,
    Scroll,
    Select,
    SelectText,
    SetChecked,
    SetSlider,
    Stop,
    TypeText,
    Wait,
)
from app.engine.core.page_state import PageCapture
from tests.support.scout_pages import covered, el, first, page, play, with_value


def _kinds(commands: list[Action]) -> list[str]:
    return [type(command).__name__ for command in commands]


# Clicking


def test_what_the_task_quotes_is_clicked() -> None:
    assert first('Click on the "Save" button.', el("button", "Cancel"), el("button", "Save")) == Click(
        1, label="Save"
    )


def test_names_are_clicked_in_their_order_and_then_it_stops() -> None:
    start = page(el("button", "TWO"), el("button", "ONE"))

    assert play("Click button ONE, then click button TWO.", start) == [
        Click(1, label="ONE"),
        Click(0, label="TWO"),
        Stop("done"),
    ]


def test_the_only_one_of_its_kind_needs_no_name() -> None:
    assert first("Click the button.", "Words", el("button", "qx7"), el("textbox")) == Click(
        1 - 1, label="qx7"
    )


def test_the_button_is_preferred_to_what_only_holds_it() -> None:
    command = first('Click on the "Close" button.', el("generic", "Close"), el("button", "Close", depth=1))

    assert command == Click(1, label="Close")


def test_a_covered_target_waits_until_what_hides_it_is_opened() -> None:
    start = page(el("button", "Tools", states=("collapsed",)), el("menuitem", "Print"))
    start = replace(start, elements=(start.elements[0], replace(start.elements[1], met=False)))

    assert first_of(play('Click on the item labeled "Print".', start, most=1)) == Click(0, label="Tools")


def first_of(commands: list[Action]) -> Action:
    return commands[0]


# Choosing


def test_several_boxes_are_set_one_after_the_other_and_set_ones_are_left() -> None:
    start = page(
        el("checkbox", "ab"),
        el("checkbox", "cd", states=("checked",)),
        el("checkbox", "ef"),
        el("button", "Submit"),
    )

    def react(seen: PageCapture, action: Action) -> PageCapture:
        if not isinstance(action, SetChecked):
            return seen
        elements = list(seen.elements)
        elements[action.element] = replace(elements[action.element], states=("checked",))
        return replace(seen, elements=tuple(elements))

    assert play("Select ab, cd, ef and click Submit.", start, react)[:3] == [
        SetChecked(0),
        SetChecked(2),
        Click(3, label="Submit"),
    ]


def test_nothing_to_choose_goes_on_with_sending() -> None:
    assert first(
        "Select nothing and click Submit.", el("checkbox", "nothing"), el("button", "Submit")
    ) == Click(1, label="Submit")


def test_options_of_lists_are_chosen_by_their_labels() -> None:
    single = el("combobox", "Name", tag="select", options=("Ann", "Bea"))
    several = el("listbox", "Names", tag="select", options=("Ann", "Bea", "Cy"))

    assert first("Select Bea from the list and click Submit.", single) == Select(0, ("Bea",))
    assert first("Select Cy, Ann from the scroll list and click Submit.", several) == Select(0, ("Cy", "Ann"))


def test_a_list_is_set_by_the_field_it_is_called() -> None:
    lines = (
        el("combobox", "Country", tag="select", options=("Open", "France")),
        el("combobox", "Status", tag="select", options=("Open", "Closed")),
    )

    assert first("Set the status to Open", *lines) == Select(1, ("Open",))


def test_the_third_box_is_counted() -> None:
    boxes = [el("checkbox") for _ in range(4)]

    assert first("Click the 3rd checkbox, then hit Submit.", *boxes) == SetChecked(2)


# Typing


def test_quoted_texts_go_where_their_names_are() -> None:
    start = page(el("textbox", "Password", type="password"), el("textbox", "Username"), el("button", "Login"))
    said = 'Enter the username "ann" and the password "xy" into the text fields and press login.'

    assert play(said, start)[:3] == [TypeText(1, "ann"), TypeText(0, "xy"), Click(2, label="Login")]


def test_one_text_for_all_fields() -> None:
    start = page(el("textbox", "New"), el("textbox", "Again"), el("button", "OK"))

    def react(seen: PageCapture, action: Action) -> PageCapture:
        return with_value(seen, action.element, action.text) if isinstance(action, TypeText) else seen

    said = 'Enter the password "xy" into both text fields and press submit.'
    assert play(said, start, react)[:3] == [TypeText(0, "xy"), TypeText(1, "xy"), Click(2, label="OK")]


def test_the_case_of_letters_is_as_told() -> None:
    assert first('Type "ann" in all upper case letters in the text input.', el("textbox")) == TypeText(
        0, "ANN"
    )


def test_the_value_beside_a_label_is_typed() -> None:
    lines = ("City", "Rome", "Last name", "Silva", el("textbox"), el("button", "Submit"))

    assert first("Enter the value of Last name into the text field and press Submit.", *lines) == TypeText(
        0, "Silva"
    )


def test_a_word_of_a_paragraph_is_counted() -> None:
    lines = ("Some words, in a row here.", el("textbox"))
    said = "Find the 2nd word in the paragraph, type that into the textbox and press Submit."

    assert first(said, *lines) == TypeText(0, "words")


def test_sums_are_solved() -> None:
    lines = ("7 * 6 =", el("textbox"))

    assert first("Solve the math problem and type your answer into the textbox.", *lines) == TypeText(0, "42")


def test_text_is_copied_by_the_keys() -> None:
    start = page(el("textbox", value="long  text", tag="textarea"), el("textbox"), el("button", "Submit"))
    said = "Copy the text in the textarea below, paste it into the textbox and press Submit."

    assert play(said, start)[:5] == [
        Press("Control+A", 0),
        Press("Control+C", 0),
        Click(1),
        Press("Control+V", 1),
        Click(2, label="Submit"),
    ]


def test_a_form_is_filled_by_its_labels_in_the_words_of_the_task() -> None:
    fields = [el("textbox", near=name) for name in ("Year", "Director", "Genre")]
    start = page(
        "Year", fields[0], "Director", fields[1], "Genre", fields[2], el("button", "Go", submits=True)
    )
    said = "Search for action movies directed by Bowen from year 1998."

    commands = play(said, start)
    assert set(commands[:3]) == {TypeText(0, "1998"), TypeText(1, "Bowen"), TypeText(2, "action")}
    assert commands[3] == Click(3, label="Go")


def test_a_suggestion_that_meets_both_conditions_is_taken() -> None:
    start = page(el("textbox"), el("button", "Submit"))
    behind = page(
        el("textbox", value="An"), el("button", "Submit"), el("option", "Anton"), el("option", "Angelica")
    )
    said = 'Enter an item that starts with "An" and ends with "ica".'

    commands = play(said, start, lambda _, command: behind if isinstance(command, TypeText) else start)
    assert commands[:3] == [TypeText(0, "An"), Click(3, label="Angelica"), Click(1, label="Submit")]


# Dates, sliders


def test_a_field_that_takes_a_date_is_typed_into() -> None:
    assert first("Enter 05/20/2010 as the date and hit submit.", el("textbox", type="date")) == TypeText(
        0, "2010-05-20"
    )


def test_a_calendar_is_opened_leafed_and_the_day_pressed() -> None:
    field = el("textbox", "Date", states=("readonly",))
    shut = page(field)
    may = page(
        field, el("link", "Prev"), el("link", "Next"), "May", "2016", el("link", "1"), el("link", "12")
    )
    april = page(
        field, el("link", "Prev"), el("link", "Next"), "April", "2016", el("link", "1"), el("link", "12")
    )

    def react(seen: PageCapture, _: Action) -> PageCapture:
        return may if seen is shut else april

    assert play("Select 04/12/2016 as the date", shut, react)[:3] == [
        Click(0, label="Date"),
        Click(1, label="Prev"),
        Click(4, label="12"),
    ]


def test_sliders_get_the_numbers_in_their_order() -> None:
    start = page(el("slider"), el("generic", classes="ui-slider-handle"), el("slider"))

    assert play("Set the sliders to the combination [11,-4] and submit.", start)[:2] == [
        SetSlider(0, 11),
        SetSlider(2, -4),
    ]


def test_a_spinner_is_typed_into() -> None:
    assert first("Select -10 with the spinner and hit Submit.", el("spinbutton")) == TypeText(0, "-10")


# What hides the target


def test_tabs_are_opened_until_the_target_is_seen() -> None:
    one = page(el("tab", "One", states=("selected",)), el("tab", "Two"), el("link", "here"))
    two = page(el("tab", "One"), el("tab", "Two", states=("selected",)), el("link", "there"))
    said = 'Switch between the tabs to find and click on the link "there".'

    assert play(said, one, lambda *_: two)[:2] == [Click(1, label="Two"), Click(2, label="there")]


def test_the_word_alone_is_not_what_is_to_be_clicked() -> None:
    one = page(
        el("tab", "One", states=("selected",)), el("tab", "Two"), "of there and here", el("link", "here")
    )

    assert first_of(play('Click on the link "there".', one, most=1)) == Click(1, label="Two")


def test_a_menu_path_is_gone_part_by_part() -> None:
    shut = page(el("menuitem", "File", states=("haspopup",)), el("menuitem", "Edit"))
    wide = page(
        el("menuitem", "File", states=("expanded", "haspopup")),
        el("menuitem", "Edit"),
        el("menuitem", "Save"),
    )

    assert play("Select File > Save", shut, lambda *_: wide) == [
        Hover(0),
        Click(2, label="Save"),
        Stop("done"),
    ]


def test_the_page_is_scrolled_when_nothing_else_may_hide_the_target() -> None:
    assert isinstance(
        play('Click on the link "deep".', page(el("link", "up"), size=(400, 2000)), most=1)[0], Scroll
    )


def test_what_lies_over_the_target_is_closed() -> None:
    start = page(el("button", "Submit"), el("generic", "Panel"), el("button", "×"))
    answers = iter([covered(), start, start])
    commands = play("Press submit.", start, lambda *_: next(answers), most=3)

    assert commands == [Click(0, label="Submit"), Click(2, label="×"), Click(0, label="Submit")]


def test_a_question_that_keeps_the_page_from_being_used_is_declined() -> None:
    form = page(el("textbox", "Name"), el("button", "OK"))
    asked = page(
        el("textbox", "Name", states=("disabled",)),
        "Leave this page?",
        el("button", "OK"),
        el("button", "Cancel"),
    )
    refused = replace(covered(), cause=Cause.DISABLED)
    shown = iter([asked, form, form])
    commands = play(
        'Enter the name "Ann" into the text field.', form, lambda *_: (refused, next(shown)), most=3
    )

    assert commands == [TypeText(0, "Ann"), Click(2, label="Cancel"), TypeText(0, "Ann")]


def test_what_is_scrolled_to_its_end_already_counts_as_done() -> None:
    start = page(el("textbox", tag="textarea"), el("button", "Submit"))
    nothing = ActionResult(success=False, effect=Effect.NOTHING, cause=Cause.NO_EFFECT)
    commands = play(
        "Scroll the textarea to the top of the text hit submit.", start, lambda *_: nothing, most=2
    )

    assert commands == [Scroll(dy=-100_000.0, element=0), Click(1, label="Submit")]


def test_offers_that_take_their_time_are_waited_for() -> None:
    start = page(el("textbox"), el("button", "Submit"))
    offers = page(el("textbox", value="An"), el("button", "Submit"), el("option", "Anton"))
    pages = iter([start, offers, start])

    commands = play('Enter an item that starts with "An".', start, lambda *_: next(pages), most=3)
    assert commands == [TypeText(0, "An"), Wait(0.6), Click(2, label="Anton")]


# Rows


INBOX = (
    "Ann", el("generic", classes="star"), el("generic", classes="bin"),
    "Bea", el("generic", classes="star"), el("generic", classes="bin"),
)  # fmt: skip


def test_the_control_of_the_right_row_is_used() -> None:
    said = "Find the email by Bea and click the star icon to mark it as important."

    assert first(said, *INBOX) == Click(2, label="star")
    assert first("Delete all messages from Ann.", *INBOX) == Click(1, label="delete")


def test_more_is_opened_in_the_row_where_the_control_is_not_shown() -> None:
    rows = ("@ann", el("generic", classes="more"), "@bea", el("generic", classes="more"))
    behind = page(*rows, el("menuitem", "Block @bea"))

    commands = play('For the user @bea, click on the "Block" button.', page(*rows), lambda *_: behind)
    assert commands[:2] == [Click(1, label="more"), Click(2, label="Block @bea")]


def test_a_message_is_answered() -> None:
    inbox = page(
        el("generic", "Ann Hello there", hears=("click",)), el("generic", "Bea Good day", hears=("click",))
    )
    opened = page("Bea", "Good day", el("generic", "Reply"), el("generic", "Forward"))
    form = page("Bea", el("textbox", tag="textarea"), el("button", "Send"))
    filled = with_value(form, 0, "Thanks.")
    pages = iter([opened, form, filled, inbox])
    said = 'Find the email by Bea and reply to them with the text "Thanks.".'

    commands = play(said, inbox, lambda *_: next(pages), most=4)
    assert commands == [
        Click(1, label="Bea Good day"),
        Click(0, label="Reply"),
        TypeText(0, "Thanks."),
        Click(1, label="Send"),
    ]


def test_each_listed_thing_is_added_by_the_button_behind_it() -> None:
    start = page(
        "Soup",
        el("generic", "+"),
        "Bread and butter",
        el("generic", "+"),
        "Bread",
        el("generic", "+"),
        el("button", "Order!"),
    )

    assert play("Order one of each item: Soup, Bread and butter", start)[:3] == [
        Click(0, label="+"),
        Click(1, label="+"),
        Click(3, label="Order!"),
    ]


def test_the_row_with_the_least_is_taken() -> None:
    rows = (
        "Duration:", "11h 30m", el("button", "Book for $1844"), "Duration:", "2h 16m", el("button", "Book for $1921"),
        "Duration:", "20h 1m", el("button", "Book for $13"),
    )  # fmt: skip

    assert first("Buy the ticket with the cheapest cost.", *rows) == Click(2, label="Book for $13")
    assert first("Buy the ticket with the shortest duration.", *rows) == Click(1, label="Book for $1921")


def test_rows_are_classified_by_their_numbers() -> None:
    rows = (el("button", "Odd"), "4", el("button", "Even"), el("button", "Odd"), "-5", el("button", "Even"))

    assert play("Mark the numbers below as odd or even.", page(*rows))[:2] == [
        Click(1, label="Even"),
        Click(2, label="Odd"),
    ]


def test_the_seventh_result_is_counted_over_the_pages() -> None:
    links = [el("link", name, classes="title") for name in ("a1", "a2", "a3")]
    start = page(*links, el("link", "1"), el("link", ">"))

    assert play("Click the 5th search result.", start)[:2] == [Click(4, label=">"), Click(1, label="a2")]


# Conditions


def test_it_is_done_again_until_the_number_fits() -> None:
    def at(number: int) -> PageCapture:
        return page(str(number), el("button", "Generate"), el("button", "Submit"))

    numbers = iter([9, 3, 3])
    commands = play(
        "Generate a number less than 5, then press submit.", at(7), lambda *_: at(next(numbers)), most=3
    )

    assert commands == [Click(0, label="Generate"), Click(0, label="Generate"), Click(1, label="Submit")]


def test_it_waits_for_the_price() -> None:
    dear, cheap = page("Price:", "$60.10", el("button", "Buy")), page("Price:", "$50.00", el("button", "Buy"))

    commands = play("Buy AB stock when the price is less than $56.60.", dear, lambda *_: cheap, most=2)
    assert isinstance(commands[0], Wait)
    assert commands[1] == Click(0, label="Buy")


def test_a_range_is_halved_by_what_the_page_says() -> None:
    asked = page("Guess!", el("spinbutton"), el("button", "Submit"))
    lower = page("The number is lower than 4.", el("spinbutton"), el("button", "Submit"))
    said = "Guess the number between 0-9 and press Submit. Use the feedback below to find the right number."

    commands = play(said, asked, lambda _, command: lower if isinstance(command, Click) else asked, most=3)
    assert commands == [TypeText(0, "4"), Click(1, label="Submit"), TypeText(0, "1")]


# Dragging, looks, texts


def test_a_list_is_sorted_by_dragging_and_left_when_it_is_in_order() -> None:
    items = [el("listitem", name, classes="sortable-handle") for name in ("18", "-3", "5")]
    sorted_items = [el("listitem", name, classes="sortable-handle") for name in ("-3", "5", "18")]
    said = "Sort the numbers in increasing order."

    assert first(said, *items) == Drag(1, 0)
    assert first(said, *sorted_items, el("button", "Save")) == Click(3, label="Save")


def test_an_item_is_dragged_to_its_place() -> None:
    items = [el("listitem", name, classes="sortable-handle") for name in ("Ann", "Bea", "Cy")]

    up, down = first("Drag Cy to the 1st position.", *items), first("Drag Ann down by one.", *items)

    assert isinstance(up, Drag)
    assert isinstance(down, Drag)
    assert (up.source, down.source) == (2, 0)
    assert up.target == pytest.approx((50.0, 5.4))  # above the middle of the first
    assert down.target == pytest.approx((50.0, 32.6))  # below the middle of the second


def test_shapes_are_told_by_their_looks() -> None:
    shapes = [
        el("image", tag="circle", looks=looks)
        for looks in ("red circle 20x20", "blue circle 8x8", "red rectangle 9x9")
    ]

    assert first("Click on a blue item", *shapes) == Click(1)
    assert first("How many red items are there?", *shapes, el("button", "1"), el("button", "2")) == Click(
        4, label="2"
    )


def test_all_of_one_colour_are_clicked() -> None:
    boxes = [el("generic", looks=f"{looks} box 12x12") for looks in ("red", "light green", "red")]
    commands = play("Select all the shades of red and press Submit.", page(*boxes, el("button", "Submit")))

    assert commands[:3] == [Click(0), Click(2), Click(3, label="Submit")]


def test_numbers_that_hide_are_remembered_where_they_stood() -> None:
    shown = page(el("text", "2"), el("text", "1"), el("text", "3"))
    hidden = page(el("image", looks="black rectangle 9x9"))
    commands = play("Click on the numbers in ascending order.", shown, lambda *_: hidden, most=3)

    assert commands == [Click(1, label="1"), ClickAt((50.0, 9.0)), ClickAt((50.0, 49.0))]


def test_a_text_gets_its_style() -> None:
    editor = el("textbox", tag="div", value="some words here")
    start = page(el("button", classes="ql-bold"), el("button", classes="ql-italic"), editor)

    assert play("Using the text editor, give everything the style bold and press Submit.", start)[:2] == [
        SelectText(2, 0, -1),
        Click(0, label="bold"),
    ]


def test_the_middle_between_two_points_is_clicked() -> None:
    points = [el("image", looks="black circle 8x8", rect=(x, y, 8, 8)) for x, y in ((0, 0), (40, 20))]

    assert first("Click on the mid-point between the two points", *points) == ClickAt((24.0, 14.0))


def test_what_is_completely_inside_is_not_dragged_again() -> None:
    small, large = el("generic", "s", rect=(30, 30, 10, 10)), el("generic", "L", rect=(20, 20, 60, 60))
    said = "Drag the smaller box so that it is completely inside the larger box, then press Save."
    outside = el("generic", "s", rect=(75, 30, 10, 10))

    assert first(said, small, large, el("button", "Save")) == Click(2, label="Save")
    assert first(said, outside, large, el("button", "Save")) == Drag((80.0, 35.0), (50.0, 50.0))


def test_a_figure_is_called_by_its_button() -> None:
    buttons = [el("button", name) for name in ("Rectangle", "Circle", "Letter", "Number")]
    said = "Click the button that best describes the figure below."

    assert first(said, el("image", tag="circle", looks="red circle 9x9"), *buttons) == Click(
        2, label="Circle"
    )
    assert first(said, "7", *buttons) == Click(3, label="Number")


def test_a_thing_is_clicked_by_the_label_before_it_and_only_where_it_is_about_the_right_one() -> None:
    said = "Find Bea in the contact book and click on their phone number."
    ann = ("Ann", "Phone:", el("generic", "531-1"), "Email:", el("generic", "a@x.test"), el("link", ">"))
    bea = ("Bea", "Phone:", el("generic", "531-2"), "Email:", el("generic", "b@x.test"), el("link", ">"))

    assert play(said, page(*ann), lambda *_: page(*bea), most=2) == [
        Click(2, label=">"),
        Click(0, label="531-2"),
    ]


def test_a_coordinate_is_clicked_by_what_the_makers_call_it() -> None:
    points = [el("image", id=f"({x},0)") for x in (-1, 0, 1)]

    assert first("Click on the grid coordinate (1, 0).", *points) == Click(2)


# Ends


@pytest.mark.parametrize("said", ["Play a tune on the flute.", "", "???"])
def test_it_says_when_it_knows_no_way_on(said: str) -> None:
    assert isinstance(first(said, "Words"), ReportInfeasible | Stop)


def test_it_gives_up_what_fails_twice() -> None:
    start = page(el("button", "Save"))
    failed = replace(covered(), cause=covered().cause.DISABLED)
    commands = play('Click on the "Save" button.', start, lambda *_: failed)

    assert _kinds(commands) == ["Click", "Click", "ReportInfeasible"]
