"""The dialect strict says what WebArena-Verified says, and nothing where that can't be asked fairly.

``tests/golden/strict/eval_results.json`` holds results that version 1.2.3 wrote for hand-made responses.  The tests
that run it need its environment: ``sitelore eval strict-setup``, or its folder in ``SITELORE_TEST_STRICT``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from app import settings
from app.engine.core.evaluation.suite import Dialect
from app.engine.core.evaluation.task_score import ScoreVerdict
from app.engine.evaluation.strict.environment import StrictEnvironment, StrictTask
from app.engine.evaluation.strict.final_response import final_response
from app.engine.evaluation.strict.program_run import run_program
from app.engine.evaluation.strict.scoring import score_of_result, strict_score
from app.errors import SiteloreError

RESULTS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "golden" / "strict" / "eval_results.json").read_text("utf-8")
)
PASS, FAIL, OPEN = ScoreVerdict.PASS, ScoreVerdict.FAIL, ScoreVerdict.UNDECIDED
VERSIONS = (
    "webarena-verified 1.2.3"
    ", evaluator 35c3385b1db4b3378657589f95f50defd4234bd36e5b93d44733fd561b01db4e"
    ", data d65275660814663375028e9017e1f929e3c38321041b125795e2713b52243d30"
)

# reading its result


@pytest.mark.parametrize(
    ("name", "missing", "verdict", "why"),
    [
        ("right", (), PASS, "the one check holds"),
        ("wrong", (), FAIL, "Expected: [sprite], Got: [wrong]"),
        ("malformed", (), FAIL, "Expected a structured object, but got: str"),
        ("no_request", (), FAIL, "No matching network event found"),
        ("page_reached", (), PASS, "all 2 checks hold"),
        ("other_host", (), FAIL, "none matched"),
        ("empty_archive", (), OPEN, "Failed to evaluate task 0"),
        # what an evaluator lacked: it says nothing, for or against
        ("no_request", ("", "not recorded"), OPEN, "NetworkEventEvaluator: not recorded"),
        ("page_reached", ("", "not recorded"), OPEN, "NetworkEventEvaluator: not recorded"),
    ],
)
def test_a_recorded_result_is_read(
    name: str, missing: tuple[str, ...], verdict: ScoreVerdict, why: str
) -> None:
    score = score_of_result(RESULTS[name], missing)
    assert score.verdict is verdict
    assert score.score == {PASS: 1.0, FAIL: 0.0, OPEN: None}[verdict]
    assert why in score.why
    assert (score.dialect, score.evaluator) == (Dialect.STRICT, VERSIONS)
    assert len(score.checks) == len(RESULTS[name]["evaluators_results"])


def test_a_wrong_response_fails_whatever_else_is_missing() -> None:
    rows = [RESULTS["wrong"]["evaluators_results"][0], RESULTS["no_request"]["evaluators_results"][1]]
    score = score_of_result({**RESULTS["wrong"], "evaluators_results": rows}, ("", "not recorded"))
    assert (score.verdict, score.checks[1].score) == (FAIL, None)


def test_a_request_that_must_not_exist_is_told_as_such() -> None:
    row = {**RESULTS["page_reached"]["evaluators_results"][1], "should_not_exist": True}
    (check,) = score_of_result({"evaluators_results": [row]}, ()).checks
    assert check.expected.startswith("no request like ")


def test_an_evaluator_that_broke_leaves_the_verdict_open() -> None:
    row = {"evaluator_name": "AgentResponseEvaluator", "status": "error", "score": 0.0, "error_msg": "boom"}
    score = score_of_result({"evaluators_results": [row]}, ())
    assert (score.verdict, score.checks[0].why) == (OPEN, "it could not be evaluated: boom")


@pytest.mark.parametrize(
    "result", [{}, {"evaluators_results": 7}, {"evaluators_results": [7, None]}, {"error_msg": ["x"]}]
)
def test_a_result_of_another_form_is_no_verdict(result: dict[str, Any]) -> None:
    assert score_of_result(result, ()).verdict is OPEN


# the final response

ONE = StrictTask(kind="RETRIEVE", names=(), succeeds=True, answers=1, plain=True, unrecorded=((),))
SEVERAL = StrictTask(kind="RETRIEVE", names=(), succeeds=True, answers=3, plain=True, unrecorded=((),))
OBJECTS = StrictTask(kind="RETRIEVE", names=(), succeeds=True, answers=1, plain=False, unrecorded=((),))
NOT_THERE = StrictTask(kind="RETRIEVE", names=(), succeeds=False, answers=0, plain=True, unrecorded=((),))
GO = StrictTask(kind="NAVIGATE", names=(), succeeds=True, answers=0, plain=False, unrecorded=((),))
CHANGE = StrictTask(kind="MUTATE", names=(), succeeds=True, answers=0, plain=False, unrecorded=((),))
WHOLE = '{"task_type": "NAVIGATE", "status": "SUCCESS", "retrieved_data": null, "error_details": null}'
WRAPPED = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["42"], "error_details": None}


@pytest.mark.parametrize("task", [ONE, SEVERAL, OBJECTS, NOT_THERE, GO, CHANGE])
@pytest.mark.parametrize(
    "answer", [WHOLE, f"```json\n{WHOLE}\n```", f"Done.\n```\n{WHOLE}\n```", f" {WHOLE}\n"]
)
def test_a_response_in_its_form_is_passed_on_as_it_is(task: StrictTask, answer: str) -> None:
    assert final_response(task, answer) == (answer.strip(), "")


def test_a_plain_answer_is_the_one_value_that_was_asked_for() -> None:
    response, why = final_response(ONE, " 42 ")
    assert (json.loads(response or ""), why) == (WRAPPED, "")


@pytest.mark.parametrize("task", [SEVERAL, OBJECTS, NOT_THERE, GO, CHANGE])
@pytest.mark.parametrize(
    "answer", ["42", "[1, 2]", '{"status": "SUCCESS"}', "7", "```json\nnothing\n```", "{" * 9999]
)
def test_a_plain_answer_to_another_task_is_not_made_into_a_response(task: StrictTask, answer: str) -> None:
    response, why = final_response(task, answer)
    assert response is None
    assert "the answer is plain text" in why


@pytest.mark.parametrize("task", [ONE, SEVERAL, OBJECTS, NOT_THERE, GO, CHANGE])
@pytest.mark.parametrize("answer", [None, "", "  "])
def test_no_answer_is_passed_on_as_none(task: StrictTask, answer: str | None) -> None:
    assert final_response(task, answer) == ("null", "")


@pytest.mark.parametrize("task", [ONE, SEVERAL, OBJECTS, GO, CHANGE])
def test_giving_up_a_task_that_can_be_done_is_no_success(task: StrictTask) -> None:
    response, _ = final_response(task, "no such order", infeasible=True)
    assert json.loads(response or "")["status"] == "UNKNOWN_ERROR"


def test_giving_up_a_task_that_can_not_be_done_names_no_status() -> None:
    response, why = final_response(NOT_THERE, "no such order", infeasible=True)
    assert response is None
    assert "not by which status" in why


# the program


async def test_without_its_environment_the_verdict_is_open(tmp_path: Path) -> None:
    score = await strict_score("0", "42", False, None, StrictEnvironment(tmp_path))
    assert (score.verdict, score.dialect) == (OPEN, Dialect.STRICT)
    assert score.why == "webarena-verified 1.2.3 is not installed: sitelore eval strict-setup"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
async def test_a_program_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    child = "import os, pathlib, time; pathlib.Path('child').write_text(str(os.getpid())); time.sleep(60)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(SiteloreError, match="took longer than 3 s"):
        await run_program([sys.executable, "-c", parent], tmp_path, 3.0)
    process = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 20
    while _is_running(process):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_running(process: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_a_program_gets_none_of_the_users_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITELORE_SECRET_X", "hush-hush")
    told = await run_program([sys.executable, "-c", "import os; print(dict(os.environ))"], tmp_path, 30.0)
    assert told.code == 0
    assert "hush-hush" not in told.output


async def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SiteloreError, match="can't be started"):
        await run_program([str(tmp_path / "nothing")], tmp_path, 3.0)


# the real one


@pytest.fixture(scope="module")
def real() -> StrictEnvironment:
    """The installed program."""
    folder = os.environ.get("SITELORE_TEST_STRICT", "")
    found = StrictEnvironment(Path(folder)) if folder else StrictEnvironment.in_cache(settings.cache_dir())
    if not found.is_ready:
        pytest.skip("webarena-verified is not installed: sitelore eval strict-setup")
    return found


BASES = {"__GITLAB__": "http://gitlab.test:8023", "__SHOPPING_ADMIN__": "http://shop.test:7780/admin"}
SAID = '{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["Quest Lumaflex\\u2122 Band"]}'
CHANGED = '{"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": null}'


def _requests(*urls: str) -> dict[str, Any]:
    return {
        "log": {
            "version": "1.2",
            "entries": [
                {
                    "request": {
                        "method": "GET",
                        "url": url,
                        "headers": [{"name": "accept", "value": "text/html"}],
                        "cookies": [],
                    },
                    "response": {
                        "status": 200,
                        "headers": [],
                        "cookies": [],
                        "content": {},
                        "redirectURL": "",
                    },
                }
                for url in urls
            ],
        }
    }


TODOS = _requests("http://gitlab.test:8023/", "http://gitlab.test:8023/dashboard/todos")


@pytest.mark.parametrize(
    ("task", "answer", "har", "bases", "verdict", "why"),
    [
        ("0", SAID, None, {}, PASS, "the one check holds"),
        ("0", "Quest Lumaflex Band", None, {}, PASS, "the one check holds"),
        ("0", "Sprite", None, {}, FAIL, "Got: [sprite]"),
        ("0", None, None, {}, FAIL, "got None"),
        ("0", WHOLE, None, {}, FAIL, "Expected retrieve"),
        ("21", "nobody", None, {}, OPEN, "the answer is plain text"),
        ("44", WHOLE, TODOS, BASES, PASS, "all 2 checks hold"),
        ("44", WHOLE, _requests("http://gitlab.test:8023/"), BASES, FAIL, "No matching network event"),
        ("44", WHOLE, None, BASES, OPEN, "the run's requests were not recorded"),
        ("44", WHOLE, TODOS, {}, OPEN, "the table of sites has no address for __GITLAB__"),
        ("44", SAID, None, BASES, FAIL, "Expected navigate"),
        ("389", CHANGED, TODOS, BASES, OPEN, "it asks for post_data, which evidence does not hold"),
        ("9999", "x", None, {}, OPEN, "has no task '9999'"),
    ],
)
async def test_the_real_program_decides(
    real: StrictEnvironment,
    task: str,
    answer: str | None,
    har: dict[str, Any] | None,
    bases: dict[str, str],
    verdict: ScoreVerdict,
    why: str,
) -> None:
    score = await strict_score(task, answer, False, har, real, bases)
    assert score.verdict is verdict
    assert why in score.why


def test_its_tasks_are_known(real: StrictEnvironment) -> None:
    tasks = real.tasks()
    assert len(tasks) == 812
    assert tasks["44"].kind == "NAVIGATE"
    kinds = [task.kind for task in tasks.values()]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "RETRIEVE": 325,
        "MUTATE": 374,
        "NAVIGATE": 113,
    }
