"""Pages of BrowserGym's observations whose agent kept only the browser's own objects.

An accessibility tree becomes the text that BrowserGym makes of it by default, a snapshot of the DOM HTML. Both are read
leniently: a node that is none is left out.
"""

from __future__ import annotations

from typing import Any, cast

from app.engine.core.html_nodes import HtmlNode, html_of
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.step_records import number

MAX_DEPTH = 500
MAX_NODES = 200_000
MAX_DOCUMENTS = 30
"""Documents of frames, one within the other at worst."""

_UNSHOWN = frozenset({"LineBreak"})
_UNSAID = frozenset({"editable", "readonly", "level", "settable", "multiline", "invalid", "focusable"})
_FLAGS = frozenset({"required", "focused", "atomic"})
"""Properties that are said by their name alone, and only where they hold."""
_LEFT_OUT = frozenset({"script", "style", "noscript", "template"})
_OWN_ATTRIBUTES = "browsergym_"
_ELEMENT, _TEXT = 1, 3


def tree_text(tree: object) -> str:
    """Return the text of an accessibility tree of the browser (``axtree_object``); "" where it is none."""
    nodes = [fields_of(node) for node in items_of(fields_of(tree).get("nodes"))[:MAX_NODES]]
    by_id = {str(node.get("nodeId")): node for node in reversed(nodes)}
    lines: list[str] = []
    seen: set[str] = set()
    waiting: list[tuple[dict[str, Any], int, str]] = [(nodes[0], 0, "")] if nodes else []
    while waiting:
        node, depth, parent = waiting.pop()
        own = str(node.get("nodeId"))
        if own in seen or depth > MAX_DEPTH:
            continue
        seen.add(own)
        name, line = _line(node, parent)
        if line:
            lines.append("\t" * depth + line)
        below = [by_id[str(child)] for child in items_of(node.get("childIds")) if str(child) in by_id]
        waiting.extend((child, depth + bool(line), name) for child in reversed(below))
    return "\n".join(lines)


def _line(node: dict[str, Any], parent: str) -> tuple[str, str]:
    """Return a node's name and its line; no line for one that says nothing of its own."""
    role = str(_value(node, "role") or "")
    if not role or role in _UNSHOWN or "name" not in node:
        return "", ""
    said = _value(node, "name")
    name = said if isinstance(said, str) else ""
    more = _properties(node)
    if (role == "generic" and not more) or (role == "StaticText" and name in parent):
        return name, ""
    line = role if role == "generic" and not name else f"{role} {name.strip()!r}"
    bid = node.get("browsergym_id")
    if isinstance(bid, str | int) and not isinstance(bid, bool):
        line = f"[{bid}] {line}"
    value = _value(node, "value")
    if value is not None:
        line += f" value={value!r}"
    return name, ", ".join([line, *more])


def _properties(node: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for one in map(fields_of, items_of(node.get("properties"))):
        name, value = one.get("name"), fields_of(one.get("value"))
        if not isinstance(name, str) or name in _UNSAID or "value" not in value:
            continue
        if name not in _FLAGS:
            found.append(f"{name}={value['value']!r}")
        elif value["value"]:
            found.append(name)
    return found


def _value(node: dict[str, Any], name: str) -> Any:
    return fields_of(node.get(name)).get("value")


def html_text(snapshot: object) -> str:
    """Return a snapshot of the DOM (``dom_object``) as HTML, without scripts and styles; "" where it is none."""
    whole = fields_of(snapshot)
    strings, documents = items_of(whole.get("strings")), items_of(whole.get("documents"))
    roots: dict[int, HtmlNode] = {}
    frames: list[tuple[HtmlNode, int]] = []
    for at, document in enumerate(documents[:MAX_DOCUMENTS]):
        root = _document(fields_of(fields_of(document).get("nodes")), strings, frames)
        if root is not None:
            roots[at] = root
    for frame, inside in frames:
        if inside in roots and inside:  # the first document is in no frame; each other one is in one
            frame.children = [roots.pop(inside)]
    return html_of(roots[0]) if 0 in roots else ""


def _document(
    nodes: dict[str, Any], strings: list[Any], frames: list[tuple[HtmlNode, int]]
) -> HtmlNode | None:
    """Return the first element of a document with all below it; frames and the document in each are added."""

    def said(index: object) -> str:
        found = strings[index] if isinstance(index, int) and 0 <= index < len(strings) else ""
        return found if isinstance(found, str) else ""

    parents, kinds, names, values, attributes = (
        items_of(nodes.get(name))
        for name in ("parentIndex", "nodeType", "nodeName", "nodeValue", "attributes")
    )
    inside = fields_of(nodes.get("contentDocumentIndex"))
    pairs = zip(items_of(inside.get("index")), items_of(inside.get("value")), strict=False)
    content = {at: document for at, document in pairs if isinstance(at, int) and isinstance(document, int)}
    made: dict[int, HtmlNode] = {}
    depths: dict[int, int] = {}
    first: HtmlNode | None = None
    for at in range(min(len(names), len(kinds), len(parents), MAX_NODES)):
        above = parents[at] if isinstance(parents[at], int) else -1
        parent = made.get(above)
        if kinds[at] == _TEXT and parent is not None and at < len(values):
            parent.children.append(said(values[at]))
        if kinds[at] != _ELEMENT:
            continue
        tag = said(names[at]).lower().strip()
        depth = depths.get(above, 0) + 1
        if tag in _LEFT_OUT or depth > MAX_DEPTH or (parent is None and first is not None):
            continue
        node = _element(tag, [said(one) for one in items_of(attributes[at])] if at < len(attributes) else [])
        made[at], depths[at] = node, depth
        if parent is not None:
            parent.children.append(node)
        first = first or node
        if at in content:
            frames.append((node, content[at]))
    return first


def _element(tag: str, attributes: list[str]) -> HtmlNode:
    pairs = dict(zip(attributes[::2], attributes[1::2], strict=False))
    bid = pairs.pop("bid", "")
    return HtmlNode(
        tag=tag,
        attributes={name: value for name, value in pairs.items() if not name.startswith(_OWN_ATTRIBUTES)},
        bid=bid if bid.isalnum() else "",
    )


def box_of(given: object) -> tuple[float, float, float, float] | None:
    """Return an element's left, top, width and height; ``None`` where they are none."""
    sides = [number(side, None) for side in items_of(given)]
    if len(sides) != 4 or None in sides:
        return None
    left, top, width, height = cast("list[float]", sides)
    return (left, top, width, height) if width > 0 and height > 0 else None
