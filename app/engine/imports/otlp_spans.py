"""Spans of OTLP/JSON files, trace by trace.

A trace may be spread over lines and over the files of one folder (a collector rotates its files). Ids are hexadecimal
(the OTLP specification) or base64 (protobuf's own JSON); field names are lowerCamelCase or as in the protocol.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from app.engine.imports.json_values import fields_of
from app.engine.imports.otlp_index import records_of
from app.engine.imports.otlp_values import (
    Mapped,
    attributes,
    field_of,
    mappings,
    seconds,
    span_id,
    text,
    value_of,
)
from app.engine.imports.source_files import NESTED_TOO_DEEPLY
from app.errors import InputError

MAX_SPANS = 100_000
"""Spans read of one trace."""


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

    ``cut`` says that there were more spans than are read; ``circular`` counts those recorded as above themselves.
    """

    spans: list[TracedSpan]
    loose: list[SpanEvent]
    resource: Mapped
    content_hash: str
    cut: bool = False
    circular: int = 0


def read_trace(paths: Sequence[Path], trace: str) -> Trace:
    """Return a trace from the files that hold parts of it.

    Raises:
        InputError: a file can't be read, or none of them has a span of it.
    """
    rows: list[tuple[Mapped, Mapped]] = []
    for path in paths:
        rows += list(records_of(path, trace))
    spans: dict[str, Mapped] = {}
    logs: dict[bytes, Mapped] = {}
    resource: Mapped = {}
    cut = False
    for about, record in rows:
        if "body" in record or field_of(record, "timeUnixNano") is not None:
            logs[_canonical(record)] = record
            continue
        resource = resource or about
        key = span_id(field_of(record, "spanId")) or f"?{len(spans)}"
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
    circular = _open_cycles(by_id)
    loose: list[SpanEvent] = []
    for record in logs.values():
        owner = by_id.get(span_id(field_of(record, "spanId")))
        (owner.events if owner is not None else loose).append(_log_event(record))
    for span in read:
        span.events.sort(key=lambda event: event.at)
    return Trace(read, loose, attributes(resource.get("attributes")), digest.hexdigest(), cut, circular)


def _open_cycles(by_id: dict[str, TracedSpan]) -> int:
    """Make the spans that are above themselves spans without a parent; return how many they are."""
    done, above_themselves = set[str](), list[TracedSpan]()
    for span in by_id.values():
        path: dict[str, TracedSpan] = {}
        here: TracedSpan | None = span
        while here is not None and here.id not in done and here.id not in path:
            path[here.id] = here
            here = by_id.get(here.parent)
        if here is not None and here.id in path:
            ids = list(path)
            above_themselves += (path[one] for one in ids[ids.index(here.id) :])
        done.update(path)  # "|=" would copy the whole set
    for span in above_themselves:
        span.parent = ""
    return len(above_themselves)


def _span(key: str, record: Mapped) -> TracedSpan:
    status = fields_of(record.get("status"))
    start = seconds(field_of(record, "startTimeUnixNano"))
    return TracedSpan(
        id=key,
        parent=span_id(field_of(record, "parentSpanId")),
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
    return SpanEvent(name, at, found, value_of(record.get("body")))


def _canonical(record: Mapped) -> bytes:
    try:
        return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
    except TypeError as error:  # deeper than is written, but not than is read
        raise InputError(NESTED_TOO_DEEPLY) from error
