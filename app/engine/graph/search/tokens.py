"""Token vectors of short texts, packed small: one byte a component, one scale a token.

A token vector has unit length; stored as integers from -127 to 127 times the token's own scale, a dot product with
another unit vector changes by less than 0.005.

Kept are a text's words and the model's own marks (``[CLS]``, ``[SEP]``), which represent the text as a whole; without
them fewer states are found among the first ten.  Punctuation is left out.  ``benchmarks.graph_search`` measures both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kb.encoder import TokenEncoder, TokenVectors
from kb.retrieval import content_key
from kb.vectors import VectorCache

CACHE_FORM = "tokens.3"
"""Prefix of a text's key in the cache, because the same text may have a dense vector; changes with the packing."""

_PIECE = 64
_LARGEST = 127


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """The informative tokens of one text.

    Attributes:
        spans: shape (tokens, 2), characters of the text each token covers; 0, 0 for the model's marks.
        scales: shape (tokens,).
        values: shape (tokens, dim); times ``scales`` they are the token's vector.
    """

    spans: NDArray[np.uint16]
    scales: NDArray[np.float32]
    values: NDArray[np.int8]

    def to_bytes(self) -> bytes:
        """Serialise as number of tokens, spans, scales, values; little-endian."""
        head = np.array([len(self.scales)], dtype="<u2")
        return b"".join(
            (
                head.tobytes(),
                self.spans.astype("<u2").tobytes(),
                self.scales.astype("<f4").tobytes(),
                self.values.tobytes(),
            )
        )

    @classmethod
    def from_bytes(cls, blob: bytes, dim: int) -> PackedTokens | None:
        """Read the output of ``to_bytes``; None for bytes of another length, as of another model."""
        if len(blob) < 2:
            return None
        count = int(np.frombuffer(blob, "<u2", 1)[0])
        if len(blob) != 2 + count * (4 + 4 + dim):
            return None
        spans = np.frombuffer(blob, "<u2", 2 * count, 2).reshape(count, 2)
        scales = np.frombuffer(blob, "<f4", count, 2 + 4 * count)
        values = np.frombuffer(blob, np.int8, count * dim, 2 + 8 * count).reshape(count, dim)
        return cls(spans.astype(np.uint16), scales.astype(np.float32), values)


def informative_tokens(text: str, tokens: TokenVectors) -> list[int]:
    """Positions of the tokens that contain a letter or digit, and of the marks around them.

    Of a text without any, those that cover something; of an empty one, none.
    """
    standing = [at for at, (start, end) in enumerate(tokens.spans) if end > start]
    words = {at for at in standing if any(map(str.isalnum, text[slice(*tokens.spans[at])]))} or {*standing}
    marks = {at for at, (start, end) in enumerate(tokens.spans) if end == start}
    return sorted(words | marks) if words else []


def pack_tokens(text: str, tokens: TokenVectors) -> PackedTokens:
    """Keep the informative tokens of a text, rounded."""
    kept = informative_tokens(text, tokens)
    vectors = tokens.vectors[kept]
    largest: NDArray[np.float32] = np.abs(vectors).max(axis=1, initial=1e-9).astype(np.float32)
    scales = largest / _LARGEST
    values = np.rint(vectors / scales[:, None]).astype(np.int8)
    spans = np.array([tokens.spans[at] for at in kept], dtype=np.uint16).reshape(len(kept), 2)
    return PackedTokens(spans, scales.astype(np.float32), values)


def word_at(text: str, start: int, end: int) -> str:
    """The whole word around a token, which may be a part of one."""
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return text[start:end]


def packed_tokens(
    encoder: TokenEncoder,
    texts: Sequence[str],
    cache: VectorCache | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> list[PackedTokens]:
    """Packed tokens of all texts: cached, or encoded (1 to 2 ms each) and then cached.

    A cached entry of the wrong length is encoded again.
    """
    keys = {text: f"{CACHE_FORM}:{content_key(text)}" for text in dict.fromkeys(texts)}
    cached = cache.get_many(encoder.id, list(keys.values())) if cache is not None and keys else {}
    found: dict[str, PackedTokens] = {}
    for text, key in keys.items():
        packed = PackedTokens.from_bytes(cached[key], encoder.dim) if key in cached else None
        if packed is not None:
            found[text] = packed
    pending = [text for text in keys if text not in found]
    for at in range(0, len(pending), _PIECE):
        piece = pending[at : at + _PIECE]
        fresh = [
            pack_tokens(text, one) for text, one in zip(piece, encoder.encode_tokens(piece), strict=True)
        ]
        found.update(zip(piece, fresh, strict=True))
        if cache is not None:
            cache.put_many(
                encoder.id, {keys[text]: one.to_bytes() for text, one in zip(piece, fresh, strict=True)}
            )
        if progress is not None:
            progress(min(at + _PIECE, len(pending)), len(pending))
    return [found[text] for text in texts]
