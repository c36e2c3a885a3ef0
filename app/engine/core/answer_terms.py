"""The numbers, names and wordings of an answer that are worth looking for on pages.  Pure functions.

Both sides are folded before they are compared: case, accents and punctuation don't count, ``$1,234.00`` is ``1234``,
and ``Jan 5, 2023`` is ``2023-01-05``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from app.engine.core.text import word_set

TermKind = Literal["number", "name", "words"]

MAX_TERMS = 24
"""Terms of one answer; a longer answer has its first ones of each kind."""

MAX_ANSWER = 20_000
"""Characters of an answer that are read."""

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"  # noqa: E501
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_DATES = tuple(
    re.compile(rf"(?<![\w.,]){form}(?![\w])", re.IGNORECASE)
    for form in (
        rf"{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?",
        rf"{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?",
        rf"{_YEAR}-(?P<number>\d{{1,2}})-(?P<day>\d{{1,2}})",
        r"(?P<number>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d{2})",
        r"(?P<day>\d{1,2})\.(?P<number>\d{1,2})\.(?P<year>\d{4})",
    )
)
_TIME = re.compile(r"(?<![\w:.])\d{1,2}:\d{2}(?::\d{2})?(?![\w:])")
_NUMBER = re.compile(r"(?<![\w.,])(?:[$€£¥]\s?)?(\d[\d.,]{0,38}\d|\d)(?!\d)[^\W\d_]{0,3}(?!\w)")
_QUOTED = re.compile(r"[\"“«]([^\"“”«»\n]{2,120})[\"”»]|(?<!\w)['‘]([^'‘’\n]{3,120})['’](?!\w)")
_CODE = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}|https?://\S*[\w/]|(?<![\w/.-])[\w.-]{1,100}/[\w./-]{0,200}\w"
    r"|(?<!\w)(?!\d+[^\W\d_]{1,3}\b)(?=\w*\d)(?=\w*[A-Za-z])\w{4,}"
)
_NAME = re.compile(
    r"(?<![\w])[^\W\d_a-z][\w'’&-]*"
    r"(?:[ ](?:(?:of|the|and|for|in|de|la|von|van|&)[ ])?[^\W\d_a-z][\w'’&-]*)*"
)
_BREAK = re.compile(r"[^\w\s'’-]+|\n")
_NEAR = 8
_LONGEST_NUMBER = 40
_SENTENCE_START = re.compile(r"(?:^|[.!?:\n•*-])\s*$")
_COMMON = word_set(
    """a about above after again against all also am an and any are as at available based be because been before being
    below between both but by can cannot completed could currently did do does doing done during each either else
    every few final first following for found from further get had has have having he her here hers him his how
    however i if in infeasible into is it its itself just last least less like made may me might more most much must
    my n na no none nor not now of off on once one only or other our out over own page per please possible same see
    she should since so some such successfully task than that the their them then there these they this those through
    thus to too total under unable until up upon user very was we were what when where which while who whom whose why
    will with within without would yes yet you your answer answers result results list information currently task
    achieved"""
)
_IN_NAMES = word_set("one up no all first last new just only more above")

_FOLD = bytes(
    byte + 32 if 65 <= byte <= 90 else byte if byte in b"\n\t_" or chr(byte).isalnum() or byte >= 128 else 32
    for byte in range(256)
)
_ESCAPE = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|n)")
_WIDE_BLANKS = "\u00a0\u2009\u202f\u2019"
_WIDE_GROUPS = re.compile(f"[{_WIDE_BLANKS}](?<=\\d.)(?=\\d{{3}}(?!\\d))")
_ASCII = bytes(range(128))
_MANY_KINDS = 64
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_OF_A_NUMBER = frozenset("0123456789.,")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_THOUSANDS_BY_DOTS = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SoughtTerm:
    """A number, name or wording of an answer.

    Attributes:
        text: as the answer writes it.
        in_task: the task itself says it, so that finding it on a page proves nothing.
        numbers: the values it stands for ("1234"; two where a dot may part thousands); empty for any but a number.
        phrases: folded wordings, of which each is the term; a date has one for each usual form.
    """

    text: str
    kind: TermKind
    in_task: bool = False
    numbers: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()


class FoldedPage:
    """A text as it is searched: a page's tree, or one line of it."""

    def __init__(self, text: str) -> None:
        self._text = _plain(text)
        self._known: dict[str, bool] = {}

    @cached_property
    def _folded(self) -> bytes:
        return _fold(self._text)

    @cached_property
    def _words(self) -> bytes:
        return b" " + b" ".join(self._folded.split()) + b" "

    @cached_property
    def _digits(self) -> bytes:
        return digits_of(self._text)

    def holds(self, term: SoughtTerm) -> bool:
        """Whether the term stands there."""
        return any(map(self._says, term.phrases)) or (bool(term.numbers) and self._has_number(term.numbers))

    def _says(self, phrase: str) -> bool:
        # The blanks of a long page are made even only where every word of the phrase is there.
        return all(map(self._has_word, phrase.split(" "))) and f" {phrase} ".encode() in self._words

    def _has_word(self, word: str) -> bool:
        if (known := self._known.get(word)) is None:
            known = self._known[word] = word.encode() in self._folded
        return known

    def _has_number(self, values: frozenset[str]) -> bool:
        for value in values:
            figures = value.replace(".", "")
            if figures.encode() not in self._digits:  # nearly always, and fast
                continue
            for found in re.finditer("[.,]?".join(figures), self._text):
                token = self._token_around(*found.span())
                if token and not values.isdisjoint(number_values(token)):
                    return True
        return False

    def _token_around(self, start: int, end: int) -> str:
        """Return the whole number around a few of its figures; "" for a part of a word and for an element's id."""
        text = self._text
        first, last = max(0, start - _LONGEST_NUMBER), min(len(text), end + _LONGEST_NUMBER)
        while start > first and text[start - 1] in _OF_A_NUMBER:
            start -= 1
        while end < last and text[end] in _OF_A_NUMBER:
            end += 1
        before = text[start - 1] if start else " "
        is_id = before == "[" and (start == 1 or text[start - 2] in "\t\n")
        return "" if is_id or before.isalpha() or before == "_" else text[start:end]


