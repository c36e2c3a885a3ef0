"""A form read against a task's words: which value goes into which field.  Pure.

Fields and values are matched by what stands on the page: a value that is an option belongs to the field that offers it,
any other to the field whose label stands beside it in the task.  What the task does not name is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from app.engine.agent.scout.field_values import (
    BOUNDS,
    JOINTS,
    NAMING,
    OF_A_THING,
    SAYING,
    TaskValue,
    Token,
    has_words,
    in_format_of,
    lead_of,
    listed,
    stepped,
    tokens_of,
    values_in,
)
from app.engine.agent.scout.form_fields import FormField, fields_of, is_search
from app.engine.agent.scout.label_mentions import Mention, closeness, mentions_of, option_places
from app.engine.agent.scout.likeness import forms, meaning, plain, words
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.browser.actions.field_formats import read_date
from app.engine.core.page_state import PageCapture

LEAST = 0.5
"""Score below which a value does not belong to a field."""
CREATING = frozenset({"create", "send"})
_MOST_VALUES, _MOST_FIELDS = 10, 4
_NAMES = ("title", "name", "subject", "summary", "heading")
"""Labels under which a form asks what a thing is called."""
_WRITTEN = frozenset(
    {"comment", "note", "message", "text", "reply", "answer", "remark", "words", "description", "body"}
)
"""Words for a text of several lines."""
_OFF = frozenset({"uncheck", "untick", "unset", "disable", "deactivate", "hide", "off", "no", "not", "don't", "without",
                  "unpublish", "clear", "remove"})  # fmt: skip
_YES, _NO = (
    frozenset({"yes", "on", "true", "checked", "enabled", "ticked"}),
    frozenset({"no", "off", "false", "unchecked", "disabled"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A value for one field.

    Attributes:
        element: the field's number; for radio buttons the button's.
        how: ``type``, ``select``, ``check``, ``uncheck``, ``pick`` (typed, then picked from what is offered).
        values: what is entered: one text, or all options that are to be chosen.
        told: the words of the task that give it.
        held: the field holds it already.
    """

    element: int
    label: str
    value: str
    how: str
    why: str
    told: str = ""
    values: tuple[str, ...] = ()
    held: bool = False

    @property
    def key(self) -> str:
        """Identifies the filling in of this field with this value, on any page."""
        return f"set:{plain(self.label)}:{self.told}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPlan:
    """How a form is to be filled in; ``missing`` are values of the task that found no field, ``form`` is its key."""

    assignments: tuple[Assignment, ...] = ()
    missing: tuple[str, ...] = ()
    form: str = ""


@dataclass(frozen=True, slots=True)
class _Guess:
    """A value that may belong to a field; ``option`` is the field's own word for it."""

    score: float
    field: FormField
    value: TaskValue
    option: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Reading:
    part: TaskPart
    tokens: tuple[Token, ...]
    values: tuple[TaskValue, ...]
    known: str
    """What the page is about."""
    creating: bool


def read_changes(part: TaskPart, page: PageCapture, done: Set[str] = frozenset()) -> FormPlan:
    """Return how a form of the page takes the values of a task; an empty plan where none takes any.

    Args:
        done: keys of what was filled in before; a step (``by 3 days``) is not taken twice.
    """
    by_form: dict[str, list[FormField]] = {}
    for field in fields_of(page):
        if not is_search(field):
            by_form.setdefault(field.form, []).append(field)
    reading = _reading(part, page)
    best, best_score = (
        FormPlan(missing=_missing(reading, [], [one for fields in by_form.values() for one in fields], done)),
        0.0,
    )
    for form, fields in by_form.items():
        found = _best(_guesses(reading, fields))
        score = sum(one.score for one in found)
        if score > best_score:
            made = tuple(_assignment(one, reading, done) for one in found)
            left = _missing(reading, found, fields, done)
            best, best_score = FormPlan(assignments=_together(made), missing=left, form=form), score
    return best


