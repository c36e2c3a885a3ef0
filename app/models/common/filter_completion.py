"""Completion of a filter line, and sentences about the words in it that are no filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.api.filter_vocabulary import UnknownWord, complete
from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from PySide6.QtCore import QObject

MOST = 40
"""Completions offered at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A word of the filter, and what it does."""

    word: str
    help: str = ""


class WordCompletion(ObjectList[Completion]):
    """Words that the last word of a filter line may become.

    Args:
        find: returns the words that fit the end of a line.
        help_of: says in a few words what a word does.
    """

    def __init__(
        self,
        find: Callable[[str], Sequence[str]],
        help_of: Callable[[str], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(lambda one: one.word, parent)
        self._find_words, self._help_of = find, help_of

    def words(self, value: Completion) -> str:
        return f"{value.word}, {value.help}" if value.help else value.word

    def look_up(self, text: str) -> None:
        """Offer what fits the end of a filter line."""
        self.replace(
            [Completion(word=word, help=self._help_of(word)) for word in self._find_words(text)[:MOST]]
        )

    def complete(self, text: str, row: int) -> str:
        """Return the line with the word of a row; a space follows unless a value is still missing."""
        chosen = self.at(row)
        if chosen is None:
            return text
        return complete(text, chosen.word) + ("" if chosen.word.endswith(":") else " ")


def unknown_sentences(unknown: Iterable[UnknownWord]) -> str:
    """Return a line for each unknown word, with the nearest known one; "" for none."""
    lines = map(str, unknown)
    return "\n".join(line[:1].upper() + line[1:] + ("" if line.endswith("?") else ".") for line in lines)
