"""Clauses of tips: the imperative, and the step it makes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from kb.compiler import phrases
from kb.compiler.text import MARK, MarkedText
from kb.procedure import ProcedureStep, StepKind

_PRESS = (
    r"(?:double[- ]|right[- ]|left[- ])?click(?:ing)?(?:\s+on(?:to)?)?|press(?:ing)?(?:\s+on)?|"
    r"tap(?:ping)?(?:\s+on)?|hit(?:ting)?|"
    r"push(?:ing)?|toggl(?:e|ing)|expand(?:ing)?|collaps(?:e|ing)|unfold(?:ing)?|follow(?:ing)?|activat(?:e|ing)|"
    r"confirm(?:ing)?(?:\s+with|\s+by)?|finish(?:ing)?\s+with|sav(?:e|ing)\s+(?:with|by)|"
    r"submit(?:ting)?\s+(?:with|by)|(?:go|going)\s+on\s+with|continu(?:e|ing)\s+with|"
    r"us(?:e|ing)|clos(?:e|ing)\s+with|end\s+with|switch(?:ing)?\s+to|chang(?:e|ing)\s+to\s+(?=the)|"
    r"leave\s+(?:with|by)"
)
_OPEN = (
    r"go(?:ing)?(?=\s+(?:[\w']+\s+){1,3}>)|go(?:ing)?\s+(?:straight\s+|directly\s+|back\s+|over\s+)?(?:to|through|via|into|by)|goto|"
    r"visit(?:ing)?|open(?:ing)?(?:\s+up)?|"
    r"navigat(?:e|ing)\s+(?:directly\s+|straight\s+)?(?:to|through|via)|head(?:ing)?\s+to|"
    r"load(?:ing)?|brows(?:e|ing)\s+to|access(?:ing)?|"
    r"enter(?:ing)?\s+the\s+(?:address|url)(?=\s+\ue000a)|call(?:ing)?\s+up|append(?:ing)?|tak(?:e|ing)|"
    r"find(?:ing)?|get(?:ting)?\s+to|"
    r"reach(?:ing)?|jump(?:ing)?\s+to|start(?:ing)?\s+(?:at|from|on|in)|begin(?:ning)?\s+(?:at|on|"
    r"with|in)|return(?:ing)?\s+to|pull\s+up"
)
_HOVER = (
    r"hover(?:ing)?(?:\s+over|\s+on|\s+above)?|mouse\s+over|point(?:ing)?\s+(?:at|to)|(?:mov(?:e|ing)|"
    r"rest(?:ing)?|put)\s+the\s+(?:mouse|pointer|cursor)(?:\s+pointer)?\s+(?:over|to|on|onto|above)"
)
_FILL = (
    r"typ(?:e|ing)(?:\s+in)?|enter(?:ing)?|writ(?:e|ing)|put(?:ting)?|input(?:ting)?|insert(?:ing)?|"
    r"past(?:e|ing)|key\s+in|fill(?:ing)?(?:\s+in|\s+out)?"
)
_CHOOSE = r"choos(?:e|ing)|select(?:ing)?|pick(?:ing)?"
_SET = r"set(?:ting)?|chang(?:e|ing)|switch(?:ing)?"
_TICK = (
    r"(?:un)?tick(?:ing)?|(?:un)?check(?:ing)?(?=\s+(?:the\s+)?(?:check|tick|box|\ue000))|"
    r"mark(?:ing)?\s+the\s+(?=check|tick|box)"
)
_READ = (
    r"look(?:ing)?\s+(?:at|in|into|for)|read(?:ing)?(?:\s+off)?|compar(?:e|ing)|not(?:e|"
    r"ing)\s+(?:down\s+)?(?=the|\ue000)|count(?:ing)?(?=\s+the|\s+\ue000)|see(?=\s+(?:the|column|"
    r"\ue000))|inspect(?:ing)?"
)
_WAIT = r"wait(?:ing)?(?:\s+(?:until|for|till))"

VERB = rf"(?:{_PRESS}|{_OPEN}|{_HOVER}|{_FILL}|{_CHOOSE}|{_SET}|{_TICK}|{_READ}|{_WAIT})"
"""Every verb that makes a step, as the source of a regular expression."""

LEAD = (
    r"(?:and|or|but|then|next|now|first(?:ly)?|second(?:ly)?|third(?:ly)?|last(?:ly)?|finally|"
    r"afterwards?|after\s+that|after\s+this|"
    r"also|simply|just|please|either|instead|again|always|directly|there|here|rather|alternatively|"
    r"otherwise|at\s+last|"
    r"you(?:\s+(?:can|could|may|might|should|must|have\s+to|need\s+to|want\s+to))(?:\s+(?:also|"
    r"simply|just|always|then|instead|either))?|"
    r"it\s+is\s+(?:best|better|possible|enough|easier|safer|faster)\s+to|"
    r"(?:make|be)\s+sure\s+(?:to|you)|remember\s+to|try\s+to|by|to\s+do\s+so|with\s+that|so|"
    r"from\s+there|once\s+there)"
)
"""Words before an imperative that do not change it."""

_LEADING = re.compile(rf"^(?:{LEAD}\b\s*[,:]?\s+){{1,8}}", re.IGNORECASE)
_KINDS = tuple(
    (kind, re.compile(rf"^(?:{pattern})(?=\s|$|\ue000)\s*", re.IGNORECASE))
    for kind, pattern in (
        ("hover", _HOVER), ("wait", _WAIT), ("tick", _TICK), ("set", _SET), ("choose", _CHOOSE), ("read", _READ),
        ("open", _OPEN), ("press", _PRESS), ("fill", _FILL),
    )
)  # fmt: skip
_FIRST = tuple(sorted(_KINDS, key=lambda pair: pair[0] == "fill"))
_ARROW = r"\s*(?:>|→|->|=>|»|›|⇒)\s*"
_PART = (
    rf"(?:{MARK.pattern.replace('(', '(?:', 2)}|[A-Z0-9][\w&'’+.:!-]*(?:\s+(?!then\b|and\b|in\b|to\b|"
    rf"for\b|at\b|on\b|of\s+the\b|or\b|where\b|with\b|but\b|is\b|are\b|has\b|shows?\b|lists?\b|by\b|if\b|which\b|"
    rf"that\b|when\b|before\b|after\b|under\b|from\b|not\b)[\w&'’+.:!-]+){{0,5}})"
)
_OWN = r"(?:the|an?|your)\s+[\w'’]+(?:\s+(?!then\b|and\b|in\b|to\b|for\b|at\b|on\b|or\b|is\b|with\b)[\w'’]+){0,2}"
PATH = re.compile(rf"{_PART}(?:{_ARROW}\"?(?:{_PART}|{_OWN}))+|{_PART}(?:\s+/\s+{_PART})+")
"""A menu path: ``Reports > Orders``, ``Project / Yours / All``."""

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
    r"(?:what|whatever|everything|anything|nothing|all|options|to|how|whether)\b|\w+\s+(?:it|them)$",
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
    vague: bool = False


def imperative(clause: str) -> Imperative | None:
    """The imperative a clause begins with; None for a statement."""
    text = stripped(clause)
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
            place_name = before[place.end() :].strip()
            row = _ROW_OF.match(place_name)
            if (
                found.kind in ("choose", "fill")
                and _FIELD_NAME.match(place_name)
                and not _IN_FIELD.search(found.rest)
            ):
                return replace(found, rest=f"{found.rest} in {place_name}")
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

    def __init__(self, source: MarkedText, known: frozenset[str]) -> None:
        self._source, self._known = source, known
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
        }

    def steps(self, found: Imperative) -> list[ProcedureStep]:
        """The steps of an imperative; none if its object can't be told."""
        named = MARK.search(found.rest) or PATH.search(found.rest) or _SMALL_PATH.match(found.rest)
        if _ABSTRACT.match(found.rest) and not named:
            return []
        if found.vague and (_FORMAT.match(found.rest) or not (named or _NAMED_OBJECT.match(found.rest))):
            return []
        made = self._make[found.kind](found.rest)
        if found.near and made and not made[0].near:
            near = phrases.control(f"x in the row of {found.near}", self._source).near
            made[0] = replace(made[0], near=near, where="in")
        return made

    def path(self, text: str) -> list[ProcedureStep]:
        """One press for each part of the first menu path in a text."""
        found = PATH.search(text) or _SMALL_PATH.match(text)
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
        """The control a phrase names."""
        return self._control(text)

    def _control(self, text: str) -> phrases.NamedControl:
        return phrases.control(text, self._source, self._known)

    def _of(self, kind: StepKind, text: str, role: str = "") -> list[ProcedureStep]:
        one = self._control(text)
        return [_step(kind, replace(one, role=role or one.role))] if one else []

    def _address(self, text: str) -> list[ProcedureStep]:
        found = next((mark for mark in MARK.finditer(text) if mark[1] == "a"), None)
        if found is None:
            return []
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
        if re.match(r"(?:it|this|that|them)\b", rest, re.IGNORECASE):
            return [ProcedureStep(kind=StepKind.PRESS, target=phrases.PREVIOUS)]
        return self._of(StepKind.PRESS, rest)

    def _tick(self, rest: str) -> list[ProcedureStep]:
        return self._of(StepKind.PRESS, rest, role="checkbox")

    def _read(self, rest: str) -> list[ProcedureStep]:
        named = re.search(r"(?:begins?|starts?)\s+with\s+(.+)$", rest)
        one = phrases.control(named[1] if named else rest, self._source)
        return [_step(StepKind.READ, replace(one, role=""))] if one else []

    def _wait(self, rest: str) -> list[ProcedureStep]:
        rest = re.sub(r"\s+(?:appears?|is|are|shows?|comes?|has|have|disappears?|turns?)\b.*$", "", rest)
        one = self._control(rest)
        return [_step(StepKind.WAIT, replace(one, role="", near="", where=""))] if one else []

    def _set(self, rest: str) -> list[ProcedureStep]:
        found = re.match(r"(?P<field>.+?)\s+(?:to|on|as)\s+(?P<value>.+)$", rest)
        if found is None:
            return []
        return self._chosen(found["field"], found["value"])

    def _choose(self, rest: str) -> list[ProcedureStep]:
        if made := self.path(rest):
            return made
        if re.search(r"\sfrom\s.+\sto\s", rest):
            return []  # a range is no option
        if (pair := _FIELD_AND_VALUE.match(rest)) is not None:
            return self._chosen(pair["field"], pair["value"])
        found = re.match(r"(?P<value>.+?)\s+(?:in|under|from|for|at|as)\s+(?P<field>.+)$", rest)
        if found is not None and self._is_field(found["field"]):
            value = found["value"]
            if MARK.search(value) or not re.search(r"\b(?:tab|button|link|icon|menu)\b", value):
                return self._chosen(found["field"], value)
        return self._of(StepKind.PRESS, rest)

    def _is_field(self, text: str) -> bool:
        bare = text.strip()
        if re.match(
            r"the\s+(?:row|line|menu|toolbar|bar|side ?bar|dialog|header|footer|page|top|left|right)\b",
            bare,
            re.IGNORECASE,
        ):
            return False
        one = self._control(bare)
        return bool(MARK.match(bare)) or one.role in ("select", "field") or one.name[:1].isupper()

    def _chosen(self, field: str, value: str) -> list[ProcedureStep]:
        one = self._control(field)
        role = "" if one.role in ("heading",) else one.role
        if not one:
            return []
        return [_step(StepKind.CHOOSE, replace(one, role=role), phrases.value(_cut(value), self._source))]

    def _fill(self, rest: str) -> list[ProcedureStep]:
        if (pairs := self._filled_with(rest)) is not None:
            return pairs
        made: list[ProcedureStep] = []
        for part in re.split(r"(?:,?\s+and\s+|,\s+)(?=[^,]{1,80}?\s(?:into|in|to|under)\s)", rest):
            found = re.match(r"(?P<value>.+?)\s+into\s+(?P<field>.+)$", part) or re.match(
                r"(?P<value>.+?)\s+(?:into|in|to|as|under|at|on)\s+(?P<field>.+)$", part
            )
            made += (
                self._filled(found["field"], found["value"])
                if found is not None
                else self._of(StepKind.FILL, part)
            )
        return made

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
            return [step for name in named for step in self._of(StepKind.FILL, name)]
        return [step for name, value in pairs for step in self._filled(name, value)]

    def _filled(self, field: str, value: str) -> list[ProcedureStep]:
        one = self._control(field)
        if not one:
            return []
        return [_step(StepKind.FILL, one, phrases.value(_cut(value), self._source))]


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
