"""A form read against a task's words: which value goes into which field.  Pure.

Fields and values are matched by what stands on the page: a value that is an option belongs to the field that offers it,
any other to the field whose label stands beside it in the task.  What the task does not name is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from app.engine.agent.scout.field_values import (
    OF_A_THING,
    in_format_of,
    lead_of,
    listed,
)
from app.engine.agent.scout.form_fields import FillableField, fields_of, is_search
from app.engine.agent.scout.form_senders import is_verb_of_change, says_verb, sender_of
from app.engine.agent.scout.likeness import holds, plain
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.scout.value_scores import FormReading, Guess, guesses_of
from app.engine.browser.actions.field_formats import read_date
from app.engine.core.page_state import PageCapture

_UNSURE = 0.75
"""Score below which a value that two fields would take alike goes into neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A value for one field.

    Attributes:
        element: the field's number; for radio buttons the button's.
        how: ``type``, ``select``, ``check``, ``uncheck``, ``pick`` (typed, then picked from what is offered).
        values: what is entered: one text, or all options that are to be chosen.
        source: the words of the task that give it.
        held: the field holds it already.
    """

    element: int
    label: str
    value: str
    how: str
    why: str
    source: str = ""
    values: tuple[str, ...] = ()
    held: bool = False

    @property
    def key(self) -> str:
        """Identifies the filling in of this field with this value, on any page."""
        return f"set:{plain(self.label)}:{self.source}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPlan:
    """How a form is to be filled in; ``missing`` are values of the task that found no field, ``form`` is its key."""

    assignments: tuple[Assignment, ...] = ()
    missing: tuple[str, ...] = ()
    form: str = ""

    @property
    def taken(self) -> frozenset[str]:
        """Texts that the fields take, in plain words."""
        return frozenset(plain(text) for one in self.assignments for text in (one.source, one.value))


def read_changes(part: TaskPart, page: PageCapture, done: Set[str] = frozenset()) -> FormPlan:
    """Return how a form of the page takes the values of a task; an empty plan where none takes any.

    A verb of its own kind (``deny``) needs a form in which an option, a box or the control that sends it says so.

    Args:
        done: keys of what was filled in before.
    """
    by_form: dict[str, list[FillableField]] = {}
    for field in fields_of(page):
        if not is_search(field):
            by_form.setdefault(field.form, []).append(field)
    reading = FormReading(part, page, done)
    best, best_score = list[Guess](), 0.0
    every = [one for fields in by_form.values() for one in fields]
    chosen, best_form = every, ""
    for form, fields in by_form.items():
        found = _best(guesses_of(reading, fields))
        score = sum(one.score for one in found)
        if score > best_score and _does(reading, form, found):
            best, best_score, chosen, best_form = found, score, fields, form
    made = _together([_assignment(one, reading) for one in best])
    return FormPlan(assignments=made, missing=_missing(reading, best, chosen), form=best_form)


def _does(reading: FormReading, form: str, found: Sequence[Guess]) -> bool:
    """Whether filling in the fields, or sending the form, is what the verb says."""
    part = reading.part
    if not is_verb_of_change(part):
        return True
    if any(says_verb(f"{one.field.label} {one.option}", part) for one in found):
        return True
    sender = sender_of(form, part, reading.page)
    return sender is not None and says_verb(sender.name, part)


# assignment


def _best(guesses: Sequence[Guess]) -> list[Guess]:
    """Return the surest guesses in which no words and no field serve twice, lists for several options apart."""
    chosen: list[Guess] = []
    for one in sorted(guesses, key=lambda one: (-one.score, one.field.element.index)):
        if not any(_collide(one, other) for other in chosen):
            chosen.append(one)
    chosen = [one for one in chosen if not any(_rival(one, other) for other in guesses)]
    return sorted(chosen, key=lambda one: one.field.element.index)


def _rival(one: Guess, other: Guess) -> bool:
    """Whether two fields with labels that say part of the task's words would take the same value as surely."""
    same = one.value == other.value and one.field is not other.field and not one.option
    return same and one.score == other.score < _UNSURE


