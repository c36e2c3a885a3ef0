"""The whole prompts of every role at three steps are those that were reviewed."""

from __future__ import annotations

import pytest

from app.engine.agent.llm.prompting import bundled_prompts
from app.engine.core.model_api import AgentRole
from tests.support.golden_prompts import FOLDER, MARKER, golden_prompts

RENEW = "review the change, then: python -m tests.support.golden_prompts --write"


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return golden_prompts()


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.txt")))
def test_a_prompt_is_the_one_that_was_reviewed(made: dict[str, str], name: str):
    assert made.get(name) == (FOLDER / name).read_text("utf-8"), RENEW


def test_no_prompt_is_without_a_file(made: dict[str, str]):
    assert set(made) == {path.name for path in FOLDER.glob("*.txt")}, RENEW


def test_every_role_that_asks_a_model_is_among_them(made: dict[str, str]):
    roles = {name.partition("-")[0] for name in made}
    asking = {role.value for role in AgentRole} - {"orchestrator", "larger vision", "judge"}
    assert roles >= asking | {"judge_step", "judge_outcome", "judge_answer", "judge_reason"}


def test_a_second_run_gives_the_same_prompts(made: dict[str, str]):
    assert golden_prompts() == made


@pytest.mark.parametrize("name", bundled_prompts().texts)
def test_every_bundled_prompt_but_the_short_one_of_vision_is_seen_in_one_of_them(
    made: dict[str, str], name: str
):
    beginning = bundled_prompts().texts[name][:60]
    assert name == "vision_compact" or any(beginning in text for text in made.values())


def test_no_placeholder_is_left_and_every_site_text_has_the_marker(made: dict[str, str]):
    for text in made.values():
        assert "{{" not in text
        assert MARKER in text
