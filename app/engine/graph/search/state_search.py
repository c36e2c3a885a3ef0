"""Search over the states of one graph by any of three methods, kept in sync with the graph."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from sys import getsizeof
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.engine.graph.search.late_interaction import LateIndex, Weighting
from app.engine.graph.search.likeness import LEAST, Likeness, likeness, rarity
from app.engine.graph.search.page_text import PageTextIndex
from app.engine.graph.search.state_text import FieldKind, StateField, StateFields, StateText, fields
from app.errors import UsageError
from kb.encoder import Encoder, TokenEncoder
from kb.retrieval import encode_cached
from kb.retrieval.keyword import NEAR_MISS, Vocabulary
from kb.retrieval.terms import query_terms, stems_of, warm_up, words_of
from kb.vectors import VectorCache

WEIGHTS = {FieldKind.TITLE: 3.0, FieldKind.HEADING: 2.5, FieldKind.ADDRESS: 2.0, FieldKind.CONTROL: 1.0}
"""Weight of a word by its field."""

_K1, _B = 1.2, 0.4

TEXT_WORTH = {"late": 0.1, "dense": 0.1, "keyword": 0.01}
"""What a page's text adds to a state's score by a method if it holds all words of the query.

By the methods with an encoder only words count that no title, heading, address or control of the map has: a word that
a heading says is in the texts of many pages that mention it.  By keywords a text only finds what nothing else finds.
"""


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

    def stems(self, node: str) -> set[str]:
        """The stems of a node's words."""
        return set(self._entries[node].counts)

    def holders(self, stem: str) -> set[str]:
        """The nodes that have a word."""
        return self._holders.get(stem, set())

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


MAX_TEXT = 600
"""Maximum characters of a state's text; its first headings describe a page best."""


class DenseIndex:
    """One vector for each state of a graph, of its title, headings and address.

    Controls are left out: one vector for a menu of thirty links and the page beside it points nowhere in particular,
    and finds less (``benchmarks.graph_search``).
    """

    def __init__(self, encoder: Encoder, cache: VectorCache | None = None) -> None:
        self._encoder, self._cache = encoder, cache
        self._fields: dict[str, tuple[StateField, ...]] = {}
        self._nodes: list[str] = []
        self._matrix = np.zeros((0, encoder.dim), dtype=np.float32)

    def update(
        self,
        states: Mapping[str, StateFields],
        gone: Sequence[str] = (),
        progress: Callable[[int, int], Any] | None = None,
    ) -> None:
        """Add the fields of new and changed nodes by id, remove nodes that are gone.

        Blocks for some milliseconds for each text not encoded before.
        """
        for node in gone:
            self._fields.pop(node, None)
        self._fields.update((node, found.fields) for node, found in states.items())
        self._nodes = sorted(self._fields)
        texts = [dense_text(self._fields[node]) for node in self._nodes]
        self._matrix = encode_cached(self._encoder, texts, self._cache, progress)

    def scores(self, query: str) -> tuple[list[str], NDArray[np.float32]]:
        """Return all nodes and their cosines with the query in the same order; no nodes for an empty query."""
        if not query.strip():
            return [], np.zeros(0, dtype=np.float32)
        return self._nodes, self._matrix @ self._encoder.encode([query])[0]

    @property
    def megabytes(self) -> float:
        """Memory of the vectors."""
        return self._matrix.nbytes / 2**20


def dense_text(found: Sequence[StateField]) -> str:
    """The text of a state that is encoded into one vector."""
    return "\n".join(field.text for field in found if field.kind is not FieldKind.CONTROL)[:MAX_TEXT]


LATE, DENSE, KEYWORD = "late", "dense", "keyword"
METHODS = (LATE, DENSE, KEYWORD)
"""Best first."""

ALIKE = 2
"""Results of one template before others come: ten orders of a hundred do not answer "where are orders"."""

CHOICE = 5
"""States among which one is chosen."""

