"""Pictures of a page that is sent to people: small enough together, those that matter kept longest."""

from __future__ import annotations

import base64
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.engine.core.trajectory import Step
from app.engine.exports.pictures import Box, encoded, narrowed, step_picture
from app.engine.exports.run_export import ExportSource

MAX_BYTES = 20 * 2**20
"""Bytes of all pictures of one page together, as data addresses."""
LEVELS = ((1120, 76), (880, 60), (640, 48))
"""Width and quality, the best first; the next is taken where the pictures are too many for one."""


@dataclass(frozen=True, slots=True)
class InlinePicture:
    """A picture as an address that holds it, with its size and its target's box in its own pixels."""

    address: str
    size: tuple[int, int]
    box: Box | None
    cut: bool
    same_as: int | None = None
    """Number of the earlier page with the same picture; then ``address`` is empty."""


def inline_pictures(
    source: ExportSource, pages: Sequence[Step], wanted: Collection[int], limit: int = MAX_BYTES
) -> tuple[dict[int, InlinePicture], list[str]]:
    """Return the pictures of pages by their number, and sentences about what was made smaller or left out.

    ``wanted`` are numbers of pages whose pictures are left out last: those with flags or verdicts.
    """
    said: list[str] = []
    whole = sum(bool(page.screenshot) for page in pages)
    found: dict[int, InlinePicture] = {}
    for level, (width, quality) in enumerate(LEVELS):
        found, unread = _encode_all(source, pages, width, quality, limit if level < len(LEVELS) - 1 else 0)
        if found or not whole or level == len(LEVELS) - 1:
            if unread:
                said.append(f"{unread} of {whole} pictures can't be read.")
            if level:
                said.append(f"The pictures were made smaller, to keep the page below {limit // 2**20} MB.")
            break
    size = sum(len(one.address) for one in found.values())
    if size > limit:
        before = len(found)
        found = _thinned(found, wanted, limit)
        said.append(f"{before - len(found)} of {whole} pictures were left out, to keep the page small.")
    return found, said


def _encode_all(
    source: ExportSource, pages: Sequence[Step], width: int, quality: int, limit: int
) -> tuple[dict[int, InlinePicture], int]:
    """Return the pictures at one quality, none once they are larger than ``limit`` (0: no limit), and the unread."""
    found: dict[int, InlinePicture] = {}
    first: dict[tuple[str, Box | None], int] = {}
    size = unread = 0
    for number, page in enumerate(pages):
        if not page.screenshot:
            continue
        same = first.setdefault((page.screenshot, page.target_box), number)
        if same != number:
            if same in found:
                found[number] = InlinePicture("", found[same].size, None, found[same].cut, same)
            continue
        picture = step_picture(source, page)
        if picture is None:
            unread += 1
            continue
        small = narrowed(picture, width)
        kind, data = encoded(small, quality)
        address = f"data:{kind};base64,{base64.b64encode(data).decode()}"
        size += len(address)
        if limit and size > limit:
            return {}, unread
        found[number] = InlinePicture(address, small.image.size, small.box, small.cut)
    return found, unread


def _thinned(
    found: dict[int, InlinePicture], wanted: Collection[int], limit: int
) -> dict[int, InlinePicture]:
    """Leave out pictures until the rest fits: wanted ones, the first and the last are kept before the others."""
    numbers = sorted(found)
    others = [number for number in numbers if number not in wanted]
    spread = [others[at] for at in _spread(len(others))]
    order = [*(number for number in (numbers[-1], numbers[0]) if found[number].address)]
    order += [number for number in numbers if number in wanted] + spread
    kept: dict[int, InlinePicture] = {}
    size = 0
    for number in dict.fromkeys(order):
        one = found[number]
        if one.same_as is None and size + len(one.address) <= limit:
            kept[number] = one
            size += len(one.address)
    kept |= {number: one for number, one in found.items() if one.same_as in kept}
    return dict(sorted(kept.items()))


def _spread(count: int) -> list[int]:
    """Return the places of a list in an order whose every beginning is spread evenly."""
    width = max(1, count - 1).bit_length()
    order = sorted(range(2**width), key=lambda at: int(f"{at:0{width}b}"[::-1], 2))
    return [at for at in order if at < count]
