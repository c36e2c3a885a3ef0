"""Traces of an OTLP/JSON file and the places of their records: one JSON document, or a line for each export request.

A file is parsed once. The records of a line that holds one trace are read from the file again when they are needed;
those of a line, or a document, of several traces are copied to a temporary file, trace by trace.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import cast

import orjson

from app.engine.imports.json_values import fields_of
from app.engine.imports.otlp_values import Mapped, field_of, mappings, trace_id
from app.engine.imports.source_files import NESTED_TOO_DEEPLY, read_bytes_start, read_json_object
from app.errors import InputError, PathError
from kb import reading

MAX_REQUEST_BYTES = 128 * 2**20
"""Longest JSON document, or line, that is read."""

_BOM = b"\xef\xbb\xbf"
_MARKS = (b'"resourceSpans"', b'"resource_spans"', b'"resourceLogs"', b'"resource_logs"')
_AGENT_KEYS = ("gen_ai.", "openinference.", "traceloop.", "llm.", "ai.toolCall", "ai.operationId")

Extent = tuple[int, int]
"""Start and length in bytes."""


@dataclass(frozen=True, slots=True)
class _Copied:
    """Records of one trace, and of their resource, in the temporary file."""

    resource: Extent
    records: Extent


class _Copies:
    """Temporary file of records; it has no name and ends with this object."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the finalizer
        self._lock = Lock()
        self._end = 0
        self._last: tuple[Extent, Mapped] = ((0, 0), {})
        weakref.finalize(self, self._file.close)

    def add(self, value: object) -> Extent:
        """Append a value."""
        data = orjson.dumps(value)
        with self._lock:
            self._file.seek(self._end)
            self._file.write(data)
            extent = (self._end, len(data))
            self._end += len(data)
        return extent

    def read(self, extent: Extent) -> object:
        """Return a value."""
        with self._lock:
            self._file.seek(extent[0])
            data = self._file.read(extent[1])
        return orjson.loads(data)

    def resource(self, extent: Extent) -> Mapped:
        """Return a resource; the last one is remembered, because most traces of a file share it."""
        last = self._last
        if last[0] != extent:
            last = self._last = (extent, fields_of(self.read(extent)))
        return last[1]


@dataclass(frozen=True, slots=True)
class TraceIndex:
    """The traces of one file, and where the records of each are.

    ``agents`` are the traces in which an agent, a model or a tool has a span. ``faults`` are lines that can't be read.
    """

    places: Mapping[str, Sequence[Extent | _Copied]]
    agents: frozenset[str]
    faults: tuple[str, ...]
    copies: _Copies


@dataclass(slots=True)
class _Indexing:
    """An index in the making."""

    places: dict[str, list[Extent | _Copied]] = field(default_factory=dict[str, "list[Extent | _Copied]"])
    agents: set[str] = field(default_factory=set[str])
    copies: _Copies = field(default_factory=_Copies)

    def add(self, document: Mapped, extent: Extent | None) -> None:
        """Add the traces of an export request that stands at ``extent`` of the file, or is not a line of it.

        Raises:
            TypeError: it is nested too deeply to be copied.
        """
        parts = list(_parts(document))
        traces = {trace for _, records in parts for trace in records}
        if extent is not None and len(traces) == 1:
            self.places.setdefault(traces.pop(), []).append(extent)
        else:
            copied: list[tuple[str, _Copied]] = []
            for resource, records in parts:
                about = self.copies.add(resource)
                copied += [(trace, _Copied(about, self.copies.add(rows))) for trace, rows in records.items()]
            for trace, place in copied:
                self.places.setdefault(trace, []).append(place)
        for _, records in parts:
            new = [trace for trace in records if trace not in self.agents]
            self.agents.update(trace for trace in new if _has_agent(records[trace]))

    def finished(self, faults: Sequence[str] = ()) -> TraceIndex:
        """Return the index."""
        more = [f"{len(faults) - 5} more lines can't be read"] if len(faults) > 5 else []
        return TraceIndex(self.places, frozenset(self.agents), (*faults[:5], *more), self.copies)


def looks_like_otlp(head: bytes) -> bool:
    """Whether a file's beginning is that of an export request in JSON."""
    start = head.lstrip(_BOM + b" \t\r\n")
    return start.startswith(b"{") and any(mark in start[:4096] for mark in _MARKS)


def otlp_files(folder: Path) -> list[Path]:
    """Return the files of a folder that hold OTLP/JSON, in the order of their names."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise InputError(f"can't be listed: {error.strerror}", path=str(folder)) from error
    return [folder / name for name in names if looks_like_otlp(read_bytes_start(folder / name, 4200))]


def problems_of(path: Path, index: TraceIndex) -> list[PathError]:
    """Return the lines of a file that can't be read."""
    return [PathError(path=str(path), error=fault) for fault in index.faults]


