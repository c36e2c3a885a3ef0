"""Where a task's words speak of a field or an option, and how surely a value stands with a label.  Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.engine.agent.scout.field_values import ARTICLES, BOUNDS, JOINTS, SAYING, TaskValue, Token
from app.engine.agent.scout.form_fields import FormField
from app.engine.agent.scout.likeness import STOP, forms, meaning, plain, word_fit, words

_FAR = 12
"""Words that may stand between a label and its value."""
_TOWARDS = ARTICLES | {"for", "as", "in", "into", "under", "to", "from"}
"""Words between a value and the label behind it."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a task that name a field: the first, behind the last, and in [0, 1.1] how surely."""

    first: int
    last: int
    quality: float


def mentions_of(field: FormField, tokens: Sequence[Token]) -> list[Mention]:
    """Return where the task speaks of a field, by any of its names."""
    found: list[Mention] = []
    for number, label in enumerate(field.labels):
        found += [
            Mention(one.first, one.last, one.quality - 0.05 * min(number, 2))
            for one in _spoken(label, tokens)
        ]
    return found


@lru_cache(maxsize=4096)
def _spoken(label: str, tokens: tuple[Token, ...]) -> tuple[Mention, ...]:
    wanted = meaning(label)[:8] or words(label)[:2]
    if not wanted:
        return ()
    likeness = [_like(token, wanted) for token in tokens]
    found: list[Mention] = []
    at = 0
    while at < len(tokens):
        if tokens[at].kind == "quote" and plain(tokens[at].text) == plain(label):
            found.append(Mention(at, at + 1, 1.1))
        if not likeness[at]:
            at += 1
            continue
        end, met, sure = at, set[str](), 0.0
        # It goes on only with the very words: what is near a label in meaning may be its value (``country Norway``).
        while end < len(tokens) and (
            not met or _exact(likeness, end) or (tokens[end].low in STOP and _exact(likeness, end + 1))
        ):
            for word, like in likeness[end].items():
                met.add(word)
                sure = max(sure, like)
            end += 1
        # The imperative itself is a label only where it says all of it: ``Assign it to``, not "Change note".
        if at or end > 1 or len(met) == len(wanted):
            found.append(Mention(at, end, sure * (0.5 + 0.5 * len(met) / len(wanted))))
        at = end
    return tuple(found)


def _exact(likeness: Sequence[dict[str, float]], at: int) -> bool:
    return at < len(likeness) and 1.0 in likeness[at].values()


def _like(token: Token, wanted: Sequence[str]) -> dict[str, float]:
    """Return the words of a label that a word of the task says, with how alike they are."""
    if token.kind != "word" or token.low in STOP:
        return {}
    low = token.low.removesuffix("'s").removesuffix("’s")
    pieces = {low, *words(low), low.removeprefix("un")}
    found = {word: max(word_fit(piece, word) or _akin(piece, word) for piece in pieces) for word in wanted}
    return {word: like for word, like in found.items() if like}


def _akin(one: str, other: str) -> float:
    """Return the likeness of two words with a long beginning in common: ``assign``, ``assignee``."""
    short = min(len(one), len(other))
    same = next((at for at in range(short) if one[at] != other[at]), short)
    return 0.8 if same >= 5 and same >= 0.6 * max(len(one), len(other)) else 0.0


def closeness(value: TaskValue, mentions: Sequence[Mention], tokens: Sequence[Token]) -> float:
    """Return in [0, 1.1] how surely a value stands with a label: the best over the mentions of the label."""
    return max((_beside(value, one, tokens) * one.quality for one in mentions), default=0.0)


def _beside(value: TaskValue, mention: Mention, tokens: Sequence[Token]) -> float:
    """Return how surely a value stands with a label: ``A to X``, ``A: X``, ``A X``, ``X as A``, ``X for A``."""
    if mention.first < value.last and value.first < mention.last:
        return 0.0
    if mention.last <= value.first and value.kind != "object":
        between = tokens[mention.last : value.first]
        bounds = any(token.low in BOUNDS for token in between)
        if len(between) > _FAR or bounds or any(token.low in SAYING for token in between[:-1]):
            return 0.0
        plainly = all(token.low in ARTICLES for token in between)
        if not value.joint and not plainly:
            return 0.0
        crossed = sum(token.low in JOINTS for token in between[:-1])
        return (1.0 if value.joint else 0.9) - 0.02 * len(between) - 0.25 * crossed
    between = [token.low for token in tokens[value.last : mention.first]]
    if value.kind == "phrase" or len(between) > 4 or not all(low in _TOWARDS for low in between):
        return 0.0
    return 0.85 - 0.05 * len(between)


def option_places(
    option: str, own: Sequence[str], tokens: Sequence[Token]
) -> Iterator[tuple[int, int, bool]]:
    """Yield where the task says an option: first and last token, and whether in its very words."""
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
            yield at, end, list(own) == there
