"""Everything that a report says, as one JSON document with keys in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import orjson

from app.engine.api.evaluation_api import Comparison
from app.engine.core.evaluation.episode import EvaluationJournal
from app.engine.evaluation.report.json_keys import KEYS
from app.engine.evaluation.report.readings import verdict_sentences
from app.errors import printable

FORMAT, VERSION = "sitelore-evaluation-report", 1
_ESCAPED = {
    **{character.encode(): f"\\u{ord(character):04x}".encode() for character in "<>&"},
    **{
        chr(code).encode(): f"\\u{code:04x}".encode()
        for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))
    },
}
"""Characters that a page or a terminal would not take as text; JSON has them in strings only."""


def json_bytes(comparison: Comparison, journals: Sequence[EvaluationJournal], files: Sequence[str]) -> bytes:
    """Return the document; ``keys`` in it says what each key means."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "keys": KEYS,
        "files": list(files),
        "sentences": verdict_sentences(comparison),
        "comparison": comparison,
        "journals": [
            {"name": journal.head.name, "notes": journal.notes, "records": journal.records}
            for journal in journals
        ],
    }
    try:
        data = orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a text that is no Unicode
        data = orjson.dumps(_plain(document), option=orjson.OPT_APPEND_NEWLINE)
    for found, escaped in _ESCAPED.items():
        data = data.replace(found, escaped)
    return data


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(str(key)): _plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
