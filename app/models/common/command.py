"""Menu commands and the places in which they work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the window.

    Attributes:
        keys: default shortcuts in Qt's portable text, the one to show first; ``G, R`` is a chord.
        place: where it works: ``everywhere``, ``review``, ``composer`` (inside Review), ``map``,
            ``live`` or ``knowledge``.
        menu: path in the menu bar (``View/Text size``); "" is palette only.
        icon: a name of the Material Design set.
        in_text: its plain keys work in a text field too (Esc).
    """

    id: str
    title: str
    keys: tuple[str, ...] = ()
    place: str = "everywhere"
    menu: str = ""
    icon: str = ""
    in_text: bool = False


ACTIVE_PLACES = {
    "everywhere": ("everywhere",),
    "review": ("review", "everywhere"),
    "composer": ("composer", "review", "everywhere"),
    "map": ("map", "everywhere"),
    "live": ("live", "everywhere"),
    "knowledge": ("knowledge", "everywhere"),
}
"""For each place, the places whose commands work in it, the narrowest first."""

PLACE_TITLES = {
    "everywhere": "Everywhere",
    "review": "Review",
    "composer": "Writing a tip",
    "map": "Map",
    "live": "Live",
    "knowledge": "Knowledge",
}
