"""Damaged, hostile and odd folders: one clear message each, everything else is imported, no link is followed."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.core.sites import load_sites, site_table
from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.imports import FORMATS, chosen_formats, source_files
from app.engine.imports.colorbrowseragent import find_runs
from app.engine.imports.importer import import_paths
from app.engine.imports.step_records import StepReader, error_class, read_output
from app.engine.store.workspace import Workspace
from app.errors import InputError
from tests.support.laws import examples
from tests.support.runs import copy_runs, needs_collection, read_run, record, summary, write_run

SITES = load_sites()


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(tmp_path / "workspace") as opened:
        yield opened


def test_a_cut_off_step_file_is_named_and_its_place_kept(tmp_path):
    folder = write_run(tmp_path / "r", steps=3)
    path = folder / "steps_info_1.json"
    path.write_bytes(path.read_bytes()[:300])
    got = read_run(folder, tmp_path, SITES)
    assert [(p.path, "cut off" in p.error) for p in got.problems] == [(str(path), True)]
    assert [step.index for step in got.steps] == [0, 1, 2]
    assert got.steps[1].url == ""
    assert got.steps[1].action is not None  # the next record tells what was done
    assert got.steps[1].executed


def test_a_missing_step_file_is_noted_and_its_action_taken_from_the_next(tmp_path):
    folder = write_run(tmp_path / "r", steps=3)
    (folder / "steps_info_2.json").unlink()
    got = read_run(folder, tmp_path, SITES)
    assert [step.index for step in got.steps] == [0, 1, 2]
    assert got.steps[2].action is not None
    assert any("step 2 is missing" in note for note in got.run.notes)


def test_a_huge_file_is_left_out(tmp_path, monkeypatch):
    folder = write_run(tmp_path / "r")
    monkeypatch.setattr("app.engine.imports.source_files.MAX_JSON_BYTES", 2000)
    (folder / "steps_info_1.json").write_text(" " * 3000)
    got = read_run(folder, tmp_path, SITES)
    assert "larger than" in got.problems[0].error
    assert len(got.steps) == 2


def test_nan_lone_surrogates_and_duplicate_keys_are_taken(tmp_path):
    folder = write_run(tmp_path / "r")
    text = json.dumps(record(0)).replace('"reward": 0', '"reward": NaN, "step": 5, "step": 0', 1)
    (folder / "steps_info_0.json").write_text(text.replace("Step 0.", "Step \\ud800 0."))
    got = read_run(folder, tmp_path, SITES)
    assert got.problems == ()
    assert got.steps[0].reason == "Step ? 0."


@pytest.mark.parametrize("content", ["", "[]", "null", "3", '"x"', "{", "{}", "\x00\x01", "[" * 100_000])
def test_a_file_that_is_no_record_is_named(tmp_path, content):
    folder = write_run(tmp_path / "r")
    (folder / "steps_info_0.json").write_text(content)
    got = read_run(folder, tmp_path, SITES)
    assert [p.path for p in got.problems] == [str(folder / "steps_info_0.json")]
    assert len(got.steps) == 2


def test_a_folder_whose_files_are_no_records_is_no_run(tmp_path):
    folder = tmp_path / "r"
    folder.mkdir()
    (folder / "summary_info.json").write_text('{"other": 1}')
    with pytest.raises(InputError, match="no run"):
        read_run(folder, tmp_path, SITES)


def test_without_a_summary_the_records_tell_the_end(tmp_path):
    folder = write_run(
        tmp_path / "r", {0: record(0), 1: record(1), 2: record(2, terminated=True, reward=1.0)}
    )
    (folder / "summary_info.json").unlink()
    got = read_run(folder, tmp_path, SITES)
    assert (got.run.step_count, got.run.score) == (2, 1.0)
    assert any("summary is missing" in note for note in got.run.notes)
    (folder / "steps_info_2.json").unlink()
    assert read_run(folder, tmp_path, SITES).run.outcome is Outcome.INTERRUPTED


@pytest.mark.parametrize("said", [-5, 0, 1, 9, 10**9, "two", None, True, 1e308])
def test_a_summary_that_cannot_be_true_is_corrected(tmp_path, said):
    folder = write_run(tmp_path / "r", about=summary(2, n_steps=said))
    got = read_run(folder, tmp_path, SITES)
    assert 2 <= got.run.step_count <= 3
    assert len(got.steps) == got.run.step_count


def test_a_record_far_away_makes_no_million_steps(tmp_path):
    folder = write_run(tmp_path / "r", {0: record(0), 999_999_999: record(1)}, summary(2))
    got = read_run(folder, tmp_path, SITES)
    assert len(got.steps) <= 2


def test_pickles_are_named_and_never_opened(tmp_path):
    folder = write_run(tmp_path / "r")
    (folder / "exp_args.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    (folder / "exp_args.pkl").chmod(0)
    got = read_run(folder, tmp_path, SITES)
    assert "never opened" in got.problems[0].error
    assert len(got.steps) == 2


def test_links_are_named_and_never_followed(tmp_path):
    outside = tmp_path / "outside"
    secret = write_run(outside / "secret")
    root = tmp_path / "root"
    folder = write_run(root / "r")
    (folder / "steps_info_1.json").unlink()
    (folder / "steps_info_1.json").symlink_to(secret / "steps_info_1.json")
    (root / "away").symlink_to(outside)
    (root / "loop").symlink_to(root)
    problems = []
    assert list(find_runs(root, problems)) == [folder]
    assert sorted(p.path for p in problems) == [str(root / "away"), str(root / "loop")]
    got = read_run(folder, root, SITES)
    assert [(p.path, p.error) for p in got.problems] == [
        (str(folder / "steps_info_1.json"), "a symbolic link; links are not followed")
    ]


def test_a_fifo_does_not_hang_the_import(tmp_path):
    folder = write_run(tmp_path / "r")
    (folder / "steps_info_0.json").unlink()
    os.mkfifo(folder / "steps_info_0.json")
    assert "not a regular file" in read_run(folder, tmp_path, SITES).problems[0].error


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path):
    folder = write_run(tmp_path / "r")
    (folder / "steps_info_0.json").chmod(0)
    assert "can't be read" in read_run(folder, tmp_path, SITES).problems[0].error


def test_one_bad_run_does_not_keep_the_others_out(tmp_path, workspace):
    root = tmp_path / "root"
    write_run(root / "good_1")
    bad = root / "bad_2"
    bad.mkdir()
    (bad / "summary_info.json").write_text("{")
    write_run(root / "good_3", steps=3)
    report = import_paths(workspace, [root])
    assert report.imported == 2
    assert {p.path for p in report.failed} == {str(bad), str(bad / "summary_info.json")} or {
        p.path for p in report.failed
    } == {str(bad)}


def test_a_folder_without_runs_a_file_and_a_missing_path_are_named(tmp_path, workspace):
    empty = tmp_path / "empty"
    empty.mkdir()
    file = tmp_path / "file.json"
    file.write_text("{}")
    report = import_paths(workspace, [empty, file, tmp_path / "gone"])
    assert report.imported == 0
    assert [(p.path, p.error.split(",")[0]) for p in report.failed] == [
        (str(empty), "no run was found in this folder"),
        (str(file), "no run was found in this file: JSON of no known format"),
        (str(tmp_path / "gone"), "no such file or folder"),
    ]


def test_an_unknown_format_is_refused(workspace, tmp_path):
    with pytest.raises(InputError, match="auto, agent-reward-bench, atif"):
        import_paths(workspace, [tmp_path], format="zip")
    assert [f.name for f in chosen_formats("auto")] == list(FORMATS)


def test_a_table_of_sites_that_is_none_is_refused():
    with pytest.raises(InputError, match="no table of sites"):
        site_table({"shop": "not a list"})
    assert site_table({"shop": ["*:1"]}).site_of("http://h:1/") == "shop"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
OBS = ("chat_messages", "goal", "last_action", "last_action_error", "open_pages_urls", "open_pages_titles")
OBS += ("active_page_index", "axtree_txt", "pruned_html")


@settings(max_examples=examples(150), deadline=None)
@given(
    obs=st.dictionaries(st.sampled_from(OBS), json_values),
    outer=st.dictionaries(
        st.sampled_from(["action", "stats", "profiling", "task_info", "reward"]), json_values
    ),
)
def test_any_type_in_any_field_still_gives_steps(obs, outer):
    broken = {**record(0), **outer, "obs": {**record(0)["obs"], **obs}}
    reader = StepReader({0: broken, 1: {**record(1), "obs": obs}}, {})
    step = reader.executed(0, last=True)
    assert step.index == 0
    assert reader.after(1).index == 1


@settings(max_examples=examples(300), deadline=None)
@given(st.text())
def test_any_output_of_an_agent_is_read(raw):
    output = read_output(raw)
    assert isinstance(output.reason, str)
    error_class(raw, readable=output.closed, moved_on=False)


@pytest.mark.parametrize(
    ("raw", "kind", "closed"),
    [
        ("<think>a</think><action>\n```click('1')```\n</action>", "click", True),
        ("<think>a</think><action>```click('1')```", "click", False),
        ("<think>a<action>```go_back()```</action>", "go_back", True),
        ("<action></action>", None, False),
        ("", None, False),
        ("just words", None, False),
        ("<action>__import__('os').system('x')</action>", None, True),
        ("<action>click('1'); click('2')</action>", None, True),
    ],
)
def test_outputs_are_read_and_never_run(raw, kind, closed):
    output = read_output(raw)
    assert (output.action.kind if output.action else None, output.closed) == (kind, closed)


def test_arguments_that_json_cannot_hold_become_text():
    action = read_output("<action>click((1, b'x'), 10**2)</action>").action
    assert action is None  # not a plain value
    action = read_output("<action>take_note([1, 2, {3}], 1e999, 99999999999999999999)</action>").action
    assert action is not None
    assert list(action.args.values()) == [[1, 2, "{3}"], "inf", "99999999999999999999"]


def test_an_empty_action_is_the_harnesss_fault():
    assert (
        error_class("ValueError: Received an empty action.", readable=True, moved_on=False)
        is ErrorClass.HARNESS
    )
    assert error_class("", readable=False, moved_on=False) is ErrorClass.HARNESS
    assert error_class("", readable=True, moved_on=False) is ErrorClass.NONE


def test_natural_order_puts_ten_after_nine():
    names = ["s_10", "s_9", "s_1", "s_010", "b", "s_²"]
    assert sorted(names, key=source_files.natural_key)[:4] == ["b", "s_1", "s_9", "s_10"]


@needs_collection
@pytest.mark.shared_data
def test_every_file_of_a_real_run_may_be_cut_off_anywhere(tmp_path):
    root = copy_runs(["webarena/90"], tmp_path / "root")
    folder = root / "webarena" / "results" / "task_90"
    for name in sorted(path.name for path in folder.iterdir()):
        for part in (0.0, 0.3, 0.99):
            broken = tmp_path / f"{name}-{part}"
            shutil.copytree(folder, broken)
            data = (folder / name).read_bytes()
            (broken / name).write_bytes(data[: int(len(data) * part)])
            got = read_run(broken, broken, SITES)
            assert [p.path for p in got.problems] == [str(broken / name)]
            assert 2 <= len(got.steps) <= 3
