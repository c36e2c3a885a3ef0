"""Select text on a page, as dragging over it does."""

from __future__ import annotations

from app.engine.browser.blame import named
from app.engine.browser.cascade import SCRIPT
from app.engine.browser.grip import Done, Grip, Refused
from app.engine.browser.page_hand import ask
from app.engine.browser.snapshot import place_of
from app.engine.command import SelectText
from app.engine.effect import Cause, refused


async def select_text(grip: Grip, command: SelectText) -> Done:
    """Select text within an element, from one character to another."""
    element = grip.element(command.element)
    start, end = int(command.start), int(command.end)
    if start < 0 or (0 <= end <= start):
        raise Refused(refused(Cause.VALUE, f"from {start} to {end} is not a range of text"))
    world, number = place_of(grip.visit, element.index)
    if not await ask(world, f"siteloreHand.mark({number}, {start}, {end})"):
        raise Refused(refused(Cause.VALUE, f"{named(element)} has no such range of text"))
    return Done(tried=(SCRIPT,), calm=True)
