"""A page as the server sends it, before any script has run, reduced to its links, controls, forms and scripts.

Two answers with the same key give the same page in a browser as long as the scripts are the same; their addresses are
part of the key. So a known page can be verified by one request, without a browser that loads and draws it
(``app.engine.graph.maintain.maintenance``). Values, tokens, texts and adverts' ids change from visit to visit and are
ignored.

Pure functions. It is no parser: the same page must give the same key, in a millisecond or two.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from html import unescape
from urllib.parse import urljoin

from app.engine.core.addresses import url_key
from app.engine.core.identity import normal_name
from app.engine.core.page_state import Element

MAX_LENGTH = 2_000_000
"""Characters of a document that are read."""
MIN_LINK_SHARE = 0.8
"""Share of a page's links that the document must contain to speak for the page."""
MAX_ELEMENT_LENGTH = 2000
"""Characters within which an element's end tag is searched."""

# Possessive, and without the closing bracket: whatever follows "<a" is taken in one go, however broken, so that no page
# can make the reading of it take longer than its length.
_TAG = re.compile(r"""<(?:(!--)|([a-zA-Z][\w:-]*+)((?:[^>"'<]++|"[^"]*+"|'[^']*+')*+))""")
_ENDS = {tag: re.compile(rf"</{tag}\b", re.IGNORECASE) for tag in ("script", "style", "template", "noscript")}
_COUNTED = frozenset(
    {"a", "area", "button", "summary", "option", "label", "input", "select", "textarea", "form", "iframe"}
    | {"dialog", "script"}
)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_MARKUP = re.compile(r"<[^<>]*>")
_NAMED = frozenset({"a", "button", "summary", "option", "label"})
_IDENTIFYING_ATTRIBUTES = (
    "name",
    "type",
    "placeholder",
    "aria-label",
    "role",
    "title",
    "aria-haspopup",
    "aria-expanded",
)


@dataclass(frozen=True, slots=True)
class StaticPage:
    """A document as it was sent.

    ``key`` is 16 hex digits over its controls, "" if it has none (a shell that scripts fill); ``scripts``
    are 16 hex digits over the addresses of its scripts; ``places`` are the addresses its links lead to.
    """

    key: str
    scripts: str
    places: frozenset[str]


def static_key(document: str, url: str, home: str, elements: Sequence[Element]) -> str:
    """Return the key of a document whose page shows these elements in a browser.

    If scripts added most of the page's links, the document says nothing about the page: "".
    """
    read = read_static_page(document, url, home)
    shown = {url_key(element.href, home) for element in elements if element.href}
    return read.key if len(shown & read.places) >= MIN_LINK_SHARE * len(shown) else ""


def read_static_page(document: str, url: str, home: str) -> StaticPage:
    """Reduce a document to its links, controls, forms and scripts.

    Args:
        document: the HTML as it was sent.
        url: where it came from; relative addresses are resolved against it.
        home: address whose host is left out of addresses.
    """
    text = document[:MAX_LENGTH]
    offers: set[str] = set()
    scripts: set[str] = set()
    places: set[str] = set()
    at = 0
    while found := _TAG.search(text, at):
        tag, at = (found[2] or "").lower(), found.end()
        if tag in _COUNTED or "role" in (found[3] or ""):
            held = _attributes(found[3])
            told = _offer(tag, held, _inside(text, tag, at), url, home)
            (scripts if tag == "script" else offers).add(told)
            places.add(_place(held.get("href", ""), url, home))
        if found[1] or tag in _ENDS:
            end = text.find("-->", at) if found[1] else _end(text, tag, at)
            if end < 0:
                break
            at = end
    key = _digest(scripts | offers) if offers else ""
    return StaticPage(key, _digest(scripts), frozenset(places))


def _digest(told: Set[str]) -> str:
    text = "\x1e".join(sorted(told)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def _end(text: str, tag: str, at: int) -> int:
    found = _ENDS[tag].search(text, at)
    return found.end() if found is not None else -1


def _offer(tag: str, held: Mapping[str, str], name: str, url: str, home: str) -> str:
    if tag == "input" and held.get("type", "").lower() == "hidden":
        return f"hidden {held.get('name', '')}"
    places = [_place(held[key], url, home) for key in ("href", "action", "src") if key in held]
    told = [normal_name(held[key]) for key in _IDENTIFYING_ATTRIBUTES if key in held]
    return " ".join((tag, name, *places, *told))


def _inside(text: str, tag: str, at: int) -> str:
    if tag not in _NAMED:
        return ""
    near = text[at : at + MAX_ELEMENT_LENGTH]
    end = near.lower().find(f"</{tag}")
    inside = near[:end].partition(">")[2] if end >= 0 else ""
    return normal_name(unescape(_MARKUP.sub(" ", inside)))


def _attributes(written: str) -> dict[str, str]:
    return {
        found[1].lower(): unescape(found[2] or found[3] or found[4] or "")
        for found in _ATTRIBUTE.finditer(written)
    }


def _place(address: str, url: str, home: str) -> str:
    if not address:
        return ""
    try:
        return url_key(urljoin(url, address.strip()), home)
    except ValueError:
        return address[:80]
