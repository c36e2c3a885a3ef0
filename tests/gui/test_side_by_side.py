"""Two runs side by side in Review."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt

from app.engine.api.review_api import AlignedStep, RunAlignment
from app.errors import SiteloreError
from app.models.review.comparison_rows import LEFT, RIGHT, RowKind, kind_of, likeness_words
from app.models.review.run_comparison import ComparisonState
from tests.support.qt_loop import until

Key = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier


def runs_of(engine):
    """A failed and two passed runs of one site."""
    for site in sorted({run.site for run in engine.all_runs.values()}):
        here = [run for run in engine.all_runs.values() if run.site == site]
        passed = [run.id for run in here if (run.score or 0) >= 1]
        failed = [run.id for run in here if run.failed]
        if failed and len(passed) > 1:
            return failed[0], passed
    raise AssertionError("no site has both")


def lonely_run(engine):
    """A failed run of a site without a passed one."""
    passed = {run.site for run in engine.all_runs.values() if (run.score or 0) >= 1}
    alone = [run.id for run in engine.all_runs.values() if run.failed and run.site not in passed]
    if not alone:
        for run in list(engine.all_runs.values()):
            if run.site == "map":
                engine.all_runs[run.id] = replace(run, score=0.0)
        return next(run.id for run in engine.all_runs.values() if run.site == "map")
    return alone[0]


def show(desk, run):
    desk.model.open_run(run)
    desk.until(lambda: desk.model.view is not None and desk.model.run == run)


@pytest.fixture
def beside(desk):
    """Review with a run that has passed ones to show beside it."""
    show(desk, runs_of(desk.engine)[0])
    desk.press(Key.Key_Y)
    desk.until(lambda: desk.model.panels.comparison.state is ComparisonState.READY)
    return desk


def test_y_opens_side_by_side_at_the_parting(beside):
    comparison, view = beside.model.panels.comparison, beside.view.panels.comparison
    assert view.isVisible()
    assert not beside.view.step.isVisible()
    assert comparison.row == comparison.parting == 3
    assert view.rows.currentIndex().row() == 3
    assert view.sentence.text() == comparison.alignment.why
    assert view.rows.hasFocus()
    assert view.map_button.isEnabled()
    assert beside.center.place == "compare"


def test_every_row_says_how_the_runs_compare_by_sign_and_word(beside):
    rows = beside.model.panels.comparison.rows
    said = [rows.words(row).partition(":")[0] for row in rows.rows]
    assert said == [*["same action"] * 3, "they part here, different action", "different action",
                    "only left", "only right"]  # fmt: skip


def test_moving_through_rows_shows_both_pages(beside):
    comparison = beside.model.panels.comparison
    beside.press(Key.Key_K)
    assert comparison.row == 2
    beside.until(lambda: all(page.page is not None for page in comparison.pages))
    beside.press(Key.Key_J)
    beside.press(Key.Key_Down)
    beside.press(Key.Key_Down)
    assert comparison.row == 5
    beside.until(lambda: all(page.page is not None for page in comparison.pages))
    sides = beside.view.panels.comparison.sides
    assert [side.remark.text() for side in sides] == ["step 5", "next: step 5"]
    beside.press(Key.Key_J)
    beside.until(lambda: comparison.pages[RIGHT].page is not None)
    assert comparison.pages[LEFT].page is None
    assert sides[LEFT].message.text() == "This run has no step here or later."
    beside.press(Key.Key_S)
    assert comparison.row == 3


def test_enter_opens_the_step_of_the_chosen_run_also_one_that_is_not_in_the_queue(beside):
    comparison = beside.model.panels.comparison
    right = comparison.right
    assert beside.model.queue.model.row_of(right) < 0
    beside.press(Key.Key_J)
    beside.press(Key.Key_L)
    beside.press(Key.Key_Return)
    beside.until(lambda: beside.model.run == right and beside.model.view is not None)
    beside.wait(0.3)
    assert (beside.model.run, beside.model.index) == (right, 4)
    assert beside.view.step.isVisible()
    assert beside.center.place == "review"


@pytest.mark.parametrize("key", [Key.Key_Escape, Key.Key_Y])
def test_escape_and_y_go_back_to_the_run_at_its_step(beside, key):
    run, step = beside.model.run, beside.model.index
    beside.press(Key.Key_J)
    beside.press(key)
    assert beside.view.step.isVisible()
    assert (beside.model.run, beside.model.index) == (run, step)
    assert beside.view.queue.list.hasFocus()
    assert beside.center.place == "review"


def test_n_compares_with_the_next_candidate(beside):
    comparison = beside.model.panels.comparison
    first, second = (one.id for one in comparison.candidates[:2])
    assert comparison.right == first
    beside.press(Key.Key_N)
    beside.until(lambda: comparison.right == second and comparison.state is ComparisonState.READY)
    chooser = beside.view.panels.comparison.chooser
    assert chooser.currentIndex() == 1
    beside.press(Key.Key_N, SHIFT)
    beside.until(lambda: comparison.right == first and comparison.state is ComparisonState.READY)


def test_the_chooser_says_relation_likeness_and_score_in_words(beside):
    chooser = beside.view.panels.comparison.chooser
    assert chooser.itemText(0).startswith("same template · passed · 12 steps")
    assert chooser.itemText(1).startswith("very similar goal · passed")


def test_t_writes_a_tip_at_the_row(beside):
    right = beside.model.panels.comparison.right
    beside.press(Key.Key_L)
    beside.press(Key.Key_T)
    assert beside.model.composer.is_open
    beside.until(lambda: beside.model.run == right and beside.model.view is not None)
    assert beside.model.index == 3


def test_without_a_passed_run_it_says_so_and_f_looks_among_failed_ones(desk):
    show(desk, lonely_run(desk.engine))
    comparison, view = desk.model.panels.comparison, desk.view.panels.comparison
    desk.press(Key.Key_Y)
    desk.until(lambda: comparison.state is ComparisonState.NOTHING_ALIKE)
    assert view.nothing.isVisible()
    assert view.nothing.title.text() == "No passed run to compare with"
    desk.press(Key.Key_F)
    desk.until(lambda: comparison.state is ComparisonState.READY)
    assert view.rows.isVisible()


def test_an_error_has_words(desk, monkeypatch):
    async def refuse(*_given):
        raise SiteloreError("the run's folder is gone")

    monkeypatch.setattr(desk.engine, "align_runs", refuse)
    show(desk, runs_of(desk.engine)[0])
    desk.press(Key.Key_Y)
    comparison = desk.model.panels.comparison
    desk.until(lambda: comparison.state is ComparisonState.ERROR)
    assert desk.view.panels.comparison.error.hint.text() == "the run's folder is gone"
    desk.press(Key.Key_Escape)
    assert not comparison.is_open


def test_tips_that_only_one_run_was_shown_are_named(desk, monkeypatch):
    left, _ = runs_of(desk.engine)

    async def align(one, other):
        rows = (AlignedStep(left=0, right=0, same_action=True),)
        return RunAlignment(left=one, right=other, rows=rows, tips_right=("gitlab-013",))

    monkeypatch.setattr(desk.engine, "align_runs", align)
    show(desk, left)
    desk.press(Key.Key_Y)
    comparison = desk.model.panels.comparison
    desk.until(lambda: comparison.state is ComparisonState.READY)
    heads = desk.view.panels.comparison.heads
    assert heads[RIGHT].tips.text() == "with tip gitlab-013, which the other run was not shown"
    assert heads[LEFT].tips.text() == "without the other run's tips"
    assert comparison.sentence == "Both runs did the same on the same pages."


def test_two_selected_runs_are_compared_as_they_stand_in_the_queue(desk):
    model = desk.model.queue.model
    selection = desk.view.queue.list.selectionModel()
    flag = QItemSelectionModel.SelectionFlag
    assert not desk.center.action("review.compare.selected").isEnabled()
    selection.select(model.index(1), flag.ClearAndSelect)
    selection.select(model.index(2), flag.Select)
    assert desk.center.action("review.compare.selected").isEnabled()
    desk.center.trigger("review.compare.selected")
    comparison = desk.model.panels.comparison
    desk.until(lambda: comparison.state is ComparisonState.READY)
    assert comparison.runs == (model.at(1).id, model.at(2).id)


def test_opening_another_run_ends_the_comparison(beside):
    other = beside.model.panels.comparison.right
    beside.model.open_run(other)
    beside.until(lambda: beside.model.view is not None)
    assert not beside.model.panels.comparison.is_open
    assert beside.view.step.isVisible()


def test_a_verdict_key_judges_this_run(beside):
    left = beside.model.run
    beside.press(Key.Key_5)
    until(lambda: beside.engine.verdicts.get(left))
    assert beside.model.panels.comparison.is_open


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (AlignedStep(left=1, right=1, same_action=True), RowKind.SAME),
        (AlignedStep(left=1, right=2), RowKind.DIFFERENT),
        (AlignedStep(left=1, right=-1), RowKind.ONLY_LEFT),
        (AlignedStep(left=-1, right=1), RowKind.ONLY_RIGHT),
    ],
)
def test_the_kind_of_a_row(row, kind):
    assert kind_of(row) is kind


@pytest.mark.parametrize(
    ("likeness", "words"),
    [(0.95, "nearly the same"), (0.8, "very similar"), (0.5, "similar"), (0.2, "related")],
)
def test_likeness_in_words(likeness, words):
    assert likeness_words(likeness) == words
