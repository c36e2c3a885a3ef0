"""The demo goes round the whole loop on the bundled runs, also where there is no encoder, and can be run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import settings
from app.demo import tour
from app.engine.core.verdicts import Label
from app.engine.engine import Engine
from kb.tip import Route, Status


async def test_the_demo_runs_without_an_encoder_and_reports_the_missing_route(tmp_path: Path):
    engine = await Engine.open(tmp_path / "workspace", author="demo")
    told: list[str] = []
    try:
        report = await tour.run_demo(engine, tmp_path, told.append)
        tip = await engine.tip(report.tip)
        verdicts = (await engine.open_run(tour.JUDGED_RUN)).verdicts
        frozen = await engine.verify(report.frozen)
    finally:
        await engine.aclose()

    assert report.problems == ()
    assert (report.runs, report.failed_runs, report.tokens) == (16, 10, 0)
    assert report.suspect_step == 2, "the first click in vain"
    assert "task-value" in report.refused_by
    assert report.preflight_failed_runs == 2
    by = {shown.route: shown for shown in report.retrieved}
    assert by[Route.URL.value].score > 0
    assert by[Route.KEYWORD.value].score > 0
    assert "off" in by[Route.EMBEDDING.value].why_not
    assert any("off" in line for line in told)
    assert tip.status is Status.ACTIVE
    assert tip.provenance.run == tour.JUDGED_RUN
    assert tip.provenance.screenshot
    assert verdicts[0].label is Label.MISSED_CONSTRAINT
    assert frozen.ok
    assert frozen.tips == 3
    assert report.same_bytes_twice
    assert report.changed_bit_found


async def test_an_unexpected_result_is_a_problem_and_not_an_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tour, "FIRST_TRY", tour.TIP.text)
    engine = await Engine.open(tmp_path / "workspace", author="demo")
    try:
        report = await tour.run_demo(engine, tmp_path, lambda _: None)
    finally:
        await engine.aclose()
    assert not report.ok
    assert report.problems == ("lint accepted a tip with a value of the task",)
    assert tour.as_dict(report)["ok"] is False


def test_a_second_demo_in_the_same_folder_leaves_the_first_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def no_encoder(self: Engine, allow_export: bool = True) -> None:
        return

    monkeypatch.setattr(Engine, "load_encoder", no_encoder)
    first, second = (tour.run_headless(tmp_path, lambda _: None) for _ in range(2))
    assert first.ok
    assert second.ok
    assert first.workspace != second.workspace
    assert first.frozen != second.frozen
    assert Path(first.frozen).read_bytes() == Path(second.frozen).read_bytes(), (
        "the same tips, the same bytes"
    )


async def _delete_one(place: Path) -> None:
    engine = await Engine.open(place)
    await engine.delete_runs([tour.JUDGED_RUN])
    await engine.aclose()


async def _count(place: Path) -> int:
    engine = await Engine.open(place)
    try:
        return (await engine.info()).runs
    finally:
        await engine.aclose()


def test_the_demo_workspace_is_filled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import asyncio

    monkeypatch.setattr(settings, "default_workspace", lambda: tmp_path / "data" / "workspace")
    place = tour.prepare_workspace()
    assert asyncio.run(_count(place)) == 16

    asyncio.run(_delete_one(place))
    assert tour.prepare_workspace() == place

    assert asyncio.run(_count(place)) == 15
