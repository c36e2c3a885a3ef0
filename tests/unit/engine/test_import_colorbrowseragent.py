"""The published runs are imported as their description says, trap by trap."""

from __future__ import annotations

import hashlib
import json

import pytest

from app.engine.core.ax_tree import content_key, parse_tree
from app.engine.core.sites import load_sites
from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.imports.colorbrowseragent import find_runs
from tests.support.runs import (
    COLLECTION,
    TRAJECTORIES,
    copy_runs,
    folder_of,
    needs_collection,
    read,
    read_run,
    record,
    summary,
    write_run,
)

pytestmark = [pytest.mark.shared_data, needs_collection]

SITES = load_sites()


def test_every_run_is_found_by_what_its_folder_holds(tmp_path):
    assert len(list(find_runs(COLLECTION))) == 59
    copy_runs(["webarena/93"], tmp_path)
    (tmp_path / "webarena" / "results" / "task_93").rename(tmp_path / "anything")
    assert list(find_runs(tmp_path)) == [tmp_path / "anything"]
    assert list(find_runs(tmp_path / "anything")) == [tmp_path / "anything"]


def test_the_last_records_action_never_ran():
    got = read("webarena/93")
    assert got.run.step_count == len(got.steps) == 1
    assert got.steps[0].action is not None
    assert got.steps[0].action.kind == "send_msg_to_user"
    assert got.run.final is not None
    assert got.run.final.index == 1
    assert got.run.final.action is None
    assert not got.run.final.executed


def test_every_run_has_as_many_steps_as_its_summary_says():
    for folder in find_runs(COLLECTION):
        said = json.loads((folder / "summary_info.json").read_text())["n_steps"]
        got = read(f"{folder.parts[-3]}/{folder.name[5:]}")
        assert [step.index for step in got.steps] == list(range(said)), folder.name


def test_a_run_that_broke_off_with_n_records_has_n_steps_and_no_page_after_them():
    got = read("webchorearena/20024")
    assert got.run.outcome is Outcome.CRASHED
    assert got.run.error.startswith("Exception uncaught")
    assert len(got.steps) == 6
    assert got.run.final is None
    assert got.steps[5].executed
    assert any("(6) is missing" in note for note in got.run.notes)


def test_a_run_that_broke_off_with_one_record_more_has_the_page_after_its_last_step():
    got = read("webchorearena/30051")
    assert got.run.outcome is Outcome.CRASHED
    assert len(got.steps) == 23
    assert got.run.final is not None
    assert got.run.final.index == 23


def test_where_only_the_last_record_of_a_whole_run_is_missing_the_last_stored_action_ran(tmp_path):
    root = copy_runs(["webarena/90"], tmp_path)
    folder = root / "webarena" / "results" / "task_90"
    (folder / "steps_info_3.json").unlink()
    got = read_run(folder, root, SITES)
    assert len(got.steps) == 3
    assert got.run.final is None
    assert got.steps[2].action is not None
    assert got.steps[2].action.kind == "send_msg_to_user"
    assert got.run.outcome is Outcome.ANSWERED
    assert got.run.answer == read("webarena/90").run.answer


def test_an_error_belongs_to_the_action_before_its_record():
    stored = json.loads((folder_of("webarena/701") / "steps_info_10.json").read_text())["obs"][
        "last_action_error"
    ]
    got = read("webarena/701")
    assert got.steps[9].error == stored
    assert got.steps[9].error_class is ErrorClass.HARD
    assert got.steps[10].error != stored


def test_a_click_that_timed_out_after_being_performed_is_soft():
    kinds = [
        (step.error_class, step.error)
        for folder in find_runs(COLLECTION)
        for step in read(f"{folder.parts[-3]}/{folder.name[5:]}").steps
        if "Locator.click: Timeout" in step.error
    ]
    assert len(kinds) == 56
    assert {kind for kind, _ in kinds} == {ErrorClass.SOFT}


def test_a_click_that_was_tried_again_because_something_covered_it_is_hard(tmp_path):
    log = "TimeoutError: Locator.click: Timeout\nCall log:\n  - performing click action\n"
    log += "  - <div> intercepts pointer events\n  - retrying click action"
    folder = write_run(
        tmp_path / "r", {0: record(0), 1: record(1, obs={"last_action_error": log}), 2: record(2)}, summary(2)
    )
    assert read_run(folder, tmp_path, SITES).steps[0].error_class is ErrorClass.HARD


def test_a_key_press_that_timed_out_is_soft_where_the_page_moved_on():
    step = read("webchorearena/30092").steps[1]
    assert "elementHandle.press" in step.error
    assert step.error_class is ErrorClass.SOFT


def test_an_output_without_a_closing_tag_is_a_harness_fault_and_still_shown():
    harness = [step for step in read("webarena/701").steps if step.error_class is ErrorClass.HARNESS]
    assert [step.index for step in harness] == [17, 18, 19]
    assert not any(step.executed for step in harness)
    assert {step.action.kind for step in harness if step.action} == {"send_msg_to_user"}
    assert all(step.words.startswith("answer '") for step in harness)


