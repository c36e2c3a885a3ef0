"""Where the scout is on a site: what the page is about, which rows and links speak of a thing, which fields it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from urllib.parse import urlsplit

from app.engine.agent.scout.aims import Aim, aims_of
from app.engine.agent.scout.grounding import plain, words
from app.engine.agent.scout.skill import View
from app.engine.agent.scout.tables import Grid, PageFacts, Row, facts_of
from app.engine.agent.scout.wording import fits, forms, names, says
from app.engine.core.page_state import Element

_RESULTS = frozenset({"matching", "results", "search", "found", "searching"})
_PRESSED = frozenset({"link", "button", "menuitem", "tab", "treeitem", "option"})
_FIELDS = frozenset(
    {"textbox", "searchbox", "spinbutton", "combobox", "listbox", "checkbox", "radio", "switch"}
)
_NEXT = frozenset({"next", "next page", "next >", "next »", "next ›", "›", "»", "→", "older"})
_TITLE_END = re.compile(r" [|\-·–—] ")
LEAST_LINKS = 3


class Place:
    """One look at a page, with what is asked of it."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.facts: PageFacts = facts_of(view.page.tree)
        self.aims = aims_of(view.sight.intent)
        self.number = next(
            (n for n in range(len(self.aims)) if f"aim:{n}" not in view.memory.marks), len(self.aims)
        )
        self.done = self.number == len(self.aims)
        self.aim: Aim = _in_part(self.aims[min(self.number, len(self.aims) - 1)], view)
        self.path = urlsplit(view.page.url).path or "/"

    @cached_property
    def on_site(self) -> bool:
        """Whether the page is one of several: it leads to other addresses of its host, or the run came from them."""
        here = urlsplit(self.view.page.url)
        if here.scheme not in ("http", "https"):
            return False
        others = {
            urlsplit(link.href).path
            for link in self.view.shown
            if link.href and urlsplit(link.href).netloc == here.netloc
        }
        behind = (urlsplit(turn.url) for turn in self.view.sight.history)
        been = {address.path for address in behind if address.netloc == here.netloc}
        return len(others - {here.path}) >= LEAST_LINKS or bool(been - {here.path})

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """What the page calls itself: headings, the end of its breadcrumb, the start of its title."""
        title = _TITLE_END.split(self.view.page.title)[0]
        found = [*self.facts.headings, *self.facts.trail[-1:], title]
        return tuple(one for one in found if one and one[0] not in "\"“'" and not _RESULTS & set(words(one)))

    @cached_property
    def shown(self) -> tuple[Element, ...]:
        """What can be reached: only what is in an open dialog, where there is one with something to do."""
        inside = tuple(
            one
            for one in self.view.shown
            if any(mark.split(":")[0] in ("dialog", "alertdialog") for mark in one.landmarks)
        )
        return inside if len(inside) >= 2 else self.view.shown

    @cached_property
    def pressed(self) -> tuple[Element, ...]:
        """What can be pressed."""
        return tuple(one for one in self.shown if one.role in _PRESSED or one.listens)

    @cached_property
    def sections(self) -> tuple[Element, ...]:
        """Tabs and links that show another part of this page."""
        return tuple(
            one
            for one in self.pressed
            if one.name
            and (
                one.role == "tab"
                or (one.href and urlsplit(one.href).path == self.path and urlsplit(one.href).fragment)
            )
        )

    @cached_property
    def fields(self) -> tuple[Element, ...]:
        """What takes a value."""
        return tuple(
            one
            for one in self.shown
            if one.role in _FIELDS and "readonly" not in one.states and one.type not in ("hidden", "submit")
        )

    @cached_property
    def _loose(self) -> dict[int, str]:
        loose = dict(self.facts.labels)
        for grid in self.facts.grids:
            for row in grid.rows:
                loose.update(
                    {one.index: one.column for one in row.controls if one.column and one.role in _FIELDS}
                )
        return loose

    def label_of(self, field: Element) -> str:
        """What a field is called: its own name unless that is only its value, else what stands before or above it."""
        own = field.label or field.name
        if own and own != field.value:
            return own
        told = dict(field.attributes)
        return (
            self._loose.get(field.index, "")
            or told.get("placeholder", "")
            or told.get("name", "").replace("_", " ")
        )

    def about(self, name: str, aim: Aim | None = None) -> bool:
        """Whether the page is the page of a thing, in the size that is asked for."""
        if not name:
            return False
        sizes = [f"{kind} {value}" for kind, value in (aim or self.aim).conditions if kind == "size"]
        if any(names(head, name) and all(names(head, size) for size in sizes) for head in self.heads):
            return True
        if sizes and self.offers_sizes and any(names(head, name) for head in self.heads):
            return True
        if sizes:
            return False
        told = [one for one in self.facts.labelled if plain(one.value) == plain(name)]
        if any(not one.listed and (name[0].isdigit() or fits("name", one.label) >= 0.7) for one in told):
            return True
        return any(
            plain(one.value) == plain(name)
            for one in self.fields
            if "/search" not in one.form and one.form.startswith("post")
        )

    @cached_property
    def offers_sizes(self) -> bool:
        """Whether a size can be chosen on this page."""
        return any(
            (one.role == "radio" or one.options)
            and fits("size", self.label_of(one) if one.options else dict(one.attributes).get("name", ""))
            >= 0.7
            for one in self.fields
        )

    def rows_of(self, name: str) -> Iterator[tuple[Grid, Row]]:
        """Rows that speak of a thing and meet the conditions of the aim, the fullest match first."""
        if not name:
            return
        met = [
            (grid, row)
            for grid in self.facts.grids
            for row in grid.rows
            if any(names(text, name) for _, text in row.cells) and self.meets(row)
        ]
        yield from sorted(
            met, key=lambda one: not any(plain(text) == plain(name) for _, text in one[1].cells)
        )

    def meets(self, row: Row) -> bool:
        """Whether a row has the values that the task asks for, where its columns can tell."""
        return all(meets(row, kind, value) for kind, value in self.aim.conditions if kind != "size")

    def link_to(self, name: str) -> Element | None:
        """The link that is called like a thing; in a row that speaks of it one that opens the row."""
        aim = self.aim
        sizes = [f"{kind} {value}" for kind, value in aim.conditions if kind == "size"]
        best, score = None, 0.0
        for one in self.pressed:
            told = f"{one.name}"
            found = 0.0
            if plain(told) == plain(name):
                found = 0.9
            elif names(told, name):
                found = 0.85 if len(words(told)) <= 2 * len(words(name)) + 2 else 0.0
            elif told.endswith("…") and len(told) > 6 and plain(name).startswith(plain(told)):
                found = 0.8
            if found and sizes and all(names(told, size) for size in sizes):
                found = 1.0
            if found and one.form.startswith("post") and one.role == "button":
                found = 0.0
            if found > score:
                best, score = one, found
        rows = list(self.rows_of(name))
        if rows and (best is None or self.aim.conditions):
            opened = opener(rows[0][1], name)
            if opened is not None:
                return self.view.page.elements[opened]
            if self.aim.conditions and not sizes:
                return None
        elif (
            self.aim.conditions and not sizes and not rows and any(grid.columns for grid in self.facts.grids)
        ):
            return None  # a row of that name that does not meet the conditions is another one's
        return best

    def next_page(self) -> Element | None:
        """The link to the next page of a list."""
        for one in self.view.shown:
            label = dict(one.attributes).get("aria-label", "")
            if one.name.strip().casefold() in _NEXT or label.strip().casefold() in ("next", "next page"):
                return one
        return None

    def field_for(
        self, wanted: str, least: float = 0.6, among: Sequence[Element] | None = None
    ) -> Element | None:
        """The field that a label asks for."""
        best, score = None, least
        for one in self.fields if among is None else among:
            found = fits(wanted, self.label_of(one))
            found += 0.02 if one.form.startswith("post") else 0.0
            if found > score:
                best, score = one, found
        return best

    def chooser_of(self, value: str, wanted: str = "") -> tuple[Element, str] | None:
        """The list that has an option of this value, and the option's own words; its label decides among several."""
        best: tuple[Element, str] | None = None
        score = -1.0
        for one in self.fields:
            for option in one.options:
                if plain(option) == plain(value) or says(option, value):
                    found = fits(wanted, self.label_of(one)) if wanted else 0.5
                    if found > score:
                        best, score = (one, option), found
        return best


