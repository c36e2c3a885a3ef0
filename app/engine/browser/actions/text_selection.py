"""Select text on a page, as dragging over it does."""

from __future__ import annotations

from app.engine.browser.actions.click_cascade import SCRIPT
from app.engine.browser.actions.execution_context import ActionOutcome, ActionRefused, ExecutionContext
from app.engine.browser.actions.failure_reasons import describe_element
from app.engine.browser.capture.page_monitor import ask_page
from app.engine.browser.capture.snapshot import element_location
from app.engine.core.action_result import Cause, refused
from app.engine.core.actions.types import SelectText


async def select_text(context: ExecutionContext, action: SelectText) -> ActionOutcome:
    """Select text within an element, from one character to another."""
    element = context.element(action.element)
    start, end = int(action.start), int(action.end)
    if start < 0 or (0 <= end <= start):
        raise ActionRefused(refused(Cause.VALUE, f"from {start} to {end} is not a range of text"))
    world, number = element_location(context.session, element.index)
    if not await ask_page(world, f"siteloreHand.mark({number}, {start}, {end})"):
        raise ActionRefused(refused(Cause.VALUE, f"{describe_element(element)} has no such range of text"))
    return ActionOutcome(tried=(SCRIPT,), calm=True)
