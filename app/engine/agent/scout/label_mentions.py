"""Where a task's words speak of a field or an option, and how surely a value stands with a label.  Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.engine.agent.scout.field_values import (
    ARTICLES,
    BOUNDS,
    JOINTS,
    OF_A_THING,
    SAYING,
    GivenValue,
    TextToken,
    lead_of,
    run_of_words,
    tokens_of,
)
from app.engine.agent.scout.form_fields import FillableField
from app.engine.agent.scout.likeness import STOP, forms, meaning, plain, word_fit, words
from app.engine.core.text import word_set

_FAR, _MOST_WORDS, _NEAREST = 12, 8, 4
"""Words that may stand between a label and its value; words of a value that only a label leads up to; words between a
value and the label behind it."""
_TOWARDS = ARTICLES | word_set("for as in into under to from")
"""Words between a value and the label behind it."""
_IDLE = word_set("allow enable enabled can show optional required")
"""Words of labels that a task leaves out."""
_LEADS = word_set("with and , for under in add set use")
"""Words before a label that a plain value follows."""
_SETTING = word_set("to as : = into")
_ENDS = BOUNDS | OF_A_THING | word_set("with from instead so because to as")
_LIKE = 0.8
"""What a word counts that has a long beginning in common with a label's: ``assign``, ``assignee``."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a task that name a field: the first, behind the last, and in [0, 1] how surely."""

    first: int
    last: int
    quality: float


def mentions_of(field: FillableField, text: str) -> list[Mention]:
    """Return where a task speaks of a field, by any of its names; the first of them counts most."""
    return [
        Mention(one.first, one.last, one.quality - 0.05 * min(number, 2))
        for number, label in enumerate(field.labels)
        for one in _spoken(label, text)
    ]


@lru_cache(maxsize=4096)
def _spoken(label: str, text: str) -> tuple[Mention, ...]:
    wanted = [word for word in meaning(label)[:8] if word not in _IDLE] or list(words(label)[:2])
    tokens, likeness = tokens_of(text), dict[int, dict[str, float]]()
    for word in wanted:
        for at, like in _places_of(word, text):
            likeness.setdefault(at, {})[word] = like
    found = [
        Mention(at, at + 1, 1.0)
        for at, one in enumerate(tokens)
        if one.kind == "quote" and plain(one.text) == plain(label)
    ]
    at = min(likeness, default=len(tokens))
    while at < len(tokens):
        end, met, sure = at, set[str](), 0.0
        # It goes on only with the very words: what is near a label in meaning may be its value (``country Norway``).
        while end in likeness and (not met or 1.0 in likeness[end].values()):
            met |= likeness[end].keys()
            sure = max(sure, *likeness[end].values())
            end += 1
            if end < len(tokens) and tokens[end].low in STOP and 1.0 in likeness.get(end + 1, {}).values():
                end += 1
        # The imperative itself is a label only where it says all of it: ``Assign it to``, not "Change note".
        if met and (at or end > 1 or len(met) == len(wanted)):
            found.append(Mention(at, end, sure * (0.4 + 0.6 * len(met) / len(wanted))))
        at = max(end, at + 1)
    return tuple(found)


@lru_cache(maxsize=8192)
def _places_of(word: str, text: str) -> tuple[tuple[int, float], ...]:
    """Return the tokens that say a word of a label, with how alike they are."""
    likes = ((at, max(word_fit(one, word) or _akin(one, word) for one in said)) for at, said in _said(text))
    return tuple((at, like) for at, like in likes if like)


@lru_cache(maxsize=64)
def _said(text: str) -> tuple[tuple[int, frozenset[str]], ...]:
    """Return the words of a task that may say a label, by their place, each in its forms."""
    lows = (
        (at, token.low.removesuffix("'s").removesuffix("’s"))
        for at, token in enumerate(tokens_of(text))
        if token.kind == "word" and token.low not in STOP
    )
    return tuple((at, frozenset((low, *words(low), low.removeprefix("un")))) for at, low in lows)


def _akin(one: str, other: str) -> float:
    """Return the likeness of two words with a long beginning in common."""
    short = min(len(one), len(other)) if one[:5] == other[:5] else 0
    same = next((at for at in range(short) if one[at] != other[at]), short)
    return _LIKE if same >= 5 and same >= 0.6 * max(len(one), len(other)) else 0.0


