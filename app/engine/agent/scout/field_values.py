"""Values that a task's words give, and what fields make of them: formats, steps (``by 3 days``), items.  Pure.

Which value belongs to which field is decided in ``app.engine.agent.scout.value_matching``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from app.engine.agent.scout.likeness import forms, plain, words
from app.engine.browser.actions.field_formats import format_date, plain_number, read_date, same_content
from app.engine.core.text import word_set

ARTICLES = word_set("the a an its their his her my our this that these new")
NAMING = word_set("titled named called entitled")
SAYING = word_set("saying says reads reading stating")
JOINTS = NAMING | word_set("to as : = is are be into with")
"""Words that lead up to a value."""
OF_A_THING = word_set("of in on from for by at under about within")
"""Words that lead up to the thing, not to a value."""
BOUNDS = word_set(", ; . and but then ( )")
_MOST_TOKENS = 400
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = (
    rf"\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH},? \d{{4}}\b"
)
_TOKEN = re.compile(
    r"\"(?P<q1>[^\"]{1,4000})\"|“(?P<q2>[^”]{1,4000})”|(?<!\w)['‘](?P<q3>[^'’\n]{1,400})['’](?!\w)"
    rf"|(?P<date>{_DATE})(?!\w)|(?P<mail>[\w.+-]{{1,64}}@[\w.-]{{1,80}}\w)"
    r"|(?P<number>[-+]?[$€£]?\d[\d.,:]{0,20}\d?[%€]?|\d)(?![\w-])|(?P<word>[^\W_][\w./'’+#-]{0,60})|(?P<sign>[,;:.=()])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TextToken:
    """A word, sign, number, date or quoted text of a task; ``start`` and ``end`` are its place in the text."""

    text: str
    kind: str
    start: int
    end: int

    @property
    def low(self) -> str:
        """The text in lower case; "" for a quoted one, whose words are never the task's own."""
        return "" if self.kind == "quote" else self.text.casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenValue:
    """A text of the task that may go into a field.

    Attributes:
        kind: ``quote``, ``name`` (capitalised words, a number at their end), ``date``, ``number``, ``mail``, ``word``
            (plain words beside a label) or ``step`` (the 3 of ``by 3 days``, which no field takes).
        first, last: its tokens: from the first to before the last.
        joint: the word that leads up to it as a value (``to``, ``titled``), "" where none does.
    """

    text: str
    kind: str
    first: int
    last: int
    joint: str = ""


@lru_cache(maxsize=256)
def tokens_of(text: str) -> tuple[TextToken, ...]:
    """Return the words, signs, numbers, dates and quoted texts of a task, in order."""
    found: list[TextToken] = []
    for match in _TOKEN.finditer(text):
        kind, told = match.lastgroup or "word", match[match.lastgroup or 0]
        kind = "quote" if kind.startswith("q") else kind
        told = told.rstrip(".'’-/,:") if kind in ("word", "number") else told.strip()
        found.append(TextToken(told, kind, match.start(), match.end()))
        sign = match[0][len(told) :][:1] if kind in ("word", "number") else ""
        if sign and sign in ",.:":
            found.append(TextToken(sign, "sign", match.end() - 1, match.end()))
    return tuple(found[:_MOST_TOKENS])


@lru_cache(maxsize=256)
def own_words(verb: str, text: str) -> frozenset[str]:
    """Return the words of a part outside of its quotes, in lower case, with its verb."""
    return frozenset((*words(verb), *(word for token in tokens_of(text) for word in words(token.low))))


@lru_cache(maxsize=256)
def asked_forms(verb: str, text: str) -> frozenset[str]:
    """Return the same words in all their forms."""
    return frozenset(form for word in own_words(verb, text) for form in forms(word))


@lru_cache(maxsize=256)
def values_in(text: str) -> tuple[GivenValue, ...]:
    """Return the texts of a task that are marked as names or values by their form, in order."""
    tokens = tokens_of(text)
    found: list[GivenValue] = []
    at = 0
    while at < len(tokens):
        token, end = tokens[at], at + 1
        kind = "name" if at and _is_name(token) else token.kind
        if kind in ("quote", "date", "number", "mail", "name"):
            while end < len(tokens) and _goes_on(kind, tokens[end]):
                end += 1
            kind = "step" if kind == "number" and lead_of(tokens, at) == "by" else kind
            found.append(_value(text, tokens, kind, at, end, joint_of(tokens, at)))
        at = end
    return tuple(found)


def _goes_on(kind: str, token: TextToken) -> bool:
    return _is_name(token) if kind == "name" else kind == token.kind == "number"


def _is_name(token: TextToken) -> bool:
    return token.kind == "word" and token.text[:1].isupper()


def _value(
    text: str, tokens: Sequence[TextToken], kind: str, first: int, last: int, joint: str = ""
) -> GivenValue:
    told = text[tokens[first].start : tokens[last - 1].start] + tokens[last - 1].text
    return GivenValue(
        text=tokens[first].text if last == first + 1 else told, kind=kind, first=first, last=last, joint=joint
    )


def lead_of(tokens: Sequence[TextToken], at: int) -> str:
    """Return the word before a place, articles apart."""
    at -= 1
    while at >= 0 and tokens[at].low in ARTICLES:
        at -= 1
    return tokens[at].low if at >= 0 else ""


def joint_of(tokens: Sequence[TextToken], at: int) -> str:
    """Return the word before a value, articles apart, if it is one that leads up to values."""
    lead = lead_of(tokens, at)
    return lead if lead in JOINTS or lead in SAYING else ""


def run_of_words(tokens: Sequence[TextToken], first: int, ends: frozenset[str], most: int) -> int:
    """Return the place behind the words from a token on, up to a quoted text or one of the ends."""
    end = first
    while (
        end < min(len(tokens), first + most) and tokens[end].kind != "quote" and tokens[end].low not in ends
    ):
        end += 1
    return end


def decimal_of(text: str) -> Decimal | None:
    """Return the one number of a text, ``None`` for none or several."""
    number = plain_number(text)
    try:
        return Decimal(number) if number else None
    except InvalidOperation:
        return None


def in_format_of(day: date, like: str) -> str:
    """Return a date in the format of a placeholder (``dd/mm/yyyy``) or of another date; ISO where that says nothing."""
    numbers = re.match(r"\s*(\d{1,2})([./])\d{1,2}\2\d{4}", like)
    if numbers is not None:
        day_first = numbers[2] == "." or int(numbers[1]) > 12
        like = f"dd{numbers[2]}mm{numbers[2]}yyyy" if day_first else "mm/dd/yyyy"
    return format_date(day, like) or day.isoformat()


@lru_cache(maxsize=16_384)
def same_value(wanted: str, held: str) -> bool:
    """Whether a field that holds one text holds the other: the same but for space, a date or number in another form."""
    if not held.strip():
        return not wanted.strip()
    if plain(wanted) == plain(held) or same_content(wanted, held):
        return True
    if len(wanted) > 40 or len(held) > 40:
        return False
    one, other = read_date(wanted), read_date(held)
    if one is not None or other is not None:
        return one == other
    if any(letter.isalpha() for letter in wanted + held):
        return False
    return decimal_of(wanted) is not None and decimal_of(wanted) == decimal_of(held)


def shape_of(text: str) -> str:
    """Return a text's shape (``#### ###`` of a telephone number); "" for plain words and short numbers."""
    shape = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "#", text.strip()))
    return shape if shape.count("#") > 5 else ""


def listed(held: str) -> tuple[str, ...]:
    """Return the items of a text that lists some, separated by commas."""
    return tuple(item.strip() for item in held.split(",") if item.strip())
