"""The thing that a change is about: its names, its place, the words for what is made.  Pure.

Which name is a value is told by the task's grammar, and by the fields of the form in front once there is one.
"""

from __future__ import annotations

from collections.abc import Collection

from app.engine.agent.scout.field_values import ARTICLES, BOUNDS, JOINTS, OF_A_THING, tokens_of, values_in
from app.engine.agent.scout.likeness import plain, word_fit, words
from app.engine.agent.scout.page_context import PageContext, segments_of
from app.engine.agent.scout.task import Name, TaskPart
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.core.text import word_set

CREATING = frozenset({"create", "send"})
WRITTEN = word_set("comment note message text reply answer remark words description body")
"""Words for a text of several lines."""
_MAKING = frozenset({"create", "make", "open", "register", "start"})
"""Verbs after which ``to`` leads to no thing that is there already."""
_WITHIN = word_set("of at in from within")
_PLACED = OF_A_THING | {"inside"}
_NEW = frozenset({"new", "add", "create"})
SAME_KIND = 0.6
"""Fit from which on two words name the same kind of thing."""
_ENDS = OF_A_THING | JOINTS | BOUNDS


def is_creating(part: TaskPart) -> bool:
    """Whether the verb of a change makes something new; ``raise … to 12`` changes what is there."""
    senses = senses_of(words(part.verb))
    moves = any(
        one.kind == "step" or (one.kind == "number" and one.joint == "to") for one in values_in(part.text)
    )
    return bool(senses & CREATING) and "edit" not in senses and not moves


def thing_names(part: TaskPart, taken: Collection[str] = ()) -> tuple[Name, ...]:
    """Return the names of the thing a change is about: those that are no value; else those of the parts before.

    Args:
        taken: what the fields of a form take, in plain words.
    """
    # After ``add`` and its like ``to`` leads to the thing: ``add the note … to F-12``.
    adds = bool(senses_of(words(part.verb)) & CREATING)
    given = {
        plain(one.text) for one in values_in(part.text) if one.joint and not (adds and one.joint == "to")
    }
    told = [one for one in part.names if plain(one.text) not in given and plain(one.text) not in taken]
    main = [one for one in told if one not in place_names(part) and not _is_text(one)]
    return tuple(main or told) or part.context


def _is_text(name: Name) -> bool:
    """Whether a name is what is written into a thing: ``the comment "…"``."""
    return bool(WRITTEN & set(name.lead.split()[-1:]))


def place_names(part: TaskPart) -> tuple[Name, ...]:
    """Return the names that only say where the thing is: the event of ``the order A of the event B``."""
    found: list[Name] = []
    for before, one in zip(part.names, part.names[1:], strict=False):
        if not before.text or not one.text:
            continue
        between = part.text.partition(before.text)[2].partition(one.text)[0].replace('"', " ").split()
        if _WITHIN & set(between[:1]):
            found.append(one)
    return tuple(found)


def main_names(part: TaskPart, taken: Collection[str] = ()) -> tuple[Name, ...]:
    """Return the names whose page is wanted: those of the thing, not of the place it is in.

    ``order F12 of the Fair`` is about F12; a new thing is made at its place; ``in the page "Home", add …`` is about it.
    """
    names = thing_names(part, taken)
    led = tuple(one for one in names if _PLACED & set(one.lead.split()))
    if makes_new(part) or (led and is_creating(part)):
        return led[:1]
    return tuple(one for one in names if one not in led) or names[:1]


def makes_new(part: TaskPart) -> bool:
    """Whether a part makes a thing that has no page yet; ``add … to it`` and ``reply to "…"`` are done on one."""
    led = part.verb not in _MAKING and any(token.low == "to" for token in tokens_of(part.text))
    return is_creating(part) and not led


def made_thing(part: TaskPart) -> tuple[str, ...]:
    """Return the words for what a part makes: ``shelf`` of ``create a shelf called …``; () where it makes nothing."""
    if not is_creating(part):
        return ()
    tokens = tokens_of(part.text)
    at = next((number + 1 for number, token in enumerate(tokens) if token.low == part.verb), 0)
    found: list[str] = []
    for token in tokens[at:]:
        if token.kind != "word" or token.low in _ENDS or token.text[:1].isupper():
            break
        found += [word for word in words(token.low) if word not in ARTICLES]
    return tuple(found)


def makes_here(part: TaskPart, context: PageContext) -> bool:
    """Whether the page may hold the form for a part: for what it makes one that calls itself by the word for it.

    A form that makes things changes none that is there.
    """
    ends = (*segments_of(context.path)[-1:], *context.page.headings[:1])
    if not is_creating(part) and any(word in _NEW for text in ends for word in words(text)[:1]):
        return False
    made = made_thing(part)[-1:]
    if not made or not (makes_new(part) or not thing_names(part)):
        return True
    texts = (*context.subject, *segments_of(context.path)[-3:])
    return any(word_fit(word, made[0]) >= SAME_KIND for text in texts for word in words(text))


def is_about(part: TaskPart, context: PageContext, taken: Collection[str] = ()) -> bool:
    """Whether the page is that of the thing the task names, or the task names none."""
    names = main_names(part, taken)
    return not names or any(context.is_about(one.text) for one in names)