def index_file(path: Path) -> TraceIndex:
    """Return the traces of a file, remembered as long as the file does not change.

    Raises:
        InputError: it is a link, can't be read, or is no JSON.
    """
    try:
        if path.is_symlink() or not path.is_file():
            raise InputError(reading.LINK if path.is_symlink() else "no regular file", path=str(path))
        facts = path.stat()
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path=str(path)) from error
    return _index(path, facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=16)
def _index(path: Path, size: int, changed: int) -> TraceIndex:
    try:
        with path.open("rb") as file:
            first = file.readline(MAX_REQUEST_BYTES + 1)
        if size > len(first) and isinstance(_line(first, path), str):
            return _index_document(path)
        return _index_lines(path)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path=str(path)) from error


def _index_lines(path: Path) -> TraceIndex:
    made, faults, at = _Indexing(), list[str](), 0
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_REQUEST_BYTES + 1), b""), 1):
            document = _line(line, path) if line.strip() else {}
            try:
                what = document if isinstance(document, str) else made.add(document, (at, len(line)))
            except TypeError:
                what = f"is {NESTED_TOO_DEEPLY}"
            if what:
                faults.append(f"line {number} {what}")
            if len(line) > MAX_REQUEST_BYTES:
                break
            at += len(line)
    if not made.places and faults:
        raise InputError(f"no OpenTelemetry data can be read: {faults[0]}", path=str(path))
    return made.finished(faults)


def _line(line: bytes, path: Path) -> Mapped | str:
    """Return the document of a line, or why it can't be read."""
    if len(line) > MAX_REQUEST_BYTES:
        return f"is longer than {MAX_REQUEST_BYTES >> 20} MB"
    try:
        return read_json_object(line.lstrip(_BOM), path)
    except InputError as error:
        deep = error.what == NESTED_TOO_DEEPLY
        return f"is {NESTED_TOO_DEEPLY}" if deep else "is cut off or no JSON object"


def _index_document(path: Path) -> TraceIndex:
    made = _Indexing()
    try:
        data = reading.read_bytes(path, MAX_REQUEST_BYTES, follow=False).lstrip(_BOM)
    except reading.Unreadable as error:
        raise InputError(error.why, path=str(path), remedy="write one export request a line") from error
    document = read_json_object(data, path)
    del data
    try:
        made.add(document, None)
    except TypeError as error:
        raise InputError(NESTED_TOO_DEEPLY, path=str(path)) from error
    return made.finished()


def records_of(path: Path, trace: str) -> Iterator[tuple[Mapped, Mapped]]:
    """Yield the resource and each record of a trace in a file; a log record has the field ``body``.

    Raises:
        InputError: the file can't be read.
    """
    index = index_file(path)
    try:
        with path.open("rb") as file:
            for place in index.places.get(trace, ()):
                if isinstance(place, _Copied):
                    resource = index.copies.resource(place.resource)
                    yield from ((resource, row) for row in mappings(index.copies.read(place.records)))
                    continue
                file.seek(place[0])
                document = _line(file.read(place[1]), path)
                for resource, records in _parts(fields_of(document)):
                    yield from ((resource, row) for row in records.get(trace, ()))
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path=str(path)) from error


def _parts(document: Mapped) -> Iterator[tuple[Mapped, dict[str, list[Mapped]]]]:
    """Yield each resource of an export request with its spans and log records by trace."""
    for kind, group, items in (
        ("resourceSpans", ("scopeSpans", "instrumentationLibrarySpans"), "spans"),
        ("resourceLogs", ("scopeLogs",), "logRecords"),
    ):
        for part in mappings(field_of(document, kind)):
            found: dict[str, list[Mapped]] = {}
            for scope in (scope for name in group for scope in mappings(field_of(part, name))):
                for record in mappings(field_of(scope, items)):
                    if items == "logRecords":
                        record.setdefault("body", None)
                    if trace := trace_id(field_of(record, "traceId")):
                        found.setdefault(trace, []).append(record)
            if found:
                yield fields_of(part.get("resource")), found


def _has_agent(records: Sequence[Mapped]) -> bool:
    return any(
        name.startswith(_AGENT_KEYS) for record in records if "body" not in record for name in _names(record)
    )


def _names(record: Mapped) -> list[str]:
    found = record.get("attributes")
    if isinstance(found, dict):
        return [str(name) for name in cast("Mapped", found)]
    return [str(row.get("key")) for row in mappings(found)]
