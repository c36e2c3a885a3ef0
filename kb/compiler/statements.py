"""Statements of tips that say how something is reached: a place, an address, an instrument."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from kb.compiler import names, phrases
from kb.compiler.arguments import listed
from kb.compiler.frames import Frames
from kb.compiler.lexicon import DETERMINERS, LOCAL, PAST, words
from kb.compiler.tokens import Sort, Token, Tokens
from kb.compiler.verbs import Imperative, past_at, verb_at
from kb.procedure import ProcedureStep, StepKind

_GOES = words("goes go belongs belong comes come")
_IS = words("is are stands stand sits sit lies lie lives live hides hide appears appear")
_NONE = words("not no none nothing nobody nowhere never")
_TELLS = words("tells shows gives has holds lists says counts contains")
_COLUMNS = words("column line row field")


@dataclass(slots=True)
class Stated:
    """The outcome of a statement: steps, or one way for each address; ``other`` is another way to the steps before."""

    steps: list[ProcedureStep] = field(default_factory=list[ProcedureStep])
    ways: list[list[ProcedureStep]] = field(default_factory=list[list[ProcedureStep]])
    other: bool = False
    placed: bool = False
    """Whether it only says where a control is."""


def stated(tokens: Tokens, finite: int, frames: Frames) -> Stated:
    """Read what a statement says about the way to something."""
    subject, rest = tokens[:finite], tokens[finite:]
    lows = [one.low for one in rest if one.is_word]
    if not _NONE.isdisjoint([*lows[:3], subject[0].low]) or (lows[0] or "").endswith("n't"):
        return Stated()
    return (
        _nominal(subject, frames)
        or _wanted(subject, rest, lows, frames)
        or _hidden(subject, rest, lows)
        or _final(subject, rest, lows, frames)
        or _same(subject, rest, lows, frames)
        or _goes_into(subject, rest, lows, frames)
        or _address(subject, rest, tokens)
        or _path(subject, rest, frames)
        or _gets(subject, rest, lows, frames)
        or _passive(subject, rest, lows, frames)
        or _instrument(rest, lows, frames)
        or _column(subject, lows)
        or _place(subject, rest, lows, frames)
        or Stated()
    )


def _nominal(subject: Tokens, frames: Frames) -> Stated | None:
    """``A click on X opens ...``."""
    lows = [one.low for one in subject]
    gerund = verb_at(subject, 0, begins=True, gerund=True)
    if gerund is not None and gerund.frame in ("press", "tick") and any(one.is_named for one in subject[1:]):
        return Stated(frames.steps(gerund, subject[gerund.end :], []))
    for place, low in enumerate(lows[:4]):
        if low in ("click", "press", "tap", "clicking", "pressing") and lows[place + 1 : place + 2] == ["on"]:
            return Stated(frames.steps(Imperative("press", "press", 0), subject[place + 2 :], []))
    return None


_ENDS = words(
    "finishes ends completes concludes confirms saves submits stores finalises finalizes sends does"
)


def _final(subject: Tokens, rest: Tokens, lows: list[str], frames: Frames) -> Stated | None:
    """``X finishes it``: the button that ends the way."""
    named = len(subject) <= 4 and any(one.sort is Sort.NAME for one in subject)
    if (
        not named
        or lows[0] not in _ENDS
        or lows[1:2] not in (["it"], ["this"], ["that"], ["all"], ["everything"], [])
    ):
        return None
    return Stated(frames.steps(Imperative("press", "press", 0), subject, []))


def _wanted(subject: Tokens, rest: Tokens, lows: list[str], frames: Frames) -> Stated | None:
    """``X is what you want``, ``what you need is X``."""
    if (
        lows[0] == "is"
        and subject[0].low in ("what", "all")
        and subject[-1].low in ("need", "want", "press", "use")
    ):
        return (
            Stated(frames.steps(Imperative("press", "press", 0), rest[1:], []))
            if phrases.is_control(rest[1:])
            else None
        )
    named = len(subject) <= 4 and any(one.sort is Sort.NAME for one in subject)
    if (
        not named
        or lows[0] != "is"
        or lows[1:4] not in (["what", "you", "want"], ["what", "you", "need"], ["the", "right", "one"])
    ):
        return None
    return Stated(frames.steps(Imperative("press", "press", 0), subject, []))


def _hidden(subject: Tokens, rest: Tokens, lows: list[str]) -> Stated | None:
    """``The reports hide under X``: X is the way to them."""
    at = next((place for place, one in enumerate(rest[:4]) if one.low in ("under", "behind", "in")), 0)
    hides = lows[0] in ("hide", "hides") or "hidden" in lows[:3]
    if not at or not hides or not any(one.is_named for one in rest[at + 1 : at + 4]):
        return None
    one = phrases.control(rest[at + 1 :])
    found = [ProcedureStep(kind=StepKind.PRESS, target=one.name, role=one.role)]
    if any(token.sort is Sort.NAME for token in subject):
        inner = phrases.control(subject)
        found.append(ProcedureStep(kind=StepKind.PRESS, target=inner.name, role=inner.role))
    return Stated(found, placed=True)


def _same(subject: Tokens, rest: Tokens, lows: list[str], frames: Frames) -> Stated | None:
    """``/x leads to the same page``: another way."""
    if "same" not in lows[:6] or not any(one.is_named or one.sort is Sort.ARROW for one in subject):
        return None
    if lows[0] not in (
        "leads",
        "lead",
        "does",
        "do",
        "opens",
        "goes",
        "brings",
        "has",
        "shows",
        "works",
        "is",
        "gives",
        "open",
        "show",
    ):
        return None
    if lows[0] in ("is", "has") and "menu" in lows:
        return None
    return Stated(frames.steps(Imperative("press", "press", 0), subject, []), other=True)


def _goes_into(subject: Tokens, rest: Tokens, lows: list[str], frames: Frames) -> Stated | None:
    start = next((place for place, one in enumerate(rest[:5]) if one.low in ("in", "into", "under")), 0)
    if not start or not phrases.is_control(rest[start + 1 :]) or any(one.is_named for one in subject):
        return None
    verbs = {
        "typed",
        "written",
        "entered",
        "put",
        "filled",
        "pasted",
        "go",
        "goes",
        "belongs",
        "comes",
        "belong",
    }
    if not set(lows[: start + 1]) & verbs:
        return None
    return Stated(frames.steps(Imperative("fill", "put", 0), [*subject, *rest[start:]], []))


def _address(subject: Tokens, rest: Tokens, tokens: Tokens) -> Stated | None:
    found = [one for one in tokens if one.sort is Sort.ADDRESS]
    if not found:
        return None
    steps = [
        ProcedureStep(kind=StepKind.OPEN, target=names.address(one.text, _number(tokens))) for one in found
    ]
    first = next(place for place, one in enumerate(tokens) if one.sort is Sort.ADDRESS)
    named = rest[0].low in ("is", "are") and tokens[first - 1].low in ("address", "url", "path")
    at_end = named or (
        first > 0
        and tokens[first - 1].low
        in (
            "at",
            "under",
            "on",
            "is",
            "are",
            "in",
            "via",
            ":",
            "called",
            "eg",
            "like",
        )
    )
    if first != 0 and not at_end and not any(one.sort is Sort.ADDRESS for one in subject):
        return None
    return Stated(ways=[[step] for step in steps]) if len(steps) > 1 and at_end else Stated(steps[:1])


def _number(tokens: Tokens) -> str:
    """The name of a number of an example address is called ("by its id, e.g. /way/12")."""
    lows = [one.low for one in tokens]
    if not {"eg", "like"} & set(lows):
        return ""
    return next((two for one, two in pairwise(lows) if one == "its"), "number")


def _path(subject: Tokens, rest: Tokens, frames: Frames) -> Stated | None:
    for part in (rest, subject):
        if any(one.sort is Sort.ARROW for one in part):
            return Stated(frames.steps(Imperative("press", "press", 0), part, []))
    return None


def _gets(subject: Tokens, rest: Tokens, lows: list[str], frames: Frames) -> Stated | None:
    """``The fields X and Y get the name and the street``."""
    if lows[0] not in ("get", "gets", "takes", "take") or not phrases.is_control(subject) or len(rest) < 2:
        return None
    if rest[1].sort is not Sort.SLOT and rest[1].low not in DETERMINERS:
        return None
    word = Token(Sort.WORD, "with", "with")
    return Stated(frames.steps(Imperative("fill", "fill", 0), [*subject, word, *rest[1:]], []))


def _passive(subject: Tokens, rest: Tokens, lows: list[str], frames: Frames) -> Stated | None:
    """``X must be filled with the name``."""
    if (
        lows[0] not in ("must", "should", "has", "have", "needs", "need", "is", "are")
        or "be" not in lows[1:3]
    ):
        return None
    at = next(place for place, one in enumerate(rest) if one.low == "be") + 1
    verb = past_at(rest, at)
    valued = verb is None and len(rest) == at + 1 and (rest[at].is_named or rest[at].sort is Sort.SLOT)
    if valued and lows[0] in ("must", "should") and any(one.sort is Sort.NAME for one in subject):
        word = Token(Sort.WORD, "to", "to")
        return Stated(frames.steps(Imperative("set", "set", 0), [*subject, word, rest[at]], []))
    if verb is None or verb.frame not in ("fill", "press", "tick", "choose", "set", "open", "replace"):
        return None
    return Stated(frames.steps(verb, [*subject, *rest[verb.end :]], []))


def _instrument(rest: Tokens, lows: list[str], frames: Frames) -> Stated | None:
    """``a page is saved with X``."""
    passive = any(one.low in PAST or one.low.endswith("ed") for one in rest[1:4]) and lows[0] in (
        "is",
        "are",
        "can",
        "must",
        "may",
        "gets",
    )
    for place, token in enumerate(rest[:9]):
        if token.low in ("by", "via", "through", *(("with", "using") if passive else ())) and place + 1 < len(
            rest
        ):
            named = rest[place + 1 :]
            if any(one.sort is Sort.NAME for one in named[:4]) and not any(
                one.is_named for one in rest[:place]
            ):
                return Stated(frames.steps(Imperative("means", "save", 0), rest[place:], []))
    return None


def _column(subject: Tokens, lows: list[str]) -> Stated | None:
    words = [one.low for one in subject if one.low not in DETERMINERS]
    if not words or words[0] not in _COLUMNS or lows[0] not in _TELLS:
        return None
    one = phrases.control(subject)
    named = one.name and any(token.is_named for token in subject)
    return Stated([ProcedureStep(kind=StepKind.READ, target=one.name)]) if named else None


def _place(subject: Tokens, rest: Tokens, lows: list[str], frames: Frames) -> Stated | None:
    """``X is at the top``, ``X is in the menu Y``."""
    one = phrases.control(subject)
    quoted = any(token.sort is Sort.NAME for token in subject)
    if not quoted or lows[0] not in _IS or len(listed(subject)) > 1 or one.near:
        return None
    start = next((place for place, token in enumerate(rest[:4]) if token.low in LOCAL), 0)
    if not start or rest[start].low not in ("at", "in", "on", "under", "inside", "within"):
        return None
    where = rest[start + 1 :]
    near, _ = phrases.place(rest[start:], frozenset())
    if near:
        return None
    found = [ProcedureStep(kind=StepKind.PRESS, target=one.name, role=one.role)]
    inside = phrases.control(where)
    named = any(token.is_named for token in phrases.core_of(where)[0])
    if (named and inside.role in ("menu", "tab")) or (named and rest[start].low == "under"):
        found.insert(0, ProcedureStep(kind=StepKind.PRESS, target=inside.name, role=inside.role))
    elif named or not ({token.low for token in where} & _SCREEN):
        return None
    return Stated(found, placed=True)


_SCREEN = words(
    "top bottom upper lower left right corner head foot header footer menu sidebar bar toolbar side"
)
