"""One look at a page as the scout reads it: its subject, its links and menus, its fields, its search and its pages.

Built from one capture, lazily; nothing here knows a site or a trade.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import parse_qsl, unquote_plus

from app.engine.agent.scout.likeness import holds, meaning, plain, words
from app.engine.agent.scout.relations import PageRelations, read_relations
from app.engine.agent.scout.tree_texts import FIELDS, outline_of
from app.engine.core.addresses import split_address
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.text import word_set

_PRESSED = word_set("link button menuitem tab treeitem option")
_SEARCH, _NARROWING = word_set("search find query keyword keywords lookup"), word_set("q filter title name")
_RESULTS = word_set("search results matching found matches")
_NEXT = word_set("next older › » → > >>")
_MENU = word_set("haspopup collapsed")
_ASIDE = word_set("navigation banner contentinfo complementary menubar menu toolbar search")
_TITLE_PARTS = re.compile(r"\s+[|\-·–—:»]\s+|\s[|»]\s")
_MOST_KIND_WORDS, _NAMING_FIELDS = 3, 4
"""Words beside a thing's name in the heading of its own page; first fields of a form that call its thing by name."""
_CURRENT = word_set("current selected")
_DIALOGS = frozenset({"dialog", "alertdialog"})


@dataclass(frozen=True, slots=True)
class Field:
    """A control that takes a value, with what it is called."""

    element: Element
    label: str


