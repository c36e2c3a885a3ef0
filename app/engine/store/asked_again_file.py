"""The file of a run that holds what came of asking its exchanges again; lines are only added."""

from __future__ import annotations

from pathlib import Path

import orjson
from pydantic import ValidationError

from app.engine.api.exchange_api import AskedAgain
from app.engine.store.database import translated_errors
from app.engine.store.run_files import append_atomically, type_adapter
from app.errors import StoreError
from kb.private import own_file

ASKED_AGAIN_FILE = "asked-again.jsonl"
VERSION = 1


def add_asked_again(folder: Path, asked: AskedAgain) -> None:
    """Add a line; it is on the disk when this returns.

    Raises:
        StoreError: the disk is full or can't be written.
    """
    line = orjson.dumps({"version": VERSION, "asked": asked}, option=orjson.OPT_SORT_KEYS)
    with translated_errors(folder), own_file(folder / ASKED_AGAIN_FILE).open("ab", buffering=0) as file:
        append_atomically(file, line + b"\n")


def read_asked_again(folder: Path) -> list[AskedAgain]:
    """Return what was asked again, oldest first; a last line that a kill cut off is left out.

    Raises:
        StoreError: a line is damaged or of a newer version.
    """
    path = folder / ASKED_AGAIN_FILE
    if not path.exists():
        return []
    with translated_errors(folder):
        lines = path.read_bytes().split(b"\n")
    found: list[AskedAgain] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            document = orjson.loads(line)
            if document["version"] > VERSION:
                raise StoreError(
                    f"{path.name} of run {folder.name} is of a newer version; use a newer Sitelore"
                )
            found.append(type_adapter(AskedAgain).validate_python(document["asked"]))
        except (ValueError, KeyError, TypeError, ValidationError) as error:
            if number == len(lines):
                break
            raise StoreError(f"line {number} of {path.name} of run {folder.name} is damaged") from error
    return found
