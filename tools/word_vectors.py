"""Make ``resources/models/word_vectors.npz``: likeness of single words, from the sentence encoder, for the scout.

``python -m tools.word_vectors``.  The words are the whole words of the encoder's own vocabulary, so no site and no
task has a part in their choice.  Each is encoded alone; the vectors are centred, reduced to 64 dimensions and kept as
bytes.  Run again with the same encoder it writes the same table.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from kb.encoder import load_encoder

OUT = Path(__file__).parents[1] / "resources" / "models" / "word_vectors.npz"
MOST_WORDS, DIMENSIONS, BATCH = 24_000, 64, 256


def vocabulary(encoder: object) -> list[str]:
    """Whole words of at least three letters, in the order of the encoder's vocabulary, which is by frequency."""
    known: dict[str, int] = encoder._tokenizer.get_vocab()  # type: ignore[attr-defined]
    listed = sorted(known, key=lambda word: known[word])
    return [word for word in listed if word.isascii() and word.isalpha() and len(word) > 2][:MOST_WORDS]


def main() -> None:
    """Encode the words and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        encoder = load_encoder(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder))
        found = vocabulary(encoder)
        rows = [encoder.encode(found[at : at + BATCH]) for at in range(0, len(found), BATCH)]
    vectors = np.concatenate(rows).astype(np.float64)
    vectors -= vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(vectors, full_matrices=False)
    signs = np.sign(axes[np.arange(DIMENSIONS), np.abs(axes[:DIMENSIONS]).argmax(axis=1)])
    reduced = vectors @ (axes[:DIMENSIONS] * signs[:, None]).T
    reduced /= np.linalg.norm(reduced, axis=1, keepdims=True)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        OUT, words=np.array("\n".join(found)), vectors=np.round(reduced * 127).astype(np.int8)
    )
    print(f"{len(found)} words, {OUT.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
