"""Dates in texts, as they stand on pages and in tasks: days, months, years, clock times left out.  Pure, linear."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache

Period = tuple[date, date]
"""First and last day; the same day twice for a single day."""

_MONTHS = "january february march april may june july august september october november december"
MONTHS = tuple(_MONTHS.split())
_NAMES = "|".join(
    f"{name[:3]}(?:{name[3:]}|{'t' if name == 'september' else ''})" for name in MONTHS if name != "may"
)
_MONTH = rf"(?:{_NAMES}|may)\.?"
_FORMS = (
    ("ymd", re.compile(r"(?<![\d.])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")),
    (
        "mdy",
        re.compile(rf"(?<!\w)({_MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})(?!\d)", re.IGNORECASE),
    ),
    (
        "dmy",
        re.compile(
            rf"(?<!\w)(\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?({_MONTH}),?\s+(\d{{4}})(?!\d)", re.I
        ),
    ),
    ("dmy", re.compile(rf"(?<!\w)(\d{{1,2}})-({_MONTH})-(\d{{4}})(?!\d)", re.IGNORECASE)),
    ("num", re.compile(r"(?<![\d./])(\d{1,2})([/.])(\d{1,2})\2(\d{4}|\d{2})(?![\d/])")),
    ("my", re.compile(rf"(?<!\w)({_MONTH})(?:\s+of)?,?\s+(\d{{4}})(?!\d)", re.IGNORECASE)),
    ("nmy", re.compile(r"(?<![\d./])(\d{1,2})/(\d{4})(?![\d/])")),
    ("ym", re.compile(r"(?<![\d-])(\d{4})-(\d{2})(?![\d-])")),
    ("md", re.compile(rf"(?<!\w)({_MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])", re.IGNORECASE)),
    ("dm", re.compile(rf"(?<!\w)(\d{{1,2}})(?:st|nd|rd|th|\.)?\s+({_MONTH})(?!\w)", re.IGNORECASE)),
)
_YEAR = re.compile(r"(?<![\w.,#$€£/-])((?:19|20)\d\d)(?![\w%]|[.,:/-]\d)")
_MAY_HOLD = re.compile(r"\d")
_AGO = re.compile(r"\b(an?|one|\d{1,4})\s+(second|minute|hour|day|week|month|year)s?\s+ago\b", re.IGNORECASE)
_DAYS_OF = {"second": 0, "minute": 0, "hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}
MOST_TEXT = 400
"""Characters of a text that are read."""


@lru_cache(maxsize=16384)
def periods_in(text: str, day_first: bool = False, year: int = 0) -> tuple[tuple[int, int, Period], ...]:
    """Return each date of a text as (start, end, period), in order and without overlap.

    Args:
        day_first: ``3/4/2025`` is the third of April; without it that is tried only where the month would be no month.
        year: the year of dates that name none (``March 5``); 0 leaves these out.
    """
    text = text[:MOST_TEXT]
    if not _MAY_HOLD.search(text):
        return ()
    found: list[tuple[int, int, Period]] = []
    taken = 0
    for start, end, period in sorted(_candidates(text, day_first, year), key=lambda one: (one[0], -one[1])):
        if start >= taken:
            found.append((start, end, period))
            taken = end
    return tuple(found)


def period_in(text: str, day_first: bool = False) -> Period | None:
    """Return the first date of a text."""
    found = periods_in(text, day_first)
    return found[0][2] if found else None


def is_date(text: str) -> bool:
    """Whether a text is a date and little else: a time, a few letters (``on July 29, 2025, noon |``), or an age."""
    text = text.strip()
    if len(text) > 60:
        return False
    if _AGO.search(text):
        return len(_AGO.sub("", text)) <= 8
    found = periods_in(text)
    if not found or _YEAR.fullmatch(text):
        return False
    start, end, _ = found[0]
    rest = re.sub(
        r"[\d:.,|TZ+()-]|\b(?:[ap]\.?m\.?|gmt|utc|noon|midnight|at|on)(?!\w)",
        "",
        text[:start] + text[end:],
        flags=re.I,
    )
    return len(rest.strip()) <= 6


def day_first_in(texts: Sequence[str]) -> bool:
    """Whether numeric dates of these texts, which stand in one column, put the day before the month."""
    firsts = [int(found[1]) for text in texts if (found := _FORMS[4][1].search(text[:MOST_TEXT]))]
    dotted = any(found[2] == "." for text in texts if (found := _FORMS[4][1].search(text[:MOST_TEXT])))
    return dotted or any(number > 12 for number in firsts)


def age_in(text: str) -> timedelta | None:
    """Return how long ago a text says something was (``3 days ago``)."""
    found = _AGO.search(text[:MOST_TEXT])
    if found is None:
        return None
    count = int(found[1]) if found[1].isdigit() else 1
    seconds = {"second": 1, "minute": 60, "hour": 3600}.get(found[2].casefold(), 0)
    return timedelta(days=count * _DAYS_OF[found[2].casefold()], seconds=count * seconds)


def clock_in(text: str) -> int:
    """Return the minute of the day of the first clock time in a text, 0 for none."""
    found = re.search(r"(?<!\d)(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap]\.?m)?", text[:MOST_TEXT], re.IGNORECASE)
    if found is None:
        return 0
    hour, half = int(found[1]), (found[3] or "").casefold()[:1]
    return (hour % 12 + (12 if half == "p" else 0) if half else hour) * 60 + int(found[2])


def _candidates(text: str, day_first: bool, year: int) -> Iterator[tuple[int, int, Period]]:
    for form, pattern in _FORMS:
        for found in pattern.finditer(text):
            period = _read(form, found, day_first, year)
            if period is not None:
                yield found.start(), found.end(), period
    for found in _YEAR.finditer(text):
        number = int(found[1])
        yield found.start(), found.end(), (date(number, 1, 1), date(number, 12, 31))


def _read(form: str, found: re.Match[str], day_first: bool, year: int) -> Period | None:
    if form in ("md", "dm") and not year:
        return None
    try:
        return _READERS[form](found, day_first, year)
    except ValueError:
        return None


def _numeric(one: int, two: int, year: int, day_first: bool) -> Period:
    year += 2000 if year < 100 else 0
    day, month = (one, two) if (day_first and two <= 12) or one > 12 else (two, one)
    return _day(year, month, day)


def _day(year: int, month: int, day: int) -> Period:
    day_meant = date(year, month, day)
    return day_meant, day_meant


def _whole_month(year: int, month: int) -> Period:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3].casefold()))


_READERS: dict[str, Callable[[re.Match[str], bool, int], Period]] = {
    "ymd": lambda found, _, __: _day(int(found[1]), int(found[2]), int(found[3])),
    "mdy": lambda found, _, __: _day(int(found[3]), _month(found[1]), int(found[2])),
    "dmy": lambda found, _, __: _day(int(found[3]), _month(found[2]), int(found[1])),
    "num": lambda found, first, _: _numeric(
        int(found[1]), int(found[3]), int(found[4]), first or found[2] == "."
    ),
    "my": lambda found, _, __: _whole_month(int(found[2]), _month(found[1])),
    "nmy": lambda found, _, __: _whole_month(int(found[2]), int(found[1])),
    "ym": lambda found, _, __: _whole_month(int(found[1]), int(found[2])),
    "md": lambda found, _, year: _day(year, _month(found[1]), int(found[2])),
    "dm": lambda found, _, year: _day(year, _month(found[2]), int(found[1])),
}
