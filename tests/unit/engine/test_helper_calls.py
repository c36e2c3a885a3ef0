"""Helpers named by suites are parsed strictly and never run."""

from __future__ import annotations

import pytest

from app.engine.core.evaluation.helper_calls import HelperCall, evidence_targets, parse_helper
from app.engine.core.evaluation.suite import HtmlTarget, Oracle
from app.errors import InputError

PUBLISHED = [
    ("func:shopping_get_latest_order_url()", "shopping_get_latest_order_url", (), False),
    (
        "func:shopping_get_sku_latest_review_author('B00J8RZL7I')",
        "shopping_get_sku_latest_review_author",
        ("B00J8RZL7I",),
        False,
    ),
    (
        "func:shopping_get_sku_latest_review_rating('B00J8RZL7I')",
        "shopping_get_sku_latest_review_rating",
        ("B00J8RZL7I",),
        False,
    ),
    ("func:reddit_get_post_url('__last_url__')", "reddit_get_post_url", ("__last_url__",), False),
    (
        "func:gitlab_get_project_memeber_role(__page__, 'yjlou')",
        "gitlab_get_project_memeber_role",
        ("yjlou",),
        True,
    ),
]


@pytest.mark.parametrize(("text", "name", "args", "page"), PUBLISHED)
def test_every_published_helper_is_read(text: str, name: str, args: tuple[str, ...], page: bool) -> None:
    assert parse_helper(text) == HelperCall(name=name, args=args, takes_page=page)


@pytest.mark.parametrize(
    "text",
    [
        "func:__import__('os').system('true')",
        "func:open('/etc/passwd')",
        "func:reddit_get_post_url(open('x'))",
        "func:reddit_get_post_url('a' + 'b')",
        "func:reddit_get_post_url(url='a')",
        "func:reddit_get_post_url(*['a'])",
        "func:reddit_get_post_url('a', 'b')",
        "func:reddit_get_post_url()",
        "func:reddit_get_post_url(__page__, 'a')",
        "func:gitlab_get_project_memeber_role('yjlou')",
        "func:gitlab_get_project_memeber_role('yjlou', __page__)",
        "func:shopping_get_latest_order_url",
        "func:shopping_get_latest_order_url(); 1",
        "func:reddit_get_post_url(b'a')",
        "func:",
        "func:\x00",
        "func:" + "(" * 5_000,
    ],
)
def test_anything_else_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="helper"):
        parse_helper(text)


def test_targets_and_their_alternatives_are_numbered_in_the_order_of_the_suite() -> None:
    first, second = HtmlTarget(locator="a"), HtmlTarget(locator="c")
    whole = HtmlTarget(locator="b", alternatives=(first, second))
    oracle = Oracle(html=(HtmlTarget(), HtmlTarget(locator="x"), whole))
    numbers = [(number, target.locator) for number, target in evidence_targets(oracle)]
    assert numbers == [("0", ""), ("1", "x"), ("2", "b"), ("2.0", "a"), ("2.1", "c")]
