"""Shared by the dialects: the options of an evaluation, and a check with its place in the score."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.engine.core.evaluation.judge_question import JudgeQuestion
from app.engine.core.evaluation.suite import Dialect
from app.engine.core.evaluation.task_score import JudgeReply, SubCheck
from app.engine.core.text import one_line
from app.engine.evaluation.dialects.score_range import ScoreRange, product, range_of

MAX_SHOWN = 300
"""Characters shown of what was expected or found."""

_NAME = re.compile(r"__[A-Z][A-Z0-9_]*?__")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorOptions:
    """Rules of one evaluation.

    Attributes:
        infeasible_is_na: a run that reported that the task can't be done has answered "N/A" (BrowserGym).
        off_site_is_zero: a tab off the task's sites makes the score 0, whatever else holds (BrowserGym).
        bases: names of sites in reference addresses (``__SHOPPING__``) and the addresses they stand for.
        no_judge: why no judge model was asked.
    """

    dialect: Dialect
    infeasible_is_na: bool = False
    off_site_is_zero: bool = False
    bases: tuple[tuple[str, str], ...] = ()
    no_judge: str = "no judge model was asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPart:
    """The outcome of one evaluator: its comparisons and the score they make together.

    ``question`` is what a judge has to say before that is known.
    """

    checks: tuple[SubCheck, ...]
    score: ScoreRange
    questions: tuple[JudgeQuestion, ...] = ()
    replies: tuple[JudgeReply, ...] = ()


JudgeReplies = Mapping[str, JudgeReply]
"""Replies by ``JudgeQuestion.id``."""


def single(check: SubCheck) -> CheckedPart:
    """Return the outcome of an evaluator that makes one comparison."""
    return CheckedPart(checks=(check,), score=range_of(check.score))


def together(parts: Sequence[CheckedPart], score: ScoreRange | None = None) -> CheckedPart:
    """Return several outcomes as one, by default with the product of their scores."""
    return CheckedPart(
        checks=tuple(check for part in parts for check in part.checks),
        score=product([part.score for part in parts]) if score is None else score,
        questions=tuple(question for part in parts for question in part.questions),
        replies=tuple(reply for part in parts for reply in part.replies),
    )


def undecided(evaluator: str, expected: str, why: str) -> SubCheck:
    """Return a comparison that could not be made."""
    return SubCheck(evaluator=evaluator, expected=expected, why=why)


def compared(evaluator: str, expected: str, found: str, score: float, why: str) -> SubCheck:
    """Return a comparison; ``why`` is dropped where it holds."""
    return SubCheck(
        evaluator=evaluator, expected=expected, found=shown(found), score=score, why="" if score == 1 else why
    )


def shown(text: str) -> str:
    """Return a text on one line, shortened."""
    return one_line(text, MAX_SHOWN)


def with_bases(text: str, bases: Sequence[tuple[str, str]]) -> str:
    """Return an address or a text with its names of sites replaced by what they stand for."""
    for name, base in bases:
        text = text.replace(name, base.rstrip("/"))
    return text


def known_bases(bases: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the bases that are addresses; of a site that a stored run did not show only a host glob is known."""
    return tuple((name, base) for name, base in bases if "*" not in base)


def unbound_name(text: str) -> str:
    """Return the first name of a site that stands in an address or a text; "" where none is left."""
    found = _NAME.search(text)
    return found[0] if found is not None else ""
