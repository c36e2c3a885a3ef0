"""The exported encoder for tests that need the real one, and encoders without a model for the others.

``python -m tests.support.encoder`` makes the exported copy; set-up does it, so that no test has to.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kb import encoder_export
from kb.encoder import MODEL_PACKAGE, TokenVectors, file_hash, load_encoder

has_torch = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("torch", "sentence_transformers", MODEL_PACKAGE)),
    reason="the extra 'encoder' is not installed",
)


CACHE_VARIABLE = "SITELORE_TEST_ENCODER"
CACHE = Path(
    os.environ.get(CACHE_VARIABLE) or Path(__file__).resolve().parents[2] / ".pytest_cache" / "encoder"
)
"""Where the copy is kept from one run of the suite to the next."""


def exported_copy() -> Path:
    """Return the cache folder of an exported copy; made in 20 s and kept until the exporter changes.

    Several processes may ask at once: each exports for itself, and the first to finish puts its copy in place.
    """
    folder = CACHE / file_hash(Path(encoder_export.__file__))[:16]
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        own = Path(tempfile.mkdtemp(dir=CACHE))
        load_encoder(own)
        try:
            own.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(own, ignore_errors=True)
    return folder


class HashingEncoder:
    """Adds a fixed pseudo-random vector for each word; counts how many texts it encoded."""

    def __init__(self, dim: int = 48, name: str = "hashing") -> None:
        self.id = f"{name}:{dim}"
        self.dim = dim
        self.encoded = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += len(texts)
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split() or [""]:
                seed = int.from_bytes(
                    hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "big"
                )
                out[row] += np.random.default_rng(seed).standard_normal(self.dim).astype(np.float32)
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)


class HashingTokenEncoder(HashingEncoder):
    """Gives each word and each mark its own vector, whatever stands beside it; one in front stands for nothing."""

    def __init__(self, dim: int = 48, name: str = "hashing tokens") -> None:
        super().__init__(dim, name)
        self.texts: list[str] = []

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.texts += texts
        found: list[TokenVectors] = []
        for text in texts:
            marks = list(re.finditer(r"\w+|[^\w\s]", text))
            vectors = self.encode(["[begin]", *(mark[0] for mark in marks)])
            found.append(TokenVectors(vectors, ((0, 0), *(mark.span() for mark in marks))))
        return found


if __name__ == "__main__":
    exported_copy()
