"""Words of pages that a run has only pictures of, read by RapidOCR where the extra ``ocr`` is installed.

The lines of a picture become the page's tree, one ``StaticText`` a line from top to bottom, so that searches, rules and
notices read them.  Its models are in the package: nothing is fetched.
"""

from __future__ import annotations

import io
import logging
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from app.engine.core.trajectory import Run, Step
from app.engine.imports.page_contents import ForeignContents
from app.engine.imports.source_files import ReadRun

log = logging.getLogger(__name__)

NOTE = "its pages are the words read in its pictures (OCR): without roles, and with mistakes"
MAX_PIXELS = 50_000_000
"""Pixels of the largest picture that is read; the screenshot of a whole page of 1280 pixels may be 39,000 high."""
MAX_RUN_SECONDS = 600.0
"""Seconds after which the remaining pictures of a run are not read."""
TILE = 1600
"""Height in pixels of the part of a picture that is read at once; a longer one would be made smaller."""
MAX_TILES = 12
MIN_SCORE = 0.6
"""Certainty below which a line is left out."""
REMEMBERED = 2000
"""Pictures whose words are kept, as runs repeat their pictures."""

Progress = Callable[[int, int], bool]
"""Called with pictures read and pictures in all before each; False stops the reading."""


class ReadingStopped(Exception):
    """The reading of a run's pictures was cancelled."""


def can_read_pictures() -> bool:
    """Whether the extra ``ocr`` is installed."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


class PictureWords:
    """Reads pictures; ``progress`` is told before each."""

    def __init__(self, progress: Progress = lambda done, total: True) -> None:
        self.progress = progress
        self._trees: dict[str, str] = {}

    def completed(self, read: ReadRun) -> ReadRun:
        """Return a run with the words of its pictures as its pages; the same where its pages have more than pictures.

        Raises:
            ReadingStopped: ``progress`` said so.
        """
        pages = [*read.steps, *([read.run.final] if read.run.final is not None else [])]
        digests = list(dict.fromkeys(page.screenshot for page in pages if page.screenshot))
        if not digests or any(page.tree or page.html for page in pages):
            return read
        contents, trees, ends = ForeignContents(), dict[str, str](), time.monotonic() + MAX_RUN_SECONDS
        left = 0
        for position, digest in enumerate(digests):
            if not self.progress(position, len(digests)):
                raise ReadingStopped
            if time.monotonic() > ends:
                left += 1
                continue
            trees[digest] = self._tree(digest, read.blobs[digest])
        notes = [NOTE] if any(trees.values()) else []
        if left:
            notes.append(f"pictures that were not read, as the time was over: {left}")

        def with_words(step: Step) -> Step:
            return contents.with_tree(step, trees.get(step.screenshot, ""))

        run: Run = read.run
        if run.final is not None:
            run = replace(run, final=with_words(run.final))
        return replace(
            read,
            run=replace(run, notes=(*run.notes, *notes)),
            steps=tuple(with_words(step) for step in read.steps),
            blobs={**read.blobs, **contents.blobs},
        )

    def _tree(self, digest: str, data: bytes) -> str:
        if digest not in self._trees:
            if len(self._trees) >= REMEMBERED:
                self._trees.pop(next(iter(self._trees)))
            self._trees[digest] = "\n".join(f"StaticText {line!r}" for line in read_lines(data))
        return self._trees[digest]


def read_lines(data: bytes) -> list[str]:
    """Return the lines of text in a picture, from top to bottom; none of one that can't be read or is too large."""
    try:
        return [line for tile in _tiles(data) for line in _lines(tile)]
    except Exception as error:  # noqa: BLE001 a picture of others, read by a library of others, must not stop an import
        log.warning("the words of a picture could not be read: %s: %s", type(error).__name__, error)
        return []


def _tiles(data: bytes) -> Iterator[Any]:
    """Yield a picture as arrays, from top to bottom."""
    import numpy
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(io.BytesIO(data)) as picture:
            width, height = picture.size
            if width * height > MAX_PIXELS:
                log.warning("a picture of %d x %d pixels is too large to be read", width, height)
                return
            pixels = numpy.asarray(picture.convert("RGB"))[:, :, ::-1]
    for top in range(0, min(height, TILE * MAX_TILES), TILE):
        yield pixels[top : top + TILE]


def _lines(pixels: Any) -> list[str]:
    found = _engine()(pixels)
    texts, boxes, scores = found.txts, found.boxes, found.scores
    if texts is None or boxes is None or scores is None:
        return []
    rows = [
        (min(float(point[1]) for point in box), min(float(point[0]) for point in box), str(words).strip())
        for words, box, score in zip(texts, boxes, scores, strict=True)
        if float(score) >= MIN_SCORE and str(words).strip()
    ]
    return [words for _, _, words in sorted(rows, key=lambda row: (round(row[0] / 8), row[1]))]


@cache
def _engine() -> Any:
    """Return the reader with the models of its package; one thread, as several take longer on two cores."""
    import rapidocr

    models = Path(str(cast("Any", rapidocr).__file__)).parent / "models"
    chosen: dict[str, Any] = {
        "Global.use_cls": False,
        "Global.log_level": "error",
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    for name, part in (("Det", "det"), ("Rec", "rec")):  # named, so that none is ever fetched
        files = sorted(models.glob(f"*_{part}_*.onnx"))
        if not files:
            raise FileNotFoundError(f"rapidocr has no model for {part}")
        chosen[f"{name}.model_path"] = str(files[0])
    return cast("Any", rapidocr).RapidOCR(params=chosen)
