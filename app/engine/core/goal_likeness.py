"""How alike goals are: the cosine of their tf-idf, numbers read alike.  Pure functions.

The ranking's correction by similar goals and the choice of runs to put side by side both use it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

MAX_LETTERS = 4000
"""Letters of a goal that are read: a goal is text from outside and may have any length."""

_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"\w+")


def plain_goal(text: str) -> str:
    """Return the words of a goal in lower case; all numbers are one, as they vary within a kind of task."""
    return " ".join(_WORD.findall(_NUMBER.sub("0", text[:MAX_LETTERS].lower())))


def word_weights(goals: Collection[str]) -> dict[str, float]:
    """Return the weight of each word of distinct plain goals, rare ones counting more."""
    seen = Counter(word for goal in goals for word in set(goal.split()))
    return {word: math.log((1 + len(goals)) / (1 + count)) + 1 for word, count in seen.items()}


def unit_vector(goal: str, weight_of: Mapping[str, float]) -> dict[str, float]:
    """Return the tf-idf of a plain goal with length 1; empty for one without a word."""
    counts = Counter(goal.split())
    values = {word: count * weight_of[word] for word, count in counts.items()}
    length = math.sqrt(sum(value * value for value in values.values()))
    return {word: value / length for word, value in values.items()}


def goal_likeness(goal: str, others: Sequence[str], known: Sequence[str] = ()) -> list[float]:
    """Return the cosine of a goal and of each other one, in [0, 1].

    ``known`` are further goals that words are weighted by.
    """
    own, plain = plain_goal(goal), [plain_goal(other) for other in others]
    weight_of = word_weights({own, *plain, *map(plain_goal, known)})
    vector = unit_vector(own, weight_of)
    cosines = {text: _cosine(vector, unit_vector(text, weight_of)) for text in set(plain)}
    return [cosines[text] for text in plain]


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return min(1.0, sum(value * other.get(word, 0.0) for word, value in one.items()))