def _reading(part: TaskPart, page: PageCapture) -> _Reading:
    text = f"{part.verb} {part.text}" if part.verb and part.verb not in part.text.casefold() else part.text
    known = " \n ".join((page.title, *page.headings, *trail_of(page)))
    senses = senses_of((part.verb,))
    return _Reading(
        part, tokens_of(text), values_in(text), known, bool(senses & CREATING) and "edit" not in senses
    )


def trail_of(page: PageCapture) -> tuple[str, ...]:
    """Return the names of the breadcrumb."""
    return tuple(
        one.name for one in page.elements if any("breadcrumb" in mark.casefold() for mark in one.landmarks)
    )


# values of a form


def _guesses(reading: _Reading, fields: Sequence[FormField]) -> list[_Guess]:
    found: list[_Guess] = []
    lone = {
        kind: [one for one in fields if one.kind == kind]
        for kind in ("long", "date", "number", "mail", "text")
    }
    labels = {plain(label) for field in fields for label in field.labels[:1]}
    told = frozenset(form for token in reading.tokens for word in words(token.text) for form in forms(word))
    for field in fields:
        mentions = mentions_of(field, reading.tokens)
        if field.kind == "box":
            found += _box(reading, field, mentions)
            continue
        if field.options:
            found += _options(reading, field, mentions, told)
            continue
        for value in reading.values:
            if plain(value.text) in labels and value.joint not in NAMING:
                continue
            guess = _text_guess(reading, field, value, mentions, lone)
            if guess is not None:
                found.append(guess)
    return found


def _text_guess(
    reading: _Reading,
    field: FormField,
    value: TaskValue,
    mentions: Sequence[Mention],
    lone: dict[str, list[FormField]],
) -> _Guess | None:
    beside = closeness(value, mentions, reading.tokens)
    if value.kind == "step":
        return _step_guess(reading, field, value, mentions, lone)
    lead = lead_of(reading.tokens, value.first)
    of_a_thing = lead in OF_A_THING and value.kind not in ("date", "mail")
    known = value.kind in ("quote", "name", "number") and has_words(reading.known, value.text)
    if value.kind == "object" and not (_adds(reading) or _removes(reading)):
        return None
    if known and (not value.joint or (value.joint == "to" and beside < 0.9)):
        return None
    if of_a_thing and beside < LEAST:
        return None
    score = beside * _takes(field, value)
    if value.kind not in ("phrase", "object"):
        score = max(score, _by_kind(reading, field, value, lone))
    if score < LEAST:
        return None
    score += 0.02 if field.holds(value.text) else 0.0
    score -= 0.05 if value.kind == "phrase" else 0.0
    return _Guess(score, field, value, why=f"the task gives {field.label or 'it'} as {value.text[:60]!r}")


def _takes(field: FormField, value: TaskValue) -> float:
    """Return how well a value's kind suits a field's."""
    if field.kind in ("date", "time") and not any(letter.isdigit() for letter in value.text):
        return 0.3
    if field.kind == "number" and not any(letter.isdigit() for letter in value.text):
        return 0.0
    if field.kind == "mail" and "@" not in value.text:
        return 0.0
    return 1.1 if field.kind == value.kind else 1.0


