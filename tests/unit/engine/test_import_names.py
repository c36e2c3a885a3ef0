"""A folder's name, or a run that can't be stored, costs no other run; every failure is named, also in JSON."""

from __future__ import annotations

import json
import os
import sys

import orjson
import pytest

from app.cli.root import run as command_line
from app.engine.core.sites import load_sites
from app.engine.core.trajectory import Outcome
from app.engine.imports import FORMATS, importer
from app.engine.imports.importer import import_paths
from app.engine.store.run_files import make_run_id, validate_run_id
from app.engine.store.workspace import Workspace
from app.errors import PathError, printable
from tests.support.runs import read_run, record, summary, write_run

SITES = load_sites()


NAMES = (
    "checkout-läuft",
    "task_ü中",
    "٣٤٥",  # digits, but not ASCII's
    "задача номер семь",
    "task_93 (2)",
    "e\u0301 combining",
    "a\u202eb right to left",
    "emoji 🦊",
    "9" * 255,
    "webarena." + "x" * 240,
    "ж" * 127,
    "-dash",
    "dots...",
)

needs_raw_names = pytest.mark.skipif(
    sys.platform != "linux", reason="only there a file's name may be any bytes"
)


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(tmp_path / "workspace") as opened:
        yield opened


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_of_any_name_imports_beside_an_intact_run(tmp_path, workspace, name):
    write_run(tmp_path / "root" / "task_1")
    write_run(tmp_path / "root" / name, steps=3)

    report = import_paths(workspace, [tmp_path / "root"])

    assert (report.imported, report.failed) == (2, ())
    assert all(run.isascii() and len(run) <= 120 and validate_run_id(run) for run in report.runs)
    assert import_paths(workspace, [tmp_path / "root"]).imported == 0


@needs_raw_names
@pytest.mark.parametrize("alone", [True, False], ids=["here", "with the helper"])
def test_a_folder_whose_name_is_not_utf8_imports_and_is_shown(tmp_path, monkeypatch, alone):
    if alone:
        monkeypatch.setattr(importer, "MIN_RUNS", 10**9)
    root = tmp_path / "root"
    for number in range(18):
        write_run(root / f"task_{number}", about=summary(2, cum_reward=number / 20))
    write_run(root / os.fsdecode(b"task_\xff\xfe"), steps=3)
    bad = root / os.fsdecode(b"bad\xff")
    bad.mkdir()
    (bad / "summary_info.json").write_text("[]")
    details: list[str] = []

    def progress(done: int, total: int | None, detail: str) -> bool:
        details.append(detail)
        return True

    with Workspace.open(tmp_path / "workspace") as workspace:
        report = import_paths(workspace, [root], progress=progress)

        assert report.imported == 19
        assert {failure.path for failure in report.failed} <= {
            f"{root}/bad\\xff",
            f"{root}/bad\\xff/summary_info.json",
        }
        assert report.failed
        orjson.dumps([details, [failure.path for failure in report.failed], report.runs])
        odd = next(run for run in report.runs if workspace.runs.load(run)[0].step_count == 3)
        assert workspace.runs.load(odd)[0].source_path.endswith("task_\\xff\\xfe")
        assert import_paths(workspace, [root]).imported == 0


@needs_raw_names
def test_json_never_breaks_on_a_name_that_is_not_utf8(tmp_path, capsys):
    bad = tmp_path / os.fsdecode(b"bad\xff")
    bad.mkdir()
    (bad / "summary_info.json").write_text("[]")

    code = command_line(["--workspace", str(tmp_path / "w"), "import", str(bad), "--json"])
    said = json.loads(capsys.readouterr().out)
    assert code == 3
    assert all("bad\\xff" in failure["path"] for failure in said["failed"])

    code = command_line(["--workspace", str(tmp_path / "w"), "import", str(bad / "gone"), "--json"])
    assert code == 3
    assert "bad\\xff" in json.loads(capsys.readouterr().out)["error"]


def test_ids_of_runs_that_imported_before_stay_as_they_were(tmp_path):
    folder = write_run(tmp_path / "webarena" / "results" / "task_93 copy")
    run = read_run(folder, tmp_path, SITES).run
    assert run.id == f"webarena-93-{run.content_hash[:8]}"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("webarena-93", "webarena-93-0123abcd"),
        ("run-task.a+b_c", "run-task.a+b_c-0123abcd"),
        ("run-läuft", "run_l_uft-"),
        ("run-" + "9" * 255, "run_" + "9" * 56 + "-"),
        ("中", "run-"),
        (".hidden", "hidden-"),
    ],
)
def test_an_id_is_kept_where_it_is_one_and_else_made_ascii_and_bounded(wanted, expected):
    made = make_run_id(wanted, "0123abcd")
    assert made.startswith(expected)
    assert made.endswith("-0123abcd")
    assert validate_run_id(made) == make_run_id(wanted, "0123abcd")


def test_two_names_that_look_alike_in_ascii_have_two_ids():
    assert make_run_id("run-ä", "0123abcd") != make_run_id("run-ö", "0123abcd")


def test_a_printable_name_is_left_alone_and_any_other_can_be_encoded():
    assert printable("läuft 中") == "läuft 中"
    assert printable("a\udcffb\ud800") == "a\\xffb\\ud800"
    assert PathError(path="\udcff", error="\udcfe").path == "\\xff"


