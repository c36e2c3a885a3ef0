"""A tip's test, record and votes in Knowledge; its part in a step in Review and Live."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.engine.api.tip_api import TestedStep, TipTest
from app.engine.core.events import JobChanged
from app.engine.core.supervision import KnowledgeAtStep, PlannedAction, TipAtStep, TipDue
from app.engine.core.trajectory import Exposure, Step
from app.errors import SiteloreError
from app.models.knowledge.knowledge_model import KnowledgeModel
from app.models.live.knowledge import LiveKnowledge, due_words
from app.models.review.relevant_tips import credit_words
from app.views.knowledge.knowledge_view import KnowledgeView
from app.views.live.rows import tip_row
from kb.tip import Status, Tip
from tests.support import qt_loop

Key = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier
TIP = "gitlab-001"
BROKE = TipTest(
    tip=TIP,
    outcome="broke",
    step=2,
    message='it broke at step 2 (press "Go"): it is not on the page',
    steps=(
        TestedStep(number=1, line='press "Orders"', outcome="done"),
        TestedStep(number=2, line='press "Go"', outcome="not done", note="it is not on the page"),
    ),
    became_suspect=True,
)


class TipTestWindow:
    """Knowledge in a window of its own, with one tip of two steps open."""

    def __init__(self, qtbot, client, tasks, center, theme):
        self.engine, self.center = client.api, center
        self.engine.tips[TIP] = replace(self.engine.tips[TIP], do='Press "Orders", then press "Go".')
        self.model = KnowledgeModel(client, tasks)
        self.said: list[str] = []
        self.model.notice.connect(self.said.append)
        self.view = KnowledgeView(self.model, center, theme)
        qtbot.addWidget(self.view)
        self.view.addActions(center.actions())
        center.set_place("knowledge")
        self.view.resize(1224, 900)
        self.view.show()
        self.view.activateWindow()
        self.model.start()
        self.until(lambda: self.model.table.total)
        self.model.open_tip(TIP)
        self.until(lambda: self.model.tests.can_test)
        self.view.focus_first()
        self.pane = self.view.detail.tests

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        QTest.keyClick(QApplication.focusWidget() or self.view, key, modifier)
        qt_loop.turn(0.02)

    def until(self, condition):
        qt_loop.until(condition)

    def asked(self, name):
        return [given for called, given in self.engine.calls if called == name]


@pytest.fixture
def window(qtbot, client, tasks, center, theme):
    theme.set_reduced_motion(True)
    return TipTestWindow(qtbot, client, tasks, center, theme)


# ---------------------------------------------------------------- Knowledge
def test_a_test_marks_the_steps_and_says_that_the_tip_holds(window):
    assert window.pane.test.text() == "Not tested yet."
    assert window.view.detail.steps.head.text() == "Steps (2)"
    window.press(Key.Key_B)
    window.until(lambda: window.pane.test.text().startswith("✓ Holds"))
    assert window.asked("test_tip") == [(TIP, "", {}, False)]
    assert [row.result for row in window.model.editor.procedure.steps.rows] == ["done", "done"]
    assert window.pane.test.text().endswith("by ana")
    assert window.pane.test.property("kind") == "ok"
    assert window.said[-1] == f"{TIP}: it holds"


def test_a_tip_that_broke_says_at_which_step_and_why(window):
    window.engine.tip_tests[TIP] = BROKE
    window.press(Key.Key_B)
    window.until(lambda: window.pane.test.text().startswith("✕ Broke at step 2 of 2"))
    assert "it is not on the page" in window.pane.message.text()
    assert [row.result for row in window.model.editor.procedure.steps.rows] == ["done", "not done"]
    assert window.pane.test.property("kind") == "fail"
    assert "it is suspect now" in window.said[-1]


def test_a_suspect_tip_that_holds_can_be_made_active_again(window):
    window.engine.tips[TIP] = replace(window.engine.tips[TIP], status=Status.SUSPECT, revision=9)
    window.model.start()
    window.until(lambda: window.model.editor.tip.status is Status.SUSPECT)
    again = window.pane.buttons["tip.activate"]
    assert again.isHidden()
    window.press(Key.Key_B)
    window.until(lambda: not again.isHidden())
    again.click()
    window.until(lambda: window.engine.tips[TIP].status is Status.ACTIVE)
    window.until(again.isHidden)


def test_a_running_test_tells_its_progress_and_is_stopped(window):
    ended = asyncio.Event()

    async def slowly(tip, *_more):
        await ended.wait()
        return TipTest(tip=tip, message="the test was cancelled")

    window.engine.test_tip = slowly
    window.press(Key.Key_B)
    assert window.pane.test.text() == "Waiting for a browser…"
    assert not window.center.action("tip.test").isEnabled()
    job = JobChanged(
        id="job-9", title=f"Test the tip {TIP}", state="running", done=1, total=2, detail='press "Go"'
    )
    window.engine.bus.publish(job)
    window.until(lambda: window.pane.test.text() == 'Testing: step 2 of 2, press "Go"')
    stopped = []

    async def cancel(job_id):
        stopped.append(job_id)
        ended.set()

    window.engine.cancel_job = cancel
    window.press(Key.Key_B, SHIFT)
    window.until(lambda: window.said and window.said[-1] == f"{TIP}: the test was cancelled")
    assert stopped == ["job-9"]
    assert window.pane.test.text() == "Not tested yet."
    assert window.center.action("tip.test").isEnabled()


def test_a_test_without_a_browser_says_so_and_can_be_tried_again(window):
    async def fails(*_given):
        raise SiteloreError("no browser can be started")

    window.engine.test_tip = fails
    window.press(Key.Key_B)
    window.until(lambda: "no browser can be started" in window.pane.test.text())
    assert window.pane.test.property("kind") == "fail"
    assert window.center.action("tip.test").isEnabled()


def test_all_tips_of_the_site_are_tested_and_counted(window):
    window.center.trigger("knowledge.test_site")
    window.until(lambda: window.said and window.said[-1].startswith("Tips of gitlab: "))
    assert window.asked("test_tips") == [("gitlab", False)]
    assert "holds" in window.said[-1]


def test_a_vote_is_given_and_the_same_again_takes_it_back(window):
    window.press(Key.Key_P)
    window.until(lambda: window.pane.votes.text() == "1 useful, 0 not useful (you: useful)")
    window.press(Key.Key_P, SHIFT)
    window.until(lambda: window.pane.votes.text() == "0 useful, 1 not useful (you: not useful)")
    window.press(Key.Key_P, SHIFT)
    window.until(lambda: window.pane.votes.text() == "No votes yet")
    assert [vote for _, _, vote in window.asked("vote_tip")] == [1, -1, 0]


def test_steps_of_a_stored_tip_are_corrected_in_its_edit(window):
    steps = window.view.detail.steps
    assert steps.links.isHidden()
    window.press(Key.Key_E)
    assert not steps.links.isHidden()
    steps.list.setFocus()
    window.press(Key.Key_Home)
    steps.fields["target"].setFocus()
    steps.fields["target"].selectAll()
    QTest.keyClicks(steps.fields["target"], "Sales")
    window.press(Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    window.until(lambda: window.asked("edit_tip"))
    saved = window.asked("edit_tip")[0][1]
    assert [one.target for one in saved.procedure.steps] == ["Sales", "Go"]
    window.until(lambda: steps.origin.text() == "corrected by a person")


def test_every_control_of_a_tips_steps_and_test_has_a_name(window):
    window.press(Key.Key_E)
    detail = window.view.detail
    for widget in (*detail.steps.tab_order, *detail.tests.buttons.values()):
        assert widget.accessibleName(), widget


# ---------------------------------------------------------------- Review
@pytest.mark.parametrize(
    ("exposure", "executed", "credited", "said"),
    [
        (Exposure(tip="t", applied=True, step=2, effect=True), True, True, "step 2 of 2 done, effect seen"),
        (Exposure(tip="t", applied=True, step=2), True, True, "step 2 of 2 done, no effect seen"),
        (Exposure(tip="t", applied=True, step=1), False, True, "step 1 of 2 failed"),
        (Exposure(tip="t", applied=True), True, True, "applied, not done"),
        (Exposure(tip="t"), True, True, "not applicable here"),
        (Exposure(tip="t"), True, False, ""),
        (Exposure(tip="t", followed=False), True, True, ""),
        (None, True, True, ""),
    ],
)
def test_a_tip_in_force_says_its_part_in_the_action(exposure, executed, credited, said):
    tip = Tip(id="t", site="shop", text="t", do='Press "Orders", then press "Go".')
    step = Step(index=0, url="http://shop/", title="Shop", executed=executed)
    assert credit_words(exposure, tip, step, credited) == said


def test_a_tip_whose_steps_were_all_done_before_says_so():
    tip = Tip(id="t", site="shop", text="t", do='Press "Orders", then press "Go".')
    step = Step(index=4, url="http://shop/", title="Shop", executed=True)
    assert credit_words(Exposure(tip="t"), tip, step, True, done=2) == "all 2 steps done before"
    assert credit_words(Exposure(tip="t"), tip, step, True, done=1) == "not applicable here"


# ---------------------------------------------------------------- Live
@pytest.mark.parametrize(
    ("due", "said"),
    [
        (None, ""),
        (TipDue(tip="t", steps=2), "not applicable here"),
        (
            TipDue(tip="t", steps=2, number=2, line='press "Go"', applies=True),
            'next: step 2 of 2, press "Go"',
        ),
        (
            TipDue(tip="t", steps=2, number=2, line='press "Go"', applies=True, why="no such control"),
            'next: step 2 of 2, press "Go" (not here: no such control)',
        ),
        (TipDue(tip="t", steps=2, number=3, applies=True, over=True), "all 2 steps done"),
        (
            TipDue(tip="t", steps=2, number=2, applies=True, why="step 2 of 2 failed: gone"),
            "step 2 of 2 failed: gone",
        ),
    ],
)
def test_a_given_tip_says_its_next_step(due, said):
    tip = TipAtStep(tip="t", text="the text", route="url", due=due)
    assert due_words(tip) == said
    texts = [span.text for one in tip_row(tip).lines if hasattr(one, "spans") for span in one.spans]
    assert (said in texts) is bool(said)
    assert due_words(replace(tip, cut="over the budget")) == ""


def test_the_panel_in_live_takes_the_next_step_from_the_planned_action(client, tasks):
    knowledge = LiveKnowledge(client, tasks)
    here = KnowledgeAtStep(run="r", step=3, tips=(TipAtStep(tip="t", text="the text", route="url"),))
    due = TipDue(tip="t", steps=2, number=1, line='press "Orders"', applies=True)
    knowledge.show("r", here, PlannedAction(run="r", step=3, words="press", due=(due,)))
    assert due_words(knowledge.tips.rows[0]) == 'next: step 1 of 2, press "Orders"'
    knowledge.plan(PlannedAction(run="r", step=4, words="press", due=(due,)))
    assert due_words(knowledge.tips.rows[0]) == ""


def test_columns_are_chosen_with_the_keyboard_and_remembered(window):
    table, header = window.view.tips.table, window.view.tips.table.horizontalHeader()
    window.view.columns.setSizes([1000, 224])
    votes = window.model.table.column_of("votes")
    window.until(lambda: not header.isSectionHidden(votes))
    window.center.trigger("knowledge.columns")
    menu = QApplication.activePopupWidget()
    assert menu.accessibleName() == "Columns of the table"
    while menu.activeAction().text() != "Votes":
        QTest.keyClick(menu, Key.Key_Down)
    QTest.keyClick(menu, Key.Key_Return)
    assert table.hidden == {"votes"}
    assert header.isSectionHidden(votes)
    layout = window.view.save_layout()
    table.hidden = set()
    window.view.restore_layout(layout | {"table": {"hidden": ["votes", "text", "nonsense"]}})
    assert table.hidden == {"votes"}, "the text is never hidden"
    window.view.tips.restore({})
    assert table.hidden == set()
