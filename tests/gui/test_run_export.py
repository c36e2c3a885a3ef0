"""Runs exported from Review, and what an import tells."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt

from app.engine.api.engine_api import RunImportReport, RunNotes
from app.engine.api.export_api import RunExportReport
from app.errors import Conflict, PathError
from app.models.common.workspace import WorkspaceModel, import_details
from app.models.review.run_export import RunExportModel

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def written(desk):
    found: list[tuple[str, str]] = []
    desk.model.panels.exporting.written.connect(lambda text, path: found.append((text, path)))
    return found


def chosen(desk, title: str, path: str) -> None:
    dialog = desk.view.panels._dialog
    assert dialog.isVisible()
    filters = [one for one in dialog.nameFilters() if one.startswith(title)]
    assert len(filters) == 1, dialog.nameFilters()
    dialog.selectNameFilter(filters[0])
    dialog.fileSelected.emit(path)
    dialog.close()


def test_the_open_run_is_exported_in_the_chosen_format(desk, written):
    desk.press(Qt.Key.Key_E, CTRL)
    assert "Export the run" in desk.view.panels._dialog.windowTitle()
    chosen(desk, "Animated GIF", "/out/run.gif")
    desk.until(lambda: bool(written))
    assert ("export_runs", ((desk.model.run,), "/out/run.gif", "gif")) in desk.engine.calls
    assert written == [("Run exported to /out/run.gif", "/out/run.gif")]


def test_selected_runs_are_exported_into_a_folder(desk, written):
    rows = desk.view.queue.list.selectionModel()
    model = desk.model.queue.model
    for row in range(3):
        rows.select(
            model.index(row, 0),
            QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
        )
    desk.center.trigger("review.export")
    assert desk.view.panels._dialog.windowTitle() == "Export 3 runs into a folder"
    assert desk.view.panels._dialog.defaultSuffix() == ""
    chosen(desk, "Web page", "/out/all")
    desk.until(lambda: bool(written))
    assert written == [("3 runs exported to /out/all", "/out/all")]


def test_what_could_not_be_exported_is_said(desk, monkeypatch, written):
    async def partly(runs, out, format="native"):
        return RunExportReport(
            paths=("/out/a.gif",), failed=(PathError(path="b", error="this run has no pictures"),)
        )

    monkeypatch.setattr(desk.engine, "export_runs", partly)
    desk.model.panels.exporting.export(["a", "b"], "/out", "gif")
    desk.until(lambda: bool(written))
    assert written[0][0] == (
        "Run exported to /out/a.gif. 1 could not be exported (first: b: this run has no pictures)."
    )


def test_a_refused_export_is_an_error_in_words(client, tasks, fake_engine, settle, monkeypatch):
    async def refuse(runs, out, format="native"):
        raise Conflict("/out/a.html is there already")

    monkeypatch.setattr(fake_engine, "export_runs", refuse)
    errors: list[str] = []
    tasks.error.connect(errors.append)
    RunExportModel(client, tasks).export(["a"], "/out/a.html", "html")
    settle()
    assert errors == ["/out/a.html is there already"]


def test_an_import_gives_every_problem_and_equal_notes_once(client, tasks, fake_engine, settle, monkeypatch):
    report = RunImportReport(
        imported=3,
        skipped=0,
        failed=(PathError(path="a.json", error="cut"), PathError(path="b.json", error="no JSON")),
        notes=tuple(RunNotes(run=f"r{n}", path="/x", notes=("no pictures",)) for n in range(3)),
    )

    async def some(paths, format="auto"):
        return report

    monkeypatch.setattr(fake_engine, "import_runs", some)
    model = WorkspaceModel(client, tasks)
    found: list[tuple[str, str, str]] = []
    model.import_detailed.connect(lambda *told: found.append(told))
    model.import_runs(["/x"])
    settle()
    [(words, kind, details)] = found
    assert "3 with notes (3 runs: no pictures)" in words
    assert kind == "fail"
    assert details == import_details(report)
    assert details.split("\n") == [
        "Could not be read",
        "  a.json: cut",
        "  b.json: no JSON",
        "",
        "Notes on the new runs",
        "  3 runs: no pictures",
    ]
