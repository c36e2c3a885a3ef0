"""Weighted terms: what a task says of a page, and how much of it a text or a page shows.  Pure.

The score of a page is the share of the terms' weight that it shows, each term by its best evidence: what the page
calls itself counts whole, the text of a row little.  The score that a link promises joins what its own words say with
what the page in front keeps showing behind it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_plus

from app.engine.agent.scout.change_subject import made_thing, main_names, makes_new, place_names, thing_names
from app.engine.agent.scout.likeness import STOP, holds, meaning, plain, word_fit, words
from app.engine.agent.scout.ordering import read_ordering
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.task import Name, TaskMode, TaskPart
from app.engine.agent.scout.task_modes import GOING
from app.engine.core.addresses import split_address
from app.engine.core.text import word_set

NAME_WEIGHT, NUMBER_WEIGHT, WORD_WEIGHT, PLACE_WEIGHT = 3.0, 2.0, 1.0, 0.25
SUBJECT, CHOSEN, PATH, LISTED, ROW, TEXT = 1.0, 0.85, 0.8, 0.6, 0.35, 0.25
"""Weight of evidence by where it stands on a page."""
ABOUT, LIKE_HEADING, LEAST_SHARE = 0.9, 0.6, 0.3
"""Evidence of a name on the page of its thing; evidence of a kind from which on a page is one of it;
what a word counts in a long text."""
_PLACE_WORDS = word_set(
    "page list overview screen view section site details detail entry item menu area where"
)
_BOUNDS = word_set("of in on at for with by from to")
_MOST_ROWS = 400


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A name or a word of the task.

    Attributes:
        on_the_way: a place that a way to another thing leads over.
        is_head: a word for the very thing that is wanted, not for what it belongs to.
    """

    text: str
    weight: float
    is_name: bool = False
    on_the_way: bool = False
    is_head: bool = False

    @property
    def is_kind(self) -> bool:
        """Whether it is a word for what is wanted, not only for a page."""
        return not self.is_name and self.weight >= WORD_WEIGHT


Terms = tuple[Term, ...]
Evidence = tuple[float, ...]
"""One number in [0, 1] a term."""


@lru_cache(maxsize=64)
def terms_of(part: TaskPart) -> Terms:
    """Return what tells the page of a part: for a change the names of its thing and place, not its values."""
    names = located_names(part)
    order = read_ordering(part.text) if part.mode is TaskMode.WAY else None
    taken = {word for name in names for word in words(name.text)} | set(words(order.said if order else ""))
    joined = re.sub(r"\bnot (?=\w)", "un", " ".join(part.words)).split()  # sites say ``unread``
    taken |= STOP | (GOING & set(words(part.text)[:1]) if part.mode is TaskMode.WAY else set())
    said = [word for word in dict.fromkeys((*joined, *part.where)) if word not in taken]
    if part.mode is TaskMode.CHANGE and names:
        led = {word for name in names for word in words(name.lead)} | {*made_thing(part), *part.where}
        said = [word for word in said if word in led]
    passed = part.context if part.mode is TaskMode.WAY and part.names else ()
    head = _head_words(part)
    weights = {name: NUMBER_WEIGHT if name.number else NAME_WEIGHT for name in names}
    return (
        *(Term(one.text, weight, is_name=True, on_the_way=one in passed) for one, weight in weights.items()),
        *(
            Term(word, PLACE_WEIGHT if word in _PLACE_WORDS else WORD_WEIGHT, is_head=word in head)
            for word in said
        ),
    )


def _head_words(part: TaskPart) -> frozenset[str]:
    """Return the words before the names, without names those before the first preposition behind a thing's word."""
    led = {word for name in part.names for word in words(name.lead)}
    head: list[str] = []
    for word in () if led else words(part.text):
        if word in _BOUNDS and not _PLACE_WORDS.issuperset(head):
            break
        head += [word] if word in part.words else []
    return frozenset(led or head) - _PLACE_WORDS


def located_names(part: TaskPart) -> tuple[Name, ...]:
    """Return the names that tell where a part is done."""
    if part.mode is not TaskMode.CHANGE:
        return (*part.names, *part.context)
    if makes_new(part):
        return main_names(part)
    return tuple(dict.fromkeys((*thing_names(part), *place_names(part), *part.context)))


@lru_cache(maxsize=65536)
def shown_by(terms: Terms, text: str) -> Evidence:
    """Return how much of each term a text shows, in [0, 1]."""
    return evidence(terms, (text,), 1.0)


def _best_fit(wanted: str, said: Iterable[str]) -> float:
    # Squared, because many words are a little like each other and few mean the same.
    return max([word_fit(wanted, word) for word in said], default=0.0) ** 2


