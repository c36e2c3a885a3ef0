"""Captures made from plain HTML without a browser: elements, tree and text as a thorough capture has them.

Enough for forms, tables, lists and rows; what a page's scripts and styles do is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from app.engine.core.page_state import Element, PageCapture

_VOID = frozenset({"input", "br", "img", "hr", "meta", "link"})
_ROLES = {"a": "link", "button": "button", "textarea": "textbox", "select": "combobox"}
_INPUTS = {
    "checkbox": "checkbox", "radio": "radio", "submit": "button", "button": "button", "image": "button",
    "search": "searchbox", "number": "spinbutton", "file": "button", "reset": "button",
}  # fmt: skip
_NODES = {
    "table": "table", "tr": "row", "td": "cell", "th": "columnheader", "ul": "list", "ol": "list", "li": "listitem",
    "nav": "navigation", "main": "main", "fieldset": "group", "dl": "DescriptionList", "dt": "term", "dd": "definition",
    "label": "label", "p": "paragraph", "article": "article", "dialog": "dialog",
}  # fmt: skip
_LANDMARKS = frozenset({"navigation", "main", "dialog", "search", "alertdialog"})
_ENDED_BY = {
    "option": ("option",), "td": ("td", "th", "p"), "th": ("td", "th", "p"), "tr": ("td", "th", "p", "tr"),
    "li": ("li",), "p": ("p",), "dd": ("dt", "dd"), "dt": ("dt", "dd"),
}  # fmt: skip
"""Tags that end others whose end may be left out."""
_STATES = ("checked", "disabled", "readonly", "required", "selected")


@dataclass(slots=True)
class _Node:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    below: list[_Node | str] = field(default_factory=list["_Node | str"])

    @property
    def text(self) -> str:
        if self.tag in ("select", "script", "style", "textarea"):
            return ""
        told = " ".join(one if isinstance(one, str) else one.text for one in self.below)
        return " ".join(told.split())


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = _Node("html")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        ends = _ENDED_BY.get(tag, ())
        while self.open[-1].tag in ends:
            self.open.pop()
        node = _Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].below.append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if any(one.tag == tag for one in self.open[1:]):
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.open[-1].below.append(data.strip())


@dataclass(slots=True)
class _Capture:
    url: str
    labels: dict[str, str] = field(default_factory=dict[str, str])
    elements: list[Element] = field(default_factory=list[Element])
    lines: list[str] = field(default_factory=list[str])
    text: list[str] = field(default_factory=list[str])
    headings: list[str] = field(default_factory=list[str])
    near: str = ""


def html_page(
    html: str, url: str = "http://site.test/page", title: str = "", status: int = 200
) -> PageCapture:
    """Return the capture of a page; its title is that of the HTML where none is given."""
    parser = _Parser()
    parser.feed(html)
    made = _Capture(url)
    for node in _all(parser.root):
        if node.tag == "label" and node.attributes.get("for"):
            made.labels[node.attributes["for"]] = node.text
        if node.tag == "title":
            title = title or node.text
    _walk(made, parser.root, 1, (), "", ())
    return PageCapture(
        url=url, title=title, status=status, elements=tuple(made.elements), headings=tuple(made.headings),
        tree="\n".join([f"RootWebArea {title!r}, focused", *made.lines]), text="\n".join(made.text),
    )  # fmt: skip


def _all(node: _Node) -> list[_Node]:
    return [node, *(deep for one in node.below if isinstance(one, _Node) for deep in _all(one))]


def _walk(
    made: _Capture,
    node: _Node,
    depth: int,
    marks: tuple[str, ...],
    form: str,
    frame: tuple[str, ...],
    label: str = "",
) -> None:
    for one in node.below:
        if isinstance(one, str):
            made.lines.append("\t" * depth + f"StaticText {one!r}")
            made.text.append(one)
            made.near = one
            continue
        attributes = one.attributes
        if (
            one.tag in ("title", "script", "style")
            or "hidden" in attributes
            or attributes.get("type") == "hidden"
        ):
            continue
        role = attributes.get("role", "") or _NODES.get(one.tag, "")
        inner_form = form
        if one.tag == "form":
            path = urlsplit(urljoin(made.url, attributes.get("action", ""))).path
            inner_form = f"{attributes.get('method', 'get').lower()}:{path}"
        if one.tag == "iframe":
            made.lines.append("\t" * depth + f"iframe {attributes.get('title', '')!r}")
            _walk(made, one, depth + 1, marks, "", (*frame, attributes.get("name", "frame")))
        elif _is_element(one):
            _element(made, one, depth, marks, form, frame, label)
        elif one.tag in ("h1", "h2", "h3", "legend", "caption"):
            if one.tag[1:].isdigit():
                made.headings.append(one.text)
            made.lines.append(
                "\t" * depth + f"{'heading' if one.tag[1:].isdigit() else one.tag} {one.text!r}"
            )
            made.text.append(one.text)
        elif role:
            legend = next(
                (low.text for low in one.below if isinstance(low, _Node) and low.tag == "legend"), ""
            )
            name = (
                one.text if role in ("cell", "columnheader") else legend or attributes.get("aria-label", "")
            )
            made.lines.append("\t" * depth + f"{role} {name!r}")
            mark = f"{role}:{name}" if name else role
            inner = (*marks, mark) if role in _LANDMARKS else marks
            _walk(made, one, depth + 1, inner, inner_form, frame, one.text if one.tag == "label" else "")
        else:
            _walk(made, one, depth, marks, inner_form, frame, label)


def _is_element(one: _Node) -> bool:
    known = one.tag in ("input", "textarea", "select", "button") or (
        one.tag == "a" and "href" in one.attributes
    )
    widget = one.attributes.get("role", "") in (
        "combobox",
        "textbox",
        "option",
        "menuitem",
        "button",
        "switch",
        "link",
    )
    return known or widget or "contenteditable" in one.attributes


def _element(
    made: _Capture,
    one: _Node,
    depth: int,
    marks: tuple[str, ...],
    form: str,
    frame: tuple[str, ...],
    label: str,
) -> None:
    attributes, index = one.attributes, len(made.elements)
    kind = attributes.get("type", "submit" if one.tag == "button" else "text" if one.tag == "input" else "")
    editable = "contenteditable" in attributes
    role = attributes.get("role") or (
        "textbox" if editable else _ROLES.get(one.tag) or _INPUTS.get(kind, "textbox")
    )
    role = "listbox" if one.tag == "select" and "multiple" in attributes else role
    options = [low for low in _all(one) if low.tag == "option"]
    chosen = [low.text for low in options if "selected" in low.attributes]
    if one.tag == "select" and role == "combobox" and not chosen:
        chosen = [low.text for low in options[:1]]
    presses = role in ("button", "link", "menuitem", "option")
    name = attributes.get("aria-label") or made.labels.get(attributes.get("id", "")) or label
    if presses:
        name = (
            attributes.get("aria-label")
            or one.text
            or (attributes.get("value", "") if one.tag == "input" else "")
        )
    value = "" if presses or kind in ("checkbox", "radio") else attributes.get("value", "")
    value = ", ".join(chosen) if one.tag == "select" else value
    if one.tag == "textarea" or editable or (role == "combobox" and one.tag not in ("input", "select")):
        value = " ".join(" ".join(part if isinstance(part, str) else part.text for part in one.below).split())
    states = [state for state in _STATES if state in attributes]
    if "aria-expanded" in attributes:
        states.append("expanded" if attributes["aria-expanded"] == "true" else "collapsed")
    if "aria-haspopup" in attributes:
        states.append("haspopup")
    kept = {
        key: attributes[key]
        for key in ("id", "name", "type", "placeholder", "class", "title")
        if key in attributes
    }
    if not name and role not in ("button", "link", "option", "menuitem") and made.near:
        kept["near"] = made.near
    submits = bool(form) and (kind in ("submit", "image") and one.tag in ("input", "button"))
    made.elements.append(
        Element(
            index=index, role=role, name=name, tag=one.tag, type=kind if one.tag in ("input", "button") else "",
            value=value, options=tuple(low.text for low in options) if one.tag == "select" else (), form=form,
            submits=submits, href=urljoin(made.url, attributes["href"]) if "href" in attributes else "",
            states=tuple(sorted(states)), landmarks=marks, frame=frame, attributes=tuple(kept.items()),
            css=f"#{attributes.get('id', index)}",
        )
    )  # fmt: skip
    properties = f", value={value!r}" if value else ""
    made.lines.append("\t" * depth + f"[{index}] {role} {name!r}{properties}")
    for low in options:
        chosen_mark = ", selected" if low.text in chosen else ""
        made.lines.append("\t" * (depth + 1) + f"option {low.text!r}{chosen_mark}")
    if presses and name:
        made.text.append(name)


def with_values(page: PageCapture, values: dict[int, str]) -> PageCapture:
    """Return the page with some fields filled in."""
    elements = (replace(one, value=values.get(one.index, one.value)) for one in page.elements)
    return replace(page, elements=tuple(elements))
