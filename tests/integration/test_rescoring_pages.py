"""Runs whose task is decided by their last page are scored again in a browser, and never pass by mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.engine.core.evaluation.suite import Evaluator
from app.engine.engine import Engine
from tests.support.runs import COLLECTION, needs_collection, record, summary, write_run
from tests.support.suite_files import WEBCHOREARENA, WEBNAVIGATOR, needs_suites, webarena_task, write_json

pytestmark = pytest.mark.browser


@pytest.fixture
async def engine(tmp_path):
    opened = await Engine.open(tmp_path / "w", "mina")
    yield opened
    await opened.aclose()


def target(locator: str, text: str) -> dict[str, Any]:
    return {"url": "last", "locator": locator, "required_contents": {"exact_match": text}}


TARGETS = [
    (target("document.querySelector('button').outerText", "save 1"), 1.0, "pass"),
    (target("document.querySelector('button').outerText", "other"), 0.0, "fail"),
    (target("document.querySelector('input').value", "x"), 0.0, "fail"),
    (target("document.querySelector('input').value", ""), None, "undecided"),
    (target("document.querySelector('button').value", ""), None, "undecided"),
]


async def test_a_locator_is_read_in_the_stored_page(engine: Engine, tmp_path: Path) -> None:
    tasks = []
    for number, (one, _, _) in enumerate(TARGETS):
        task = webarena_task(number)
        task["eval"] = {**task["eval"], "eval_types": ["program_html"], "program_html": [one]}
        tasks.append(task)
        folder = tmp_path / "runs" / "webarena" / "results" / f"task_{number}"
        write_run(folder, {0: record(0), 1: record(1)}, summary(1))
    suite = write_json(tmp_path / "test.raw.json", tasks)
    rows = await engine.rescore_folder(str(tmp_path / "runs"), str(suite))
    found = {row.task: (row.score, row.verdict) for row in rows}
    assert found == {str(number): (score, verdict) for number, (_, score, verdict) in enumerate(TARGETS)}


async def test_without_a_browser_they_are_undecided(engine: Engine, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("SITELORE_BROWSER", str(tmp_path / "no-such-browser"))
    task = webarena_task(0)
    task["eval"] = {**task["eval"], "eval_types": ["program_html"], "program_html": [TARGETS[0][0]]}
    suite = write_json(tmp_path / "test.raw.json", [task])
    write_run(tmp_path / "webarena" / "results" / "task_0", {0: record(0), 1: record(1)}, summary(1))
    (row,) = await engine.rescore_folder(str(tmp_path / "webarena"), str(suite))
    assert row.verdict == "undecided"
    assert "browser" in row.why


@needs_collection
@needs_suites
@pytest.mark.parametrize("suite", [WEBNAVIGATOR, WEBCHOREARENA])
async def test_published_runs_are_rescored_to_the_digit(engine: Engine, suite: Path) -> None:
    rows = await engine.rescore_folder(str(COLLECTION), str(suite), "webchorearena")
    decided = [row for row in rows if row.score is not None]
    assert len(decided) >= 15
    assert [row for row in decided if row.score == 1 and row.recorded != 1] == []
    exact = [row for row in decided if Evaluator.HTML not in row.evaluators]
    assert [row for row in exact if row.score != pytest.approx(row.recorded, abs=1e-6)] == []
    open_ = [
        row for row in rows if row.score is None and row.evaluators and Evaluator.HTML not in row.evaluators
    ]
    assert {row.why.partition(" (")[0] for row in open_} <= {
        "no judge model was asked",
        "the page after the last step was not recorded",
    }
