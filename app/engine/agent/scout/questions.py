"""Questions as they are asked: which values, of which things, within which limits, in which order.  Pure.

Read from English grammar alone.  Which column or label each phrase means, and which words are values, is decided
against the page (``app.engine.agent.scout.answering``).
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from app.engine.agent.scout.dates import periods_in
from app.engine.agent.scout.likeness import words
from app.engine.agent.scout.question_limits import (
    ARTICLE,
    END,
    FILLER,
    ORDER,
    PHRASE,
    TOP,
    Limit,
    Order,
    date_limits,
    is_bound,
    noun,
    number_limits,
    read_order,
)
from app.engine.agent.scout.task import Name, TaskPart
from app.engine.core.text import word_set


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
class Question:
    """A question.

    Attributes:
        asked: values asked for, at least one.
        things: words of the things that are counted, listed or compared.
        top: how many rows of the order are meant (``the top 40``), 0 for no such bound.
        group: for a count by groups the words of the column to group by.
        modifiers: words that must hold of the things (``open`` issues, those that are ``overdue``).
        negated: names and words that must not hold.
        names: the names of the part that are neither negated nor a date.
        words: every other word that carries meaning.
        places: decimals that a number is to be rounded to; ``None`` where the task tells none.
        noted: notes behind the question say more than how the answer is to look; they are not read here.
        text: the question without names, limits and superlative, in lower case.
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
    places: int | None = None
    noted: bool = False
    text: str = ""


