"""Kappa by its definition and by published tables; the division of runs among annotators."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.core.agreement_statistics import cohen_kappa, label_counts
from app.engine.core.queue_assignment import divide_runs
from tests.support.laws import examples


def pairs_of(table: list[list[int]]) -> list[tuple[str, str]]:
    """The pairs of labels that a table counts, the first annotator's by row."""
    return [
        (str(row), str(column))
        for row, counts in enumerate(table)
        for column, count in enumerate(counts)
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        # Observed 35/50 = 0.7; by chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5; (0.7 - 0.5) / 0.5.
        ([[20, 5], [10, 15]], 0.4),
        # Observed 0.6; by chance 0.6 * 0.7 + 0.4 * 0.3 = 0.54; 0.06 / 0.46.
        ([[45, 15], [25, 15]], 0.06 / 0.46),
        # Observed 0.6; by chance 0.6 * 0.3 + 0.4 * 0.7 = 0.46; 0.14 / 0.54.
        ([[25, 35], [5, 35]], 0.14 / 0.54),
        ([[3, 0], [0, 4]], 1.0),
        ([[0, 5], [5, 0]], -1.0),
        # Observed 1/4; by chance 2/4 * 3/4 + 2/4 * 1/4 = 1/2; (1/4 - 1/2) / (1/2).
        ([[1, 1], [2, 0]], -0.5),
        # One uses a single label: what they agree on is chance.
        ([[2, 2], [0, 0]], 0.0),
        # Undefined: chance alone agrees always.
        ([[6, 0], [0, 0]], None),
        ([[1, 0], [0, 0]], None),
        ([[0, 1], [0, 0]], None),
        ([[0]], None),
    ],
)
def test_kappa_is_observed_agreement_beyond_chance(table, kappa):
    found = cohen_kappa(pairs_of(table)).kappa
    assert found == (kappa if kappa is None else pytest.approx(kappa, abs=1e-12))


@pytest.mark.parametrize(
    "table",
    [
        [[75, 1, 4], [5, 4, 1], [0, 0, 10]],
        [[20, 5], [10, 15]],
        [[25, 35], [5, 35]],
        [[3, 2, 1], [0, 4, 2], [1, 0, 7]],
    ],
)
def test_the_interval_is_that_of_the_delta_method(table):
    """Oracle: the variance of a function of multinomial shares, by its slopes in each of them."""
    total = sum(map(sum, table))
    shares = {(r, c): count / total for r, row in enumerate(table) for c, count in enumerate(row)}

    def kappa(cells):
        size = len(table)
        rows = [sum(cells[one, other] for other in range(size)) for one in range(size)]
        columns = [sum(cells[other, one] for other in range(size)) for one in range(size)]
        observed = sum(cells[one, one] for one in range(size))
        chance = sum(row * column for row, column in zip(rows, columns, strict=True))
        return (observed - chance) / (1 - chance)

    tiny = 1e-6
    slopes = {
        cell: (kappa({**shares, cell: share + tiny}) - kappa({**shares, cell: share - tiny})) / (2 * tiny)
        for cell, share in shares.items()
    }
    mean = sum(share * slopes[cell] for cell, share in shares.items())
    error = ((sum(share * slopes[cell] ** 2 for cell, share in shares.items()) - mean**2) / total) ** 0.5
    found = cohen_kappa(pairs_of(table))
    assert found.low == pytest.approx(kappa(shares) - 1.959964 * error, abs=1e-6)
    assert found.high == pytest.approx(min(1.0, kappa(shares) + 1.959964 * error), abs=1e-6)


def test_there_is_no_interval_where_all_agree_or_nothing_is_defined():
    assert cohen_kappa(pairs_of([[3, 0], [0, 4]])).low is None
    assert cohen_kappa(pairs_of([[3, 0], [0, 0]])).high is None


@pytest.mark.parametrize("table", [[[2, 2], [0, 0]], [[5, 1], [0, 0]], [[5, 0], [1, 0]]])
def test_there_is_no_interval_of_no_width_where_one_gave_a_single_label(table):
    found = cohen_kappa(pairs_of(table))
    assert found.kappa == pytest.approx(0.0)
    assert (found.low, found.high) == (None, None)


def test_a_label_is_compared_with_the_rest():
    pairs = pairs_of([[4, 1, 0], [1, 2, 0], [0, 1, 1]])
    found = label_counts(pairs, "0")
    assert (found.both, found.only_first, found.only_second, found.neither) == (4, 1, 1, 4)
    # Observed 0.8; by chance 0.25 + 0.25 = 0.5.
    assert found.kappa == pytest.approx(0.6)
    assert label_counts(pairs, "never given").kappa is None


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), max_size=30))
@settings(max_examples=examples(80), deadline=None)
def test_kappa_lies_in_its_interval_and_does_not_depend_on_who_is_first(pairs):
    one, other = cohen_kappa(pairs), cohen_kappa([(second, first) for first, second in pairs])
    assert one.kappa == other.kappa
    if one.kappa is not None:
        assert -1 <= one.kappa <= 1
    if one.low is not None and one.high is not None and one.kappa is not None:
        assert -1 <= one.low <= one.kappa <= one.high <= 1
        assert one.low == pytest.approx(other.low)


# ---------------------------------------------------------------- the division of runs
RUNS = st.lists(
    st.tuples(st.integers(0, 999).map(str), st.sampled_from(["git", "map", "shop"])), unique_by=lambda r: r[0]
)


@given(RUNS, st.integers(1, 5), st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.integers(0, 9))
@settings(max_examples=examples(120), deadline=None)
def test_every_run_goes_to_one_and_the_share_to_two_in_queues_of_one_size(runs, people, overlap, seed):
    names = [f"p{number}" for number in range(people)]
    queues = divide_runs(runs, names, overlap, seed)
    assert queues == divide_runs(list(runs), list(reversed(names)), overlap, seed)
    times = Counter(run for queue in queues.values() for run in queue)
    assert times.keys() == {run for run, _ in runs}
    shared = round(len(runs) * overlap) if people > 1 else 0
    assert sorted(times.values()) == [1] * (len(runs) - shared) + [2] * shared
    sizes = [len(queue) for queue in queues.values()]
    assert max(sizes) - min(sizes) <= 1
    order = [run for run, _ in runs]
    assert all(list(queue) == sorted(queue, key=order.index) for queue in queues.values())


@given(RUNS, st.integers(2, 4), st.sampled_from([0.0, 0.3]))
@settings(max_examples=examples(60), deadline=None)
def test_sites_are_spread_evenly_over_the_queues(runs, people, overlap):
    queues = divide_runs(runs, [f"p{number}" for number in range(people)], overlap, 1)
    site_of = dict(runs)
    for site in set(site_of.values()):
        counts = [sum(site_of[run] == site for run in queue) for queue in queues.values()]
        assert max(counts) - min(counts) <= 3


def test_the_second_annotator_rotates_over_all_pairs():
    queues = divide_runs([(f"r{n}", "git") for n in range(60)], ["ann", "bob", "eve"], 0.5, 1)
    both = Counter(
        pair for pair in combinations(queues, 2) for _ in set(queues[pair[0]]) & set(queues[pair[1]])
    )
    assert sorted(both.values()) == [10, 10, 10]


def test_another_seed_divides_otherwise():
    runs = [(f"r{n}", "git") for n in range(20)]
    assert divide_runs(runs, ["ann", "bob"], 0.2, 1) != divide_runs(runs, ["ann", "bob"], 0.2, 2)
