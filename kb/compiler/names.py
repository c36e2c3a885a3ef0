"""Names of controls in tips: the head of a noun phrase, its role, placeholders and addresses."""

from __future__ import annotations

import re

from kb.compiler.lexicon import (
    ADJECTIVES,
    ARTICLES,
    DETERMINERS,
    GOING_ON,
    KEYS,
    LOCAL,
    NAME_HEADS,
    NOTHING,
    PLACES,
    PRONOUNS,
    ROLES,
    SIDES,
    STOPS,
    STRONG,
    SUBORDINATORS,
    words,
)
from kb.compiler.tokens import Sort, Tokens, written

PREVIOUS = "\ue002"
"""The thing named just before ("beside it")."""

_SLOT = re.compile(r"^(?:<([^<>]+)>|\{([^{}]+)\}|\[([^\[\]]+)\]|\$([A-Za-z]\w*)|:([a-z]\w*))$")
_SHOUTED = re.compile(r"[A-Z]{2,}(?:[_-][A-Z]+)*s?")
_UNITS = words("UTC USD EUR ID OK URL FAQ RSS CSV PDF OSRM UPC SKU CC BCC")
_NO_NAMES = DETERMINERS | LOCAL | SIDES | SUBORDINATORS.keys() | PRONOUNS | {
    "there", "you", "only", "one", "instead", "not", "never", "do", "don't", "both", "and", "or", "but", "so",
    "what", "how",
}  # fmt: skip
"""Words that begin a sentence and no name."""

_PARTICLES = words("to in out as from up off on into a this all with by")
_NAMING = words("called named labelled labeled titled saying with text the")


def slug(words: str) -> str:
    """The placeholder's name for a phrase: lower case, without article and possessive, words joined by ``_``."""
    words = re.sub(r"['’](?:s(?=\s|$)|(?=\s|$))", "", words.strip().strip("<>{}[]$: "))
    parts = words.split()
    while len(parts) > 1 and parts[0].lower() in ARTICLES:
        parts = parts[1:]
    return re.sub(r"[^a-z0-9]+", "_", " ".join(parts).lower()).strip("_")[:60].strip("_") or "value"


def placeholder(words: str) -> str:
    """``the user's name`` as ``{user_name}``."""
    name = slug(words)
    return "{" + (name if name[0].isalpha() else f"n_{name}"[:60]) + "}"


def slot(text: str) -> str:
    """A placeholder as ``{name}``; another text as it is."""
    return placeholder(text) if _SLOT.match(text) else text


def address(text: str, number: str = "") -> str:
    """An address with its placeholders as ``{name}``; of an example every number is one, called ``number``."""
    text = re.sub(r"^\{[A-Z][A-Z0-9_]*\}(?=/|$)", "", text) or "/"
    text = re.sub(r"<([^<>]+)>", lambda found: placeholder(found[1]), text)
    text = re.sub(r"(?<![\w])\[([^\[\]]+)\]", lambda found: placeholder(found[1]), text)
    text = re.sub(r"(?<=[/=_,;-])(?:\$|:)([A-Za-z][\w-]*)", lambda found: placeholder(found[1]), text)
    text = re.sub(r"\{([A-Za-z][\w .-]*)\}", lambda found: placeholder(found[1]), text)
    text = re.sub(
        r"(?<![A-Za-z{%])([A-Z]{2,}(?:[_-][A-Z]+)*)(?![A-Za-z}])", lambda found: placeholder(found[1]), text
    )
    text = re.sub(r"(?<=[a-z])([A-Z]{3,})(?=$|[/?&])", lambda found: placeholder(found[1]), text)
    return re.sub(r"\d+", "{" + number + "}", text) if number else text


def shouted(text: str) -> bool:
    """Whether a word stands for what the task supplies by being in capitals (``NUMBER``)."""
    return _SHOUTED.fullmatch(text) is not None and text not in _UNITS


def role_at(tokens: Tokens, place: int) -> tuple[str, int]:
    """The role word that begins at a place ("" if none), and how many tokens it has."""
    for length in (2, 1):
        words = [one.low for one in tokens[place : place + length] if one.is_word]
        if len(words) == length and " ".join(words) in ROLES:
            return " ".join(words), length
    return "", 0


def role_before(tokens: Tokens, place: int) -> str:
    """The role word that ends before a place."""
    for length in (2, 1):
        words = [one.low for one in tokens[max(0, place - length) : place] if one.is_word]
        if len(words) == length and " ".join(words) in ROLES:
            return " ".join(words)
    return ""


def run_at(tokens: Tokens, place: int) -> int:
    """How many tokens belong to the unquoted name that begins there."""
    if (
        place >= len(tokens)
        or not tokens[place].is_capital
        or (tokens[place].first and tokens[place].low in _NO_NAMES)
    ):
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        if (
            place >= len(tokens)
            or tokens[place].low not in ("my", "all", "your")
            or not (following and following.is_capital)
        ):
            return 0
    end = place + 1
    determined = place > 0 and tokens[place - 1].low in DETERMINERS
    while end < len(tokens) and _goes_on(tokens, place, end, determined):
        end += 1
    return end - place


def _goes_on(tokens: Tokens, start: int, end: int, determined: bool) -> bool:
    token = tokens[end]
    following = tokens[end + 1] if end + 1 < len(tokens) else None
    if token.is_capital or token.text in ("&", "+", "/"):
        return token.is_capital or (following is not None and following.is_word)
    if not token.is_word or _ends_run(tokens, end, determined):
        return False
    if following is not None and (joined := _joined_by(tokens, start, end, determined)) is not None:
        return joined
    if token.low in _PARTICLES:
        return _particle(tokens, start, end)
    return token.low not in STOPS and "'s" not in token.low


