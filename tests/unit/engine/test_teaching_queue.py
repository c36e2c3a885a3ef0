"""The engine asks what teaches most, and its ranking follows verdicts on similar goals."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.cli.root import run as command_line
from app.engine.api.run_rows import RunFilter
from app.engine.core.verdicts import Label
from app.engine.engine import Engine
from app.engine.store.workspace import Workspace
from tests.support.runs import make_run, make_step

TEACH = RunFilter(order="teach")


def _goal(number: int) -> str:
    return f"Sum the totals of order {number}" if number % 2 else f"Open the page of product {number}"


def _fill(place: Path, numbers: range) -> None:
    with Workspace.open(place) as workspace:
        for number in numbers:
            run = make_run(
                f"run-{number:02d}",
                site="shop",
                task_id=str(number),
                intent=_goal(number),
                score=0.0 if number % 2 else 1.0,
                step_count=1,
            )
            workspace.runs.add(run, [make_step()], {})
        workspace.rebuild_index()


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    _fill(tmp_path / "w", range(40))
    opened = await Engine.open(tmp_path / "w", author="mina")
    await opened.detect()
    yield opened
    await opened.aclose()


async def _judge(engine: Engine, runs: list[str]) -> None:
    for run in runs:
        failed = int(run.removeprefix("run-")) % 2 == 1
        await engine.give_verdict(run, Label.WRONG_ANSWER if failed else Label.NOT_A_FAILURE)
    await engine._review.settle()  # pyright: ignore[reportPrivateUsage]


async def test_the_queue_begins_with_the_run_that_stands_for_most_and_says_so(engine: Engine):
    rows = await engine.list_runs(TEACH)
    assert len(rows) == 40
    assert [row.teaches for row in rows[:3]] == ["stands for 19 runs with similar goals"] * 2 + [""]
    assert _goal(int(rows[0].id[-2:]))[:3] != _goal(int(rows[1].id[-2:]))[:3], "a goal of each kind"
    assert not any(row.teaches for row in await engine.list_runs(RunFilter(order="risk")))


async def test_passed_runs_are_asked_about_and_judged_ones_stand_last(engine: Engine):
    asked: list[str] = []
    for _ in range(4):
        row = await engine.next_to_review(asked[-1] if asked else "", which=TEACH)
        assert row is not None
        assert row.id not in asked
        asked.append(row.id)
        await _judge(engine, [row.id])
    assert {int(run[-2:]) % 2 for run in asked} == {0, 1}
    assert {row.id for row in (await engine.list_runs(TEACH))[-4:]} == set(asked)


async def test_who_passes_over_a_run_is_asked_about_the_next_one(engine: Engine):
    rows = await engine.list_runs(TEACH)
    after = await engine.next_to_review(rows[0].id, which=TEACH)
    assert after is not None
    assert after.id == rows[1].id


async def test_a_filter_holds_in_teaching_order(engine: Engine):
    rows = await engine.list_runs(RunFilter(order="teach", passed=True))
    assert len(rows) == 20
    assert all(row.score == 1.0 for row in rows)
    assert await engine.next_to_review(which=RunFilter(order="teach", site="nowhere")) is None


async def test_from_twenty_verdicts_on_a_run_is_risky_whose_goal_is_like_those_that_failed(engine: Engine):
    judged = [f"run-{number:02d}" for number in range(20)]
    await _judge(engine, judged[:19])
    before = await engine.open_run("run-31")
    assert (await engine.risk_report()).in_use == "built-in"

    await _judge(engine, judged[19:])

    report = await engine.risk_report()
    assert (report.in_use, report.judged_failed, report.judged_passed) == ("similar goals", 10, 10)
    assert report.auroc_similar is not None
    assert report.auroc_similar > 0.9
    assert "with similar goals" in report.why
    bad, good = await engine.open_run("run-31"), await engine.open_run("run-30")
    assert bad.risk.value > before.risk.value > good.risk.value
    assert "10 of 10 judged runs with similar goals failed" in bad.risk.reasons
    assert "None of 10 judged runs with similar goals failed" in good.risk.reasons
    riskiest = await engine.list_runs(RunFilter(order="risk", unjudged=True))
    assert all(int(row.id[-2:]) % 2 for row in riskiest[:10])

    await engine.detect(["run-31"])  # by its flags alone at first
    await engine._review.settle()  # pyright: ignore[reportPrivateUsage]
    assert (await engine.open_run("run-31")).risk == bad.risk

    await engine.undo()
    await engine._review.settle()  # pyright: ignore[reportPrivateUsage]
    assert (await engine.open_run("run-31")).risk == before.risk


async def test_a_ranking_by_similar_goals_is_there_after_a_restart(engine: Engine, tmp_path: Path):
    await _judge(engine, [f"run-{number:02d}" for number in range(20)])
    report, row = await engine.risk_report(), (await engine.open_run("run-31")).risk
    await engine.aclose()
    again = await Engine.open(tmp_path / "w", author="mina")
    try:
        assert await again.risk_report() == report
        assert (await again.open_run("run-31")).risk == row
    finally:
        await again.aclose()


def test_the_command_line_asks_what_teaches_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    _fill(tmp_path / "w", range(6))
    here = ["--workspace", str(tmp_path / "w")]
    assert command_line([*here, "detect"]) == 0
    capsys.readouterr()
    assert command_line([*here, "review", "next", "--teach"]) == 0
    assert "why this one: stands for 2 runs with similar goals" in capsys.readouterr().out
    assert command_line([*here, "runs", "list", "--order", "teach", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["teaches"] == "stands for 2 runs with similar goals"
    assert command_line([*here, "review", "scores"]) == 0
    assert "ranking: The built-in ranking is in use: verdicts on similar goals" in capsys.readouterr().out
