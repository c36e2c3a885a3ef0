"""ATIF in and out: what is read of a trajectory, and that a run comes back from what is written."""

from __future__ import annotations

import base64
import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from app.engine.core.sites import load_sites
from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.exports.atif import FILE, RUN_EXPORT
from app.engine.exports.redacted_source import redacted
from app.engine.imports import atif
from app.engine.imports.atif import RUN_FORMAT
from app.errors import InputError
from tests.support.foreign_runs import PNG, read_one
from tests.unit.engine.test_export_otlp import source

URL = "http://shop.example/"


def call(number: int, name: str, content: Any, said: str = "", **arguments: Any) -> dict[str, Any]:
    return {
        "source": "agent",
        "message": said,
        "timestamp": f"2026-11-22T15:51:{10 + number}Z",
        "tool_calls": [{"tool_call_id": f"c{number}", "function_name": name, "arguments": arguments}],
        "observation": {"results": [{"source_call_id": f"c{number}", "content": content}]},
        "metrics": {"prompt_tokens": 100, "completion_tokens": 10, "cost_usd": 0.01},
    }


def snapshot(name: str) -> list[dict[str, Any]]:
    text = f'Page URL: {URL}{name}\nPage Title: {name}\n```yaml\n- button "Save" [ref=e9]\n```'
    return [
        {"type": "text", "text": text},
        {"type": "image", "source": {"media_type": "image/png", "path": f"images/{name}.png"}},
    ]


def trajectory(*steps: dict[str, Any], version: str = "1.8", **more: Any) -> dict[str, Any]:
    every = [{"source": "user", "message": "What does it cost?"}, *copy.deepcopy(list(steps))]
    return {
        "schema_version": f"ATIF-v{version}",
        "agent": {"name": "my-agent", "version": "1", "model_name": "model-1"},
        "steps": [{**step, "step_id": number} for number, step in enumerate(every, start=1)],
        **more,
    }


STEPS = (
    call(1, "browser_navigate", snapshot("a"), "I open it.", url=URL + "a"),
    call(2, "browser_click", snapshot("b"), "On it.", ref="e9"),
    {"source": "agent", "message": "24.50"},
)


def read(tmp_path: Path, document: dict[str, Any] | bytes) -> Any:
    (tmp_path / "images").mkdir(exist_ok=True)
    for name in "ab":
        (tmp_path / "images" / f"{name}.png").write_bytes(base64.b64decode(PNG))
    path = tmp_path / "t.json"
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return RUN_FORMAT.parse(RUN_FORMAT.load(path, tmp_path, ""), load_sites())


def test_a_call_is_a_step_on_the_page_before_it(tmp_path: Path):
    got = read(tmp_path, trajectory(*STEPS, extra={"reward": 1.0, "task_id": "7"}))
    first, second = got.steps
    assert (first.action.kind, first.action.args, first.url, first.reason) == (
        "goto",
        {"url": URL + "a"},
        "",
        "I open it.",
    )
    assert (second.action.kind, second.url, second.title) == ("click", URL + "a", "a")
    assert (second.target.role, second.target.name) == ("button", "Save")
    assert second.screenshot in got.blobs
    assert got.run.final.url == URL + "b"
    assert (got.run.intent, got.run.answer, got.run.outcome) == (
        "What does it cost?",
        "24.50",
        Outcome.ANSWERED,
    )
    assert (got.run.score, got.run.task_id, got.run.policy, got.run.model) == (
        1.0,
        "7",
        "my-agent",
        "model-1",
    )
    assert (got.run.tokens, round(got.run.cost.known, 3)) == ((200, 20), 0.02)


@pytest.mark.parametrize("version", ["1.0", "1.4", "1.5", "1.6", "1.7", "1.8"])
def test_known_versions_are_read_without_a_note(tmp_path: Path, version: str):
    assert read(tmp_path, trajectory(*STEPS, version=version)).run.notes == ()


