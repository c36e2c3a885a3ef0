"""The condition of a tip, by words: how much of when it applies does the task say?

A tip's conditions are its ``when``, and of the sentences of its text those clauses at the start that say when: "When
the task asks for ...", "To add members to the project, ...".  Each example of one ("such as summing amounts, computing
averages") is a condition too.  The score is the share, by weight, of one condition's
words (``kb.retrieval.terms``) that the task has, the highest of all conditions, in steps of 0.0001; less than half
says nothing.  So a tip of one line and a tip of ten are compared by what they are for, not by how much they say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kb.retrieval.keyword import Postings
from kb.retrieval.terms import QueryTerms, stems_of, word_weight, words_of
from kb.tip import TipDraft

_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
_CLAUSE = re.compile(
    r"^\W*(?:so\s+)?(?:for|if|when|whenever|to|while|in case)\b(.{3,300}?)(?:,|:|\u2014|\*\*|\.|$)",
    re.IGNORECASE,
)
_EXAMPLES = re.compile(
    r"^\W*(?:so\s+)?(?:for|if|when|whenever|to|while|in case)\b.{3,200}?\bsuch\s+as\s+(.{3,300}?)"
    r"(?:\u2014|[):.]|,\s+(?:you|use|please|always|never|do|don't|keep|give|make)\b|$)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r",\s*(?:or\s+)?|\s+or\s+")
_LONGEST = 6_000
_MOST = 12

Ints = NDArray[np.int64]
Condition = dict[str, int]
"""The stems of one condition with their weights."""


def sentences(tip: TipDraft) -> list[str]:
    """The sentences of a tip's text."""
    return _SENTENCE.split(tip.text[:_LONGEST])


def clauses(tip: TipDraft) -> list[str]:
    """The clauses that say when a tip applies, and the examples of each."""
    said = [tip.when] if tip.when.strip() else []
    for sentence in sentences(tip):
        if clause := _CLAUSE.match(sentence):
            said.append(clause[1])
            if examples := _EXAMPLES.match(sentence):
                said += _BETWEEN.split(examples[1])
    return said[:_MOST]


def conditions(tip: TipDraft) -> tuple[Condition, ...]:
    """The conditions of a tip: of each the stems and weights; those of fewer than two words are left out."""
    found: list[Condition] = []
    for text in clauses(tip):
        words = words_of(text)
        weights = {
            stem: weight
            for word, stem in zip(words, stems_of(text), strict=True)
            if (weight := word_weight(word))
        }
        if len(words) > 1 and weights:
            found.append(weights)
    return tuple(found)


def _shares(matched: Ints, whole: Ints) -> NDArray[np.float64]:
    return np.where(2 * matched >= whole, np.round(matched / whole, 4), 0.0)


class ConditionIndex:
    """The conditions of rows, found by their words; rows are appended and never removed."""

    def __init__(self) -> None:
        self._row_of: list[int] = []
        self._whole: list[int] = []
        self._of_stem = Postings()
        self._arrays: tuple[Ints, Ints] | None = None

    def add(self, row: int, found: Sequence[Condition]) -> None:
        """Index a row's conditions."""
        for condition in found:
            for stem, weight in condition.items():
                self._of_stem.add(stem, len(self._row_of), weight)
            self._row_of.append(row)
            self._whole.append(sum(condition.values()))
            self._arrays = None

    def scores(self, query: QueryTerms, size: int) -> NDArray[np.float64]:
        """The condition scores of all rows; shape (size,)."""
        scores = np.zeros(size)
        known = [stem for stem in query.weights if stem in self._of_stem]
        if not known:
            return scores
        if self._arrays is None:
            self._arrays = (np.array(self._row_of, dtype=np.int64), np.array(self._whole, dtype=np.int64))
        rows, whole = self._arrays
        matched = np.zeros(len(rows), dtype=np.int64)
        for stem in known:
            numbers, weights = self._of_stem.of(stem)
            matched[numbers] += weights
        shares = _shares(matched, whole)
        found = np.flatnonzero(shares)
        np.maximum.at(scores, rows[found], shares[found])
        return scores


class GoalConditions:
    """The same score from the other side: one tip against many goals at once, for pre-flight."""

    def __init__(self, goals: Sequence[QueryTerms]) -> None:
        self._size = len(goals)
        self._goals_of: dict[str, list[int]] = {}
        for number, goal in enumerate(goals):
            for stem in goal.weights:
                self._goals_of.setdefault(stem, []).append(number)

    def scores(self, tip: TipDraft) -> NDArray[np.float64]:
        """The condition scores of a tip; shape (goals,)."""
        best = np.zeros(self._size)
        for condition in conditions(tip):
            matched = np.zeros(self._size, dtype=np.int64)
            for stem, weight in condition.items():
                matched[self._goals_of.get(stem, [])] += weight
            best = np.maximum(best, _shares(matched, np.array(sum(condition.values()))))
        return best
