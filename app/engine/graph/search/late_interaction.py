"""Late interaction: each word of the query against each word of a state (WebNavigator, equation 4).

    s(q, v) = 1/n * sum over the n query tokens i of  max over the state's tokens l of  q_i . v_l

A state's tokens are in its fields, and the same field (a menu's "Orders") is in many states.  So the products are
computed once for each *distinct* field, reduced to the best token of each, and only these maxima are gathered by
state: the cost grows with the distinct texts of a site, not with states times controls.

Weights.  A product counts in full in title, headings and address, less in a control (``Weighting``): a link named
like the query leads to the page, and is not the page.  A text shared by many templates of the site counts less in
every field: what is everywhere distinguishes no states.  Templates are counted and not states, so that a shop of a
thousand products weighs as one of ten.  ``PLAIN`` is the equation without any of this; ``benchmarks.graph_search``
measures the effect of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.graph.search.state_text import FieldKind, StateFields
from app.engine.graph.search.tokens import PackedTokens, informative_tokens, packed_tokens, word_at
from kb.encoder import TokenEncoder
from kb.retrieval.terms import word_weight
from kb.vectors import VectorCache

Scores = NDArray[np.float32]

_DIGITS = 5
"""Digits of a similarity that are the same on every machine."""
_AT_ONCE = 900_000
"""Multiplications per block: the tokens converted to float32 for them stay in the processor's cache, and BLAS
computes so small a product on one thread.  In larger ones its threads wait for each other, on a busy machine
for 0.1 s and more.
"""


@dataclass(frozen=True, slots=True)
class Weighting:
    """Weight of a match by its field.

    Attributes:
        title, heading, address, control: factor of a match in such a field.
        shared: reduction for a text that all templates have; none for one of a single template.
    """

    title: float = 1.0
    heading: float = 1.0
    address: float = 1.0
    control: float = 0.8
    shared: float = 0.5

    def of(self, kind: FieldKind) -> float:
        """The factor of a kind of field."""
        return float(getattr(self, kind.value))


PLAIN = Weighting(control=1.0, shared=0.0)
"""Equation 4 unmodified."""


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """A word of the query, the state's word that matches it best, its field, and their similarity."""

    asked: str
    word: str
    kind: FieldKind
    text: str
    likeness: float


