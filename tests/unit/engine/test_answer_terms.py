"""The terms of an answer, and whether they stand on a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.answer_places import MOST_ON_A_PAGE, MOST_PLACES, SearchedPage, find_places
from app.engine.core.answer_terms import FoldedPage, answer_terms, folded_words, number_values

PAGE = (
    "RootWebArea 'Orders'\n\t[17] row 'Order 000000187 Jan 5, 2023 $1,234.50'\n\t\tStaticText 'Café Müller'\n"
    "\t[18] textbox 'Qty', value='42'\n\t\tStaticText '1\u00a0334 items; 12.5% off'"
)


@pytest.mark.parametrize(
    ("answer", "terms"),
    [
        ("17", [("number", "17")]),
        ("$1,234.00", [("number", "$1,234.00")]),
        ("794m", [("number", "794m")]),
        ("on Jan 5, 2023", [("number", "Jan 5, 2023")]),
        ("at 5:38", [("number", "5:38")]),
        ("May, 0", [("number", "0"), ("name", "May")]),
        ("The customer is Emma Lopez.", [("name", "Emma Lopez"), ("words", "customer")]),
        ("Hoboken (Amanda Kim's city)", [("name", "Hoboken"), ("name", "Amanda Kim"), ("words", "city")]),
        ("One Stop Market", [("name", "One Stop Market")]),
        ("B0976WN9JY", [("name", "B0976WN9JY")]),
        ("byteblaze/dotfiles", [("name", "byteblaze/dotfiles")]),
        ("ask a@b.com", [("name", "a@b.com")]),
        ('it says "not great"', [("words", "not great"), ("words", "says")]),
        ("the fabric is thin", [("words", "fabric"), ("words", "thin")]),
        ("Yes", []),
        ("N/A", []),
        ("There are none.", []),
        ("", []),
    ],
)
def test_an_answer_has_these_terms(answer, terms):
    assert [(term.kind, term.text) for term in answer_terms(answer)] == terms


def test_a_term_that_the_task_says_is_marked():
    found = {
        term.text: term.in_task for term in answer_terms("Emma Lopez has 17", "How many has Emma Lopez?")
    }
    assert found == {"17": False, "Emma Lopez": True}


@pytest.mark.parametrize(
    ("answer", "stands"),
    [
        ("1234.5", True),
        ("$1,234.50", True),
        ("1.234,50", True),
        ("1234", False),
        ("234", False),
        ("2023-01-05", True),
        ("5 January 2023", True),
        ("1/5/23", True),
        ("January 5th", True),
        ("Jan 6, 2023", False),
        ("187", True),
        ("order 0187", True),
        ("cafe muller", True),
        ("CAFÉ MÜLLER", True),
        ("Müll", False),
        ("42", True),
        ("1334", True),
        ("12.50 %", True),
        ("17", False),
    ],
)
def test_a_term_is_found_in_any_usual_form(answer, stands):
    (term, *_) = answer_terms(answer)
    assert FoldedPage(PAGE).holds(term) is stands


@pytest.mark.parametrize(
    ("token", "values"),
    [
        ("1,234.50", {"1234.5"}),
        ("1,234", {"1234"}),
        ("1.234", {"1.234", "1234"}),
        ("1.234.567", {"1234567", "1.234.567"}),
        ("12,5", {"12.5", "12", "5"}),
        ("007", {"7"}),
        ("3.0", {"3"}),
        ("0", {"0"}),
    ],
)
def test_a_written_number_stands_for_these_values(token, values):
    assert number_values(token) == values


def test_a_place_names_step_row_and_the_words_of_the_line():
    pages = [SearchedPage(step=3, url="u", title="t", tree=PAGE)]
    terms = answer_terms("187 and 42 and 99")
    found = dict(zip([term.text for term in terms], find_places(terms, pages, str.splitlines), strict=True))
    (order,) = found["187"]
    assert (order.step, order.row, order.text) == (3, 1, "Order 000000187 Jan 5, 2023 $1,234.50")
    assert [place.row for place in found["42"]] == [3]
    assert found["99"] == ()


def test_element_ids_and_roles_are_no_text_of_a_page():
    pages = [SearchedPage(step=0, url="", title="", tree=PAGE)]
    terms = answer_terms("17 textbox")
    assert find_places(terms, pages, str.splitlines) == [(), ()]


def test_a_page_that_comes_again_counts_once_and_places_are_limited():
    trees = [f"RootWebArea 'P{at}'\n" + "\n".join(f"\tcell 'Emma {n}'" for n in range(9)) for at in range(9)]
    pages = [
        SearchedPage(step=at, url="", title="", tree=tree)
        for at, tree in enumerate([trees[0], trees[0], *trees[1:]])
    ]
    (places,) = find_places(answer_terms("Emma"), pages, str.splitlines)
    assert len(places) == MOST_PLACES
    assert [place.step for place in places[: 2 * MOST_ON_A_PAGE]] == [0] * MOST_ON_A_PAGE + [
        2
    ] * MOST_ON_A_PAGE


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing_more(text):
    assert folded_words(folded_words(text)) == folded_words(text)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_read(answer, page):
    for term in answer_terms(answer, page):
        FoldedPage(page).holds(term)
        assert FoldedPage(answer).holds(term) or term.kind != "number" or not term.numbers


@pytest.mark.parametrize("piece", ["a", ".", " ", "0", "A. ", "1,", "a@", "a/", "'", '"a', "é", "\n "])
def test_a_long_answer_of_one_character_is_read(piece):
    assert len(answer_terms(piece * 20_000, piece * 20_000)) <= 24
