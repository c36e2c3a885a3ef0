"""Completion of the queue's filter line, and the words in it that are no filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject

from app.engine.api.filter_vocabulary import filter_words
from app.engine.api.run_filter_words import FilterValues, completions, unknown_words
from app.models.common.filter_completion import Completion, WordCompletion, unknown_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.engine.api.run_rows import RunRow

__all__ = ["Completion", "FilterCompletionModel", "filter_words", "help_of", "unknown_text"]


class FilterCompletionModel(WordCompletion):
    """Words that the last word of the filter line may become, with values seen in this workspace."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(self._find, help_of, parent)
        self._values: dict[str, set[str]] = {}

    def learn(self, rows: Iterable[RunRow]) -> None:
        """Offer the sites, suites, detectors and people of these runs from now on."""
        for row in rows:
            self._add("sites", row.site)
            self._add("suites", row.suite)
            for name in row.flags:
                self._add("detectors", name)
            for name in row.judged_by:
                self._add("people", name)

    def _find(self, text: str) -> tuple[str, ...]:
        values = FilterValues(**{name: tuple(sorted(known)) for name, known in self._values.items()})
        return completions(text, values)

    def _add(self, name: str, value: str) -> None:
        if value:
            self._values.setdefault(name, set()).add(value)


def unknown_text(text: str) -> str:
    """Name the words of a filter line that are no filter, with the nearest that is; "" when all are fine."""
    return unknown_sentences(unknown_words(text))


def help_of(word: str) -> str:
    """Say in a few words what a word of the filter does."""
    tr = QCoreApplication.translate
    name = word.partition(":")[0] if ":" in word else word
    texts = {
        "failed": tr("Review", "failed runs"),
        "passed": tr("Review", "passed runs"),
        "unjudged": tr("Review", "runs without a verdict"),
        "needs": tr("Review", "runs that gave up and said why"),
        "disputed": tr("Review", "annotators disagree"),
        "site": tr("Review", "runs on one site"),
        "suite": tr("Review", "runs of one suite"),
        "task": tr("Review", "runs of one task"),
        "detector": tr("Review", "runs with this flag"),
        "label": tr("Review", "runs with this verdict"),
        "assigned": tr("Review", "a person's queue"),
        "by": tr("Review", "judged by a person"),
        "cluster": tr("Review", "failures of one kind"),
        "order": tr("Review", "order of the list"),
    }
    if word.partition(":")[2] == "teach":
        return tr("Review", "what teaches the ranking most first")
    return texts.get(name, "") if word.endswith(":") or ":" not in word else ""
