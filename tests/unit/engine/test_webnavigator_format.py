"""Lists in WebNavigator's format mean what its matcher makes of them, line by line."""

from __future__ import annotations

import json

import pytest

from app.engine.core.page_state import Element
from app.engine.graph.rules.block_list import BlockList
from app.errors import InputError

REMOVE = Element(
    index=0,
    role="link",
    name="x",
    href="/customer/account/logout",
    attributes=(("class", "btn btn-remove"),),
    xpath="/html/body/div[1]/a",
)


def loaded(patterns: list[dict], domain: str = "") -> BlockList:
    entry = {"block_domain": domain, "block_elements": [{"name": "rule", "patterns": patterns}]}
    return BlockList.load(json.dumps([entry]))


def blocks(
    patterns: list[dict], element: Element = REMOVE, domain: str = "", page: str = "http://h:1/"
) -> bool:
    """Whether the list alone, without what is built in, stops the element."""
    rules = loaded(patterns, domain)
    return any(rule.holds(subject_of(element, page)) for rule in rules.rules)


def subject_of(element: Element, page: str):
    from app.engine.graph.rules.conditions import Subject

    return Subject(element=element, page_url=page)


def with_xpath(xpath: str) -> Element:
    return Element(index=0, role="link", xpath=xpath)


@pytest.mark.parametrize(
    ("patterns", "blocked"),
    [
        ([], True),
        ([{"class": "btn", "logic": "NOT"}], False),
        ([{"class": "nomatch"}, {"class": "btn", "logic": "OR"}], False),
        ([{"class": "nomatch", "logic": "OR"}, {"class": "btn"}], True),
        ([{"class": "zzz", "logic": "NOT"}, {"class": "nomatch", "logic": "OR"}], True),
        ([{"onclick": ""}], True),
        ([{"class": ""}], False),
        ([{"class": "btn"}], True),
        ([{"class": "BTN"}], False),
        ([{"class": "^remove"}], False),
        ([{"class": "btn", "href": "logout"}], True),
        ([{"class": "btn", "href": "login"}], False),
        ([{"class": "btn"}, {"href": "logout"}], True),
        ([{"class": "btn"}, {"href": "login"}], False),
        ([{"class": "btn", "logic": "AND"}, {"href": "login", "logic": "OR"}, {"class": "remove"}], True),
        ([{"class": "nomatch", "logic": "OR"}, {"class": "none"}, {"class": "btn"}], False),
    ],
)
def test_patterns_are_joined_by_the_preceding_patterns_logic(patterns: list[dict], blocked: bool):
    assert blocks(patterns) is blocked


def test_a_broken_expression_is_compared_as_text():
    assert blocks([{"xpath": "a[("}], with_xpath("a[("))
    assert not blocks([{"xpath": "a[("}], with_xpath("a[(b"))


def test_an_unescaped_bracket_is_a_class_of_characters():
    pattern = [{"xpath": "/html/body/div[1]/a"}]
    assert not blocks(pattern, with_xpath("/html/body/div[1]/a"))
    assert blocks(pattern, with_xpath("/html/body/div1/a"))


@pytest.mark.parametrize(
    ("domain", "page", "applies"),
    [
        ("", "http://any.where/", True),
        ("210.28.133.13:22503/", "http://210.28.133.13:22503/cart", True),
        ("210.28.133.13:22503/", "http://210.28.133.13:22504/cart", False),
        ("http://shop.example:80/", "http://shop.example:80/", True),
        ("http://shop.example", "http://www.shop.example/", False),
        ("shop.example", "http://shop.example/", True),
        ("shop.example", "http://shop.example:8080/", False),
        ("localhost:80", "http://localhost:80/", False),
        ("h:1", "http://h:1/", False),
    ],
)
def test_a_domain_must_be_the_page_s_host_and_port(domain: str, page: str, applies: bool):
    assert blocks([{"class": "btn"}], REMOVE, domain, page) is applies


def test_misleading_patterns_are_noted():
    assert loaded([{"class": "btn"}], "localhost:80").notes == (
        "'localhost:80' is read as a scheme and not as a host: its rules never apply",
    )
    assert "blocks every element" in loaded([]).notes[0]
    assert "pattern 2 is never checked" in loaded([{"class": "a", "logic": "NOT"}, {"class": "b"}]).notes[0]
    assert "joins nothing" in loaded([{"class": "a"}, {"class": "b", "logic": "OR"}]).notes[0]
    assert "patterns[0].href is not a regular expression" in loaded([{"href": "(["}]).notes[0]
    assert loaded([{"class": "a"}, {"class": "b"}]).notes == ()


def test_rule_names_include_the_host_and_built_in_rules_stay():
    rules = loaded([{"class": "btn"}], "shop.example")
    assert rules.verdict(REMOVE, "http://shop.example/").rule == "shop.example: rule"
    delete = Element(index=0, role="button", name="Delete")
    assert not rules.verdict(delete, "http://shop.example/").allows


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ([{"block_domain": 1, "block_elements": []}], "block_domain"),
        ([{"block_elements": [{"name": "x"}]}], "list of patterns"),
        ([{"block_elements": [{"name": "x", "patterns": ["y"]}]}], "patterns"),
        ([{"block_elements": [{"name": "x", "patterns": [{"class": 1}]}]}], r"patterns\[0\]\.class"),
        ([{"block_elements": [{"name": "x", "patterns": [{"class": "(a+)+"}]}]}], "take for ever"),
        ([{"block_elements": [{"name": "x", "patterns": [{"": "a"}]}]}], "no attribute"),
    ],
)
def test_another_shape_is_an_input_error(raw: object, said: str):
    with pytest.raises(InputError, match=said):
        BlockList.load(json.dumps(raw))
