"""Numbers in texts with their unit: counts, amounts of money, percentages, sizes, durations.  Exact and pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from app.engine.browser.actions.field_formats import plain_number

_MONEY_SIGN = r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|AUD|CAD|SEK|NOK|DKK|PLN|CZK)\b)"
NUMBER = r"[-−+]?\d{1,3}(?:[,'\u00a0\u202f ]\d{3})+(?:[.,]\d+)?|[-−+]?\d{1,3}(?:\.\d{3})+,\d+|[-−+]?\d+(?:[.,]\d+)?"
_NUMBER = re.compile(rf"(?<![\w.,])(?:{NUMBER})(?![\d])|(?<=[$€£¥₹])(?:{NUMBER})|(?<=#)\d+")
_MONEY = re.compile(rf"[-−]?{_MONEY_SIGN}\s?(?:{NUMBER})|(?<![\w.,])(?:{NUMBER})\s?{_MONEY_SIGN}")
_CLOCK = re.compile(r"(?<![\d:.-])(\d{1,3}):(\d{2})(?::(\d{2}))?(?![\d:]|\s*[ap]\.?m)", re.IGNORECASE)
_UNIT = re.compile(r"\s?(%|[A-Za-zµ°]{1,12})")
_SCALES = {
    name: (unit, Decimal(scale))
    for unit, scale, names in (
        ("s", 1, "s sec secs second seconds"),
        ("s", 60, "min mins minute minutes"),
        ("s", 3600, "h hr hrs hour hours"),
        ("s", 86400, "d day days"),
        ("s", 604800, "week weeks"),
        ("s", 2592000, "month months"),
        ("s", 31536000, "year years"),
        ("B", 1, "b byte bytes"),
        ("B", 1024, "kb kib"),
        ("B", 1024**2, "mb mib"),
        ("B", 1024**3, "gb gib"),
        ("m", "0.001", "mm"),
        ("m", "0.01", "cm"),
        ("m", 1, "m"),
        ("m", 1000, "km"),
        ("g", 1, "g"),
        ("g", 1000, "kg"),
        ("%", 1, "%"),
        ("", 1000, "k"),
    )
    for name in names.split()
}
UNITS = frozenset(_SCALES)
"""Words that are units, in lower case."""
MOST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number; ``unit`` is ``$`` for money of any currency, ``s``, ``B``, ``m``, ``g``, ``%``, "" for none known.

    ``amount`` is in that unit (seconds, bytes, metres, grams); ``decimals`` those it was written with.
    """

    amount: Decimal
    unit: str = ""
    decimals: int = 0


@lru_cache(maxsize=16384)
def quantity_in(text: str) -> Quantity | None:
    """Return the first amount of money in a text, else its first duration written as a clock, else its first number."""
    text = text[:MOST_TEXT]
    money, clock, number = _MONEY.search(text), _CLOCK.search(text), _NUMBER.search(text)
    if money:
        return _quantity(re.sub(r"[A-Z]{3}", "", money[0]), "$")
    if clock and (number is None or clock.start() <= number.start()):
        hours, minutes, seconds = (int(one or 0) for one in clock.groups())
        return Quantity(Decimal(hours * 3600 + minutes * 60 + seconds), "s")
    return _with_unit(text, number) if number else None


def money_in(text: str) -> str:
    """Return the first amount of money in a text as it stands, "" for none."""
    found = _MONEY.search(text[:MOST_TEXT])
    return found[0].strip() if found else ""


def is_quantity(text: str) -> bool:
    """Whether a text is a number and at most a unit beside it."""
    text = text.strip()
    found = _MONEY.search(text) or _CLOCK.search(text) or _NUMBER.search(text)
    return found is not None and found.start() <= 1 and len(text) - len(found[0]) <= 12 and len(text) <= 32


def _quantity(written: str, unit: str = "") -> Quantity:
    number = plain_number(written)
    return Quantity(Decimal(number), unit, len(number.partition(".")[2]))


def _with_unit(text: str, number: re.Match[str]) -> Quantity:
    told, unit = _quantity(number[0]), _UNIT.match(text, number.end())
    scale = _SCALES.get(unit[1].casefold()) if unit else None
    if scale is None or unit is None:
        return told
    total = told.amount * scale[1]
    following = _NUMBER.match(text, unit.end() + 1) if scale[0] == "s" else None
    rest = _with_unit(text, following) if following else None  # 2 h 5 min
    return Quantity(total + rest.amount if rest and rest.unit == "s" else total, scale[0], told.decimals)
