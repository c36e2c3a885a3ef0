"""Orders of lists, things within things, the thing another one links to, and the choice among a map's states."""

from __future__ import annotations

import pytest

from app.engine.agent.navigator import StateCandidate
from app.engine.agent.scout.navigation import choose_state
from app.engine.agent.scout.ordering import is_met, offered_ordering, read_ordering
from app.engine.agent.scout.task import read_task
from app.engine.agent.scout.terms import terms_of
from app.engine.core.actions.types import Stop
from tests.support.scout_walk import HOST, document, walk

ROWS = "<table><tr><th>Number<th>Buyer</tr>{}</table>"


@pytest.mark.parametrize(
    ("text", "column", "descending"),
    [
        ("the invoices of May, the highest total at the top", ("total",), True),
        ("all notes, oldest first", (), False),
        ("the recipes in alphabetical order", ("recipes",), False),
        ("the recipes in reverse alphabetical order", ("recipes",), True),
        ("the bills sorted by due date, descending", ("due", "date"), True),
        ("the ones published longest ago first", ("published",), False),
    ],
)
def test_an_order_is_read_with_its_column_and_direction(
    text: str, column: tuple[str, ...], descending: bool
) -> None:
    found = read_ordering(text)
    assert found is not None
    assert (found.column, found.descending) == (column, descending)


@pytest.mark.parametrize(
    "text", ["the first order of Ada Bell", "the largest room", "all orders at the top floor"]
)
def test_without_words_of_a_place_in_a_list_no_order_is_read(text: str) -> None:
    assert read_ordering(text) is None


@pytest.mark.parametrize(
    ("name", "url", "met"),
    [
        ("Sort by publishing date, oldest first", "/x", True),
        ("Sort by publishing date, newest first", "/x", False),
        ("", "/x?sort=published", True),
        ("", "/x?sort=-published", False),
        ("", "/x?order_by=published&dir=desc", False),
        ("Sort ascending according to price", "/x", False),
        ("Published", "/x", False),
    ],
)
def test_a_control_offers_the_order_its_words_or_address_say(name: str, url: str, met: bool) -> None:
    wanted = read_ordering("those published longest ago first")
    offered = offered_ordering(name, url)
    assert wanted is not None
    assert (offered is not None and is_met(wanted, offered)) is met


def test_the_list_is_ordered_by_the_link_that_offers_it_and_then_it_is_done() -> None:
    sorts = "<a href=/bills?sort=-total>Total down</a><a href=/bills?sort=total>Total up</a>"
    pages = {
        "/": document("Home", "", "<a href=/bills>Bills</a><a href=/staff>Staff</a>"),
        "/bills": document("Bills", sorts),
        "/bills?sort=-total": document("Bills", sorts),
    }
    made = walk("Show me the bills, the highest total at the top.", pages)
    assert made.paths == ["/", "/bills", "/bills?sort=-total"]
    assert isinstance(made.end, Stop)


def test_what_belongs_to_a_named_thing_is_looked_for_within_it_and_known_by_its_owner() -> None:
    menu = "<a href=/fair/spring/bookings>Bookings</a><a href=/fair/spring/stalls>Stalls</a>"
    rows = "<tr><td><a href=/fair/spring/bookings/7>B-7</a><td>Ada Bell"
    rows += "<tr><td><a href=/fair/spring/bookings/8>B-8</a><td>Al Orr"
    pages = {
        "/": document("Home", "<a href='/fair/spring'>Spring Fair</a><a href='/fair/winter'>Winter Fair</a>"),
        "/fair/spring": document("Spring Fair", "", menu),
        "/fair/spring/bookings": document("Bookings", ROWS.format(rows), menu),
        "/fair/spring/bookings/7": document("Booking B-7", "<dl><dt>Buyer<dd>Ada Bell</dl>", menu),
        "/fair/spring/bookings/8": document("Booking B-8", "<dl><dt>Buyer<dd>Al Orr</dl>", menu),
        "/fair/winter": document("Winter Fair", ""),
        "/fair/spring/stalls": document("Stalls", "", menu),
    }
    made = walk("Open the booking that Ada Bell made for the Spring Fair.", pages)
    assert made.paths == ["/", "/fair/spring", "/fair/spring/bookings", "/fair/spring/bookings/7"]
    assert isinstance(made.end, Stop)


