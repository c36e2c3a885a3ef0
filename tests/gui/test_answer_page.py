"""At the step that answers the middle of Review shows the answer page; its places open the pages they stand on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor

from app.engine.api.evaluation_api import ExpectedOutcome
from app.engine.api.review_api import AnswerPage, AnswerPlace, AnswerTerm
from app.engine.core.evaluation.suite import Dialect
from app.engine.core.evaluation.task_score import ScoreVerdict, SubCheck, TaskScore
from app.models.review.answer_page_model import answer_rows
from tests.support.made_up import STEPS

Key = Qt.Key
RUN = "cba-shopping-101"
LAST = STEPS - 1


def place(step: int, line: int = 12, text: str = "Search 1") -> AnswerPlace:
    return AnswerPlace(
        step=step, line=line, url=f"http://shop.example/{step}", title=f"Page {step}", text=text
    )


def page(desk, **fields) -> AnswerPage:
    run = desk.engine.all_runs[RUN]
    given = {
        "run": RUN,
        "step": LAST,
        "intent": run.intent,
        "answer": run.answer,
        "ended": "answered",
        "pages": 13,
    }
    return AnswerPage(**{**given, **fields})


def outcome(**fields) -> ExpectedOutcome:
    check = SubCheck(
        evaluator="string_match", expected="the answer has '19'", found="17", score=0.0, why="no '19' in it"
    )
    score = TaskScore(
        verdict=ScoreVerdict.FAIL, score=0.0, why="1 of 1 rules fails", dialect=Dialect.WEBARENA, checks=(check,)
    )  # fmt: skip
    return ExpectedOutcome(
        **{"suite": "webarena", "task": "101", "expected": ("the answer has “19”",), "score": score, **fields}
    )


@pytest.fixture
def opened(desk):
    """Open the run at the step that answers, with this page."""

    def open_at(step: int | None = LAST, **fields):
        desk.engine.answer_pages[RUN] = page(desk, **fields)
        desk.model.open_run(RUN, step)
        desk.until(lambda: desk.model.why.answer.page is not None and desk.model.run == RUN)
        desk.wait()
        return desk.view.step

    return open_at


def test_the_step_that_answers_shows_task_answer_expected_and_checks(opened, desk):
    step = opened(expected=outcome())
    assert step.shows_answer
    text = step.answer.text.toPlainText()
    run = desk.engine.all_runs[RUN]
    parts = [
        run.intent,
        run.answer,
        "the answer has “19”",
        "✗ string_match (does not hold)",
        "found 17",
        "no '19' in it",
    ]
    places = [text.find(part) for part in parts]
    assert min(places) >= 0, text
    assert places == sorted(places)
    assert not step.facts.isVisible()
    assert "before it can be saved" in text


def test_a_blind_suite_is_said_to_be_blind_and_shows_nothing(opened):
    text = opened(expected=outcome(hidden=True, expected=(), score=None)).answer.text.toPlainText()
    assert "Hidden: the suite webarena is blind." in text
    assert "19" not in text.split("Expected")[1].split("Why")[0]


def test_other_steps_show_their_pages_and_a_key_shows_the_answer_page_for_that_step(opened, desk):
    step = opened(3)
    assert not step.shows_answer
    desk.press(Key.Key_I)
    assert step.shows_answer
    assert desk.model.index == 3
    desk.press(Key.Key_I)
    assert not step.shows_answer
    desk.press(Key.Key_I)
    desk.press(Key.Key_L)
    assert not step.shows_answer
    for _ in range(LAST - 4):
        desk.press(Key.Key_L)
    assert step.shows_answer


def test_a_term_on_no_page_is_said_so_and_the_others_have_their_places(opened, desk):
    terms = (
        AnswerTerm(text="Samsung", kind="name", places=(place(3), place(4))),
        AnswerTerm(text="17", kind="number"),
        AnswerTerm(text="1TB", kind="number", in_task=True),
    )
    step = opened(terms=terms)
    rows = [str(desk.model.why.answer.rows.index(row).data()) for row in range(5)]
    assert rows == [
        "'17': on no visited page",
        "'Samsung': at 2 places",
        "step 3 · Page 3: Search 1",
        "step 4 · Page 4: Search 1",
        "'1TB': the task says it, too",
    ]
    assert step.answer.summary.text() == "1 of 2 stand on the 13 visited pages."


def test_a_single_visited_page_is_not_counted(opened):
    step = opened(terms=(AnswerTerm(text="17", kind="number"),), pages=1, missing=2)
    assert step.answer.summary.text() == "0 of 1 stand on the visited page; 2 not recorded."


@pytest.mark.parametrize("zoom", [1.0, 1.5, 2.0])
def test_a_long_reason_is_never_drawn_over_the_places_below_it(opened, desk, zoom):
    pane = opened(terms=()).answer
    pane.text.write(desk.model.why.answer)
    for _ in range(12):
        pane.text.append("a line of the agent's reason")
    theme = desk.view._theme
    theme.set_zoom(zoom)
    desk.wait()
    try:
        for height in (pane.height(), 300):
            pane.resize(pane.width(), height)
            desk.wait()
            assert pane.text.geometry().bottom() < pane.head.geometry().top()
            assert pane.head.geometry().bottom() < pane.height()
    finally:
        theme.set_zoom(1.0)


@pytest.mark.parametrize(
    ("step", "side"), [(3, "before"), (STEPS, "after")], ids=["a page", "the final page"]
)
def test_enter_on_a_place_opens_its_step_with_the_line_marked(opened, desk, step, side, monkeypatch):
    real = desk.engine.view_step

    async def whole(run, index):
        view = await real(run, index)
        return replace(view, after=view.before) if index == LAST else view

    monkeypatch.setattr(desk.engine, "view_step", whole)
    pane = opened(terms=(AnswerTerm(text="Search", kind="name", places=(place(step),)),))
    desk.model.views.forget(RUN)
    pane.answer.places.setFocus()
    pane.answer.places.setCurrentIndex(desk.model.why.answer.rows.index(1))
    desk.press(Key.Key_Return)
    shown = getattr(pane, side)
    desk.until(lambda: shown.model.marked >= 0)
    assert not pane.shows_answer
    assert desk.model.index == min(step, LAST)
    assert shown.model.all_lines[shown.model.marked].row == 12
    assert str(shown.lines.currentIndex().data()).endswith("in the answer")
    desk.press(Key.Key_I)
    assert pane.shows_answer


def test_more_places_than_a_few_are_unfolded_by_enter(opened, desk):
    terms = (AnswerTerm(text="Mug", kind="name", places=tuple(place(3, line) for line in range(8))),)
    step = opened(terms=terms)
    assert [row.hidden for row in answer_rows(terms, set())] == [0, 0, 0, 0, 5]
    step.answer.places.setFocus()
    step.answer.places.setCurrentIndex(desk.model.why.answer.rows.index(4))
    desk.press(Key.Key_Return)
    desk.until(lambda: desk.model.why.answer.rows.rowCount() == 9)


def test_the_answer_is_selected_and_copied_by_keyboard(opened, desk):
    text = opened().answer.text
    text.setFocus()
    cursor = text.document().find(desk.engine.all_runs[RUN].answer)
    text.setTextCursor(QTextCursor(cursor))
    desk.press(Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == desk.engine.all_runs[RUN].answer


def test_a_run_without_steps_shows_its_whole_error(desk):
    error = "ValueError: Could not find any task config. " * 20 + "the very end"
    run = replace(desk.engine.all_runs[RUN], step_count=0, answer=None, error=error)
    desk.engine.all_runs[RUN] = run
    desk.model.open_run(RUN)
    desk.until(lambda: desk.model.detail is not None and desk.model.run == RUN)
    desk.wait()
    assert desk.view.step.shows_answer
    text = desk.view.step.answer.text.toPlainText()
    assert error in text
    assert "It has no recorded steps." in text
    assert not desk.view.step.answer.places.isVisible()


def test_an_answer_that_cannot_be_searched_says_why(desk, monkeypatch):
    async def broken(run):
        raise OSError("the pages are gone")

    monkeypatch.setattr(desk.engine, "answer_page", broken)
    desk.model.open_run(RUN, LAST)
    desk.until(lambda: desk.model.why.answer.error)
    assert "the pages are gone" in desk.view.step.answer.summary.text()


@pytest.mark.parametrize(
    "name", ["cba-shopping_admin-107", "cba-shopping-111"], ids=["300 characters", "right-to-left"]
)
def test_long_and_right_to_left_tasks_stand_whole_on_the_answer_page(desk, name):
    desk.model.open_run(name, LAST)
    desk.until(lambda: desk.model.detail is not None and desk.model.run == name)
    desk.wait()
    if not desk.view.step.shows_answer:
        desk.press(Key.Key_I)
    assert desk.engine.all_runs[name].intent in desk.view.step.answer.text.toPlainText()
    assert desk.view.minimumSizeHint().width() <= 1224
