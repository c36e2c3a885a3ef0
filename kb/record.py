"""Converts a tip to and from a table row: one codec for the live and the frozen file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Protocol

from kb.tip import Kind, Provenance, Scope, Status, Tip, TipDraft

COLUMNS = (
    "site",
    "host",
    "path",
    "query",
    "kind",
    "text",
    "when",
    "do",
    "before",
    "why",
    "keywords",
    "status",
    "provenance",
    "taint",
)
"""Lists and the provenance are JSON, everything else is plain text."""

QUOTED = ", ".join(f'"{name}"' for name in COLUMNS)
"""The columns for a statement: ``when`` and ``do`` are SQL keywords."""


def to_row(draft: TipDraft) -> tuple[str, ...]:
    """The values of ``COLUMNS``."""
    return (
        draft.site,
        draft.scope.host,
        draft.scope.path,
        to_json(list(draft.scope.query)),
        draft.kind.value,
        draft.text,
        draft.when,
        draft.do,
        draft.before,
        draft.why,
        to_json(list(draft.keywords)),
        draft.status.value,
        to_json(provenance_to_json(draft.provenance)),
        to_json(list(draft.taint)),
    )


class RecordRow(Protocol):
    """``sqlite3.Row``, or a mapping."""

    def __getitem__(self, key: str, /) -> Any: ...


def from_row(
    row: RecordRow, *, id: str, revision: int = 1, created_at: float = 0.0, changed_at: float = 0.0
) -> Tip:
    """The tip of a row with ``COLUMNS``; fields that belong to the file rather than to the tip are passed
    separately.
    """
    return Tip(
        id=id,
        revision=revision,
        created_at=created_at,
        changed_at=changed_at,
        site=row["site"],
        scope=Scope(host=row["host"], path=row["path"], query=_strings(row["query"])),
        kind=Kind(row["kind"]),
        text=row["text"],
        when=row["when"],
        do=row["do"],
        before=row["before"],
        why=row["why"],
        keywords=_strings(row["keywords"]),
        status=Status(row["status"]),
        provenance=provenance_from_json(json.loads(row["provenance"])),
        taint=_strings(row["taint"]),
    )


def provenance_to_json(provenance: Provenance) -> dict[str, Any]:
    """Serialise the known fields."""
    return {name: value for name, value in asdict(provenance).items() if value not in ("", None)}


def provenance_from_json(given: Mapping[str, Any]) -> Provenance:
    """Read the output of ``provenance_to_json``; unknown fields are ignored."""
    known = {
        name: str(value)
        for name, value in given.items()
        if name in Provenance.__dataclass_fields__ and name != "step"
    }
    step = given.get("step")
    return Provenance(**known, step=step if isinstance(step, int) else None)


def to_json(value: Any) -> str:
    """Canonical JSON: sorted keys, no blanks, characters as they are."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _strings(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text != "[]" else ()
