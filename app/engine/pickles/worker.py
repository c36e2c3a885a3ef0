"""The process that reads pickles: requests come through one pipe, answers go through another.

A request is a head (``REQUEST``) and the bytes of a pickle; an answer a head (``ANSWER``), JSON, and a PNG where one
was wanted. The first answer, to no request, says how the process is confined.
"""

from __future__ import annotations

import codecs
import json
import os
import select
import signal
import struct
import sys

from app.engine.pickles.confinement import confine
from app.engine.pickles.recorded import (
    MAX_TEXT,
    TOO_MUCH_TEXT,
    Unusable,
    check_extent,
    fields,
    meaning,
    read_pickle,
)
from app.engine.pickles.step_info import boxes, screenshot, step_record

REQUEST = struct.Struct(">IBB")
"""Bytes that follow, number of the kind, whether the screenshot in it is wanted."""
ANSWER = struct.Struct(">II")
"""Bytes of JSON and of the PNG that follow."""
KINDS = ("step", "goal", "arguments")
MAX_ANSWER_BYTES = MAX_TEXT + 32 * 2**20
"""Bytes of an answer's JSON; a real step has a few megabytes."""
LONGEST_SECONDS = 21.0
"""Seconds for one pickle; then the process ends, whether or not anybody is left to end it."""
IDLE_SECONDS = 20
"""Without a request for this long the process ends."""


def answer(kind: str, data: bytes, *, picture: bool) -> tuple[bytes, bytes]:
    """Return the answer to a request: JSON, and the screenshot in the pickle where it is wanted."""
    try:
        document = read_pickle(data)
        value = step_record(document) if kind == "step" else document
        check_extent(value)
        if kind == "step":
            value = {**fields(value), "boxes": boxes(document)}
        text = json.dumps({"value": value}, default=meaning, skipkeys=True, separators=(",", ":"))
        if len(text) > MAX_ANSWER_BYTES:
            raise Unusable(TOO_MUCH_TEXT)
        return text.encode(), screenshot(document) if picture and kind == "step" else b""
    except Unusable as error:
        return json.dumps({"error": str(error)}).encode(), b""
    except MemoryError:
        return json.dumps({"error": "it needs too much memory"}).encode(), b""
    except (ValueError, TypeError, RecursionError, OverflowError, struct.error, AttributeError) as error:
        return json.dumps({"error": f"a damaged pickle ({type(error).__name__})"}).encode(), b""


def _read(count: int) -> bytes:
    """Return this many bytes of the input; fewer at its end."""
    parts: list[bytes] = []
    while count > 0:
        part = os.read(0, min(count, 1 << 20))
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view[: 1 << 20]) :]


def _end_after(seconds: float) -> None:
    """Have the system end this process after so many seconds; 0 takes it back. Windows can't."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def main() -> None:
    """Answer requests until the input ends, or nothing is asked for a while."""
    for encoding in ("latin-1", "ascii", "utf-8"):
        codecs.lookup(encoding)  # their modules can't be loaded later
    confined = confine().encode()
    _write(ANSWER.pack(len(confined), 0) + confined)
    waits = sys.platform != "win32"  # there a pipe can't be waited for with a limit
    while not waits or select.select([0], [], [], IDLE_SECONDS)[0]:
        head = _read(REQUEST.size)
        if len(head) < REQUEST.size:
            return
        size, kind, picture = REQUEST.unpack(head)
        data = _read(size)
        if len(data) < size:
            return
        _end_after(LONGEST_SECONDS)
        text, image = answer(KINDS[int(kind) % len(KINDS)], data, picture=bool(picture))
        _end_after(0)
        _write(ANSWER.pack(len(text), len(image)))
        _write(text)
        _write(image)


if __name__ == "__main__":
    main()
