"""The browser smoke of ``make test`` runs every module of the browser, the explorer, the agent and supervision."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from tests.support.smoke_coverage import LIST, modules

ROOT = Path(__file__).resolve().parents[2]

NOT_IN_A_SMOKE_TEST = {
    "app/engine/agent/calculator.py": "tests/unit/engine/test_agent_calculator.py",
    "app/engine/agent/flag_review.py": "tests/unit/engine/test_live_judge.py",
    "app/engine/agent/judging/answer_judge.py": "tests/unit/engine/test_rescoring.py",
    "app/engine/agent/judging/cause_question.py": "tests/unit/engine/test_run_causes.py",
    "app/engine/agent/judging/judge.py": "tests/unit/engine/test_agent_judging.py",
    "app/engine/agent/judging/live_judge.py": "tests/unit/engine/test_live_judge.py",
    "app/engine/agent/judging/model_verdicts.py": "tests/unit/engine/test_agent_judging.py",
    "app/engine/agent/judging/questions.py": "tests/unit/engine/test_agent_judging.py",
    "app/engine/agent/llm/alignment.py": "tests/unit/engine/test_agent_alignment.py",
    "app/engine/agent/llm/asked_messages.py": "tests/unit/engine/test_ask_again.py",
    "app/engine/agent/llm/compared_answers.py": "tests/unit/engine/test_ask_again.py",
    "app/engine/agent/memory/notes.py": "tests/unit/engine/test_agent_notes.py",
    "app/engine/agent/judging/when_to_ask.py": "tests/unit/engine/test_rules_of_when_to_ask.py",
    "app/engine/agent/model/role_model.py": "tests/unit/engine/test_learnings.py",
    "app/engine/agent/model/request_errors.py": "tests/unit/engine/test_agent_model_client.py",
    "app/engine/agent/procedures/model_draft.py": "tests/unit/engine/test_model_steps.py",
    "app/engine/agent/scout/map_choice.py": "tests/unit/engine/test_scout_orderings.py",
    "app/engine/agent/write_gate/query_forms.py": "tests/unit/engine/test_agent_action_risk.py",
    "app/engine/agent/tip_query.py": "tests/unit/engine/test_tip_query.py",
    "app/engine/services/supervision/other_processes.py": "tests/unit/engine/test_batches_of_others.py",
    "app/engine/services/supervision/remote_replies.py": "tests/unit/engine/test_batches_of_others.py",
}
"""Modules that meet no browser, with the unit test that runs them."""


def marked(path: Path) -> set[str]:
    """Return the tests of a file that are marked ``smoke``."""
    found: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
            ast.unparse(decorator) == "pytest.mark.smoke" for decorator in node.decorator_list
        ):
            found.add(node.name)
    return found


def test_every_module_is_run_by_a_smoke_test() -> None:
    measured: dict[str, str] = json.loads(LIST.read_text("utf-8"))
    known = set(measured) | set(NOT_IN_A_SMOKE_TEST)
    assert set(modules()) - known == set(), (
        "mark a browser test that runs them with pytest.mark.smoke, then run python -m tests.support.smoke_coverage"
    )


def test_the_list_names_tests_that_are_marked() -> None:
    measured: dict[str, str] = json.loads(LIST.read_text("utf-8"))
    wrong: list[str] = []
    for test in sorted(set(measured.values())):
        file, _, name = test.partition("::")
        if not (ROOT / file).exists() or name not in marked(ROOT / file):
            wrong.append(test)
    wrong += [test for test in NOT_IN_A_SMOKE_TEST.values() if not (ROOT / test.partition("::")[0]).exists()]
    assert wrong == []


def test_the_smoke_is_small() -> None:
    files = [*(ROOT / "tests/integration").glob("test_*.py"), *(ROOT / "tests/e2e").glob("test_*.py")]
    assert 30 <= sum(len(marked(path)) for path in files) <= 60
