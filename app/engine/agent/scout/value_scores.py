"""How surely each value of a task belongs to each field of a form: one score by label, option and kind.  Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from app.engine.agent.scout.change_subject import WRITTEN, is_creating
from app.engine.agent.scout.field_values import (
    BOUNDS,
    NAMING,
    OF_A_THING,
    SAYING,
    GivenValue,
    TextToken,
    joint_of,
    lead_of,
    shape_of,
    tokens_of,
    values_in,
)
from app.engine.agent.scout.form_fields import FillableField
from app.engine.agent.scout.label_mentions import (
    Mention,
    closeness,
    is_login_of,
    mentions_of,
    option_places,
    words_beside,
)
from app.engine.agent.scout.likeness import forms, holds, meaning, plain, words
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.core.page_state import PageCapture
from app.engine.core.text import word_set

LEAST = 0.5
"""Score below which a value does not belong to a field."""
_NAMES = word_set("title name subject summary heading")
"""Labels under which a form asks what a thing is called."""
_OFF = word_set(
    "uncheck untick unset disable deactivate hide off no not don't without unpublish clear remove revoke"
)
_YES, _NO = word_set("yes on true checked enabled ticked"), word_set("no off false unchecked disabled")
_STRONG = word_set("to as into : = with")


@dataclass(frozen=True, slots=True)
class Guess:
    """A value that may belong to a field; ``option`` is the field's own word for it."""

    score: float
    field: FillableField
    value: GivenValue
    option: str = ""
    why: str = ""


class FormReading:
    """A part of a task against one page: its tokens and values, what the page is about, what was done."""

    def __init__(self, part: TaskPart, page: PageCapture, done: Set[str]) -> None:
        first = "" if part.verb and part.verb in part.text.casefold() else f"{part.verb} "
        self.part, self.page, self.done, self.text = part, page, done, f"{first}{part.text}".strip()
        self.tokens, self.values = tokens_of(self.text), values_in(self.text)
        self.known = " \n ".join((*PageContext(page).subject, *page.headings))
        self.creating = is_creating(part)
        self.by_kind: dict[str, list[FillableField]] = {}
        """Fields of the form at hand."""

    def source_words(self, value: GivenValue) -> str:
        """Return the words of the task that give a value."""
        return " ".join(token.text for token in self.tokens[value.first : value.last])

    def clause(self, at: int) -> Sequence[TextToken]:
        """Return the tokens of the clause up to a place."""
        first = at
        while first > 0 and self.tokens[first - 1].low not in BOUNDS:
            first -= 1
        return self.tokens[first:at]

    def adds_item(self, value: GivenValue) -> bool:
        """Whether the clause of a value adds an item to a list."""
        return "add" in {token.low for token in self.clause(value.first)[:3]} | {self.part.verb}


def guesses_of(reading: FormReading, fields: Sequence[FillableField]) -> list[Guess]:
    """Return every value that may belong to a field of one form."""
    found: list[Guess] = []
    reading.by_kind = defaultdict(list)
    for field in fields:
        reading.by_kind[field.kind].append(field)
    told = frozenset(form for token in reading.tokens for word in words(token.text) for form in forms(word))
    for field in fields:
        mentions = mentions_of(field, reading.text)
        if field.kind == "box":
            found += _box(reading, field, mentions_of(replace(field, labels=field.labels[:1]), reading.text))
        elif field.options:
            found += _options(reading, field, mentions, told)
        else:
            for value in (*reading.values, *words_beside(mentions, reading.tokens)):
                score = _text_score(reading, field, value, mentions)
                if score >= LEAST:
                    why = f"the task gives {field.label or 'it'} as {value.text[:60]!r}"
                    found.append(Guess(score, field, value, why=why))
    return found


def _text_score(
    reading: FormReading, field: FillableField, value: GivenValue, mentions: Sequence[Mention]
) -> float:
    if value.kind == "step":
        return 0.0
    told = reading.source_words(value)
    if f"set:{plain(field.label)}:{told}" in reading.done and any(told in one for one in field.held):
        return 1.0  # it was filled in before
    near = closeness(value, mentions, reading.tokens) * _suits(field, value)
    if not _may_take(reading, field, value):
        return 0.0
    if value.kind == "word":
        return near - 0.1 * value.text[0].islower() + 0.01 * (value.last - value.first)
    # Of the rows of a form the one that holds something is changed, an empty one would be a new thing.
    kept = bool(field.held) and not reading.creating
    score = max(near, _by_kind(reading, field, value))
    return score + 0.02 * kept if score else 0.0


def _may_take(reading: FormReading, field: FillableField, value: GivenValue) -> bool:
    """Whether a value may be meant for a field at all, and not be the thing that the page is about."""
    known = value.kind in ("quote", "name", "number") and holds(reading.known, value.text)
    if known and not value.joint:
        return False
    # What stands there is replaced only where the task sets it.
    sets = value.joint or reading.creating or reading.adds_item(value) or field.holds(value.text)
    return not field.held or bool(sets) or value.kind == field.kind == "number"


