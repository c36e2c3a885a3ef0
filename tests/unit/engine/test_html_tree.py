"""Accessibility trees from HTML: roles, names, states, and what is not shown."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest

from app.engine.core.html_nodes import HtmlNode, html_of
from app.engine.core.html_tree import tree_of


def node(tag: str, *children, **attributes: str) -> HtmlNode:
    held = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return HtmlNode(tag, held, list(children))


CASES = [
    (node("a", "Go", href="/x"), "[2] link 'Go', url='https://e.org/x'"),
    (node("a", "Go"), "StaticText 'Go'"),
    (node("h2", "Title"), "[2] heading 'Title'"),
    (node("button", node("img", alt="Save"), disabled=""), "[2] button 'Save', disabled"),
    (node("input", type="submit"), "[2] button 'Submit'"),
    (node("input", type="hidden", value="x"), ""),
    (node("input", aria_label="Age", type="number", value="7"), "[2] spinbutton 'Age', value='7'"),
    (node("input", placeholder="Search", required=""), "[2] textbox 'Search', required"),
    (node("div", "x", role="alert"), "[2] alert ''"),
    (node("div", "x", role="presentation"), "StaticText 'x'"),
    (node("div", "x", hidden=""), ""),
    (node("div", "x", aria_hidden="true"), ""),
    (node("div", "x", style="display: none"), ""),
    (node("dialog", "x"), ""),
    (node("script", "x"), ""),
    (node("img", alt=""), ""),
    (node("nav", aria_label="Main"), "[2] navigation 'Main'"),
    (node("input", type="checkbox", aria_label="On", checked=""), "[2] checkbox 'On', checked='true'"),
    (
        node("button", "More", aria_expanded="false", aria_haspopup="menu"),
        "[2] button 'More', expanded=False",
    ),
]


@pytest.mark.parametrize(("element", "line"), CASES)
def test_an_element_is_a_line_of_the_tree(element: HtmlNode, line: str) -> None:
    lines = tree_of(node("body", element), "T", "https://e.org/a").split("\n")
    assert lines[0] == "RootWebArea 'T', focused"
    assert (lines[1].strip() if len(lines) > 1 else "").startswith(line)
    assert bool(line) == (len(lines) > 1)


def test_fields_are_named_by_their_labels() -> None:
    page = node(
        "body",
        node("label", "Name ", node("input")),
        node("label", "Town", for_="t"),
        node("input", id="t"),
        node("span", "Land", id="l"),
        node("select", node("option", "Peru", selected=""), aria_labelledby="l"),
    )
    tree = tree_of(page, "")
    for line in ("textbox 'Name'", "textbox 'Town'", "combobox 'Land', value='Peru'"):
        assert line in tree


def test_text_is_not_said_twice_and_keeps_its_order() -> None:
    tree = tree_of(node("body", "One", node("button", node("b", "Two")), "Three"), "")
    assert [line.strip() for line in tree.split("\n")[1:]] == [
        "StaticText 'One'",
        "[2] button 'Two'",
        "StaticText 'Three'",
    ]


def test_ids_in_the_html_are_those_of_the_tree_and_odd_names_are_left_out() -> None:
    page = node(
        "body", HtmlNode("button", {"a b": "x", "title": "\"'<"}, ["<Go>"]), HtmlNode("x y", {}, ["no"])
    )
    assert "[2] button '<Go>'" in tree_of(page, "")
    assert html_of(page) == '<body><button bid="2" title="&quot;&#x27;&lt;">&lt;Go&gt;</button></body>'


def test_a_very_deep_page_is_read() -> None:
    page = node("p", "end")
    for _ in range(5000):
        page = node("div", page)
    assert "StaticText 'end'" in tree_of(page, "")
    assert html_of(page).count("<div") == 5000


@pytest.mark.parametrize(
    "place", ["/", "/a/b", "/a?x=../..", "//o/x", "/../a", "/a/./b", "b", "?q", "#x", "/a//b"]
)
@pytest.mark.parametrize("address", ["http://h:8/x/y?q=1#f", "https://e.org", "http://h/a/"])
def test_addresses_are_resolved_as_the_standard_says(address: str, place: str) -> None:
    assert f"url={urljoin(address, place)!r}" in tree_of(
        node("body", node("a", "x", href=place)), "", address
    )
