"""Late interaction: each word of the query against each word of a state (WebNavigator, equation 4).

    s(q, v) = 1/n * sum over the n query tokens i of  max over the state's tokens l of  q_i . v_l

A state's tokens lie in its fields, and the same field (a menu's "Orders") lies in many states.  So the products are
made once for each *different* field, reduced to the best token of each, and only these maxima are gathered by state:
the cost grows with the different texts of a site, not with states times controls.

Weights.  A product counts in full in title, headings and address and a little less in a control (``WEIGHTS``), and a
control that most states share counts less still (``SHARED``): a link that is everywhere leads to what is asked for, but
is not the place.  ``benchmarks.graph_search`` measures what each of these brings, beside the plain equation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.graph.search.state_text import Field, Kind
from app.engine.graph.search.tokens import PackedTokens, packed_tokens, telling, word_at
from kb.encoder import TokenEncoder
from kb.retrieval.terms import word_weight
from kb.vectors import VectorCache

Scores = NDArray[np.float32]

_AT_ONCE = 4_096
"""Tokens turned back into float32 at a time: 6 MB, within reach of the cache."""


@dataclass(frozen=True, slots=True)
class Weighting:
    """How much a match counts by where it stands.

    Attributes:
        title, heading, address, control: factor of a match in such a field.
        shared: what is taken off a control that every state has; less where fewer have it, in proportion.
    """

    title: float = 1.0
    heading: float = 1.0
    address: float = 1.0
    control: float = 0.9
    shared: float = 0.4

    def of(self, kind: Kind) -> float:
        """The factor of a kind of field."""
        return float(getattr(self, kind.value))


PLAIN = Weighting(control=1.0, shared=0.0)
"""Equation 4 as it stands."""


@dataclass(frozen=True, slots=True)
class Match:
    """A word of the query, the word of the state that answers it best, where it stands, and how alike they are."""

    asked: str
    word: str
    kind: Kind
    text: str
    likeness: float


class _Block:
    """Packed tokens of all different texts, one after the other; grows by doubling."""

    def __init__(self, dim: int) -> None:
        self.values = np.zeros((1_024, dim), dtype=np.int8)
        self.scales = np.zeros(1_024, dtype=np.float32)
        self.spans = np.zeros((1_024, 2), dtype=np.uint16)
        self.size = 0

    def append(self, tokens: PackedTokens) -> None:
        needed = self.size + len(tokens.scales)
        if needed > len(self.scales):
            room = max(needed, 2 * len(self.scales))
            for name in ("values", "scales", "spans"):
                old: Any = getattr(self, name)
                new: Any = np.zeros((room, *old.shape[1:]), dtype=old.dtype)
                new[: self.size] = old[: self.size]
                setattr(self, name, new)
        self.values[self.size : needed] = tokens.values
        self.scales[self.size : needed] = tokens.scales
        self.spans[self.size : needed] = tokens.spans
        self.size = needed

    def products(self, query: NDArray[np.float32], rows: NDArray[np.int64] | None = None) -> Scores:
        """Dot products of all tokens (or some rows) with those of a query, shape (tokens, query tokens)."""
        if rows is not None:
            return self.values[rows].astype(np.float32) @ query.T * self.scales[rows, None]
        out = np.empty((self.size, len(query)), dtype=np.float32)
        for start in range(0, self.size, _AT_ONCE):
            end = min(start + _AT_ONCE, self.size)
            np.matmul(self.values[start:end].astype(np.float32), query.T, out=out[start:end])
        out *= self.scales[: self.size, None]
        return out

    def taken(self, part: slice) -> PackedTokens:
        """Some of the tokens, copied."""
        return PackedTokens(self.spans[part].copy(), self.scales[part].copy(), self.values[part].copy())


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which texts lie in which node: ``gather[i]`` counts ``weights[i]``; a node's entries begin at ``starts``."""

    nodes: list[str]
    gather: NDArray[np.int64]
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]


