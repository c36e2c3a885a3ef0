"""The list of mutations fits the source: a change that moves a rule's text has to move its mutation along."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.mutation.faults import ALL
from tests.mutation.mutation import Mutation, Stale, stale

ROOT = Path(__file__).resolve().parents[2]


def test_every_mutation_applies_to_exactly_one_place_and_names_tests_that_exist() -> None:
    assert stale(ALL, ROOT) == []


def test_there_are_enough_of_them_and_each_says_which_clause_it_breaks() -> None:
    assert len(ALL) >= 40
    assert sum(one.safety for one in ALL) >= 20
    for one in ALL:
        assert re.fullmatch(r"[a-z0-9-]+", one.name), one.name
        assert re.fullmatch(r"['A-Z].{15,120}\.", one.clause), f"{one.name}: a clause is a sentence"
    assert len({one.clause for one in ALL}) == len(ALL)


FAULTY = (
    ("a text that is gone", {"text": "b = 2"}, "its text is not found in rule.py"),
    ("one that stands twice", {"text": "= 1"}, "its text is found 2 times"),
    ("a file that is gone", {"file": "gone.py"}, "there is no file gone.py"),
    ("tests that are gone", {"tests": ("test_gone.py",)}, "no test file test_gone.py"),
    ("no tests", {"tests": ()}, "no test file is named"),
    ("a change of nothing but words", {"text": "# why", "broken": "# how"}, "would be the same program"),
    ("what is no Python", {"broken": "a = ("}, "would be no Python"),
)


@pytest.mark.parametrize(("fields", "why"), [row[1:] for row in FAULTY], ids=[row[0] for row in FAULTY])
def test_a_mutation_that_can_not_be_applied_is_an_error_that_names_it(
    tmp_path: Path, fields: dict[str, object], why: str
) -> None:
    (tmp_path / "rule.py").write_text("a = 1  # why\nc = 1\n", "utf-8")
    (tmp_path / "test_rule.py").touch()
    usual: dict[str, object] = {
        "name": "the-name", "file": "rule.py", "text": "a = 1", "broken": "a = 3", "clause": "a is 1.",
        "tests": ("test_rule.py",),
    }  # fmt: skip
    mutation = Mutation(**{**usual, **fields})  # type: ignore[arg-type]
    with pytest.raises(Stale, match=f"the-name: .*{why}"):
        mutation.applied(tmp_path)
    assert len(stale([mutation], tmp_path)) == 1
    assert Mutation(**usual).applied(tmp_path) == "a = 3  # why\nc = 1\n"  # type: ignore[arg-type]


def test_two_mutations_of_one_name_are_an_error(tmp_path: Path) -> None:
    assert any("two mutations have this name" in problem for problem in stale([ALL[0], ALL[0]], ROOT))
