"""Noun phrases of tips: the control and its landmark."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kb.compiler.lexicon import (
    ADJECTIVES,
    ARTICLES,
    DETERMINERS,
    GERUND,
    LOCAL,
    NAME_HEADS,
    PLACES,
    PRONOUNS,
    ROLES,
    SIDES,
    words,
)
from kb.compiler.names import PREVIOUS, head, name_in, placeholder, run_at, shouted, slot
from kb.compiler.tokens import Sort, Token, Tokens, written

_ROWS = words("row rows line card entry item tile")

_ORDINALS = words("first second third last top topmost bottom newest")

_KEPT = words("list field box column table map title editor results menu tab group view")
_EDGES = words("end edge corner side hand margin start beginning head foot top bottom")

_TAILS = words(
    "either self again once twice first instead too there here itself only separately afterwards now "
    "manually directly below above then"
)

_RELATIVE = words("wherever whatever which who where whose that because since so if when unless until while")

_NAMES_IT = words("says called named labelled labeled reads with titled saying shows text")


@dataclass(frozen=True, slots=True)
class NamedControl:
    """A control named by a phrase."""

    name: str = ""
    role: str = ""
    near: str = ""
    where: str = ""

    def __bool__(self) -> bool:
        return bool(self.name or self.near)


@dataclass(frozen=True, slots=True)
class _Place:
    """A prepositional phrase: its preposition as a text, and what it is about."""

    side: str
    tokens: Tokens
    row: bool = False


def control(tokens: Tokens, known: frozenset[str] = frozenset()) -> NamedControl:
    """The control a phrase names.

    Args:
        known: words of the tip's condition; a thing that it speaks of is given by the task.
    """
    sides = [list(one.inner) for one in tokens if one.sort is Sort.REMARK and is_side(list(one.inner))]
    tokens = bare(tokens)
    core, rest = core_of(tokens)
    if not rest and sides:
        rest = sides[0]
    name, role = head(_column_head(core), known)
    if rest and (named := _named_by_clause(rest)) is not None and name_in(core)[1] == 0:
        name = named
    near, where = _landmark(rest, known)
    return NamedControl(name, role, near, where)


def bare(tokens: Tokens) -> Tokens:
    """The phrase without remarks, punctuation at its ends and adverbs after it."""
    kept = [one for one in tokens if one.sort is not Sort.REMARK]
    while kept and (
        kept[0].sort is Sort.MARK or kept[0].low in ("and", "then", "or", "over", "on", "also", "both")
    ):
        kept = kept[1:]
    for place, token in enumerate(kept):
        if token.low == "eg" or (
            token.low in ("such", "for")
            and [one.low for one in kept[place + 1 : place + 2]] in (["as"], ["example"])
        ):
            kept = kept[:place]
            break
    while len(kept) > 1 and (
        kept[-1].sort is Sort.MARK
        or (kept[-1].low in _TAILS and kept[-2].low not in ("the", "a", "an", "your"))
    ):
        kept = kept[:-1]
    return kept


def core_of(tokens: Tokens) -> tuple[Tokens, Tokens]:
    """The phrase up to its first place or clause, and the rest."""
    place = 0
    while place < len(tokens):
        length = run_at(tokens, place)
        if length:
            place += length
            continue
        token = tokens[place]
        if token.sort is Sort.MARK and token.text not in ("'", "-", "&", "#"):
            break
        if place and token.is_word and _ends_core(tokens, place):
            break
        place += 1
    return tokens[:place], tokens[place:]


def _ends_core(tokens: Tokens, place: int) -> bool:
    token = tokens[place]
    following = tokens[place + 1].low if place + 1 < len(tokens) else ""
    if token.low == "of":
        return (
            any(one.is_named for one in tokens[:place])
            or _is_screen(tokens[place + 1 :])
            or tokens[0].low not in (DETERMINERS | NAME_HEADS | {"one", "number"})
        )
    if token.low == "with":
        return (
            name_in(tokens[:place])[1] > 0
            or name_in(tokens[place + 1 :])[1] > 0
            or _is_screen(tokens[place + 1 :])
        )
    if token.low in ("right", "left"):
        return following in ("of", "from", "to") or (following == "beside")
    if token.low in ("next", "close", "adjacent"):
        return following == "to"
    return (
        token.low in SIDES
        or token.low in LOCAL
        or token.low in _RELATIVE
        or token.low
        in (
            "as",
            "instead",
            "named",
            "called",
            "labelled",
            "labeled",
            "titled",
            "saying",
            "without",
            "appears",
            "says",
        )
    )


def _is_screen(tokens: Tokens) -> bool:
    """Whether a phrase is a part of the screen without a name of its own."""
    words = [one for one in tokens[:4] if one.low not in DETERMINERS]
    lows = [one.low for one in words]
    return (
        bool(lows)
        and not any(one.is_named for one in words)
        and (lows[0] in PLACES or (len(lows) > 1 and lows[1] in PLACES and lows[0] not in ("search",)))
    )


def _named_by_clause(rest: Tokens) -> str | None:
    """The name in "that begins with X", "called X", "with the text X"."""
    for place, token in enumerate(rest[:6]):
        if token.low in _NAMES_IT:
            start, length = name_in(rest[place + 1 : place + 5])
            if length and all(
                one.low in DETERMINERS | ROLES.keys() | {"text", "with"}
                for one in rest[place + 1 : place + 1 + start]
            ):
                return slot(written(rest[place + 1 + start : place + 1 + start + length]))
        elif token.low not in ("that", "which", "begins", "starts", "is", "are", "begin", "start", "it"):
            return None
    return None


def _column_head(core: Tokens) -> Tokens:
    """``the head of the column X`` as ``the column head X``."""
    lows = [one.low for one in core]
    if "column" in lows and lows[:1] == ["the"] and "of" in lows and lows.index("of") < lows.index("column"):
        return core[lows.index("column") :]
    return core


def _landmark(rest: Tokens, known: frozenset[str]) -> tuple[str, str]:
    """The first landmark among the places after a phrase, and the preposition."""
    while rest and rest[0].is_word:
        found, rest = _next_place(rest)
        if found is None:
            if not rest or rest[0].low in _RELATIVE:
                return "", ""
            rest = rest[1:]
            _, rest = core_of(rest)
            continue
        if near := landmark(found.tokens, known, possessed=found.row):
            return near, found.side
    return "", ""


def _next_place(rest: Tokens) -> tuple[_Place | None, Tokens]:
    """The place at the beginning of ``rest`` if it is a landmark, and what follows it."""
    lows = [one.low for one in rest[:9]]
    start = 1 if lows[0] in ("to", "on", "at", "in", "from", "of") else 0
    inner = start + (1 if lows[start : start + 1] == ["the"] else 0)
    if lows[inner : inner + 1] in (["right"], ["left"]):
        return _beside_of(rest, lows, inner)
    if start and (edge := _edge(rest, lows)) is not None:
        return edge
    if lows[0] in ("in", "on", "from", "at", "of"):
        return _in_place(rest)
    if lows[0] in ("next", "close", "adjacent") and lows[1:2] == ["to"]:
        return _side(rest, 2, f"{lows[0]} to")
    if lows[0] in SIDES:
        return _side(rest, 1, "beside" if lows[0] == "besides" else lows[0])
    return None, rest


def _beside_of(rest: Tokens, lows: list[str], inner: int) -> tuple[_Place | None, Tokens]:
    after = inner + 1
    while lows[after : after + 1] and lows[after] in ("hand", "side", "end", "edge", "hand-side"):
        after += 1
    if lows[after : after + 1] not in (["of"], ["from"], ["to"], ["beside"]):
        return None, rest[inner:]
    if _is_screen(rest[after + 1 :]) and not _kept_screen(rest[after + 1 :]):
        return None, rest[after:]
    side = (
        f"at the {lows[inner]} {lows[after - 1]} of"
        if after > inner + 1 and lows[0] == "at"
        else f"{lows[inner]} of"
    )
    return _side(rest, after + 1, side)


def _kept_screen(tokens: Tokens) -> bool:
    """Whether words of the screen are a landmark after "right of" ("the list", "the field")."""
    found = [one.low for one in tokens[:3] if one.low not in DETERMINERS]
    return bool(found) and found[0] in _KEPT


def _edge(rest: Tokens, lows: list[str]) -> tuple[_Place | None, Tokens] | None:
    """``at the right end of X``, ``in front of X``."""
    if lows[:3] == ["in", "front", "of"]:
        return _side(rest, 3, "in front of")
    for place in range(1, min(6, len(lows))):
        if lows[place] in ("top", "bottom", "upper", "lower", "far") and lows[place + 1 : place + 2] in (
            ["right"],
            ["left"],
        ):
            return None, []
        if lows[place] in _EDGES and lows[place + 1 : place + 2] == ["of"]:
            if _is_screen(rest[place + 2 :]):
                return None, rest[place + 1 :]
            if (row := _row(rest[place + 1 :])) is not None:
                return row
            if lows[-1] in _ROWS and len(lows) <= place + 4:
                return None, []
            return _side(rest, place + 2, " ".join(lows[: place + 2]))
        if lows[place] in _ROWS:
            return None
    return None


def _in_place(rest: Tokens) -> tuple[_Place | None, Tokens]:
    """A row is a landmark, and so is "it"; another place is none."""
    if (row := _row(rest)) is not None:
        return row
    if rest[0].low != "of" and len(rest) > 1 and rest[1].low in PRONOUNS - {"this", "that", "these", "those"}:
        return _Place("in", rest[1:2], row=True), rest[2:]
    return None, rest


def _row(rest: Tokens) -> tuple[_Place | None, Tokens] | None:
    """``in the row of X``, ``in the X row``, ``in X's row``, ``in its row``."""
    end = 1
    while end < min(len(rest), 9) and rest[end].low not in _ROWS:
        if rest[end].low in LOCAL | SIDES | {"of"}:
            return None
        end += 1
    if end >= len(rest) or rest[end].low not in _ROWS:
        return None
    if end + 1 < len(rest) and rest[end + 1].low in (
        "of",
        "with",
        "for",
        "named",
        "called",
        "where",
        "whose",
        "that",
        "in",
    ):
        if rest[end + 1].low in ("that", "whose", "where", "in"):
            return None
        place, following = _side(rest, end + 2, "in")
        return (replace(place, row=True) if place else None), following
    before = [one for one in rest[1:end] if one.low not in ARTICLES]
    if rest[1].low in ("its", "their"):
        return _Place("in", [Token(Sort.WORD, "it", "it")], row=True), rest[end + 1 :]
    if before and before[0].low in _ORDINALS:
        return _Place("in", [*before, rest[end]]), rest[end + 1 :]
    if before and before[0].low not in ADJECTIVES | {"same"}:
        return _Place("in", before, row=True), rest[end + 1 :]
    return None


