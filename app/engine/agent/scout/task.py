"""The task as the scout reads it: parts in order, each a question, a way or a change, with the names it holds.

One grammar for the whole program: clauses, verbs and names are those of the write gate
(``app.engine.agent.write_gate.task_changes``), so that what the scout does is what the gate lets through.  Which name
is the thing, which a value and which a place is decided against the page, not here.  Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from app.engine.agent.scout.likeness import STOP, words
from app.engine.agent.write_gate.task_changes import (
    RequestedChange,
    TaskClause,
    numbers_a_thing,
    task_clauses,
)
from app.engine.agent.write_gate.vocabulary import TaskToken, number_words
from app.engine.core.text import word_set

_GOING = word_set(
    "open go goto navigate visit take bring show view display browse access head see jump switch pull look sort "
    "filter"
)
"""Imperatives after which a page is wanted."""
_FINDING = frozenset({"find", "locate", "look", "search", "lookup"})
_PLACE = frozenset(
    {"page", "screen", "site", "section", "tab", "website", "dashboard", "view", "listing", "listings"}
)
"""Words for a place of any site: ``find the page of …`` wants a page."""
_TELLING = frozenset({"me", "us"})
_ASKING = frozenset({"what", "which", "who", "whom", "whose", "when", "where", "why", "how", "if", "whether"})
_IDLE = word_set(
    "please me us i we you it its itself them they one ones that which who whom whose what when where why how "
    "many much some any all each every also just only then so now there exactly currently given following"
)
_LEAD = 4


class TaskMode(StrEnum):
    """Kinds of parts: an answer is wanted, a page is wanted, or the site's data is to be changed."""

    QUESTION = "question"
    WAY = "way"
    CHANGE = "change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A quoted or capitalised text, or a number that names a thing.

    Attributes:
        lead: up to four words before it, in lower case (``of the order``); they say where to look for it.
    """

    text: str
    quoted: bool = False
    number: bool = False
    lead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPart:
    """One part of a task.

    Attributes:
        text: its words, quotes included.
        verb: the imperative it begins with, in lower case; "" for a question.
        names: in order.
        words: its other words that carry meaning, in lower case and in order.
        context: names of the parts before, of which this one may speak (``and close it``).
        where: words of a way that comes before it (``Go to the inventory and …``).
        changes: what it asks to be changed, as the write gate reads it.
    """

    mode: TaskMode
    text: str
    verb: str = ""
    names: tuple[Name, ...] = ()
    words: tuple[str, ...] = ()
    context: tuple[Name, ...] = ()
    where: tuple[str, ...] = ()
    changes: tuple[RequestedChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task in parts; there is at least one."""

    text: str
    parts: tuple[TaskPart, ...]

    @property
    def mode(self) -> TaskMode:
        """Mode of the whole: a change if any part is one, else that of the last part."""
        if any(part.mode is TaskMode.CHANGE for part in self.parts):
            return TaskMode.CHANGE
        return self.parts[-1].mode


@lru_cache(maxsize=64)
def read_task(text: str) -> Task:
    """Return the parts of a task.

    A way before another part is no part of its own: its names and words say where the other one is done.
    """
    found: list[TaskPart] = []
    clauses = [one for one in task_clauses(text) if not one.refused and one.tokens]
    before: list[TaskPart] = []
    for clause in clauses:
        part = _part_of(clause)
        if clause.verb or clause.asks:
            found.append(part)
        elif found:
            found[-1] = _joined(found[-1], part)
        else:
            before.append(part)
    if before and found:  # ``In the wiki, …``; ``Ada Bell has moved. Please change …``
        found[0] = _after(before, found[0])
    parts = _with_context(found or before)
    return Task(text=text, parts=tuple(parts) or (TaskPart(mode=TaskMode.WAY, text=text, words=words(text)),))


