"""Likeness of meaning of two words, from the table that ``tools/word_vectors.py`` makes with the encoder.

The table is read once (some 20,000 words of 64 bytes); no model is loaded.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from app.assets import resource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ONE = 127.0 * 127.0
"""Product of two equal vectors; the bytes are 127 times the vector of length one."""


def word_likeness(one: str, other: str) -> float:
    """Return in [0, 1] how near two words are in meaning; 0 where the table has one of them not."""
    rows, vectors = _table()
    at, to = rows.get(one), rows.get(other)
    if at is None or to is None:
        return 0.0
    return max(0.0, min(1.0, float(vectors[at] @ vectors[to]) / _ONE))


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, int], NDArray[np.float32]]:
    import numpy as np

    with np.load(resource("models", "word_vectors.npz"), allow_pickle=False) as kept:
        found = str(kept["words"]).split("\n")
        vectors: NDArray[np.float32] = kept["vectors"].astype(np.float32)
    return {word: row for row, word in enumerate(found)}, vectors
