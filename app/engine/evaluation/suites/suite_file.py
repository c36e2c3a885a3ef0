"""The content of a suite file: bounded, parsed, and cut into one record a task."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import orjson

from app.errors import InputError

MAX_BYTES = 64 * 1024 * 1024
MAX_TASKS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteContent:
    """A file's tasks as they stand in it.

    Attributes:
        path: for messages.  stem: the file's name without its ending.
        records: one value a task, of whatever kind.
        head: the fields beside the tasks of an object that holds them; empty for a plain list.
        beside: texts of small files in the same folder, by name, for formats that have a part of theirs there.
    """

    path: str
    stem: str
    sha256: str
    records: list[Any]
    head: dict[str, Any] = field(default_factory=dict[str, Any])
    beside: dict[str, str] = field(default_factory=dict[str, str])


SMALL_SET = "small_set_ids.txt"
_BESIDE = (SMALL_SET,)
_MAX_BESIDE = 256 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes.  Raises ``InputError`` if it can't be read or is too large."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(
                f"this file is too large for a list of tasks: more than {MAX_BYTES >> 20} MB",
                path=str(path),
                remedy="cut the file into several",
            )
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # a pipe has no size
    except OSError as error:
        raise InputError(error.strerror or str(error), path=str(path)) from error
    if len(data) > MAX_BYTES:
        raise InputError(f"this is more than {MAX_BYTES >> 20} MB", path=str(path), remedy="give a file")
    return data


def beside(path: Path) -> dict[str, str]:
    """Return the small files beside a suite file that formats know, by name; one that can't be read is left out."""
    found = dict[str, str]()
    for name in _BESIDE:
        file = path.with_name(name)
        try:
            if file.is_file() and file.stat().st_size <= _MAX_BESIDE:
                found[name] = file.read_text("utf-8", "replace")
        except OSError:
            continue
    return found


def parse(data: bytes, path: str, others: dict[str, str] | None = None) -> SuiteContent:
    """Cut a file's bytes into tasks.

    A ``.txt`` has one task a line; a ``.jsonl`` (or any file that is one by its content) one object a line; everything
    else is JSON: a list, an object with ``tasks``, or one task.

    Raises:
        InputError: it is none of these, holds no task or too many.
    """
    named, sha256 = Path(path), hashlib.sha256(data).hexdigest()
    head = dict[str, Any]()
    is_list = named.suffix.lower() == ".txt"
    _refuse_binary(data, path, any_encoding=is_list)
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if is_list:
        records = [
            {"intent": line.strip()} for line in data.decode("utf-8", "replace").splitlines() if line.strip()
        ]
    elif named.suffix.lower() == ".jsonl":
        records = _lines(data, path)
    else:
        whole = _whole(data, path)
        if isinstance(whole, dict) and isinstance(whole.get("tasks"), list):  # pyright: ignore[reportUnknownMemberType]
            head = {key: value for key, value in cast("dict[str, Any]", whole).items() if key != "tasks"}
            records = cast("list[Any]", whole["tasks"])
        else:
            records = cast("list[Any]", whole if isinstance(whole, list) else [whole])
    if not records:
        raise InputError("there is no task in this file", path=path, remedy="write one task a line")
    if len(records) > MAX_TASKS:
        raise InputError(
            f"{len(records):,} tasks are more than {MAX_TASKS:,}",
            path=path,
            remedy="cut the file into several",
        )
    return SuiteContent(
        path=path,
        stem=named.stem,
        sha256=sha256,
        records=records,
        head=head,
        beside=others or {},
    )


def _refuse_binary(data: bytes, path: str, *, any_encoding: bool) -> None:
    """Refuse what is no text: a picture, an archive; with ``any_encoding`` older encodings of text are good."""
    is_text = b"\0" not in data
    if is_text and not any_encoding:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            is_text = False
    if not is_text:
        raise InputError(
            "this is no suite of tasks: it is not text in UTF-8",
            path=path,
            remedy="give a JSON list of tasks: [{…}, …]",
        )


def _whole(data: bytes, path: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        lines = [line for line in data.splitlines() if line.strip()]
        if len(lines) > 1 and all(line.lstrip().startswith(b"{") for line in lines):
            return _lines(data, path)
        raise InputError(
            f"the file is not valid JSON: {error.msg}", path=path, remedy="give a list of tasks: [{…}, …]"
        ) from error


def _lines(data: bytes, path: str) -> list[Any]:
    found: list[Any] = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            raise InputError(
                f"line {number} is not valid JSON: {error.msg}", path=path, remedy="write one object a line"
            ) from error
    return found
