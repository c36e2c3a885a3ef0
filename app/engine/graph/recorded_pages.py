"""Reads pages of recorded runs as if they had been captured: elements from the tree, their addresses from the HTML.

Runs of other systems name an element by a ``bid`` that is in both; if the HTML has none, only the tree is used.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urljoin, urlsplit

from app.engine.core.ax_tree import parse_tree
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.trajectory import Step
from app.engine.core.tree_elements import named_elements

_TAG = re.compile(r"<(/?)(a|button|input|select|textarea|form)\b([^>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w:-]+)(?:=\"([^\"]*)\"|='([^']*)'|=([^\s\"'>]+))?")
_BID = re.compile(r"\bbid=[\"']?([\w]+)")
_KEPT = frozenset({"id", "name", "type", "aria-label", "title", "placeholder", "autocomplete"})
_TEST_IDS = ("data-testid", "data-test", "data-qa", "data-qa-selector", "data-test-id")
_GENERATED = re.compile(r"\d{3,}|__\w+__|[0-9a-f]{8,}")
_SHORTEST_TEXT = 2


@dataclass(frozen=True, slots=True)
class RecordedPage:
    """A page and its elements by the id that an agent's actions use."""

    page: PageCapture
    elements: Mapping[str, Element]


@dataclass(frozen=True, slots=True)
class _Tag:
    attributes: dict[str, str]
    form: str


def read_page(step: Step, tree: str, markup: str = "") -> RecordedPage:
    """Return the page before a step's action.

    Args:
        tree: accessibility tree (``app.engine.core.ax_tree``).
        markup: HTML with ``bid`` attributes; "" if there is none.
    """
    nodes = parse_tree(tree)
    tags = _tags(markup, step.url) if markup else {}
    named = [(_with_tag(element, tags.get(bid), step.url), bid) for element, bid in named_elements(nodes)]
    elements = tuple(element for element, _ in named)
    texts = [node.name for node in nodes if node.role in ("StaticText", "heading") and node.name.strip()]
    page = PageCapture(
        url=step.url,
        title=step.title,
        elements=elements,
        headings=tuple(node.name for node in nodes if node.role == "heading" and node.name.strip()),
        text="\n".join(text for text in texts if len(text) >= _SHORTEST_TEXT),
        tree=tree,
    )
    return RecordedPage(page, {bid: element for element, bid in named if bid})


def _with_tag(element: Element, tag: _Tag | None, url: str) -> Element:
    if tag is None:
        return element
    attributes = tag.attributes
    given = attributes.get("href", "")
    kind = attributes.get("type", "").lower()
    submits = bool(tag.form) and (kind in ("submit", "image") or (element.role == "button" and not kind))
    return replace(
        element,
        href=_absolute(url, given) if element.role == "link" and given else element.href,
        form=tag.form,
        submits=submits,
        type=kind,
        test_id=next((attributes[name] for name in _TEST_IDS if attributes.get(name)), ""),
        attributes=tuple(
            sorted((name, attributes[name]) for name in _KEPT & attributes.keys() if _stays(attributes[name]))
        ),
    )


def _tags(markup: str, url: str) -> dict[str, _Tag]:
    found: dict[str, _Tag] = {}
    form = ""
    for match in _TAG.finditer(markup):
        closing, name, rest = match.groups()
        if name.lower() == "form":
            form = "" if closing else _form(_attributes(rest), url)
        elif not closing and (bid := _BID.search(rest)) is not None:
            found[bid[1]] = _Tag(_attributes(rest), form)
    return found


def _attributes(rest: str) -> dict[str, str]:
    return {name.lower(): html.unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(rest)}


def _form(attributes: dict[str, str], url: str) -> str:
    method = attributes.get("method", "get").lower()
    path = _path(_absolute(url, attributes.get("action", "")))
    return f"{'post' if method == 'post' else 'get'}:{path}"


def _path(url: str) -> str:
    try:
        return urlsplit(url).path or "/"
    except ValueError:
        return "/"


def _absolute(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:
        return ""


def _stays(value: str) -> bool:
    return bool(value) and _GENERATED.search(value) is None
