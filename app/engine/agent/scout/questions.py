"""What a question asks: which values, of which things, within which limits, in which order.  Pure.

Read from English grammar alone.  Which column or label each phrase means, and which words are values, is decided
against the page (``app.engine.agent.scout.answering``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from itertools import takewhile

from app.engine.agent.scout.dates import Period, is_date, periods_in
from app.engine.agent.scout.likeness import STOP, words
from app.engine.agent.scout.quantities import NUMBER, UNITS, quantity_in
from app.engine.agent.scout.task import Name, TaskPart
from app.engine.core.text import word_set

Days = tuple[date | None, date | None]
"""First and last day; ``None`` for no bound."""


class Aggregate(StrEnum):
    """How the answer is made of the values asked about."""

    VALUE = "value"
    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    LARGEST = "largest"
    SMALLEST = "smallest"
    DIFFERENCE = "difference"
    LIST = "list"
    YES_NO = "yes-no"
    GROUP_COUNT = "group-count"


class ValueKind(StrEnum):
    """Kinds of values, by the question word."""

    ANY = ""
    PERSON = "person"
    DATE = "date"
    AMOUNT = "amount"
    NUMBER = "number"
    DURATION = "duration"
    PLACE = "place"


@dataclass(frozen=True, slots=True)
class Asked:
    """One value asked for; ``phrase`` is its name or the verb that leads to it, "" where only its kind is told."""

    phrase: str
    kind: ValueKind = ValueKind.ANY


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked.

    Attributes:
        asked: values asked for, at least one.
        things: words of the things that are counted, listed or compared.
        top: how many rows of the order are meant (``the top 40``), 0 for no such bound.
        group: for a count by groups the words of the column to group by.
        modifiers: words that must hold of the things (``open`` issues, those that are ``overdue``).
        negated: names and words that must not hold.
        names: the names of the part that are neither negated nor a date.
        words: every other word that carries meaning.
    """

    aggregate: Aggregate
    asked: tuple[Asked, ...]
    things: str = ""
    limits: tuple[Limit, ...] = ()
    order: Order | None = None
    top: int = 0
    group: str = ""
    modifiers: tuple[str, ...] = ()
    negated: tuple[str, ...] = ()
    names: tuple[Name, ...] = ()
    words: tuple[str, ...] = ()


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
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = "|".join((*_ORDINALS[1:], r"\d{1,2}\s?(?:st|nd|rd|th)"))
_ORDER = re.compile(
    rf"\b(?:(?P<place>{_ORDINAL})[ -])?(?:(?P<much>most|least|fewest)(?: (?P<by>recently|recent))?|"
    r"(?P<est>[a-z]{3,12}est|first|last|top|maximum|minimum|highest))(?=\s|$)"
)
_END = (
    "of|for|in|on|by|from|at|with|to|that|which|who|whose|is|are|was|were|do|does|did|has|have|had|there|can|"
    "could|will|would|should|not|without|than|and|or|whom|when|as|per|since|until|before|after|during|between|"
    "over|above|under|below|more|less|fewer|at|among|amongst|all|within|if|this|i|we|you|they|it|he|she|get|stand|exist|the|a|an|my|our|your|their|his|her|its"
)
_PHRASE = rf"(?!(?:the|a|an|all|my|our)\b)((?:(?!(?:{_END})\b)[^\W_][\w'/%-]*\s?){{1,6}})"
_ARTICLE = r"(?:(?:the|a|an|all|¤|my|our|their|its|his|her|any|each|every|your|these|those|different)\s+)*"
_TOP = re.compile(r"\b(?:top|first|last)\s+(\d{1,3})\b\s*")
_COUNT = re.compile(
    rf"(?:\bhow many|(?:^|\b(?:the|total|is|and|are) )(?:number|count) of|^count)\s+{_ARTICLE}(?:§\d+\s+)?{_PHRASE}"
)
_PER = re.compile(rf"\b(?:for each|for every|per|grouped by|by each)\s+{_PHRASE}")
_SUM = re.compile(
    r"^(?:what(?:'s| is| are| was| were)\s+)?(?:the\s+|my\s+|our\s+)?(?:\w+\s+){0,2}(?:total|sum|combined|overall)\b|"
    r"\b(?:in total|altogether|in all|combined)$"
)
_MEAN = re.compile(r"\b(?:average|mean)\b")
_DIFFERENCE = re.compile(rf"\bdifference (?:between|in) {_ARTICLE}{_PHRASE}(?:and {_ARTICLE}{_PHRASE})?")
_MORE_ASKED = re.compile(
    r"(?:,\s+(?:and\s+)?|\s+(?:and|or)\s+)(?=(?:(?:on|at|in|by|for|to|from)\s+)?"
    r"(?:who|whom|what|when|where|which|how)\b)|\s+(?=(?:when|where)$)"
)
_OF = re.compile(rf"\b(?:of|among|from|in|for)\s+{_ARTICLE}{_PHRASE}")
_WORDS_OF_KINDS = (
    (re.compile(r"(?:(?:by|to|for|from|with)\s+)?who(?:m|se)?\b"), ValueKind.PERSON),
    (
        re.compile(r"(?:(?:on|at|in|since|by)\s+)?(?:when|(?:what|which) (?:day|date|time|year|month))\b"),
        ValueKind.DATE,
    ),
    (re.compile(r"(?:(?:in|at|to)\s+)?where\b"), ValueKind.PLACE),
)
_HOW = re.compile(r"\bhow (much|long|old|far|big|large|high|tall|heavy|often|deep|wide|fast|\w+)\b")
_YEAR = re.compile(r".*\b(?:in|after|before|since|until|during|from|of|to) (?:19|20)\d\d")
_POLITE = re.compile(
    r"^\s*(?:(?:please|can you|could you|i want to know|i would like to know|and|then|also)\b\s*)+"
)
_HOW_KINDS = {"much": ValueKind.AMOUNT, "long": ValueKind.DURATION, "old": ValueKind.NUMBER}
_BE = re.compile(
    rf"\b(?:what|which)(?:'s| is| are| was| were)\s+(?:{_ARTICLE})?(?:§\d+(?:'s|')?\s+)?{_ARTICLE}{_PHRASE}"
)
_WHICH = re.compile(rf"\b(?:what|which)\s+{_PHRASE}")
_THE = re.compile(rf"^(?:the|all|my|our|its|their|§\d+'s)?\s*{_ARTICLE}{_PHRASE}")
_YES_NO = re.compile(r"^(?:is|are|was|were|does|do|did|has|have|had|can|will)\b")
_NOT = re.compile(
    r"\b(?:without|excluding|except(?: for)?|other than|apart from|not|no|never|neither|nor|isn't|aren't|wasn't)\s+"
    r"(?:an?\s+|any\s+|the\s+|been\s+|yet\s+|in\s+|by\s+)?(§\d+|[\w.-]+)"
)
_NON = re.compile(r"\bnon-?(\w+)")
_STATE = re.compile(
    rf"\b(?:that|which|who)?\s*(?:are|is|were|was|be)\s+(?:currently |still |already |now |yet )?"
    rf"([a-z][\w-]+)(?!\s+(?:{_END}))(?=\s|$|[?.,])"
)
_ROWS_MEANT = (Aggregate.COUNT, Aggregate.GROUP_COUNT, Aggregate.LIST, Aggregate.LARGEST, Aggregate.SMALLEST)
_FILLER = STOP | word_set(
    "i we yet still already currently now ever each every all no not neither nor there what which who when where how "
    "many much please me us tell show give you can could name"
)
_N = rf"(?:[$€£]\s?)?(?:{NUMBER})"
_ADJECTIVE = r"(?:more|greater|larger|higher|bigger|longer|older|later|newer|heavier)"
_LESSER = r"(?:less|fewer|smaller|lower|shorter|younger|cheaper|earlier|lighter)"
_LIMITS = (
    ("range", re.compile(rf"\b(?:between|from)\s+({_N})\s*(?:and|to|-)\s*({_N})")),
    (
        "least",
        re.compile(rf"(?:\b(?:at least|no less than|not less than|minimum of|no fewer than)|>=)\s*({_N})"),
    ),
    ("least", re.compile(rf"({_N})\s*(?:\+|(?:\w+ )?or (?:more|higher|above|greater|larger|longer))")),
    (
        "most",
        re.compile(
            rf"(?:\b(?:at most|no more than|not more than|up to|maximum of|no longer than)|<=)\s*({_N})"
        ),
    ),
    ("most", re.compile(rf"({_N})\s*(?:\w+ )?or (?:less|fewer|lower|below|smaller|shorter)")),
    ("above", re.compile(rf"\b(?:{_ADJECTIVE} than|over|above|exceed(?:s|ing)?|beyond)\s+({_N})|>\s*({_N})")),
    ("below", re.compile(rf"\b(?:{_LESSER} than|under|below)\s+({_N})|<\s*({_N})")),
    ("equal", re.compile(rf"\b(?:exactly|equal to|equals|precisely)\s+({_N})")),
    ("recent", re.compile(rf"\b(?:in|within|during|over) the (?:last|past)\s+({_N})")),
)
_COMPARED = re.compile(rf"\b(?:{_ADJECTIVE}|{_LESSER}) than \w*")
_MEASURE = re.compile(r"\s?([a-z%]+)")
_COMPARING = re.compile(
    r"\b(?:than|below|above|under|over|least|most|exactly|between|up to|equal to|first|last|top)$"
)
_AGED = re.compile(r"\b(older|newer|younger|later|earlier|ago)\b")
_BEHIND = re.compile(rf"\s*{_PHRASE}")
_BEFORE_WORDS = re.compile(r"([a-z][\w-]*(?: (?:of|in|by|on))?)\s*(?:is|are|was|were|of|be|that|,)?\s*$")
_DATE_SIDE = re.compile(
    r"\b(before|until|till|by|prior to|earlier than|older than|after|since|from|later than|newer than|on|in|during|"
    r"of|for|at|between)\s*(?:the\s+)?$"
)