@pytest.mark.parametrize("where", ["load", "parse"])
@pytest.mark.parametrize("fault", [ValueError("no such thing"), MemoryError(), RecursionError("too deep")])
def test_whatever_happens_to_one_run_is_listed_with_its_path_and_the_rest_imports(
    tmp_path, workspace, monkeypatch, where, fault
):
    for number in range(3):
        write_run(tmp_path / "root" / f"task_{number}", about=summary(2, cum_reward=number / 8))
    form = FORMATS["colorbrowseragent"]

    def broken(raw_or_folder, *others):
        if str(getattr(raw_or_folder, "folder", raw_or_folder)).endswith("task_1"):
            raise fault
        return getattr(form, where)(raw_or_folder, *others)

    import dataclasses

    monkeypatch.setitem(FORMATS, "colorbrowseragent", dataclasses.replace(form, **{where: broken}))
    report = import_paths(workspace, [tmp_path / "root"])

    assert report.imported == 2
    (failure,) = report.failed
    assert failure.path == str(tmp_path / "root" / "task_1")
    assert failure.error.startswith(f"can't be imported: {type(fault).__name__}")


@pytest.mark.parametrize("where", ["draft", "put_run"])
def test_a_run_that_cannot_be_stored_is_listed_and_its_pages_are_not_missed_by_others(
    tmp_path, workspace, monkeypatch, where
):
    for number in range(4):  # all share their pages
        write_run(tmp_path / "root" / f"task_{number}", about=summary(2, cum_reward=number / 8))
    owner = workspace.runs if where == "draft" else workspace.index
    kept = getattr(owner, where)

    def refuse(run, *rest):
        if run.task_id == "0":
            raise ValueError("an odd value")
        return kept(run, *rest)

    monkeypatch.setattr(owner, where, refuse)
    report = import_paths(workspace, [tmp_path / "root"])

    assert [failure.path for failure in report.failed] == [str(tmp_path / "root" / "task_0")]
    assert (report.imported, len(report.runs)) == (3, 3)
    assert workspace.runs.ids() == workspace.index.ids() == set(report.runs)
    for run in report.runs:
        for step in workspace.runs.load(run)[1]:
            assert workspace.runs.read_blob(step.tree)
    monkeypatch.undo()
    assert import_paths(workspace, [tmp_path / "root"]).imported == 1  # once it can be stored, it is


def test_a_copy_of_a_run_that_could_not_be_stored_is_taken_instead(tmp_path, workspace, monkeypatch):
    for number, score in enumerate((0.0, 0.5, 0.0)):
        write_run(tmp_path / "root" / f"task_{number}", about=summary(2, cum_reward=score))
    kept, first = workspace.runs.draft, []

    def refuse_the_first(run, *rest):
        if not first:
            first.append(run)
            raise ValueError("an odd value")
        return kept(run, *rest)

    monkeypatch.setattr(workspace.runs, "draft", refuse_the_first)
    report = import_paths(workspace, [tmp_path / "root"])
    assert (report.imported, report.skipped, len(report.failed)) == (2, 0, 1)


def test_missing_step_files_are_named_by_file_in_the_report(tmp_path, workspace):
    folder = write_run(tmp_path / "root" / "task_1", steps=40)
    for index in (3, *range(5, 30), 40):
        (folder / f"steps_info_{index}.json").unlink()
    whole = write_run(tmp_path / "root" / "task_2")

    report = import_paths(workspace, [tmp_path / "root"])

    (told,) = report.notes
    assert told.path == str(folder) != str(whole)
    assert told.run in report.runs
    words = " ".join(told.notes)
    assert "(steps_info_3.json)" in words
    assert "6 more records are missing or unreadable (steps_info_24.json to steps_info_29.json)" in words
    assert "(steps_info_40.json" in words
    assert report.failed == ()


def test_equal_notes_of_an_import_are_one_line_and_few_distinct_ones_are_printed(tmp_path, capsys):
    for number in range(25):
        folder = write_run(tmp_path / "root" / f"task_{number}", about=summary(2, cum_reward=number / 50))
        (folder / "steps_info_1.json").unlink()

    code = command_line(["--workspace", str(tmp_path / "w"), "import", str(tmp_path / "root"), "--json"])
    out, said = capsys.readouterr()

    assert code == 0
    document = json.loads(out)
    assert len(document["notes"]) == 25
    assert document["failed"] == []
    assert all("steps_info_1.json" in one["notes"][0] for one in document["notes"])
    assert "25 of the new runs have notes" in said
    assert said.count("steps_info_1.json") == 1
    assert "25 runs: the record of step 1 is missing" in said

    for number in range(25):
        steps = number + 3
        folder = write_run(tmp_path / "other" / f"task_{number}", about=summary(steps), steps=steps)
        (folder / f"steps_info_{steps - 1}.json").unlink()
    command_line(["--workspace", str(tmp_path / "w"), "import", str(tmp_path / "other")])
    said = capsys.readouterr().err
    assert "25 of the new runs have notes; 5 more notes are not shown (see --json)" in said


def test_an_action_whose_page_is_unknown_says_so_and_the_end_is_not_guessed(tmp_path):
    click = {"last_action": "```click('517')```"}
    records = {0: record(0), 2: record(2, obs=click), 3: record(3, obs=click)}
    folder = write_run(tmp_path / "r", records, summary(4))
    got = read_run(folder, tmp_path, SITES)

    assert got.steps[1].words == "click element 517 (its page is unknown)"
    assert got.run.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("about", "outcome"),
    [
        ({}, Outcome.UNKNOWN),
        ({"terminated": False, "truncated": True}, Outcome.STEP_LIMIT),
        ({"err_msg": "it broke"}, Outcome.CRASHED),
        ({"terminated": False}, Outcome.INTERRUPTED),
    ],
)
def test_what_the_summary_tells_of_the_end_needs_no_last_record(tmp_path, about, outcome):
    folder = write_run(tmp_path / "r", {0: record(0), 1: record(1)}, summary(2, **about))
    assert read_run(folder, tmp_path, SITES).run.outcome is outcome
