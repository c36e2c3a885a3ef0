"""Rules of the executor without a page: effects, navigation policy, landings, dead clicks, alternatives,
numbers.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.browser.actions.dead_clicks import DeadClicks, element_target, point_target
from app.engine.browser.actions.effect_detection import (
    OutsideChanges,
    effect_from_captures,
    effect_from_changes,
    landing_failure,
)
from app.engine.browser.actions.failure_reasons import (
    covered_element,
    no_such_element,
    obstruction,
    similar_elements,
)
from app.engine.browser.actions.option_actions import match_option
from app.engine.browser.capture.page_monitor import CoveringElement, ElementProbe, PageChanges
from app.engine.browser.network.navigation_policy import NavigationPolicy
from app.engine.core.action_result import Cause, Effect
from app.engine.core.actions.types import Action, Click, Goto
from app.engine.core.fingerprint import fingerprints_of
from app.engine.core.page_state import Challenge, Element, PageCapture


def element(index: int, name: str, role: str = "button", **more: object) -> Element:
    return Element(index=index, role=role, name=name, css=f"#{name}", rect=(0, 20.0 * index, 80, 18), **more)  # type: ignore[arg-type]


PAGE = PageCapture(
    url="http://shop.test/list",
    text="12 things",
    elements=(
        element(0, "Menu", states=("collapsed",)),
        element(1, "Save"),
        element(2, "Close"),
        element(3, "Save changes"),
    ),
)


# effects


@pytest.mark.parametrize(
    ("changes", "around", "effect"),
    [
        (PageChanges(replaced=True), OutsideChanges(), Effect.NAVIGATED),
        (PageChanges(), OutsideChanges(tab=True), Effect.NAVIGATED),
        (PageChanges(was="http://a/x", url="http://a/y"), OutsideChanges(), Effect.NAVIGATED),
        (PageChanges(was="http://a/x", url="http://a/x#/route"), OutsideChanges(), Effect.NAVIGATED),
        (PageChanges(was="http://a/x", url="http://a/x#part"), OutsideChanges(), Effect.CHANGED),
        (PageChanges(own=1), OutsideChanges(), Effect.CHANGED),
        (PageChanges(values=1), OutsideChanges(), Effect.CHANGED),
        (PageChanges(scrolled=True), OutsideChanges(), Effect.CHANGED),
        (PageChanges(), OutsideChanges(dialogs=1), Effect.CHANGED),
        (PageChanges(noisy=5), OutsideChanges(), None),
        (PageChanges(delivered=True), OutsideChanges(), None),
    ],
)
def test_the_document_tells_most_effects(changes: PageChanges, around: OutsideChanges, effect: Effect | None):
    assert effect_from_changes(changes, around) is effect


def test_looks_tell_the_rest_and_noise_is_no_effect():
    before = fingerprints_of(PAGE)
    ticked = fingerprints_of(replace(PAGE, text="13 things"))
    opened = fingerprints_of(
        replace(PAGE, text="12 things\nmore", elements=(*PAGE.elements, element(4, "More")))
    )
    assert effect_from_captures(PageChanges(), before, before) is Effect.NOTHING
    assert effect_from_captures(PageChanges(), before, opened) is Effect.CHANGED
    assert effect_from_captures(PageChanges(noisy=1), before, ticked) is Effect.UNRELATED
    assert effect_from_captures(PageChanges(noisy=1), before, opened) is Effect.CHANGED


# policy


@pytest.mark.parametrize(
    ("domains", "url", "allowed"),
    [
        ({"shop.test"}, "https://shop.test/x", True),
        ({"shop.test"}, "https://www.shop.test/x", True),
        ({"shop.test"}, "https://admin.shop.test:8443/x", True),
        ({"shop.test"}, "https://evilshop.test/", False),
        ({"shop.test"}, "https://shop.test.evil.example/", False),
        ({"shop.test"}, "https://user@evil.example/shop.test", False),
        ({"127.0.0.1:8101"}, "http://127.0.0.1:8101/x", True),
        ({"127.0.0.1:8101"}, "http://127.0.0.1:8102/x", False),
        ({"127.0.0.1"}, "http://127.0.0.1:8102/x", True),
        (set(), "https://anything.example/", True),
        (set(), "https://www.google.com/search?q=a", False),
        (set(), "https://duckduckgo.com/?q=a", False),
        (set(), "https://www.google.co.uk/", False),
        (set(), "https://search.yahoo.com/", False),
        (set(), "https://docs.google.com/document", True),
        ({"shop.test:80"}, "http://shop.test/", True),
        ({"shop.test:80"}, "https://shop.test/", False),
        ({"shop.test:443"}, "https://www.shop.test/", True),
        ({"[::1]:8101"}, "http://[::1]:8101/x", True),
        ({"[::1]:8101"}, "http://[::1]:8102/x", False),
        ({"google.com"}, "https://www.google.com/search", True),
        ({"shop.test"}, "about:blank", True),
        (set(), "file:///etc/passwd", False),
        (set(), "javascript:alert(1)", False),
        (set(), "http://[::1", False),
    ],
)
def test_a_run_stays_on_its_sites_and_off_search_engines(domains: set[str], url: str, allowed: bool):
    policy = NavigationPolicy(frozenset(domains))
    assert (policy.outside(url) is None) is allowed
    why = policy.outside(url)
    assert (why is None) is allowed
    assert why is None or (why.cause is Cause.OFF_SITE and why.effect is Effect.REFUSED)


def test_an_address_may_be_opened_again_but_not_without_end():
    policy = NavigationPolicy()
    for times in range(3):
        assert policy.again("http://a.test/x") is None
        assert bool(policy.opened("http://a.test/x")) is (times > 0)
    why = policy.again("http://a.test/x")
    assert why is not None
    assert why.cause is Cause.REGRESSION
    assert policy.again("http://a.test/y") is None


def test_a_secret_in_an_address_is_not_repeated():
    why = NavigationPolicy(frozenset({"shop.test"})).outside("https://evil.example/?password=hunter2")
    assert why is not None
    assert "hunter2" not in repr(why)


# walls


@pytest.mark.parametrize(
    ("action", "after", "status", "cause"),
    [
        (Click(1), PageCapture(url="http://shop.test/a"), 200, Cause.NONE),
        (Click(1), PageCapture(url="http://shop.test/a"), 404, Cause.ERROR_PAGE),
        (Click(1), PageCapture(url="chrome-error://chromewebdata/"), 0, Cause.NETWORK),
        (Click(1), PageCapture(url="http://shop.test/a", challenge=Challenge.CAPTCHA), 403, Cause.CHALLENGE),
        (Click(1), PageCapture(url="http://shop.test/login", challenge=Challenge.LOGIN), 200, Cause.LOGIN),
        (
            Goto("http://shop.test/account"),
            PageCapture(url="http://shop.test/login", challenge=Challenge.LOGIN),
            200,
            Cause.LOGIN,
        ),
        (
            Goto("http://shop.test/login"),
            PageCapture(url="http://shop.test/login", challenge=Challenge.LOGIN),
            200,
            Cause.NONE,
        ),
    ],
)
def test_what_stands_where_an_action_led_is_told(
    action: Action, after: PageCapture, status: int, cause: Cause
):
    assert landing_failure(action, PAGE, after, status)[0] is cause


def test_a_log_in_that_was_asked_for_is_no_wall():
    page = replace(PAGE, elements=(element(0, "Sign in", "link"),))
    asked = PageCapture(url="http://shop.test/login", challenge=Challenge.LOGIN)
    assert landing_failure(Click(0), page, asked, 200)[0] is Cause.NONE
    assert landing_failure(Click(1), asked, asked, 200)[0] is Cause.NONE


# dead clicks


def test_the_second_click_that_does_nothing_is_refused_unless_something_is_different():
    save = PAGE.elements[1]
    target = element_target(save, "left")
    dead = DeadClicks()
    assert dead.refuse(target, "off", PAGE, save) is None
    dead.record_effect(Effect.NOTHING, PAGE)

    again = dead.refuse(target, "off", PAGE, save)
    assert again is not None
    assert again.cause is Cause.DEAD_CLICK
    assert any("Save changes" in one for one in again.alternatives)
    dead.record_effect(again.effect, PAGE)
    assert dead.refuse(target, "off", PAGE, save) is not None  # refusing changes nothing
    assert dead.refuse(target, "on", PAGE, save) is None  # a toggle that flipped
    assert dead.refuse(element_target(PAGE.elements[2], "left"), "off", PAGE, PAGE.elements[2]) is None
    assert dead.refuse(target, "off", replace(PAGE, text="other words"), save) is None
    assert dead.refuse(target, "off", replace(PAGE, text="13 things"), save) is not None  # a clock went on


def test_an_action_that_did_something_revives_a_dead_click():
    dead = DeadClicks()
    target = point_target((10, 10))
    dead.refuse(target, "", PAGE, None)
    dead.record_effect(Effect.UNRELATED, PAGE)
    assert dead.refuse(point_target((11, 9)), "", PAGE, None) is not None
    dead.record_effect(Effect.CHANGED, PAGE)
    assert dead.refuse(target, "", PAGE, None) is None


# alternatives


def test_a_cover_is_told_with_what_closes_it_first():
    why = covered_element(PAGE.elements[1], CoveringElement("div", "Cookies", 3, (3, 2)), PAGE)
    assert why.cause is Cause.COVERED
    assert why.alternatives[0] == "click(\"2\") button 'Close'"
    assert "on top" in why.alternatives[1]


def test_causes_follow_the_probe():
    save = PAGE.elements[1]
    causes = [
        obstruction(save, probe, PAGE)
        for probe in (
            ElementProbe(gone=True),
            ElementProbe(hidden=True),
            ElementProbe(disabled=True),
            ElementProbe(pointless=True),
            ElementProbe(outside=True),
        )
    ]
    assert [why.cause for why in causes if why] == [
        Cause.STALE,
        Cause.HIDDEN,
        Cause.DISABLED,
        Cause.DISABLED,
        Cause.HIDDEN,
    ]
    assert obstruction(save, ElementProbe(point=(1, 1)), PAGE) is None
    hidden = obstruction(save, ElementProbe(hidden=True), PAGE)
    assert hidden is not None
    assert hidden.alternatives == ("click(\"0\") button 'Menu' may show it",)


def test_names_that_come_close_are_offered():
    assert [one.index for one in similar_elements("save", PAGE)][:2] == [1, 3]
    assert similar_elements("", PAGE) == []
    missing = no_such_element(9, PAGE, "Close")
    assert missing.cause is Cause.MISSING
    assert "0 to 3" in missing.why
    assert missing.alternatives[0].startswith('click("2")')
    assert "it has none" in no_such_element(0, PageCapture(url="about:blank")).why


@pytest.mark.parametrize(
    ("wanted", "at"),
    [
        ("Small", 0),
        ("small ", 0),
        ("Medium", 1),
        ("38", 1),
        ("LARGE", 2),
        ("Extra-Large", 3),
        ("arge", -1),
        ("", -1),
        ("Tiny", -1),
    ],
)
def test_options_are_matched_only_where_one_is_meant(wanted: str, at: int):
    assert match_option(wanted, ["Small", "Medium (38-40)", "Large", "Extra large"]) == at
