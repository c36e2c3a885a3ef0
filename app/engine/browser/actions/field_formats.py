"""Convert a text into the format a field accepts: dates, times, numbers, amounts, telephone numbers. Pure.

The accepted format follows from a field's type, length, placeholder and pattern; which of several it really accepts
is tried on a copy of the field (``pick`` in ``resources/js/page_fields.js``), so that no page's pattern runs here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from functools import cache
from typing import Any

EXAMPLES = {
    "input date": "2026-05-31", "input time": "14:30", "input month": "2026-05", "input week": "2026-W22",
    "input datetime-local": "2026-05-31T14:30", "input number": "12.5", "input range": "50", "input color": "#ff8800",
    "input email": "name@example.com", "input url": "https://example.com",
}  # fmt: skip
SET_WHOLE = frozenset(
    {
        "input date",
        "input time",
        "input month",
        "input week",
        "input datetime-local",
        "input color",
        "input range",
    }
)
"""Fields the browser shows in parts; their value is set at once."""

_SECRET = re.compile(
    r"passw|passcode|secret|token|\bpin\b|\bcvv|\bcvc|card.?n|cc-|one-time|otp|ssn|iban", re.IGNORECASE
)
_AMOUNT = re.compile(r"[-+−]?\s*[\d.,'’\s\u00a0\u202f]*\d(?:[eE][-+]?\d+)?")
_CLOCK = re.compile(r"T?\d{1,2}:\d{2}(:\d{2})?\s*([ap]\.?m\.?)?|\b\d{1,2}\s*[ap]\.?m\b\.?", re.IGNORECASE)
_MONEY = re.compile(
    r"[$€£¥₹₽₩₺₴]|\b(usd|eur|gbp|chf|jpy|pln|sek|nok|dkk|dollars?|euros?|pounds?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldConstraints:
    """A field's constraints; ``secret`` marks content that must never be repeated in words."""

    kind: str = ""
    takes: bool = True
    placeholder: str = ""
    pattern: str = ""
    title: str = ""
    maxlength: int = -1
    inputmode: str = ""
    step: str = ""
    language: str = ""
    secret: bool = False
    readonly: bool = False
    disabled: bool = False
    own: bool = True
    label: str = ""

    @classmethod
    def read(cls, facts: Mapping[str, Any], label: str = "") -> FieldConstraints:
        """Read them from the page's ``facts``."""
        words = " ".join((facts["name"], facts["autocomplete"], facts["placeholder"], label))
        return cls(
            kind=facts["kind"],
            takes=facts["takes"],
            placeholder=facts["placeholder"],
            pattern=facts["pattern"],
            title=facts["title"],
            maxlength=int(facts["maxlength"]),
            inputmode=facts["inputmode"],
            step=facts["step"],
            language=facts["language"],
            secret=facts["kind"] == "input password" or bool(_SECRET.search(words)),
            readonly=facts["readonly"],
            disabled=facts["disabled"],
            own=facts["own"],
            label=label,
        )


def format_candidates(text: str, field: FieldConstraints) -> list[str]:
    """Return the text in the formats the field may accept, likeliest first; never empty, without duplicates."""
    found = [form for form in _forms(text, field) if form or not text]
    kept = [form for form in found if field.maxlength < 0 or len(form) <= field.maxlength]
    return list(dict.fromkeys(kept or found or [text]))


def plain_number(text: str) -> str:
    """Return a number as number fields accept it: "1.234,50 €" is 1234.50; "" for none, or more than one."""
    bare = _MONEY.sub(" ", text).replace("%", " ").replace("−", "-").strip()
    found = [bare] if _AMOUNT.fullmatch(bare) else _AMOUNT.findall(bare)
    if len(found) != 1:
        return ""
    digits = re.sub(r"[\s\u00a0\u202f'’]", "", found[0])
    return _without_thousands(digits).lstrip("+")


def same_content(wanted: str, got: str) -> bool:
    """Whether a field holds what was typed, apart from spaces, brackets and separators."""
    if wanted == got or wanted.replace("\r\n", "\n").strip() == got.strip():
        return True
    mine, theirs = (re.sub(r"[\s\u00a0()./,_-]", "", text).casefold() for text in (wanted, got))
    return bool(mine) and mine == theirs


