"""Paths of the pointer: they arrive, can be repeated, and move as the paper's algorithm says."""

from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from app.engine.browser.actions.pointer_motion import PointerMotion, drag_path

POINTS = st.tuples(st.floats(0, 2000), st.floats(0, 2000))


@given(POINTS, POINTS, st.integers(0, 50))
def test_a_drag_ends_exactly_at_its_goal_and_in_time(
    start: tuple[float, float], end: tuple[float, float], seed: int
):
    path = PointerMotion(seed).dragging(start, end)
    distance = math.dist(start, end)
    if distance < 1:
        assert path == []
        return
    assert math.dist(path[-1][:2], end) < 1e-6
    assert len(path) == max(math.ceil(distance / 12), 12)
    assert all(pause >= 0 for *_, pause in path)


@given(POINTS, POINTS, st.integers(0, 50))
def test_a_click_lands_close_to_its_goal_and_never_later_than_a_second_and_a_half(
    start: tuple[float, float], end: tuple[float, float], seed: int
):
    path = PointerMotion(seed).to(start, end)
    assert math.dist(path[-1][:2], end) < 20
    assert sum(pause for *_, pause in path) < 1.5 + 0.005 * len(path)


def test_the_same_seed_moves_the_same_way_and_another_does_not():
    one, same, other = (PointerMotion(seed).to((0, 0), (400, 300)) for seed in (3, 3, 4))
    assert one == same
    assert one != other


def test_the_pointer_starts_slowly_goes_fast_and_ends_slowly():
    path = [(0.0, 0.0, 0.0), *PointerMotion(1).dragging((0.0, 0.0), (600.0, 0.0))]
    steps = [math.dist(a[:2], b[:2]) for a, b in pairwise(path)]
    third = len(steps) // 3
    assert sum(steps[third : 2 * third]) > 2 * sum(steps[:third])
    assert sum(steps[third : 2 * third]) > 2 * sum(steps[-third:])


def test_a_plain_drag_begins_with_a_short_move_and_arrives():
    path = drag_path((10, 10), (110, 60))
    assert path[0] == (12, 11, 0.0)
    assert path[-1] == (110, 60, 0.0)


def test_words_are_typed_character_by_character_with_longer_pauses_behind_them():
    typed = list(PointerMotion(2).typing("one two. three"))
    assert "".join(character for character, _ in typed) == "one two. three"
    assert all(0.03 <= pause < 1 for _, pause in typed)
