"""Notes in a prompt, and notes that are read back. Pure functions.

Rules:
1. A prompt has room for a number of tokens of notes, not for a number of notes.
2. Whole notes come first: the newest, then older ones without a gap, within three quarters of that room. A single note
   that is longer is shown whole all the same: a note has an upper length.
3. What room is left goes to one line for each older note, the newest of them first: number, step, first words.
4. Notes without a line are counted. None is ever lost: all are read back by number or by words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from app.engine.agent.eviction.retention import count_text
from app.engine.core.ledger import Note
from app.engine.core.text import one_line

NOTE_TOKENS = 4_000
"""Room for notes in a prompt."""
READ_CHARACTERS = 16_000
"""Characters of notes that are read back at once; at least one note is."""

_WHOLE_SHARE = 0.75
_FIRST_WORDS = 60
_HEADING_TOKENS = 16
"""Tokens of the heading and of the line that counts the notes without one."""
_TO, _BETWEEN = re.compile(r"\s*(?:-|–|\bto\b)\s*"), re.compile(r"[\s,;]+|\band\b")
_RANGE = re.compile(r"#?(\d{1,9})(?:-#?(\d{1,9}))?")


def render_notes(notes: Sequence[Note], room: int = NOTE_TOKENS) -> str:
    """Render notes for a prompt in at most ``room`` tokens (rules 1-4), in their order; "" without any."""
    if not notes:
        return ""
    first, used = len(notes), _HEADING_TOKENS
    while first and (first == len(notes) or used + _cost(notes[first - 1]) <= room * _WHOLE_SHARE):
        first -= 1
        used += _cost(notes[first])
    begun = first
    while begun and used + count_text(f"{_beginning(notes[begun - 1])}\n") <= room:
        begun -= 1
        used += count_text(f"{_beginning(notes[begun])}\n")
    unseen = f"({_range(notes[:begun])})" if begun else ""
    lines = ["Notes:", unseen, *map(_beginning, notes[begun:first]), *map(whole_note, notes[first:])]
    return "\n".join(line for line in lines if line)


def whole_note(note: Note) -> str:
    """Return a note as text; its further lines are indented, so that none looks like a heading or another entry."""
    text = "\n    ".join(line.rstrip() for line in note.text.splitlines() if line.strip())
    return f"- note {note.number} (step {note.step}): {text}"


def find_notes(notes: Sequence[Note], which: str) -> list[Note]:
    """Return the notes that ``which`` names, in their order.

    ``""`` and ``all`` name every one, ``3``, ``3-7`` and ``2, 5-6`` those with these numbers; any other text those
    that have all of its words, else those that have most of them; so do numbers that no note has.
    """
    wanted = which.strip().casefold()
    if wanted in ("", "all", "*"):
        return list(notes)
    parts = [_RANGE.fullmatch(part) for part in _BETWEEN.split(_TO.sub("-", wanted)) if part]
    ranges = [(int(part[1]), int(part[2] or part[1])) for part in parts if part is not None]
    if len(ranges) == len(parts):
        numbered = [note for note in notes if any(low <= note.number <= high for low, high in ranges)]
        if numbered:
            return numbered
    words = re.findall(r"\w+", wanted)
    shared = [sum(word in note.text.casefold() for word in words) for note in notes]
    most = max(shared, default=0)
    return [note for note, count in zip(notes, shared, strict=True) if count and count == most]


def read_back(notes: Sequence[Note], which: str, longest: int = READ_CHARACTERS) -> str:
    """Return the named notes whole, as many as there is room for, and how to read the rest; "" where none is."""
    found = find_notes(notes, which)
    lines: list[str] = []
    for note in found:
        line = whole_note(note)
        if lines and sum(map(len, lines)) + len(line) > longest:
            break
        lines.append(line)
    rest = found[len(lines) :]
    if rest:
        lines.append(f'({len(rest)} more: read_notes("{_numbers(rest)}"))')
    return "\n".join(lines)


def _cost(note: Note) -> int:
    return count_text(f"{whole_note(note)}\n")


def _beginning(note: Note) -> str:
    return f"- note {note.number} (step {note.step}) begins: {one_line(note.text, _FIRST_WORDS)}"


def _range(notes: Sequence[Note]) -> str:
    """Name the notes that have no line."""
    if len(notes) == 1:
        return f"note {notes[0].number} is kept too"
    return f"notes {notes[0].number} to {notes[-1].number} are kept too"


def _numbers(notes: Iterable[Note]) -> str:
    """Return numbers in the form ``find_notes`` reads: ``2, 5-6``."""
    parts: list[list[int]] = []
    for note in notes:
        if parts and parts[-1][-1] == note.number - 1:
            parts[-1][1:] = [note.number]
        else:
            parts.append([note.number])
    return ", ".join("-".join(map(str, part)) for part in parts)
