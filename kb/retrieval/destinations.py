"""Has the agent arrived where a tip leads?

A tip's destinations are its last steps: those after which no step follows but of another condition.  Only a control
that is pressed and an address that is opened lead anywhere.  The agent has arrived if more than half of the words of
the page's name (the first part of its title, or its first heading) are the control's and none of the control's is
missing, articles, "all" and "my" aside; or if the address's path is the page's, where a placeholder stands for
anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kb.procedure import PLACEHOLDER, Choice, Entry, ProcedureStep, StepKind
from kb.retrieval.terms import stems_of, words_of
from kb.retrieval.url import Address, PagePattern, compile_page_pattern
from kb.tip import Query, TipDraft

_EMPTY = frozenset({"a", "all", "an", "my", "the", "your"})
_PARTS = re.compile(r"\s[/|·–—-]\s")

Words = frozenset[str]


def _stems(text: str) -> Words:
    return frozenset(
        stem for word, stem in zip(words_of(text), stems_of(text), strict=True) if word not in _EMPTY
    )


@dataclass(frozen=True, slots=True)
class Destinations:
    """Where a tip leads: the words of each control, and the patterns of each address."""

    controls: tuple[Words, ...]
    addresses: tuple[PagePattern, ...]

    @classmethod
    def of(cls, tip: TipDraft) -> Destinations:
        """Read the last steps of a tip."""
        from kb.compiler import procedure_of  # late: only tips near the threshold are read

        last = tuple(_last(procedure_of(tip).entries))
        controls = (_stems(step.target) for step in last if step.kind is StepKind.PRESS)
        paths = (
            PLACEHOLDER.sub("*", step.target).partition("?")[0].partition("#")[0]
            for step in last
            if step.kind is StepKind.OPEN and "://" not in step.target
        )
        return cls(
            tuple(filter(None, controls)),
            tuple(compile_page_pattern(path, ()) for path in paths if path.strip("/* ")),
        )


def _ways(entry: Entry) -> tuple[tuple[ProcedureStep, ...], ...]:
    return entry.ways if isinstance(entry, Choice) else ((entry,),)


def _last(entries: tuple[Entry, ...]) -> Iterator[ProcedureStep]:
    for at, entry in enumerate(entries):
        later = {way[0].when for other in entries[at + 1 :] for way in _ways(other)}
        yield from (way[-1] for way in _ways(entry) if not later & {"", way[-1].when})


@dataclass(frozen=True, slots=True)
class PageNames:
    """The page in front: the words of its names, and its address."""

    names: tuple[Words, ...]
    address: Address | None

    @classmethod
    def of(cls, query: Query, address: Address | None) -> PageNames:
        """Read title, first heading and address."""
        texts = (_PARTS.split(query.title)[0], *query.headings[:1])
        return cls(tuple(filter(None, map(_stems, texts))), address)

    def is_reached(self, destinations: Destinations) -> bool:
        """Whether it is one of a tip's destinations; never of a page without a name, which nobody has seen."""
        if not self.names:
            return False
        if any(
            control <= name and 2 * len(control) > len(name)
            for control in destinations.controls
            for name in self.names
        ):
            return True
        return self.address is not None and any(
            pattern.matches(self.address) for pattern in destinations.addresses
        )
