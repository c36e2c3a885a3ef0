"""An agent's text observation: the accessibility tree, parsed into nodes.  Pure data.

A tree is BrowserGym's flattened form: one node a line, tabs for depth, ``[bid] role 'name', property, key='value'``.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

Change = Literal["same", "added", "removed", "changed"]

_LINE = re.compile(r"^(\t*)(?:\[([^\]\s]+)\] )?([A-Za-z][\w-]*)(?: (.*))?$", re.DOTALL)
_QUOTED = re.compile(r"'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5})")
_BID_INSIDE = re.compile(r"\t\[[^\]\s]+\] ")
_BID_AT_START = re.compile(r"\n\[[^\]\s]+\] ")


@dataclass(frozen=True, slots=True, kw_only=True)
class AxNode:
    """One line of an accessibility tree.

    ``properties`` is the rest of the line after the name, as written (``value='x', focused``).
    """

    depth: int
    role: str
    name: str
    bid: str = ""
    properties: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxTreeLine:
    """A node as displayed: with its change against the other page and whether it was the target."""

    depth: int
    role: str
    name: str
    bid: str
    properties: str
    change: Change = "same"
    is_target: bool = False


def parse_line(line: str) -> AxNode | None:
    """Parse one line; ``None`` if it is no node (a name with a line break continues over several lines)."""
    match = _LINE.match(line)
    if match is None:
        return None
    tabs, bid, role, rest = match.groups()
    name, properties = _split_name(rest or "")
    return AxNode(depth=len(tabs), role=role, name=name, bid=bid or "", properties=properties)


def parse_tree(text: str) -> list[AxNode]:
    """Parse every node of a tree, in order; a line that is no node is added to the name before it."""
    nodes: list[AxNode] = []
    for line in text.split("\n"):
        node = parse_line(line)
        if node is not None:
            nodes.append(node)
        elif nodes and line.strip():
            last = nodes[-1]
            nodes[-1] = AxNode(
                depth=last.depth,
                role=last.role,
                name=f"{last.name} {line.strip()}".strip(),
                bid=last.bid,
                properties=last.properties,
            )
    return nodes


def find_node(text: str, bid: str) -> AxNode | None:
    """Return the node with this id without parsing the rest of the tree."""
    at = text.find(f"[{bid}] ")
    while at != -1:
        start = text.rfind("\n", 0, at) + 1
        if not text[start:at].strip("\t"):
            end = text.find("\n", at)
            return parse_line(text[start : end if end != -1 else len(text)])
        at = text.find(f"[{bid}] ", at + 1)
    return None


def content_key(text: str) -> str:
    """16 hex digits that identify a page's visible content: the tree without its volatile element ids and focus."""
    # Two plain replacements: one pattern with a group takes three times as long, and every imported page passes here.
    plain = _BID_AT_START.sub("\n", _BID_INSIDE.sub("\t", f"\n{text}"))[1:].replace(", focused", "")
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _plain(name: str) -> str:
    """The name without ``repr``'s escapes; icon-font glyphs and invisible characters are removed."""
    if "\\" not in name:
        return name

    def character(match: re.Match[str]) -> str:
        shown = chr(int(match.group(1)[1:], 16))
        return shown if shown.isprintable() else " " if shown.isspace() else ""

    return _ESCAPE.sub(character, name).strip()


def _split_name(rest: str) -> tuple[str, str]:
    """Split ``'name', prop, k='v'`` into name and properties; quotes are Python's ``repr``."""
    if not rest or rest[0] not in "'\"":
        return "", rest.lstrip(", ")
    found = _QUOTED.match(rest)
    if found is None:
        return rest[1:], ""
    name = found[0][1:-1].replace(f"\\{rest[0]}", rest[0]).replace("\\n", " ")
    return _plain(name), rest[found.end() :].lstrip(", ")
