"""Search over the states of one graph by any of three methods, kept in sync with the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from app.engine.graph.search.dense import DenseIndex
from app.engine.graph.search.keyword import StateKeywordIndex
from app.engine.graph.search.late_interaction import LateIndex, Weighting
from app.engine.graph.search.state_text import StateFields, StateText, fields
from app.errors import UsageError
from kb.encoder import Encoder, TokenEncoder
from kb.vectors import VectorCache

LATE, DENSE, KEYWORD = "late", "dense", "keyword"
METHODS = (LATE, DENSE, KEYWORD)
"""Best first."""

ALIKE = 2
"""Results of one template before others come: ten orders of a hundred do not answer "where are orders"."""

_MOST_WORDS = 8


class StateHit(NamedTuple):
    """One state found.

    ``score`` is comparable within one method only (a mean cosine, a cosine, a BM25 sum); ``matched`` are the state's
    words that matched the query's, best first, each once.
    """

    node: str
    score: float
    matched: tuple[str, ...] = ()


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
        self._states: dict[str, StateText] = {}

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
            self._take_in(fresh, gone, progress)
            self._states = now
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
            state = self._states[pair[0]]
            template = state.template or state.node
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
            return self._keyword.matches(query, node)[:_MOST_WORDS]
        words: dict[str, str] = {}
        for match in self._late.matches(query, node):
            words.setdefault(match.word.casefold(), match.word)
        return tuple(words.values())[:_MOST_WORDS]
