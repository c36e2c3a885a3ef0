"""The thing that a change is about: its names, the words for what is made, and whether a page is that of the thing."""

from __future__ import annotations

from urllib.parse import urlsplit

from app.engine.agent.scout.field_values import (
    ARTICLES,
    BOUNDS,
    JOINTS,
    OF_A_THING,
    tokens_of,
    values_in,
)
from app.engine.agent.scout.form_fields import fields_of
from app.engine.agent.scout.likeness import plain, words
from app.engine.agent.scout.page_context import PageContext, landmark_roles
from app.engine.agent.scout.task import Name, TaskPart
from app.engine.agent.scout.value_matching import FormPlan
from app.engine.agent.scout.value_scores import CREATING, WRITTEN, is_creating, trail_of
from app.engine.agent.write_gate.page_scope import contains_name
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.core.page_state import PageCapture

_MAKING = frozenset({"create", "make", "open", "register", "start"})
"""Verbs after which ``to`` leads to no thing that is there already."""
_TEXTS = tuple([word] for word in sorted(WRITTEN))
_WITHIN = (["of"], ["at"], ["in"], ["from"], ["within"])
_PLACED = OF_A_THING | {"inside"}
_ENDS = OF_A_THING | JOINTS | BOUNDS


def thing_names(part: TaskPart, plan: FormPlan | None = None) -> tuple[Name, ...]:
    """Return the names of the thing a change is about: those that no field takes and no value is made of.

    Names of the parts before stand in where this part has none of its own.
    """
    taken = {plain(text) for one in (plan.assignments if plan else ()) for text in (one.told, one.value)}
    # After ``add`` and its like ``to`` leads to the thing: ``add the note … to F-12``.
    adds = bool(senses_of(words(part.verb)) & CREATING)
    values = [one for one in values_in(part.text) if one.joint and one.kind != "phrase"]
    given = {plain(one.text) for one in values if not (adds and one.joint == "to")}
    own = tuple(one for one in part.names if plain(one.text) not in taken)
    told = tuple(one for one in own if plain(one.text) not in given) or own
    main = tuple(
        one
        for at, one in enumerate(told)
        if not (at and _is_place(told[at - 1].text, one.text, part.text))
        and one.lead.split()[-1:] not in _TEXTS
    )
    return main or told or part.context


def place_names(part: TaskPart) -> tuple[Name, ...]:
    """Return the names that only say where the thing is: they lead to it."""
    names = part.names
    return tuple(
        one for at, one in enumerate(names) if at and _is_place(names[at - 1].text, one.text, part.text)
    )


def _is_place(thing: str, name: str, text: str) -> bool:
    """Whether a name only says where the thing before it is: ``the order A of the event B``."""
    between = text.partition(thing)[2].partition(name)[0].replace('"', " ").split()
    return between[:1] in _WITHIN


def main_names(part: TaskPart, plan: FormPlan | None = None) -> tuple[Name, ...]:
    """Return the names whose page is wanted: those of the thing, not of the place it is in.

    ``order F12 of the Fair`` is about F12; a new thing is made at its place; ``in the page "Home", add …`` is about it.
    """
    names = thing_names(part, plan)
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


def is_about(part: TaskPart, page: PageCapture, plan: FormPlan | None = None) -> bool:
    """Whether the page is that of the thing the task names, or the task names none."""
    names, about, context = main_names(part, plan), subject_of(page), PageContext(page)
    dialog = any("dialog" in landmark_roles(one) for one in context.shown[:1])
    held = {plain(one) for field in fields_of(page) if field.form.startswith("post") for one in field.held}
    return not names or any(
        plain(one.text) in held
        or (contains_name(about, one.text) and (dialog or not context.echoes(one.text)))
        for one in names
    )


def subject_of(page: PageCapture) -> str:
    """Return what a page calls itself: title, headings, breadcrumb, the parts of its address."""
    address = urlsplit(page.url).path.split("/")
    return " \n ".join((page.title, *page.headings, *trail_of(page), *address))
