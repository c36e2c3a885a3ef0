"""Whether two short texts of a site mean the same: forms of a word, and words that sites use for one another.  Pure.

The groups are what shops, trackers and back offices commonly call the same thing; none is of one site.
"""

from __future__ import annotations

from functools import lru_cache

from app.engine.agent.scout.grounding import STOP, words

_ENDINGS = ("s", "es", "d", "ed", "r", "er", "ing", "al", "tion", "n")
_GROUPS = (
    "price cost amount total sum value paid revenue spent",
    "number no num nr id count quantity qty frequency",
    "date placed submitted purchased created day time when on",
    "name title called",
    "zip postcode postal post",
    "email mail",
    "customer user client buyer shopper person",
    "product item article good",
    "cart basket bag",
    "voucher coupon promo code discount",
    "score rating star stars",
    "text body comment message content note description",
    "stock inventory available availability",
    "colour color",
    "partner supplier vendor fulfilment",
    "category department catalogue catalog store section",
    "state county province region",
    "city town",
    "phone telephone mobile",
    "account profile my",
    "order purchase sale fulfilment",
    "statistics report reports statistic revenue analytics",
    "edit change update modify",
    "delete remove",
    "add create new",
    "save submit apply update confirm",
    "search find filter",
)
_TOGETHER: dict[str, set[int]] = {}
for _number, _group in enumerate(_GROUPS):
    for _word in _group.split():
        _TOGETHER.setdefault(_word, set()).add(_number)


@lru_cache(maxsize=8192)
def forms(word: str) -> frozenset[str]:
    """A word and what it may be a form of: ``used`` and ``uses`` share ``use``."""
    made = {word}
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            made.add(word[: -len(ending)])
    if word.endswith("e") and len(word) > 4:
        made.add(word[:-1])
    if word.endswith("ies") and len(word) > 4:
        made.add(word[:-3] + "y")
    return frozenset(made)


@lru_cache(maxsize=32768)
def alike(one: str, other: str) -> float:
    """1 for forms of one word, 0.7 for words that sites use for one another, else 0."""
    if forms(one) & forms(other):
        return 1.0
    ours = {number for form in forms(one) for number in _TOGETHER.get(form, ())}
    theirs = {number for form in forms(other) for number in _TOGETHER.get(form, ())}
    return 0.7 if ours & theirs else 0.0


@lru_cache(maxsize=16384)
def meaning(text: str) -> tuple[str, ...]:
    """Words that carry meaning, in order, each once."""
    return tuple(dict.fromkeys(word for word in words(text) if word not in STOP))


@lru_cache(maxsize=32768)
def fits(wanted: str, label: str) -> float:
    """How well a label says what is wanted, in [0, 1]: the share of the wanted words it has, less for what it adds."""
    ours, theirs = meaning(wanted), meaning(label)
    if not ours or not theirs:
        return 0.0
    met = [max((alike(word, other) for other in theirs), default=0.0) for word in ours]
    covered = sum(met) / len(ours)
    if not covered:
        return 0.0
    used = sum(1 for other in theirs if any(alike(word, other) for word in ours))
    return covered * (0.75 + 0.25 * used / len(theirs))


@lru_cache(maxsize=16384)
def says(text: str, value: str) -> bool:
    """Whether a text has all words of a value next to each other, in whichever form: ``Requires moderation``."""
    wanted, there = words(value), words(text)
    if not wanted:
        return False
    for start in range(len(there) - len(wanted) + 1):
        if all(forms(a) & forms(b) for a, b in zip(wanted, there[start : start + len(wanted)], strict=True)):
            return True
    return False


@lru_cache(maxsize=16384)
def names(text: str, value: str) -> bool:
    """Whether a text has the words of a name next to each other as they are."""
    wanted, there = words(value), words(text)
    return bool(wanted) and any(
        there[start : start + len(wanted)] == wanted for start in range(len(there) - len(wanted) + 1)
    )


def overlap(ours: frozenset[str], text: str) -> float:
    """How many of the words are met in a text: 1 each, 0.7 for one that is used for it."""
    theirs = meaning(text)
    return sum(max((alike(word, other) for other in theirs), default=0.0) for word in ours)
