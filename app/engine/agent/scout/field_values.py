"""Values that a task's words give, and what fields make of them: formats, steps (``by 3 days``), items.  Pure.

Which value belongs to which field is decided in ``app.engine.agent.scout.value_matching``.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from app.engine.agent.scout.likeness import plain, words
from app.engine.agent.write_gate.vocabulary import number_words
from app.engine.browser.actions.field_formats import format_date, plain_number, read_date, same_content

ARTICLES = frozenset(
    {"the", "a", "an", "its", "their", "his", "her", "my", "our", "this", "that", "these", "new"}
)
JOINTS = frozenset(
    {"to", "as", ":", "=", "is", "are", "be", "into", "with", "titled", "named", "called", "entitled"}
)
"""Words that lead up to a value."""
NAMING = frozenset({"titled", "named", "called", "entitled"})
SAYING = frozenset({"saying", "says", "reads", "reading", "stating"})
OF_A_THING = frozenset({"of", "in", "on", "from", "for", "by", "at", "under", "about", "within"})
"""Words that lead up to the thing, not to a value."""
BOUNDS = frozenset({",", ";", ".", "and", "but", "then", "(", ")"})
_PHRASE_ENDS = BOUNDS | {"with", "from", "instead", "so", "because"}
_PHRASE_JOINTS = frozenset({"to", "as", ":", "=", "is", "be", "into", "with"})
_LONGEST_PHRASE, _LONGEST_OBJECT = 12, 4
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
_UNITS = {"day": 1, "week": 7, "fortnight": 14}
_LESS = frozenset(
    {
        "reduce",
        "decrease",
        "lower",
        "shorten",
        "earlier",
        "less",
        "subtract",
        "deduct",
        "discount",
        "down",
        "cut",
    }
)
_MOST_STEPS = 100_000
_DASHES = str.maketrans("−–", "--")


@dataclass(frozen=True, slots=True)
class Token:
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
class TaskValue:
    """A text of the task that may go into a field.

    Attributes:
        kind: ``quote``, ``name`` (capitalised words), ``date``, ``number``, ``mail``, ``phrase`` (plain words after a
            joint), ``object`` (plain words after the verb: ``add mia to``) or ``step`` (``by 3 days``).
        first, last: its tokens: from the first to before the last.
        joint: the word that leads up to it as a value (``to``, ``titled``), "" where none does.
    """

    text: str
    kind: str
    first: int
    last: int
    joint: str = ""


@lru_cache(maxsize=256)
def tokens_of(text: str) -> tuple[Token, ...]:
    """Return the words, signs, numbers, dates and quoted texts of a task, in order."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, told = match.lastgroup or "word", match[match.lastgroup or 0]
        if kind.startswith("q"):
            kind = "quote"
        elif kind == "word":
            told = told.rstrip(".'’-/")
        elif kind == "number":
            told = told.rstrip(".,:")
        found.append(Token(told.strip(), kind, match.start(), match.end()))
        if kind in ("word", "number") and (sign := match[0][len(told) :][:1]) in (",", ".", ":"):
            found.append(Token(sign, "sign", match.end() - 1, match.end()))
    return tuple(found[:_MOST_TOKENS])


@lru_cache(maxsize=256)
def values_in(text: str) -> tuple[TaskValue, ...]:
    """Return every text of a task that may be a value, in order; one may lie within another."""
    tokens = tokens_of(text)
    found = [*_steps(tokens), *_object(text, tokens)]
    taken = {at for one in found if one.kind == "step" for at in range(one.first, one.last)}
    at = 0
    while at < len(tokens):
        token, end = tokens[at], at + 1
        if at in taken:
            at += 1
            continue
        if token.kind == "word" and at and token.text[:1].isupper():
            while end < len(tokens) and tokens[end].kind == "word" and tokens[end].text[:1].isupper():
                end += 1
            told = text[token.start : tokens[end - 1].start] + tokens[end - 1].text
            found.append(TaskValue(text=told, kind="name", first=at, last=end, joint=_joint(tokens, at)))
        elif token.kind in ("quote", "date", "number", "mail"):
            found.append(
                TaskValue(text=token.text, kind=token.kind, first=at, last=end, joint=_joint(tokens, at))
            )
        if token.low in _PHRASE_JOINTS:
            found += _phrase(text, tokens, at)
        at = end
    return tuple(found)


def _joint(tokens: Sequence[Token], at: int) -> str:
    """Return the word before a value, articles apart, if it is one that leads up to values."""
    at -= 1
    while at >= 0 and tokens[at].low in ARTICLES:
        at -= 1
    low = tokens[at].low if at >= 0 else ""
    return low if low in JOINTS or low in SAYING else ""


def lead_of(tokens: Sequence[Token], at: int) -> str:
    """Return the word before a place, articles apart."""
    at -= 1
    while at >= 0 and tokens[at].low in ARTICLES:
        at -= 1
    return tokens[at].low if at >= 0 else ""


def _phrase(text: str, tokens: Sequence[Token], joint: int) -> list[TaskValue]:
    """Return the plain words after a joint, up to the end of what it leads to."""
    first = joint + 1
    while first < len(tokens) and tokens[first].low in ARTICLES:
        first += 1
    end = first
    while (
        end < len(tokens)
        and end - first < _LONGEST_PHRASE
        and tokens[end].kind != "quote"
        and tokens[end].low not in _PHRASE_ENDS
    ):
        end += 1
    if end == first:
        return []
    told = text[tokens[first].start : tokens[end - 1].start] + tokens[end - 1].text
    return [TaskValue(text=told, kind="phrase", first=first, last=end, joint=tokens[joint].low)]


