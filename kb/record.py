"""Converts a tip to and from a table row: one codec for the live and the frozen file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Protocol, cast

from kb.errors import BadTip
from kb.procedure import procedure_from_json, procedure_to_json
from kb.tip import Anchor, Kind, Provenance, Scope, Status, Tip, TipDraft

FIRST_COLUMNS = (
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
"""Columns of the first layout.  Lists and the provenance are JSON, everything else is plain text."""

COLUMNS = (*FIRST_COLUMNS, "procedure", "anchor")
"""All columns; procedure and anchor are JSON, empty for none."""

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
        to_json(procedure_to_json(draft.procedure)) if draft.procedure is not None else "",
        to_json(anchor_to_json(draft.anchor)) if draft.anchor is not None else "",
    )


class RecordRow(Protocol):
    """``sqlite3.Row``, or a mapping."""

    def __getitem__(self, key: str, /) -> Any: ...

    def keys(self) -> Iterable[str]:
        """Return the names of the columns."""
        ...


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
        procedure=procedure_from_json(json.loads(row["procedure"])) if _has(row, "procedure") else None,
        anchor=anchor_from_json(json.loads(row["anchor"])) if _has(row, "anchor") else None,
    )


def _has(row: RecordRow, column: str) -> bool:
    """Whether a column is there and filled; files of the first layout lack some."""
    return column in row.keys() and bool(row[column])  # noqa: SIM118 - a sqlite3.Row iterates over its values


def anchor_to_json(anchor: Anchor) -> dict[str, Any]:
    """Serialise the fields that are filled."""
    fields = asdict(anchor) | {"box": list(anchor.box), "neighbours": list(anchor.neighbours)}
    return {name: value for name, value in fields.items() if value and value != [0, 0, 0, 0]}


def anchor_from_json(given: object) -> Anchor:
    """Read the output of ``anchor_to_json``; unknown fields are ignored.  Raises ``BadTip`` for another shape."""
    if not isinstance(given, Mapping):
        raise BadTip("an anchor must be a JSON object")
    fields = cast("Mapping[str, Any]", given)
    box: object = fields.get("box", [0, 0, 0, 0])
    near: object = fields.get("neighbours", [])
    numbers = cast("list[object]", box) if isinstance(box, list) else []
    if len(numbers) != 4 or not all(isinstance(one, int) and 0 <= one < 10**6 for one in numbers):
        raise BadTip("an anchor's box must be four whole numbers: left, top, width, height")
    if not isinstance(near, list) or not all(isinstance(one, str) for one in cast("list[object]", near)):
        raise BadTip("an anchor's neighbours must be a list of texts")
    left, top, width, height = cast("list[int]", numbers)
    return Anchor(
        screenshot=str(fields.get("screenshot", "")),
        box=(left, top, width, height),
        words=str(fields.get("words", "")),
        role=str(fields.get("role", "")),
        neighbours=tuple(cast("list[str]", near)),
        page=str(fields.get("page", "")),
    )


def provenance_to_json(provenance: Provenance) -> dict[str, Any]:
    """Serialise the known fields."""
    fields = ((name, getattr(provenance, name)) for name in Provenance.__dataclass_fields__)
    return {name: value for name, value in fields if value not in ("", None)}


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
