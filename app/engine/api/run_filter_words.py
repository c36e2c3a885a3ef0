"""Words of a filter line of runs: parsed into a ``RunFilter``, checked, and completed.  Pure."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.engine.api.run_rows import RunFilter
from app.engine.core.person_names import ME
from app.engine.core.verdicts import Label

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
_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
_NAME = re.compile(r"[^\W\d][\w-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWord:
    """A word that looks like a filter and is none; ``nearest`` is the known word most like it, "" for none.

    ``word`` is the name with its colon (``"nonsense:"``) or, where only the value is wrong, both (``"order:foo"``).
    """

    word: str
    nearest: str = ""

    def __str__(self) -> str:
        hint = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f'unknown filter word "{self.word}"{hint}'


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
    try:
        words = shlex.split(text)
    except ValueError:  # a quote that is still open while typing
        words = text.replace('"', " ").replace("'", " ").split()
    which = RunFilter(order=order)
    known, free = set(sites), list[str]()
    for word in words:
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
    found: list[UnknownWord] = []
    known = known or FilterValues()
    checked: dict[str, Sequence[str]] = {"order": ORDERS, "label": _LABELS}
    named = {"site": known.sites, "suite": known.suites, "detector": known.detectors}
    checked |= {name: values for name, values in named.items() if values}
    for word in _WORD.findall(text):
        name, colon, value = word.partition(":")
        if not colon or not _NAME.fullmatch(name) or value.startswith("//"):
            continue
        value = value.strip("\"'")
        if name.lower() not in FIELDS:
            found.append(UnknownWord(word=f"{name}:", nearest=_nearest(name.lower(), FIELDS, ":")))
            continue
        values = checked.get(name.lower())
        if value and values is not None and value not in values:
            near = _nearest(value.lower(), values)
            found.append(UnknownWord(word=word, nearest=f"{name}:{quoted(near)}" if near else ""))
    return tuple(dict.fromkeys(found))


def completions(text: str, values: FilterValues | None = None) -> tuple[str, ...]:
    """Return what the last word of a filter line may become, in a fixed order: ``lab`` -> ``label:``.

    A word with a colon is completed by the values of its field; values with spaces come in quotes.  After a space
    there is no word to complete, and all words are returned.
    """
    values = values or FilterValues()
    last = _last_word(text)
    name, colon, begun = last.partition(":")
    if colon:
        begun = begun.strip("\"'").lower()
        known = _values_of(name.lower(), values)
        return tuple(f"{name.lower()}:{quoted(value)}" for value in known if value.lower().startswith(begun))
    begun = last.lower()
    words = [*SWITCHES, *(f"{field}:" for field in FIELDS)]
    if begun:  # without a beginning, the names of sites would hide the words
        words += [quoted(site) for site in values.sites]
    return tuple(word for word in words if word.lower().startswith(begun) and word != last)


def complete(text: str, completion: str) -> str:
    """Return the filter line with its last word replaced by a completion."""
    return text[: len(text) - len(_last_word(text))] + completion


def quoted(value: str) -> str:
    """Return a value as the filter line takes it: in quotes where it holds a space or a quote."""
    if not re.search(r"[\s\"'\\]", value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _last_word(text: str) -> str:
    """Return the word that is being typed at the end, with its quote if that is still open; "" after a space."""
    start, quote = 0, ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter.isspace():
            start = at + 1
    return text[start:]


def _values_of(field: str, values: FilterValues) -> Sequence[str]:
    return {
        "site": values.sites,
        "suite": values.suites,
        "detector": values.detectors,
        "label": _LABELS,
        "assigned": (ME, *values.people),
        "by": (ME, *values.people),
        "order": ORDERS,
    }.get(field, ())


def _nearest(word: str, known: Iterable[str], end: str = "") -> str:
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return near[0] + end if near else ""
