"""Dataclasses as JSON rows; they are read strictly, and a broken row affects only itself."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import ValidationError

from app.engine.core.supervision import MAX_HINT_CHARS, ApprovalRequest, Intervention, OperatorDecision
from app.engine.store.run_files import type_adapter
from app.errors import UsageError

log = logging.getLogger(__name__)

T = TypeVar("T")
EnumT = TypeVar("EnumT", bound=StrEnum)

_STORED_NAMES: dict[type[Any], dict[str, str]] = {
    Intervention: {"action": "deed"},
    OperatorDecision: {"kind": "verb", "scope": "reach", "call": "command"},
    ApprovalRequest: {"call": "command"},
}
"""Fields by the names they have on disk, where these differ."""


def to_json(value: object) -> str:
    """Encode a dataclass as JSON.

    Half a surrogate pair, which a page's script can put into any text, becomes a question mark: SQLite takes none.
    """
    document = type_adapter(type(value)).dump_python(value, mode="json")
    for name, stored in _STORED_NAMES.get(type(value), {}).items():
        document[stored] = document.pop(name)
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()


def from_json(kind: type[T], document: str, where: str) -> T | None:
    """Decode a dataclass; ``None``, with a warning in the log, where that fails."""
    try:
        if kind not in _STORED_NAMES:
            return type_adapter(kind).validate_json(document)
        names = {stored: name for name, stored in _STORED_NAMES[kind].items()}
        fields = {names.get(key, key): field for key, field in json.loads(document).items()}
        return type_adapter(kind).validate_json(json.dumps(fields))
    except (ValidationError, ValueError, AttributeError) as error:
        log.warning("%s can't be read and is skipped: %s", where, str(error).splitlines()[0])
        return None


def all_from_json(kind: type[T], rows: Iterable[Any], what: str) -> list[T]:
    """Decode ``(seq, document)`` rows in their order, without the unreadable ones."""
    found = (from_json(kind, row["document"], f"{what} {row['seq']}") for row in rows)
    return [one for one in found if one is not None]


def enum_member(kind: type[EnumT], word: str) -> EnumT | None:
    """Return the enumeration member of a stored word; ``None`` for one of a newer version."""
    try:
        return kind(word)
    except ValueError:
        return None


def check_length(text: str, what: str) -> str:
    """Return a text that is short enough to be stored whole.

    Raises:
        UsageError: it is too long; ``what`` names it.
    """
    if len(text) > MAX_HINT_CHARS:
        raise UsageError(
            f"{what} has {len(text):,} characters; at most {MAX_HINT_CHARS:,} are allowed",
            remedy="nothing was stored; shorten it, or write tips instead",
        )
    return text
