"""When Python looks for garbage in the window's process: not while the window is built, seldom afterwards.

A full collection walks every object there is: 60 to 130 ms with the views and 1,350 runs in memory, a pause a
person feels.  What is there once the window is filled lives until it is left, so it is taken out of the search.
"""

from __future__ import annotations

import gc

THRESHOLDS = (20_000, 20, 20)
"""New objects before the young are searched, and rounds before the older; Python's own are 700, 10, 10."""


def hold() -> None:
    """Search for nothing while the window is being built."""
    gc.disable()


def settle() -> None:
    """What is here stays: never look at it again, and look at what is new less often."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
