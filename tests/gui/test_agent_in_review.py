"""The agent in Review: started by keyboard, its memory at each step, its tips and effects."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit

from app.engine.api.run_api import RunMemory, RunRequest
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.events import RunAdvanced
from app.engine.core.ledger import Checkpoint, DeadEnd, Fact, Ledger, LedgerEvent, Note, PlanNode
from app.engine.core.trajectory import Exposure, Step
from app.models.review.relevant_tips import role_words, route_words
from app.models.review.review_facts import facts_of_step
from app.models.review.run_memory import MemoryList, lines_of

Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier

LEDGER = Ledger(
    goal="How high is the total?",
    subgoal="open the orders",
    plan=(PlanNode(id="p1", parent="", intent="open the orders"),),
    facts=(
        Fact(key="total", value="42", step=4),
        Fact(key="colour", value="red", step=1, retracted=True),
    ),
    dead_ends=(
        DeadEnd(state="s", target="link 'Dead'", cause="no effect", words="it did nothing", step=2, until=10),
    ),
    checkpoints=(Checkpoint(kind="navigation", words="reached /orders", step=3),),
    episodic=("the page was lost once",),
    notes=(Note(number=1, text="order 17 is open", step=1),),
)
MEMORY = RunMemory(ledger=LEDGER, events=(LedgerEvent(seq=1, at=1.0, step=0, kind="goal"),))


def typed(field, text):
    field.setFocus()
    if isinstance(field, QPlainTextEdit):
        field.setPlainText(text)
    else:
        field.setText(text)
        field.textEdited.emit(text)


# ---------------------------------------------------------------- memory
def test_e_shows_what_the_agent_remembered_after_this_step_and_e_again_the_judgement(desk):
    desk.engine.memories[desk.model.run] = MEMORY
    desk.press(Key.Key_E)
    desk.until(lambda: desk.model.memory.lines.rows)
    assert desk.view.side.currentWidget() is desk.view.memory
    assert desk.view.memory.head.text() == "Memory after step 4"
    roles = [line.role for line in desk.model.memory.lines.rows]
    assert roles == ["goal", "subgoal", "plan", "fact", "fact", "dead end", "landmark", "note 1", "episode"]
    desk.press(Key.Key_E)
    assert desk.view.side.currentWidget() is desk.view.judgement
    assert not desk.model.memory.watched


def test_the_memory_follows_the_step_and_a_run_without_one_says_so(desk):
    desk.press(Key.Key_E)
    desk.until(lambda: desk.model.memory.missing != "")
    assert desk.view.memory.missing.isVisible()
    assert "has no ledger" in desk.view.memory.missing.text()
    desk.engine.memories[desk.model.run] = MEMORY
    desk.press(Key.Key_L)
    desk.until(lambda: desk.model.memory.lines.rows)
    assert desk.view.memory.head.text() == "Memory after step 5"
    assert not desk.view.memory.missing.isVisible()


def test_nobody_is_asked_for_memories_that_nobody_looks_at(desk):
    desk.press(Key.Key_L)
    desk.wait(0.3)
    assert desk.model.memory.lines.rowCount() == 0


def test_escape_leads_back_from_the_memory_and_the_keys_with_it(desk):
    desk.press(Key.Key_E)
    desk.press(Key.Key_Escape)
    assert desk.view.side.currentWidget() is desk.view.judgement


def test_what_is_new_at_a_step_and_what_was_taken_back_is_told():
    lines = {line.key: line for line in lines_of(LEDGER, 4)}
    assert lines["fact 0"].new
    assert not lines["dead end 0"].new
    assert "retracted" in lines["fact 1"].more
    assert lines["dead end 0"].text == "link 'Dead': it did nothing"
    assert lines["dead end 0"].more == "step 2 · no effect · again from step 10"


def test_the_list_of_memories_is_a_sound_model(qapp):
    model = MemoryList()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.merge(list(lines_of(LEDGER, 1)))
    model.merge(list(lines_of(Ledger(goal="another"), 1)))
    assert model.data(model.index(0, 0)) == "goal: another"


# ---------------------------------------------------------------- a run of one's own
def test_a_task_is_typed_and_sent_off_without_the_mouse(desk):
    form = desk.view.run_form
    desk.press(Key.Key_N, CTRL)
    assert desk.view.side.currentWidget() is form
    assert form.intent.hasFocus()
    desk.type("How high is the total?")
    desk.press(Key.Key_Tab)
    desk.type("shop.example")
    desk.press(Key.Key_Return)
    desk.until(lambda: any(name == "run_task" for name, _ in desk.engine.calls))
    ((request,),) = [arguments for name, arguments in desk.engine.calls if name == "run_task"]
    assert request == RunRequest(
        intent="How high is the total?", start_url="https://shop.example", supervised=True
    )
    assert desk.view.side.currentWidget() is desk.view.judgement
    desk.until(lambda: any("Run ended, answered: 42" in said for said in desk.said))


def test_what_is_missing_is_said_where_it_is_missing(desk):
    form = desk.view.run_form
    desk.press(Key.Key_N, CTRL)
    form.start.click()
    desk.wait()
    assert form.says["intent"].text().startswith("! ")
    assert form.says["start_url"].text().startswith("! ")
    assert form.intent.hasFocus()
    typed(form.fields["max_steps"], "many")
    assert form.says["max_steps"].text().startswith("! ")
    assert not any(name == "run_task" for name, _ in desk.engine.calls)


def test_a_run_that_can_not_start_says_why_in_the_form(desk):
    desk.engine.refuses_runs = "no model is set; give an endpoint in the settings"
    form = desk.view.run_form
    desk.press(Key.Key_N, CTRL)
    typed(form.intent, "Open the orders")
    typed(form.fields["start_url"], "http://shop.example/")
    form.policies["llm"].click()
    form.start.click()
    desk.until(lambda: desk.model.run_form.error != "")
    assert form.error.text() == desk.engine.refuses_runs
    assert desk.view.side.currentWidget() is form
    assert form.error.isVisible()
    assert form.intent.toPlainText() == "Open the orders"
    assert desk.engine.calls[-1][1][0].policy == "llm"


def test_the_same_task_again_takes_task_and_address_of_the_open_run(desk):
    desk.press(Key.Key_A)
    assert desk.view.side.currentWidget() is desk.view.run_form
    assert desk.view.run_form.intent.toPlainText() == desk.model.detail.run.intent
    assert desk.view.run_form.fields["start_url"].text() == desk.model.detail.run.start_url


def test_runs_that_go_on_are_told_step_by_step_and_can_be_stopped(desk):
    event = RunAdvanced(run=desk.model.run, intent="x", state="running", step=3, words="click link 'Orders'")
    desk.engine.bus.publish(event)
    desk.wait()
    assert "step 3: click link 'Orders'" in desk.view.run_form.going.text()
    desk.press(Key.Key_X)
    desk.until(lambda: ("stop_run", (desk.model.run,)) in desk.engine.calls)
    desk.engine.bus.publish(RunAdvanced(run=desk.model.run, intent="x", state="stopped"))
    desk.wait()
    assert desk.view.run_form.going.text() == ""
    assert not desk.center.action("run.stop").isEnabled()


def test_every_control_of_the_form_has_a_name_and_text_grows_with_the_theme(desk, theme):
    form = desk.view.run_form
    desk.press(Key.Key_N, CTRL)
    for kind in (QAbstractButton, QLineEdit, QPlainTextEdit, QComboBox):
        for control in form.findChildren(kind):
            if control.isVisible() and not control.objectName().startswith("qt_"):
                assert control.accessibleName() or control.text(), control
    theme.set_zoom(1.5)
    desk.wait()
    assert form.minimumSizeHint().width() <= 460
    theme.set_zoom(1.0)


def test_q_asks_a_model_about_the_open_run(desk):
    desk.press(Key.Key_Q)
    desk.until(lambda: ("ask_model", ((desk.model.run,), 20)) in desk.engine.calls)
    desk.until(lambda: "The model found nothing suspicious in this run." in desk.said)


# ---------------------------------------------------------------- words
@pytest.mark.parametrize(
    ("exposure", "role", "route"),
    [
        (None, "in force", ""),
        (Exposure(tip="t", routes=("url", "keyword"), followed=True), "followed", "by url, keyword"),
        (Exposure(tip="t", routes=("embedding",), followed=False), "not followed", "by embedding"),
        (Exposure(tip="t", routes=("url",)), "in force", "by url"),
    ],
)
def test_a_tip_says_how_it_came_and_whether_it_was_followed(exposure, role, route):
    assert (role_words(exposure), route_words(exposure)) == (role, route)


def test_an_action_says_what_it_brought_about_and_what_was_tried(qapp):
    step = Step(
        index=1,
        url="http://shop.example/",
        title="Shop",
        action=RecordedAction(kind="click", args={"bid": "3"}),
        target=ActionTarget(role="link", name="Orders", bid="3"),
        effect="navigated",
        tried=("cdp", "playwright"),
    )
    did = facts_of_step(step, 4, None).did
    assert did == "click link 'Orders' → led to another page (tried: cdp, playwright)"