@lru_cache(maxsize=64)
def read_question(part: TaskPart) -> Question:
    """Return what a part asks; anything is read as something."""
    text, names = _masked(part)
    text, dated = _date_limits(text)
    text, limits = _number_limits(text)
    refused = [found[1].strip(".") for found in (*_NOT.finditer(text), *_NON.finditer(text))]
    text = _NON.sub(" ", _NOT.sub(" ", text))
    top = _TOP.search(text)
    text = _TOP.sub("" if top and _ORDER.search(text, top.end()) else "top ", text, count=1)
    order, bare = _order(text)
    segments = _MORE_ASKED.split(bare)
    asked = [*_asked(segments[0]), *(one for segment in segments[1:] for one in _asked(segment)[:1])]
    aggregate = _aggregate(part, bare, None if top else order)
    if top and aggregate is Aggregate.VALUE:
        aggregate = Aggregate.LIST
    things = _things(segments[0], aggregate, order)
    group = found[1].strip() if (found := _PER.search(bare)) else ""
    if group and aggregate is Aggregate.COUNT:
        aggregate = Aggregate.GROUP_COUNT
    told = [*(one.phrase for one in asked), *(one.attribute for one in (*dated, *limits)), things, group]
    known = {word for one in told for word in words(one)} | _FILLER
    return Question(
        aggregate=aggregate,
        asked=_shared(asked, aggregate, things, bare),
        things=things,
        limits=(*dated, *limits),
        order=order,
        top=int(top[1]) if top else 0,
        group=group,
        modifiers=tuple(
            one for one in _modifiers(bare, things, aggregate) if one not in (known - set(words(things)))
        ),
        negated=tuple(names[int(one[1:])].text if one[0] == "§" else one for one in refused),
        names=tuple(one for number, one in enumerate(names) if f"§{number}" not in refused),
        words=tuple(dict.fromkeys(one for one in words(_no_names(bare)) if one not in known)),
    )