_COUNT = re.compile(
    rf"(?:\bhow many|(?:^|\b(?:the|total|is|and|are) )(?:number|count) of|^count)\s+{ARTICLE}(?:§\d+\s+)?{PHRASE}"
)
_PER = re.compile(rf"\b(?:for each|for every|per|grouped by|by each)\s+{PHRASE}")
_SUM = re.compile(
    r"^(?:what(?:'s| is| are| was| were)\s+)?(?:the\s+|my\s+|our\s+)?(?:\w+\s+){0,2}(?:total|sum|combined|overall)\b|"
    r"\b(?:in total|altogether|together|in all|combined)$"
)
_MEAN = re.compile(r"\b(?:average|mean)\b")
_DIFFERENCE = re.compile(rf"\bdifference (?:between|in) {ARTICLE}{PHRASE}(?:and {ARTICLE}{PHRASE})?")
_MORE_ASKED = re.compile(
    r"(?:,\s+(?:and\s+)?|\s+(?:and|or)\s+)(?=(?:(?:on|at|in|by|for|to|from)\s+)?"
    r"(?:who|whom|what|when|where|which|how)\b)|\s+(?=(?:when|where)$)"
)
_TIMED = r"(?:(?:on|at|in|since|by|for|until|to|from)\s+)?"
_OF = re.compile(rf"\b(?:of|among|from|in|for)\s+{ARTICLE}(?:§\d+\s+)?{PHRASE}")
_STATED = re.compile(rf"\b(?:of|all|only|among)\s+{ARTICLE}{PHRASE}")
_WORDS_OF_KINDS = (
    (re.compile(r"(?:(?:by|to|for|from|with)\s+)?who(?:m|se)?\b"), ValueKind.PERSON),
    (re.compile(rf"{_TIMED}(?:when|(?:what|which) (?:day|date|time|year|month))\b"), ValueKind.DATE),
    (re.compile(r"(?:(?:in|at|to)\s+)?where\b"), ValueKind.PLACE),
)
_HOW_MUCH_MORE = re.compile(r"^(?:by )?how (?:much|many) (?:more|less|fewer|[a-z]+er)\b.*\bthan\b")
_DOES = re.compile(r"^(?:what|which) (?:do|does|did)\b")
_SUBJECT = re.compile(rf"\b(?:do|does|did)\s+{ARTICLE}{PHRASE}")
_TIMES = re.compile(r"\bhow (?:many times|often)\b")
_HOW = re.compile(r"\bhow (much|long|old|far|big|large|high|tall|heavy|often|deep|wide|fast|\w+)\b")
_POLITE = re.compile(
    r"^\s*(?:(?:please|can you|could you|i want to know|i would like to know|and|then|also)\b\s*)+"
)
_HOW_KINDS = {"much": ValueKind.AMOUNT, "long": ValueKind.DURATION, "old": ValueKind.NUMBER}
_BE = re.compile(
    rf"\b(?:what|which)(?:'s| is| are| was| were)\s+(?:{ARTICLE})?(?:§\d+(?:'s|')?\s+)?{ARTICLE}{PHRASE}"
)
_WHICH = re.compile(rf"\b(?:what|which)\s+(?:of\s+{ARTICLE})?{PHRASE}")
_THE = re.compile(rf"^(?:the|all|my|our|its|their|§\d+'s)?\s*{ARTICLE}{PHRASE}")
_YES_NO = re.compile(r"^(?:is|are|was|were|does|do|did|has|have|had|can|will)\b")
_MANY = re.compile(
    rf"^(?:(?:what|which) (?:are|were|of)\b|all\b|(?:what|which)\s+{PHRASE}"
    r"(?:(?:of|with|in|by) [^?.]{0,60}?\b)?(?:are|were|have|do|did)\b)"
)
_AGGREGATES = (
    (_DIFFERENCE, Aggregate.DIFFERENCE),
    (_HOW_MUCH_MORE, Aggregate.DIFFERENCE),
    (_MEAN, Aggregate.AVERAGE),
    (_SUM, Aggregate.SUM),
    (_YES_NO, Aggregate.YES_NO),
    (_MANY, Aggregate.LIST),
)
_NOT = re.compile(
    r"\b(?:without|excluding|except(?: for)?|other than|apart from|not|no|never|neither|nor|isn't|aren't|wasn't)\s+"
    r"(?:an?\s+|any\s+|the\s+|been\s+|yet\s+|in\s+|by\s+)?(§\d+|[\w.-]+)"
)
_WANTED = re.compile(rf"(?:please\s+)?(?:give|tell|name|list|state)\s+(?:me\s+)?(?:its|their)\s+{PHRASE}")
"""A note that says which value of the things is wanted."""
_FORM = re.compile(
    r"\b(?:answer|format|formatted|round|rounded|decimals?|separated?|order|only (?:return|output))\b"
)
_ROUNDED = re.compile(
    r"\bround\w*\b[^.;]{0,60}?\b(?:nearest (?:whole|integer|number)|(?P<place>\d|one|two|three) decimal)",
    re.IGNORECASE,
)
_STATE = re.compile(
    rf"\b(?:that|which|who)?\s*(?:are|is|were|was|be)\s+(?:currently |still |already |now |yet )?"
    r"(?:(?:in|on|under|out of) (?=[a-z]+\s*$))?"
    rf"([a-z][\w-]+)(?!\s+(?:{END}))(?=\s|$|[?.,])"
)
_VOID = word_set("number numbers amount sum count")
_POINTING = word_set("one ones them they those these it that")
_ADDING = word_set("average mean total sum combined overall altogether together than more")
_COUNTING = FILLER | _VOID | {"total"}


@lru_cache(maxsize=64)
def read_question(part: TaskPart) -> Question:
    """Return what a part asks; anything is read as something."""
    text, names = _masked(part)
    text, dated = date_limits(_ROUNDED.sub("", text))
    text, limits = number_limits(text)
    refused = [found[1].strip(".") for found in _NOT.finditer(text)]
    text = _NOT.sub(" ", text)
    top = TOP.search(text)
    text = TOP.sub("" if top and ORDER.search(text, top.end()) else "top ", text, count=1)
    lead, _, text = text.rpartition(". ")  # what is stated before the question only says of what it speaks
    order, bare = read_order(text.removeprefix("and "))
    segments = _MORE_ASKED.split(bare)
    first = [replace(one, phrase="") if one.phrase in _POINTING else one for one in _asked(segments[0])]
    asked = [*first, *(one for segment in segments[1:] for one in _asked(segment)[:1])]
    aggregate = _aggregate(part, bare, None if top else order)
    things = _things(segments[0], aggregate, order)
    if lead and (not things or things.split()[-1] in _POINTING):
        things = next((noun(one[1]) for one in _STATED.finditer(lead)), things)
    group = found[1].strip() if (found := _PER.search(bare)) else ""
    if group and aggregate is Aggregate.COUNT:
        aggregate = Aggregate.GROUP_COUNT
    told = [*(one.phrase for one in asked), *(one.attribute for one in (*dated, *limits)), things, group]
    known = {word for one in told for word in words(one)} | FILLER
    wanted = next((found[1] for one in part.notes if (found := _WANTED.match(one.casefold()))), "")
    return Question(
        aggregate=aggregate,
        asked=(Asked(wanted.strip()),) if wanted else _shared(asked, aggregate, things, bare),
        things=things,
        limits=(*dated, *limits),
        order=order,
        top=int(top[1]) if top else 0,
        group=group,
        modifiers=_modifiers(bare, things, aggregate, known),
        negated=tuple(names[int(one[1:])].text if one[0] == "§" else one for one in refused),
        names=tuple(one for number, one in enumerate(names) if f"§{number}" not in refused),
        places=_places(" ".join((part.text, *part.notes))),
        noted=any(not _FORM.search(one.casefold()) for one in part.notes),
        text=_no_names(bare),
        words=tuple(dict.fromkeys(one for one in words(_no_names(f"{lead} {bare}")) if one not in known)),
    )


