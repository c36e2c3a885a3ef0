"""The scout's reading of the words of a task."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.agent.scout.choosing import told_among
from app.engine.agent.scout.grounding import likeness
from app.engine.agent.scout.intent import Verb, read_intent
from app.engine.agent.scout.messages import recipient_of
from app.engine.agent.scout.phrases import Bound, dates_in, extremes_in, times_in
from app.engine.agent.scout.planning import needs_nothing, subject_of
from app.engine.agent.scout.values import number_in, reckoned


def test_clauses_are_read_in_their_order_with_verbs_and_quoted_names() -> None:
    task = read_intent('Type "tea" into the search box and press "Find", then click the 3rd result.')

    assert [clause.verb for clause in task.clauses] == [Verb.TYPE, Verb.CLICK, Verb.CLICK]
    assert [clause.quoted for clause in task.clauses] == [("tea",), ("Find",), ()]
    assert task.clauses[2].ordinal == 3
    assert task.quoted == ("tea", "Find")


def test_a_verb_within_quotes_begins_no_clause() -> None:
    task = read_intent('Reply to them with the text "Please go and click there, then stop."')

    assert len(task.clauses) == 1
    assert task.clauses[0].verb is Verb.REPLY


def test_names_are_listed_without_quotes_and_without_the_kind_of_control() -> None:
    assert read_intent("Select ab, cd and the ef and click Submit.").clauses[0].targets == ("ab", "cd", "ef")
    assert read_intent("Click button ONE.").clauses[0].targets == ("ONE",)
    assert read_intent("Click the cancel button.").clauses[0].targets == ("cancel",)


@pytest.mark.parametrize(
    ("words", "pairs"),
    [
        ('Enter the username "ann" and the password "xy"', (("username", "ann"), ("password", "xy"))),
        ("Set the price to 12.50", (("price", "12.50"),)),
        ("Enter 05/20/2010 as the date", (("date", "05/20/2010"),)),
        ('Change status to "Sent"', (("status", "Sent"),)),
    ],
)
def test_fields_and_values_are_read_as_pairs(words: str, pairs: tuple[tuple[str, str], ...]) -> None:
    assert read_intent(words).pairs == pairs


def test_menu_paths_are_read_part_by_part() -> None:
    assert read_intent("Select Reports > Sales>Orders").clauses[0].path == ("Reports", "Sales", "Orders")
    assert read_intent("Open the reports").clauses[0].path == ()


@pytest.mark.parametrize(
    ("words", "date"),
    [
        ("on 12/23/2016.", (2016, 12, 23)),
        ("2016-12-23", (2016, 12, 23)),
        ("December 23, 2016", (2016, 12, 23)),
        ("the 23rd Dec 2016", (2016, 12, 23)),
    ],
)
def test_dates_are_read_however_they_are_written(words: str, date: tuple[int, int, int]) -> None:
    assert dates_in(words) == (date,)


def test_no_date_is_read_from_a_month_that_there_is_not() -> None:
    assert dates_in("13/40/2016") == ()


def test_times_are_read_with_halves_of_the_day() -> None:
    assert times_in("9:37 PM, 12 am and 14:05") == ((21, 37), (0, 0), (14, 5))


def test_conditions_hold_what_they_say() -> None:
    bound = read_intent("Buy it when the price is less than $56.60").clauses[0].bounds[0]

    assert bound == Bound("<", 56.6, "the price is")
    assert bound.holds(56.5)
    assert not bound.holds(56.6)


def test_superlatives_are_read_with_what_they_are_of() -> None:
    least, most = extremes_in("the cheapest cost")[0], extremes_in("the longest duration")[0]

    assert (least.most, least.of) == (False, "cost")
    assert (most.most, most.of) == (True, "duration")


def test_what_is_only_said_on_the_way_asks_for_no_deed() -> None:
    task = read_intent('Expand the sections below, to find and click on the link "more".')

    assert [needs_nothing(task, number) for number in range(len(task.clauses))] == [True, True, False]


def test_a_purpose_is_not_done_twice() -> None:
    task = read_intent("Find the email by Ann and click the trash icon to delete it.")

    assert [clause.word for n, clause in enumerate(task.clauses) if not needs_nothing(task, n)] == ["click"]


@pytest.mark.parametrize(
    ("words", "subject", "recipient"),
    [
        ("Find the email by Ann and forward that email to Bea.", "Ann", "Bea"),
        ("Give Bea the message you received from Ann,", "Ann", "Bea"),
        ("Send Bea the information Ann sent to you.", "Ann", "Bea"),
        ("Find Ann's email and send it to Bea.", "Ann", "Bea"),
        ('For the user @ann, click on the "Block" button.', "@ann", ""),
        ("Ann's email should be deleted from the inbox.", "Ann", ""),
        ("Click on the button", "", ""),
    ],
)
def test_whom_a_task_is_about_and_to_whom_it_goes(words: str, subject: str, recipient: str) -> None:
    task = read_intent(words)

    assert (subject_of(task), recipient_of(task)) == (subject, recipient)


def test_what_should_be_done_is_read_from_the_passive() -> None:
    assert read_intent("Ann's email should be deleted from the inbox.").clauses[0].verb is Verb.DELETE
    assert read_intent("A note has to be forwarded to Bea").clauses[0].verb is Verb.FORWARD


def test_a_request_is_no_question() -> None:
    assert read_intent("How many red items are there?").question
    assert not read_intent("Will you find the email from Ann and forward it to Bea?").question


def test_names_told_within_longer_ones_do_not_count() -> None:
    told = told_among(
        "Order: Spaghetti and Meatballs, Bread", ["Meatballs", "Spaghetti and Meatballs", "Bread", "Tea"]
    )

    assert told == ["Spaghetti and Meatballs", "Bread"]


@pytest.mark.parametrize(
    ("wanted", "found", "least", "most"),
    [
        ("Save", "Save", 1.0, 1.0),
        ("save", "Save ", 0.95, 0.99),
        ("x", "Close", 0.9, 1.0),
        ("orders", "Order", 0.9, 0.95),
        ("Block", "Block @ann", 0.6, 0.9),
        ("Save", "Delete", 0.0, 0.0),
        ("", "Delete", 0.0, 0.0),
    ],
)
def test_the_better_a_name_fits_the_more_it_counts(
    wanted: str, found: str, least: float, most: float
) -> None:
    assert least <= likeness(wanted, found) <= most


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("8 * 7 =", "56"),
        ("3 - 10 =", "-7"),
        ("x + 4 = 10", "6"),
        ("9 - x = 2", "7"),
        ("1 / 0 =", ""),
        ("no sum", ""),
    ],
)
def test_sums_on_the_page_are_reckoned(text: str, result: str) -> None:
    assert reckoned(text) == result


def test_durations_are_numbers_of_minutes() -> None:
    assert number_in("2h 16m") == 136
    assert number_in("$1,204.50") == 1204.5
    assert number_in("none") is None


@given(st.text(max_size=300))
def test_no_words_can_break_the_reading(text: str) -> None:
    task = read_intent(text)

    assert task.text == text
    for number in range(len(task.clauses)):
        needs_nothing(task, number)
    subject_of(task)
    recipient_of(task)


@given(st.text(alphabet="ab\x02\x01\"' >,.:=0123456789", max_size=80))
def test_no_signs_can_be_taken_for_what_the_reader_puts_in_itself(text: str) -> None:
    read_intent(text)
