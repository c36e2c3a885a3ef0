"""Dates in texts, as they stand on pages and in tasks: days, months, years.  Pure, linear.

Each date has its place in the text and its first and last day; ``field_formats.read_date`` of the fields of forms reads
one text as one day.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache

from app.engine.agent.scout.quantities import quantity_in

Period = tuple[date, date]
"""First and last day; the same day twice for a single day."""

_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTH = (
    r"((?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?)"
)
_DAY, _YEAR = r"(\d{1,2})(?:st|nd|rd|th|\.)?", r"(\d{4})(?!\d)"
_SLASHED = r"(?<![\d./])(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?![\d/])"
_FORMS = tuple(
    (order, re.compile(pattern, re.IGNORECASE))
    for order, pattern in (
        ("ymd", r"(?<![\d.])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)"),
        ("mdy", rf"(?<!\w){_MONTH}\s+{_DAY},?\s+{_YEAR}"),
        ("dmy", rf"(?<!\w){_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}"),
        ("dmy", rf"(?<!\w)(\d{{1,2}})-{_MONTH}-{_YEAR}"),
        ("mdy", _SLASHED),
        ("dmy", r"(?<![\d./])(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})(?![\d/])"),
        ("my", rf"(?<!\w){_MONTH}(?:\s+of)?,?\s+{_YEAR}"),
        ("my", r"(?<![\d./])(\d{1,2})/(\d{4})(?![\d/])"),
        ("ym", r"(?<![\d-])(\d{4})-(\d{2})(?![\d-])"),
        ("y", r"(?<![\w.,#$€£/-])((?:19|20)\d\d)(?![\w%]|[.,:/-]\d)"),
    )
)
"""Which of year, month and day the groups of a pattern are."""
_AGO = re.compile(
    r"\b(an?|one|\d{1,4})\s+((?:second|minute|hour|day|week|month|year)s?)\s+ago\b", re.IGNORECASE
)
_AROUND = re.compile(r"[\d:.,|TZ+()-]|\b(?:[ap]\.?m\.?|gmt|utc|noon|midnight|at|on)(?!\w)", re.IGNORECASE)
MOST_TEXT = 400
"""Characters of a text that are read."""


@lru_cache(maxsize=16384)
def periods_in(text: str, day_first: bool = False) -> tuple[tuple[int, int, Period], ...]:
    """Return each date of a text as (start, end, period), in order and without overlap.

    Args:
        day_first: ``3/4/2025`` is the third of April; without it that is tried only where the month would be no month.
    """
    text = text[:MOST_TEXT]
    if not any(map(str.isdecimal, text)):
        return ()
    told = [(found, order) for order, pattern in _FORMS for found in pattern.finditer(text)]
    periods: list[tuple[int, int, Period]] = []
    for found, order in sorted(told, key=lambda one: (one[0].start(), -one[0].end())):
        period = _period(order, found.groups(), day_first)
        if period and (not periods or found.start() >= periods[-1][1]):
            periods.append((found.start(), found.end(), period))
    return tuple(periods)


def _period(order: str, groups: Sequence[str], day_first: bool) -> Period | None:
    numbers = [int(one) if one.isdecimal() else _NAMES.index(one[:3].casefold()) // 4 + 1 for one in groups]
    told = dict(zip(order, numbers, strict=True))
    year, month, day = told["y"], told.get("m", 0), told.get("d", 0)
    swapped = order == "mdy" and day_first and groups[0].isdecimal()
    if day and order != "ymd" and (month > 12 or (swapped and day <= 12)):
        month, day = day, month
    try:
        first = date(year + 2000 * (year < 100), month or 1, day or 1)
    except ValueError:
        return None
    return first, first if day else date(first.year, month or 12, monthrange(first.year, month or 12)[1])


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
    if not found or _FORMS[-1][1].fullmatch(text):
        return False
    start, end, _ = found[0]
    return len(_AROUND.sub("", text[:start] + text[end:]).strip()) <= 6


def day_first_in(texts: Sequence[str]) -> bool:
    """Whether dates of these texts, which stand in one column, put the day before the month."""
    found = (re.search(_SLASHED, text[:MOST_TEXT]) for text in texts)
    return any(one is not None and int(one[1]) > 12 for one in found)


def age_in(text: str) -> Decimal | None:
    """Return how many seconds ago a text says something was (``3 days ago``)."""
    found = _AGO.search(text[:MOST_TEXT])
    told = quantity_in(f"{found[1] if found[1].isdecimal() else 1} {found[2]}") if found else None
    return told.amount if told else None


def clock_in(text: str) -> int:
    """Return the minute of the day of the first clock time in a text, 0 for none."""
    found = re.search(r"(?<!\d)(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap]\.?m)?", text[:MOST_TEXT], re.IGNORECASE)
    if found is None:
        return 0
    hour, half = int(found[1]), (found[3] or "").casefold()[:1]
    return (hour % 12 + (12 if half == "p" else 0) if half else hour) * 60 + int(found[2])