def _part_of(clause: TaskClause) -> TaskPart:
    tokens = clause.tokens
    names = _names_of(tokens, clause.verb)
    return TaskPart(
        mode=_mode_of(clause),
        text=_written(tokens),
        verb="" if clause.asks else clause.verb,
        names=names,
        words=tuple(
            dict.fromkeys(
                word
                for token in tokens
                if not token.name
                for word in words(token.low)
                if word[0].isalpha() and word not in STOP | _IDLE and word != clause.verb
            )
        ),
        changes=clause.changes,
    )


def _mode_of(clause: TaskClause) -> TaskMode:
    lows = [token.low for token in clause.tokens]
    if clause.asks or not clause.verb:
        return TaskMode.QUESTION
    if clause.changes:
        return TaskMode.CHANGE
    rest = [token.low for token in clause.rest]
    verb = clause.verb.split()[0]
    if verb in _GOING:
        told = rest[1:] if set(rest[:1]) & _TELLING else rest
        return TaskMode.QUESTION if _asks_value(told) else TaskMode.WAY
    if verb in _FINDING and _PLACE & set(lows):
        return TaskMode.WAY
    return TaskMode.QUESTION


def _asks_value(rest: Sequence[str]) -> bool:
    """Whether ``show me`` is followed by a question or a quantity and not by a thing."""
    first = [word for word in rest[:3] if word not in STOP]
    return bool(rest) and (rest[0] in _ASKING or any(word in ("number", "count") for word in first[:1]))


def _joined(one: TaskPart, more: TaskPart) -> TaskPart:
    return replace(
        one,
        text=f"{one.text} {more.text}",
        names=(*one.names, *more.names),
        words=tuple(dict.fromkeys((*one.words, *more.words))),
        changes=(*one.changes, *more.changes),
    )


def _after(statements: Sequence[TaskPart], part: TaskPart) -> TaskPart:
    """Return a part with the statements before it, which say of what it speaks."""
    return replace(
        part,
        text=" ".join((*(f"{one.text}." for one in statements), part.text)),
        names=tuple(dict.fromkeys((*(name for one in statements for name in one.names), *part.names))),
        words=tuple(dict.fromkeys((*(word for one in statements for word in one.words), *part.words))),
    )


def _with_context(parts: Sequence[TaskPart]) -> list[TaskPart]:
    """Give each part the names of those before it; a way before another part becomes its place."""
    made: list[TaskPart] = []
    context: list[Name] = []
    where: list[str] = []
    for number, part in enumerate(parts):
        later = parts[number + 1 :]
        known = tuple(name for name in context if name not in part.names)
        if part.mode is TaskMode.WAY and later:
            where.extend(part.words)
        else:
            made.append(replace(part, context=known, where=tuple(dict.fromkeys(where))))
        context.extend(name for name in part.names if name not in context)
    return made


def _names_of(tokens: Sequence[TaskToken], verb: str) -> tuple[Name, ...]:
    found: list[Name] = []
    if not verb and len(tokens) > 1 and _begins_name(tokens[0], tokens[1]):
        tokens = (TaskToken(f"{tokens[0].text} {tokens[1].text}", name=True), *tokens[2:])
    for at, token in enumerate(tokens):
        number = not token.name and token.low.lstrip("#").isdecimal() and numbers_a_thing(tokens, at)
        if not (token.name or number) or token.low == verb or token.low in number_words():
            continue
        lead = [one.low for one in tokens[max(0, at - _LEAD) : at] if not one.name]
        found.append(Name(text=token.text, quoted=token.quoted, number=number, lead=" ".join(lead)))
    return tuple(found)


def _begins_name(first: TaskToken, second: TaskToken) -> bool:
    """Whether a statement begins with a name, whose first word has a capital like that of any sentence."""
    known = first.low in _ASKING or first.low in STOP | _IDLE
    return not first.name and first.text[:1].isupper() and not known and second.name and not second.quoted


def _written(tokens: Sequence[TaskToken]) -> str:
    """The words of a part, quoted names in quotes again."""
    text = " ".join(f'"{one.text}"' if one.quoted else one.text for one in tokens)
    return text.replace(" ,", ",").replace(" 's", "'s")
