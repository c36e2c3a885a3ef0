"""Python's garbage collection never pauses the window while the user works."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from app import main


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)
    gc.enable()


def test_nothing_is_searched_while_the_window_is_built() -> None:
    main.pause_gc()
    assert not gc.isenabled()


def test_what_was_built_is_never_searched_again_and_new_garbage_still_goes() -> None:
    main.pause_gc()
    built = [[number] for number in range(5000)]
    main.freeze_gc()
    assert gc.isenabled()
    assert gc.get_freeze_count() > len(built)
    assert gc.get_threshold() == main.THRESHOLDS
    loop: list[object] = []
    loop.append(loop)
    del loop
    assert gc.collect() > 0
