"""Answers by kind: whether one says what is wanted and no other thing of its kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.errors import InputError

KINDS = ("number", "text", "list", "date")
WORDS_BESIDE = 12
"""Words that a text answer may have beside what is wanted; more would be a whole page."""

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_NO_WORD = re.compile(r"[^\w@.:/-]+")
_BETWEEN_ITEMS = re.compile(r"[,;\n]")


def is_right(kind: str, answer: str, accepted: Sequence[str]) -> bool:
    """Whether an answer is right.

    A number: the only one in the answer, thousands may have commas. A list: the same items in any order, between
    commas, semicolons or line ends. A date or text: as it is accepted, as whole words, a text with few words beside
    it. One of ``accepted`` is enough; of a list they are its items.

    Raises:
        InputError: an accepted number is none.
    """
    match kind:
        case "number":
            numbers = {_as_number(found) for found in _NUMBER.findall(answer)}
            return any(numbers == {_as_number(one)} for one in accepted)
        case "date":
            said = _plain(answer)
            return any(_stands_in(_plain(one), said) for one in accepted)
        case "list":
            items = sorted(_plain(item) for item in _BETWEEN_ITEMS.split(answer) if item.strip())
            return items == sorted(map(_plain, accepted))
        case _:
            said = _plain(answer)
            return any(
                f" {one} " in f" {said} " and len(said.split()) <= len(one.split()) + WORDS_BESIDE
                for one in map(_plain, accepted)
            )


def _stands_in(date: str, said: str) -> bool:
    """Whether a date is in a text, and not as part of a longer number: May 1 is not in May 12."""
    return re.search(rf"(?<!\d){re.escape(date)}(?!\d)", said) is not None if date else False


def _as_number(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        raise InputError(f"the right answer {text[:40]!r} is not a number") from None


def _plain(text: str) -> str:
    """Return a text in lower case, with single blanks for all that does not belong to words."""
    return " ".join(_NO_WORD.sub(" ", text.casefold()).split()).strip(".")
