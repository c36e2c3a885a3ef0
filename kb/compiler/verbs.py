"""Verbs of tips: imperatives with their particles, participles, and where one begins a clause."""

from __future__ import annotations

from dataclasses import dataclass

from kb.compiler.lexicon import (
    ADJECTIVES,
    BASE,
    DETERMINERS,
    FINITE,
    GERUND,
    LEADS,
    LOCAL,
    MODALS,
    PARTICLES,
    PAST,
    PRONOUNS,
    ROLES,
    SIDES,
    STRONG,
    frame_of,
)
from kb.compiler.tokens import Sort, Token, Tokens

_POINTER = frozenset(["mouse", "pointer", "cursor"])


def lows(tokens: Tokens, start: int, count: int) -> tuple[str, ...]:
    """Small letters of some tokens."""
    return tuple(one.low for one in tokens[start : start + count])


@dataclass(frozen=True, slots=True)
class Imperative:
    """An imperative: its frame, its verb, and the place of its first argument."""

    frame: str
    verb: str
    end: int


def verb_at(tokens: Tokens, place: int, begins: bool = False, gerund: bool = False) -> Imperative | None:
    """The imperative (or the word on -ing) at a place."""
    if place >= len(tokens) or not tokens[place].is_word:
        return None
    token = tokens[place]
    if token.text[0].isupper() and not (begins or token.first):
        return None
    verb = GERUND.get(token.low) if gerund else (token.low if token.low in BASE else None)
    if verb is None:
        return None
    following, after = (*lows(tokens, place + 1, 2), "", "")[:2]
    if (following in FINITE and not tokens[place + 1].is_capital) or (
        place + 1 < len(tokens) and tokens[place + 1].sort is Sort.ARROW
    ):
        return None
    frame = frame_of(verb, following, after)
    if not gerund and not token.first and frame in ("means", "vague", "void") and _is_noun(tokens, place):
        return None
    if verb == "check" and frame == "tick" and not _is_box(tokens, place + 1):
        frame = "check"
    end = place + 2 if frame == "hover" and after in _POINTER else place + 1
    if frame == "tick" and verb not in ("tick", "untick", "check", "uncheck", "deselect"):
        return Imperative(frame, verb, _after_tick(tokens, place + 3))
    particles = PARTICLES.get(frame, "").split()
    while end < len(tokens) and tokens[end].low in particles and not tokens[end].is_capital:
        if (
            frame == "open"
            and tokens[end].low in ("for", "at", "with", "by", "in")
            and verb not in ("go", "start", "begin", "head")
        ):
            break
        end += 1
    return Imperative(frame, verb, end)


def _is_box(tokens: Tokens, place: int) -> bool:
    """Whether "check" is about a box, not about a look at something."""
    near = tokens[place : place + 6]
    near = near[: next((at for at, one in enumerate(near) if one.sort is Sort.MARK), len(near))]
    return any(
        one.is_named or one.low in ("box", "boxes", "checkbox", "checkboxes", "it", "them") for one in near
    )


def _after_tick(tokens: Tokens, place: int) -> int:
    """The place after "a tick in", "a check mark in front of"."""
    while place < len(tokens) and tokens[place].low in (
        "mark",
        "in",
        "at",
        "by",
        "for",
        "front",
        "of",
        "to",
        "into",
        "next",
        "before",
        "beside",
        "on",
    ):
        place += 1
    return place


def _is_noun(tokens: Tokens, place: int) -> bool:
    """Whether a word that may be a verb is a noun there, for another bare noun follows ("start date")."""
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if following is None or not following.is_word or following.is_capital:
        return False
    free = (
        DETERMINERS
        | LOCAL
        | SIDES
        | PRONOUNS
        | LEADS
        | ADJECTIVES
        | {
            "with",
            "of",
            "up",
            "off",
            "out",
            "down",
            "away",
            "back",
            "alone",
            "sure",
            "that",
            "nothing",
            "as",
            "everything",
            "if",
            "all",
            "until",
            "before",
            "after",
            "when",
            "once",
            "straight",
            "directly",
            "forward",
            "through",
            "what",
            "which",
            "whatever",
            "neither",
            "none",
            "both",
        }
    )
    return following.low not in free and not following.low.endswith("ly")


def past_at(tokens: Tokens, place: int) -> Imperative | None:
    """The participle at a place, read as its verb."""
    verb = PAST.get(tokens[place].low) if place < len(tokens) else None
    if verb is None:
        return None
    found = verb_at([Token(Sort.WORD, verb, verb), *tokens[place + 1 : place + 6]], 0)
    return Imperative(found.frame, verb, place + found.end) if found else None


def _acts_on(tokens: Tokens, place: int) -> bool:
    """Whether a word is a verb with a thing after it."""
    frame = BASE.get(tokens[place].low, ("", ""))[1]
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    return (
        frame not in ("", "void", "means", "vague")
        and following is not None
        and (following.is_named or following.sort is Sort.SLOT or following.low in DETERMINERS)
    )


def verb_here(tokens: Tokens, place: int) -> bool:
    """Whether an imperative begins a clause there without a comma before it."""
    token, before = tokens[place], tokens[place - 1]
    if (
        not (token.low in STRONG or _acts_on(tokens, place))
        or token.text[0].isupper()
        or before.sort is Sort.MARK
    ):
        return False
    if (
        before.is_word
        and not before.is_capital
        and before.low
        in (
            DETERMINERS
            | ADJECTIVES
            | LOCAL
            | SIDES
            | MODALS
            | PRONOUNS
            | {
                "to",
                "not",
                "and",
                "or",
                "you",
                "we",
                "i",
                "which",
                "who",
                "never",
                "don't",
                "next",
                "of",
                "with",
            }
        )
        - {
            "it",
            "them",
            "that",
            "this",
            "one",
            "below",
            "above",
            "in",
            "by",
            "left",
            "right",
            "top",
            "bottom",
        }
    ):
        return False
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if following is None or following.low in FINITE | {"of"} or following.low in ROLES:
        return False
    return token.low != "go" or following.low in (
        "to",
        "into",
        "straight",
        "directly",
        "through",
        "back",
        "over",
        "via",
    )
