"""The frame with the real Review on generated data: navigation, overlays, messages, session, quitting."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtCore import QMimeData, QPoint, QRect, QSettings, QSize, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QComboBox, QLineEdit, QPushButton, QWidget

from app.engine.core.events import HistoryChanged, JobChanged
from app.models.common.commands import CommandCenter
from app.models.common.engine_client import LocalClient
from app.views.frame.main_window import MainWindow, ensure_on_screen
from app.views.frame.theme import Theme
from app.workbench import Workbench
from tests.support.fake_engine import FakeEngine
from tests.support.qt_loop import until


@pytest.fixture
def bench(run, settle, theme: Theme, fake_engine: FakeEngine) -> Iterator[Workbench]:
    with opened(run, settle, theme, fake_engine) as bench:
        yield bench


@pytest.fixture
def empty_bench(run, settle, theme: Theme, loop) -> Iterator[Workbench]:
    with opened(run, settle, theme, FakeEngine(empty=True)) as bench:
        yield bench


@contextmanager
def opened(run, settle, theme: Theme, engine: FakeEngine) -> Iterator[Workbench]:
    window = MainWindow(CommandCenter(), theme)
    window.resize(1280, 800)
    window.show()
    window.activateWindow()
    bench = Workbench(window, LocalClient(engine, engine.bus))
    bench.engine = engine  # type: ignore[attr-defined]
    run(bench.build())
    run(bench.start(restore=True))
    settle(0.15)
    yield bench
    run(bench.stop(save=True))
    window.finish_closing()
    window.deleteLater()
    settle()


def press(window: MainWindow, key: Qt.Key, modifier=Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(window.focusWidget() or window, key, modifier)


def test_it_opens_on_the_review_with_its_counts(bench: Workbench) -> None:
    window = bench._window
    assert window.place == "review"
    assert window.center.place == "review"
    assert window.windowTitle() == "(3) webarena — Sitelore"  # runs that need a person
    assert window.status.counts.text() == "Runs 40 · tips 14"
    assert bench.review.run


def test_every_command_of_the_table_is_bound_by_someone(bench: Workbench) -> None:
    center = bench._window.center
    assert [command.id for command in center.commands if not center.is_bound(command.id)] == []


def test_the_palette_does_what_is_chosen_without_the_mouse(bench: Workbench) -> None:
    window = bench._window
    press(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = window.commands.palette
    assert palette.isVisible()
    assert palette.line.hasFocus()
    QTest.keyClicks(palette.line, "dark colours")
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert not palette.isVisible()
    assert window.theme.mode == "dark"


def test_the_palette_goes_to_the_place_of_a_command(bench: Workbench) -> None:
    window = bench._window
    window.go("knowledge")
    before = bench.review.run
    window.center.trigger("review.next")
    assert window.place == "review"
    assert bench.review.run != before


@pytest.mark.parametrize("command", ["app.palette", "app.cheat_sheet", "app.keys", "app.doctor", "app.about"])
def test_escape_closes_an_overlay_and_gives_the_keys_back(bench: Workbench, command: str) -> None:
    window = bench._window
    window.go("review")
    before = window.focusWidget()
    run_open = bench.review.run
    window.center.trigger(command)
    assert window.focusWidget() is not before
    press(window, Qt.Key.Key_J)  # belongs to the overlay, not to the queue behind it
    assert bench.review.run == run_open
    press(window, Qt.Key.Key_Escape)
    assert window.focusWidget() is before


def test_one_overlay_at_a_time_and_a_click_beside_it_closes(bench: Workbench) -> None:
    window = bench._window
    window.center.trigger("app.keys")
    window.center.trigger("app.palette")
    assert not window.commands.editor.isVisible()
    QTest.mouseClick(window.commands.palette, Qt.MouseButton.LeftButton, pos=QPoint(5, 700))
    assert not window.commands.palette.isVisible()


def test_the_key_sheet_shows_this_place_with_remapped_keys(bench: Workbench) -> None:
    window = bench._window
    window.center.remap("review.next", ["F7"])
    groups = dict(window.commands.sheet.groups("review"))
    assert ("Next run", ["F7"]) in groups["Review"]
    assert ("wrong element", ["1"]) in groups["Verdict"]
    shown = {title for lines in groups.values() for title, _keys in lines}
    assert "Next tip" not in shown


def test_the_key_editor_shows_a_conflict_and_takes_a_free_key(bench: Workbench) -> None:
    window = bench._window
    window.center.trigger("app.keys")
    editor = window.commands.editor
    editor.choose("review.next")
    editor.keys.setFocus()
    editor.keys.setKeySequence("K")
    assert "'Previous run'" in editor.trouble
    assert not editor._set.isEnabled()
    editor.keys.setKeySequence("Ctrl+Down")
    editor._set.click()
    assert window.center.keys("review.next") == "Ctrl+Down"
    editor._reset.click()
    assert window.center.keys("review.next") == "J"


def test_search_opens_a_run_at_its_step(bench: Workbench, settle) -> None:
    window = bench._window
    press(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert window.top.search.hasFocus()
    QTest.keyClicks(window.top.search, "milestone")
    settle(0.4)
    popup = window.commands.search_popup
    assert popup.isVisible()
    model = bench.search
    row = next(row for row in range(model.rowCount()) if model.at(row).kind == "step")
    for _ in range(row):
        QTest.keyClick(window.top.search, Qt.Key.Key_Down)
    QTest.keyClick(window.top.search, Qt.Key.Key_Return)
    settle(0.1)
    assert not popup.isVisible()
    assert (bench.review.run, bench.review.index) == (model.at(row).id, model.at(row).step)


def test_search_opens_a_tip_in_the_knowledge(bench: Workbench, settle) -> None:
    window = bench._window
    window.center.trigger("app.search")
    QTest.keyClicks(window.top.search, "walking routes")
    settle(0.4)
    assert bench.search.at(0).kind == "tip"
    QTest.keyClick(window.top.search, Qt.Key.Key_Return)
    settle(0.1)
    assert window.place == "knowledge"
    assert bench.knowledge.current == bench.search.at(0).id


def test_the_step_a_tip_came_from_opens_in_the_review(bench: Workbench, settle) -> None:
    window = bench._window
    window.go("knowledge")
    bench.knowledge.step_requested.emit("cba-reddit-103", 4)
    settle(0.1)
    assert window.place == "review"
    assert (bench.review.run, bench.review.index) == ("cba-reddit-103", 4)


def test_search_says_when_nothing_was_found_and_escape_goes_back(bench: Workbench) -> None:
    window = bench._window
    window.go("review")
    before = window.focusWidget()
    press(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(window.top.search, "zzzz")
    until(lambda: "zzzz" in window.commands.search_popup.words.text())
    QTest.keyClick(window.top.search, Qt.Key.Key_Escape)
    assert not window.commands.search_popup.isVisible()
    assert window.focusWidget() is before


def test_jobs_show_their_numbers_and_can_be_cancelled(bench: Workbench, settle) -> None:
    window, engine = bench._window, bench.engine
    engine.tell_job(JobChanged(id="job-1", title="Import", state="running", done=3, total=9))
    assert "jobs 1" in window.top.jobs.text()
    window.center.trigger("app.jobs")
    popup = window.commands.jobs_popup
    assert popup.isVisible()
    row = popup._rows["job-1"]
    assert "3 of 9" in row._words.text()
    row._cancel.click()
    settle()
    assert "no jobs" in window.top.jobs.text()
    assert "cancelled" in window.toast.text
    press(window, Qt.Key.Key_Escape)
    assert not popup.isVisible()


def test_a_change_can_be_undone_from_its_message(bench: Workbench, settle) -> None:
    window, engine = bench._window, bench.engine
    engine.done.append("retire tip gitlab-001")
    engine.bus.publish(HistoryChanged(undo="retire tip gitlab-001"))
    window.say("Retired tip gitlab-001")
    assert window.toast.action_text == "Undo"
    assert window.center.title("app.undo") == "Undo: retire tip gitlab-001"
    window.toast._button.click()
    settle()
    assert window.toast.text == "Undone: retire tip gitlab-001"
    assert window.center.title("app.redo") == "Redo: retire tip gitlab-001"


def test_a_failure_stays_until_it_is_closed(bench: Workbench) -> None:
    bench.tasks.error.emit("no run cba-1")
    toast = bench._window.toast
    assert toast.isVisible()
    assert not toast._timer.isActive()


def test_a_lost_engine_is_told_and_taken_back(bench: Workbench) -> None:
    window = bench._window
    bench._client.host_changed.emit("The engine stopped unexpectedly and is restarting.")
    assert window.banner.isVisible()
    assert "restarting" in window.banner.text
    bench._client.host_changed.emit("")
    assert not window.banner.isVisible()
    assert window.toast.text == "The engine is running again"


def test_a_crash_of_last_time_is_offered_not_forced(bench: Workbench) -> None:
    window = bench._window
    window.commands.offer_crash_report("Fatal Python error: Segmentation fault")
    assert window.banner.isVisible()
    window.banner.button.click()
    assert not window.banner.isVisible()
    assert window.commands.text.isVisible()


def test_columns_fold_with_one_key(bench: Workbench) -> None:
    window = bench._window
    columns = window.columns()
    press(window, Qt.Key.Key_BracketLeft)
    assert columns.is_folded(0)
    press(window, Qt.Key.Key_BracketLeft)
    assert not columns.is_folded(0)
    press(window, Qt.Key.Key_BracketRight)
    assert columns.is_folded(columns.count() - 1)
    window.center.trigger("view.reset_layout")
    assert not columns.is_folded(columns.count() - 1)


def test_folders_dropped_on_the_window_are_imported(bench: Workbench, settle, tmp_path) -> None:
    window = bench._window
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path)), QUrl("https://example.com/x")])
    drop = QDropEvent(
        QPoint(400, 400),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(drop)
    settle()
    assert ("import_runs", ((str(tmp_path),),)) in bench.engine.calls
    assert "2 runs imported" in window.toast.text


def test_the_import_dialog_does_not_block(bench: Workbench, settle) -> None:
    window = bench._window
    window.center.trigger("runs.import")
    dialog = window.commands._dialog
    assert dialog.isVisible()
    settle()  # the loop turns while it is open
    dialog.reject()


def test_space_belongs_to_the_button_that_has_the_keys(bench: Workbench) -> None:
    window, clicked = bench._window, []
    button = QPushButton("x", window.frame)
    button.clicked.connect(lambda: clicked.append(True))
    button.show()
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert clicked == [True]
    button.deleteLater()


def test_the_session_comes_back(bench: Workbench, run, settle, theme) -> None:
    window, engine = bench._window, bench.engine
    bench.review.next_run()
    settle(0.1)
    window.columns().toggle(0)
    window.center.remap("review.next", ["F7"])
    wanted = bench.review.run
    run(bench.session.finish())
    with opened(run, settle, theme, engine_with(engine.session)) as again:
        assert again.review.run == wanted
        assert again._window.columns().is_folded(0)
        assert again._window.center.keys("review.next") == "F7"


def engine_with(session: dict) -> FakeEngine:
    engine = FakeEngine()
    engine.session = dict(session)
    return engine


@pytest.mark.parametrize(
    "session", [{"perspective": 3, "layouts": [], "keys": "x"}, {"layouts": {"review": 1}}]
)
def test_a_broken_session_is_no_reason_not_to_open(run, settle, theme, loop, session: dict) -> None:
    with opened(run, settle, theme, engine_with(session)) as bench:
        assert bench._window.place == "review"


def test_an_empty_workspace_opens_and_offers_the_import(empty_bench: Workbench) -> None:
    window = empty_bench._window
    buttons = [one for one in window.findChildren(QPushButton) if one.isVisible() and "Import" in one.text()]
    assert buttons
    assert "Ctrl+O" in buttons[0].text()


def test_closing_asks_first_and_goes_when_all_is_stored(empty_bench: Workbench) -> None:
    window, asked = empty_bench._window, []
    window.quit_requested.connect(lambda: asked.append(True))
    window.close()
    assert asked == [True]
    assert window.isVisible()
    window.finish_closing()
    assert not window.isVisible()


def test_the_look_is_kept_apart_from_the_data(bench: Workbench, tmp_path) -> None:
    window = bench._window
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    window.theme.set_zoom(1.5)
    window.theme.set_mode("dark")
    window.save_appearance(settings)
    window.theme.set_zoom(1.0)
    window.theme.set_mode("light")
    window.restore_appearance(settings)
    assert (window.theme.zoom, window.theme.mode) == (1.5, "dark")


def test_a_window_off_every_screen_comes_back() -> None:
    screen, smallest = QRect(0, 0, 1920, 1080), QSize(960, 600)
    good = QRect(100, 100, 1280, 800)
    assert ensure_on_screen(good, [screen], smallest) == good
    for lost in (QRect(5000, 100, 1280, 800), QRect(100, -900, 1280, 800), QRect(1900, 1070, 1280, 800)):
        assert screen.contains(ensure_on_screen(lost, [screen], smallest))
    second = QRect(1920, 0, 1920, 1080)
    assert ensure_on_screen(QRect(2000, 50, 1280, 800), [screen, second], smallest).left() == 2000
    assert ensure_on_screen(QRect(9000, 0, 4000, 3000), [screen], smallest).topLeft() == QPoint(0, 0)


def test_every_control_of_the_frame_has_a_name(bench: Workbench) -> None:
    window = bench._window
    for command in ("app.palette", "app.cheat_sheet", "app.keys", "app.doctor"):
        window.center.trigger(command)
    own = [window.top, window.rail, window.status, window.toast, *window.frame.children()]
    kinds = (QAbstractButton, QLineEdit, QComboBox, QAbstractItemView)
    nameless = []
    for part in own:
        if not isinstance(part, QWidget) or part is window.stack:
            continue
        for control in part.findChildren(QWidget):
            text = control.text() if isinstance(control, QAbstractButton) else ""
            internal = control.objectName().startswith("qt_") or not control.isVisibleTo(part)
            if isinstance(control, kinds) and not internal and not (control.accessibleName() or text):
                nameless.append(f"{type(control).__name__} in {type(part).__name__} {control.objectName()}")
    assert [name for name in nameless if "QHeaderView" not in name and "QTableCornerButton" not in name] == []


@pytest.mark.parametrize("zoom", [0.8, 1.0, 1.5, 2.0])
def test_the_frame_fits_its_smallest_size_at_any_text_size(bench: Workbench, settle, zoom: float) -> None:
    window = bench._window
    window.theme.set_zoom(zoom)
    window.resize(1280, 800)
    settle()
    assert window.top.width() <= 1280
    assert window.top.jobs.geometry().right() <= window.top.width()
    assert window.top.menu_bar.geometry().right() <= window.top.search.geometry().left()


def test_pictures_are_taken_of_every_view(bench: Workbench, run, tmp_path) -> None:
    from app.views.frame.screenshots import take_screenshots

    taken = run(take_screenshots(bench._window, tmp_path, lambda _seconds: asyncio.sleep(0.01)), timeout=150)
    names = {path.name for path in taken}
    assert {
        "review-light.png",
        "review-dark.png",
        "composer-light.png",
        "palette.png",
        "keys.png",
        "jobs.png",
        "map-light.png",
        "map-dark.png",
        "map-table.png",
        "map-path-light.png",
        "map-near-dark.png",
        "map-lab.png",
        "map-velocity.png",
        "map-explore.png",
    } <= names
    assert all(path.stat().st_size > 5000 for path in taken)


def test_help_opens_the_guide_and_its_links_lead_to_its_pages(bench: Workbench, run) -> None:
    window = bench._window
    assert window.center.trigger("app.guide")
    page = window.commands.guide.page
    assert page.isVisible()
    assert "User guide" in page.toPlainText()
    page.anchorClicked.emit(QUrl("annotator.md"))
    assert page.source().fileName() == "annotator.md"
    window.commands.guide.back.click()
    assert page.source().fileName() == "index.md"
    window.commands.guide.dismiss()
    assert not page.isVisible()
