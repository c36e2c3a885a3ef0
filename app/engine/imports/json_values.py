"""Values of JSON of any type, read as objects and lists; anything else is an empty one."""

from __future__ import annotations

from typing import Any, cast

import orjson


def fields_of(value: object) -> dict[str, Any]:
    """Return an object's fields, none of anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: object) -> list[Any]:
    """Return a list's items, none of anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def parsed(value: object) -> object:
    """Return a JSON text as its value, anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return orjson.loads(value)
        except ValueError:
            return value
    return value
