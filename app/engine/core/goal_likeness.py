"""How alike the goals of runs are: cosine of their words, rare ones counting more.  Pure functions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"\d[\d.,:/-]*|[^\W\d_]+")
_NUMBER = "#"


def goal_words(goal: str) -> Counter[str]:
    """Return the words of a goal with their number; all numbers are one word, as they vary within a kind of task."""
    return Counter(_NUMBER if word[0].isdigit() else word for word in _WORD.findall(goal[:4_000].casefold()))


def goal_likeness(goal: str, others: Sequence[str]) -> list[float]:
    """Return the cosine of tf-idf vectors of a goal and of each other one, in [0, 1]."""
    counted = [goal_words(goal), *map(goal_words, others)]
    found_in = Counter(word for words in counted for word in words)
    weight = {word: math.log((1 + len(counted)) / (1 + count)) + 1 for word, count in found_in.items()}
    vectors = [{word: (1 + math.log(n)) * weight[word] for word, n in words.items()} for words in counted]
    sizes = [math.sqrt(sum(value * value for value in vector.values())) for vector in vectors]
    own, size = vectors[0], sizes[0]
    return [
        sum(own[word] * value for word, value in vector.items() if word in own) / (size * other)
        if size and other
        else 0.0
        for vector, other in zip(vectors[1:], sizes[1:], strict=True)
    ]