def _by_kind(
    reading: _Reading, field: FormField, value: TaskValue, lone: dict[str, list[FormField]]
) -> float:
    """Return how surely a value belongs to a field by its kind alone, where no label stands beside it."""
    if value.joint in NAMING:
        return _as_name(field, lone) if not field.held or not reading.creating else 0.0
    if field.kind in ("date", "mail") and value.kind == field.kind and len(lone[field.kind]) == 1:
        return 0.7
    if field.kind == "number" and value.kind == "number" and value.joint and len(lone["number"]) == 1:
        return 0.55
    if value.kind != "quote":
        return 0.0
    renamed = value.joint == "to" and any(
        field.holds(other.text)
        for other in reading.values
        if other is not value and other.kind in ("quote", "name")
    )
    if renamed and field.held:
        return 0.9
    lead = lead_of(reading.tokens, value.first)
    speaks = value.joint in SAYING or len(value.text) > 60 or lead in _WRITTEN or lead == reading.part.verb
    if field.kind == "long":
        sends = speaks or (not value.joint and "send" in senses_of((reading.part.verb,)))
        return 0.7 * sends * (field is lone["long"][0])
    if value.joint in ("to", "as", ":", "=", "is"):
        return 0.0
    alone = len(lone["text"]) == 1 and not lone["long"] and field.kind == "text" and not field.held
    return max(0.55 * alone, 0.65 * reading.creating * (not field.held) * _as_name(field, lone))


def _as_name(field: FormField, lone: dict[str, list[FormField]]) -> float:
    """Return how surely a field asks what the thing is called."""
    if field.kind not in ("text", "token"):
        return 0.0
    if any(word in forms(name) or name == word for word in meaning(field.label) for name in _NAMES):
        return 0.9 - 0.02 * len(meaning(field.label))
    texts = lone["text"]
    required = [one for one in texts if "required" in one.element.states]
    return 0.7 if field in (required or texts)[:1] else 0.0


def _step_guess(
    reading: _Reading,
    field: FormField,
    value: TaskValue,
    mentions: Sequence[Mention],
    lone: dict[str, list[FormField]],
) -> _Guess | None:
    if field.kind not in ("date", "number", "text") or not field.held:
        return None
    said = max((one.quality for one in mentions), default=0.0)
    only = lone.get(field.kind) == [field] and field.kind != "text"
    timed = read_date(field.held[0]) is not None
    if timed != any(unit in value.text for unit in ("day", "week", "month", "year")):
        return None
    score = max(0.9 * said, 0.6 * only)
    return (
        _Guess(score, field, value, why=f"the task moves {field.label} {value.text}")
        if score >= LEAST
        else None
    )


# options and boxes


def _options(
    reading: _Reading, field: FormField, mentions: Sequence[Mention], told: frozenset[str]
) -> Iterator[_Guess]:
    """Yield the options that the task's words name, beside the field's label, after a joint, or by its verb."""
    for option in dict.fromkeys(field.options):
        own = words(option)
        if not own or not forms(own[0]) & told:
            continue
        for first, last, exact in option_places(option, own, reading.tokens):
            kind = "quote" if reading.tokens[first].kind == "quote" else "option"
            value = TaskValue(
                text=option, kind=kind, first=first, last=last, joint=_joint_at(reading.tokens, first)
            )
            score = _option_score(reading, field, value, mentions) * (1.0 if exact else 0.9)
            if score >= LEAST:
                bonus = 0.02 * min(len(own), 5)
                yield _Guess(
                    score + bonus, field, value, option, f"{option!r} is offered for {field.label or 'it'}"
                )


def _joint_at(tokens: Sequence[Token], at: int) -> str:
    lead = lead_of(tokens, at)
    return lead if lead in JOINTS else ""


def _option_score(
    reading: _Reading, field: FormField, value: TaskValue, mentions: Sequence[Mention]
) -> float:
    beside = closeness(value, mentions, reading.tokens)
    if beside >= LEAST:
        return 0.4 + 0.8 * beside
    if value.first == 0 or (
        reading.tokens[value.first].low == reading.part.verb and value.last == value.first + 1
    ):
        return 0.7 if not senses_of((reading.part.verb,)) & {"edit", "create"} else 0.0
    telling = len(meaning(value.text)) > 0 and (len(value.text) > 2 or value.kind == "quote")
    if not telling:
        return 0.0
    if value.joint in ("to", "as", "into", ":", "=", "with"):
        return 0.75
    if value.kind == "quote" or (reading.creating and not has_words(reading.known, value.text)):
        return 0.6
    made = {"make", "mark", "set", "turn"} & {reading.part.verb}
    return 0.6 if made and lead_of(reading.tokens, value.first) not in OF_A_THING else 0.0