class PageContext:
    """One look at a page.

    Attributes:
        page: the capture.
        relations: what it lists.
        key: address without fragment, which tells pages of one run apart.
    """

    def __init__(self, page: PageCapture) -> None:
        self.page, self.key = page, page_key(page.url)
        self.relations: PageRelations = read_relations(page.tree)
        self.address = split_address(page.url)
        self.path = self.address.path or "/"

    @cached_property
    def shown(self) -> tuple[Element, ...]:
        """Elements that can be used: of an open dialog with something to do only those in it."""
        seen = tuple(
            one
            for one in self.page.elements
            if one.visible and not one.in_advert and "disabled" not in one.states
        )
        inside = tuple(one for one in seen if landmark_roles(one) & {"dialog", "alertdialog"})
        return inside if len(inside) > 1 else seen

    @cached_property
    def _dialog_headings(self) -> tuple[str, ...]:
        """Headings of the open dialog, which is what the page is about while it is open."""
        outline = outline_of(self.page.tree)
        at = outline.around(self.shown[0], _DIALOGS) if self.shown else -1
        below = outline.nodes[at : outline.ends[at]] if at >= 0 else []
        return tuple(node.name for node in below if node.role == "heading" and node.name)

    @cached_property
    def pressed(self) -> tuple[Element, ...]:
        """Elements that can be pressed."""
        return tuple(one for one in self.shown if one.role in _PRESSED or one.listens)

    @cached_property
    def links(self) -> tuple[Element, ...]:
        """Links to other pages of the same host, those in closed menus too."""
        return tuple(
            one for one in self.page.elements if one.href and not one.in_advert and self._leads_on(one.href)
        )

    def _leads_on(self, href: str) -> bool:
        address = split_address(href)
        return address.netloc == self.address.netloc and page_key(href) != self.key

    @cached_property
    def menus(self) -> tuple[Element, ...]:
        """Controls that open something on this page: menus, closed parts, tabs."""
        return tuple(
            one
            for one in self.pressed
            if one.name
            and not one.submits
            and not one.form.startswith("post:")
            and "expanded" not in one.states
            and not {"toolbar", "menubar"} <= landmark_roles(one)
            and (
                _MENU & set(one.states)
                or (one.role == "tab" and "selected" not in one.states)
                or self._is_part(one)
            )
        )

    def _is_part(self, one: Element) -> bool:
        """Whether a link shows another part of this page."""
        return bool(one.href and split_address(one.href).fragment and page_key(one.href) == self.key)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Controls that take a value, with their labels."""
        fixed = ("hidden", "submit", "button")
        seen = (one for one in self.shown if one.role in FIELDS and "readonly" not in one.states)
        return tuple(Field(one, self._label_of(one)) for one in seen if one.type not in fixed)

    @cached_property
    def _labels(self) -> dict[int, str]:
        return dict(self.relations.labels)

    def _label_of(self, element: Element) -> str:
        """Return what a field is called: its own name unless that is only its value, else the text before it."""
        own, told = element.label or element.name, dict(element.attributes)
        before = self._labels.get(element.index, "") or told.get("placeholder", "")
        return own if own and own != element.value else before or told.get("name", "").replace("_", " ")

    @cached_property
    def search_fields(self) -> tuple[Field, ...]:
        """Fields of the site's search, the one for everything first."""
        found: list[tuple[bool, int, Field]] = []
        for one in self.fields:
            element = one.element
            typed = element.role in ("textbox", "searchbox", "combobox") and not element.options
            if not typed or element.form.startswith("post:") or element.type in ("date", "password", "email"):
                continue
            said = {*words(one.label), *words(element.form), *words(dict(element.attributes).get("name", ""))}
            direct = (
                element.role == "searchbox" or bool(_SEARCH & said) or "search" in landmark_roles(element)
            )
            if direct or said & _NARROWING:
                found.append((not direct, element.index, one))
        return tuple(one for _, _, one in sorted(found, key=lambda entry: entry[:2]))

    @cached_property
    def next_page(self) -> Element | None:
        """The control that shows the next page of a list: it says so, or is the next of some numbers."""
        for one in self.pressed:
            said = words(one.name)
            named = one.name.strip().casefold() in _NEXT or (len(said) <= 3 and said[:1] == ("next",))
            if named or dict(one.attributes).get("rel") == "next":
                return one
        numbers = {int(one.name): one for one in self.pressed if one.name.isdecimal() and len(one.name) < 4}
        current = [number for number, one in numbers.items() if _CURRENT & set(one.states)]
        query = parse_qsl(self.address.query)
        told = [int(value) for key, value in query if key in ("page", "p") and value.isdecimal()]
        here = (current or told or [1])[0]
        return numbers.get(here + 1) if len(numbers) > 1 else None

    @cached_property
    def is_search_result(self) -> bool:
        """Whether the page shows what a search found; it then repeats the words that were searched for."""
        said = {word for text in (self.page.title, *self.page.headings[:2]) for word in words(text)}
        return bool(_RESULTS & said) or "search" in words(self.path)

    @cached_property
    def sort_controls(self) -> frozenset[int]:
        """Numbers of the controls in the heads of lists, which order their rows."""
        return frozenset(control.index for one in self.relations.relations for control in one.sort_controls)

    @cached_property
    def subject(self) -> tuple[str, ...]:
        """Names of the page itself: its first headings, the end of its breadcrumb, its title."""
        heads = [text for text in (self.relations.headings or self.page.headings)[:3] if text]
        title = [part for part in _TITLE_PARTS.split(self.page.title) if part][:2]
        told = [*self._dialog_headings, *heads, *title, self.page.title, *self.relations.trail[-2:]]
        return tuple(dict.fromkeys(told))

    @cached_property
    def chosen(self) -> tuple[str, ...]:
        """Values chosen on it: the current entries of menus, the options chosen in filters."""
        current = [one.name for one in self.page.elements if one.name and _CURRENT & set(one.states)]
        fields = [one.element for one in self.fields if not one.element.form.startswith("post:")]
        filters = [one.value for one in fields if one.options and one.value]
        query = [unquote_plus(value) for _, value in parse_qsl(self.address.query)]
        return tuple(dict.fromkeys([*current, *filters, *query]))

    def is_about(self, name: str) -> bool:
        """Whether the page is that of a thing: it calls itself so, or its form holds the name."""
        most = 2 * len(words(name)) + _MOST_KIND_WORDS
        called = (holds(text, name) and len(words(text)) <= most for text in self.subject)
        told = {*self._form_values, *(plain(one) for one in segments_of(self.path))}
        in_dialog = any(holds(text, name) for text in self._dialog_headings)
        return bool(name) and ((not self.echoes(name) and any(called)) or in_dialog or plain(name) in told)

    @cached_property
    def _form_values(self) -> frozenset[str]:
        """Values of the first text fields of a form, which call the thing that it edits by its name."""
        texts = [one for one in self.shown if one.role == "textbox" and one.form.startswith("post:")]
        return frozenset(plain(one.value) for one in texts[:_NAMING_FIELDS] if one.value)

    def echoes(self, name: str) -> bool:
        """Whether a page of results only repeats the name that was searched for."""
        wanted = set(meaning(name))
        query = {word for _, value in parse_qsl(self.address.query) for word in words(value)}
        return self.is_search_result and bool(wanted) and wanted <= query

    def row_text(self, element: Element) -> str:
        """Return the text of the row that a control stands in, "" outside of rows."""
        return self._row_texts.get(element.index, "")

    @cached_property
    def _row_texts(self) -> dict[int, str]:
        lists = [one for one in self.relations.relations if len(one.rows) > 1 or any(one.columns)]
        return {control.index: row.text for one in lists for row in one.rows for control in row.controls}


def landmark_roles(element: Element) -> frozenset[str]:
    """Return the roles of the landmarks around an element."""
    return _roles_of(element.landmarks)


@lru_cache(maxsize=1024)
def _roles_of(landmarks: tuple[str, ...]) -> frozenset[str]:
    return frozenset(mark.partition(":")[0] for mark in landmarks)


def is_aside(element: Element) -> bool:
    """Whether an element belongs to the frame of the site and not to the page's own content."""
    return bool(_ASIDE & landmark_roles(element))


@lru_cache(maxsize=8192)
def page_key(url: str) -> str:
    """Return an address without its fragment and without a slash at its end."""
    address = split_address(url)
    query = f"?{address.query}" if address.query else ""
    return f"{address.netloc}{address.path.rstrip('/')}{query}"


@lru_cache(maxsize=8192)
def segments_of(path: str) -> tuple[str, ...]:
    """Return the segments of the path of an address."""
    return tuple([part for part in path.split("/") if part])
