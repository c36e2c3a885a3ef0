"""Small phrases in the words of a task: ordinals, dates, times, conditions, superlatives, fields with values.  Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal


def words_of(line: str) -> tuple[str, ...]:
    """The words of a line."""
    return tuple(line.split())


def one_of(*lines: str) -> frozenset[str]:
    """The words of some lines as a set."""
    return frozenset(word for line in lines for word in line.split())


ORDINALS = {
    word: number
    for number, word in enumerate(
        words_of("first second third fourth fifth sixth seventh eighth ninth tenth"), start=1
    )
} | {"last": -1, "final": -1}
_ORDINAL = re.compile(rf"\b(?:(\d+)(?:st|nd|rd|th)|({'|'.join(ORDINALS)}))\b(?!\s+name\b)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])[-−+]?\$?\d[\d,]*(?:\.\d+)?(?![\w/:])")
_HELD = re.compile("\x02(\\d+)\x02")
MONTHS = {
    name: number
    for number, name in enumerate(
        words_of("january february march april may june july august september october november december"),
        start=1,
    )
}
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)
_US = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_WORDED = re.compile(rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.IGNORECASE)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\.?\s+({_MONTH})\.?,?\s+(\d{{4}})\b", re.IGNORECASE)
_TIME = re.compile(r"\b(\d{1,2})(?::(\d{2}))?\s*([ap])\.?m\b|\b(\d{1,2}):(\d{2})\b", re.IGNORECASE)

Op = Literal["<", "<=", ">", ">=", "="]


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition on a number: ``less than 5``; ``of`` are the words before it (``the price is``)."""

    op: Op
    value: float
    of: str = ""

    def holds(self, number: float) -> bool:
        """Whether a number meets it."""
        match self.op:
            case "<":
                return number < self.value
            case "<=":
                return number <= self.value
            case ">":
                return number > self.value
            case ">=":
                return number >= self.value
            case _:
                return number == self.value


@dataclass(frozen=True, slots=True)
class Extreme:
    """The least or the most of something: ``cheapest``, ``longest duration``, ``greatest number``."""

    word: str
    most: bool
    of: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A condition on a text: ``starts with "An"``."""

    how: Literal["starts", "ends", "contains"]
    text: str

    def holds(self, text: str) -> bool:
        """Whether a text meets it; letters' case does not matter."""
        here, there = text.casefold().strip(), self.text.casefold()
        if self.how == "starts":
            return here.startswith(there)
        return here.endswith(there) if self.how == "ends" else there in here


_OPS: tuple[tuple[str, Op], ...] = (
    (r"(?:less|smaller|lower|fewer) than or equal to|at most|no more than|up to|not over", "<="),
    (r"(?:greater|more|higher|larger|bigger) than or equal to|at least|no less than|not under", ">="),
    (r"less than|smaller than|lower than|fewer than|below|under|cheaper than|before", "<"),
    (r"greater than|more than|higher than|larger than|bigger than|above|over|exceed(?:s|ing)?", ">"),
    (r"equals?(?: to)?|exactly", "="),
)
_BOUND: tuple[tuple[re.Pattern[str], Op], ...] = tuple(
    (re.compile(rf"((?:\w+\s+){{0,3}})\b(?:{words})\s+[$€£]?(-?\d[\d,]*(?:\.\d+)?)", re.IGNORECASE), op)
    for words, op in _OPS
)
LEAST = one_of(
    "cheapest lowest least smallest shortest fewest minimum minimal earliest oldest worst ",
    "nearest",
)
MOST = one_of(
    "greatest highest most largest longest biggest maximum maximal latest newest best dearest ",
    "priciest furthest",
)
_EXTREME = re.compile(
    rf"\b({'|'.join(sorted(LEAST | MOST))})\b(?:[\s-]+(expensive|costly|recent|popular|common))?((?:\s+[\w-]+){{0,2}})",
    re.IGNORECASE,
)
_MATCHES: tuple[tuple[str, Literal["starts", "ends", "contains"]], ...] = (
    (r"(?:starts?|starting|begins?|beginning)\s+with", "starts"),
    (r"(?:ends?|ending)\s+(?:with|in)(?:\s+the\s+extension)?", "ends"),
    (r"(?:contains?|containing|including|includes)", "contains"),
)
_PATH = re.compile(r"\s*(?:>|»|→|›)\s*")
_FIELD = r"[A-Za-z][\w'-]*(?:\s+[\w'-]+){0,2}?"
_PAIR_QUOTED = re.compile(
    rf"(?:\b(?:the|a|an|your|its|with|and|set|of|change|update|number)\s+)?\b({_FIELD})\s*(?:\bto\b|=|:|\bis\b|\bas\b|\bof\b)?\s*\x02(\d+)\x02",
    re.IGNORECASE,
)
_PAIR_COLON = re.compile(
    r"\b([A-Za-z][\w ]{0,24}?)\s*[:=]\s*([^:=,;]+(?:,\s*[A-Z]{2}\b)?)(?=\s+[a-z]+\s*:|\s+on\s+\d|[,;.]|$)"
)
_PAIR_TO = re.compile(
    r"\b(?:set|change|update|edit|adjust|rename|replace)\s+(?:the|its|my|their)?\s*([\w' -]+?)"
    r"\s+(?:to|as|with)\s+(?:be\s+)?(\x02\d+\x02|[^,;]+?)(?=,|;|\.?$)",
    re.IGNORECASE,
)
_PAIR_AS = re.compile(
    r"(\x02\d+\x02|\S+(?:\s+[AaPp][Mm])?)\s+as\s+(?:the|a|its)\s+([\w ]+?)(?=$|[,.;]|\s+and\b)", re.IGNORECASE
)
_IDLE = one_of(
    "the a an text into in with and enter type item string value of link button both word named ",
    "called labeled labelled click press on hit by clicking using search find select use ",
    "playing folder file so that or",
)


