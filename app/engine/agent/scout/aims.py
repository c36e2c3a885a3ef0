"""What a task on a site is after: a value, a count, a sum, the greatest of a list, the items of one, or a change.

Read from the task's own words by English grammar; nothing here knows a site.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from app.engine.agent.scout.aim_words import (
    ASKED_LAST,
    BY_WORD,
    COUNTED,
    DEED,
    DEEDS,
    ENDS_NAME,
    EXTREME,
    HAS,
    IDLE,
    IN_CART,
    LABELLED,
    LEAST,
    MOST,
    NAME,
    NAMED,
    NUMBERED,
    OPENING,
    PARTS,
    QUOTED,
    ROUND,
    SMALL,
    THERE,
    TO,
    TOLD,
    VALUE,
)
from app.engine.agent.scout.grounding import STOP, words
from app.engine.agent.scout.intent import read_intent
from app.engine.agent.scout.phrases import Bound, dates_in
from app.engine.agent.scout.scoping import conditions_in


class Goal(StrEnum):
    """What kind of thing is wanted."""

    VALUE = "value"
    YES_NO = "yes or no"
    COUNT = "count"
    TOTAL = "total"
    AVERAGE = "average"
    DIFFERENCE = "difference"
    EXTREME = "extreme"
    ITEMS = "items"
    CHANGE = "change"
    TOLD = "told"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """A task, or one part of it.

    Attributes:
        text: its words.
        verb: the first verb of a change (``add``, ``change``, ``approve``).
        subjects: things named: a product, a person, an order's number, a quoted title.
        field: what is asked about them (``price``, ``email address``), or what rows are compared or summed by.
        things: what is listed or counted (``orders``).
        scope: a part of the site that is named with its kind: (``category``, ``Tents``).
        conditions: further values that rows or a filter must have: (``status``, ``Pending``); the kind may be "".
        bounds: conditions on numbers; ``dates`` a span of time as two ISO days.
        want: which column of the row found is the answer; "" for its name.
        most: for an extreme, the greatest (else the least).
        pairs: fields and values of a change.
        quantity: how many of the thing, 1 where nothing is said.
        mine: it is about what belongs to the person logged in.
        places: decimal places asked for, -1 where none.
    """

    text: str
    goal: Goal
    verb: str = ""
    subjects: tuple[str, ...] = ()
    field: str = ""
    things: str = ""
    scope: tuple[str, str] = ("", "")
    conditions: tuple[tuple[str, str], ...] = ()
    bounds: tuple[Bound, ...] = ()
    dates: tuple[str, ...] = ()
    most: bool = True
    pairs: tuple[tuple[str, str], ...] = ()
    want: str = ""
    quantity: int = 1
    mine: bool = False
    places: int = -1

    @property
    def subject(self) -> str:
        """The first thing named, or ""."""
        return self.subjects[0] if self.subjects else ""

    @property
    def listed(self) -> bool:
        """Whether many rows are to be looked at."""
        return self.goal in (Goal.COUNT, Goal.TOTAL, Goal.AVERAGE, Goal.EXTREME, Goal.ITEMS)


_SAID = re.compile(
    r"(?:add|leave|write|use|apply|redeem|enter)\s+(?:the\s+|a\s+)?((?:[a-z]+\s+){0,2}?)\x02(\d+)\x02",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def aims_of(text: str) -> tuple[Aim, ...]:
    """The parts of a task in their order; a question is one part.  Never fails."""
    quotes: list[str] = []

    def hold(found: re.Match[str]) -> str:
        quotes.append(next(group for group in found.groups() if group is not None))
        return f"\x02{len(quotes) - 1}\x02"

    held = ASKED_LAST.sub(_asked, QUOTED.sub(hold, " ".join(text.replace("\x02", " ").split())))
    if DEED.match(held) is None:
        return (_question(held, quotes),)
    return tuple(_change(part.strip(" ."), quotes) for part in PARTS.split(held) if part.strip(" ."))


def _asked(found: re.Match[str]) -> str:
    """``and tell me how many there are`` as the question it is: ``. How many are there?``."""
    words = THERE.sub(r"\1 there", found[2])
    return f"{'. ' if found.start() else ''}{found[1].capitalize()}{words}?"


def _back(text: str, quotes: list[str]) -> str:
    return re.sub("\x02(\\d+)\x02", lambda found: quotes[int(found[1])], text).strip()


def _subjects(held: str, quotes: list[str], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """Quoted strings, numbers of things, and names: words with capitals and what belongs to them."""
    found: list[tuple[int, str]] = [
        (at.start(), quotes[int(at[1])]) for at in re.finditer("\x02(\\d+)\x02", held)
    ]
    found += [(at.start(2), at[2]) for at in NUMBERED.finditer(held)]
    for at in NAME.finditer(held):
        first, rest = at[1], at[2]
        start = at.start(1)
        if start == 0 or (held[start - 2 : start] in (". ", "? ", "! ") and " " not in first):
            # a sentence begins with a capital anyway; its first word is no name
            bare = re.sub(r"^\S+\s*", "", first)
            if not bare:
                continue
            start, first = start + first.index(bare), bare
        tail: list[str] = []
        for word in rest.split():
            if word.casefold() in ENDS_NAME:
                break
            tail.append(word)
        name = " ".join([first, *tail])
        if (name.isupper() and len(name) <= 4) or re.match(r"(?:I|UPC|SKU|\d+ [a-z]+)\b", name):
            continue
        found.append((start, name))
    taken = {name for name in taken if name}
    made = [name for _, name in sorted(found) if name not in taken and not any(name in one for one in taken)]
    return tuple(dict.fromkeys(made))


def _question(held: str, quotes: list[str]) -> Aim:
    text = _back(held, quotes)
    sentences = re.split(r"(?<=[.?!])\s+", held)
    asked = next((one for one in sentences if one.endswith("?")), "")
    asked = asked or next((one for one in sentences if OPENING.match(one)), held)
    low = asked.casefold()
    scope, conditions = conditions_in(held, quotes)
    named = [value for _, value in (scope, *conditions)]
    dates = tuple(f"{y:04}-{m:02}-{d:02}" for y, m, d in dates_in(text))
    dates = dates or _year(low)
    bounds = (
        tuple(bound for clause in read_intent(text).clauses for bound in clause.bounds) if not dates else ()
    )
    if size := re.search(r"\bsize\s+(\w+)\b", held):
        conditions = (*conditions, ("size", size[1]))
    subjects = tuple(
        name
        for name in _subjects(held, quotes, named)
        if not dates_in(name) and not any(name.startswith(value) for value in named if value)
    )
    rounding = ROUND.search(text)
    hidden = asked
    for name in subjects:
        hidden = hidden.replace(f"\x02{quotes.index(name)}\x02" if name in quotes else name, "\x03")
    goal, field, things, most = _goal(hidden, hidden.casefold())
    return Aim(
        text=text,
        goal=goal,
        subjects=subjects,
        field=_clean(field, subjects, quotes),
        things=_clean(things, subjects, quotes),
        scope=scope,
        conditions=conditions,
        bounds=bounds,
        dates=dates,
        want=_wanted(low, goal, field, text) if goal in (Goal.EXTREME, Goal.ITEMS) else "",
        most=most,
        mine=re.search(r"\b(?:my|i|mine)\b", low) is not None,
        places=SMALL.get(rounding[1].casefold(), int(rounding[1]) if rounding[1].isdigit() else -1)
        if rounding
        else -1,
    )


def _year(low: str) -> tuple[str, ...]:
    found = re.search(r"\bin (?:the year )?((?:19|20)\d\d)\b", low)
    return (f"{found[1]}-01-01", f"{found[1]}-12-31") if found else ()


def _goal(asked: str, low: str) -> tuple[Goal, str, str, bool]:
    """Goal, field, things, and whether the greatest is meant."""
    if found := TOLD.match(low):
        return Goal.TOLD, found[1], "", True
    extreme = EXTREME.search(low)
    by = ""
    if extreme:
        key = extreme[2] or extreme[1]
        by = BY_WORD.get(key, "")
    if re.search(r"\bhow much (?:more|less|cheaper|dearer)\b|\bdifference\b", low):
        return Goal.DIFFERENCE, "price" if "price" in low or "cost" in low else "", "", True
    if re.search(r"\baverage\b|\bmean\b", low):
        behind = re.search(
            r"\b(?:average|mean)\s+(\w+)(?:\s+of\s+(?:all\s+)?(?:the\s+)?([\w ]+?))?(?:\s+in\b|\?|$)", low
        )
        return Goal.AVERAGE, behind[1] if behind else "", _last_noun(behind[2] or "") if behind else "", True
    if re.search(r"\bsum\b|\btogether\b|\bin total\b|\baltogether\b.*\bcost\b", low) and not low.startswith(
        "how many"
    ):
        thing = re.search(
            r"\b(?:all|the)\s+(?:my\s+|the\s+)?(?:[\w]+\s+)?(\w+s)\b(?!\s+of\s+(?:all|the))", low
        )
        by = next(
            (
                word
                for word in ("prices", "price", "totals", "total", "amounts")
                if re.search(rf"\b{word}\b", low)
            ),
            "price",
        )
        thing = re.search(r"\ball\s+(?:the\s+|my\s+)?(?:[A-Z]\w+\s+)?(\w+s)\b", asked) or thing
        return Goal.TOTAL, by, thing[1].casefold() if thing else "", True
    if found := HAS.match(low):
        more = f" {found[2]}" if found[2] and found[2] not in ("have", "has", "come", "contain") else ""
        return Goal.VALUE, found[1] + more, _last_noun(found[1]), True
    if found := COUNTED.match(low):
        return Goal.COUNT, found[1], _last_noun(found[1]), True
    if re.match(r"(?:is|are|was|were|does|do|did|can)\b", low):
        return Goal.YES_NO, low.rpartition("\x03")[2].strip(" ?"), "", True
    if (found := re.match(r"(?:which|what)\s+(\w+)\s+(?:has|have|with)\b", low)) and not extreme:
        return Goal.VALUE, "name", found[1], True
    if extreme and by == "" and re.search(r"\bcosts?\b", low):
        by = "price"
    if extreme and by == "" and (behind := re.search(rf"\b{extreme[1]}\s+([a-z]+)", low)):
        by = behind[1]
    if extreme and _over_rows(low, extreme[0]):
        return Goal.EXTREME, by, _extreme_things(low, extreme), extreme[1] in MOST
    if found := re.match(r"how much\b.*\b(cost|costs|spend|spent|pay|paid)\b", low):
        return Goal.VALUE, "price", "", True
    if re.match(r"when\b", low):
        return Goal.VALUE, "date", _last_noun(low), True
    if found := re.match(r"within how many (\w+)\b", low):
        return Goal.VALUE, found[1], "", True
    if re.match(r"(?:which|what)\s+(\w+s)\s+(?:are|were|did|do|have)\b", low) or re.match(
        r"(?:what|which) are the \w+s\b", low
    ):
        found = re.match(r"(?:which|what)\s+(?:are the\s+)?(\w+s)\b(?:\s+of\s+(?:the\s+)?(\w+s)\b)?", low)
        column, thing = (found[1], found[2] or found[1]) if found else ("", "")
        return Goal.ITEMS, column, thing, True
    found = VALUE.match(asked.casefold().strip())
    field = found[1] if found else re.sub(r"^(?:what|which|who|where)\s+", "", low.rstrip("?"))
    mine = re.search(r"\bof (?:my|our) (\w+)\b", low)
    return Goal.VALUE, field, mine[1] if mine else "", True


def _wanted(low: str, goal: Goal, field: str, text: str) -> str:
    """Which column is asked for: ``give its number``, ``the price of the most expensive``, ``when``."""
    if found := re.search(r"\bgive\s+(?:me\s+)?(?:its|the|their)\s+(\w+)", text.casefold()):
        return found[1]
    if goal is Goal.ITEMS:
        return field
    if low.startswith("when"):
        return "date"
    ends = "|".join(sorted(MOST | LEAST))
    if found := re.match(rf"what (?:is|was) the (\w+) of (?:the|my)\b.*?\b(?:{ends})\b", low):
        return found[1]
    if found := re.match(rf"what (?:is|was) the (?:{ends}) (price|total|amount|number|date|value)\b", low):
        return found[1]
    return ""


def _over_rows(low: str, extreme: str) -> bool:
    """``the last name`` is no extreme; ``the most orders`` and ``the cheapest product`` are."""
    return not re.search(rf"\b{re.escape(extreme)}\s+name\b", low) and "of all time" not in low


def _extreme_things(low: str, extreme: re.Match[str]) -> str:
    """What is compared: the noun that is asked for (``which customer``), else the one behind the superlative."""
    if found := re.match(r"which (\w+)\b", low):
        return found[1]
    behind = re.match(
        r"\s+(\w+)(?:\s+(?:in|of|on)\b.*?\b(products?|orders?|items?|books?|customers?)\b)?",
        low[extreme.end() :],
    )
    if behind and behind[2]:
        return behind[2]
    if behind and behind[1] in ("price", "total", "number", "amount", "date", "value"):
        among = re.search(
            r"\b(?:among|of|the)\s+(?:all\s+)?(?:the\s+)?(products?|orders?|items?|customers?)\b", low
        )
        return among[1] if among else ""
    return behind[1] if behind else ""


def _last_noun(text: str) -> str:
    found = [word for word in words(text) if word not in STOP and not word.isdigit()]
    return found[-1] if found else ""


def _clean(field: str, subjects: Iterable[str], quotes: list[str]) -> str:
    """The field without the things it is asked of."""
    field = _back(field, quotes)
    for name in subjects:
        field = re.sub(re.escape(name), " ", field, flags=re.IGNORECASE)
    return " ".join(word for word in re.findall(r"[\w'-]+", field) if word.casefold() not in STOP)


def _change(held: str, quotes: list[str]) -> Aim:
    text = _back(held, quotes)
    found = DEED.match(held)
    verb = found[1].casefold() if found else ""
    scope, conditions = conditions_in(held, quotes)
    pairs, spent = _pairs(held, quotes)
    counted = re.match(
        rf"(?i:{verb})\s+(?:(\d+|{'|'.join(SMALL)})\s+(?:pieces?|copies|units?|of|pcs|x)\b"
        rf"|({'|'.join(SMALL)})\s+(?=[A-Z\x02])|(\d+)\s+(?=\x02))",
        held,
    )
    number = next(one for one in counted.groups() if one) if counted else "1"
    size = re.search(r"\bsize\s+(\w+)\b", held)
    if size:
        conditions = (*conditions, ("size", size[1]))
    conditions = tuple(one for one in conditions if one[1] not in spent)
    subjects = tuple(
        name
        for name in _subjects(held, quotes, (scope[1], *(value for _, value in conditions if len(value) > 2)))
        if name not in spent
        and name not in [value for _, value in conditions]
        and not (scope[1] and name.startswith(scope[1]))
    )
    return Aim(
        text=text,
        goal=Goal.CHANGE,
        verb=verb,
        subjects=subjects,
        things=_things(held, verb),
        scope=scope,
        conditions=conditions,
        pairs=pairs,
        quantity=int(number) if number.isdigit() else SMALL.get(number, 1),
        mine=re.search(r"\b(?:my|i|mine)\b", held.casefold()) is not None,
    )


def _pairs(held: str, quotes: list[str]) -> tuple[tuple[tuple[str, str], ...], frozenset[str]]:
    """Fields with values, and the strings that are values and so name nothing."""
    made: dict[str, str] = {}
    spent: set[str] = set()

    def keep(name: str, value: str) -> None:
        name = " ".join(word for word in name.split() if word not in STOP)
        if name and value and name not in made:
            made[name] = value
            spent.add(value)

    if found := TO.search(held):
        field = re.split(r"\s+(?:of|for|on)\s+", found[1])[0]
        keep(field, quotes[int(found[2])] if found[2] else found[3].strip(" ."))
        return tuple(made.items()), frozenset(spent)
    if found := NAMED.search(held):
        keep("name" if not found[0].startswith("title") else "title", quotes[int(found[1])])
    for found in LABELLED.finditer(held):
        value = quotes[int(found[2])] if found[2] else found[3]
        bare = " ".join(word for word in found[1].split() if word not in STOP)
        bare = re.sub(rf"^(?:(?:{DEEDS})\s+)+", "", bare)
        if DEED.fullmatch(bare) and IN_CART.search(held):
            continue  # what is put into a basket is a thing, and no value
        if value in spent or bare in (
            "order",
            "product",
            "number",
            "size",
            "pieces",
            "wish list",
            "order number",
            "upc",
        ):
            continue
        keep(bare, value)
    found = None if IN_CART.search(held) else _SAID.match(held)
    if found and quotes[int(found[2])] not in spent:
        keep(found[1].strip() or "text", quotes[int(found[2])])
    return tuple(made.items()), frozenset(spent)


def _things(held: str, verb: str) -> str:
    """The noun a change is about: ``a new wish list`` is ``wish list``."""
    found = re.match(
        rf"(?i:{verb})\s+(?:\d+\s+)?(?:the\s+|a\s+|an\s+|my\s+)?(?:new\s+)?((?:[a-z]+\s+)*?[a-z]+)(?=\s+(?:of|to|for|with|named|called|titled|into|in|on|from|that)\b|\s*[\x02:.,]|\s+[A-Z\d]|$)",
        held,
    )
    return " ".join(word for word in found[1].casefold().split() if word not in STOP) if found else ""


def kind_of(aim: Aim, name: str) -> str:
    """What the task calls a thing: ``order`` for ``order 100``, ``wish list`` for ``my wish list "Ideas"``."""
    before = aim.text.partition(name)[0].rstrip(' "“«#')
    found: list[str] = []
    for word in reversed(re.findall(r"[\w'-]+", before)[-2:]):
        if word.casefold() in STOP or word.casefold() in ENDS_NAME or (DEED.match(word) and word != "order"):
            break
        found.insert(0, word.casefold())
    return " ".join(found)


def goal_words(aim: Aim) -> frozenset[str]:
    """Words that tell where on a site the aim may be met; names of things are left out."""
    text = f"{aim.text}"
    for name in (*aim.subjects, *(value for _, value in aim.pairs)):
        text = text.replace(name, " ")
    return frozenset(
        word for word in words(text) if word not in STOP and word not in IDLE and not word.isdigit()
    )
