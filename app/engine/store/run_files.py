"""The files of a run: ``run.json``, ``steps.jsonl`` (one step a line, append-only) and its pages' contents.

The workspace stores runs in this form; a *native run folder* has the contents in ``blobs/`` as well, so that it can
be copied elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import zstandard

from app.engine.core.trajectory import Run, Step
from app.errors import Conflict, InputError
from kb.private import FILE, make_folder

if (
    TYPE_CHECKING
):  # reading runs needs it, writing them does not: a helper of an import starts twice as fast without
    from pydantic import ValidationError

FORMAT = "sitelore-run"
VERSION = 1
RUN_FILE, STEPS_FILE, BLOB_FOLDER = "run.json", "steps.jsonl", "blobs"
WORKSPACE_FILE, RUNS, TRASH, INCOMING = "workspace.json", "runs", "trash", ".incoming-"
"""Names in a workspace: its head file, the folders of runs, and the prefix of folders for incomplete runs."""
LEDGER_FILES = ("ledger-events.jsonl", "ledger.json", "facts.jsonl", "episodic.jsonl", "notes.jsonl")
"""Further files of a run made here (``app.engine.agent.memory``)."""
MAX_BLOB_BYTES = 256 * 2**20
"""Longest content that is unpacked; a small packed file must not fill the memory."""

_BINARY: int = getattr(os, "O_BINARY", 0)
_RUN_ID = re.compile(r"[A-Za-z0-9_][\w.+-]{0,119}", re.ASCII)
_SLUG = 60
"""Characters of a folder's name that are kept in a shortened id."""
_PICTURES = ((b"\x89PNG\r\n\x1a\n", ".png"), (b"\xff\xd8\xff", ".jpg"), (b"RIFF", ".webp"))


@cache
def type_adapter(kind: Any) -> Any:
    """Return pydantic's adapter of a type."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def validate_run_id(run: str) -> str:
    """Return a run's id, which becomes a folder's name.

    Raises:
        InputError: it is empty, too long, or could name something outside the folder of runs.
    """
    if not _RUN_ID.fullmatch(run):
        raise InputError(f"{run[:80]!r} is not a run id: letters, digits, . _ + - only, at most 120")
    return run


def make_run_id(wanted: str, suffix: str) -> str:
    """Return ``wanted-suffix`` if valid, else an ASCII form, shortened, with a hash of ``wanted``.

    Equal arguments give equal ids; ``suffix`` is the run's content hash in hexadecimal digits.
    """
    whole = f"{wanted}-{suffix}"
    if _RUN_ID.fullmatch(whole):
        return whole
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", wanted)[:_SLUG].strip("_") or "run"
    digest = hashlib.sha256(wanted.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}-{suffix}"


def encode_run(run: Run) -> bytes:
    """Encode ``run.json``."""
    return _dump({"format": FORMAT, "version": VERSION, **_fields(run)}, orjson.OPT_INDENT_2) + b"\n"


def encode_steps(steps: Iterable[Step]) -> bytes:
    """Encode ``steps.jsonl``."""
    return b"".join(_dump(step, orjson.OPT_APPEND_NEWLINE) for step in steps)


def decode_run(data: bytes, path: Path) -> Run:
    """Decode ``run.json``.

    Raises:
        InputError: it is damaged, of another format, or of a newer version.
    """
    from pydantic import ValidationError

    try:
        value: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"not valid JSON: {error}", path=str(path)) from error
    if not isinstance(value, dict) or value.get("format") != FORMAT:  # pyright: ignore[reportUnknownMemberType]
        raise InputError("not a run of Sitelore", path=str(path))
    version: Any = value.get("version")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(version, int) or version > VERSION:
        raise InputError(
            f"written in format version {version}, this program reads up to {VERSION}",
            path=str(path),
            remedy="use a newer Sitelore",
        )
    try:
        run = type_adapter(Run).validate_python(value)
    except ValidationError as error:
        raise InputError(f"damaged: {_first_fault(error)}", path=str(path)) from error
    validate_run_id(run.id)
    return run


def decode_steps(data: bytes, path: Path) -> tuple[list[Step], list[str]]:
    """Decode ``steps.jsonl``; a last line cut off by a crash is dropped with a note.

    Raises:
        InputError: any other line is damaged.
    """
    from pydantic import ValidationError

    steps: list[Step] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            steps.append(type_adapter(Step).validate_json(line))
        except ValidationError as error:
            if number == len(lines):
                return steps, [f"the last line of {path.name} is incomplete and was skipped"]
            raise InputError(f"line {number} is damaged: {_first_fault(error)}", path=str(path)) from error
    return steps, []


def blob_digests(run: Run, steps: Iterable[Step]) -> list[str]:
    """Return every content that a run's steps name, once."""
    pages = [*steps, *([run.final] if run.final is not None else [])]
    named = (
        digest
        for step in pages
        for digest in (step.tree, step.html, step.screenshot, step.boxes, *step.calls)
        if digest
    )
    evidence = (run.evidence,) if run.evidence else ()
    named = (*named, *run.calls, *(one.digest for one in run.prompts), *evidence)
    return list(dict.fromkeys(named))


