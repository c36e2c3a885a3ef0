"""Locators: an element is found again on a changed page, or not at all; never another one."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.engine.browser.locators import is_generated, locator_of, resolve
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.transition import Tier

HOME = "http://shop.test/"


def button(name: str, **more: object) -> Element:
    return Element(**{"index": 0, "role": "button", "name": name, "tag": "button", "css": f"#{name}", **more})


def link(name: str, href: str, **more: object) -> Element:
    return Element(
        **{"index": 0, "role": "link", "name": name, "tag": "a", "href": f"http://shop.test{href}", **more}
    )


def page(*elements: Element, url: str = HOME) -> PageCapture:
    return PageCapture(url=url, elements=tuple(replace(e, index=n) for n, e in enumerate(elements)))


def found(page_before: PageCapture, at: int, page_after: PageCapture):
    return resolve(locator_of(page_before.elements[at], page_before), page_after)


SAVE = button("Save", css="form > button", xpath="/html/body/form/button", landmarks=("main",))
BACK = button("Back", css="form > a", landmarks=("main",))


def test_a_test_id_finds_the_element_whatever_else_has_changed():
    before = page(replace(SAVE, test_id="save"), BACK)
    after = page(BACK, replace(SAVE, name="Keep it", test_id="save", css="div", landmarks=("form",)))
    got = found(before, 0, after)
    assert (got.element, got.tier) == (after.elements[1], Tier.TEST_ID)


def test_a_renamed_button_is_found_by_its_stable_id():
    before = page(replace(SAVE, attributes=(("id", "keep-order"),)), BACK)
    after = page(BACK, replace(SAVE, name="Store", attributes=(("id", "keep-order"),)))
    got = found(before, 0, after)
    assert (got.element, got.tier) == (after.elements[1], Tier.ATTRIBUTES)


def test_generated_ids_are_not_recorded():
    for value in (
        ":r3:",
        "ext-gen1042",
        "react-aria-12",
        "__BVID__12",
        "input-8f3a91bc",
        "radix-5",
        "mui-7",
        "id_83920174",
    ):
        assert is_generated(value), value
        element = replace(SAVE, attributes=(("id", value),))
        assert locator_of(element, page(element)).attributes == ()
    for value in ("save", "id_username", "add-to-basket", "feedback", "facade-address", "line1", "q"):
        assert not is_generated(value), value


def test_words_for_people_are_no_generated_values():
    element = replace(SAVE, attributes=(("aria-label", "Orders: 2026 to 2027"),))
    assert locator_of(element, page(element)).attributes == (("aria-label", "Orders: 2026 to 2027"),)


def test_a_regenerated_id_falls_back_to_role_and_name():
    before = page(replace(SAVE, attributes=(("id", "save-a"),)), BACK)
    after = page(replace(SAVE, attributes=(("id", "save-b"),)), BACK)
    got = found(before, 0, after)
    assert (got.element, got.tier) == (after.elements[0], Tier.ROLE_NAME)


def test_an_id_that_was_handed_to_another_element_does_not_win_over_the_name():
    rows = [
        button(name, attributes=(("id", f"row-{n}"),)) for n, name in enumerate(("Apples", "Pears", "Plums"))
    ]
    shifted = [
        button(name, attributes=(("id", f"row-{n}"),)) for n, name in enumerate(("Figs", "Apples", "Pears"))
    ]
    got = found(page(*rows), 1, page(*shifted))
    assert (got.element.name, got.tier) == ("Pears", Tier.ROLE_NAME)


def test_a_numbered_id_on_an_element_of_another_name_is_refused():
    rows = [button(name, attributes=(("id", f"row-{n}"),)) for n, name in enumerate(("Apples", "Pears"))]
    other = [button(name, attributes=(("id", f"row-{n}"),)) for n, name in enumerate(("Delete", "Drop"))]
    got = found(page(*rows), 1, page(*other))
    assert got.element is None
    assert "'Drop' now" in got.why


def test_a_count_in_a_name_does_not_matter():
    before, after = (
        page(link("Basket (0)", "/basket")),
        page(link("Basket (3)", "/basket"), link("Home", "/")),
    )
    assert found(before, 0, after).element == after.elements[0]
    before, after = page(button("Inbox 2", css="a")), page(button("Inbox 17", css="b"))
    assert found(before, 0, after).tier is Tier.ROLE_NAME


def test_a_moved_element_is_found_by_role_and_name():
    before = page(SAVE, BACK)
    after = page(BACK, replace(SAVE, landmarks=("contentinfo",), css="footer > button", xpath="/x"))
    got = found(before, 0, after)
    assert (got.element, got.tier) == (after.elements[1], Tier.ROLE_NAME)


def test_a_link_is_found_by_where_it_leads_on_another_host_and_port_too():
    before = page(link("Orders", "/orders?status=open&utm_source=x"), link("Home", "/"))
    moved = "https://other.test:8443/orders?status=open"
    after = page(
        replace(link("Home", "/"), href="https://other.test:8443/"),
        replace(link("All orders", ""), href=moved),
        url="https://other.test:8443/",
    )
    got = found(before, 0, after)
    assert (got.element, got.tier) == (after.elements[1], Tier.ATTRIBUTES)


def test_of_two_links_of_one_name_the_landmark_tells():
    before = page(link("Home", "/", landmarks=("banner",)), link("Home", "/", landmarks=("contentinfo",)))
    after = page(*reversed(before.elements))
    assert found(before, 1, after).element.landmarks == ("contentinfo",)


def row(n: int, product: str, repeat: str = "li") -> list[Element]:
    place = {"repeat": repeat, "repeat_index": n, "landmarks": ("main",)}
    return [
        link(product, f"/p/{product.lower()}", css=f"li:nth-child({n + 1}) > a", **place),
        button("Add to basket", css=f"li:nth-child({n + 1}) > button", **place),
    ]


def test_of_many_buttons_alike_the_row_tells_even_after_sorting():
    before = page(*row(0, "Apron"), *row(1, "Bowl"), *row(2, "Cup"))
    after = page(*row(0, "Cup"), *row(1, "Apron"), *row(2, "Teapot"), *row(3, "Bowl"))
    got = found(before, 3, after)
    assert got.element.repeat_index == 3
    assert "row" in got.why


def test_when_the_row_has_gone_its_button_is_not_looked_for_in_another_row():
    before = page(*row(0, "Apron"), *row(1, "Bowl"))
    for left in (page(*row(0, "Apron"), *row(1, "Cup")), page(*row(0, "Apron"))):
        assert found(before, 3, left).element is None


def test_one_of_several_alike_is_taken_by_its_number_only_while_they_stand_where_they_stood():
    twins = [button("More", css=f"section:nth-of-type({n}) > button") for n in (1, 2, 3)]
    got = found(page(*twins), 1, page(*twins, BACK))
    assert got.element.css == "section:nth-of-type(2) > button"
    assert "number 2 of 3 similar ones" in got.why
    assert got.candidates == 3

    fewer = found(page(*twins), 1, page(*twins[1:]))
    assert fewer.element is None
    assert fewer.candidates == 2

    moved = [replace(twin, css=f"main {twin.css}") for twin in twins]
    assert found(page(*twins), 1, page(*moved)).element is None


def test_a_single_one_left_of_several_alike_is_not_known_to_be_it():
    twins = [button("More", css="a"), button("More", css="b")]
    got = found(page(*twins), 1, page(button("More", css="c")))
    assert got.element is None
    assert "their number has changed" in got.why


def test_an_element_is_looked_for_in_its_own_frame():
    inside = replace(SAVE, frame=("editor",))
    before = page(SAVE, inside)
    assert found(before, 1, page(inside, SAVE)).element.frame == ("editor",)
    assert found(before, 0, page(inside, SAVE)).element.frame == ()
    assert found(before, 1, page(replace(inside, name="Other"), SAVE)).element is None


def test_a_frame_that_is_called_otherwise_now_is_said():
    before, after = page(replace(SAVE, frame=("editor",))), page(replace(SAVE, frame=("editor-v2",)))
    got = found(before, 0, after)
    assert got.element is not None
    assert "another frame" in got.why


def test_a_nameless_icon_is_found_by_its_place_and_a_named_one_in_its_place_is_not():
    icon = button("", css="td > button", xpath="/td/button")
    assert found(page(icon), 0, page(BACK, icon)).tier is Tier.CSS
    assert found(page(icon), 0, page(replace(icon, css="div > button"))).tier is Tier.XPATH
    delete = found(page(icon), 0, page(replace(icon, name="Delete")))
    assert delete.element is None
    assert "'Delete' is where" in delete.why


def test_in_its_place_a_name_that_shares_half_of_the_words_is_taken():
    before = page(replace(SAVE, name="Save order"))
    assert found(before, 0, page(replace(SAVE, name="Save this order"))).tier is Tier.CSS
    assert found(before, 0, page(replace(SAVE, name="Cancel order now"))).element is None


def test_a_field_is_found_by_its_label_and_a_link_that_became_a_button_by_its_text():
    field = Element(index=0, role="textbox", name="Town or city", label="Town", css="a")
    assert found(page(field), 0, page(replace(field, name="Where", css="b"))).tier is Tier.LABEL
    before, after = page(link("Check out", "/checkout")), page(button("Check out", css="x"))
    assert found(before, 0, after).tier is Tier.TEXT


def test_classes_may_have_been_added_but_not_lost():
    before = page(button("", attributes=(("class", "cart icon"),), css="a"), button("", css="b"))
    more = page(button("", attributes=(("class", "active cart icon"),), css="c"), button("", css="d"))
    assert found(before, 0, more).tier is Tier.ATTRIBUTES
    less = page(button("", attributes=(("class", "icon"),), css="c"), button("", css="d"))
    assert found(before, 0, less).element is None


def test_a_page_without_the_element_says_so():
    got = found(page(SAVE), 0, page(BACK))
    assert (got.element, got.tier) == (None, None)
    assert got.why == "button 'Save' is not on this page"


WORDS = st.sampled_from(["Save", "Delete", "Orders", "Add to basket", "Next", "Page 2", "Page 3", ""])
ELEMENTS = st.builds(
    Element,
    index=st.just(0),
    role=st.sampled_from(["button", "link", "textbox"]),
    name=WORDS,
    landmarks=st.sampled_from([(), ("main",), ("banner", "navigation:Main")]),
    frame=st.sampled_from([(), (), ("inner",)]),
    href=st.sampled_from(["", "http://shop.test/a", "http://shop.test/b?x=1", "http://other.test/a"]),
    test_id=st.sampled_from(["", "", "", "go", "stop"]),
    attributes=st.sampled_from(
        [(), (("id", "save"),), (("name", "q"), ("type", "search")), (("class", "btn main"),)]
    ),
    label=st.sampled_from(["", "Town"]),
    repeat=st.sampled_from(["", "", "li"]),
    repeat_index=st.integers(0, 2),
)


def placed(elements: list[Element]) -> PageCapture:
    """Give each element a position of its own, as on a real page."""
    return page(
        *(replace(e, css=f"body > :nth-child({n})", xpath=f"/body/*[{n}]") for n, e in enumerate(elements))
    )


@given(st.lists(ELEMENTS, min_size=1, max_size=12))
def test_on_the_page_it_was_made_on_a_locator_finds_its_element(elements: list[Element]):
    here = placed(elements)
    for element in here.elements:
        got = resolve(locator_of(element, here), here)
        assert got.element == element
        assert got.tier is not None
        assert got.candidates >= 1


@given(st.lists(ELEMENTS, min_size=1, max_size=12), st.randoms(use_true_random=False), st.booleans())
def test_after_shuffling_and_with_new_ids_it_finds_its_element_or_none(
    elements: list[Element], chance: random.Random, regenerated: bool
):
    """Elements that differ only in position may be confused."""
    here = placed([replace(e, repeat="") for e in elements])
    order = list(range(len(elements)))
    chance.shuffle(order)
    moved = [here.elements[at] for at in order]
    if regenerated:
        moved = [
            replace(
                e, attributes=tuple((k, f"x{chance.random()}" if k == "id" else v) for k, v in e.attributes)
            )
            for e in moved
        ]
    there = placed(moved)
    for element in here.elements:
        got = resolve(locator_of(element, here), there)
        if got.element is None:
            continue
        same = here.elements[order[got.element.index]]
        assert looks(same) == looks(element)


@given(st.lists(ELEMENTS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_an_element_that_can_be_told_apart_is_found_after_shuffling(
    elements: list[Element], chance: random.Random
):
    here = placed([replace(e, repeat="") for e in elements])
    order = list(range(len(elements)))
    chance.shuffle(order)
    there = placed([here.elements[at] for at in order])
    kinds = [(e.role, e.name, e.landmarks, e.frame) for e in here.elements]
    for element in here.elements:
        if element.name and kinds.count((element.role, element.name, element.landmarks, element.frame)) == 1:
            got = resolve(locator_of(element, here), there)
            assert got.element is not None
            assert order[got.element.index] == element.index


def looks(element: Element) -> tuple[object, ...]:
    """Return what a person or a program could identify an element by, other than its position and number."""
    return tuple(
        getattr(element, name) for name in ("role", "name", "landmarks", "frame", "href", "test_id", "label")
    )


def test_on_a_page_of_thousands_every_element_is_described_and_found():
    """Seconds, not minutes: no quadratic comparison."""
    here = page(*(e for n in range(1500) for e in row(n, f"Thing {n}")))
    locators = [locator_of(element, here) for element in here.elements]
    assert [locators[n].near for n in (1, 2999)] == ["Thing 0", "Thing 1499"]
    for n in (0, 1, 1501, 2998, 2999):
        assert resolve(locators[n], here).element == here.elements[n]
