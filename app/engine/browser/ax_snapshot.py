"""A page as an agent sees it: accessibility tree, picture, HTML.  Looking changes nothing on the page.

Everything comes over the DevTools protocol: an element's id (bid) is its backend node id, so nothing has to be written
into the page to find it again.  Frames within the page are not looked into.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error

from app.engine.browser.session import Visit
from app.engine.trajectory import Tab

AxNode = dict[str, Any]
Box = tuple[float, float, float, float]

NOISE = frozenset({"generic", "none", "InlineTextBox", "LineBreak", "ListMarker"})
"""Roles without meaning of their own; a node of one is left out, and its children stand in its place."""
ONLY_WHEN_TRUE = frozenset({"focused", "required", "atomic", "busy", "multiline", "readonly", "selected"})
SILENT = frozenset(
    {"focusable", "editable", "settable", "level", "url", "labelledby", "describedby", "controls"}
    | {"invalid", "live", "relevant", "hiddenRoot", "modal", "root", "owns", "multiselectable"}
)
"""Properties that say little and would lengthen every line."""
PICTURE_QUALITY = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One look at the tab in front.  ``picture`` is a JPEG of the viewport, one pixel for each CSS pixel, or empty."""

    url: str
    title: str
    tabs: tuple[Tab, ...]
    active_tab: int
    tree: str
    html: str
    picture: bytes = b""


async def capture(visit: Visit, *, picture: bool = True) -> Snapshot:
    """Look at the page as it is now.

    Raises:
        playwright.async_api.Error: the page is gone, or is being replaced by another one at this moment.
    """
    page = visit.page
    answer = await visit.send("Accessibility.getFullAXTree")
    tabs = [Tab(url=tab.url, title=await tab.title()) for tab in visit.pages]
    active = visit.pages.index(page)
    image = b""
    if picture:
        shot = await visit.send("Page.captureScreenshot", format="jpeg", quality=PICTURE_QUALITY)
        image = base64.b64decode(shot["data"])
    return Snapshot(
        url=page.url,
        title=tabs[active].title,
        tabs=tuple(tabs),
        active_tab=active,
        tree=flatten(answer["nodes"]),
        html=await page.content(),
        picture=image,
    )


async def box_of(visit: Visit, bid: str) -> Box | None:
    """(x, y, width, height) of an element in the picture's pixels; ``None`` if it has no box or lies outside."""
    size = visit.page.viewport_size
    if size is None or not bid.isdecimal():
        return None
    try:
        answer = await visit.send("DOM.getBoxModel", backendNodeId=int(bid))
    except Error:
        return None
    corners: list[float] = answer["model"]["border"]
    left, right = max(0.0, min(corners[::2])), min(float(size["width"]), max(corners[::2]))
    top, bottom = max(0.0, min(corners[1::2])), min(float(size["height"]), max(corners[1::2]))
    if right - left < 1 or bottom - top < 1:
        return None
    return (round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1))


def flatten(nodes: list[AxNode]) -> str:
    """DevTools' nodes as text, in the form ``app.engine.observation`` reads."""
    by_id = {node["nodeId"]: node for node in nodes}
    lines: list[str] = []

    # A stack instead of recursion: a page may be nested deeper than Python's limit.
    waiting: list[tuple[AxNode, int, str]] = [
        (node, 0, "") for node in reversed(nodes) if node.get("parentId") not in by_id
    ]
    while waiting:
        node, depth, parent_name = waiting.pop()
        name = _value(node, "name")
        shown = _is_shown(node, name, parent_name)
        if shown:
            lines.append("\t" * depth + _line(node, name))
        below = depth + 1 if shown else depth
        around = name if shown else parent_name
        children = [by_id[child] for child in node.get("childIds", ()) if child in by_id]
        waiting.extend((child, below, around) for child in reversed(children))
    return "\n".join(lines)


def _is_shown(node: AxNode, name: str, parent_name: str) -> bool:
    role = _value(node, "role")
    if node.get("ignored") or not role or role in NOISE:
        return False
    if role == "StaticText":  # the words of a link or a button stand in its name already
        return bool(name.strip()) and name.strip() != parent_name.strip()
    return True


def _line(node: AxNode, name: str) -> str:
    role = _value(node, "role")
    if role == "StaticText":
        return f"StaticText {name!r}"
    bid = node.get("backendDOMNodeId")
    mark = f"[{bid}] " if bid is not None and role != "RootWebArea" else ""
    value = _value(node, "value")
    properties = [f"value={value!r}"] if value else []
    for entry in node.get("properties", ()):
        key, setting = entry["name"], entry["value"].get("value")
        if key in SILENT or setting in (None, ""):
            continue
        if key in ONLY_WHEN_TRUE:
            properties += [key] if setting else []
        else:
            properties.append(f"{key}={setting!r}")
    return ", ".join([f"{mark}{role} {name!r}", *properties])


def _value(node: AxNode, key: str) -> str:
    value = node.get(key, {}).get("value", "")
    return value if isinstance(value, str) else str(value)
