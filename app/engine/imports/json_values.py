"""Values of JSON of any type, read as objects and lists; anything else is an empty one."""

from __future__ import annotations

from typing import Any, cast

_EMPTY: dict[str, Any] = {}


def fields_of(value: object) -> dict[str, Any]:
    """Return an object's fields, none of anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else _EMPTY


def items_of(value: object) -> list[Any]:
    """Return a list's items, none of anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []
