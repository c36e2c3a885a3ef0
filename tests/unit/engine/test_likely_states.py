"""A page's text finds what nothing else on it says, and a map that has nothing like a description says so."""

from __future__ import annotations

import pytest

from app.engine.graph.search import METHODS, StateSearch, StateText
from app.engine.graph.search.likeness import LEAST, SHARE_WORTH, likeness, rarity
from app.engine.graph.search.page_text import MAX_PAGE_TEXT, PageTextIndex
from tests.support.encoder import HashingTokenEncoder

MENU = ("link Home", "link Orders", "link About us")
STATES = (
    StateText(
        node="home", title="Northgate", headings=("Welcome",), controls=MENU, text="Oak stools and orders"
    ),
    StateText(node="orders", title="Orders", headings=("All orders",), controls=MENU, address="orders"),
    StateText(
        node="about",
        title="About us",
        controls=MENU,
        address="about",
        text="We make stools.\nReturn policy: send anything back within thirty days. Orders leave on Fridays.",
    ),
    StateText(node="stool", title="Oak stool", controls=MENU, address="oak stool", text="A stool of oak."),
)


def made(*methods: str) -> StateSearch:
    search = StateSearch(HashingTokenEncoder() if "keyword" not in methods else None)
    search.update(STATES)
    return search


@pytest.mark.parametrize("method", ["late", "keyword"])
def test_a_page_is_found_by_its_text(method: str):
    hits = made(method).search("page with the return policy", method, 2)
    assert hits[0].node == "about"
    assert hits[0].score > 0


@pytest.mark.parametrize("method", METHODS)
def test_a_page_that_only_mentions_a_heading_s_word_does_not_come_before_it(method: str):
    assert made(method).search("orders", method, 1)[0].node == "orders"
    assert made(method).search("oak stool", method, 1)[0].node == "stool"


def test_a_text_adds_nothing_by_words_that_a_title_heading_or_control_of_the_map_has():
    with_text, without = made(), StateSearch(HashingTokenEncoder())
    without.update(StateText(node=s.node, title=s.title, headings=s.headings, controls=s.controls, address=s.address)
                   for s in STATES)  # fmt: skip
    assert with_text.search("all oak orders") == without.search("all oak orders")
    assert with_text.search("policy") != without.search("policy")


def test_a_word_on_every_page_counts_less_than_a_rare_one():
    index = PageTextIndex()
    index.update({"a": "terms shipping", "b": "terms", "c": "terms and more"})
    shares = index.shares("shipping terms")
    assert shares["a"] == pytest.approx(1.0)
    assert shares["b"] == shares["c"] < 0.3
    assert rarity(1, 10) > rarity(9, 10)


def test_texts_are_bounded_replaced_and_removed():
    index = PageTextIndex()
    index.update({"a": "x" * MAX_PAGE_TEXT + " beyond", "b": "old words"})
    assert index.shares("beyond") == {}
    index.update({"b": "fresh"}, gone=["a"])
    assert index.shares("old words") == {}
    assert index.shares("fresh") == {"b": 1.0}
    index.update({}, gone=["b"])
    assert index.stems("b") == set()


# ---------------------------------------------------------------- nothing like it
@pytest.mark.parametrize(
    ("cosines", "held", "total", "missing"),
    [
        ((0.5, 0.3), {"oak", "stool"}, 0.8 + SHARE_WORTH, ()),
        ((0.5, 0.3), set(), 0.8, ("oak", "stools")),
        ((), {"oak"}, SHARE_WORTH * 0.75, ("stools",)),
        ((0.4,), {"stool"}, 0.4 + SHARE_WORTH * 0.25, ("oak",)),
    ],
)
def test_likeness_is_the_cosines_and_the_weighted_share_of_the_words_that_stand_there(
    cosines, held, total, missing
):
    found = likeness(cosines, {"oak": 3.0, "stool": 1.0}, held, {"oak": "oak", "stool": "stools"})
    assert found.total == pytest.approx(total)
    assert found.missing == missing


@pytest.mark.parametrize("query", ["weather in Oslo tomorrow", "blood pressure of a patient", "zqxv blorp"])
def test_where_no_state_holds_the_words_nothing_is_like_them_and_the_nearest_are_told(query: str):
    for search in (made(), made("keyword")):
        assert not search.likely(query).like
    assert len(made().likely(query).hits) == len(STATES)


def test_an_empty_description_is_like_nothing():
    assert made().likely("") == (False, ())


@pytest.mark.parametrize("kind", ["", "keyword"])
def test_what_is_like_it_comes_best_first_and_is_few(kind: str):
    search = made(kind)
    found = search.likely("all orders")
    assert found.like
    assert found.hits[0][0].node == "orders"
    assert [hit.score for hit, _ in found.hits] == sorted((hit.score for hit, _ in found.hits), reverse=True)
    assert max(like.total for _, like in found.hits) >= LEAST[0 if kind else 2]
    assert len(search.likely("oak stools", 2).hits) == 2


def test_words_of_a_text_are_told_as_matched_and_those_that_are_not_there_as_missing():
    hit, like = made().likely("return policy for zebras").hits[0]
    assert hit.node == "about"
    assert {"return", "policy"} <= set(hit.matched)
    assert like.missing == ("zebras",)