def test_a_newer_minor_version_is_read_with_a_note_and_a_new_major_one_refused(tmp_path: Path):
    later = trajectory(*STEPS, version="1.12", added_later={"x": 1})
    assert read(tmp_path, later).run.notes == (
        "ATIF-v1.12 is newer than ATIF-v1.8: what it adds is left out",
    )
    with pytest.raises(InputError, match=r"newer version of ATIF \(ATIF-v2.0\)"):
        read(tmp_path, trajectory(*STEPS, version="2.0"))


@pytest.mark.parametrize(
    ("content", "extra", "error"),
    [
        ("Error: no such element", {}, "Error: no such element"),
        ("it broke", {"is_error": True}, "it broke"),
        ("Errors are listed in the log", {}, ""),
        ("Clicked.", {}, ""),
    ],
)
def test_what_counts_as_an_error(tmp_path: Path, content: str, extra: dict[str, Any], error: str):
    step = call(1, "browser_click", content, ref="e9")
    step["observation"]["results"][0]["extra"] = extra
    (got,) = read(tmp_path, trajectory(step)).steps
    assert got.error == error
    assert got.error_class is (ErrorClass.HARD if error else ErrorClass.NONE)


def test_steps_of_an_embedded_sub_agent_follow_the_call_that_started_it(tmp_path: Path):
    inner = {**trajectory(call(5, "browser_click", "Clicked.", ref="e1")), "trajectory_id": "sub"}
    outer = call(1, "delegate", "done", task="look")
    outer["observation"]["results"][0]["subagent_trajectory_ref"] = [
        {"trajectory_id": "sub"},
        {"trajectory_path": "x"},
    ]
    got = read(tmp_path, trajectory(outer, STEPS[1], subagent_trajectories=[inner]))
    assert [(one.action.kind, one.summary) for one in got.steps] == [
        ("delegate", ""), ("click", "sub-agent my-agent"), ("click", ""),
    ]  # fmt: skip
    assert got.run.intent == "What does it cost?"
    assert "sub-agents in files of their own are not read: 1" in got.run.notes


def test_copied_context_is_left_out_and_counted(tmp_path: Path):
    copied = {**STEPS[0], "is_copied_context": True}
    got = read(tmp_path, trajectory(copied, *STEPS[1:]))
    assert [one.action.kind for one in got.steps] == ["click"]
    assert "steps copied from an earlier trajectory are left out: 1" in got.run.notes


def test_thoughts_without_a_call_are_the_reason_of_the_next_step(tmp_path: Path):
    got = read(tmp_path, trajectory({"source": "agent", "message": "First I think."}, STEPS[1]))
    assert got.steps[0].reason == "First I think.\n\nOn it."
    assert (got.run.answer, got.run.outcome) == (None, Outcome.UNKNOWN)


def test_a_typed_password_is_stored_nowhere(tmp_path: Path):
    page = [{"type": "text", "text": f'Page URL: {URL}\n```yaml\n- textbox "Password" [ref=e3]\n```'}]
    typed = call(2, "browser_type", "Typed sesame-open.", "sesame-open it is", element="Password textbox", ref="e3",
                 text="sesame-open")  # fmt: skip
    got = read(tmp_path, trajectory(call(1, "browser_navigate", page, url=URL), typed))
    assert "sesame-open" not in repr(got.steps) + repr(got.run)
    assert not any(b"sesame-open" in data for data in got.blobs.values())


@pytest.mark.parametrize(
    "path", ["../secret.png", "/etc/hostname.png", "http://x.example/zz.png", "images/none.png"]
)
def test_a_picture_outside_or_missing_is_a_note(tmp_path: Path, path: str):
    (tmp_path / "secret.png").write_bytes(base64.b64decode(PNG))
    inside = tmp_path / "in"
    inside.mkdir()
    step = call(
        1, "browser_click", [{"type": "image", "source": {"media_type": "image/png", "path": path}}], ref="e1"
    )
    got = read(inside, trajectory(step))
    assert got.run.final is None
    assert "pictures that it names and that are not beside it: 1" in got.run.notes


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"schema_version": "ATIF-v1.8", "steps": [', "cut off"),
        (b'{"schema_version": "ATIF-v1.8", "steps": []}', "without steps"),
        (b'{"schema_version": "ATIF-v1.8"}', "without steps"),
        (b'{"schema_version": "ATIF-vx"}', "no version of ATIF"),
        (b"[1]", "not a JSON object"),
    ],
)
def test_a_damaged_file_is_one_sentence(tmp_path: Path, data: bytes, sentence: str):
    with pytest.raises(InputError, match=sentence):
        read(tmp_path, data)


