"""Mode of a part of a task, from its verb and its grammar: question words, purposes, quantities, directions.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise, takewhile

from app.engine.agent.scout.likeness import STOP
from app.engine.agent.write_gate.task_changes import TaskClause
from app.engine.agent.write_gate.vocabulary import TaskToken
from app.engine.agent.write_gate.vocabulary import word_set as rule_words
from app.engine.core.text import word_set

GOING = word_set(
    "open go goto navigate visit take bring show view display browse access head see jump switch pull look lookup sort "
    "filter check"
)
"""Imperatives after which a page is wanted; ``check`` only with ``out``."""
FINDING = word_set("find locate search lookup look")
_SHOWING = word_set("show view display see look pull bring")
_HANDING = word_set("get give fetch")
_TELLING = frozenset({"me", "us"})
_ASKING = word_set("what which who whom whose when where why how if whether")
_KNOWING = word_set("check see know find verify learn tell determine confirm")
_PLACE = word_set("page screen site section tab website dashboard view listing listings list form profile")
"""Words for a place of any site: ``find the page of …`` wants a page."""
_DIRECTIONS = word_set("way ways route routes path paths direction directions walkway road")
_QUANTITIES = word_set("number count total sum amount average difference percentage share ratio distance")
_ATTRIBUTES = word_set("name names date time value status url link address title id email price author")
"""Words for one value of any thing."""
_RELATIVE = word_set("who whom whose that which")
_SORTED = word_set("ascending descending increasing decreasing")
_POLITE_QUESTIONS = word_set("can could would will may")
_UNREGULAR = word_set("best worst most least top first last")


class TaskMode(StrEnum):
    """Kinds of parts: an answer is wanted, a page is wanted, or the site's data is to be changed."""

    QUESTION = "question"
    WAY = "way"
    CHANGE = "change"


def mode_of(clause: TaskClause) -> TaskMode:
    """Return the mode of one part."""
    if clause.asks or not clause.verb:
        return TaskMode.QUESTION
    if clause.changes:
        return TaskMode.CHANGE
    return TaskMode.WAY if _is_way(clause) else TaskMode.QUESTION


def _is_way(clause: TaskClause) -> bool:
    verb = clause.verb.split()[0]
    rest = clause.rest[1:] if clause.rest and clause.rest[0].low in _TELLING else clause.rest
    lows = [token.low for token in rest]
    if _is_asked(clause) or _serves_to_know(lows) or (verb in _SHOWING and _shows_value(lows)):
        return False
    if verb in GOING:
        return verb != "check" or lows[:1] == ["out"]
    if verb in FINDING | _HANDING and _head(rest) in _DIRECTIONS:
        return True
    if verb in FINDING:
        return bool(_PLACE & set(lows)) or _is_one_thing(lows)
    return verb == "list" and any(a == "by" and b in _SORTED for a, b in pairwise(lows))


def _is_asked(clause: TaskClause) -> bool:
    """Whether a sentence ends as a question and is no request in the form of one (``Could you open …?``)."""
    first = next((token.low for token in clause.tokens), "")
    return clause.text.rstrip(" )\"'").endswith("?") and first not in _POLITE_QUESTIONS


def _serves_to_know(lows: Sequence[str]) -> bool:
    """Whether a question is what a verb of going serves for: ``open it to check if …``."""
    ends = (at for at, (one, two) in enumerate(pairwise(lows)) if one == "to" and two in _KNOWING)
    return any(_ASKING & set(lows[at + 2 : at + 4]) for at in ends)


def _shows_value(lows: Sequence[str]) -> bool:
    """Whether a verb of showing is followed by a question, a quantity, a value, or a thing by what it serves for."""
    if not lows or lows[0] in _ASKING:
        return bool(lows)
    if next((word for word in lows[:4] if word not in STOP), "") in _QUANTITIES | _ATTRIBUTES:
        return True
    serves = len(lows) > 3 and lows[0] in ("the", "a") and lows[2] == "to" and lows[3] not in STOP
    return serves and lows[3].isalpha() and lows[1] not in _PLACE | _DIRECTIONS  # ``the command to …``


def _head(rest: Sequence[TaskToken]) -> str:
    """Return the noun a verb has for its object: the last word before a preposition."""
    ends = rule_words("prepositions") | _RELATIVE
    before = [one.low for one in takewhile(lambda one: one.low[:1].isalpha() and one.low not in ends, rest)]
    return before[-1] if before else ""


def _is_one_thing(lows: Sequence[str]) -> bool:
    """Whether a thing or a kind of things is to be found, and not those that are the most, or fulfil a clause."""
    before = list(takewhile(lambda word: word not in rule_words("prepositions"), lows))
    superlative = any(word in _UNREGULAR or (len(word) > 5 and word.endswith("est")) for word in before)
    limited = (_RELATIVE | _QUANTITIES) & set(lows) or rule_words("all") & set(lows[:2])
    return bool(before) and not superlative and not limited
