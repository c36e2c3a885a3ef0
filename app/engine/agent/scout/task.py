"""The task as the scout reads it: parts in order, each a question, a way or a change, with the names it holds.

One grammar for the whole program: clauses, verbs and names are those of the write gate
(``app.engine.agent.write_gate.task_changes``), so that what the scout does is what the gate lets through.  Which name
is the thing, which a value and which a place is decided against the page (``app.engine.agent.scout.page_context``),
not here.  Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
        names: in order; names of earlier parts that it speaks of (``and close it``) are in ``context``.
        words: its other words that carry meaning, in lower case and in order.
        context: names of the part before, where this one has none of its own for its thing.
    """

    mode: TaskMode
    text: str
    verb: str = ""
    names: tuple[Name, ...] = ()
    words: tuple[str, ...] = ()
    context: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task in parts; there is at least one."""

    text: str
    parts: tuple[TaskPart, ...]