def test_partial_scores_are_kept_as_they_are():
    assert read("webarena/57").run.score == pytest.approx(0.5714, abs=1e-4)
    assert read("webarena/127").run.score == pytest.approx(1 / 3)
    assert read("webarena/57").run.failed
    assert not read("webarena/35").run.failed


def test_a_score_above_one_counts_as_one(tmp_path):
    folder = write_run(tmp_path / "r", about=summary(2, cum_reward=3))
    assert read_run(folder, tmp_path, SITES).run.score == 1


@pytest.mark.parametrize(
    ("task", "outcome"),
    [
        ("webarena/33", Outcome.STEP_LIMIT),
        ("webarena/35", Outcome.ANSWERED),
        ("webarena/374", Outcome.ENDED_BY_ENVIRONMENT),
        ("webarena/688", Outcome.LEFT_ALLOWED_SITES),
        ("webarena/783", Outcome.INFEASIBLE),
        ("webchorearena/50093", Outcome.LEFT_ALLOWED_SITES),
        ("webchorearena/50091", Outcome.STEP_LIMIT),
        ("webchorearena/40091", Outcome.INFEASIBLE),
        ("webchorearena/10290", Outcome.CRASHED),
        ("webchorearena/20232", Outcome.ANSWERED),
    ],
)
def test_the_outcome_of_a_run_is_imported(task, outcome):
    assert read(task).run.outcome is outcome


def test_the_step_limit_is_the_number_of_steps_it_stopped_at():
    assert read("webarena/33").run.step_limit == 20
    assert read("webchorearena/50091").run.step_limit == 50
    assert read("webarena/35").run.step_limit is None


@pytest.mark.parametrize("task", ["webchorearena/10290", "webchorearena/50050"])
def test_a_run_without_steps_is_a_run_with_its_error(task):
    got = read(task)
    assert got.steps == ()
    assert got.run.final is None
    assert got.run.outcome is Outcome.CRASHED
    assert f"webchorearena.{got.run.task_id}" in got.run.error
    assert got.run.suite == "webchorearena"


def test_actions_are_shown_with_role_and_name_of_their_target():
    step = read("webarena/708").steps[3]
    assert step.target is not None
    shown = [s.words for s in read("webarena/708").steps]
    assert not any("744" in words for words in shown)
    steps = [s for f in find_runs(COLLECTION) for s in read(f"{f.parts[-3]}/{f.name[5:]}").steps]
    with_bid = [s for s in steps if s.action is not None and s.action.bid]
    assert all(s.target is not None for s in with_bid)


def test_a_target_that_is_hidden_from_the_tree_is_named_by_its_tag():
    step = read("webchorearena/30051").steps[4]
    assert step.target is not None
    assert (step.target.role, step.target.name) == ("span", "")


def test_a_target_that_is_not_on_the_page_is_noted(tmp_path):
    folder = write_run(
        tmp_path / "r", {0: record(0, action="<action>```click('a99')```</action>"), 1: record(1)}
    )
    step = read_run(folder, tmp_path, SITES).steps[0]
    assert step.target is None
    assert "not on the page" in step.words


def test_element_ids_with_letters_are_found(tmp_path):
    tree = "RootWebArea 'x'\n\t[a12] link 'In the frame'\n\t[12] link 'Outside'"
    folder = write_run(
        tmp_path / "r",
        {0: record(0, action="<action>```click('a12')```</action>", obs={"axtree_txt": tree}), 1: record(1)},
    )
    target = read_run(folder, tmp_path, SITES).steps[0].target
    assert target is not None
    assert (target.role, target.name) == ("link", "In the frame")


def test_step_files_are_taken_in_number_order():
    got = read("webarena/33")
    times = [step.started_at for step in got.steps]
    assert times == sorted(times)
    assert len(times) == 20


def test_the_answer_is_the_third_message_of_the_chat():
    assert read("webchorearena/30164").run.answer == "7"
    assert read("webchorearena/20232").run.answer == ""
    assert read("webarena/33").run.answer is None
    assert (read("webchorearena/40091").run.answer or "").startswith("The README.md")


def test_the_note_about_the_home_page_is_taken_off_the_goal():
    intent = read("webchorearena/50060").run.intent
    assert intent.endswith("Body: {the explanation of Electronics}")
    assert "4399" not in intent


@pytest.mark.parametrize(
    ("task", "site", "sites"),
    [
        ("webarena/33", "map", ("map",)),
        ("webarena/45", "gitlab", ("gitlab",)),
        ("webarena/113", "shopping_admin", ("shopping_admin",)),
        ("webarena/226", "shopping", ("shopping",)),
        ("webarena/688", "cross", ("reddit", "gitlab")),
        ("webarena/424", "cross", ("wikipedia", "map")),
        ("webchorearena/50060", "cross", ("reddit", "wikipedia")),
        ("webchorearena/50091", "cross", ("wikipedia", "gitlab")),
        ("webchorearena/30140", "reddit", ("reddit",)),
    ],
)
def test_the_site_is_found_and_cross_where_there_are_several(task, site, sites):
    assert (read(task).run.site, read(task).run.sites) == (site, sites)


