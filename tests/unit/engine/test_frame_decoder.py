"""Decoding the answer of the capture script: selectors, frames in a text and in a tree."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.engine.browser.capture.frame_decoder import (
    STATES,
    FramePlacement,
    FramePosition,
    FrameSnapshot,
    decode_elements,
    selectors,
    tree_with_frames,
    with_frames,
)
from app.engine.core.ax_tree import parse_tree

WORDS = ["", "html", "body", "div", "a", "cart", "button", "Buy", "main"]
HTML, BODY, DIV, A, CART = 1, 2, 3, 4, 5


def answer(**changes: Any) -> str:
    record = [6, 7, 6, 0b101, [1, 2, 30, 40], 0, 2 | 16, 0, 0, 0, 0, 0, [], 0, [1, 7], 0, 0, 0, 0, 0, 0]
    told = {
        "strings": WORDS,
        "landmarks": [[8]],
        "paths": [[-1, 1, 1, 1, 0, 0]],
        "elements": [record],
        "frames": [],
    }
    return json.dumps({**told, **changes})


def test_an_element_is_read_with_everything_its_frame_brings():
    around = FramePlacement(chain=("pay",), x=100, y=200, landmarks=("dialog:Pay",), advert=True)
    element = decode_elements(FrameSnapshot.read(answer()), around, first=7)[0]
    assert (element.index, element.role, element.name, element.tag) == (7, "button", "Buy", "button")
    assert element.rect == (101, 202, 30, 40)
    assert element.landmarks == ("dialog:Pay", "main")
    assert element.states == ("checked", "current")
    assert (element.submits, element.visible, element.in_shadow, element.in_advert) == (
        True,
        True,
        False,
        True,
    )
    assert element.attributes == (("html", "Buy"),)
    assert element.frame == ("pay",)


def test_states_are_sorted_as_elements_keep_them():
    assert sorted(STATES) == list(STATES)


def test_a_frame_adds_its_name_corner_and_landmarks():
    spot = FramePosition(before=0, name="x", source="", x=5, y=6, landmarks=("main",), advert=False)
    inner = FramePlacement(chain=("outer",), x=10, y=20, landmarks=("banner",)).within(spot, "x#2")
    assert inner == FramePlacement(("outer", "x#2"), 15, 26, ("banner", "main"), False)


def test_css_starts_at_the_nearest_chosen_id_and_crosses_shadow_roots():
    strings = ["", "html", "body", "div", "a", "cart", "x-y.z"]
    paths = [
        [-1, HTML, 1, 1, 0, 0],
        [0, BODY, 1, 1, 0, 0],
        [1, DIV, 2, 3, 0, 0],
        [1, DIV, 3, 3, CART, 0],
        [3, A, 2, 2, 0, 0],
        [2, A, 1, 2, 0, 1],
        [5, DIV, 1, 1, CART, 0],
        [6, 6, 1, 1, 0, 2],
    ]
    css, xpath = selectors(paths, strings)
    assert css[2] == "html > body > div:nth-of-type(2)"
    assert css[4] == "#cart > a:nth-of-type(2)"
    assert css[5] == "html > body > div:nth-of-type(2) >> :host > a:nth-of-type(1)"
    assert css[6] == "html > body > div:nth-of-type(2) >> #cart"
    assert css[7] == "html > body > div:nth-of-type(2) >> #cart > x-y\\.z"
    assert xpath[4] == "/html/body/div[3]/a[2]"
    assert xpath[5] == xpath[6] == xpath[7] == "", "XPath ends at a shadow root"
    assert selectors([[-1, 6, 2, 2, 0, 2]], strings)[1] == ["/*[name()='x-y.z'][2]"]


def test_texts_of_frames_stand_where_the_frames_do():
    assert with_frames("before\n\x010\x01\nafter\n\x011\x01", {0: "within"}) == "before\nwithin\nafter"
    assert with_frames("plain", {}) == "plain"


def test_trees_of_frames_are_indented_and_every_number_is_the_pages():
    lines = "RootWebArea 'x'\n\t[0] link 'a'\n\tiframe 'f'\n\t\t\x010\x01\n\t[1] link 'b'"
    tree = tree_with_frames(lines, [0, 3], {0: "[1] button 'c'\n\t[2] button 'd'"})
    assert [(node.depth, node.bid, node.name) for node in parse_tree(tree)] == [
        (0, "", "x"),
        (1, "0", "a"),
        (1, "", "f"),
        (2, "1", "c"),
        (3, "2", "d"),
        (1, "3", "b"),
    ]
    assert "\x01" not in tree_with_frames(lines, [0, 3], {})


@given(st.lists(st.integers(1, 5), min_size=1, max_size=20))
def test_renumbering_keeps_the_order_of_elements(gaps: list[int]):
    numbers = [sum(gaps[: at + 1]) for at in range(len(gaps))]
    lines = "\n".join(f"\t[{number}] link 'n'" for number in range(len(gaps)))
    assert [int(node.bid) for node in parse_tree(tree_with_frames(lines, numbers, {}))] == numbers
