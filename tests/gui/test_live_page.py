"""The page of an open run: live, at a past step, during a takeover and after it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QFocusEvent, QGuiApplication, QInputMethodEvent, QKeySequence, QWheelEvent
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication

from app.engine.core.events import ActionPlanned, LiveRunChanged, PageFrame
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.page_input import InputKind, MouseButton
from app.engine.core.supervision import RunState, TakeoverSummary
from app.errors import Conflict
from app.models.common.engine_client import LocalClient
from app.models.live.model import LiveModel
from app.views.live.view import LiveView
from tests.support.fake_live import page_jpeg
from tests.support.live_page_window import LINES_ONLY, LOST, NO_PICTURE, PageOnly, PageWindow, SteppedEngine
from tests.support.manual_clock import ManualClock

K, M = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def make_page(qtbot, tasks, center, theme, run):
    """Make pages (or all of Live) in their own windows, with the runs loaded."""
    made: list[tuple[PageWindow, LocalClient]] = []

    def make(size=(720, 600), whole=False):
        theme.set_reduced_motion(True)
        engine = SteppedEngine()
        client = LocalClient(engine, engine.bus)
        clock = ManualClock()
        model = LiveModel(client, tasks, clock=clock)
        view = (LiveView if whole else PageOnly)(model, center, theme)
        qtbot.addWidget(view)
        view.addActions(center.actions())
        center.set_place("live")
        view.resize(*size)
        view.show()
        view.activateWindow()
        desk = PageWindow(view, model, engine, center, clock)
        made.append((desk, client))
        desk.until(view.isActiveWindow)
        model.start()
        desk.until(lambda: model.is_loaded)
        view.focus_first()
        return desk

    yield make
    for desk, client in made:
        desk.view.hide()
        desk.page.close_pictures()
        desk.model.frames.close()
        run(client.aclose())


@pytest.fixture
def desk(make_page) -> PageWindow:
    return make_page()


@pytest.fixture
def whole(make_page) -> PageWindow:
    """All of Live."""
    return make_page((1280, 760), whole=True)


def kinds(desk):
    return [one.kind for one in desk.inputs]


def plain_keys(desk):
    """Return the keys pressed on the page, without modifiers."""
    downs = (one.key for one in desk.inputs if one.kind is InputKind.KEY_DOWN)
    return [key for key in downs if key not in ("Shift", "Control", "Alt", "Meta")]


# ------------------------------------------------------------------------------------------------ the picture


def test_the_engine_is_asked_for_pictures_that_fill_the_page_once_a_size_has_settled(desk):
    desk.open("live-1")
    wanted = desk.canvas.wanted
    desk.until(lambda: desk.engine.watched["live-1"] == (wanted.width(), wanted.height(), 25.0))
    desk.wait(0.3)
    asked: list[tuple[int, int]] = []
    desk.canvas.size_changed.connect(lambda: asked.append(desk.canvas.wanted.toTuple()))
    for width in range(710, 620, -10):
        desk.view.resize(width, 620)
    desk.until(lambda: bool(asked))
    desk.wait(0.2)
    assert len(asked) == 1
    assert asked[0] == (desk.canvas.wanted.width(), desk.canvas.wanted.height())
    desk.until(lambda: desk.engine.watched["live-1"][:2] == asked[0])


def test_a_picture_is_drawn_in_the_middle_in_its_own_shape_and_pixel_by_pixel(desk):
    desk.open("live-1")
    page_geometry = desk.canvas.page_geometry
    assert page_geometry.page == (1280, 800)
    assert abs(page_geometry.rect.width() / page_geometry.rect.height() - 1.6) < 0.05
    assert abs(page_geometry.rect.center().x() - desk.canvas.width() / 2) <= 1
    shown = desk.model.frames.get("live-1").image
    assert (shown.width(), shown.height()) == (page_geometry.rect.width(), page_geometry.rect.height())
    assert page_geometry.page_place(page_geometry.place(640, 400)) == pytest.approx((640, 400))


def test_the_next_action_is_marked_on_its_element_with_its_words_and_its_risk(desk):
    desk.open("live-3")
    target = desk.canvas.target
    assert target.words == "click button 'Place order'"
    assert (target.tag, target.role) == ("buys", "fail")
    plain = desk.canvas.grab().toImage()
    desk.canvas.show_target(None)
    desk.wait()
    bare = desk.canvas.grab().toImage()
    edge = desk.canvas.page_geometry.place(64, 680).toPoint() - QPoint(3, 0)
    far = desk.canvas.page_geometry.place(900, 300).toPoint()
    assert plain.pixelColor(edge) != bare.pixelColor(edge)
    assert plain.pixelColor(far) == bare.pixelColor(far)


def test_an_action_out_of_sight_or_without_a_place_is_told_inside_the_picture(desk, theme):
    from PySide6.QtGui import QImage, QPainter

    from app.views.live.page_overlay import TargetBox, draw_target

    desk.open("live-1")
    page_geometry = desk.canvas.page_geometry
    paper = QImage(desk.canvas.size(), QImage.Format.Format_RGB32)
    painter = QPainter(paper)
    for box in (None, (10.0, 5_000.0, 80.0, 20.0), (-900.0, -70.0, 80.0, 20.0), (1270.0, 0.0, 400.0, 4.0)):
        tab = draw_target(painter, theme, page_geometry, TargetBox(words="x" * 3_000, tag="deletes", box=box))
        assert page_geometry.rect.contains(tab)
    painter.end()


def test_the_pointer_stays_where_the_agents_last_action_had_it(desk):
    desk.open("live-1")
    planned = desk.model.next
    assert desk.page._agent_at is None
    desk.engine.bus.publish(ActionPlanned(next=replace(planned, step=planned.step + 1, point=(10.0, 20.0))))
    desk.wait()
    assert desk.page._agent_at == planned.point


@pytest.mark.parametrize(
    ("state", "why", "said"),
    [
        (RunState.PAUSED, "", "Paused until you resume it."),
        (RunState.RECOVERING, "the browser died; it is opened again", "the browser died; it is opened again"),
        (RunState.INTERRUPTED, "", "The process ended; the run can be resumed."),
        (RunState.ENDED, "stopped by a person", "stopped by a person"),
    ],
)
def test_a_page_that_is_not_of_now_says_so_and_is_dimmed(desk, state, why, said):
    desk.open("live-1")
    bright = desk.canvas.grab().toImage().pixelColor(desk.place(600, 30))
    desk.engine.put(replace(desk.engine.rows["live-1"], state=state, why=why))
    desk.wait()
    assert desk.page.head.says.text() == said
    dimmed = desk.canvas.grab().toImage().pixelColor(desk.place(600, 30))
    assert (dimmed != bright) is (state is not RunState.PAUSED)


def test_an_engine_that_is_lost_is_said_over_the_page_and_its_target_is_no_longer_marked(desk):
    desk.open("live-1")
    assert desk.canvas.target is not None
    desk.model.client.host_changed.emit("The engine ended; it is restarting.")
    desk.wait()
    assert desk.page.head.badge.text == "engine lost"
    assert "restarting" in desk.page.head.says.text()
    assert desk.canvas.target is None
    desk.model.client.host_changed.emit("")
    desk.until(lambda: desk.canvas.target is not None)


def test_a_run_without_a_page_shows_the_last_one_that_was_kept(desk):
    desk.open("live-6")
    desk.until(lambda: desk.canvas.has_picture)
    assert ("view_step", ("live-6", 6)) in desk.engine.calls


def test_a_run_that_is_over_shows_its_last_step_rather_than_a_tile_blown_up(desk):
    desk.model.frames.fit("live-6", QSize(200, 125))
    desk.model.client.page_frame.emit(
        PageFrame(
            run="live-6", number=1, width=200, height=125, page_width=1280, page_height=800,
            jpeg=page_jpeg(200, 125),
        )
    )  # fmt: skip
    desk.until(lambda: desk.model.frames.get("live-6") is not None)
    desk.open("live-6")
    desk.until(lambda: desk.canvas._image is not None and desk.canvas._image.width() == 1280)


# ------------------------------------------------------------------------------------------------ the past


def test_the_past_is_walked_by_key_while_the_run_goes_on_and_one_key_comes_back(desk):
    desk.open("live-6")
    desk.until(lambda: len(desk.page.replay.steps.rows) == 7)
    desk.press(K.Key_Comma)
    assert desk.page.replay.index == 6
    desk.press(K.Key_Left)
    desk.until(lambda: desk.canvas.has_picture)
    assert desk.page.head.badge.text == "past step 5"
    assert desk.page.head.address.text().endswith("/catalogue/5")
    assert desk.canvas.target.box == (64.0, 200.0, 300.0, 60.0)
    desk.press(K.Key_Period)
    desk.press(K.Key_Period)
    assert desk.page.replay.index is None
    desk.press(K.Key_Comma)
    desk.press(K.Key_L)
    assert desk.page.replay.index is None
    assert not any(name in ("paused", "resumed") for name, _ in desk.engine.calls)


def test_a_running_run_is_not_disturbed_by_looking_back_and_its_pictures_go_on_arriving(desk):
    desk.open("live-1")
    desk.press(K.Key_Comma)
    desk.until(lambda: desk.page.replay.view is not None)
    shown = desk.page.head.badge.text
    desk.picture("live-1")
    row = desk.engine.rows["live-1"]
    desk.engine.put(replace(row, step=row.step + 1, words="click link 'Next page'"))
    desk.wait()
    assert desk.page.head.badge.text == shown
    assert desk.engine.watched["live-1"][2] == 25.0
    assert [mark.words for mark in desk.page.replay.steps.rows][-1] == "click link 'Next page'"
    number = desk.model.frames.get("live-1").number
    desk.press(K.Key_End)
    assert desk.page.replay.index is None
    assert desk.model.frames.get("live-1").number == number


def test_steps_without_a_picture_show_their_lines_or_say_what_is_missing(desk):
    desk.open("live-6")
    desk.until(lambda: len(desk.page.replay.steps.rows) == 7)
    replay = desk.page.replay
    replay.go(NO_PICTURE)
    desk.until(lambda: replay.view is not None)
    assert desk.canvas._placeholder == "No picture of this step was kept."
    replay.go(LINES_ONLY)
    desk.until(lambda: replay.view is not None)
    assert desk.page.faces.currentWidget() is desk.page.lines
    replay.go(LOST)
    desk.until(lambda: bool(replay.error))
    assert "is not there" in desk.canvas._placeholder
    assert desk.page.faces.currentWidget() is desk.canvas


def test_the_strip_of_steps_grows_by_rows_and_gets_what_was_missed(desk):
    desk.open("live-1")
    steps = desk.page.replay.steps
    QAbstractItemModelTester(steps, QAbstractItemModelTester.FailureReportingMode.Fatal)
    row = desk.engine.rows["live-1"]
    assert len(steps.rows) == row.step
    desk.engine.put(replace(row, step=row.step + 1, words="click link 'Two'"))
    desk.engine.put(replace(row, step=row.step + 5, words="click link 'Six'"))
    desk.until(lambda: len(steps.rows) == row.step + 5)
    flagged = replace(desk.engine.rows["live-4"].flags[0], step=1)
    desk.engine.put(replace(desk.engine.rows["live-1"], flags=(flagged,)))
    desk.wait()
    assert steps.rows[1].severity == "error"
    assert steps.rows[1].flags == (flagged.message,)


def test_a_click_on_the_strip_goes_to_the_step_also_twice_and_leaves_the_keys_where_they_are(desk):
    desk.open("live-6")
    desk.until(lambda: len(desk.page.replay.steps.rows) == 7)
    strip, held = desk.page.strip, QApplication.focusWidget()
    for _ in range(2):
        place = strip.visualRect(desk.page.replay.steps.index(4)).center()
        QTest.mouseClick(strip.viewport(), Qt.MouseButton.LeftButton, M.NoModifier, place)
        desk.wait()
        assert desk.page.replay.index == 4
        desk.press(K.Key_L)
        assert desk.page.replay.index is None
    assert QApplication.focusWidget() is held


def test_steps_that_were_done_by_hand_say_so(desk):
    desk.engine.by_hand["live-6"] = 5
    desk.open("live-6")
    desk.until(lambda: len(desk.page.replay.steps.rows) == 7)
    words = [mark.words for mark in desk.page.replay.steps.rows]
    assert [one.startswith("by hand: ") for one in words] == [False] * 5 + [True] * 2


# ------------------------------------------------------------------------------------------------ a person's hands


def test_nothing_goes_to_a_page_that_is_not_taken_over(desk):
    desk.open("live-1")
    desk.click(100, 100)
    QTest.mouseMove(desk.canvas, desk.place(300, 300))
    desk.wait(0.1)
    assert desk.inputs == []
    assert not desk.canvas.is_capturing


def test_one_key_takes_over_and_mouse_and_keys_are_the_pages(whole):
    whole.take_over()
    assert whole.canvas.has_keys
    assert "go to the page" in whole.page.head.says.text()
    whole.click(640, 400)
    whole.press(K.Key_A)
    whole.until(lambda: len(whole.inputs) >= 4)
    press, release, down, up = [one for one in whole.inputs if one.kind is not InputKind.MOVE][:4]
    assert (press.kind, press.button) == (InputKind.PRESS, MouseButton.LEFT)
    assert (press.x, press.y) == pytest.approx((640, 400), abs=2)
    assert release.kind is InputKind.RELEASE
    assert (down.kind, down.key, down.text) == (InputKind.KEY_DOWN, "a", "a")
    assert up.kind is InputKind.KEY_UP
    assert press.at <= release.at <= down.at


def test_the_windows_own_keys_are_off_while_the_page_has_them(whole):
    whole.take_over()
    before = whole.model.current
    for key, modifier in (
        (K.Key_J, M.NoModifier), (K.Key_K, M.NoModifier), (K.Key_Space, M.NoModifier), (K.Key_Escape, M.NoModifier),
        (K.Key_Tab, M.NoModifier), (K.Key_Backtab, M.ShiftModifier), (K.Key_Return, M.NoModifier),
        (K.Key_K, M.ControlModifier), (K.Key_1, M.NoModifier), (K.Key_Comma, M.NoModifier),
        (K.Key_1, M.ControlModifier), (K.Key_F1, M.NoModifier), (K.Key_Left, M.NoModifier),
    ):  # fmt: skip
        whole.press(key, modifier)
    whole.until(lambda: len(plain_keys(whole)) == 13)
    assert QApplication.focusWidget() is whole.canvas
    assert whole.model.current == before
    assert whole.model.run == "live-1"
    assert whole.page.replay.index is None
    assert whole.engine.rows["live-1"].state is RunState.TAKEN_OVER
    assert plain_keys(whole)[3:6] == ["Escape", "Tab", "Tab"]


def test_shift_escape_hands_the_page_back_and_nothing_stays_pressed_on_it(desk):
    desk.take_over()
    QTest.keyPress(desk.canvas, K.Key_Shift)
    QTest.mousePress(desk.canvas, Qt.MouseButton.LeftButton, M.NoModifier, desk.place(200, 200))
    desk.wait()
    desk.press(K.Key_Escape, M.ShiftModifier)
    desk.until(lambda: desk.engine.rows["live-1"].state is not RunState.TAKEN_OVER)
    desk.until(lambda: not desk.canvas.is_capturing)
    assert {one.key for one in desk.inputs if one.kind is InputKind.KEY_UP} == {"Shift"}
    assert kinds(desk).count(InputKind.PRESS) == kinds(desk).count(InputKind.RELEASE) == 1
    assert kinds(desk)[-1] in (InputKind.KEY_UP, InputKind.RELEASE)
    assert "Escape" not in [one.key for one in desk.inputs]
    QTest.keyRelease(desk.canvas, K.Key_Shift)
    desk.wait(0.1)
    assert not [said for said in desk.said if "not in your hands" in said]


def test_a_remapped_key_hands_the_page_back_and_the_old_one_goes_to_the_page(desk):
    assert desk.center.remap("live.release", ["Ctrl+F12"]) == []
    desk.take_over()
    assert "Ctrl+F12" in desk.page.head.says.text()
    desk.press(K.Key_Escape, M.ShiftModifier)
    desk.until(lambda: "Escape" in [one.key for one in desk.inputs])
    assert desk.canvas.is_capturing
    desk.press(K.Key_F12, M.ControlModifier)
    desk.until(lambda: not desk.canvas.is_capturing)


def test_what_the_window_loses_is_shown_and_one_click_or_key_gives_the_page_the_keys_again(desk):
    desk.take_over()
    QTest.keyPress(desk.canvas, K.Key_Control, M.NoModifier)
    desk.view.list.setFocus()
    desk.wait()
    assert desk.canvas.is_capturing
    assert not desk.canvas.has_keys
    assert "The keyboard is with the window" in desk.page.head.says.text()
    assert desk.inputs[-1].kind is InputKind.KEY_UP
    desk.press(K.Key_O)
    assert desk.canvas.has_keys
    desk.view.list.setFocus()
    desk.click(300, 300)
    assert desk.canvas.has_keys
    assert desk.inputs[-1].kind is InputKind.RELEASE


def test_the_frame_of_a_takeover_is_whole_with_the_keys_and_dashed_without(desk, theme):
    desk.take_over()
    desk.picture("live-1")
    rect = desk.canvas.page_geometry.rect
    row = round(rect.top()) - 2

    def framed():
        shown = desk.canvas.grab().toImage()
        line = [shown.pixelColor(x, row) for x in range(round(rect.left()) + 10, round(rect.right()) - 10)]
        return sum(color == theme.color("accent") for color in line) / len(line)

    assert framed() == 1.0
    desk.view.list.setFocus()
    desk.wait()
    assert 0.3 < framed() < 0.9


def test_only_the_picture_takes_the_mouse_and_a_drag_may_leave_it(desk):
    desk.take_over()
    page_geometry = desk.canvas.page_geometry
    outside = QPoint(round(page_geometry.rect.left()) + 20, round(page_geometry.rect.top()) - 3)
    assert outside.y() > 0
    QTest.mouseClick(desk.canvas, Qt.MouseButton.LeftButton, M.NoModifier, outside)
    desk.wait()
    assert [kind for kind in kinds(desk) if kind is not InputKind.MOVE] == []
    QTest.mousePress(desk.canvas, Qt.MouseButton.LeftButton, M.NoModifier, desk.place(100, 100))
    QTest.mouseMove(desk.canvas, QPoint(desk.canvas.width() - 1, desk.canvas.height() - 1))
    QTest.mouseRelease(desk.canvas, Qt.MouseButton.LeftButton, M.NoModifier, outside)
    desk.until(lambda: InputKind.RELEASE in kinds(desk))
    end = desk.inputs[-1]
    assert 0 <= end.x < 1280
    assert end.y == 0
    assert all(0 <= one.x < 1280 and 0 <= one.y < 800 for one in desk.inputs)


def test_double_and_right_clicks_and_the_wheel_reach_the_page(desk):
    desk.take_over()
    QTest.mouseDClick(desk.canvas, Qt.MouseButton.LeftButton, M.NoModifier, desk.place(100, 100))
    desk.click(100, 100, Qt.MouseButton.RightButton)
    place = QPointF(desk.place(640, 400))
    turned = QWheelEvent(
        place, desk.canvas.mapToGlobal(place), QPoint(), QPoint(0, -240), Qt.MouseButton.NoButton, M.ShiftModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(desk.canvas, turned)
    desk.until(lambda: InputKind.WHEEL in kinds(desk))
    wheel = desk.inputs[-1]
    assert (wheel.dx, wheel.dy, wheel.modifiers) == (0, 200, 8)
    assert 2 in [one.clicks for one in desk.inputs if one.kind is InputKind.PRESS]
    assert MouseButton.RIGHT in [one.button for one in desk.inputs if one.kind is InputKind.PRESS]


def test_a_paste_and_what_an_input_method_composes_arrive_as_text(desk):
    desk.take_over()
    QGuiApplication.clipboard().setText("Zoë 漢字 🙂")
    desk.press(K.Key_V, M.ControlModifier)
    composing = QInputMethodEvent("かん", [])
    QApplication.sendEvent(desk.canvas, composing)
    assert "かん" in desk.page.head.says.text()
    done = QInputMethodEvent("", [])
    done.setCommitString("漢")
    QApplication.sendEvent(desk.canvas, done)
    desk.until(lambda: kinds(desk).count(InputKind.TEXT) == 2)
    assert [one.text for one in desk.inputs if one.kind is InputKind.TEXT] == ["Zoë 漢字 🙂", "漢"]
    assert plain_keys(desk) == []
    assert "go to the page" in desk.page.head.says.text()


def test_a_key_that_was_down_before_the_takeover_does_not_come_up_on_the_page(desk):
    desk.open("live-1")
    QTest.keyPress(QApplication.focusWidget(), K.Key_O)
    desk.until(lambda: desk.canvas.is_capturing)
    QTest.keyRelease(desk.canvas, K.Key_O)
    desk.wait(0.1)
    assert desk.inputs == []


def test_looking_back_during_a_takeover_takes_no_keys_to_the_page_and_now_gives_them_back(desk):
    desk.take_over()
    desk.page.replay.back()
    desk.wait()
    assert not desk.canvas.is_capturing
    desk.page.replay.live()
    desk.wait()
    assert desk.canvas.has_keys


def test_a_takeover_that_the_person_walks_away_from_stays_and_can_be_come_back_to(whole):
    whole.take_over("live-2")
    QTest.keyPress(whole.canvas, K.Key_Shift)
    whole.wait()
    whole.model.close()
    whole.until(lambda: not whole.canvas.is_capturing)
    whole.until(lambda: InputKind.KEY_UP in kinds(whole))
    assert whole.engine.rows["live-2"].state is RunState.TAKEN_OVER
    whole.model.open("live-2")
    whole.until(lambda: whole.canvas.has_keys)


def test_a_run_that_ends_under_the_hands_gives_the_keys_back_to_the_window(desk):
    desk.take_over()
    row = desk.engine.rows["live-1"]
    desk.engine.bus.publish(LiveRunChanged(row=replace(row, state=RunState.ENDED, why="the browser died")))
    desk.wait()
    assert not desk.canvas.is_capturing
    assert desk.page.head.says.text() == "the browser died"
    desk.press(K.Key_A)
    assert desk.inputs == []


# ------------------------------------------------------------------------------------------------ handed back


def test_from_a_takeover_to_a_tip_draft_is_one_key_and_one_more_to_the_map(whole):
    drafts: list[object] = []
    whole.model.tip_wanted.connect(drafts.append)
    whole.take_over()
    whole.press(K.Key_Escape, M.ShiftModifier)
    whole.until(lambda: whole.page.card.isVisible())
    before = whole.keys
    whole.press(K.Key_T)
    whole.until(lambda: bool(drafts))
    assert whole.keys - before == 1
    assert drafts[0].text.startswith("The orders are under")
    whole.press(K.Key_B)
    whole.until(lambda: ("takeover_to_graph", ("live-1", 2)) in whole.engine.calls)
    assert whole.keys - before == 2


def test_what_is_pressed_after_the_page_is_handed_back_is_the_windows_though_the_engine_is_slow(
    whole, monkeypatch
):
    drafts: list[object] = []
    whole.model.tip_wanted.connect(drafts.append)
    put = whole.engine.put
    told: list[object] = []
    whole.take_over()
    monkeypatch.setattr(whole.engine, "put", told.append)  # the account comes before the run's new state
    monkeypatch.setattr(whole.engine, "_move", lambda *_what: None)
    whole.press(K.Key_Escape, M.ShiftModifier)
    whole.until(lambda: whole.model.takeover is not None)
    inputs = len(whole.inputs)
    whole.press(K.Key_T)
    whole.until(lambda: bool(drafts))
    assert len(whole.inputs) == inputs
    put(told[-1])


def test_a_page_that_could_not_be_handed_back_is_in_hand_again(desk, monkeypatch):
    async def refused(run, *_how):
        raise Conflict("the engine does not take it")

    desk.take_over()
    monkeypatch.setattr(desk.engine, "release", refused)
    desk.press(K.Key_Escape, M.ShiftModifier)
    desk.until(lambda: desk.canvas.is_capturing)
    assert desk.model.takeover is None


def test_the_account_of_a_takeover_says_what_was_done_what_changed_and_what_was_kept_out(desk):
    desk.take_over()
    desk.press(K.Key_Escape, M.ShiftModifier)
    desk.until(lambda: desk.page.card.isVisible())
    card = desk.page.card
    assert card.title.text() == "Handed back: 2 steps by hand"
    assert "clicked link 'Orders'" in card.done.text()
    assert "the address is now /orders/" in card.changes.text()
    assert "Masked in text and pictures: 1 field" in card.changes.text()
    assert card.tip_button.isEnabled()
    assert card.map_button.isEnabled()
    assert desk.page.faces.geometry().contains(card.geometry())
    desk.press(K.Key_Escape)
    assert not card.isVisible()
    assert desk.model.run == "live-1"
    row = desk.engine.rows["live-1"]
    desk.engine.put(replace(row, step=row.step + 1, words="click link 'Orders'"))
    desk.wait()
    assert not card.isVisible()


def test_an_account_without_actions_or_with_a_thousand_changes_fits(desk):
    card = desk.page.card
    desk.open("live-1")
    desk.model.takeover = TakeoverSummary(run="live-1", first_step=2, steps=0, words="")
    desk.model.takeover_changed.emit()
    desk.wait()
    assert card.title.text() == "Handed back: nothing was done by hand"
    assert not card.tip_button.isEnabled()
    assert not card.map_button.isEnabled()
    many = tuple(f"{'very ' * 60}long change {number}" for number in range(1_000))
    desk.model.takeover = TakeoverSummary(
        run="live-1", first_step=2, steps=90, words="x" * 9_000, changes=many, tip_text="y " * 900, masked=3
    )
    desk.model.takeover_changed.emit()
    desk.wait()
    assert "and 996 more" in card.changes.text()
    assert desk.page.faces.geometry().contains(card.geometry())


# ------------------------------------------------------------------------------------------------ its looks


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 760), (2560, 1400)])
def test_the_page_stands_in_both_sizes_and_colours(make_page, theme, pictures, mode, size):
    theme.set_mode(mode)
    desk = make_page(size, whole=True)
    desk.open("live-3")
    desk.wait(0.2)
    assert desk.canvas.width() > 0.4 * size[0]
    assert desk.canvas.page_geometry.rect.width() > 0.8 * min(desk.canvas.width(), 1280)
    for widget in (desk.canvas, desk.page.strip, desk.page.now, desk.page.head.address, desk.page.card):
        assert widget.accessibleName()
    if pictures is not None:
        desk.view.grab().save(str(pictures / f"live-page-{mode}-{size[0]}.png"))


def test_risks_have_words_and_colours_of_their_own(desk):
    desk.open("live-1")
    planned = desk.model.next
    seen = []
    for risk in (RiskClass.READS, RiskClass.EDITS, RiskClass.SENDS, RiskClass.DELETES):
        desk.engine.bus.publish(ActionPlanned(next=replace(planned, risk=risk)))
        desk.wait()
        seen.append((desk.canvas.target.tag, desk.canvas.target.role))
    assert seen == [("", "accent"), ("edits", "accent"), ("sends", "warn"), ("deletes", "fail")]


def test_the_canvas_leaves_a_focus_event_of_a_menu_alone(desk):
    desk.take_over()
    QApplication.sendEvent(desk.canvas, QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.PopupFocusReason))
    assert desk.canvas.is_capturing
    assert QKeySequence("Shift+Esc").toString() in desk.page.head.says.text()
