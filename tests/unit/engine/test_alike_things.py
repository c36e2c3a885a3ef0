"""Of the pages that do the same to alike things one is opened; the things themselves all are."""

from __future__ import annotations

import pytest

from app.engine.graph.explore.frontier import is_action_page
from tests.support.explore_paper_site import addresses, explore
from tests.support.paper_site import PaperSite, Thing


@pytest.mark.parametrize(
    "template",
    [
        "/posts/{n}/flag",
        "/posts/{n}/like",
        "/reply/{n}",
        "/reply?to",
        "/posting/quote.php?post",
        "/shop/{id}/edit",
    ],
)
def test_an_address_that_does_something_to_one_thing_is_known_as_one(template: str):
    assert is_action_page(template)


@pytest.mark.parametrize(
    "template",
    ["/", "/posts/{n}", "/flag", "/report/{n}", "/reviews/{n}", "/{project}/-/issues", "/posts/{n}/comments", "/{id}",
     "/catalogue/{id}/reviews", "/releases/{n}/", "/posts?page"],
)  # fmt: skip
def test_an_address_of_a_thing_or_of_its_things_is_not(template: str):
    assert not is_action_page(template)


async def test_each_post_is_opened_and_one_flag_and_one_quote_page():
    numbers = range(1, 6)
    pages = {"/": [Thing(f"Post number {n}", f"/posts/{n}") for n in numbers]}
    for n in numbers:
        pages[f"/posts/{n}"] = [
            Thing(f"Report post {n}", f"/posts/{n}/flag"),
            Thing(f"Reply {n}", f"/posts/{n}/quote"),
            Thing("Comments", f"/posts/{n}/comments"),
        ]
        pages |= {f"/posts/{n}/{part}": [] for part in ("flag", "quote", "comments")}
    _, store = await explore(PaperSite(pages))
    found = addresses(store)
    assert {f"/posts/{n}" for n in numbers} | {f"/posts/{n}/comments" for n in numbers} <= found
    assert {one for one in found if one.endswith(("flag", "quote"))} == {"/posts/1/flag", "/posts/1/quote"}
