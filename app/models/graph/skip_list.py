"""Reasons why an exploration skipped elements, with their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.engine.core.transition import SkipReason
from app.models.common.object_list import ObjectList


@dataclass(frozen=True, slots=True)
class SkipRow:
    """Number of elements skipped for one reason."""

    reason: str
    count: int


def skip_words(reason: str) -> str:
    """Return a stored reason in words; one of another version is shown as it is."""
    try:
        return SkipReason(reason).words
    except ValueError:
        return reason


class SkipListModel(ObjectList[SkipRow]):
    """Reasons for skipping, the most frequent first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.reason, parent)

    def words(self, value: SkipRow) -> str:
        """``120 already tried on the page they came from``."""
        return f"{value.count} {value.reason}"

    def show_counts(self, counts: Iterable[tuple[str, int]]) -> None:
        """Update the counts; known reasons keep their places, new ones are sorted in."""
        rows = [SkipRow(skip_words(reason), count) for reason, count in counts if count]
        self.merge(sorted(rows, key=lambda row: (-row.count, row.reason)), keep_places=True)
