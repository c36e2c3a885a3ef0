"""``sitelore prompts`` as a script calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Sitelore


@pytest.fixture
def sitelore(tmp_path: Path) -> Sitelore:
    return Sitelore(tmp_path / "workspace")


def test_a_prompt_is_edited_compared_undone_and_put_back(sitelore: Sitelore, tmp_path: Path):
    file = tmp_path / "selector.md"
    bundled = sitelore("prompts", "show", "selector")
    file.write_text(f"{bundled['text']}\nBe quick.\n", encoding="utf-8")

    mine = sitelore("prompts", "edit", "selector", "--file", str(file))
    assert mine["own"]
    assert sitelore("prompts", "diff", "selector", code=1)["diff"][-1] == "+Be quick."
    assert [row["name"] for row in sitelore("prompts", "list") if row["own"]] == ["selector"]
    assert sitelore("review", "undo")["did"] == "edit prompt 'selector'"
    assert sitelore("prompts", "diff", "selector") == {"prompt": "selector", "diff": []}
    again = sitelore("prompts", "reset", "selector", "--version", mine["digest"][:8])
    assert again["text"] == mine["text"]
    assert not sitelore("prompts", "reset", "selector")["own"]
    assert len(sitelore("prompts", "history", "selector")) == 4


def test_a_file_that_breaks_a_rule_ends_with_exit_code_3(sitelore: Sitelore, tmp_path: Path, capfd):
    file = tmp_path / "selector.md"
    file.write_text("Pick one.", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"selector\.md: the prompt 'selector' can't be used: .*marker"):
        sitelore("prompts", "edit", "selector", "--file", str(file))


def test_a_set_of_actions_is_made_from_others_shown_and_removed(sitelore: Sitelore):
    made = sitelore("prompts", "sets", "add", "reader", "compact", "scroll")
    assert made["calls"] == ["click", "fill", "stop", "take_note", "go_back", "navigate", "scroll"]
    assert [row["name"] for row in sitelore("prompts", "sets")["sets"]] == [
        "compact",
        "standard",
        "all",
        "reader",
    ]
    assert sitelore("prompts", "sets", "show", "reader")["digest"] == made["digest"]