def _masked(part: TaskPart) -> tuple[str, tuple[Name, ...]]:
    """The text in lower case with ``§0``, ``§1`` for its names, without the imperative it begins with; and the names.

    A year behind a word of time (``after 2010``) is no name.
    """
    text = " ".join(part.text.split())[:2000].replace("’", "'").replace("§", " ").replace("¤", " ")
    days = words(" ".join(text[start:end] for start, end, _ in periods_in(text)))
    names = tuple(
        one for one in part.names if one.quoted or not (_is_bound(one) or (one.number and one.text in days))
    )
    for number, name in sorted(enumerate(names), key=lambda one: -len(one[1].text)):
        for written in (f'"{name.text}"', f"'{name.text}'", name.text):
            at = re.search(rf"(?<![\w§]){re.escape(written)}(?!\w)", text)
            if name.text and at:
                text = f"{text[: at.start()]}§{number}{text[at.end() :]}"
                break
    text = text.casefold().strip(" ?.!")
    if part.verb and text.startswith(part.verb):
        text = re.sub(r"^\s*(?:me|us|out)\b\s*", "", text[len(part.verb) :])
    return re.sub(_POLITE, "", text), names


def _is_bound(name: Name) -> bool:
    """Whether what looks like a name is a date, a year behind a word of time, a unit, a number that is compared."""
    year = _YEAR.fullmatch(f"{name.lead[-7:]} {name.text}")
    compared = name.number and _COMPARING.search(name.lead)
    return is_date(name.text) or bool(year or compared) or name.text.casefold() in UNITS