def _side(rest: Tokens, start: int, side: str) -> tuple[_Place | None, Tokens]:
    core, following = core_of(rest[start:])
    words = [one.low for one in core]
    if not core or core[0].sort is Sort.MARK or words[0] in ("you", "having") or words[0] in GERUND:
        return None, rest[start:]
    return _Place(side, core), following


def landmark(tokens: Tokens, known: frozenset[str], possessed: bool = False) -> str:
    """The text of a landmark; of a row the task names what it is about."""
    tokens = bare(tokens)
    while tokens and tokens[0].low in ARTICLES and len(tokens) > 1:
        tokens = tokens[1:]
    place, length = name_in(tokens)
    if any(one.low == "or" for one in tokens) and all(one.low == "or" or one.is_capital for one in tokens):
        return written(tokens)
    if length:
        text = written(tokens[place : place + length])
        return placeholder(text) if shouted(text) else slot(text)
    if not tokens or tokens[0].low in PRONOUNS:
        return PREVIOUS if tokens else ""
    if tokens[0].sort is Sort.SLOT:
        return placeholder(written(tokens))
    text = written([replace(one, text=slot(one.text)) if one.sort is Sort.SLOT else one for one in tokens])
    words = [one.low for one in tokens]
    screen = not possessed and words[0] in ("top", "bottom", "corner", "screen", "page", "window", "very")
    if screen and len(words) == 1:
        return ""
    owned = any(one.endswith(("'s", "s'")) for one in words[:-1])
    if possessed or owned or set(words) - DETERMINERS <= known:
        return placeholder(text)
    return text


def place(tokens: Tokens, known: frozenset[str]) -> tuple[str, str]:
    """The landmark that a phrase with its preposition names, and the preposition; "" if it is none."""
    return _landmark(tokens, known)


def is_side(tokens: Tokens) -> bool:
    """Whether a remark is a landmark ("(right of X)")."""
    lows = [one.low for one in tokens[:3]]
    if not lows or len(tokens) < 2:
        return False
    if lows[0] == "in" and _ROWS & {one.low for one in tokens[1:4]}:
        return True
    return (
        lows[0] in SIDES
        or (lows[0] in ("right", "left", "next") and lows[1] in ("of", "to", "from"))
        or lows in (["to", "the", "right"], ["to", "the", "left"])
    )


def is_control(tokens: Tokens) -> bool:
    """Whether a phrase names a control: a name of its own, or a word for a role."""
    core, _ = core_of(bare(tokens))
    if any(one.is_named or one.is_capital for one in core):
        return True
    words = [one.low for one in core if one.low not in DETERMINERS]
    return bool(words) and ROLES.get(words[-1], "") in ("field", "select", "button", "icon", "link")


# values
