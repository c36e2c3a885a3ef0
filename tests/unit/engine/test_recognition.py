"""Which format claims which file: every sample by its own alone, and lookalikes by none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.engine.imports import FORMATS
from app.engine.imports.run_format import find_runs
from tests.support.foreign_runs import SAMPLES, needs_samples

OWNERS = {
    "agent-reward-bench": {"agent-reward-bench"},
    "agentlab": {"browsergym"},
    "atif": {"atif"},
    "browser-use": {"browser-use"},
    "browsergym": {"browsergym"},
    "mcp": set(),
    "online-mind2web": {"online-mind2web"},
    "osworld": {"osworld"},
    "otel": {"otlp"},
    "playwright": {"playwright"},
    "seeact": {"seeact"},
    "webarena-html": {"webarena-html"},
    "webarena-verified": set(),
}
"""Formats that claim something in each folder of samples; none for what is no run of an agent."""


def claims(place: Path) -> dict[tuple[Path, str], list[str]]:
    """Every run that any format sees in a place, with all that claim it when asked alone."""
    found: dict[tuple[Path, str], list[str]] = {}
    for form in FORMATS.values():
        for run in find_runs(place, [form], []):
            found.setdefault((run.path, run.part), []).append(form.name)
    return found


@needs_samples
@pytest.mark.parametrize("sample", sorted(OWNERS))
def test_each_sample_is_claimed_by_its_own_format(sample):
    """An experiment of BrowserGym has a summary as ColorBrowserAgent's runs have: the first of the registry has it."""
    found = {run.format.name for run in find_runs(SAMPLES / sample, list(FORMATS.values()), [])}
    assert found == OWNERS[sample]
    alone = {name for names in claims(SAMPLES / sample).values() for name in names}
    assert alone - {"colorbrowseragent"} == OWNERS[sample]


@needs_samples
def test_every_sample_is_in_the_table():
    assert {path.name for path in SAMPLES.iterdir() if path.is_dir()} <= OWNERS.keys()


RESULTS = [
    (
        {"task": "x", "task_id": "1", "action_history": ["<a> B -> CLICK"], "thoughts": []},
        ["online-mind2web"],
    ),
    ({"task": "x", "action_history": [], "final_result_response": "no"}, ["online-mind2web"]),
    ({"schema_version": "online-mind2web-v2", "action_history": [{"step": 0}]}, ["online-mind2web"]),
    ({"task": ["x"], "website": "", "num_step": 1, "action_history": ["TERMINATE"]}, ["seeact"]),
    ({"confirmed_task": "x", "num_step": 0, "action_history": [], "thoughts": []}, ["seeact"]),
    ({"task": "x", "score": 1}, []),
    ({"task": "x", "thoughts": ["a"], "action_history": [{"step": 1}]}, []),
    ({"action_history": ["a"], "num_step": 1}, []),
    ({}, []),
    ([], []),
    ("text", []),
]


@pytest.mark.parametrize(("content", "owner"), RESULTS)
def test_rule_whose_result_json_it_is(tmp_path, content, owner):
    (tmp_path / "result.json").write_text(json.dumps(content))
    assert [name for names in claims(tmp_path).values() for name in names] == owner


LOOKALIKES = [
    ("history.json", {"history": []}),
    ("history.json", {"history": [{"role": "user"}]}),
    ("history.json", {"model_output": {}}),
    ("traj.jsonl", {"observation": 1}),
    ("traj.jsonl", {"action": "x"}),
    ("traj.jsonl", [{"step_num": 1, "action": "x"}]),
    ("trajectory.jsonl", {"step_num": 1, "action": "x", "screenshot_file": "a.png"}),
    ("x_auto_eval_results.json", {"task": "x", "action_history": ["a"], "predicted_label": 1}),
    ("all_predictions.json", [{"action_generation": "x"}]),
    ("package.json", {"name": "x", "version": "1"}),
]


@pytest.mark.parametrize(("name", "content"), LOOKALIKES)
def test_lookalikes_are_claimed_by_none(tmp_path, name, content):
    (tmp_path / name).write_text(json.dumps(content))
    assert claims(tmp_path) == {}


def test_files_of_another_kind_under_a_known_name_are_claimed_by_none(tmp_path):
    for name in ("result.json", "traj.jsonl", "history.json"):
        for content in (b"", b"\x89PNG\r\n\x1a\n" + b"\0" * 100, b"\xff" * 100, b'{"history": ['):
            (tmp_path / name).write_bytes(content)
            assert claims(tmp_path) == {}
