"""Tips of answers: how an answer has to look, and what to mind when something is asked about.

- Form.  A tip is of the form of answers if one of its sentences tells how to answer ("Keep your responses concise")
  and nothing in it says when it applies: one with a condition is found by that.  It scores 1 at a task that asks for an
  answer: one that begins with a question word or a verb of telling, has a question mark, or speaks of its answer.
- Topic.  A tip may be for what is asked about ("When asked about product names, ...").  It is beside the topic of a
  task if no thing the task asks for ("the reasons", "how many orders", "list the full names of ...") has all of those
  words, or more than half of several.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kb.retrieval.conditions import clauses, conditions, sentences
from kb.retrieval.terms import stems_of, word_weight, words_of
from kb.tip import TipDraft

_TELLS_HOW = re.compile(
    r"^\W*(?:please\s+|always\s+|only\s+|never\s+)?(?:answer\b(?!\s+is\b)|respond\b|reply\b|"
    r"(?:keep|give|write|state|format|make|round|include|return|provide|put|end|begin)\b.{0,60}?\b"
    r"(?:answers?|responses?|final\s+message)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\W*(?:what|which|who|whose|how|when|where|tell|list|find|give|provide|calculate|among|determine)\b|\?"
    r"|\b(?:answer|output|format|tell\s+me)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^(?:the\s+task|the\s+question|you(?:'re|\s+are)?)?\s*ask(?:s|ed)?\s+(?:you\s+)?"
    r"(?:about|for|to\s+return|to\s+list)\s+(.*?)(?:\b(?:don't|do\s+not|make\s+sure|is|are|include)\b|$)",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\b(?:what|which|who|how\s+(?:many|much)|tell\s+me|list|find|give(?:\s+me)?|provide(?:\s+me\s+with)?|show\s+me"
    r"|return|answer\s+with|share|calculate|determine)\s+(?:(?:is|are|was|were|the|all|only)\s+)*(.*?)"
    r"(?=\s(?:of|in|from|that|who|which|with|for|at|on|like|do|does|did|is|are|has|have|amongst|by)\b|[.?;:(]|$)",
    re.IGNORECASE,
)
_OR = re.compile(r",\s+(?:or\s+)?|\s+or\s+")
"""Between the things of which one is asked about: ``the waiting list, the refunds or the invoices``."""
_LONGEST = 6_000

Words = frozenset[str]


def _stems(text: str) -> Words:
    return frozenset(
        stem for word, stem in zip(words_of(text), stems_of(text), strict=True) if word_weight(word)
    )


def tells_how_to_answer(tip: TipDraft) -> bool:
    """Whether a tip says how answers have to look, whatever the task."""
    return any(_TELLS_HOW.match(one) for one in sentences(tip)) and not conditions(tip)


def asks_for_an_answer(goal: str) -> bool:
    """Whether a task asks for an answer, and not only for something to be done."""
    return _ASKS.search(goal[:_LONGEST]) is not None


def topics(tip: TipDraft) -> tuple[Words, ...]:
    """The words of what has to be asked about for a tip to apply; empty for a tip that names no such thing."""
    found = (about for clause in clauses(tip) if (about := _ABOUT.match(clause.strip())))
    return tuple(stems for about in found for one in _OR.split(about[1]) if (stems := _stems(one)))


@lru_cache(maxsize=1_024)
def things_asked_for(goal: str) -> tuple[Words, ...]:
    """The words of each thing a task asks for."""
    return tuple(filter(None, map(_stems, _THING.findall(goal[:_LONGEST]))))


def is_beside(wanted: tuple[Words, ...], goal: str) -> bool:
    """Whether a task asks for none of a tip's topics; without a task nothing is known."""
    return bool(wanted and goal.strip()) and not any(
        topic <= thing or (len(topic) > 1 and 2 * len(topic & thing) > len(topic))
        for topic in wanted
        for thing in things_asked_for(goal)
    )


class AnswerIndex:
    """The rows that are of answers; rows are appended and never removed."""

    def __init__(self) -> None:
        self._forms: list[int] = []
        self._topics: dict[int, tuple[Words, ...]] = {}

    def add(self, row: int, tip: TipDraft) -> None:
        """Index a row's tip, if it is one of answers."""
        if tells_how_to_answer(tip):
            self._forms.append(row)
        if wanted := topics(tip):
            self._topics[row] = wanted

    def scores(self, goal: str, size: int) -> NDArray[np.float64]:
        """1 for the rows of the form of answers if the task asks for one, else 0; shape (size,)."""
        scores = np.zeros(size)
        if self._forms and asks_for_an_answer(goal):
            scores[self._forms] = 1.0
        return scores

    def beside(self, goal: str, size: int) -> NDArray[np.bool_]:
        """Which rows are beside the topic of the task; shape (size,)."""
        found = np.zeros(size, dtype=bool)
        found[[row for row, wanted in self._topics.items() if is_beside(wanted, goal)]] = True
        return found
