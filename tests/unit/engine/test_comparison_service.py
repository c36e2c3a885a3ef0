"""Comparisons from folders: tasks, verdicts and frozen files beside the journals; credit is kept until one changes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import main
from app.engine.core.evaluation.episode import EvaluationJournal
from app.engine.engine import Engine
from app.engine.services.comparison import ComparisonService
from app.engine.store.evaluation_files import EvaluationFolder
from app.engine.store.run_files import write_run_folder
from app.errors import InputError, NotFound, UsageError
from kb.tip import Status, TipDraft
from tests.support.journals import AKB, NONE, journal_of, record, shown, templates
from tests.support.runs import make_run


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)


def written(journal: EvaluationJournal, folder: Path) -> Path:
    """Write a journal as the folder of an evaluation."""
    found = EvaluationFolder(folder)
    found.take()
    found.begin(journal.head)
    for one in journal.records:
        found.append(one)
    found.release()
    return folder


@pytest.fixture
async def engine(tmp_path: Path):
    opened = await Engine.open(tmp_path / "workspace", "ana")
    yield opened
    await opened.aclose()


def in_workspace(tmp_path: Path, name: str) -> Path:
    return tmp_path / "workspace" / "evaluations" / name


async def test_folders_are_compared(engine: Engine, tmp_path: Path):
    one = written(journal_of(templates(10, {"none": "-", "akb": "+"})), tmp_path / "june")
    found = await engine.compare_evaluations([str(one)])
    assert found.verdicts[0].answer == "better"
    assert found.heads[0].name == "june"
    twice = await engine.compare_evaluations([str(one), f"{one}/../june"])
    assert twice.pairs == found.pairs  # the same folder is no second repeat


async def test_what_can_not_be_compared_is_one_sentence(engine: Engine, tmp_path: Path):
    one = written(journal_of({"1/0": {"none": "-", "akb": "+"}}), tmp_path / "one")
    other = written(journal_of({"1/0": {"none": "-"}}, dialect="strict"), tmp_path / "other")
    with pytest.raises(UsageError, match="have other dialects"):
        await engine.compare_evaluations([str(one), str(other)])
    with pytest.raises(NotFound):
        await engine.compare_evaluations([str(tmp_path / "nowhere")])


async def test_a_record_that_says_another_score_than_its_run_is_refused(engine: Engine, tmp_path: Path):
    journal = journal_of(templates(10, {"none": "-", "akb": "+"}))
    run = replace(make_run("run-1", score=0.0), step_count=0)
    named = replace(journal.records[0], run=run.id)
    folder = written(replace(journal, records=(named, *journal.records[1:])), tmp_path / "june")
    write_run_folder(folder / "runs" / run.id, replace(run, score=named.score), (), {})
    assert (await engine.compare_evaluations([str(folder)])).verdicts
    written_run = folder / "runs" / run.id / "run.json"
    written_run.write_bytes(written_run.read_bytes().replace(b'"score": 0.0', b'"score": 1.0'))
    with pytest.raises(InputError, match="its run run-1 says a score of 1"):
        await engine.compare_evaluations([str(folder)])


async def frozen_pair(engine: Engine, tmp_path: Path) -> tuple[str, str, str, str]:
    """Return two frozen files that differ by one tip, their hashes included, and that tip."""
    text = "Open 'Reports', then 'Bestsellers': the dashboard shows the last 24 hours only."
    tip = (await engine.save_tip(TipDraft(site="shop", text=text))).id
    other = (await engine.save_tip(TipDraft(site="shop", text="Open 'My Orders' in the menu at the top."))).id
    await engine.set_status([tip, other], Status.ACTIVE)
    both, less = tmp_path / "both.akb", tmp_path / "less.akb"
    report = await engine.freeze(str(both))
    without = await engine.kb_without(str(both), tip, str(less))
    assert (report.tips, without.tips) == (2, 1)
    return tip, report.sha256, without.sha256, text


async def test_a_tip_is_credited_by_leaving_it_out(engine: Engine, tmp_path: Path):
    tip, sha256, less_sha256, text = await frozen_pair(engine, tmp_path)
    arms = (
        replace(AKB, name="less", kb=str(tmp_path / "less.akb"), kb_sha256=less_sha256),
        replace(AKB, kb=str(tmp_path / "both.akb"), kb_sha256=sha256),
    )
    journal = journal_of(templates(9, {"less": "-", "akb": "+"}), arms, fields={"akb": shown(tip)})
    written(journal, in_workspace(tmp_path, "june"))
    assert [(row.tip, row.method, row.verdict, row.text) for row in await engine.tip_credits()] == [
        (tip, "left out", "helps", text)
    ]
    found = await engine.compare_evaluations([str(in_workspace(tmp_path, "june"))], "akb", "less")
    table = found.tables[-1]
    assert table.title == "Stored steps in which akb gives other tips than less"
    assert table.rows == (("0", "0", "0"),)  # nothing is stored here yet


async def test_files_that_are_gone_cost_their_part_only(engine: Engine, tmp_path: Path):
    arms = (NONE, replace(AKB, kb=str(tmp_path / "gone.akb")))
    journal = journal_of(templates(9, {"none": "-", "akb": "+"}), arms, fields={"akb": shown("shop-1")})
    written(journal, in_workspace(tmp_path, "june"))
    written(journal_of({"1/0": {"none": "+"}}, (NONE,)), in_workspace(tmp_path, "broken"))
    (in_workspace(tmp_path, "broken") / "journal.jsonl").write_text("no record\n")
    (row,) = await engine.tip_credits()
    assert (row.tip, row.text, row.verdict) == ("shop-1", "", "helps")


async def test_credit_is_counted_again_only_when_a_journal_changed(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = in_workspace(tmp_path, "june")
    written(
        journal_of({"1/0": {"none": "-", "akb": "+"}}, fields={"akb": shown("t")}, more_tasks=["2/0"]), folder
    )
    counted = []
    real = ComparisonService._credit

    async def counting(self: ComparisonService, folders: list[str]):
        counted.append(folders)
        return await real(self, folders)

    monkeypatch.setattr(ComparisonService, "_credit", counting)
    assert [row.retrieved for row in await engine.tip_credits()] == [1]
    assert [row.retrieved for row in await engine.tip_credits()] == [1]
    assert len(counted) == 1
    EvaluationFolder(folder).append(record("2/0", "akb", "+", **shown("t")))
    EvaluationFolder(folder).append(record("2/0", "none", "+"))
    assert [row.retrieved for row in await engine.tip_credits()] == [2]
    assert len(counted) == 2


async def test_without_evaluations_no_tip_has_credit(engine: Engine):
    assert await engine.tip_credits() == []


def said(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str, code: int = 0) -> str:
    """Return what the command line prints."""
    assert main(["--workspace", str(tmp_path / "workspace"), *arguments]) == code
    return capsys.readouterr().out


def test_the_command_line_compares_and_prints_the_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = str(written(journal_of(templates(10, {"none": "-", "akb": "+"})), tmp_path / "june"))
    text = said(capsys, tmp_path, "eval", "compare", folder, "--pairs")
    assert "akb against none: better by 100 points" in text
    assert "site shop" in text
    document = json.loads(said(capsys, tmp_path, "eval", "compare", folder, "--json"))
    assert document["verdicts"][0]["answer"] == "better"
    assert len(document["pairs"]) == 20
    said(capsys, tmp_path, "eval", "compare", folder, "--arm", "nobody", code=2)


def test_the_command_line_plans_before_the_first_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    document = json.loads(said(capsys, tmp_path, "eval", "power", "--templates", "87", "--json"))
    ten = next(one for one in document["effects"] if one["effect"] == 0.1)
    assert ten["templates_for_80_percent"] == 87
    assert ten["power"] >= 0.8
    assert "10 points" in said(capsys, tmp_path, "eval", "power")


def test_tips_are_listed_with_their_credit(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    added = said(capsys, tmp_path, "tip", "add", "--site", "shop", "--text", "Sort first.", "--json")
    tip = json.loads(added)["id"]
    (before,) = json.loads(said(capsys, tmp_path, "tip", "list", "--json"))
    assert before["credit"] is None
    journal = journal_of(templates(9, {"none": "-", "akb": "+"}), fields={"akb": shown(tip)})
    written(journal, in_workspace(tmp_path, "june"))
    (listed,) = json.loads(said(capsys, tmp_path, "tip", "list", "--json"))
    assert listed["credit"]["verdict"] == "helps"
    assert "+1.00" in said(capsys, tmp_path, "tip", "list")


def test_a_frozen_file_without_a_tip_is_written_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    text = "Open 'My Orders' first."
    tip = json.loads(said(capsys, tmp_path, "tip", "add", "--site", "shop", "--text", text, "--json"))["id"]
    out, less = str(tmp_path / "june.akb"), str(tmp_path / "less.akb")
    said(capsys, tmp_path, "kb", "freeze", out, "--include", "draft")
    assert json.loads(said(capsys, tmp_path, "kb", "without", out, tip, less, "--json"))["tips"] == 0
    said(capsys, tmp_path, "kb", "without", out, "nobody", less, code=1)
