"""Parse dates and times as people write them and format them as fields expect them. Pure.

A date whose day and month could be swapped is read in the order of the page's language: month first in American
English and where no language is given, day first elsewhere and where dots separate the numbers.
"""

from __future__ import annotations

import re
from datetime import date, time
from functools import cache

_MONTHS = (
    ("jan", "ene", "gen", "янв"), ("feb", "fév", "fev", "фев"), ("mar", "mär", "mrt", "maa"), ("apr", "avr", "abr"),
    ("may", "mai", "mag", "mei"), ("jun", "juin", "giu"), ("jul", "juil", "lug"), ("aug", "aoû", "aou", "ago"),
    ("sep", "set"), ("oct", "okt", "ott"), ("nov",), ("dec", "dez", "déc", "dic"),
)  # fmt: skip
_NUMBERS = re.compile(r"(?<!\d)(\d{1,4})\s*([./\-\s年])\s*(\d{1,2})\s*[./\-\s月]\s*(\d{1,4})(?!\d)日?")
_LAST_CENTURY = 69
"""Two-digit years from this number on belong to the last century, as in POSIX: 31.12.99 is in the past."""
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_WORD = re.compile(r"[^\W\d_]{3,}\.?")
_TIME = re.compile(
    r"(?<![\d./-])(\d{1,2})(?:\s*[:.h]\s*(\d{2}))?(?:[:.](\d{2}))?\s*([ap]\.?\s?m\.?)?(?![\d./-])",
    re.IGNORECASE,
)
_WEEK = re.compile(r"(\d{4})\s*-?\s*w(?:eek)?\s*(\d{1,2})|w(?:eek)?\s*(\d{1,2})\D+(\d{4})", re.IGNORECASE)
_FORMAT = re.compile(
    r"(y{2,4}|m{1,4}|d{1,2})([./\-\s]+)(y{2,4}|m{1,4}|d{1,2})\2(y{2,4}|m{1,4}|d{1,2})", re.IGNORECASE
)
_GERMAN, _FRENCH = str.maketrans("tTjJ", "ddyy"), str.maketrans("jJaA", "ddyy")
"""Letters of placeholders such as ``TT.MM.JJJJ`` and ``jj/mm/aaaa`` (Spanish too)."""


def read_date(text: str, language: str = "") -> date | None:
    """Parse the date in a text; ``None`` if there is none, or no year."""
    words = " ".join(text.replace(",", " ").split())
    compact = _COMPACT.fullmatch(words)
    if compact:
        return _date(*map(int, compact.groups()))
    found = _NUMBERS.search(words)
    if found:
        return _from_numbers(found, language)
    return _from_words(words)


def read_time(text: str) -> time | None:
    """Parse the time of day in a text."""
    low = text.strip().lower()
    if low in ("noon", "midday"):
        return time(12, 0)
    if low == "midnight":
        return time(0, 0)
    for found in _TIME.finditer(text):
        hours, minutes, half = int(found[1]), found[2], (found[4] or "").lower()
        if minutes is None and not half:
            continue
        if half:
            if not 1 <= hours <= 12:
                return None
            hours = hours % 12 + (12 if half.startswith("p") else 0)
        if hours < 24 and int(minutes or 0) < 60 and int(found[3] or 0) < 60:
            return time(hours, int(minutes or 0), int(found[3] or 0))
    return None


def read_month(text: str) -> str:
    """Return ``2026-05`` for "May 2026" or "05/2026"; "" if no month is named."""
    numbers = re.findall(r"\d+", text)
    year = next((int(number) for number in numbers if len(number) == 4), 0)
    named = _month_in(text)
    plain = [int(number) for number in numbers if len(number) <= 2]
    month = named or (plain[0] if len(plain) == 1 else 0)
    if year and 1 <= month <= 12:
        return f"{year:04d}-{month:02d}"
    whole = read_date(text)
    return f"{whole:%Y-%m}" if whole else ""


def read_week(text: str) -> str:
    """Return ``2026-W05`` for "week 5, 2026" or a date in it; "" if no week is named."""
    found = _WEEK.search(text)
    if found:
        year, week = (found[1], found[2]) if found[1] else (found[4], found[3])
        return f"{int(year):04d}-W{int(week):02d}" if 1 <= int(week) <= 53 else ""
    day = read_date(text)
    if day is None:
        return ""
    year_of_week, number, _ = day.isocalendar()
    return f"{year_of_week:04d}-W{number:02d}"


def format_date(day: date, form: str) -> str:
    """Format a date by a placeholder such as ``mm/dd/yyyy``; "" if that is none."""
    found = (
        _FORMAT.search(form)
        or ("t" in form.lower() and _FORMAT.search(form.translate(_GERMAN)))
        or _FORMAT.search(form.translate(_FRENCH))
    )
    if not found:
        return ""
    parts = (found[1], found[3], found[4])
    if {part[0].lower() for part in parts} != {"d", "m", "y"}:
        return ""
    return found[2].join(_part(day, part.lower()) for part in parts)


def _part(day: date, form: str) -> str:
    if form[0] == "y":
        return f"{day.year:04d}" if len(form) > 2 else f"{day.year % 100:02d}"
    if form in ("mmm", "mmmm"):
        return day.strftime("%b" if form == "mmm" else "%B")
    number = day.month if form[0] == "m" else day.day
    return f"{number:02d}" if len(form) == 2 else str(number)


def _from_numbers(found: re.Match[str], language: str) -> date | None:
    first, parting, second, third = found[1], found[2], int(found[3]), found[4]
    if len(first) == 4:
        return _date(int(first), second, int(third))
    year = int(third)
    if len(third) <= 2:
        year += 1900 if year >= _LAST_CENTURY else 2000
    a, b = int(first), second
    day_first = parting == "." or (
        bool(language)
        and not language.lower().startswith(("en-us", "en-ca", "en-ph"))
        and language.lower() != "en"
    )
    if a > 12 or (day_first and b <= 12):
        return _date(year, b, a)
    return _date(year, a, b)


def _from_words(words: str) -> date | None:
    month = _month_in(words)
    numbers = [int(number) for number in re.findall(r"\d+", words)]
    year = next((number for number in numbers if number > 1000), 0)
    days = [number for number in numbers if 1 <= number <= 31]
    return _date(year, month, days[0]) if month and year and len(days) == 1 else None


def _month_in(text: str) -> int:
    for word in _WORD.findall(text.lower()):
        month = _month(word.rstrip("."))
        if month:
            return month
    return 0


@cache
def _month(word: str) -> int:
    ranked = sorted(
        (
            (len(start), number)
            for number, starts in enumerate(_MONTHS, 1)
            for start in starts
            if word.startswith(start)
        ),
        reverse=True,
    )
    return ranked[0][1] if ranked else 0


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
