"""``sitelore review`` for several annotators, from the command line."""

from __future__ import annotations

import json

import pytest

from app.cli import main
from app.engine.store.workspace import Workspace
from tests.support.runs import make_run, make_step


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)


@pytest.fixture
def sitelore(tmp_path, capsys):
    """Run a command on a workspace of six failed runs; return its exit code, standard output and error."""
    place = tmp_path / "workspace"
    with Workspace.open(place) as workspace:
        for number in range(6):
            run = make_run(f"run-{number}", site=("gitlab", "map")[number % 2], score=0.0, step_count=2)
            workspace.runs.add(run, [make_step(index=at) for at in range(2)], {})
        workspace.rebuild_index()

    def running(*words: str) -> tuple[int, str, str]:
        code = main(["--workspace", str(place), "review", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return running


def test_two_annotators_judge_disagree_and_are_settled(sitelore, tmp_path):
    code, out, _ = sitelore("assign", "--to", "ann,bob", "--overlap", "1", "--json")
    assert code == 0
    assert [(one["annotator"], one["assigned"], one["shared"]) for one in json.loads(out)] == [
        ("ann", 6, 6), ("bob", 6, 6),
    ]  # fmt: skip
    for person, label in (("ann", "loop"), ("bob", "gave up")):
        assert sitelore("--as", person, "verdict", "run-0", "--label", label)[0] == 0
        assert sitelore("--as", person, "verdict", "run-1", "--label", "loop")[0] == 0
    _, out, _ = sitelore("--as", "ann", "next", "--filter", "assigned:me", "--json")
    assert json.loads(out)["id"] not in ("run-0", "run-1")
    _, out, _ = sitelore("queues")
    assert out.splitlines()[1].split() == ["ann", "6", "6", "2", "4"]
    _, out, _ = sitelore("agreement")
    # One of two alike; by chance 1/2 (ann said loop only): kappa 0.
    assert out.splitlines()[0].startswith("ann and bob: 1 of 2 runs alike, kappa 0.00, without an interval")
    assert sitelore("adjudicate", "run-0", "wrong page")[1] == "run-0: settled as wrong page\n"
    [pair] = json.loads(sitelore("agreement", "--json")[1])
    assert pair["disagreements"][0]["settled"] == "wrong page"
    code, _, err = sitelore("adjudicate", "run-3", "loop")
    assert (code, "nobody has judged run run-3" in err) == (1, True)

    out_file = str(tmp_path / "verdicts.csv")
    assert "5 verdicts in" in sitelore("verdicts", "export", out_file, "--format", "csv")[1]
    told = json.loads(sitelore("verdicts", "import", out_file, "--json")[1])
    assert (told["added"], told["known"]) == (0, 5)

    page = tmp_path / "page.html"
    told = json.loads(sitelore("progress", "--out", str(page), "--json")[1])
    assert (told["total"]["judged"], told["total"]["runs"], told["page"]) == (2, 6, str(page))
    assert page.read_text().startswith("<!doctype html>")
    assert "ann" in sitelore("progress")[1]


def test_the_guideline_is_shown_edited_and_listed(sitelore, tmp_path):
    assert "**wrong element**" in sitelore("guideline", "show")[1]
    file = tmp_path / "guideline.md"
    file.write_text("Only loops count.\n")
    assert sitelore("--as", "ann", "guideline", "edit", str(file))[1] == "version 2 is in force\n"
    assert sitelore("guideline", "show")[1] == "Only loops count.\n"
    assert "**wrong element**" in sitelore("guideline", "show", "--version", "1")[1]
    assert [one["author"] for one in json.loads(sitelore("guideline", "history", "--json")[1])] == ["", "ann"]
    assert sitelore("guideline", "show", "--version", "9")[0] == 3
    assert sitelore("guideline", "edit", str(tmp_path / "none.md"))[0] == 3


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["verdicts", "import", "{here}/none.csv"], 3, "No such file"),
        (["verdicts", "import", "{here}"], 3, "this is no file"),
        (["verdicts", "export", "{here}/out", "--format", "xml"], 2, "one of jsonl, csv, agentrewardbench"),
        (["assign", "--to", "ann", "--filter", "lable:loop"], 2, "did you mean label:?"),
        (["--as", " ", "queues"], 2, "is no name of a person"),
        (["clusters", "--filter", "detector:nosuch"], 2, 'unknown filter word "detector:nosuch"'),
        (["progress", "--filter", "site:gitlub"], 2, "did you mean site:gitlab?"),
        (["assign", "--to", " , "], 2, "nobody is named"),
        (["progress", "--filter", "order:rsik"], 2, "did you mean order:risk?"),
    ],
)
def test_a_command_that_makes_no_sense_says_why_and_what_instead(sitelore, tmp_path, words, code, told):
    found, out, err = sitelore(*(word.format(here=tmp_path) for word in words))
    assert (found, out) == (code, "")
    assert told in err
