"""A sentence of a tip cut into clauses, each of one kind."""

from __future__ import annotations

from dataclasses import dataclass, field

from kb.compiler.lexicon import (
    BASE,
    DETERMINERS,
    GERUND,
    ROLES,
    SIDES,
    SUBORDINATORS,
    words,
)
from kb.compiler.names import run_at
from kb.compiler.openings import (
    ClauseKind,
    Opening,
    finite_at,
    imperative,
    negated,
    opening,
    skip_leads,
    subordinate,
)
from kb.compiler.tokens import Sort, Token, Tokens
from kb.compiler.verbs import Imperative, lows, verb_at, verb_here

FRONTED = frozenset(
    [
        ClauseKind.COND,
        ClauseKind.TIME,
        ClauseKind.PURPOSE,
        ClauseKind.FRONT,
        ClauseKind.INSTEAD,
        ClauseKind.REASON,
    ]
)


@dataclass(slots=True)
class TipClause:
    """A clause; ``word`` is the word that makes its kind, ``joint`` the words and marks before it."""

    kind: ClauseKind
    tokens: Tokens = field(default_factory=list[Token])
    joint: frozenset[str] = frozenset()
    leads: frozenset[tuple[str, ...]] = frozenset()
    word: str = ""
    verb: Imperative | None = None
    fronted: bool = False


_JOINTS = frozenset(["and", "or", "but", "then", "so", "&", "than"])


_JOINT_MARKS = frozenset([",", ":", "-", "...", "…", "."])


_BUTTONS = words(
    "ok go enter next done save submit send apply search update create add confirm continue finish"
)


def clauses(tokens: Tokens) -> list[TipClause]:
    """The clauses of a sentence."""
    made: list[TipClause] = []
    first = opening(tokens, 0, begins=True)
    now, place = _opened(first, tokens, 0, frozenset())
    acted = now.kind is ClauseKind.ACT
    now.fronted = True
    while place < len(tokens):
        if length := run_at(tokens, place):
            now.tokens += tokens[place : place + length]
            place += length
            continue
        found = _boundary(tokens, place, now, acted)
        if found is None:
            now.tokens.append(tokens[place])
            place += 1
            continue
        made.append(now)
        at, opened, joint = found
        now, place = _opened(opened, tokens, at, joint)
        now.fronted = not acted
        acted = acted or now.kind in (ClauseKind.ACT, ClauseKind.MORE)
    made.append(now)
    return made


def _opened(
    found: Opening | None, tokens: Tokens, place: int, joint: frozenset[str]
) -> tuple[TipClause, int]:
    if found is None:
        start, leads = skip_leads(tokens, place)
        return TipClause(ClauseKind.REST, joint=joint, leads=leads), start
    clause = TipClause(found.kind, [], joint, found.leads, found.word, found.verb)
    return clause, found.start


def _boundary(
    tokens: Tokens, place: int, now: TipClause, acted: bool
) -> tuple[int, Opening | None, frozenset[str]] | None:
    """Where the next clause begins, what opens it and how it is joined; None if none begins at ``place``."""
    end = place
    joint: set[str] = set()
    while end < len(tokens) and (
        _is_joint(tokens, end) or (tokens[end].sort is Sort.MARK and tokens[end].text in _JOINT_MARKS)
    ):
        joint.add(tokens[end].low)
        end += 1
    if tokens[place].sort is Sort.LETTER:
        joint.add("letter")
    if not joint:
        return _inside(tokens, place, now, acted)
    if end >= len(tokens):
        return None
    fixed = frozenset(joint | ({"then"} if "than" in joint else set()))
    found = opening(tokens, end, joint=fixed)
    if now.kind is ClauseKind.FRONT or (now.kind in FRONTED and not acted):
        return _after_front(tokens, end, now, found, fixed)
    if (
        now.kind is ClauseKind.STATE
        and not joint & {",", ":", "-", "but", "so"}
        and found is not None
        and found.kind in (ClauseKind.STATE, ClauseKind.UNKNOWN)
    ):
        return None
    if now.kind is ClauseKind.WARN and found is not None and _carries_on(found, joint):
        return None
    if found is not None:
        return end, found, fixed
    return _continued(tokens, end, now, fixed)


