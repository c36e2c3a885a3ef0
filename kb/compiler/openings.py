"""The openings of clauses: an imperative, a negation, a condition, a place, a statement."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kb.compiler.lexicon import (
    ADJECTIVES,
    BASE,
    DETERMINERS,
    FINITE,
    LEADS,
    LOCAL,
    LONG_LEADS,
    MODALS,
    PRONOUNS,
    ROLES,
    SIDES,
    STRONG,
    SUBORDINATORS,
    words,
)
from kb.compiler.names import run_at
from kb.compiler.tokens import Sort, Token, Tokens
from kb.compiler.verbs import Imperative, lows, verb_at, verb_here

Leads = frozenset[tuple[str, ...]]
"""The words that lead to a clause."""


class ClauseKind(StrEnum):
    """The kind of a clause."""

    ACT = "act"
    MORE = "more"
    """Things without a verb, which go on with the verb before."""
    WARN = "warn"
    INSTEAD = "instead"
    COND = "cond"
    TIME = "time"
    PURPOSE = "purpose"
    REASON = "reason"
    REL = "rel"
    FRONT = "front"
    """A place before its verb ("In the row of X press ...")."""
    STATE = "state"
    UNKNOWN = "unknown"
    """An imperative of an unknown verb."""
    REST = "rest"


@dataclass(frozen=True, slots=True)
class Opening:
    """The opening of a clause: its kind, where its words begin, and the words that lead to it."""

    kind: ClauseKind
    start: int
    leads: Leads = frozenset()
    word: str = ""
    verb: Imperative | None = None


_KEEP_OFF = (
    ("careful", "with"), ("carefull", "with"), ("stay", "away"), ("keep", "away"), ("stay", "off"),
    ("keep", "off"), ("stay", "clear"), ("keep", "clear"),
    ("steer", "clear"), ("hands", "off"), ("keep", "your"), ("beware", "of"), ("do", "not"), ("must", "not"),
    ("refrain", "from"), ("keep", "out"), ("watch", "out"), ("look", "out"), ("should", "not"),
)  # fmt: skip


NEGATORS = words("don't dont never not avoid without neither nor")


_UNKNOWN_NOT = words(
    "both all only even unlike like per plus no what how why when whether within amid that than such "
    "nor yet every each another most many few some any thanks note ok please between except despite "
    "above more"
)  # fmt: skip


_NOUNISH = words(
    "lists changes filters searches sorts uses works needs counts covers shows looks ends orders means "
    "starts holds costs matters saves returns adds reads"
)


_ORDINALS = frozenset(["first", "second", "third", "last", "next", "best", "fourth"])


def skip_leads(tokens: Tokens, place: int) -> tuple[int, Leads]:
    """The place after the words that only lead to a clause, and those words."""
    found: set[tuple[str, ...]] = set()
    while place < len(tokens):
        token = tokens[place]
        if token.sort is Sort.LETTER:
            found.add((token.low.strip("()"), ")"))
            place += 1
        elif token.sort is Sort.MARK and token.text in (",", ":", "-") and found:
            place += 1
        elif (lead := _lead_at(tokens, place)) and place + len(lead) <= len(tokens):
            found.add(lead)
            place += len(lead)
        else:
            break
    return place, frozenset(found)


def _lead_at(tokens: Tokens, place: int) -> tuple[str, ...]:
    token = tokens[place]
    if not token.is_word or (token.text[0].isupper() and not token.first):
        return ()
    for lead in LONG_LEADS:
        if lead[0] == token.low and lows(tokens, place, len(lead)) == lead:
            return lead
    if token.low in ("double", "right", "left") and lows(tokens, place + 1, 1) in (("click",), ("clicking",)):
        return (token.low,)
    if token.low == "do" and place + 1 < len(tokens) and tokens[place + 1].low in STRONG:
        return ("do",)
    if token.low == "you" and (verb := verb_at(tokens, place + 1)) is not None and verb.frame != "void":
        return ("you",)
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if token.low in LEADS and following is not None:
        if (
            token.low in _ORDINALS
            and following.is_word
            and not following.is_capital
            and following.low
            not in (
                BASE.keys()
                | DETERMINERS
                | LEADS
                | LOCAL
                | {"you", "not", "never", "don't", "comes", "come", "follows"}
            )
        ):
            return ()
        noun = (
            following.is_capital and token.first and token.low in ("last", "first", "next", "second", "third")
        )
        described = token.low in ADJECTIVES | {"last", "only"} and following.low in ROLES
        return () if noun or described or following.low == "of" else (token.low,)
    return ()


def opening(
    tokens: Tokens, place: int, begins: bool = False, joint: frozenset[str] = frozenset()
) -> Opening | None:
    """The kind of clause that begins at a place; None if what stands there goes on with the clause before."""
    start, leads = skip_leads(tokens, place)
    if start >= len(tokens):
        return None
    begins = begins or (begins is False and place == 0)
    return (
        negated(tokens, start, leads)
        or _for_case(tokens, start, leads, begins)
        or subordinate(tokens, start, leads, begins)
        or _comes(tokens, start, leads)
        or imperative(tokens, start, leads, begins)
        or _fronted(tokens, start, leads, begins)
        or _statement(tokens, start, leads)
        or _unknown(tokens, start, leads, begins, joint)
    )


def negated(tokens: Tokens, start: int, leads: Leads) -> Opening | None:
    low = tokens[start].low
    two = lows(tokens, start, 2)
    if two in (("instead", "of"), ("rather", "than"), ("in", "place")):
        return Opening(ClauseKind.INSTEAD, start + (2 if two[0] != "in" else 3), leads, low)
    if two in (("not", "before"), ("not", "until")):
        return Opening(ClauseKind.TIME, start + 2, leads, "after")
    if two == ("not", "only") or two == ("not", "every") or not tokens[start].is_word:
        return None
    minded = low == "mind" and start + 1 < len(tokens) and tokens[start + 1].is_named
    if low in NEGATORS or minded:
        return Opening(ClauseKind.WARN, start + 1, leads, low)
    if two in _KEEP_OFF:
        return Opening(ClauseKind.WARN, start + 2, leads, " ".join(two))
    if low == "no" and (len(tokens) == start + 1 or tokens[start + 1].sort is Sort.MARK):
        return Opening(ClauseKind.REST, start + 1, leads, "no")
    return None


def _for_case(tokens: Tokens, start: int, leads: Leads, begins: bool) -> Opening | None:
    """``for B choose Y`` after ``for A choose X``."""
    found = _fronted(tokens, start, leads, begins) if tokens[start].low == "for" else None
    return found if found is not None and found.kind is ClauseKind.FRONT else None


def _comes(tokens: Tokens, start: int, leads: Leads) -> Opening | None:
    """``Last comes X``: a thing in its order."""
    comes = tokens[start].low in ("comes", "come", "follows") and bool(leads - {("and",), ("or",), ("but",)})
    thing = start + 1 < len(tokens) and (tokens[start + 1].is_named or tokens[start + 1].low in DETERMINERS)
    return Opening(ClauseKind.MORE, start + 1, leads) if comes and thing else None


_LONG = {
    ("in", "case"): (ClauseKind.COND, "if"),
    ("as", "long", "as"): (ClauseKind.COND, "if"),
    ("as", "soon", "as"): (ClauseKind.TIME, "once"),
    ("prior", "to"): (ClauseKind.TIME, "before"),
    ("in", "order", "to"): (ClauseKind.PURPOSE, "to"),
    ("so", "that"): (ClauseKind.PURPOSE, "to"),
}
"""Subordinators of several words."""


def subordinate(tokens: Tokens, start: int, leads: Leads, begins: bool) -> Opening | None:
    """The subordinate clause that begins at a place."""
    token, low = tokens[start], tokens[start].low
    following = tokens[start + 1] if start + 1 < len(tokens) else None
    if not token.is_word or (token.is_capital and not token.first and not begins):
        return None
    for long, (kind, word) in _LONG.items():
        if lows(tokens, start, len(long)) == long:
            return Opening(kind, start + len(long), leads, word)
    if low == "to" and following is not None and following.is_word:
        aim = following.low not in DETERMINERS and not following.is_capital
        return Opening(ClauseKind.PURPOSE, start + 1, leads, "to") if aim else None
    if low == "by" and (verb := verb_at(tokens, start + 1, gerund=True)) is not None:
        return Opening(ClauseKind.ACT, verb.end, leads, "by", verb)
    if _is_no_subordinator(low, following, begins):
        return None
    kind = SUBORDINATORS.get(low)
    return Opening(ClauseKind(kind), start + 1, leads, low) if kind else None


def _is_no_subordinator(low: str, following: Token | None, begins: bool) -> bool:
    """Whether "that" points to a thing, or "as" compares."""
    after = following.low if following is not None else ""
    return (low == "that" and (begins or after in FINITE)) or (low == "as" and after == "the" and not begins)


def imperative(tokens: Tokens, start: int, leads: Leads, begins: bool) -> Opening | None:
    verb = verb_at(tokens, start, begins)
    if (
        verb is not None
        and tokens[start].is_capital
        and run_at(tokens, start) == len(tokens) - start > 1
        and start == 0
        and (all(one.is_capital for one in tokens) and verb.frame in ("means", "vague", "void"))
    ):
        return Opening(ClauseKind.REST, start, leads)
    if verb is None or (_begins_name(tokens, start) and finite_at(tokens, start) > 0):
        return None
    return Opening(ClauseKind.ACT, verb.end, leads, verb.verb, verb)


def _begins_name(tokens: Tokens, start: int) -> bool:
    """Whether a capital verb may be the first word of a name ("Delete Review deletes ...")."""
    following = tokens[start + 1] if start + 1 < len(tokens) else None
    return (
        tokens[start].is_capital
        and following is not None
        and (following.is_capital or following.low in ("a", "and"))
    )


def _fronted(tokens: Tokens, start: int, leads: Leads, begins: bool) -> Opening | None:
    token = tokens[start]
    if token.low not in LOCAL | SIDES | {"next", "with", "right", "left"} or (
        token.is_capital and not (begins or token.first)
    ):
        return None
    if token.low in ("next", "right", "left") and lows(tokens, start + 1, 1) not in (("to",), ("of",)):
        return None
    if start == 0 or begins:
        return Opening(ClauseKind.FRONT, start, leads, token.low)
    place = start + 1
    while (
        place < len(tokens)
        and tokens[place].sort is not Sort.MARK
        and tokens[place].low not in ("and", "or", "then")
    ):
        if verb_here(tokens, place):
            return Opening(ClauseKind.FRONT, start, leads, token.low)
        place += 1
    inside = lows(tokens, start, 3)
    start += 2 if lows(tokens, start + 3, 1) == ("that",) else 0
    if (
        inside[:1] in (("in",), ("from",))
        and inside[2:] in (("menu",), ("list",), ("submenu",))
        and start + 3 < len(tokens)
        and (
            (tokens[start + 3].is_named and start + 4 >= len(tokens))
            or tokens[start + 3 :][0].sort is Sort.NAME
        )
    ):
        return Opening(ClauseKind.MORE, start + 3, leads)
    return None


def finite_at(tokens: Tokens, start: int) -> int:
    """The place of the verb of a statement that begins at ``start``; -1 if none is told."""
    place = start
    while place < len(tokens) and place < start + 24:
        token = tokens[place]
        if token.sort is Sort.MARK and token.text in ",:-":
            return -1
        if token.low in ("what", "whatever", "how", "whether") and place > start:
            return -1
        if (
            place > start
            and token.low in ("that", "which", "who")
            and tokens[place - 1].low not in (",", "so")
        ):
            place = _after_relative(tokens, place)
            continue
        if (
            place > start
            and token.low in SUBORDINATORS
            and token.low not in ("for", "before", "after", "where")
        ):
            return -1
        if place > start and _is_finite(tokens, place):
            return place
        place += 1
    return -1


def _after_relative(tokens: Tokens, place: int) -> int:
    """The place after the verb of a relative clause."""
    for at in range(place + 1, min(place + 8, len(tokens))):
        if _is_finite(tokens, at):
            return at + 1
    return place + 1


def _is_finite(tokens: Tokens, place: int) -> bool:
    token, before = tokens[place], tokens[place - 1]
    if not token.is_word or token.text[0].isupper() or before.low == "to":
        return False
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if token.low in FINITE:
        noun = token.low in _NOUNISH and (
            before.low in (DETERMINERS | ADJECTIVES) - {"only"}
            or following is None
            or (following.low in LOCAL | {"of", "and"} and not before.is_named)
        )
        return not noun
    quoted = before.sort in (Sort.NAME, Sort.ADDRESS) or before.low in ("it", "that", "this", "which")
    return (
        quoted
        and token.low.endswith("s")
        and token.low not in ROLES
        and token.low not in ("its", "this", "as", "was")
        and (len(token.low) > 3)
    )


def open_finite(tokens: Tokens) -> int:
    """The place of an unknown verb of a statement that begins a sentence ("A product gets ..."); -1 if none is told."""
    if not tokens:
        return -1
    length = run_at(tokens, 0)
    if tokens[0].low not in DETERMINERS and not (length and verb_at(tokens, 0, begins=True) is None):
        return -1
    for place in range(length or 2, min(9, len(tokens) - 1)):
        token, following = tokens[place], tokens[place + 1]
        if not token.is_word or (token.low in LOCAL | SIDES and not length):
            return -1
        verb = token.low.endswith("s") and not token.low.endswith(("ss", "'s")) and token.low not in ROLES
        if verb and (
            following.low in DETERMINERS | LOCAL | SIDES | PRONOUNS | {"everything", "money"}
            or following.is_named
        ):
            return place
    return -1


def _statement(tokens: Tokens, start: int, leads: Leads) -> Opening | None:
    if tokens[start].low in LOCAL | {"with"}:
        return None
    if finite_at(tokens, start) >= 0 or (start == 0 and open_finite(tokens) > 0):
        return Opening(ClauseKind.STATE, start, leads)
    return None


def _unknown(tokens: Tokens, start: int, leads: Leads, begins: bool, joint: frozenset[str]) -> Opening | None:
    token = tokens[start]
    following = tokens[start + 1] if start + 1 < len(tokens) else None
    if (
        following is None
        or not token.is_word
        or not (token.low.isalpha() and token.low.isascii())
        or (token.is_capital and not (begins or token.first))
    ):
        return None
    closed = (
        _UNKNOWN_NOT
        | FINITE
        | NEGATORS
        | DETERMINERS
        | LOCAL
        | SIDES
        | ROLES.keys()
        | ADJECTIVES
        | PRONOUNS
        | MODALS
        | {"of", "with", "right"}
    )
    if (
        token.low in closed
        or token.low.endswith(("ing", "ed", "ly"))
        or not (begins or joint & {"and", "then", ","})
    ):
        return None
    object_like = (
        following.low in ("the", "a", "an", "your", "its", "it", "all", "any") or following.sort is Sort.NAME
    )
    return Opening(ClauseKind.UNKNOWN, start + 1, leads, token.low) if object_like else None
