"""The frames of verbs with a field and a value: filling, setting, choosing."""

from __future__ import annotations

from dataclasses import replace

from kb.compiler import names, phrases, values
from kb.compiler.arguments import listed, pairs, place_of, sections, split_first
from kb.compiler.lexicon import ARTICLES, ATTRIBUTES, DETERMINERS, NOTHING, ROLES, TYPED, words
from kb.compiler.names import PREVIOUS
from kb.compiler.phrases import NamedControl
from kb.compiler.tokens import Sort, Tokens, written
from kb.compiler.verbs import Imperative
from kb.procedure import ProcedureStep, StepKind

_FIELD_WORDS = ("into", "in", "under", "to", "as", "at", "on", "below", "beside")

_OPTION_WORDS = ("in", "under", "from", "for", "as", "beside", "at", "below", "on")

_ABSTRACT = words("all everything anything whatever nothing")

_OPENED = words("menu list drop-down dropdown suggestions results popup submenu entries")

_LOOSE = words(
    "row rows line menu toolbar bar sidebar dialog header footer page top bottom left right tab list "
    "task order card middle side upper lower corner table grid panel map time end"
)


class FieldFrames:
    """Makes steps of verbs that put a value into a field."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known

    def _control(self, tokens: Tokens) -> NamedControl:
        return phrases.control(tokens, self._known)

    def _each(self, kind: StepKind, tokens: Tokens, role: str = "") -> list[ProcedureStep]:
        controls = [self._control(part) for part in listed(tokens)]
        return [step_of(kind, replace(one, role=role or one.role)) for one in controls if one.name]

    def _path(self, tokens: Tokens) -> list[ProcedureStep]:
        """One press for each part of a menu path."""
        controls = [self._control(part) for part in sections(tokens)]
        made = [step_of(StepKind.PRESS, one) for one in controls if one.name]
        joint = next((at for at in range(len(tokens) - 1, 0, -1) if tokens[at].sort is Sort.ARROW), 0)
        for at in range(joint + 2, len(tokens) - 1):
            if tokens[at].low == "and" and (
                tokens[at + 1].low in DETERMINERS or tokens[at + 1].sort is Sort.NAME
            ):
                return made + self._each(StepKind.PRESS, tokens[at + 1 :])
        return made

    def _fill(self, verb: Imperative, tokens: Tokens, front: Tokens) -> list[ProcedureStep]:
        tokens = plain(tokens)
        if tokens[0].low in _ABSTRACT:
            return []
        in_first = tokens[0].low in ("in", "into") and verb.verb != "fill"
        if tokens[0].low == "in" and (verb.verb == "fill" or not phrases.is_control(tokens[1:])):
            tokens, in_first = tokens[1:], False
        if (
            front
            and front[0].low in ("in", "into", "under")
            and phrases.is_control(front[1:])
            and not place_of(tokens, ("into",))
            and not _named_field(tokens)
        ):
            return self._fill_in(front, tokens)
        if in_first:
            field, given = split_first(tokens[1:])
            return self._filled([field], [given] if given else [])
        if not tokens:
            return []
        given = tokens[0].sort is Sort.SLOT and place_of(tokens, ("in", "under", "for"))
        if verb.verb == "fill" and not given and not place_of(tokens, ("into",)):
            return self._fill_fields(tokens)
        made = [
            step
            for given, field in pairs(tokens, ("into",))
            or pairs(tokens, _FIELD_WORDS)
            or pairs(tokens, ("for",))
            for step in self._filled(listed(field), listed(given))
        ]
        if made:
            return made
        return self._unnamed(tokens)

    def _fill_in(self, front: Tokens, tokens: Tokens) -> list[ProcedureStep]:
        """``in A type x, in B y``: the field stands first."""
        cut = next(
            (
                place
                for place in range(1, len(tokens) - 2)
                if tokens[place].low in ("in", "under", "into")
                and tokens[place - 1].low in (",", "and")
                and tokens[place + 1].is_named
            ),
            0,
        )
        made = self._filled([front[1:]], [tokens[: cut or len(tokens)]])
        if cut:
            field, given = split_first(tokens[cut + 1 :])
            made += self._filled([field], [given])
        return made

    def _fill_fields(self, tokens: Tokens) -> list[ProcedureStep]:
        """``A with x and B with y``, ``A and B with x and y``, ``A and B``."""
        found = pairs(tokens, ("with", "=", "by"))
        if found:
            return [step for field, given in found for step in self._filled(listed(field), listed(given))]
        made: list[ProcedureStep] = []
        for part in listed(tokens):
            if len(part) > 1 and part[-1].sort is Sort.SLOT:  # "the subject <subject>"
                made += self._filled([part[:-1]], [part[-1:]])
                continue
            one = self._control(part)
            if one.name == PREVIOUS or _is_sure(part, one):
                made.append(step_of(StepKind.FILL, one))
            elif one.name and one.name.lower() not in NOTHING:
                made += self._fields(part)
        return made

    @staticmethod
    def _fields(tokens: Tokens) -> list[ProcedureStep]:
        """Fields named by what goes into them ("fill in title and description")."""
        parts: list[Tokens] = [[]]
        for token in phrases.core_of(tokens)[0]:
            if token.low == "and":
                parts.append([])
            elif token.low not in ARTICLES:
                parts[-1].append(token)
        names_of = [written(part) for part in parts if part]
        return [
            ProcedureStep(kind=StepKind.FILL, target=one, value=names.placeholder(one)) for one in names_of
        ]

    def _filled(self, fields: list[Tokens], values: list[Tokens]) -> list[ProcedureStep]:
        """One step for each field; one value for all of them, or one for each."""
        if len(values) > 1 and len(fields) == 1:
            fields = fields * len(values)
        made: list[ProcedureStep] = []
        for place, field in enumerate(fields):
            one = self._control(field)
            given = values[min(place, len(values) - 1)] if values else []
            if len(values) not in (0, 1, len(fields)):
                given = [token for part in values for token in part]
            if one.name:
                made.append(step_of(StepKind.FILL, one, _value(given)))
        return made

    def _unnamed(self, tokens: Tokens) -> list[ProcedureStep]:
        """A fill of which only the value is told: it goes into the field spoken of before."""
        words = [one for one in phrases.core_of(tokens)[0] if one.low not in ARTICLES]
        if not words or (words[0].low in NOTHING and len(words) == 1):
            return []
        there = any(one.low in ("there", "here") for one in tokens[-1:])
        if any(one.is_named for one in words) or tokens[0].low not in DETERMINERS or there:
            return [ProcedureStep(kind=StepKind.FILL, target=PREVIOUS, value=_value(tokens))]
        return [
            ProcedureStep(kind=StepKind.FILL, target=PREVIOUS, value=_value(tokens), locator=written(words))
        ]

    def _replace(self, tokens: Tokens) -> list[ProcedureStep]:
        """``replace X in Y with V``, ``overwrite Y with V``, ``replace X in Y``: Y is the field."""
        tokens = plain(tokens)
        with_at = place_of(tokens, ("with", "by"))
        new = tokens[with_at + 1 :] if with_at else []
        old = tokens[:with_at] if with_at else tokens
        in_at = place_of(old, ("in", "of", "under", "from"))
        field = old[in_at + 1 :] if in_at else old
        return self._filled([field], [new or old[:in_at] if in_at else new])

    def _give(self, verb: Imperative, tokens: Tokens, front: Tokens) -> list[ProcedureStep]:
        if both := _ditransitive(tokens):
            return self._filled(listed(both[0]), [both[1]])
        found = pairs(plain(tokens), ("into", "in", "under"))
        sure = [(given, field) for given, field in found if phrases.is_control(field)]
        return [step for given, field in sure for step in self._filled(listed(field), listed(given))]

    def _set(self, tokens: Tokens) -> list[ProcedureStep]:
        at = place_of(tokens, ("on", "in"))
        tab = self._control(tokens[at + 1 :]) if at else NamedControl()
        if tab.role == "tab" and not place_of(tokens, ("to",)):
            return [step_of(StepKind.PRESS, tab)]
        found = pairs(tokens, ("to", "=")) or pairs(tokens, ("as", "at"))
        if found:
            return [step for field, given in found for step in self._setting(field, given)]
        if in_place := pairs(tokens, ("in", "under")):
            return [
                step
                for given, field in in_place
                if phrases.is_control(field)
                for step in self._setting(field, given)
            ]
        return []

    def _setting(self, field: Tokens, given: Tokens) -> list[ProcedureStep]:
        from_at = place_of(field, ("from",))
        fields = listed(field[:from_at] if from_at else field)
        made: list[ProcedureStep] = []
        for part in fields:
            one = self._control(part)
            if one.role == "tab" or (not given and one.name):
                made.append(step_of(StepKind.PRESS, one))
            elif one.name and _is_typed(one, given):
                made.append(step_of(StepKind.FILL, one, _value(given)))
            elif one.name:
                made.append(
                    step_of(
                        StepKind.CHOOSE,
                        replace(one, role="" if one.role == "heading" else one.role),
                        self._option(one, given),
                    )
                )
        return made

    # choices

    def _choose(self, tokens: Tokens, front: Tokens) -> list[ProcedureStep]:
        if any(one.sort is Sort.ARROW for one in tokens):
            return self._path(tokens)
        if (at := place_of(tokens, ("from",))) and place_of(tokens[at:], ("to",)):
            return []  # a range is no option
        found = [
            (given, field) for given, field in pairs(tokens, _OPTION_WORDS) if self._is_field(given, field)
        ]
        if found:
            return [step for given, field in found for step in self._chosen(field, given)]
        if (
            front
            and front[0].low in ("in", "under", "from", "for", "at", "beside")
            and self._is_field(tokens, front[1:])
        ):
            return self._chosen(front[1:], tokens)
        named = [one for one in tokens if one.low not in DETERMINERS]
        if (
            len(named) == 2
            and named[0].low in ATTRIBUTES
            and (named[1].is_named or named[1].sort is Sort.SLOT)
        ):
            return self._chosen(named[:1], named[1:])  # "the role X"
        return self._each(StepKind.PRESS, tokens)

    def _is_field(self, given: Tokens, field: Tokens) -> bool:
        words = [one.low for one in field if one.low not in DETERMINERS]
        if len(field) == 1 and field[0].low in ("it", "there"):
            return True
        if not words or any(
            one.low in ("tab", "button", "link", "icon", "menu") for one in phrases.core_of(given)[0][-1:]
        ):
            return False
        one = self._control(field)
        named = any(token.is_named or token.is_capital for token in phrases.core_of(field)[0])
        if words[0] in _OPENED and not named:
            return bool(one.near) and one.role == "select"
        if words[0] in _LOOSE and not named:
            return False
        return named or one.role in ("select", "field")

    def _chosen(self, field: Tokens, given: Tokens) -> list[ProcedureStep]:
        one = self._control(field)
        if one.role == "menu" and one.name != "menu":
            return [step_of(StepKind.PRESS, one), *self._each(StepKind.PRESS, given)]
        role = "" if one.role in ("heading", "row") else one.role
        return (
            [step_of(StepKind.CHOOSE, replace(one, role=role), self._option(one, given))] if one.name else []
        )

    def _option(self, one: NamedControl, given: Tokens) -> str:
        """An option; one in small letters without an article is literal, unless the task speaks of it."""
        words = [token for token in given if token.is_word]
        bare = len(words) == len(given) == 1 and words[0].low.isalpha() and not names.shouted(words[0].text)
        if bare and words[0].low not in self._known and words[0].low not in one.name.lower():
            return words[0].text
        return _value(given)

    # verbs that name no control by themselves


def _ditransitive(tokens: Tokens) -> tuple[Tokens, Tokens] | None:
    """The fields and the value of "give A and the field B the name"; None if no value follows the fields."""
    place = named = 0
    while place < len(tokens):
        token = tokens[place]
        ends = place == named > 0 or (
            named > 0 and token.low in DETERMINERS and tokens[place - 1].low in ROLES
        )
        if ends and (token.sort in (Sort.SLOT, Sort.NAME) or token.low in DETERMINERS):
            return tokens[:place], tokens[place:]
        if length := (1 if token.sort is Sort.NAME else names.run_at(tokens, place)):
            place = named = place + length
        elif token.low in DETERMINERS | ROLES.keys() | {"and", ","}:
            place += 1
        else:
            return None
    return None


def _named_field(tokens: Tokens) -> bool:
    """Whether "as" names the field ("<user> as Owner")."""
    at = place_of(tokens, ("as",))
    return bool(at) and phrases.is_control(tokens[at + 1 :])


def plain(tokens: Tokens) -> Tokens:
    """The tokens without an adverb before them."""
    return tokens[1:] if len(tokens) > 1 and tokens[0].low in ("down", "out", "over") else tokens


def _is_sure(tokens: Tokens, one: NamedControl) -> bool:
    return bool(one.role or one.near) or any(token.is_named or token.is_capital for token in tokens)


def _is_typed(one: NamedControl, given: Tokens) -> bool:
    if one.role in ("select", "field"):
        return one.role == "field"
    value = [token.low for token in values.value_tokens(given)]
    last = one.name.lower().rstrip(":").split()[-1:]
    return (
        bool(value and value[-1] in TYPED)
        or bool(value[:2] == ["number", "wanted"] or ("number" in value[1:2] and "wanted" in value))
        or bool(last and last[0] in TYPED)
    )


def _value(tokens: Tokens) -> str:
    words = [one for one in tokens if one.sort is not Sort.MARK and one.low not in ("there", "here")]
    if len(words) == 1 and words[0].low in ("it", "this", "that", "them"):
        return PREVIOUS
    return values.value(tokens)


def step_of(kind: StepKind, one: NamedControl, value: str = "") -> ProcedureStep:
    return ProcedureStep(
        kind=kind, target=one.name, role=one.role, near=one.near, where=one.where, value=value
    )
