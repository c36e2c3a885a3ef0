"""Regular expressions of a suite's file, which anyone may have written: bounded before they are tried.

An expression is refused where the number of ways to match it could explode: a repeated group that has a repetition or
alternatives in it, a reference to a group, or more open repetitions in a row than the address is short for.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from app.errors import InputError

MAX_PATTERN = 1_000
MAX_WAYS = 30_000_000
"""Ways to share out the characters of an address among the repetitions of an expression; a second's work or two."""
MAX_ADDRESS = 4_000

_OPEN = re.compile(r"[*+]|\{\d*,\d*\}|\{\d+\}")
_LOOK = re.compile(r"\?(?:=|!|<=|<!)")
_GROUP = re.compile(r"\?(?::|P<\w+>)")
_BOUNDED = 10


def full_match(pattern: str, text: str) -> bool:
    """Whether an expression matches a text as a whole.

    Raises:
        InputError: it is no expression, or one that is refused.
    """
    expression, repetitions = _examined(pattern)
    if len(text) > MAX_ADDRESS or math.comb(len(text) + repetitions, repetitions) > MAX_WAYS:
        raise InputError(
            f"the regular expression {_named(pattern)} could take too long on an address of"
            f" {len(text)} characters"
        )
    return expression.fullmatch(text) is not None


@lru_cache(maxsize=256)
def _examined(pattern: str) -> tuple[re.Pattern[str], int]:
    """Return the compiled expression and how many open repetitions can share a text between them."""
    if len(pattern) > MAX_PATTERN:
        raise InputError(f"the regular expression is longer than {MAX_PATTERN} characters")
    try:
        expression = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(f"the regular expression {_named(pattern)} can't be read: {error}") from error
    reader = _PatternReader(pattern)
    counts = reader.alternatives()
    if not reader.at_end:
        raise InputError(f"the regular expression {_named(pattern)} can't be read")
    return expression, counts.repetitions


def _named(pattern: str) -> str:
    return repr(pattern[:80])


class _Counts:
    """Repetitions in a piece of an expression.

    Attributes:
        repetitions: of which each can match any number of characters, along the longest way through it.
        choices: it has alternatives, or anything that may be left out.
    """

    def __init__(self, repetitions: int = 0, *, choices: bool = False) -> None:
        self.repetitions, self.choices = repetitions, choices


class _PatternReader:
    """Counts the open repetitions of an expression that Python has compiled already."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._at = pattern, 0

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._pattern)

    def alternatives(self) -> _Counts:
        """Read alternatives up to the end of their group."""
        found = self._sequence()
        while self._take("|"):
            other = self._sequence()
            found = _Counts(max(found.repetitions, other.repetitions), choices=True)
        return found

    def _sequence(self) -> _Counts:
        repetitions, within, choices = 0, 0, False
        while not self.at_end and self._pattern[self._at] not in "|)":
            looks = self._pattern[self._at] == "(" and _LOOK.match(self._pattern, self._at + 1) is not None
            piece = self._repeated(self._atom())
            choices = choices or piece.choices
            # What a look ahead has found is not tried in other ways, so several of them do not multiply.
            if looks:
                within = max(within, piece.repetitions)
            else:
                repetitions += piece.repetitions
        return _Counts(repetitions + within, choices=choices)

    def _repeated(self, atom: _Counts) -> _Counts:
        """Return the counts of an atom with the repetition behind it."""
        if self._take("?"):
            self._take_any("?+")
            return _Counts(atom.repetitions, choices=True)
        mark = _OPEN.match(self._pattern, self._at)
        if mark is None:
            return atom
        self._at = mark.end()
        self._take_any("?+")
        if atom.repetitions or atom.choices:
            raise InputError(
                f"the regular expression {_named(self._pattern)} repeats a group that repeats, or has"
                " alternatives in it; write it without"
            )
        if _OPEN.match(self._pattern, self._at) is not None:
            raise InputError(f"the regular expression {_named(self._pattern)} repeats a repetition")
        most = max((int(number) for number in re.findall(r"\d+", mark[0])), default=_BOUNDED + 1)
        open_end = mark[0].endswith(",}") or most > _BOUNDED
        return _Counts(1, choices=True) if open_end else _Counts(0, choices=True)

    def _atom(self) -> _Counts:
        """Read one character, class, escape or group."""
        start = self._pattern[self._at]
        self._at += 1
        if start == "[":
            self._class()
        elif start == "\\":
            following = self._pattern[self._at : self._at + 1]
            if following.isdigit() and following != "0":
                raise InputError(f"the regular expression {_named(self._pattern)} refers to a group")
            self._at += 1
        elif start == "(":
            return self._group()
        return _Counts()

    def _class(self) -> None:
        self._take("^")
        self._take("]")
        while not self.at_end and self._pattern[self._at] != "]":
            self._at += 2 if self._pattern[self._at] == "\\" else 1
        self._at += 1

    def _group(self) -> _Counts:
        kind = _LOOK.match(self._pattern, self._at) or _GROUP.match(self._pattern, self._at)
        if kind is not None:
            self._at = kind.end()
        elif self._pattern.startswith("?", self._at):
            raise InputError(
                f"the regular expression {_named(self._pattern)} has a group of a kind not taken"
            )
        inside = self.alternatives()
        self._take(")")
        return inside

    def _take(self, mark: str) -> bool:
        if self._pattern.startswith(mark, self._at):
            self._at += len(mark)
            return True
        return False

    def _take_any(self, marks: str) -> None:
        if not self.at_end and self._pattern[self._at] in marks:
            self._at += 1