_MOST_WORDS = 8


class StateHit(NamedTuple):
    """One state found.

    ``score`` is comparable within one method only (a mean cosine, a cosine, a BM25 sum); ``matched`` are the state's
    words that matched the query's, best first, each once.
    """

    node: str
    score: float
    matched: tuple[str, ...] = ()


class LikelyStates(NamedTuple):
    """The first states for a description, the best first, and whether it may mean one of them."""

    like: bool
    hits: tuple[tuple[StateHit, Likeness], ...]


class StateSearch:
    """Search over the states of one graph.  Blocks while it encodes; not thread-safe.

    Args:
        encoder: None leaves keyword search; one without token vectors (``TokenEncoder``) adds only dense search.
        cache: persistent cache of vectors, by encoder and content.
    """

    def __init__(
        self,
        encoder: Encoder | None = None,
        cache: VectorCache | None = None,
        weighting: Weighting | None = None,
    ) -> None:
        self._late = LateIndex(encoder, cache, weighting) if isinstance(encoder, TokenEncoder) else None
        self._dense = DenseIndex(encoder, cache) if encoder is not None else None
        self._keyword = StateKeywordIndex()
        self._page_text = PageTextIndex()
        self._states: dict[str, StateText] = {}
        self._kinds = 0
        """Templates of all states."""

    @property
    def methods(self) -> tuple[str, ...]:
        """Available methods, the best first."""
        have = {LATE: self._late is not None, DENSE: self._dense is not None, KEYWORD: True}
        return tuple(method for method in METHODS if have[method])

    def resolve_method(self, method: str) -> str:
        """Return the requested method, or the best available one instead."""
        return method if method in self.methods else self.methods[0]

    def update(self, states: Iterable[StateText], progress: Callable[[int, int], Any] | None = None) -> int:
        """Replace the set of states; return how many were new or changed.

        Only texts never encoded cost time: 1 to 2 ms each.
        """
        now = {state.node: state for state in states}
        gone = [node for node in self._states if node not in now]
        fresh = {node: fields(state) for node, state in now.items() if self._states.get(node) != state}
        if fresh or gone:
            self._page_text.update({node: now[node].text for node in fresh}, gone)
            self._take_in(fresh, gone, progress)
            self._states = now
            self._kinds = len({self._template(node) for node in now})
        return len(fresh)

    def search(self, query: str, method: str = LATE, k: int = 10) -> list[StateHit]:
        """Return the best ``k`` states for a query, best first; equal scores by id.

        Raises:
            UsageError: there is no such method, or no encoder for it.
        """
        return [
            StateHit(node, score, self._matched(query, node, method))
            for node, score in self.ranking(query, method, k)
        ]

    def likely(self, query: str, k: int = CHOICE) -> LikelyStates:
        """Return the first states of the best method, and whether the query may mean one of them."""
        method = self.methods[0]
        hits = self.search(query, method, k)
        told = {kind: self._by_node(query, kind) for kind in (LATE, DENSE) if kind in self.methods}
        terms = query_terms(query)
        worth = {
            stem: weight * rarity(self._kinds_with(stem), self._kinds)
            for stem, weight in terms.weights.items()
        }
        found = [
            (
                self._with_text_matches(hit, query),
                likeness(
                    [by[hit.node] for by in told.values() if hit.node in by],
                    worth,
                    self._stems(hit.node),
                    terms.shown,
                ),
            )
            for hit in hits
        ]
        best = max((like.total for _, like in found[:CHOICE]), default=0.0)
        return LikelyStates(like=best >= LEAST[len(told)], hits=tuple(found))

    def _with_text_matches(self, hit: StateHit, query: str) -> StateHit:
        words = dict.fromkeys(
            word.casefold() for word in (*hit.matched, *self._page_text.matches(query, hit.node))
        )
        return hit._replace(matched=tuple(words)[:_MOST_WORDS])

    def _stems(self, node: str) -> set[str]:
        return self._keyword.stems(node) | self._page_text.stems(node)

    def _kinds_with(self, stem: str) -> int:
        """Return the number of templates of which a state has a word."""
        return len(
            {self._template(node) for node in self._keyword.holders(stem) | self._page_text.holders(stem)}
        )

    def _by_node(self, query: str, method: str) -> dict[str, float]:
        return dict(zip(*self._method_scores(query, method), strict=True))

    def _template(self, node: str) -> str:
        state = self._states[node]
        return state.template or node

    def ranking(self, query: str, method: str, k: int) -> list[tuple[str, float]]:
        """Like ``search``, without the matched words."""
        nodes, scores = self._scores(query, method)
        rounded = [round(float(score), 6) for score in scores]
        order = sorted(range(len(nodes)), key=lambda at: (-rounded[at], nodes[at]))
        return self._spread([(nodes[at], rounded[at]) for at in order], k)

    def _spread(self, ranked: list[tuple[str, float]], k: int) -> list[tuple[str, float]]:
        """The first ``k``, with at most ``ALIKE`` of one template before all others."""
        seen: Counter[str] = Counter()
        first: list[tuple[str, float]] = []
        later: list[tuple[str, float]] = []
        for pair in ranked:
            template = self._template(pair[0])
            seen[template] += 1
            (first if seen[template] <= ALIKE else later).append(pair)
            if len(first) == k:
                break
        return (first + later)[:k]

    def megabytes(self, method: str) -> float:
        """Memory of a method's vectors or tables."""
        index = {LATE: self._late, DENSE: self._dense, KEYWORD: self._keyword}[method]
        return index.megabytes if index is not None else 0.0

    def _take_in(
        self,
        fresh: dict[str, StateFields],
        gone: Sequence[str],
        progress: Callable[[int, int], Any] | None,
    ) -> None:
        self._keyword.update(fresh, gone)
        if self._dense is not None:
            self._dense.update(fresh, gone, progress)
        if self._late is not None:
            self._late.update(fresh, gone, progress)

    def _scores(self, query: str, method: str) -> tuple[list[str], Sequence[float]]:
        """Return nodes and scores of a method, with what the pages' texts add."""
        nodes, scores = self._method_scores(query, method)
        shares = self._page_text.shares(
            query, lambda stem: method == KEYWORD or not self._keyword.holders(stem)
        )
        if not shares or (not nodes and method != KEYWORD):
            return nodes, scores
        found = dict(zip(nodes, scores, strict=True))
        for node, share in shares.items():
            found[node] = found.get(node, 0.0) + TEXT_WORTH[method] * share
        return list(found), list(found.values())

    def _method_scores(self, query: str, method: str) -> tuple[list[str], Sequence[float]]:
        if method == KEYWORD:
            return self._keyword.scores(query)
        if method not in METHODS:
            raise UsageError(f"no search method {method!r}", remedy=f"take one of {', '.join(METHODS)}")
        index = self._late if method == LATE else self._dense
        if index is None:
            raise UsageError(
                f"search method {method!r} needs an encoder{' with token vectors' if method == LATE else ''}",
                remedy=f"take {' or '.join(self.methods)}, or set up the encoder (sitelore doctor)",
            )
        nodes, scores = index.scores(query)
        return nodes, scores.tolist()

    def _matched(self, query: str, node: str, method: str) -> tuple[str, ...]:
        """The matched words; dense search has none, so the words that contain the query's stems are shown."""
        if method != LATE or self._late is None:
            found = (*self._keyword.matches(query, node), *self._page_text.matches(query, node))
            return tuple(dict.fromkeys(found))[:_MOST_WORDS]
        words: dict[str, str] = {}
        for match in self._late.matches(query, node):
            words.setdefault(match.word.casefold(), match.word)
        return tuple(words.values())[:_MOST_WORDS]
