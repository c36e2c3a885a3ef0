"""A form read against a task's words: which value goes into which field.  Pure.

Fields and values are matched by what stands on the page: a value that is an option belongs to the field that offers it,
any other to the field whose label stands beside it in the task.  What the task does not name is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from app.engine.agent.scout.field_values import (
    ARTICLES,
    BOUNDS,
    NAMING,
    OF_A_THING,
    SAYING,
    TaskValue,
    Token,
    has_words,
    in_format_of,
    is_timed,
    joint_of,
    lead_of,
    listed,
    shape_of,
    stepped,
    tokens_of,
    values_in,
)
from app.engine.agent.scout.form_fields import FormField, fields_of, is_search
from app.engine.agent.scout.form_senders import is_deed, says_verb, sender_of
from app.engine.agent.scout.label_mentions import (
    Mention,
    closeness,
    is_login_of,
    mentions_of,
    option_places,
    words_after,
)
from app.engine.agent.scout.likeness import forms, meaning, plain, words
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.browser.actions.field_formats import read_date
from app.engine.core.page_state import PageCapture
from app.engine.core.text import word_set

LEAST = 0.5
"""Score below which a value does not belong to a field."""
CREATING = frozenset({"create", "send"})
_MOST_VALUES, _MOST_FIELDS, _LONG = 10, 4, 60
_NAMES = word_set("title name subject summary heading")
"""Labels under which a form asks what a thing is called."""
_WRITTEN = word_set("comment note message text reply answer remark words description body")
"""Words for a text of several lines."""
_OFF = word_set(
    "uncheck untick unset disable deactivate hide off no not don't without unpublish clear remove revoke"
)
_YES, _NO = word_set("yes on true checked enabled ticked"), word_set("no off false unchecked disabled")
_STRONG = word_set("to as into : = with")
_SETTING = word_set("make mark set turn")


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


class _Reading:
    """A part of a task against one page: its tokens and values, what the page is about, what was done."""

    def __init__(self, part: TaskPart, page: PageCapture, done: Set[str]) -> None:
        first = "" if part.verb and part.verb in part.text.casefold() else f"{part.verb} "
        self.part, self.page, self.done = part, page, done
        self.tokens = tokens_of(f"{first}{part.text}".strip())
        self.values = values_in(f"{first}{part.text}".strip())
        self.known = " \n ".join((page.title, *page.headings, *trail_of(page)))
        self.creating = is_creating(part)

    def clause(self, at: int) -> Sequence[Token]:
        """Return the tokens of the clause up to a place."""
        first = at
        while first > 0 and self.tokens[first - 1].low not in BOUNDS:
            first -= 1
        return self.tokens[first:at]

    def changes_items(self, at: int, sense: str) -> bool:
        """Whether the clause up to a place adds an item to a list (``add``), or removes one (``delete``)."""
        lows = {token.low for token in self.clause(at)[:3]} | {self.part.verb}
        return "add" in lows if sense == "add" else bool(senses_of(lows) & {"delete"})


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


def read_changes(part: TaskPart, page: PageCapture, done: Set[str] = frozenset()) -> FormPlan:
    """Return how a form of the page takes the values of a task; an empty plan where none takes any.

    A verb of its own kind (``deny``) needs a form in which an option, a box or the control that sends it says so.

    Args:
        done: keys of what was filled in before; a step (``by 3 days``) is not taken twice.
    """
    by_form: dict[str, list[FormField]] = {}
    for field in fields_of(page):
        if not is_search(field):
            by_form.setdefault(field.form, []).append(field)
    reading = _Reading(part, page, done)
    every = [one for fields in by_form.values() for one in fields]
    best, best_score = FormPlan(missing=_missing(reading, [], every)), 0.0
    for form, fields in by_form.items():
        found = _best(_guesses(reading, fields))
        score = sum(one.score for one in found)
        if score > best_score and _does(reading, form, found):
            made = _together([_assignment(one, reading) for one in found])
            best, best_score = (
                FormPlan(assignments=made, missing=_missing(reading, found, fields), form=form),
                score,
            )
    return best


def _does(reading: _Reading, form: str, found: Sequence[_Guess]) -> bool:
    """Whether filling in the fields, or sending the form, is what the verb says."""
    part = reading.part
    if not is_deed(part):
        return True
    for one in found:
        label = {form for text in one.field.labels for word in words(text) for form in forms(word)}
        between = [token.low for token in reading.tokens[1 : one.value.first]]
        its_object = all(low in ARTICLES or forms(low) & label for low in between)  # ``leave the note …``
        if its_object or says_verb(f"{one.field.label} {one.option}", part):
            return True
    sender = sender_of(form, part, reading.page)
    return sender is not None and says_verb(sender.name, part)


# values of fields


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
        elif field.options:
            found += _options(reading, field, mentions, told)
        else:
            values = [one for one in reading.values if plain(one.text) not in labels or one.joint in NAMING]
            for value in (*values, *words_after(mentions, reading.tokens)):
                score = _text_score(reading, field, value, mentions, lone)
                if score >= LEAST:
                    why = f"the task gives {field.label or 'it'} as {value.text[:60]!r}"
                    found.append(_Guess(score, field, value, why=why))
    return found


def _text_score(
    reading: _Reading,
    field: FormField,
    value: TaskValue,
    mentions: Sequence[Mention],
    lone: dict[str, list[FormField]],
) -> float:
    if value.kind == "step":
        return _step_score(field, value, mentions, lone)
    near = closeness(value, mentions, reading.tokens)
    if value.kind == "object" and not any(
        reading.changes_items(value.first, sense) for sense in ("add", "delete")
    ):
        return 0.0
    known = value.kind in ("quote", "name", "number") and has_words(reading.known, value.text)
    if known and (not value.joint or (value.joint == "to" and near < 0.9)):
        return 0.0  # the thing the page is about
    items = {plain(item) for item in listed(field.held[0])} if field.held else set[str]()
    if reading.changes_items(value.first, "delete") and plain(value.text) not in items:
        return 0.0
    lead = lead_of(reading.tokens, value.first)
    if lead in OF_A_THING and value.kind not in ("date", "mail") and near < LEAST:
        return 0.0
    score = near * _takes(field, value)
    if value.kind in ("phrase", "word"):
        lower = 0.06 if value.kind == "phrase" else 0.0 if value.text[0].isupper() else 0.15
        score += 0.01 * (value.last - value.first) - lower
    elif value.kind != "object":
        score = max(score, _by_kind(reading, field, value, lone))
    alike = bool(field.held and value.joint and shape_of(value.text))
    if alike and field.kind == "text" and shape_of(field.held[0]) == shape_of(value.text):
        score = max(score, 0.55)
    return score + 0.02 * field.holds(value.text) if score else 0.0


def _takes(field: FormField, value: TaskValue) -> float:
    """Return how well a value's kind suits a field's."""
    has_digit = any(letter.isdigit() for letter in value.text)
    clock = ":" in value.text or value.text.casefold().endswith(("am", "pm"))
    if (field.kind == "number" and not has_digit) or (field.kind == "mail" and "@" not in value.text):
        return 0.0
    if (field.kind == "date" and not has_digit) or (field.kind == "time" and not clock):
        return 0.3
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
    others = [one for one in reading.values if one is not value and one.kind in ("quote", "name")]
    if value.joint == "to" and field.held and any(field.holds(one.text) for one in others):
        return 0.9  # what was called so is renamed
    senses, lead = senses_of(words(reading.part.verb)), lead_of(reading.tokens, value.first)
    speaks = value.joint in SAYING or len(value.text) > _LONG or lead in (*_WRITTEN, reading.part.verb)
    if field.kind == "long":
        return 0.7 * (speaks or (not value.joint and "send" in senses)) * (field is lone["long"][0])
    if value.joint in _STRONG - {"with"} or field.held or field.kind not in ("text", "token"):
        return 0.0
    alone = len(lone["text"]) == 1 and not lone["long"] and field.kind == "text"
    return max(0.55 * alone, 0.65 * reading.creating * _as_name(field, lone))


def _as_name(field: FormField, lone: dict[str, list[FormField]]) -> float:
    """Return how surely a field asks what the thing is called."""
    if field.kind not in ("text", "token"):
        return 0.0
    if any(forms(word) & _NAMES for word in meaning(field.label)):
        return 0.9 - 0.02 * len(meaning(field.label))
    required = [one for one in lone["text"] if "required" in one.element.states]
    return 0.7 * (field in (required or lone["text"])[:1])


def _step_score(
    field: FormField, value: TaskValue, mentions: Sequence[Mention], lone: dict[str, list[FormField]]
) -> float:
    if field.kind not in ("date", "number", "text") or not field.held:
        return 0.0
    if (read_date(field.held[0]) is not None) != is_timed(value.text):
        return 0.0
    said = max((one.quality for one in mentions), default=0.0)
    return max(0.9 * said, 0.6 * (field.kind != "text" and lone[field.kind] == [field]))


# options and boxes


def _options(
    reading: _Reading, field: FormField, mentions: Sequence[Mention], told: frozenset[str]
) -> Iterator[_Guess]:
    """Yield the options that the task's words name, beside the field's label, after a joint, or by its verb."""
    why = f"is offered for {field.label or 'it'}"
    for option in dict.fromkeys(field.options):
        own = words(option)
        for first, last, exact in (
            option_places(option, reading.tokens) if own and forms(own[0]) & told else ()
        ):
            kind = "quote" if reading.tokens[first].kind == "quote" else "option"
            joint = joint_of(reading.tokens, first)
            value = TaskValue(text=option, kind=kind, first=first, last=last, joint=joint)
            score = _option_score(reading, value, mentions) * (1.0 if exact else 0.9)
            if score >= LEAST:
                yield _Guess(score + 0.02 * min(len(own), 5), field, value, option, f"{option!r} {why}")
    for value in reading.values:
        logins = [one for one in field.options if value.kind == "name" and is_login_of(one, value.text)]
        near = closeness(value, mentions, reading.tokens)
        if len(logins) == 1 and (near >= LEAST or value.joint):
            yield _Guess(max(0.7, near), field, value, logins[0], f"{logins[0]!r} {why}")


def _option_score(reading: _Reading, value: TaskValue, mentions: Sequence[Mention]) -> float:
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
    made = reading.creating and not has_words(reading.known, value.text)
    return 0.6 * (value.kind == "quote" or made or (verb in _SETTING and lead not in OF_A_THING))


def _box(reading: _Reading, field: FormField, mentions: Sequence[Mention]) -> Iterator[_Guess]:
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
        value = TaskValue(text="no" if off else "yes", kind="box", first=one.first, last=one.last)
        yield _Guess(0.8 * one.quality, field, value, why=f"the task says so of {field.label!r}")


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
    hopes = [sum(among[0].score for among in ranked[at:]) for at in range(len(ranked) + 1)]
    best: tuple[float, list[_Guess]] = (0.0, [])

    def choose(at: int, chosen: list[_Guess], score: float) -> None:
        nonlocal best
        if score > best[0]:
            best = (score, chosen)
        if at < len(ranked) and score + hopes[at] > best[0]:
            for one in ranked[at]:
                if not any(_collide(one, other) for other in chosen):
                    choose(at + 1, [*chosen, one], score + one.score)
            choose(at + 1, chosen, score)

    choose(0, [], 0.0)
    return sorted(best[1], key=lambda one: one.field.element.index)


def _collide(one: _Guess, other: _Guess) -> bool:
    if one.value.first < other.value.last and other.value.first < one.value.last:
        return True
    same = one.field.element.index == other.field.element.index
    return same and (one.field.kind != "multi" or one.option == other.option)


def _assignment(guess: _Guess, reading: _Reading) -> Assignment:
    """Return what is entered into a field for a value: in its format, beside what it keeps."""
    field, value = guess.field, guess.value
    own = value.kind in ("step", "box")
    told = value.text if own else " ".join(token.text for token in reading.tokens[value.first : value.last])
    made = Assignment(
        element=field.element.index, label=field.label, value=value.text, how="type", why=guess.why, told=told
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
    if value.kind == "step":
        moved = (
            field.held[0]
            if made.key in reading.done
            else stepped(field.held[0], value.text, reading.part.text)
        )
        return replace(made, value=moved, values=(moved,), held=not moved or moved == field.held[0])
    text = _text_for(field, guess, reading)
    how = "pick" if field.kind == "token" else "type"
    return replace(made, value=text, values=(text,), how=how, held=field.holds(text))


def _choice(made: Assignment, guess: _Guess, reading: _Reading) -> Assignment:
    field, option = guess.field, guess.option
    if field.kind != "multi":
        return replace(made, value=option, values=(option,), how="select", held=field.holds(option))
    if reading.changes_items(guess.value.first, "delete"):
        chosen = tuple(one for one in field.held if plain(one) != plain(option))
    else:
        kept = field.held if reading.changes_items(guess.value.first, "add") else ()
        chosen = tuple(dict.fromkeys((*kept, option)))
    return replace(made, value=option, values=chosen, how="select", held=set(chosen) == set(field.held))


def _text_for(field: FormField, guess: _Guess, reading: _Reading) -> str:
    """Return a value as a field takes it: a date in its format, an item beside those it keeps."""
    text, first = guess.value.text, guess.value.first
    day = (
        read_date(text) if field.kind == "date" and guess.value.kind in ("date", "phrase", "quote") else None
    )
    if day is not None:
        like = dict(field.element.attributes).get("placeholder", "") or (field.held[0] if field.held else "")
        native = field.element.type not in ("", "text")
        return day.isoformat() if native else in_format_of(day, like) if like else text
    items = listed(field.held[0]) if field.held and field.kind in ("text", "token") else ()
    among = plain(text) in {plain(one) for one in items}
    if items and reading.changes_items(first, "add") and (not reading.creating or len(items) > 1 or among):
        return field.held[0] if among else ", ".join((*items, text))
    if len(items) > 1 and among and reading.changes_items(first, "delete"):
        return ", ".join(one for one in items if plain(one) != plain(text))
    return text


def _together(made: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """Return one assignment a field: several options of one list are chosen at once."""
    found: dict[int, Assignment] = {}
    for one in made:
        other = found.get(one.element)
        found[one.element] = one if other is None else replace(
            other, values=tuple(dict.fromkeys((*other.values, *one.values))), value=f"{other.value}, {one.value}",
            told=f"{other.told}, {one.told}", held=other.held and one.held,
        )  # fmt: skip
    return tuple(found.values())


def _missing(reading: _Reading, found: Sequence[_Guess], fields: Sequence[FormField]) -> tuple[str, ...]:
    """Return the values that the task gives and that found no field; a thing the page speaks of is none."""
    taken = {at for one in found for at in range(one.value.first, one.value.last)}
    labels = {plain(label) for field in fields for label in field.labels}
    done = {key.rpartition(":")[2] for key in reading.done}  # on a page of the form before
    left: list[str] = []
    for value in reading.values:
        thing = lead_of(reading.tokens, value.first) in OF_A_THING
        plainly = value.kind in ("date", "mail", "number") or (value.kind == "quote" and not thing)
        given = value.kind == "step" or (value.joint and value.kind in ("quote", "name")) or plainly
        if not given or taken & set(range(value.first, value.last)) or plain(value.text) in labels:
            continue
        shown = has_words(f"{reading.known} \n {reading.page.text}", value.text)
        if not shown and value.text not in done and not any(field.holds(value.text) for field in fields):
            left.append(value.text)
    return tuple(left)
