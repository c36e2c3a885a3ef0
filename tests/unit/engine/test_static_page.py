"""Static pages: the same key for the same links and controls, another one as soon as one changes."""

from __future__ import annotations

import pytest

from app.engine.core.page_state import Element
from app.engine.core.static_page import read_static_page, static_key

URL = "http://shop.test/products?page=1"
PAGE = """<!doctype html><title>Products</title><script src="/static/site.js?v=3"></script>
<script>var token = "a8f3"; var now = 1690000000;</script>
<nav><a href="/">Home</a><A HREF='/orders'>Orders <b>(3)</b></A></nav>
<form action="/search" method=get><input name=q placeholder="Search"><input type="hidden" name="csrf" value="a8f3">
<button class="x">Go</button></form><ul><li><a href="/p/mug_1?utm_source=list">Mug</a> 4.50</li></ul>
<div role="tab" aria-expanded="false">More</div><select name=sort><option>Name</option></select>"""


def key(page: str, url: str = URL) -> str:
    return read_static_page(page, url, "http://shop.test/").key


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a8f3", "77bc"),
        ("1690000000", "1790000000"),
        ("4.50", "5.20"),
        ("(3)", "(12)"),
        ("utm_source=list", "utm_source=mail"),
        ('class="x"', 'class="x y" style="color:red"'),
        ("<ul>", "<!-- 12 ms --><ul class=grid>"),
        ("</script>\n<nav>", "</script><style>a{}</style><nav>"),
    ],
)
def test_what_changes_from_visit_to_visit_does_not_matter(before: str, after: str):
    assert before in PAGE
    assert key(PAGE.replace(before, after)) == key(PAGE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("/orders", "/sales"),
        ("Orders", "Sales"),
        ("<button", "<button>New</button><button"),
        ("</ul>", "<li><a href=/p/jug_2>Jug</a></li></ul>"),
        ('<li><a href="/p/mug_1?utm_source=list">Mug</a> 4.50</li>', ""),
        ("site.js?v=3", "site.js?v=4"),
        ("<option>Name", "<option>Price</option><option>Name"),
        ("name=sort", "name=order"),
        ('aria-expanded="false"', 'aria-expanded="true"'),
        ("/search", "/find"),
    ],
)
def test_a_change_of_what_is_offered_is_seen(before: str, after: str):
    assert before in PAGE
    assert key(PAGE.replace(before, after)) != key(PAGE)


def test_the_same_site_on_another_host_has_the_same_keys():
    there = read_static_page(PAGE, "https://other.test:8443/products?page=1", "https://other.test:8443/")
    assert there.key == key(PAGE)


def test_pages_with_the_same_scripts_are_known_as_such():
    def scripts(page: str) -> str:
        return read_static_page(page, URL, URL).scripts

    assert scripts(PAGE) == scripts(PAGE.replace("Orders", "Sales").replace("a8f3", "77bc"))
    assert scripts(PAGE) != scripts(PAGE.replace("site.js", "shop.js"))


def test_the_order_of_elements_does_not_matter():
    lines = PAGE.split("\n")
    assert key("\n".join(reversed(lines[2:]))) != ""
    assert key("<a href=/a>A</a><a href=/b>B</a>") == key("<a href=/b>B</a><a href=/a>A</a>")


def test_a_shell_that_scripts_fill_has_no_key():
    assert key('<!doctype html><title>App</title><div id="app"></div><script src="/app.js"></script>') == ""


def test_a_document_speaks_for_a_page_only_if_it_holds_most_of_its_links():
    home = "http://shop.test/"
    shown = [
        Element(index=n, role="link", href=f"{home}{path}")
        for n, path in enumerate(("", "orders", "p/mug_1"))
    ]
    assert static_key(PAGE, URL, home, shown) == key(PAGE)
    added = [*shown, *(Element(index=9, role="link", href=f"{home}late/{n}") for n in range(5))]
    assert static_key(PAGE, URL, home, added) == ""
    assert static_key(PAGE, URL, home, []) == key(PAGE)


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<",
        "<a",
        "<a href='",
        '<a href="http://[">x</a>',
        "<button>" * 5000,
        '<a "' * 20000,
        "<a '<a \"" * 20000,
        "<script>" * 20000,
        "<!--" * 20000,
        "<a>" + "<" * 20000,
        "<script>" * 100,
    ],
)
def test_whatever_comes_is_read(page: str):
    assert key(page) == key(page)
