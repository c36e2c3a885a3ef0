"""The revisions of a tip with word-by-word changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.models.common.object_list import ObjectList
from app.models.knowledge.tip_table import ago, exact_time
from kb.tip import Revision, Tip
from kb.tip_changes import FieldChange, changes_between

__all__ = ["FieldChange", "RevisionListModel", "RevisionRow", "revision_rows"]


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