class _Block:
    """Packed tokens of all distinct texts, concatenated."""

    def __init__(self, dim: int) -> None:
        self.values = np.zeros((0, dim), dtype=np.int8)
        self.scales = np.zeros(0, dtype=np.float32)
        self.spans = np.zeros((0, 2), dtype=np.uint16)

    @property
    def size(self) -> int:
        return len(self.scales)

    def extend(self, parts: Sequence[PackedTokens]) -> None:
        self.values = np.concatenate([self.values, *(part.values for part in parts)])
        self.scales = np.concatenate([self.scales, *(part.scales for part in parts)])
        self.spans = np.concatenate([self.spans, *(part.spans for part in parts)])

    def products(self, query: NDArray[np.float32]) -> Scores:
        """Dot products of all tokens with those of a query, shape (tokens, query tokens)."""
        dim = self.values.shape[1]
        columns = np.ascontiguousarray(query.T)
        rows = max(16, _AT_ONCE // (dim * len(query)))
        part = np.empty((rows, dim), dtype=np.float32)
        out = np.empty((self.size, len(query)), dtype=np.float32)
        for start in range(0, self.size, rows):
            end = min(start + rows, self.size)
            np.copyto(part[: end - start], self.values[start:end])
            np.matmul(part[: end - start], columns, out=out[start:end])
        out *= self.scales[:, None]
        return out

    def taken(self, part: slice) -> PackedTokens:
        """A selection of the tokens."""
        return PackedTokens(self.spans[part], self.scales[part], self.values[part])


@dataclass(frozen=True, slots=True)
class _Layout:
    """The texts of each node: ``gather[i]`` counts ``weights[i]``; a node's entries begin at ``starts``."""

    nodes: list[str]
    places: dict[str, slice]
    gather: NDArray[np.int64]
    kinds: list[FieldKind]
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _QueryProducts:
    """A query's informative tokens: the word each belongs to ("" for the model's marks), the products with all
    indexed tokens, shape (tokens, query tokens), and the best of each text.
    """

    words: tuple[str, ...]
    products: Scores
    by_text: Scores


class LateIndex:
    """Late-interaction index over the states of one graph.  Not thread-safe."""

    def __init__(
        self, encoder: TokenEncoder, cache: VectorCache | None = None, weighting: Weighting | None = None
    ) -> None:
        self._encoder, self._cache = encoder, cache
        self._weighting = weighting or Weighting()
        self._block = _Block(encoder.dim)
        self._texts: list[str] = []
        self._bounds: list[int] = [0]
        self._number: dict[str, int] = {}
        self._states: dict[str, StateFields] = {}
        self._layout: _Layout | None = None
        self._last: tuple[str, _QueryProducts] | None = None

    def update(
        self,
        states: Mapping[str, StateFields],
        gone: Sequence[str] = (),
        progress: Callable[[int, int], Any] | None = None,
    ) -> None:
        """Add the fields of new and changed nodes by id, remove nodes that are gone.

        Blocks for 1 to 2 ms for each text not encoded before.
        """
        for node in gone:
            self._states.pop(node, None)
        new = [text for text in _texts_of(states.values()) if text not in self._number]
        self._add(dict(zip(new, packed_tokens(self._encoder, new, self._cache, progress), strict=True)))
        self._states.update(states)
        self._layout = self._last = None
        if len(self._texts) > 2 * len(_texts_of(self._states.values())) + 64:
            self._compact()

    def scores(self, query: str) -> tuple[list[str], Scores]:
        """Return all nodes and their scores in the same order; no nodes for a query without a word."""
        layout, asked = self._laid_out(), self._asked(query)
        if not asked.words or not layout.nodes:
            return [], np.zeros(0, dtype=np.float32)
        entries = asked.by_text[layout.gather] * layout.weights[:, None]
        return layout.nodes, np.maximum.reduceat(entries, layout.starts, axis=0).mean(axis=1)

    def matches(self, query: str, node: str) -> tuple[TokenMatch, ...]:
        """For each informative word of the query the best matching word of the node; the most similar pair first."""
        layout, asked = self._laid_out(), self._asked(query)
        place = layout.places.get(node)
        if not asked.words or place is None:
            return ()
        gather, weights, kinds = layout.gather[place], layout.weights[place], layout.kinds[place]
        entries = asked.by_text[gather] * weights[:, None]
        words = [at for at, word in enumerate(asked.words) if word]
        telling_words = [at for at, word in enumerate(asked.words) if word and word_weight(word.casefold())]
        found: dict[str, TokenMatch] = {}
        for at in telling_words or words:
            best = int(
                entries[:, at].round(_DIGITS).argmax()
            )  # ties stay ties whatever the machine's rounding
            number, likeness = int(gather[best]), float(entries[best, at])
            word = asked.words[at]
            if word not in found or found[word].likeness < likeness:
                text = self._texts[number]
                start, end = self._answer(asked, number, at)
                found[word] = TokenMatch(word, word_at(text, start, end), kinds[best], text, likeness)
        return tuple(sorted(found.values(), key=lambda match: -match.likeness))

    def _answer(self, asked: _QueryProducts, number: int, at: int) -> tuple[int, int]:
        """Position in a text of the word that matches a query token best."""
        first, last = self._bounds[number], self._bounds[number + 1]
        words = first + np.flatnonzero(self._block.spans[first:last, 1])
        row = words[int(asked.products[words, at].round(_DIGITS).argmax())]
        return int(self._block.spans[row, 0]), int(self._block.spans[row, 1])

    @property
    def megabytes(self) -> float:
        """Memory of vectors and layout."""
        block, layout = self._block, self._laid_out()
        arrays = (block.values, block.scales, block.spans, layout.gather, layout.weights, layout.starts)
        return sum(array.nbytes for array in arrays) / 2**20

    @property
    def tokens(self) -> int:
        """Number of token vectors held: those of distinct texts."""
        return self._block.size

    def _asked(self, query: str) -> _QueryProducts:
        """The query's products with all texts; the last query's are cached, because its matches are requested
        next.
        """
        if self._last is None or self._last[0] != query:
            self._last = (query, self._ask(query))
        return self._last[1]

    def _ask(self, query: str) -> _QueryProducts:
        nothing = np.zeros((0, 0), dtype=np.float32)
        if not query.strip() or not self._texts:
            return _QueryProducts((), nothing, nothing)
        tokens = self._encoder.encode_tokens([query])[0]
        kept = informative_tokens(query, tokens)
        if not kept:
            return _QueryProducts((), nothing, nothing)
        products = self._block.products(tokens.vectors[kept])
        by_text: Scores = np.maximum.reduceat(products, np.array(self._bounds[:-1], dtype=np.int64), axis=0)
        spans = [tokens.spans[at] for at in kept]
        words = tuple(word_at(query, *span) if span[1] else "" for span in spans)
        return _QueryProducts(words, products, by_text)

    def _laid_out(self) -> _Layout:
        if self._layout is None:
            self._layout = self._lay_out()
        return self._layout

    def _lay_out(self) -> _Layout:
        """Order nodes by id, so that the result does not depend on the order of arrival."""
        nodes: list[str] = []
        gather: list[int] = []
        kinds: list[FieldKind] = []
        of: list[str] = []
        starts: list[int] = []
        for node in sorted(self._states):
            known = [field for field in self._states[node].fields if field.text in self._number]
            if known:
                nodes.append(node)
                starts.append(len(gather))
                gather.extend(self._number[field.text] for field in known)
                kinds.extend(field.kind for field in known)
                of.extend([self._states[node].template] * len(known))
        numbers = np.array(gather, dtype=np.int64)
        ends = [*starts[1:], len(gather)][: len(starts)]
        return _Layout(
            nodes=nodes,
            places={node: slice(a, b) for node, a, b in zip(nodes, starts, ends, strict=True)},
            gather=numbers,
            kinds=kinds,
            weights=self._weights(numbers, kinds, of),
            starts=np.array(starts, dtype=np.int64),
        )

    def _weights(
        self, gather: NDArray[np.int64], kinds: list[FieldKind], of: list[str]
    ) -> NDArray[np.float32]:
        """``of`` is the template of each entry's node."""
        pairs = {(number, template) for number, template in zip(gather.tolist(), of, strict=True)}
        held_by = np.bincount([number for number, _ in pairs], minlength=len(self._texts) or 1)
        share = (held_by[gather] - 1) / max(len(set(of)) - 1, 1)
        kind = np.array([self._weighting.of(kind) for kind in kinds], dtype=np.float32)
        return (kind * (1 - self._weighting.shared * share)).astype(np.float32)

    def _add(self, tokens: Mapping[str, PackedTokens]) -> None:
        kept = {text: packed for text, packed in tokens.items() if len(packed.scales)}
        for text, packed in kept.items():
            self._number[text] = len(self._texts)
            self._texts.append(text)
            self._bounds.append(self._bounds[-1] + len(packed.scales))
        self._block.extend(list(kept.values()))

    def _compact(self) -> None:
        """Remove the texts of no remaining node."""
        held = _texts_of(self._states.values())
        kept = {
            text: self._block.taken(slice(self._bounds[number], self._bounds[number + 1]))
            for text, number in self._number.items()
            if text in held
        }
        self._block, self._texts, self._bounds, self._number = _Block(self._encoder.dim), [], [0], {}
        self._add(kept)


def _texts_of(states: Iterable[StateFields]) -> dict[str, None]:
    return dict.fromkeys(field.text for state in states for field in state.fields)
