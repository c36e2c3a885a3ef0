"""Questions read from its grammar: the oracle is what a person would underline in it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.agent.scout.questions import Aggregate, Question, ValueKind, read_question
from app.engine.agent.scout.task import TaskMode, TaskPart, read_task
from app.engine.core.text import word_set


def asked(text: str) -> Question:
    return read_question(read_task(text).parts[-1])


@pytest.mark.parametrize(
    ("text", "aggregate", "phrases"),
    [
        ("What is the email address of Maria Keller?", Aggregate.VALUE, ["email address"]),
        ("Tell me the name and email address of Maria Keller.", Aggregate.VALUE, ["name", "email address"]),
        ("What priority does issue 5 have?", Aggregate.VALUE, ["priority"]),
        ('Which language is "A Tale" in?', Aggregate.VALUE, ["language"]),
        ("How many open issues are there?", Aggregate.COUNT, ["open issues"]),
        ('What is the number of pages of "A Tale"?', Aggregate.COUNT, ["pages"]),
        ("What is the phone number of Maria Keller?", Aggregate.VALUE, ["phone number"]),
        ("How many issues are there for each status?", Aggregate.GROUP_COUNT, ["issues"]),
        ("List all issues by Ada.", Aggregate.LIST, ["issues"]),
        ("Which books were published after 2010?", Aggregate.LIST, ["books"]),
        ("What is the average price of the tickets?", Aggregate.AVERAGE, ["average price"]),
        ("What is the total of orders placed in 2025?", Aggregate.SUM, ["total"]),
        ("Which order has the highest total?", Aggregate.LARGEST, ["order"]),
        ("What is the cheapest ticket?", Aggregate.SMALLEST, ["ticket"]),
        ("What is the status of the latest issue?", Aggregate.LARGEST, ["status"]),
        ('Is the ticket "Foo" resolved?', Aggregate.YES_NO, ["resolved"]),
        ('Does the book "A Tale" have a publisher?', Aggregate.YES_NO, ["publisher"]),
        ('What is the difference between the price of "A" and "B"?', Aggregate.DIFFERENCE, ["price"]),
    ],
)
def test_the_aggregate_and_the_values_asked_for_are_read(
    text: str, aggregate: Aggregate, phrases: list[str]
) -> None:
    question = asked(text)
    assert (question.aggregate, [one.phrase for one in question.asked]) == (aggregate, phrases)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Who reported issue 5?", [("reported", ValueKind.PERSON)]),
        ('Who is the author of "A Tale"?', [("author", ValueKind.PERSON)]),
        ("Who is issue 12 assigned to?", [("assigned", ValueKind.PERSON)]),
        ('When was "Printer on fire" last changed?', [("last changed", ValueKind.DATE)]),
        ('How much does "Summer fair" cost?', [("cost", ValueKind.AMOUNT)]),
        (
            "Who reported issue 5, and on what day?",
            [("reported", ValueKind.PERSON), ("reported", ValueKind.DATE)],
        ),
        ('Where is "Summer fair" held?', [("held", ValueKind.PLACE)]),
    ],
)
def test_the_question_word_tells_the_kind_of_value_and_the_verb_its_label(
    text: str, kinds: list[tuple[str, ValueKind]]
) -> None:
    assert [(one.phrase, one.kind) for one in asked(text).asked] == kinds


@pytest.mark.parametrize(
    ("text", "attribute", "low", "high", "strict"),
    [
        ("List issues with more than 5 messages.", "messages", 5, None, True),
        ("List issues with at least 5 messages.", "messages", 5, None, False),
        ("List orders with a total over $1,100.50.", "total", Decimal("1100.50"), None, True),
        ("List books with 100 pages or more.", "", 100, None, False),
        ("How many books have between 100 and 200 pages?", "pages", 100, 200, False),
        ("List events with a price below 30.", "price", None, 30, True),
        ("List files of up to 3 MB.", "", None, 3 * 1024**2, False),
    ],
)
def test_limits_on_numbers_are_read_with_their_column(
    text: str, attribute: str, low: Decimal | None, high: Decimal | None, strict: bool
) -> None:
    (limit,) = asked(text).limits
    assert (limit.low, limit.high, limit.strict) == (low, high, strict)
    assert attribute in limit.attribute


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("List issues created before March 2025.", None, date(2025, 2, 28)),
        ("List issues created after 5 March 2025.", date(2025, 3, 6), None),
        ("List issues created since 2025-03-05.", date(2025, 3, 5), None),
        ("How many issues were created in 2025?", date(2025, 1, 1), date(2025, 12, 31)),
        ("How many issues were created on 3/5/2025?", date(2025, 3, 5), date(2025, 3, 5)),
        ("List orders placed between January 5, 2025 and March 6, 2025.", date(2025, 1, 5), date(2025, 3, 6)),
    ],
)
def test_limits_on_dates_are_the_days_allowed(text: str, start: date | None, end: date | None) -> None:
    (limit,) = asked(text).limits
    assert limit.period == (start, end)


def test_an_age_is_a_limit_in_seconds_before_today() -> None:
    (limit,) = asked("How many tickets are older than 30 days?").limits
    assert (limit.age, limit.low, limit.high) == (True, 30 * 86400, None)


def test_a_comparison_with_what_is_no_number_is_kept_as_a_limit_without_bounds() -> None:
    (limit,) = (
        asked("Which orders have a higher total than the average?").limits
        or asked("List orders with a total larger than average.").limits
    )
    assert (limit.low, limit.high, limit.period) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "word", "attribute", "place", "owned"),
    [
        ("Which issue has the most messages?", "most", "messages", 1, True),
        ("What is the title of the second oldest book?", "oldest", "book", 2, False),
        ("Which order has the highest total?", "highest", "total", 1, True),
        ("What is the 3rd longest book?", "longest", "book", 3, False),
        ("What is the most recent order?", "recent", "order", 1, False),
    ],
)
def test_a_superlative_is_an_order_of_a_column_or_of_the_things(
    text: str, word: str, attribute: str, place: int, owned: bool
) -> None:
    order = asked(text).order
    assert order is not None
    assert (order.word, order.attribute, order.place, order.owned) == (word, attribute, place, owned)


def test_the_first_rows_of_an_order_are_asked_for_by_their_number() -> None:
    question = asked("What is the total number of comments on the top 40 most commented posts?")
    assert (question.aggregate, question.top, question.things) == (Aggregate.COUNT, 40, "comments")


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("How many books are not read yet?", ("read",)),
        ("List the books without a publisher.", ("publisher",)),
        ("Which issues are neither open nor assigned?", ("open", "assigned")),
        ("How many users have a domain other than mail.example?", ("mail.example",)),
    ],
)
def test_what_must_not_hold_is_kept_apart(text: str, negated: tuple[str, ...]) -> None:
    assert asked(text).negated == negated


def test_words_that_say_which_things_are_meant_must_hold() -> None:
    assert asked("How many overdue invoices are unpaid?").modifiers == ("overdue", "unpaid")


def test_a_year_and_a_date_are_no_names() -> None:
    assert [one.text for one in asked("Which books were published after 2010 by Ada Brown?").names] == [
        "Ada Brown"
    ]


@given(st.text(max_size=200))
def test_whatever_is_asked_is_read_as_something(text: str) -> None:
    question = read_question(TaskPart(mode=TaskMode.QUESTION, text=text))
    assert question.asked or question.aggregate is Aggregate.DIFFERENCE


_WORDS = word_set("how many who the most oldest of in and what 5 than more not § ¤ @1 before 2025")


@given(
    st.lists(
        st.sampled_from(sorted(_WORDS)),
        max_size=60,
    )
)
def test_words_of_questions_in_any_order_are_read_as_something(told: list[str]) -> None:
    for part in read_task(" ".join(told)).parts:
        assert read_question(part).asked
