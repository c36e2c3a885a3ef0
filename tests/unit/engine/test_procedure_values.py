"""Values of a task fill the placeholders of a tip's steps, and nothing is guessed."""

from __future__ import annotations

import pytest

from app.engine.agent.procedures.values import fill_placeholders


@pytest.mark.parametrize(
    ("task", "names", "values"),
    [
        ("Close issue 123 of the project", ["issue_number"], {"issue_number": "123"}),
        ("Show order #000000189", ["number"], {"number": "000000189"}),
        ('Invite "byteblaze" to the project', ["user_name"], {"user_name": "byteblaze"}),
        (
            "Find the repository openapi-generator and tell its stars",
            ["repository_name"],
            {"repository_name": "openapi-generator"},
        ),
        (
            'Set the status of issue 12 to "Done"',
            ["issue_number", "status"],
            {"issue_number": "12", "status": "Done"},
        ),
        ("Write to ann@example.com", ["e_mail_address"], {"e_mail_address": "ann@example.com"}),
        ("Set the due date to 2024-03-09", ["due_date"], {"due_date": "2024-03-09"}),
        ("Deny order YPAFR of the Coastal Conference 2027", ["code", "message"], {"code": "YPAFR"}),
        ("Who used SPONS-7976-06 in July 2027?", ["voucher_code"], {"voucher_code": "SPONS-7976-06"}),
        ("Show the ANNUAL report of Ann Lee", ["person"], {}),
        ("How many products are there?", ["product_name"], {}),
        ("Compare order 12 with order 15", ["number"], {}),
        ("Who wrote it?", [], {}),
    ],
)
def test_placeholders_take_the_values_a_task_names(task: str, names: list[str], values: dict[str, str]):
    assert fill_placeholders(names, task) == values


def test_a_number_is_asked_for_and_a_word_does_not_do():
    assert fill_placeholders(["order_number"], 'Cancel the order of "Ann"') == {}


def test_two_values_for_one_open_placeholder_are_not_guessed_between():
    assert "thing" not in fill_placeholders(["thing"], 'Take "red" or "blue"')
