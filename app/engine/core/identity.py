"""The identity of a page state: its typed parts, computed from one capture.  Pure functions.

The parts are sets of *features*, sorted before they are hashed, so neither the order of elements nor the process's
hash seed matters.  A feature describes an element as a person sees it: role, landmarks around it, name, the state
words that change what can be done.  Technical details do not count: element ids, tokens, typed values, focus,
adverts, live regions.  Repeated lists count once, however many rows they have.

(WebNavigator, appendix C, hashes XPaths with the full address; a reordered or renamed element is a new state there.)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from app.engine.core.addresses import path_template, section, url_key, url_template
from app.engine.core.page_state import Element, Mode, PageCapture, PageKeys
from app.engine.core.transition import Locator, Operation
from app.engine.core.tree_elements import elements_of_tree

__all__ = [
    "INTERACTIVE", "element_key", "elements_of_tree", "features", "is_interactive", "keys_of", "kind_key", "node_id",
    "normal_name", "page_id", "path_template", "section", "similarity", "skeleton_features", "url_key", "url_template",
]  # fmt: skip

INTERACTIVE = frozenset(
    {
        "link",
        "button",
        "tab",
        "menuitem",
        "menuitemcheckbox",
        "menuitemradio",
        "combobox",
        "listbox",
        "option",
    }
    | {"checkbox", "radio", "switch", "treeitem", "summary", "searchbox", "textbox", "slider", "spinbutton"}
)
"""Roles whose elements count for the structure."""

STATES = frozenset({"expanded", "collapsed", "checked", "selected", "pressed"})
"""State words that make another state of the page; focus, values and validity don't."""

THOROUGH_ONLY_ATTRIBUTES = frozenset({"looks", "near", "hint"})
"""Additional attributes of a thorough capture; they don't count, because a page is the same page however it was
captured.
"""

_CHROME = (
    "navigation",
    "banner",
    "menu",
    "menubar",
    "tablist",
    "dialog",
    "alertdialog",
    "toolbar",
    "contentinfo",
)
_MENUS = ("menu", "menubar", "tablist", "dialog", "alertdialog", "toolbar")
_NAMED = frozenset({"navigation", *_MENUS})
"""Landmarks whose label distinguishes them; the label of a region or form may be data."""

_DATA = frozenset({"link", "option", "treeitem"})
"""Roles whose elements are data more often than controls."""

_NUMBER = re.compile(r"\d+(?:[.,:/\u202f\u00a0' -]\d+)*")
_MIXED = re.compile(r"\d[a-z]|[a-z]\d")
_CODE = re.compile(r"\b(?=\w*\d)(?=\w*[a-z])[0-9a-z]{8,}\b")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? )"
_DATE = re.compile(rf"{_DAY}?(?:{_MONTH} #|# {_MONTH})(?:,? #)*(?: ?[ap]\.?m\.?)?")
_AGO = re.compile(
    r"(?:(?:#|an?|one|about) )*(?:second|minute|hour|day|week|month|year)s? ago|just now|yesterday"
)
_CHOICES = ("link", "option", "radio", "treeitem")
"""Roles whose names are data more often than not: options such as a product's sizes."""

_LONGEST = 120
_SEPARATOR = "\x1f"


@lru_cache(maxsize=131_072)
def normal_name(name: str) -> str:
    """A name without counts and times: digits and codes as ``#``, dates and "2 hours ago" as one word."""
    text = " ".join(name.lower().split())[:_LONGEST]
    if any(map(str.isdigit, text)):
        if _MIXED.search(text):
            text = _CODE.sub("#", text)
        text = _NUMBER.sub("#", text)
        text = _DATE.sub("{date}", text)
    return _AGO.sub("{date}", text) if "ago" in text or "just now" in text or "yesterday" in text else text


def is_interactive(element: Element) -> bool:
    """Whether it counts for the structure: an element to act on that is visible and permanent."""
    return (
        element.visible
        and not element.in_live
        and not element.in_advert
        and (element.role in INTERACTIVE or element.listens)
    )


def keys_of(page: PageCapture, home: str) -> PageKeys:
    """The typed parts of a page's identity.

    Args:
        page: one capture of it.
        home: address of the graph's home page; its host is left out of the keys.
    """
    counted = [element for element in page.elements if is_interactive(element)]
    titles = tuple(
        sorted({normal_name(h) for h in page.headings[:3] if len(h.strip()) >= 3}, key=len, reverse=True)
    )
    return PageKeys(
        url=url_key(page.url, home),
        template=url_template(page.url, home),
        structure=_digest(features(counted)),
        skeleton=_digest(skeleton_features(counted, titles)),
        content=_digest(
            {" ".join(line.split()) for line in _NUMBER.sub("#", page.text.lower()).splitlines()}
        ),
    )


def page_id(keys: PageKeys) -> str:
    """The id of a page state: 16 hex digits over its address and structure."""
    return _hash("page", keys.url, keys.structure)


def node_id(keys: PageKeys, mode: Mode | str) -> str:
    """The id of the node a page state belongs to, before people's edits: itself, or its skeleton."""
    if mode == Mode.FULL:
        return page_id(keys)
    return _hash("skeleton", section(keys.template), keys.skeleton)


