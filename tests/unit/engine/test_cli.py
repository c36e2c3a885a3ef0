"""The command line's contract: exit codes, one JSON document, output that is safe for a terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from app.cli import main
from app.cli.agent import summary_text
from app.cli.common import knowledge_base, table, terminal_safe
from app.cli.kb import verified_text
from app.engine.api.run_api import RunSummary
from app.engine.store.locks import FileLock
from app.engine.store.workspace import Workspace
from kb.freeze import freeze
from kb.store import KnowledgeBase
from kb.tip import Status, TipDraft, VerifyReport
from tests.support.runs import make_run, make_step


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    folder = tmp_path / "workspace"
    with Workspace.open(folder) as opened:
        steps = [make_step(index=0, title="Title \x1b]0;owned\x07", reason="\x9b2J look")]
        opened.runs.add(
            make_run("run-1", intent="Buy \x1b[2Jsocks", step_count=1, notes=("step 4 is missing",)),
            steps,
            {},
        )
        opened.rebuild_index()
    return str(folder)


@pytest.mark.parametrize(
    "arguments",
    [
        ["bogus"],
        ["runs", "list", "--bogus"],
        ["runs", "list", "--order", "bogus"],
        ["tip", "status", "--to", "active"],
        ["review", "verdict", "run-1", "--label", "bogus"],
        ["kb", "retrieve"],
        ["kb", "retrieve", "--url", "http://h/", "--k", "-5"],
        ["kb", "import", "x", "--format", "bogus"],
        ["tip", "add", "--site", "gitlab", "--text", " "],
        ["tip", "list", "--status", "bogus"],
        ["tip", "edit", "x"],
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(workspace, arguments, capsys):
    assert main(["--workspace", workspace, *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("sitelore: ")
    assert "Traceback" not in told.err


def test_an_edited_tip_is_told_the_findings_of_its_new_words(workspace, capsys):
    def rules(*arguments: str) -> set[str]:
        assert main(["--workspace", workspace, "tip", *arguments, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        made.append(told["id"])
        return {finding["rule"] for finding in told["lint"]}

    made: list[str] = []
    text = "Orders are saved with the button at the foot, because nothing is kept before that."
    add = ("add", "--site", "gitlab", "--scope", "/orders", "--kind", "operation", "--text", text)
    assert "step-without-name" not in rules(*add, "--do", 'Press "Save".')
    assert "step-without-name" in rules("edit", made[0], "--do", "Press the button.")
    assert "step-without-name" not in rules("edit", made[0], "--do", 'Press "Save" again.')


def test_ctrl_c_says_what_becomes_of_the_work(workspace, capsys, monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.graph.with_engine", interrupted)
    assert main(["--workspace", workspace, "explore", "http://127.0.0.1:1/"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "the same command resumes it" in told.err


def test_a_site_another_process_works_on_is_not_explored_beside_it(workspace, capsys):
    with Workspace.open(Path(workspace)) as opened:
        held = opened.lock_path("shop")
    held.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(held) as lock:
        assert lock.take()
        arguments = ["--workspace", workspace, "explore", "http://127.0.0.1:1/", "--site", "shop"]
        assert main(arguments) == 1
    assert "shop is in use by another process" in capsys.readouterr().err


def test_rules_that_cannot_be_read_are_bad_input(workspace, tmp_path, capsys):
    (tmp_path / "rules.json").write_bytes(b"\xff\xfe{")
    for name, words in (("nowhere.json", "can't be read"), ("rules.json", "not UTF-8 text")):
        arguments = ["graph", "rules", "shop", "0", "--file", str(tmp_path / name)]
        assert main(["--workspace", workspace, *arguments]) == 3
        assert words in capsys.readouterr().err


def test_with_json_an_error_is_the_one_document(workspace, capsys):
    assert main(["--workspace", workspace, "runs", "list", "--order", "bogus", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["exit"] == 2
    assert main(["--workspace", workspace, "runs", "show", "nope", "--json"]) == 1
    assert "nope" in json.loads(capsys.readouterr().out)["error"]
    assert main(["--workspace", workspace, "import", "/nowhere", "--json"]) == 3
    assert "no such file" in json.loads(capsys.readouterr().out)["error"]


def test_deleting_a_run_that_is_not_there_deletes_nothing(workspace, capsys):
    assert main(["--workspace", workspace, "runs", "delete", "run-1", "nope"]) == 1
    assert "nothing was deleted" in capsys.readouterr().err
    assert main(["--workspace", workspace, "runs", "show", "run-1"]) == 0


def test_page_texts_cannot_steer_the_terminal(workspace, capsys):
    assert main(["--workspace", workspace, "runs", "show", "run-1"]) == 0
    assert main(["--workspace", workspace, "runs", "list"]) == 0
    told = capsys.readouterr()
    assert not {
        char for char in told.out + told.err if (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160
    }
    assert terminal_safe("a\tb\nc\x1b[31m") == "a\tb\nc\ufffd[31m"


def test_what_an_importer_had_to_say_of_a_run_is_shown_with_it(workspace, capsys):
    main(["--workspace", workspace, "runs", "show", "run-1"])
    assert "step 4 is missing" in capsys.readouterr().out


def test_runs_are_listed_by_their_task(workspace, capsys):
    with Workspace.open(Path(workspace)) as opened:
        opened.runs.add(make_run("run-2", task_id="415"), [], {})
        opened.rebuild_index()
    assert main(["--workspace", workspace, "runs", "list", "--task", "415", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["run-2"]
    assert main(["--workspace", workspace, "runs", "list"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["risk", "site", "task"]
    assert [row.split()[2] for row in rows] == ["1", "415"]


def test_a_run_is_shown_with_the_page_of_each_step(workspace, capsys):
    urls = ["http://h/a", "http://h/a", "http://h/b", ""]
    steps = [make_step(index=at, url=url) for at, url in enumerate(urls)]
    with Workspace.open(Path(workspace)) as opened:
        opened.runs.add(make_run("run-2", step_count=4), steps, {})
        opened.rebuild_index()
    assert main(["--workspace", workspace, "runs", "show", "run-2"]) == 0
    told = [
        line
        for line in capsys.readouterr().out.splitlines()
        if "  at " in line or line[2:5].strip().isdigit()
    ]
    pages = [line.strip() if "  at " in line else int(line[2:5]) for line in told]
    assert pages == ["at http://h/a", 0, 1, "at http://h/b", 2, "at an unknown address", 3]


def test_a_table_in_a_terminal_cuts_long_cells_and_sets_numbers_right(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert table([("a", 1), ("b" * 9, 10)], ("name", "n"), widest=6).splitlines() == [
        "name     n",
        "a        1",
        "bbbbb…  10",
    ]


def test_supervised_runs_take_a_models_options_with_their_help_and_bounds(workspace, capsys):
    main(["live", "start", "--help"])
    shown = capsys.readouterr().out
    for words in ("The actions", "Ask a model", "questions to it", "--pictures", "Europe/Oslo", "nb-NO"):
        assert words in shown
    start = ["--workspace", workspace, "live", "start", "Buy socks", "--start-url", "http://127.0.0.1:9/"]
    assert main([*start, "--judge-every", "-4"]) == 2
    assert "greater than or equal to 0" in capsys.readouterr().err
    assert main([*start, "--timezone", "Mars/Phobos"]) == 2
    assert "there is no time zone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("answered", "answer: 5 pieces"),
        ("infeasible", "reason: 5 pieces"),
        ("step_limit", "answer: 5 pieces"),
    ],
)
def test_what_a_run_ended_with_is_an_answer_and_of_one_that_gave_up_a_reason(outcome, expected):
    summary = RunSummary(
        run="r",
        outcome=outcome,
        answer="5 pieces",
        error="",
        steps=1,
        seconds=1.0,
        own_ms=1.0,
        policy="scout",
        url="",
    )
    assert expected in summary_text(summary).splitlines()


def test_former_names_of_commands_still_work_and_are_hidden(workspace, capsys):
    assert main(["--workspace", workspace, "live", "time-line", "run-1"]) == 0
    assert "no interventions" in capsys.readouterr().out
    main(["live", "--help"])
    assert "time-line" not in capsys.readouterr().out
    main(["live", "start", "--help"])
    shown = capsys.readouterr().out
    assert "--concurrency" in shown
    assert "--at-once" not in shown
    assert main(["--workspace", workspace, "live", "start", "Buy socks", "--at-once", "2"]) == 2
    assert "the start address is not known" in capsys.readouterr().err


def test_a_frozen_file_is_named_in_full_and_a_missing_manifest_is_noted(tmp_path, capsys):
    with KnowledgeBase.open(tmp_path / "live.akb") as kb:
        report = freeze(kb, tmp_path / "f.akb")
    assert knowledge_base(report.path) == report.path
    assert capsys.readouterr().err == ""
    Path(report.manifest).unlink()
    assert knowledge_base(report.path) == report.path
    assert "f.akb has no manifest beside it" in capsys.readouterr().err
    assert [knowledge_base(name) for name in ("live", "none")] == ["live", "none"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("ok", "tips", "words"),
    [
        (True, 1, "intact: 1 tip, sha256 ab"),
        (True, 2, "intact: 2 tips, sha256 ab"),
        (False, 1, "NOT INTACT: 1 tip can be read, sha256 ab"),
        (False, 0, "NOT INTACT: sha256 ab"),
    ],
)
def test_a_check_tells_how_many_tips_can_be_read(ok, tips, words):
    assert verified_text(VerifyReport(path="f", ok=ok, sha256="ab", tips=tips)) == words


def test_one_tip_is_frozen(tmp_path, capsys):
    folder = tmp_path / "w"
    assert main(["--workspace", str(folder), "kb", "stats"]) == 0
    with KnowledgeBase.open(folder / "knowledge.akb") as kb:
        kb.add(TipDraft(site="shop", text="Hover the category first.", status=Status.ACTIVE))
    capsys.readouterr()
    assert main(["--workspace", str(folder), "kb", "freeze", str(tmp_path / "f.akb")]) == 0
    assert capsys.readouterr().out.startswith("1 tip frozen in ")