class LateIndex:
    """The states of one graph, ready for late interaction.  Not for several threads at once."""

    def __init__(
        self, encoder: TokenEncoder, cache: VectorCache | None = None, weighting: Weighting | None = None
    ) -> None:
        self._encoder, self._cache = encoder, cache
        self._weighting = weighting or Weighting()
        self._block = _Block(encoder.dim)
        self._texts: list[str] = []
        self._bounds: list[int] = [0]
        self._number: dict[str, int] = {}
        self._fields: dict[str, tuple[Field, ...]] = {}
        self._layout: _Layout | None = None

    def update(
        self,
        states: Mapping[str, Sequence[Field]],
        gone: Sequence[str] = (),
        progress: Callable[[int, int], Any] | None = None,
    ) -> None:
        """Take in the fields of new and changed nodes by id, forget those that are gone.

        Blocks for 1 to 2 ms a text that was never encoded.
        """
        for node in gone:
            self._fields.pop(node, None)
        new = [text for text in _texts_of(states.values()) if text not in self._number]
        for text, tokens in zip(new, packed_tokens(self._encoder, new, self._cache, progress), strict=True):
            if len(tokens.scales):
                self._add(text, tokens)
        self._fields.update((node, tuple(found)) for node, found in states.items())
        self._layout = None
        if len(self._texts) > 2 * len(_texts_of(self._fields.values())) + 64:
            self._compact()

    def scores(self, query: str) -> tuple[list[str], Scores]:
        """All nodes and their scores in the same order; no nodes for a query without a word."""
        vectors, _ = self._query(query)
        layout = self._laid_out()
        if not len(vectors) or not layout.nodes:
            return [], np.zeros(0, dtype=np.float32)
        return layout.nodes, self._by_state(vectors, layout).mean(axis=1)

    def matches(self, query: str, node: str) -> tuple[Match, ...]:
        """For each telling word of the query the word of the node that answers it best; the likest pair first."""
        vectors, asked = self._query(query)
        told = [at for at, word in enumerate(asked) if word_weight(word.casefold())]
        if told:
            vectors, asked = vectors[told], [asked[at] for at in told]
        known = [field for field in self._fields.get(node, ()) if field.text in self._number]
        if not len(vectors) or not known:
            return ()
        layout = self._laid_out()
        at = layout.nodes.index(node)
        weights = layout.weights[layout.starts[at] :][: len(known)]
        parts = [self._tokens_of(field.text) for field in known]
        rows = np.array([row for part in parts for row in range(part.start, part.stop)], dtype=np.int64)
        owner = np.repeat(np.arange(len(known)), [part.stop - part.start for part in parts])
        products = self._block.products(vectors, rows) * weights[owner][:, None]
        found: dict[str, Match] = {}
        for word, best, likeness in zip(asked, products.argmax(axis=0), products.max(axis=0), strict=True):
            field = known[int(owner[best])]
            start, end = (int(edge) for edge in self._block.spans[rows[best]])
            match = Match(word, word_at(field.text, start, end), field.kind, field.text, float(likeness))
            if word not in found or found[word].likeness < match.likeness:
                found[word] = match
        return tuple(sorted(found.values(), key=lambda match: -match.likeness))

    @property
    def megabytes(self) -> float:
        """Memory of vectors and layout."""
        block, layout = self._block, self._laid_out()
        arrays = (block.values, block.scales, block.spans, layout.gather, layout.weights, layout.starts)
        return sum(array.nbytes for array in arrays) / 2**20

    @property
    def tokens(self) -> int:
        """Token vectors held: those of different texts."""
        return self._block.size

    def _query(self, query: str) -> tuple[NDArray[np.float32], list[str]]:
        """Vectors of the query's telling tokens, and the words they are of."""
        if not query.strip():
            return np.zeros((0, self._encoder.dim), dtype=np.float32), []
        tokens = self._encoder.encode_tokens([query])[0]
        kept = telling(query, tokens)
        return tokens.vectors[kept], [word_at(query, *tokens.spans[at]) for at in kept]

    def _by_state(self, vectors: NDArray[np.float32], layout: _Layout) -> Scores:
        """Best weighted product of each query token in each node, shape (nodes, query tokens)."""
        starts = np.array(self._bounds[:-1], dtype=np.int64)
        by_text: Scores = np.maximum.reduceat(self._block.products(vectors), starts, axis=0)
        entries = by_text[layout.gather] * layout.weights[:, None]
        return np.maximum.reduceat(entries, layout.starts, axis=0)

    def _laid_out(self) -> _Layout:
        if self._layout is None:
            self._layout = self._lay_out()
        return self._layout

    def _lay_out(self) -> _Layout:
        """Nodes by id, so that the answer depends on no order of arrival."""
        nodes: list[str] = []
        gather: list[int] = []
        kinds: list[Kind] = []
        starts: list[int] = []
        for node in sorted(self._fields):
            known = [field for field in self._fields[node] if field.text in self._number]
            if known:
                nodes.append(node)
                starts.append(len(gather))
                gather.extend(self._number[field.text] for field in known)
                kinds.extend(field.kind for field in known)
        return _Layout(
            nodes,
            np.array(gather, dtype=np.int64),
            self._weights(gather, kinds, len(nodes)),
            np.array(starts, dtype=np.int64),
        )

    def _weights(self, gather: list[int], kinds: list[Kind], nodes: int) -> NDArray[np.float32]:
        weighting = self._weighting
        control = np.array([kind is Kind.CONTROL for kind in kinds], dtype=bool)
        held_by = np.bincount(
            np.array(gather, dtype=np.int64)[control], minlength=len(self._texts)
        )  # a field stands once in a node
        share = held_by[gather] / max(nodes, 1)
        weights = np.array([weighting.of(kind) for kind in kinds], dtype=np.float32)
        return np.where(control, weights * (1 - weighting.shared * share), weights).astype(np.float32)

    def _tokens_of(self, text: str) -> slice:
        number = self._number[text]
        return slice(self._bounds[number], self._bounds[number + 1])

    def _add(self, text: str, tokens: PackedTokens) -> None:
        self._number[text] = len(self._texts)
        self._texts.append(text)
        self._block.append(tokens)
        self._bounds.append(self._block.size)

    def _compact(self) -> None:
        """Leave out the texts no node holds any more."""
        block, kept = self._block, sorted(self._number.keys() & _texts_of(self._fields.values()))
        parts = [(text, block.taken(self._tokens_of(text))) for text in kept]
        self._block, self._texts, self._bounds, self._number = _Block(self._encoder.dim), [], [0], {}
        for text, tokens in parts:
            self._add(text, tokens)


def _texts_of(states: Iterable[Sequence[Field]]) -> dict[str, None]:
    """The different texts of some states, in order."""
    return dict.fromkeys(field.text for found in states for field in found)
