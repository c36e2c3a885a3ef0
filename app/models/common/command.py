"""Menu commands and the places in which they work."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the window.

    Attributes:
        keys: default shortcuts in Qt's portable text, the one to show first; ``G, R`` is a chord.
        place: where it works: ``everywhere``, ``review``, ``composer`` and ``compare`` (inside Review), ``map``,
            ``live``, ``knowledge``, ``merge`` (inside Knowledge) or ``evaluate``.
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


def commands(place: str, menu: str, *rows: tuple[str, str, str, str]) -> tuple[Command, ...]:
    """Return commands of one menu: id, title, keys separated by ``|``, icon."""
    return tuple(
        Command(name, title, tuple(keys.split("|")) if keys else (), place, menu, icon)
        for name, title, keys, icon in rows
    )


@dataclass(frozen=True, slots=True)
class Perspective:
    """A perspective of the window: its button in the rail, its menu and its ``go`` command follow from it.

    Attributes:
        place: its name in the command table.
        keys, icon: of its ``go`` command.
        inner: titles of places inside it, which have commands of their own.
        apart: those of them in which the perspective's own commands don't work.
    """

    place: str
    title: str
    keys: tuple[str, ...]
    icon: str
    inner: dict[str, str] = field(default_factory=dict[str, str])
    apart: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """Its place and those inside it."""
        return (self.place, *self.inner)


PERSPECTIVES = (
    Perspective(
        "review",
        "Review",
        ("Ctrl+1", "G, R"),
        "clipboard-search-outline",
        {"composer": "Writing a tip", "compare": "Side by side"},
    ),
    Perspective("map", "Map", ("Ctrl+2", "G, M"), "map-outline"),
    Perspective("live", "Live", ("Ctrl+3", "G, L"), "television-play"),
    Perspective(
        "knowledge",
        "Knowledge",
        ("Ctrl+4", "G, K"),
        "book-open-variant",
        {"merge": "Merging a knowledge base"},
        apart=("merge",),
    ),
    Perspective("evaluate", "Evaluate", ("Ctrl+5", "G, E"), "scale-balance"),
)
"""All perspectives, in the rail's order."""

EVERYWHERE = "everywhere"

ACTIVE_PLACES: dict[str, tuple[str, ...]] = {EVERYWHERE: (EVERYWHERE,)} | {
    place: (place, EVERYWHERE)
    if place == view.place or place in view.apart
    else (place, view.place, EVERYWHERE)
    for view in PERSPECTIVES
    for place in view.places
}
"""For each place, the places whose commands work in it, the narrowest first."""

OWNERS = {place: view.place for view in PERSPECTIVES for place in view.places}
"""The perspective of each place."""

PLACE_TITLES: dict[str, str] = {EVERYWHERE: "Everywhere"} | {
    place: title for view in PERSPECTIVES for place, title in {view.place: view.title, **view.inner}.items()
}
