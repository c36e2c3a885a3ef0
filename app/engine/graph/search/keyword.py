"""Keyword search over states: BM25F, that is BM25 over counts weighted by the field of a word.

Needs no model.  Words are split and stemmed as in the knowledge base (``kb.retrieval.terms``); a word that no state
contains may match a word one typo away.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sys import getsizeof

from app.engine.graph.search.state_text import FieldKind, StateField, StateFields
from kb.retrieval.keyword import NEAR_MISS, Vocabulary
from kb.retrieval.terms import query_terms, stems_of, warm_up, words_of

WEIGHTS = {FieldKind.TITLE: 3.0, FieldKind.HEADING: 2.5, FieldKind.ADDRESS: 2.0, FieldKind.CONTROL: 1.0}
"""Weight of a word by its field."""

_K1, _B = 1.2, 0.4


@dataclass(frozen=True, slots=True)
class _Entry:
    """A node's words: weighted count by stem, the first form of each as written, weighted length."""

    counts: dict[str, float]
    forms: dict[str, str]
    length: float


class StateKeywordIndex:
    """Keyword index over the states of one graph."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._holders: dict[str, set[str]] = {}
        self._vocabulary = Vocabulary()

    def update(self, states: Mapping[str, StateFields], gone: Sequence[str] = ()) -> None:
        """Add the fields of new and changed nodes by id, remove nodes that are gone."""
        warm_up(field.text for found in states.values() for field in found.fields)
        for node in (*gone, *states):
            if (old := self._entries.pop(node, None)) is not None:
                for stem in old.counts:
                    self._holders[stem].discard(node)
        for node, found in states.items():
            entry = _entry(found.fields)
            self._entries[node] = entry
            for stem in entry.counts:
                self._holders.setdefault(stem, set()).add(node)
            for stem, form in entry.forms.items():
                self._vocabulary.add(form.casefold(), stem)

    def scores(self, query: str) -> tuple[list[str], list[float]]:
        """Nodes that contain a word of the query, by id, and their scores."""
        found: defaultdict[str, float] = defaultdict(float)
        mean = self._mean_length()
        for stem, weight in self._query_stems(query).items():
            for node in self._holders.get(stem, ()):
                found[node] += weight * self._worth(stem, node, mean)
        nodes = sorted(found)
        return nodes, [found[node] for node in nodes]

    def matches(self, query: str, node: str) -> tuple[str, ...]:
        """The node's words that matched, the one that contributed most first."""
        entry, mean = self._entries[node], self._mean_length()
        brought = {
            entry.forms[stem]: weight * self._worth(stem, node, mean)
            for stem, weight in self._query_stems(query).items()
            if stem in entry.counts
        }
        return tuple(sorted(brought, key=lambda word: (-brought[word], word)))

    @property
    def megabytes(self) -> float:
        """Approximate memory of the tables: the words themselves are shared."""
        tables = [table for entry in self._entries.values() for table in (entry.counts, entry.forms)]
        return sum(map(getsizeof, [*tables, *self._holders.values()])) / 2**20

    def _query_stems(self, query: str) -> dict[str, float]:
        """Stems to look for, with weights: the query's own, or for one that no state contains those one typo away."""
        terms = query_terms(query)
        asked: dict[str, float] = {}
        for stem, percent in terms.weights.items():
            if self._holders.get(stem):
                asked[stem] = percent / 100
                continue
            for near in self._vocabulary.near(terms.shown[stem], stem):
                other = self._vocabulary.stem_of(near)
                asked[other] = max(asked.get(other, 0.0), percent * NEAR_MISS / 10_000)
        return asked

    def _worth(self, stem: str, node: str, mean: float) -> float:
        """BM25 with the weighted count instead of the count."""
        entry = self._entries[node]
        holders, count = len(self._holders[stem]), entry.counts[stem]
        rarity = math.log(1 + (len(self._entries) - holders + 0.5) / (holders + 0.5))
        return rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * entry.length / mean))

    def _mean_length(self) -> float:
        return sum(entry.length for entry in self._entries.values()) / max(len(self._entries), 1) or 1.0


def _entry(found: Sequence[StateField]) -> _Entry:
    counts: defaultdict[str, float] = defaultdict(float)
    forms: dict[str, str] = {}
    for field in found:
        words = words_of(field.text)
        for word, stem in zip(words, stems_of(field.text), strict=True):
            counts[stem] += WEIGHTS[field.kind]
            forms.setdefault(stem, word)
    return _Entry(dict(counts), forms, sum(counts.values()))
