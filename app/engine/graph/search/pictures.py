"""Search of states by screenshot: a local multimodal model embeds words and images in one space.

The same model compares the regions of tips (``app.engine.services.region_looks``).

Sitelore bundles no such model.  Any sentence-transformers folder that takes text and images works (CLIP, SigLIP,
...); it is loaded from disk alone, and never with code of its own.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.core.page_state import Rect
from app.errors import InputError, UsageError
from kb.encoder import weights_hash
from kb.vectors import VectorCache

log = logging.getLogger(__name__)

_PIECE = 8
_MOST_PIXELS = 40_000_000
_PACKAGES = ("torch", "sentence_transformers", "PIL")


class PictureModel:
    """A multimodal sentence-transformers folder on the CPU.

    Raises:
        UsageError: the packages for it are not installed.
        InputError: the folder is no such model, or one for text alone.
    """

    def __init__(self, folder: Path) -> None:
        missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
        if missing:
            raise UsageError(
                f"search by picture needs {', '.join(missing)}",
                remedy="install the extra 'encoder'",
            )
        if not (folder / "modules.json").is_file():
            raise InputError("not a sentence-transformers folder (it has no modules.json)", path=str(folder))
        os.environ["HF_HUB_OFFLINE"] = "1"
        self._model = _loaded(folder)
        if "image" not in getattr(self._model, "modalities", ()):
            raise InputError(
                "this model can't read images", path=str(folder), remedy="choose a multimodal one"
            )
        self.id = f"{folder.name}:{weights_hash(folder)[:16]}:pictures.1"

    def of_text(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a text, shape (dim,)."""
        return self._encoded([text.encode("utf-8", "replace").decode()])[0]

    def of_pictures(self, pictures: list[bytes]) -> list[NDArray[np.float32] | None]:
        """The unit vector of each picture (JPEG, PNG, ...); None for bytes that are no picture."""
        opened = [_opened(picture) for picture in pictures]
        whole = [one for one in opened if one is not None]
        vectors = iter(self._encoded(whole) if whole else ())
        return [None if one is None else next(vectors) for one in opened]

    def of_parts(self, picture: bytes, boxes: Sequence[Rect]) -> list[NDArray[np.float32]]:
        """The unit vectors of parts of a picture (left, top, width, height); empty for bytes that are no picture.

        A part stands in the middle of a white square: models cut a long one off at its ends.
        """
        image = _opened(picture)
        if image is None or not boxes:
            return []
        parts = [_squared(image.crop(_corners(box, image.width, image.height))) for box in boxes]
        return list(self._encoded(parts))

    def _encoded(self, inputs: list[Any]) -> NDArray[np.float32]:
        found = self._model.encode(
            inputs, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(found, dtype=np.float32)


class PictureSearch:
    """Search over the screenshots of one graph by words.  Blocks; not thread-safe.

    Args:
        cache: persistent cache of vectors, by model and picture.
    """

    def __init__(self, model: PictureModel, cache: VectorCache | None = None) -> None:
        self._model, self._cache = model, cache
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._digests: dict[str, str] = {}
        self.unreadable: tuple[str, ...] = ()
        """Nodes whose picture is none, after the last update."""

    def update(
        self, pictures: Mapping[str, bytes], progress: Callable[[int, int], Any] | None = None
    ) -> None:
        """Replace the set of pictures, by node; only those never encoded cost time."""
        digests = {node: hashlib.sha256(picture).hexdigest() for node, picture in pictures.items()}
        kept = {node for node in self._vectors if self._digests.get(node) == digests.get(node)}
        known = self._cached({digests[node] for node in pictures.keys() - kept})
        vectors = {node: self._vectors[node] for node in kept}
        vectors |= {node: known[digests[node]] for node in pictures.keys() - kept if digests[node] in known}
        pending = sorted(pictures.keys() - vectors.keys())
        for at in range(0, len(pending), _PIECE):
            piece = pending[at : at + _PIECE]
            fresh = self._model.of_pictures([pictures[node] for node in piece])
            new = {node: vector for node, vector in zip(piece, fresh, strict=True) if vector is not None}
            vectors |= new
            self._put({digests[node]: vector for node, vector in new.items()})
            if progress is not None:
                progress(min(at + _PIECE, len(pending)), len(pending))
        self.unreadable = tuple(node for node in pending if node not in vectors)
        self._vectors, self._digests = vectors, digests

    def search(self, query: str, k: int = 10) -> list[tuple[str, float]]:
        """The ``k`` nodes whose pictures match the words best, with their cosines; equal ones by id."""
        return self._nearest(self._model.of_text(query), k) if query.strip() else []

    def _nearest(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        scores = {node: round(float(own @ vector), 6) for node, own in self._vectors.items()}
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k]

    def _cached(self, digests: set[str]) -> dict[str, NDArray[np.float32]]:
        if self._cache is None:
            return {}
        found = self._cache.get_many(self._model.id, sorted(digests))
        return {digest: np.frombuffer(blob, "<f4") for digest, blob in found.items()}

    def _put(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        if self._cache is not None and vectors:
            named = {digest: vector.astype("<f4").tobytes() for digest, vector in vectors.items()}
            self._cache.put_many(self._model.id, named)


def size_of(picture: bytes) -> tuple[int, int]:
    """Width and height of a picture; (0, 0) for bytes that are none."""
    image = _opened(picture)
    return (image.width, image.height) if image is not None else (0, 0)


def _squared(part: Any) -> Any:
    pil: Any = importlib.import_module("PIL.Image")
    side = max(part.width, part.height)
    square: Any = pil.new("RGB", (side, side), "white")
    square.paste(part, ((side - part.width) // 2, (side - part.height) // 2))
    return square


def _corners(box: Rect, width: int, height: int) -> tuple[int, int, int, int]:
    """The corners of a box within a picture, at least one pixel apart."""
    left = min(max(round(box[0]), 0), width - 1)
    top = min(max(round(box[1]), 0), height - 1)
    right = min(max(round(box[0] + box[2]), left + 1), width)
    bottom = min(max(round(box[1] + box[3]), top + 1), height)
    return (left, top, right, bottom)


def _loaded(folder: Path) -> Any:
    module: Any = importlib.import_module("sentence_transformers")
    _refuse_foreign_code(folder)
    try:
        return module.SentenceTransformer(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, ImportError, AttributeError) as error:
        raise InputError(
            f"the model can't be read ({error})", path=str(folder), remedy="choose another"
        ) from error


def _refuse_foreign_code(folder: Path) -> None:
    """Reject modules other than sentence-transformers' own: a folder may name any class."""
    try:
        modules = json.loads((folder / "modules.json").read_bytes())
        kinds = [str(module["type"]) for module in modules]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError("its modules.json can't be read", path=str(folder)) from error
    foreign = [kind for kind in kinds if not kind.startswith("sentence_transformers.")]
    if foreign:
        raise InputError(
            f"the model requires running its own code ({foreign[0]})",
            path=str(folder),
            remedy="choose one that uses only sentence-transformers' modules",
        )


def _opened(picture: bytes) -> Any:
    """Open the picture as PIL's image in colours; None if it is none or a decompression bomb."""
    pil: Any = importlib.import_module("PIL.Image")
    try:
        image: Any = pil.open(io.BytesIO(picture), formats=("JPEG", "PNG", "WEBP"))
        if image.width * image.height > _MOST_PIXELS:
            return None
        return image.convert("RGB")
    except (OSError, ValueError, SyntaxError, pil.DecompressionBombError) as error:
        log.info("skipped a picture: %s", error)
        return None