def _object(text: str, tokens: Sequence[Token]) -> list[TaskValue]:
    """Return the plain words between the verb and ``to`` or ``from``."""
    end = next((at for at, token in enumerate(tokens) if token.low in ("to", "from")), 0)
    first = 1
    while first < end and tokens[first].low in ARTICLES:
        first += 1
    if not first < end <= first + _LONGEST_OBJECT or any(token.kind != "word" for token in tokens[first:end]):
        return []
    told = text[tokens[first].start : tokens[end - 1].start] + tokens[end - 1].text
    return [TaskValue(text=told, kind="object", first=first, last=end)]


def _steps(tokens: Sequence[Token]) -> list[TaskValue]:
    """Return what is added or taken away: ``by 3 days``, ``by 10 %``."""
    found: list[TaskValue] = []
    for at, token in enumerate(tokens[:-1]):
        number = tokens[at + 1]
        if token.low != "by" or not (number.kind == "number" or number.low in number_words()):
            continue
        count = number.text if number.kind == "number" else str(number_words()[number.low])
        unit = tokens[at + 2].low if at + 2 < len(tokens) else ""
        timed = unit.rstrip("s") in (*_UNITS, "month", "year") or unit in ("percent", "%")
        told = f"by {count} {unit}" if timed else f"by {count}"
        found.append(TaskValue(text=told, kind="step", first=at, last=at + 2 + timed, joint="by"))
    return found


def stepped(now: str, step: str, text: str, like: str = "") -> str:
    """Return a value moved by a step; "" where it can't be.

    Args:
        now: what the field holds.
        step: ``by 3 days``, ``by 10%``.
        text: the task, whose words say in which direction.
        like: a sample of the field's format, for dates.
    """
    _, count, *unit = step.split()
    amount = decimal_of(count)
    if amount is None:
        return ""
    if _LESS & {token.low for token in tokens_of(text)}:
        amount = -amount
    kind = unit[0].rstrip("s") if unit else ""
    if kind in (*_UNITS, "month", "year"):
        day = read_date(now)
        moved = _moved(day, int(amount), kind) if day is not None and abs(amount) < _MOST_STEPS else None
        return in_format_of(moved, like or now) if moved is not None else ""
    held = decimal_of(now)
    if held is None:
        return ""
    changed = held * (1 + amount / 100) if kind == "percent" or count.endswith("%") else held + amount
    places = max(0, -int(held.as_tuple().exponent))
    return f"{changed:.{places}f}" if places or changed != int(changed) else str(int(changed))


def _moved(day: date, count: int, unit: str) -> date | None:
    try:
        if unit in _UNITS:
            return day + timedelta(days=_UNITS[unit] * count)
        months = day.month - 1 + count * (12 if unit == "year" else 1)
        year, month = day.year + months // 12, months % 12 + 1
        return date(year, month, min(day.day, monthrange(year, month)[1]))
    except (ValueError, OverflowError):  # outside of the calendar
        return None


def decimal_of(text: str) -> Decimal | None:
    """Return the one number of a text, ``None`` for none or several."""
    number = plain_number(text.translate(_DASHES))
    try:
        return Decimal(number) if number else None
    except InvalidOperation:
        return None


_SHAPES = (
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "yyyy-mm-dd"),
    (re.compile(r"\d{2}\.\d{2}\.\d{4}"), "dd.mm.yyyy"),
    (re.compile(r"\d{4}/\d{2}/\d{2}"), "yyyy/mm/dd"),
    (re.compile(r"\d{1,2}/\d{1,2}/\d{4}"), "mm/dd/yyyy"),
    (re.compile(r"\d{4}-\d{2}-\d{2}\.[\d:]{5,8}"), "yyyy-mm-dd"),
)


def in_format_of(day: date, like: str) -> str:
    """Return a date in the format of a placeholder (``dd/mm/yyyy``) or of another date; ISO where that says nothing."""
    told = format_date(day, like)
    if told:
        return told
    numbers = re.match(r"\s*(\d{1,2})/\d", like)
    for shape, form in _SHAPES:
        if shape.match(like.strip()):
            day_first = form == "mm/dd/yyyy" and numbers is not None and int(numbers[1]) > 12
            return format_date(day, "dd/mm/yyyy" if day_first else form)
    return day.isoformat()


def same_value(wanted: str, held: str) -> bool:
    """Whether a field that holds one text holds the other: the same but for space, a date or number in another form."""
    if not held.strip():
        return not wanted.strip()
    if plain(wanted) == plain(held) or same_content(wanted, held):
        return True
    if len(wanted) > 40 or len(held) > 40 or not (wanted[-1:].isalnum() or wanted[-1:] in "%€"):
        return False
    one, other = read_date(wanted), read_date(held)
    if one is not None or other is not None:
        return one == other
    if any(letter.isalpha() for letter in wanted + held):
        return False
    return decimal_of(wanted) is not None and decimal_of(wanted) == decimal_of(held)


def listed(held: str) -> tuple[str, ...]:
    """Return the items of a text that lists some, separated by commas."""
    return tuple(item.strip() for item in held.split(",") if item.strip())


def has_words(text: str, value: str) -> bool:
    """Whether a text has the words of a value next to each other, letters' case apart."""
    wanted = words(value)
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(words(text))} "
