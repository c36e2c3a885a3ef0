"""Clauses of tips: the imperative, and the step it makes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from kb.compiler import phrases
from kb.compiler.text import MARK, MarkedText
from kb.compiler.words import KINDS, LEAD, VERB
from kb.procedure import ProcedureStep, StepKind

_LEADING = re.compile(rf"^(?:{LEAD}\b\s*[,:]?\s+){{1,8}}", re.IGNORECASE)
_FIRST = tuple(sorted(KINDS, key=lambda pair: pair[0] == "fill"))
_ARROW = r"\s*(?:>|→|->|=>|»|›|⇒)\s*"
_PART = (
    rf"(?:{MARK.pattern.replace('(', '(?:', 2)}|[A-Z0-9][\w&'’+.:!-]*(?:\s+(?!then\b|and\b|in\b|to\b|"
    rf"for\b|at\b|on\b|of\s+the\b|or\b|where\b|with\b|but\b|is\b|are\b|has\b|shows?\b|lists?\b|by\b|if\b|which\b|"
    rf"that\b|when\b|before\b|after\b|under\b|from\b|not\b)[\w&'’+.:!-]+){{0,5}})"
)
_OWN = r"(?:the|an?|your)\s+[\w'’]+(?:\s+(?!then\b|and\b|in\b|to\b|for\b|at\b|on\b|or\b|is\b|with\b)[\w'’]+){0,2}"
PATH = re.compile(rf"{_PART}(?:{_ARROW}\"?(?:{_PART}|{_OWN}))+|{_PART}(?:\s+/\s+{_PART})+")
"""A menu path: ``Reports > Orders``, ``Project / Yours / All``."""

_HAS_ARROW = re.compile(r"[>→=»›⇒/]")
_OWN_PATH = re.compile(rf"{_OWN}(?:\s+at\s+the\s+[\w\s]{{1,20}}?)?(?:{_ARROW}\"?(?:{_PART}|{_OWN}))+")
"""A menu path that begins with a thing ("your picture > Preferences")."""

_SMALL_PATH = re.compile(
    rf"(?:the\s+)?[a-z][\w'’-]*(?:\s+[\w'’-]+){{0,2}}(?:{_ARROW}[\w'’-]+(?:\s+[\w'’-]+){{0,2}})+"
)
"""A menu path in small letters, the object of a verb."""

_PART_ROLE = re.compile(r"\s+(?:tab|menu|page|entry|section)(?:\s+of\b.*)?$")
_VAGUE = re.compile(
    r"(?:us(?:e|ing)|find(?:ing)?|tak(?:e|ing)|access(?:ing)?|reach(?:ing)?|get(?:ting)?\s+to)\b",
    re.IGNORECASE,
)
"""Verbs that people also say of things that are no control ("use a wider range", "find the order")."""

_FORMAT = re.compile(
    r"(?:the\s+)?(?:\w+\s+)?(?:format|formatting|form|pattern|notation|word|words|function|tool|term|calculate)\b",
    re.IGNORECASE,
)
_ABSTRACT = re.compile(
    r"(?:what|whatever|everything|anything|nothing|all|options|(?-i:to)|how|whether)\b|\w+\s+(?:it|them)$",
    re.IGNORECASE,
)
_NAMED_OBJECT = re.compile(
    r"(?:the|an?|your|its)?\s*(?:[\w-]+\s+){0,3}?(?:button|link|tab|menu|field|box|icon|select|list|drop-?down|checkbox|arrow|"
    r"filter|search|heading|magnifier|pencil|report)\b"
    r"|(?:the\s+)?[A-Z][\w&.:!-]*(?:\s+(?:[A-Z&][\w&.:!-]*|of|to|and))*\s*(?:$|,|\b(?:in|at|on|of|under|button|link|tab|menu|to|for)\b)"
)
_NEAR_FIRST = re.compile(
    r"^(?:to|in|on|at|under|below|after|with|from|for|inside|within|beside|next\s+to)\s+", re.IGNORECASE
)
_LANDMARK_FIRST = re.compile(r"(?:under|below|beside|next\s+to)\s", re.IGNORECASE)
_ANY_VERB = re.compile(rf"(?<=[\s,])(?:{VERB})(?=\s|\ue000)", re.IGNORECASE)
_FIELD_NAME = re.compile(r"(?:\ue000q\d+\ue001|[A-Z][\w-]*(?:\s+[A-Z][\w-]*){0,3}:?)$")
_IN_FIELD = re.compile(r"\s(?:in|into|under|from)\s")
_DETERMINED = re.compile(
    r"\b(?:the|an?|your|its|this|that|each|of|new|old|no|any|in|on|to|for|and|or)$", re.IGNORECASE
)
_ROW_OF = re.compile(r"^the\s+(?:row|line|card|entry)\s+(?:of|with|for)\s+(.+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Imperative:
    """A clause's verb and the words after it; ``kind`` names the pattern it matched."""

    kind: str
    rest: str
    near: str = ""
    where: str = ""
    vague: bool = False


