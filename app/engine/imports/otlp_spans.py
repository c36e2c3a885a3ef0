"""Spans of OTLP/JSON files, trace by trace: one JSON document, or a line for each export request.

A trace may be spread over lines and over the files of one folder (a collector rotates its files). Ids are hexadecimal
(the OTLP specification) or base64 (protobuf's own JSON); field names are lowerCamelCase or as in the protocol.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.imports.source_files import read_bytes_start
from app.errors import InputError, PathError
from kb import reading

MAX_REQUEST_BYTES = 128 * 2**20
"""Longest JSON document, or line, that is read."""
MAX_SPANS = 100_000
"""Spans read of one trace."""
MAX_DEPTH = 12
"""Depth of nested attribute values."""

Mapped = dict[str, Any]

_MARKS = (b'"resourceSpans"', b'"resource_spans"', b'"resourceLogs"', b'"resource_logs"')
_AGENT_KEYS = ("gen_ai.", "openinference.", "traceloop.", "llm.", "ai.toolCall", "ai.operationId")
_HEX = re.compile(r"[0-9a-fA-F]+")


@dataclass(slots=True)
class SpanEvent:
    """An event of a span, or a log record that names the span; times are Unix seconds."""

    name: str
    at: float
    attributes: Mapped
    body: object = None


@dataclass(slots=True)
class TracedSpan:
    """One span; ``failed`` is its status, ``message`` what the status says."""

    id: str
    parent: str
    name: str
    start: float
    end: float
    attributes: Mapped
    events: list[SpanEvent] = field(default_factory=list[SpanEvent])
    failed: bool = False
    message: str = ""


@dataclass(slots=True)
class Trace:
    """The spans of a trace in time order, each once, with what was logged under no span.

    ``cut`` says that there were more spans than are read.
    """

    spans: list[TracedSpan]
    loose: list[SpanEvent]
    resource: Mapped
    content_hash: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class TraceIndex:
    """The traces of one file: their places in it (lines), or their parts of its one document.

    ``agents`` are the traces in which an agent, a model or a tool has a span.
    """

    places: Mapping[str, Sequence[tuple[int, int] | bytes]]
    agents: frozenset[str]
    faults: tuple[str, ...]


def looks_like_otlp(head: bytes) -> bool:
    """Whether a file's beginning is that of an export request in JSON."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"{") and any(mark in start[:4096] for mark in _MARKS)


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


@lru_cache(maxsize=2)
def _index(path: Path, size: int, changed: int) -> TraceIndex:
    places: dict[str, list[tuple[int, int] | bytes]] = {}
    agents, faults = set[str](), list[str]()
    try:
        with path.open("rb") as file:
            first = file.readline(MAX_REQUEST_BYTES + 1)
            if _json(first) is None and size > len(first):
                return _index_document(path)
            number, at = 1, 0
            line = first
            while line:
                what = _index_line(line, at, places, agents) if line.strip() else ""
                if what:
                    faults.append(f"line {number} {what}")
                if len(line) > MAX_REQUEST_BYTES:
                    break
                at += len(line)
                number += 1
                line = file.readline(MAX_REQUEST_BYTES + 1)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path=str(path)) from error
    if not places and faults:
        raise InputError(f"no OpenTelemetry data can be read: {faults[0]}", path=str(path))
    more = [f"{len(faults) - 5} more lines can't be read"] if len(faults) > 5 else []
    return TraceIndex(places, frozenset(agents), (*faults[:5], *more))


def _index_line(
    line: bytes, at: int, places: dict[str, list[tuple[int, int] | bytes]], agents: set[str]
) -> str:
    """Add the traces of a line; return why it can't be read, "" where it can."""
    if len(line) > MAX_REQUEST_BYTES:
        return f"is longer than {MAX_REQUEST_BYTES >> 20} MB"
    document = _json(line)
    if document is None:
        return "is cut off or no JSON object"
    for trace, _, record in _records(document):
        found = places.setdefault(trace, [])
        if not found or found[-1] != (at, len(line)):
            found.append((at, len(line)))
        if trace not in agents and _is_agents(record):
            agents.add(trace)
    return ""


