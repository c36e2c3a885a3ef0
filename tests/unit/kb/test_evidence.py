"""Evidence is only added; the record of a tip follows from it."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kb.evidence import DOWN, UP, Evidence, EvidenceKind, TestOutcome, UseOutcome, latest_test
from kb.freeze import freeze, open_any
from kb.store import KnowledgeBase
from kb.tip import LastTest, Status, TipDraft, TipRecord

DRAFT = TipDraft(site="x", text='Press "Save"', status=Status.ACTIVE)


@pytest.fixture
def kb(tmp_path: Path):
    with KnowledgeBase.open(tmp_path / "knowledge.akb", author="ada", clock=lambda: 7.0) as kb:
        kb.add(DRAFT)
        yield kb


@pytest.fixture
def id(kb: KnowledgeBase) -> str:
    return kb.tips()[0].id


def vote(id: str, outcome: str, by: str = "ada", run: str = "r1") -> Evidence:
    return Evidence(tip=id, revision=1, kind=EvidenceKind.VOTE, outcome=outcome, by=by, run=run)


def use(id: str, outcome: UseOutcome, run: str = "r1", step: int = 1) -> Evidence:
    return Evidence(tip=id, revision=1, kind=EvidenceKind.USE, outcome=outcome, run=run, step=step)


def tried(id: str, outcome: TestOutcome, revision: int = 1) -> Evidence:
    return Evidence(tip=id, revision=revision, kind=EvidenceKind.TEST, outcome=outcome)


USES = {
    UseOutcome.APPLIED: TipRecord(applied=1),
    UseOutcome.DONE: TipRecord(applied=1, done=1),
    UseOutcome.EFFECT: TipRecord(applied=1, done=1, effect=1),
    UseOutcome.FAILED: TipRecord(applied=1, failed=1),
}
TESTS = {
    TestOutcome.HOLDS: TipRecord(tests=1),
    TestOutcome.STOPPED: TipRecord(tests=1),
    TestOutcome.NOT_REACHED: TipRecord(),
    TestOutcome.BROKE: TipRecord(tests=1, broke=1),
}


@pytest.mark.parametrize("outcome", UseOutcome)
def test_a_use_counts_with_all_that_its_outcome_includes(kb: KnowledgeBase, id: str, outcome: UseOutcome):
    assert kb.add_evidence([use(id, outcome)]) == 1
    assert kb.get(id).record == kb.tips()[0].record == USES[outcome]


@pytest.mark.parametrize("outcome", TestOutcome)
def test_a_test_counts_and_a_break_counts_twice(kb: KnowledgeBase, id: str, outcome: TestOutcome):
    assert kb.add_evidence([tried(id, outcome)]) == 1
    assert kb.get(id).record == TESTS[outcome]


@pytest.mark.parametrize(
    ("votes", "up", "down"),
    [
        ([("ada", "r1", UP)], 1, 0),
        ([("ada", "r1", UP), ("ada", "r1", UP)], 1, 0),
        ([("ada", "r1", UP), ("ada", "r1", DOWN)], 0, 1),
        ([("ada", "r1", DOWN), ("ada", "r1", UP)], 1, 0),
        ([("ada", "r1", UP), ("ada", "r1", "")], 0, 0),
        ([("ada", "r1", UP), ("ada", "r2", UP)], 2, 0),
        ([("ada", "r1", UP), ("bob", "r1", DOWN)], 1, 1),
    ],
)
def test_of_the_votes_of_one_person_in_one_run_the_last_counts(
    kb: KnowledgeBase, id: str, votes: list[tuple[str, str, str]], up: int, down: int
):
    for by, run, outcome in votes:
        assert kb.add_evidence([vote(id, outcome, by, run)]) == 1
    assert (kb.get(id).record.up, kb.get(id).record.down) == (up, down)


def test_a_use_is_known_by_tip_run_and_step(kb: KnowledgeBase, id: str):
    other = kb.add(replace(DRAFT, text="Press Go")).id
    first = use(id, UseOutcome.EFFECT)
    assert kb.add_evidence([first, first]) == 1
    assert kb.add_evidence([first, replace(first, outcome=UseOutcome.FAILED, by="bob", revision=2)]) == 0
    assert kb.add_evidence([replace(first, step=2), replace(first, run="r2"), replace(first, tip=other)]) == 3
    assert kb.get(id).record == TipRecord(applied=3, done=3, effect=3)
    assert kb.get(other).record == TipRecord(applied=1, done=1, effect=1)


def test_tests_are_all_kept_and_the_newest_of_the_revision_tells(kb: KnowledgeBase, id: str):
    pieces = [
        tried(id, TestOutcome.BROKE),
        tried(id, TestOutcome.HOLDS),
        tried(id, TestOutcome.BROKE, revision=2),
    ]
    assert kb.add_evidence([*pieces, pieces[0]]) == 4
    kept = kb.evidence(id)
    assert [one.outcome for one in kept] == ["broke", "holds", "broke", "broke"]
    newest = latest_test(kept[:3], 1)
    assert newest is not None
    assert newest.outcome == TestOutcome.HOLDS
    assert latest_test(kept, 3) is None


def test_a_tip_carries_the_newest_test_of_what_it_says_now(kb: KnowledgeBase, id: str, tmp_path: Path):
    def last() -> tuple[LastTest | None, LastTest | None]:
        return kb.get(id).last_test, kb.tips()[0].last_test

    assert last() == (None, None)
    kb.add_evidence([tried(id, TestOutcome.HOLDS), replace(tried(id, TestOutcome.BROKE), step=3, at=9.0)])
    broke = LastTest(outcome="broke", step=3, at=9.0)
    assert last() == (broke, broke)
    kb.set_status([id], Status.SUSPECT)
    assert last() == (broke, broke), "a change of status is no other content"
    kb.edit(id, replace(kb.get(id), why="it is lost otherwise"))
    assert last() == (None, None)
    kb.undo()
    assert last() == (broke, broke)
    kb.set_status([id], Status.ACTIVE)
    freeze(kb, tmp_path / "a.akb")
    with open_any(tmp_path / "a.akb") as frozen:
        assert frozen.get(id).last_test is None


def test_what_is_not_said_is_filled_in_and_what_belongs_to_no_tip_is_left_out(kb: KnowledgeBase, id: str):
    assert kb.add_evidence([vote(id, UP, by=""), vote("x-nowhere", UP)]) == 1
    [kept] = kb.evidence(id)
    assert (kept.by, kept.at, kept.kind, kept.run) == ("ada", 7.0, EvidenceKind.VOTE, "r1")


@pytest.mark.parametrize("statement", ["UPDATE evidence SET outcome = 'up'", "DELETE FROM evidence"])
def test_a_row_is_never_changed(kb: KnowledgeBase, id: str, statement: str):
    kb.add_evidence([vote(id, DOWN)])
    with (
        closing(sqlite3.connect(kb.path)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="for ever"),
    ):
        connection.execute(statement)


def test_undo_does_not_touch_evidence(kb: KnowledgeBase, id: str):
    kb.edit(id, replace(kb.get(id), why="it is lost otherwise"))
    kb.add_evidence([vote(id, UP), tried(id, TestOutcome.HOLDS)])
    deeds = len(kb.journal.entries())
    kb.undo()
    assert kb.get(id).why == ""
    assert kb.get(id).record == TipRecord(up=1, tests=1)
    kb.redo()
    assert kb.get(id).record == TipRecord(up=1, tests=1)
    assert len(kb.journal.entries()) == deeds


def test_the_record_is_frozen_as_it_was(kb: KnowledgeBase, id: str, tmp_path: Path):
    kb.add_evidence([vote(id, UP), use(id, UseOutcome.DONE)])
    freeze(kb, tmp_path / "a.akb")
    kb.add_evidence([vote(id, DOWN)])
    with open_any(tmp_path / "a.akb") as frozen:
        assert frozen.get(id).record == TipRecord(applied=1, done=1, up=1)
        assert frozen.evidence(id) == []