def _ends_run(tokens: Tokens, end: int, determined: bool) -> bool:
    """Whether a role word, or a verb with its object, ends the name before it."""
    role, _ = role_at(tokens, end)
    if role and (ROLES[role] or determined):
        return tokens[end - 1].low not in ("new", "a", "this", "the", "all", "an")
    following = tokens[end + 1] if end + 1 < len(tokens) else None
    return (
        tokens[end].low in STRONG
        and following is not None
        and (following.is_named or following.low in DETERMINERS)
    )


_WITH = frozenset(["clone", "sign", "log", "pay", "continue", "login"])
"""First words of names that go on with a means ("Clone with SSH")."""


def _joined_by(tokens: Tokens, start: int, end: int, determined: bool) -> bool | None:
    """Whether a small word belongs to the name because of the word after it; None if that does not decide."""
    low, before, following = tokens[end].low, tokens[end - 1], tokens[end + 1]
    if low == "or" and following.is_capital:
        return start > 0 and tokens[start - 1].low in SIDES
    if low in ("of", "and", "for", "the") and following.is_capital:
        return low == "of" or before.low == "of"
    if (
        low in ("with", "via")
        and following.is_capital
        and tokens[start].low in _WITH
        and not tokens[start].first
    ):
        return True
    if low in ("by", "per") and following.is_capital and before.is_capital:
        return True
    plain = following.is_word and not following.is_capital
    closed = DETERMINERS | PLACES | STOPS | ROLES.keys()
    if low in ("as", "of") and not determined and plain and following.low not in closed:
        return True
    return None


def _particle(tokens: Tokens, start: int, end: int) -> bool:
    """Whether a small word belongs to the name: ``Log in``, ``Add to cart``, ``Save as draft``."""
    if tokens[start].low not in GOING_ON:
        return False
    if end + 1 >= len(tokens):
        return tokens[end].low in ("in", "out", "up", "off", "on", "all")
    following = tokens[end + 1]
    plain = (
        following.is_word
        and following.low not in DETERMINERS - {"this", "a"}
        and following.low not in STOPS - {"a", "this"}
    )
    return (
        plain
        and end - start < 3
        and not (tokens[end].low in ("with", "by", "on", "in", "from") and following.is_capital)
    )


def name_in(core: Tokens) -> tuple[int, int]:
    """Place and length of the name a phrase holds: a quoted text, or a run of capitals; (-1, 0) if none."""
    for place, token in enumerate(core):
        if token.sort in (Sort.NAME, Sort.ADDRESS):
            return place, 1
    for place, token in enumerate(core):
        if (
            token.is_capital
            and not (token.text[0].isdigit() and place + 1 < len(core))
            and (length := run_at(core, place))
        ):
            return place, length
    return -1, 0


def head(core: Tokens, known: frozenset[str]) -> tuple[str, str]:
    """Name and role of a phrase without its places."""
    place, length = name_in(core)
    if length:
        return _named(core, place, length)
    for token in core:
        if token.sort is Sort.SLOT:
            return placeholder(token.text), ""
    words = [one for one in core if one.is_word]
    if len(words) == 1 and words[0].low in PRONOUNS - {"one"}:
        return PREVIOUS, ""
    while words and words[0].low in DETERMINERS - {"each", "every"}:
        words = words[1:]
    if not words or all(one.low in NOTHING for one in words):
        return "", ""
    return _described(core, words, known)


def _named(core: Tokens, place: int, length: int) -> tuple[str, str]:
    token = core[place]
    name = slot(token.text) if token.sort is Sort.NAME else written(core[place : place + length])
    if token.low in KEYS and token.is_capital:
        return token.text, ""
    if token.is_capital and (core[0].low in DETERMINERS or place) and length == 1 and shouted(name):
        name = placeholder(name)
    after, _ = role_at(core, place + length)
    start = place
    while start > 0 and core[start - 1].low in _NAMING:
        start -= 1
    before = role_before(core, start) or (role_before(core, place) if start != place else "")
    role = before or after
    if after and before and not ROLES[before]:
        role = after
    return name, ROLES[role] if role else ""


def _described(core: Tokens, words: Tokens, known: frozenset[str]) -> tuple[str, str]:
    text = written(words)
    lows = [one.low for one in words]
    if any(one.endswith(("'s", "s'")) for one in lows[:-1]) and "with" not in lows:
        return placeholder(text), ""
    if "of" in lows[1:]:
        return _owned(core, lows, text)
    role = role_before(words, len(words))
    rest = lows[: len(lows) - len(role.split())] if role else lows
    determined = core[0].low in DETERMINERS
    by_task = (
        determined and bool(known) and bool({lows[-1], lows[-1].removeprefix("sub").lstrip("-")} & known)
    )
    if by_task and (lows[0] not in ADJECTIVES or set(lows) <= known) and not (role and ROLES[role]):
        return placeholder(text), ""
    if not role:
        return text, ""
    if rest and ROLES[role] and rest[-1] not in ADJECTIVES and rest[-1] not in DETERMINERS:
        return written(words[: len(rest)]), ROLES[role]
    return text, ROLES[role]


def _owned(core: Tokens, lows: list[str], text: str) -> tuple[str, str]:
    at = lows.index("of", 1)
    determined = core[0].low in DETERMINERS and at + 1 < len(lows) and lows[at + 1] in DETERMINERS
    if lows[at - 1] in NAME_HEADS and determined:
        return placeholder(text), ""
    if lows[0] in ("one", "all", "any", "each"):
        return " ".join(one for one in lows[at + 1 :] if one not in DETERMINERS), ""
    role = role_before([one for one in core if one.is_word], 0)
    return text, ROLES.get(role, "")
