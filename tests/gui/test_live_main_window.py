"""Live in the main window: undo of ended runs, overlapping panels, forms, run numbers after a restart."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.engine.core.supervision import DecisionKind, RunState
from app.models.common.workspace import WorkspaceModel

K = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(bench, qtbot):
    """The main window with Live loaded and visible for a while."""
    bench._window.go("live")
    qtbot.waitUntil(lambda: bench.live.is_loaded and bool(bench.live.list.rows))
    return bench._window


def press(window, key, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    """Send a key to the focus widget."""
    QTest.keyClick(QApplication.focusWidget() or window, key, modifiers)


def deny(bench, window, qtbot, run: str = "live-2") -> None:
    """Deny the request and so end the run."""
    bench.live.open(run)
    qtbot.waitUntil(lambda: bench.live.detail is not None and not bench.live.open_run.requests.is_too_recent)
    press(window, K.Key_D)
    qtbot.waitUntil(lambda: bench.live.delayed_stops.holds(run))


def decisions(bench) -> list[object]:
    return [given for name, given in bench._client.api.calls if name == "decide"]


# ------------------------------------------------------------ undo
@pytest.mark.parametrize("how", ["U", "Ctrl+Z", "the toast"])
def test_an_end_is_taken_back_by_the_one_undo_command_and_by_the_toast(bench, window, qtbot, how) -> None:
    deny(bench, window, qtbot)
    assert window.toast.text == "Ends in 5 seconds: Order two copies of 'The Shellcoder's Handbook' · run 5"
    assert window.toast.action_text == "Undo  U"
    assert (
        window.center.title("app.undo")
        == "Undo: end of Order two copies of 'The Shellcoder's Handbook' · run 5"
    )
    if how == "U":
        press(window, K.Key_U)
    elif how == "Ctrl+Z":
        press(window, K.Key_Z, CTRL)
    else:
        button = next(one for one in window.toast.findChildren(QPushButton) if one.text() == "Undo  U")
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert bench.live.delayed_stops.held.newest is None
    assert window.toast.text == "Undone: end of Order two copies of 'The Shellcoder's Handbook' · run 5"
    assert not decisions(bench)
    assert bench.live.open_run.requests.can("live.deny")
    assert window.center.title("app.undo") == "Undo"


def test_a_window_that_is_closed_in_good_order_sends_the_end_that_waits(bench, window, qtbot, run) -> None:
    deny(bench, window, qtbot)
    assert not decisions(bench)
    run(bench.live.delayed_stops.held.finish())
    ((request, decision),) = decisions(bench)
    assert (request, decision.kind) == ("req-1", DecisionKind.DENY)


def test_numbers_of_runs_are_in_the_session_as_soon_as_they_are_given(bench, window, qtbot) -> None:
    def kept():
        return bench.session._last.get("layouts", {}).get("live", {}).get("numbers", {})

    qtbot.waitUntil(lambda: kept().get("live-6") == 1)
    assert kept() == bench.live.list.numbers.saved


# ------------------------------------------------------------ panels and forms
def test_while_settings_are_open_no_key_reaches_what_lies_below(bench, window, qtbot, settle) -> None:
    live = window.perspective("live")
    press(window, K.Key_Comma, CTRL)
    settings = window.commands.settings
    qtbot.waitUntil(settings.isVisible)
    settle()
    for key in (K.Key_N, K.Key_Return):
        press(window, key, CTRL)
        press(window, key, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert not live.side.isVisible()
    assert window.place == "live"
    assert settings.isVisible()
    assert settings.isAncestorOf(QApplication.focusWidget())
    press(window, K.Key_Escape)
    assert not settings.isVisible()
    press(window, K.Key_N, CTRL)
    assert live.side.isVisible(), "with the panel closed the key is the place's again"


def test_escape_closes_the_top_panel_before_the_form_below_it(bench, window, qtbot, settle) -> None:
    live = window.perspective("live")
    press(window, K.Key_N, CTRL)
    press(window, K.Key_Comma, CTRL)
    settings = window.commands.settings
    settle()
    settings.save.setEnabled(True)
    settings.save.setFocus()
    settings.save.setEnabled(False)
    settle()
    assert settings.isAncestorOf(QApplication.focusWidget()), (
        "a greyed button gives the keys to nothing below"
    )
    press(window, K.Key_Escape)
    assert (settings.isVisible(), live.side.isVisible()) == (False, True)
    press(window, K.Key_Escape)
    assert not live.side.isVisible()


def test_what_is_asked_before_leaving_lies_behind_no_panel(bench, window, settle) -> None:
    press(window, K.Key_Comma, CTRL)
    settle()
    press(window, K.Key_Q, CTRL)
    settle()
    assert not window.commands.settings.isVisible()
    assert window.banner.isVisible()


def test_in_the_run_form_down_chooses_the_next_policy_and_enter_starts_the_run(
    bench, window, qtbot, settle
) -> None:
    live, model = window.perspective("live"), bench.live
    before = model.current
    press(window, K.Key_N, CTRL)
    form = live.form
    QTest.keyClicks(QApplication.focusWidget(), "Find the price")
    form.fields["start_url"].setText("http://shop.example/")
    model.form.set("start_url", "http://shop.example/")
    form.policies["scout"].setFocus()
    press(window, K.Key_Down)
    assert form.policies["llm"].isChecked()
    assert (model.form.policy, model.current) == ("llm", before)
    for letter in (K.Key_D, K.Key_K, K.Key_A):
        press(window, letter)
    assert not decisions(bench)
    assert model.delayed_stops.held.newest is None
    press(window, K.Key_Return)
    qtbot.waitUntil(lambda: any(name == "start_runs" for name, _ in bench._client.api.calls))
    ((requests, _),) = [given for name, given in bench._client.api.calls if name == "start_runs"]
    assert [(one.intent, one.policy) for one in requests] == [("Find the price", "llm")]
    qtbot.waitUntil(lambda: window.toast.text == "1 run started")


def test_undo_with_nothing_held_back_is_the_historys(bench, window) -> None:
    assert isinstance(bench.workspace, WorkspaceModel)
    assert bench.workspace.undo_label == ""
    assert not window.center.action("app.undo").isEnabled()


def test_stopping_a_run_on_the_wall_is_undone_by_one_key(bench, window, qtbot) -> None:
    bench.live.select("live-1")
    press(window, K.Key_K)
    qtbot.waitUntil(lambda: bench._client.api.rows["live-1"].state is RunState.PAUSED)
    press(window, K.Key_U)
    qtbot.waitUntil(lambda: bench._client.api.rows["live-1"].state is RunState.RUNNING)