def _box(reading: _Reading, field: FormField, mentions: Sequence[Mention]) -> Iterator[_Guess]:
    """Yield whether a check box is to be set: the task says nearly all of its label."""
    for one in mentions:
        if one.quality < 0.9:
            continue
        after = reading.tokens[one.last : one.last + 4]
        lows = {token.low for token in _clause(reading.tokens, one.first)}
        said = next((token.low for token in after if token.low in _YES | _NO), "")
        low = reading.tokens[one.first].low
        undoes = low.startswith("un") and low not in words(field.label)
        off = said in _NO if said else undoes or bool(lows & _OFF - set(words(field.label)))
        value = TaskValue(text="no" if off else "yes", kind="box", first=one.first, last=one.last)
        ticking = reading.tokens[one.first].kind == "quote" or said or not _labels_value(reading, one)
        if ticking:
            yield _Guess(0.8 * one.quality, field, value, why=f"the task says so of {field.label!r}")


def _clause(tokens: Sequence[Token], at: int) -> list[Token]:
    first = at
    while first > 0 and tokens[first - 1].low not in BOUNDS:
        first -= 1
    return list(tokens[first:at])


def _labels_value(reading: _Reading, mention: Mention) -> bool:
    """Whether the words are the label of a value (``publish date: …``) or part of a thing's description."""
    return any(
        value.kind != "phrase"
        and 0 <= value.first - mention.last <= 2
        and value.joint in ("to", ":", "=", "as")
        for value in reading.values
    )


# assignment


def _best(guesses: Sequence[_Guess]) -> list[_Guess]:
    """Return the guesses of the highest total score in which no words and no field serve twice.

    A field for several options takes several.
    """
    by_words: dict[tuple[int, int], list[_Guess]] = {}
    for one in sorted(guesses, key=lambda one: (-one.score, one.field.element.index)):
        among = by_words.setdefault((one.value.first, one.value.last), [])
        if len(among) < _MOST_FIELDS:
            among.append(one)
    ranked = sorted(by_words.values(), key=lambda among: -among[0].score)[:_MOST_VALUES]
    best: list[_Guess] = []
    best_score = 0.0
    hopes = [sum(among[0].score for among in ranked[at:]) for at in range(len(ranked) + 1)]

    def choose(at: int, chosen: list[_Guess], score: float) -> None:
        nonlocal best, best_score
        if score > best_score:
            best, best_score = list(chosen), score
        if at == len(ranked) or score + hopes[at] <= best_score:
            return
        for one in ranked[at]:
            if not any(_collide(one, other) for other in chosen):
                choose(at + 1, [*chosen, one], score + one.score)
        choose(at + 1, chosen, score)

    choose(0, [], 0.0)
    return sorted(best, key=lambda one: one.field.element.index)


def _collide(one: _Guess, other: _Guess) -> bool:
    if one.value.first < other.value.last and other.value.first < one.value.last:
        return True
    same = one.field.element.index == other.field.element.index
    return same and (one.field.kind != "multi" or one.option == other.option)


def _assignment(guess: _Guess, reading: _Reading, done: Set[str]) -> Assignment:
    """Return what is entered into a field for a value: in its format, beside what it keeps."""
    field, value = guess.field, guess.value
    first, last = reading.tokens[value.first], reading.tokens[value.last - 1]
    told = (
        value.text
        if value.kind in ("step", "box")
        else " ".join(t.text for t in reading.tokens[value.first : value.last])
    )
    made = Assignment(
        element=field.element.index, label=field.label, value=value.text, how="type", why=guess.why,
        told=told if first is not last else first.text if value.kind not in ("step", "box") else value.text,
    )  # fmt: skip
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
    if value.kind == "step":
        if made.key in done:
            return replace(made, value=field.held[0], values=(field.held[0],), held=True)
        moved = stepped(field.held[0], value.text, reading.part.text)
        return replace(made, value=moved, values=(moved,), held=not moved)
    return _typed(made, guess, reading)