def features(elements: Iterable[Element]) -> set[str]:
    """The features of the structure key; ``elements`` are those that count (``is_interactive``)."""
    found: set[str] = set()
    for element in elements:
        chrome = _within(element.landmarks, _CHROME)
        name = "*" if element.repeat and not chrome else _name(element)
        found.add(_feature(element, _labels(element.landmarks), name))
    return found


def skeleton_features(elements: Iterable[Element], titles: tuple[str, ...] = ()) -> set[str]:
    """The features of the skeleton key.

    Left out are elements that vary with the data: links, and the buttons of repeated lists, because a product may
    have related ones or not.  Elements that open something (a state word), menus, tabs and dialogs still count.
    Names that contain one of the page's own headings, ``titles``, are reduced by it.
    """
    found: set[str] = set()
    for element in elements:
        kept = _within(element.landmarks, _MENUS) or not (element.repeat or element.role in _DATA)
        data = element.role in _DATA or element.role == "button"
        if not kept and data and not STATES.intersection(element.states):
            continue
        name = _name(element) if kept else "*"
        for title in titles:
            if title in name:
                name = name.replace(title, "{title}")
        found.add(_feature(element, _roles(element.landmarks), name))
    return found


def element_key(element: Element, home: str = "") -> str:
    """16 hex digits that identify an element across pages: the same menu entry on two pages has one key."""
    name = _name(element)
    if element.role != "link" and element.name.strip().isdigit():
        name = element.name.strip()  # the buttons of a pager lead to different places
    return _hash(
        "element",
        element.role,
        ">".join(_labels(element.landmarks)),
        ">".join(element.frame),
        name,
        _leads(element, home),
        element.form,
    )


def _leads(element: Element, home: str) -> str:
    """Key of the address a link leads to.  A menu's ``#`` leads to its own page, so only the ``#`` counts."""
    path, mark, fragment = element.href.partition("#")
    stays = mark and not fragment.startswith(("/", "!")) and (element.role != "link" or not fragment)
    return f"#{fragment}" if stays else url_key(element.href, home) if path or fragment else ""


def kind_key(element: Element) -> str:
    """16 hex digits equal for elements of one kind in one repeated list: the titles of all products, say.

    Links of one kind lead to one template; entries of menus and other elements outside of lists are kinds of their
    own.
    """
    if not element.repeat or _within(element.landmarks, _CHROME):
        return element_key(element)
    leads = url_template(element.href) if element.href else ""
    name = "" if leads else _name(element)
    return _hash(
        "kind",
        element.role,
        ">".join(_roles(element.landmarks)),
        ">".join(element.frame),
        element.repeat,
        name,
        leads,
    )


def transition_id(source: str, operation: Operation, value: str, locator: Locator | None, target: str) -> str:
    """16 hex digits that identify a transition in any process.

    Of the locator only the user-visible parts count, and its index among similar elements; CSS and XPath change with
    the page's markup.
    """
    told: tuple[str, ...] = ()
    if locator is not None:
        told = (
            locator.role,
            normal_name(locator.name or locator.label or locator.text or locator.test_id),
            ">".join(_labels(locator.landmarks)),
            ">".join(locator.frame),
            str(locator.nth),
            url_key(locator.href) if locator.href else "",
        )
    return _hash("transition", source, target, operation.value, value, *told)


def similarity(a: Collection[str], b: Collection[str]) -> float:
    """Jaccard similarity of two sets of keys, in [0, 1]; 1 for two empty sets."""
    left, right = set(a), set(b)
    if not left and not right:
        return 1.0
    return len(left & right) / len(left | right)


def _feature(element: Element, landmarks: Collection[str], name: str) -> str:
    words = " ".join(word for word in element.states if word in STATES)
    return _SEPARATOR.join((element.role, ">".join(landmarks), ">".join(element.frame), name, words))


def _name(element: Element) -> str:
    """The normalised name; an icon without one is identified by its stable attributes."""
    if element.name:
        return normal_name(element.name)
    told = element.test_id or " ".join(
        f"{key}={value}" for key, value in sorted(element.attributes) if key not in THOROUGH_ONLY_ATTRIBUTES
    )
    return normal_name(told)


@lru_cache(maxsize=4096)
def _labels(landmarks: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(normal_name(landmark) for landmark in landmarks)


@lru_cache(maxsize=4096)
def _roles(landmarks: tuple[str, ...]) -> tuple[str, ...]:
    """Landmarks without labels that may be data."""
    roles = (landmark.partition(":") for landmark in landmarks)
    return tuple(normal_name(role + mark + label) if role in _NAMED else role for role, mark, label in roles)


@lru_cache(maxsize=4096)
def _within(landmarks: tuple[str, ...], roles: tuple[str, ...]) -> bool:
    return any(landmark.partition(":")[0] in roles for landmark in landmarks)


def _digest(found: set[str]) -> str:
    return _hash(*sorted(found))


def _hash(*parts: str) -> str:
    text = "\x1e".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=8).hexdigest()
