"""The action that takes away what lies over a control: a banner, a notice, an open picker.  Pure."""

from __future__ import annotations

from app.engine.agent.procedures.names import plain
from app.engine.core.actions.types import Action, Click, Press
from app.engine.core.page_state import PageCapture

CLOSING_NAMES = frozenset({"close", "x", "×", "✕", "✖", "dismiss", "no thanks", "not now", "got it", "hide"})
"""Names of controls that close what they stand in, and say no more than that."""
CLOSING_ROLES = frozenset({"button", "link", "generic", "image"})


def closing_action(page: PageCapture) -> Action:
    """Return a click on a control that only closes something, one in a dialog first; without one the Escape key."""
    closing = [
        one
        for one in page.elements
        if one.visible and one.role in CLOSING_ROLES and plain(one.name) in CLOSING_NAMES
    ]
    closing.sort(key=lambda one: not any(mark.startswith("dialog") for mark in one.landmarks))
    return Click(closing[0].index, label=closing[0].name) if closing else Press("Escape")
