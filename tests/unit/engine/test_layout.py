"""Laws of the map's layout: nobody shares a cell, nobody who stands is moved, the same in gives the same out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.graph.layout import GAP, apart, layout
from tests.support.generated_site import is_free_of_overlaps
from tests.support.laws import examples


@st.composite
def sites(draw):
    count = draw(st.integers(1, 90))
    depths = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    edges = draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=200))
    return depths, [one for one, _ in edges], [other for _, other in edges]


@settings(max_examples=examples(60), deadline=None)
@given(sites())
def test_no_two_states_share_a_cell_and_bands_follow_the_depth(site):
    depths, sources, targets = site
    places = layout(depths, sources, targets)
    assert places.shape == (len(depths), 2)
    assert np.isfinite(places).all()
    assert is_free_of_overlaps(places)
    levels = sorted(set(depths))
    spans = [places[np.array(depths) == level, 0] for level in levels]
    for left, right in pairwise(spans):
        assert right.min() - left.max() == pytest.approx(1 + GAP)


@settings(max_examples=examples(60), deadline=None)
@given(sites(), st.integers(0, 2**32 - 1))
def test_placed_states_stay_and_new_states_get_free_cells(site, seed):
    depths, sources, targets = site
    before = layout(depths, sources, targets)
    some = np.random.default_rng(seed).random(len(depths)) < 0.4
    before[some] = np.nan
    after = layout(depths, sources, targets, before)
    if not some.all():
        assert (after[~some] == before[~some]).all()
    assert is_free_of_overlaps(after)


@settings(max_examples=examples(30), deadline=None)
@given(sites())
def test_the_same_site_gets_the_same_map(site):
    assert (layout(*site) == layout(*site)).all()


def test_a_map_that_grows_state_by_state_never_moves_one():
    depths = sorted([0] + [1] * 20 + [2] * 60 + [3] * 40)
    sources, targets = [(number - 1) // 3 for number in range(1, 121)], list(range(1, 121))
    places = np.empty((0, 2))
    for count in range(1, 122):
        known = [(s, t) for s, t in zip(sources, targets, strict=True) if t < count]
        previous = np.full((count, 2), np.nan)
        previous[: count - 1] = places
        grown = layout(depths[:count], [s for s, _ in known], [t for _, t in known], previous)
        assert (grown[: count - 1] == places).all()
        assert is_free_of_overlaps(grown)
        places = grown


def test_tidy_places_everything_from_scratch():
    before = np.array([[5.0, 5.0], [9.0, -3.0]])
    assert (layout([0, 1], [0], [1], before) == before).all()
    assert layout([0, 1], [0], [1], before, tidy=True).tolist() == [[0.0, 0.0], [1 + GAP, 0.0]]


def test_children_are_in_their_parents_order():
    places = layout([0, 1, 1, 2, 2], [0, 0, 1, 2], [1, 2, 4, 3])
    assert places[1, 1] < places[2, 1]
    assert places[4, 1] < places[3, 1]


def test_a_large_depth_gets_several_columns_so_that_the_map_stays_a_map():
    places = layout([0] + [1] * 10_000, [0] * 10_000, list(range(1, 10_001)))
    wide, high = np.ptp(places, axis=0)
    assert 0.7 < wide / high < 2.5


def test_a_site_without_states_has_an_empty_map():
    assert layout([], [], []).shape == (0, 2)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.floats(-100, 100), max_size=40))
def test_apart_keeps_the_order_and_a_distance_of_one(wanted):
    found = apart(np.array(wanted, dtype=float))
    assert len(found) == len(wanted)
    assert (np.diff(found) > 1 - 1e-6).all()
    if wanted == sorted(wanted) and all(b - a > 1.001 for a, b in pairwise(wanted)):
        assert found == pytest.approx(wanted)
