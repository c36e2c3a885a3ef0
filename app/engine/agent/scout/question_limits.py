"""Bounds in a question: limits on numbers, dates and ages, and superlatives.  Pure, linear."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import takewhile

from app.engine.agent.scout.dates import Period, is_date, periods_in
from app.engine.agent.scout.likeness import STOP
from app.engine.agent.scout.quantities import NUMBER, UNITS, quantity_in
from app.engine.agent.scout.task import Name
from app.engine.core.text import word_set

Days = tuple[date | None, date | None]
"""First and last day; ``None`` for no bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A bound on a number, a date or an age.

    Attributes:
        attribute: words of the column: the one before (``price below 30``), the one behind (``5 messages``).
        low, high: bounds in the unit of ``app.engine.agent.scout.quantities``; ``None`` for none; a limit
            without any bound compares with what is not read here (``more than the average``).
        unit: the unit of the bounds, "" for none.
        strict: bounds are not met by themselves.
        period: for dates the days allowed; ``low``, ``high`` are unset.
        age: ``low`` and ``high`` are seconds before today.
    """

    attribute: str = ""
    low: Decimal | None = None
    high: Decimal | None = None
    unit: str = ""
    strict: bool = False
    period: Days | None = None
    age: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A superlative.

    Attributes:
        word: as written (``oldest``).
        attribute: the noun behind it: a column (``owned``: ``has the most messages``) or the thing (``oldest book``).
        dated, priced: the word itself speaks of time, of money.
        place: from 1 (``second oldest``: 2).
    """

    word: str
    attribute: str = ""
    largest: bool = True
    dated: bool = False
    priced: bool = False
    place: int = 1
    owned: bool = False


_SMALL = word_set(
    "smallest lowest least fewest shortest cheapest oldest earliest first minimum nearest closest worst slowest "
    "lightest thinnest narrowest weakest poorest"
)
_DATED = word_set("oldest newest latest earliest recent recently youngest first last")
_PRICED = word_set("cheapest dearest expensive priciest costliest")
_NO_SUPERLATIVE = word_set(
    "test request guest west rest interest forest contest quest digest manifest nest chest harvest arrest protest "
    "invest suggest priest"
)
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = "|".join((*ORDINALS[1:], r"\d{1,2}\s?(?:st|nd|rd|th)"))
ORDER = re.compile(
    rf"\b(?:(?P<place>{_ORDINAL})[ -])?(?:(?P<much>most|least|fewest)(?: (?P<by>recently|recent))?|"
    r"(?P<est>[a-z]{3,12}est|first|last|top|maximum|minimum|highest))(?=\s|$)"
)
END = (
    "of|for|in|on|by|from|at|with|to|that|which|who|whose|is|are|was|were|do|does|did|has|have|had|there|can|"
    "could|will|would|should|not|without|than|and|or|whom|when|as|per|since|until|before|after|during|between|"
    "over|above|under|below|more|less|fewer|at|among|amongst|all|within|if|this|i|we|you|they|it|he|she|get|stand|exist|"
    "the|a|an|my|our|your|their|his|her|its"
)
PHRASE = rf"(?!(?:the|a|an|all|my|our)\b)((?:(?!(?:{END})\b)[^\W_][\w'/%-]*\s?){{1,6}})"
ARTICLE = r"(?:(?:the|a|an|all|¤|my|our|their|its|his|her|any|each|every|your|these|those|different)\s+)*"
_NO_ORDER = re.compile(r"first name|last (?:\w+ed|name|log\w*|visit|seen|edit|change|update|activity)\b")
_OWNED = re.compile(r"\b(?:has|have|had|with|by)\s+(?:the\s+)?$")
TOP = re.compile(r"\b(?:top|first|last)\s+(\d{1,3})\b\s*")
_YEAR = re.compile(r".*\b(?:in|after|before|since|until|during|from|of|to) (?:19|20)\d\d")
FILLER = STOP | word_set(
    "i we yet still already currently now ever each every all no not neither nor there what which who when where how "
    "many much please me us tell show give you can could name"
)
_N = rf"(?:[$€£]\s?)?(?:{NUMBER})"
_ADJECTIVE = r"(?:more|greater|larger|higher|bigger|longer|older|later|newer|heavier)"
_LESSER = r"(?:less|fewer|smaller|lower|shorter|younger|cheaper|earlier|lighter)"
_LIMITS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("range", rf"\b(?:between|from)\s+({_N})\s*(?:and|to|-)\s*({_N})"),
        ("least", rf"(?:\b(?:at least|no(?:t)? less than|minimum of|no fewer than)|>=)\s*({_N})"),
        ("least", rf"({_N})\s*(?:\+|(?:\w+ )?or (?:more|higher|above|greater|larger|longer))"),
        ("most", rf"(?:\b(?:at most|no(?:t)? more than|up to|maximum of|no longer than)|<=)\s*({_N})"),
        ("most", rf"({_N})\s*(?:\w+ )?or (?:less|fewer|lower|below|smaller|shorter)"),
        ("above", rf"(?:\b(?:{_ADJECTIVE} than|over|above|exceed(?:s|ing)?|beyond)\s+|>\s*)({_N})"),
        ("below", rf"(?:\b(?:{_LESSER} than|under|below)\s+|<\s*)({_N})"),
        ("equal", rf"\b(?:exactly|equal to|equals|precisely)\s+({_N})"),
        ("recent", rf"\b(?:in|within|during|over) the (?:last|past)\s+({_N})"),
    )
)
_COMPARED = re.compile(rf"\b(?:{_ADJECTIVE}|{_LESSER}) than \w*")
_MEASURE = re.compile(r"\s?([a-z%]+)")
_COMPARING = re.compile(
    r"\b(?:than|below|above|under|over|least|most|exactly|between|up to|equal to|first|last|top)$"
)
_AGED = re.compile(r"\b(older|newer|younger|later|earlier|ago)\b")
_BEHIND = re.compile(rf"\s*{PHRASE}")
_BEFORE_WORDS = re.compile(r"([a-z][\w-]*(?: (?:of|in|by|on))?)\s*(?:is|are|was|were|of|be|that|,)?\s*$")
_DATE_SIDE = re.compile(
    r"\b(before|until|till|by|prior to|earlier than|older than|after|since|from|later than|newer than|on|in|during|"
    r"of|for|at|between)\s*(?:the\s+)?$"
)


