"""The expected outcome of a run: rules, recorded score, and the verdict of its suite's own rules on its records."""

import json
from pathlib import Path

import pytest

from app.cli import main
from app.engine.engine import Engine
from app.engine.store.workspace import Workspace
from tests.support.runs import make_run, make_step
from tests.support.suite_files import own_suite, webarena_task, write_json


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with a right run, a wrong one, one whose task needs a judge, and one that no suite knows."""
    folder = tmp_path / "workspace"
    with Workspace.open(folder) as workspace:
        for id, task, score, answer in (
            ("right", "1", 1.0, "Zora Quill"),
            ("wrong", "1", 0.0, "Ada Finch"),
            ("judged", "2", None, "It was Zora"),
            ("unknown", "99", 0.0, "Zora Quill"),
        ):
            run = make_run(
                id, suite="webarena", task_id=task, score=score, intent="Who wrote the review?", site="shopping",
                step_count=1, answer=answer,
            )  # fmt: skip
            workspace.runs.add(run, [make_step(index=0)], {})
        workspace.rebuild_index()
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    fuzzy = {"reference_answers": {"fuzzy_match": ["Zora Quill"]}}
    return write_json(tmp_path / "test.raw.json", [webarena_task(1), webarena_task(2, eval=fuzzy)])


@pytest.fixture
async def engine(place: Path):
    opened = await Engine.open(place, author="mina")
    yield opened
    await opened.aclose()


@pytest.mark.parametrize(
    ("run", "recorded", "verdict", "score"),
    [("right", 1.0, "pass", 1.0), ("wrong", 0.0, "fail", 0.0), ("judged", None, "undecided", None)],
)
async def test_the_verdict_stands_beside_the_recorded_score(engine, file, run, recorded, verdict, score):
    await engine.add_suite(str(file))
    outcome = await engine.expected_outcome(run)
    assert (outcome.suite, outcome.hidden, outcome.recorded) == ("webarena", False, recorded)
    assert outcome.expected
    assert (outcome.score.verdict, outcome.score.score) == (verdict, score)
    assert outcome.score.checks[0].evaluator in ("string_match", "fuzzy_match")
    assert outcome.score.why or verdict == "pass"
    assert outcome.score.suite_sha256 == (await engine.suites())[0].sha256


async def test_a_blind_suite_shows_neither_rules_nor_verdict(engine, file):
    await engine.add_suite(str(file), blind=True)
    outcome = await engine.expected_outcome("wrong")
    assert outcome.hidden
    assert (outcome.expected, outcome.score) == ((), None)
    assert "Zora" not in repr(outcome)


async def test_a_run_of_a_task_that_no_suite_knows_has_none(engine, file):
    assert await engine.expected_outcome("wrong") is None
    await engine.add_suite(str(file))
    assert await engine.expected_outcome("unknown") is None


async def test_a_task_without_an_oracle_is_undecided(engine, tmp_path):
    task = {"id": "1", "intent": "Who wrote the review?", "sites": ["shopping"]}
    await engine.add_suite(str(write_json(tmp_path / "webarena.json", own_suite(task))), "webarena")
    outcome = await engine.expected_outcome("right")
    assert outcome.expected == ()
    assert outcome.score.verdict == "undecided"


def shown(place: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert main(["--workspace", str(place), "runs", "show", "wrong", *more]) == 0
    return capsys.readouterr().out


def test_the_command_line_shows_it(place: Path, file: Path, capsys: pytest.CaptureFixture[str]):
    assert "expected" not in shown(place, capsys)
    assert json.loads(shown(place, capsys, "--json"))["expected"] is None
    assert main(["--workspace", str(place), "suite", "add", str(file)]) == 0
    capsys.readouterr()
    text = shown(place, capsys)
    assert "expected: the answer is exactly “Zora Quill”" in text
    assert "fail by the rules webarena: " in text
    assert "  0 string_match: " in text
    document = json.loads(shown(place, capsys, "--json"))
    assert document["expected"]["score"]["verdict"] == "fail"
    assert document["steps"]
    assert main(["--workspace", str(place), "suite", "add", str(file), "--blind"]) == 0
    capsys.readouterr()
    assert "expected: hidden, the suite webarena is blind" in shown(place, capsys)
    assert "Zora" not in shown(place, capsys, "--json")