def _carries_on(found: Opening, joint: set[str]) -> bool:
    """Whether a negation holds for the next verb too ("do not press A or tick B")."""
    other = bool(found.leads & {("instead",), ("then",), ("rather",), ("finally",)})
    return found.kind is ClauseKind.ACT and ("or" in joint or (joint == {"and"} and not other))


def _is_joint(tokens: Tokens, place: int) -> bool:
    """Whether a joint stands there; "than" is a slip for "then" where a clause may begin."""
    if tokens[place].low != "than":
        return tokens[place].low in _JOINTS
    return place > 0 and tokens[place - 1].low in (",", "and", ";")


def _after_front(
    tokens: Tokens, end: int, now: TipClause, found: Opening | None, joint: frozenset[str]
) -> tuple[int, Opening | None, frozenset[str]] | None:
    """The end of a clause that stands before the main one: a comma or colon, not "or"."""
    if "or" in joint or not joint & {",", ":", "-", "then", "so"}:
        return None
    if found is None:
        return (
            _continued(tokens, end, now, joint)
            if joint & {":", "-", "then"} or _is_path(tokens, end)
            else None
        )
    return end, found, joint


def _is_path(tokens: Tokens, place: int) -> bool:
    if place < len(tokens) and tokens[place].sort is Sort.ADDRESS:
        return True
    for token in tokens[place : place + 9]:
        if token.sort is Sort.ARROW:
            return True
        if token.sort is Sort.MARK:
            return False
    return False


def _continued(
    tokens: Tokens, end: int, now: TipClause, joint: frozenset[str]
) -> tuple[int, Opening | None, frozenset[str]] | None:
    start, leads = skip_leads(tokens, end)
    if start >= len(tokens):
        return None
    path = _is_path(tokens, start)
    ordered = "then" in joint or bool(
        leads
        & {
            ("then",),
            ("finally",),
            ("last",),
            ("next",),
            ("afterwards",),
            ("lastly",),
            ("after", "that"),
            ("at", "last"),
            ("second",),
            ("again",),
            ("there",),
            ("always",),
        }
    )
    token = tokens[start]
    thing = (
        token.is_named
        or token.low in (DETERMINERS | ROLES.keys()) - {"any", "all"}
        or token.low in ("over", "on")
    )
    other = "or" in joint and (
        (now.kind in (ClauseKind.ACT, ClauseKind.MORE) and thing) or (now.kind is ClauseKind.REST and path)
    )
    typed = now.verb is not None and now.verb.frame == "fill" and now.verb.verb != "fill"
    if (
        now.verb is not None
        and now.verb.frame in ("fill", "set", "replace", "choose")
        and _stands_alone(tokens, start)
    ):
        valued = any(one.low in ("to", "with", "into", "in", "under") for one in now.tokens)
        button = (token.low.split()[:1] and token.low in BASE) or token.text.split()[0].lower() in _BUTTONS
        if valued and ("," in joint or button):
            return end, Opening(ClauseKind.MORE, start, leads), joint
    if typed and set(joint) == {","} and token.is_capital and _stands_alone(tokens, start):
        return end, Opening(ClauseKind.MORE, start, leads), joint
    if other and token.is_capital and _is_landmark_end(now.tokens):
        return None
    if "letter" in joint or ordered or other or (path and joint & {":", "-", ","}):
        return end, Opening(ClauseKind.MORE, start, leads), joint
    if joint & {":", "-", "but", "...", "…", "so"}:
        return end, Opening(ClauseKind.REST, start, leads), joint
    return None


def _stands_alone(tokens: Tokens, place: int) -> bool:
    """Whether a name in capitals ends at a joint ("type the name, Enter")."""
    after = place + (1 if tokens[place].sort is Sort.NAME else run_at(tokens, place))
    return after > place and (
        after >= len(tokens) or tokens[after].sort is Sort.MARK or tokens[after].low in _JOINTS
    )


