"""Our roles and names beside those of Chromium's own accessibility tree, element by element."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from app.engine.api.graph_api import ROLES
from app.engine.browser.capture.frames import IsolatedWorld
from app.engine.browser.capture.snapshot import capture, element_location
from app.engine.browser.session import BrowserSession

SAME_ROLE = {
    "DisclosureTriangle": "summary", "PopUpButton": "combobox", "Date": "textbox", "DateTime": "textbox",
    "InputTime": "textbox", "ColorWell": "textbox", "img": "image", "ListBoxOption": "option",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Agreement:
    """``both`` know so many elements; of them ``roles`` and ``names`` agree.  The rest is told in words."""

    both: int
    roles: int
    names: int
    differing: tuple[str, ...]
    missing: tuple[str, ...]


async def agreement(session: BrowserSession) -> Agreement:
    """Compare on the page in front, frames within it left out; options of select boxes are values, not elements."""
    page = await capture(session, picture=False)
    while True:
        ours = {
            await _node(*element_location(session, e.index)): e
            for e in page.elements
            if not e.frame and not e.listens
        }
        answer = await session.send("Accessibility.getFullAXTree")
        before, page = page, await capture(session, picture=False)
        if before.tree == page.tree:  # else a script was at work between the two
            break
    theirs = {
        node["backendDOMNodeId"]: (_role(node), str(node.get("name", {}).get("value", "")))
        for node in answer["nodes"]
        if not node.get("ignored") and "backendDOMNodeId" in node
    }
    differing: list[str] = []
    both = roles = names = 0
    for number, element in ours.items():
        if number not in theirs:
            continue
        role, name = theirs[number]
        both += 1
        roles += role == element.role
        names += _plain(name) == _plain(element.name)
        if role != element.role or _plain(name) != _plain(element.name):
            differing.append(f"{element.role} {element.name!r} is {role} {name!r}")
    missing = [
        f"{role} {name!r}"
        for number, (role, name) in theirs.items()
        if role in ROLES and role != "option" and number not in ours
    ]
    return Agreement(both, roles, names, tuple(differing), tuple(missing))


async def _node(world: IsolatedWorld, number: int) -> int:
    object_id = await world.call(f"sitelore.element({number})", by_value=False)
    described: Any = await world.wire.send("DOM.describeNode", {"objectId": object_id})
    return int(described["node"]["backendNodeId"])


def _role(node: dict[str, Any]) -> str:
    role = str(node.get("role", {}).get("value", ""))
    return SAME_ROLE.get(role, role)


def _plain(name: str) -> str:
    """Without the glyphs of icon fonts, and however a style sheet writes it."""
    return re.sub(r"[\s\ue000-\uf8ff]+", " ", name).strip().lower()
