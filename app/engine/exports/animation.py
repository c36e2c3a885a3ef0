"""Exporter: Animated GIF of a run: its pictures with the step's number and action below, the target framed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.core.text import one_line
from app.engine.core.trajectory import Step
from app.engine.exports.pictures import StepPicture, narrowed, step_picture
from app.engine.exports.run_export import ExportSource, RunExport
from app.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTHS = (960, 720, 540)
"""Widths in pixels; the next is taken where a file would be larger than ``MAX_BYTES``."""
MAX_BYTES = 20 * 2**20
MAX_FRAMES = 150
"""Steps shown; of a longer run as many, spread evenly."""
FRAME_MS, LAST_MS = 1400, 4000
"""Milliseconds that a step and the last page are shown."""
TALLEST = 0.75
"""Height of the picture's place by its width."""
_STRIP, _FONT = 44, 18
_PAPER, _INK, _SOFT, _BOX = (24, 26, 31), (240, 241, 243), (160, 167, 178), (224, 52, 42)


def write(source: ExportSource, path: Path) -> list[str]:
    """Write a run as an animated GIF.

    Raises:
        InputError: no picture of the run can be read.
    """
    final = source.run.final
    pages = [*source.steps, *([final] if final is not None else [])]
    shown = [page for page in pages if page.screenshot]
    chosen = _spread(shown, MAX_FRAMES)
    said = (
        [f"{len(shown) - len(chosen)} of {len(shown)} steps were left out."]
        if len(chosen) < len(shown)
        else []
    )
    width, count = WIDTHS[0], _write_frames(source, chosen, path, WIDTHS[0])
    if not count:
        raise InputError("this run has no pictures", remedy="export it as html, which shows trees as well")
    for narrower in WIDTHS[1:]:
        if path.stat().st_size > MAX_BYTES:
            width, count = narrower, _write_frames(source, chosen, path, narrower)
    if width < WIDTHS[0]:
        said.append(f"The pictures were made {width} pixels wide, to keep the file small.")
    if count < len(chosen):
        broken = len(chosen) - count
        said.append(f"{broken} picture{'' if broken == 1 else 's'} can't be read.")
    if len(shown) < len(pages):
        missing = len(pages) - len(shown)
        said.append(
            "1 step without a picture is not shown."
            if missing == 1
            else f"{missing} steps without a picture are not shown."
        )
    return said


RUN_EXPORT = RunExport(name="gif", title="Animated GIF", suffix=".gif", write=write)


def _spread(pages: Sequence[Step], most: int) -> list[Step]:
    """Return at most so many pages, the first and the last among them, spread evenly."""
    if len(pages) <= most:
        return list(pages)
    return [pages[round(at * (len(pages) - 1) / (most - 1))] for at in range(most)]


def _write_frames(source: ExportSource, pages: Sequence[Step], path: Path, width: int) -> int:
    """Write the frames with one palette for all; return how many there are."""
    from PIL.Image import Dither

    frames: list[Image] = []
    palette: Image | None = None
    height = 0
    for page in pages:
        picture = step_picture(source, page)
        if picture is None:
            continue
        if palette is None:
            sample = [picture, *filter(None, (step_picture(source, one) for one in _spread(pages, 6)[1:]))]
            palette, height = _palette(sample), _height(sample, width)
        frame = _frame(narrowed(picture, width), page, (width, height), is_final=page is source.run.final)
        frames.append(frame.quantize(palette=palette, dither=Dither.NONE))
    if frames:
        times = [FRAME_MS] * (len(frames) - 1) + [LAST_MS]
        with path.open("wb") as file:
            frames[0].save(
                file, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=False
            )
    return len(frames)


def _height(sample: Sequence[StepPicture], width: int) -> int:
    """Return the height of the place of pictures: the largest of the sample, bounded."""
    return min(int(width * TALLEST), max(narrowed(one, width).image.height for one in sample))


def _palette(sample: Sequence[StepPicture]) -> Image:
    """Return 256 colours of a sample of the pictures, with those of captions and boxes."""
    from PIL import Image

    sheet = Image.new("RGB", (240 * len(sample), 200), _PAPER)
    for number, one in enumerate(sample):
        sheet.paste(one.image.resize((240, 180)), (240 * number, 0))
    for number, colour in enumerate((_BOX, _INK, _SOFT)):
        sheet.paste(colour, (number * 60, 180, number * 60 + 60, 200))
    return sheet.quantize(256)


def _frame(picture: StepPicture, step: Step, size: tuple[int, int], *, is_final: bool) -> Image:
    """Return the picture on its place, its target framed, with the caption below."""
    from PIL import Image, ImageDraw, ImageFont

    width, height = size
    frame = Image.new("RGB", (width, height + _STRIP), _PAPER)
    image, top = picture.image, 0
    if image.height > height:
        middle = picture.box[1] + picture.box[3] / 2 if picture.box is not None else 0
        top = max(0, min(image.height - height, int(middle - height / 2)))
        image = image.crop((0, top, image.width, top + height))
    left = (width - image.width) // 2
    frame.paste(image, (left, 0))
    draw = ImageDraw.Draw(frame)
    if picture.box is not None:
        x, y, wide, high = picture.box
        x, y = x + left, y - top
        draw.rectangle((x - 2, y - 2, x + wide + 2, min(y + high + 2, height)), outline=_BOX, width=3)
    draw.rectangle((0, height, width, height + _STRIP), fill=_PAPER)  # a box ends where the caption begins
    font = ImageFont.load_default(_FONT)
    number = "end" if is_final else str(step.index)
    draw.text((12, height + 12), number, fill=_SOFT, font=font)
    start = 24 + draw.textlength(number, font=font)
    words = one_line(step.title or "Final page", 200) if is_final else one_line(step.words, 300)
    while words and draw.textlength(words, font=font) > width - start - 12:
        words = f"{words[:-2].rstrip(' …')}…" if len(words) > 2 else ""
    draw.text((start, height + 12), words, fill=_INK, font=font)
    return frame
