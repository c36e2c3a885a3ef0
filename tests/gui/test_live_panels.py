"""Deciding requests, judging flags, steering tips and sending hints beside a live page, by real key events."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLineEdit, QPlainTextEdit, QPushButton

from app.engine.core.events import HintChanged, LedgerChanged
from app.engine.core.ledger import Fact, Ledger
from app.engine.core.supervision import (
    ApprovalRequest,
    ApprovalScope,
    DecisionKind,
    Hint,
    Need,
    RaisedFlag,
    RunState,
    TipOverride,
)
from app.engine.core.verdicts import Severity
from app.errors import InputError, StoreError
from app.models.live.model import LiveModel
from app.models.live.requests import MAX_TEXT_LENGTH
from app.views.live.canvas import PageCanvas
from app.views.live.view import LiveView
from app.views.widgets.elided_label import MessageLabel
from tests.support.live_panels import LivePanels
from tests.support.live_window import LiveWindow
from tests.support.made_up import NOW
from tests.support.manual_clock import ManualClock

SHIFT, CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
HOSTILE = "x" * 5_000 + " <b>click</b> " + "وصف طويل " * 200 + "\n" * 50


@pytest.fixture
def side(qtbot, client, tasks, center, theme, loop):
    theme.set_reduced_motion(True)
    made = LivePanels(client, tasks, center, theme)
    qtbot.addWidget(made.window)
    made.show()
    yield made
    made.window.hide()
    made.live.frames.close()


@pytest.fixture
def whole(qtbot, client, tasks, center, theme, loop):
    """All of Live, with the run that waits for an approval open."""
    theme.set_reduced_motion(True)
    clock = ManualClock()
    model = LiveModel(client, tasks, clock=clock)
    view = LiveView(model, center, theme)
    qtbot.addWidget(view)
    view.addActions(center.actions())
    center.set_place("live")
    view.resize(1280, 760)
    view.show()
    view.activateWindow()
    desk = LiveWindow(view, model, client.api, center, clock)
    desk.until(view.isActiveWindow)
    model.start()
    desk.until(lambda: model.is_loaded)
    model.open("live-3")
    desk.until(lambda: model.detail is not None)
    desk.wait()
    yield desk
    view.hide()
    model.frames.close()


def asks(side, run, **more):
    """Make the run ask a question."""
    usual = ApprovalRequest(
        id="ask-1", run=run, need=Need.QUESTION, step=2, question="Which of the two?", opened_at=NOW
    )
    need = replace(usual, **more)
    side.engine.needs[need.id] = need
    side.engine.put(replace(side.engine.rows[run], needs=(need,), state=RunState.WAITING))
    side.wait()


# ------------------------------------------------------------ deciding
@pytest.mark.parametrize(
    ("key", "modifier", "verb", "reach"),
    [
        (Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, DecisionKind.APPROVE, ApprovalScope.ONCE),
        (Qt.Key.Key_A, SHIFT, DecisionKind.APPROVE, ApprovalScope.RUN),
        (Qt.Key.Key_A, SHIFT | CTRL, DecisionKind.APPROVE, ApprovalScope.SITE),
        (Qt.Key.Key_D, Qt.KeyboardModifier.NoModifier, DecisionKind.DENY, ApprovalScope.ONCE),
        (Qt.Key.Key_D, SHIFT, DecisionKind.DENY, ApprovalScope.RUN),
        (Qt.Key.Key_D, SHIFT | CTRL, DecisionKind.DENY, ApprovalScope.SITE),
    ],
)
def test_one_key_decides_about_an_action(side, key, modifier, verb, reach):
    side.open("live-3")
    side.press(key, modifier)
    ((name, decision),) = side.asked("decide")
    assert (name, decision.kind, decision.scope) == ("req-2", verb, reach)
    assert side.keys == 1
    assert "Decided" in side.card.decided.text()
    assert not any(button.isVisible() for button in side.card.buttons.values())


def test_nothing_is_decided_while_nothing_is_asked(side):
    side.open("live-1")
    assert not side.card.isVisible()
    for key in (Qt.Key.Key_A, Qt.Key.Key_D, Qt.Key.Key_E, Qt.Key.Key_R):
        side.press(key)
    assert not side.asked("decide")


def test_the_action_is_edited_in_a_line_and_what_is_wrong_with_it_is_said_there(side, monkeypatch):
    side.open("live-3")
    decide = side.engine.decide

    async def strict(name, decision):
        if decision.call == "click(":
            raise InputError("click( is no action", remedy='write it as click("12")')
        return await decide(name, decision)

    monkeypatch.setattr(side.engine, "decide", strict)
    side.press(Qt.Key.Key_E)
    assert side.card.line.text == 'click("12")'
    side.card.line.selectAll()
    side.type("click(")
    side.press(Qt.Key.Key_Return)
    assert "no action" in side.card.error.text()
    assert side.card.line.text == "click("
    side.card.line.selectAll()
    side.type('click("14")')
    side.press(Qt.Key.Key_Return)
    ((_, decision),) = side.asked("decide")
    assert (decision.kind, decision.call) == (DecisionKind.EDIT, 'click("14")')
    assert not side.card.line.isVisible()
    assert not side.card.error.isVisible()


def test_escape_gives_an_edit_up_and_the_keys_decide_again(side):
    side.open("live-3")
    side.press(Qt.Key.Key_E)
    side.type("A")
    assert not side.asked("decide")
    side.press(Qt.Key.Key_Escape)
    assert not side.card.line.isVisible()
    side.press(Qt.Key.Key_A)
    assert side.asked("decide")[0][1].kind is DecisionKind.APPROVE


def test_the_reason_goes_with_the_decision(side):
    side.open("live-3")
    side.card.reason.begin()
    side.type("it is a test order")
    side.press(Qt.Key.Key_Return)
    side.press(Qt.Key.Key_D)
    assert side.asked("decide")[0][1].text == "it is a test order"
    assert side.card.reason.text == ""


def test_a_question_is_answered_with_one_key_the_words_and_enter(side):
    side.open("live-1")
    asks(side, "live-1")
    assert side.card.line.isVisible()
    side.press(Qt.Key.Key_R)
    side.type("The second, the paperback")
    side.press(Qt.Key.Key_Return)
    ((name, decision),) = side.asked("decide")
    assert (name, decision.kind, decision.text) == ("ask-1", DecisionKind.ANSWER, "The second, the paperback")
    assert side.keys == 2


def test_an_answer_that_was_begun_stays_with_its_question(side):
    side.open("live-1")
    asks(side, "live-1")
    side.press(Qt.Key.Key_R)
    side.type("The sec")
    side.press(Qt.Key.Key_Escape)
    assert side.card.line.text == "The sec"
    side.open("live-3")
    assert not side.card.line.isVisible()
    side.open("live-1")
    assert side.card.line.text == "The sec"


def test_a_run_that_asks_nothing_any_more_leaves_the_keys_in_the_field_until_escape(side):
    side.open("live-1")
    asks(side, "live-1")
    side.press(Qt.Key.Key_R)
    side.engine.put(replace(side.engine.rows["live-1"], needs=(), state=RunState.RUNNING))
    side.wait()
    assert side.card.line.hasFocus()
    assert "request is closed" in side.card.error.text()
    side.press(Qt.Key.Key_Escape)
    assert not side.card.isVisible()
    assert not isinstance(QApplication.focusWidget(), QPlainTextEdit)


def test_one_key_goes_to_the_reason_and_enter_gives_the_keys_back_to_the_commands(side):
    side.open("live-3")
    side.press(Qt.Key.Key_R)
    side.type("a test order")
    side.press(Qt.Key.Key_Return)
    side.press(Qt.Key.Key_D)
    ((_, decision),) = side.asked("decide")
    assert (decision.kind, decision.text) == (DecisionKind.DENY, "a test order")
    assert side.keys == 3


@pytest.mark.parametrize("how", ["a button", "the reason", "a click"])
def test_after_a_decision_no_field_gets_the_keys_that_decide(whole, how):
    card = whole.view.needs.card
    if how == "the reason":
        whole.press(Qt.Key.Key_R)
        whole.type("a test order")
        whole.press(Qt.Key.Key_Return)
        whole.press(Qt.Key.Key_D)
    elif how == "a button":
        card.buttons["live.approve"].setFocus()
        whole.press(Qt.Key.Key_Return)
    else:
        whole.click(card.buttons["live.approve"])
        card.buttons["live.approve"].setFocus()
    whole.until(lambda: whole.engine.calls and whole.did("decide"))
    whole.put(replace(whole.engine.rows["live-3"], needs=(), state=RunState.RUNNING, step=99))
    whole.until(lambda: not card.isVisible())
    whole.press(Qt.Key.Key_A)
    assert whole.view.hint.line.text == ""
    assert whole.holds(whole.view.list)


def test_before_a_wall_taking_over_is_the_usual_thing_and_in_hand_the_page_can_be_handed_back(whole):
    whole.model.open("live-2")
    whole.until(lambda: whole.model.detail is not None)
    hands = whole.view.needs.card.buttons["live.take_over"]
    assert hands.property("kind") == "primary"
    assert hands.text().startswith("Take over")
    whole.press(Qt.Key.Key_O)
    whole.until(lambda: hands.text().startswith("Hand back"))
    QTest.mouseClick(hands, Qt.MouseButton.LeftButton)
    whole.until(lambda: whole.engine.rows["live-2"].state is RunState.RUNNING)


def test_a_wall_offers_to_take_the_page_over(side):
    side.open("live-2")
    assert side.card.buttons["live.take_over"].isVisible()
    side.card.buttons["live.take_over"].click()
    side.wait()
    assert side.engine.rows["live-2"].state is RunState.TAKEN_OVER


def test_enter_on_a_button_presses_it(side):
    side.open("live-3")
    side.card.buttons["live.deny"].setFocus()
    side.press(Qt.Key.Key_Return)
    assert side.asked("decide")[0][1].kind is DecisionKind.DENY


# ------------------------------------------------------------ flags and tips
def test_flags_are_called_right_and_wrong_by_a_key_each(side):
    side.open("live-4")
    old = side.engine.rows["live-4"].flags[0]
    new = RaisedFlag(detector="no_effect", step=5, severity=Severity.WARNING, message="Nothing changed")
    side.engine.put(replace(side.engine.rows["live-4"], flags=(old, new)))
    side.wait()
    side.press(Qt.Key.Key_Y)
    side.press(Qt.Key.Key_X)
    assert side.asked("react") == [("live-4", 4, "repeated_action", True), ("live-4", 5, "no_effect", False)]
    assert side.keys == 2


def test_a_flag_that_is_activated_shows_its_step(side):
    side.open("live-4")
    wanted = []
    side.model.step_wanted.connect(wanted.append)
    side.flags.list.activated.emit(side.flags.list.model().index(0, 0))
    assert wanted == [4]


def test_tips_are_walked_muted_pinned_voted_on_and_opened_by_keys(side):
    side.open("live-1")
    opened = []
    side.live.knowledge_wanted.connect(opened.append)
    side.press(Qt.Key.Key_Down, CTRL)
    for key, modifier in (
        (Qt.Key.Key_M, None),
        (Qt.Key.Key_P, None),
        (Qt.Key.Key_V, None),
        (Qt.Key.Key_V, SHIFT),
    ):
        side.press(key, modifier or Qt.KeyboardModifier.NoModifier)
    side.press(Qt.Key.Key_T, SHIFT)
    assert side.asked("steer_tip") == [
        ("live-1", "shop-002", TipOverride.MUTED), ("live-1", "shop-002", TipOverride.PINNED),
    ]  # fmt: skip
    assert side.asked("vote_tip") == [("live-1", "shop-002", 1), ("live-1", "shop-002", -1)]
    assert opened == ["shop-002"]
    side.press(Qt.Key.Key_Up, CTRL)
    assert side.model.knowledge.selected == "shop-001"
    assert side.knowledge.list.currentIndex().row() == 0


# ------------------------------------------------------------ hints
def test_a_hint_is_one_key_its_words_and_enter_and_one_more_key_drafts_a_tip(side):
    side.open("live-1")
    drafts = []
    side.live.tip_wanted.connect(drafts.append)
    side.press(Qt.Key.Key_H)
    side.type("Use the search")
    side.press(Qt.Key.Key_Return)
    assert side.asked("send_hint") == [("live-1", "Use the search")]
    assert side.hint.line.text == ""
    assert side.keys == 2
    side.press(Qt.Key.Key_Escape)
    side.press(Qt.Key.Key_T)
    assert [draft.text for draft in drafts] == ["Use the search"]


def test_shift_enter_breaks_a_hints_line(side):
    side.open("live-1")
    side.press(Qt.Key.Key_H)
    side.type("one")
    side.press(Qt.Key.Key_Return, SHIFT)
    side.type("two")
    side.press(Qt.Key.Key_Return)
    assert side.asked("send_hint") == [("live-1", "one\ntwo")]


def test_a_pasted_megabyte_is_not_taken_in_and_that_is_said(side):
    side.open("live-1")
    side.press(Qt.Key.Key_H)
    side.type("kept")
    pasted = QMimeData()
    pasted.setText("x" * 1_000_000)
    side.hint.line.insertFromMimeData(pasted)
    side.wait()
    assert side.hint.line.text == "kept"
    assert "1,000,004 characters" in side.hint.error.text()
    assert side.hint.error.isVisible()


def test_a_hint_that_is_a_little_too_long_is_said_before_it_is_sent_and_stays(side):
    side.open("live-1")
    side.press(Qt.Key.Key_H)
    pasted = QMimeData()
    pasted.setText("x" * (MAX_TEXT_LENGTH + 1))
    side.hint.line.insertFromMimeData(pasted)
    side.wait()
    assert "4,001" in side.hint.error.text()
    side.press(Qt.Key.Key_Return)
    assert not side.asked("send_hint")
    assert len(side.hint.line.text) == MAX_TEXT_LENGTH + 1
    side.press(Qt.Key.Key_Backspace)
    assert not side.hint.error.isVisible()
    side.press(Qt.Key.Key_Return)
    assert side.asked("send_hint")


def test_words_begun_for_one_run_are_not_sent_to_another(side):
    side.open("live-1")
    side.press(Qt.Key.Key_H)
    side.type("for the first")
    side.open("live-4")
    assert side.hint.line.text == ""
    side.open("live-1")
    assert side.hint.line.text == "for the first"


def test_a_hint_that_can_not_be_kept_stays_in_the_line_with_the_reason_below_it(side, monkeypatch):
    side.open("live-1")

    async def refuse(*_args):
        raise StoreError("the workspace can only be read: make its folder writable")

    monkeypatch.setattr(side.engine, "send_hint", refuse)
    side.press(Qt.Key.Key_H)
    side.type("keep me")
    side.press(Qt.Key.Key_Return)
    assert side.hint.line.text == "keep me"
    assert "can only be read" in side.hint.error.text()
    assert side.hint.error.isVisible()


@pytest.mark.parametrize("leave", [Qt.Key.Key_Escape, Qt.Key.Key_Return])
def test_the_hint_line_of_a_run_that_has_ended_takes_the_keys_and_says_why_it_does_nothing(side, leave):
    side.open("live-6")
    side.press(Qt.Key.Key_H)
    assert side.hint.line.hasFocus()
    assert "has ended and takes no hint" in side.hint.line.placeholderText()
    side.type("and dn")
    assert (side.hint.line.text, side.hint.line.hasFocus()) == ("", True)
    side.press(leave)
    assert not side.hint.line.hasFocus()
    assert not side.asked("send_hint")
    assert not side.asked("decide")


# ------------------------------------------------------------ left column
def test_a_step_of_the_time_line_is_shown_by_enter(side):
    side.open("live-3")
    wanted = []
    side.model.step_wanted.connect(wanted.append)
    side.facts.take_focus()
    side.press(Qt.Key.Key_Home)
    side.press(Qt.Key.Key_Return)
    assert wanted == [0]


def test_the_time_line_follows_unless_somebody_reads_further_up(side):
    side.open("live-1")
    side.engine.put(replace(side.engine.rows["live-1"], step=20))
    bar = side.facts.timeline.verticalScrollBar()
    side.until(
        lambda: len(side.model.timeline.rows) == 20 and bar.maximum() > 0 and bar.value() == bar.maximum()
    )
    bar.setValue(0)
    side.engine.put(replace(side.engine.rows["live-1"], step=24))
    side.until(lambda: len(side.model.timeline.rows) == 24)
    side.wait()
    assert bar.value() == 0


# ------------------------------------------------------------ in all of Live
def test_a_run_that_was_opened_is_decided_by_one_key(whole):
    whole.press(Qt.Key.Key_A)
    whole.until(lambda: whole.did("decide"))
    assert whole.did("decide")[0][1].kind is DecisionKind.APPROVE
    assert whole.keys == 1


def test_a_step_of_the_time_line_comes_onto_the_page_and_a_key_goes_back_to_now(whole):
    whole.view.facts.take_focus()
    whole.press(Qt.Key.Key_Home)
    whole.press(Qt.Key.Key_Return)
    assert whole.view.page.replay.index == 0
    whole.press(Qt.Key.Key_L)
    assert whole.view.page.replay.index is None


def test_escape_leaves_a_line_with_its_words_before_it_leaves_the_run(whole):
    line = whole.view.hint.line
    whole.press(Qt.Key.Key_H)
    whole.type("a word")
    whole.press(Qt.Key.Key_Escape)
    assert (whole.model.run, line.text, line.hasFocus()) == ("live-3", "a word", False)
    whole.press(Qt.Key.Key_Escape)
    whole.press(Qt.Key.Key_Escape)
    assert whole.model.run == ""


def test_enter_in_a_line_is_the_lines_own(whole):
    whole.press(Qt.Key.Key_E)
    whole.press(Qt.Key.Key_Return)
    whole.until(lambda: whole.did("decide"))
    assert whole.did("decide")[0][1].kind is DecisionKind.EDIT


# ------------------------------------------------------------ bad input, and who can't see or point
def test_hostile_texts_keep_to_the_columns(side):
    side.open("live-1")
    asks(side, "live-1", question=HOSTILE, why=HOSTILE, words=HOSTILE, call=HOSTILE, need=Need.APPROVAL)
    ledger = Ledger(goal=HOSTILE, facts=(Fact(key="k", value=HOSTILE, step=1),))
    side.engine.bus.publish(LedgerChanged(run="live-1", step=1, ledger=ledger, changes=(HOSTILE,) * 40))
    side.engine.bus.publish(HintChanged(hint=Hint(id="h", run="live-1", step=1, text=HOSTILE, at=NOW)))
    flags = (RaisedFlag(detector="no_effect", step=1, severity=Severity.ERROR, message=HOSTILE),)
    side.engine.put(replace(side.engine.rows["live-1"], intent=HOSTILE, flags=flags, plan=HOSTILE))
    side.wait(0.2)
    assert side.window.width() == 640
    assert side.needs.widget().width() <= side.needs.viewport().width()
    assert side.facts.upper.widget().width() <= side.facts.upper.viewport().width()
    assert side.card.buttons["live.approve"].isVisible()
    assert "<b>" in side.card.question.accessibleName()
    assert not side.window.grab().isNull()


def test_every_control_has_a_name_and_the_tab_key_reaches_it(side):
    side.open("live-3")
    side.engine.put(replace(side.engine.rows["live-3"], flags=side.engine.rows["live-4"].flags))
    side.wait()
    kinds = (QPushButton, QLineEdit, QPlainTextEdit, QAbstractItemView)
    controls = [
        widget
        for widget in side.window.findChildren(object)
        if isinstance(widget, kinds) and widget.isVisible() and widget.isEnabled()
    ]
    assert len(controls) > 15
    assert all(widget.accessibleName() for widget in controls)
    reached, widget = set(), controls[0]
    for _ in range(400):
        widget = widget.nextInFocusChain()
        reached.add(widget)
    assert {one for one in controls if one.focusPolicy() & Qt.FocusPolicy.TabFocus} <= reached
    order = [side.card.buttons["live.approve"], side.card.buttons["live.deny"], side.card.reason]
    places, widget = [], side.card.title
    for _ in range(400):
        widget = widget.nextInFocusChain()
        if widget in order and widget not in places:
            places.append(widget)
    assert places == order


def test_other_colours_and_larger_text_are_taken_at_once(side, theme):
    side.open("live-3")
    theme.set_mode("dark")
    theme.set_zoom(1.5)
    side.wait(0.2)
    assert side.needs.widget().width() <= side.needs.viewport().width()
    theme.set_zoom(1.0)
    theme.set_mode("light")


@pytest.mark.parametrize("zoom", [1.0, 1.5])
def test_a_word_without_end_wraps_in_a_narrow_column(qtbot, theme, qapp, zoom):
    theme.set_zoom(zoom)
    theme.apply(qapp)
    label = MessageLabel("heading")
    qtbot.addWidget(label)
    label.say("W" * 500)
    assert label.minimumSizeHint().width() <= theme.px(120)
    assert label.accessibleName() == "W" * 500
    label.say("a word of sixteen: characterization")
    assert label.text().replace("\u200b", "") == "a word of sixteen: characterization"


def test_a_long_reason_for_no_picture_is_shortened(whole):
    canvas = whole.view.findChild(PageCanvas)
    canvas.show_status(dim=False, placeholder="why " * 500)
    first = canvas.grab().toImage()
    canvas.show_status(dim=False, placeholder="why " * 75 + "another end " * 100)
    assert canvas.grab().toImage() == first
