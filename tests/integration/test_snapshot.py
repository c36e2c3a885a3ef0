"""Capturing a page with a real Chromium: what is named, and that nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.async_api import Browser

from app.demo.server import DemoServer
from app.engine.browser.capture.frames import NoSuchElement
from app.engine.browser.capture.snapshot import capture, element_handle, thumbnail
from app.engine.browser.session import BrowserSession, open_session
from app.engine.core.ax_tree import parse_tree
from app.engine.core.page_state import Element, PageCapture
from tests.support.ax_tree_comparison import agreement
from tests.support.browser_walker import Walker
from tests.support.pages_server import serving


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    with serving() as address:
        yield address


async def look(tab: BrowserSession, address: str) -> PageCapture:
    await tab.page.goto(address)
    return await capture(tab, picture=False)


def one(page: PageCapture, name: str) -> Element:
    found = [element for element in page.elements if element.name == name]
    assert len(found) == 1, f"{name}: {[(e.role, e.name) for e in page.elements]}"
    return found[0]


def visible(page: PageCapture) -> set[str]:
    return {element.name for element in page.elements if element.visible}


# -- frames ------------------------------------------------------------------------------------------------------


@pytest.mark.smoke
async def test_frames_of_the_same_and_of_another_site_are_read_in_document_order(
    blank: BrowserSession, pages: str
):
    page = await look(blank, f"{pages}/frames.html")
    told = [(element.name, element.frame) for element in page.elements]
    assert told == [
        ("Start", ()),
        ("Press", ("inner",)),
        ("Deep", ("inner", "srcdoc")),
        ("Between", ()),
        ("Coupon", ("abroad",)),
        ("Send", ("abroad",)),
        ("Coupon", ("abroad-again",)),
        ("Send", ("abroad-again",)),
        ("Coupon", ("banner",)),
        ("Send", ("banner",)),
        ("End", ()),
    ]
    assert [element.index for element in page.elements] == list(range(11))
    assert (page.frames, page.opaque, page.language, page.status) == (5, (), "en-GB", 200)
    assert page.headings == ("Outside", "Within")
    assert page.text.split("\n")[:5] == ["Start", "Outside", "Within", "Press", "Deepest words"]


async def test_an_element_in_a_frame_has_its_place_in_the_page_and_the_frames_landmarks(
    blank: BrowserSession, pages: str
):
    page = await look(blank, f"{pages}/frames.html")
    outer = await blank.page.locator("iframe[name=inner]").bounding_box()
    assert outer is not None
    assert one(page, "Press").rect == pytest.approx((outer["x"] + 18, outer["y"] + 28, 60, 20), abs=0.2)
    assert one(page, "Press").landmarks == ("main",)
    assert [element.in_advert for element in page.elements].count(True) == 2, "the banner's"


async def test_the_tree_numbers_elements_of_frames_as_the_page_does(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/frames.html")
    numbered = {int(node.bid): (node.role, node.name) for node in parse_tree(page.tree) if node.bid}
    assert numbered == {element.index: (element.role, element.name) for element in page.elements}
    assert "StaticText 'Foreign words'" in page.tree


async def test_every_element_is_found_again_in_whichever_frame_it_lies(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/frames.html")
    for element in page.elements:
        handle = await element_handle(blank, element.index)
        said = await handle.evaluate("e => e.getAttribute('aria-label') || e.textContent")
        assert said == element.name
    await (await element_handle(blank, one(page, "Press").index)).click()
    abroad = next(element for element in page.elements if element.name == "Send")
    await (await element_handle(blank, abroad.index)).click()
    after = await capture(blank, picture=False)
    assert one(after, "Pressed").frame == ("inner",)


async def test_more_frames_than_allowed_are_named_and_not_looked_into(
    blank: BrowserSession, pages: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("app.engine.browser.capture.snapshot.MAX_FRAMES", 2)
    page = await look(blank, f"{pages}/frames.html")
    assert page.frames == 2
    assert len(page.opaque) == 3
    assert "3 frames could not be read" in page.notes


# -- shadow roots ------------------------------------------------------------------------------------------------


async def test_open_shadow_roots_are_read_through_and_closed_ones_are_not(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/shadow.html")
    assert [(element.name, element.in_shadow) for element in page.elements] == [
        ("Slotted", False),
        ("Size", True),
        ("Said inside", True),
        ("First", True),
        ("Buy", True),
        ("Plain", False),
    ]
    assert page.headings == ("Card",)
    assert "Fallback" in page.text
    assert "Secret" not in page.text
    assert (
        one(page, "First").css
        == "html > body > main > shop-card >> :host > shop-button >> :host > div > button:nth-of-type(1)"
    )
    assert one(page, "Buy").css == "html > body > main > shop-card >> :host > shop-button >> #buy"
    assert one(page, "Buy").xpath == ""


RESOLVE = """css => css.split(" >> ").reduce(
    (root, part) => (root.shadowRoot ?? root).querySelectorAll(part)[0], document)"""
BY_XPATH = "path => document.evaluate(path, document, null, 9, null).singleNodeValue"


@pytest.mark.parametrize("name", ["shadow.html", "lists.html", "widgets.html", "ids.html", "hidden.html"])
async def test_css_and_xpath_lead_back_to_the_element(blank: BrowserSession, pages: str, name: str):
    page = await look(blank, f"{pages}/{name}")
    assert page.elements
    for element in page.elements:
        handle = await element_handle(blank, element.index)
        by_css = await blank.page.evaluate_handle(RESOLVE, element.css)
        assert await handle.evaluate("(e, other) => e === other", by_css), element.css
        if element.xpath:
            by_xpath = await blank.page.evaluate_handle(BY_XPATH, element.xpath)
            assert await handle.evaluate("(e, other) => e === other", by_xpath), element.xpath


# -- roles, names, states ----------------------------------------------------------------------------------------


async def test_widgets_have_their_roles_names_and_states(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/widgets.html")
    told = [(e.role, e.name, e.states) for e in page.elements if e.visible and not e.listens]
    assert told == [
        ("button", "File", ("collapsed", "haspopup")),
        ("tab", "List", ("selected",)),
        ("tab", "Map", ()),
        ("combobox", "Red", ("collapsed", "haspopup")),
        ("textbox", "", ()),
        ("summary", "More", ("collapsed",)),
        ("checkbox", "I agree", ("checked",)),
        ("checkbox", "See-through", ()),
        ("switch", "Dark", ()),
        ("button", "Bold", ("pressed",)),
        ("combobox", "Colour", ()),
        ("listbox", "Sizes", ()),
        ("treeitem", "Root", ("expanded",)),
        ("link", "Real", ()),
        ("textbox", "Notes", ()),
        ("button", "", ()),
        ("button", "Refresh", ("disabled",)),
        ("textbox", "Off", ("disabled",)),
        ("textbox", "Secret", ()),
        ("spinbutton", "Count", ("readonly", "required")),
        ("link", "Here", ("current",)),
    ]
    assert one(page, "Colour").options == ("Green", "Gold")
    assert (one(page, "Colour").value, one(page, "Sizes").value) == ("Gold", "S, M")
    assert one(page, "Secret").value == "", "passwords are never read"
    assert one(page, "I agree").tag == "label", "the box itself can't be clicked"
    assert ("icon", "icon icon-trash trash") in next(
        e for e in page.elements if e.name == "" and e.tag == "button"
    ).attributes


async def test_what_only_looks_like_a_control_is_told_as_such(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/widgets.html")
    assert {(e.role, e.name) for e in page.elements if e.listens} == {
        ("generic", "Made of div"),
        ("generic", "Pointed"),
    }


async def test_opening_a_menu_shows_its_items_in_their_landmark(blank: BrowserSession, pages: str):
    closed = await look(blank, f"{pages}/widgets.html")
    assert "New" not in visible(closed)
    await blank.page.evaluate("document.getElementById('menu').hidden = false")
    page = await capture(blank, picture=False)
    assert one(page, "New").landmarks == ("banner", "navigation:Main", "menu")
    assert one(page, "Ruler").role == "menuitemcheckbox"
    assert one(page, "Ruler").states == ("checked",)
    assert one(page, "Map").landmarks == ("main", "tablist:Views")


async def test_what_nobody_can_reach_is_left_out_or_marked(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/hidden.html")
    assert visible(page) == {"Back again", "In contents", "Floating", "Far below"}
    named = {element.name for element in page.elements}
    assert named.isdisjoint({"Not displayed", "Unheard"})
    assert {"Skip to content", "Faded", "Folded", "Readers only", "Inert"} <= named
    assert page.size[1] > 5000


async def test_only_attributes_that_somebody_chose_are_kept(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/ids.html")
    ids = {element.name: dict(element.attributes).get("id", "") for element in page.elements}
    assert {name for name, id in ids.items() if id} == {
        "Chosen",
        "Short digits",
        "First twice",
        "Second twice",
        "Quoted",
    }
    marked = one(page, "Marked")
    assert marked.attributes == (("autocomplete", "off"), ("class", "btn btn-primary"), ("name", "buy"))
    assert marked.test_id == "buy"


PARTS_OF_THE_DEMO = ("", "department/Kitchen", "product/oak-tray", "basket")
PARTS_OF_ITS_ADMIN = ("orders", "orders?page=2", "orders/1001", "products", "customers", "help")


async def test_roles_and_names_are_those_of_chromiums_own_tree(
    admin: Walker, server: DemoServer, record_property: Callable[[str, object], None]
):
    addresses = [f"{server.shop_url}/{part}" for part in PARTS_OF_THE_DEMO]
    addresses += [f"{server.admin_url}/admin/{part}" for part in PARTS_OF_ITS_ADMIN]
    both = roles = names = 0
    differing: list[str] = []
    for address in addresses:
        await admin.tab.page.goto(address)
        found = await agreement(admin.tab)
        both, roles, names = both + found.both, roles + found.roles, names + found.names
        differing += [*found.differing, *found.missing]
    record_property("agreement", f"{roles} roles and {names} names of {both}")
    assert both > 100
    assert differing == []


LABEL_FOR_A_BOX = "checkbox 'I agree' is LabelText ''"
IN_A_CLOSED_ROOT = "button 'Secret'"
EDITED_PART = "textbox 'Notes' is generic 'Notes'"


@pytest.mark.parametrize(
    ("name", "differing", "missing"),
    [
        ("widgets.html", (LABEL_FOR_A_BOX, EDITED_PART), ()),
        ("lists.html", (), ()),
        ("shadow.html", (), (IN_A_CLOSED_ROOT,)),
        ("login.html", (), ()),
    ],
)
async def test_made_up_widgets_differ_from_chromiums_own_tree_on_purpose_only(
    blank: BrowserSession, pages: str, name: str, differing: tuple[str, ...], missing: tuple[str, ...]
):
    await blank.page.goto(f"{pages}/{name}")
    found = await agreement(blank)
    assert (found.differing, found.missing) == (differing, missing)


# -- lists, forms, notices, adverts ------------------------------------------------------------------------------


async def test_repeated_lists_are_told_by_their_template_and_row(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/lists.html")
    rows = [(e.repeat, e.repeat_index) for e in page.elements if e.repeat.startswith("ul.products")]
    assert rows == [("ul.products>li.product", row) for row in (0, 0, 0, 1, 1, 1, 2, 2, 2)]
    by_name = {element.name: element.repeat for element in page.elements}
    assert by_name["A"] == "ul>li"
    assert by_name["1"] == "tbody>tr", "a table's only row is one of many to come"
    for name in ("X", "First", "First name", "Last name", "City", "Save", "Preview", "2", "Id"):
        assert by_name[name] == "", name


async def test_forms_are_named_by_method_and_path(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/lists.html")
    assert (one(page, "Save").form, one(page, "Save").submits) == ("post:/save", True)
    assert (one(page, "Preview").form, one(page, "Preview").submits) == ("post:/save", False)
    assert (one(page, "Draft").form, one(page, "Draft").submits) == ("get:/draft", True)
    assert (one(page, "City").form, one(page, "City").submits) == ("post:/save", False)
    other = pages.replace("127.0.0.1", "localhost")
    assert one(page, "Elsewhere").form == f"get:{other}/elsewhere"


async def test_messages_and_adverts_are_marked_and_nothing_else_is(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/notices.html")
    assert {e.name for e in page.elements if e.in_live} == {"Undo", "Dismiss"}
    assert {e.name for e in page.elements if e.in_advert} == {"Buy now", "And this", "Or that"}


# -- pages that are hard to look at ------------------------------------------------------------------------------


async def test_a_page_that_is_one_canvas_is_told_as_such(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/canvas.html")
    assert page.canvas_only
    assert "canvas 'The map'" in page.tree
    assert not (await look(blank, f"{pages}/lists.html")).canvas_only


async def test_an_endless_page_is_read_as_far_as_it_has_come(blank: BrowserSession, pages: str):
    first = await look(blank, f"{pages}/endless.html")
    await blank.page.mouse.wheel(0, 3000)
    await blank.page.wait_for_function("document.querySelectorAll('li').length > 30")
    second = await capture(blank, picture=False)
    assert len(first.elements) == 30 < len(second.elements)
    assert {e.repeat for e in second.elements} == {"ul.news>li"}


async def test_a_page_that_grows_for_ever_is_cut_at_the_limit_and_says_so(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/growing.html")
    await blank.page.wait_for_function("document.querySelectorAll('li').length > 60")
    page = await capture(blank, picture=False, limit=50)
    assert len(page.elements) == 50
    assert page.notes[0].startswith("only 50 of ")


async def test_a_page_nested_too_deep_is_read_as_deep_as_it_goes(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/deep.html")
    assert visible(page) == {"Top"}
    assert page.notes == ("the page is nested too deep to be read whole",)


async def test_a_page_that_never_paints_gets_no_picture_and_a_note(
    blank: BrowserSession, pages: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("app.engine.browser.capture.screenshot.SCREENSHOT_TIMEOUT", 0.6)
    await blank.page.goto(f"{pages}/unpainted.html")
    page = await capture(blank)
    assert page.picture == b""
    assert any(note.startswith("no picture: ") for note in page.notes)
    assert visible(page) == {"There"}


async def test_a_picture_is_a_jpeg_of_the_viewport_and_a_thumbnail_a_small_one(
    blank: BrowserSession, pages: str
):
    await blank.page.goto(f"{pages}/lists.html")
    page = await capture(blank)
    small = await thumbnail(blank)
    assert page.picture.startswith(b"\xff\xd8\xff")
    assert small.startswith(b"\xff\xd8\xff")
    assert len(small) < len(page.picture)
    assert page.viewport == (1024, 640)


# -- looking changes nothing, and nothing of the page changes the look --------------------------------------------


async def test_a_hostile_page_neither_notices_the_look_nor_falsifies_it(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/hostile.html")
    wire = await blank.context.new_cdp_session(blank.page)

    async def state(expression: str) -> object:
        answer = await wire.send("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        return answer["result"]["value"]

    names = "Object.getOwnPropertyNames(window).join() + Object.getOwnPropertySymbols(window).length"
    told = "[window.noticed.length, window.changes].join()"
    noticed, before = await state(told), await state(names)
    page = await capture(blank)
    assert await state(names) == before
    assert await state(told) == noticed

    assert one(page, "First child").form == "post:/real"
    assert one(page, "Send").submits
    assert one(page, "Fine").href == f"{pages}/ok"
    assert """it's "both" quotes""" in page.text
    assert "\x01" not in page.text + page.tree