def imperative(clause: str) -> Imperative | None:
    """The imperative a clause begins with; None for a statement."""
    text = stripped(clause)
    if text[:1].isupper() and " " not in text and not clause.startswith(text):
        return None  # "then Take": a name
    if (found := _match(text)) is not None:
        return found
    if (place := _NEAR_FIRST.match(text)) is None:
        return None
    for verb in _ANY_VERB.finditer(text, place.end()):
        before = text[: verb.start()].rstrip(" ,")
        if _DETERMINED.search(before):
            continue
        found = _match(text[verb.start() :])
        if found is not None:
            place_name = re.sub(r"(?<=\ue001)\s+of\s+the\s.*$", "", before[place.end() :].strip())
            row = _ROW_OF.match(place_name)
            if (
                found.kind in ("choose", "fill")
                and _FIELD_NAME.match(place_name)
                and not _IN_FIELD.search(found.rest)
            ):
                return replace(found, rest=f"{found.rest} in {place_name}")
            if (
                row is None
                and found.kind in ("press", "tick", "hover")
                and (side := _LANDMARK_FIRST.match(place[0]))
            ):
                return replace(found, near=place_name, where=side[0].strip().lower())
            return replace(found, near=row[1] if row else "")
    return None


def stripped(clause: str) -> str:
    """The clause without words that only lead to its imperative."""
    return _LEADING.sub("", clause.strip(" ,.:;-–—"))


def _match(text: str) -> Imperative | None:
    for kind, pattern in _FIRST:
        if (found := pattern.match(text)) is not None:
            return Imperative(kind, text[found.end() :].strip(), vague=_VAGUE.match(text) is not None)
    return None


