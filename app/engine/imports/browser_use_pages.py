"""Pages of browser-use: the text that its model was shown, as an accessibility tree, and the task in it.

An element is a line such as ``*[12]<a role=button />``, its text a line of its own below it.
"""

from __future__ import annotations

import re

from app.engine.imports.browser_use_actions import element_name, element_role

_TASK = re.compile(r"<user_request>(.*?)</user_request>", re.DOTALL)
_STATE = re.compile(r"<browser_state>(.*?)(?:</browser_state>|\Z)", re.DOTALL)
_ELEMENT = re.compile(r"^(\t*)([^<\t]{0,60})<([A-Za-z][\w-]{0,40})(?=[\s/>])")
_INDEX = re.compile(r"\[(\d{1,9})\]$")
_ATTRIBUTE = re.compile(r"([\w-]{1,60})=('[^']*'|\"[^\"]*\"|[^=]*)(?=\s|$)")
_ABOUT = re.compile(
    r"^(?:<|Current tab:|Available tabs:|Tab \w+:|Interactive elements|\[Start of page\]|\[End of page\]|empty page$"
    r"|Open Shadow$|Closed Shadow$|Shadow End$|Recent browser events:|\.\.\. )"
)
_MAX_LINES = 20_000
_MAX_LINE = 10_000


def task_in(message: str) -> str:
    """Return the task as the model was told it, "" where the message has none."""
    found = _TASK.search(message)
    return found[1].strip() if found is not None else ""


def tree_in(message: str) -> str:
    """Return the page that the model was shown as an accessibility tree, "" where the message has none."""
    found = _STATE.search(message)
    if found is None:
        return ""
    lines = found[1].strip("\n").split("\n")[:_MAX_LINES]
    start = next((at for at, line in enumerate(lines) if line.startswith("Interactive elements")), -1)
    rows = [row for line in lines[start + 1 :] if (row := _row(line)) is not None]
    return "\n".join(_node(rows, at) for at in range(len(rows)) if not _is_name(rows, at))


_Row = tuple[int, str, str, dict[str, str], str]
"""Depth, id, tag ("" for a text), attributes, and text."""


def _row(line: str) -> _Row | None:
    bare = line.strip()
    if not bare:
        return None
    element = _ELEMENT.match(line) if len(line) < _MAX_LINE else None
    index = _INDEX.search(element[2]) if element is not None else None
    if element is not None and (index is not None or element[2].strip("*") == "" or "|" in element[2]):
        if index is None and bare.startswith("<") and not bare.rstrip().endswith("/>"):
            return None  # a section of the message, no element
        body, _, _ = line[element.end() :].rpartition("/>")
        given, _, shown = (body or line[element.end() :]).partition(">")
        read = {one[1]: one[2].strip("'\"") for one in _ATTRIBUTE.finditer(given.strip())}
        return len(element[1]), index[1] if index else "", element[3].lower(), read, shown.strip()
    if _ABOUT.match(bare):
        return None
    return len(line) - len(line.lstrip("\t")), "", "", {}, bare


def _is_name(rows: list[_Row], at: int) -> bool:
    """Whether a row is the text of the element right before it, which has it as its name."""
    if rows[at][2] or at == 0:
        return False
    owner = rows[at - 1]
    return bool(owner[2] and owner[1]) and not owner[4] and rows[at][0] > owner[0]


def _node(rows: list[_Row], at: int) -> str:
    depth, bid, tag, attributes, shown = rows[at]
    indent = "\t" * min(depth, 100)
    if not tag:
        return f"{indent}StaticText {shown!r}"
    if not shown and at + 1 < len(rows) and _is_name(rows, at + 1):
        shown = rows[at + 1][4]
    role = element_role(tag, attributes)
    name = element_name(attributes, shown)
    value = attributes.get("value", "")
    of_field = (
        f", value={value!r}" if value and tag in ("input", "textarea", "select") and value != name else ""
    )
    states = "".join(
        f", {state}={attributes[key]!r}"
        for key, state in (("checked", "checked"), ("aria-expanded", "expanded"), ("expanded", "expanded"))
        if attributes.get(key) in ("true", "false")
    )
    return f"{indent}{f'[{bid}] ' if bid else ''}{role} {name!r}{of_field}{states}"
