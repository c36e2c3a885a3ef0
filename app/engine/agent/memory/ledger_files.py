"""The ledger's files in a run's folder.

    ledger-events.jsonl   every event, appended; the others are derived from it and rebuilt when they are lost
    ledger.json           the ledger after the last step, replaced as a whole (with a wait for the disk too)
    facts.jsonl           every fact, appended      episodic.jsonl   every line about the run, appended
    notes.jsonl           every note of the agent, appended

The names are SuperBrowser's (section 5.2); the event log and ``notes.jsonl`` are ours: its ledger can't be rebuilt
after a kill.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from app.engine.core.ledger import Ledger, LedgerEvent
from app.engine.store.database import translated_errors
from app.engine.store.run_files import LEDGER_FILES, append_atomically, write_file
from app.errors import StoreError
from kb.private import make_folder, own_file

if TYPE_CHECKING:
    from pydantic import TypeAdapter

EVENTS_FILE, LEDGER_FILE, FACTS_FILE, EPISODIC_FILE, NOTES_FILE = LEDGER_FILES

_KINDS = {FACTS_FILE: "fact", EPISODIC_FILE: "note", NOTES_FILE: "agent_note"}
"""The kind of events in each file that is appended to."""


def encode_events(events: Iterable[LedgerEvent]) -> bytes:
    """Return events as JSON lines."""
    return b"".join(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE) for event in events)


def read_events(folder: Path) -> list[LedgerEvent]:
    """Return the events in a run's folder, none without the file; a last line that was cut off is skipped.

    Raises:
        StoreError: another line is damaged, or the file can't be read.
    """
    path = folder / EVENTS_FILE
    with translated_errors(path):
        data = path.read_bytes() if path.exists() else b""
    return _decode(data[: complete_length(data)], path)


def truncate_partial_line(folder: Path) -> None:
    """Remove a last line that was cut off while written, so that the next one begins on its own line."""
    path = folder / EVENTS_FILE
    with translated_errors(path):
        data = path.read_bytes() if path.exists() else b""
        if complete_length(data) < len(data):
            with path.open("r+b") as file:
                file.truncate(complete_length(data))
                os.fsync(file.fileno())


def complete_length(data: bytes) -> int:
    """Return the length of the complete lines at the front; a line counts when its newline is there."""
    return data.rfind(b"\n") + 1


class LedgerFiles:
    """The files of one ledger, open for writing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with translated_errors(folder):
            make_folder(folder, parents=True)
            self._events = own_file(folder / EVENTS_FILE).open("ab", buffering=0)
            self._derived = {name: own_file(folder / name).open("ab", buffering=0) for name in _KINDS}

    def append(self, events: Sequence[LedgerEvent]) -> None:
        """Write events and wait until they are on disk.

        Raises:
            StoreError: the disk is full or can't be written; then none of them is.
        """
        with translated_errors(self.folder / EVENTS_FILE):
            append_atomically(self._events, encode_events(events))

    def follow(self, events: Sequence[LedgerEvent]) -> None:
        """Append to the derived files without waiting for the disk; the events are on disk already.

        Raises:
            StoreError: the disk is full or can't be written; ``rebuild_derived`` repairs it.
        """
        for name, file in self._derived.items():
            if own := [event for event in events if event.kind == _KINDS[name]]:
                with translated_errors(self.folder / name):
                    append_atomically(file, encode_events(own), wait=False)

    def close(self) -> None:
        """Close the files."""
        for file in (self._events, *self._derived.values()):
            file.close()


def replace_ledger(folder: Path, ledger: Ledger) -> None:
    """Replace ``ledger.json`` atomically.

    Raises:
        StoreError: the disk is full or can't be written.
    """
    draft = folder / f".{LEDGER_FILE}"
    with translated_errors(draft):
        own_file(draft).write_bytes(
            orjson.dumps(ledger, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )
        draft.replace(folder / LEDGER_FILE)


def rebuild_derived(folder: Path, events: Sequence[LedgerEvent], ledger: Ledger) -> None:
    """Rebuild the derived files where they lag behind the events.

    Raises:
        StoreError: the disk is full or can't be written.
    """
    for name, kind in _KINDS.items():
        wanted = encode_events(event for event in events if event.kind == kind)
        with translated_errors(folder / name):
            there = (folder / name).read_bytes() if (folder / name).exists() else None
            if there != wanted:
                draft = folder / f".{name}"
                draft.unlink(missing_ok=True)
                write_file(draft, wanted)
                draft.replace(folder / name)
    replace_ledger(folder, ledger)


def _decode(data: bytes, path: Path) -> list[LedgerEvent]:
    from pydantic import TypeAdapter, ValidationError

    reader: TypeAdapter[LedgerEvent] = TypeAdapter(LedgerEvent)
    events: list[LedgerEvent] = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            event = reader.validate_json(line)
        except ValidationError as error:
            raise StoreError(
                f"{path}: line {number} is damaged; move the file away to go on without it"
            ) from error
        if event.seq != len(events) + 1:
            raise StoreError(
                f"{path}: line {number} holds event {event.seq}; move the file away to go on without it"
            )
        events.append(event)
    return events
