"""A supervised run in Review: interventions on its timeline, steps done by hand, reviewed flags."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.engine.core.supervision import Intervention, OperatorAction
from app.engine.core.trajectory import BY_PERSON
from app.engine.core.verdicts import Flag, Score, Severity
from app.models.common.step_list import step_marks
from app.models.review.flags import ScorecardModel
from app.models.review.interventions import InterventionListModel, flag_remark
from tests.support.made_up import NOW, make_run, make_step


def deed(order, step, done, words="", author="ana", about=""):
    return Intervention(
        run="fake-0",
        step=step,
        action=done,
        words=words,
        author=author,
        about=about,
        at=NOW + order,
        order=order,
    )


DEEDS = (
    deed(1, 1, OperatorAction.PAUSED, "the same click 3 times", "policy", "loop"),
    deed(2, 1, OperatorAction.HINTED, "the orders are in the menu"),
    deed(3, 2, OperatorAction.TOOK_OVER),
    deed(4, 3, OperatorAction.RELEASED, "clicked link 'Orders'"),
    deed(5, 99, OperatorAction.STOPPED),
)
FLAG = Flag(run="fake-0", detector="loop", step=0, severity=Severity.ERROR, confidence=0.9, message="Looping")


def test_the_time_line_is_in_order_and_what_came_after_the_end_stands_at_the_last_step(qapp):
    model = InterventionListModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    run = make_run(0)
    steps = [make_step(run, number) for number in range(4)]
    model.show(DEEDS[::-1], steps)
    assert [row.role for row in model.rows] == ["paused", "hinted", "took over", "released", "stopped"]
    assert model.rows[-1].index == 3
    assert model.words(model.rows[-1]) == "stopped, after step 3 · ana"
    assert model.words(model.rows[1]) == "hinted, before step 1 · ana: the orders are in the menu"
    model.show((), steps)
    assert model.rowCount() == 0


def test_a_run_without_a_step_still_has_its_time_line(qapp):
    model = InterventionListModel()
    model.show(DEEDS, [])
    assert {row.index for row in model.rows} == {0}


def test_marks_say_what_was_done_by_hand_and_where_somebody_intervened():
    run = make_run(0)
    steps = [make_step(run, 0), replace(make_step(run, 1), by=BY_PERSON)]
    marks = step_marks(steps, (), 0, DEEDS[:2])
    assert [mark.by_hand for mark in marks] == [False, True]
    assert marks[1].interventions == (
        "policy: paused 'the same click 3 times'",
        "ana: hinted 'the orders are in the menu'",
    )
    assert marks[0].interventions == ()


@pytest.mark.parametrize(
    ("interventions", "remark"),
    [
        ((), ""),
        ((DEEDS[0],), "paused the run"),
        ((DEEDS[0], deed(9, 0, OperatorAction.DISMISSED, about="loop")), "paused the run · dismissed by ana"),
        (
            (
                deed(8, 0, OperatorAction.DISMISSED, about="loop"),
                deed(9, 0, OperatorAction.CONFIRMED, about="loop", author="bo"),
            ),
            "confirmed by bo",
        ),
        ((deed(9, 5, OperatorAction.DISMISSED, about="loop"),), ""),
        ((deed(9, 0, OperatorAction.DISMISSED, about="slow"),), ""),
    ],
)
def test_a_flag_says_what_came_of_it_and_the_newest_word_on_it_counts(interventions, remark):
    assert flag_remark(FLAG, interventions) == remark


def test_the_scorecard_counts_what_operators_made_of_calls(qapp):
    model = ScorecardModel()
    score = Score(
        detector="loop", site="shop", version=1, fired=9, judged=4, right=3, precision=0.75, recall=0.5,
        reacted=4, reacted_right=3,
    )  # fmt: skip
    model.show([score])
    assert model.index(0, model.columnCount() - 1).data() == "3 of 4"
    last = model.columnCount() - 1
    assert model.headerData(last, Qt.Orientation.Horizontal) == "Live"
    assert "confirmed" in model.headerData(last, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)


@pytest.fixture
def supervised(make_desk, fake_engine, monkeypatch):
    """A Review whose runs were all supervised."""
    opened = fake_engine.open_run

    async def open_run(run):
        detail = await opened(run)
        steps = tuple(
            replace(step, by=BY_PERSON, reason="done by hand") if step.index == 2 else step
            for step in detail.steps
        )
        flags = (*detail.flags, replace(FLAG, run=run))
        return replace(detail, steps=steps, flags=flags, interventions=DEEDS)

    monkeypatch.setattr(fake_engine, "open_run", open_run)
    return make_desk()


def test_the_interventions_of_a_run_are_a_list_whose_rows_open_their_step(supervised, pictures):
    desk, pane = supervised, supervised.view.judgement
    assert pane.intervention_head.text() == "Interventions (5)"
    assert pane.interventions.isVisible()
    pane.interventions.setFocus()
    pane.interventions.setCurrentIndex(desk.model.interventions.index(2))
    desk.press(Qt.Key.Key_Return)
    assert desk.model.index == 2
    assert "Operator action." in desk.view.step.facts.why.toPlainText()
    assert "ana: took over" in desk.view.step.facts.why.toPlainText()
    mark = desk.model.steps.at(2)
    assert mark is not None
    assert "operator action" in desk.model.steps.words(mark)
    if pictures:
        desk.view.grab().save(str(pictures / "review_interventions.png"))


def test_the_flag_in_the_list_says_that_it_paused_the_run(supervised):
    model = supervised.model.flags
    remarks = [model.remark(flag) for flag in model.rows]
    assert "paused the run" in remarks


def test_a_run_that_nobody_supervised_has_no_time_line(desk):
    assert desk.model.interventions.rowCount() == 0
    assert not desk.view.judgement.interventions.isVisible()
