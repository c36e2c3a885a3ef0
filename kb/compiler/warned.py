"""Warnings of tips: what a negation, a danger or a reason is about."""

from __future__ import annotations

from kb.compiler import names, phrases
from kb.compiler.arguments import listed, sections
from kb.compiler.lexicon import (
    ADJECTIVES,
    BASE,
    DANGER,
    DETERMINERS,
    FINITE,
    GERUND,
    HARM,
    LOCAL,
    NOTHING,
    PRONOUNS,
    SIDES,
    words,
)
from kb.compiler.names import run_at
from kb.compiler.tokens import Sort, Token, Tokens, written
from kb.compiler.verbs import verb_at

_NOT = words("not never don't mustn't shouldn't isn't aren't doesn't")
_NEEDLESS = words("needed necessary required only need every all always enough shown listed visible there")
_WRONG = words("bounds limits wrong broken useless unsafe dangerous forbidden taboo off-limits harmful")
_SKIPPED = words(
    "on to through with from of off away clear hands use for the your be touch into by up anything else "
    "ever just simply too it"
)
_GENERAL = words("you we they it this that there page task which these those one everything")


def mentioned(tokens: Tokens) -> list[str]:
    """Quoted names and addresses in a text, those of remarks too."""
    found: list[str] = []
    for token in tokens:
        if token.sort is Sort.REMARK:
            found += mentioned(list(token.inner))
        elif token.sort is Sort.ADDRESS:
            found.append(names.address(token.text))
        elif token.sort is Sort.NAME:
            found.append(names.slot(token.text))
    return found


def things(tokens: Tokens) -> list[str]:
    """The names of a subject or object: one, or those of a list; descriptions too."""
    plain = [Token(Sort.WORD, "and", "and") if one.low in ("or", "nor") else one for one in tokens]
    if any(one.sort is Sort.ARROW for one in plain):
        parts = [phrases.control(part).name for part in sections(plain)]
        return [" > ".join(parts)]
    if addresses := [names.address(one.text) for one in plain if one.sort is Sort.ADDRESS]:
        return addresses
    found: list[str] = []
    if (
        plain
        and plain[0].is_capital
        and plain[0].low in BASE
        and len(plain) > 1
        and not any(one.sort is Sort.NAME for one in plain)
    ):
        return [written(plain)]
    for part in listed(plain):
        name = phrases.control(part).name
        if name and name != names.PREVIOUS and name.lower() not in NOTHING | _GENERAL:
            found.append(name)
    return found


def forbidden(tokens: Tokens, verbal: bool = False) -> list[str]:
    """The things that the words after a negation are about."""
    start = _object(tokens, verbal)
    rest = tokens[start:]
    if not rest:
        return mentioned(tokens)
    if rest[0].low in PRONOUNS | NOTHING and not any(one.is_named for one in rest[:2]):
        return mentioned(rest)
    found = things(rest)
    rest_verb = next(
        (
            place
            for place, one in enumerate(rest)
            if place and one.low in ("or", "and", "nor") and _verb(rest, place + 1)
        ),
        0,
    )
    if rest_verb:
        return [*things(rest[:rest_verb]), *forbidden(rest[rest_verb + 1 :], verbal=True)]
    return found or mentioned(rest)


def _verb(tokens: Tokens, place: int) -> bool:
    return place < len(tokens) and tokens[place].low in BASE and not tokens[place].is_capital


def _object(tokens: Tokens, verbal: bool) -> int:
    """Where the object of a forbidden action begins."""
    place = 0
    while place < len(tokens) and tokens[place].low in (
        "ever",
        "just",
        "simply",
        "try",
        "to",
        "you",
        "again",
    ):
        place += 1
    verb = verb_at(tokens, place) or verb_at(tokens, place, gerund=True)
    if verb is not None:
        place = verb.end
    elif place + 1 < len(tokens) and (
        _is_unknown_verb(tokens, place) or (verbal and _is_plain(tokens[place]))
    ):
        place += 1
    while (
        place < len(tokens)
        and tokens[place].low in _SKIPPED - {"the", "your", "it"}
        and not tokens[place].is_capital
    ):
        place += 1
    if (
        place + 1 < len(tokens)
        and tokens[place].low in ("it", "them", "that", "anything", "your")
        and any(one.is_named for one in tokens[place:])
    ):
        named = next(at for at, one in enumerate(tokens) if at >= place and one.is_named)
        place = named
    return place