class ClauseSteps:
    """Makes steps of imperatives of one tip."""

    def __init__(self, source: MarkedText, known: frozenset[str], topic: str = "") -> None:
        self._source, self._known, self._topic = source, known, topic
        self._make: dict[str, Callable[[str], list[ProcedureStep]]] = {
            "hover": lambda rest: self._of(StepKind.HOVER, rest),
            "wait": self._wait,
            "tick": self._tick,
            "set": self._set,
            "choose": self._choose,
            "read": self._read,
            "open": self._open,
            "press": self._press,
            "fill": self._fill,
            "replace": lambda rest: self._replaced(rest) or self._fill(rest),
        }

    def steps(self, found: Imperative) -> list[ProcedureStep]:
        """The steps of an imperative; none if its object can't be told."""
        named = MARK.search(found.rest) or (
            _HAS_ARROW.search(found.rest) and (PATH.search(found.rest) or _SMALL_PATH.match(found.rest))
        )
        if _ABSTRACT.match(found.rest) and not named:
            return []
        if found.vague and (_FORMAT.match(found.rest) or not (named or _NAMED_OBJECT.match(found.rest))):
            return []
        made = self._make[found.kind](found.rest)
        if found.near and made and not made[0].near:
            where = found.where or "in"
            place = f"x {where}" if found.where else "x in the row of"
            near = self._control(f"{place} {found.near}").near
            made[0] = replace(made[0], near=near, where=where if near else "")
        return made

    def path(self, text: str) -> list[ProcedureStep]:
        """One press for each part of the first menu path in a text."""
        if not _HAS_ARROW.search(text):
            return []
        found = _OWN_PATH.match(text) or PATH.search(text) or _SMALL_PATH.match(text)
        if found is None:
            return []
        parts = [_PART_ROLE.sub("", part) for part in re.split(rf"{_ARROW}|\s+/\s+", found[0])]
        controls = [self._control(part) for part in parts]
        return [_step(StepKind.PRESS, one) for one in controls if one]

    def continued(self, kind: str, text: str, *, then: bool) -> list[ProcedureStep]:
        """The steps of a clause without a verb, which continues the one before ("hover over A, then over B")."""
        text = re.sub(r"^(?:over|on)\s+", "", text)
        if kind == "fill" and (not then or " with " in text):
            return self._fill(text)
        if kind == "set":
            return []
        if kind in ("hover", "tick", "read", "wait"):
            return self._make[kind](text)
        return self.path(text) or self._press(text)

    def control(self, text: str) -> phrases.NamedControl:
        """The control a phrase of a warning names."""
        return phrases.control(text, self._source)

    def _control(self, text: str) -> phrases.NamedControl:
        return phrases.control(text, self._source, self._known)

    def _all_of(self, kind: StepKind, text: str) -> list[ProcedureStep]:
        """One step for each of the controls listed ("A, B and C")."""
        parts = _LISTED.split(text)
        if len(parts) < 2 or not all(_LISTED_ONE.match(part) for part in parts):
            return self._of(kind, text)
        return [step for part in parts for step in self._of(kind, part)]

    def _of(self, kind: StepKind, text: str, role: str = "") -> list[ProcedureStep]:
        one = self._control(text)
        return [_step(kind, replace(one, role=role or one.role))] if one else []

    def _address(self, text: str) -> list[ProcedureStep]:
        addresses = [mark for mark in MARK.finditer(text) if mark[1] == "a"]
        if not addresses:
            return []
        if len(addresses) > 1 and _LISTED_ADDRESSES.match(text):
            return [
                ProcedureStep(kind=StepKind.OPEN, target=phrases.address(self._source.get(one)))
                for one in addresses
            ]
        found = addresses[0]
        example = re.search(
            r"\b(?:eg|e\.g\.|like|such as|for example|example)\W*$", text[: found.start()], re.IGNORECASE
        )
        target = phrases.address(self._source.get(found), example=bool(example))
        return [ProcedureStep(kind=StepKind.OPEN, target=target)]

    def _open(self, rest: str) -> list[ProcedureStep]:
        return self._address(rest) or self._press(rest)

    def _press(self, rest: str) -> list[ProcedureStep]:
        if made := self.path(rest):
            return made
        mark = MARK.search(rest)
        if mark is not None and mark[1] == "a":
            return self._address(rest)
        if re.match(r"(?:it|this|that|them|there)\b(?!\s+\w+\s+(?:button|link))", rest, re.IGNORECASE):
            return [ProcedureStep(kind=StepKind.PRESS, target=phrases.PREVIOUS)]
        return self._all_of(StepKind.PRESS, rest)

    def _tick(self, rest: str) -> list[ProcedureStep]:
        if re.match(r"(?:it|them|this|that)\b", rest, re.IGNORECASE):
            return [ProcedureStep(kind=StepKind.PRESS, target=phrases.PREVIOUS, role="checkbox")]
        return [replace(step, role="checkbox") for step in self._all_of(StepKind.PRESS, rest)]

    def _read(self, rest: str) -> list[ProcedureStep]:
        named = re.search(r"(?:begins?|starts?)\s+with\s+(.+)$", rest)
        rest = re.sub(r"^(?:the\s+)?column\s+of\s+(?=[a-z])", "", rest)
        one = phrases.control(named[1] if named else rest, self._source)
        return [_step(StepKind.READ, replace(one, role=""))] if one else []

    def _wait(self, rest: str) -> list[ProcedureStep]:
        rest = re.sub(r"\s+(?:appears?|is|are|shows?|comes?|has|have|disappears?|turns?)\b.*$", "", rest)
        one = self._control(rest)
        return [_step(StepKind.WAIT, replace(one, role="", near="", where=""))] if one else []

    def _set(self, rest: str) -> list[ProcedureStep]:
        parts = _SETTINGS.split(rest)
        if len(parts) > 1:
            return [step for part in parts for step in self._set(part)]
        found = re.match(
            r"(?P<field>.+?)(?<!\bnext)\s+to\s+(?!the\s+(?:right|left)\b)(?P<value>.+)$", rest
        ) or re.match(r"(?P<field>.+?)\s+(?:on|as)\s+(?P<value>.+)$", rest)
        if found is None:
            return []
        value = re.sub(r"\s+(?:in|of|from)\s+(?:the|your)\s+task\b.*$", "", found["value"])
        one = self._control(found["field"])
        if one.role == "field" or _TEXT_VALUE.search(value) or _TEXT_VALUE.search(one.name):
            return self._filled(found["field"], found["value"])
        return self._chosen(found["field"], found["value"])

    def _choose(self, rest: str) -> list[ProcedureStep]:
        if made := self.path(rest):
            return made
        if re.search(r"\sfrom\s.+\sto\s", rest):
            return []  # a range is no option
        if (pair := _FIELD_AND_VALUE.match(rest)) is not None:
            return self._chosen(pair["field"], pair["value"])
        found = re.match(
            r"(?P<value>.+?)\s+(?:in|under|from|for|at|as|beside|next\s+to)\s+(?P<field>.+)$", rest
        )
        if found is not None and self._is_field(found["field"]):
            value = found["value"]
            if (
                MARK.search(value)
                or re.fullmatch(r"the\s+\w+", value)
                or not re.search(r"\b(?:tab|button|link|icon|menu)\b", value)
            ):
                return self._chosen(found["field"], value)
        if found is not None and _OPENED_LIST.match(found["field"]):
            rest = found["value"]
        return self._of(StepKind.PRESS, rest)

    def _is_field(self, text: str) -> bool:
        bare = text.strip()
        if re.match(
            r"the\s+(?:row|line|menu|toolbar|bar|side ?bar|dialog|header|footer|page|top|left|right)\b",
            bare,
            re.IGNORECASE,
        ):
            return False
        if _OPENED_LIST.match(bare):
            return False
        one = self._control(bare)
        return bool(MARK.match(bare)) or one.role in ("select", "field") or one.name[:1].isupper()

    def _chosen(self, field: str, value: str) -> list[ProcedureStep]:
        one = self._control(field)
        role = "" if one.role in ("heading",) else one.role
        if not one:
            return []
        given = phrases.value(_cut(value), self._source)
        if re.fullmatch(r"[a-z]{3,}", value) and value not in self._known and value not in one.name.lower():
            given = value  # an option in small letters: "set Status to stalled"
        return [_step(StepKind.CHOOSE, replace(one, role=role), given)]

    def _replaced(self, rest: str) -> list[ProcedureStep] | None:
        """``replace X in Y with V``, ``overwrite Y with V``, ``replace X in Y``: Y is the field."""
        old = re.match(
            r"(?P<old>.+?)\s+(?:in|of|under)\s+(?P<field>[^,]+?)(?:\s+(?:with|by)\s+(?P<new>.+))?$", rest
        )
        if old is not None:
            return self._filled(old["field"], old["new"] or old["old"])
        whole = re.match(r"(?P<field>.+?)\s+(?:with|by)\s+(?P<new>.+)$", rest)
        return self._filled(whole["field"], whole["new"]) if whole is not None else None

    def _fill(self, rest: str) -> list[ProcedureStep]:
        if (there := re.match(r"(?P<value>.+?)\s+(?:in\s+)?there$", rest)) is not None:
            return self._filled("there", there["value"])
        if (both := _BOTH.match(rest)) is not None:
            fields, values = (re.split(r"\s+and\s+", both[name]) for name in ("fields", "values"))
            if len(values) == 1:
                values *= 2
            return [
                step for pair in zip(fields, values, strict=False) for step in self._filled(pair[0], pair[1])
            ]
        if (pairs := self._filled_with(rest)) is not None:
            return pairs
        made: list[ProcedureStep] = []
        for part in re.split(r"(?:,?\s+and\s+|,\s+)(?=[^,]{1,80}?\s(?:into|in|to|under)\s)", rest):
            found = re.match(r"(?P<value>.+?)\s+into\s+(?P<field>.+)$", part) or re.match(
                r"(?P<value>.+?)\s+(?:into|in|to|as|under|at|on)\s+(?P<field>.+)$", part
            )
            made += self._filled(found["field"], found["value"]) if found is not None else self._unnamed(part)
        return made

    def _unnamed(self, text: str) -> list[ProcedureStep]:
        """A fill of which only one thing is told: a field's name, or in small letters what to type."""
        made = self._of(StepKind.FILL, text)
        if (
            len(made) != 1
            or MARK.search(text)
            or made[0].role
            or made[0].near
            or not _SMALL_THING.fullmatch(text)
        ):
            return made
        words = re.sub(r"^(?:the|an?|your)\s+", "", text)
        return [replace(made[0], target=words, value=phrases.placeholder(words))]

    def _filled_with(self, rest: str) -> list[ProcedureStep] | None:
        """``A with x and B with y``, ``A and B with x and y``, ``A and B``: one step for each field."""
        if re.search(r"\s(?:into|in)\s.*\swith\s", rest):
            return None
        parts = re.split(r"\s+and\s+(?=[^,]{1,60}?\s+with\s)|,\s+(?:and\s+)?(?=[^,]{1,60}?\s+with\s)", rest)
        if all(" with " in part for part in parts):
            pairs = [part.split(" with ", 1) for part in parts]
        elif " with " in rest:
            fields, _, values = rest.partition(" with ")
            names = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", fields)
            given = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", values)
            pairs = [
                [name, given[place] if len(given) == len(names) else values]
                for place, name in enumerate(names)
            ]
        elif re.search(r"\s(?:into|in|to|as|under|at|on)\s", rest):
            return None
        else:
            names = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", rest)
            named = (name for name in names if not _ABSTRACT.match(name))
            return [step for name in named for step in self._unnamed(name)]
        return [step for name, value in pairs for step in self._filled(name, value)]

    def _filled(self, field: str, value: str) -> list[ProcedureStep]:
        if re.match(r"(?:it|there|that|them)\b", field, re.IGNORECASE):
            one = phrases.NamedControl(phrases.PREVIOUS)
            return [_step(StepKind.FILL, one, self._value(value))]
        one = self._control(field)
        if not one:
            return []
        return [_step(StepKind.FILL, one, self._value(value))]

    def _value(self, text: str) -> str:
        """The value of a phrase; of "it" the thing that the condition is about, for that is what the task gives."""
        if not re.match(r"(?:it|this|that|them)$", text.strip(), re.IGNORECASE):
            return phrases.value(_cut(text), self._source)
        return phrases.placeholder(self._topic) if self._topic else ""


