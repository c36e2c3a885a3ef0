"""Checks that the marks drawn on a screenshot and the page's text agree."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.agent.vision.set_of_marks import ElementMark, visible_part
from app.engine.core.ax_tree import parse_tree
from app.engine.core.page_state import PageCapture


def disagreements(page: PageCapture, marks: Sequence[ElementMark]) -> tuple[str, ...]:
    """Return where marks and the page's text disagree, a sentence each.

    Every mark's number must be one element of the capture, stand once in the tree under the same role, and its box lie
    on that element and within the picture.
    """
    said: list[str] = []
    lines: dict[str, list[str]] = {}
    for node in parse_tree(page.tree):
        if node.bid:
            lines.setdefault(node.bid, []).append(node.role)
    numbers: set[int] = set()
    for mark in marks:
        if mark.number in numbers:
            said.append(f"{mark.number} is marked twice")
        numbers.add(mark.number)
        said.extend(_differs(page, mark, lines.get(str(mark.number), [])))
    return tuple(said)


def _differs(page: PageCapture, mark: ElementMark, roles: list[str]) -> list[str]:
    if not 0 <= mark.number < len(page.elements):
        return [f"{mark.number} is no element of the page"]
    element = page.elements[mark.number]
    said: list[str] = []
    if element.index != mark.number:
        said.append(f"element {mark.number} calls itself {element.index}")
    if len(roles) != 1:
        said.append(f"{mark.number} stands {len(roles)} times in the tree")
    elif roles[0] != element.role:
        said.append(f"{mark.number} is a {element.role}, in the tree a {roles[0]}")
    if visible_part(element, page.viewport) != mark.box:
        said.append(f"the box of {mark.number} does not lie on its element")
    left, top, width, height = mark.tag
    if left < 0 or top < 0 or left + width > page.viewport[0] or top + height > page.viewport[1]:
        said.append(f"the number {mark.number} lies outside of the picture")
    return said
