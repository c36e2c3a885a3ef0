"""Dense search over states: one vector for a state's text, one for the query, their cosine.

The text is title, headings and address.  Controls are left out: one vector for a menu of thirty links and the page
beside it points nowhere in particular, and finds less (``benchmarks.graph_search``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.graph.search.state_text import FieldKind, StateField, StateFields
from kb.encoder import Encoder
from kb.retrieval import encode_cached
from kb.vectors import VectorCache

MAX_TEXT = 600
"""Maximum characters of a state's text; its first headings describe a page best."""


class DenseIndex:
    """One vector for each state of a graph."""

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
