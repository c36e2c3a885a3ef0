"""Values of OTLP/JSON: attributes, ids, times and numbers, each of which may be of a wrong type."""

from __future__ import annotations

import base64
import binascii
import math
import re
from functools import cache
from typing import Any, cast

from app.engine.imports.json_values import fields_of, items_of

MAX_DEPTH = 12
"""Depth of nested attribute values."""

Mapped = dict[str, Any]

_HEX = re.compile(r"[0-9a-fA-F]+")


def attributes(value: object) -> Mapped:
    """Return attributes as plain values by name; a plain object is taken as it is."""
    if isinstance(value, dict):
        return {str(name): one for name, one in cast("Mapped", value).items()}
    return {
        key: value_of(row.get("value")) for row in mappings(value) if isinstance(key := row.get("key"), str)
    }


def value_of(value: object, depth: int = 0) -> object:
    """Return an ``AnyValue`` as a plain value."""
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
                return [value_of(item, depth + 1) for item in items_of(fields_of(one).get("values"))]
            case "kvlistValue" | "kvlist_value":
                return {
                    text(row.get("key")): value_of(row.get("value"), depth + 1)
                    for row in mappings(fields_of(one).get("values"))
                }
            case _:
                continue
    return None


def trace_id(value: object) -> str:
    """Return a trace's id as 32 hexadecimal digits where it is one, else as it stands."""
    return _id(value, 16)


def span_id(value: object) -> str:
    """Return a span's id as 16 hexadecimal digits where it is one, else as it stands."""
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
    return record.get(_protocol_name(name))


@cache
def _protocol_name(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: "_" + found[1].lower(), name)


def text(value: object) -> str:
    """Return a text, "" for anything else."""
    return value if isinstance(value, str) else ""


def mappings(value: object) -> list[Mapped]:
    """Return the objects of a list."""
    return [cast("Mapped", item) for item in items_of(value) if isinstance(item, dict)]
