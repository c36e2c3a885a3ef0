"""Elements read from an accessibility tree, for pages recorded by other systems that can't be captured again."""

from __future__ import annotations

import re
from collections import Counter

from app.engine.core.ax_tree import AxNode, parse_tree
from app.engine.core.page_state import Element

_ROLES = frozenset(
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
    | {"checkbox", "radio", "switch", "treeitem", "searchbox", "textbox", "slider", "spinbutton"}
)
_SAME = {
    "DisclosureTriangle": "summary",
    "MenuListPopup": "listbox",
    "MenuListOption": "option",
    "PopUpButton": "button",
}
_LANDMARKS = frozenset(
    {
        "banner",
        "navigation",
        "main",
        "complementary",
        "contentinfo",
        "search",
        "form",
        "region",
        "dialog",
        "alertdialog",
    }
    | {"menu", "menubar", "tablist", "toolbar"}
)
_LIVE = frozenset({"alert", "status", "log", "timer", "marquee"})
_ROWS = frozenset({"listitem", "row", "article", "treeitem", "gridcell", "LayoutTableRow"})
_IN_CHROME_TOO = frozenset({"option", "menuitem"})
_MANY = 3
_PROPERTY = re.compile(r"(\w+)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^,\s]+)")
_TRUE = frozenset({"true", "True", "mixed"})


def elements_of_tree(tree: str) -> tuple[Element, ...]:
    """The interactive elements of a tree, in order; addresses are known only if the tree has them.

    Args:
        tree: in the form ``app.engine.core.ax_tree`` reads.
    """
    return tuple(element for element, _ in named_elements(parse_tree(tree)))


def named_elements(nodes: list[AxNode]) -> list[tuple[Element, str]]:
    """The elements among the nodes of a tree, each with its id in the tree ("" without one)."""
    rows = list_rows(nodes)
    found: list[tuple[Element, str]] = []
    around: list[int] = []
    for at, node in enumerate(nodes):
        while around and nodes[around[-1]].depth >= node.depth:
            around.pop()
        role = aria_role(node.role)
        if role in _ROLES or role == "summary":
            parents = [nodes[above] for above in around]
            element = _element(node, role, parents, [rows[above] for above in around], len(found))
            found.append((element, node.bid))
        around.append(at)
    return found


def _element(
    node: AxNode, role: str, above: list[AxNode], rows: list[tuple[str, int]], index: int
) -> Element:
    properties = dict(_PROPERTY.findall(node.properties))
    words = {word.strip() for word in node.properties.split(",") if "=" not in word}
    row = next((row for row in reversed(rows) if row[0]), ("", 0))
    live = any(parent.role in _LIVE or "live=" in parent.properties for parent in above)
    return Element(
        index=index,
        role=role,
        name=" ".join(node.name.split()),
        states=_states(properties, words),
        landmarks=tuple(
            f"{parent.role}:{parent.name}" if parent.name else parent.role
            for parent in above
            if parent.role in _LANDMARKS
        ),
        href=properties.get("url", "").strip("'\""),
        value=properties.get("value", "").strip("'\""),
        repeat=row[0],
        repeat_index=row[1],
        in_live=live,
        visible="hidden" not in words,
    )


def _states(properties: dict[str, str], words: set[str]) -> tuple[str, ...]:
    states = {word for word in ("focused", "required", "disabled", "selected", "readonly") if word in words}
    for word in ("checked", "selected", "pressed", "disabled", "required", "readonly"):
        if properties.get(word, "").strip("'\"") in _TRUE:
            states.add(word)
    if "expanded" in properties:
        states.add("expanded" if properties["expanded"] in _TRUE else "collapsed")
    if "hasPopup" in properties:
        states.add("haspopup")
    return tuple(sorted(states))


def aria_role(role: str) -> str:
    """The role's name in ARIA; trees of other systems use Chromium's own for some."""
    return _SAME.get(role, role)


def list_rows(nodes: list[AxNode]) -> list[tuple[str, int]]:
    """For each node that is a row of a list of three or more: the list's name and the row's number."""
    parents: list[int] = []
    parent_of: list[int] = []
    for at, node in enumerate(nodes):
        while parents and nodes[parents[-1]].depth >= node.depth:
            parents.pop()
        parent_of.append(parents[-1] if parents else -1)
        parents.append(at)
    siblings = Counter(
        (parent, node.role) for node, parent in zip(nodes, parent_of, strict=True) if _is_row(node)
    )
    seen: Counter[tuple[int, str]] = Counter()
    rows: list[tuple[str, int]] = []
    for node, parent in zip(nodes, parent_of, strict=True):
        key = (parent, node.role)
        if not _is_row(node) or siblings[key] < _MANY:
            rows.append(("", 0))
            continue
        above = nodes[parent].role if parent >= 0 else ""
        rows.append((f"{above}>{node.role}", seen[key]))
        seen[key] += 1
    return rows


def _is_row(node: AxNode) -> bool:
    return node.role in _ROWS or node.role in _IN_CHROME_TOO
