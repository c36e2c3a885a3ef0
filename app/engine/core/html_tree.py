"""Accessibility trees from HTML, for recorded pages that have no tree of their own, in BrowserGym's text form.

Roles follow the elements and their ``role``, names the order of the standard (``aria-labelledby``, ``aria-label``, the
element's own label, its contents, ``title``). No style sheet is applied: what only a style hides is in the tree. Pure
functions.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urljoin

from app.engine.core.html_nodes import HtmlNode

MAX_NAME = 300
"""Characters of an element's name."""
MAX_TEXT = 2000
"""Characters of one text of a page."""

_ORIGIN = re.compile(r"https?://[^/?#]+")
_ABSOLUTE_PATH = re.compile(r"/(?:[\w~-][\w~/-]*)?(?:[?#]|\Z)")
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_UNSEEN = frozenset(
    {
        "head",
        "script",
        "style",
        "template",
        "noscript",
        "link",
        "meta",
        "base",
        "title",
        "datalist",
        "source",
        "track",
    }
)
_ROLES = {
    "article": "article",
    "aside": "complementary",
    "blockquote": "blockquote",
    "button": "button",
    "code": "code",
    "dd": "definition",
    "details": "Details",
    "dialog": "dialog",
    "dt": "term",
    "fieldset": "group",
    "figure": "figure",
    "footer": "contentinfo",
    "header": "banner",
    "hr": "separator",
    "iframe": "Iframe",
    "frame": "Iframe",
    "label": "LabelText",
    "legend": "Legend",
    "li": "listitem",
    "main": "main",
    "menu": "list",
    "meter": "meter",
    "nav": "navigation",
    "ol": "list",
    "optgroup": "group",
    "option": "option",
    "output": "status",
    "p": "paragraph",
    "progress": "progressbar",
    "search": "search",
    "summary": "DisclosureTriangle",
    "table": "table",
    "tbody": "rowgroup",
    "td": "cell",
    "textarea": "textbox",
    "tfoot": "rowgroup",
    "thead": "rowgroup",
    "tr": "row",
    "ul": "list",
}
_INPUTS = {
    "button": "button",
    "checkbox": "checkbox",
    "color": "ColorWell",
    "date": "Date",
    "datetime-local": "DateTime",
    "file": "button",
    "image": "button",
    "month": "Date",
    "number": "spinbutton",
    "radio": "radio",
    "range": "slider",
    "reset": "button",
    "search": "searchbox",
    "submit": "button",
    "time": "InputTime",
    "week": "Date",
}
_NAMED_BY_CONTENTS = frozenset(
    {
        "button",
        "cell",
        "checkbox",
        "columnheader",
        "DisclosureTriangle",
        "gridcell",
        "heading",
        "link",
        "menuitem",
        "menuitemcheckbox",
        "menuitemradio",
        "option",
        "radio",
        "row",
        "rowheader",
        "switch",
        "tab",
        "tooltip",
        "treeitem",
    }
)
_FIELDS = frozenset(
    {
        "textbox",
        "searchbox",
        "spinbutton",
        "combobox",
        "listbox",
        "slider",
        "Date",
        "DateTime",
        "InputTime",
        "ColorWell",
    }
)
_STATES = tuple((name, f"aria-{name}", f"{name}=") for name in ("checked", "selected", "pressed", "expanded"))
_WITH_STATES = frozenset({"option", "combobox", "listbox", "Details", "switch", "checkbox", "radio"})
"""Roles that have properties even without an attribute."""
_BUTTON_NAMES = {"submit": "Submit", "reset": "Reset", "file": "Choose File", "image": "Submit"}


def page_title(page: HtmlNode) -> str:
    """Return a document's title."""
    found = next((node for node in page.elements() if node.tag == "title"), None)
    return _text(found, MAX_NAME) if found is not None else ""


def tree_of(page: HtmlNode, title: str, address: str = "") -> str:
    """Return the accessibility tree of a document, and give its elements their ids, roles and names.

    Links have their addresses, resolved against ``address``.
    """
    return _TreeWriter(page, address).write(title)


