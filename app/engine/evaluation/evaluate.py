"""The entry to the evaluators: the score of one task on the evidence of one run.  Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.engine.core.evaluation.judge_question import JudgeQuestion
from app.engine.core.evaluation.run_evidence import RunEvidence
from app.engine.core.evaluation.suite import Dialect, SuiteTask
from app.engine.core.evaluation.task_score import JudgeReply, ScoreVerdict, SubCheck, TaskScore
from app.engine.evaluation.dialects.checking import (
    CheckedPart,
    EvaluatorOptions,
    JudgeReplies,
    shown,
    single,
    together,
    undecided,
)
from app.engine.evaluation.dialects.sitelore import SiteloreDialect
from app.engine.evaluation.dialects.webarena import WebArenaDialect
from app.engine.evaluation.dialects.webchorearena import WebChoreArenaDialect

__all__ = ["EvaluatorOptions", "evaluate", "questions"]

VERSION = 1
"""Of the rules; it rises with any change of what a dialect says."""

_DIALECTS: Mapping[Dialect, type[WebArenaDialect] | type[SiteloreDialect]] = {
    Dialect.WEBARENA: WebArenaDialect,
    Dialect.WEBCHOREARENA: WebChoreArenaDialect,
    Dialect.SITELORE: SiteloreDialect,
}
_OFF_SITE = "left its sites"
_MAX_WHY = 400


def evaluate(
    task: SuiteTask, evidence: RunEvidence, options: EvaluatorOptions, replies: JudgeReplies | None = None
) -> TaskScore:
    """Return the verdict on a run, explained check by check.

    All evaluators of the task have to hold. Missing evidence never passes: it leaves the verdict undecided, unless
    another check has failed so that the score is 0 whatever the missing part would say.

    Args:
        replies: what a judge model replied, by the ids of ``questions``.
    """
    whole = _evaluated(task, evidence, options, replies or {})
    score = whole.score.decided
    if score is None:
        verdict = ScoreVerdict.UNDECIDED
    else:
        verdict = ScoreVerdict.PASS if score == 1 else ScoreVerdict.FAIL
    return TaskScore(
        verdict=verdict,
        score=score,
        why=_why(whole, verdict),
        dialect=options.dialect,
        checks=whole.checks,
        judge=tuple(dict.fromkeys(whole.replies)),
        evaluator=f"sitelore {VERSION}",
    )


def questions(task: SuiteTask, evidence: RunEvidence, options: EvaluatorOptions) -> tuple[JudgeQuestion, ...]:
    """Return what a judge has to be asked; nothing where the verdict does not depend on it."""
    whole = _evaluated(task, evidence, options, {})
    return tuple(dict.fromkeys(whole.questions)) if whole.score.decided is None else ()


def _evaluated(
    task: SuiteTask, evidence: RunEvidence, options: EvaluatorOptions, replies: Mapping[str, JudgeReply]
) -> CheckedPart:
    kind = _DIALECTS.get(options.dialect)
    if kind is None:
        why = f"the dialect {options.dialect} is evaluated by a program of its own"
        return single(undecided(options.dialect, "an evaluator", why))
    if options.off_site_is_zero and evidence.left_sites:
        return single(
            SubCheck(
                evaluator=_OFF_SITE,
                expected="no tab is off the task's sites",
                found=shown(", ".join(tab.url for tab in evidence.tabs)),
                score=0.0,
                why="a tab is off the task's sites",
            )
        )
    if not task.oracle.evaluators:
        return single(undecided("", "a reference answer", "the task has no reference answer"))
    dialect = kind(task, evidence, options, replies)
    parts: list[CheckedPart] = []
    for evaluator in task.oracle.evaluators:
        part = dialect.part(evaluator)
        if part is None:
            why = f"the dialect {dialect.name} has no evaluator {shown(evaluator)!r}"
            part = single(undecided(evaluator, "a known evaluator", why))
        parts.append(part)
    return together(parts)


def _why(whole: CheckedPart, verdict: ScoreVerdict) -> str:
    """Return the reason of a verdict in one sentence."""
    failed = [check for check in whole.checks if check.score is not None and check.score < 1]
    open_ = [check for check in whole.checks if check.score is None]
    if verdict is ScoreVerdict.PASS:
        held = len(whole.checks) - len(failed) - len(open_)
        return "the one check holds" if held == 1 else f"all {held} checks hold"
    if verdict is ScoreVerdict.FAIL:
        first = next((check for check in failed if not check.score), failed[0])
        more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        return f"{first.why}: {first.expected}{more}"[:_MAX_WHY]
    first = open_[0]
    return f"{first.why} ({first.expected})"[:_MAX_WHY]
