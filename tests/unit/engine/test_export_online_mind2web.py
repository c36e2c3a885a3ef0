"""A run as a task's folder of Online-Mind2Web v2: what its judges check, and that it comes back."""

from __future__ import annotations

import base64
import json
import re

import pytest

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.trajectory import ErrorClass, Outcome, Step, add_blob
from app.engine.exports.online_mind2web import RUN_EXPORT
from app.engine.exports.run_export import ExportSource
from app.errors import InputError, NotFound
from tests.support.foreign_runs import PNG, SAMPLES, needs_samples, read_one
from tests.support.runs import make_run, make_step

U = "https://shop.example/"


def source(actions, *, pictures=True, **fields) -> ExportSource:
    """A run of these actions, each on a page with a picture of its own."""
    blobs: dict[str, bytes] = {}

    def shot(number: int) -> str:
        return add_blob(blobs, base64.b64decode(PNG) + b"%d" % number) if pictures else ""

    steps = tuple(
        make_step(n, url=f"{U}{n}", action=action, target=target, screenshot=shot(n), reason=f"thought {n}",
                  error_class=ErrorClass.HARD if action and action.kind == "hover" else ErrorClass.NONE)
        for n, (action, target) in enumerate(actions)
    )  # fmt: skip
    final = Step(
        index=len(steps), url=f"{U}{len(steps)}", title="", screenshot=shot(len(steps)), executed=False
    )
    given = {
        "outcome": Outcome.ANSWERED,
        "answer": "24.50",
        "task_id": "abc",
        "intent": "Buy it",
        "final": final,
    }

    def read(digest: str) -> bytes:
        if digest not in blobs:
            raise NotFound("no such content")
        return blobs[digest]

    run = make_run("run-1", step_count=len(steps), **{**given, **fields})
    return ExportSource(run=run, steps=steps, read_blob=read)


BUTTON = ActionTarget(role="button", name="Buy | now", bid="7")
FIELD = ActionTarget(role="textbox", name="Search", bid="5")


def act(kind, target=None, **args):
    return RecordedAction(kind=kind, args=args), target


SAID = act("send_msg_to_user", text="24.50")
CLICKS = [act("fill", FIELD, bid="5", value="red"), act("hover", BUTTON, bid="7"), SAID]
GOING = [act("goto", url=f"{U}0"), act("click", BUTTON, bid="7"), SAID]


def written(tmp_path, given):
    sentences = RUN_EXPORT.write(given, tmp_path / "abc")
    return json.loads((tmp_path / "abc" / "result.json").read_text()), sentences


@pytest.mark.parametrize("actions", [CLICKS, GOING, CLICKS[:2]])
def test_what_is_written_is_what_the_schema_asks_for(tmp_path, actions):
    result, _ = written(tmp_path, source(actions))
    history = result["action_history"]
    assert result["schema_version"] == "online-mind2web-v2"
    assert re.fullmatch(r"[A-Za-z0-9_-]+", result["task_id"])
    assert [entry["step"] for entry in history] == list(range(len(history)))
    for entry in history:
        assert {"screenshot", "url", "action", "action_status", "thought"} <= entry.keys()
        assert re.fullmatch(r"\d{4}\.(png|jpg|webp)", entry["screenshot"])
        assert (tmp_path / "abc" / "trajectory" / entry["screenshot"]).is_file()
        suffix = re.search(r" \| (SUCCESS|FAILED)$", entry["action"])
        assert entry["action_status"] == (suffix[1] if suffix else None)
    assert history[-1]["action"] == f"TASK_COMPLETE -> ANSWER: {result['agent_final_answer']}"


def test_phrases_name_element_action_and_value(tmp_path):
    result, _ = written(tmp_path, source(CLICKS))
    assert [entry["action"] for entry in result["action_history"]] == [
        "<textbox> Search -> TYPE: red | SUCCESS",
        "<button> Buy / now -> HOVER | FAILED",
        "TASK_COMPLETE -> ANSWER: 24.50",
    ]


@pytest.mark.parametrize("actions", [CLICKS, GOING])
def test_a_run_comes_back_from_its_folder(tmp_path, actions):
    given = source(actions)
    written(tmp_path, given)
    back = read_one(tmp_path)
    assert [step.action.kind for step in back.steps] == [step.action.kind for step in given.steps]
    assert [step.reason for step in back.steps] == [step.reason for step in given.steps]
    assert [step.error_class for step in back.steps] == [step.error_class for step in given.steps]
    first = 1 if actions is GOING else 0
    assert [step.screenshot for step in back.steps[first:]] == [
        step.screenshot for step in given.steps[first:]
    ]
    assert (back.run.answer, back.run.intent, back.run.task_id) == ("24.50", "Buy it", "abc")


def test_a_page_without_a_picture_shows_its_neighbours_and_that_is_said(tmp_path):
    given = source(CLICKS)
    steps = [*given.steps]
    object.__setattr__(steps[1], "screenshot", "")
    result, sentences = written(tmp_path, given)
    trajectory = tmp_path / "abc" / "trajectory"
    shots = [(trajectory / entry["screenshot"]).read_bytes() for entry in result["action_history"]]
    assert shots[1] == shots[0]
    assert "Pages without a picture, which show that of the page before or the first one: 1." in sentences


def test_a_run_without_pictures_or_actions_is_refused_and_nothing_written(tmp_path):
    for given in (source(CLICKS, pictures=False), source([])):
        with pytest.raises(InputError):
            RUN_EXPORT.write(given, tmp_path / "abc")
        assert not (tmp_path / "abc").exists()


def test_the_reference_length_is_not_made_up(tmp_path):
    result, sentences = written(tmp_path, source(CLICKS))
    assert "reference_length" not in result
    assert any("reference_length" in sentence for sentence in sentences)


@needs_samples
def test_the_sample_comes_back(tmp_path):
    before = read_one(SAMPLES / "online-mind2web")
    RUN_EXPORT.write(
        ExportSource(run=before.run, steps=before.steps, read_blob=before.blobs.__getitem__),
        tmp_path / "back",
    )
    back = read_one(tmp_path)
    assert [(step.words, step.reason, step.screenshot) for step in back.steps] == [
        (step.words, step.reason, step.screenshot) for step in before.steps
    ]
    assert (back.run.answer, back.run.intent, back.run.task_id) == (
        before.run.answer,
        before.run.intent,
        before.run.task_id,
    )
