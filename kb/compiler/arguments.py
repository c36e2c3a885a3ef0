"""The arguments of a verb: lists of things, menu paths, and pairs of a value and its field."""

from __future__ import annotations

from kb.compiler.lexicon import DETERMINERS, LOCAL, ROLES, SIDES
from kb.compiler.names import name_in, role_at, run_at
from kb.compiler.tokens import Sort, Tokens

_JOINTS = frozenset(["and", "&", "plus"])


def _is_joint(tokens: Tokens, place: int) -> bool:
    token = tokens[place]
    return token.low in _JOINTS or (token.sort is Sort.MARK and token.text == ",")


def _begins_thing(tokens: Tokens, place: int) -> bool:
    if place >= len(tokens):
        return False
    token = tokens[place]
    if token.low in ("over", "on", "then", "both"):
        return _begins_thing(tokens, place + 1)
    return (
        token.sort in (Sort.NAME, Sort.SLOT, Sort.ADDRESS)
        or token.is_capital
        or token.low in DETERMINERS
        or (bool(role_at(tokens, place)[0]) and place + 1 < len(tokens) and tokens[place + 1].is_named)
    )


def listed(tokens: Tokens) -> list[Tokens]:
    """The things of a list ("A, B and C"); a single thing is a list of one."""
    parts: list[Tokens] = [[]]
    place = 0
    while place < len(tokens):
        length = run_at(tokens, place)
        if length:
            parts[-1] += tokens[place : place + length]
            place += length
            continue
        after = place + 1
        while after < len(tokens) and _is_joint(tokens, after):
            after += 1
        if _is_joint(tokens, place) and parts[-1] and _begins_thing(tokens, after):
            parts.append([])
            place = after
        elif _is_joint(tokens, place) and tokens[place].text == ",":
            break
        else:
            parts[-1].append(tokens[place])
            place += 1
    parts = [part for part in parts if part]
    if (
        len(parts) == 2
        and tokens[len(parts[0])].text == ","
        and _is_role(parts[0])
        and len(parts[1]) == 1
        and parts[1][0].sort is Sort.NAME
    ):
        return [[*parts[0], *parts[1]]]  # "the second tab, X,"
    return parts


def _is_role(tokens: Tokens) -> bool:
    """Whether a thing is only a word for a role."""
    return tokens[-1].low in ROLES and not any(one.is_named for one in tokens)


def sections(tokens: Tokens) -> list[Tokens]:
    """The parts of a menu path; of the first the last thing, of the last the first."""
    parts: list[Tokens] = [[]]
    for token in tokens:
        if token.sort is Sort.ARROW:
            parts.append([])
        elif token.sort is not Sort.REMARK:
            parts[-1].append(token)
    parts[0] = _last_thing(parts[0])
    return [part for part in (_first_thing(part) for part in parts) if part]


def _last_thing(tokens: Tokens) -> Tokens:
    """The thing directly before the first arrow ("the report at Reports >")."""
    start = 0
    for place in range(len(tokens) - 1):
        if tokens[place].low in LOCAL | SIDES | {"of", ":", ","} and not tokens[place].is_capital:
            start = place + 1
    rest = tokens[start:]
    place, length = name_in(rest)
    if not length:
        return rest or tokens
    last = place
    while place >= 0 and last + length < len(rest):
        place, length = name_in(rest[last + length :])
        if place < 0:
            break
        last = len(rest) - len(rest[last + length :]) if place == 0 else last + length + place
        length = max(1, run_at(rest, last))
    return rest[place if last <= place else last :] if last else rest


def _first_thing(tokens: Tokens) -> Tokens:
    """The name or description at the beginning of a part of a path."""
    if not tokens:
        return []
    if tokens[0].sort is Sort.NAME:
        return tokens[:1]
    if length := run_at(tokens, 0):
        return tokens[:length]
    end = next((place for place, one in enumerate(tokens) if one.sort is Sort.MARK), len(tokens))
    return tokens[:end]


def place_of(tokens: Tokens, words: tuple[str, ...]) -> int:
    """The place of the first of some prepositions outside names, after the first token; 0 if there is none."""
    found = _places(tokens, words)
    return found[0] if found else 0


def _places(tokens: Tokens, words: tuple[str, ...]) -> list[int]:
    found: list[int] = []
    place = 0
    while place < len(tokens):
        if length := run_at(tokens, place):
            place += length
            continue
        if place and tokens[place].low in words and not _part_of_landmark(tokens, place):
            found.append(place)
        place += 1
    return found


def _part_of_landmark(tokens: Tokens, place: int) -> bool:
    """Whether a "to" or "in" belongs to "next to", "to the right of", "in the row of"."""
    low, before = tokens[place].low, tokens[place - 1].low
    after = [one.low for one in tokens[place + 1 : place + 7]]
    if low == "to":
        return before in ("next", "close", "adjacent") or after[1:2] in (["right"], ["left"])
    if low in ("in", "on", "at", "from"):
        ends = next(
            (at for at, one in enumerate(after) if one in ("in", "with", "of", "for", "into")), len(after)
        )
        row = any(one in ("row", "line") for one in after[:ends]) and "field" not in after
        return row or after[:2] in (["front", "of"], ["the", "task"])
    return False


def pairs(tokens: Tokens, words: tuple[str, ...]) -> list[tuple[Tokens, Tokens]]:
    """The words before and after each of some prepositions ("x into A and y into B")."""
    places = _places(tokens, words)
    found: list[tuple[Tokens, Tokens]] = []
    start = 0
    for number, place in enumerate(places):
        if place < start or place == start:
            continue
        end, following = len(tokens), len(tokens)
        for later in places[number + 1 :]:
            joints = [at for at in range(place + 2, later) if _is_joint(tokens, at)]
            if joints and later - joints[-1] > 1:
                end, following = (
                    joints[0] if tokens[joints[0]].text == "," or len(joints) == 1 else joints[-1],
                    joints[-1] + 1,
                )
                break
        after = tokens[place + 1 : end]
        if after:
            found.append((tokens[start:place], after))
        start = following
    return found


def split_first(tokens: Tokens) -> tuple[Tokens, Tokens]:
    """The control that a phrase begins with, and the rest."""
    place, length = name_in(tokens)
    if not length:
        return tokens, []
    end = place + length
    role, count = role_at(tokens, end)
    end += count if role and ROLES[role] else 0
    return tokens[:end], tokens[end:]
