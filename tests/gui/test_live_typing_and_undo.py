"""Typing and undo in Live: no typed letter triggers a command, no decision hits another run, ends can be undone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QShowEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.engine.core.events import LiveRunDismissed, RequestChanged
from app.engine.core.supervision import (
    ApprovalRequest,
    ApprovalScope,
    DecisionKind,
    Need,
    OperatorDecision,
    RequestState,
    RunState,
    Stage,
)
from app.models.common.engine_client import LocalClient
from app.models.live.model import LiveModel
from app.views.live.view import LiveView
from tests.support.live_page_window import SteppedEngine
from tests.support.live_window import LiveWindow
from tests.support.made_up import NOW
from tests.support.manual_clock import ManualClock

K = Qt.Key
SHIFT, CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
LETTERS = "and then find our king, no, buy the wine for six quid"
"""Includes commands that decide, stop, step, open forms and select other runs."""


@pytest.fixture
def live(qtbot, tasks, center, theme, run):
    """All of Live, loaded; ``clock`` advances a second before each key."""
    theme.set_reduced_motion(True)
    engine, clock = SteppedEngine(), ManualClock()
    client = LocalClient(engine, engine.bus)
    model = LiveModel(client, tasks, clock=clock)
    view = LiveView(model, center, theme)
    qtbot.addWidget(view)
    view.addActions(center.actions())
    center.set_place("live")
    view.resize(1200, 690)
    view.show()
    view.activateWindow()
    view.focus_first()
    desk = LiveWindow(view, model, engine, center, clock)
    desk.until(view.isActiveWindow)
    model.start()
    desk.until(lambda: model.is_loaded)
    desk.wait(0.1)
    yield desk
    view.hide()
    view.page.close_pictures()
    model.frames.close()
    run(client.aclose())


def opened(live: LiveWindow, run: str) -> LiveWindow:
    """Open the run for longer than the grace period."""
    live.model.open(run)
    live.until(lambda: live.model.detail is not None and live.model.detail.row.run == run)
    live.wait()
    live.clock.forward(2)
    return live


def stands(live: LiveWindow) -> tuple[object, ...]:
    """Return everything a stray command could have changed."""
    engine, model = live.engine, live.model
    deeds = [call for call in engine.calls if call[0] not in ("view_step", "send_hint")]
    return (
        deeds,
        dict(engine.rows),
        model.run,
        model.current,
        live.view.side.isVisible(),
        model.delayed_stops.held.newest,
    )


def type_at_once(live: LiveWindow, text: str) -> None:
    """Type letters into whatever has the focus, ten a second."""
    for letter in text:
        live.clock.forward(0.1)
        QTest.keyClicks(QApplication.focusWidget() or live.view, letter)
    live.wait()


def asks(live: LiveWindow, run: str, need: Need = Need.QUESTION, request: str = "ask-1") -> None:
    """Make the run send a request."""
    made = ApprovalRequest(
        id=request, run=run, need=need, step=2, question="Which?", opened_at=NOW, call='click("3")', words="click it"
    )  # fmt: skip
    live.engine.needs[request] = made
    live.put(replace(live.engine.rows[run], needs=(made,), state=RunState.WAITING))


def ends(live: LiveWindow, run: str) -> None:
    live.put(replace(live.engine.rows[run], state=RunState.ENDED, outcome="crashed", needs=()))


# ------------------------------------------------------------ typing
@pytest.mark.parametrize(
    ("which", "state"),
    [
        ("live-6", None),
        ("live-5", None),
        ("live-1", RunState.STARTING),
        ("live-1", RunState.RUNNING),
        ("live-1", RunState.RECOVERING),
        ("live-1", RunState.INTERRUPTED),
        ("live-2", None),
        ("live-4", None),
    ],
)
@pytest.mark.parametrize("large", [True, False])
def test_h_takes_the_keyboard_whatever_the_run_is_at(live, which, state, large) -> None:
    if state is not None:
        live.put(replace(live.engine.rows[which], state=state))
    if large:
        opened(live, which)
    else:
        live.model.select(which)
    live.press(K.Key_H)
    assert live.view.hint.line.hasFocus()
    assert live.model.run == which
    before = stands(live)
    type_at_once(live, LETTERS)
    assert stands(live) == before
    assert live.view.hint.line.text == ("" if which == "live-6" else LETTERS)


def test_h_opens_the_line_over_a_form_and_in_a_folded_column(live) -> None:
    opened(live, "live-1")
    live.view.columns.set_folded(2, True)
    live.view.open_run_form()
    live.view.list.setFocus()
    live.press(K.Key_H)
    assert live.view.hint.line.hasFocus()
    assert live.view.hint.line.isVisible()
    assert not live.view.side.isVisible()


def test_h_without_any_run_says_so_and_what_is_typed_next_does_nothing(live) -> None:
    for run in list(live.engine.rows):
        live.engine.bus.publish(LiveRunDismissed(run=run))
    live.wait()
    live.press(K.Key_H)
    assert live.said[-1] == "There is no run to send a hint to"
    type_at_once(live, "find qu")
    assert not live.view.side.isVisible()


def test_a_run_that_ends_while_a_hint_is_typed_leaves_the_line_its_keys_and_words_and_sends_nothing(
    live,
) -> None:
    opened(live, "live-1")
    live.press(K.Key_H)
    type_at_once(live, "The order number is on ")
    ends(live, "live-1")
    before = stands(live)
    type_at_once(live, "the next page, dear")
    line = live.view.hint.line
    assert line.hasFocus()
    assert line.text == "The order number is on the next page, dear"
    assert "Run 6 has ended" in live.view.hint.error.text()
    live.press(K.Key_Return)
    assert (line.hasFocus(), line.text) == (True, "The order number is on the next page, dear")
    assert not live.did("send_hint")
    assert stands(live) == before
    live.press(K.Key_Escape)
    assert not line.hasFocus()
    assert live.model.run == "live-1"


def test_an_empty_hint_line_keeps_the_keys_when_its_run_ends(live) -> None:
    opened(live, "live-1")
    live.press(K.Key_H)
    ends(live, "live-1")
    before = stands(live)
    type_at_once(live, LETTERS)
    assert live.view.hint.line.hasFocus()
    assert "has ended and takes no hint" in live.view.hint.line.placeholderText()
    assert stands(live) == before


@pytest.mark.parametrize("how", ["answer", "edit", "reason"])
@pytest.mark.parametrize(
    "gone", ["the run ends", "the request goes", "another comes", "another person decides"]
)
def test_a_field_of_a_request_that_goes_keeps_the_keys_and_words_and_sends_nothing(live, how, gone) -> None:
    need = Need.QUESTION if how == "answer" else Need.APPROVAL
    opened(live, "live-1")
    asks(live, "live-1", need)
    live.press(K.Key_E if how == "edit" else K.Key_R)
    card = live.view.needs.card
    line = card.reason if how == "reason" else card.line
    assert line.hasFocus()
    line.clear()
    type_at_once(live, "the sec")
    if gone == "the run ends":
        ends(live, "live-1")
    elif gone == "the request goes":
        live.put(replace(live.engine.rows["live-1"], needs=(), state=RunState.RUNNING))
    elif gone == "another comes":
        asks(live, "live-1", Need.APPROVAL, "ask-2")
    else:
        decision = OperatorDecision(kind=DecisionKind.DENY, author="bo", at=NOW)
        taken = replace(live.engine.needs["ask-1"], state=RequestState.DECIDED, decision=decision)
        live.engine.bus.publish(RequestChanged(request=taken))
        live.wait()
    before = stands(live)
    type_at_once(live, "ond and no king")
    live.press(K.Key_Return)
    assert line.hasFocus()
    assert line.text == "the second and no king"
    assert "nothing will be sent" in card.error.text()
    assert not any(button.isVisible() for button in card.buttons.values())
    live.press(K.Key_A, CTRL | SHIFT)
    assert not live.did("decide"), "not even for what is asked now: it is not what is shown"
    assert stands(live) == before
    live.press(K.Key_Escape)
    assert not line.hasFocus()
    assert "nothing will be sent" not in card.error.text() or not card.isVisible()
    assert card.isVisible() is (gone in ("another comes", "another person decides"))


def test_a_click_elsewhere_lets_go_of_a_field_whose_request_is_gone(live) -> None:
    opened(live, "live-1")
    asks(live, "live-1")
    live.press(K.Key_R)
    live.put(replace(live.engine.rows["live-1"], needs=(), state=RunState.RUNNING))
    assert live.view.needs.card.isVisible()
    live.view.facts.take_focus()
    live.wait()
    assert not live.view.needs.card.isVisible()


def test_letters_typed_on_after_their_field_is_gone_do_nothing_until_a_pause(live) -> None:
    opened(live, "live-1")
    live.press(K.Key_H)
    type_at_once(live, "sort by ")
    live.engine.bus.publish(LiveRunDismissed(run="live-1"))
    live.wait()
    assert not live.view.hint.line.isVisible()
    before = stands(live)
    type_at_once(live, LETTERS)
    assert stands(live) == before
    assert live.said[-1].startswith("Typing ignored")
    live.press(K.Key_J)
    assert live.model.current != before[3], "after a pause a key is a command again"


def test_keys_typed_into_a_page_that_is_lost_become_no_commands(live) -> None:
    opened(live, "live-1")
    live.press(K.Key_O)
    live.until(lambda: live.view.page.canvas.is_capturing)
    type_at_once(live, "pass")
    ends(live, "live-1")
    assert not live.view.page.canvas.is_capturing
    before = stands(live)
    type_at_once(live, "word and king\r")
    assert stands(live) == before


@pytest.mark.parametrize("large", [True, False])
def test_a_letter_that_is_no_command_now_goes_to_no_other_run(live, large) -> None:
    if large:
        opened(live, "live-1")
    live.model.select("live-1")
    live.view.take_focus()
    before = stands(live)
    for letter in (K.Key_A, K.Key_D, K.Key_E, K.Key_C, K.Key_Z):
        live.press(letter)
    assert stands(live) == before


# ------------------------------------------------------------ rows under the fingers
def test_rows_keep_their_places_while_keys_are_pressed_and_sort_once_the_hands_rest(live) -> None:
    live.press(K.Key_J)
    before = [row.run for row in live.model.list.rows]
    held = live.model.current
    live.put(replace(live.engine.rows["live-1"], state=RunState.PAUSED, risk=1.0))
    live.put(replace(live.engine.rows["live-1"], run="live-9", started_at=NOW))
    assert [row.run for row in live.model.list.rows] == [*before, "live-9"]
    live.rest()
    assert [row.run for row in live.model.list.rows].index("live-1") == 2
    assert live.model.current == held
    assert live.view.wall.tiles.currentIndex().row() == live.model.list.row_of(held)


def test_the_mouse_over_the_wall_holds_the_rows_too_and_a_key_sorts_them(live) -> None:
    viewport = live.view.wall.tiles.viewport()
    place = QPointF(40, 40)
    move = QMouseEvent(
        QEvent.Type.MouseMove, place, viewport.mapToGlobal(place), Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(viewport, move)
    before = [row.run for row in live.model.list.rows]
    live.put(replace(live.engine.rows["live-1"], state=RunState.PAUSED, risk=1.0))
    assert [row.run for row in live.model.list.rows] == before
    live.press(K.Key_F5)
    assert live.model.list.row_of("live-1") == 2


# ------------------------------------------------------------ numbers
def test_a_digit_goes_to_the_run_of_that_number_wherever_decisions_have_moved_it(live) -> None:
    numbers = {run: live.model.list.numbers.of(run) for run in live.engine.rows}
    live.press(live.number("live-2"))
    live.clock.forward()
    live.press(K.Key_A)
    live.rest()
    assert {run: live.model.list.numbers.of(run) for run in live.engine.rows} == numbers
    live.press(K.Key_0 + numbers["live-4"])
    assert live.model.run == "live-4"


def test_a_number_of_two_digits_is_typed_and_one_that_no_run_has_is_said(live) -> None:
    for number in range(7, 13):
        live.put(replace(live.engine.rows["live-5"], run=f"live-{number}", started_at=NOW + number))
    live.press(K.Key_1)
    QTest.keyClick(QApplication.focusWidget(), K.Key_2)
    live.wait()
    assert live.model.run == "live-12"
    live.model.close()
    live.rest()
    live.engine.bus.publish(LiveRunDismissed(run="live-7"))
    live.wait()
    live.press(K.Key_7)
    assert live.said[-1] == "There is no run 7"
    assert live.model.run == ""


# ------------------------------------------------------------ decisions
@pytest.mark.parametrize(
    ("need", "key", "said"),
    [
        (Need.APPROVAL, K.Key_A, "Approved: What is the price of 'Hacking Exposed Wireless'? · run 6"),
        (Need.APPROVAL, K.Key_D, "Denied: What is the price of 'Hacking Exposed Wireless'? · run 6"),
        (Need.WALL, K.Key_A, "Handled: What is the price of 'Hacking Exposed Wireless'? · run 6"),
        (Need.TROUBLE, K.Key_A, "Retrying: What is the price of 'Hacking Exposed Wireless'? · run 6"),
        (Need.FLAG, K.Key_A, "Resumed: What is the price of 'Hacking Exposed Wireless'? · run 6"),
        (Need.QUESTION, K.Key_D, "Not answered: What is the price of 'Hacking Exposed Wireless'? · run 6"),
        (Need.WALL, K.Key_D, "Ends in 5 seconds: What is the price of 'Hacking Exposed Wireless'? · run 6"),
        (
            Need.TROUBLE,
            K.Key_D,
            "Ends in 5 seconds: What is the price of 'Hacking Exposed Wireless'? · run 6",
        ),
        (Need.FLAG, K.Key_D, "Ends in 5 seconds: What is the price of 'Hacking Exposed Wireless'? · run 6"),
    ],
)
def test_a_decision_names_its_run(live, need, key, said) -> None:
    offered: list[str] = []
    live.model.undo_offered.connect(offered.append)
    opened(live, "live-1")
    asks(live, "live-1", need)
    live.press(key)
    assert [*live.said, *offered][-1] == said


@pytest.mark.parametrize("what", ["a run that was opened", "a request that came", "a window that came"])
@pytest.mark.parametrize("by", ["key", "card", "bar"])
def test_nothing_is_decided_about_what_came_before_the_eyes_less_than_half_a_second_ago(
    live, what, by
) -> None:
    if what == "a run that was opened":
        live.model.open("live-3")
        live.wait()
        run, request = "live-3", "req-2"
    else:
        opened(live, "live-1")
        asks(live, "live-1", Need.APPROVAL)
        run, request = "live-1", "ask-1"
    if what == "a window that came":
        live.clock.forward(60)
        QApplication.sendEvent(live.view, QShowEvent())

    def approve() -> None:
        if by == "key":
            QTest.keyClick(QApplication.focusWidget(), K.Key_A)
        else:
            button = live.view.needs.card.buttons["live.approve"] if by == "card" else live.view.bar.approve
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        live.wait()

    live.clock.forward(0.49)
    approve()
    assert not live.did("decide")
    number = live.model.list.numbers.of(run)
    assert live.said[-1] == f"Run {number} has only just appeared. Press again."
    live.clock.forward(0.02)
    approve()
    assert [given[0] for given in live.did("decide")] == [request]


@pytest.mark.parametrize("key", [K.Key_E, K.Key_R])
def test_a_field_of_what_just_came_up_does_not_open_and_what_is_typed_for_it_does_nothing(live, key) -> None:
    live.model.open("live-3")
    live.wait()
    QTest.keyClick(QApplication.focusWidget(), key)
    live.wait()
    card = live.view.needs.card
    assert not card.line.hasFocus()
    assert not card.reason.hasFocus()
    before = stands(live)
    type_at_once(live, LETTERS)
    assert stands(live) == before


def test_stop_hits_no_run_that_just_came_up(live) -> None:
    live.model.open("live-1")
    live.wait()
    QTest.keyClick(QApplication.focusWidget(), K.Key_K)
    live.wait()
    assert live.model.delayed_stops.held.newest is None
    live.press(K.Key_K)
    assert live.model.delayed_stops.holds("live-1")


def test_a_button_that_went_down_on_one_request_decides_about_no_later_one(live) -> None:
    opened(live, "live-1")
    asks(live, "live-1", Need.APPROVAL)
    live.clock.forward()
    for button in (live.view.needs.card.buttons["live.approve"], live.view.bar.approve):
        place = QPoint(8, 8)
        QTest.mousePress(button, Qt.MouseButton.LeftButton, pos=place)
        asks(live, "live-1", Need.APPROVAL, f"later-{id(button)}")
        live.clock.forward()
        QTest.mouseRelease(button, Qt.MouseButton.LeftButton, pos=place)
        live.wait()
        assert not live.did("decide")
    live.press(K.Key_A)
    assert len(live.did("decide")) == 1, "the next key is meant for what is shown now"


def test_a_second_press_of_the_key_does_not_hit_the_next_request_of_the_run(live) -> None:
    row = live.engine.rows["live-3"]
    second = replace(row.needs[0], id="req-9", opened_at=NOW)
    live.engine.needs["req-9"] = second
    live.put(replace(row, needs=(row.needs[0], second)))
    opened(live, "live-3")
    live.press(K.Key_A)
    QTest.keyClick(QApplication.focusWidget(), K.Key_A)
    live.wait()
    assert [given[0] for given in live.did("decide")] == ["req-2"]
    live.press(K.Key_A)
    assert [given[0] for given in live.did("decide")] == ["req-2", "req-9"], "seen, it can be decided"


# ------------------------------------------------------------ ends that can be undone
def deny_wall(live: LiveWindow) -> None:
    opened(live, "live-2")
    live.press(K.Key_D)


def test_a_denial_that_ends_the_run_is_sent_five_seconds_later(live) -> None:
    deny_wall(live)
    assert not live.did("decide"), "a window that dies now has sent nothing: the run waits on"
    card = live.view.needs.card
    assert "Ends in 5 seconds" in card.decided.text()
    assert not any(button.isVisible() for button in card.buttons.values())
    live.rest()
    ((request, decision),) = live.did("decide")
    assert (request, decision.kind, decision.scope) == ("req-1", DecisionKind.DENY, ApprovalScope.ONCE)
    assert live.said[-1] == "Ended: Order two copies of 'The Shellcoder's Handbook' · run 5"


def test_a_denial_that_ends_the_run_can_be_taken_back(live) -> None:
    deny_wall(live)
    assert (
        live.model.delayed_stops.held.take_back()
        == "end of Order two copies of 'The Shellcoder's Handbook' · run 5"
    )
    live.rest()
    assert not live.did("decide")
    live.press(K.Key_A)
    assert live.did("decide")[0][1].kind is DecisionKind.APPROVE


def test_a_run_that_is_stopped_does_nothing_more_and_goes_on_when_that_is_undone(live) -> None:
    live.model.select("live-1")
    live.press(K.Key_K)
    assert live.engine.rows["live-1"].state is RunState.PAUSED, "it is held at once"
    for key in (K.Key_Space, K.Key_S, K.Key_K, K.Key_O):
        live.press(key)
    assert live.engine.rows["live-1"].state is RunState.PAUSED
    live.model.delayed_stops.held.take_back()
    live.wait()
    assert live.engine.rows["live-1"].state is RunState.RUNNING
    live.rest()
    assert live.engine.rows["live-1"].state is RunState.RUNNING


def test_a_paused_run_whose_end_is_undone_stays_paused(live) -> None:
    live.model.select("live-4")
    live.press(K.Key_K)
    live.model.delayed_stops.held.take_back()
    live.rest()
    assert live.engine.rows["live-4"].state is RunState.PAUSED
    assert not live.did("resumed")


def test_a_queued_run_that_begins_while_its_end_waits_is_held(live) -> None:
    live.model.select("live-5")
    live.press(K.Key_K)
    live.put(replace(live.engine.rows["live-5"], state=RunState.STARTING))
    assert live.engine.rows["live-5"].state is RunState.PAUSED
    live.rest()
    assert live.engine.rows["live-5"].state is RunState.ENDED


@pytest.mark.parametrize("how", ["decided", "ended", "gone"])
def test_an_end_whose_run_went_on_without_it_is_not_sent(live, how) -> None:
    deny_wall(live)
    row = live.engine.rows["live-2"]
    if how == "decided":
        live.put(replace(row, needs=(), state=RunState.RUNNING))
    elif how == "ended":
        ends(live, "live-2")
    else:
        live.engine.bus.publish(LiveRunDismissed(run="live-2"))
        live.wait()
    assert live.model.delayed_stops.held.newest is None
    assert live.said[-1].startswith("Not ended: Order two copies")
    live.rest()
    assert not live.did("decide")


def test_other_runs_are_decided_while_an_end_waits(live) -> None:
    deny_wall(live)
    opened(live, "live-3")
    live.press(K.Key_A)
    assert [given[0] for given in live.did("decide")] == ["req-2"]
    opened(live, "live-2")
    assert "Ends in 5 seconds" in live.view.needs.card.decided.text()
    live.press(K.Key_A)
    assert len(live.did("decide")) == 1


# ------------------------------------------------------------ the next action
def test_the_frame_of_an_action_that_was_done_is_gone_and_next_says_deciding(live) -> None:
    opened(live, "live-1")
    live.until(lambda: "live-1" in live.engine.watched)
    live.engine.frame("live-1")
    live.until(lambda: live.model.frames.get("live-1") is not None)
    page, card = live.view.page, live.view.needs.next
    assert page.canvas.target is not None
    assert card.words.text() == "click button 'Place order'"
    row = live.engine.rows["live-1"]
    live.put(replace(row, step=row.step + 1, stage=Stage.THINKING))
    assert page.canvas.target is None
    assert (card.isVisible(), card.words.text(), card.reason.isVisible()) == (True, "deciding…", False)
    live.put(replace(live.engine.rows["live-1"], stage=Stage.WRITING))
    assert not card.isVisible()


def test_the_frame_goes_when_the_page_is_another_and_so_does_the_agents_pointer(live) -> None:
    opened(live, "live-1")
    live.until(lambda: "live-1" in live.engine.watched)
    live.engine.frame("live-1")
    live.until(lambda: live.model.frames.get("live-1") is not None)
    assert live.view.page.canvas.target is not None
    number = live.model.frames.counts.decoded
    live.engine.rows["live-1"] = replace(live.engine.rows["live-1"], url="http://shop.example/check/")
    live.engine.frame("live-1")
    live.until(lambda: live.model.frames.counts.decoded > number)
    live.wait()
    assert live.view.page.canvas.target is None
    assert live.model.next is None
    assert live.view.needs.next.words.text() == "deciding…"


def test_a_captcha_that_came_after_an_action_shows_no_frame_of_it(live) -> None:
    opened(live, "live-2")
    assert live.model.detail.next is not None, "the engine may still tell of it"
    assert live.model.next is None
    assert live.view.page.canvas.target is None
