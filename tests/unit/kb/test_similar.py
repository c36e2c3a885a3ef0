from __future__ import annotations

import pytest

from kb.similar import contradicts, find_similar
from kb.tip import Scope, Status, TipDraft
from tests.support.encoder import HashingEncoder
from tests.support.tips import PUBLISHED, published_tips, tip


def draft(text: str, scope: str = "", site: str = "gitlab") -> TipDraft:
    return TipDraft(site=site, text=text, scope=Scope.parse(scope))


def relations(mine: TipDraft, *others: object) -> list[tuple[str, str]]:
    return [(one.tip.id, one.relation) for one in find_similar(mine, others)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Do not use the search bar", "Use the search bar"),
        ("Never use the global search bar, it hangs.", "To find a project, use the global search bar."),
        ("Sort the orders by date in ascending order", "Sort the orders by date in descending order"),
        ("Select the size before adding to the cart", "Select the size after adding to the cart"),
        ("The orders grid shows 20 rows a page", "The orders grid shows 200 rows a page"),
        ("You can't edit a closed issue", "You can edit a closed issue"),
        ("Do not use the search bar instead of the menu", "Use the search bar"),
    ],
)
def test_opposite_advice_about_the_same_thing_is_a_contradiction(one: str, other: str):
    assert contradicts(one, other)
    assert contradicts(other, one)
    assert relations(draft(one), tip("a", other)) == [("a", "contradiction")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use the search bar", "Use the search bar on top"),
        ("Do not use the search bar", "Never use the search bar"),
        ("Do not use the search bar", "Use the filter menu"),
        ("Hover the menu before clicking", "Sort after filtering the grid"),
        ("Reports start on page 1", "Members are listed 20 a page"),
        ("Use the filter menu instead of the search bar", "Do not use the search bar"),
        ("A total is shown rather than a list of orders", "They are not found on the list of orders"),
    ],
)
def test_agreeing_or_unrelated_advice_is_no_contradiction(one: str, other: str):
    assert not contradicts(one, other)


def test_the_same_words_in_another_order_are_a_duplicate():
    mine = draft("Click the comments link, not the title, to see a post")

    assert relations(mine, tip("a", "To see a post, click the comments link, not the title.")) == [
        ("a", "duplicate")
    ]


def test_meaning_finds_what_words_do_not():
    class OneMeaning(HashingEncoder):
        def encode(self, texts):  # type: ignore[no-untyped-def]
            return super().encode(["same"] * len(texts))

    others = [tip("a", "Purchases stand under My Account")]
    mine = draft("Where did the customer's invoices go?")

    assert find_similar(mine, others) == []
    assert [one.relation for one in find_similar(mine, others, OneMeaning())] == ["duplicate"]


def test_only_scopes_that_can_meet_are_compared():
    mine = draft("Do not use the search bar here", "/dashboard/**")
    text = "Use the search bar here"

    assert relations(mine, tip("a", text, scope="/dashboard")) == [("a", "contradiction")]
    assert relations(mine, tip("a", text, scope="/projects/*")) == []
    assert relations(mine, tip("a", text, site="reddit")) == []
    assert relations(draft("Do not use the search bar here", "*:8023"), tip("a", text, scope="*:9999")) == []


def test_an_equal_text_on_another_site_is_mentioned():
    assert relations(draft("Orders are sorted"), tip("a", "Orders are sorted", site="shopping")) == [
        ("a", "alike")
    ]


def test_the_tip_itself_and_retired_ones_are_left_out():
    text = "Use the search bar on top"
    others = [tip("me", text), tip("old", text, status=Status.RETIRED)]

    assert find_similar(draft(text), others, exclude="me") == []


def test_the_most_pressing_come_first_and_no_more_than_asked():
    others = [tip(f"a{n}", "Use the search bar on top") for n in range(6)] + [
        tip("b", "Don't use the search bar on top")
    ]
    found = find_similar(draft("Use the search bar on top"), others, limit=3)

    assert [(one.tip.id, one.relation) for one in found] == [
        ("b", "contradiction"),
        ("a0", "duplicate"),
        ("a1", "duplicate"),
    ]


def test_an_empty_draft_is_like_nothing():
    assert find_similar(draft("  "), [tip("a", "")]) == []


@pytest.mark.shared_data
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the run collection is not beside the checkout")
def test_among_the_published_tips_only_the_equal_texts_across_sites_are_found():
    tips = published_tips()
    told = {
        (one.id, similar.tip.id, similar.relation)
        for one in tips
        for similar in find_similar(one, tips, exclude=one.id)
        if similar.relation != "alike" or similar.score == 1
    }

    assert told == {
        ("shopping-06", "shopping_admin-16", "alike"),
        ("shopping_admin-16", "shopping-06", "alike"),
        ("shopping-07", "shopping_admin-17", "alike"),
        ("shopping_admin-17", "shopping-07", "alike"),
    }
