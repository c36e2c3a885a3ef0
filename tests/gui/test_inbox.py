"""The inbox by real keys: one key a request, equal requests answered once, nothing decided that was not seen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.engine.core.events import RequestChanged
from app.engine.core.request_groups import InboxOrder
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    Need,
    OperatorDecision,
    RequestState,
    RunState,
)
from app.models.common.engine_client import LocalClient
from app.models.live.inbox_model import age_words
from app.models.live.model import LiveModel
from app.views.live.view import LiveView
from tests.support.fake_live import make_rows
from tests.support.live_page_window import SteppedEngine
from tests.support.live_window import LiveWindow
from tests.support.made_up import NOW
from tests.support.manual_clock import ManualClock

K = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier
FOUR = ("live-11", "live-12", "live-13", "live-14")


@pytest.fixture
def live(qtbot, tasks, center, theme, run):
    """All of Live, loaded: a captcha, an order to approve, and four runs to which tests give requests."""
    theme.set_reduced_motion(True)
    engine, clock = SteppedEngine(), ManualClock()
    plain = make_rows()[0]
    for number in (11, 12, 13, 14):
        row = replace(plain, run=f"live-{number}", intent=f"Read my order {number}", started_at=NOW + number)
        engine.rows[row.run] = row
    client = LocalClient(engine, engine.bus)
    model = LiveModel(client, tasks, clock=clock)
    view = LiveView(model, center, theme)
    qtbot.addWidget(view)
    view.addActions(center.actions())
    center.set_place("live")
    view.resize(1280, 730)
    view.show()
    view.activateWindow()
    view.focus_first()
    desk = LiveWindow(view, model, engine, center, clock)
    desk.until(view.isActiveWindow)
    model.start()
    desk.until(lambda: model.is_loaded and len(model.inbox.entries.rows) == 2)
    desk.wait()
    desk.until(lambda: desk.holds(view))
    yield desk
    view.hide()
    for timer in (model._soon, model.inbox._again):
        timer.stop()  # the view is deleted before the model
    view.page.close_pictures()
    model.frames.close()
    run(client.aclose())


def shown(live: LiveWindow) -> list[str]:
    """Return the runs of each row, ``live-11+live-12`` for equal requests."""
    return ["+".join(entry.runs) for entry in live.model.inbox.entries.rows]


def card(live: LiveWindow):
    found = live.model.open_run.requests.card
    assert found is not None
    return found


def decided(live: LiveWindow) -> list[tuple[str, DecisionKind]]:
    return [(request, decision.kind) for request, decision in live.did("decide")]


def question(number: int, run: str, **more: object) -> ApprovalRequest:
    usual = ApprovalRequest(
        id=f"ask-{number}", run=run, need=Need.QUESTION, step=2, site="shop", question=f"Which of {number}?",
        opened_at=NOW + number, task="the same",
    )  # fmt: skip
    return replace(usual, **more)


# ------------------------------------------------------------ one after the other
def test_i_opens_the_riskiest_request_and_each_takes_one_key(live: LiveWindow) -> None:
    live.engine.ask(question(1, "live-11", need=Need.FLAG))
    live.wait()
    live.press(K.Key_I)
    assert shown(live) == ["live-2", "live-3", "live-11"]
    assert (live.model.run, live.view.inbox.place.text()) == ("live-2", "1 of 3")
    before = live.keys
    for _ in range(3):
        live.press(K.Key_A)
    assert decided(live) == [(name, DecisionKind.APPROVE) for name in ("req-1", "req-2", "ask-1")]
    assert live.keys - before == 3
    assert live.model.inbox.is_empty
    assert live.view.empty_inbox.title.text() == "Nothing needs you"
    assert live.view.empty_inbox.hint.text().startswith("7 running · 1 held · 1 queued · 1 ended")
    assert live.holds(live.view.empty_inbox)


def test_an_empty_inbox_takes_no_decision_and_shows_the_next_request_by_itself(live: LiveWindow) -> None:
    live.press(K.Key_I)
    for left in (1, 0):
        live.press(K.Key_A)
        live.until(lambda left=left: live.model.inbox.count == left)
    live.until(lambda: live.holds(live.view.empty_inbox))
    stand = dict(live.engine.rows)
    for key in (
        K.Key_A,
        K.Key_D,
        K.Key_K,
        K.Key_Space,
        K.Key_S,
        K.Key_O,
        K.Key_Delete,
        K.Key_Return,
        K.Key_Z,
        K.Key_H,
    ):
        live.press(key)
    assert live.engine.rows == stand
    assert live.model.delayed_stops.held.newest is None
    assert live.model.inbox.is_empty
    live.engine.ask(question(1, "live-11"))
    live.until(lambda: live.model.run == "live-11")
    live.until(lambda: live.view.faces.currentWidget() is live.view.columns)


def test_a_key_pressed_as_the_next_request_comes_decides_nothing(live: LiveWindow) -> None:
    live.press(K.Key_I)
    live.press(K.Key_A)
    live.clock.forward(0.2)
    QTest.keyClick(QApplication.focusWidget(), K.Key_A)
    live.wait()
    assert decided(live) == [("req-1", DecisionKind.APPROVE)]
    assert "has only just appeared" in live.said[-1]


def test_j_steps_through_later_puts_a_request_last_and_the_order_can_be_by_age(live: LiveWindow) -> None:
    live.engine.ask(question(1, "live-11", opened_at=NOW - 900, need=Need.FLAG))
    live.wait()
    live.press(K.Key_I)
    live.press(K.Key_J)
    assert live.model.run == "live-3"
    live.press(K.Key_J, SHIFT)
    assert live.model.run == "live-2"
    live.press(K.Key_Z)
    assert (live.model.run, shown(live)) == ("live-3", ["live-3", "live-11", "live-2"])
    live.press(K.Key_I, SHIFT)
    assert live.model.inbox.order is InboxOrder.AGE
    assert shown(live) == ["live-11", "live-3", "live-2"], "a request put last stays last"
    assert live.model.run == "live-3", "what is looked at stays"
    assert live.model.session()["inbox"] == {"order": "age", "open": True}


def test_n_goes_to_the_next_request_and_from_the_last_to_the_first(live: LiveWindow) -> None:
    live.press(K.Key_I)
    live.press(K.Key_N)
    assert live.model.run == "live-3"
    live.press(K.Key_N)
    assert live.model.run == "live-2"
    assert live.model.inbox.is_open


def test_enter_opens_the_run_large_i_comes_back_to_it_and_escape_goes_to_the_wall(live: LiveWindow) -> None:
    live.press(K.Key_I)
    live.press(K.Key_J)
    live.press(K.Key_Return)
    assert (live.model.run, live.model.inbox.is_open) == ("live-3", False)
    assert live.view.lists.currentWidget() is live.view.list
    assert live.view.left.indexOf(live.view.facts) == 1
    live.press(K.Key_I)
    assert (live.model.run, live.model.inbox.place_words) == ("live-3", "2 of 2")
    assert live.holds(live.view.inbox)
    live.press(K.Key_Escape)
    assert (live.model.run, live.model.inbox.is_open) == ("", False)
    assert live.view.faces.currentWidget() is live.view.wall


def test_rows_stay_in_place_while_keys_are_pressed_and_sort_when_idle(live: LiveWindow) -> None:
    live.press(K.Key_I)
    live.engine.ask(question(1, "live-11", need=Need.TROUBLE))
    live.wait()
    assert shown(live) == ["live-2", "live-3", "live-11"], "the most urgent came last and waits there"
    live.rest()
    assert shown(live) == ["live-11", "live-2", "live-3"]
    assert live.model.run == "live-2"
    assert live.view.inbox.rows.currentIndex().row() == 1


def test_the_inbox_opens_again_with_its_order_after_a_restart(live: LiveWindow) -> None:
    live.press(K.Key_I)
    live.press(K.Key_I, SHIFT)
    saved = live.view.save_layout()
    live.press(K.Key_Escape)
    live.press(K.Key_I, SHIFT)
    live.view.restore_layout(saved)
    live.model.start()
    live.wait(0.1)
    assert live.model.inbox.is_open
    assert live.model.inbox.order is InboxOrder.AGE
    live.model.inbox.restore({"order": "by colour", "open": 3})
    live.model.inbox.restore([1])
    assert live.model.inbox.order is InboxOrder.RISK


# ------------------------------------------------------------ equal requests
def test_equal_questions_are_one_card_and_one_answer(live: LiveWindow) -> None:
    for number, run in enumerate(FOUR, 1):
        live.engine.ask(question(number, run, question="Which currency?"))
    live.wait()
    live.press(K.Key_I)
    live.press(K.Key_J)
    assert shown(live)[1] == "+".join(FOUR)
    assert card(live).equal.splitlines()[0] == "4 runs ask this:"
    assert "Read my order 13 · run 9" in card(live).equal
    live.press(K.Key_R)
    live.type("Euro")
    live.press(K.Key_Return)
    ((requests, decision),) = live.did("decide_all")
    assert (requests, decision.text) == (("ask-1", "ask-2", "ask-3", "ask-4"), "Euro")
    assert live.said[-1] == "Answered: 4 runs (run 7, run 8, run 9, run 10)"
    assert live.model.run == "live-3"
    assert live.holds(live.view), "the keyboard is with the window again"


def test_the_button_says_for_how_many_runs_it_decides(live: LiveWindow) -> None:
    same = {
        "need": Need.APPROVAL,
        "words": "open 'Orders'",
        "element": "link Orders",
        "url": "http://shop.example/",
        "call": "click('3')",
        "risk": "edits",
        "question": "?",
    }
    for number, run in enumerate(FOUR, 1):
        live.engine.ask(question(number, run, **same))
    live.wait()
    live.press(K.Key_I)
    live.until(lambda: any(entry.runs == FOUR for entry in live.model.inbox.entries.rows))
    live.model.inbox.select(next(one.key for one in live.model.inbox.entries.rows if one.runs == FOUR))
    live.until(lambda: card(live).requests == ("ask-1", "ask-2", "ask-3", "ask-4"))
    live.wait()
    live.clock.forward()
    button = live.named(QPushButton, "Approve for 4 runs")
    assert live.view.bar.approve.accessibleName() == "Approve for 4"
    live.click(button)
    live.until(lambda: live.did("decide_all") and live.said)
    assert len(live.did("decide_all")) == 1
    assert live.said[-1] == "Approved: 4 runs (run 7, run 8, run 9, run 10)"
    assert all(live.engine.rows[run].state is RunState.RUNNING for run in FOUR)


def test_a_group_is_opened_and_answered_one_by_one(live: LiveWindow) -> None:
    for number, run in enumerate(FOUR, 1):
        live.engine.ask(question(number, run, question="Which currency?"))
    live.wait()
    live.press(K.Key_I)
    live.press(K.Key_J)
    live.press(K.Key_Return, SHIFT)
    assert shown(live) == ["live-2", *FOUR, "live-3"]
    assert card(live).equal == ""
    live.press(K.Key_D)
    assert decided(live) == [("ask-1", DecisionKind.DENY)]
    assert live.model.run == "live-12"
    live.press(K.Key_Return, SHIFT)
    assert shown(live) == ["live-2", "live-12+live-13+live-14", "live-3"]


def test_one_that_joins_the_group_is_not_decided_by_a_key_meant_for_the_others(live: LiveWindow) -> None:
    for number, run in enumerate(FOUR[:3], 1):
        live.engine.ask(question(number, run, question="Which currency?"))
    live.wait()
    live.press(K.Key_I)
    live.press(K.Key_J)
    live.clock.forward()
    live.engine.ask(question(4, "live-14", question="Which currency?"))
    live.wait()
    QTest.keyClick(QApplication.focusWidget(), K.Key_D)
    live.wait()
    assert not live.did("decide_all")
    live.press(K.Key_D)
    assert len(live.did("decide_all")[0][0]) == 4


@pytest.mark.parametrize("change", ["joins", "leaves", "nothing"])
def test_a_button_held_down_decides_for_the_runs_that_were_seen_or_none(
    live: LiveWindow, change: str
) -> None:
    for number, run in enumerate(FOUR[:2], 1):
        live.engine.ask(question(number, run, question="Which currency?"))
    live.press(K.Key_I)
    live.press(K.Key_J)
    live.until(lambda: "2 runs ask this" in card(live).equal)
    button = live.named(QPushButton, "No answer for 2 runs")
    live.clock.forward()
    QTest.mousePress(button, Qt.MouseButton.LeftButton)
    if change == "joins":
        live.engine.ask(question(3, "live-13", question="Which currency?"))
        live.until(lambda: "3 runs ask this" in card(live).equal)
    elif change == "leaves":
        live.engine.ask(question(3, "live-13", question="Which currency?"))
        somebody_decides(live, "ask-2")
        live.until(lambda: card(live).requests == ("ask-1", "ask-3"))
    live.clock.forward()
    QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
    if change == "nothing":
        live.until(lambda: live.did("decide_all"))
        assert live.did("decide_all")[0][0] == ("ask-1", "ask-2")
    else:
        live.until(lambda: live.model.open_run.requests.error)
        assert "Other runs ask this now. Nothing was decided" in live.model.open_run.requests.error
        assert not live.did("decide_all")
        assert not live.did("decide")


def test_one_of_the_group_that_somebody_else_decided_is_named(live: LiveWindow) -> None:
    for number, run in enumerate(FOUR, 1):
        live.engine.ask(question(number, run, question="Which currency?"))
    live.wait()
    live.press(K.Key_I)
    live.press(K.Key_J)
    late = replace(live.engine.needs["ask-2"], state=RequestState.DECIDED)
    live.engine.needs["ask-2"] = late  # the window has not been told yet
    live.press(K.Key_D)
    said = "Not answered: 3 of 4 runs (run 7, run 9, run 10); run 8: this was decided already"
    assert live.said[-1] == said


def test_runs_of_a_group_are_ended_one_by_one_and_each_end_can_be_undone(live: LiveWindow) -> None:
    live.engine.wait_at_login(*FOUR)
    live.wait()
    live.press(K.Key_I)
    live.model.inbox.select(live.model.inbox.entries.rows[-1].key)
    live.wait()
    group = live.model.inbox.entry
    while len(group.runs) < 4:
        live.press(K.Key_J, SHIFT)
        group = live.model.inbox.entry
    assert "End run 7" in [offer.word for offer in card(live).offers]
    live.press(K.Key_D)
    assert live.model.delayed_stops.holds("live-11")
    assert not live.model.delayed_stops.holds("live-12")
    assert (live.model.run, group.key == live.model.inbox.current) == ("live-12", True)
    live.model.delayed_stops.held.take_back()
    live.wait()
    assert "live-11" in "+".join(shown(live))
    assert not live.did("decide")


def test_a_captcha_of_several_runs_is_handled_run_by_run(live: LiveWindow) -> None:
    for number, run in enumerate(FOUR, 1):
        live.engine.ask(question(number, run, need=Need.WALL, wall="captcha shop.example/check"))
    live.wait()
    live.press(K.Key_I)
    while len(live.model.inbox.entry.runs) < 4:
        live.press(K.Key_N)
    assert "I've handled it for run 7" in [offer.word for offer in card(live).offers]
    assert live.view.bar.approve.accessibleName() == "Handled"
    live.press(K.Key_A)
    assert decided(live) == [("ask-1", DecisionKind.APPROVE)]
    assert not live.did("decide_all")
    assert live.model.run == "live-12"


def test_one_log_in_by_hand_lets_four_runs_go_on_and_the_next_request_comes(live: LiveWindow) -> None:
    live.engine.wait_at_login(*FOUR)
    live.wait()
    live.press(K.Key_I)
    live.press(K.Key_I, SHIFT)
    live.press(K.Key_N)
    while live.model.run != "live-11":
        live.press(K.Key_N)
    row = live.model.inbox.entries.row_of(live.model.inbox.current)
    index = live.model.inbox.entries.index(row)
    assert live.model.inbox.entries.words(live.model.inbox.entry).startswith(
        "4 runs wait at this log-in, shop"
    )
    assert index.isValid()
    live.press(K.Key_O)
    live.until(lambda: live.engine.rows["live-11"].state is RunState.TAKEN_OVER)
    live.until(lambda: live.view.page.has_control)
    live.press(K.Key_Escape, SHIFT)
    live.engine.hand_on_login("live-11")
    live.until(lambda: "Logged in to shop: 3 runs go on" in live.said)
    live.until(lambda: live.model.run in ("live-2", "live-3"))
    assert all(live.engine.rows[run].state is RunState.RUNNING for run in FOUR)
    assert live.model.run in ("live-2", "live-3")
    assert not live.did("decide")


# ------------------------------------------------------------ what others do meanwhile
def somebody_decides(live: LiveWindow, request: str) -> None:
    need = live.engine.needs[request]
    decision = OperatorDecision(kind=DecisionKind.APPROVE, author="bo")
    need = live.engine.needs[request] = replace(need, state=RequestState.DECIDED, decision=decision)
    live.engine.bus.publish(RequestChanged(request=need))
    live.put(replace(live.engine.rows[need.run], needs=(), state=RunState.RUNNING))


def test_a_decision_of_somebody_else_is_said_and_the_next_request_comes(live: LiveWindow) -> None:
    live.press(K.Key_I)
    somebody_decides(live, "req-1")
    live.until(lambda: live.model.run == "live-3" and card(live).id == "req-2")
    assert "Decided by bo: approve" in live.said[-1]
    QTest.keyClick(QApplication.focusWidget(), K.Key_A)
    live.wait()
    assert not live.did("decide")


def test_a_request_that_goes_while_its_answer_is_typed_keeps_the_field_and_the_run(live: LiveWindow) -> None:
    live.engine.ask(question(1, "live-11"))
    live.wait()
    live.press(K.Key_I)
    live.press(K.Key_J)
    live.until(lambda: live.model.run == "live-11" and card(live).id == "ask-1")
    live.press(K.Key_R)
    live.until(live.view.needs.card.line.hasFocus)
    live.type("both of them, and")
    somebody_decides(live, "ask-1")
    live.until(lambda: live.view.needs.card._stale)
    live.wait(0.3)  # the inbox looks again several times
    assert live.model.run == "live-11"
    live.type(" also day")
    assert live.view.needs.card.line.text == "both of them, and also day"
    live.press(K.Key_Escape)
    live.until(lambda: live.model.run == "live-3")
    assert not live.did("decide")


def test_a_button_held_down_as_the_request_goes_decides_nothing_else(live: LiveWindow) -> None:
    live.press(K.Key_I)
    button = live.view.bar.approve
    live.until(lambda: card(live).id == "req-1" and button.isEnabled())
    live.clock.forward()
    QTest.mousePress(button, Qt.MouseButton.LeftButton)
    live.model.inbox.is_held = lambda: True  # offscreen, Qt does not tell which buttons are down
    somebody_decides(live, "req-1")
    live.clock.forward()
    assert live.model.run == "live-2"
    QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
    live.model.inbox.is_held = lambda: False
    live.until(lambda: live.model.run == "live-3")
    assert not live.did("decide")


def test_a_page_in_the_operators_hands_is_not_taken_away_by_the_next_request(live: LiveWindow) -> None:
    live.press(K.Key_I)
    live.press(K.Key_O)
    live.put(replace(live.engine.rows["live-2"], needs=()))
    live.engine.ask(question(1, "live-11"))
    live.wait(0.3)
    assert live.model.run == "live-2"
    assert live.view.page.has_control
    live.press(K.Key_Escape, SHIFT)
    live.until(lambda: live.model.run != "live-2")


def test_two_requests_of_one_run_are_two_rows_and_each_has_its_own_card(live: LiveWindow) -> None:
    live.engine.ask(question(1, "live-3"))
    live.wait()
    live.press(K.Key_I)
    for entry in live.model.inbox.entries.rows:
        live.model.inbox.select(entry.key)
        live.wait()
        assert (live.model.run, card(live).id) == (entry.first.run, entry.first.id)


def test_nothing_is_lost_when_the_engine_dies_while_an_answer_is_typed(live: LiveWindow) -> None:
    live.engine.ask(question(1, "live-11"))
    live.wait()
    live.press(K.Key_I)
    live.press(K.Key_J)
    live.press(K.Key_R)
    live.type("the blue one")
    before = shown(live)
    live.model.client.host_changed.emit("The engine stopped; starting it again")
    live.wait()
    assert shown(live) == before
    assert live.view.inbox.lost.isVisible()
    live.model.client.host_changed.emit("")
    live.wait(0.2)
    assert (shown(live), live.model.run) == (before, "live-11")
    assert live.view.needs.card.line.text == "the blue one"
    assert not live.view.inbox.lost.isVisible()
    live.press(K.Key_Return)
    assert live.did("decide")[0][1].text == "the blue one"


def test_a_run_that_is_dismissed_or_ends_makes_room_for_the_next(live: LiveWindow) -> None:
    live.press(K.Key_I)
    live.put(replace(live.engine.rows["live-2"], needs=(), state=RunState.ENDED, outcome="stopped"))
    assert live.model.run == "live-3"
    live.press(K.Key_K)
    assert live.model.inbox.is_empty, "an end that can be undone is out of the way"
    live.model.delayed_stops.held.take_back()
    live.wait()
    assert live.model.run == "live-3"


# ------------------------------------------------------------ faces
def test_every_control_has_a_name_and_tab_goes_from_the_rows_to_the_decisions(live: LiveWindow) -> None:
    live.press(K.Key_I)
    names: list[str] = []
    for _ in range(40):
        held = QApplication.focusWidget()
        assert held is not None
        assert held.accessibleName(), held
        names.append(held.accessibleName())
        live.press(K.Key_Tab)
        if QApplication.focusWidget() is live.view.inbox.rows:
            break
    assert names[0] == "Inbox"
    assert "Take over" in names
    assert (
        names.index("I've handled it") < names.index("Plan of the run")
        if "Plan of the run" in names
        else True
    )
    rows = live.model.inbox.entries
    assert "captcha" in rows.words(rows.rows[0])
    assert "run 5" in rows.words(rows.rows[0])


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59, "59 s"), (60, "1 min"), (7_200, "2 h"), (180_000, "2 d")]
)
def test_ages_are_short(seconds: int, words: str) -> None:
    assert age_words(question(1, "live-1", opened_at=NOW), NOW + seconds) == words


@pytest.mark.parametrize("zoom", [1.0, 1.5])
@pytest.mark.parametrize("rtl", [False, True])
def test_long_and_right_to_left_texts_stay_within_the_window(live: LiveWindow, theme, zoom, rtl) -> None:
    theme.set_zoom(zoom)
    if rtl:
        live.view.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    text = (
        "האם להזמין את כל הספרים שבסל? " * 10
        if rtl
        else "Which of all of these many offers should be taken? " * 6
    )
    live.engine.ask(question(1, "live-11", need=Need.TROUBLE, question=text, site="a-very-long-name." * 6))
    live.wait()
    live.press(K.Key_I)
    live.wait(0.1)
    assert live.model.run == "live-11"
    assert live.view.minimumSizeHint().width() <= 1280
    pane = live.view.inbox
    assert all(child.geometry().right() <= pane.width() for child in (pane.rows, pane.place))
    assert live.view.needs.horizontalScrollBar().maximum() == 0
    theme.set_zoom(1.0)


def test_an_action_is_approved_only_before_its_page(live: LiveWindow) -> None:
    row = live.engine.rows["live-3"]
    live.put(replace(row, state=RunState.INTERRUPTED))
    live.press(K.Key_I)
    live.press(K.Key_J)
    live.until(lambda: live.model.run == "live-3")
    live.press(K.Key_A)
    live.until(lambda: live.engine.rows["live-3"].state is RunState.RUNNING)
    assert not live.did("decide")
    live.put(replace(live.engine.rows["live-3"], state=RunState.STARTING, needs=row.needs))
    live.press(K.Key_A)
    assert "The page is opened again" in live.model.open_run.requests.error
    assert not live.did("decide")
    live.put(replace(live.engine.rows["live-3"], state=RunState.WAITING, needs=row.needs))
    live.press(K.Key_A)
    live.until(lambda: [given[0] for given in live.did("decide")] == ["req-2"])
