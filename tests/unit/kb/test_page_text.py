"""Pages as text: each form that agents hold, and what is never read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.page_text import LONGEST_NAME, MOST_CONTROLS, PageWords
from tests.support.tips import laws

BROWSERGYM = """RootWebArea 'Clay mug', focused
\t[12] heading 'Clay mug'
\t[13] StaticText 'A mug of clay'
\t[14] button 'Add to basket', clickable
\t[15] textbox 'Size', required
"""
ARIA = """- document "Clay mug":
  - heading "Clay mug" [level=1]
  - text: A mug of clay
  - button "Add to basket" [ref=e4]
  - textbox "Size"
"""
READ = PageWords("Clay mug", ("Clay mug",), ("button Add to basket", "textbox Size"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BROWSERGYM, READ),
        (ARIA, READ),
        (
            "[1] button 'It\\'s here'\n[2] link \"To the 'shop'\"",
            PageWords("", (), ("button It's here", "link To the 'shop'")),
        ),
        ("# Clay mug\n\nA mug of clay\n", PageWords("", ("Clay mug",), ("text Clay mug", "text A mug of clay"))),
        ("Clay mug\nAdd to basket\n" + "x" * 200, PageWords("", (), ("text Clay mug", "text Add to basket"))),
        ("", PageWords()),
        ("[1] button 'Pay\u200b now'\n[2] button ''", PageWords("", (), ("button Pay now",))),
    ],
)  # fmt: skip
def test_a_page_is_read_by_its_form(text: str, expected: PageWords) -> None:
    assert PageWords.of(text) == expected


def test_a_page_of_any_size_gives_bounded_words() -> None:
    words = PageWords.of("\n".join(f"[{n}] button 'Button {n} {'x' * 200}'" for n in range(5_000)))
    assert len(words.controls) == MOST_CONTROLS
    assert all(len(control) <= LONGEST_NAME + len("button ") for control in words.controls)


@laws
@given(st.text(max_size=400))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    words = PageWords.of(text)
    assert all(isinstance(one, str) for one in (words.title, *words.headings, *words.controls))
