"""Files of a report: placed whole, replaced by the next one, never in place of somebody else's."""

import builtins
import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import main
from app.engine.engine import Engine
from app.engine.evaluation.report.files import write_report_files
from app.engine.evaluation.report.json_document import json_bytes
from app.engine.store.evaluation_files import EvaluationFolder
from app.errors import Conflict, InputError
from tests.support.made_up_evaluation import FOUR_ARMS, made_up_comparison, made_up_journal


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)


@pytest.fixture(scope="module")
def made_up():
    journal = made_up_journal(tasks=24, templates=20, arms=FOUR_ARMS[:2], repeats=2)
    return made_up_comparison(journal, draws=20), journal


@pytest.fixture
def without_jinja(monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def importing(name, *rest, **named):
        if name.partition(".")[0] == "jinja2":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", importing)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_report_is_a_page_tables_and_everything_as_json(made_up, tmp_path: Path):
    comparison, journal = made_up
    files = write_report_files(comparison, [journal], tmp_path / "new" / "report")
    found = contents(tmp_path / "new" / "report")
    named = {Path(name) for name in (files.html, files.latex, files.json, *files.csv)}
    assert named == {tmp_path / "new" / "report" / name for name in found}
    assert set(found) == set(json.loads(found["report.json"])["files"])
    with (tmp_path / "new" / "report" / "tables" / "pairs.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(comparison.pairs)
    assert files.notes == ()


def test_the_same_results_give_the_same_bytes(made_up, tmp_path: Path):
    comparison, journal = made_up
    write_report_files(comparison, [journal], tmp_path / "one")
    write_report_files(comparison, [journal], tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_report_replaces_the_one_before_and_nothing_else(made_up, tmp_path: Path):
    comparison, journal = made_up
    write_report_files(comparison, [journal], tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "tables" / "mine.csv").write_text("a,b")
    write_report_files(replace(comparison, credits=(), tables=()), [journal], tmp_path)
    found = contents(tmp_path)
    assert found["notes.txt"] == b"mine"
    assert found["tables/mine.csv"] == b"a,b"
    assert "tables/tips.csv" not in found  # it was of the report before
    assert "tables/pairs.csv" in found


@pytest.mark.parametrize("name", ["report.html", "report.tex", "report.json", "tables/pairs.csv"])
def test_a_file_of_somebody_else_is_kept(made_up, tmp_path: Path, name: str):
    comparison, journal = made_up
    (tmp_path / "tables").mkdir()
    (tmp_path / name).write_text("mine")
    with pytest.raises(Conflict, match="is no file of a report and would be replaced"):
        write_report_files(comparison, [journal], tmp_path)
    assert contents(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize(
    "listed",
    ["../outside.txt", "/etc/hostname", "tables/../../outside.txt", "notes.txt", "tables/x/y.csv", 7, None],
)
def test_a_list_of_files_that_names_others_touches_none_of_them(made_up, tmp_path: Path, listed):
    comparison, journal = made_up
    out = tmp_path / "report"
    (out / "tables" / "x").mkdir(parents=True)
    for path in (tmp_path / "outside.txt", out / "notes.txt", out / "tables" / "x" / "y.csv"):
        path.write_text("mine")
    stored = {"format": "sitelore-evaluation-report", "files": [listed, "report.json"]}
    (out / "report.json").write_text(json.dumps(stored))
    write_report_files(comparison, [journal], out)
    for path in (tmp_path / "outside.txt", out / "notes.txt", out / "tables" / "x" / "y.csv"):
        assert path.read_text() == "mine"


def test_a_link_in_the_folder_is_not_written_through(made_up, tmp_path: Path):
    comparison, journal = made_up
    outside = tmp_path / "outside.html"
    outside.write_text("mine")
    out = tmp_path / "report"
    out.mkdir()
    (out / "report.html").symlink_to(outside)
    (out / "report.json").write_text(
        json.dumps({"format": "sitelore-evaluation-report", "files": ["report.html", "report.json"]})
    )
    with pytest.raises(Conflict):
        write_report_files(comparison, [journal], out)
    assert outside.read_text() == "mine"


def test_a_folder_that_can_not_be_made_is_one_sentence(made_up, tmp_path: Path):
    comparison, journal = made_up
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="the report can't be written"):
        write_report_files(comparison, [journal], tmp_path / "file" / "report")


def test_without_jinja2_the_other_files_are_written(made_up, tmp_path: Path, without_jinja):
    comparison, journal = made_up
    files = write_report_files(comparison, [journal], tmp_path)
    assert files.html == ""
    assert files.notes == (
        "the report's page can't be made without jinja2 (pip install \"sitelore[evaluate]\"); the other files of the"
        " report are written",
    )
    assert {"report.json", "report.tex", "tables/pairs.csv"} <= set(contents(tmp_path))


def test_every_key_of_the_document_is_explained(made_up):
    comparison, journal = made_up
    document = json.loads(json_bytes(comparison, [journal], ["report.json"]))
    seen: dict[str, list[str]] = {}

    def look(value, path: str) -> None:
        if isinstance(value, list):
            for item in value:
                look(item, path)
        elif isinstance(value, dict) and path != "keys":
            seen.setdefault(path or "document", list(value))
            for key, item in value.items():
                look(item, f"{path}.{key}".strip("."))

    look(document, "")
    explained = {part: list(keys) for part, keys in document["keys"].items()}
    assert {part: sorted(keys) for part, keys in seen.items()} == {
        part: sorted(keys) for part, keys in explained.items()
    }
    assert list(document) == ["format", "version", "keys", "files", "sentences", "comparison", "journals"]


def on_disk(journal, folder: Path) -> Path:
    found = EvaluationFolder(folder)
    found.take()
    found.begin(journal.head)
    for record in journal.records:
        found.append(record)
    found.release()
    return folder


async def test_the_engine_writes_the_report_of_a_folder(made_up, tmp_path: Path):
    folder = on_disk(made_up[1], tmp_path / "june")
    engine = await Engine.open(tmp_path / "workspace", "ana")
    try:
        files = await engine.write_report([str(folder)])
        assert files.html == str(folder / "report" / "report.html")
        page = Path(files.html).read_text("utf-8")
        found = await engine.compare_evaluations([str(folder)])
        assert f"akb against none: {found.verdicts[0].sentence}" in page
        journal = await engine.episode_records(str(folder))
        assert len(journal) == len(
            made_up[1].records
        )  # the report stands beside the journal and changes nothing
        elsewhere = await engine.write_report([str(folder)], str(tmp_path / "out"))
        assert elsewhere.json == str(tmp_path / "out" / "report.json")
    finally:
        await engine.aclose()


def test_the_command_line_writes_a_report(made_up, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = on_disk(made_up[1], tmp_path / "june")
    command = ["--workspace", str(tmp_path / "workspace"), "eval", "report"]
    assert main([*command, str(folder)]) == 0
    assert str(folder / "report" / "report.html") in capsys.readouterr().out
    assert main([*command, str(folder), "--out", str(tmp_path / "out"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["html"] == str(tmp_path / "out" / "report.html")
    assert main([*command, str(tmp_path / "nowhere")]) == 1
    assert "holds no evaluation" in capsys.readouterr().err


def test_the_command_line_says_why_there_is_no_page(
    made_up, tmp_path: Path, capsys: pytest.CaptureFixture[str], without_jinja
):
    folder = on_disk(made_up[1], tmp_path / "june")
    assert main(["--workspace", str(tmp_path / "workspace"), "eval", "report", str(folder)]) == 1
    told = capsys.readouterr()
    assert 'pip install "sitelore[evaluate]"' in told.err
    assert "report.json" in told.out
