"""How the command line tells of tests, records and votes, and with which exit code."""

from __future__ import annotations

import re

import pytest
import typer

from app.cli import tip_tests
from app.engine.api.tip_api import TestedStep, TipStanding, TipTest, TipTests
from app.errors import UsageError
from kb.tip import LastTest, TipRecord

HELD = TipTest(tip="t1", outcome="holds", step=2, message="it holds: 2 steps", url="http://s/", seconds=1.2)
BROKE = TipTest(
    tip="t2", outcome="broke", step=2, message="it broke at step 2: it is gone", became_suspect=True,
    steps=(TestedStep(number=1, line='press "A"', outcome="done"),
           TestedStep(number=2, line='press "B"', outcome="not done", note="it is gone")),
)  # fmt: skip
LOST = TipTest(tip="t3", outcome="not reached", message="s was not reached")
AGAIN = TipTest(tip="t4", outcome="holds", message="it holds: the step", offer="make it active")


@pytest.mark.parametrize(
    ("tests", "code"),
    [([HELD, AGAIN], None), ([], None), ([HELD, BROKE], 1), ([BROKE, LOST], 1), ([HELD, LOST], 3),
     ([TipTest(tip="t5", message="no page")], 3), ([TipTest(tip="t6", outcome="stopped before a write")], None)],
)  # fmt: skip
def test_the_exit_code_says_whether_all_hold(tests: list[TipTest], code: int | None):
    if code is None:
        tip_tests._exit(tests)
        return
    with pytest.raises(typer.Exit) as ended:
        tip_tests._exit(tests)
    assert ended.value.exit_code == code


def test_a_test_is_told_step_by_step():
    assert tip_tests.outcome_text(HELD) == "from http://s/\nit holds: 2 steps (1.2 s)"
    lines = tip_tests.outcome_text(BROKE).splitlines()
    assert lines[1] == '  2  press "B"  [not done: it is gone]'
    assert "suspect now" in lines[-1]
    assert tip_tests.outcome_text(AGAIN).endswith("make it active")


def test_the_tests_of_a_site_are_a_table_with_counts():
    text = tip_tests.outcomes_text(
        TipTests(site="s", tests=(HELD, BROKE, LOST), without_steps=("t9",), cancelled=True)
    )
    for words in (
        "1 holds, 1 broke, 1 not reached",
        "1 tips have no steps: t9",
        "cancelled",
        "; suspect now",
    ):
        assert words in text


def test_a_tip_is_shown_with_its_steps_last_test_and_record():
    record = TipRecord(applied=4, done=3, effect=2, failed=1, up=1, tests=2, broke=1)
    lines = tip_tests.standing_lines(
        TipStanding(
            tip="t",
            steps=("press A",),
            never=("Delete", "/logout"),
            unread=("maybe B",),
            outcome="broke",
            message="gone",
            tested_by="ada",
            record=record,
        )
    )
    assert lines[:3] == ["step 1: press A", 'never: "Delete", "/logout"', "not read: maybe B"]
    assert re.fullmatch(r"last test: broke, [\d: -]+ by ada: gone", lines[3])
    assert lines[4] == (
        "record: applied at 4 steps, done at 3, effect seen at 2, failed at 1, 1 vote up, 0 down, 2 tests, 1 broke"
    )
    untested = tip_tests.standing_lines(TipStanding(tip="t", steps=("press A",)))
    assert untested[1:] == ["last test: none", "record: nothing yet"]


@pytest.mark.parametrize(
    ("record", "words"),
    [(TipRecord(applied=1, done=1), "applied at 1 step, done at 1, effect seen at 0"),
     (TipRecord(up=2, down=1), "2 votes up, 1 down"), (TipRecord(down=1), "0 votes up, 1 down"),
     (TipRecord(tests=1), "1 test, 0 broke"), (TipRecord(), "nothing yet")],
)  # fmt: skip
def test_one_of_a_thing_is_told_in_the_singular(record: TipRecord, words: str):
    assert tip_tests.record_words(record) == words


def test_a_value_needs_a_name():
    assert tip_tests._pair("order_number=a=b") == ("order_number", "a=b")
    for text in ("seven", "=7", " =7"):
        with pytest.raises(UsageError, match="is no value"):
            tip_tests._pair(text)


def test_the_table_of_tips_says_what_the_last_test_found_and_when():
    assert tip_tests.tested_cell(None) == ""
    broke = tip_tests.tested_cell(LastTest(outcome="broke", step=3, at=1_790_000_000.0))
    assert re.fullmatch(r"broke at step 3, 2026-09-\d\d", broke)
    assert tip_tests.tested_cell(LastTest(outcome="holds", at=1_790_000_000.0)).startswith("holds, ")


@pytest.mark.parametrize(
    ("test", "result", "stopped"),
    [
        (HELD, "holds", False),
        (BROKE, "broken", False),
        (LOST, "not reached", False),
        (TipTest(tip="t6", outcome="stopped before a write", step=2), "holds", True),
        (TipTest(tip="t7"), "", False),
    ],
)
def test_a_tests_json_has_the_names_of_the_command_line(test: TipTest, result: str, stopped: bool):
    body = tip_tests.test_body(test)
    assert (body["tip"], body["result"], body["step"], body["why"]) == (
        test.tip,
        result,
        test.step,
        test.message,
    )
    assert body["stopped_before_write"] is stopped
    assert "outcome" not in body
