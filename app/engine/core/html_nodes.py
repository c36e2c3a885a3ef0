"""HTML elements of recorded pages, and their documents as text.  Pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape

_TAG_NAME = re.compile(r"[a-zA-Z][\w:.-]*\Z")
_ATTRIBUTE_NAME = re.compile(r"[^\s\"'<>/=\x00]+\Z")
_VOID = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "command",
        "embed",
        "hr",
        "img",
        "input",
        "keygen",
        "link",
        "menuitem",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    }
)


@dataclass(slots=True)
class HtmlNode:
    """An element: its tag in lower case, its attributes, and its children, which are elements and texts.

    ``bid`` is its id in the tree, once the tree was made.
    """

    tag: str
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    children: list[HtmlNode | str] = field(default_factory=list["HtmlNode | str"])
    bid: str = ""
    role: str = ""
    name: str = ""

    def elements(self) -> Iterator[HtmlNode]:
        """Yield this element and all below it, in order."""
        waiting: list[HtmlNode] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend([child for child in reversed(node.children) if isinstance(child, HtmlNode)])


def html_of(page: HtmlNode, inner: Callable[[str], str] = lambda html: html) -> str:
    """Return a document as HTML, its elements with their ids (``bid``); documents of frames in their ``srcdoc``.

    Args:
        page: the document.
        inner: applied to the HTML of a frame before it becomes an attribute.
    """
    parts: list[str] = []
    waiting: list[HtmlNode | str | tuple[str]] = [page]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            parts.append(node[0])
        elif isinstance(node, str):
            parts.append(escape(node, quote=False))
        elif _TAG_NAME.match(node.tag):
            attributes, is_frame = node.attributes, node.tag in ("iframe", "frame")
            framed = [child for child in node.children if isinstance(child, HtmlNode)] if is_frame else ()
            if framed:
                attributes = {**attributes, "srcdoc": inner(html_of(framed[0], inner))}
            written = "".join(
                [
                    f' {name}="{value if value.isalnum() else escape(value)}"'
                    for name, value in attributes.items()
                    if name.isalpha() or _ATTRIBUTE_NAME.match(name)
                ]
            )
            bid = f' bid="{node.bid}"' if node.bid else ""
            parts.append(f"<{node.tag}{bid}{written}>")
            if node.tag not in _VOID:
                waiting.append((f"</{node.tag}>",))
                if not is_frame:
                    waiting.extend(reversed(node.children))
    return "".join(parts)


def parents_of(page: HtmlNode) -> dict[int, HtmlNode]:
    """Return the parent of every element of a document, by the element's ``id()``."""
    return {
        id(child): node for node in page.elements() for child in node.children if isinstance(child, HtmlNode)
    }