def _index_document(path: Path) -> TraceIndex:
    try:
        data = reading.read_bytes(path, MAX_REQUEST_BYTES, follow=False)
    except reading.Unreadable as error:
        raise InputError(error.why, path=str(path), remedy="write one export request a line") from error
    try:
        document = mapping(orjson.loads(data.lstrip(b"\xef\xbb\xbf")))
    except orjson.JSONDecodeError as error:
        what = "the file is cut off" if error.pos >= len(data.rstrip()) else "not valid JSON"
        raise InputError(what, path=str(path)) from error
    parts: dict[str, list[Mapped]] = {}
    agents = set[str]()
    for trace, resource, record in _records(document):
        key = "logRecords" if "body" in record or "logRecords" in record else "spans"
        parts.setdefault(trace, []).append({"resource": resource, key: record})
        if _is_agents(record):
            agents.add(trace)
    return TraceIndex(
        {trace: [orjson.dumps({"_records": rows})] for trace, rows in parts.items()}, frozenset(agents), ()
    )


def read_trace(paths: Sequence[Path], trace: str) -> Trace:
    """Return a trace from the files that hold parts of it.

    Raises:
        InputError: a file can't be read, or none of them has a span of it.
    """
    rows: list[tuple[Mapped, Mapped]] = []
    for path in paths:
        rows += list(_rows_of(path, trace))
    spans: dict[str, Mapped] = {}
    logs: dict[bytes, Mapped] = {}
    resource: Mapped = {}
    cut = False
    for about, record in rows:
        if "body" in record or field_of(record, "timeUnixNano") is not None:
            logs[_canonical(record)] = record
            continue
        resource = resource or about
        key = _span_id(field_of(record, "spanId")) or f"?{len(spans)}"
        if key not in spans and len(spans) >= MAX_SPANS:
            cut = True
            continue
        if key not in spans or len(_canonical(record)) > len(_canonical(spans[key])):
            spans[key] = record
    if not spans:
        raise InputError("the trace is no longer in the file", path=str(paths[0]) if paths else "")
    digest = hashlib.sha256()
    for data in sorted({_canonical(record) for record in spans.values()} | logs.keys()):
        digest.update(len(data).to_bytes(8, "big") + data)
    read = sorted((_span(key, record) for key, record in spans.items()), key=lambda one: (one.start, one.end))
    by_id = {span.id: span for span in read}
    loose: list[SpanEvent] = []
    for record in logs.values():
        owner = by_id.get(_span_id(field_of(record, "spanId")))
        (owner.events if owner is not None else loose).append(_log_event(record))
    for span in read:
        span.events.sort(key=lambda event: event.at)
    return Trace(read, loose, attributes(resource.get("attributes")), digest.hexdigest(), cut)


def _rows_of(path: Path, trace: str) -> Iterator[tuple[Mapped, Mapped]]:
    places = index_file(path).places.get(trace, ())
    for place in places:
        if isinstance(place, bytes):
            for row in mappings(mapping(orjson.loads(place)).get("_records")):
                yield mapping(row.get("resource")), mapping(row.get("spans") or row.get("logRecords"))
    ranges = [place for place in places if not isinstance(place, bytes)]
    if not ranges:
        return
    try:
        with path.open("rb") as file:
            for start, length in ranges:
                file.seek(start)
                document = _json(file.read(length))
                for found, resource, record in _records(document or {}):
                    if found == trace:
                        yield resource, record
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path=str(path)) from error


def _records(document: Mapped) -> Iterator[tuple[str, Mapped, Mapped]]:
    """Yield trace, resource and record of every span and log record in an export request."""
    for kind, group, items in (
        ("resourceSpans", ("scopeSpans", "instrumentationLibrarySpans"), "spans"),
        ("resourceLogs", ("scopeLogs",), "logRecords"),
    ):
        for part in mappings(field_of(document, kind)):
            resource = mapping(part.get("resource"))
            for name in group:
                for scope in mappings(field_of(part, name)):
                    for record in mappings(field_of(scope, items)):
                        if items == "logRecords":
                            record.setdefault("body", None)
                        trace = trace_id(field_of(record, "traceId"))
                        if trace:
                            yield trace, resource, record


def _is_agents(record: Mapped) -> bool:
    if "body" in record:
        return False
    found = record.get("attributes")
    if isinstance(found, dict):
        names = [str(name) for name in cast("Mapped", found)]
    else:
        names = [str(row.get("key")) for row in mappings(found)]
    return any(name.startswith(_AGENT_KEYS) for name in names)