def _masked(part: TaskPart) -> tuple[str, tuple[Name, ...]]:
    """The text in lower case with ``§0``, ``§1`` for its names, without the imperative it begins with; and the names.

    A year behind a word of time (``after 2010``) is no name.
    """
    text = " ".join(part.text.split())[:2000].replace("’", "'").replace("§", " ").replace("¤", " ")
    days = words(" ".join(text[start:end] for start, end, _ in periods_in(text)))
    names = tuple(
        one for one in part.names if one.quoted or not (is_bound(one) or (one.number and one.text in days))
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


def _places(text: str) -> int | None:
    found = _ROUNDED.search(text.casefold())
    if found is None:
        return None
    told = found["place"] or "0"
    return int(told) if told.isdecimal() else ("one", "two", "three").index(told) + 1


def _no_names(text: str) -> str:
    return re.sub(r"§\d+(?:'s)?", " ", text)


def _aggregate(part: TaskPart, text: str, order: Order | None) -> Aggregate:
    if _counted(text) or part.verb == "count":
        return Aggregate.COUNT
    if part.verb in ("list", "enumerate") and not order:
        return Aggregate.LIST
    if order:
        return Aggregate.LARGEST if order.largest else Aggregate.SMALLEST
    found = next((aggregate for pattern, aggregate in _AGGREGATES if pattern.search(text)), Aggregate.VALUE)
    single = found is Aggregate.LIST and (of_one := _WHICH.match(text)) and "s " not in of_one[1]
    return Aggregate.VALUE if single else found


def _asked(text: str) -> list[Asked]:
    """The values a segment asks for."""
    text = text.strip()
    for pattern, kind in _WORDS_OF_KINDS:
        if found := pattern.match(text):
            return [Asked(_verb_phrase(text[found.end() :]), kind)]
    if found := _TIMES.search(text):
        return [Asked(_verb_behind(text[found.end() :]), ValueKind.NUMBER)]
    if counted := _counted(text):
        return [Asked(counted, ValueKind.NUMBER)]
    if _DOES.match(text) or _HOW_MUCH_MORE.match(text):
        return [Asked(_verb_behind(text))]
    if found := _HOW.search(text):
        kind = _HOW_KINDS.get(found[1], ValueKind.ANY)
        verb = _verb_behind(text[found.end() :]) if found[1] in ("much", "long") else ""
        return [Asked(verb or found[1], kind)]
    if _YES_NO.match(text):
        return [Asked(_verb_phrase(text))]
    found = _BE.search(text) or _WHICH.search(text) or _THE.search(text)
    if found is None:
        return [Asked(" ".join(one for one in words(_no_names(text)) if one not in FILLER)[:80])]
    told = [noun(one) for one in _several(found[1], text[found.end() :])]
    if told[0] in _VOID and (more := _OF.match(text, found.end())):
        told[0] = f"{told[0]} {noun(more[1])}"  # ``the number in stock``
    verbal = found.re is _WHICH and re.match(r"\s*(?:the\s|an?\s)?\s*[¤§]", text[found.end() :]) is not None
    return [Asked(" ".join(one.split()[:-1]) or one if verbal else one) for one in told]


def _several(phrase: str, behind: str) -> list[str]:
    """``name and email address``: each of them."""
    found = [phrase.strip()]
    while more := re.match(rf"\s*(?:,\s*and|,|and)\s+{ARTICLE}{PHRASE}", behind):
        found.append(more[1].strip())
        behind = behind[more.end() :]
    return found


def _verb_phrase(text: str) -> str:
    """The words that tell which person or day: ``reported``, ``last changed``, ``author``."""
    owner = re.match(rf"\s*(?:is|are|was|were)\s+{ARTICLE}{PHRASE}(?:of|for|in|on)\b", text)
    if owner:
        return owner[1].strip()
    bare = re.sub(r"[^\W\d]\w*\s+§\d+(?:'s)?", "§0", text)  # the kind beside a name: ``reported issue §0``
    for one in (bare, text):
        pieces = re.split(r"§\d+|\b(?:the|a|an|this|that)\b", one)
        told = [[word for word in words(piece) if word not in FILLER] for piece in pieces]
        if any(told):
            return " ".join(next(found for found in told if found))
    return ""


def _verb_behind(text: str) -> str:
    """The verb of ``what does §0 cost at §1``: the last word of the phrase behind the name, else of all."""
    named = re.search(rf"§\d+(?:'s)?\s+{PHRASE}", text)
    told = [one for one in words(named[1] if named else _no_names(text)) if one not in FILLER | _ADDING]
    return told[-1] if told else ""


def _counted(text: str) -> str:
    """The noun that is counted: it ends with its plural (``reviews require …``); "" where nothing is.

    ``the number of my order`` is what it is called by.
    """
    found = _COUNT.search(text)
    if found is None or _TIMES.search(text) or _HOW_MUCH_MORE.match(text):
        return ""
    counted = _to_plural(noun(found[1]))
    return "" if "number of" in found[0] and not counted.endswith("s") else counted


def _to_plural(phrase: str) -> str:
    """A phrase up to its plural, the whole without one."""
    told = phrase.split()
    plural = [at for at, word in enumerate(told) if word.endswith("s") and not word.endswith("ss")]
    end = next((at for at in plural if at + 1 not in plural), len(told) - 1)
    return " ".join(told[: end + 1])


def _things(text: str, aggregate: Aggregate, order: Order | None) -> str:
    if counted := _counted(text):
        return counted
    every = [one for one in _OF.finditer(text) if not re.match(r"\s*§", text[one.end() :])]
    summed = aggregate in (Aggregate.SUM, Aggregate.AVERAGE)
    of = every[-1 if summed else 0] if every else None
    if order and not order.owned:
        return noun(of[1]) if of else order.attribute or _asked(text)[0].phrase
    if of and aggregate is not Aggregate.LIST:
        return noun(of[1])
    if summed and (subject := _SUBJECT.search(text)):
        return _to_plural(subject[1])
    if aggregate is Aggregate.DIFFERENCE or any(pattern.match(text) for pattern, _ in _WORDS_OF_KINDS):
        return ""
    return next((one.phrase for one in _asked(text)), "")


def _modifiers(text: str, things: str, aggregate: Aggregate, known: Set[str]) -> tuple[str, ...]:
    if aggregate not in (Aggregate.COUNT, Aggregate.LIST, Aggregate.LARGEST, Aggregate.SMALLEST):
        return ()
    ours = words(things)
    told = [*ours[:-1], *(one[1] for one in _STATE.finditer(text) if one[1] not in {*ours, *known})]
    return tuple(dict.fromkeys(one for one in told if one not in _COUNTING))


def _shared(asked: list[Asked], aggregate: Aggregate, things: str, text: str) -> tuple[Asked, ...]:
    """A second question without words of its own asks about the deed of the first (``who, and when``)."""
    found = _DIFFERENCE.search(text) if aggregate is Aggregate.DIFFERENCE else None
    if found:
        return tuple(Asked(noun(one), ValueKind.NUMBER) for one in found.groups() if one)
    first = asked[0].phrase or (things if aggregate is not Aggregate.VALUE else "")
    return tuple(Asked(one.phrase or first, one.kind) for one in asked)