def test_without_the_task_map_sites_come_from_the_pages_visited():
    got = read_run(folder_of("webarena/740"), TRAJECTORIES, SITES)
    assert got.run.sites == ("map",)
    both = read_run(folder_of("webchorearena/50091"), TRAJECTORIES, SITES)
    assert both.run.sites == ("wikipedia", "gitlab")
    alone = read_run(folder_of("webarena/688"), TRAJECTORIES, SITES)
    assert alone.run.site == "reddit"


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("http://10.1.2.3:7770/x", "shopping"),
        ("http://10.1.2.3:7780/admin", "shopping_admin"),
        ("http://h:9999/", "reddit"),
        ("http://h:8023/a/b", "gitlab"),
        ("http://h:8888/wiki", "wikipedia"),
        ("http://h:4399/", "homepage"),
        ("https://www.openstreetmap.org/#map=1", "map"),
        ("https://user:pw@h:8023/", "gitlab"),
        ("https://other.example/", "other.example"),
        ("about:blank", ""),
        ("http://[broken", ""),
    ],
)
def test_sites_are_found_by_port_not_by_host(url, site):
    assert SITES.site_of(url) == site


def test_the_suite_comes_from_content_before_folder_names(tmp_path):
    folder = write_run(
        tmp_path / "x",
        {},
        summary(0, err_msg="Exception uncaught in task webchorearena.10290.\nValueError", n_steps=0),
    )
    got = read_run(folder, tmp_path, SITES)
    assert (got.run.suite, got.run.task_id) == ("webchorearena", "10290")
    five = write_run(tmp_path / "task_30010")
    assert read_run(five, tmp_path, SITES).run.suite == "webchorearena"
    assert read("webarena/33").run.id.startswith("webarena-33-")


def test_summaries_of_the_log_are_put_at_their_steps():
    got = read("webarena/33")
    assert got.steps[0].summary == ""
    assert got.steps[1].summary.startswith("✅ Current Progress: Entered")
    assert "HTTP Request" not in got.steps[1].summary
    assert sum(bool(step.summary) for step in got.steps) >= 15
    assert read("webchorearena/10031").steps[1].summary == ""


def test_title_address_and_tabs_go_by_the_active_tab():
    got = read("webarena/688")
    assert got.run.final is not None
    final = got.run.final
    assert final.active_tab == 1
    assert (final.url, final.title) == (final.tabs[1].url, final.tabs[1].title)
    assert len(final.tabs) == 2


def test_trees_and_html_are_named_by_their_content():
    got = read("webarena/402")
    assert {step.tree for step in got.steps} <= got.blobs.keys()
    for digest, content in got.blobs.items():
        assert hashlib.sha256(content).hexdigest() == digest
    step = got.steps[0]
    assert step.state == content_key(got.blobs[step.tree].decode())
    assert step.html in got.blobs


def test_redaction_leaves_every_nodes_role_name_and_id():
    for task in ("webarena/45", "webarena/701", "webchorearena/20024"):
        got = read(task)
        for step in got.steps:
            path = folder_of(task) / f"steps_info_{step.index}.json"
            original = json.loads(path.read_text())["obs"]["axtree_txt"]
            assert parse_tree(got.blobs[step.tree].decode()) == parse_tree(original)


def test_notices_are_the_texts_of_alerts():
    assert read("webarena/402").run.final is not None
    assert any("The biography was updated." in n for n in read("webarena/402").run.final.notices)
    assert any("shopping" in n for n in read("webarena/519").run.final.notices)


def test_pictures_beside_the_runs_are_taken(tmp_path):
    folder = write_run(tmp_path / "results" / "task_7")
    shots = tmp_path / "screenshots" / "task_7"
    shots.mkdir(parents=True)
    png = b"\x89PNG\r\n\x1a\n" + b"picture"
    (shots / "screenshot_som_step_0.png").write_bytes(png)
    (shots / "screenshot_som_step_1.png").write_bytes(b"no picture")
    got = read_run(folder, tmp_path, SITES)
    assert got.blobs[got.steps[0].screenshot] == png
    assert got.steps[1].screenshot == ""
    assert [p.error for p in got.problems] == ["not a PNG, JPEG or WebP picture"]


def test_the_same_files_give_the_same_id_wherever_they_lie(tmp_path):
    root = copy_runs(["webarena/91"], tmp_path)
    (root / "webarena" / "logs").mkdir()
    again = read_run(root / "webarena" / "results" / "task_91", root, SITES)
    assert again.run.id == read("webarena/91").run.id


def test_durations_and_times_are_seconds():
    step = read("webarena/33").steps[3]
    assert step.agent_seconds == pytest.approx(42.86, abs=0.01)
    assert step.started_at == pytest.approx(1766030767.64, abs=0.01)
    assert 0 < step.env_seconds < 60