class FoldedLines:
    """The lines of a page, to find those on which a term may stand."""

    def __init__(self, lines: Sequence[str]) -> None:
        text = _plain("\n".join(line.replace("\n", " ") for line in lines))
        self._words = _fold(text).split(b"\n")
        self._digits = digits_of(text).split(b"\n")

    def candidates(self, term: SoughtTerm) -> Iterator[int]:
        """Yield the lines on which the term may stand; all on which it does are among them."""
        words = {max(phrase.encode().split(), key=len) for phrase in term.phrases}
        digits = [value.replace(".", "").encode() for value in term.numbers]
        for number, (line, bare) in enumerate(zip(self._words, self._digits, strict=True)):
            if any(word in line for word in words) or any(one in bare for one in digits):
                yield number


def digits_of(text: str) -> bytes:
    """Return a text without points and commas: where a number's digits aren't in it, the number isn't either."""
    return text.encode("utf-8", "replace").translate(None, b".,")


def answer_terms(answer: str, task: str = "") -> tuple[SoughtTerm, ...]:
    """Return the terms of an answer that are worth looking for: numbers and dates, then names, then wordings.

    ``yes``, ``none`` and the like have none.
    """
    text = answer[:MAX_ANSWER]
    said = FoldedPage(task[:MAX_ANSWER])
    found: dict[object, SoughtTerm] = {}
    rest = list(text)

    def take(start: int, end: int, kind: TermKind, numbers: frozenset[str], phrases: tuple[str, ...]) -> None:
        rest[start:end] = "\n" * (end - start)  # it parts what stands around it
        shown = text[start:end].strip()
        if kind == "name":  # "Amanda Kim's city": pages say Amanda Kim
            shown = shown.removesuffix("'s").removesuffix("’s")
        term = SoughtTerm(text=shown, kind=kind, numbers=numbers, phrases=phrases)
        if said.holds(term):
            term = SoughtTerm(text=term.text, kind=kind, in_task=True, numbers=numbers, phrases=phrases)
        found.setdefault(numbers or phrases, term)

    for start, end, phrases in _dates(text):
        take(start, end, "number", frozenset(), phrases)
    for match in _TIME.finditer("".join(rest)):
        take(*match.span(), "number", frozenset(), (folded_words(match[0]),))
    for match in _CODE.finditer("".join(rest)):
        if match[0].replace("/", "").lower() not in _COMMON and not _NUMBER.fullmatch(match[0]):
            take(*match.span(), "name", frozenset(), (folded_words(match[0]),))
    for match in _QUOTED.finditer("".join(rest)):
        start, end = match.span(1) if match[1] else match.span(2)
        if phrase := folded_words(text[start:end]):
            take(start, end, "words", frozenset(), (phrase,))
    for match in _NUMBER.finditer("".join(rest)):
        take(*match.span(), "number", number_values(match[1]), ())
    for start, end, kind in _names("".join(rest)):
        named = text[start:end].removesuffix("'s").removesuffix("’s")
        take(start, end, kind, frozenset(), (folded_words(named),))
    for start, end in _wordings("".join(rest)):
        take(start, end, "words", frozenset(), (folded_words(text[start:end]),))
    order = ("number", "name", "words")
    return tuple(sorted(found.values(), key=lambda term: order.index(term.kind))[:MAX_TERMS])


def number_values(token: str) -> frozenset[str]:
    """Return the values a written number may stand for: ``1,234.50`` is 1234.5, ``1.234`` is 1.234 or 1234."""
    token = token.strip(".,")
    if _THOUSANDS.fullmatch(token):
        return frozenset([_value(token.replace(",", ""))])
    values: set[str] = set()
    if _THOUSANDS_BY_DOTS.fullmatch(token):
        values.add(_value(token.replace(".", "").replace(",", ".")))
    if "," not in token:
        values.add(_value(token))
    elif re.fullmatch(r"\d+,\d{1,2}", token):
        values.add(_value(token.replace(",", ".")))
    if "," in token and "." not in token:  # an enumeration without blanks
        values.update(_value(part) for part in token.split(",") if part)
    return frozenset(values)