def _no_names(text: str) -> str:
    return re.sub(r"§\d+(?:'s)?", " ", text)


def _date_limits(text: str) -> tuple[str, list[Limit]]:
    found = list(periods_in(text))
    limits: list[Limit] = []
    spans: list[tuple[int, int]] = []
    while found:
        start, end, period = found.pop(0)
        side = _DATE_SIDE.search(text[:start])
        word = side[1] if side else ""
        if found and re.fullmatch(r"\s*(?:and|to|until|till|through|-|–)\s*", text[end : found[0][0]]):
            _, end, other = found.pop(0)
            days: Days = (period[0], other[1])
        else:
            days = _side(word, period)
        start = side.start() if side else start
        before = _BEFORE_WORDS.search(text[:start])
        attribute = before[1] if before and before[1] not in _FILLER else ""
        limits.append(Limit(attribute=attribute, period=days))
        spans.append((start, end))
    for start, end in reversed(spans):
        text = f"{text[:start]} {text[end:]}"
    return " ".join(text.split()), limits


def _side(word: str, period: Period) -> Days:
    if word in ("before", "prior to", "earlier than", "older than"):
        return None, period[0].fromordinal(period[0].toordinal() - 1)
    if word in ("until", "till", "by"):
        return None, period[1]
    if word in ("after", "later than", "newer than"):
        return period[1].fromordinal(period[1].toordinal() + 1), None
    return (period[0], None) if word in ("since", "from") else period


def _number_limits(text: str) -> tuple[str, list[Limit]]:
    limits: list[Limit] = []
    for name, pattern in _LIMITS:
        while len(limits) < 6 and (found := pattern.search(text)):
            behind = _BEHIND.match(text, found.end())
            unit = _noun(behind[1]) if behind else ""
            limits.append(_limit(name, found, text, unit))
            measured = _MEASURE.match(text, found.end())
            end = measured.end() if measured and measured[1] in UNITS else found.end()
            text = f"{text[: found.start()]} {text[end:]}"
    if found := _COMPARED.search(text):
        limits.append(Limit(attribute=found[0]))
    return " ".join(text.split()), limits


