"""The keyword route: BM25 over stemmed words, near misses by rapidfuzz, and labels in quotes.

The score of a goal and a tip is a function of these two alone.  BM25 as FTS5's ``bm25()`` computes it changes with
every tip that is added anywhere (inverse document frequency, mean length), so a threshold on it means something else
every day, a frozen subset would rank differently from the live base, and "where would this tip have been retrieved"
could not be answered without re-indexing.  Here the collection's statistics are constants: a word's weight is its
class (stop word, common word, informative word), the mean length is ``MEAN_LENGTH``; saturation and length
normalisation are BM25's (k1 = 1.2, b = 0.75).  Contributions are added as integers, so the sum does not depend on
their order.

A goal's word of five letters or more that a tip lacks may match a word one edit away (two from eight letters on) with
the same first letter, at ``NEAR_MISS`` percent.  A tip's label ("Show Report") found in the goal adds
``LABEL_BONUS``; a quoted phrase of the goal that differs from a label by a typo counts as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from kb.retrieval.terms import QueryTerms, TipTerms

MEAN_LENGTH = 40
UNIT = 10_000
"""The contribution of one informative word that occurs once in a tip of mean length."""
NEAR_MISS = 60
LABEL_BONUS, SHORT_LABEL_BONUS, MOST_LABELS = UNIT, UNIT // 2, 2 * UNIT
_HALF_WAY = 1.5 * UNIT
_LABEL_LIKENESS = 88


def keyword_scores(raw: NDArray[np.int64]) -> NDArray[np.float64]:
    """Map sums of contributions to [0, 1): one informative word gives 0.4, two 0.57, three 0.67."""
    return np.round(raw / (raw + _HALF_WAY), 4)


@lru_cache(maxsize=4_096)
def contribution(count: int, length: int) -> int:
    """BM25's saturated, length-normalised term frequency, in ``UNIT``s, with the mean length held constant."""
    return round(UNIT * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / MEAN_LENGTH)))


def contributions(tip: TipTerms) -> dict[str, int]:
    """The contribution of each stem of a tip if a goal contains it."""
    return {stem: contribution(count, tip.length) for stem, count in tip.counts.items()}


def label_bonus(label: tuple[str, ...]) -> int:
    """The contribution of a label if the goal contains it."""
    return LABEL_BONUS if len(label) > 1 else SHORT_LABEL_BONUS


def _edits_allowed(word: str) -> int:
    return 0 if len(word) < 5 or not word.isalpha() else 1 if len(word) < 8 else 2


class Vocabulary:
    """Words in buckets of first letter and length, to find near misses without comparing most of them."""

    def __init__(self) -> None:
        self._buckets: dict[tuple[str, int], list[str]] = {}
        self._stems: dict[str, str] = {}
        self._near: dict[str, tuple[str, ...]] = {}

    def add(self, word: str, stem: str) -> None:
        """Add a word; an existing one is left unchanged."""
        if word not in self._stems:
            self._stems[word] = stem
            if _edits_allowed(word):
                self._buckets.setdefault((word[0], len(word)), []).append(word)
                self._near.clear()

    def near(self, word: str, stem: str) -> tuple[str, ...]:
        """Words of other stems that may be a typo of this one, or the other way round."""
        found = self._near.get(word)
        if found is None:
            found = tuple(sorted(self._search(word))) if _edits_allowed(word) else ()
            self._near[word] = found
        return tuple(other for other in found if self._stems[other] != stem)

    def stem_of(self, word: str) -> str:
        """The stem a word was added with."""
        return self._stems[word]

    def _search(self, word: str) -> set[str]:
        found: set[str] = set()
        for length in range(len(word) - 2, len(word) + 3):
            allowed = 1 if min(length, len(word)) < 8 else 2
            bucket = self._buckets.get((word[0], length))
            if bucket and abs(length - len(word)) <= allowed:
                hits = process.extract(word, bucket, scorer=OSA.distance, score_cutoff=allowed, limit=None)
                found.update(other for other, _, _ in hits)
        return found


