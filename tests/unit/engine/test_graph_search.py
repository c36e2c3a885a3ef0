from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.core.page_state import PageKeys, PageState
from app.engine.graph.search import METHODS, StateSearch, StateText, state_text
from app.engine.graph.search.compare import LabelledQuery, compare, read_queries
from app.engine.graph.search.late_interaction import PLAIN, LateIndex, Weighting
from app.engine.graph.search.state_text import FieldKind, address_words, fields
from app.engine.graph.search.tokens import PackedTokens, pack_tokens, packed_tokens, word_at
from app.errors import InputError, UsageError
from kb.encoder import TokenVectors
from kb.vectors import MemoryVectors
from tests.support.encoder import HashingEncoder, HashingTokenEncoder

MENU = ("link Home", "link Orders", "link Customers", "button Sign out")
STATES = (
    StateText(node="home", title="Northgate", headings=("Welcome",), controls=MENU, address=""),
    StateText(
        node="orders",
        title="Orders | Northgate",
        headings=("Orders", "Find an order"),
        controls=(*MENU, "textbox Number", "button Search"),
        address="admin orders",
    ),
    StateText(
        node="people",
        title="Customers | Northgate",
        headings=("Customers",),
        controls=(*MENU, "textbox Email address"),
        address="admin people",
    ),
    StateText(
        node="stool",
        title="Oak stool | Northgate",
        headings=("Oak stool", "What others say"),
        controls=(*MENU, "button Add to basket"),
        address="catalogue oak stool",
    ),
)


def made(*states: StateText, encoder: HashingEncoder | None = None) -> StateSearch:
    search = StateSearch(encoder or HashingTokenEncoder())
    search.update(states or STATES)
    return search


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_state_with_the_query_words(method: str):
    search = made()

    assert [hit.node for hit in search.search("the oak stool", method, 1)] == ["stool"]
    assert [hit.node for hit in search.search("find an order", method, 1)] == ["orders"]


def test_late_interaction_is_equation_4_over_all_tokens_of_a_state():
    encoder = HashingTokenEncoder()
    index = LateIndex(encoder, weighting=PLAIN)
    index.update({state.node: fields(state) for state in STATES})
    query = "email address of customers"

    nodes, scores = index.scores(query)

    asked = encoder.encode(["[begin]", *query.split()])
    for node, score in zip(nodes, scores, strict=True):
        state = next(state for state in STATES if state.node == node)
        said = " ".join(field.text for field in fields(state).fields).replace("|", " ").split()
        expected = (asked @ encoder.encode(["[begin]", *said]).T).max(axis=1).mean()
        assert score == pytest.approx(expected, abs=0.01)


def test_a_control_on_every_state_scores_less_than_a_unique_one():
    menu = Weighting(control=1.0, shared=0.5)
    shared = [StateText(node=f"s{n}", title=f"t{n}", controls=("link Orders",)) for n in range(9)]
    alone = StateText(node="alone", title="t9", controls=("link Orders", "link Refunds"))
    search = StateSearch(HashingTokenEncoder(), weighting=menu)
    search.update([*shared, alone])

    hits = {hit.node: hit.score for hit in search.search("refunds", k=10)}
    everywhere = {hit.node: hit.score for hit in search.search("orders", k=10)}

    begin = 1.0  # the mark in front of the title, which no other state has
    assert hits["alone"] == pytest.approx((begin + 1) / 2, abs=0.01)
    assert everywhere["alone"] == pytest.approx((begin + 0.5) / 2, abs=0.01)


def test_matched_words_are_listed_best_first_without_stop_words():
    search = made()

    (hit,) = search.search("where is the stool made of Oak?", k=1)
    assert sorted(hit.matched[:2]) == ["Oak", "stool"]
    assert "oak" in search.search("where is the oak stool?", "keyword", 1)[0].matched

    match = search._late.matches("say what?", "stool")[0]
    assert (match.asked, match.word, match.kind, match.text) == (
        "say",
        "say",
        FieldKind.HEADING,
        "What others say",
    )
    assert match.likeness == pytest.approx(1, abs=0.01)