def folded_words(text: str) -> str:
    """Return a text without case, accents and punctuation, its words parted by one blank."""
    return " ".join(_fold(_plain(text)).decode("utf-8", "replace").split())


def _plain(text: str) -> str:
    if "\\" in text:
        text = _ESCAPE.sub(" ", text)
    return _WIDE_GROUPS.sub("", text) if any(one in text for one in _WIDE_BLANKS) else text


def _fold(text: str) -> bytes:
    if not text.isascii():
        # Few kinds of them stand on a page: replacing one after the other is faster than looking at every character.
        kinds = set(text.encode("utf-8", "replace").translate(None, _ASCII).decode())
        if len(kinds) <= _MANY_KINDS:
            for one in kinds:
                text = text.replace(one, _ascii_like(one))
        else:
            text = _NON_ASCII.sub(lambda found: _ascii_like(found[0]), text)
    return text.encode("utf-8", "replace").translate(_FOLD)


@lru_cache(maxsize=8_192)
def _ascii_like(characters: str) -> str:
    """Return characters beyond ASCII without accents and case, signs as blanks; letters of other scripts stay."""
    plain = unicodedata.normalize("NFKD", characters).casefold()
    return "".join("" if unicodedata.combining(one) else one if one.isalnum() else " " for one in plain)


def _value(digits: str) -> str:
    whole, dot, part = digits.partition(".")
    part = part.rstrip("0") if "." not in part else part
    return (whole.lstrip("0") or "0") + (f"{dot}{part}" if part else "")


def _dates(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    taken: list[tuple[int, int]] = []
    for form in _DATES:
        for match in form.finditer(text):
            parts = match.groupdict()
            month = _month_number(parts.get("month") or "") or int(parts.get("number") or 0)
            day, year = int(parts["day"]), parts.get("year") or ""
            if (
                not 1 <= month <= 12
                or not 1 <= day <= 31
                or any(a < match.end() and match.start() < b for a, b in taken)
            ):
                continue
            taken.append(match.span())
            yield *match.span(), tuple(_date_forms(year if len(year) != 2 else f"20{year}", month, day))


def _month_number(word: str) -> int:
    return next((at for at, month in enumerate(_MONTHS, 1) if word and month.startswith(word.lower()[:3])), 0)


def _date_forms(year: str, month: int, day: int) -> Iterator[str]:
    """Yield the usual ways to write a date, folded."""
    names = dict.fromkeys([_MONTHS[month - 1], _MONTHS[month - 1][:3], "sept" if month == 9 else ""])
    days = dict.fromkeys([str(day), f"{day:02d}", f"{day}{_ordinal(day)}"])
    tail = f" {year}" if year else ""
    for name in filter(None, names):
        for one in days:
            yield f"{name} {one}{tail}"
            yield f"{one} {name}{tail}"
            yield f"{one} of {name}{tail}"
    if year:
        for m, d in dict.fromkeys([(str(month), str(day)), (f"{month:02d}", f"{day:02d}")]):
            yield f"{year} {m} {d}"
            for y in (year, year[2:]):
                yield f"{m} {d} {y}"
                yield f"{d} {m} {y}"


def _ordinal(day: int) -> str:
    return "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _names(text: str) -> Iterator[tuple[int, int, TermKind]]:
    for match in _NAME.finditer(text):
        start, end = match.span()
        while start < end:  # "The Chloe" is Chloe
            word = re.match(r"\S+\s*", text[start:end])
            if word is None or not _is_common(word[0].strip(), alone=start + word.end() == end):
                break
            start += word.end()
        name = text[start:end]
        if not folded_words(name) or (len(name) < 2 and name.isascii()):
            continue
        alone = " " not in name.strip()
        starts = (
            alone
            and bool(_SENTENCE_START.search(text[max(0, start - _NEAR) : start]))
            and text[end : end + 2].strip().islower()
        )
        yield start, end, "words" if starts else "name"


def _is_common(word: str, *, alone: bool) -> bool:
    """Whether a word is no name, or no part of the name it begins: "May" is a month, "One Stop Market" a shop."""
    common = word != "May" and word.lower() in _COMMON
    return common if alone else common and word.lower() not in _IN_NAMES


def _wordings(text: str) -> Iterator[tuple[int, int]]:
    """Yield stretches of up to four words between punctuation and common words."""
    start = 0
    for piece in [*((m.start(), m.end()) for m in _BREAK.finditer(text)), (len(text), len(text))]:
        words: list[tuple[int, int]] = []
        for match in re.finditer(r"[\w'’-]+", text[start : piece[0]]):
            span = (start + match.start(), start + match.end())
            if match[0].lower() in _COMMON or len(words) == 4:
                yield from _stretch(words)
                words = [] if match[0].lower() in _COMMON else [span]
            else:
                words.append(span)
        yield from _stretch(words)
        start = piece[1]


def _stretch(words: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    if words and words[-1][1] - words[0][0] >= 4:
        yield words[0][0], words[-1][1]
