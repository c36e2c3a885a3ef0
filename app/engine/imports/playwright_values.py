"""Values in a Playwright trace's events: bounded arguments and results, errors, and the forms of old versions."""

from __future__ import annotations

from typing import Any, cast

import orjson

from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.step_records import text

MAX_VALUE = 20_000
"""Characters of one value."""

Fields = dict[str, Any]


def flat_event(event: Fields) -> Fields:
    """Return an event of the versions before 4, whose calls were within ``metadata``, as one of version 4."""
    held = event.get("metadata")
    if event.get("type") not in ("action", "event") or not isinstance(held, dict):
        return event
    metadata = cast("Fields", held)
    snapshots = {
        f"{text(one.get('title'))}Snapshot": text(one.get("snapshotName"))
        for one in map(fields_of, items_of(metadata.get("snapshots")))
    }
    return {
        **metadata,
        **snapshots,
        "type": event["type"],
        "callId": text(metadata.get("id")),
        "class": metadata.get("type"),
        "time": metadata.get("startTime"),
    }


def annotations_of(event: Fields) -> set[str]:
    """Return the kinds of a test's annotations (``skip``, ``fail``)."""
    return {text(fields_of(one).get("type")) for one in items_of(event.get("annotations"))}


def short_args(value: object) -> Fields:
    """Return a call's arguments without those that are long (files, documents)."""
    fields = list(fields_of(value).items())[:100]
    return {name: short_value(held) for name, held in fields}


def short_value(value: object) -> Any:
    """Return a value, a text cut to its bound, ``None`` for an object beyond it."""
    if isinstance(value, str):
        return value[:MAX_VALUE]
    if isinstance(value, dict | list) and len(orjson.dumps(value)) > MAX_VALUE:
        return None
    return cast("Any", value)


def error_text(value: object) -> str:
    """Return an error's kind and message, without its stack of this machine's files."""
    if isinstance(value, str):
        return value[:MAX_VALUE]
    held = fields_of(value)
    inner = held.get("error")
    if isinstance(inner, dict | str):
        return error_text(cast("object", inner))
    message = text(held.get("message")) or text(held.get("value"))
    name = text(held.get("name"))
    if not message:
        return name if not isinstance(held.get("value"), dict) else "error"
    return f"{name}: {message}"[:MAX_VALUE] if name and not message.startswith(name) else message[:MAX_VALUE]
