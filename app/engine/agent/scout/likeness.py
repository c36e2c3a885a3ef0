"""Likeness of short texts: words in their forms, and words near in meaning by the shipped table of word vectors.  Pure.

No list of nouns or verbs of one trade: what is not a form of the same word is like it only as far as
``word_likeness`` says, which was trained on no site.
"""

from __future__ import annotations

import re
from functools import lru_cache

from app.engine.agent.scout.word_vectors import word_likeness
from app.engine.core.text import word_set

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDINGS = ("s", "es", "d", "ed", "r", "er", "ing", "al", "ion", "n", "ment", "ly")
_LEAST_STEM = 3
STOP = word_set(
    "the a an of to in on for with and or is are was were be been it its this that these those by at from as into "
    "your my their our his her there here do does did has have had"
)
"""Words that say nothing of what a text is about."""
LEAST_LIKE = 0.5
"""Likeness of two words below which they count as strangers."""
NEAR = 0.85
"""What a word of the same meaning counts, at most."""


@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """Return the text in lower case with single spaces and no signs at either end."""
    return " ".join(text.split()).strip(" .:*!?,;…\"'“”‘’()[]").casefold()


@lru_cache(maxsize=16384)
def words(text: str) -> tuple[str, ...]:
    """Return the words in lower case, ``camelCase`` and ``snake_case`` taken apart."""
    return tuple(_WORD.findall(_CAMEL.sub(" ", text).casefold()))


@lru_cache(maxsize=16384)
def meaning(text: str) -> tuple[str, ...]:
    """Return the words that carry meaning, in order, each once."""
    return tuple(dict.fromkeys([word for word in words(text) if word not in STOP]))


@lru_cache(maxsize=16384)
def forms(word: str) -> frozenset[str]:
    """Return a word and what it may be a form of: ``used`` and ``uses`` share ``use``."""
    made = {word}
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            stem = word[: -len(ending)]
            made.add(stem)
            if len(stem) > _LEAST_STEM and stem[-1] == stem[-2]:
                made.add(stem[:-1])
    if word.endswith("e") and len(word) > _LEAST_STEM + 1:
        made.add(word[:-1])
    if word.endswith("ies") and len(word) > _LEAST_STEM + 1:
        made.add(word[:-3] + "y")
    return frozenset(made)


@lru_cache(maxsize=65536)
def word_fit(one: str, other: str) -> float:
    """Return 1 for forms of one word, less for two words of near meaning, 0 for strangers.

    Words of one kind (``open``, ``closed``) are near each other, too: such a likeness never counts as the word itself.
    """
    if one == other or forms(one) & forms(other):
        return 1.0
    like = word_likeness(one, other)
    return NEAR * like if like >= LEAST_LIKE else 0.0


@lru_cache(maxsize=65536)
def fits(wanted: str, label: str) -> float:
    """Return in [0, 1] how well a label says what is wanted: the share of its words, less for what it adds."""
    ours, theirs = meaning(wanted), meaning(label)
    if not ours or not theirs:
        return 0.0
    covered = sum(max(word_fit(word, other) for other in theirs) for word in ours) / len(ours)
    if not covered:
        return 0.0
    used = sum(max(word_fit(word, other) for word in ours) for other in theirs) / len(theirs)
    return covered * (0.75 + 0.25 * used)


@lru_cache(maxsize=32768)
def says(text: str, value: str) -> bool:
    """Whether a text has all words of a value next to each other, in whichever form: ``Requires moderation``."""
    wanted, there = words(value), words(text)
    return bool(wanted) and any(
        all(forms(a) & forms(b) for a, b in zip(wanted, there[start : start + len(wanted)], strict=True))
        for start in range(len(there) - len(wanted) + 1)
    )


@lru_cache(maxsize=32768)
def holds(text: str, name: str) -> bool:
    """Whether a text has the words of a name next to each other as they are."""
    wanted = words(name)
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(words(text))} "
