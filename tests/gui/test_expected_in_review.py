"""The expected outcome of a run, in the right column of Review."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.engine.api.evaluation_api import ExpectedOutcome
from app.engine.core.evaluation.suite import Dialect
from app.engine.core.evaluation.task_score import ScoreVerdict, SubCheck, TaskScore
from app.engine.core.events import RunsChanged, SuitesChanged
from app.models.review.expected import expected_rows
from app.views.review.expected_section import MOST

FAILED = TaskScore(
    verdict=ScoreVerdict.FAIL,
    score=0.0,
    why="the answer '17' is not '19'",
    dialect=Dialect.WEBARENA,
    checks=(
        SubCheck(
            evaluator="string_match",
            expected="the answer has '19'",
            found="17",
            score=0.0,
            why="'19' is missing",
        ),
        SubCheck(evaluator="url_match", expected="the page in front is /orders", score=1.0),
        SubCheck(
            evaluator="program_html", expected="the page holds 'paid'", score=None, why="it was not stored"
        ),
    ),
)
OUTCOME = ExpectedOutcome(
    suite="webarena",
    task="12",
    template="4",
    expected=("the answer has “19”", "the page in front at the end is /orders"),
    recorded=0.0,
    score=FAILED,
)
SHORT = ExpectedOutcome(suite="webarena", task="12", expected=("the answer is exactly “19”",), recorded=1.0)
BLIND = ExpectedOutcome(suite="shop-tasks", task="12", hidden=True, recorded=0.0)


def given(desk, outcome: ExpectedOutcome | None) -> None:
    """Let the engine know what the open run was expected to come to."""
    if outcome is None:
        desk.engine.expected.clear()
    else:
        desk.engine.expected[desk.model.run] = outcome
    desk.engine.bus.publish(SuitesChanged())
    desk.until(lambda: desk.model.expected.outcome == outcome)


def section(desk):
    return desk.view.judgement.expected


def test_there_is_nothing_where_no_suite_knows_the_task(desk):
    assert not section(desk).isVisible()
    assert not desk.center.action("review.expected").isEnabled()


def test_a_long_outcome_is_folded_to_its_verdict_and_o_unfolds_it(desk, theme):
    given(desk, OUTCOME)
    assert section(desk).isVisible()
    assert not section(desk).rows.isVisible()
    assert section(desk).summary.text() == "does not hold: the answer '17' is not '19'"
    desk.press(Qt.Key.Key_O)
    assert section(desk).rows.isVisible()
    assert section(desk).summary.text() == ""
    rows = section(desk).rows
    assert rows.height() >= min(rows.content_height(), theme.px(MOST))  # none is cut, or the list scrolls
    desk.press(Qt.Key.Key_O)
    assert not section(desk).rows.isVisible()


def test_a_short_one_is_folded_too_so_that_nothing_moves_when_it_arrives(desk):
    given(desk, SHORT)
    assert not section(desk).rows.isVisible()
    assert [line.role for line in desk.model.expected.lines.rows] == ["expected", "recorded"]


def test_the_button_folds_too_and_names_its_key(desk):
    given(desk, SHORT)
    fold = section(desk).fold
    assert fold.text() == "Unfold  O"
    assert fold.accessibleName() == "Expected outcome"
    assert section(desk).summary.text() == "the answer is exactly “19”"
    fold.click()
    assert section(desk).rows.isVisible()
    assert fold.text() == "Fold  O"


def test_a_blind_suite_says_so_and_shows_nothing_else(desk):
    given(desk, BLIND)
    assert section(desk).isVisible()
    assert section(desk).summary.text() == "hidden: the suite shop-tasks is blind"
    assert not section(desk).rows.isVisible()
    assert not section(desk).fold.isVisible()
    desk.press(Qt.Key.Key_O)
    assert not section(desk).rows.isVisible()


def test_another_run_has_its_own_and_what_was_unfolded_stays_so(desk):
    given(desk, OUTCOME)
    desk.press(Qt.Key.Key_O)
    first = desk.model.run
    desk.model.next_run()
    desk.until(lambda: desk.model.run != first and desk.model.detail is not None)
    desk.until(lambda: not section(desk).isVisible())
    desk.model.open_run(first)
    desk.until(lambda: desk.model.expected.outcome == OUTCOME)
    assert section(desk).rows.isVisible()


def test_a_new_verdict_on_the_open_run_is_shown(desk):
    given(desk, SHORT)
    newer = replace(SHORT, score=FAILED)
    desk.engine.expected[desk.model.run] = newer
    desk.engine.bus.publish(RunsChanged(runs=(desk.model.run,)))
    desk.until(lambda: desk.model.expected.outcome == newer)


def test_an_engine_that_can_not_tell_leaves_the_run_as_it_is(desk, monkeypatch):
    async def failing(run: str):
        raise RuntimeError("the suite is gone")

    monkeypatch.setattr(desk.engine, "expected_outcome", failing)
    desk.engine.bus.publish(SuitesChanged())
    desk.wait()
    assert not section(desk).isVisible()
    assert desk.model.detail is not None


def test_rows_say_all_in_words(desk):
    given(desk, OUTCOME)
    QAbstractItemModelTester(desk.model.expected.lines)
    words = [desk.model.expected.lines.words(row) for row in expected_rows(OUTCOME)]
    assert words == [
        "expected: the answer has “19”",
        "expected: the page in front at the end is /orders",
        "recorded (failed 0.0)",
        "by the rules webarena (does not hold): the answer '17' is not '19'",
        "string_match (does not hold): the answer has '19'; found 17; '19' is missing",
        "url_match (holds): the page in front is /orders",
        "program_html (undecided): the page holds 'paid'; it was not stored",
    ]
    assert section(desk).accessibleName() == "Expected outcome"
    assert section(desk).rows.accessibleName()


@pytest.mark.parametrize(
    ("score", "word"),
    [(1.0, "holds"), (0.5, "holds in part, 0.50"), (0.0, "does not hold"), (None, "undecided")],
)
def test_a_verdict_has_one_word(score, word):
    rows = list(expected_rows(replace(SHORT, score=replace(FAILED, score=score, checks=()))))
    assert rows[-1].more == word


def test_a_task_without_a_reference_answer_says_so():
    rows = list(expected_rows(replace(SHORT, expected=(), recorded=None)))
    assert [row.text for row in rows] == ["the suite has no reference answer for this task"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", ["folded", "unfolded", "blind", "long"])
def test_it_is_painted_in_both_schemes(desk, theme, scheme, state, pictures):
    theme.set_mode(scheme)
    texts = tuple(f"the page holds {'x' * 400} {number}" for number in range(9))
    outcome = {"blind": BLIND, "long": replace(OUTCOME, expected=("א" * 300, *texts))}.get(state, OUTCOME)
    given(desk, outcome)
    if state in ("unfolded", "long"):
        desk.press(Qt.Key.Key_O)
    image = desk.view.grab()
    assert not image.isNull()
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        image.save(str(pictures / f"expected-{state}-{scheme}.png"))
