"""``sitelore runs`` and ``import``: whole ids, beginnings of ids, and the places of exports."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from app.cli import main
from app.cli.common import table
from app.engine.store.workspace import Workspace
from tests.support.runs import make_run, make_step, write_run

LONG = "shopping-2026-11-28-the-cheapest-of-all-red-lamps-with-a-shade-0123456789ab"
OTHER = "shopping-2026-11-28-the-cheapest-of-all-red-lamps-with-a-shade-fedcba987654"
ADMIN = "admin-1-00000000"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    monkeypatch.chdir(tmp_path)
    with Workspace.open(tmp_path / "workspace") as workspace:
        for name in (LONG, OTHER, ADMIN):
            run = make_run(name, step_count=1, content_hash=name, intent="Find the lamp " * 12)
            workspace.runs.add(run, [make_step(0)], {})
        workspace.rebuild_index()
    return tmp_path / "workspace"


def said(place: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["--workspace", str(place), *words])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_a_list_that_goes_to_no_terminal_cuts_nothing(place, capsys):
    _, out, _ = said(place, capsys, "runs", "list")
    assert "…" not in out
    assert LONG in out
    assert ("Find the lamp " * 12).strip() in out


def test_in_a_terminal_long_cells_are_cut_and_ids_never(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    shown = table([(LONG, "goal " * 30)], ("run", "goal"), widest=20)
    assert LONG in shown
    assert "goal goal goal goal…" in shown


@pytest.mark.parametrize(
    "words",
    [("runs", "show"), ("runs", "prompts"), ("review", "verdict", "--label", "loop"), ("review", "why")],
)
def test_the_beginning_of_an_id_is_enough(place, capsys, words):
    code, _, err = said(place, capsys, *words, "adm")
    assert code == 0, err


def test_a_verdict_by_a_beginning_is_kept_under_the_whole_id(place, capsys):
    _, out, _ = said(place, capsys, "review", "verdict", "adm", "--label", "loop", "--json")
    assert json.loads(out)["run"] == ADMIN


def test_a_beginning_of_several_runs_is_refused_with_their_ids(place, capsys):
    code, out, err = said(place, capsys, "runs", "show", "shopping-2026")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "2 runs begin with 'shopping-2026'" in err
    assert LONG in err
    assert OTHER in err
    assert said(place, capsys, "runs", "delete", "shop", ADMIN)[0] == 2
    assert len(json.loads(said(place, capsys, "runs", "list", "--json")[1])) == 3


def test_of_many_runs_with_a_beginning_five_are_named(place, capsys):
    with Workspace.open(place) as workspace:
        for number in range(8):
            workspace.runs.add(make_run(f"many-{number}-0", content_hash=f"m{number}"), [make_step(0)], {})
    _, _, err = said(place, capsys, "runs", "show", "many")
    assert "8 runs begin with 'many': many-0-0, " in err
    assert "many-4-0 and 3 more" in err
    assert "many-5-0" not in err


def test_what_begins_no_run_is_not_found(place, capsys):
    code, _, err = said(place, capsys, "runs", "show", "nosuch")
    assert (code, err) == (1, "sitelore: no run 'nosuch' in this workspace\n")


# ------------------------------------------------------------ exports
def test_one_run_without_a_place_becomes_a_file_with_the_ending_of_its_format(place, capsys, tmp_path):
    code, out, err = said(place, capsys, "runs", "export", "adm", "--format", "html")
    assert code == 0, err
    assert out == f"1 written to {tmp_path / ADMIN}.html\n"
    assert (tmp_path / f"{ADMIN}.html").is_file()
    said(place, capsys, "runs", "export", "adm", LONG, "--format", "html")
    assert sorted(path.name for path in (tmp_path / "runs-export").iterdir()) == [
        f"{ADMIN}.html",
        f"{LONG}.html",
    ]


def test_a_run_that_becomes_a_folder_is_said_to_be_one(place, capsys, tmp_path):
    code, out, err = said(place, capsys, "runs", "export", "adm", "--format", "atif")
    assert code == 0, err
    assert f"1 written to the folder {tmp_path / 'runs-export' / ADMIN}" in out
    code, _, err = said(place, capsys, "runs", "export", "adm", "--format", "atif", "--out", "x.atif.json")
    assert code == 3
    assert "a run in the format atif is a folder, not a file" in err
    assert not (tmp_path / "x.atif.json").exists()


def test_a_wrong_shell_is_refused_in_plain_words(place, capsys):
    code, _, err = said(place, capsys, "completion", "foo")
    assert code == 2
    assert "Value error" not in err
    assert "'foo' is not one of" in err


# ------------------------------------------------------------ files that are no runs
STRAYS = ("broken.json", "capture.har", "list.json", "more/deep.jsonl", "notzip.zip", "zero.json")


@pytest.fixture
def strays(tmp_path: Path) -> Path:
    root = tmp_path / "given"
    (root / "more").mkdir(parents=True)
    for name, text in zip(
        STRAYS, ('{"a": ', '{"log": {}}', "[1]", '{"a": 1}\n', "no zip at all", ""), strict=True
    ):
        (root / name).write_text(text)
    (root / "readme.txt").write_text("of no interest")
    return root


def test_files_that_no_format_recognises_are_named_in_one_line(place, capsys, strays):
    write_run(strays / "run_1")
    code, out, err = said(place, capsys, "import", str(strays))
    assert (code, out) == (0, "1 imported, 0 already present\n")
    [line] = [line for line in err.splitlines() if "recognised" in line]
    assert line.startswith("6 files were recognised by no format: broken.json, capture.har, list.json, ")
    assert line.endswith(" and 1 more")
    _, out, _ = said(place, capsys, "import", str(strays), "--json")
    assert sorted(json.loads(out)["unrecognised"]) == sorted(STRAYS)
    for name in STRAYS[1:]:
        (strays / name).unlink()
    _, _, err = said(place, capsys, "import", str(strays))
    assert "1 file was recognised by no format: broken.json\n" in err


def test_the_files_of_a_run_and_those_of_another_wanted_format_are_not_named(place, capsys, strays):
    write_run(strays / "run_1", steps=3)
    (strays / "run_1" / "deep").mkdir()
    (strays / "run_1" / "deep" / "more.json").write_text("{}")
    (strays / "sites.json").write_text("{}")
    _, out, _ = said(place, capsys, "import", str(strays), "--json")
    assert sorted(json.loads(out)["unrecognised"]) == sorted(STRAYS)
    _, out, _ = said(place, capsys, "import", str(strays), "--format", "colorbrowseragent", "--json")
    assert json.loads(out)["unrecognised"] == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("zero.json", "it is empty"),
        ("broken.json", "cut off: "),
        ("list.json", "JSON of no known format"),
        ("more/deep.jsonl", "JSON of no known format"),
        ("notzip.zip", "it is no zip, or is cut off"),
        ("capture.har", "a HAR holds a browser's requests, and no steps of an agent"),
    ],
)
def test_a_single_file_that_is_no_run_says_why(place, capsys, strays, name, why):
    code, _, err = said(place, capsys, "import", str(strays / name))
    assert code == 3
    assert f"{name}: no run was found in this file: " in err
    assert why in err