async def test_looking_changes_nothing_on_the_page(admin: Walker):
    await admin.do("click", "link", "Orders")
    page = admin.tab.page
    state = "() => [document.documentElement.outerHTML, document.activeElement.tagName, scrollX, scrollY]"
    await page.evaluate(
        "() => { window.changes = 0; new MutationObserver(list => { window.changes += list.length; })"
        ".observe(document, {subtree: true, childList: true, attributes: true, characterData: true}); }"
    )
    before = await page.evaluate(state)
    seen = await capture(admin.tab)
    await element_handle(admin.tab, seen.elements[-1].index)
    await thumbnail(admin.tab)
    assert await page.evaluate(state) == before
    assert await page.evaluate("() => window.changes") == 0
    left = "() => Object.getOwnPropertySymbols(window).filter(s => String(s).includes('sitelore')).length"
    assert await page.evaluate(left) == 0


async def test_an_element_that_has_gone_is_not_found(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/lists.html")
    city = one(page, "City").index
    await blank.page.evaluate("document.getElementById('f3').remove()")
    for index in (city, 9999, -1):
        with pytest.raises(NoSuchElement):
            await element_handle(blank, index)
    await blank.page.goto(f"{pages}/ids.html")
    with pytest.raises(NoSuchElement):
        await element_handle(blank, 0)


async def test_two_looks_at_an_unchanged_page_agree(chromium: Browser, pages: str):
    async with open_session(chromium) as first, open_session(chromium) as second:
        a = await look(first, f"{pages}/frames.html")
        b = await look(second, f"{pages}/frames.html")
        c = await capture(second, picture=False)
    assert a.elements == b.elements == c.elements
    assert (a.tree, a.text) == (b.tree, b.text) == (c.tree, c.text)
