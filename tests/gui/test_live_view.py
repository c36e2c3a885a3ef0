"""The run grid and an open run by keyboard: navigation, actions, forms, subscriptions, badges, layout."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.engine.api.run_api import LIVE_KNOWLEDGE
from app.engine.core.supervision import RunState
from app.errors import SiteloreError
from app.models.live.frames import FULL_RATE, TILE_RATE
from app.models.live.model import LiveModel
from app.models.live.run_list import display_state
from app.views.live.run_grid import cell_size
from app.views.live.view import LiveView
from app.views.widgets.command_button import SIGN, WHOLE, CommandButton
from tests.support.fake_engine import FakeEngine
from tests.support.fake_live import make_rows
from tests.support.live_window import LiveWindow
from tests.support.manual_clock import ManualClock

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
BOUNDS = (250, 284, 640)
USUAL = QSize(1200, 690)


@pytest.fixture
def make_live(qtbot, client, tasks, center, theme):
    made: list[LiveWindow] = []

    def make(start=True, size=USUAL):
        theme.set_reduced_motion(True)
        clock = ManualClock()
        model = LiveModel(client, tasks, clock=clock)
        view = LiveView(model, center, theme)
        qtbot.addWidget(view)
        view.addActions(center.actions())
        center.set_place("live")
        view.resize(size)
        view.show()
        view.activateWindow()
        view.focus_first()
        desk = LiveWindow(view, model, client.api, center, clock)
        made.append(desk)
        desk.until(view.isActiveWindow)
        if start:
            model.start()
            desk.until(lambda: model.is_loaded)
            desk.wait(0.15)
        return desk

    yield make
    for desk in made:
        desk.view.hide()
        desk.model.frames.close()


@pytest.fixture
def live(make_live) -> LiveWindow:
    return make_live()


# ------------------------------------------------------------ going about
def test_the_wall_opens_with_the_hand_on_the_run_that_needs_a_person(live: LiveWindow) -> None:
    tiles = live.view.wall.tiles
    assert live.view.faces.currentWidget() is live.view.wall
    assert live.holds(tiles)
    assert tiles.currentIndex().row() == 0
    assert live.model.current == "live-2"
    assert live.view.wall.counts.words == "2 need you · 1 running · 1 paused · 1 queued · 1 done"


def test_arrows_walk_the_tiles_enter_opens_escape_comes_back_to_the_same_tile(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_Right)
    assert live.model.current == "live-3"
    live.press(Qt.Key.Key_Down)
    assert live.model.current == "live-6"
    live.press(Qt.Key.Key_Return)
    assert live.model.run == "live-6"
    assert live.view.faces.currentWidget() is live.view.columns
    live.press(Qt.Key.Key_Escape)
    assert live.model.run == ""
    assert live.holds(live.view.wall.tiles)
    assert live.view.wall.tiles.currentIndex().row() == 5


def test_a_digit_opens_the_run_of_that_number_also_from_another_run(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_3)
    assert live.model.run == "live-4", "the third that began, whatever its place"
    live.press(Qt.Key.Key_5)
    assert live.model.run == "live-2"
    assert live.view.list.currentIndex().row() == 0


def test_j_goes_through_the_runs_on_the_wall_and_in_the_narrow_list(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_J)
    assert live.model.current == "live-3"
    live.press(Qt.Key.Key_Return)
    live.press(Qt.Key.Key_J)
    assert live.model.run == "live-4"
    live.press(Qt.Key.Key_J, SHIFT)
    assert live.model.run == "live-3"


def test_n_goes_from_one_run_that_needs_a_person_to_the_next(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_N)
    assert live.model.run == "live-2"
    live.press(Qt.Key.Key_N)
    assert live.model.run == "live-3"
    live.press(Qt.Key.Key_N)
    assert live.model.run == "live-2"


def test_a_run_that_comes_to_need_a_person_moves_up_and_the_hand_stays(live: LiveWindow) -> None:
    live.model.select("live-1")
    need = live.engine.needs["req-2"]
    asked = (replace(need, id="r", run="live-1"),)
    live.put(replace(live.engine.rows["live-1"], needs=asked, state=RunState.WAITING, risk=1.0))
    assert live.model.list.row_of("live-1") == 1
    assert live.model.current == "live-1"
    assert live.view.wall.tiles.currentIndex().row() == 1


def test_a_new_run_appears_without_taking_the_hand(live: LiveWindow) -> None:
    live.put(replace(live.engine.rows["live-1"], run="live-9"))
    assert live.model.list.row_of("live-9") >= 0
    assert live.model.current == "live-2"


# ------------------------------------------------------------ deeds
def test_pause_go_on_step_and_stop_by_one_key_each(live: LiveWindow) -> None:
    live.model.select("live-1")
    live.press(Qt.Key.Key_Space)
    assert live.did("paused") == [("live-1",)]
    assert live.view.bar.pause.accessibleName() == "Resume"
    live.press(Qt.Key.Key_S)
    assert live.engine.rows["live-1"].step == 3
    live.press(Qt.Key.Key_Space)
    assert live.did("resumed") == [("live-1",)]
    live.press(Qt.Key.Key_K)
    live.rest()
    assert live.engine.rows["live-1"].state is RunState.ENDED
    assert live.keys == 4


def test_shift_space_pauses_every_run(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_Space, SHIFT)
    assert live.engine.rows["live-1"].state is RunState.PAUSED
    assert live.said == ["1 run paused"]


def test_only_a_run_that_is_over_can_be_taken_off_the_wall(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_Delete)
    assert not live.did("dismiss_run")
    live.model.select("live-6")
    live.press(Qt.Key.Key_Delete)
    assert live.did("dismiss_run") == [("live-6",)]


def test_taking_over_from_the_wall_opens_the_page_first(live: LiveWindow) -> None:
    live.model.select("live-1")
    live.press(Qt.Key.Key_O)
    assert live.model.run == "live-1"
    assert live.engine.rows["live-1"].state is RunState.TAKEN_OVER
    assert live.view.bar.hands.command == "live.release"
    live.center.trigger("live.release")
    live.wait()
    assert live.engine.rows["live-1"].state is RunState.RUNNING
    assert live.model.takeover is not None


def test_the_bar_speaks_of_what_is_asked(live: LiveWindow) -> None:
    bar = live.view.bar
    live.model.select("live-2")
    assert (bar.approve.accessibleName(), bar.deny.accessibleName()) == ("Handled", "End run")
    live.model.select("live-3")
    assert (bar.approve.accessibleName(), bar.deny.accessibleName()) == ("Approve", "Deny")


def test_the_bars_buttons_keep_their_places_whatever_they_say(live: LiveWindow) -> None:
    bar = live.view.bar
    places = set()
    for run in ("live-2", "live-3", "live-1", "live-4", "live-6"):
        live.model.select(run)
        live.wait()
        places.add(tuple(button.x() for button in bar.buttons if button.isVisible()))
    assert len(places) == 1


def test_review_is_asked_for_the_run_under_the_hand(live: LiveWindow) -> None:
    asked: list[tuple[str, object]] = []
    live.model.review_wanted.connect(lambda run, step: asked.append((run, step)))
    live.press(Qt.Key.Key_Return, CTRL)
    assert asked == [("live-2", None)]


def test_from_a_call_to_a_decision_are_two_actions(live: LiveWindow) -> None:
    live.model.open("live-3")  # the click on the notification
    live.wait()
    live.press(Qt.Key.Key_A)
    assert [given[0] for given in live.did("decide")] == ["req-2"]
    assert live.keys == 1


# ------------------------------------------------------------ forms
def test_a_run_is_begun_from_the_wall_by_keys_alone(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_N, CTRL)
    assert live.holds(live.view.form)
    live.type("Find the cheapest book")
    live.press(Qt.Key.Key_Tab)
    live.type("shop.example")
    live.press(Qt.Key.Key_Return)
    ((requests, at_once),) = live.did("start_runs")
    assert [one.intent for one in requests] == ["Find the cheapest book"]
    assert at_once == 0
    assert not live.view.side.isVisible()
    assert live.model.current == "live-new-1"
    assert live.holds(live.view.wall.tiles)


def test_again_takes_the_task_of_the_run_with_the_tips_as_they_are(live: LiveWindow) -> None:
    live.model.select("live-4")
    live.press(Qt.Key.Key_W)
    assert live.view.form.intent.toPlainText() == live.engine.rows["live-4"].intent
    assert "with the current tips" in live.view.form.going.text()
    live.press(Qt.Key.Key_Return)
    live.wait()
    ((requests, _),) = live.did("start_runs")
    assert (requests[0].policy, requests[0].kb) == ("llm", LIVE_KNOWLEDGE)


def test_again_keeps_what_the_form_does_not_show(live: LiveWindow, monkeypatch) -> None:
    real = live.engine.run_request

    async def with_more(run):
        return replace(await real(run), domains=("*",), max_money=2.5, task_id="t-7")

    monkeypatch.setattr(live.engine, "run_request", with_more)
    live.press(Qt.Key.Key_W)
    live.view.form.start.click()
    live.wait()
    request = live.did("start_runs")[0][0][0]
    assert (request.domains, request.max_money, request.task_id) == (("*",), 2.5, "t-7")


def test_runs_that_cannot_begin_are_said_in_the_form_which_stays(live: LiveWindow, monkeypatch) -> None:
    async def refuse(requests, at_once=0):
        raise SiteloreError("no browser is installed")

    monkeypatch.setattr(live.engine, "start_runs", refuse)
    live.press(Qt.Key.Key_W)
    live.view.form.start.click()
    live.wait()
    assert live.view.side.isVisible()
    assert "no browser" in live.view.form.error.text()
    assert live.view.form.intent.toPlainText()


def test_escape_closes_the_form_and_gives_the_keys_back(live: LiveWindow) -> None:
    live.press(Qt.Key.Key_N, CTRL)
    live.type("half a thou")
    live.press(Qt.Key.Key_Escape)
    assert not live.view.side.isVisible()
    assert live.holds(live.view.wall.tiles)
    live.press(Qt.Key.Key_N, CTRL)
    assert live.view.form.intent.toPlainText() == "half a thou"


def test_a_form_beside_the_large_run_takes_the_place_of_its_right_column(live: LiveWindow) -> None:
    live.press(live.number("live-3"))
    live.press(Qt.Key.Key_N, CTRL)
    assert live.view.page.isVisible()
    assert not live.view.beside.isVisible()
    live.press(Qt.Key.Key_Escape)
    assert live.view.beside.isVisible()
    assert live.model.run == "live-3"


# ------------------------------------------------------------ what is watched
def test_tiles_are_watched_once_a_second_the_open_run_at_full_rate(live: LiveWindow) -> None:
    live.until(lambda: set(live.engine.watched) == {"live-1", "live-2", "live-3", "live-4"})
    assert {rate for _, _, rate in live.engine.watched.values()} == {TILE_RATE}
    live.model.open("live-3")
    live.until(lambda: set(live.engine.watched) == {"live-3"})
    assert live.engine.watched["live-3"][2] == FULL_RATE
    live.model.close()
    live.until(lambda: len(live.engine.watched) == 4)


def test_a_hidden_or_minimised_window_watches_nothing(live: LiveWindow) -> None:
    live.until(lambda: len(live.engine.watched) == 4)
    live.view.hide()
    live.until(lambda: not live.engine.watched)
    live.view.show()
    live.until(lambda: len(live.engine.watched) == 4)
    live.view.showMinimized()
    live.until(lambda: not live.engine.watched)


def test_only_tiles_in_sight_are_watched(make_live, fake_engine) -> None:
    one = make_rows()[0]
    fake_engine.rows = {f"r{n:02}": replace(one, run=f"r{n:02}", started_at=float(n)) for n in range(40)}
    live = make_live()
    live.until(lambda: bool(live.engine.watched))
    live.wait(0.2)
    first = set(live.engine.watched)
    assert len(first) < 20
    assert "r00" in first
    bar = live.view.wall.tiles.verticalScrollBar()
    bar.setValue(bar.maximum())
    live.until(lambda: "r39" in live.engine.watched and "r00" not in live.engine.watched)


def test_pictures_come_to_the_tiles(live: LiveWindow) -> None:
    live.until(lambda: "live-1" in live.engine.watched)
    live.engine.frame("live-1")
    live.until(lambda: live.model.frames.get("live-1") is not None)
    picture = live.model.frames.get("live-1")
    assert picture is not None
    assert picture.image.width() <= live.view.wall.tiles.tile.picture_size().width()


# ------------------------------------------------------------ faces
def test_without_runs_the_wall_says_what_to_do_and_its_key(
    qtbot, loop, tasks, center, theme, run, monkeypatch
) -> None:
    from app.models.common.engine_client import LocalClient

    engine = FakeEngine(empty=True)
    client = LocalClient(engine, engine.bus)
    model = LiveModel(client, tasks)
    view = LiveView(model, center, theme)
    qtbot.addWidget(view)
    center.set_place("live")
    view.resize(1200, 690)
    view.show()
    assert view.wall.faces.currentWidget() is view.wall.loading
    model.start()
    qtbot.waitUntil(lambda: model.is_loaded)
    assert view.wall.faces.currentWidget() is view.wall.nothing
    assert view.wall.nothing.button.text() == "Start a run…   Ctrl+N"
    assert not center.action("live.pause").isEnabled()
    view.hide()
    run(client.aclose())


def test_while_the_engine_is_away_nothing_can_be_asked_of_it(live: LiveWindow, client) -> None:
    client.host_changed.emit("The engine stopped unexpectedly and is restarting.")
    live.wait()
    assert live.view.wall.lost.isVisible()
    assert not live.center.action("live.new").isEnabled()
    assert not live.center.action("live.stop").isEnabled()
    client.host_changed.emit("")
    live.wait()
    assert not live.view.wall.lost.isVisible()
    assert live.center.action("live.new").isEnabled()


# ------------------------------------------------------------ layout
@pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (3, 3), (4, 3), (6, 3), (8, 4)])
def test_as_many_columns_as_show_every_run(count: int, columns: int) -> None:
    room = QSize(1180, 640)
    cell = cell_size([count], room, BOUNDS, lambda width: round(width * 0.625) + 150)
    shown = room.width() // cell.width()
    assert min(shown, count) == columns
    assert -(-count // shown) * cell.height() <= room.height()


def test_many_runs_scroll_in_tiles_of_the_usual_size() -> None:
    cell = cell_size([60], QSize(1180, 640), BOUNDS, lambda width: round(width * 0.625) + 150)
    assert 250 <= cell.width() <= 320


def test_a_room_of_nothing_still_gives_a_cell() -> None:
    assert cell_size([5], QSize(0, 0), BOUNDS, lambda width: width).isValid()


@pytest.mark.parametrize("size", [QSize(1200, 690), QSize(880, 520), QSize(2480, 1330)])
def test_no_button_is_cut_at_any_size(make_live, size: QSize) -> None:
    live = make_live(size=size)
    for open_run in (False, True):
        if open_run:
            live.model.open("live-3")
            live.wait(0.1)
        assert live.view.width() == size.width(), "nothing may ask for more than there is"
        for button in live.view.findChildren(CommandButton):
            if button.isVisible():
                right = button.mapTo(live.view, button.rect().topRight()).x()
                assert right <= live.view.width()


def test_a_wide_window_shows_keys_on_every_button_and_a_narrow_one_signs(make_live) -> None:
    wide = make_live(size=QSize(2400, 900))
    assert {button._much for button in wide.view.bar.buttons if button.isVisible()} == {WHOLE}
    wide.view.resize(640, 600)
    wide.wait()
    assert SIGN in {button._much for button in wide.view.bar.buttons if button.isVisible()}


def test_the_layout_is_kept(live: LiveWindow, make_live) -> None:
    live.press(live.number("live-3"))
    live.view.columns.setSizes([300, 500, 400])
    live.view.columns.splitterMoved.emit(300, 1)
    saved = live.view.save_layout()
    assert saved["run"] == "live-3"
    live.view.hide()
    other = make_live(start=False)
    other.view.restore_layout(saved)
    other.model.start()
    other.until(lambda: other.model.run == "live-3")
    assert other.view.columns.sizes()[0] == live.view.columns.sizes()[0]


def test_every_control_has_a_name_and_the_tiles_read_aloud(live: LiveWindow) -> None:
    for button in live.view.findChildren(CommandButton):
        assert button.accessibleName()
        assert button.toolTip()
    index = live.model.list.index(0)
    said = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert said.startswith("needs you, Order two copies")
    assert "captcha" in said


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_pictures_of_the_wall_and_of_a_large_run(make_live, theme, pictures, mode: str) -> None:
    theme.set_mode(mode)
    live = make_live()
    live.until(lambda: len(live.engine.watched) == 4)
    for run in list(live.engine.watched):
        live.engine.frame(run)
    live.until(lambda: all(live.model.frames.get(run) for run in live.engine.watched))
    wall = live.view.grab()
    live.model.open("live-3")
    live.until(lambda: set(live.engine.watched) == {"live-3"})
    live.engine.frame("live-3")
    live.wait(0.2)
    open_run = live.view.grab()
    assert wall.size() == open_run.size() == live.view.size() * live.view.devicePixelRatioF()
    assert wall.toImage() != open_run.toImage()
    if pictures is not None:
        wall.save(str(pictures / f"live-wall-{mode}.png"))
        open_run.save(str(pictures / f"live-large-{mode}.png"))


def test_hostile_texts_are_painted_without_a_word_of_complaint(make_live, fake_engine) -> None:
    row = fake_engine.rows["live-1"]
    nasty = "ا" * 3000 + "\n\u202e" + "<b>bold</b> & " + "x" * 20_000 + "\x00\ud83d"
    fake_engine.rows["live-1"] = replace(
        row, intent=nasty, plan=nasty, words=nasty, site=nasty, why=nasty, title=nasty, risk=1.0
    )
    live = make_live()
    assert not live.view.grab().isNull()
    live.model.open("live-1")
    live.wait(0.1)
    assert not live.view.grab().isNull()


def test_a_double_click_opens_a_tile(live: LiveWindow) -> None:
    tiles = live.view.wall.tiles
    place = tiles.visualRect(live.model.list.index(2)).center()
    QTest.mouseClick(tiles.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert live.model.current == "live-4"
    QTest.mouseDClick(tiles.viewport(), Qt.MouseButton.LeftButton, pos=place)
    live.wait()
    assert live.model.run == "live-4"
    assert QApplication.focusWidget() is not None


# ------------------------------------------------------------ in the whole window
def test_from_a_takeover_to_a_tip_draft_is_one_key_and_saving_it_leads_back(bench, qtbot) -> None:
    window = bench._window
    window.go("live")
    qtbot.waitUntil(lambda: bench.live.is_loaded)
    run = next(iter(bench.review.queue.model.rows)).id  # a run that is stored, so that the draft has its step
    row = bench.live.row_of("live-1")
    bench._client.api.put(replace(row, run=run, step=4))
    bench.live.open(run)
    bench.live.take_over()
    qtbot.waitUntil(lambda: bench.live.row.state is RunState.TAKEN_OVER)
    bench.live.release()
    qtbot.waitUntil(lambda: bench.live.takeover is not None)
    QTest.keyClick(window.focusWidget() or window, Qt.Key.Key_T)
    composer = bench.review.composer
    qtbot.waitUntil(lambda: composer.is_ready)
    assert window.place == "review"
    assert composer.draft.text == "The orders are under 'Orders' in the account menu."
    assert not composer.kept, "nobody kept it: it was handed over"
    assert (composer.run, composer.step) == (run, 4)
    composer.save()
    qtbot.waitUntil(lambda: window.place == "live")
    assert bench.live.run == run


def test_a_message_of_live_offers_no_undo_of_another_change(bench, qtbot, monkeypatch) -> None:
    window = bench._window
    monkeypatch.setattr(type(bench.workspace), "can_offer_undo", True)
    bench.live.notice.emit("1 run started")
    assert (window.toast.text, window.toast.action_text) == ("1 run started", "")


def test_a_draft_of_a_step_that_is_not_stored_yet_is_written_all_the_same(bench, qtbot) -> None:
    window = bench._window
    window.go("live")
    qtbot.waitUntil(lambda: bench.live.is_loaded)
    bench.live.open("live-1")
    bench.live.tasks.start(bench.live.api.send_hint("live-1", "Sort by price first."))
    qtbot.waitUntil(lambda: bench.live.can_write_tip)
    window.center.trigger("live.tip")
    qtbot.waitUntil(lambda: bench.review.composer.is_ready)
    assert bench.review.composer.draft.text == "Sort by price first."


def test_every_command_of_live_is_bound_and_in_the_palette(bench) -> None:
    center = bench._window.center
    wanted = [command.id for command in center.commands if command.place == "live"]
    assert len(wanted) > 40
    assert [command for command in wanted if not center.is_bound(command)] == []


def test_the_menu_of_live_is_there_only_in_live(bench) -> None:
    window = bench._window
    assert not window.menus["Live"].menuAction().isVisible()
    window.go("live")
    assert window.menus["Live"].menuAction().isVisible()


def test_a_passing_message_covers_no_control_of_live(bench, settle) -> None:
    window = bench._window
    window.go("live")
    settle()
    window.say("1 run started")
    bar = window.perspective("live").bar
    top = bar.mapTo(window.frame, bar.rect().topLeft()).y()
    assert window.toast.geometry().bottom() < top
    window.go("review")
    window.say("Copied")
    assert window.toast.geometry().bottom() > window.frame.height() - 8


def test_keys_stand_on_the_bar_in_the_usual_window_on_the_wall_and_beside_a_large_run(
    live: LiveWindow,
) -> None:
    bar = live.view.bar
    for open_run in (False, True):
        if open_run:
            live.model.open("live-2")
            live.wait()
        for button in (bar.pause, bar.approve, bar.deny, bar.hint, bar.hands, bar.stop):
            assert button.width() == button.width_for(WHOLE)


def test_while_the_page_is_in_a_persons_hands_the_run_is_theirs_and_nothing_else_calls(
    live: LiveWindow,
) -> None:
    live.model.open("live-2")
    live.wait()
    live.press(Qt.Key.Key_O)
    row = live.model.row
    assert row.needs
    assert display_state(row) == "yours"
    assert live.view.bar.hands.accessibleName() == "Hand back"
    buttons = [button for button in live.view.bar.buttons if button.isVisible()]
    rights = [button.geometry().right() for button in buttons]
    lefts = [button.geometry().left() for button in buttons[1:]]
    assert all(right < left for right, left in zip(rights, lefts, strict=False)), (
        "no button lies over another"
    )


def test_a_task_file_of_hundreds_is_told_of_in_a_few_words(live: LiveWindow) -> None:
    told: list[None] = []
    live.model.changed.connect(lambda: told.append(None))
    one = live.engine.rows["live-5"]
    for number in range(300):
        live.engine.put(replace(one, run=f"q{number:03}"))
    live.until(lambda: bool(told))
    live.wait(0.1)
    assert len(live.model.list.rows) == 306
    assert len(told) < 10, "a burst is told of once"
    assert "301 queued" in live.view.wall.counts.words
    assert live.model.current == "live-2"
