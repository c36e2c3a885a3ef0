"""The differences of two versions of a tip: field by field, and within a text word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from kb.procedure import ProcedureOrigin
from kb.tip import TipDraft

FIELDS = (
    "text",
    "when",
    "do",
    "before",
    "why",
    "steps",
    "scope",
    "site",
    "kind",
    "status",
    "keywords",
    "region",
    "tags",
)
"""Fields that people compare, by name; ``steps`` are corrected ones only, ``region`` is the anchor."""

LIVE_ONLY = ("tags",)
"""Fields that no frozen file holds."""

_ATTRIBUTES = {"steps": "procedure", "region": "anchor"}
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_WORD_LIMIT = 4_000
"""Words of both texts together up to which single words are compared; longer texts are shown whole."""


@dataclass(frozen=True, slots=True)
class DiffPart:
    """A stretch of text: ``same``, ``added`` or ``removed``."""

    change: str
    text: str


@dataclass(frozen=True, slots=True)
class FieldChange:
    """The changes of one field."""

    field: str
    parts: tuple[DiffPart, ...]

    @property
    def plain(self) -> str:
        """The change in one line: ``[-removed-]`` and ``{+added+}``."""
        marks = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
        return "".join(part.text.join(marks[part.change]) for part in self.parts)


def diff_words(old: str, new: str) -> tuple[DiffPart, ...]:
    """Return the removed and added stretches in words; joined without the removed ones they are ``new``."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if len(before) + len(after) > _WORD_LIMIT:
        whole = (DiffPart("removed", old), DiffPart("added", new))
        return tuple(part for part in whole if part.text)
    parts: list[DiffPart] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(DiffPart("same", "".join(after[c:d])))
            continue
        if a < b:
            parts.append(DiffPart("removed", "".join(before[a:b])))
        if c < d:
            parts.append(DiffPart("added", "".join(after[c:d])))
    return tuple(parts)


def field_text(tip: TipDraft, field: str) -> str:
    """Return a field of ``FIELDS`` as text, "" for an empty one."""
    match field:
        case "keywords" | "tags":
            return ", ".join(getattr(tip, field))
        case "steps":  # compiled ones change with the text
            made = tip.procedure
            return (
                "; ".join(made.lines)
                if made is not None and made.origin is not ProcedureOrigin.COMPILER
                else ""
            )
        case "region":
            anchor = tip.anchor
            return f"{anchor.words or anchor.role} {list(anchor.box)} {anchor.page}" if anchor else ""
        case _:
            return str(getattr(tip, field))


def same_field(a: TipDraft, b: TipDraft, field: str) -> bool:
    """Whether two versions agree in a field."""
    if field == "region":
        return a.anchor == b.anchor
    return field_text(a, field) == field_text(b, field)


def with_field_of(tip: TipDraft, other: TipDraft, field: str) -> TipDraft:
    """Return the draft with one field of another."""
    name = _ATTRIBUTES.get(field, field)
    return replace(tip, **{name: getattr(other, name)})


def changes_between(old: TipDraft, new: TipDraft, fields: Iterable[str] = FIELDS) -> tuple[FieldChange, ...]:
    """Return the changed fields; one that reads alike, such as a moved region, is among them."""
    return tuple(
        FieldChange(field, diff_words(field_text(old, field), field_text(new, field)))
        for field in fields
        if not same_field(old, new, field)
    )