def test_the_other_thing_is_the_one_that_the_named_one_links_to() -> None:
    form = (
        "<form method=post action=/t1><label>Title <input name=title value='Cold radiators'></label></form>"
    )
    pages = {
        "/": document("Tickets", "<a href=/t1>Cold radiators</a><a href=/t2>Boiler is broken</a>"),
        "/t1": document("Ticket 1", f"{form}<dl><dt>Replaced by<dd><a href=/t2>2</a></dl>"),
        "/t2": document("Ticket 2", ""),
    }
    made = walk('"Cold radiators" was replaced by another ticket. Take me to that other ticket.', pages)
    assert made.paths == ["/", "/t1", "/t2"]
    assert isinstance(made.end, Stop)


def test_a_form_with_the_name_in_its_first_field_is_the_page_of_that_person() -> None:
    form = "<form method=post action=/p5><label>Name <input name=name value='Ada Bell'></label></form>"
    pages = {
        "/": document("Home", "", "<a href=/p>People</a>"),
        "/p": document(
            "People", "<ul><li><a href=/p5>abell</a> Ada Bell<li><a href=/p6>aorr</a> Al Orr</ul>"
        ),
        "/p5": document("Person 5", form),
        "/p6": document("Person 6", form.replace("Ada Bell", "Al Orr")),
    }
    made = walk("I need the page with the details of Ada Bell. Take me there.", pages)
    assert made.paths[-1] == "/p5"
    assert isinstance(made.end, Stop)


ORDERS = StateCandidate(node="o", title="Orders", url=f"{HOST}/fair/spring/orders", controls=("Filter",))
SPRING = StateCandidate(node="s", title="Spring Fair", url=f"{HOST}/fair/spring", headings=("Spring Fair",))
WINTER = StateCandidate(node="w", title="Winter Fair", url=f"{HOST}/fair/winter", headings=("Winter Fair",))


@pytest.mark.parametrize(
    ("fit", "seen", "chosen"),
    [(0.0, (), 0), (0.95, (), None), (0.0, ("site.test/fair/spring/orders",), 1)],
)
def test_the_state_that_shows_most_of_the_task_is_chosen_unless_the_page_in_front_does(
    fit: float, seen: tuple[str, ...], chosen: int | None
) -> None:
    terms = terms_of(read_task("Show me the orders of the Spring Fair.").parts[0])
    assert choose_state(terms, [ORDERS, SPRING, WINTER], fit=fit, seen=seen) == chosen


@pytest.mark.parametrize(("start", "chosen"), [("", 0), (f"{HOST}/", 0), (f"{HOST}/desk/", 1)])
def test_the_map_keeps_to_the_part_of_the_site_where_the_task_begins(start: str, chosen: int) -> None:
    desk = StateCandidate(node="d", title="Spring Fair", url=f"{HOST}/desk/spring")
    terms = terms_of(read_task("Show me the orders of the Spring Fair.").parts[0])
    assert choose_state(terms, [ORDERS, desk], start=start) == chosen


def test_a_state_that_matched_a_name_is_chosen_before_one_of_the_kind() -> None:
    people = StateCandidate(node="p", title="People", url=f"{HOST}/people", matched=("ada", "bell", "people"))
    pages = StateCandidate(node="q", title="Phones", url=f"{HOST}/phones")
    terms = terms_of(read_task("Change the phone of Ada Bell to 12.").parts[0])
    assert choose_state(terms, [pages, people]) == 1


def test_nothing_is_chosen_of_states_that_say_nothing_of_the_task() -> None:
    terms = terms_of(read_task('Open the invoice "Cold radiators".').parts[0])
    assert choose_state(terms, [ORDERS, WINTER]) is None
