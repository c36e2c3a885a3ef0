"""Open workspace: recent ones are remembered, and open in windows of their own."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QSettings, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest

from app.models.common.recent_workspaces import KEEP, add_recent, read_recent
from app.workbench import Workbench


def test_the_newest_workspaces_are_kept_once_each(tmp_path: Path) -> None:
    file = tmp_path / "new" / "recent.json"
    for number in range(KEEP + 3):
        add_recent(file, f"/w/{number}")
    add_recent(file, "/w/9")
    stored = read_recent(file)
    assert stored[:2] == ["/w/9", f"/w/{KEEP + 2}"]
    assert len(stored) == KEEP
    assert stored.count("/w/9") == 1


def test_a_damaged_list_is_an_empty_one_and_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "recent.json"
    for text in ("{", '{"a": 1}', "[1, null]"):
        file.write_text(text)
        assert read_recent(file) == []
    add_recent(file, "/w/1")
    assert read_recent(file) == ["/w/1"]


def test_enter_opens_a_recent_workspace_in_a_window_of_its_own(
    bench: Workbench, settle, tmp_path: Path
) -> None:
    window, recent = bench._window, bench.workspace.recent
    other, gone = tmp_path / "other", tmp_path / "gone"
    other.mkdir()
    recent._file = tmp_path / "recent.json"
    for folder in (gone, other, tmp_path):
        add_recent(recent._file, str(folder))
    recent.current = str(tmp_path)
    started: list[str] = []
    recent._start = lambda folder: started.append(folder) or True
    window.center.trigger("app.open_workspace")
    settle()
    panel = window.commands.workspaces
    assert [row.is_open for row in recent.rows] == [True, False, False]
    assert [row.found for row in recent.rows] == [True, True, False]
    assert panel.list.hasFocus()
    QTest.keyClick(panel.list, Qt.Key.Key_Return)
    assert started == [str(other)]
    assert not panel.isVisible()
    assert "other" in window.toast.text


def test_a_workspace_that_is_open_here_is_not_started_again(bench: Workbench, tmp_path: Path) -> None:
    recent = bench.workspace.recent
    recent.current = str(tmp_path)
    started: list[str] = []
    recent._start = lambda folder: started.append(folder) or True
    recent.open(str(tmp_path))
    assert not started
    assert "open in this window" in bench._window.toast.text


def drop(bench: Workbench, *paths: Path) -> tuple[bool, Qt.DropAction]:
    """Drop files that their source offers to move; return whether they were taken, and as what."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPoint(400, 400),
        Qt.DropAction.CopyAction | Qt.DropAction.MoveAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    bench._window.dropEvent(event)
    return event.isAccepted(), event.dropAction()


def test_a_drop_never_moves_the_files_away(bench: Workbench, settle, tmp_path: Path) -> None:
    taken = drop(bench, tmp_path)
    settle()
    assert taken == (True, Qt.DropAction.CopyAction)


def test_a_dropped_table_of_tips_is_imported_as_tips(
    bench: Workbench, settle, fake_engine, tmp_path: Path
) -> None:
    tips = tmp_path / "shopping.txt"
    tips.write_text("Use the search.")
    drop(bench, tips, tmp_path)
    settle()
    assert ("kb_import", (str(tips), "txt", "")) in fake_engine.calls
    assert ("import_runs", ((str(tmp_path),),)) in fake_engine.calls


def test_the_first_window_leaves_its_place_to_the_window_manager(bench: Workbench, tmp_path: Path) -> None:
    window = bench._window
    window.move(0, 0)
    asked: list[object] = []
    window.setGeometry = asked.append  # type: ignore[method-assign]
    window.restore_appearance(QSettings(str(tmp_path / "none.ini"), QSettings.Format.IniFormat))
    assert not asked