def test_the_same_states_in_another_order_give_the_same_answer():
    forwards, backwards = made(*STATES), made(*STATES[::-1])
    for method in METHODS:
        for query in ("orders of a customer", "basket", "say"):
            assert forwards.search(query, method) == backwards.search(query, method)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.lists(
            st.builds(
                StateText,
                node=st.sampled_from("abcd"),
                title=st.sampled_from(("red door", "blue door", "")),
                headings=st.lists(st.sampled_from(("green", "open window", "?!")), max_size=2).map(tuple),
                controls=st.lists(st.sampled_from(("link roof", "button wall")), max_size=2).map(tuple),
            ),
            max_size=4,
            unique_by=lambda state: state.node,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_an_updated_index_answers_like_a_new_one(versions: list[list[StateText]]):
    encoder = HashingTokenEncoder(dim=8)
    kept = StateSearch(encoder)
    for states in versions:
        kept.update(states)
    fresh = StateSearch(encoder)
    fresh.update(versions[-1])

    for method in METHODS:
        for query in ("red window", "roof", "?"):
            expected = {hit.node: hit.score for hit in fresh.search(query, method)}
            found = {hit.node: hit.score for hit in kept.search(query, method)}
            assert found == pytest.approx(expected, abs=1e-5)


def test_texts_of_removed_states_free_their_memory():
    search = StateSearch(HashingTokenEncoder())
    for round_ in range(4):
        search.update(
            StateText(node=f"n{n}", title=f"page {round_} {n}", headings=(f"heading {round_ * 500 + n}",))
            for n in range(200)
        )

    late = search._late
    assert late is not None
    assert late.tokens < 3 * 200 * (1 + 3 + 1 + 2)
    assert search.search("heading 1501", k=1)[0].node == "n1"


def test_a_text_is_encoded_once_however_many_states_hold_it_and_never_again():
    cache = MemoryVectors()
    first, again = HashingTokenEncoder(), HashingTokenEncoder()
    StateSearch(first, cache).update(STATES)
    assert len(first.texts) == len(set(first.texts))

    search = StateSearch(again, cache)
    assert search.update(STATES) == len(STATES)
    assert again.encoded == 0
    assert search.update(STATES) == 0
    assert search.search("oak stool", k=1) == made().search("oak stool", k=1)


def test_progress_counts_the_texts_to_be_encoded():
    told: list[tuple[int, int]] = []
    packed_tokens(HashingTokenEncoder(), [f"text {n}" for n in range(100)], None, lambda *at: told.append(at))
    assert told == [(64, 100), (100, 100)]


def test_without_an_encoder_only_keyword_search_is_available():
    search = StateSearch(None)
    search.update(STATES)

    assert search.methods == ("keyword",)
    assert search.resolve_method("late") == "keyword"
    assert search.search("customers", search.resolve_method("late"))[0].node == "people"
    with pytest.raises(UsageError, match=r"needs an encoder with token vectors .*take keyword"):
        search.search("customers", "late")
    with pytest.raises(UsageError, match="no search method 'best'"):
        search.search("customers", "best")


def test_an_encoder_without_token_vectors_allows_dense_search():
    search = made(encoder=HashingEncoder())
    assert search.methods == ("dense", "keyword")
    assert search.search("oak stool", "dense", 1)[0].node == "stool"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("query", ["", "   ", "\x00", "?!", "\ud800", "אין דבר", "a" * 5_000])
def test_an_empty_or_very_long_query_is_no_error(method: str, query: str):
    assert len(made().search(query, method)) <= len(STATES)


@pytest.mark.parametrize("method", METHODS)
def test_a_graph_without_states_or_with_a_state_without_a_word_finds_nothing(method: str):
    search = StateSearch(HashingTokenEncoder())
    assert search.search("orders", method) == []
    search.update([StateText(node="blank")])
    assert [hit for hit in search.search("orders", method) if hit.score > 0.5] == []


def test_keyword_search_finds_inflections_and_typos():
    search = made()
    assert search.search("customer", "keyword", 1)[0].node == "people"
    assert search.search("custommers", "keyword", 1)[0].node == "people"


def test_a_rare_word_counts_more_than_one_of_every_menu():
    states = [StateText(node=f"n{n}", title=f"page {n}", controls=("link Refunds",)) for n in range(9)]
    special = StateText(node="special", title="page", headings=("Warranty",), controls=("link Refunds",))
    assert made(*states, special).search("warranty refunds", "keyword", 1)[0].node == "special"


def page(url: str, title: str, controls: Sequence[str] = (), headings: Sequence[str] = ()) -> PageState:
    return PageState(
        id=url,
        keys=PageKeys(url=url, template=url, structure="", skeleton=""),
        url=url,
        title=title,
        headings=tuple(headings),
        controls=tuple(controls),
    )


def test_a_node_of_several_pages_has_the_texts_of_all_once():
    text = state_text(
        "n",
        [
            page("/product/oak-stool_12", "Oak  stool", ["button Buy", "link Home"], ["Oak stool"]),
            page("/product/elm-table", "Elm table", ["button Buy"], ["Elm table"]),
        ],
    )

    assert text.title == "Oak stool · Elm table"
    assert text.address == "product oak stool 12 product elm table"
    assert [field.text for field in fields(text).fields if field.kind is FieldKind.CONTROL] == ["Buy", "Home"]


def test_a_nameless_control_or_an_empty_heading_is_no_field():
    state = StateText(node="n", headings=(" ", "x " * 500), controls=("button", "button ", "odd thing"))
    assert [field.text for field in fields(state).fields] == [("x " * 500)[:160], "odd thing"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("/catalogue/oak-stool_12/", "catalogue oak stool 12"),
        ("http://shop/a%20b?q=%C3%A9t%C3%A9", "shop a b q été"),
        ("/", ""),
    ],
)
def test_an_address_is_read_as_words(url: str, words: str):
    assert address_words(url) == words


