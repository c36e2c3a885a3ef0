"""Behind the guard that lets only reads out an exploration tries more; some things it leaves alone even there."""

from __future__ import annotations

import pytest

from app.engine.core.page_state import Element
from app.engine.core.transition import SkipReason
from app.engine.graph.explore.robots import RobotsFile
from app.engine.graph.rules.block_list import BlockList, RuleResult
from tests.support.explore_paper_site import addresses, explore, skipped
from tests.support.paper_site import PaperSite, Thing

PAGE = "http://paper.example/posts"
GUARDED = BlockList(guarded=True)


def judged(role: str, name: str, href: str = "", rules: BlockList = GUARDED, **more) -> RuleResult:
    if href.startswith("/"):
        href = f"http://paper.example{href}"
    return rules.verdict(Element(index=0, role=role, name=name, href=href, **more), PAGE, "en")


@pytest.mark.parametrize(
    "name", ["Schedule export", "Edit", "Invite people", "Rename", "Share this page", "Report abuse"]
)
def test_a_verb_that_asks_first_stops_nothing_behind_the_guard(name: str):
    assert judged("button", name).allows
    assert name == "Edit" or not judged("button", name, rules=BlockList.builtin()).allows


def test_what_is_tried_behind_the_guard_keeps_its_risk():
    assert judged("button", "Schedule export").risk == 0.5


@pytest.mark.parametrize(
    "name",
    ["Delete", "Sign out", "Buy now", "Watch", "Like", "Vote", "Flag", "Mark as read", "Approve", "Save",
     "Schedule deletion and delete", "Löschen", "Gefällt mir"],
)  # fmt: skip
def test_a_verb_that_ends_pays_destroys_or_acts_at_one_press_stops_the_click_even_there(name: str):
    assert judged("button", name).reason is SkipReason.DANGER


@pytest.mark.parametrize(
    "more",
    [
        {"form": "post:/exports", "submits": True},
        {"attributes": (("hx-post", "/exports"),)},
        {"attributes": (("data-confirm", "Sure?"),)},
        {"repeat": "row", "repeat_index": 1},
    ],
)
def test_a_verb_that_asks_first_is_not_alone_where_the_control_sends_by_itself(more: dict):
    assert not judged("button", "Schedule export", **more).allows


@pytest.mark.parametrize(
    ("name", "href"),
    [
        ("Watch", "/posts/3/watch"),
        ("Watch", "/watch?post=3"),
        ("Mark as read", "/notes/3?read=1"),
        ("Flag", "/report/3"),
        ("Quote", "/reply?quote=3"),
        ("Vote up", "/posts/3/up"),
        ("Sign out", "/bye"),
    ],
)
def test_links_that_may_write_by_a_get_are_not_followed(name: str, href: str):
    assert judged("link", name, href).reason is SkipReason.DANGER


@pytest.mark.parametrize(
    ("name", "href"),
    [("Watch", "/watch"), ("Quotes", "/quotes/3"), ("Flag of Norway", "/flags/3"), ("Post 3", "/posts/3")],
)  # fmt: skip
def test_links_to_pages_are_followed(name: str, href: str):
    assert judged("link", name, href).allows


@pytest.mark.parametrize("name", ["Search", "Go", "Sort", "Filter", "Show"])
def test_a_form_that_reads_is_submitted(name: str):
    assert judged("button", name, form="get:/search", submits=True).allows
    assert not judged("button", name, form="get:/search", submits=True, rules=BlockList.builtin()).allows


@pytest.mark.parametrize(
    ("name", "form", "kind"),
    [
        ("Search", "post:/search", ""),
        ("Search", "get:http://other.example/search", ""),
        ("Go", "get:/posts/3/delete", ""),
        ("Go", "get:/account/logout", ""),
        ("Vote", "get:/poll", ""),
        ("Delete", "get:/posts", ""),
        ("Choose", "get:/import", "file"),
    ],
)
def test_a_form_that_may_change_something_is_not_submitted(name: str, form: str, kind: str):
    assert not judged("button", name, form=form, submits=True, type=kind).allows


SEARCH = Thing("Search", leads="/search?q=", form="get:/search", submits=True)
PAGES = {"/": [SEARCH], "/search?q=": [Thing("Secret place", "/secretplace")], "/secretplace": []}


async def test_a_page_linked_only_from_search_results_is_on_the_map():
    _, store = await explore(PaperSite(PAGES), rules=GUARDED)
    assert "/secretplace" in addresses(store)


async def test_robots_txt_holds_for_what_a_form_opens():
    robots = RobotsFile.parse("User-agent: *\nDisallow: /search\n")
    site = PaperSite(PAGES)
    report, store = await explore(site, rules=GUARDED, robots=robots)
    assert site.acted.total() == 0
    assert [item.detail for item in skipped(store, SkipReason.ROBOTS)] == ["/search"]
    assert report.barred == ("/search",)