def is_bound(name: Name) -> bool:
    """Whether what looks like a name is a date, a year behind a word of time, a unit, a number that is compared."""
    year = _YEAR.fullmatch(f"{name.lead[-7:]} {name.text}")
    compared = name.number and _COMPARING.search(name.lead)
    return is_date(name.text) or bool(year or compared) or name.text.casefold() in UNITS


def date_limits(text: str) -> tuple[str, list[Limit]]:
    """Return a text without its dates, and what each of them bounds."""
    found, limits, kept, at = list(periods_in(text)), list[Limit](), "", 0
    while found:
        start, end, period = found.pop(0)
        side = _DATE_SIDE.search(text[:start])
        days = _side(side[1] if side else "", period)
        if found and re.fullmatch(r"\s*(?:and|to|until|till|through|-|–)\s*", text[end : found[0][0]]):
            _, end, other = found.pop(0)
            days = (period[0], other[1])
        start = side.start() if side else start
        if more := re.match(r"\s*or (?:(later|after|newer)|earlier|before|older)\b", text[end:]):
            days, end = (period[0], None) if more[1] else (None, period[1]), end + more.end()
        limits.append(Limit(attribute=_word_before(text[:start]), period=days))
        kept, at = f"{kept} {text[at:start]}", end
    return " ".join(f"{kept} {text[at:]}".split()), limits


def _word_before(text: str) -> str:
    found = _BEFORE_WORDS.search(text)
    return found[1] if found and found[1] not in FILLER | {"with"} else ""


def _side(word: str, period: Period) -> Days:
    if word in ("before", "prior to", "earlier than", "older than"):
        return None, period[0] - timedelta(1)
    if word in ("until", "till", "by"):
        return None, period[1]
    if word in ("after", "later than", "newer than"):
        return period[1] + timedelta(1), None
    return (period[0], None) if word in ("since", "from") else period


def number_limits(text: str) -> tuple[str, list[Limit]]:
    """Return a text without its bounds on numbers, and these."""
    limits: list[Limit] = []
    for name, pattern in _LIMITS:
        while len(limits) < 6 and (found := pattern.search(text)):
            limits.append(_limit(name, found, text))
            measured = _MEASURE.match(text, found.end())
            end = measured.end() if measured and measured[1] in UNITS else found.end()
            text = f"{text[: found.start()]} {text[end:]}"
    if found := _COMPARED.search(text):
        limits.append(Limit(attribute=found[0]))
    return " ".join(text.split()), limits


def _limit(name: str, found: re.Match[str], text: str) -> Limit:
    behind = _BEHIND.match(text, found.end())
    things = noun(behind[1]) if behind else ""
    measure = things.partition(" ")[0]
    told = [one for number in found.groups() if (one := quantity_in(f"{number} {measure}")) is not None]
    first, last, unit = told[0].amount, told[-1].amount, next((one.unit for one in told if one.unit), "")
    timed, aged = told[0].unit == "s", _AGED.search(found[0])
    if name == "recent" or (timed and (aged or "ago" in text)):
        younger = name == "recent" or re.search(r"newer|younger|later", found[0])
        return Limit(low=None if younger else first, high=first if younger else None, age=True)
    return Limit(
        attribute=things
        if not timed and measure not in {"", *UNITS}
        else _word_before(text[: found.start()]),
        low=first if name in ("range", "least", "above", "equal") else None,
        high=last if name in ("range", "most", "below", "equal") else None,
        unit=unit,
        strict=name in ("above", "below"),
    )


def read_order(text: str) -> tuple[Order | None, str]:
    """The superlative of a text, and the text without it."""
    for found in ORDER.finditer(text):
        word = found["est"] or found["by"] or found["much"]
        behind = text[found.end() :].strip()
        counted = re.match(r"\s*(?:number|amount|count)s? of ", text[found.end() :])
        if word in _NO_SUPERLATIVE or _NO_ORDER.match(f"{word} {behind}"):
            continue
        most = bool(found["much"] and not found["by"])
        priced = most and behind.partition(" ")[0] in _PRICED
        cut = found.end() + (len(behind.partition(" ")[0]) + 1 if priced else counted.end() if counted else 0)
        nominal = _BEHIND.match(text, cut)
        order = Order(
            word=word,
            attribute=noun(nominal[1]) if nominal else "",
            largest=word not in _SMALL,
            dated=word in _DATED,
            priced=word in _PRICED or priced,
            place=_place(found["place"]),
            owned=(most and not priced) or bool(counted) or bool(_OWNED.search(text[: found.start()])),
        )
        return order, " ".join(f"{text[: found.start()]} ¤ {text[cut:]}".split())
    return None, text


def _place(word: str | None) -> int:
    if not word:
        return 1
    return ORDINALS.index(word) + 1 if word in ORDINALS else max(1, int(re.sub(r"\D", "", word)))


def noun(phrase: str) -> str:
    """A phrase without what is said of its noun: ``orders placed``."""
    told = phrase.split()
    return " ".join([*told[:1], *takewhile(lambda one: not one.endswith("ed"), told[1:])])
