"""AgentRewardBench: trajectories become runs, and the people's verdicts on them find the run of their agent."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from app.engine.api.run_rows import RunFilter
from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.core.verdicts import Label
from app.engine.engine import Engine
from app.engine.imports.agent_reward_bench import id_start
from tests.support.foreign_runs import PNG, SAMPLES, damages, needs_samples, read_all, read_one

SHOP = "http://shop.example:7770/"
HEAD = (
    "annotator_name,benchmark,task_id,model_name,exp_name,trajectory_success,trajectory_side_effect,"
    "trajectory_optimality,trajectory_looping\n"
)


def trajectory(agent: str = "GenericAgent-a", **more: Any) -> dict[str, Any]:
    steps = [
        {"num": 0, "reasoning": "open the list", "action": "click('4')", "url": SHOP,
         "open_pages_urls": ["http://b/", SHOP],
         "last_action_error": "", "axtree": "RootWebArea 'Shop'\n\t[4] link 'Catalogue'",
         "screenshot_path": f"trajectories/screenshots/webarena/{agent}/webarena.7/screenshot_step_0.png",
         "chat_messages": [{"role": "assistant", "content": "<think>open</think>click('4')"}],
         "extra_element_properties": {"4": {"bbox": [1, 2, 3, 4]}}},
        {"num": 1, "reasoning": "log in", "action": "fill('9', 'hunter2222')", "url": f"{SHOP}c", "open_pages_urls": [],
         "last_action_error": "ValueError: no element 4", "axtree": "RootWebArea 'C'\n\t[9] textbox 'Password'"},
        {"num": 2, "reasoning": "tell", "action": "send_msg_to_user('24.50')", "url": f"{SHOP}d", "axtree": ""},
    ]  # fmt: skip
    return {
        "benchmark": "webarena", "agent": agent, "model": "m", "valid": True, "experiment": f"{agent}_on_webarena",
        "goal": "Find the apron", "model_args": {"model_name": "maker/model-1"},
        "summary_info": {"n_steps": 3, "cum_reward": 1.0, "err_msg": None, "terminated": True, "truncated": False,
                         "stats.cum_cost": 0.25, "stats.cum_input_tokens": 900, "stats.cum_output_tokens": 30},
        "steps": steps, **more,
    }  # fmt: skip


def write(folder, agent: str = "GenericAgent-a", task: str = "webarena.7", **more: Any):
    path = folder / "trajectories" / "cleaned" / "webarena" / agent / f"{agent}_on_webarena" / f"{task}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(trajectory(agent, **more)))
    return path


def test_a_trajectory_with_its_pictures_and_errors(tmp_path):
    write(tmp_path)
    shots = tmp_path / "trajectories" / "screenshots" / "webarena" / "GenericAgent-a" / "webarena.7"
    shots.mkdir(parents=True)
    (shots / "screenshot_step_0.png").write_bytes(base64.b64decode(PNG))
    read = read_one(tmp_path)
    run = read.run
    assert (run.suite, run.task_id, run.intent, run.score) == ("webarena", "7", "Find the apron", 1.0)
    assert (run.answer, run.outcome, run.policy, run.model) == (
        "24.50", Outcome.ANSWERED, "GenericAgent-a", "maker/model-1"
    )  # fmt: skip
    assert (run.tokens, run.cost.known if run.cost else None) == ((900, 30), 0.25)
    first, second, third = read.steps
    assert (first.url, first.title, first.active_tab, len(first.tabs)) == (SHOP, "Shop", 1, 2)
    assert (first.error, first.error_class) == ("ValueError: no element 4", ErrorClass.HARD)
    assert (first.reason, first.raw_output) == ("open the list", "<think>open</think>click('4')")
    assert first.target is not None
    assert (first.target.name, first.target_box) == ("Catalogue", (1, 2, 3, 4))
    assert first.screenshot
    assert not third.tree
    assert second.action is not None
    assert second.action.args["value"] == "REDACTED"
    assert "hunter2222" not in repr(read.steps)


def test_pictures_out_of_the_folder_are_not_read(tmp_path):
    shots = tmp_path / "outside"
    shots.mkdir()
    (shots / "screenshot_step_0.png").write_bytes(base64.b64decode(PNG))
    inside = tmp_path / "inside"
    for place in ("../outside", str(shots), "..\\outside"):
        document = trajectory()
        document["steps"][0]["screenshot_path"] = f"{place}/screenshot_step_0.png"
        write(inside, steps=document["steps"])
        assert not read_one(inside).steps[0].screenshot


def test_a_judges_file_is_no_trajectory(tmp_path):
    (tmp_path / "webarena.7.json").write_text(
        json.dumps(
            {"benchmark": "webarena", "agent": "a", "judge": "aer", "trajectory_info": {"summary_info": {}}}
        )
    )
    assert read_all(tmp_path) == ([], [])


def test_the_verdicts_beside_it_are_named(tmp_path):
    write(tmp_path)
    table = tmp_path / "annotations.csv"
    table.write_text(HEAD)
    assert any(f"verdicts import {table}" in note for note in read_one(tmp_path).run.notes)
    table.write_text("label,run\n")
    assert not any("verdicts" in note for note in read_one(tmp_path).run.notes)


def test_an_id_begins_with_agent_and_task(tmp_path):
    write(tmp_path)
    assert read_one(tmp_path).run.id.startswith(id_start("GenericAgent-a", "webarena", "7"))


@pytest.fixture
async def engine(tmp_path):
    engine = await Engine.open(tmp_path / "workspace", author="ann")
    yield engine
    await engine.aclose()


async def test_annotations_find_the_run_of_their_agent_among_several_of_a_task(engine, tmp_path):
    place = tmp_path / "bench"
    names = ("GenericAgent-a", "GenericAgent-maker_Model-3.3-70B")
    for agent in names:
        write(place, agent)
    await engine.import_runs([str(place)])
    rows = [
        f"A,webarena,webarena.7,{names[0]},{names[0]}_on_webarena,Successful,No,2. Suboptimal,No\n",
        f"B,webarena,webarena.7,{names[1]},{names[1]}_on_webarena,Unsuccessful,No,2. Suboptimal,Yes\n",
        "B,webarena,webarena.7,GenericAgent-c,GenericAgent-c_on_webarena,Unsuccessful,No,2. Suboptimal,Yes\n",
    ]
    table = tmp_path / "annotations.csv"
    table.write_text(HEAD + "".join(rows))
    told = await engine.import_verdicts(str(table))

    assert told.added == 2
    assert told.unmatched == ("line 4: no run of task '7' of webarena by GenericAgent-c",)
    details = [await engine.open_run(row.id) for row in await engine.list_runs(RunFilter())]
    labels = {one.run.policy: [(said.author, said.label) for said in one.verdicts] for one in details}
    assert labels == {names[0]: [("A", Label.NOT_A_FAILURE)], names[1]: [("B", Label.LOOP)]}
    assert (await engine.import_verdicts(str(table))).added == 0


async def test_the_only_run_here_is_not_judged_for_another_agent(engine, tmp_path):
    write(tmp_path / "bench")
    await engine.import_runs([str(tmp_path / "bench")])
    table = tmp_path / "annotations.csv"
    table.write_text(
        f"{HEAD}A,webarena,webarena.7,GenericAgent-c,GenericAgent-c_on_webarena,Successful,No,1,No\n"
    )
    assert (await engine.import_verdicts(str(table))).added == 0


def test_any_damage_is_a_run_or_one_sentence(tmp_path):
    document = trajectory()
    for damaged in damages(document):
        (tmp_path / "webarena.7.json").write_text(json.dumps(damaged))
        read_all(tmp_path)
    whole = json.dumps(document)
    (tmp_path / "webarena.7.json").write_text(whole[:-100])
    runs, problems = read_all(tmp_path)
    assert (runs, len(problems)) == ([], 1)


@needs_samples
def test_the_sample_is_the_run_it_records():
    read = read_one(SAMPLES / "agent-reward-bench")
    assert (read.run.task_id, read.run.score, read.run.answer) == ("900001", 1.0, "24.50")
    assert [step.error_class for step in read.steps] == [ErrorClass.HARD, ErrorClass.NONE, ErrorClass.NONE]