def broken(value: Any, dice: random.Random) -> Any:
    """A value with one of its parts taken away or of another type."""
    if not isinstance(value, dict | list) or not value or dice.random() < 0.15:
        return dice.choice([None, 7, -1.5, "x", [], {}, True, ["y"], {"z": 1}, "\ud800", 10**400])
    changed = copy.copy(value)
    at = dice.choice(list(changed) if isinstance(changed, dict) else range(len(changed)))
    if dice.random() < 0.2:
        del changed[at]
    else:
        changed[at] = broken(changed[at], dice)
    return changed


def test_no_damage_to_any_part_is_a_traceback(tmp_path: Path):
    whole = trajectory(
        *STEPS, extra={"reward": 1}, final_metrics={"total_cost_usd": 1}, subagent_trajectories=[]
    )
    dice = random.Random(7)
    for _ in range(400):
        document = whole
        for _ in range(dice.randint(1, 3)):
            document = broken(document, dice)
        try:
            data = json.dumps(document).encode("utf-8", "surrogatepass")
            read(tmp_path, data)
        except InputError:
            continue


def test_a_run_comes_back_from_its_export(tmp_path: Path):
    given = source()
    sentences = RUN_EXPORT.write(redacted(given), tmp_path / "out")
    got = read_one(tmp_path / "out")
    for name in (
        "intent",
        "suite",
        "task_id",
        "score",
        "answer",
        "outcome",
        "model",
        "tokens",
        "start_url",
        "started_at",
    ):
        assert getattr(got.run, name) == getattr(given.run, name), name
    for name in (
        "url", "title", "reason", "action", "target", "error", "error_class", "tree", "screenshot", "tokens", "by",
        "started_at",
    ):  # fmt: skip
        assert [getattr(one, name) for one in got.steps] == [getattr(one, name) for one in given.steps], name
    assert got.run.final.tree == given.run.final.tree
    assert sentences == ["The file holds neither the HTML of pages nor the whole exchanges with the model."]


def test_what_is_written_has_the_fields_of_the_format_and_no_others(tmp_path: Path):
    RUN_EXPORT.write(redacted(source()), tmp_path / "out")
    document = json.loads((tmp_path / "out" / FILE).read_bytes())
    allowed = {
        "schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics",
        "continued_trajectory_ref", "extra", "subagent_trajectories",
    }  # fmt: skip
    agent_only = {"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"}
    step_fields = agent_only | {
        "step_id", "timestamp", "source", "message", "observation", "is_copied_context", "llm_call_count", "extra",
    }  # fmt: skip
    assert set(document) <= allowed
    assert [step["step_id"] for step in document["steps"]] == list(range(1, len(document["steps"]) + 1))
    for step in document["steps"]:
        assert set(step) <= step_fields
        assert step["source"] == "agent" or not agent_only & set(step)
        assert step.get("llm_call_count") != 0 or not {"metrics", "reasoning_content"} & set(step)
        calls = {one["tool_call_id"] for one in step.get("tool_calls", ())}
        for result in step.get("observation", {}).get("results", ()):
            assert result.get("source_call_id") is None or result["source_call_id"] in calls
            for part in result["content"] if isinstance(result["content"], list) else ():
                assert (set(part) - {"type"}) == ({"source"} if part["type"] == "image" else {"text"})
                if part["type"] == "image":
                    assert (tmp_path / "out" / part["source"]["path"]).is_file()


def test_the_importer_knows_the_version_that_the_exporter_writes():
    assert f"ATIF-v{atif.LAST_KNOWN[0]}.{atif.LAST_KNOWN[1]}" == "ATIF-v1.8"