def _in_part(aim: Aim, view: View) -> Aim:
    """A question about many things in a part of the site that is called like a link of its menu: ``in Garden``."""
    if not aim.listed or aim.scope[1] or not aim.subjects:
        return aim
    menu = {
        plain(one.name)
        for one in view.shown
        if one.role == "link" and any(mark.split(":")[0] == "navigation" for mark in one.landmarks)
    }
    name = next((name for name in aim.subjects if plain(name) in menu), "")
    if not name:
        return aim
    return replace(aim, scope=("part", name), subjects=tuple(one for one in aim.subjects if one != name))


def meets(row: Row, kind: str, value: str) -> bool:
    """Whether a row has a value, in the column of that kind where there is one."""
    columns = [name for name, _ in row.cells if kind and fits(kind, name) >= 0.7]
    texts = [text for name, text in row.cells if not columns or name in columns]
    return any(says(text, value) for text in texts)


def opener(row: Row, name: str) -> int | None:
    """What opens a row: the link of the thing's name, else one that says so, else its first link."""
    links = [one for one in row.controls if one.role == "link" and one.name]
    for one in links:
        if name and (plain(one.name) == plain(name) or names(one.name, name)):
            return one.index
    opening = frozenset({"view", "edit", "open", "details", "show"})
    for one in links:
        if forms(plain(one.name)) & opening:
            return one.index
    return links[0].index if links else None
