"""Pictures of a run's pages, opened safely and made smaller for people."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.core.trajectory import Step
from app.engine.exports.run_export import ExportSource
from app.errors import SiteloreError

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 60_000_000
"""Pixels of a picture that is opened; more is a decompression bomb, not a screenshot."""
TALLEST = 1.6
"""Height of a picture by its width beyond which only a part of it is shown."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class StepPicture:
    """A page's picture, at most ``TALLEST`` times as high as wide, with the target's box in its pixels."""

    image: Image
    box: Box | None
    cut: bool


def step_picture(source: ExportSource, step: Step) -> StepPicture | None:
    """Return the picture of a step's page; ``None`` where there is none or it can't be read."""
    if not step.screenshot:
        return None
    try:
        data = source.read_blob(step.screenshot)
    except SiteloreError:
        return None
    image = open_picture(data)
    return _part(image, step.target_box) if image is not None else None


def open_picture(data: bytes) -> Image | None:
    """Return a picture in colours; ``None`` for one that is damaged, huge, or none."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP", "GIF", "BMP")) as opened:
                if opened.width * opened.height > MAX_PIXELS:
                    return None
                return opened.convert("RGB")
    except (OSError, ValueError, SyntaxError, MemoryError, Image.DecompressionBombError):
        return None


def _part(image: Image, box: Box | None) -> StepPicture:
    """Return a long page's part with the target, the top where it has none."""
    if box is not None and not _is_inside(box, image.size):
        box = None
    tallest = max(1, int(image.width * TALLEST))
    if image.height <= tallest:
        return StepPicture(image, box, cut=False)
    top = 0
    if box is not None:
        top = max(0, min(image.height - tallest, int(box[1] + box[3] / 2 - tallest / 2)))
        box = (box[0], box[1] - top, box[2], box[3])
    return StepPicture(image.crop((0, top, image.width, top + tallest)), box, cut=True)


def _is_inside(box: Box, size: tuple[int, int]) -> bool:
    left, top, width, height = box
    return (
        width > 0
        and height > 0
        and left < size[0]
        and top < size[1]
        and left + width > 0
        and top + height > 0
    )


def narrowed(picture: StepPicture, width: int) -> StepPicture:
    """Return a picture at most this wide, with its box."""
    image = picture.image
    if image.width <= width:
        return picture
    scale = width / image.width
    box = picture.box
    return StepPicture(
        image.resize((width, max(1, round(image.height * scale)))),
        (box[0] * scale, box[1] * scale, box[2] * scale, box[3] * scale) if box is not None else None,
        picture.cut,
    )


def encoded(picture: StepPicture, quality: int) -> tuple[str, bytes]:
    """Return a picture's MIME type and bytes: WebP, or JPEG where this Pillow has no WebP."""
    from PIL import features

    out = io.BytesIO()
    kind = "WEBP" if features.check("webp") else "JPEG"
    picture.image.save(out, kind, quality=quality)
    return f"image/{kind.lower()}", out.getvalue()
