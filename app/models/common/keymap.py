"""Shortcuts by command and place: the defaults of the command table, overridden by the user's changes.

A key is written as Qt's portable text: ``Ctrl+K``, ``?``, and ``G, R`` for "press G, then R".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from PySide6.QtGui import QKeySequence

from app.models.common.command import ACTIVE_PLACES, Command

_HUMAN = {
    "Return": "Enter",
    "Ins": "Insert",
    "Del": "Delete",
    "PgUp": "Page Up",
    "PgDown": "Page Down",
    "Esc": "Esc",
}


def normalized_key(key: str) -> str:
    """Return the canonical spelling of a key (``ctrl+k`` -> ``Ctrl+K``); "" when it is not a key."""
    return QKeySequence(key, QKeySequence.SequenceFormat.PortableText).toString(
        QKeySequence.SequenceFormat.PortableText
    )


def readable_key(key: str) -> str:
    """Return a key in readable form: ``G then R``, ``Ctrl+Enter``; on a Mac with the Mac's signs."""
    parts = [
        QKeySequence(part, QKeySequence.SequenceFormat.PortableText).toString(
            QKeySequence.SequenceFormat.NativeText
        )
        for part in normalized_key(key).split(", ")
    ]
    named = [part.rsplit("+", 1) for part in parts]
    spoken = ["+".join([*words[:-1], _HUMAN.get(words[-1], words[-1])]) for words in named]
    return " then ".join(spoken)


def is_plain(key: str) -> bool:
    """Whether a text field would take this key as text: no Ctrl, Alt or Meta in it, and no function key."""
    first = normalized_key(key).split(", ")[0]
    *modifiers, last = first.rsplit("+", 1) if len(first) > 1 else [first]
    return not any(name in "+".join(modifiers) for name in ("Ctrl", "Alt", "Meta")) and len(last) == 1


def keys_overlap(one: str, other: str) -> bool:
    """Whether two keys collide: they are the same, or one is the beginning of the other's chord."""
    a, b = one.split(", "), other.split(", ")
    short = min(len(a), len(b))
    return a[:short] == b[:short]


class Keymap:
    """Shortcuts by command id; ``changes`` holds the differences from the defaults and is saved."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._commands = {command.id: command for command in commands}
        self._changes: dict[str, tuple[str, ...]] = {}

    @property
    def changes(self) -> dict[str, list[str]]:
        """The user's own shortcuts, ready for JSON."""
        return {command: list(keys) for command, keys in self._changes.items()}

    def load(self, changes: Mapping[str, Any]) -> None:
        """Take saved changes; commands and keys that no longer exist are left out."""
        self._changes = {}
        for command, keys in changes.items():
            if command in self._commands and isinstance(keys, list):
                read = [normalized_key(str(key)) for key in cast("list[Any]", keys)]
                self._changes[command] = tuple(key for key in read if key)

    def keys(self, command: str) -> tuple[str, ...]:
        """The shortcuts in force, the first one being the one that is shown."""
        return self._changes.get(command, self._commands[command].keys)

    def is_changed(self, command: str) -> bool:
        return command in self._changes

    def conflicts(self, command: str, keys: Iterable[str]) -> list[str]:
        """Return the ids of the commands that these keys would collide with, where ``command`` can be used.

        A narrower place may take a wider place's key (Esc in the composer before Esc in Review); two commands of one
        place, or one that works everywhere, may not.
        """
        mine = self._commands[command]
        wanted = [normalized_key(key) for key in keys]
        return [
            other.id
            for other in self._commands.values()
            if other.id != command
            and share_place(mine.place, other.place)
            and any(keys_overlap(a, b) for a in wanted for b in self.keys(other.id))
        ]

    def remap(self, command: str, keys: Iterable[str]) -> list[str]:
        """Give a command these keys; returns the ids in conflict, and then nothing was changed."""
        wanted = tuple(key for key in map(normalized_key, keys) if key)
        found = self.conflicts(command, wanted)
        if not found:
            self._changes[command] = wanted
            if wanted == self._commands[command].keys:
                del self._changes[command]
        return found

    def reset(self, command: str = "") -> None:
        if command:
            self._changes.pop(command, None)
        else:
            self._changes.clear()

    def in_force(self, place: str) -> dict[str, tuple[str, ...]]:
        """Map command ids to the keys that work in ``place``; a narrower place's key hides a wider one's."""
        taken: list[str] = []
        active: dict[str, tuple[str, ...]] = {}
        for wider in ACTIVE_PLACES[place]:
            here = [command for command in self._commands.values() if command.place == wider]
            for command in here:
                active[command.id] = tuple(
                    key
                    for key in self.keys(command.id)
                    if not any(keys_overlap(key, other) for other in taken)
                )
            taken.extend(key for command in here for key in active[command.id])
        return active


def share_place(one: str, other: str) -> bool:
    """Whether two places must not share a key."""
    return one == other or "everywhere" in (one, other)