def _adds(reading: _Reading) -> bool:
    """Whether the task adds to what is there (``add the tag``), rather than setting it."""
    return "add" in (reading.part.verb, *(token.low for token in reading.tokens[:3]))


def _removes(reading: _Reading) -> bool:
    return bool(senses_of((reading.part.verb,)) & {"delete"})


def _choice(made: Assignment, guess: _Guess, reading: _Reading) -> Assignment:
    field, option = guess.field, guess.option
    if field.kind != "multi":
        return replace(made, value=option, values=(option,), how="select", held=field.holds(option))
    kept = field.held if _adds(reading) or _removes(reading) else ()
    if _removes(reading):
        left = tuple(one for one in kept if plain(one) != plain(option))
        return replace(made, value=option, values=left, how="select", held=left == kept)
    chosen = tuple(dict.fromkeys((*kept, option)))
    return replace(made, value=option, values=chosen, how="select", held=set(chosen) == set(field.held))


def _typed(made: Assignment, guess: _Guess, reading: _Reading) -> Assignment:
    field, text = guess.field, guess.value.text
    if field.kind == "list":
        return replace(made, values=(text,), how="select", held=field.holds(text))
    day = (
        read_date(text) if field.kind == "date" and guess.value.kind in ("date", "phrase", "quote") else None
    )
    if day is not None and field.element.type in ("", "text"):
        like = dict(field.element.attributes).get("placeholder", "") or (field.held[0] if field.held else "")
        text = in_format_of(day, like) if like else text
    elif day is not None and field.element.type == "date":
        text = day.isoformat()
    items = listed(field.held[0]) if field.held and field.kind in ("text", "token") else ()
    if (items and _adds(reading) and not reading.creating) or (items and _adds(reading) and len(items) > 1):
        told = {plain(one) for one in items}
        text = field.held[0] if plain(text) in told else ", ".join((*items, text))
    elif len(items) > 1 and _removes(reading) and any(plain(one) == plain(text) for one in items):
        text = ", ".join(one for one in items if plain(one) != plain(text))
    how = "pick" if field.kind == "token" else "type"
    return replace(made, value=text, values=(text,), how=how, held=field.holds(text))


def _together(made: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """Return one assignment a field: several options of one list are chosen at once."""
    found: dict[int, Assignment] = {}
    for one in made:
        other = found.get(one.element)
        if other is None:
            found[one.element] = one
            continue
        chosen = tuple(dict.fromkeys((*other.values, *one.values)))
        told = f"{other.told}, {one.told}"
        found[one.element] = replace(
            other, values=chosen, value=f"{other.value}, {one.value}", told=told, held=other.held and one.held
        )
    return tuple(found.values())


def _missing(
    reading: _Reading, found: Sequence[_Guess], fields: Sequence[FormField], done: Set[str]
) -> tuple[str, ...]:
    """Return the values that the task gives as such and that found no field; a thing the page is about is none."""
    taken = {at for one in found for at in range(one.value.first, one.value.last)}
    labels = {plain(label) for field in fields for label in field.labels}
    left: list[str] = []
    for value in reading.values:
        given = value.kind == "step" or (value.joint and value.kind not in ("phrase", "number"))
        if not given or taken & set(range(value.first, value.last)) or plain(value.text) in labels:
            continue
        held = any(field.holds(value.text) for field in fields)
        held = held or any(key.endswith(f":{value.text}") for key in done)  # on a page of the form before
        if not held and not has_words(reading.known, value.text):
            left.append(value.text)
    return tuple(left)
