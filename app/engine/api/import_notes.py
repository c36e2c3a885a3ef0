"""Notes of imported runs for people: equal ones as one line with their number."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.api.engine_api import RunNotes


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
