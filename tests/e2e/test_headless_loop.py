"""The annotator's whole loop on the command line, over real runs: import, detect, judge, tip, retrieve, freeze."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("SITELORE_SHARED", CHECKOUT.parent / "shared"))
RUNS = SHARED / "data" / "colorbrowseragent" / "trajectories"
TIPS = SHARED / "data" / "colorbrowseragent" / "agent" / "tips"

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not RUNS.exists(), reason="the run collection is not beside the checkout"),
]


class Sitelore:
    """Calls the program like a user's script."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace

    def __call__(self, *arguments: str, code: int = 0):
        command = [sys.executable, "-m", "app", "--workspace", str(self.workspace), *arguments, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=CHECKOUT)
        assert done.returncode == code, done.stderr + done.stdout
        return json.loads(done.stdout)


@pytest.fixture
def sitelore(tmp_path: Path) -> Sitelore:
    return Sitelore(tmp_path / "workspace")


@pytest.fixture
def some_runs(tmp_path: Path) -> Path:
    """Seven real runs with neutral names: failed and passed, of three sites."""
    folder = tmp_path / "found somewhere"
    for suite, task in [
        ("webarena", 415),
        ("webarena", 45),
        ("webarena", 569),
        ("webarena", 214),
        ("webarena", 374),
        ("webarena", 33),
        ("webchorearena", 10290),
    ]:
        shutil.copytree(RUNS / suite / "results" / f"task_{task}", folder / suite / f"task_{task}")
    return folder


def test_an_annotator_gets_from_a_folder_of_runs_to_a_verified_frozen_tip(sitelore, some_runs, tmp_path):
    before = {path: path.read_bytes() for path in some_runs.rglob("*") if path.is_file()}
    imported = sitelore("import", str(some_runs))
    assert imported["imported"] == 7
    assert imported["failed"] == []
    assert sitelore("import", str(some_runs))["skipped"] == 7
    assert {path: path.read_bytes() for path in some_runs.rglob("*") if path.is_file()} == before

    queue = sitelore("runs", "list", "--failed", "--order", "risk")
    assert [row["risk"] for row in queue] == sorted((row["risk"] for row in queue), reverse=True)
    first = next(row for row in queue if row["task_id"] == "415")
    assert first["site"] == "gitlab"

    shown = sitelore("runs", "show", first["id"])
    assert len(shown["steps"]) == 20
    assert all(step["target"]["role"] for step in shown["steps"] if step["action"]["kind"] == "click")

    flags = sitelore("detect", first["id"])
    assert {"step limit" in flag["message"] or flag["detector"] == "step-limit" for flag in flags} >= {True}

    verdict = sitelore(
        "review", "verdict", first["id"], "--label", "loop", "--step", str(first["suspect_step"])
    )
    assert verdict["label"] == "loop"
    assert sitelore("review", "next", "--after", first["id"])["id"] != first["id"]

    tip = sitelore(
        *("tip", "add", "--site", "gitlab", "--scope", "/dashboard/merge_requests", "--kind", "ui-quirk"),
        *(
            "--text",
            "To search merge requests by words, type them and press Enter: the suggestion list only adds filters.",
        ),
        *(
            "--when",
            "on the merge request dashboard",
            "--why",
            "the search field turns words into filter tokens",
        ),
        *("--run", first["id"], "--step", str(first["suspect_step"])),
    )
    assert [finding for finding in tip["lint"] if finding["severity"] == "error"] == []
    assert sitelore("tip", "lint", tip["id"]) == tip["lint"]

    flight = sitelore("tip", "preflight", "--id", tip["id"])
    assert flight["retrieved_in"]["steps"] > 0
    assert flight["examples"]

    sitelore("tip", "status", tip["id"], "--to", "active")
    url = "http://10.0.0.9:8023/dashboard/merge_requests?assignee_username=x"
    found = sitelore("kb", "retrieve", "--url", url, "--query", "find the merge request on tests")
    assert found[0]["tip"] == tip["id"]
    assert found[0]["route"] == "url"
    assert found[0]["why"]

    frozen = tmp_path / "frozen.akb"
    report = sitelore("kb", "freeze", str(frozen))
    assert report["tips"] == 1
    assert sitelore("kb", "verify", str(frozen))["ok"]
    same = sitelore(
        "kb", "retrieve", "--url", url, "--query", "find the merge request on tests", "--kb", str(frozen)
    )
    assert same == found

    broken = tmp_path / "broken.akb"
    data = bytearray(frozen.read_bytes())
    data[len(data) // 2] ^= 1
    broken.write_bytes(data)
    shutil.copy(f"{frozen}.manifest.json", f"{broken}.manifest.json")
    assert not sitelore("kb", "verify", str(broken), code=1)["ok"]


def test_undo_takes_back_the_latest_change_whatever_it_was_and_survives_the_process(sitelore, some_runs):
    sitelore("import", str(some_runs))
    run = sitelore("runs", "list")[0]["id"]
    tip = sitelore("tip", "add", "--site", "gitlab", "--text", "The menu opens on hover only.")["id"]
    sitelore("review", "verdict", run, "--label", "wrong page")

    assert sitelore("review", "undo")["did"]
    assert sitelore("runs", "show", run)["verdicts"] == []
    assert [t["id"] for t in sitelore("tip", "list")] == [tip]
    sitelore("tip", "undo")
    assert sitelore("tip", "list", "--status", "draft,reviewed,active,suspect") == []
    sitelore("tip", "redo")
    assert [t["id"] for t in sitelore("tip", "list")] == [tip]


def test_the_papers_tips_come_in_as_quarantined_drafts_and_go_out_byte_for_byte(sitelore, tmp_path):
    counts = {"gitlab": 13, "map": 7, "reddit": 5, "shopping": 9, "shopping_admin": 18}
    for site, count in counts.items():
        report = sitelore("kb", "import", str(TIPS / f"{site}.txt"), "--format", "txt", "--site", site)
        assert len(report["added"]) == count
    tips = sitelore("tip", "list")
    assert {tip["status"] for tip in tips} == {"draft"}
    assert (
        sitelore("kb", "retrieve", "--url", "http://h:8023/dashboard", "--query", "create a milestone") == []
    )

    out, again = tmp_path / "gitlab.txt", tmp_path / "again.txt"
    sitelore("kb", "export", str(out), "--format", "txt", "--site", "gitlab")
    other = Sitelore(tmp_path / "other")
    other("kb", "import", str(out), "--format", "txt", "--site", "gitlab")
    other("kb", "export", str(again), "--format", "txt", "--site", "gitlab")
    assert again.read_bytes() == out.read_bytes()


def test_bad_input_ends_with_exit_code_3_and_one_sentence(sitelore, tmp_path):
    assert "no such file" in sitelore("import", str(tmp_path / "nowhere"), code=3)["error"]
    (tmp_path / "empty").mkdir()
    report = sitelore("import", str(tmp_path / "empty"), code=3)
    assert report["failed"][0]["error"]
    (tmp_path / "no.akb").write_text("this is no knowledge base")
    assert sitelore("kb", "retrieve", "--url", "http://h/", "--kb", str(tmp_path / "no.akb"), code=3)["error"]