def ordinals_in(text: str) -> tuple[int, ...]:
    """Ordinals in order: 1 for the first, -1 for the last."""
    return tuple(
        int(found[1]) if found[1] else ORDINALS[found[2].lower()] for found in _ORDINAL.finditer(text)
    )


def numbers_in(text: str) -> tuple[str, ...]:
    """Numbers as they stand, without signs of currency and of thousands."""
    return tuple(re.sub(r"[$,+]", "", found[0]).replace("−", "-") for found in _NUMBER.finditer(text))


def dates_in(text: str) -> tuple[tuple[int, int, int], ...]:
    """Dates as (year, month, day); with slashes the month comes first."""
    found: list[tuple[int, tuple[int, int, int]]] = []
    found += [(m.start(), (int(m[3]), int(m[1]), int(m[2]))) for m in _US.finditer(text)]
    found += [(m.start(), (int(m[1]), int(m[2]), int(m[3]))) for m in _ISO.finditer(text)]
    found += [(m.start(), (int(m[3]), month_of(m[1]), int(m[2]))) for m in _WORDED.finditer(text)]
    found += [(m.start(), (int(m[3]), month_of(m[2]), int(m[1]))) for m in _DAY_FIRST.finditer(text)]
    return tuple(date for _, date in sorted(found) if 1 <= date[1] <= 12 and 1 <= date[2] <= 31)


def month_of(name: str) -> int:
    """Number of a month by its name or the first three letters of it; 0 for none."""
    start = name.strip(" .").lower()[:3]
    return next(
        (number for month, number in MONTHS.items() if len(start) == 3 and month.startswith(start)), 0
    )


def times_in(text: str) -> tuple[tuple[int, int], ...]:
    """Times of day as (hour from 0 to 23, minute)."""
    made: list[tuple[int, int]] = []
    for found in _TIME.finditer(text):
        if found[3]:
            hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
            made.append((hour, int(found[2] or 0)))
        else:
            made.append((int(found[4]), int(found[5])))
    return tuple(time for time in made if time[0] < 24 and time[1] < 60)


def bounds_in(text: str) -> tuple[Bound, ...]:
    """Conditions on numbers."""
    made: list[Bound] = []
    taken: set[int] = set()
    for pattern, op in _BOUND:
        for found in pattern.finditer(text):
            if found.start(2) not in taken:
                taken.add(found.start(2))
                made.append(Bound(op, float(found[2].replace(",", "")), found[1].strip()))
    return tuple(made)


def extremes_in(text: str) -> tuple[Extreme, ...]:
    """Superlatives with the words behind them."""
    made: list[Extreme] = []
    for found in _EXTREME.finditer(text):
        word = found[1].lower()
        of = f"{found[2] or ''}{found[3] or ''}".strip().lower()
        made.append(Extreme(word, word in MOST, of))
    return tuple(made)


def matches_in(held: str, quotes: list[str]) -> tuple[Match, ...]:
    """Conditions on a text's start, end or inside."""
    made: list[Match] = []
    for words, how in _MATCHES:
        for found in re.finditer(rf"\b{words}\s+(?:the\s+)?(\x02(\d+)\x02|\.\w+)", held, re.IGNORECASE):
            made.append(Match(how, quotes[int(found[2])] if found[2] else found[1]))
    return tuple(made)


def path_in(text: str) -> tuple[str, ...]:
    """Parts of a menu path ``A > B``; empty where there is none."""
    if not _PATH.search(text):
        return ()
    text = re.sub(r"^\s*(?:on|to|the|in|into)\s+", "", text.strip())
    return tuple(part.strip(" .\"'") for part in _PATH.split(text) if part.strip(" .\"'"))


def pairs_in(held: str, quotes: list[str]) -> tuple[tuple[str, str], ...]:
    """Fields with their values as told: ``the username "karrie"``, ``from: A``, ``set the price to 5``."""
    made: dict[str, str] = {}

    def value(text: str) -> str:
        inner = _HELD.fullmatch(text.strip())
        return quotes[int(inner[1])] if inner else text.strip(" .")

    for found in _PAIR_TO.finditer(held):
        made.setdefault(found[1].strip().lower(), value(found[2]))
    for found in _PAIR_AS.finditer(held):
        made.setdefault(found[2].strip().lower(), value(found[1]))
    for found in _PAIR_COLON.finditer(held):
        made.setdefault(found[1].strip().lower().split(" ")[-1], value(found[2]))
    for found in _PAIR_QUOTED.finditer(held):
        words = [word for word in found[1].lower().split() if word not in _IDLE]
        if words and quotes[int(found[2])] not in made.values():
            made.setdefault(" ".join(words), quotes[int(found[2])])
    return tuple((name, told) for name, told in made.items() if name and told)
