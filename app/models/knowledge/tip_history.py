"""The revisions of a tip with word-by-word changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from PySide6.QtCore import QObject

from app.models.common.object_list import ObjectList
from app.models.knowledge.tip_table import ago, exact_time
from kb.procedure import ProcedureOrigin
from kb.tip import Revision, Tip

FIELDS = ("text", "when", "do", "before", "why", "steps", "scope", "site", "kind", "status", "keywords")
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRow:
    """One revision compared with the one before it; ``changes`` is empty for the first."""

    revision: int
    deed: str
    author: str
    at: float
    changes: tuple[FieldChange, ...]
    is_newest: bool
    waived: str = ""
    """Rules and reason of this revision's waiver."""

    @property
    def summary(self) -> str:
        """The changed fields and the waiver."""
        return ", ".join([change.field for change in self.changes] + ([self.waived] if self.waived else []))


def diff_words(old: str, new: str) -> tuple[DiffPart, ...]:
    """Return the removed and added stretches in words; joined without the removed ones they are ``new``."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
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


def field_text(tip: Tip, field: str) -> str:
    if field == "keywords":
        return ", ".join(tip.keywords)
    if field == "steps":  # compiled ones change with the text
        made = tip.procedure
        return (
            "; ".join(made.lines) if made is not None and made.origin is not ProcedureOrigin.COMPILER else ""
        )
    return str(getattr(tip, field))


def changes_between(old: Tip, new: Tip) -> tuple[FieldChange, ...]:
    pairs = [(field, field_text(old, field), field_text(new, field)) for field in FIELDS]
    return tuple(FieldChange(field, diff_words(a, b)) for field, a, b in pairs if a != b)


def revision_rows(revisions: Sequence[Revision]) -> list[RevisionRow]:
    """Return revisions (given oldest first) as rows, the newest first.  Slow: not for the window's thread."""
    rows: list[RevisionRow] = []
    for number, one in enumerate(revisions):
        changes = changes_between(revisions[number - 1].tip, one.tip) if number else ()
        rows.append(
            RevisionRow(
                revision=one.tip.revision,
                deed=one.deed,
                author=one.author,
                at=one.at,
                changes=changes,
                is_newest=number == len(revisions) - 1,
                waived=_waived(one.tip),
            )
        )
    return rows[::-1]


def _waived(tip: Tip) -> str:
    return f"waived {', '.join(tip.waiver.rules)}: {tip.waiver.reason}" if tip.waiver is not None else ""


class RevisionListModel(ObjectList[RevisionRow]):
    """Revisions, the newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.revision, parent)

    def words(self, value: RevisionRow) -> str:
        """``revision 3, edit by ana, 2 h ago: text, why``."""
        what = f": {value.summary}" if value.summary else ""
        by = f" by {value.author}" if value.author else ""
        return f"revision {value.revision}, {value.deed}{by}, {ago(value.at)}{what}"

    def tip(self, value: RevisionRow) -> str:
        """The line with the exact time."""
        return f"{self.words(value)}\n{exact_time(value.at)}"
