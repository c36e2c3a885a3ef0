"""Show what an action did to the page: the trees before and after it, line by line, with the changes marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

from app.engine.api.engine_api import PageView, StepView
from app.engine.core.addresses import split_address
from app.engine.core.ax_tree import AxNode, AxTreeLine, Change, parse_line
from app.engine.core.trajectory import Step
from app.errors import SiteloreError

MAX_LINES = 3_000
"""Lines of a page that are sent; the longest real pages have more than a person reads."""

ANOTHER_BELOW = 0.5
"""Share of equal lines below which a page with another path or title is another page."""

_AROUND_TARGET = 500
_NODE_START = re.compile(r"\t*(?:\[([^\]\s]+)\] )?([A-Za-z][\w-]*)(?: |$)")
_BID = re.compile(r"^(\t*)\[[^\]\s]+\] ")

SAME: Change = "same"
CHANGED: Change = "changed"
REMOVED: Change = "removed"
ADDED: Change = "added"

Loader = Callable[[str], bytes]
"""Returns content by digest."""


@dataclass(slots=True)
class _Page:
    """A tree as lines of one node each; ``keys`` are the lines without their element ids."""

    lines: list[str]
    keys: list[str]
    changes: list[Change]


def step_view(run: str, step: Step, after: Step | None, load: Loader) -> StepView:
    """Return the pages of ``step`` and ``after`` with the differences marked on both.

    A line is ``removed`` on the left, ``added`` on the right, or ``changed`` on both if a node of the
    same role replaced it. Element ids and inline text boxes don't count. On another page nothing is marked: its
    address (before ``?``) or its title is another one, and less than half of its lines are the same.
    """
    left, left_missing = _tree(step, load)
    right, right_missing = _tree(after, load) if after is not None else ("", "")
    if after is None:
        right_missing = "The page after this step was not recorded."
    before, behind = _page(left), _page(right)
    changed = _mark(before, behind) if left and right else 0
    alike = min(page.changes.count(SAME) for page in (before, behind))
    alike /= max(len(before.lines), len(behind.lines), 1)
    another = bool(changed and after and _is_elsewhere(step, after) and alike < ANOTHER_BELOW)
    if another:
        for page in (before, behind):
            page.changes[:] = [SAME for _ in page.lines]
    bid = step.action.bid or "" if step.action is not None else ""
    return StepView(
        run=run,
        index=step.index,
        before=_view(step, before, bid, left_missing),
        after=_view(after, behind, "", right_missing),
        changed=changed,
        alike=alike if left and right else 1.0,
        another=another,
    )


def _is_elsewhere(step: Step, after: Step) -> bool:
    """Whether two pages differ in their titles, or in their addresses without query and fragment."""
    return step.title != after.title or split_address(step.url)[:3] != split_address(after.url)[:3]


def _tree(step: Step, load: Loader) -> tuple[str, str]:
    """Return a step's tree, or why there is none."""
    if not step.tree:
        return "", "" if step.screenshot else "No page was recorded at this step."
    try:
        return load(step.tree).decode("utf-8", "replace"), ""
    except SiteloreError as error:
        return "", f"The page's content is missing: {error}"


def page_rows(tree: str) -> list[str]:
    """Return a tree as lines of one node each: the rows of which ``PageView.lines`` shows the first ``MAX_LINES``."""
    lines: list[str] = []
    for line in tree.split("\n"):
        node = _NODE_START.match(line)
        if node is None:
            if lines and line.strip():
                lines[-1] = f"{lines[-1]} {line.strip()}"  # a name that holds a line break
        elif node[2] != "InlineTextBox":
            lines.append(line)
    return lines


def _page(tree: str) -> _Page:
    lines = page_rows(tree)
    keys = [_BID.sub(r"\1", line).replace(", focused", "") for line in lines]
    return _Page(lines, keys, [SAME for _ in lines])


def _mark(before: _Page, after: _Page) -> int:
    count = 0
    gone: list[int] = []
    come: list[int] = []

    def settle() -> int:
        paired = 0
        for old, new in _pairs(before.keys, gone, after.keys, come):
            before.changes[old] = after.changes[new] = CHANGED
            paired += 1
        total = len(gone) + len(come) - paired
        gone.clear()
        come.clear()
        return total

    for what, old, old_end, new, new_end in _opcodes(before.keys, after.keys):
        if what == "equal":
            count += settle()
            continue
        gone.extend(range(old, old_end))
        come.extend(range(new, new_end))
        before.changes[old:old_end] = [REMOVED for _ in range(old, old_end)]
        after.changes[new:new_end] = [ADDED for _ in range(new, new_end)]
    return count + settle()


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """Return edits of lines; equal beginnings and ends are cut off first, since most actions change little."""
    start, end = 0, 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    middle = Indel.opcodes(old[start : len(old) - end], new[start : len(new) - end])
    edits = [
        (
            code.tag,
            code.src_start + start,
            code.src_end + start,
            code.dest_start + start,
            code.dest_end + start,
        )
        for code in middle
    ]
    return [*edits, ("equal", len(old) - end, len(old), len(new) - end, len(new))]


def _pairs(
    old: Sequence[str], gone: Sequence[int], new: Sequence[str], come: Sequence[int]
) -> list[tuple[int, int]]:
    """Pair nodes of the same depth and role that replaced each other, in order."""
    waiting: dict[str, list[int]] = {}
    for at in reversed(come):
        waiting.setdefault(_place(new[at]), []).append(at)
    pairs: list[tuple[int, int]] = []
    for at in gone:
        same = waiting.get(_place(old[at]))
        if same:
            pairs.append((at, same.pop()))
    return pairs


def _place(key: str) -> str:
    return key.partition(" ")[0]


def _view(step: Step | None, page: _Page, bid: str, missing: str) -> PageView:
    if step is None:
        return PageView(url="", title="", missing=missing)
    target = next(
        (at for at, line in enumerate(page.lines) if bid and line.lstrip("\t").startswith(f"[{bid}] ")), -1
    )
    shown = list(range(min(len(page.lines), MAX_LINES)))
    if target >= MAX_LINES:
        around = range(max(target - _AROUND_TARGET, MAX_LINES), min(target + _AROUND_TARGET, len(page.lines)))
        shown[MAX_LINES - len(around) :] = around
    return PageView(
        url=step.url,
        title=step.title,
        screenshot=step.screenshot,
        target_box=step.target_box if bid else None,
        lines=tuple(_line(page.lines[at], page.changes[at], at == target) for at in shown),
        truncated=len(page.lines) - len(shown),
        missing=missing,
    )


def _line(text: str, change: Change, is_target: bool) -> AxTreeLine:
    node = parse_line(text) or AxNode(depth=0, role="StaticText", name=text)
    return AxTreeLine(
        depth=node.depth,
        role=node.role,
        name=node.name,
        bid=node.bid,
        properties=node.properties,
        change=change,
        is_target=is_target,
    )
