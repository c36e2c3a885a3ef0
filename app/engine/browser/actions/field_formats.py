"""Convert a text into the format a field accepts: dates, times, numbers, amounts, telephone numbers. Pure.

The accepted format follows from a field's type, length, placeholder and pattern; which of several it really accepts
is tried on a copy of the field (``pick`` in ``resources/js/page_fields.js``), so that no page's pattern runs here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.engine.browser.actions.dates import format_date, read_date, read_month, read_time, read_week

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
    found = _AMOUNT.fullmatch(bare) or _only(_AMOUNT.findall(bare))
    if found is None:
        return ""
    digits = re.sub(r"[\s\u00a0\u202f'’]", "", found if isinstance(found, str) else found[0])
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


def _only(found: list[str]) -> str | None:
    return found[0] if len(found) == 1 else None


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
