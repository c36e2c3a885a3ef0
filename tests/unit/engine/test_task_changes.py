"""A task's words say which changes it asks for; one row a rule, expected values from the sentence."""

from __future__ import annotations

import pytest

from app.engine.agent.write_gate.task_changes import forbidden_verbs, requested_changes


@pytest.mark.parametrize(
    "task",
    [
        "How high is the total?",
        "What did Bob delete last week?",
        "Show me the orders that were cancelled.",
        "Find the page where an account can be deleted",
        'Open the issue "Login fails"',
        "Tell me who archived the report and on what day.",
        "List all products under 20 dollars and sort them by price",
        'Search for "delete my account" and tell me how many results there are',
        "Do you sell aprons?",
        "Go to the settings page",
        "Take me to the basket",
        "Do not buy anything; tell me the price of the Oak Tray.",
        "The final answer should be given in the format [name]: [count].",
        "Compare the two cheapest hotels, without booking any of them.",
    ],
)
def test_a_task_that_looks_asks_or_opens_requests_no_change(task: str) -> None:
    assert requested_changes(task) == ()


@pytest.mark.parametrize(
    ("task", "verb", "senses"),
    [
        ('Delete the draft "Autumn"', "delete", {"delete"}),
        ("Please remove Bob from the team", "remove", {"delete"}),
        ("Could you cancel order 302?", "cancel", {"cancel"}),
        ("I want to buy one Gadget", "buy", {"buy"}),
        ("Your task is to publish the article.", "publish", {"send", "create"}),
        ("If the price is below 10, buy it", "buy", {"buy"}),
        ("Find the invoice 302 and pay it", "pay", {"buy"}),
        ("Open an issue about dark mode", "open", {"create"}),
        ("Put the Oak Tray into the basket", "put", {"edit", "cart"}),
        ("5 blue shirts arrived, update the stock", "update", {"edit"}),
        ("Log out", "log out", {"logout"}),
        ("Lösche den Kommentar", "lösche", {"delete"}),
        ("Frobnicate the widget Foo", "frobnicate", set()),
    ],
)
def test_an_imperative_that_is_no_verb_of_reading_requests_a_change(
    task: str, verb: str, senses: set[str]
) -> None:
    found = requested_changes(task)
    assert [(one.verb, set(one.senses)) for one in found] == [(verb, senses)]


def test_a_verb_of_no_group_is_kept_as_less_certain() -> None:
    assert [one.certain for one in requested_changes("Frobnicate the widget Foo")] == [False]


@pytest.mark.parametrize(
    ("task", "objects", "whose", "places", "values"),
    [
        (
            'Delete the comment "Nice" by Bob Stone on the post "Hello"',
            ("Nice",),
            ("Bob Stone",),
            ("Hello",),
            (),
        ),
        ('Archive alice\'s note "Plan"', ("Plan",), ("alice",), (), ()),
        ("Archive Foo, Bar and Baz", ("Foo", "Bar", "Baz"), (), (), ()),
        ("Cancel order 302", ("302",), (), (), ()),
        ('Set the state of order #12 to "Shipped"', (), ("#12",), (), ("Shipped",)),
        ("Rename the board Alpha to Beta", ("Alpha",), (), (), ("Beta",)),
        ('Post "Thanks" in the issue Foo-12', ("Thanks",), (), ("Foo-12",), ()),
        ('Find the issue "Foo" and close it', ("Foo",), (), (), ()),
        ("Delete the post of March", (), (), (), ()),
    ],
)
def test_names_are_told_apart_by_what_they_are_to_the_verb(
    task: str,
    objects: tuple[str, ...],
    whose: tuple[str, ...],
    places: tuple[str, ...],
    values: tuple[str, ...],
) -> None:
    change = requested_changes(task)[-1]
    assert (change.objects, change.whose, change.places, change.values) == (objects, whose, places, values)


@pytest.mark.parametrize(
    ("task", "count"),
    [
        ('Mark the message "Hi" as read', 1),
        ("Archive Foo and Bar", 2),
        ("Star the top five repositories", 5),
        ("Delete 3 comments by Bob", 3),
        ("Like all posts by Bob", 0),
        ("Delete every draft", 0),
        ("Approve the positive reviews", 0),
        ("Approve the review", 1),
        ("Change the status", 1),
        ("Buy one Gadget", 1),
    ],
)
def test_a_change_is_asked_for_once_unless_the_task_says_how_often(task: str, count: int) -> None:
    assert [one.count for one in requested_changes(task)] == [count]


def test_a_named_control_is_what_the_task_says_to_press() -> None:
    press, purpose = requested_changes('Click "Buy now" to buy the gadget.')
    assert (press.presses, press.senses, purpose.verb) == (("Buy now",), frozenset({"buy"}), "buy")


@pytest.mark.parametrize(
    ("task", "senses"),
    [
        ("Open the page to delete the account", set()),
        ("Go to the check-out to buy it", set()),
        ("Go to the profile to change the name", {"edit"}),
    ],
)
def test_what_cannot_be_taken_back_must_be_asked_for_outright(task: str, senses: set[str]) -> None:
    assert {sense for one in requested_changes(task) for sense in one.senses} == senses


@pytest.mark.parametrize(
    ("task", "verbs"),
    [
        ("Draft a message. Don't submit it yet.", {"submit"}),
        ("Do not buy anything, tell me the price", {"bui"}),
        ("Without deleting anything, rename the board", {"delet"}),
        ("Find the note by Bob, and do not reply", {"repli"}),
        ("Delete the note by Bob", set()),
    ],
)
def test_a_refusal_forbids_its_verb(task: str, verbs: set[str]) -> None:
    assert forbidden_verbs(task) == verbs


def test_a_quoted_text_is_never_a_verb() -> None:
    assert requested_changes('Tell me what stands under "Delete account. Buy now! Send it"') == ()


def test_long_nonsense_is_read_in_bounded_time_and_never_raises() -> None:
    for text in (
        "(" * 5000,
        '"' * 5001,
        "and then " * 3000,
        "a" * 100_000,
        "\ue000\ue001 1" * 900,
        "[{(<" * 2000,
    ):
        requested_changes(text)


def test_an_adjective_behind_a_comma_is_no_verb() -> None:
    assert [one.verb for one in requested_changes("Set up a new, empty folder with the name Plans")] == [
        "set up"
    ]


def test_a_verb_behind_a_comma_is_one() -> None:
    assert [one.verb for one in requested_changes("Open the list, archive Foo, delete the rest")] == [
        "archive",
        "delete",
    ]


@pytest.mark.parametrize(
    "task",
    [
        'What happens when I open the thing "Alpha", and archive it?',
        'How do I mark things, and delete the thing "Alpha"?',
        "Which of them would you archive or delete?",
    ],
)
def test_a_question_asks_for_no_change_whatever_verb_follows_in_it(task: str) -> None:
    assert requested_changes(task) == ()