def _is_plain(token: Token) -> bool:
    closed = DETERMINERS | LOCAL | SIDES | PRONOUNS | NOTHING | ADJECTIVES
    return token.is_word and not token.is_capital and token.low not in closed


def _is_unknown_verb(tokens: Tokens, place: int) -> bool:
    token, following = tokens[place], tokens[place + 1]
    if not token.is_word or token.is_capital or token.low in DETERMINERS | LOCAL | SIDES | PRONOUNS:
        return False
    return (
        following.low in DETERMINERS | LOCAL | PRONOUNS | {"off", "away", "clear", "up"}
        or following.is_named
        or (token.low in GERUND)
    )


def named_runs(tokens: Tokens) -> list[str]:
    """Every name of a clause: quoted ones, addresses, and runs of capitals."""
    found: list[str] = []
    place = 0
    while place < len(tokens):
        length = run_at(tokens, place)
        found += [written(tokens[place : place + length])] if length else mentioned(tokens[place : place + 1])
        place += length or 1
    return found


def is_denied(tokens: Tokens, finite: int) -> bool:
    """Whether a statement says that its subject must not be used."""
    lows = [one.low for one in tokens[finite : finite + 7]]
    if set(lows) & _NEEDLESS:
        return False
    if lows[0] in (
        "must",
        "should",
        "may",
        "is",
        "are",
        "does",
        "do",
        "can",
        "mustn't",
        "shouldn't",
        "isn't",
        "doesn't",
        "has",
        "have",
    ):
        return _denied_by(lows)
    return False


def _denied_by(lows: list[str]) -> bool:
    negative = bool(set(lows[:3]) & _NOT)
    if lows[0] in ("must", "should", "may", "mustn't", "shouldn't"):
        return negative
    if negative and lows[0] in ("is", "are", "isn't"):
        return bool(
            {"to", "what", "meant", "for", "allowed", "wanted", "thing", "one", "it"} & set(lows[1:5])
        )
    if negative and lows[0] in ("does", "do", "doesn't"):
        return "work" in lows[1:4]
    left = "left" in lows and "alone" in lows and "can" not in lows
    return bool(_WRONG & set(lows[1:5])) or left or "avoided" in lows or "off-limits" in lows


def is_harmful(tokens: Tokens, finite: int) -> bool:
    """Whether a statement says that its subject does harm."""
    lows = [one.low for one in tokens[finite : finite + 4] if one.is_word]
    if any(one.startswith(DANGER) for one in lows[:2]) and "not" not in lows:
        return True
    return lows[:1] in (["acts"], ["act"]) or lows[1:2] in (["without"], ["nothing"])


def of_reason(tokens: Tokens, finite: int) -> list[str]:
    """Names that a reason gives no leave to act on: those quoted, and a subject that does something."""
    found = [
        name for place, one in enumerate(tokens) for name in mentioned([one]) if not _is_beside(tokens, place)
    ]
    if finite > 0:
        after = [one.low for one in tokens[finite:]]
        subject = [name for name in things(tokens[:finite]) if name[:1].isupper()]
        if any(one.startswith(HARM) for one in after) or after[0] in ("stands", "sits", "lies", "is", "are"):
            found += [name for name in subject if _is_likely(tokens, name)]
    return found


def _is_likely(tokens: Tokens, name: str) -> bool:
    """Whether a name at the beginning of a sentence is one, not just its first word ("Tickets are ...")."""
    quoted = any(one.sort in (Sort.NAME, Sort.ADDRESS) and one.text == name for one in tokens)
    if quoted or " " in name or not tokens[0].is_capital:
        return True
    return (
        len(tokens) > 1
        and (
            tokens[1].low in FINITE - {"are", "have", "were"}
            or tokens[1].low in ("in", "beside", "and", "next")
        )
        and (not name.endswith("s") or name in ("Settings",))
        and name.lower() not in ("there", "nothing", "everything", "only")
    )


def _is_beside(tokens: Tokens, place: int) -> bool:
    """Whether the name is a landmark ("beside X", "the menu X"), or one that is told to be right ("only X")."""
    before = [one.low for one in tokens[max(0, place - 2) : place]]
    return bool(before) and (
        before[-1] in SIDES | {"only"} or before[-2:] == ["next", "to"] or before[-1] in ("of", "than")
    )