_SMALL_THING = re.compile(r"(?:the|an?|your)\s+[a-z][a-z-]*(?:\s+[a-z][a-z-]*){0,2}")
_SETTINGS = re.compile(r"(?:\s+and|,(?:\s+and)?)\s+(?=[^,]{1,60}\sto\s)")
_NAME_ITSELF = rf"(?:{MARK.pattern.replace('(', '(?:', 2)}|[A-Z][\w-]*(?:\s+[A-Z][\w-]*){{0,2}})"
_BOTH = re.compile(
    rf"(?P<values>(?:both|the\s+two)\s[\w\s-]+?|(?:the|an?)\s[^,]+?\s+and\s+[^,]+?)\s+(?:into|in)\s+"
    rf"(?P<fields>{_NAME_ITSELF}\s+and\s+{_NAME_ITSELF})$"
)
"""Two values for two fields: ``the name and the street into Name and Street``."""

_LISTED = re.compile(r"\s*,\s+(?:and\s+|then\s+)*|\s+and\s+(?:then\s+)?")
_LISTED_ONE = re.compile(
    rf"(?:the\s+(?:[a-z-]+\s+){{0,2}})?(?:{MARK.pattern.replace('(', '(?:', 2)}|[A-Z])|(?:the|an?)\s+[a-z]"
)
_LISTED_ADDRESSES = re.compile(r"\ue000a\d+\ue001(?:\s*,?\s*(?:and|then)?\s*\ue000a\d+\ue001)+\W*$")
_OPENED_LIST = re.compile(
    r"(?:the|that|its)\s+(?:list|menu|drop-?down)(?:\s+(?:that|which)\s.*)?$", re.IGNORECASE
)
"""A list without a name: the step before opened it, and its entries are pressed."""

_TEXT_VALUE = re.compile(
    r"\b(?:title|name|text|amount|price|address|description|comment|message|quantity|qty|date|day|number|e-?mail|subject|url|slug)$",
    re.IGNORECASE,
)
"""Values that are typed and not chosen."""

_FIELD_AND_VALUE = re.compile(
    r"(?P<field>[A-Z][\w-]*(?:\s+(?!in\b|under\b|from\b|for\b|at\b|as\b|on\b|or\b|and\b)[\w-]+){0,2})\s+(?P<value>\ue000q\d+\ue001)$"
)
"""``choose Status "Pending"``."""


def _cut(value: str) -> str:
    return re.sub(r"\s+(?:so that|in order|before|after)\b.*$|\s+(?:first|instead)$", "", value)


def _step(kind: StepKind, one: phrases.NamedControl, value: str = "") -> ProcedureStep:
    return ProcedureStep(
        kind=kind, target=one.name, role=one.role, near=one.near, where=one.where, value=value
    )
