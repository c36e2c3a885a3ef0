"""A question that an evaluator puts to a judge model.  Pure data; asking is done elsewhere."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum


class JudgeAsks(StrEnum):
    """Kinds of questions."""

    SAME_MEANING = "fuzzy_match"  # does the answer mean what the reference answer says
    SAME_REASON = "ua_match"  # is the task called impossible for the right reason


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQuestion:
    """One question; ``reference`` is the right answer, or the reason why the task can't be done."""

    asks: JudgeAsks
    intent: str
    reference: str
    answer: str

    @property
    def id(self) -> str:
        """Hash of the question: equal questions need be asked only once."""
        whole = "\0".join((self.asks, self.intent, self.reference, self.answer))
        return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:24]
