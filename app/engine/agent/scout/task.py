"""The task as the scout reads it: parts in order, each a question, a way or a change, with the names it holds.

One grammar for the whole program: clauses, verbs and names are those of the write gate
(``app.engine.agent.write_gate.task_changes``), so that what the scout does is what the gate lets through.  Which name
is the thing, which a value and which a place is decided against the page, not here.  Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from app.engine.agent.scout.likeness import STOP, words
from app.engine.agent.scout.task_modes import FINDING, TaskMode, mode_of
from app.engine.agent.write_gate.name_roles import numbers_a_thing
from app.engine.agent.write_gate.task_changes import RequestedChange, TaskClause, task_clauses
from app.engine.agent.write_gate.vocabulary import TaskToken, number_words
from app.engine.agent.write_gate.vocabulary import word_set as word_list
from app.engine.core.text import word_set

_CONDITIONING = word_set("consider exclude include ignore skip treat limit prioritize assume note")
"""Verbs of what counts, in a sentence after a question or a way."""
_PRESENTING = word_set(
    "return answer respond output format round separate sort order rank follow write print express keep use choose do"
)
"""Verbs of how an answer is to look, after a question."""
_HANDING = word_set("give tell list show display provide name state get count report calculate")
_POINTING = word_set(
    "it its they them their that this those these result results answer answers output final only"
)
_IDLE = word_set(
    "please me us i we you it its itself them they one ones that which who whom whose what when where why how "
    "can could will would shall should might must want need like d s m t ll ve re let "
    "many much some any all each every also just only then so now there exactly currently given following"
)
_LEAD = 4


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
        notes: sentences after a question that say how its answer is to look and what counts for it.
    """

    mode: TaskMode
    text: str
    verb: str = ""
    names: tuple[Name, ...] = ()
    words: tuple[str, ...] = ()
    context: tuple[Name, ...] = ()
    where: tuple[str, ...] = ()
    changes: tuple[RequestedChange, ...] = ()
    notes: tuple[str, ...] = ()


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


_TIMES = word_set("day date time month year")


@lru_cache(maxsize=64)
def read_task(text: str) -> Task:
    """Return the parts of a task.

    A way before another part is no part of its own: its names and words say where the other one is done.
    """
    found: list[TaskPart] = []
    before: list[TaskPart] = []
    clauses = [one for one in task_clauses(text) if not one.refused and one.tokens]
    sentence = ""
    for at, clause in enumerate(clauses):
        part, rest = _part_of(clause), clauses[at + 1 :]
        later, colon = clause.text != sentence, sentence.endswith(":")
        bare = clause.asks and not part.names and set(part.words) <= _TIMES  # ``…, and on what day?``
        acts = bool(clause.verb or clause.asks) and not (bare and found)
        leads = later and not colon and any(one.verb or one.asks for one in rest)
        if found and _is_note(part, clause, found[-1], later=later, colon=colon):
            found[-1] = replace(found[-1], notes=(*found[-1].notes, part.text))
            continue
        if found and not acts and (bare or not leads):
            found[-1] = _joined(found[-1], (found[-1], part))  # ``… under the name Foo: all issues of …``
        elif acts and not _is_premise(clause, rest):
            told = [replace(one, text=f"{one.text}.") for one in before]
            found.append(_joined(part, (*told, part)))  # ``Ada Bell has moved. Please change …``
            before = []
        else:
            before.append(replace(part, mode=TaskMode.WAY, verb="", changes=()))  # ``In the wiki, …``
        sentence = clause.text
    parts = _with_context(_sought_first(found) or before)
    return Task(text=text, parts=tuple(parts) or (TaskPart(mode=TaskMode.WAY, text=text, words=words(text)),))


def _is_note(part: TaskPart, clause: TaskClause, last: TaskPart, *, later: bool, colon: bool) -> bool:
    """Whether a part says what counts for the one before it or how its answer is to look, and asks nothing new."""
    if last.mode is TaskMode.CHANGE or clause.asks or any(one.certain for one in clause.changes):
        return False
    if clause.verb in _CONDITIONING:
        return True
    if last.mode is TaskMode.WAY or clause.verb in _PRESENTING:
        return last.mode is TaskMode.QUESTION
    if clause.changes or not clause.verb:
        return later and (bool(clause.verb) or not colon)
    known = {name.text for name in (*last.names, *last.context)}
    if clause.verb not in _HANDING or any(name.text not in known for name in part.names):
        return False
    pointed = bool(_POINTING & {token.low for token in clause.rest[:4]})
    return pointed or (later and part.mode is TaskMode.QUESTION)


def _is_premise(clause: TaskClause, later: Sequence[TaskClause]) -> bool:
    """Whether a wish only leads up to what a later sentence asks: ``I want to restock 40 units. How much …``."""
    wishes = clause.tokens[0].low in ("i", "we") and not any(one.certain for one in clause.changes)
    return wishes and any(
        one.text != clause.text and (one.asks or (one.verb and not one.changes)) for one in later
    )


def _sought_first(found: Sequence[TaskPart]) -> list[TaskPart]:
    """Make the finding of a named thing a way where another part says what for."""
    return [
        replace(part, mode=TaskMode.WAY)
        if number + 1 < len(found)
        and part.mode is TaskMode.QUESTION
        and part.verb in FINDING
        and (part.names or found[number + 1].mode is TaskMode.CHANGE)
        else part
        for number, part in enumerate(found)
    ]


def _part_of(clause: TaskClause) -> TaskPart:
    tokens = clause.tokens
    names = _names_of(tokens, clause.verb)
    return TaskPart(
        mode=mode_of(clause),
        text=_written(tokens),
        verb="" if clause.asks else clause.verb,
        names=names,
        words=tuple(
            dict.fromkeys(
                word
                for token in tokens
                if not token.name
                for word in words(token.low.replace("’", "'").replace("n't", " not"))
                if word[0].isalpha() and word not in STOP | _IDLE and word != clause.verb
            )
        ),
        changes=clause.changes,
    )


def _joined(into: TaskPart, parts: Sequence[TaskPart]) -> TaskPart:
    """Return a part with the words, names and changes of several."""
    return replace(
        into,
        text=" ".join(one.text for one in parts),
        names=tuple(dict.fromkeys(name for one in parts for name in one.names)),
        words=tuple(dict.fromkeys(word for one in parts for word in one.words)),
        changes=tuple(change for one in parts for change in one.changes),
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
    known = first.low in STOP | _IDLE | word_list("prepositions")
    return not first.name and first.text[:1].isupper() and not known and second.name and not second.quoted


def _written(tokens: Sequence[TaskToken]) -> str:
    """The words of a part, quoted names in quotes again."""
    text = " ".join(f'"{one.text}"' if one.quoted else one.text for one in tokens)
    return text.replace(" ,", ",").replace(" 's", "'s")
