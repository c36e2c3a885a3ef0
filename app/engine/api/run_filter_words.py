"""Words of a filter line of runs: parsed into a ``RunFilter``, checked, and completed.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.engine.api.filter_vocabulary import (
    FilterVocabulary,
    UnknownWord,
    complete,
    quoted,
    split_words,
)
from app.engine.api.run_rows import RunFilter
from app.engine.core.person_names import ME
from app.engine.core.verdicts import Label

__all__ = [
    "ME",
    "FilterValues",
    "UnknownWord",
    "complete",
    "completions",
    "filter_text",
    "parse_filter",
    "quoted",
    "unknown_words",
]

SWITCHES = ("failed", "passed", "unjudged", "needs", "disputed")
"""Words that switch a condition on."""
FIELDS = {
    "site": "site",
    "suite": "suite",
    "task": "task",
    "detector": "detector",
    "label": "label",
    "assigned": "assigned",
    "by": "judged_by",
    "cluster": "cluster",
    "page": "page",
    "order": "order",
}
"""Words that take a value after a colon, and their fields of ``RunFilter``."""
ORDERS = ("risk", "teach", "date", "site", "steps", "id")

_LABELS = tuple(label.value for label in Label)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterValues:
    """Values known in a workspace, for completion: names of sites, suites, detectors and people."""

    sites: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    detectors: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


def parse_filter(text: str, sites: Iterable[str] = (), order: str = "risk") -> RunFilter:
    """Parse ``site:gitlab failed unjudged detector:loop label:"gave up" words``; other words are searched for.

    A bare word that is one of ``sites`` filters by site; ``order`` is the order without ``order:``.  No input is an
    error.
    """
    which = RunFilter(order=order)
    known, free = set(sites), list[str]()
    for word in split_words(text):
        name, colon, value = word.partition(":")
        name = name.lower()
        if colon and value and name in FIELDS:
            which = replace(which, **{FIELDS[name]: value})
        elif word.lower() in SWITCHES:
            which = replace(which, **{word.lower(): True})
        elif word in known and not which.site:
            which = replace(which, site=word)
        elif not (colon and name in FIELDS):
            free.append(word)
    return replace(which, search=" ".join(free))


def filter_text(which: RunFilter) -> str:
    """Return the words of a filter, without its order; ``parse_filter`` gives the filter back."""
    words = [word for word in SWITCHES if getattr(which, word)]
    for word, field in FIELDS.items():
        if word != "order" and (value := getattr(which, field)):
            words.append(f"{word}:{quoted(value)}")
    return " ".join([*words, *(quoted(word) for word in which.search.split())])


def unknown_words(text: str, known: FilterValues | None = None) -> tuple[UnknownWord, ...]:
    """Return the words of a filter line that look like filters and are none, and values that can't be.

    Sites, suites and detectors are checked where ``known`` has some; people are not, as one may have no verdict yet.
    Quoted words and addresses are searched for, so they are not among them.
    """
    return _vocabulary(known or FilterValues()).unknown_words(text)


def completions(text: str, values: FilterValues | None = None) -> tuple[str, ...]:
    """Return what the last word of a filter line may become, in a fixed order: ``lab`` -> ``label:``."""
    return _vocabulary(values or FilterValues()).completions(text)


def _vocabulary(known: FilterValues) -> FilterVocabulary:
    people = (ME, *known.people)
    named = {"site": known.sites, "suite": known.suites, "detector": known.detectors}
    always: dict[str, Sequence[str]] = {"order": ORDERS, "label": _LABELS}
    return FilterVocabulary(
        switches=SWITCHES,
        fields=tuple(FIELDS),
        values={**named, **always, "assigned": people, "by": people},
        checked={**always, **{name: values for name, values in named.items() if values}},
        bare=known.sites,
    )