def closeness(value: GivenValue, mentions: Sequence[Mention], tokens: Sequence[TextToken]) -> float:
    """Return in [0, 1] how surely a value stands with a label: the best over the mentions of the label."""
    return max((_beside(value, one, tokens) * one.quality for one in mentions), default=0.0)


def _beside(value: GivenValue, mention: Mention, tokens: Sequence[TextToken]) -> float:
    """Return how surely a value stands with a label: ``A to X``, ``A: X``, ``A X``, ``X as A``, ``X for A``."""
    if mention.first < value.last and value.first < mention.last:
        return 0.0
    if mention.last <= value.first:
        between = [token.low for token in tokens[mention.last : value.first]]
        apart = any(low in BOUNDS for low in between) or any(low in SAYING for low in between[:-1])
        if len(between) > _FAR or apart or not (value.joint or all(low in ARTICLES for low in between)):
            return 0.0
        crossed = sum(low in JOINTS for low in between[:-1])
        return (1.0 if value.joint else 0.9) - 0.02 * len(between) - 0.25 * crossed
    between = [token.low for token in tokens[value.last : mention.first]]
    led = len(between) <= _NEAREST and all(low in _TOWARDS for low in between)
    return 0.85 - 0.05 * len(between) if led else 0.0


def words_beside(mentions: Sequence[Mention], tokens: Sequence[TextToken]) -> Iterator[GivenValue]:
    """Yield the plain words that stand with a label.

    ``the country to Norway``, ``with keyword tile-server``, ``add mia to the nosy list``.
    """
    for one in mentions:
        joint = next((at for at in range(one.last, len(tokens)) if tokens[at].low in _SETTING | _ENDS), -1)
        set_there = joint >= 0 and tokens[joint].low in _SETTING and joint - one.last < _FAR
        first = _behind_articles(tokens, joint + 1 if set_there else one.last)
        if set_there or (first == one.last and lead_of(tokens, one.first) in _LEADS and one.quality >= 0.7):
            yield from _plain(tokens, first, tokens[joint].low if set_there else "")
        first, to = _behind_articles(tokens, 1), one.first - 1
        while to > 0 and tokens[to].low in ARTICLES:
            to -= 1
        if first < to <= first + _NEAREST and tokens[to].low in ("to", "from"):
            yield from (value for value in _plain(tokens, first, "") if value.last == to)


def _behind_articles(tokens: Sequence[TextToken], at: int) -> int:
    while at < len(tokens) and tokens[at].low in ARTICLES:
        at += 1
    return at


def _plain(tokens: Sequence[TextToken], first: int, joint: str) -> Iterator[GivenValue]:
    end = run_of_words(tokens, first, _ENDS, _MOST_WORDS + 1)
    if first < end <= first + _MOST_WORDS and tokens[first].kind == "word" and tokens[first].low not in STOP:
        told = " ".join(token.text for token in tokens[first:end])
        yield GivenValue(text=told, kind="word", first=first, last=end, joint=joint)


def option_places(option: str, tokens: Sequence[TextToken]) -> Iterator[tuple[int, int, bool]]:
    """Yield where the task says an option: first token, behind the last, and whether in its very words."""
    own = list(words(option))
    for at, token in enumerate(tokens):
        if token.kind == "quote":
            if plain(token.text) == plain(option):
                yield at, at + 1, True
            continue
        there, end = list(words(token.text)), at + 1
        while (
            there and len(there) < len(own) and end < len(tokens) and tokens[end].kind in ("word", "number")
        ):
            there += words(tokens[end].text)
            end += 1
        if len(there) == len(own) and all(forms(a) & forms(b) for a, b in zip(own, there, strict=True)):
            yield at, end, own == there


def is_login_of(option: str, name: str) -> bool:
    """Whether an option is a user name made of a person's names: ``pmarchetti`` of Paolo Marchetti."""
    names, login = words(name), option.strip().casefold()
    if len(names) < 2 or len(names[-1]) < 4 or names[-1] not in login:
        return False
    return login[:1] in (names[0][:1], names[-1][:1])
