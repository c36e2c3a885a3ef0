"""The written rule of retrieval (head of ``kb/retrieval/cascade.py``), one row a clause."""

from __future__ import annotations

import numpy as np
import pytest

from kb.retrieval import RetrievalSettings, Retriever, estimate_tokens
from kb.retrieval.cascade import ranks, take, with_place
from kb.tip import Query
from tests.support.tips import HOSTS, tip

SETTINGS = RetrievalSettings(url_threshold=0.2, keyword_threshold=0.5, embedding_threshold=0.4)

Scores = tuple[float, float, float]
"""URL, keyword, embedding; 0 is "not found"."""

BEFORE: tuple[tuple[str, Scores, Scores], ...] = (
    ("the address goes before words, however well they fit", (0.2, 0, 0), (0, 1.0, 1.0)),
    ("words go before meaning, however near it is", (0, 0.5, 0), (0, 0.4999, 1.0)),
    ("meaning goes before a whole-site scope", (0, 0, 0.4), (0.1999, 0.4999, 0.3999)),
    ("what words back leaves the weak class", (0.1, 0.5, 0), (0.1, 0.4999, 0)),
    ("what meaning backs leaves the weak class", (0.1, 0, 0.4), (0.1999, 0.4, 0.3999)),
    ("URL: its own score decides first", (0.3, 0, 0), (0.2999, 1.0, 1.0)),
    ("URL: then the words", (0.3, 0.4, 0.1), (0.3, 0.3, 0.9)),
    ("URL: then the meaning", (0.3, 0.4, 0.2), (0.3, 0.4, 0.1)),
    ("keyword: its own score decides first", (0, 0.6, 0), (0.1999, 0.5999, 1.0)),
    ("keyword: then the address", (0.1, 0.6, 0.1), (0.05, 0.6, 0.9)),
    ("keyword: then the meaning", (0.1, 0.6, 0.2), (0.1, 0.6, 0.1)),
    ("embedding: its own score decides first", (0, 0, 0.6), (0.1999, 0.4999, 0.5999)),
    ("embedding: then the address", (0.1, 0.1, 0.6), (0.05, 0.4, 0.6)),
    ("embedding: then the words", (0.1, 0.2, 0.6), (0.1, 0.1, 0.6)),
    ("weak address: its own score decides first", (0.15, 0, 0), (0.1, 0.4, 0.3)),
    ("weak address: then the words", (0.1, 0.3, 0.1), (0.1, 0.2, 0.3)),
    ("weak address: then the meaning", (0.1, 0.3, 0.2), (0.1, 0.3, 0.1)),
    ("a step of 0.0001 decides", (0, 0.6001, 0), (0, 0.6, 0)),
    ("what any route found goes before what none found", (0.0001, 0, 0), (0, 0.4999, 0.3999)),
)


@pytest.mark.parametrize(("first", "second"), [row[1:] for row in BEFORE], ids=[row[0] for row in BEFORE])
@pytest.mark.parametrize("swapped", [False, True])
def test_of_two_tips_the_rule_says_which_comes_first(first: Scores, second: Scores, swapped: bool) -> None:
    scores = np.array([second, first] if swapped else [first, second])
    # The smaller id is given to the one that is to come second: an id never outweighs a score.
    place = np.array([0, 1] if swapped else [1, 0])
    found = with_place(ranks(scores[:, 0], scores[:, 1], scores[:, 2], SETTINGS), place)
    before, behind = (1, 0) if swapped else (0, 1)
    assert found[before] > found[behind]


def test_with_all_scores_equal_the_smaller_id_comes_first_whatever_came_in_first() -> None:
    for row in ((0.3, 0.3, 0.3), (0, 0.6, 0), (0, 0, 0.6), (0.1, 0, 0)):
        u, w, e = (np.full(2, score) for score in row)
        both = ranks(u, w, e, SETTINGS)
        assert with_place(both, np.array([0, 1]))[0] > with_place(both, np.array([0, 1]))[1]
        assert with_place(both, np.array([1, 0]))[1] > with_place(both, np.array([1, 0]))[0]


def test_what_no_route_found_has_no_rank() -> None:
    nothing = np.zeros(1)
    assert with_place(ranks(nothing, nothing, nothing, SETTINGS), np.array([0])).tolist() == [-1]
    assert ranks(nothing, np.array([0.4999]), np.array([0.3999]), SETTINGS).tolist() == [-1]


CUTS: tuple[tuple[str, list[int], int, int, list[int], int], ...] = (
    ("all that fit are taken", [3, 3], 5, 10, [0, 1], 6),
    ("one that fits exactly is taken", [4, 6], 5, 10, [0, 1], 10),
    ("one alone that fits exactly is taken", [10], 5, 10, [0], 10),
    ("one token too many is left out", [4, 7], 5, 10, [0], 4),
    ("a shorter one behind it may still be taken", [4, 7, 6], 5, 10, [0, 2], 10),
    ("one passed over costs nothing", [11, 10], 5, 10, [1], 10),
    ("k are taken and no more", [1, 1, 1], 2, 10, [0, 1], 2),
    ("one passed over does not count for k", [11, 1, 1, 1], 2, 10, [1, 2], 2),
    ("nothing fits no budget", [1], 5, 0, [], 0),
    ("no tip is none", [], 5, 10, [], 0),
)


@pytest.mark.parametrize(
    ("tokens", "k", "budget", "taken", "used"), [row[1:] for row in CUTS], ids=[row[0] for row in CUTS]
)
def test_the_cut(tokens: list[int], k: int, budget: int, taken: list[int], used: int) -> None:
    assert take(tokens, k, budget) == (taken, used)


def test_a_tip_that_fills_the_budget_to_the_last_token_is_delivered() -> None:
    tips = [tip("a", "Milestones close themselves", scope="/p"), tip("b", "Hover the menus", scope="/p")]
    whole = sum(estimate_tokens(one.text) for one in tips)
    query = Query(url="http://h:8023/p")
    for budget, delivered in ((whole, ["a", "b"]), (whole - 1, ["a"])):
        found = Retriever(tips, HOSTS, settings=RetrievalSettings(token_budget=budget)).retrieve(query)
        assert [one.tip.id for one in found.results] == delivered
