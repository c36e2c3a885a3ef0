"""The folder of an evaluation: its head, its journal, and its runs.

    evaluation.json   head, written once                runs/       native run folders
    journal.jsonl     one record a line, only appended   workers/    workspaces of local workers, while it runs

A record is on the disk before its episode counts as done; a run's folder is there before its record is.  The process
that runs the evaluation holds ``evaluation.lock``; the file ``stop`` asks it to stop.
"""

from __future__ import annotations

import math
import os
import shutil
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.core.evaluation.episode import (
    JOURNAL_VERSION,
    EpisodeRecord,
    EvaluationHead,
    EvaluationJournal,
)
from app.engine.store.database import translated_errors
from app.engine.store.locks import FileLock
from app.engine.store.run_files import append_atomically, sync_folder, type_adapter, write_file
from app.errors import Conflict, InputError, NotFound
from kb.private import make_folder, own_file

HEAD_FILE, JOURNAL_FILE, RUNS_FOLDER, WORKERS_FOLDER = "evaluation.json", "journal.jsonl", "runs", "workers"
LOCK_FILE, STOP_FILE = "evaluation.lock", "stop"
FORM = "sitelore-evaluation"
MAX_BYTES = 512 * 2**20
MAX_EPISODES = 2_000_000
_NUMBERS = ("workers", "max_seconds", "max_tokens", "max_money")
"""Options of a head that are numbers."""
KNOWN_FILE, FOLDER = "evaluations.json", "evaluations"
"""In a workspace: the list of evaluations whose folders are elsewhere, and the folder of the others."""