def _forms(text: str, field: FieldConstraints) -> Iterator[str]:
    trimmed = text.strip()
    match field.kind:
        case "input date":
            day = read_date(trimmed, field.language)
            yield day.isoformat() if day else trimmed
        case "input time":
            moment = read_time(trimmed)
            yield (
                _clock(trimmed)
                if moment is None
                else moment.isoformat("seconds" if moment.second else "minutes")
            )
        case "input month":
            yield read_month(trimmed) or trimmed
        case "input week":
            yield read_week(trimmed) or trimmed
        case "input datetime-local":
            yield from _moment(trimmed, field.language)
        case "input number" | "input range":
            yield from _numbers(trimmed, field)
        case "input tel":
            yield text
            yield from _digits_in_form(trimmed, field)
        case "input email":
            yield trimmed
        case "input url":
            yield trimmed
            yield f"https://{trimmed}"
        case _:
            yield from _texts(text, field)


def _texts(text: str, field: FieldConstraints) -> Iterator[str]:
    day = read_date(text.strip(), field.language)
    if day is not None:
        for form in (field.placeholder, field.title, field.label):
            as_told = format_date(day, form)
            if as_told:
                yield as_told
    if field.inputmode in ("numeric", "decimal") and _MONEY.search(text):
        yield plain_number(text)
    yield text
    if field.pattern or 0 <= field.maxlength < len(text):
        yield text.strip()
        yield from _digits_in_form(text.strip(), field)
        yield re.sub(r"[\s-]", "", text)
        yield plain_number(text)
        yield text.strip().upper()
        yield text.strip().lower()
        if day is not None:
            yield from (day.strftime(form) for form in ("%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y", "%d/%m/%Y"))


def _numbers(text: str, field: FieldConstraints) -> Iterator[str]:
    number = plain_number(text)
    if number.endswith((".0", ".00")) and field.step in ("", "1"):
        yield number.partition(".")[0]
    yield number or text


def _moment(text: str, language: str) -> Iterator[str]:
    clock = _CLOCK.search(text)
    moment = read_time(clock[0].lstrip("T")) if clock else None
    day = read_date(text.replace(clock[0], " ") if clock else text, language)
    yield f"{day.isoformat()}T{moment.isoformat('minutes') if moment else '00:00'}" if day else text


def _clock(text: str) -> str:
    """Return ``9`` or ``0930`` as a time."""
    digits = re.sub(r"\D", "", text)
    if text != digits or len(digits) not in (1, 2, 4):
        return text
    return f"{int(digits[:2]):02d}:{digits[2:] or '00'}"


def _digits_in_form(text: str, field: FieldConstraints) -> Iterator[str]:
    """Yield the digits of a text as the placeholder groups them, then bare, then in the usual groups of ten."""
    digits = re.sub(r"\D", "", text)
    if not digits:
        return
    places = re.sub(r"[^\d_xX#]", "", field.placeholder)
    if len(places) == len(digits) >= 4:
        left = iter(digits)
        yield re.sub(r"[\d_xX#]", lambda _: next(left), field.placeholder)
    yield digits
    ten = digits[1:] if len(digits) == 11 and digits[0] == "1" else digits
    if len(ten) == 10:
        yield f"{ten[:3]}-{ten[3:6]}-{ten[6:]}"
        yield f"({ten[:3]}) {ten[3:6]}-{ten[6:]}"
        yield f"+1{ten}"
    yield f"+{digits}"


def _without_thousands(digits: str) -> str:
    """Remove thousands separators: the last of comma and point is the decimal one, unless it groups three digits."""
    comma, point = digits.rfind(","), digits.rfind(".")
    if comma >= 0 and point >= 0:
        decimal = "," if comma > point else "."
        other = "." if decimal == "," else ","
        return digits.replace(other, "").replace(decimal, ".")
    if comma >= 0:
        thousands = digits.count(",") > 1 or re.fullmatch(r"[-+]?[1-9]\d{0,2},\d{3}", digits)
        return digits.replace(",", "") if thousands else digits.replace(",", ".")
    if digits.count(".") > 1:
        return digits.replace(".", "")
    return digits


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
    """Parse the date in a text; ``None`` if there is none, or no year.

    Where day and month could be swapped, the order is that of the page's language: month first in American English
    and where no language is given, day first elsewhere and where dots separate the numbers.
    """
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
