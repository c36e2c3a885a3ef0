"""Indexes of a page's elements by what identifies them, so that describing all of them takes linear time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from app.engine.core.identity import url_key
from app.engine.core.page_state import Element, PageCapture

Kind = tuple[str, str, tuple[str, ...], tuple[str, ...]]


class PageIndex:
    """Look-ups over one capture; building it takes time in proportion to the page."""

    def __init__(self, page: PageCapture) -> None:
        self.page = page
        self._alike: defaultdict[Kind, list[Element]] = defaultdict(list)
        self._holders: defaultdict[tuple[str, tuple[str, ...], str, str], set[int]] = defaultdict(set)
        self._rows: defaultdict[tuple[str, tuple[str, ...], str], set[int]] = defaultdict(set)
        self._named: defaultdict[tuple[str, tuple[str, ...], int], list[str]] = defaultdict(list)
        self._place: dict[int, int] = {}
        for element in page.elements:
            alike = self._alike[_kind(element)]
            self._place[element.index] = len(alike)
            alike.append(element)
            for key, value in _tokens(element.attributes):
                self._holders[element.role, element.frame, key, value].add(element.index)
            if element.repeat and element.name:
                self._rows[element.repeat, element.frame, element.name].add(element.repeat_index)
                self._named[element.repeat, element.frame, element.repeat_index].append(element.name)

    def alike(self, element: Element) -> list[Element]:
        """Return the elements with the same role, name, landmarks and frame, itself included, in document order."""
        return self._alike[_kind(element)]

    def place(self, element: Element) -> int:
        """Return its position among similar elements, from 0."""
        return self._place.get(element.index, 0)

    def holders(self, element: Element, attributes: Iterable[tuple[str, str]]) -> set[int]:
        """Return the numbers of elements of its role and frame that have all these attributes; they may have
        more classes.
        """
        found: set[int] | None = None
        for key, value in _tokens(attributes):
            held = self._holders[element.role, element.frame, key, value]
            found = held if found is None else found & held
        return found or set()

    def near(self, element: Element) -> str:
        """Return a name in the element's row of a repeated list that no other row contains; "" outside lists."""
        if not element.repeat:
            return ""
        for name in self._named[element.repeat, element.frame, element.repeat_index]:
            if name != element.name and len(self._rows[element.repeat, element.frame, name]) == 1:
                return name
        return ""

    def leads(self, element: Element) -> str:
        """Return a link's destination without the page's own host; "" for other elements."""
        return url_key(element.href, self.page.url) if element.href else ""


def has_attributes(element: Element, attributes: Iterable[tuple[str, str]]) -> bool:
    """Whether the element has all these attributes; it may have more classes."""
    return set(_tokens(attributes)) <= set(_tokens(element.attributes))


def _kind(element: Element) -> Kind:
    return element.role, element.name, element.landmarks, element.frame


def _tokens(attributes: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    for key, value in attributes:
        if key == "class":
            yield from ((key, token) for token in value.split())
        else:
            yield key, value