def _collide(one: Guess, other: Guess) -> bool:
    if one.value.first < other.value.last and other.value.first < one.value.last:
        return True
    same = one.field.element.index == other.field.element.index
    return same and (one.field.kind != "multi" or one.option == other.option)


def _assignment(guess: Guess, reading: FormReading) -> Assignment:
    """Return what is entered into a field for a value: in its format, beside what it keeps."""
    field, value = guess.field, guess.value
    source = value.text if value.kind == "box" else reading.source_words(value)
    made = Assignment(
        element=field.element.index,
        label=field.label,
        value=value.text,
        how="type",
        why=guess.why,
        source=source,
    )
    if field.kind == "box":
        off = value.text == "no"
        return replace(made, how="uncheck" if off else "check", held=bool(field.held) is not off)
    if field.kind == "radio":
        member = field.members[field.options.index(guess.option)]
        return replace(
            made, element=member.index, value=guess.option, how="check", held="checked" in member.states
        )
    if field.options:
        return _choice(made, guess, reading)
    if field.kind == "list":
        return replace(made, values=(value.text,), how="select", held=field.holds(value.text))
    text = _text_for(field, guess, reading)
    how = "pick" if field.kind == "token" else "type"
    return replace(made, value=text, values=(text,), how=how, held=field.holds(text))


def _choice(made: Assignment, guess: Guess, reading: FormReading) -> Assignment:
    field, option = guess.field, guess.option
    if field.kind != "multi":
        return replace(made, value=option, values=(option,), how="select", held=field.holds(option))
    kept = field.held if reading.adds_item(guess.value) else ()
    chosen = tuple(dict.fromkeys((*kept, option)))
    return replace(made, value=option, values=chosen, how="select", held=set(chosen) == set(field.held))


def _text_for(field: FillableField, guess: Guess, reading: FormReading) -> str:
    """Return a value as a field takes it: a date in its format, an item beside those it keeps."""
    text = guess.value.text
    day = read_date(text) if field.kind == "date" else None
    if day is not None:
        like = dict(field.element.attributes).get("placeholder", "") or (field.held[0] if field.held else "")
        native = field.element.type not in ("", "text")
        return day.isoformat() if native else in_format_of(day, like) if like else text
    items = listed(field.held[0]) if field.held and field.kind in ("text", "token") else ()
    among = plain(text) in {plain(one) for one in items}
    if items and reading.adds_item(guess.value) and (not reading.creating or len(items) > 1 or among):
        return field.held[0] if among else ", ".join((*items, text))
    return text


def _together(made: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """Return one assignment a field: several options of one list are chosen at once."""
    found: dict[int, list[Assignment]] = {}
    for one in made:
        found.setdefault(one.element, []).append(one)
    return tuple(
        replace(
            some[0],
            values=tuple(dict.fromkeys(value for one in some for value in one.values)),
            value=", ".join(one.value for one in some),
            source=", ".join(one.source for one in some),
            held=all(one.held for one in some),
        )
        for some in found.values()
    )


def _missing(
    reading: FormReading, found: Sequence[Guess], fields: Sequence[FillableField]
) -> tuple[str, ...]:
    """Return the values that the task gives and that found no field; a thing the page speaks of is none."""
    taken = {at for one in found for at in range(one.value.first, one.value.last)}
    done = {key.rpartition(":")[2] for key in reading.done}  # on a page of the form before
    left: list[str] = []
    for value in reading.values:
        thing = lead_of(reading.tokens, value.first) in OF_A_THING
        plainly = value.kind in ("date", "mail", "number", "step") or (value.kind == "quote" and not thing)
        given = (value.joint and value.kind in ("quote", "name")) or plainly
        if not given or taken & set(range(value.first, value.last)):
            continue
        # Any page has some numbers; only one that names a thing is no value.
        names = (*reading.part.names, *reading.part.context)
        numbers = value.kind == "number" and all(value.text not in one.text.split() for one in names)
        shown = not numbers and holds(f"{reading.known} \n {reading.page.text}", value.text)
        if not shown and value.text not in done and not any(field.holds(value.text) for field in fields):
            left.append(value.text)
    return tuple(left)
