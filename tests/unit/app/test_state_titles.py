"""Short names of a map's states: one row a clause of the rule in ``app.models.graph.state_titles``."""

from __future__ import annotations

import time

import pytest

from app.models.graph.state_titles import state_titles

AT = "http://shop.example"


@pytest.mark.parametrize(
    ("clause", "pages", "wanted"),
    [
        (
            "1: the site's name behind a separator is dropped",
            [("Ash Stool · Larkspur Goods", f"{AT}/p/1"), ("Cart · Larkspur Goods", f"{AT}/cart"),
             ("Orders · Larkspur Goods", f"{AT}/orders")],
            ("Ash Stool", "Cart", "Orders"),
        ),
        (
            "1: and before one",
            [("GitLab | Issues", f"{AT}/i"), ("GitLab | Merge requests", f"{AT}/m"), ("GitLab | Wiki", f"{AT}/w")],
            ("Issues", "Merge requests", "Wiki"),
        ),
        (
            "1: what only two of ten share stays",
            [("A - x", f"{AT}/a"), ("B - x", f"{AT}/b"), *((f"T{n}", f"{AT}/{n}") for n in range(8))],
            ("A - x", "B - x", *(f"T{n}" for n in range(8))),
        ),
        (
            "1: a hyphen within a word separates nothing",
            [("T-shirt", f"{AT}/1"), ("Mini-shirt", f"{AT}/2"), ("Night-shirt", f"{AT}/3")],
            ("T-shirt", "Mini-shirt", "Night-shirt"),
        ),
        (
            "2: a title that is the site's name alone keeps it",
            [("Larkspur", f"{AT}/"), ("Cart · Larkspur", f"{AT}/cart"), ("Help · Larkspur", f"{AT}/help"),
             ("Orders · Larkspur", f"{AT}/orders")],
            ("Larkspur", "Cart", "Help", "Orders"),
        ),
        ("3: without a title the path", [("", f"{AT}/a/b?c=1")], ("/a/b?c=1",)),
        (
            "4: equal names by the parameter that differs",
            [("Shelf", f"{AT}/s?sort=price&n=2"), ("Shelf", f"{AT}/s?sort=name&n=2")],
            ("Shelf · sort=price", "Shelf · sort=name"),
        ),
        (
            "4: the one without the parameter keeps its name",
            [("Shelf", f"{AT}/s"), ("Shelf", f"{AT}/s?sort=name")],
            ("Shelf", "Shelf · sort=name"),
        ),
        (
            "4: else by the part of the path that differs",
            [("Edit", f"{AT}/user/ana/edit"), ("Edit", f"{AT}/user/ben/edit")],
            ("Edit · ana", "Edit · ben"),
        ),
        (
            "4: two parameters at most",
            [("List", f"{AT}/l?a=1&b=1&c=1"), ("List", f"{AT}/l?a=2&b=2&c=2")],
            ("List · a=1, b=1", "List · a=2, b=2"),
        ),
        (
            "5: equal names and addresses are numbered",
            [("Home", f"{AT}/"), ("Home", f"{AT}/"), ("home", f"{AT}/")],
            ("Home", "Home (2)", "home (3)"),
        ),
        ("no states", [], ()),
    ],
)  # fmt: skip
def test_each_clause_of_the_rule(clause, pages, wanted):
    assert state_titles(pages) == wanted, clause


def test_a_map_of_ten_thousand_states_is_named_in_half_a_second():
    pages = [(f"Page {n % 700} · Shop", f"{AT}/p/{n}?sort={n % 7}") for n in range(10_000)]
    began = time.process_time()
    assert len(set(state_titles(pages))) == len(pages)
    assert time.process_time() - began < 0.5
