"""Ways of the scout over small sites: on while a page promises more, an end where the thing is, or what is missing."""

from __future__ import annotations

import pytest

from app.engine.agent.scout.memory import Memory
from app.engine.agent.scout.navigation import Wayfinder, arrived, is_harmless
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.task import read_task
from app.engine.agent.scout.terms import Term, page_evidence, score, shown_by, subject_evidence, terms_of
from app.engine.core.actions.types import Click, Goto, Navigate, ReportInfeasible, Stop
from app.engine.core.observation import NavigableSite, Observation
from app.engine.core.page_state import Element, PageCapture
from tests.support.scout_walk import HOST, capture, document, walk

MENU = (
    '<a href="/">Home</a><a href="/wards">Wards</a><a href="/staff">Staff</a><a href="/random">Random page</a>'
    '<a href="/help">Help</a>'
)
SEARCH = '<form role="search" action="/search"><input type="search" name="q" aria-label="Search"></form>'


def site(**pages: tuple[str, str]) -> dict[str, str]:
    """Pages by path (``_`` for ``/``), each with a title and a body, under one menu."""
    return {
        "/" + path.strip("_").replace("_", "/"): document(*told, menu=MENU) for path, told in pages.items()
    }


HOSPITAL = site(
    _=("Marsh Hospital", "<p>Welcome.</p>"),
    wards=("Wards", '<ul><li><a href="/wards/4">Ward 4</a><li><a href="/wards/7">Ward 7</a></ul>'),
    wards_4=("Ward 4", '<p>12 beds.</p><a href="/wards/4/rota">Rota</a><a href="/wards/4/stock">Stock</a>'),
    wards_4_rota=("Rota of Ward 4", "<table><tr><th>Day<th>Nurse</tr><tr><td>Monday<td>Ada Quill</tr></table>"),
    wards_4_stock=("Stock of Ward 4", "<p>Gauze</p>"),
    wards_7=("Ward 7", '<p>9 beds.</p><a href="/wards/7/rota">Rota</a>'),
    wards_7_rota=("Rota of Ward 7", "<p>Nobody.</p>"),
    staff=("Staff", '<ul><li><a href="/staff/ada">Ada Quill</a><li><a href="/staff/ben">Ben Odell</a></ul>'),
    staff_ada=("Ada Quill", "<p>Nurse since 2011.</p>"),
    staff_ben=("Ben Odell", "<p>Porter.</p>"),
    random=("Laundry", "<p>Sheets are washed at night.</p>"),
    help=("Help", "<p>Ask at the desk.</p>"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("intent", "end", "most"),
    [
        ("Open the page of Ward 4", "/wards/4", 3),
        ('Show me "Ward 7"', "/wards/7", 3),
        ("Go to the rota of Ward 4", "/wards/4/rota", 4),
        ("Take me to the staff page of Ada Quill", "/staff/ada", 3),
        ("Open the Help page", "/help", 2),
        ("Open the Staff page", "/staff", 2),
    ],
)
def test_it_opens_what_is_named_and_stops_there(intent: str, end: str, most: int) -> None:
    made = walk(intent, HOSPITAL)
    assert made.end == Stop("done")
    assert made.paths[-1] == end
    assert len(made.paths) <= most


@pytest.mark.parametrize(
    ("intent", "start"),
    [
        ("Open the page of Ward 4", "/wards/4"),
        ("Show me Ada Quill", "/staff/ada"),
        ("Open the Help page", "/help"),
    ],
)
def test_where_it_stands_already_it_opens_nothing(intent: str, start: str) -> None:
    assert walk(intent, HOSPITAL, start).paths == [start]


def test_places_are_gone_to_in_their_order() -> None:
    made = walk("Go to the Wards page and then open the Help page", HOSPITAL)
    assert (made.paths, made.end) == (["/", "/wards", "/help"], Stop("done"))


@pytest.mark.parametrize(
    "intent",
    [
        "Open the page of Ward 4",
        "Find a page on gardening",
        "Show the page of Ward 9",
        "Open the page you like",
    ],
)
def test_a_random_page_is_never_a_way(intent: str) -> None:
    assert "/random" not in walk(intent, HOSPITAL, most=20).paths


def test_what_is_nowhere_is_told_with_its_name_and_nothing_is_claimed() -> None:
    made = walk("Open the page of Ward 9", HOSPITAL, most=25)
    assert isinstance(made.end, ReportInfeasible)
    assert '"Ward 9"' in made.end.reason or '"9"' in made.end.reason
    assert "pages were looked at" in made.end.reason


@pytest.mark.parametrize("thing", ["visitor list", "invoices", "parking permits"])
def test_the_page_of_what_a_thing_belongs_to_is_not_the_thing(thing: str) -> None:
    made = walk(f"Show me the {thing} of Ward 4.", HOSPITAL, most=25)
    assert isinstance(made.end, ReportInfeasible)


def test_parts_of_the_site_unlike_those_seen_come_before_more_of_the_same() -> None:
    kinds = [
        f"shelf/{one}" for one in ("bolts", "nuts", "pins", "rods", "saws", "taps", "keys", "lids", "nails")
    ]
    menu = "".join(f'<a href="/{one}">{one[6:]}</a>' for one in kinds) + '<a href="/mine">Own corner</a>'
    pages = {f"/{one}": document(one[6:], "", menu) for one in ["", *kinds]}
    pages["/mine"] = document("Own corner", '<a href="/mine/loans">Loans</a>', menu)
    pages["/mine/loans"] = document("Loans", "<p>None.</p>", menu)
    made = walk("Open my loans.", pages)
    assert made.paths[-1] == "/mine/loans"
    assert made.paths.index("/mine") <= 4


def test_a_page_that_the_map_and_its_search_put_first_is_the_one_if_it_calls_itself_so() -> None:
    page = capture(site(rota=("Rota", "<p>Nobody.</p>")), "/rota")
    terms = terms_of(read_task("Take me to the rota where I can swap my night shifts.").parts[0])
    seen = Observation(step=0, steps_left=9, intent="x", start_url=page.url, page=page)
    told = [
        arrived(Wayfinder(terms, PageContext(page), Memory(marks=marks), seen))
        for marks in (set[str](), {"map:site.test/rota"})
    ]
    assert (told[0], bool(told[1])) == ("", True)


def test_the_reason_of_each_step_says_what_leads_on() -> None:
    made = walk("Open the page of Ward 4", HOSPITAL)
    assert all(one.reason for one in made.decisions)
    assert '"Ward 4"' in made.decisions[-2].reason
    assert made.decisions[-1].reason.startswith('"Ward 4" shows')


def test_on_the_page_of_the_thing_only_its_own_parts_are_looked_into() -> None:
    asked = "Who is the nurse on Monday in Ward 4?"
    made = walk(asked, HOSPITAL, "/wards/4")
    assert set(made.paths) <= {"/wards/4", "/wards/4/rota", "/wards/4/stock"}


def test_a_list_is_searched_by_the_search_of_the_site() -> None:
    pages = {
        "/": document("Archive", SEARCH),
        "/search?q=Copper+Beech": document("Search results", '<ul><li><a href="/t/81">Copper Beech</a></ul>'),
        "/t/81": document("Copper Beech", "<p>A tree.</p>"),
    }
    made = walk('Open the page of "Copper Beech"', pages)
    assert (made.paths, made.end) == (["/", "/search?q=Copper+Beech", "/t/81"], Stop("done"))


def test_results_that_only_repeat_the_search_are_no_arrival() -> None:
    pages = {
        "/": document("Archive", SEARCH),
        "/search?q=Copper+Beech": document("Search results for Copper Beech", "<p>Nothing was found.</p>"),
    }
    made = walk('Open the page of "Copper Beech"', pages)
    assert isinstance(made.end, ReportInfeasible)


def test_the_map_is_asked_once_with_the_whole_task() -> None:
    home = NavigableSite(name="site", states=40, home=f"{HOST}/")
    pages = {
        "/": document("Archive", '<a href="/about">About</a>'),
        "/about": document("About", "<p>Us.</p>"),
    }
    made = walk('Open the page of "Copper Beech"', pages, domains=[home])
    asked = [one for one in made.actions if isinstance(one, Navigate)]
    assert len(asked) == 1
    assert "Copper Beech" in asked[0].query


def test_after_a_search_in_vain_it_goes_back_to_the_page_that_fitted_best() -> None:
    pages = site(
        _=("Marsh Hospital", '<p>Welcome.</p><a href="/wards/rota">Rota of all wards</a>'),
        wards_rota=("Rota", '<p>Ward 4, ward 7.</p><a href="/wards/rota/old">Older rota</a>'),
        wards_rota_old=("Archive", "<p>Nothing.</p>"),
    )
    made = walk("Show me the rota of wards", pages, most=20)
    assert made.paths[-1] == "/wards/rota"


@pytest.mark.parametrize(
    ("label", "href", "harmless"),
    [
        ("Wards", "/wards", True),
        ("Orders", "/orders", True),
        ("Bookings", "/bookings", True),
        ("Basket (0)", "/basket", True),
        ("Messages", "/messages", True),
        ("Log in", "/login", True),
        ("Order history", "/staff/orders", True),
        ("Archived wards", "/wards/old", True),
        ("Order gauze", "/wards/4/gauze", False),
        ("Delete", "/wards/4/delete", False),
        ("Delete ward", "/wards/4/x", False),
        ("Dismiss", "/notes/4/x", False),
        ("Mark as read", "/notes/4/x", False),
        ("Subscribe", "/list/x", False),
        ("Block user", "/staff/ada/x", False),
        ("Log out", "/bye", False),
        ("Archive", "/list/x", False),
    ],
)
def test_a_way_only_reads(label: str, href: str, harmless: bool) -> None:
    element = Element(index=0, role="link", name=label, href=f"{HOST}{href}")
    page = PageCapture(url=f"{HOST}/", elements=(element,), tree=f"RootWebArea ''\n\t[0] link '{label}'\n")
    seen = Observation(step=0, steps_left=9, intent="Look", start_url=page.url, page=page)
    assert is_harmless(Click(0, label=label), seen) is harmless


def test_controls_that_change_are_not_opened_on_the_way() -> None:
    body = '<a href="/wards/4/delete">Delete Ward 4</a><form method="post" action="/x"><button>Ward 4</button></form>'
    pages = {"/": document("Wards", body), "/wards/4/delete": document("Ward 4", "<p>Gone.</p>")}
    made = walk("Open the page of Ward 4", pages)
    assert made.paths == ["/"]
    assert not any(isinstance(one, Click | Goto) for one in made.actions)


# ---------------------------------------------------------------- terms
@pytest.mark.parametrize(
    ("term", "text", "least", "most"),
    [
        (Term("Ward 4", 3.0, is_name=True), "Ward 4", 1.0, 1.0),
        (Term("Ward 4", 3.0, is_name=True), "The rota of ward 4", 1.0, 1.0),
        (Term("Ward 4", 3.0, is_name=True), "Ward 14", 0.0, 0.4),
        (Term("Ada Quill", 3.0, is_name=True), "Quill, Ada", 0.6, 0.9),
        (Term("Ada Quill", 3.0, is_name=True), "Ben Odell", 0.0, 0.0),
        (Term("order", 1.0), "Orders", 0.9, 1.0),
        (Term("order", 1.0), "Laundry", 0.0, 0.6),
    ],
)
def test_a_text_shows_a_name_whole_and_a_word_in_its_forms(
    term: Term, text: str, least: float, most: float
) -> None:
    assert least <= shown_by((term,), text)[0] <= most


def test_the_page_that_calls_itself_like_the_task_scores_highest() -> None:
    part = read_task("Go to the rota of Ward 4").parts[0]
    terms = terms_of(part)
    contexts = {path: PageContext(capture(HOSPITAL, path)) for path in HOSPITAL}
    scores = {
        path: score(terms, page_evidence(terms, one, subject_evidence(terms, one)))
        for path, one in contexts.items()
    }
    assert max(scores, key=lambda path: scores[path]) == "/wards/4/rota"
    assert scores["/wards/4"] > scores["/wards/7"] > scores["/random"]


def test_a_change_is_looked_for_by_its_thing_and_not_by_its_values() -> None:
    part = read_task('Set the title of "Ward 4" to "Ward of the Marsh"').parts[0]
    names = {term.text for term in terms_of(part) if term.is_name}
    assert "Ward 4" in names
    assert "Ward of the Marsh" not in names


# ---------------------------------------------------------------- memory
def test_the_next_part_forgets_the_pages_and_keeps_the_tips_that_were_begun() -> None:
    memory = Memory(fits={"a": 0.5}, marks={"tip:t1", "searched:x"})
    later = memory.next_part(1)
    assert (later.part, later.fits, later.marks) == (1, {}, {"tip:t1"})