def test_packed_vectors_lose_little_and_leave_punctuation_out():
    text = "Oak, elm - ash"
    encoder = HashingTokenEncoder(dim=384)
    (tokens,) = encoder.encode_tokens([text])

    packed = pack_tokens(text, tokens)

    assert [text[start:end] for start, end in packed.spans.tolist()] == ["", "Oak", "elm", "ash"]
    exact = tokens.vectors[[0, 1, 3, 5]]
    unpacked = packed.values * packed.scales[:, None]
    assert np.abs(unpacked @ exact.T - exact @ exact.T).max() < 0.005
    again = PackedTokens.from_bytes(packed.to_bytes(), 384)
    assert again is not None
    assert (again.values == packed.values).all()
    assert (again.spans == packed.spans).all()
    assert PackedTokens.from_bytes(packed.to_bytes(), 128) is None
    assert PackedTokens.from_bytes(b"", 384) is None


def test_a_text_of_punctuation_alone_keeps_it():
    tokens = TokenVectors(np.eye(3, dtype=np.float32), ((0, 0), (0, 1), (2, 3)))
    assert pack_tokens("← →", tokens).spans.tolist() == [[0, 0], [0, 1], [2, 3]]
    assert len(pack_tokens("", TokenVectors(np.eye(1, dtype=np.float32), ((0, 0),))).scales) == 0


def test_a_word_piece_is_shown_as_the_whole_word():
    assert word_at("see wishlists now", 8, 12) == "wishlists"


QUERIES = """
{"query": "where are the orders", "expect": ["/admin/orders"]}

{"query": "oak stool", "expect": ["/product/*"]}
{"query": "the moon", "expect": ["/moon"]}
{"query": "zzz", "expect": ["/admin/**"], "note": "nobody can find this"}
"""
PLACES = {
    "home": ("/",),
    "orders": ("/admin/orders", "/admin/orders?page=2"),
    "people": ("/admin/people",),
    "stool": ("/product/{id}", "/product/oak-stool"),
}


def test_the_methods_are_compared_on_the_same_queries():
    states = [StateText(node=f"n{n}", title=f"zz{n}") for n in range(20)]
    search = StateSearch(None)
    search.update([*STATES, *states])
    places = PLACES | {state.node: ("/other",) for state in states}

    result = compare("shop", search, places, read_queries(QUERIES))

    assert (result.site, result.states, result.queries) == ("shop", 24, 3)
    (score,) = result.methods
    assert (score.method, score.recall_at_1, score.recall_at_10) == ("keyword", 0.6667, 0.6667)
    assert score.mrr == pytest.approx(2 / 3, abs=1e-4)
    assert score.p95_ms >= score.p50_ms > 0
    assert result.missed == ("zzz",)
    assert result.absent == ("the moon",)


def test_all_three_methods_are_compared_where_there_is_an_encoder():
    told: list[tuple[int, int]] = []
    result = compare("shop", made(), PLACES, read_queries(QUERIES), lambda *at: told.append(at))

    assert [score.method for score in result.methods] == list(METHODS)
    assert all(score.recall_at_10 == 1 for score in result.methods[:2])
    assert result.methods[0].megabytes > 0
    assert told[-1] == (9, 9)


@pytest.mark.parametrize(
    ("glob", "place", "answers"),
    [
        ("/orders/{n}", "/orders/{n}", True),
        ("/orders/{n}/", "/orders/{n}", True),
        ("/orders/*", "/orders/12", True),
        ("/orders/*", "/orders/12/lines", False),
        ("/orders/**", "/orders/12/lines", True),
        ("/orders", "/orders/12", False),
        ("/a.b", "/aXb", False),
        ("/", "/", True),
    ],
)
def test_expected_states_of_a_query_are_patterns(glob: str, place: str, answers: bool):
    assert LabelledQuery("q", (glob,)).answered_by([place]) is answers


@pytest.mark.parametrize(
    "line",
    [
        "nonsense", "[]", '{"query": "x"}', '{"query": "", "expect": ["/"]}', '{"query": "x", "expect": []}',
        '{"query": "x", "expect": "/"}', '{"query": "x", "expect": [3]}', '{"query": "x", "expect": [""]}', "[" * 9_999,
    ],
)  # fmt: skip
def test_a_bad_line_is_named(line: str):
    with pytest.raises(InputError, match=r"shop\.jsonl, line 2"):
        read_queries('{"query": "x", "expect": ["/"]}\n' + line, "shop.jsonl")


def test_a_file_without_queries_is_refused():
    with pytest.raises(InputError, match="no query"):
        read_queries("\n\n", "empty.jsonl")