def call_digests(run: Run, steps: Iterable[Step]) -> list[str]:
    """Return every exchange with a model that a run names, once."""
    pages = [*steps, *([run.final] if run.final is not None else [])]
    return list(dict.fromkeys((*(digest for step in pages for digest in step.calls), *run.calls)))


def write_run_folder(
    out: Path,
    run: Run,
    steps: Sequence[Step],
    blobs: Mapping[str, bytes],
    beside: Mapping[str, bytes] | None = None,
    further: Iterable[str] = (),
) -> Path:
    """Write a native run folder whole or not at all, without anything of this machine (source path, import time).

    ``blobs`` maps SHA-256 to content: text as UTF-8, pictures as they are; contents that the run does not name are
    left out, but for ``further``.  ``beside`` are further files of the run, by name (its ledger).

    Raises:
        Conflict: ``out`` exists.  InputError: a content does not match its name.
    """
    validate_run_id(run.id)
    if out.exists() or out.is_symlink():
        raise Conflict(f"{out} exists already; choose another folder or move it away")
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = out.parent / f".{out.name}.incoming-{uuid.uuid4().hex[:8]}"
    try:
        make_folder(draft, exist_ok=False)
        write_file(draft / RUN_FILE, encode_run(replace(run, source_path="", imported_at=0.0)))
        write_file(draft / STEPS_FILE, encode_steps(steps))
        for name, data in (beside or {}).items():
            write_file(draft / name, data)
        wanted = dict.fromkeys([*blob_digests(run, steps), *further])
        named = [digest for digest in wanted if digest in blobs]
        if named:
            make_folder(draft / BLOB_FOLDER, exist_ok=False)
        for digest in named:
            name, data = encode_blob_file(digest, blobs[digest])
            write_file(draft / BLOB_FOLDER / name, data)
        sync_folder(draft / BLOB_FOLDER if named else draft)
        draft.rename(out)
        sync_folder(out.parent)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return out


def encode_blob_file(digest: str, content: bytes) -> tuple[str, bytes]:
    """Return the file name and bytes of a content in ``blobs/``; text is compressed, pictures stay as they are."""
    if hashlib.sha256(content).hexdigest() != digest:
        raise InputError(f"the content named {digest[:12]}… does not match its digest")
    suffix = next((suffix for magic, suffix in _PICTURES if content.startswith(magic)), "")
    if suffix:
        return digest + suffix, content
    return f"{digest}.txt.zst", zstandard.ZstdCompressor(level=3).compress(content)


def decode_blob_file(name: str, data: bytes, path: Path) -> tuple[str, bytes]:
    """Return the digest and content of a file in ``blobs/``.

    Raises:
        InputError: the file is damaged, or unpacks to more than 256 MB.
    """
    digest = name.partition(".")[0]
    if name.endswith(".zst"):
        data = decompress(data, str(path))
    if hashlib.sha256(data).hexdigest() != digest:
        raise InputError("damaged: its content does not match its name", path=str(path))
    return digest, data


def decompress(data: bytes, where: str) -> bytes:
    """Decompress Zstandard data up to a limit.

    Raises:
        InputError: damaged, or longer than ``MAX_BLOB_BYTES``.
    """
    try:
        if zstandard.frame_content_size(data) > MAX_BLOB_BYTES:
            raise InputError("unpacks to more than 256 MB", path=where)
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=MAX_BLOB_BYTES)
    except zstandard.ZstdError as error:
        raise InputError(f"damaged: {error}", path=where) from error


def write_file(path: Path, data: bytes) -> None:
    """Write a new file, readable by its owner alone, and wait until it is on the disk."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, FILE), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def append_atomically(file: RawIOBase, data: bytes, *, wait: bool = True) -> None:
    """Append to an unbuffered file, all of it or nothing, and wait until it is on the disk.

    Raises:
        OSError: the disk is full or can't be written; a partial write is removed.
    """
    before = file.seek(0, os.SEEK_END)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        if wait:
            os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            file.truncate(before)
        raise


def sync_file(path: Path) -> None:
    """Wait until a written file is on the disk."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until a folder's entries are on the disk, where the system supports it."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _fields(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name) for name in Run.__slots__}


def _dump(value: object, option: int) -> bytes:
    try:
        return orjson.dumps(value, option=option)
    except (TypeError, orjson.JSONEncodeError) as error:
        raise InputError(f"a value can't be stored as JSON: {error}") from error


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])
