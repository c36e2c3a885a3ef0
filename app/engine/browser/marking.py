"""Select text on a page, as dragging over it does."""

from __future__ import annotations

from app.engine.browser.blame import describe_element
from app.engine.browser.cascade import SCRIPT
from app.engine.browser.grip import ActionOutcome, ActionRefused, ExecutionContext
from app.engine.browser.page_hand import ask_page
from app.engine.browser.snapshot import element_location
from app.engine.command import SelectText
from app.engine.effect import Cause, refused


async def select_text(grip: ExecutionContext, command: SelectText) -> ActionOutcome:
    """Select text within an element, from one character to another."""
    element = grip.element(command.element)
    start, end = int(command.start), int(command.end)
    if start < 0 or (0 <= end <= start):
        raise ActionRefused(refused(Cause.VALUE, f"from {start} to {end} is not a range of text"))
    world, number = element_location(grip.visit, element.index)
    if not await ask_page(world, f"siteloreHand.mark({number}, {start}, {end})"):
        raise ActionRefused(refused(Cause.VALUE, f"{describe_element(element)} has no such range of text"))
    return ActionOutcome(tried=(SCRIPT,), calm=True)
