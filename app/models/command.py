"""What a command is, and in which places it works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One thing to do.

    Attributes:
        keys: defaults in Qt's portable text, the one to show first; ``G, R`` is a chord.
        place: where it works: ``everywhere``, ``review``, ``composer`` (inside the review), ``map``,
            ``live`` or ``knowledge``.
        menu: where it stands in the menus (``View/Text size``); "" is palette only.
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


REACH = {
    "everywhere": ("everywhere",),
    "review": ("review", "everywhere"),
    "composer": ("composer", "review", "everywhere"),
    "map": ("map", "everywhere"),
    "live": ("live", "everywhere"),
    "knowledge": ("knowledge", "everywhere"),
}
"""The places whose commands work in a place, the narrowest first."""

PLACE_TITLES = {
    "everywhere": "Everywhere",
    "review": "Review",
    "composer": "Writing a tip",
    "map": "Map",
    "live": "Live",
    "knowledge": "Knowledge",
}
