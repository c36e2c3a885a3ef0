"""Questions over several pages: which pages are read together, and what is no evidence for an answer."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from app.engine.core.actions.types import ReportInfeasible, Stop
from tests.support.scout_walk import document, walk

MENU = '<a href="/lamps">Lamps</a><a href="/chairs">Chairs</a><a href="/all">Everything</a>'


def table(*rows: tuple[str, ...], head: str = "Name,Price") -> str:
    names = "".join(f"<th>{one}</th>" for one in head.split(","))
    told = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{names}</tr>{told}</table>"


def linked(name: str) -> str:
    return f'<a href="/item/{name.lower()}">{name}</a>'


def site(pages: Mapping[str, str]) -> dict[str, str]:
    told = {path: one.partition("|") for path, one in pages.items()}
    return {path: document(title, body, MENU) for path, (title, _, body) in told.items()}


LAMPS = table((linked("Aria"), "$12.50"), (linked("Bruna"), "$8.00"))
CHAIRS = table((linked("Cosima"), "$99.00"), (linked("Chairs-cover"), "$3.00"), (linked("Dora"), "$40.00"))
SHOP = site(
    {
        "/": "Welcome|",
        "/lamps": f"Lamps|{LAMPS}",
        "/chairs": f"Chairs|{CHAIRS}",
        "/all": f'Everything|{CHAIRS}<a href="/all?page=2" rel="next">next</a>',
        "/all?page=2": f"Everything|{LAMPS}",
        "/item/aria": "Aria|<table><tr><th>Watts</th><td>40</td></tr><tr><th>Price</th><td>$12.50</td></tr></table>",
        "/item/bruna": "Bruna|<table><tr><th>Watts</th><td>60</td></tr><tr><th>Price</th><td>$8.00</td></tr></table>",
    }
)


@pytest.mark.parametrize(
    ("intent", "start", "answer"),
    [
        ('What is the total price of the items in the category "Lamps"?', "/all", "20.50"),
        ('How many items are in the category "Chairs"?', "/all", "3"),
        ('What is the price of the cheapest item in the category "Lamps"?', "/all", "$8.00"),
    ],
)
def test_the_list_of_the_named_thing_goes_before_rows_that_mention_it_and_nothing_else_is_added(
    intent: str, start: str, answer: str
) -> None:
    made = walk(intent, SHOP, start)
    assert isinstance(made.end, Stop)
    assert made.end.answer == answer


@pytest.mark.parametrize(
    ("intent", "answer"),
    [
        ('Which of the items in the category "Lamps" has the most watts?', "Bruna"),
        ('How many items in the category "Lamps" have more than 50 watts?', "1"),
    ],
)
def test_what_only_the_pages_of_rows_tell_is_read_there(intent: str, answer: str) -> None:
    made = walk(intent, SHOP, "/lamps")
    assert isinstance(made.end, Stop)
    assert made.end.answer == answer
    assert {"/item/aria", "/item/bruna"} <= set(made.paths)


def test_two_things_with_a_page_each_are_compared() -> None:
    made = walk('How much more does "Aria" cost than "Bruna"?', SHOP, "/lamps")
    assert isinstance(made.end, Stop)
    assert made.end.answer == "4.50"


def test_a_list_that_a_filter_nobody_asked_for_narrows_is_not_counted() -> None:
    chosen = '<form method="get" action="/lamps"><label>Colour <select name="c">' + (
        "<option>All</option><option{}>red</option></select></label><button>Filter</button></form>"
    )
    for mark, ends in (("", Stop), (" selected", ReportInfeasible)):
        made = walk("How many lamps are there?", site({"/": f"Lamps|{chosen.format(mark)}{LAMPS}"}))
        assert isinstance(made.end, ends)


def test_the_words_that_were_searched_for_are_no_evidence() -> None:
    field = '<form role="search" action="/search"><input type="search" name="q" aria-label="Search"></form>'
    found = f'Results for "4711"|{field}<p>Cart total: $0.00</p><p>Found 0 results.</p>'
    made = walk("What is the total of order 4711?", site({"/": f"Shop|{field}", "/search?q=4711": found}))
    assert isinstance(made.end, ReportInfeasible)


def test_the_page_of_another_thing_is_opened_by_the_label_that_the_question_says() -> None:
    person = '<table><tr><th>Created by</th><td><a href="/people/kim">kim</a></td></tr></table>'
    made = walk(
        'Which organisation is entered for the person who created the issue "Door squeaks"?',
        site(
            {
                "/": f"Door squeaks|{person}",
                "/people/kim": "kim|<table><tr><th>Organisation</th><td>Mill Lane</td></tr></table>",
            }
        ),
    )
    assert isinstance(made.end, Stop)
    assert made.end.answer == "Mill Lane"


def test_what_every_page_shows_is_no_value_of_the_thing() -> None:
    cart, orders = "<p>Cart total: $0.00</p>", '<a href="/orders">Orders</a>'
    pages = {
        "/": f"Shop|{cart}{orders}",
        "/orders": f'Orders|{cart}<a href="/orders/4711">4711</a>',
        "/orders/4711": f"4711|{cart}<p>It was sent.</p>",
    }
    made = walk("What was the total of order 4711?", site(pages))
    assert isinstance(made.end, ReportInfeasible)
