"""The generic JSONL: what its guide page promises, and one sentence for what is none."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.engine.core.trajectory import ErrorClass, Outcome
from tests.support.foreign_runs import PNG, damages, read_all, read_one

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "jsonl-runs.md"
SHOP = "http://shop.example:7770/"
RUN = {
    "id": "apron", "goal": "Find the apron", "start_url": SHOP, "agent": "shopper", "model": "model-1",
    "suite": "mine", "task_id": 7, "score": 0.5, "answer": "24.50", "started_at": "2026-11-28T12:00:00Z",
}  # fmt: skip
STEPS = [
    {"url": SHOP, "title": "Shop", "reason": "open it", "action": "click('4')", "tokens": [700, 31], "cost": 0.01,
     "tree": "RootWebArea 'Shop'\n\t[4] link 'Catalogue'", "screenshot": PNG, "started_at": 1795867200.5, "seconds": 2},
    {"url": f"{SHOP}c", "action": {"name": "browser_type", "args": {"ref": "e9", "text": "apron", "submit": True}},
     "target": {"role": "textbox", "name": "Search"}, "error": "it timed out", "html": "<p>Apron</p>"},
    {"url": f"{SHOP}d", "text": "Linen Apron\n24.50 EUR", "action": "click [4]"},
]  # fmt: skip
FINAL = {"url": f"{SHOP}e", "title": "Done"}


def lines(*rows: dict[str, Any], run: dict[str, Any] | None = None, version: Any = 1) -> list[dict[str, Any]]:
    return [{"sitelore_runs": version, "run": RUN if run is None else run}, *rows]


def whole() -> list[dict[str, Any]]:
    return lines(*({"step": step} for step in STEPS), {"final": FINAL})


def write(folder: Path, rows: list[dict[str, Any]], name: str = "runs.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_every_field_of_the_guide_is_kept(tmp_path):
    read = read_one(write(tmp_path, whole()))
    run = read.run
    assert (run.intent, run.start_url, run.policy, run.model) == (
        "Find the apron",
        SHOP,
        "shopper",
        "model-1",
    )
    assert (run.suite, run.task_id, run.score, run.answer) == ("mine", "7", 0.5, "24.50")
    assert (run.outcome, run.tokens, run.started_at) == (Outcome.ANSWERED, (700, 31), 1795867200.0)
    assert run.id.startswith("apron-")
    first, second, third = read.steps
    assert (first.reason, first.started_at, first.env_seconds) == ("open it", 1795867200.5, 2.0)
    assert first.screenshot
    assert first.target is not None
    assert first.target.name == "Catalogue"
    assert second.action is not None
    assert (second.action.kind, second.action.args) == (
        "fill",
        {"bid": "e9", "value": "apron", "enter": True},
    )
    assert second.target is not None
    assert (second.target.name, second.error_class) == ("Search", ErrorClass.HARD)
    assert read.blobs[second.html] == b"<p>Apron</p>"
    assert read.blobs[third.tree].decode().splitlines()[1:] == [
        "\tStaticText 'Linen Apron'", "\tStaticText '24.50 EUR'"
    ]  # fmt: skip
    assert (third.action, third.raw_output, third.error_class) == (None, "click [4]", ErrorClass.HARNESS)
    assert any("1 actions are no calls" in note for note in run.notes)
    assert run.final is not None
    assert run.final.title == "Done"


def test_a_file_holds_many_runs_and_a_run_is_the_same_wherever_it_stands(tmp_path):
    other = [{"run": {**RUN, "id": "second", "score": True}}, {"step": STEPS[0]}]
    runs, problems = read_all(write(tmp_path, [*whole(), *other]))
    assert (problems, [one.run.score for one in runs]) == ([], [0.5, 1.0])
    alone = write(tmp_path, [{"sitelore_runs": 1, **other[0]}, other[1]], "alone.jsonl")
    assert read_one(alone).run.content_hash == runs[1].run.content_hash


def test_pictures_are_files_beside_it_and_never_outside(tmp_path):
    inside = tmp_path / "runs"
    (inside / "shots").mkdir(parents=True)
    for place in (tmp_path, inside / "shots"):
        (place / "1.png").write_bytes(base64.b64decode(PNG))
    shots = ["shots/1.png", "../1.png", str(tmp_path / "1.png"), "shots/2.png"]
    write(inside, lines(*({"step": {"url": SHOP, "screenshot": one}} for one in shots)))
    read = read_one(inside)
    assert [bool(step.screenshot) for step in read.steps] == [True, False, False, False]


def test_a_bad_line_is_named_and_left_out(tmp_path):
    path = write(tmp_path, whole())
    rows = path.read_text().splitlines()
    path.write_text("\n".join([*rows[:2], rows[2][:-5], *rows[3:]]))
    runs, problems = read_all(path)
    assert len(runs[0].steps) == 2
    assert [one.error for one in problems] == ["line 3 is cut off or no JSON object: it is left out"]


@pytest.mark.parametrize(
    ("first", "error"),
    [
        ({"sitelore_runs": 2, "run": RUN}, "written in version 2 of this format"),
        ({"sitelore_runs": "1", "run": RUN}, "its first line must hold 'sitelore_runs': 1"),
        ({"sitelore_runs": 1, "run": None}, "its first line must hold 'run', an object"),
    ],
)
def test_a_first_line_that_does_not_fit_is_one_sentence(tmp_path, first, error):
    runs, problems = read_all(write(tmp_path, [first]))
    assert (runs, len(problems)) == ([], 1)
    assert error in problems[0].error


def test_a_run_may_have_no_step(tmp_path):
    read = read_one(write(tmp_path, lines(run={})))
    assert (read.steps, read.run.outcome) == ((), Outcome.UNKNOWN)


def test_secrets_do_not_come_in(tmp_path):
    step = {
        "url": f"{SHOP}?token=abcdef123456",
        "action": "fill('9', 'hunter2222')",
        "reason": "I type hunter2222",
        "target": {"role": "textbox", "name": "Password"},
    }
    read = read_one(write(tmp_path, lines({"step": step})))
    assert "hunter2222" not in repr(read)
    assert "abcdef123456" not in repr(read)


def test_any_damage_is_a_run_or_one_sentence(tmp_path):
    for damaged in damages(whole()):
        if all(isinstance(row, dict) for row in damaged):
            read_all(write(tmp_path, damaged))


def test_the_guides_example_is_read(tmp_path):
    example = re.search(r"```jsonl\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert example is not None
    (tmp_path / "example.jsonl").write_text(example[1])
    read = read_one(tmp_path)
    assert len(read.steps) == 2
    assert all(step.action is not None for step in read.steps)


def test_the_guides_writer_writes_what_is_read(tmp_path):
    writer = re.search(r"```python\n(# write_runs\.py.*?)```", GUIDE.read_text(), re.DOTALL)
    assert writer is not None
    (tmp_path / "write_runs.py").write_text(writer[1])
    subprocess.run([sys.executable, "write_runs.py"], cwd=tmp_path, check=True, timeout=60)
    read = read_one(tmp_path / "my-runs.jsonl")
    assert read.steps
    assert read.run.score is not None
