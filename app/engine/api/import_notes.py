"""Notes of an import for people: equal ones as one line with their number, and files that are no runs."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.api.engine_api import RunNotes

MAX_NAMED = 5
"""Files that a line names."""


def note_lines(notes: Sequence[RunNotes]) -> list[str]:
    """Return a line per distinct note, the commonest first; a note of one run names the run and its place."""
    runs: dict[str, list[RunNotes]] = {}
    for one in notes:
        for note in dict.fromkeys(one.notes):
            runs.setdefault(note, []).append(one)
    ordered = sorted(runs.items(), key=lambda item: -len(item[1]))
    return [
        f"{len(of)} runs: {note}" if len(of) > 1 else f"{of[0].run}: {note} in {of[0].path}"
        for note, of in ordered
    ]


def unrecognised_line(files: Sequence[str]) -> str:
    """Return one line about files that no format recognised, "" where there are none."""
    if not files:
        return ""
    rest = f" and {len(files) - MAX_NAMED} more" if len(files) > MAX_NAMED else ""
    head = "1 file was" if len(files) == 1 else f"{len(files)} files were"
    return f"{head} recognised by no format: {', '.join(files[:MAX_NAMED])}{rest}"