def _suits(field: FillableField, value: GivenValue) -> bool:
    """Whether a field takes values of a kind at all."""
    has_digit = any(letter.isdigit() for letter in value.text)
    clock = ":" in value.text or value.text.casefold().endswith(("am", "pm"))
    needed = {"number": has_digit, "date": has_digit, "mail": "@" in value.text, "time": clock}
    return needed.get(field.kind, True)


def _by_kind(reading: FormReading, field: FillableField, value: GivenValue) -> float:
    """Return how surely a value belongs to a field by its kind alone, where no label stands beside it."""
    held = bool(field.held) and not field.holds(value.text)
    if shape_of(value.text) and field.held and shape_of(field.held[0]) == shape_of(value.text):
        return 0.55
    if value.kind in ("date", "mail", "number"):
        lone = reading.by_kind[value.kind] == [field]
        others = [one for one in reading.values if one.kind == value.kind]
        return 0.6 * (lone and len(others) == 1)
    if value.joint in NAMING:
        return _as_name(field)
    if value.kind != "quote":
        return 0.0
    others = [one for one in reading.values if one is not value and one.kind in ("quote", "name")]
    if value.joint == "to" and any(field.holds(one.text) for one in others):
        return 0.9  # what was called so is renamed
    lead = lead_of(reading.tokens, value.first)
    speaks = value.joint in SAYING or lead in (*WRITTEN, reading.part.verb)
    if field.kind == "long":
        return 0.7 * speaks * (field is reading.by_kind["long"][0])
    return 0.65 * (reading.creating and not held) * _as_name(field)


def _as_name(field: FillableField) -> float:
    """Return how surely a field asks what the thing is called."""
    said = meaning(field.label)
    named = field.kind in ("text", "token") and any(forms(word) & _NAMES for word in said)
    return (0.95 - 0.02 * len(said)) * named


# options and boxes


def _options(
    reading: FormReading, field: FillableField, mentions: Sequence[Mention], told: frozenset[str]
) -> Iterator[Guess]:
    """Yield the options that the task's words name, beside the field's label, after a joint, or by its verb."""
    why = f"is offered for {field.label or 'it'}"
    for option in dict.fromkeys(field.options):
        own = words(option)
        places = option_places(option, reading.tokens) if own and forms(own[0]) & told else ()
        for first, last, exact in places:
            kind = "quote" if reading.tokens[first].kind == "quote" else "option"
            joint = joint_of(reading.tokens, first)
            value = GivenValue(text=option, kind=kind, first=first, last=last, joint=joint)
            score = _option_score(reading, value, mentions) - 0.1 * (not exact)
            if score >= LEAST:
                yield Guess(score + 0.02 * min(len(own), 5), field, value, option, f"{option!r} {why}")
    for value in reading.values:
        logins = [one for one in field.options if value.kind == "name" and is_login_of(one, value.text)]
        near = closeness(value, mentions, reading.tokens)
        if len(logins) == 1 and (near >= LEAST or value.joint):
            yield Guess(max(0.7, near), field, value, logins[0], f"{logins[0]!r} {why}")


def _option_score(reading: FormReading, value: GivenValue, mentions: Sequence[Mention]) -> float:
    near = closeness(value, mentions, reading.tokens)
    if near >= LEAST:
        return 0.4 + 0.8 * near
    verb = reading.part.verb
    if value.first == 0 or (reading.tokens[value.first].low == verb and value.last == value.first + 1):
        return 0.7 if not senses_of((verb,)) & {"edit", "create"} else 0.0
    if not meaning(value.text) or (len(value.text) < 3 and value.kind != "quote"):
        return 0.0
    if value.joint in _STRONG:
        return 0.75
    made = reading.creating and not holds(reading.known, value.text)
    return (
        0.6
        * (value.kind == "quote" or made or "edit" in senses_of((verb,)))
        * (lead_of(reading.tokens, value.first) not in OF_A_THING or made)
    )


def _box(reading: FormReading, field: FillableField, mentions: Sequence[Mention]) -> Iterator[Guess]:
    """Yield whether a check box is to be set: the task says nearly all of its label, and gives it no other value."""
    for one in mentions:
        after = reading.tokens[one.last : one.last + 4]
        said = next((token.low for token in after if token.low in _YES | _NO), "")
        named = reading.tokens[one.first].kind == "quote"
        thing = named and lead_of(reading.tokens, one.first) in OF_A_THING
        if one.quality < 0.9 or thing:
            continue
        before = {token.low for token in reading.clause(one.first)}
        off = said in _NO if said else bool(before & _OFF - set(words(field.label)))
        value = GivenValue(text="no" if off else "yes", kind="box", first=one.first, last=one.last)
        yield Guess(0.8 * one.quality, field, value, why=f"the task says so of {field.label!r}")
