"""Lint findings of a tip as rows, and the spans to underline in its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.models.common.object_list import ObjectList
from kb.tip import LintFinding, LintSeverity

_RANK = {LintSeverity.ERROR: 0, LintSeverity.WARNING: 1, LintSeverity.HINT: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Underline:
    """A span of the text in characters, and its message."""

    start: int
    end: int
    severity: str
    message: str


class LintListModel(ObjectList[LintFinding]):
    """Findings, errors first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda finding: (finding.rule, finding.start, finding.end, finding.message), parent)

    def words(self, value: LintFinding) -> str:
        """``error: 'CSV' belongs to this task only``."""
        return f"{value.severity.value}: {value.message}"

    def show(self, findings: Iterable[LintFinding]) -> None:
        """Take new findings; those that stay keep their rows."""
        once = {(f.rule, f.start, f.end, f.message): f for f in findings}
        self.merge(sorted(once.values(), key=lambda finding: (_RANK[finding.severity], finding.start)))

    @property
    def errors(self) -> int:
        """Number of findings that would keep the tip from being frozen."""
        return sum(finding.severity is LintSeverity.ERROR for finding in self.rows)

    @property
    def underlines(self) -> list[Underline]:
        """Spans of the text, the mildest first so that a worse one is painted over it."""
        spans = [
            Underline(start=f.start, end=f.end, severity=f.severity.value, message=f.message)
            for f in self.rows
            if 0 <= f.start < f.end
        ]
        return spans[::-1]