def _is_landmark_end(tokens: Tokens) -> bool:
    """Whether a clause ends with a landmark in capitals ("under Link", before "or HTML")."""
    place = len(tokens) - 1
    while place > 0 and tokens[place].is_capital:
        place -= 1
    return 0 < place < len(tokens) - 1 and tokens[place].low in SIDES


def _inside(
    tokens: Tokens, place: int, now: TipClause, acted: bool
) -> tuple[int, Opening | None, frozenset[str]] | None:
    """A clause that begins without a joint: a subordinate one, a contrast, or a verb after a place."""
    token = tokens[place]
    if not token.is_word or token.text[0].isupper():
        return None
    if not now.tokens and now.kind is not ClauseKind.ACT:
        return None
    if now.kind is ClauseKind.FRONT and token.low == "you" and verb_at(tokens, place + 1) is not None:
        return place, opening(tokens, place), frozenset()
    if (now.kind is ClauseKind.FRONT or (now.kind in FRONTED and now.fronted)) and verb_here(tokens, place):
        return place, imperative(tokens, place, frozenset(), False), frozenset()
    two = lows(tokens, place, 2)
    if now.kind in FRONTED and now.fronted and (two == ("do", "not") or token.low in ("don't", "never")):
        return place, negated(tokens, place, frozenset()), frozenset()
    if (
        two in (("instead", "of"), ("rather", "than"), ("in", "order"))
        or (two == ("so", "that") and lows(tokens, place + 2, 1)[:1] != ("is",))
        or (token.low == "not" and now.kind is ClauseKind.ACT and two != ("not", "only"))
    ):
        return (
            place,
            negated(tokens, place, frozenset()) or subordinate(tokens, place, frozenset(), False),
            frozenset(),
        )
    if now.verb is not None and now.verb.frame == "wait" and not now.tokens:
        return None
    if (start := _excepted(tokens, place, now)) > 0:
        return place, Opening(ClauseKind.WARN, start, word="without"), frozenset()
    if token.low == "without" and verb_at(tokens, place + 1, gerund=True) is not None:
        return place, Opening(ClauseKind.WARN, place + 1, word="without"), frozenset()
    return _time_inside(tokens, place, now)


def _excepted(tokens: Tokens, place: int, now: TipClause) -> int:
    """The place of what is left out ("tick all except X"); 0 if nothing is."""
    if now.kind is not ClauseKind.ACT or now.verb is None or now.verb.verb in ("leave", "keep", "ignore"):
        return 0
    two = lows(tokens, place, 2)
    start = place + 1 if two[0] == "except" else place + 2 if two in _EXCEPT else 0
    start += 1 if start and lows(tokens, start, 1) == ("for",) else 0
    return start if start and start < len(tokens) and tokens[start].low not in SUBORDINATORS else 0


_EXCEPT = frozenset([("apart", "from"), ("aside", "from"), ("other", "than"), ("but", "not")])


def _time_inside(
    tokens: Tokens, place: int, now: TipClause
) -> tuple[int, Opening | None, frozenset[str]] | None:
    token = tokens[place]
    if token.low in (
        "if",
        "unless",
        "when",
        "whenever",
        "until",
        "till",
        "because",
        "since",
        "while",
        "although",
        "wherever",
        "whatever",
    ):
        split = True
    elif token.low in ("before", "after", "once"):
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        split = following is not None and (
            following.low in ("you", "having")
            or lows(tokens, place + 2, 2)[:1] in (("click",), ("press",), ("tap",))
            or following.low in GERUND
            or finite_at(tokens, place + 1) >= 0
        )
    else:
        split = False
    if not split or (now.kind is ClauseKind.WARN and token.low in ("because", "since")):
        split = split and now.kind is not ClauseKind.WARN
    return (place, subordinate(tokens, place, frozenset(), False), frozenset()) if split else None
