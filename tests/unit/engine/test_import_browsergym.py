"""AgentLab's studies and BrowserGym's experiment folders as runs."""

from __future__ import annotations

import base64
import gzip
import json
import pickle
import shutil

import numpy as np
import pytest

from app.engine.core.regions import read_boxes
from app.engine.core.sites import load_sites
from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.imports.browsergym_answers import CODE, calls_in
from app.engine.imports.browsergym_pages import html_text, tree_text
from app.engine.imports.importer import import_paths
from app.engine.imports.run_ends import find_run_places, read_run_end
from app.engine.pickles import reader as reader_module
from app.engine.store.workspace import Workspace
from tests.support.browsergym_runs import HTML, MadeRun, observation
from tests.support.foreign_runs import PNG, SAMPLES, damages, needs_samples, read_all, read_one

NAME = "2026-11-22_16-41-06_Generic_on_webarena.310_0"


def made(tmp_path, **fields):
    return read_one(MadeRun(tmp_path / NAME, **fields).write(), "browsergym")


@pytest.mark.parametrize("package", ["agentlab", "browsergym"])
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_run_has_its_steps_pages_and_end(tmp_path, package, protocol):
    read = made(tmp_path, package=package, protocol=protocol)
    run = read.run
    assert (run.source, run.suite, run.task_id, run.intent) == (package, "webarena", "310", "Save the form")
    assert (run.policy, run.model, run.step_limit) == ("GenericAgent-gpt", "gpt-x", 9)
    assert (run.score, run.outcome, run.answer, run.error) == (1.0, Outcome.ANSWERED, "It costs 24.50", "")
    assert (run.tokens, run.cost.known, run.started_at) == ((70, 5), 0.25, 200.0)
    first, second = read.steps
    assert (first.url, first.title, first.reason) == ("https://shop.example/form", "Shop", "I save it.")
    assert (first.action.kind, first.action.args) == ("click", {"bid": "14"})
    assert (first.target.role, first.target.name) == ("button", "Save")
    assert (first.error_class, second.error_class) == (ErrorClass.HARD, ErrorClass.NONE)
    assert read.blobs[first.tree].decode().endswith("StaticText 'at 0'")
    assert read.blobs[run.final.tree].decode().endswith("StaticText 'at 2'")
    assert first.html == second.html
    assert run.notes == ()


def test_pictures_are_the_files_else_those_within_the_records(tmp_path):
    run = MadeRun(tmp_path / NAME)
    run.steps[0]["obs"]["screenshot"] = np.zeros((4, 5, 3), np.uint8)
    run.steps[1]["obs"]["screenshot"] = np.zeros((4, 5, 3), np.uint8)
    folder = run.write()
    (folder / "screenshot_step_1.png").write_bytes(base64.b64decode(PNG))
    read = read_one(folder)
    first, second = read.steps
    assert read.blobs[second.screenshot] == base64.b64decode(PNG)
    assert read.blobs[first.screenshot].startswith(b"\x89PNG")
    assert read.run.final.screenshot == ""
    assert first.target_box == (10.0, 20.0, 30.0, 15.5)
    assert read_boxes(read.blobs[first.boxes]) == {"14": (10.0, 20.0, 30.0, 15.5)}


def test_a_password_among_several_actions_is_nowhere(tmp_path):
    run = MadeRun(tmp_path / NAME)
    run.steps[0]["action"] = "fill('8', 'ann')\nfill('10', 'hunter2secret')"
    run.steps[1]["agent_info"] = {"think": "I typed hunter2secret."}
    read = read_one(run.write())
    assert read.steps[0].action.kind == CODE
    assert "answers of several actions, which are one step each: 1" in read.run.notes
    assert "hunter2secret" not in repr((read.run, read.steps))
    assert not any(b"hunter2secret" in data for data in read.blobs.values())


