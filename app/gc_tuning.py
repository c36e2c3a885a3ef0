"""Garbage collection in the window's process: off while the window is built, rare afterwards.

A full collection walks every object: 60 to 130 ms with the views and 1,350 runs in memory, a pause one notices.
The objects of the filled window live until it closes, so they are frozen out of the collection.
"""

from __future__ import annotations

import gc

THRESHOLDS = (20_000, 20, 20)
"""New objects before the youngest generation is collected, and rounds before the older; Python's own are 700,
10, 10.
"""


def pause_gc() -> None:
    """Turn collection off while the window is being built."""
    gc.disable()


def freeze_gc() -> None:
    """Freeze the objects made so far, and collect new ones less often."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
