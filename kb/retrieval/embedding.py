"""The embedding route: cosine over all vectors at once, in integers.

Vectors are rounded to multiples of 1/2048 and kept as whole numbers in float32.  All products and partial sums then
stay below 2**24 (Cauchy-Schwarz), where float32 holds whole numbers exactly: a score is the same bit for bit whatever
the order of tips, the size of the batch, or the BLAS of the machine.  Rounding moves a cosine by about 0.0003.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from kb.encoder import Encoder
from kb.vectors import VectorCache

_SCALE = 2_048

Matrix = NDArray[np.float32]


def content_key(text: str) -> str:
    """The key of a text's vector: a hash of the text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def whole_numbers(vectors: Matrix) -> Matrix:
    """Normalised vectors, shape (n, dim), as whole multiples of 1/2048."""
    return np.rint(vectors * _SCALE).astype(np.float32)


def cosines(dots: Matrix) -> NDArray[np.float64]:
    """Cosines from the dot products of ``whole_numbers``, in steps of 0.0001, at most 1.

    One of exactly 0 is unknown: one of the texts has no vector.  A known one that is not above 0 is 0.0001.
    """
    scores: NDArray[np.float64] = np.minimum(dots.astype(np.float64) / _SCALE**2, 1.0)
    return np.where(dots == 0, 0.0, np.maximum(np.round(scores, 4), 0.0001))


def encode_cached(
    encoder: Encoder,
    texts: Sequence[str],
    vectors: VectorCache | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Matrix:
    """Vectors of all texts, shape (n, dim): cached, or encoded and then cached.

    Blocks for about 1 ms a short text that is not cached.  A cached vector of the wrong size is encoded again.
    """
    keys = [content_key(text) for text in texts]
    out = np.zeros((len(texts), encoder.dim), dtype=np.float32)
    cached = vectors.get_many(encoder.id, list(dict.fromkeys(keys))) if vectors and keys else {}
    cached = {key: blob for key, blob in cached.items() if len(blob) == 4 * encoder.dim}
    todo: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        if key in cached:
            out[row] = np.frombuffer(cached[key], dtype="<f4")
        else:
            todo.setdefault(key, []).append(row)
    pending = list(todo.items())
    for start in range(0, len(pending), 64):
        chunk = pending[start : start + 64]
        fresh = encoder.encode([texts[rows[0]] for _, rows in chunk])
        for (_, rows), vector in zip(chunk, fresh, strict=True):
            out[rows] = vector
        if vectors is not None:
            named = {key: row.astype("<f4").tobytes() for (key, _), row in zip(chunk, fresh, strict=True)}
            vectors.put_many(encoder.id, named)
        if progress is not None:
            progress(min(start + 64, len(pending)), len(pending))
    return out


def cached_vectors(
    encoder: Encoder, texts: Sequence[str], vectors: VectorCache | None
) -> tuple[Matrix, NDArray[np.bool_]]:
    """Vectors of all texts that are cached, shape (n, dim), zeros for the others; and which those are."""
    keys = [content_key(text) for text in texts]
    out = np.zeros((len(texts), encoder.dim), dtype=np.float32)
    known = np.zeros(len(texts), dtype=bool)
    cached = vectors.get_many(encoder.id, list(dict.fromkeys(keys))) if vectors and keys else {}
    for row, key in enumerate(keys):
        if len(cached.get(key, b"")) == 4 * encoder.dim:
            out[row], known[row] = np.frombuffer(cached[key], dtype="<f4"), True
    return out, known


class VectorMatrix:
    """Vectors of all rows in one contiguous block that grows by doubling; shape (size, dim)."""

    def __init__(self, dim: int) -> None:
        self._block = np.zeros((64, dim), dtype=np.float32)
        self._few = np.empty((0, dim), dtype=np.float32)
        self._size = 0

    def append(self, vectors: Matrix) -> None:
        """Add rows at the end."""
        needed = self._size + len(vectors)
        if needed > len(self._block):
            block = np.zeros((max(needed, 2 * len(self._block)), self._block.shape[1]), dtype=np.float32)
            block[: self._size] = self._block[: self._size]
            self._block = block
        self._block[self._size : needed] = whole_numbers(vectors)
        self._size = needed

    def replace(self, rows: Sequence[int], vectors: Matrix) -> None:
        """Replace the vectors of some rows."""
        self._block[list(rows)] = whole_numbers(vectors)

    def scores(self, vector: Matrix, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines of some rows with one normalised vector of shape (dim,).

        One product over the whole block, or over a copy of the rows if they are few: reading dominates the cost.
        """
        query = whole_numbers(vector)
        if len(rows) * 3 < self._size:
            if len(rows) > len(self._few):
                self._few = np.empty((2 * len(rows), self._block.shape[1]), dtype=np.float32)
            few = self._few[: len(rows)]
            np.take(self._block, rows, axis=0, out=few, mode="clip")
            return cosines(few @ query)
        return cosines((self._block[: self._size] @ query)[rows])
