"""The workspace's own prompts and sets of actions: ``prompts/``.

    NAME.md              a prompt in place of the bundled one; an editor's change of it is seen at once
    history.jsonl        every saved version: prompt, digest ("" for the bundled one), time, author; append-only
    action-sets.json     the sets of actions: calls by name

The texts of all versions are among the workspace's blobs, as are those that runs were given.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.core.prompt_rules import MAX_PROMPT
from app.engine.core.prompt_set import prompt_digest
from app.engine.store.blob_store import BlobStore, pack_blobs
from app.engine.store.database import translated_errors
from app.engine.store.run_files import append_atomically, write_file
from app.errors import InputError, StoreError
from kb.private import make_folder, own_file

PROMPTS_FOLDER = "prompts"
_HISTORY, _SETS = "history.jsonl", "action-sets.json"
_HISTORY_FORMAT, _SETS_FORMAT, VERSION = "sitelore-prompt-history", "sitelore-action-sets", 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPrompt:
    """A line of the history; ``digest`` is "" where the bundled prompt was put back.  ``at`` is in Unix seconds."""

    name: str
    digest: str
    at: float
    author: str = ""


class PromptStore:
    """Reads and writes ``prompts/``; on the store thread only."""

    def __init__(self, folder: Path, blobs: BlobStore) -> None:
        self.folder, self._blobs = folder, blobs

    def texts(self, names: Sequence[str]) -> dict[str, str]:
        """Return the workspace's own prompts among these.

        Raises:
            InputError: one of them is no text, or too long.
        """
        found = dict[str, str]()
        for name in names:
            path = self._path(name)
            with translated_errors(path):
                if not path.exists():
                    continue
                with path.open("rb") as file:
                    data = file.read(MAX_PROMPT * 4 + 1)
            try:
                found[name] = data.decode().replace("\r\n", "\n").strip()
            except UnicodeDecodeError as error:
                raise InputError(
                    "the prompt is not UTF-8 text",
                    path=str(path),
                    remedy=f"mend it, or: sitelore prompts reset {name}",
                ) from error
        return found

    def save(self, name: str, text: str, author: str = "") -> str:
        """Store a version of a prompt and put it in force; "" puts the bundled one back.  Return its digest."""
        digest = prompt_digest(text) if text else ""
        if text:
            self._blobs.add(pack_blobs({digest: text.encode()}))
        self.put(name, digest, author)
        return digest

    def keep(self, name: str) -> str:
        """Keep the version in force, which an editor may have written; return its digest, "" for the bundled one."""
        text = self.texts([name]).get(name, "")
        if text:
            self._blobs.add(pack_blobs({prompt_digest(text): text.encode()}))
        return prompt_digest(text) if text else ""

    def put(self, name: str, digest: str, author: str = "") -> None:
        """Put a stored version in force; "" the bundled one.

        Raises:
            NotFound: there is no such version.  StoreError: the disk is full or can't be written.
        """
        path = self._path(name)
        text = self._blobs.read(digest) if digest else b""
        with translated_errors(path):
            make_folder(self.folder)
            self._append(SavedPrompt(name=name, digest=digest, at=time.time(), author=author))
            if text:
                _replace(path, text + b"\n")
            else:
                path.unlink(missing_ok=True)

    def text_of(self, digest: str) -> str:
        """Return the text of a version.  Raises ``NotFound``."""
        return self._blobs.read(digest).decode("utf-8", "replace")

    def history(self, name: str) -> list[SavedPrompt]:
        """Return the saved versions of a prompt, latest first; a line cut off by a crash is left out.

        Raises:
            StoreError: the file is of a newer version.
        """
        path = self.folder / _HISTORY
        if not path.exists():
            return []
        with translated_errors(path):
            lines = path.read_bytes().split(b"\n")
        saved = list[SavedPrompt]()
        for line in lines:
            try:
                row: Any = orjson.loads(line)
                if "format" in row:
                    _refuse_newer(path, row.get("version"))
                elif row["name"] == name:
                    saved.append(SavedPrompt(**row))
            except (orjson.JSONDecodeError, KeyError, TypeError):
                continue
        return saved[::-1]

    def action_sets(self) -> dict[str, tuple[str, ...]]:
        """Return the calls of the workspace's own sets by name.

        Raises:
            StoreError: the file is damaged or of a newer version.
        """
        path = self.folder / _SETS
        if not path.exists():
            return {}
        with translated_errors(path):
            data = path.read_bytes()
        try:
            document: Any = orjson.loads(data)
            if document["format"] != _SETS_FORMAT:
                raise ValueError("it is another kind of file")
            _refuse_newer(path, document["version"])
            sets = cast("Mapping[str, Sequence[object]]", document["sets"])
            return {str(name): tuple(map(str, calls)) for name, calls in sets.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"{path}: the sets of actions can't be read (mend the file, or move it away)"
            ) from error

    def put_action_set(self, name: str, calls: Sequence[str] | None) -> None:
        """Store a set of actions; ``None`` removes it."""
        sets = self.action_sets()
        if calls is None:
            sets.pop(name, None)
        else:
            sets[name] = tuple(calls)
        document = {"format": _SETS_FORMAT, "version": VERSION, "sets": sets}
        with translated_errors(self.folder):
            make_folder(self.folder)
            _replace(self.folder / _SETS, orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.md"

    def _append(self, saved: SavedPrompt) -> None:
        """Append to the history; a line that a crash cut off is closed first."""
        path = self.folder / _HISTORY
        head = b"" if path.exists() else _line({"format": _HISTORY_FORMAT, "version": VERSION})
        with own_file(path).open("a+b", buffering=0) as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                head = b"" if file.read(1) == b"\n" else b"\n"
            append_atomically(file, head + _line(saved))


def _line(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def _refuse_newer(path: Path, version: object) -> None:
    if not isinstance(version, int) or version > VERSION:
        raise StoreError(
            f"{path}: the file is of version {version}, this program reads up to {VERSION}; use a newer Sitelore"
        )


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        write_file(draft, data)
        os.replace(draft, path)  # noqa: PTH105 as one call
    finally:
        draft.unlink(missing_ok=True)
