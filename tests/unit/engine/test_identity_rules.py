"""ARCHITECTURE's table "when two looks are one state", one row a clause.

A row changes one thing of a page and says which parts of its identity are others then: nothing else may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.engine.core.identity import keys_of, node_id, page_id
from app.engine.core.page_state import Element, Mode, PageCapture

HOME = "http://shop.test/"
ROWS = {"landmarks": ("main",), "repeat": "ol>li"}
MENU = {"landmarks": ("banner", "menu:Account"), "repeat": "ul>li"}


def element(role: str, name: str, **more: object) -> Element:
    return Element(**{"index": 0, "role": role, "name": name, "landmarks": ("main",), **more})  # type: ignore[arg-type]


PAGE = PageCapture(
    url="http://shop.test/product/apron-12?tab=reviews",
    title="Apron",
    headings=("Apron",),
    text="Apron\nPrice 12",
    elements=(
        element("button", "Account", landmarks=("banner",), states=("collapsed",)),
        element("menuitem", "Orders", repeat_index=0, **MENU),
        element("menuitem", "Settings", repeat_index=1, **MENU),
        element("searchbox", "Search", landmarks=("banner",), css="#q"),
        element("button", "Add Apron to basket", form="post:/basket"),
        element("checkbox", "In stock"),
        element("button", "Saved (3)"),
        element("link", "Bowl", repeat_index=0, **ROWS),
        element("link", "Cup", repeat_index=1, **ROWS),
    ),
)

Change = Callable[[PageCapture], PageCapture]


def with_(*more: Element) -> Change:
    return lambda page: replace(page, elements=(*page.elements, *more))


def change(called: str, /, **fields: object) -> Change:
    def changed(page: PageCapture) -> PageCapture:
        assert any(one.name == called for one in page.elements)
        return replace(
            page,
            elements=tuple(
                replace(one, **fields) if one.name == called else one  # type: ignore[arg-type]
                for one in page.elements
            ),
        )

    return changed


def without(*names: str) -> Change:
    return lambda page: replace(page, elements=tuple(one for one in page.elements if one.name not in names))


def at(url: str) -> Change:
    return lambda page: replace(page, url=url)


def shuffled(page: PageCapture) -> PageCapture:
    return replace(page, elements=page.elements[::-1])


NOTHING, URL, TEMPLATE = frozenset[str](), frozenset({"url"}), frozenset({"url", "template"})
STRUCTURE, BOTH, CONTENT = (
    frozenset({"structure"}),
    frozenset({"structure", "skeleton"}),
    frozenset({"content"}),
)

CLAUSES: tuple[tuple[str, Change, frozenset[str]], ...] = (
    # url, template
    ("the home host is left out", at("http://shop.test:80/product/apron-12?tab=reviews"), NOTHING),
    ("another host counts", at("http://other.test/product/apron-12?tab=reviews"), TEMPLATE),
    ("tracking is left out", at(PAGE.url + "&utm_source=mail&gclid=7"), NOTHING),
    ("a session key is left out", at(PAGE.url + "&sid=0f3a9bc1&csrf_token=9a8b7c"), NOTHING),
    ("where somebody came from is left out", at(PAGE.url + "&referer=home&came_from=x"), NOTHING),
    ("another instance is another address of one template", at("http://shop.test/product/bowl-7?tab=reviews"), URL),
    ("a key that chooses a view counts", at("http://shop.test/product/apron-12?tab=price"), TEMPLATE),
    ("a page of a list is another address of one template", at(PAGE.url + "&page=2"), URL),
    ("a route after #/ counts", at(PAGE.url + "#/questions"), TEMPLATE),
    ("a place on the page does not", at(PAGE.url + "#questions"), NOTHING),
    # structure
    ("the order of elements is left out", shuffled, NOTHING),
    ("element ids are left out", change("Search", css="#q-1042", attributes=(("id", "q-1042"),)), NOTHING),
    ("what is typed is left out", change("Search", value="teapot"), NOTHING),
    ("the focus is left out", change("Search", states=("focused",)), NOTHING),
    ("validity is left out", change("Search", states=("invalid", "required")), NOTHING),
    ("an alert is left out", with_(element("button", "Dismiss", in_live=True)), NOTHING),
    ("an advert is left out", with_(element("button", "Buy a car", in_advert=True)), NOTHING),
    ("what can't be seen is left out", with_(element("button", "Edit", visible=False)), NOTHING),
    ("what can't be acted on is left out", with_(element("paragraph", "Welcome")), NOTHING),
    ("a custom control counts", with_(element("generic", "Zoom", listens=True)), BOTH),
    ("expanded counts", change("Account", states=("expanded",)), BOTH),
    ("checked counts", change("In stock", states=("checked",)), BOTH),
    ("selected counts", change("In stock", states=("selected",)), BOTH),
    ("pressed counts", change("In stock", states=("pressed",)), BOTH),
    ("the role counts", change("In stock", role="switch"), BOTH),
    ("the name counts", change("In stock", name="On sale"), BOTH),
    ("digits of a name do not", change("Saved (3)", name="Saved (12)"), NOTHING),
    ("the landmark counts", change("In stock", landmarks=("complementary",)), BOTH),
    ("the frame counts", change("In stock", frame=("iframe#f",)), BOTH),
    ("rows of repeated lists count once", with_(element("link", "Dish", repeat_index=2, **ROWS)), NOTHING),
    ("whatever they are called", change("Bowl", name="Plate"), NOTHING),
    ("an entry more in a menu counts", with_(element("menuitem", "Wishes", repeat_index=2, **MENU)), BOTH),
    ("entries of menus count by their names", change("Orders", name="Invoices"), BOTH),
    ("a menu that is closed is another state", without("Orders", "Settings"), BOTH),
    # skeleton
    ("a link more is another structure, of one skeleton", with_(element("link", "Guide")), STRUCTURE),
    ("a button of a row more, too", with_(element("button", "Wish", repeat_index=0, **ROWS)), STRUCTURE),
    ("a row's button that opens counts", with_(element("button", "More", states=("collapsed",), **ROWS)), BOTH),
    # content
    ("digits of the text are left out", lambda page: replace(page, text="Apron\nPrice 14"), NOTHING),
    ("other words are other content and the same page", lambda page: replace(page, text="Sold out"), CONTENT),
)  # fmt: skip


@pytest.mark.parametrize(("change", "others"), [row[1:] for row in CLAUSES], ids=[row[0] for row in CLAUSES])
def test_differences_that_make_another_state(change: Change, others: frozenset[str]) -> None:
    before, after = keys_of(PAGE, HOME), keys_of(change(PAGE), HOME)
    parts = ("url", "template", "structure", "skeleton", "content")
    assert {part for part in parts if getattr(before, part) != getattr(after, part)} == others
    assert (page_id(before) != page_id(after)) is bool(others & {"url", "structure"})


def product(name: str, number: int) -> PageCapture:
    """The page of another product: its address, headings, links and buttons say its name."""
    renamed = change("Add Apron to basket", name=f"Add {name} to basket")(PAGE)
    return replace(
        renamed,
        url=f"http://shop.test/product/{name.lower()}-{number}?tab=reviews",
        headings=(name,),
        text=name,
    )


def test_one_product_represents_all_of_its_template_and_skeleton() -> None:
    one, other = keys_of(PAGE, HOME), keys_of(product("Teapot", 4), HOME)
    assert page_id(one) != page_id(other)
    assert node_id(one, Mode.FULL) != node_id(other, Mode.FULL)
    assert node_id(one, Mode.SKELETON) == node_id(other, Mode.SKELETON)
