"""Where a task's words speak of a field or an option, and how surely a value stands with a label.  Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

_FAR, _MOST_WORDS = 12, 4
"""Words that may stand between a label and its value; words of a value that only a label leads up to."""
_TOWARDS = ARTICLES | word_set("for as in into under to from")
"""Words between a value and the label behind it."""
_IDLE = word_set("allow allowed enable enabled can show optional required")
"""Words of labels that a task leaves out."""
_LEADS = word_set("with and , for under in add set use")
"""Words before a label that a plain value follows."""
_ENDS = BOUNDS | JOINTS | OF_A_THING


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a task that name a field: the first, behind the last, and in [0, 1.1] how surely."""

    first: int
    last: int
    quality: float


def mentions_of(field: FillableField, text: str) -> list[Mention]:
    """Return where a task speaks of a field, by any of its names."""
    return [
        Mention(one.first, one.last, one.quality - 0.05 * min(number, 2))
        for number, label in enumerate(field.labels)
        for one in _spoken(label, text)
    ]


@lru_cache(maxsize=4096)
def _spoken(label: str, text: str) -> tuple[Mention, ...]:
    wanted = [word for word in meaning(label)[:8] if word not in _IDLE] or words(label)[:2]
    if not wanted:
        return ()
    tokens, likeness = tokens_of(text), dict[int, dict[str, float]]()
    for word in wanted:
        for at, like in _places_of(word, text):
            likeness.setdefault(at, {})[word] = like
    quotes = ((at, token) for at, token in enumerate(tokens) if token.kind == "quote")
    found = [Mention(at, at + 1, 1.1) for at, token in quotes if plain(token.text) == plain(label)]
    at = min(likeness, default=len(tokens))
    while at < len(tokens):
        end, met, sure = at, set[str](), 0.0
        # It goes on only with the very words: what is near a label in meaning may be its value (``country Norway``).
        while end < len(tokens) and (
            (_exact(likeness, end) or (tokens[end].low in STOP and _exact(likeness, end + 1)))
            if met
            else end in likeness
        ):
            met |= likeness.get(end, {}).keys()
            sure = max(sure, *likeness.get(end, {}).values(), 0.0)
            end += 1
        # The imperative itself is a label only where it says all of it: ``Assign it to``, not "Change note".
        if met and (at or end > 1 or len(met) == len(wanted)):
            found.append(Mention(at, end, sure * (0.5 + 0.5 * len(met) / len(wanted))))
        at = max(end, at + 1)
    return tuple(found)


def _exact(likeness: Mapping[int, Mapping[str, float]], at: int) -> bool:
    return 1.0 in likeness.get(at, {}).values()


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
    """Return the likeness of two words with a long beginning in common: ``assign``, ``assignee``."""
    short = min(len(one), len(other)) if one[:5] == other[:5] else 0
    same = next((at for at in range(short) if one[at] != other[at]), short)
    return 0.8 if same >= 5 and same >= 0.6 * max(len(one), len(other)) else 0.0


def closeness(value: GivenValue, mentions: Sequence[Mention], tokens: Sequence[TextToken]) -> float:
    """Return in [0, 1.1] how surely a value stands with a label: the best over the mentions of the label."""
    return max((_beside(value, one, tokens) * one.quality for one in mentions), default=0.0)


def _beside(value: GivenValue, mention: Mention, tokens: Sequence[TextToken]) -> float:
    """Return how surely a value stands with a label: ``A to X``, ``A: X``, ``A X``, ``X as A``, ``X for A``."""
    if mention.first < value.last and value.first < mention.last:
        return 0.0
    if mention.last <= value.first and value.kind != "object":
        between = [token.low for token in tokens[mention.last : value.first]]
        apart = any(low in BOUNDS for low in between) or any(low in SAYING for low in between[:-1])
        if len(between) > _FAR or apart or not (value.joint or all(low in ARTICLES for low in between)):
            return 0.0
        crossed = sum(low in JOINTS for low in between[:-1])
        return (1.0 if value.joint else 0.9) - 0.02 * len(between) - 0.25 * crossed
    between = [token.low for token in tokens[value.last : mention.first]]
    if value.kind in ("phrase", "word") or len(between) > 4 or not all(low in _TOWARDS for low in between):
        return 0.0
    return 0.85 - 0.05 * len(between)


def words_after(mentions: Sequence[Mention], tokens: Sequence[TextToken]) -> Iterator[GivenValue]:
    """Yield the plain words that follow a label: ``with keyword tile-server``, ``the product Evening dinner``."""
    for one in mentions:
        end = run_of_words(tokens, one.last, _ENDS, _MOST_WORDS + 1)
        followed = tokens[end].low if end < len(tokens) else ""
        bare = one.last < end <= one.last + _MOST_WORDS and tokens[one.last].low not in STOP | ARTICLES
        led = lead_of(tokens, one.first) in _LEADS
        if one.quality >= 0.7 and led and bare and followed not in JOINTS - {"with"}:
            told = " ".join(token.text for token in tokens[one.last : end])
            yield GivenValue(text=told, kind="word", first=one.last, last=end)


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
    return (
        len(names) > 1
        and len(names[-1]) > 3
        and names[-1] in login
        and login[:1] in (names[0][:1], names[-1][:1])
    )
