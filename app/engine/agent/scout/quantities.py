"""Numbers in texts with their unit: counts, amounts of money, percentages, sizes, durations.  Exact and pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

_SIGNS = "$€£¥₹"
_CODES = "USD|EUR|GBP|CHF|JPY|AUD|CAD|SEK|NOK|DKK|PLN|CZK"
NUMBER = r"[-−+]?\d{1,3}(?:[,'\u00a0\u202f ]\d{3})+(?:[.,]\d+)?|[-−+]?\d{1,3}(?:\.\d{3})+,\d+|[-−+]?\d+(?:[.,]\d+)?"
_NUMBER = re.compile(rf"(?<![\w.,])(?:{NUMBER})(?![\d])|(?<=[{_SIGNS}])(?:{NUMBER})|(?<=#)\d+")
_MONEY = re.compile(
    rf"[-−]?(?:[{_SIGNS}]|\b(?:{_CODES}))\s?(?:{NUMBER})|(?<![\w.,])(?:{NUMBER})\s?(?:[{_SIGNS}]|(?:{_CODES})\b)"
)
_CLOCK = re.compile(r"(?<![\d:.-])(\d{1,3}):(\d{2})(?::(\d{2}))?(?![\d:]|\s*[ap]\.?m)", re.IGNORECASE)
_UNIT = re.compile(r"\s?(%|[A-Za-zµ°]{1,12})")
_SCALES: dict[str, tuple[str, Decimal]] = {
    **{name: ("s", Decimal(1)) for name in ("s", "sec", "secs", "second", "seconds")},
    **{name: ("s", Decimal(60)) for name in ("min", "mins", "minute", "minutes")},
    **{name: ("s", Decimal(3600)) for name in ("h", "hr", "hrs", "hour", "hours")},
    **{name: ("s", Decimal(86400)) for name in ("d", "day", "days")},
    **{name: ("s", Decimal(604800)) for name in ("week", "weeks")},
    **{name: ("s", Decimal(2592000)) for name in ("month", "months")},
    **{name: ("s", Decimal(31536000)) for name in ("year", "years")},
    **{name: ("B", Decimal(1)) for name in ("b", "byte", "bytes")},
    "kb": ("B", Decimal(1024)),
    "kib": ("B", Decimal(1024)),
    "mb": ("B", Decimal(1024**2)),
    "mib": ("B", Decimal(1024**2)),
    "gb": ("B", Decimal(1024**3)),
    "gib": ("B", Decimal(1024**3)),
    "mm": ("m", Decimal("0.001")),
    "cm": ("m", Decimal("0.01")),
    "m": ("m", Decimal(1)),
    "km": ("m", Decimal(1000)),
    "g": ("g", Decimal(1)),
    "kg": ("g", Decimal(1000)),
    "%": ("%", Decimal(1)),
    "k": ("", Decimal(1000)),
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
    money = _MONEY.search(text)
    if money:
        amount, decimals = number_of(re.sub(rf"[{_SIGNS}]|{_CODES}", "", money[0]))
        return Quantity(amount, "$", decimals)
    clock = _CLOCK.search(text)
    number = _NUMBER.search(text)
    if clock and (number is None or clock.start() <= number.start()):
        hours, minutes, seconds = int(clock[1]), int(clock[2]), int(clock[3] or 0)
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


def number_of(text: str) -> tuple[Decimal, int]:
    """Return a number as written in digits, with the decimals it was written with."""
    text = text.strip().replace("−", "-").lstrip("+")
    for sign in "'\u00a0\u202f ":
        text = text.replace(sign, "")
    whole, comma, rest = text.rpartition(",")
    if comma and (len(rest) != 3 or "." in whole):  # 12,50 and 1.234,56; but 1,234 has a thousand
        text = (
            whole.replace(".", "").replace(",", "") + "." + rest if "." not in rest else text.replace(",", "")
        )
    text = text.replace(",", "")
    return Decimal(text), len(text.partition(".")[2])


def _with_unit(text: str, number: re.Match[str]) -> Quantity:
    amount, decimals = number_of(number[0])
    unit = _UNIT.match(text, number.end())
    scale = _SCALES.get(unit[1].casefold()) if unit else None
    if scale is None or unit is None:
        return Quantity(amount, "", decimals)
    total = amount * scale[1]
    following = _NUMBER.match(text, unit.end() + 1) if scale[0] == "s" else None
    if following:  # 2 h 5 min
        rest = _with_unit(
            text[following.start() :], re.match(_NUMBER.pattern, text[following.start() :]) or following
        )
        total += rest.amount if rest.unit == "s" else 0
    return Quantity(total, scale[0], decimals)
