"""The verdict on a replayed step: the page expected, one like it, a changed one, another one, or none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core import identity
from app.engine.core.page_state import Challenge, Element, PageCapture, PageState
from app.engine.core.transition import ReplayVerdict, ReplayVerdictKind
from app.engine.graph.replay.replay_check import compare

HOME = "http://shop.test/"


def link(name: str, href: str = "", landmark: str = "navigation", **more: object) -> Element:
    return Element(
        **{"index": 0, "role": "link", "name": name, "landmarks": (landmark,), "href": HOME + href, **more}
    )


def button(name: str, *states: str, landmark: str = "main") -> Element:
    return Element(index=0, role="button", name=name, landmarks=(landmark,), states=states)


MENU = tuple(
    link(name, name.lower()) for name in ("Home", "Orders", "Customers", "Reports", "Help", "Settings")
)
PRODUCT = (*MENU, button("Add to basket"), button("Write a review"))
CLOSED, OPENED = button("More", "collapsed"), button("More", "expanded")
ENTRIES = tuple(link(name, name.lower(), "menu") for name in ("Archive", "Export"))


def page(*elements: Element, path: str = "product/mug_12", status: int = 200, **more: object) -> PageCapture:
    numbered = tuple(replace(element, index=n) for n, element in enumerate(elements))
    return PageCapture(url=HOME + path, elements=numbered, status=status, **more)


def state(seen: PageCapture) -> PageState:
    keys = identity.keys_of(seen, HOME)
    return PageState(
        id=identity.page_id(keys),
        keys=keys,
        url=seen.url,
        controls=tuple(f"{e.role} {e.name}" for e in seen.elements),
        element_keys=tuple(sorted({identity.element_key(e, HOME) for e in seen.elements})),
        challenge=seen.challenge,
        status=seen.status,
    )


def verdict(expected: PageCapture, came: PageCapture, *others: PageCapture) -> ReplayVerdict:
    rivals = [state(expected), *map(state, others)]
    return compare(state(expected), identity.keys_of(came, HOME), came, home=HOME, rivals=rivals)


def test_the_same_page_in_any_order_on_any_port_is_exact():
    again = replace(page(*reversed(PRODUCT)), url="http://shop.test/product/mug_12?utm_source=mail#top")
    got = verdict(page(*PRODUCT), again)
    assert (got.kind, got.similarity, got.why) == (ReplayVerdictKind.EXACT, 1.0, "")
    assert got.expected == got.reached


def test_another_product_is_the_same_template():
    got = verdict(page(*PRODUCT), page(*PRODUCT, path="product/jug_7"))
    assert got.kind is ReplayVerdictKind.SAME_TEMPLATE
    assert got.why == "reached /product/jug_7, another page like /product/mug_12"


def test_the_same_page_with_recently_viewed_items_is_the_same_template():
    recent = [
        link(f"Mug {n}", f"product/mug_{n}", "region", repeat="ul>li", repeat_index=n) for n in range(4)
    ]
    got = verdict(page(*PRODUCT), page(*PRODUCT, *recent))
    assert got.kind is ReplayVerdictKind.SAME_TEMPLATE
    assert "with link Mug" in got.why


def test_a_page_that_lost_some_of_its_controls_has_drifted_and_says_which():
    got = verdict(page(*PRODUCT), page(*PRODUCT[:-1], button("Rate")))
    assert got.kind is ReplayVerdictKind.DRIFTED
    assert got.why == "without button Write a review, with button Rate"
    assert not got.kind.ok
    assert not got.kind.ends_path


def test_a_page_that_shows_something_else_at_the_same_address_is_wrong():
    got = verdict(page(*PRODUCT), page(button("Sorry"), link("Back", "")))
    assert got.kind is ReplayVerdictKind.WRONG
    assert "shows another page now" in got.why


def test_a_menu_that_did_not_open_is_wrong_however_much_is_in_common():
    closed, opened = page(*PRODUCT, CLOSED), page(*PRODUCT, OPENED, *ENTRIES)
    got = verdict(opened, closed, closed)
    assert got.similarity > 0.7
    assert got.kind is ReplayVerdictKind.WRONG
    assert got.why.startswith("another state of /product/mug_12: without link Archive, link Export")


def test_a_menu_that_did_not_open_on_a_page_with_something_more_is_wrong_too():
    closed, opened = page(*PRODUCT, CLOSED), page(*PRODUCT, OPENED, *ENTRIES)
    greeted = page(*PRODUCT, CLOSED, link("Welcome", "welcome", "banner"))
    assert verdict(opened, greeted, closed).kind is ReplayVerdictKind.WRONG
    opened_and_greeted = page(*PRODUCT, OPENED, *ENTRIES, link("Welcome", "welcome", "banner"))
    assert verdict(opened, opened_and_greeted, closed).kind is ReplayVerdictKind.SAME_TEMPLATE


def test_another_address_is_wrong():
    got = verdict(page(*PRODUCT), page(*PRODUCT, path="about"))
    assert (got.kind, got.why) == (ReplayVerdictKind.WRONG, "reached /about instead of /product/mug_12")


def test_another_instance_with_few_controls_in_common_is_wrong_and_with_many_has_drifted():
    assert (
        verdict(page(*PRODUCT), page(button("Sold out"), path="product/jug_7")).kind
        is ReplayVerdictKind.WRONG
    )
    more = page(*PRODUCT, button("Pre-order"), path="product/jug_7")
    assert verdict(page(*PRODUCT), more).kind is ReplayVerdictKind.DRIFTED


@pytest.mark.parametrize(
    ("came", "kind", "why"),
    [
        ({"status": 500}, ReplayVerdictKind.ERROR, "the server failed (status 500)"),
        ({"status": 404}, ReplayVerdictKind.WRONG, "was not found (status 404)"),
        ({"status": 403}, ReplayVerdictKind.BLOCKED, "is refused (status 403)"),
        ({"status": 429}, ReplayVerdictKind.BLOCKED, "too many requests"),
        ({"challenge": Challenge.LOGIN, "path": "login"}, ReplayVerdictKind.BLOCKED, "asks for a login"),
        ({"challenge": Challenge.CAPTCHA}, ReplayVerdictKind.BLOCKED, "a captcha"),
    ],
)
def test_blocked_error_and_wrong_pages_are_distinguished(came: dict, kind: ReplayVerdictKind, why: str):
    got = verdict(page(*PRODUCT), page(button("Sign in"), **came))
    assert got.kind is kind
    assert why in got.why


def test_an_expected_login_page_is_not_blocked():
    form = page(button("Sign in"), path="login", challenge=Challenge.LOGIN)
    assert verdict(form, form).kind is ReplayVerdictKind.EXACT


def test_a_page_not_found_that_was_expected_is_exact():
    missing = page(link("Home", ""), path="gone", status=404)
    assert verdict(missing, missing).kind is ReplayVerdictKind.EXACT


def test_the_browsers_own_error_page_is_an_error():
    came = replace(page(), url="chrome-error://chromewebdata/")
    assert verdict(page(*PRODUCT), came).kind is ReplayVerdictKind.ERROR


ELEMENTS = st.lists(
    st.builds(
        Element,
        index=st.just(0),
        role=st.sampled_from(["link", "button", "checkbox"]),
        name=st.sampled_from(["Save", "Orders 3", "Home", ""]),
        landmarks=st.sampled_from([(), ("main",), ("navigation",)]),
        states=st.sampled_from([(), ("checked",), ("expanded",)]),
        repeat=st.sampled_from(["", "li"]),
        href=st.sampled_from(["", HOME + "a"]),
    ),
    max_size=8,
)
PATHS = st.sampled_from(["a", "b", "product/mug_12", "product/jug_7"])


@given(ELEMENTS, PATHS, ELEMENTS, PATHS, st.lists(ELEMENTS, max_size=2))
def test_exact_means_the_same_state_and_every_other_verdict_says_why(
    before: list[Element], path: str, after: list[Element], now: str, others: list[list[Element]]
):
    expected, came = page(*before, path=path), page(*after, path=now)
    got = verdict(expected, came, *(page(*other, path=path) for other in others))
    assert (got.kind is ReplayVerdictKind.EXACT) == (got.expected == got.reached)
    assert (got.kind is ReplayVerdictKind.EXACT) == (got.why == "")
    assert 0 <= got.similarity <= 1
    if got.kind.ok:
        assert identity.url_template(came.url, HOME) == identity.url_template(expected.url, HOME)