def _name_shown(name: str, text: str) -> float:
    if set(words(name)).isdisjoint(words(text)):
        return 0.0
    if holds(text, name):
        return 1.0
    wanted, there = meaning(name), set(meaning(text))
    share = sum(word in there for word in wanted) / len(wanted) if wanted else 0.0
    return 0.8 if share == 1.0 and len(wanted) > 1 else 0.4 * share


def evidence(terms: Terms, texts: Iterable[str], weight: float) -> Evidence:
    """Return the best evidence of each term in some texts: of names in one text, of words in all of them."""
    said = [text for text in dict.fromkeys(texts) if text]
    there = {word for text in said for word in meaning(text)}
    return tuple(
        weight
        * (
            max((_name_shown(term.text, text) for text in said), default=0.0)
            if term.is_name
            else _best_fit(term.text, there)
        )
        for term in terms
    )


def weighed_evidence(terms: Terms, texts: Iterable[str], weight: float) -> Evidence:
    """Return the best evidence in texts whose words count by their share of a text; names of things count whole."""
    found = [(0.0,) * len(terms)]
    for text in texts:
        shown = shown_by(terms, text)
        if not any(shown):
            continue
        told = [word for word in meaning(text) if not word.isdecimal()]
        used = sum([any(shown_by(terms, word)) for word in told])
        share = weight * (LEAST_SHARE + (1 - LEAST_SHARE) * used / len(told)) if told else weight
        found.append(
            tuple(one * (weight if term.is_name else share) for term, one in zip(terms, shown, strict=True))
        )
    return best_of(*found)


def best_of(*found: Evidence) -> Evidence:
    """Return the best evidence of each term."""
    return tuple(map(max, zip(*found, strict=True))) if found else ()


def score(terms: Terms, found: Sequence[float]) -> float:
    """Return the share of the terms' weight that is shown, in [0, 1]."""
    total = sum(term.weight for term in terms)
    return sum(term.weight * one for term, one in zip(terms, found, strict=True)) / total if total else 0.0


def page_evidence(terms: Terms, context: PageContext, subject: Evidence) -> Evidence:
    """Return what a page shows of each term: as its subject (``subject_evidence``), in its values and in its text."""
    relations = context.relations
    heads = [
        *relations.headings,
        *(text for one in relations.relations for text in (one.title, *one.columns)),
        *(text for one in relations.labelled for text in (one.label, one.value)),
    ]
    rows = [row.text for one in relations.relations for row in one.rows[:_MOST_ROWS]]
    told = ((heads, LISTED), (rows, ROW), (relations.said, TEXT))
    return best_of(subject, *(evidence(terms, texts, weight) for texts, weight in told))


def subject_evidence(
    terms: Terms, context: PageContext, searched: Collection[str] = (), applied: Iterable[str] = ()
) -> Evidence:
    """Return what a page shows of each term in what it calls itself, what is chosen on it and its address.

    ``searched`` are names that were searched for: an address or a heading that repeats one is no evidence of it.
    ``applied`` are filters that brought the page.
    """
    subject = best_of(
        weighed_evidence(terms, context.subject, SUBJECT),
        evidence(terms, context.chosen, CHOSEN),
        evidence(terms, (path_words(context.page.url),), PATH),
    )
    found = tuple(
        max(
            0.0 if _repeats(context, term.text, searched) else one,
            ABOUT * _is_of(term, terms, subject, context),
        )
        if term.is_name
        else one
        for term, one in zip(terms, subject, strict=True)
    )
    return best_of(found, evidence(terms, applied, CHOSEN))


def _is_of(term: Term, terms: Terms, subject: Evidence, context: PageContext) -> bool:
    """Whether a page is that of a name: it calls itself so, or it is one of the kind and says whose it is."""
    if context.is_about(term.text):
        return True
    kinds = [one for kind, one in zip(terms, subject, strict=True) if kind.is_kind]
    if max(kinds, default=0.0) < LIKE_HEADING or holds(path_words(context.page.url), term.text):
        return False
    most = len(words(term.text)) + 4
    return any(
        holds(one.value, term.text) and len(words(one.value)) <= most and not one.listed and one.field is None
        for one in context.relations.labelled
    )


def _repeats(context: PageContext, name: str, searched: Collection[str]) -> bool:
    """Whether the page holds a name only because it was searched for, and no heading is the name itself."""
    if context.echoes(name):
        return True
    asked = name in searched and holds(path_words(context.page.url), name)
    return asked and not any(plain(text) == plain(name) for text in context.subject)


@lru_cache(maxsize=8192)
def path_words(url: str) -> str:
    """Return path and query of an address as words."""
    address = split_address(url)
    return " ".join(words(unquote_plus(f"{address.path} {address.query}")))


def uncovered(terms: Terms, found: Evidence, least: float) -> Sequence[Term]:
    """Return the names that are shown by less than ``least``."""
    return [term for term, one in zip(terms, found, strict=True) if term.is_name and one < least]