@pytest.mark.parametrize(
    ("action", "kinds"),
    [
        ("click('1')", ["click"]),
        ("```click('1')```", ["click"]),
        ("click('1')\nfill('2', 'a\\nb')", ["click", "fill"]),
        ("# a remark\nclick('1')", ["click"]),
        ("x = 1\nprint(x)\nclick('1')", ["click"]),
        ("click(", []),
        ("", []),
        ("__import__('os').system('x')", []),
    ],
)
def test_calls_are_read_and_never_run(action, kinds):
    assert [call.kind for call in calls_in(action)] == kinds


def test_a_call_beside_a_remark_is_the_action(tmp_path):
    run = MadeRun(tmp_path / NAME)
    run.steps[0]["action"] = "# the button\nclick('14')"
    assert read_one(run.write()).steps[0].action.kind == "click"


def test_the_models_own_words_are_kept(tmp_path):
    run = MadeRun(tmp_path / NAME)
    parts = [{"type": "text", "text": "<think>hm</think>"}, {"type": "image_url", "image_url": {"url": "x"}}]
    run.steps[0]["agent_info"] = {
        "think": "hm", "chat_messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": parts}],
    }  # fmt: skip
    assert read_one(run.write()).steps[0].raw_output == "<think>hm</think>"


ENDS = {
    "the step limit": ({"truncated": True}, 9, {}, Outcome.STEP_LIMIT),
    "the agent gave up": ({"truncated": True}, 3, {}, Outcome.UNKNOWN),
    "the environment": ({"terminated": True}, 3, {}, Outcome.ENDED_BY_ENVIRONMENT),
    "a crash": ({"truncated": True}, 3, {"err_msg": "It broke"}, Outcome.CRASHED),
    "another site": (
        {"truncated": True, "task_info": {"error": "Unauthorized url, terminating"}}, 3, {},
        Outcome.LEFT_ALLOWED_SITES,
    ),
    "nothing": ({}, 3, {}, Outcome.INTERRUPTED),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_the_end_of_a_run(tmp_path, name):
    last, count, summary, outcome = ENDS[name]
    steps = [MadeRun.step(at, observation(at), "click('14')") for at in range(count)]
    steps.append(MadeRun.step(count, observation(count), None, **last))
    said = {"n_steps": count, "cum_reward": 0.0, "terminated": last.get("terminated", False),
            "truncated": last.get("truncated", False), **summary}  # fmt: skip
    run = made(tmp_path, steps=steps, summary=said).run
    assert (run.outcome, run.step_count, run.score) == (outcome, count, 0.0)


@pytest.mark.parametrize("summary", [None, b""])
def test_without_a_summary_the_last_record_tells_the_end(tmp_path, summary):
    folder = MadeRun(tmp_path / NAME, summary=None).write()
    if summary is not None:
        (folder / "summary_info.json").write_bytes(summary)
    read = read_one(folder)
    assert (read.run.score, read.run.step_count, read.run.outcome) == (1.0, 2, Outcome.ANSWERED)
    assert any("the summary is missing" in note for note in read.run.notes)


def test_without_a_summary_the_studys_table_tells_the_end(tmp_path):
    study = tmp_path / "study"
    folder = MadeRun(study / NAME, summary=None).write()
    (folder / "exp_args.pkl").unlink()
    (study / "result_df_trial_1_of_2.csv").write_text("exp_dir,err_msg\n/x/other,it broke\n")
    (study / "result_df_trial_2_of_2.csv").write_text(
        "exp_dir,n_steps,cum_reward,err_msg,terminated,truncated,agent.agent_name,env.task_name,env.task_seed\n"
        f"/home/x/{NAME},2,0.5,It broke,False,True,Agent-7,workarena.sort,4\n"
    )
    run = read_one(study).run
    assert (run.score, run.error, run.outcome) == (0.5, "It broke", Outcome.CRASHED)
    assert (run.policy, run.suite, run.task_id) == ("Agent-7", "workarena", "sort")


def test_a_table_outside_of_the_chosen_folder_is_not_read(tmp_path):
    folder = MadeRun(tmp_path / NAME).write()
    (tmp_path / "result_df_trial_1_of_1.csv").write_text(f"exp_dir,agent.agent_name\n/x/{NAME},Other\n")
    (folder / "exp_args.pkl").unlink()
    assert read_one(folder).run.policy == ""
    assert read_one(tmp_path).run.policy == "Other"


def test_a_killed_run_keeps_its_last_action(tmp_path):
    folder = MadeRun(tmp_path / NAME, summary=None).write()
    (folder / "step_2.pkl.gz").unlink()
    read = read_one(folder)
    assert (read.run.step_count, read.run.outcome, read.run.final) == (2, Outcome.ANSWERED, None)
    assert read.run.score is None
    assert any("cut off" in note for note in read.run.notes)


def test_a_run_that_failed_before_its_first_page_is_a_run_without_steps(tmp_path):
    step = MadeRun.step(0, None, None)
    read = made(tmp_path, steps=[step], summary={"n_steps": 0, "cum_reward": 0, "err_msg": "No browser"})
    assert (read.run.step_count, read.run.outcome, read.run.error) == (0, Outcome.CRASHED, "No browser")


def test_a_missing_and_a_damaged_record_cost_their_own_page(tmp_path):
    folder = MadeRun(tmp_path / NAME).write()
    (folder / "step_0.pkl.gz").unlink()
    (folder / "step_1.pkl.gz").write_bytes(b"\x1f\x8bdamaged")
    runs, problems = read_all(folder)
    assert [problem.path for problem in problems] == [str(folder / "step_1.pkl.gz")]
    assert (runs[0].run.step_count, len(runs[0].run.notes)) == (2, 2)


def test_the_goal_may_be_in_a_file_of_its_own(tmp_path):
    run = MadeRun(tmp_path / NAME)
    for step in run.steps:
        step["obs"]["goal"] = None
        step["obs"]["chat_messages"] = ()
    folder = run.write()
    goal = [{"type": "text", "text": "Buy it"}, {"type": "image_url", "image_url": {"url": "data:x"}}]
    (folder / "goal_object.pkl.gz").write_bytes(gzip.compress(pickle.dumps(goal)))
    assert read_one(folder).run.intent == "Buy it"


def test_the_study_pickle_is_never_opened(tmp_path, monkeypatch):
    MadeRun(tmp_path / NAME).write()
    (tmp_path / "study.pkl.gz").write_bytes(b"\x1f\x8bnothing")
    assert len(read_all(tmp_path)[0]) == 1


def test_a_pickle_that_would_run_something_does_not(tmp_path):
    class Runs:
        def __reduce__(self):
            return (__import__("os").system, (f"touch {tmp_path / 'canary'}",))

    folder = MadeRun(tmp_path / NAME).write()
    for name in ("step_1.pkl.gz", "exp_args.pkl", "goal_object.pkl.gz"):
        (folder / name).write_bytes(
            gzip.compress(pickle.dumps({"obs": {"goal": Runs()}, "action": Runs(), "x": Runs()}))
        )
    read_all(folder)
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("folder", ["json", "empty", "not pickles"])
def test_folders_of_others_are_left_alone(tmp_path, folder):
    place = tmp_path / NAME
    place.mkdir()
    if folder == "json":
        MadeRun(place).write()
        (place / "steps_info_0.json").write_text('{"obs": {}}')
    if folder == "not pickles":
        (place / "step_0.pkl.gz").write_text("words")
    assert read_all(place, "browsergym") == ([], [])


def test_a_link_is_a_problem_and_is_not_followed(tmp_path):
    folder = MadeRun(tmp_path / NAME).write()
    outside = tmp_path / "outside.pkl.gz"
    shutil.move(folder / "step_0.pkl.gz", outside)
    (folder / "step_0.pkl.gz").symlink_to(outside)
    runs, problems = read_all(folder)
    assert runs[0].run.step_count == 2
    assert [problem.path for problem in problems] == [str(folder / "step_0.pkl.gz")]


def test_an_import_is_idempotent_and_stores_the_run(tmp_path):
    MadeRun(tmp_path / "runs" / NAME).write()
    MadeRun(tmp_path / "runs" / "copy" / NAME).write()
    with Workspace.open(tmp_path / "workspace") as workspace:
        report = import_paths(workspace, [tmp_path / "runs"])
        assert (report.imported, report.skipped, report.failed) == (1, 1, ())
        assert import_paths(workspace, [tmp_path / "runs"]).imported == 0
        run, steps = workspace.runs.load(report.runs[0])
        assert (run.step_count, len(steps)) == (2, 2)


def test_the_end_alone_is_that_of_the_run(tmp_path):
    folder = MadeRun(tmp_path / NAME).write()
    end = read_run_end(find_run_places(folder, [])[0], load_sites())
    whole = read_one(folder)
    assert (end.run.answer, end.run.score, end.run.final.tree) == (
        whole.run.answer, whole.run.score, whole.run.final.tree,
    )  # fmt: skip
    short = read_run_end(find_run_places(folder, [])[0], load_sites(), lambda run: False)
    assert (short.run.final.tree, short.run.final.html) == ("", "")


TREE_OBJECT = {
    "nodes": [
        {"nodeId": "1", "role": {"value": "RootWebArea"}, "name": {"value": "Shop"}, "childIds": ["2", "5", "x"],
         "properties": [{"name": "focusable", "value": {"value": True}},
                        {"name": "focused", "value": {"value": True}}]},
        {"nodeId": "2", "role": {"value": "generic"}, "name": {"value": ""}, "childIds": ["3"]},
        {"nodeId": "3", "role": {"value": "textbox"}, "name": {"value": "User "}, "value": {"value": "ann"},
         "browsergym_id": "8", "childIds": ["4", "1"],
         "properties": [{"name": "required", "value": {"value": True}},
                        {"name": "hasPopup", "value": {"value": "menu"}}]},
        {"nodeId": "4", "role": {"value": "StaticText"}, "name": {"value": "User"}, "childIds": []},
        {"nodeId": "5", "role": {"value": "StaticText"}, "name": {"value": "Linen's"}, "childIds": []},
    ]
}  # fmt: skip


def test_a_tree_object_becomes_browsergyms_text():
    assert tree_text(TREE_OBJECT) == (
        "RootWebArea 'Shop', focused\n"
        "\t[8] textbox 'User' value='ann', required, hasPopup='menu'\n"
        '\tStaticText "Linen\'s"'
    )


SNAPSHOT = {
    "strings": ["#document", "HTML", "BODY", "bid", "1", "P", "#text", "a < b", "SCRIPT", "x()", "IFRAME", "in it",
                "browsergym_visibility_ratio"],
    "documents": [
        {"nodes": {"parentIndex": [-1, 0, 1, 2, 3, 2, 5, 2], "nodeType": [9, 1, 1, 1, 3, 1, 3, 1],
                   "nodeName": [0, 1, 2, 5, 6, 8, 6, 10], "nodeValue": [-1, -1, -1, -1, 7, -1, 9, -1],
                   "attributes": [[], [], [3, 4, 12, 4], [], [], [], [], []],
                   "contentDocumentIndex": {"index": [7], "value": [1]}}},
        {"nodes": {"parentIndex": [-1, 0, 1], "nodeType": [9, 1, 3], "nodeName": [0, 5, 6], "nodeValue": [-1, -1, 11],
                   "attributes": [[], [], []], "contentDocumentIndex": {"index": [], "value": []}}},
    ],
}  # fmt: skip


def test_a_dom_object_becomes_html_without_scripts():
    assert html_text(SNAPSHOT) == (
        '<html><body bid="1"><p>a &lt; b</p><iframe srcdoc="&lt;p&gt;in it&lt;/p&gt;"></iframe></body></html>'
    )


def test_damaged_pages_are_no_pages_and_no_errors():
    for damaged in damages(TREE_OBJECT):
        assert isinstance(tree_text(damaged), str)
    for damaged in damages(SNAPSHOT):
        assert isinstance(html_text(damaged), str)


def test_pages_without_text_are_made_from_the_objects(tmp_path):
    run = MadeRun(tmp_path / NAME)
    seen = run.steps[0]["obs"]
    del seen["axtree_txt"], seen["pruned_html"]
    seen |= {"axtree_object": TREE_OBJECT, "dom_object": SNAPSHOT}
    first = read_one(run.write())
    assert first.blobs[first.steps[0].tree].decode() == tree_text(TREE_OBJECT)
    assert first.blobs[first.steps[0].html].decode() == html_text(SNAPSHOT)
    assert first.blobs[first.steps[1].html].decode() == HTML


def test_every_field_may_be_gone_or_of_another_type(tmp_path):
    whole = MadeRun(tmp_path / "whole").steps[1]
    whole["obs"]["axtree_object"], whole["obs"]["active_page_index"] = None, [0]
    whole["agent_info"] |= {
        "chat_messages": [{"role": "assistant", "content": [{"text": "x"}]}],
        "stats": {"cost": 1},
    }
    for number, damaged in enumerate(damages(whole)):
        if not isinstance(damaged, dict):
            continue
        run = MadeRun(tmp_path / f"run_{number}")
        run.steps[1] = damaged
        folder = run.write()
        read_all(folder, "browsergym")
        shutil.rmtree(folder)


def test_every_field_of_the_summary_may_be_gone_or_of_another_type(tmp_path):
    folder = MadeRun(tmp_path / NAME).write()
    for damaged in damages(json.loads((folder / "summary_info.json").read_text())):
        (folder / "summary_info.json").write_text(json.dumps(damaged))
        runs, _ = read_all(folder, "browsergym")
        assert runs[0].run.step_count >= 1


@needs_samples
@pytest.mark.parametrize(
    ("name", "source", "steps", "outcome", "score"),
    [
        ("agentlab", "agentlab", 1, Outcome.ENDED_BY_ENVIRONMENT, 1.0),
        ("browsergym", "browsergym", 4, Outcome.STEP_LIMIT, 0.0),
    ],
)
def test_the_samples_are_read_whole(name, source, steps, outcome, score):
    read = read_one(SAMPLES / name)
    assert (read.run.source, read.run.step_count, read.run.outcome, read.run.score) == (
        source,
        steps,
        outcome,
        score,
    )
    assert read.run.intent == 'Click on the "submit" button.'
    assert (read.run.suite, read.run.task_id, read.run.policy) == (
        "miniwob",
        "click-button.3",
        "ScriptedAgent",
    )
    for step in (*read.steps, read.run.final):
        assert step.tree
        assert step.screenshot
    assert all(step.target.name == "submit" for step in read.steps)


ENDLESS = gzip.compress(b"\x80\x04}N\x85" + b"2\x86" * 60 + b"K\x01s.")
"""A key whose hash takes 2 to the 60th steps."""


def test_pickles_that_take_too_long_cost_their_own_runs_and_a_bounded_time(tmp_path, monkeypatch):
    monkeypatch.setattr(reader_module, "MAX_SECONDS", 1.0)
    monkeypatch.setattr(reader_module, "MAX_TIMEOUTS", 2)
    for number in range(3):
        folder = MadeRun(
            tmp_path / "runs" / f"2026-11-22_16-41-0{number}_Generic_on_webarena.{number}_0"
        ).write()
        for name in ("step_0.pkl.gz", "step_1.pkl.gz"):
            (folder / name).write_bytes(ENDLESS + bytes(number))
    MadeRun(tmp_path / "runs" / NAME.replace("16-41-06", "16-50-00")).write()
    with Workspace.open(tmp_path / "workspace") as workspace:
        report = import_paths(workspace, [tmp_path / "runs"])
        said = [problem.error for problem in report.failed]
        assert sum("no other one of its run is read" in one for one in said) == 2
        assert sum("2 pickles before it took too long" in one for one in said) == 2
        assert report.imported == 2
        shutil.rmtree(tmp_path / "runs")
        MadeRun(tmp_path / "runs" / NAME.replace("16-41-06", "16-50-00")).write()
        again = import_paths(workspace, [tmp_path / "runs"])
        assert (again.imported, again.failed) == (1, ())