class Phrases:
    """Labels of many tips, found in a goal by their stems or, if the goal quotes, by similarity of their text."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, ...], list[int]] = {}
        self._texts: dict[str, list[tuple[int, tuple[str, ...]]]] = {}

    def add(self, row: int, labels: Mapping[tuple[str, ...], str]) -> None:
        """Add a row's labels."""
        for stems, text in labels.items():
            self._rows.setdefault(stems, []).append(row)
            self._texts.setdefault(text, []).append((row, stems))

    def found_in(self, query: QueryTerms) -> dict[int, set[tuple[str, ...]]]:
        """The labels the goal contains, by row."""
        found: dict[int, set[tuple[str, ...]]] = {}
        for stems in query.phrases & self._rows.keys():
            for row in self._rows[stems]:
                found.setdefault(row, set()).add(stems)
        for quote in query.quotes:
            hits = process.extract(
                quote, self._texts.keys(), scorer=fuzz.ratio, score_cutoff=_LABEL_LIKENESS, limit=None
            )
            for text, _, _ in hits:
                for row, stems in self._texts[text]:
                    found.setdefault(row, set()).add(stems)
        return found


class Postings:
    """Rows that contain a key and its contribution there, as arrays made on first use."""

    def __init__(self) -> None:
        self._rows: dict[str, list[int]] = {}
        self._worth: dict[str, list[int]] = {}
        self._arrays: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def add(self, key: str, row: int, worth: int) -> None:
        """Add a row that contains the key."""
        self._rows.setdefault(key, []).append(row)
        self._worth.setdefault(key, []).append(worth)
        self._arrays.pop(key, None)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def of(self, key: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and contributions of an existing key."""
        arrays = self._arrays.get(key)
        if arrays is None:
            arrays = (np.array(self._rows[key]), np.array(self._worth[key]))
            self._arrays[key] = arrays
        return arrays


class KeywordIndex:
    """Postings of all tips; rows are appended and never removed (the retriever masks and rebuilds)."""

    def __init__(self) -> None:
        self._stems = Postings()
        self._words = Postings()
        self.vocabulary = Vocabulary()
        self._labels = Phrases()

    def add(self, row: int, tip: TipTerms) -> None:
        """Index a tip under a row number no other tip has."""
        worth = contributions(tip)
        for stem, value in worth.items():
            self._stems.add(stem, row, value)
        for word, stem in tip.forms.items():
            self.vocabulary.add(word, stem)
            if _edits_allowed(word):
                self._words.add(word, row, worth[stem])
        self._labels.add(row, tip.labels)

    def raw_scores(self, query: QueryTerms, size: int) -> NDArray[np.int64]:
        """The sum of contributions of every row; shape (size,)."""
        total = np.zeros(size, dtype=np.int64)
        for stem, weight in query.weights.items():
            near = self.vocabulary.near(query.shown[stem], stem)
            if not near:
                if stem in self._stems:
                    rows, worth = self._stems.of(stem)
                    total[rows] += worth * (weight * 100) // UNIT
                continue
            best = np.zeros(size, dtype=np.int64)
            for word in near:
                # By word, not by stem: another tip's spelling must not count for this one.
                rows, worth = self._words.of(word)
                best[rows] = np.maximum(best[rows], worth * (weight * NEAR_MISS) // UNIT)
            if stem in self._stems:
                rows, worth = self._stems.of(stem)
                best[rows] = np.maximum(best[rows], worth * (weight * 100) // UNIT)
            total += best
        self._add_labels(total, query)
        return total

    def _add_labels(self, total: NDArray[np.int64], query: QueryTerms) -> None:
        for row, labels in self._labels.found_in(query).items():
            total[row] += min(MOST_LABELS, sum(map(label_bonus, labels)))


class GoalIndex:
    """The same score from the other side: one tip against many goals at once, for pre-flight."""

    def __init__(self, goals: Sequence[QueryTerms]) -> None:
        self._columns: dict[tuple[str, str], int] = {}
        self._of_stem: dict[str, list[int]] = {}
        self._vocabulary = Vocabulary()
        self._phrases: dict[tuple[str, ...], list[int]] = {}
        self._quotes: dict[str, list[int]] = {}
        columns: list[int] = []
        weights: list[int] = []
        owners: list[int] = []
        for row, goal in enumerate(goals):
            for stem, weight in goal.weights.items():
                columns.append(self._column(goal.shown[stem], stem))
                weights.append(weight)
                owners.append(row)
            for phrase in goal.phrases:
                self._phrases.setdefault(phrase, []).append(row)
            for quote in goal.quotes:
                self._quotes.setdefault(quote, []).append(row)
        self._size = len(goals)
        self._terms = np.array(columns, dtype=np.int64)
        self._weights = np.array(weights, dtype=np.int64)
        self._owners = np.array(owners, dtype=np.int64)

    def _column(self, word: str, stem: str) -> int:
        """Goals may contain a stem as different words, and those differ in their near misses."""
        column = self._columns.setdefault((word, stem), len(self._columns))
        if column == len(self._columns) - 1:
            self._of_stem.setdefault(stem, []).append(column)
            self._vocabulary.add(word, stem)
        return column

    def raw_scores(self, tip: TipTerms) -> NDArray[np.int64]:
        """The scores that ``KeywordIndex.raw_scores`` would give this tip for every goal; shape (goals,)."""
        exact = np.zeros(len(self._columns), dtype=np.int64)
        near = np.zeros(len(self._columns), dtype=np.int64)
        worth = contributions(tip)
        for stem, own in worth.items():
            exact[self._of_stem.get(stem, [])] = own
        for word, stem in tip.forms.items():
            for other in self._vocabulary.near(word, stem):
                column = self._columns[other, self._vocabulary.stem_of(other)]
                near[column] = max(near[column], worth[stem])
        per_term = np.maximum(
            exact[self._terms] * (self._weights * 100) // UNIT,
            near[self._terms] * (self._weights * NEAR_MISS) // UNIT,
        )
        total = np.zeros(self._size, dtype=np.int64)
        np.add.at(total, self._owners, per_term)
        bonus = np.zeros(self._size, dtype=np.int64)
        for stems, text in tip.labels.items():
            bonus[sorted(self._goals_with(stems, text))] += label_bonus(stems)
        return total + np.minimum(bonus, MOST_LABELS)

    def _goals_with(self, stems: tuple[str, ...], text: str) -> set[int]:
        rows = set(self._phrases.get(stems, ()))
        if self._quotes:
            hits = process.extract(
                text, list(self._quotes), scorer=fuzz.ratio, score_cutoff=_LABEL_LIKENESS, limit=None
            )
            rows.update(row for quote, _, _ in hits for row in self._quotes[quote])
        return rows


def shared_words(
    query: QueryTerms, tip: TipTerms, vocabulary: Vocabulary
) -> tuple[list[str], list[str], list[str]]:
    """Shared words for the why line, near misses ("mileston ~ milestone"), labels found in the goal.

    ``vocabulary`` contains at least the words of the tip.
    """
    shared = [(weight, query.shown[stem]) for stem, weight in query.weights.items() if stem in tip.counts]
    near: list[str] = []
    for stem, word in query.shown.items():
        if stem in tip.counts:
            continue
        others = [other for other in vocabulary.near(word, stem) if other in tip.forms]
        near += [f"{word} ~ {'/'.join(others)}"] if others else []
    phrases = Phrases()
    phrases.add(0, tip.labels)
    labels = sorted(tip.labels[stems] for stems in phrases.found_in(query).get(0, ()))
    return [word for _, word in sorted(shared, key=lambda pair: -pair[0])], near, labels
