"""The filter of the tip table: ``site:gitlab tested:broke votes:>0 words``."""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kb.evidence import TestOutcome
from kb.tip import Tip

TEXT_FIELDS = ("site", "kind", "status", "lint", "tested")
NUMBER_FIELDS = ("followed", "votes")

NONE = "none"
"""The word for what is not there: no lint result, no test, no votes, never at its place in a run."""

_TESTED = {
    TestOutcome.HOLDS.value: ("holds",),
    TestOutcome.STOPPED.value: ("holds", "stopped"),
    TestOutcome.BROKE.value: ("broke",),
    TestOutcome.NOT_REACHED.value: ("unreached", "not reached"),
}
_NUMBER = re.compile(r"(>=|<=|>|<|=)?([+-]?\d{1,9})")
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}


@dataclass(frozen=True, slots=True)
class NumberTest:
    """``>0``: a comparison with a number; ``none`` asks whether there is nothing to count."""

    sign: str
    number: int = 0

    def holds(self, count: int, *, nothing: bool) -> bool:
        return nothing if self.sign == NONE else _COMPARE[self.sign](count, self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class TipFilter:
    """A parsed filter: prefixes of sites, kinds, statuses, lint marks and test results, and numbers (of each any of
    those given), and words (all of them).
    """

    sites: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    lint: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()
    followed: tuple[NumberTest, ...] = ()
    votes: tuple[NumberTest, ...] = ()
    words: tuple[str, ...] = ()


def parse_tip_filter(text: str) -> TipFilter:
    """Parse ``site:gitlab status:draft,active kind:policy lint:error words "two words"``; no input is an error.

    ``lint:`` takes ``error``, ``warning``, ``waived``, ``none`` or a rule's name, ``tested:`` ``holds``, ``stopped``,
    ``broke``, ``unreached`` or ``none``; ``votes:`` (useful less not useful) and ``followed:`` take ``>0``, ``<=2``,
    ``0`` or ``none``.
    """
    try:
        parts = shlex.split(text)
    except ValueError:  # a quote that is still open while typing
        parts = text.replace('"', " ").replace("'", " ").split()
    fields: dict[str, list[str]] = {name: [] for name in (*TEXT_FIELDS, *NUMBER_FIELDS)}
    words: list[str] = []
    for part in parts:
        name, colon, value = part.lower().partition(":")
        if colon and name in fields:
            fields[name] += [one for one in value.split(",") if one]
        else:
            words.append(part.lower())
    return TipFilter(
        sites=tuple(fields["site"]),
        kinds=tuple(fields["kind"]),
        statuses=tuple(fields["status"]),
        lint=tuple(fields["lint"]),
        tested=tuple(fields["tested"]),
        followed=_numbers(fields["followed"]),
        votes=_numbers(fields["votes"]),
        words=tuple(words),
    )


def matches_filter(tip: Tip, which: TipFilter, haystack: str, marks: Sequence[str] = ()) -> bool:
    """Whether a tip matches; ``haystack`` is all its text in lower case, ``marks`` are its lint results."""
    named = [word for mark in marks for word in mark.split(":")] or [NONE]
    record, test = tip.record, tip.last_test
    tested = _TESTED.get(test.outcome, ()) if test is not None else (NONE,)
    return (
        _begins((tip.site.lower(),), which.sites)
        and _begins((tip.kind.value,), which.kinds)
        and _begins((tip.status.value,), which.statuses)
        and _begins(named, which.lint)
        and _begins(tested, which.tested)
        and _counts(record.effect, which.followed, nothing=not record.applied)
        and _counts(record.up - record.down, which.votes, nothing=not (record.up or record.down))
        and all(word in haystack for word in which.words)
    )


def _numbers(values: Sequence[str]) -> tuple[NumberTest, ...]:
    """Read the comparisons; one that is still being typed asks for nothing."""
    found: list[NumberTest] = []
    for value in values:
        if value == NONE:
            found.append(NumberTest(NONE))
        elif (parsed := _NUMBER.fullmatch(value)) is not None:
            found.append(NumberTest(parsed[1] or "=", int(parsed[2])))
    return tuple(found)


def _begins(values: Sequence[str], wanted: tuple[str, ...]) -> bool:
    return not wanted or any(value.startswith(wanted) for value in values)


def _counts(count: int, wanted: tuple[NumberTest, ...], *, nothing: bool) -> bool:
    return not wanted or any(one.holds(count, nothing=nothing) for one in wanted)
