"""The folder of an evaluation: what a kill, a second process and other versions leave."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from app.engine.core.evaluation.episode import Arm, EpisodeKey, EpisodeRecord, EvaluationHead, TipInEpisode
from app.engine.core.evaluation.task_score import ScoreVerdict
from app.engine.store.evaluation_files import EvaluationFolder, KnownEvaluations
from app.errors import Conflict, InputError, NotFound

HEAD = EvaluationHead(
    name="june",
    suite="shop",
    suite_sha256="1" * 64,
    dialect="sitelore",
    policy="scout",
    arms=(Arm(name="none"), Arm(name="akb", kb="/f/june.akb", kb_sha256="2" * 64, tips=3)),
    tasks=("a", "b"),
    options=(("engine", "local"),),
    begun_at=5.5,
)


def _record(task: str, arm: str = "none", **values) -> EpisodeRecord:
    return EpisodeRecord(
        key=EpisodeKey(task=task, repeat=0, arm=arm),
        cluster="shop:t",
        sites=("shop",),
        verdict=ScoreVerdict.PASS,
        score=1.0,
        tips=(TipInEpisode(tip="shop-1", shown=2, followed=1),),
        actions=("click",),
        **values,
    )


@pytest.fixture
def folder(tmp_path: Path) -> EvaluationFolder:
    folder = EvaluationFolder(tmp_path / "june")
    folder.take()
    folder.begin(HEAD)
    return folder


def test_head_and_records_come_back_as_they_were(folder: EvaluationFolder):
    records = (_record("a"), _record("b", "akb", money=None, seconds=2.5))
    for record in records:
        folder.append(record)
    journal = EvaluationFolder(folder.path).journal()
    assert (journal.head, journal.records, journal.notes) == (HEAD, records, ())


def test_the_last_record_of_an_episode_counts(folder: EvaluationFolder):
    folder.append(_record("a", error="the site is down"))
    folder.append(_record("b"))
    folder.append(_record("a", seconds=3.0))
    assert folder.journal().records == (_record("b"), _record("a", seconds=3.0))


def test_a_line_that_a_kill_cut_off_is_left_out_with_a_note_and_removed_before_the_next(folder):
    folder.append(_record("a"))
    file = folder.path / "journal.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:40])
    journal = folder.journal()
    assert [record.key.task for record in journal.records] == ["a"]
    assert "cut off" in journal.notes[0]
    folder.repair(journal)
    assert file.read_bytes() == whole
    folder.append(_record("b"))
    assert [record.key.task for record in folder.journal().records] == ["a", "b"]


def test_runs_that_no_record_names_are_removed(folder: EvaluationFolder):
    folder.append(_record("a", run="kept"))
    for name in ("kept", "orphan", ".draft"):
        (folder.runs / name).mkdir()
    folder.repair(folder.journal())
    assert [path.name for path in folder.runs.iterdir()] == ["kept"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{}", "line 1 is of version None"),
        (b'{"version": 2}', "line 1 is of version 2"),
        (b"[1]", "line 1 is damaged: no object"),
        (b"{", "line 1 is damaged"),
        (b'{"version": 1, "cluster": "c"}', "line 1 is damaged: key"),
        (b'{"version": 1, "cluster": "c", "key": {"task": "a", "repeat": "x", "arm": "n"}}', "key.repeat"),
    ],
)
def test_a_damaged_line_and_one_of_another_version_are_named(folder: EvaluationFolder, line, why):
    folder.append(_record("a"))
    file = folder.path / "journal.jsonl"
    file.write_bytes(line + b"\n" + file.read_bytes())
    with pytest.raises(InputError, match=why.replace(".", r"\.")) as refused:
        folder.journal()
    assert "journal.jsonl" in str(refused.value)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": 99}, "newer Sitelore"),
        ({"form": "other"}, "not an evaluation"),
        ({"tasks": 3}, "tasks"),
    ],
)
def test_a_head_that_is_none_is_refused(folder: EvaluationFolder, change, why):
    file = folder.path / "evaluation.json"
    file.write_bytes(orjson.dumps({**orjson.loads(file.read_bytes()), **change}))
    with pytest.raises(InputError, match=why):
        folder.journal()


def test_a_folder_without_an_evaluation_is_not_found(tmp_path: Path):
    with pytest.raises(NotFound):
        EvaluationFolder(tmp_path).journal()


def test_one_process_at_a_time_runs_an_evaluation(folder: EvaluationFolder):
    other = EvaluationFolder(folder.path)
    assert other.is_running
    with pytest.raises(Conflict, match="another process is running"):
        other.take()
    folder.release()
    assert not other.is_running
    other.take()
    other.release()


def test_a_head_is_written_once(folder: EvaluationFolder):
    with pytest.raises(Conflict, match="holds an evaluation already"):
        folder.begin(replace(HEAD, name="july"))


def test_stopping_is_asked_across_processes_and_over_with_the_next_start(folder: EvaluationFolder):
    EvaluationFolder(folder.path).ask_to_stop()
    assert folder.stop_asked
    folder.release()
    folder.take()
    assert not folder.stop_asked
    folder.release()


def test_a_workspace_knows_its_own_evaluations_and_remembers_others(tmp_path: Path):
    known = KnownEvaluations(tmp_path / "workspace")
    (tmp_path / "workspace" / "evaluations").mkdir(parents=True)
    own, other = known.own_folder("june"), tmp_path / "elsewhere"
    for path in (own, other):
        folder = EvaluationFolder(path)
        folder.take()
        folder.begin(HEAD)
        folder.release()
        known.remember(path)
    assert KnownEvaluations(tmp_path / "workspace").folders() == [own, other]
    known.forget(own)
    known.forget(other)
    assert known.folders() == []
    assert (own / "evaluation.json").exists()
    assert (other / "evaluation.json").exists()
    known.remember(own)
    assert known.folders() == [own]
    with pytest.raises(NotFound):
        known.forget(other)


@pytest.mark.parametrize("name", ["runs", "workers"])
def test_a_folder_with_runs_of_others_is_refused_and_keeps_them(tmp_path: Path, name: str):
    (tmp_path / "mine" / name / "important").mkdir(parents=True)
    folder = EvaluationFolder(tmp_path / "mine")
    folder.take()
    with pytest.raises(Conflict, match=rf"files of something else \({name}\); choose another folder"):
        folder.begin(HEAD)
    assert (tmp_path / "mine" / name / "important").is_dir()
    assert not (tmp_path / "mine" / "evaluation.json").exists()


def test_a_new_evaluation_begins_where_one_was_killed_before_its_head_was_written(tmp_path: Path):
    folder = EvaluationFolder(tmp_path)
    folder.take()
    folder.runs.mkdir()
    (tmp_path / "journal.jsonl").touch()
    folder.begin(HEAD)
    assert folder.head() == HEAD


def test_runs_that_are_elsewhere_by_a_link_are_not_removed(folder: EvaluationFolder, tmp_path: Path):
    (tmp_path / "mine" / "important").mkdir(parents=True)
    folder.runs.rmdir()
    folder.runs.symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="may not be a link"):
        folder.repair(folder.journal())
    assert (tmp_path / "mine" / "important").is_dir()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"arms": []}, "its arms have no names of their own"),
        ({"arms": [{"name": "none"}, {"name": "none"}]}, "its arms have no names of their own"),
        ({"repeats": 0}, "its episodes are none"),
        ({"repeats": 10**9}, "or more than 2,000,000"),
        ({"options": [["workers", "many"]]}, "one of its options is no number"),
        ({"options": [["max_money", "nan"]]}, "its max_money is no number"),
    ],
)
def test_a_head_of_no_evaluation_that_could_be_run_is_refused(folder: EvaluationFolder, values, why):
    path = folder.path / "evaluation.json"
    path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), **values}))
    with pytest.raises(InputError, match=why):
        folder.journal()