def _limit(name: str, found: re.Match[str], text: str, unit: str) -> Limit:
    told = [quantity_in(f"{one} {unit.split(' ')[0] if unit else ''}") for one in found.groups() if one]
    amounts = [one.amount for one in told if one]
    timed = bool(told and told[0] and told[0].unit == "s")
    aged = _AGED.search(found[0]) or (timed and "ago" in text)
    before = _BEFORE_WORDS.search(text[: found.start()])
    named = unit and not timed and unit.split(" ")[0] not in UNITS
    attribute = unit if named else before[1] if before and before[1] not in _FILLER | {"with"} else ""
    first, last = amounts[0], amounts[-1]
    if name == "recent" or (aged and timed):
        younger = name == "recent" or re.search(r"newer|younger|later", found[0])
        low, high = (None, first) if younger else (first, None)
        return Limit(low=low, high=high, age=True)
    low, high = {
        "range": (first, last),
        "least": (first, None),
        "above": (first, None),
        "most": (None, first),
        "below": (None, first),
        "equal": (first, first),
    }.get(name, (None, None))
    measure = next((one.unit for one in told if one and one.unit), "")
    return Limit(attribute=attribute, low=low, high=high, unit=measure, strict=name in ("above", "below"))


def _order(text: str) -> tuple[Order | None, str]:
    """The superlative of a text, and the text without it."""
    for found in _ORDER.finditer(text):
        word = found["est"] or found["by"] or found["much"]
        behind = text[found.end() :].strip()
        if word in _NO_SUPERLATIVE or (word == "first" and behind.startswith("name")):
            continue
        if word == "last" and re.match(
            r"(?:\w+ed|name|log\w*|visit|seen|edit|change|update|activity)\b", behind
        ):
            continue
        adjective = behind.split(" ")[0] if found["much"] and not found["by"] else ""
        nominal = _BEHIND.match(text, found.end() + (len(adjective) + 1 if adjective in _PRICED else 0))
        attribute = _noun(nominal[1]) if nominal else ""
        order = Order(
            word=word,
            attribute=attribute,
            largest=word not in _SMALL,
            dated=word in _DATED,
            priced=word in _PRICED or adjective in _PRICED,
            place=_place(found["place"]),
            owned=bool(found["much"] and not found["by"] and adjective not in _PRICED)
            or bool(re.search(r"\b(?:has|have|had|with|by)\s+(?:the\s+)?$", text[: found.start()])),
        )
        cut = found.end() + (len(adjective) + 1 if adjective in _PRICED else 0)
        return order, " ".join(f"{text[: found.start()]} ¤ {text[cut:]}".split())
    return None, text


def _place(word: str | None) -> int:
    if not word:
        return 1
    return _ORDINALS.index(word) + 1 if word in _ORDINALS else max(1, int(re.sub(r"\D", "", word)))


def _aggregate(part: TaskPart, text: str, order: Order | None) -> Aggregate:
    if _COUNT.search(text) or part.verb == "count":
        return Aggregate.COUNT
    if part.verb in ("list", "enumerate") and not order:
        return Aggregate.LIST
    if order:
        return Aggregate.LARGEST if order.largest else Aggregate.SMALLEST
    for pattern, aggregate in (
        (_DIFFERENCE, Aggregate.DIFFERENCE),
        (_MEAN, Aggregate.AVERAGE),
        (_SUM, Aggregate.SUM),
    ):
        if pattern.search(text):
            return aggregate
    if _YES_NO.match(text):
        return Aggregate.YES_NO
    many = re.match(r"(?:what|which) (?:are|were)\b|all\b", text) or re.match(
        rf"(?:what|which)\s+{_PHRASE}(?:are|were|have|do)\b", text
    )
    return Aggregate.LIST if many else Aggregate.VALUE


