"""Reads the words of a task into typed parts: what is to be done in which order, to what, where, with which values.

Nothing here knows a site or a task; what the parts mean on a page is grounded later, against the page's own names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from app.engine.agent.scout.phrases import (
    ORDINALS,
    Bound,
    Extreme,
    Match,
    bounds_in,
    dates_in,
    extremes_in,
    matches_in,
    numbers_in,
    one_of,
    ordinals_in,
    pairs_in,
    path_in,
    times_in,
)
from app.engine.agent.scout.vocabulary import KINDS, WORDS, Verb

_VERB_OF = {word: verb for verb, words in WORDS.items() for word in words.split("|")}
_ANY_VERB = "|".join(sorted((re.escape(word) for word in _VERB_OF), key=len, reverse=True))
_NOT_AFTER_AND = one_of(
    "is are does did when where what which who how list mark star order is post",
)
"""Words that are verbs at the start of a sentence only."""
_SPLIT_VERBS = "|".join(
    sorted((re.escape(word) for word in _VERB_OF if word not in _NOT_AFTER_AND), key=len, reverse=True)
)
_LEAD = re.compile(
    r"^(?:(?:please|now|first|next|finally|afterwards|also|then|and|to|kindly|you should|i want to|i need to"
    r"|can you|could you|will you|would you|try to|after that)\b[\s,]*)+",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\x02])|\n+")
_JOINT = re.compile(
    rf"(?:,|;)?\s+(?:and\s+then|then|and|to|before you|after that)\s+(?=(?:{_SPLIT_VERBS})\b)"
    rf"|,\s*(?=(?:{_SPLIT_VERBS})\b)|,?\s+(?=then\b)|\s+(?=(?:hit|press)\s+submit\b)",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"\b(?:should|must|needs?\s+to|has\s+to|have\s+to|ought\s+to)\s+be\s+(\w+)", re.IGNORECASE
)
_TO_VALUE = re.compile(
    r"(\b(?:set|change|update|edit|rename|adjust|switch|turn)\b[^,;.]*?)\s+to\s+", re.IGNORECASE
)
_HEAD = re.compile(rf"^({_ANY_VERB})\b", re.IGNORECASE)
_QUOTE = re.compile("\"([^\"]*)\"|“([^”]*)”|«([^»]*)»|(?<![\\w])'([^']+)'(?!\\w)|`([^`]+)`")
_HELD = re.compile("\x02(\\d+)\x02")
_WHERE = re.compile(
    r"(?:^|\s+)(?:from|in|into|with|using|as|on|within|inside|under|at|to|for)\s+(?:the|a|an|this|that|each|all|both|it)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"^(?:(?:on|in|into|to|for|the|a|an|any|up|out|at|of|that|this|those|these|me|all|both|each|every|one|over)\s+)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s+(?:when|once|if|after)\s+(?:you(?:'re| are)?\s+)?(?:done|finished|ready|complete)\W*$", re.IGNORECASE
)
_MANY = re.compile(r"\b(?:all|every|each|both|everything)\b", re.IGNORECASE)
_COUNT = re.compile(r"\b(\d+|one|two|three|four|five)\s+(?:\w+\s+)?(?=[a-z]+s?\b)", re.IGNORECASE)
_NOTHING = re.compile(r"^(?:nothing|none|no\s+\w+)$", re.IGNORECASE)

_KIND = re.compile(
    r"\b(" + "|".join(sorted((re.escape(kind) for kind in KINDS), key=len, reverse=True)) + r")(?:e?s)?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One thing that is asked for.

    Attributes:
        verb, word: what is to be done, typed and as it stands.
        text: the clause in the person's words.
        quoted: strings in quotes, in order.
        targets: what it is done to: the quoted strings, else the names listed behind the verb.
        where: what stands behind the first preposition with an article (``from the scroll list``).
        kinds: kinds of control that are named, as in ``KINDS``.
        ordinal: 1 for the first, -1 for the last, 0 where none is told.
        many: all of them are meant; ``count`` of them where a number is told, else 0.
        nothing: expressly none is to be chosen.
        path: parts of a menu path ``A > B``.
        pairs: fields and values (``username``, ``karrie``), as they are told.
        numbers, dates, times: values in the clause; dates are (year, month, day), times (hour, minute).
        bounds, extremes, matches: conditions (``less than 5``, ``cheapest``, ``starts with "An"``).
    """

    verb: Verb
    word: str
    text: str
    quoted: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    where: str = ""
    kinds: tuple[str, ...] = ()
    ordinal: int = 0
    many: bool = False
    count: int = 0
    nothing: bool = False
    path: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    numbers: tuple[str, ...] = ()
    dates: tuple[tuple[int, int, int], ...] = ()
    times: tuple[tuple[int, int], ...] = ()
    bounds: tuple[Bound, ...] = ()
    extremes: tuple[Extreme, ...] = ()
    matches: tuple[Match, ...] = ()

    @property
    def roles(self) -> frozenset[str]:
        """Roles that the named kinds of control have; empty where none is named."""
        return frozenset(role for kind in self.kinds for role in KINDS[kind])


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task as it was read.

    Attributes:
        text: the whole of it, as given.
        clauses: in the order they are to be done.
        question: an answer is wanted.
        quoted: all strings in quotes.
        pairs: all fields with values.
    """

    text: str
    clauses: tuple[Clause, ...] = ()
    question: bool = False
    quoted: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    words: frozenset[str] = field(default_factory=frozenset[str])

    def has(self, *verbs: Verb) -> bool:
        """Whether one of these is asked for."""
        return any(clause.verb in verbs for clause in self.clauses)

    def of(self, *verbs: Verb) -> tuple[Clause, ...]:
        """Clauses that ask for one of these."""
        return tuple(clause for clause in self.clauses if clause.verb in verbs)


@lru_cache(maxsize=256)
def read_intent(text: str) -> Task:
    """The typed parts of a task.  Never fails: what can't be read is one clause of ``Verb.OTHER``."""
    quotes: list[str] = []

    def hold(found: re.Match[str]) -> str:
        quotes.append(next(group for group in found.groups() if group is not None))
        return f"\x02{len(quotes) - 1}\x02"

    held = _QUOTE.sub(hold, re.sub("[\x02\x03]", " ", text))
    parts: list[str] = []
    for sentence in _SENTENCE.split(_TO_VALUE.sub("\\1\x03", held)):
        found = (part.replace("\x03", " to ") for part in _JOINT.split(sentence.strip()))
        parts.extend(part for part in found if part.strip(" ,.;"))
    clauses = tuple(_clause(part.strip(" ,;"), quotes) for part in parts)
    return Task(
        text=text,
        clauses=clauses,
        question=_asks(text) or any(clause.verb is Verb.ASK for clause in clauses),
        quoted=tuple(quotes),
        pairs=tuple(pair for clause in clauses for pair in clause.pairs),
        words=frozenset(re.findall(r"\w+", text.lower())),
    )


