"""Opening by a double click: a knowledge base is shown beside the own one, a run is imported and opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from app.cli import main as command_line
from app.engine.api.engine_api import RunImportReport
from app.engine.imports.importer import import_paths
from app.engine.store.workspace import Workspace
from app.errors import SiteloreError
from tests.support.runs import write_run


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """Record what the command line gives the window instead of opening one."""
    found: list[tuple[list[str], str]] = []

    def window(_workspace, *, paths=(), show="", **_others) -> int:
        found.append((list(paths), show))
        return 0

    monkeypatch.setattr("app.main.run_workbench", window)
    monkeypatch.setattr("app.log.setup", lambda *_: None)
    monkeypatch.setattr("app.cli.opening.need_qt", lambda: None)
    return found


def test_a_path_in_place_of_a_command_is_opened(started, tmp_path: Path, monkeypatch) -> None:
    for name in ("shop.akb", "plain"):
        (tmp_path / name).touch()
    (tmp_path / "a run").mkdir()
    monkeypatch.chdir(tmp_path)
    assert command_line(["shop.akb"]) == 0
    assert command_line(["--workspace", str(tmp_path / "ws"), "./a run", "shop.akb"]) == 0
    assert command_line(["plain"]) == 0
    assert command_line(["open", str(tmp_path / "plain")]) == 0
    assert command_line(["open", "--show", "live"]) == 0
    (tmp_path / "a run" / "run.json").touch()
    assert command_line(["a run/run.json"]) == 0
    names = [([Path(path).name for path in paths], show) for paths, show in started]
    assert names == [
        (["shop.akb"], ""),
        (["a run", "shop.akb"], ""),
        (["plain"], ""),
        (["plain"], ""),
        ([], "live"),
        (["a run"], ""),
    ]
    assert all(Path(path).is_absolute() for paths, _ in started for path in paths)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["no-such-command"], 2, "No such command 'no-such-command'"),
        (["gone.akb"], 3, "no such file or folder"),
        (["./gone"], 3, "no such file or folder"),
        (["open", "--show", "nowhere"], 2, "nowhere"),
    ],
)
def test_what_cannot_be_opened_is_one_sentence(started, words, code, said, capsys) -> None:
    assert command_line(words) == code
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err
    assert started == []


def test_a_knowledge_base_is_shown_and_merged_only_when_asked(bench, qtbot, fake_engine, tmp_path) -> None:
    file = str(tmp_path / "shop.akb")
    bench.open_paths([file])
    panel = bench._knowledge_file
    qtbot.waitUntil(lambda: panel.list.hasFocus() and bool(panel.model.tips.rows))
    assert bench._window.place == "knowledge"
    assert panel.title.text() == "shop.akb"
    assert panel.summary.text().startswith(f"{len(fake_engine.tips)} tips of ")
    first = panel.model.tips.at(0)
    assert first.text in panel.text.toPlainText()
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    assert panel.model.tips.at(1).text in panel.text.toPlainText()
    assert not [name for name, _ in fake_engine.calls if name in ("kb_merge", "import_runs", "kb_import")]
    assert all(one.accessibleName() or one.text() for one in panel.findChildren(QAbstractButton))
    panel.merge.click()
    qtbot.waitUntil(lambda: ("kb_merge", (file,)) in fake_engine.calls)
    qtbot.waitUntil(lambda: "added as drafts" in bench._window.toast.text)
    assert not panel.isVisible()


def test_a_file_that_is_no_knowledge_base_is_said_in_the_panel(
    bench, qtbot, fake_engine, monkeypatch
) -> None:
    async def refuses(path: str):
        raise SiteloreError(f"{path}: this is not a knowledge base")

    monkeypatch.setattr(fake_engine, "kb_tips", refuses)
    bench.workspace.import_paths(["/tmp/odd.akb"])  # as a drop does
    panel = bench._knowledge_file
    qtbot.waitUntil(lambda: panel.summary.text() == "/tmp/odd.akb: this is not a knowledge base")
    assert not panel.merge.isEnabled()


def test_a_run_is_imported_and_opened_in_review(bench, qtbot, fake_engine, tmp_path) -> None:
    bench._window.go("map")
    bench.open_paths([str(tmp_path / "trace.zip")])
    qtbot.waitUntil(lambda: bench._window.place == "review")
    new = list(fake_engine.all_runs)[-2]
    qtbot.waitUntil(lambda: bench.review.run == new)


def test_a_run_that_is_here_already_is_opened(bench, qtbot, fake_engine, tmp_path, monkeypatch) -> None:
    known = list(fake_engine.all_runs)[7]

    async def present(paths, format="auto"):
        return RunImportReport(imported=0, skipped=1, first_present=known)

    monkeypatch.setattr(fake_engine, "import_runs", present)
    bench._window.go("map")
    bench.open_paths([str(tmp_path / "run")])
    qtbot.waitUntil(lambda: bench._window.place == "review" and bench.review.run == known)


def test_a_second_start_shows_the_place_that_it_names(bench, qtbot) -> None:
    bench.called([], "live")
    assert bench._window.place == "live"
    bench.called([], "no such place")
    assert bench._window.place == "live"


def test_the_import_names_the_first_run_that_is_here_already(tmp_path: Path) -> None:
    source = write_run(tmp_path / "source" / "shop-1")
    with Workspace.open(tmp_path / "ws") as workspace:
        first = import_paths(workspace, [source])
        again = import_paths(workspace, [source])
    assert (first.imported, first.first_present) == (1, "")
    assert (again.skipped, again.first_present) == (1, first.runs[0])
