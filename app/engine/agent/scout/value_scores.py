"""How surely each value of a task belongs to each field of a form: by label, by option, by kind.  Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from app.engine.agent.scout.field_values import (
    BOUNDS,
    NAMING,
    OF_A_THING,
    SAYING,
    GivenValue,
    TextToken,
    is_timed,
    joint_of,
    lead_of,
    listed,
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
    words_after,
)
from app.engine.agent.scout.likeness import forms, holds, meaning, plain, words
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.browser.actions.field_formats import read_date
from app.engine.core.page_state import PageCapture
from app.engine.core.text import word_set

LEAST = 0.5
"""Score below which a value does not belong to a field."""
CREATING = frozenset({"create", "send"})
_LONG = 60
_NAMES = word_set("title name subject summary heading")
"""Labels under which a form asks what a thing is called."""
WRITTEN = word_set("comment note message text reply answer remark words description body")
"""Words for a text of several lines."""
_OFF = word_set(
    "uncheck untick unset disable deactivate hide off no not don't without unpublish clear remove revoke"
)
_YES, _NO = word_set("yes on true checked enabled ticked"), word_set("no off false unchecked disabled")
_STRONG = word_set("to as into : = with")
_SETTING = word_set("make mark set turn")


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
        self.known = " \n ".join((page.title, *page.headings, *trail_of(page)))
        self.creating = is_creating(part)
        self.by_kind: dict[str, list[FillableField]] = {}
        """Fields of the form at hand."""
        self._items: dict[int, tuple[bool, bool]] = {}

    def source_words(self, value: GivenValue) -> str:
        """Return the words of the task that give a value."""
        return " ".join(token.text for token in self.tokens[value.first : value.last])

    def is_of_thing(self, value: GivenValue) -> bool:
        """Whether the words before a value lead up to a thing, not to a value."""
        return value.kind not in ("date", "mail") and lead_of(self.tokens, value.first) in OF_A_THING

    def clause(self, at: int) -> Sequence[TextToken]:
        """Return the tokens of the clause up to a place."""
        first = at
        while first > 0 and self.tokens[first - 1].low not in BOUNDS:
            first -= 1
        return self.tokens[first:at]

    def item_changes(self, value: GivenValue) -> tuple[bool, bool]:
        """Return whether the clause of a value adds an item to a list, and whether it removes one."""
        if value.first not in self._items:
            lows = {token.low for token in self.clause(value.first)[:3]} | {self.part.verb}
            self._items[value.first] = ("add" in lows, bool(senses_of(lows) & {"delete"}))
        return self._items[value.first]


def is_creating(part: TaskPart) -> bool:
    """Whether the verb of a change makes something new; ``raise … to 12`` changes what is there."""
    senses = senses_of(words(part.verb))
    moves = any(
        one.kind == "step" or (one.kind == "number" and one.joint == "to") for one in values_in(part.text)
    )
    return bool(senses & CREATING) and "edit" not in senses and not moves


def trail_of(page: PageCapture) -> tuple[str, ...]:
    """Return the names of the breadcrumb."""
    return tuple(
        one.name for one in page.elements if any("breadcrumb" in mark.casefold() for mark in one.landmarks)
    )


def guesses_of(reading: FormReading, fields: Sequence[FillableField]) -> list[Guess]:
    """Return every value that may belong to a field of one form."""
    found: list[Guess] = []
    reading.by_kind = defaultdict(list)
    for field in fields:
        reading.by_kind[field.kind].append(field)
    labels = {plain(label) for field in fields for label in field.labels[:1]}
    told = frozenset(form for token in reading.tokens for word in words(token.text) for form in forms(word))
    for field in fields:
        mentions = mentions_of(field, reading.text)
        if field.kind == "box":
            found += _box(reading, field, mentions)
        elif field.options:
            found += _options(reading, field, mentions, told)
        else:
            values = [one for one in reading.values if plain(one.text) not in labels or one.joint in NAMING]
            for value in (*values, *words_after(mentions, reading.tokens)):
                score = _text_score(reading, field, value, mentions)
                if score >= LEAST:
                    why = f"the task gives {field.label or 'it'} as {value.text[:60]!r}"
                    found.append(Guess(score, field, value, why=why))
    return found


def _text_score(
    reading: FormReading, field: FillableField, value: GivenValue, mentions: Sequence[Mention]
) -> float:
    if value.kind == "step":
        return _step_score(reading, field, value, mentions)
    told, removes = reading.source_words(value), reading.item_changes(value)[1]
    entered = removes or any(told in one for one in field.held)
    if entered and f"set:{plain(field.label)}:{told}" in reading.done:
        return 1.0  # it was filled in before
    near = closeness(value, mentions, reading.tokens)
    if not _may_take(reading, field, value, near):
        return 0.0
    score = near * _takes(field, value)
    if value.kind in ("phrase", "word"):
        lower = 0.06 if value.kind == "phrase" else 0.0 if value.text[0].isupper() else 0.15
        score += 0.01 * (value.last - value.first) - lower
    elif value.kind != "object":
        score = max(score, _by_kind(reading, field, value))
    shape = shape_of(value.text) if field.kind == "text" and field.held and value.joint else ""
    if shape and shape_of(field.held[0]) == shape:
        score = max(score, 0.55)
    return score + 0.02 * field.holds(value.text) if score else 0.0


def _may_take(reading: FormReading, field: FillableField, value: GivenValue, near: float) -> bool:
    """Whether a value may be meant for a field at all, and not be the thing that the page is about."""
    adds, removes = reading.item_changes(value)
    if (not near and value.kind == "phrase") or (near < LEAST and reading.is_of_thing(value)):
        return False
    if value.kind == "object" and not (near and (adds or removes)):
        return False
    known = value.kind in ("quote", "name", "number") and holds(reading.known, value.text)
    if known and (not value.joint or (value.joint == "to" and near < 0.9)):
        return False
    # What stands there is replaced only where the task sets it.
    if field.held and not (value.joint or adds or removes or reading.creating or field.holds(value.text)):
        return False
    items = (plain(item) for item in listed(field.held[0])) if field.held else ()
    return not removes or (near >= LEAST and plain(value.text) in items)


def _takes(field: FillableField, value: GivenValue) -> float:
    """Return how well a value's kind suits a field's."""
    has_digit = any(letter.isdigit() for letter in value.text)
    clock = ":" in value.text or value.text.casefold().endswith(("am", "pm"))
    if (field.kind == "number" and not has_digit) or (field.kind == "mail" and "@" not in value.text):
        return 0.0
    if (field.kind == "date" and not has_digit) or (field.kind == "time" and not clock):
        return 0.3
    return 1.1 if field.kind == value.kind else 1.0


def _by_kind(reading: FormReading, field: FillableField, value: GivenValue) -> float:
    """Return how surely a value belongs to a field by its kind alone, where no label stands beside it."""
    lone, held = reading.by_kind, bool(field.held) and not field.holds(value.text)
    if (not field.form and field.kind != "long") or field.element.type == "password":
        return 0.0  # outside of forms it is most likely a search or a filter
    if value.joint in NAMING:
        return _as_name(reading, field) * (not held or not reading.creating)
    if field.kind in ("date", "mail") and value.kind == field.kind and len(lone[field.kind]) == 1:
        return 0.7
    if field.kind == "number" and value.kind == "number" and value.joint and len(lone["number"]) == 1:
        return 0.55
    if value.kind != "quote":
        return 0.0
    others = [one for one in reading.values if one is not value and one.kind in ("quote", "name")]
    if value.joint == "to" and field.held and any(field.holds(one.text) for one in others):
        return 0.9  # what was called so is renamed
    senses, lead = senses_of(words(reading.part.verb)), lead_of(reading.tokens, value.first)
    speaks = value.joint in SAYING or len(value.text) > _LONG or lead in (*WRITTEN, reading.part.verb)
    if field.kind == "long":
        return 0.7 * (speaks or (not value.joint and "send" in senses)) * (field is lone["long"][0])
    if value.joint in _STRONG - {"with"} or held or field.kind not in ("text", "token"):
        return 0.0
    alone = len(lone["text"]) == 1 and not lone["long"] and field.kind == "text"
    return max(0.55 * alone, 0.65 * reading.creating * _as_name(reading, field))


def _as_name(reading: FormReading, field: FillableField) -> float:
    """Return how surely a field asks what the thing is called."""
    if field.kind not in ("text", "token"):
        return 0.0
    if any(forms(word) & _NAMES for word in meaning(field.label)):
        return 0.9 - 0.02 * len(meaning(field.label))
    texts = reading.by_kind["text"]
    required = [one for one in texts if "required" in one.element.states]
    return 0.7 * (field in (required or texts)[:1])


def _step_score(
    reading: FormReading, field: FillableField, value: GivenValue, mentions: Sequence[Mention]
) -> float:
    if field.kind not in ("date", "number", "text") or not field.held:
        return 0.0
    if (read_date(field.held[0]) is not None) != is_timed(value.text):
        return 0.0
    said = max((one.quality for one in mentions), default=0.0)
    return max(0.9 * said, 0.6 * (field.kind != "text" and reading.by_kind[field.kind] == [field]))


# options and boxes


def _options(
    reading: FormReading, field: FillableField, mentions: Sequence[Mention], told: frozenset[str]
) -> Iterator[Guess]:
    """Yield the options that the task's words name, beside the field's label, after a joint, or by its verb."""
    why = f"is offered for {field.label or 'it'}"
    for option in dict.fromkeys(field.options):
        own = words(option)
        for first, last, exact in (
            option_places(option, reading.tokens) if own and forms(own[0]) & told else ()
        ):
            kind = "quote" if reading.tokens[first].kind == "quote" else "option"
            joint = joint_of(reading.tokens, first)
            value = GivenValue(text=option, kind=kind, first=first, last=last, joint=joint)
            score = _option_score(reading, value, mentions) * (1.0 if exact else 0.9)
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
    lead = lead_of(reading.tokens, value.first)
    made = reading.creating and not holds(reading.known, value.text)
    return 0.6 * (value.kind == "quote" or made or (verb in _SETTING and lead not in OF_A_THING))


def _box(reading: FormReading, field: FillableField, mentions: Sequence[Mention]) -> Iterator[Guess]:
    """Yield whether a check box is to be set: the task says nearly all of its label, and gives it no other value."""
    for one in mentions:
        after = reading.tokens[one.last : one.last + 4]
        said = next((token.low for token in after if token.low in _YES | _NO), "")
        labels = any(
            0 <= value.first - one.last <= 2 and value.kind != "phrase" and value.joint in _STRONG
            for value in reading.values
        )
        named = reading.tokens[one.first].kind == "quote"
        thing = named and any(
            token.low in OF_A_THING for token in reading.tokens[max(0, one.first - 3) : one.first]
        )
        if one.quality < 0.9 or thing or (labels and not said and not named):
            continue
        low, own = reading.tokens[one.first].low, set(words(field.label))
        undoes = low.startswith("un") and low not in own
        before = {token.low for token in reading.clause(one.first)}
        off = said in _NO if said else undoes or bool(before & _OFF - own)
        value = GivenValue(text="no" if off else "yes", kind="box", first=one.first, last=one.last)
        yield Guess(0.8 * one.quality, field, value, why=f"the task says so of {field.label!r}")
