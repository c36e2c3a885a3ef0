"""Completion of the queue's filter line, and the words in it that are no filter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject

from app.engine.api.run_filter_words import FilterValues, complete, completions, unknown_words
from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.engine.api.run_rows import RunRow

_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")

MOST = 40
"""Completions offered at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A word of the filter, and what it does."""

    word: str
    help: str = ""


class FilterCompletionModel(ObjectList[Completion]):
    """Words that the last word of the filter line may become, with values seen in this workspace."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda one: one.word, parent)
        self._values: dict[str, set[str]] = {}

    def words(self, value: Completion) -> str:
        return f"{value.word}, {value.help}" if value.help else value.word

    def learn(self, rows: Iterable[RunRow]) -> None:
        """Offer the sites, suites, detectors and people of these runs from now on."""
        for row in rows:
            self._add("sites", row.site)
            self._add("suites", row.suite)
            for name in row.flags:
                self._add("detectors", name)
            for name in row.judged_by:
                self._add("people", name)

    def look_up(self, text: str) -> None:
        """Offer what fits the end of a filter line."""
        values = FilterValues(**{name: tuple(sorted(known)) for name, known in self._values.items()})
        found = completions(text, values)[:MOST]
        self.replace([Completion(word=word, help=help_of(word)) for word in found])

    def complete(self, text: str, row: int) -> str:
        """Return the line with the word of a row; a space follows unless a value is still missing."""
        chosen = self.at(row)
        if chosen is None:
            return text
        return complete(text, chosen.word) + ("" if chosen.word.endswith(":") else " ")

    def _add(self, name: str, value: str) -> None:
        if value:
            self._values.setdefault(name, set()).add(value)


def filter_words(text: str) -> list[str]:
    """Return the words of a filter line, those in quotes as one."""
    return _WORD.findall(text)


def unknown_text(text: str) -> str:
    """Name the words of a filter line that are no filter, with the nearest that is; "" when all are fine."""
    said = (str(word) for word in unknown_words(text))
    return "\n".join(line[:1].upper() + line[1:] + ("" if line.endswith("?") else ".") for line in said)


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