def _span(key: str, record: Mapped) -> TracedSpan:
    status = mapping(record.get("status"))
    start = seconds(field_of(record, "startTimeUnixNano"))
    return TracedSpan(
        id=key,
        parent=_span_id(field_of(record, "parentSpanId")),
        name=text(record.get("name"))[:500],
        start=start,
        end=max(seconds(field_of(record, "endTimeUnixNano")), start),
        attributes=attributes(record.get("attributes")),
        events=[
            SpanEvent(
                text(event.get("name")),
                seconds(field_of(event, "timeUnixNano")),
                attributes(event.get("attributes")),
            )
            for event in mappings(record.get("events"))
        ],
        failed=status.get("code") in (2, "2", "STATUS_CODE_ERROR", "ERROR"),
        message=text(status.get("message")),
    )


def _log_event(record: Mapped) -> SpanEvent:
    found = attributes(record.get("attributes"))
    name = text(field_of(record, "eventName")) or text(found.get("event.name"))
    at = seconds(field_of(record, "timeUnixNano")) or seconds(field_of(record, "observedTimeUnixNano"))
    return SpanEvent(name, at, found, _value(record.get("body"), 0))


def attributes(value: object) -> Mapped:
    """Return attributes as plain values by name; a plain object is taken as it is."""
    if isinstance(value, dict):
        return {str(name): one for name, one in cast("Mapped", value).items()}
    return {
        key: _value(row.get("value"), 0) for row in mappings(value) if isinstance(key := row.get("key"), str)
    }


def _value(value: object, depth: int) -> object:
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        return value if not isinstance(value, dict | list) else None
    for name, one in cast("Mapped", value).items():
        match name:
            case "stringValue" | "string_value" | "boolValue" | "bool_value" | "bytesValue" | "bytes_value":
                return one if isinstance(one, str | bool) else None
            case "intValue" | "int_value":
                return whole(one)
            case "doubleValue" | "double_value":
                return real(one)
            case "arrayValue" | "array_value":
                return [_value(item, depth + 1) for item in items_of(mapping(one).get("values"))]
            case "kvlistValue" | "kvlist_value":
                return {
                    text(row.get("key")): _value(row.get("value"), depth + 1)
                    for row in mappings(mapping(one).get("values"))
                }
            case _:
                continue
    return None


def trace_id(value: object) -> str:
    """Return a trace's id as 32 hexadecimal digits where it is one, else as it stands."""
    return _id(value, 16)


def _span_id(value: object) -> str:
    return _id(value, 8)


def _id(value: object, size: int) -> str:
    if not isinstance(value, str) or not value or len(value) > 128:
        return ""
    if len(value) == 2 * size and _HEX.fullmatch(value):
        return value.lower() if value.strip("0") else ""
    try:
        data = base64.b64decode(value, validate=True)
    except (ValueError, binascii.Error):
        data = b""
    return data.hex() if len(data) == size else value


def seconds(nanoseconds: object) -> float:
    """Return nanoseconds, a number or its text, as seconds; 0 for anything else."""
    found = real(nanoseconds)
    return found / 1e9 if found is not None and 0 < found < 1e20 else 0.0


def real(value: object) -> float | None:
    """Return a finite number, also one written as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def whole(value: object) -> int | None:
    """Return a whole number, also one written as text."""
    found = real(value)
    return int(found) if found is not None and abs(found) < 2**63 else None


def field_of(record: Mapped, name: str) -> object:
    """Return a field by its lowerCamelCase name, or by the one of the protocol's definition."""
    if name in record:
        return record[name]
    return record.get(re.sub(r"([A-Z])", lambda found: "_" + found[1].lower(), name))


def text(value: object) -> str:
    """Return a text, "" for anything else."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapped:
    """Return an object, an empty one for anything else."""
    return cast("Mapped", value) if isinstance(value, dict) else {}


def items_of(value: object) -> list[object]:
    """Return a list, an empty one for anything else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def mappings(value: object) -> list[Mapped]:
    """Return the objects of a list."""
    return [cast("Mapped", item) for item in items_of(value) if isinstance(item, dict)]


def _json(data: bytes) -> Mapped | None:
    try:
        value: object = orjson.loads(data.lstrip(b"\xef\xbb\xbf"))
    except ValueError:
        return None
    return cast("Mapped", value) if isinstance(value, dict) else None


def _canonical(record: Mapped) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def problems_of(path: Path, index: TraceIndex) -> list[PathError]:
    """Return the lines of a file that can't be read."""
    return [PathError(path=str(path), error=fault) for fault in index.faults]


def otlp_files(folder: Path) -> list[Path]:
    """Return the files of a folder that hold OTLP/JSON, in the order of their names."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise InputError(f"can't be listed: {error.strerror}", path=str(folder)) from error
    return [folder / name for name in names if looks_like_otlp(read_bytes_start(folder / name, 4200))]