class _TreeWriter:
    def __init__(self, page: HtmlNode, address: str) -> None:
        self._page, self._address = page, address
        self._by_id: dict[str, HtmlNode] = {}
        self._labels: dict[str, HtmlNode] = {}
        self._lines: list[str] = []
        self._count = 0
        for node in page.elements():
            if key := node.attributes.get("id"):
                self._by_id.setdefault(key, node)
            if node.tag == "label" and (key := node.attributes.get("for")):
                self._labels.setdefault(key, node)

    def write(self, title: str) -> str:
        self._lines = [f"RootWebArea {title!r}, focused"]
        self._walk(self._page, 1)
        return "\n".join(self._lines)

    def _walk(self, page: HtmlNode, depth: int) -> None:
        """Write all below an element; a stack of its own, since pages are deeper than Python's."""
        waiting: list[tuple[HtmlNode | str, int, str, HtmlNode | None, str]] = [
            (page, depth, "", None, self._address)
        ]
        while waiting:
            node, depth, above, label, address = waiting.pop()
            if isinstance(node, str):
                text = " ".join(node.split())[:MAX_TEXT]
                if text and text not in above:
                    self._lines.append("\t" * depth + f"StaticText {text!r}")
                continue
            if _is_hidden(node):
                continue
            label = node if node.tag == "label" else label
            if node.tag == "html":
                address = _base(node) or address
            written = self._element(node, depth, label, address)
            children = self._shown_children(node)
            below = depth + 1 if written else depth
            said = node.name if written and node.role in _NAMED_BY_CONTENTS else "" if written else above
            waiting.extend([(child, below, said, label, address) for child in reversed(children)])

    @staticmethod
    def _shown_children(node: HtmlNode) -> list[HtmlNode | str]:
        if node.role in ("textbox", "searchbox", "image") or node.tag in ("svg", "canvas", "video", "audio"):
            return []
        if node.tag == "details" and "open" not in node.attributes:
            return [
                child for child in node.children if isinstance(child, HtmlNode) and child.tag == "summary"
            ]
        return node.children

    def _element(self, node: HtmlNode, depth: int, label: HtmlNode | None, address: str) -> bool:
        """Write an element's line; False for one that has none, so that its children take its place."""
        role = _role(node)
        self._count += 1
        if not role:
            return False
        name = self.name_of(node, role, label)
        if role in ("generic", "image", "region", "form") and not name:
            return False
        node.bid, node.role, node.name = str(self._count), role, name
        line = ", ".join((f"[{node.bid}] {role} {name!r}", *_properties(node, role, address)))
        self._lines.append("\t" * depth + line)
        return True

    def name_of(self, node: HtmlNode, role: str, label: HtmlNode | None = None) -> str:
        """Return the name of an element; ``label`` is the one it stands in."""
        held = node.attributes
        if not held and role in _NAMED_BY_CONTENTS:
            return _text(node, MAX_NAME)
        if ids := held.get("aria-labelledby", "").split():
            texts = [_text(self._by_id[key], MAX_NAME) for key in ids[:10] if key in self._by_id]
            if any(texts):
                return " ".join(filter(None, texts))[:MAX_NAME]
        if said := _clean(held.get("aria-label", "")):
            return said
        if said := self._native_name(node, role, label):
            return said
        if role in _NAMED_BY_CONTENTS and (said := _text(node, MAX_NAME)):
            return said
        return _clean(held.get("title", "")) or (
            _clean(held.get("placeholder", "")) if role in _FIELDS else ""
        )

    def _native_name(self, node: HtmlNode, role: str, label: HtmlNode | None) -> str:
        held = node.attributes
        kind = held.get("type", "").lower()
        if node.tag in ("img", "area") or (node.tag == "input" and kind == "image"):
            return _clean(held.get("alt", ""))
        if node.tag == "input" and role == "button":
            return _clean(held.get("value", "")) or _BUTTON_NAMES.get(kind, "")
        if node.tag in ("input", "select", "textarea", "meter", "progress", "output"):
            labelled = self._labels.get(held.get("id", "\0")) or label
            return _text(labelled, MAX_NAME, leave_out=node) if labelled is not None else ""
        child = {"fieldset": "legend", "table": "caption", "figure": "figcaption", "svg": "title"}.get(
            node.tag
        )
        if child:
            found = next((one for one in node.elements() if one.tag == child), None)
            return _text(found, MAX_NAME) if found is not None else ""
        return _clean(held.get("label", "")) if node.tag == "optgroup" else ""


def _properties(node: HtmlNode, role: str, address: str) -> list[str]:
    held = node.attributes
    found: list[str] = []
    if not held and role not in _WITH_STATES:
        return found
    if role in ("textbox", "searchbox", "spinbutton", "slider") and held.get("value"):
        found.append(f"value={_clean(held['value'])!r}")
    elif role in ("combobox", "listbox") and (chosen := _chosen(node)):
        found.append(f"value={chosen!r}")
    if role in ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"):
        checked = "checked" in held or held.get("aria-checked") == "true"
        found.append(f"checked={'true' if checked else 'false'!r}")
    elif role == "option":
        found.append(f"selected={'selected' in held or held.get('aria-selected') == 'true'}")
    for name, attribute, start in _STATES:
        value = held.get(attribute)
        if value in ("true", "false", "mixed") and not any(one.startswith(start) for one in found):
            found.append(f"{name}={value == 'true'}" if value != "mixed" else f"{name}='mixed'")
    if node.tag == "details":
        found.append(f"expanded={'open' in held}")
    if (popup := held.get("aria-haspopup", "")) not in ("", "false"):
        found.append(f"hasPopup={_clean(popup)!r}")
    found += [name for name in ("disabled", "required") if name in held or held.get(f"aria-{name}") == "true"]
    if role == "link" and (place := _resolved(address, held.get("href", ""))):
        found.append(f"url={place!r}")
    return found


