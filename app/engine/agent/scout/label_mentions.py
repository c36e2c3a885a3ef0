"""Where a task's words speak of a field or an option, and how surely a value stands with a label.  Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.engine.agent.scout.field_values import (
    ARTICLES,
    BOUNDS,
    OF_A_THING,
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
_BEGINS = 0.8
"""What a word of a label counts that is only the beginning of the task's."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a task that name a field: the first, behind the last, and in [0, 1] how surely."""

    first: int
    last: int
    quality: float


def mentions_of(field: FillableField, text: str) -> list[Mention]:
    """Return where a task speaks of a field, by any of its names."""
    return [one for label in field.labels for one in _spoken(label, text)]


@lru_cache(maxsize=4096)
def _spoken(label: str, text: str) -> tuple[Mention, ...]:
    wanted = [word for word in meaning(label)[:8] if word not in _IDLE] or list(words(label)[:2])
    said = _said(text)
    likeness = [{word: like for word in wanted if (like := _like(word, one))} if one else {} for one in said]
    stops = [token.low in STOP for token in tokens_of(text)]
    found: list[Mention] = []
    at = 0
    while at < len(said):
        end, met, sure = at, set[str](), 0.0
        while end < len(said) and (
            likeness[end] or (met and stops[end] and _exact(likeness[end + 1 : end + 2]))
        ):
            met |= likeness[end].keys()
            sure = max(sure, *likeness[end].values(), 0.0)
            end += 1
        if met:
            # ``first name`` is more than "Name": a word before it that the label lacks speaks of another field.
            other = at > 1 and said[at - 1] and said[at - 1] not in ARTICLES
            share = len(met) / (len(wanted) + bool(other))
            found.append(Mention(at, end, sure * (0.4 + 0.6 * share) * (0.6 if other else 1.0)))
        at = max(end, at + 1)
    return tuple(found)


def _exact(after: Sequence[Mapping[str, float]]) -> bool:
    return any(1.0 in one.values() for one in after)


@lru_cache(maxsize=64)
def _said(text: str) -> tuple[str, ...]:
    """Return the words of a task that may say a label, "" in the place of others."""
    return tuple(
        token.low.removesuffix("'s").removesuffix("’s")
        if token.kind == "word" and token.low not in STOP
        else ""
        for token in tokens_of(text)
    )


@lru_cache(maxsize=8192)
def _like(word: str, said: str) -> float:
    """Return how well a word of a task says one of a label, by meaning or as its beginning: ``num`` for ``number``."""
    begins = len(word) > 2 and any(one.startswith(word) for one in words(said))
    return max((word_fit(one, word) for one in (said, *words(said))), default=0.0) or _BEGINS * begins


def closeness(value: GivenValue, mentions: Sequence[Mention], tokens: Sequence[TextToken]) -> float:
    """Return in [0, 1] how surely a value stands with a label: the best over the mentions of the label."""
    return max((_beside(value, one, tokens) * one.quality for one in mentions), default=0.0)


def _beside(value: GivenValue, mention: Mention, tokens: Sequence[TextToken]) -> float:
    """Return how surely a value stands with a label: ``A to X``, ``A: X``, ``A X``, ``X as A``, ``X for A``."""
    if mention.first < value.last and value.first < mention.last:
        return 0.0
    if mention.last <= value.first:
        between = [token.low for token in tokens[mention.last : value.first]]
        apart = any(low in BOUNDS for low in between)
        if len(between) > _FAR or apart or not (value.joint or all(low in ARTICLES for low in between)):
            return 0.0
        return (1.0 if value.joint else 0.9) - 0.02 * len(between)
    between = [token.low for token in tokens[value.last : mention.first]]
    led = len(between) <= _NEAREST and all(low in _TOWARDS for low in between)
    return 0.85 - 0.05 * len(between) if led else 0.0


def words_beside(mentions: Sequence[Mention], tokens: Sequence[TextToken]) -> Iterator[GivenValue]:
    """Yield the plain words that stand with a label.

    ``the country to Norway``, ``with keyword tile-server``, ``add mia to the nosy list``.
    """
    for one in mentions:
        joint = tokens[one.last].low if one.last < len(tokens) else ""
        if joint in _SETTING:
            yield from _plain(tokens, _behind_articles(tokens, one.last + 1), joint)
        elif lead_of(tokens, one.first) in _LEADS and one.quality >= 0.7:
            yield from _plain(tokens, one.last, "")
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
