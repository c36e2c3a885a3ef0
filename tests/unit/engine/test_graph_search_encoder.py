"""Search over states with the real encoder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.engine.graph.search import StateSearch, StateText
from app.engine.graph.search.compare import read_queries
from kb.encoder import load_encoder
from tests.support.encoder import exported_copy, has_torch

MENU = ("link Dashboard", "link Catalogue", "link Fulfilment", "link Customers", "link Sign out")
STATES = (
    (
        "/admin/orders",
        "Orders",
        ("All orders",),
        ("textbox Order number", "combobox Status", "button Export"),
    ),
    ("/admin/orders/{n}", "Order 1007", ("Lines", "Shipping address"), ("button Change status",)),
    ("/admin/people", "Customers", ("Registered",), ("textbox Email", "button Search")),
    ("/admin/goods/{n}", "Oak stool", ("Stock and pricing",), ("spinbutton Number in stock", "button Save")),
    ("/admin/codes", "Vouchers", (), ("button Create a new code",)),
    ("/basket", "Basket", ("Items to buy now",), ("button Proceed to checkout", "link I have a code")),
    ("/sign-in", "Log in or register", (), ("textbox Email address", "textbox Password")),
)


@pytest.fixture(scope="module")
def search() -> StateSearch:
    found = StateSearch(load_encoder(exported_copy(), allow_export=False))
    found.update(
        StateText(
            node=template,
            template=template,
            title=f"{title} | Workshop",
            headings=headings,
            controls=(*MENU, *controls),
            address=template.replace("/", " "),
        )
        for template, title, headings, controls in STATES
    )
    return found


@has_torch
@pytest.mark.parametrize(
    ("query", "node"),
    [
        ("where do I see a customer's orders", "/admin/orders"),
        ("page to edit how many of a product are in stock", "/admin/goods/{n}"),
        ("list of people who have an account", "/admin/people"),
        ("give out a coupon", "/admin/codes"),
        ("pay for what I want", "/basket"),
    ],
)
def test_a_question_in_other_words_finds_the_page(search: StateSearch, query: str, node: str):
    assert search.search(query, "late", 1)[0].node == node


@has_torch
def test_it_says_which_words_answered(search: StateSearch):
    (hit,) = search.search("where do I see a customer's orders", "late", 1)
    assert hit.matched[0].casefold() == "orders"
    assert "Customers" in hit.matched


@pytest.mark.parametrize("name", ["queries_demo.jsonl", "queries_shop.jsonl"])
def test_the_labelled_queries_that_come_with_the_benchmark_can_be_read(name: str):
    path = Path(__file__).resolve().parents[3] / "benchmarks" / "data" / name
    queries = read_queries(path.read_text("utf-8"), name)
    assert len({query.query for query in queries}) == len(queries) >= 25
    assert all(glob.startswith("/") for query in queries for glob in query.expect)


@has_torch
@pytest.mark.parametrize(
    ("query", "like"),
    [
        ("where do I see a customer's orders", True),
        ("give out a coupon code", True),
        ("sign in with my password", True),
        ("weather in Oslo tomorrow", False),
        ("pull requests waiting for my review", False),
        ("how to bake sourdough bread", False),
        ("zqxv blorp", False),
    ],
)
def test_a_question_about_another_site_is_like_nothing(search: StateSearch, query: str, like: bool):
    assert search.likely(query).like is like


@pytest.mark.parametrize("name", ["navigate_demo.jsonl", "navigate_gitlab.jsonl", "navigate_shop.jsonl"])
def test_half_of_the_questions_for_the_threshold_have_no_answer_and_none_stands_twice(name: str):
    path = Path(__file__).resolve().parents[3] / "benchmarks" / "data" / name
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len({row["query"] for row in rows}) == len(rows) == 80
    assert sum(not row["expect"] for row in rows) == 40
