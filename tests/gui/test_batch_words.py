"""Words of a batch in the window: those of the terminal in English, and every one of them translated."""

from __future__ import annotations

import re

import pytest

from app.engine.core.batch import BatchRow
from app.engine.core.cost import Cost
from app.engine.services.supervision.batch_rules import Spending, budget_problem
from app.engine.services.supervision.batch_runner import NO_PROCESS
from app.models.live import batch_words
from app.models.live.batch_words import progress_words, reason_words, spent_words


def batch(**fields: object) -> BatchRow:
    return BatchRow(id="b", name="Night", total=812, **fields)  # type: ignore[arg-type]


ROWS = (
    batch(),
    batch(answered=3, failed=2, needy=1, waiting=806),
    batch(answered=37, needy=4, cost=Cost(known=12.4), max_money=50.0, tokens=12_400),
    batch(cost=Cost(known=0.5, unpriced=(("m", 2),)), tokens=7, max_tokens=50_000),
    batch(cost=Cost(unpriced=(("m", 2),)), max_money=1.0),
)
REASONS = (
    "paused by 7",
    "stopped by 7",
    NO_PROCESS,
    budget_problem(Spending(tokens=60), 0.0, 50),
    budget_problem(Spending(money=6.0), 5.0, 0),
    budget_problem(Spending(is_known=False), 5.0, 0),
    "$4.99 of $5.00: too little is left for the next answer; raise the budget",
    "40 of 50 tokens: too little is left for the next answer; raise the budget",
    "3 runs in a row could not begin; the last, of task 9: 404",
)


@pytest.fixture
def translated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another language, which has no Latin letter."""
    monkeypatch.setattr(batch_words, "tr", lambda text: re.sub(r"[A-Za-z]+", "ж", text))


def latin(text: str) -> str:
    return "".join(re.findall(r"[A-Za-z]", text))


@pytest.mark.parametrize("row", ROWS)
def test_the_progress_reads_as_in_the_terminal(row: BatchRow) -> None:
    assert progress_words(row) == row.words
    assert spent_words(row) == " · ".join(part for part in (row.money_words, row.token_words) if part)


@pytest.mark.parametrize("row", ROWS)
def test_the_progress_is_translated_whole(row: BatchRow, translated: None) -> None:
    assert latin(progress_words(row) + spent_words(row)) == ""


@pytest.mark.parametrize("why", REASONS)
def test_a_reason_of_the_engine_is_translated(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert why
    assert reason_words(batch(why=why)) == why
    monkeypatch.setattr(batch_words, "tr", lambda text: re.sub(r"[A-Za-z]+", "ж", text))
    assert latin(reason_words(batch(why=why))) == ""


def test_a_reason_that_only_its_author_knows_stays_as_it_is(translated: None) -> None:
    assert reason_words(batch(why="the disk is full {0}")) == "the disk is full {0}"
    assert reason_words(batch(why="paused by {1} of $5")).endswith("{1} of $5")
    assert reason_words(batch()) == ""
