"""The same page has the same id, whatever its machinery says; another state of it has another one."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.identity import (
    element_key,
    elements_of_tree,
    is_interactive,
    keys_of,
    kind_key,
    node_id,
    normal_name,
    page_id,
    section,
    similarity,
    transition_id,
    url_key,
    url_template,
)
from app.engine.core.page_state import Element, Mode, PageCapture
from app.engine.core.transition import Locator, Operation
from tests.support.identity_pages import HOME, key_lines, product_page, shop_page

ROOT = Path(__file__).parents[3]


def ids(page: PageCapture) -> tuple[str, str]:
    """(page state, skeleton node)."""
    keys = keys_of(page, HOME)
    return page_id(keys), node_id(keys, Mode.SKELETON)


def with_element(page: PageCapture, *more: Element) -> PageCapture:
    return replace(page, elements=(*page.elements, *more))


def changed(page: PageCapture, name: str, **changes: object) -> PageCapture:
    """The page with one element otherwise than it was."""
    assert any(element.name == name for element in page.elements)
    return replace(
        page,
        elements=tuple(
            replace(element, **changes) if element.name == name else element  # pyright: ignore[reportArgumentType]
            for element in page.elements
        ),
    )


# the same page


@given(st.randoms(use_true_random=False))
def test_the_order_of_elements_does_not_matter(shuffler: random.Random):
    page = shop_page()
    elements = list(page.elements)
    shuffler.shuffle(elements)
    assert keys_of(replace(page, elements=tuple(elements)), HOME) == keys_of(page, HOME)


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_another_process_with_another_hash_seed_gives_the_same_keys(seed):
    code = "from tests.support.identity_pages import key_lines; print('\\n'.join(key_lines()))"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert told.stdout.splitlines() == key_lines()


VOLATILE = st.fixed_dictionaries(
    {
        "ids": st.integers(0, 10**9),
        "seconds": st.integers(0, 59),
        "token": st.text("0123456789abcdef", min_size=32, max_size=32),
        "basket": st.integers(0, 999),
        "adverts": st.lists(st.text(min_size=1, max_size=20), max_size=3),
    }
)


@given(VOLATILE, VOLATILE)
def test_ids_timestamps_tokens_adverts_and_counters_do_not_matter(one, other):
    first, second = shop_page(**one), shop_page(**other)
    assert keys_of(first, HOME) == keys_of(second, HOME)


def test_an_alert_or_a_flash_message_makes_no_new_state():
    page = shop_page()
    alert = Element(index=900, role="button", name="Close", landmarks=("main",), in_live=True)
    assert ids(with_element(page, alert)) == ids(page)


def test_focus_values_and_validity_make_no_new_state():
    page = shop_page()
    typed = changed(page, "Search", states=("focused", "required"), value="teapot")
    assert ids(typed) == ids(page)


def test_hidden_elements_and_text_without_a_role_do_not_count():
    page = shop_page()
    hidden = Element(index=900, role="button", name="Edit", landmarks=("main",), visible=False)
    plain = Element(index=901, role="paragraph", name="Welcome", landmarks=("main",))
    assert ids(with_element(page, hidden, plain)) == ids(page)
    assert is_interactive(replace(plain, listens=True))


def test_a_repeated_list_is_one_whatever_its_rows_are():
    assert ids(shop_page(rows=7, first=100)) == ids(shop_page(rows=40, first=0))


def test_the_same_site_on_another_port_has_the_same_ids():
    there = shop_page(host="127.0.0.1:8931")
    assert keys_of(there, "http://127.0.0.1:8931/start") == keys_of(shop_page(), HOME)


# another state


def test_an_opened_menu_is_another_state_of_the_page_in_both_modes():
    page = shop_page()
    opened = with_element(
        changed(page, "Account", states=("expanded", "haspopup")),
        Element(index=900, role="menuitem", name="Sign out", landmarks=("banner", "menu:Account")),
    )
    assert ids(opened)[0] != ids(page)[0]
    assert ids(opened)[1] != ids(page)[1]
    assert keys_of(opened, HOME).url == keys_of(page, HOME).url


@pytest.mark.parametrize(
    ("name", "states"),
    [("Account", ("expanded", "haspopup")), ("Reviews", ("selected",)), ("In stock", ("checked",))],
)
def test_a_state_word_that_changes_what_can_be_done_is_another_state(name, states):
    page = product_page("Apron")
    assert ids(changed(page, name, states=states)) != ids(page)


def test_a_dialog_is_another_state():
    page = shop_page()
    dialog = Element(index=900, role="button", name="Keep", landmarks=("dialog:Remove it?",))
    assert ids(with_element(page, dialog))[1] != ids(page)[1]


def test_another_address_is_another_state():
    assert ids(shop_page())[0] != ids(replace(shop_page(), url=f"{HOME}catalogue?page=2"))[0]


def test_two_products_are_two_states_and_one_skeleton_node():
    apron, teapot = product_page("Apron"), product_page("Teapot", images=3)
    assert ids(apron)[0] != ids(teapot)[0]
    assert ids(apron)[1] == ids(teapot)[1]


def test_pages_of_other_controls_stay_apart_in_skeleton_mode():
    product = product_page("Apron")
    form = with_element(
        product, Element(index=900, role="button", name="Delete product", landmarks=("main",))
    )
    assert ids(form)[1] != ids(product)[1]


def test_the_content_key_differs_without_being_part_of_the_id():
    page = shop_page()
    other = replace(page, text="Sold out")
    assert keys_of(other, HOME).content != keys_of(page, HOME).content
    assert ids(other) == ids(page)
    assert keys_of(replace(page, text=page.text.replace("12", "77")), HOME) == keys_of(page, HOME)


# names


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("  Basket \n(3) ", "basket (#)"),
        ("Total: £1,234.50", "total: £#"),
        ("Order 100001 of 21 Nov 2026", "order # of {date}"),
        ("Posted 3 hours ago", "posted {date}"),
        ("Posted an hour ago", "posted {date}"),
        ("Monday, November 21, 2026 4:18 p.m.", "{date}"),
        ("Commit 3f5a9c01", "commit #"),
        ("Kontaktdaten ändern", "kontaktdaten ändern"),
        ("", ""),
    ],
)
def test_normal_names_lose_counts_and_times(name, normal):
    assert normal_name(name) == normal


@given(st.text(max_size=200))
def test_a_normal_name_is_its_own_normal_form_in_length_and_case(name):
    normal = normal_name(name)
    assert normal_name(f" {name} ") == normal
    assert not any(digit in normal for digit in "0123456789")


# addresses


@pytest.mark.parametrize(
    ("url", "key", "template"),
    [
        ("http://shop.example", "/", "/"),
        ("http://shop.example/a/b/", "/a/b", "/a/b"),
        ("http://SHOP.example:80//a//b", "/a/b", "/a/b"),
        ("http://www.shop.example/a", "/a", "/a"),
        ("http://shop.example/catalogue/coffee-mug_12/", "/catalogue/coffee-mug_12", "/catalogue/{id}"),
        ("http://shop.example/orders/100001/lines/3", "/orders/100001/lines/3", "/orders/{n}/lines/{n}"),
        ("http://shop.example/a?b=2&a=1#top", "/a?a=1&b=2", "/a?a&b"),
        ("http://shop.example/a?a=2&a=1", "/a?a=1&a=2", "/a?a"),
        ("http://shop.example/list?page=2&sort=price&q=mug", "/list?page=2&q=mug&sort=price", "/list?q"),
        ("http://shop.example/p?tab=reviews", "/p?tab=reviews", "/p?tab=reviews"),
        ("http://shop.example/p?utm_source=x&gclid=1&_=17&csrf_token=z&sid=4", "/p", "/p"),
        ("http://shop.example/login?next=/basket/", "/login", "/login"),
        ("http://shop.example/list?next=2", "/list?next=2", "/list?next"),
        ("http://shop.example/p?t=1700000000&v=3", "/p?v=3", "/p?v"),
        ("http://shop.example/a;jsessionid=9f", "/a", "/a"),
        ("http://shop.example/admin/x/key/0123456789abcdef0123/", "/admin/x", "/admin/x"),
        ("http://shop.example/%7euser/caf%C3%A9", "/~user/caf%C3%A9", "/~user/caf%C3%A9"),
        ("http://shop.example/%7Euser/café", "/~user/caf%C3%A9", "/~user/caf%C3%A9"),
        ("http://shop.example/#/inbox/12?x=1", "/#/inbox/12?x=1", "/#/inbox/{n}?x"),
        ("http://shop.example/#!/inbox", "/#/inbox", "/#/inbox"),
        ("http://other.example:8080/a/1", "other.example:8080/a/1", "other.example:8080/a/{n}"),
        ("about:blank", "about:blank", "about:blank"),
        ("http://[broken", "http://[broken", "http://[broken"),
        (
            "http://shop.example:99999999/x",
            "http://shop.example:99999999/x",
            "http://shop.example:99999999/x",
        ),
        ("", "/", "/"),
    ],
)
def test_addresses_are_normalised_to_one_key_and_one_template(url, key, template):
    assert url_key(url, HOME) == key
    assert url_template(url, HOME) == template


ADDRESS = st.builds(
    lambda path, query, mark: f"http://shop.example/{path}{'?' + query if query else ''}{mark}",
    st.text("ab12/-_.%~é ", max_size=20),
    st.text("ab12=&%_+é", max_size=20),
    st.sampled_from(["", "#top", "#/a/1"]),
)


@given(ADDRESS)
def test_the_key_of_a_key_is_itself(url):
    key = url_key(url, HOME)
    assert key.startswith("/")
    assert url_key(f"http://shop.example{key}", HOME) == key


@pytest.mark.parametrize(
    ("template", "of_section"),
    [
        ("/product/apron", "/product/{id}"),
        ("/product/{id}", "/product/{id}"),
        ("/orders/{n}", "/orders/{id}"),
        ("/about", "/about"),
        ("/", "/"),
        ("/help/terms.html", "/help/{id}.html"),
        ("/catalogue/category/books/fiction/{id}", "/catalogue/category/{id}"),
        ("/catalogue/category/{id}", "/catalogue/category/{id}"),
        ("/catalogue/category/books/fiction", "/catalogue/category/{id}"),
        ("/catalogue/{id}/reviews", "/catalogue/{id}/reviews"),
        ("/orders/{n}/lines/{n}", "/orders/{id}/lines/{id}"),
        ("/f/{id}/{n}/{id}", "/f/{id}"),
        ("/{project}/-/issues/{n}", "/{project}/-/issues/{id}"),
        ("/p/mug?tab=reviews", "/p/{id}?tab=reviews"),
        ("/#/inbox/mine", "/#/inbox/{id}"),
        ("other.example/a/b", "other.example/a/{id}"),
    ],
)
def test_a_section_treats_possible_data_words_as_data(template, of_section):
    assert section(template) == of_section


# elements


def test_an_element_keeps_its_key_from_page_to_page_and_from_count_to_count():
    basket = Element(
        index=3, role="link", name="Basket (3)", href=f"{HOME}basket/?utm_source=x", landmarks=("banner",)
    )
    later = replace(
        basket, index=77, name="Basket (4)", href=f"{HOME}basket", css="a.b", value="z", states=("focused",)
    )
    assert element_key(basket, HOME) == element_key(later, HOME)
    assert element_key(basket, HOME) != element_key(replace(basket, href=f"{HOME}wishlist"), HOME)
    assert element_key(basket, HOME) != element_key(replace(basket, landmarks=("main",)), HOME)


def test_pager_buttons_and_nameless_icons_have_different_keys():
    two, three = (Element(index=n, role="button", name=str(n)) for n in (2, 3))
    assert element_key(two) != element_key(three)
    edit, drop = (Element(index=1, role="button", attributes=(("class", word),)) for word in ("edit", "drop"))
    assert element_key(edit) != element_key(drop)


def test_rows_of_a_list_are_of_one_kind_and_menu_entries_are_not():
    mug, bowl = (
        Element(
            index=n,
            role="link",
            name=name,
            href=f"{HOME}catalogue/{name}_{n}/",
            repeat="ul>li",
            landmarks=("main",),
        )
        for n, name in enumerate(("mug", "bowl"))
    )
    assert kind_key(mug) == kind_key(bowl)
    add, look = (
        Element(index=9, role="button", name=name, repeat="ul>li", landmarks=("main",))
        for name in ("Add", "Look")
    )
    assert kind_key(add) != kind_key(look)
    menu = [replace(one, landmarks=("navigation",)) for one in (mug, bowl)]
    assert kind_key(menu[0]) != kind_key(menu[1])


def test_similarity_is_the_jaccard_index():
    assert similarity([], []) == 1.0
    assert similarity(["a"], []) == 0.0
    assert similarity(["a", "b", "c"], {"b", "c", "d"}) == 0.5


def test_a_transition_keeps_its_id_when_only_the_markup_changes():
    save = Locator(role="button", name="Save (3)", css="form > button", xpath="/html/body/form/button")
    moved = replace(save, name="Save (4)", css="div button", xpath="/html/body/div/button", test_id="s")
    named = transition_id("a", Operation.CLICK, "", save, "b")
    assert transition_id("a", Operation.CLICK, "", moved, "b") == named
    assert len({named, *(transition_id(*other) for other in (
        ("a", Operation.HOVER, "", save, "b"),
        ("a", Operation.CLICK, "", save, "c"),
        ("a", Operation.CLICK, "", replace(save, nth=1), "b"),
        ("a", Operation.OPEN, "http://x/", None, "b"),
    ))}) == 5  # fmt: skip


# trees of recorded runs


TREE = """RootWebArea 'Orders', focused
\t[3] banner ''
\t\t[4] link 'Home', url='http://shop.example/'
\t\t[5] button 'Account', hasPopup='menu', expanded=True
\t[6] dialog 'Filters'
\t\t[7] checkbox 'Open', checked='true'
\t\t[8] combobox 'State', value='New', required
\t[9] alert ''
\t\t[10] button 'Close'
\t[11] list ''
\t\t[12] listitem ''
\t\t\t[13] link 'One'
\t\t[14] listitem ''
\t\t\t[15] link 'Two'
\t\t[16] listitem ''
\t\t\t[17] link 'Three'
\tStaticText 'Nothing to do here'"""


def test_elements_are_read_from_a_recorded_tree():
    found = {element.name: element for element in elements_of_tree(TREE)}
    assert list(found) == ["Home", "Account", "Open", "State", "Close", "One", "Two", "Three"]
    assert (found["Home"].href, found["Home"].landmarks) == ("http://shop.example/", ("banner",))
    assert found["Account"].states == ("expanded", "haspopup")
    assert (found["Open"].states, found["Open"].landmarks) == (("checked",), ("dialog:Filters",))
    assert (found["State"].states, found["State"].value) == (("required",), "New")
    assert found["Close"].in_live
    assert [found[name].repeat_index for name in ("One", "Two", "Three")] == [0, 1, 2]
    assert found["One"].repeat
    assert not found["Home"].repeat


@given(st.text(max_size=300))
def test_any_text_is_read_as_a_tree_without_an_error(text):
    assert all(element.role for element in elements_of_tree(text))