def _asked(text: str) -> list[Asked]:
    """The values a segment asks for."""
    text = text.strip()
    for pattern, kind in _WORDS_OF_KINDS:
        if found := pattern.match(text):
            return [Asked(_verb_phrase(text[found.end() :]), kind)]
    if found := _COUNT.search(text):
        return [Asked(_noun(found[1]), ValueKind.NUMBER)]
    if found := _HOW.search(text):
        return [Asked(_how_phrase(found[1], text[found.end() :]), _HOW_KINDS.get(found[1], ValueKind.ANY))]
    if _YES_NO.match(text):
        return [Asked(_verb_phrase(text))]
    found = _BE.search(text) or _WHICH.search(text) or _THE.search(text)
    if found is None:
        return [Asked(" ".join(one for one in words(_no_names(text)) if one not in _FILLER)[:80])]
    told = [_noun(one) for one in _several(found[1], text[found.end() :])]
    verbal = found.re is _WHICH and re.match(r"\s*(?:the\s|an?\s)?\s*[¤§]", text[found.end() :]) is not None
    return [Asked(" ".join(one.split()[:-1]) or one if verbal else one) for one in told]


def _several(phrase: str, behind: str) -> list[str]:
    """``name and email address``: each of them."""
    found = [phrase.strip()]
    while more := re.match(rf"\s*(?:,\s*and|,|and)\s+{_ARTICLE}{_PHRASE}", behind):
        found.append(more[1].strip())
        behind = behind[more.end() :]
    return found


def _verb_phrase(text: str) -> str:
    """The words that tell which person or day: ``reported``, ``last changed``, ``author``."""
    owner = re.match(rf"\s*(?:is|are|was|were)\s+{_ARTICLE}{_PHRASE}(?:of|for|in|on)\b", text)
    if owner:
        return owner[1].strip()
    bare = re.sub(r"[^\W\d]\w*\s+§\d+(?:'s)?", "§0", text)  # the kind beside a name: ``reported issue §0``
    for one in (bare, text):
        pieces = re.split(r"§\d+|\b(?:the|a|an|this|that)\b", one)
        told = [[word for word in words(piece) if word not in _FILLER] for piece in pieces]
        if any(told):
            return " ".join(next(found for found in told if found))
    return ""


def _how_phrase(adjective: str, text: str) -> str:
    told = [one for one in words(_no_names(text)) if one not in _FILLER]
    return " ".join(told[:3]) if adjective in ("much", "long") and told else adjective


def _things(text: str, aggregate: Aggregate, order: Order | None) -> str:
    if found := _COUNT.search(text):
        return _noun(found[1])
    of = next((one for one in _OF.finditer(text) if not re.match(r"\s*§", text[one.end() :])), None)
    if order and not order.owned:
        return _noun(of[1]) if of else order.attribute
    if of and aggregate is not Aggregate.LIST:
        return _noun(of[1])
    if aggregate is Aggregate.DIFFERENCE or any(pattern.match(text) for pattern, _ in _WORDS_OF_KINDS):
        return ""
    return next((one.phrase for one in _asked(text)), "")


def _noun(phrase: str) -> str:
    """A phrase without what is said of its noun: ``orders placed``."""
    told = phrase.split()
    return " ".join([*told[:1], *takewhile(lambda one: not one.endswith("ed"), told[1:])])


def _modifiers(text: str, things: str, aggregate: Aggregate) -> tuple[str, ...]:
    if aggregate not in _ROWS_MEANT:
        return ()
    told = list(words(things))[:-1]
    told += [
        found[1]
        for found in _STATE.finditer(text)
        if found[1] not in _FILLER and found[1] not in words(things)
    ]
    return tuple(dict.fromkeys(one for one in told if one not in _FILLER | {"total", "number"}))


def _shared(asked: list[Asked], aggregate: Aggregate, things: str, text: str) -> tuple[Asked, ...]:
    """A second question without words of its own asks about the deed of the first (``who, and when``)."""
    found = _DIFFERENCE.search(text) if aggregate is Aggregate.DIFFERENCE else None
    if found:
        return tuple(Asked(_noun(one), ValueKind.NUMBER) for one in found.groups() if one)
    first = asked[0].phrase or (things if aggregate is not Aggregate.VALUE else "")
    return tuple(Asked(one.phrase or first, one.kind) for one in asked)