class EvaluationFolder:
    """One evaluation on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path / LOCK_FILE)

    # reading

    def head(self) -> EvaluationHead:
        """Read the head.

        Raises:
            NotFound: no evaluation is here.  InputError: it is damaged, or of a newer version.
        """
        path = self.path / HEAD_FILE
        if not path.is_file():
            raise NotFound(f"{self.path} holds no evaluation")
        value = _object(_content(path), path, "the file")
        if value.get("form") != FORM:
            raise InputError("this is not an evaluation of Sitelore", path=str(path))
        _check_version(value, path, "the file")
        head = cast("EvaluationHead", _validated(EvaluationHead, value, path, "the file"))
        if fault := _fault_of(head):
            raise InputError(f"the file is damaged: {fault}", path=str(path))
        return head

    def journal(self) -> EvaluationJournal:
        """Read the head and the records; the last record of an episode counts.

        A last line that a kill cut off is left out with a note.

        Raises:
            NotFound: no evaluation is here.  InputError: another line is damaged, or of a newer version.
        """
        head, path = self.head(), self.path / JOURNAL_FILE
        lines = _content(path).split(b"\n") if path.is_file() else []
        records: dict[object, EpisodeRecord] = {}
        notes: list[str] = []
        if lines and lines[-1].strip():
            notes.append(
                f"the last line of {JOURNAL_FILE} is cut off and was left out; its episode is run again"
            )
        for number, line in enumerate(lines[:-1], 1):
            if not line.strip():
                continue
            where = f"line {number}"
            value = _object(line, path, where)
            _check_version(value, path, where)
            record = cast("EpisodeRecord", _validated(EpisodeRecord, value, path, where))
            records.pop(record.key, None)
            records[record.key] = record
        return EvaluationJournal(head=head, records=tuple(records.values()), notes=tuple(notes))

    @property
    def runs(self) -> Path:
        """The folder of its runs."""
        return self.path / RUNS_FOLDER

    @property
    def is_running(self) -> bool:
        """Whether a process runs it now."""
        if not (self.path / LOCK_FILE).exists():
            return False
        with FileLock(self.path / LOCK_FILE) as lock:
            return not lock.take()

    # the one process that runs it

    def take(self) -> None:
        """Make the folder where it is missing, and become the one process that runs the evaluation.

        Raises:
            Conflict: another process does.  StoreError: it can't be written.
        """
        with translated_errors(self.path):
            make_folder(self.path, parents=True)
            if not self._lock.take_soon():
                raise Conflict(
                    f"another process is running the evaluation in {self.path}; wait for it, or stop it with:"
                    f" sitelore eval stop {self.path}"
                )
            (self.path / STOP_FILE).unlink(missing_ok=True)

    def release(self) -> None:
        """Let other processes run it."""
        self._lock.release()

    def begin(self, head: EvaluationHead) -> None:
        """Write the head of a new evaluation; the folder is ours (``take``).

        Raises:
            Conflict: the folder holds an evaluation, or files of others that an evaluation would remove.
        """
        if (self.path / HEAD_FILE).exists():
            raise Conflict(f"{self.path} holds an evaluation already")
        self._refuse_foreign_files()
        value = {"form": FORM, **{name: getattr(head, name) for name in EvaluationHead.__slots__}}
        with translated_errors(self.path):
            make_folder(self.runs)
            own_file(self.path / JOURNAL_FILE)
            _replace(self.path / HEAD_FILE, orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")

    def _refuse_foreign_files(self) -> None:
        """Refuse a folder whose runs are none of ours: those that no record names are removed by ``repair``."""
        journal = self.path / JOURNAL_FILE
        with translated_errors(self.path):
            used = [name for name in (RUNS_FOLDER, WORKERS_FOLDER) if _is_used(self.path / name)]
            if journal.exists() and journal.stat().st_size:
                used.append(JOURNAL_FILE)
        if used:
            raise Conflict(
                f"{self.path} holds files of something else ({', '.join(used)}); choose another folder with --out"
            )

    def repair(self, journal: EvaluationJournal) -> None:
        """Remove what a killed process left: half a line, and runs that no record names.

        Raises:
            InputError: its runs are elsewhere, by a link.  StoreError: it can't be written.
        """
        path = self.path / JOURNAL_FILE
        for folder in (self.runs, self.path / WORKERS_FOLDER):
            if folder.is_symlink():
                raise InputError("an evaluation's own folder may not be a link", path=str(folder))
        named = {record.run for record in journal.records}
        with translated_errors(self.path):
            make_folder(self.runs)
            with own_file(path).open("r+b") as file:
                data = file.read()
                whole = data.rfind(b"\n") + 1
                if whole < len(data):
                    file.truncate(whole)
                    os.fsync(file.fileno())
            for folder in self.runs.iterdir():
                if folder.name not in named and folder.is_dir() and not folder.is_symlink():
                    shutil.rmtree(folder, ignore_errors=True)

    def append(self, record: EpisodeRecord) -> None:
        """Add a record; it is on the disk when this returns.

        Raises:
            StoreError: the disk is full or can't be written; then nothing was added.
        """
        fields = {name: getattr(record, name) for name in EpisodeRecord.__slots__}
        line = orjson.dumps({"version": JOURNAL_VERSION, **fields}, option=orjson.OPT_APPEND_NEWLINE)
        path = self.path / JOURNAL_FILE
        with translated_errors(path), own_file(path).open("ab", buffering=0) as file:
            append_atomically(file, line)

    def ask_to_stop(self) -> None:
        """Ask the process that runs it to stop after the episodes in flight."""
        with translated_errors(self.path):
            own_file(self.path / STOP_FILE)

    @property
    def stop_asked(self) -> bool:
        """Whether it was asked to stop."""
        return (self.path / STOP_FILE).exists()


class KnownEvaluations:
    """The evaluations that a workspace knows: those in its own folder, and remembered folders elsewhere."""

    def __init__(self, workspace: Path) -> None:
        self._own, self._file = workspace / FOLDER, workspace / KNOWN_FILE

    def own_folder(self, name: str) -> Path:
        """Return the folder of an evaluation of this name in the workspace."""
        return self._own / name

    def folders(self) -> list[Path]:
        """Return the folders of all known evaluations; forgotten ones are left out."""
        known, forgotten = self._read()
        with translated_errors(self._own):
            inside = list(self._own.iterdir()) if self._own.is_dir() else []
        own = [path for path in inside if (path / HEAD_FILE).is_file() and str(path) not in forgotten]
        return [*sorted(own), *(Path(one) for one in known)]

    def remember(self, folder: Path) -> None:
        """Remember an evaluation."""
        known, forgotten = self._read()
        path = str(folder)
        known = [one for one in known if one != path]
        if folder.parent != self._own:
            known.append(path)
        self._write(known, [one for one in forgotten if one != path])

    def forget(self, folder: Path) -> None:
        """Take an evaluation off the list; its folder stays.  Raises ``NotFound`` where it is not known."""
        if folder not in self.folders():
            raise NotFound(f"no evaluation in {folder} is known here")
        known, forgotten = self._read()
        path = str(folder)
        inside = [path] if folder.parent == self._own else []
        self._write([one for one in known if one != path], [*forgotten, *inside])

    def _read(self) -> tuple[list[str], list[str]]:
        if not self._file.exists():
            return [], []
        value = _object(_content(self._file), self._file, "the file")
        _check_version(value, self._file, "the file")
        return _texts(value.get("elsewhere")), _texts(value.get("forgotten"))

    def _write(self, known: Sequence[str], forgotten: Sequence[str]) -> None:
        value = {"version": JOURNAL_VERSION, "elsewhere": list(known), "forgotten": list(forgotten)}
        with translated_errors(self._file):
            _replace(self._file, orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        write_file(draft, data)
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError("this file is too large for an evaluation's", path=str(path))
        return path.read_bytes()
    except OSError as error:
        raise InputError(error.strerror or str(error), path=str(path)) from error


def _object(data: bytes, path: Path, where: str) -> dict[str, Any]:
    try:
        value: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{where} is damaged: {error.msg}", path=str(path)) from error
    if not isinstance(value, dict):
        raise InputError(f"{where} is damaged: no object", path=str(path))
    return cast("dict[str, Any]", value)


def _check_version(value: dict[str, Any], path: Path, where: str) -> None:
    version = value.get("version")
    if not isinstance(version, int) or version > JOURNAL_VERSION:
        raise InputError(
            f"{where} is of version {version}, this program reads up to {JOURNAL_VERSION}",
            path=str(path),
            remedy="use a newer Sitelore",
        )


def _is_used(folder: Path) -> bool:
    return folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir())))


def _fault_of(head: EvaluationHead) -> str:
    """Return what makes a head none of an evaluation that could be run, "" for nothing."""
    if not head.arms or len({arm.name for arm in head.arms}) < len(head.arms):
        return "its arms have no names of their own"
    if head.repeats < 1 or len(head.tasks) * len(head.arms) * head.repeats > MAX_EPISODES:
        return f"its episodes are none, or more than {MAX_EPISODES:,}"
    try:
        for name, value in head.options:
            if name in _NUMBERS and not 0 <= float(value) < math.inf:
                return f"its {name} is no number"
    except ValueError as error:
        return f"one of its options is no number: {str(error)[:80]}"
    return ""


def _validated(kind: Any, value: dict[str, Any], path: Path, where: str) -> Any:
    from pydantic import ValidationError

    try:
        return type_adapter(kind).validate_python(value)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise InputError(f"{where} is damaged: {place} {fault['msg']}", path=str(path)) from error


def _texts(value: object) -> list[str]:
    given = cast("list[object]", value) if isinstance(value, list) else []
    return [one for one in given if isinstance(one, str)]
