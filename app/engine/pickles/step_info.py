"""Parts of a pickled ``StepInfo`` of BrowserGym or AgentLab that an import needs."""

from __future__ import annotations

import struct
import zlib

from app.engine.pickles.recorded import Fields, Recorded, array_of, fields, sequence

_SEEN = (
    "goal", "goal_object", "chat_messages", "open_pages_urls", "open_pages_titles", "active_page_index", "url",
    "last_action", "last_action_error", "axtree_txt", "pruned_html", "focused_element_bid",
)  # fmt: skip
_SAID = ("think", "extra_info", "err_msg", "stack_trace", "stats")
_TOLD = (
    "step", "action", "reward", "raw_reward", "terminated", "truncated", "stats", "profiling", "task_info",
)  # fmt: skip
_MAX_PIXELS = 40_000_000
_IN_VIEW = 0.5
"""Share of an element in view from which BrowserGym calls it visible."""


def step_record(document: object) -> Fields:
    """Return what a run's step needs of a pickled ``StepInfo``."""
    info = fields(document)
    seen, said = fields(info.get("obs")), fields(info.get("agent_info"))
    record: Fields = {name: info[name] for name in _TOLD if name in info}
    observed: Fields = {name: seen[name] for name in _SEEN if name in seen}
    if not isinstance(seen.get("axtree_txt"), str):
        observed["axtree_object"] = seen.get("axtree_object")
    if not isinstance(seen.get("pruned_html"), str):
        shown = seen.get("dom_txt")
        observed["pruned_html"] = shown
        if not isinstance(shown, str):
            observed["dom_object"] = seen.get("dom_object")
    record["obs"] = observed if seen else None
    record["agent_info"] = {name: said[name] for name in _SAID if name in said}
    record["agent_info"]["answer"] = [fields(one) for one in sequence(said.get("chat_messages"))[-1:]]
    record["written_by"] = type(document).name if isinstance(document, Recorded) else ""
    return record


def boxes(document: object) -> dict[str, list[float]]:
    """Return the boxes of the elements in view, in pixels of the screenshot."""
    found: dict[str, list[float]] = {}
    for bid, one in fields(fields(fields(document).get("obs")).get("extra_element_properties")).items():
        about = fields(one)
        share = about.get("visibility")
        if isinstance(share, int | float) and share >= _IN_VIEW and (box := _box(about.get("bbox"))):
            found[bid] = box
    return found


def _box(given: object) -> list[float]:
    sides: list[float] = [side for side in sequence(given) if isinstance(side, int | float)]
    return sides if len(sides) == 4 and sides[2] > 0 and sides[3] > 0 else []


def screenshot(document: object) -> bytes:
    """Return the picture that the observation holds as a PNG; nothing where it holds none."""
    seen = fields(fields(document).get("obs"))
    array = array_of(seen.get("screenshot"))
    if array is None or array.kind != "u1" or len(array.shape) != 3 or array.columns_first:
        return b""
    height, width, channels = array.shape
    if channels not in (3, 4) or not 0 < height * width <= _MAX_PIXELS:
        return b""
    if len(array.data) != height * width * channels:
        return b""
    return _png(bytes(array.data), width, height, channels)


def _png(pixels: bytes, width: int, height: int, channels: int) -> bytes:
    row = width * channels
    rows = b"".join(b"\0" + pixels[at * row : (at + 1) * row] for at in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 6, 0, 0, 0)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    start = b"\x89PNG\r\n\x1a\n"
    return start + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 2)) + chunk(b"IEND", b"")
