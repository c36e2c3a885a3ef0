"""Packages of others add formats: an installed one is found and used, a broken one costs nothing."""

from __future__ import annotations

import json
import logging
import re
import sys
from pathlib import Path

import pytest

from app.cli.root import run as command_line
from app.engine import imports
from app.engine.imports.importer import import_paths
from app.engine.store.workspace import Workspace

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "jsonl-runs.md"


def install(place: Path, name: str, module: str, entry: str) -> None:
    """A distribution as pip leaves it: a module, and its metadata with an entry point."""
    (place / f"{name}.py").write_text(module)
    about = place / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{imports.ENTRY_POINTS}]\n{entry}\n")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The guide's package, and four that are broken, on the path of this process."""
    place = tmp_path / "site-packages"
    place.mkdir()
    guide = re.search(r"```python\n(# my_clicks\.py.*?)```", GUIDE.read_text(), re.DOTALL)
    assert guide is not None
    install(place, "my_clicks", guide[1], "my-clicks = my_clicks:RUN_FORMAT")
    install(place, "crashing_format", "raise RuntimeError('no')", "crashing = crashing_format:RUN_FORMAT")
    install(place, "absent_format", "", "absent = absent_format:RUN_FORMAT")
    install(place, "other_format", "RUN_FORMAT = 'a text'", "other = other_format:RUN_FORMAT")
    taken = "from app.engine.imports.otlp import RUN_FORMAT"
    install(place, "taken_format", taken, "taken = taken_format:RUN_FORMAT")
    monkeypatch.syspath_prepend(place)
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    imports.added_formats.cache_clear()
    yield place
    imports.added_formats.cache_clear()
    for name in ("my_clicks", "crashing_format", "absent_format", "other_format", "taken_format"):
        sys.modules.pop(name, None)


def clicks(folder: Path) -> Path:
    folder.mkdir()
    given = {
        "clicks_of": "Find the apron",
        "clicks": [{"page": "http://shop.example/?token=abcdef123456", "on": "Aprons"}],
    }
    (folder / "one.txt").write_text(json.dumps(given))
    return folder


def test_an_installed_format_is_loaded_and_broken_ones_are_left_out_with_a_log(installed, caplog):
    with caplog.at_level(logging.WARNING):
        assert list(imports.added_formats()) == ["my-clicks"]
    said = "\n".join(record.getMessage() for record in caplog.records)
    for name in ("crashing", "absent", "other", "taken"):
        assert f"the importer {name!r}" in said


def test_the_guides_importer_imports_its_runs_once(installed, tmp_path):
    folder = clicks(tmp_path / "clicks")
    with Workspace.open(tmp_path / "workspace") as workspace:
        report = import_paths(workspace, [folder])
        assert (report.imported, report.failed) == (1, ())
        assert import_paths(workspace, [folder]).skipped == 1
        run, (step,) = workspace.runs.load(report.runs[0])
        assert (run.source, run.intent) == ("my-clicks", "Find the apron")
        assert (step.url, step.words) == ("http://shop.example/?token=REDACTED", "click element 'Aprons'")
        assert import_paths(workspace, [folder], "my-clicks").skipped == 1


def test_every_format_is_listed_with_its_title(installed, capsys, monkeypatch):
    words = ["import", "--formats", "--json"]
    monkeypatch.setattr(sys, "argv", ["sitelore", *words])
    assert command_line(words) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows.keys() >= {*imports.FORMATS, "html", "gif", "my-clicks"}
    assert (rows["otlp"]["import"], rows["otlp"]["export"]) == (True, True)
    assert (rows["seeact"]["import"], rows["seeact"]["export"]) == (True, False)
    assert (rows["html"]["import"], rows["html"]["export"]) == (False, True)

    monkeypatch.setattr(sys, "argv", ["sitelore", "import", "--formats"])
    assert command_line(["import", "--formats"]) == 0
    assert "Clicks of my recorder" in capsys.readouterr().out