def _role(node: HtmlNode) -> str:
    """Return an element's role; "" for one that is in no tree."""
    held, tag = node.attributes, node.tag
    said = held["role"].split()[:1] if "role" in held else None
    if said and said[0] not in ("presentation", "none") and re.fullmatch(r"[a-z]{3,30}", said[0]):
        return {"img": "image", "generic": "generic"}.get(said[0], said[0])
    if said and said[0] in ("presentation", "none"):
        return ""
    if tag == "a":
        return "link" if "href" in held else "generic"
    if tag == "input":
        kind = held.get("type", "text").lower()
        return "combobox" if "list" in held and kind in ("text", "search") else _INPUTS.get(kind, "textbox")
    if tag == "select":
        size = held.get("size", "")
        return "listbox" if "multiple" in held or (size.isdigit() and size not in ("0", "1")) else "combobox"
    if tag in ("img", "svg", "canvas"):
        return "" if tag == "img" and held.get("alt") == "" else "image"
    if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
        return "heading"
    if tag == "th":
        return "rowheader" if held.get("scope") == "row" else "columnheader"
    if tag in ("section", "form"):
        return "region" if tag == "section" else "form"
    return _ROLES.get(tag, "generic")


def _is_hidden(node: HtmlNode) -> bool:
    held = node.attributes
    if not held:
        return node.tag in _UNSEEN or node.tag == "dialog"
    return (
        node.tag in _UNSEEN
        or "hidden" in held
        or held.get("aria-hidden") == "true"
        or (node.tag == "input" and held.get("type", "").lower() == "hidden")
        or (node.tag == "dialog" and "open" not in held)
        or ("style" in held and _HIDDEN_STYLE.search(held["style"]) is not None)
    )


def _base(document: HtmlNode) -> str:
    """Return the address that a document's links are relative to, where its head says so."""
    head = next((one for one in document.children if isinstance(one, HtmlNode) and one.tag == "head"), None)
    bases = (one for one in head.children if isinstance(one, HtmlNode) and one.tag == "base") if head else ()
    return next((one.attributes["href"] for one in bases if "href" in one.attributes), "")


def _chosen(node: HtmlNode) -> str:
    options = [one for one in node.elements() if one.tag == "option"]
    if not options:
        return _clean(node.attributes.get("value", ""))
    chosen = [one for one in options if "selected" in one.attributes]
    if not chosen and "multiple" not in node.attributes:
        chosen = options[:1]
    return ", ".join(_text(one, MAX_NAME) for one in chosen)[:MAX_NAME]


@lru_cache(maxsize=4096)
def _resolved(address: str, place: str) -> str:
    place = place.strip()
    if not place or place.startswith(("javascript:", "data:")):
        return ""
    if _ABSOLUTE_PATH.match(place) and (origin := _ORIGIN.match(address)):  # urljoin takes ten times as long
        return (origin[0] + place)[:MAX_TEXT]
    try:
        return urljoin(address, place)[:MAX_TEXT]
    except ValueError:
        return ""


def _text(node: HtmlNode, most: int, leave_out: HtmlNode | None = None) -> str:
    """Return the text shown in an element: its texts, the alternatives of its pictures, the names it is given."""
    parts, length = list[str](), 0
    waiting: list[HtmlNode | str] = list(reversed(node.children))
    while waiting and length < most * 2:
        one = waiting.pop()
        if isinstance(one, str):
            parts.append(one)
            length += len(one)
        elif one is not leave_out and not _is_hidden(one) and one.tag not in ("select", "textarea"):
            if said := one.attributes.get("aria-label") or (one.tag == "img" and one.attributes.get("alt")):
                parts.append(f" {said} ")
            else:
                waiting.extend(
                    (" ", *reversed(one.children), " ") if one.tag in _ROLES else reversed(one.children)
                )
    return _clean("".join(parts))[:most]


def _clean(text: str) -> str:
    return " ".join(text.split())[:MAX_NAME] if text else ""


def described(node: HtmlNode) -> tuple[str, str]:
    """Return an element's role and name; of one that is in no tree its tag, and the text in it."""
    role = node.role or _role(node)
    name = node.name or _TreeWriter(node, "").name_of(node, role)
    return (node.tag if role in ("", "generic") else role), name or _text(node, 120)
