"""The page before a step beside the page after it: what is brought into sight, and whether they scroll together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.models.common.page import PageModel, aligned_rows

if TYPE_CHECKING:
    from app.engine.api.engine_api import StepView

NEARLY_EQUAL = 0.8
"""Share of equal lines from which both pages scroll together."""


def scroll_together(view: StepView) -> bool:
    """Whether the pages are nearly equal."""
    return not view.another and view.alike >= NEARLY_EQUAL


def first_sight(view: StepView, before: PageModel, after: PageModel, height: int) -> tuple[int, int]:
    """Return the row of each page to bring into sight; ``height`` are the rows that fit.

    1. On another page: the target; the top of the other one.
    2. Where the right side has a change: the target, else the first change; the first change.  Nearly equal pages whose
       target and first change fit into one sight stand at the same place instead.
    3. Where only the left side has one (lines went away): the target, if the change is in sight of it, else the change;
       the same place on the right.
    4. Without a change: the target, or the top, on both sides.
    """
    if view.another or not after.rowCount() or not before.rowCount():
        return before.focus_row, max(after.first_change, 0)
    beside = aligned_rows(before, after)
    left, change = before.focus_row, after.first_change
    if change >= 0:
        if before.target < 0 and before.first_change < 0:
            left = aligned_rows(after, before)[change]
        together = scroll_together(view) and abs(change - beside[left]) < height
        return left, beside[left] if together else change
    gone = before.first_change
    if before.target >= 0 and gone >= 0 and abs(gone - before.target) >= height:
        left = gone
    return left, beside[left]