def _clause(part: str, quotes: list[str]) -> Clause:
    part = _LEAD.sub("", part)
    head = _HEAD.match(part)
    word = head[1].lower() if head else ""
    verb = _verb(word, part)
    rest = part[head.end() :] if head else part
    bare = _HELD.sub(" ", part)
    plain = _put_back(part, quotes).rstrip(".")
    quoted = tuple(quotes[int(found[1])] for found in _HELD.finditer(part))
    rest = _TAIL.sub("", rest)
    rest = _ARTICLE.sub("", f"{rest.strip()} ") if head else rest
    where = _WHERE.search(rest)
    listed = _listed(rest[: where.start()] if where else rest)
    ordinals = ordinals_in(bare)
    counted = _COUNT.search(bare)
    return Clause(
        verb=verb,
        word=word,
        text=plain,
        quoted=quoted,
        targets=quoted or listed,
        where=_put_back(rest[where.start() :].strip(" ."), quotes) if where else "",
        kinds=tuple(dict.fromkeys(found[1].lower() for found in _KIND.finditer(bare))),
        ordinal=ordinals[0] if ordinals else 0,
        many=_MANY.search(bare) is not None,
        count=_as_count(counted[1]) if counted else 0,
        nothing=len(listed) == 1 and _NOTHING.match(listed[0]) is not None,
        path=path_in(_put_back(rest, quotes)),
        pairs=pairs_in(part, quotes),
        numbers=numbers_in(bare),
        dates=dates_in(plain),
        times=times_in(plain),
        bounds=bounds_in(plain),
        extremes=extremes_in(bare),
        matches=matches_in(part, quotes),
    )


def _verb(word: str, part: str) -> Verb:
    """The verb at the head; else that of ``should be deleted``; who is given something gets it passed on."""
    if word == "give" and not re.match(r"give\s+(?:me|us)\b", part, re.IGNORECASE):
        return (
            Verb.FORWARD
            if re.match(r"give\s+[A-Z]", part, re.IGNORECASE) and part.split()[1][0].isupper()
            else Verb.SET
        )
    passive = _PASSIVE.search(part) if not word else None
    if passive:
        bare = passive[1].lower()
        for ending in ("ed", "d", ""):
            found = _VERB_OF.get(bare.removesuffix(ending)) if ending else None
            if found:
                return found
    return _VERB_OF.get(word, Verb.OTHER)


def _asks(text: str) -> bool:
    """Whether it is a question; ``Will you open it?`` is none."""
    return text.rstrip().endswith("?") and not re.match(
        r"\s*(?:will|would|can|could)\s+you\b", text, re.IGNORECASE
    )


def _listed(rest: str) -> tuple[str, ...]:
    """Names told without quotes: ``HF2, abc and the DKkQH`` are three; kinds of control are no names."""
    rest = _HELD.sub(" ", rest).strip(" .:")
    rest = _ARTICLE.sub("", f"{rest} ").strip(" .:")
    if not rest or ">" in rest:
        return ()
    names: list[str] = []
    for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*;\s*", rest):
        name = _ARTICLE.sub("", f"{part.strip(' .')} ").strip()
        name = _without_kind(name)
        if name:
            names.append(name)
    return tuple(names)


def _without_kind(name: str) -> str:
    """``button ONE`` and ``cancel button`` are called ONE and cancel; a name that is only a kind stays."""
    found = re.fullmatch(rf"(?:{_KIND.pattern})\s+(\S.*)", name, re.IGNORECASE)
    if found:
        return found[found.lastindex or 1] if found[found.lastindex or 1] else name
    found = re.fullmatch(rf"(\S.*?)\s+(?:{_KIND.pattern})", name, re.IGNORECASE)
    return found[1] if found else name


def _as_count(word: str) -> int:
    named = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
    return int(word) if word.isdigit() and len(word) < 6 else named.get(word.lower(), 0)


def _put_back(part: str, quotes: list[str]) -> str:
    return _HELD.sub(lambda found: f'"{quotes[int(found[1])]}"', part)


__all__ = [
    "KINDS",
    "ORDINALS",
    "Bound",
    "Clause",
    "Extreme",
    "Match",
    "Task",
    "Verb",
    "read_intent",
]
