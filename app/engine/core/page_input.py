"""A person's mouse and keyboard input on a page, as it travels from the window to the browser. Pure data.

Points are CSS pixels of the viewport. Modifiers are DevTools' bits: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class InputKind(StrEnum):
    """The kind of an input event."""

    MOVE = "move"
    PRESS = "press"
    RELEASE = "release"
    WHEEL = "wheel"
    KEY_DOWN = "key down"
    KEY_UP = "key up"
    TEXT = "text"  # pasted, or composed by an input method


class MouseButton(StrEnum):
    """A mouse button."""

    NONE = "none"
    LEFT = "left"
    MIDDLE = "middle"
    RIGHT = "right"


class NavigationKind(StrEnum):
    """A navigation requested in the window."""

    OPEN = "open"  # an address
    START = "start page"  # where the run began
    BACK = "back"
    FORWARD = "forward"
    RELOAD = "reload"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageInput:
    """One input event.

    Attributes:
        x, y: position of the mouse. dx, dy: how far the wheel turned, CSS pixels.
        clicks: 2 for a double click.
        key, code: as DOM events name them (``"Enter"``, ``"KeyA"``); ``text`` what a key or a paste inserts.
        at: seconds of the sender's clock; returned with the frame that shows the result, if one does.
    """

    kind: InputKind
    x: float = 0.0
    y: float = 0.0
    dx: float = 0.0
    dy: float = 0.0
    button: MouseButton = MouseButton.NONE
    clicks: int = 1
    modifiers: int = 0
    key: str = ""
    code: str = ""
    text: str = ""
    at: float = 0.0
