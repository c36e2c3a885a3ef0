"""Notifications in the real window: shown, followed by one key or click, badges, quiet mode, quitting."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListWidget, QPushButton, QSystemTrayIcon, QWidget

from app import settings
from app.engine.core.supervision import ApprovalRequest, DecisionKind, Need, RunState
from app.models.common.jobs import JobList
from app.models.common.model_setup import ModelSetup
from app.models.common.search import SearchModel
from app.models.common.settings_form import SettingsForm
from app.models.common.workspace import WorkspaceModel
from app.models.live.model import LiveModel
from app.settings import Settings
from app.views.frame.main_window import MainWindow
from app.views.frame.notification_center import NotificationCenter
from app.views.frame.notifier import badged
from app.views.live.view import LiveView
from tests.support import qt_loop

CTRL = Qt.KeyboardModifier.ControlModifier


class Plain(QWidget):
    """Another perspective, with a focused list."""

    place = "review"

    def __init__(self):
        super().__init__()
        self.list = QListWidget(self)

    def save_layout(self):
        return {}

    def restore_layout(self, layout):
        assert layout == {}

    def focus_first(self):
        self.list.setFocus()


class Window:
    """The frame with Live and another perspective over generated runs; keys and clicks are counted."""

    def __init__(self, window, client, tasks, engine, settle):
        self.window, self.engine, self.settle, self.actions = window, engine, settle, 0
        form, workspace = SettingsForm(tasks, window), WorkspaceModel(client, tasks, window)
        setup = ModelSetup(form, client, tasks, window)
        jobs, search = JobList(client, tasks, window), SearchModel(client, tasks, window)
        window.attach(workspace, jobs, search, form, setup)
        self.live = LiveModel(client, tasks, window)
        self.desk = NotificationCenter(window, client, tasks, self.live, form)
        self.calls, self.notifier = self.desk.calls, self.desk.notifier
        view = LiveView(self.live, window.center, window.theme)
        self.desk.attach(view)
        window.add_perspective(Plain())
        window.add_perspective(view)
        window.go("review")
        workspace.start()
        self.live.start()
        self.desk.start()

    def block(self, run="live-1", number=1):
        need = ApprovalRequest(
            id=f"{run}-{number}",
            run=run,
            need=Need.APPROVAL,
            step=3,
            question="May it press 'Pay'?",
            site="shop",
        )
        self.engine.needs[need.id] = need
        self.engine.put(replace(self.engine.rows[run], state=RunState.WAITING, needs=(need,)))

    def until(self, condition):
        qt_loop.until(condition)

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        self.actions += 1
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)
        self.settle(0.05)

    def click(self, button):
        self.actions += 1
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        self.settle(0.05)


@pytest.fixture
def desk(run, settle, theme, center, client, tasks, fake_engine):
    window = MainWindow(center, theme)
    window.resize(1280, 800)
    window.show()
    window.activateWindow()
    made = Window(window, client, tasks, fake_engine, settle)
    made.until(lambda: made.live.list.rows and "—" in window.windowTitle())
    yield made
    run(tasks.aclose())
    made.live.frames.close()
    window.finish_closing()
    window.deleteLater()
    settle()


def test_from_a_call_to_the_decision_it_is_two_keys(desk):
    desk.block()
    desk.until(lambda: "Needs you" in desk.window.toast.text)
    assert desk.window.toast.action_text == "Open  Ctrl+."
    desk.press(Qt.Key.Key_Period, CTRL)
    assert desk.window.place == "live"
    assert desk.live.run == "live-1"
    desk.until(lambda: not desk.live.open_run.requests.is_too_recent)
    desk.press(Qt.Key.Key_A)
    desk.until(lambda: desk.engine.needs["live-1-1"].decision is not None)
    assert desk.engine.needs["live-1-1"].decision.kind is DecisionKind.APPROVE
    assert desk.actions == 2


def test_from_a_click_on_the_call_to_the_decision_it_is_two_actions(desk):
    desk.block()
    desk.until(lambda: desk.window.toast.isVisible() and desk.window.toast.action_text)
    desk.click(next(one for one in desk.window.toast.findChildren(QPushButton) if "Open" in one.text()))
    assert desk.live.run == "live-1"
    desk.until(lambda: not desk.live.open_run.requests.is_too_recent)
    desk.press(Qt.Key.Key_A)
    desk.until(lambda: desk.engine.needs["live-1-1"].decision is not None)
    assert desk.actions == 2


def test_a_call_in_the_window_goes_once_nobody_waits(desk):
    desk.block()
    desk.until(lambda: "Needs you" in desk.window.toast.text and desk.window.toast.isVisible())
    desk.engine.put(replace(desk.engine.rows["live-1"], state=RunState.RUNNING, needs=()))
    assert not desk.window.toast.isVisible()


def test_the_title_counts_who_waits_whatever_the_window_is_called(desk):
    assert desk.window.windowTitle().startswith("(3) ")
    desk.block()
    assert desk.window.windowTitle().startswith("(4) ")
    desk.window.setWindowTitle("another — Sitelore")
    assert desk.window.windowTitle() == "(4) another — Sitelore"
    for run in list(desk.engine.rows):
        desk.engine.put(replace(desk.engine.rows[run], state=RunState.RUNNING, needs=()))
    assert desk.window.windowTitle() == "another — Sitelore"


def test_the_run_that_is_large_in_the_active_window_does_not_call(desk):
    desk.window.go("live")
    desk.live.open("live-1")
    desk.settle(0.1)
    desk.block()
    desk.settle(0.9)
    assert "Needs you" not in desk.window.toast.text


def test_the_same_run_calls_once_the_person_is_elsewhere(desk):
    desk.window.go("live")
    desk.live.open("live-1")
    desk.window.go("review")
    desk.block()
    desk.until(lambda: "Needs you" in desk.window.toast.text)


def test_a_desktop_note_is_shown_first_and_a_click_on_it_opens_the_run(desk, monkeypatch):
    shown = []
    monkeypatch.setattr(desk.notifier.desktop, "show", shown.append)
    desk.block()
    desk.until(lambda: shown)
    assert not desk.window.toast.isVisible()
    assert shown[0].title == "Needs you: What is the price of 'Hacking Exposed Wireless'?"
    desk.window.showMinimized()
    desk.notifier.desktop.followed.emit(shown[0].key)
    assert not desk.window.isMinimized()
    assert desk.live.run == "live-1"


def test_a_note_is_withdrawn_once_nobody_waits(desk, monkeypatch):
    withdrawn = []
    monkeypatch.setattr(desk.notifier.desktop, "show", lambda _note: None)
    monkeypatch.setattr(desk.notifier.desktop, "withdraw", withdrawn.append)
    desk.block()
    desk.until(lambda: desk.notifier._shown)
    desk.engine.put(replace(desk.engine.rows["live-1"], state=RunState.RUNNING, needs=()))
    assert withdrawn == ["live-1"]


class Tray(QSystemTrayIcon):
    """A tray that is available."""

    def __init__(self, parent):
        super().__init__(parent)
        self.messages = []

    def isVisible(self):
        return True

    def supportsMessages(self):
        return True

    def showMessage(self, title, body, icon):
        self.messages.append((title, body, icon))


@pytest.mark.qt_log_ignore("systemTrayWindowChanged", extend=True)
def test_without_notifications_the_tray_tells_and_carries_the_badge(desk):
    tray = Tray(desk.notifier)
    desk.notifier.use_tray(tray)
    assert tray.toolTip() == "Sitelore: 3 runs need you"
    desk.block()
    desk.until(lambda: tray.messages)
    assert tray.messages[0][0].startswith("Needs you")
    assert tray.toolTip() == "Sitelore: 4 runs need you"
    tray.messageClicked.emit()
    assert desk.live.run == "live-1"


def test_the_badge_is_drawn_on_the_icon(theme, qapp):
    icon = QIcon()
    pictures = [badged(icon, count, theme).pixmap(64, 64).toImage() for count in (0, 3, 12)]
    assert len({bytes(picture.constBits()) for picture in pictures}) == 3


def test_quiet_for_an_hour_is_one_key_and_says_until_when(desk):
    desk.window.go("live")
    desk.press(Qt.Key.Key_Q)
    assert "Quiet until" in desk.window.toast.text
    assert desk.window.center.title("live.quiet") == "End quiet mode"
    desk.block()
    desk.settle(0.8)
    assert "Needs you" not in desk.window.toast.text
    desk.press(Qt.Key.Key_Q)
    assert desk.window.center.title("live.quiet") != "End quiet mode"


def test_settings_of_calls_are_in_force_at_once(desk):
    settings.save(Settings(at_once=2, notifications="off", quiet_hours="1-2"))
    desk.desk.settings._on_saved({})
    desk.until(lambda: ("apply_settings", ()) in desk.engine.calls)
    desk.until(lambda: desk.notifier.mode == "off")
    assert desk.notifier.mode == "off"
    desk.block()
    desk.settle(0.8)
    assert "Needs you" not in desk.window.toast.text


# ---------------------------------------------------------------- leaving


@pytest.fixture
def left(desk):
    asked = []
    desk.window.quit_requested.connect(lambda: asked.append(True))
    return asked


def test_leaving_while_runs_go_on_is_asked_once_and_the_same_key_again_pauses_and_quits(desk, left):
    desk.press(Qt.Key.Key_Q, CTRL)
    assert left == []
    assert "5 runs are active" in desk.window.banner.text
    desk.press(Qt.Key.Key_Q, CTRL)
    desk.until(lambda: left)
    assert desk.engine.rows["live-1"].state is RunState.PAUSED
    assert left == [True]


def test_enter_on_the_question_pauses_and_quits(desk, left):
    desk.window.close()
    assert desk.window.banner.button.hasFocus()
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: left)


def test_esc_stays_and_gives_the_keys_back(desk, left):
    desk.window.go("review")
    held = QApplication.focusWidget()
    desk.press(Qt.Key.Key_Q, CTRL)
    desk.press(Qt.Key.Key_Escape)
    assert not desk.window.banner.isVisible()
    assert QApplication.focusWidget() is held
    assert left == []
    desk.window.close()
    assert "active" in desk.window.banner.text
    desk.click(desk.window.banner.other)
    assert left == []


def test_without_a_run_the_window_goes_at_once(desk, left):
    for run in list(desk.engine.rows):
        desk.engine.put(replace(desk.engine.rows[run], state=RunState.ENDED, outcome="stopped", needs=()))
    desk.window.close()
    assert left == [True]


def test_an_engine_that_can_not_pause_does_not_hold_the_window(desk, left, monkeypatch):
    async def broken():
        raise ConnectionError("gone")

    monkeypatch.setattr(desk.engine, "pause_all", broken)
    desk.window.close()
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: left)
