"""Texts of a page by their distance to a control: its own row or card, the page's subject, the whole page.  Pure.

The write gate asks whether a control belongs to the thing a task names.  A name somewhere on a list says nothing; the
same name in the control's own row, or in the title of the page, does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import unquote

from rapidfuzz.distance import Levenshtein

from app.engine.core.addresses import split_address
from app.engine.core.ax_tree import AxNode, parse_tree
from app.engine.core.page_state import Element, PageCapture

_WORD = re.compile(r"\w+", re.UNICODE)
_SHARE_OF_WORDS = 0.8
_LONG_NAME = 5
_LONG_WORD = 6
_FIELDS = frozenset({"textbox", "searchbox", "combobox", "spinbutton"})
_CHOSEN = frozenset({"checked", "selected"})
_DIALOGS = ("dialog", "alertdialog")


@lru_cache(maxsize=4096)
def plain_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, split at punctuation."""
    return tuple(word for piece in _WORD.findall(text.casefold()) for word in piece.split("_") if word)


def contains_name(text: str, name: str) -> bool:
    """Whether a text contains a name.

    All of its words have to occur, in any order; a long word may differ by one letter; four fifths of the words
    are enough
    for a name of five words and more.
    """
    wanted, words = plain_words(name), plain_words(text)
    if not wanted:
        return False
    if "/" in name and (last := name.rstrip("/").rpartition("/")[2]) and contains_name(text, last):
        return True
    known = frozenset(words)
    there = sum(word in known or _almost(word, known) for word in wanted)
    return there == len(wanted) or (len(wanted) >= _LONG_NAME and there >= _SHARE_OF_WORDS * len(wanted))


def _almost(word: str, known: frozenset[str]) -> bool:
    """Whether a long word occurs with one typing error."""
    if len(word) < _LONG_WORD or not word.isalpha():
        return False
    return any(
        abs(len(other) - len(word)) <= 1
        and other.isalpha()
        and Levenshtein.distance(word, other, score_cutoff=1) <= 1
        for other in known
        if len(other) >= _LONG_WORD - 1
    )


@dataclass(frozen=True)
class PageScope:
    """The surroundings of one element on one page.

    Attributes:
        row: text of the element's row or card, where the page repeats the same control; "" where it does not.
        rivals: number of other controls with the same name and role.
        dialog: text of the element's dialog, "" outside of one.
    """

    page: PageCapture
    element: Element | None
    row: str = ""
    rivals: int = 0
    dialog: str = ""

    @cached_property
    def own(self) -> str:
        """Names of the control: name, label, title and text."""
        element = self.element
        if element is None:
            return ""
        attributes = dict(element.attributes)
        parts = (
            element.name,
            element.label,
            attributes.get("title", ""),
            attributes.get("aria-label", ""),
            element.text,
        )
        return " ".join(dict.fromkeys(part for part in parts if part))

    @cached_property
    def about(self) -> str:
        """Subject of the page: title, headings, address, breadcrumbs, the values of the element's form."""
        page, element = self.page, self.element
        address = map(unquote, split_address(page.url)[2:])
        parts = [page.title, *page.headings, " ".join(address), self.own, self.dialog]
        parts += [
            one.name
            for one in page.elements
            if any("breadcrumb" in mark.casefold() for mark in one.landmarks) and one.name
        ]
        if element is not None:
            parts += [element.form.partition(":")[2], *element.landmarks]
            parts += [
                text for field in self.fields for text in (field.name, field.label, field.value) if text
            ]
        return " \n ".join(part for part in parts if part)

    @cached_property
    def fields(self) -> tuple[Element, ...]:
        """Fields of the element's form, or of its dialog where it is in no form."""
        element = self.element
        if element is None:
            return ()
        if element.form:
            same = [
                one for one in self.page.elements if one.form == element.form and one.frame == element.frame
            ]
        elif any(mark.startswith(_DIALOGS) for mark in element.landmarks):
            same = [one for one in self.page.elements if one.landmarks[:1] == element.landmarks[:1]]
        else:
            same = []
        return tuple(one for one in same if one.role in _FIELDS or _CHOSEN & set(one.states))

    def near(self, name: str) -> bool:
        """Whether a name is in the element's row, or, where there is no row, in the page's subject."""
        return contains_name(self.row if self.row else self.about, name)

    def around(self, name: str) -> bool:
        """Whether a name is in the row or in the page's subject."""
        return contains_name(self.row, name) or contains_name(self.about, name)

    def anywhere(self, name: str) -> bool:
        """Whether a name is anywhere on the page."""
        return self.around(name) or contains_name(self.page.text, name)


def scope_of(element: Element | None, page: PageCapture) -> PageScope:
    """Return the surroundings of an element; its tree id is its index (``app.engine.browser.capture.snapshot``)."""
    if element is None:
        return PageScope(page=page, element=None)
    rivals = [one for one in page.elements if one.index != element.index and _alike(one, element)]
    nodes = parse_tree(page.tree)
    at = next((place for place, node in enumerate(nodes) if node.bid == str(element.index)), None)
    row = dialog = ""
    if at is not None:
        ids = {str(one.index) for one in rivals}
        row = _row_text(nodes, at, ids) if rivals else ""
        dialog = _dialog_text(nodes, at)
    if not row and rivals and element.repeat:
        same = [
            one
            for one in page.elements
            if (one.repeat, one.repeat_index) == (element.repeat, element.repeat_index)
        ]
        row = " \n ".join(one.name for one in same if one.name)
    return PageScope(page=page, element=element, row=row, rivals=len(rivals), dialog=dialog)


def _alike(one: Element, other: Element) -> bool:
    """Whether a person could confuse two controls: same role and name, digits apart."""
    names = [re.sub(r"\d+", "#", element.name.casefold()).strip() for element in (one, other)]
    return one.role == other.role and names[0] == names[1]


def _row_text(nodes: list[AxNode], at: int, rivals: set[str]) -> str:
    """Return the names in the largest part of the tree around a node that holds none of its rivals."""
    first, last = at, _end(nodes, at)
    for above in _above(nodes, at):
        end = _end(nodes, above)
        if any(nodes[place].bid in rivals for place in range(above, end)):
            break
        first, last = above, end
    # Siblings between two rivals belong to the one before them: ``<h3>Foo</h3><button>Archive``.
    depth = nodes[first].depth
    start = first
    while start > 0 and nodes[start - 1].depth >= depth and nodes[start - 1].bid not in rivals:
        start -= 1
    if first == at:
        first = start
    return _text_of(nodes[first:last])


def _dialog_text(nodes: list[AxNode], at: int) -> str:
    for above in _above(nodes, at):
        if nodes[above].role in _DIALOGS:
            return _text_of(nodes[above : _end(nodes, above)])
    return ""


def _above(nodes: list[AxNode], at: int) -> list[int]:
    found: list[int] = []
    depth = nodes[at].depth
    for place in range(at - 1, -1, -1):
        if nodes[place].depth < depth:
            found.append(place)
            depth = nodes[place].depth
    return found


def _end(nodes: list[AxNode], at: int) -> int:
    end = at + 1
    while end < len(nodes) and nodes[end].depth > nodes[at].depth:
        end += 1
    return end


def _text_of(nodes: list[AxNode]) -> str:
    return " \n ".join(node.name for node in nodes if node.name)
