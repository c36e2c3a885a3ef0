"""How well a tip fits a part of a task: shared words, those that few of the tips in force have counting most.  Pure.

A word that every tip of a site says (``order`` in a shop) tells nothing; one that a single tip says tells most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from app.engine.agent.scout.likeness import meaning, word_fit, words
from app.engine.agent.scout.task import TaskMode, TaskPart
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.core.observation import RetrievedTip
from app.engine.core.text import word_set

LEAST_FIT = 0.22
"""Fit from which on a tip may be begun."""
NEARLY = 0.65
"""Share of the best fit that another tip needs."""
_MOST = 3
_BODY_WEIGHT, _VERB_WEIGHT, _SAME_WORD = 0.7, 2, 0.8
_UNTELLING = word_set(
    "when if you need needs want wants wanted asked asks task speaks look looking known shall should must has have had "
    "been which who where what how one two more some any other another and not page them their something first last "
    "only show take open give please find"
)
_OPERATION = 1.3
"""Weight of a tip that says how something is done, for a part that changes something."""
_LEAST_NEAR = 0.6
"""Likeness below which a word of another form says nothing of a tip."""
_CREATES = frozenset({"create"})
_CLAUSES = re.compile(r"[,;.]\s|\s(?:or|and)\s")
_PERSON = re.compile(r"[A-Z][^\W\d_]{1,20} [A-Z][^\W\d_]{1,30}")
_CODE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.-]{4,40}", re.ASCII)


@lru_cache(maxsize=128)
def fitting_tips(tips: tuple[RetrievedTip, ...], part: TaskPart) -> tuple[RetrievedTip, ...]:
    """Return the tips that fit a part of the task, the best first; a person's hints are no tips."""
    makes = part.mode is TaskMode.CHANGE or _makes_new(part.text)
    known = [tip for tip in tips if tip.kind != "person" and (makes or not _makes_new(tip.when))]
    asked = _asked(part)
    whole = [frozenset(_telling(f"{tip.when} {tip.do} {tip.text}")) for tip in known]
    weights = {
        word: 1 / max(1, sum(_best(word, one) >= _SAME_WORD for one in whole))
        for word in {*asked, *(word for tip in known for word in _telling(tip.when or tip.text))}
    }
    changes = part.mode is TaskMode.CHANGE
    if changes and part.verb in weights:
        weights[part.verb] *= _VERB_WEIGHT  # what is to be done tells more than with what
    heard = [word for word in asked if any(_best(word, one) > 0 for one in whole)]
    ranked = [
        (_fit(tip, heard, weights) * (_OPERATION if tip.kind == "operation" and changes else 1.0), -at, tip)
        for at, tip in enumerate(known)
    ]
    ranked.sort(key=lambda one: one[:2], reverse=True)
    floor = max(LEAST_FIT, NEARLY * ranked[0][0]) if ranked else 1.0
    return tuple(tip for fit, _, tip in ranked[:_MOST] if fit >= floor)


@lru_cache(maxsize=512)
def _makes_new(text: str) -> bool:
    """Whether a text speaks of making a thing: the way to do that holds no answer and is no page to be shown."""
    return any(senses_of((word,)) == _CREATES for word in words(text))


def _fit(tip: RetrievedTip, asked: list[str], weights: dict[str, float]) -> float:
    """Return the mean of what the tip says of the task and of its condition the task; 0 where none of it is said."""
    condition = _telling(tip.when or tip.text)
    body = _telling(f"{tip.do} {tip.text}")
    ours = sum(weights[word] for word in asked)
    if not ours or not condition:
        return 0.0
    said = sum(
        weights[word] * max(_best(word, condition), _BODY_WEIGHT * _best(word, body)) for word in asked
    )
    shares = [_share(one, asked, weights) for one in _alternatives(tip.when or tip.text)]
    return said / ours / 2 + (max(shares) + shares[0]) / 4 if shares[0] else 0.0


def _share(condition: Sequence[str], asked: Sequence[str], weights: Mapping[str, float]) -> float:
    met = sum(weights[word] * _best(word, tuple(asked)) for word in condition)
    return met / sum(weights[word] for word in condition)


def _alternatives(condition: str) -> list[tuple[str, ...]]:
    """Return the whole condition and each of its clauses that says two telling words or more, as words."""
    clauses = [_telling(one) for one in _CLAUSES.split(condition)]
    return [_telling(condition), *(one for one in clauses if len(one) > 1)]


def _asked(part: TaskPart) -> list[str]:
    """Return the words of a part without its names, and the kinds of its names (``code``)."""
    named = {word for name in part.names for word in words(name.text)}
    said = [word for word in _telling(part.text) if word not in named]
    for name in part.names:
        if name.quoted:
            continue
        if _CODE.fullmatch(name.text):
            said.append("code")
        elif name.text.isdecimal():
            said.append("number")
        elif _PERSON.fullmatch(name.text):
            said += ["name", "person"]
    return list(dict.fromkeys((*said, *part.where)))


@lru_cache(maxsize=512)
def _telling(text: str) -> tuple[str, ...]:
    return tuple(word for word in meaning(text) if word not in _UNTELLING and len(word) > 2)


@lru_cache(maxsize=65536)
def _best_in(word: str, there: frozenset[str]) -> float:
    best = max((word_fit(word, other) for other in there), default=0.0)
    return best if best >= _LEAST_NEAR else 0.0


def _best(word: str, there: frozenset[str] | tuple[str, ...] | list[str]) -> float:
    return _best_in(word, frozenset(there))
