"""The takeover bar by keyboard: address line, navigation, and the ways to hand back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.engine.core.hand_back import HandBack, HandBackKind
from app.engine.core.page_input import NavigationKind
from app.engine.core.supervision import DecisionKind, OperatorDecision, RunState
from app.models.common.engine_client import LocalClient
from app.models.live.model import LiveModel
from app.views.live.view import LiveView
from tests.support.fake_live import SHOP
from tests.support.live_page_window import PageWindow, SteppedEngine
from tests.support.manual_clock import ManualClock

K, M = Qt.Key, Qt.KeyboardModifier
BOTH = M.ControlModifier | M.ShiftModifier


@pytest.fixture
def desk(qtbot, tasks, center, theme, run):
    """All of Live."""
    theme.set_reduced_motion(True)
    engine = SteppedEngine()
    client = LocalClient(engine, engine.bus)
    clock = ManualClock()
    model = LiveModel(client, tasks, clock=clock)
    view = LiveView(model, center, theme)
    qtbot.addWidget(view)
    view.addActions(center.actions())
    center.set_place("live")
    view.resize(1280, 800)
    view.show()
    view.activateWindow()
    made = PageWindow(view, model, engine, center, clock)
    made.until(view.isActiveWindow)
    model.start()
    made.until(lambda: model.is_loaded)
    view.focus_first()
    yield made
    view.hide()
    made.page.close_pictures()
    model.frames.close()
    run(client.aclose())


def moves(desk):
    return [given[1:] for name, given in desk.engine.calls if name == "move_page"]


def handed(desk):
    return [given[1] for name, given in desk.engine.calls if name == "release"]


def test_the_bar_is_there_only_while_the_page_is_in_hand(desk):
    desk.open("live-1")
    assert not desk.page.bar.isVisible()
    desk.take_over()
    assert desk.page.bar.isVisible()
    assert desk.page.bar.address.text == desk.engine.rows["live-1"].url
    for widget in (*desk.page.bar.moves, desk.page.bar.address, desk.page.bar.finished):
        assert widget.accessibleName()
        assert widget.isVisible()
    desk.press(K.Key_Escape, M.ShiftModifier)
    desk.until(lambda: not desk.canvas.is_capturing)
    assert not desk.page.bar.isVisible()
    assert handed(desk) == [HandBack()]


def test_an_address_is_typed_by_keyboard_and_the_keys_go_back_to_the_page(desk):
    desk.take_over()
    desk.press(K.Key_L, M.ControlModifier)
    assert desk.page.bar.address.hasFocus()
    QTest.keyClicks(desk.page.bar.address, f"{SHOP}/orders")
    QTest.keyClick(desk.page.bar.address, K.Key_Return)
    desk.until(lambda: bool(moves(desk)))
    assert moves(desk) == [(NavigationKind.OPEN, f"{SHOP}/orders")]
    assert desk.canvas.has_keys
    assert all(one.key not in ("l", "L") for one in desk.inputs), "the page got nothing of Ctrl+L"


def test_esc_leaves_the_address_as_it_was(desk):
    desk.take_over()
    desk.press(K.Key_L, M.ControlModifier)
    QTest.keyClicks(desk.page.bar.address, "never mind")
    QTest.keyClick(desk.page.bar.address, K.Key_Escape)
    desk.wait()
    assert desk.canvas.has_keys
    assert desk.page.bar.address.text == desk.engine.rows["live-1"].url
    assert moves(desk) == []


@pytest.mark.parametrize(
    ("key", "modifier", "move"),
    [
        (K.Key_Left, M.AltModifier, NavigationKind.BACK),
        (K.Key_Right, M.AltModifier, NavigationKind.FORWARD),
        (K.Key_R, M.ControlModifier, NavigationKind.RELOAD),
        (K.Key_Home, M.AltModifier, NavigationKind.START),
    ],
)
def test_the_browser_is_moved_by_the_usual_keys(desk, key, modifier, move):
    desk.take_over()
    desk.press(key, modifier)
    desk.until(lambda: bool(moves(desk)))
    assert moves(desk) == [(move, "")]


def test_leaving_the_runs_sites_is_said(desk):
    desk.take_over()
    desk.page.bar.by_hand.open("https://elsewhere.example")
    desk.until(lambda: bool(moves(desk)))
    desk.until(lambda: desk.page.bar.said.isVisible())
    assert "not one of this run's sites" in desk.page.bar.said.text().replace("\u200b", "")


def wait_for_undo(desk):
    """Let the time to undo pass."""
    desk.clock.forward(6)
    desk.model.delayed_stops.held.look()
    desk.until(lambda: bool(handed(desk)))


def test_a_run_is_handed_back_as_finished_by_key(desk):
    desk.take_over()
    desk.press(K.Key_E, BOTH)
    assert desk.model.delayed_stops.holds("live-1")
    assert handed(desk) == [], "it can be undone for five seconds"
    wait_for_undo(desk)
    assert handed(desk) == [HandBack(how=HandBackKind.FINISHED)]
    desk.until(lambda: desk.engine.rows["live-1"].state is RunState.ENDED)


def test_a_run_that_was_called_finished_stays_in_hand_when_that_is_undone(desk):
    desk.take_over()
    desk.press(K.Key_E, BOTH)
    desk.model.delayed_stops.held.take_back()
    desk.clock.forward(6)
    desk.model.delayed_stops.held.look()
    desk.wait()
    assert handed(desk) == []
    assert desk.canvas.is_capturing


def test_an_answer_is_typed_and_ends_the_run(desk):
    desk.take_over()
    desk.press(K.Key_R, BOTH)
    line = desk.page.bar.answer
    assert line.hasFocus()
    QTest.keyClick(line, K.Key_Return)
    desk.wait()
    assert desk.page.bar.said.isVisible()
    assert not desk.model.delayed_stops.holds("live-1"), "an answer without words ends nothing"
    QTest.keyClicks(line, "41 pieces")
    QTest.keyClick(line, K.Key_Return)
    wait_for_undo(desk)
    assert handed(desk) == [HandBack(how=HandBackKind.ANSWER, answer="41 pieces")]


def test_an_answer_that_was_left_stays_and_nothing_is_sent(desk):
    desk.take_over()
    desk.press(K.Key_R, BOTH)
    QTest.keyClicks(desk.page.bar.answer, "41")
    QTest.keyClick(desk.page.bar.answer, K.Key_Escape)
    desk.wait()
    assert desk.canvas.has_keys
    assert handed(desk) == []
    desk.press(K.Key_R, BOTH)
    assert desk.page.bar.answer.text == "41"


def test_a_wall_that_is_none_is_said_so_by_key_without_a_takeover(desk):
    desk.open("live-2")
    desk.press(K.Key_C)
    desk.until(lambda: any(name == "decide" for name, _ in desk.engine.calls))
    assert [given for name, given in desk.engine.calls if name == "decide"] == [
        ("req-1", OperatorDecision(kind=DecisionKind.NO_WALL))
    ]


def test_a_wall_that_is_none_is_said_so_when_the_page_is_handed_back(desk):
    desk.take_over("live-2")
    desk.press(K.Key_W, BOTH)
    desk.until(lambda: bool(handed(desk)))
    assert handed(desk) == [HandBack(how=HandBackKind.NO_WALL)]


def test_where_there_is_no_wall_nothing_can_be_said_about_one(desk):
    desk.take_over()
    desk.press(K.Key_W, BOTH)
    desk.wait()
    assert handed(desk) == []
    assert not desk.page.bar.no_wall.isEnabled()


def test_letters_typed_into_the_address_are_no_commands(desk):
    desk.take_over("live-2")
    desk.press(K.Key_L, M.ControlModifier)
    desk.until(lambda: desk.page.bar.address.hasFocus())
    desk.press(K.Key_C)
    desk.press(K.Key_K)
    desk.wait()
    assert handed(desk) == []
    assert not desk.model.delayed_stops.holds("live-2")
    assert desk.page.bar.address.text == "ck"


# finished by hand without a takeover


@pytest.mark.parametrize("which", ["live-3", "live-4", "live-6"], ids=["waiting", "paused", "interrupted"])
def test_an_answer_is_typed_at_once_from_the_overview_and_goes_to_that_run(desk, which):
    if which == "live-6":
        row = desk.engine.rows[which]
        desk.engine.put(replace(row, state=RunState.INTERRUPTED, outcome=""))
        desk.wait()
    desk.model.select(which)
    desk.wait()
    assert desk.center.action("live.finish.answer").isEnabled()
    desk.press(K.Key_R, BOTH)
    assert desk.model.run == which
    assert desk.page.bar.answer.hasFocus()
    assert not desk.view.needs.by_hand.isHidden(), "links beside the page say that it can be done"
    QTest.keyClicks(desk.page.bar.answer, "41 pieces")
    QTest.keyClick(desk.page.bar.answer, K.Key_Return)
    assert desk.model.delayed_stops.holds(which), "it can be undone for five seconds"
    assert not desk.page.bar.isVisible()
    assert not desk.view.touch.is_field, "the next key is a command again"


@pytest.mark.parametrize("which", ["live-1", "live-5", "live-6"], ids=["running", "queued", "ended"])
def test_a_run_that_nobody_holds_offers_no_end_by_hand(desk, which):
    desk.model.select(which)
    desk.wait()
    assert not desk.center.action("live.finish").isEnabled()
    assert not desk.center.action("live.finish.answer").isEnabled()


def test_an_answer_typed_for_one_run_is_never_sent_for_another(desk):
    desk.open("live-3")
    desk.press(K.Key_R, BOTH)
    QTest.keyClicks(desk.page.bar.answer, "41 pieces")
    desk.model.open("live-4")
    desk.wait()
    assert not desk.page.bar.isVisible()
    QTest.keyClick(desk.page.bar.answer, K.Key_Return)
    desk.wait()
    assert not desk.model.delayed_stops.holds("live-3")
    assert not desk.model.delayed_stops.holds("live-4")
    desk.press(K.Key_R, BOTH)
    assert desk.page.bar.answer.text == "", "it is not that run's answer"
    desk.model.open("live-3")
    desk.wait()
    desk.press(K.Key_R, BOTH)
    assert desk.page.bar.answer.text == "41 pieces", "and it is not lost"
