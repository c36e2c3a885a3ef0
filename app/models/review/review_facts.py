"""Facts of a run and a step as text for Review."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from PySide6.QtCore import QCoreApplication

from app.engine.api.engine_api import RunDetail, StepView
from app.engine.api.run_rows import RunRow
from app.engine.core.action_result import Effect
from app.engine.core.labels import outcome_label
from app.engine.core.prompt_set import version_words
from app.engine.core.supervision import Intervention
from app.engine.core.trajectory import BY_PERSON, Step
from app.engine.core.tree_reading import near_name
from app.models.common.step_list import ERROR_WORDS
from app.models.review.interventions import intervention_text, interventions_by_step
from app.models.review.reasons import decision
from app.models.review.run_queue import needs_text, score_level, score_text


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The header over a run, made from its row at once and from the run when it has loaded."""

    title: str = ""
    intent: str = ""
    score: str = ""
    score_level: str = "muted"
    risk: float = 0.0
    ended: str = ""
    needs: str = ""
    """The reason of a run that gave up."""
    note: str = ""
    """Who ended the run, and the versions of prompts and actions."""
    missing: str = ""
    """The importer's notes: what of the run was not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """The lines under the pages.  ``trouble`` is hard, soft, harness or ""; ``at`` is the page's address.

    ``decision`` is the sentence of the reason that decides; "" where the reason is that sentence. ``lost`` says that
    the target is not in the page's tree.
    """

    number: str = ""
    why: str = ""
    decision: str = ""
    lost: str = ""
    did: str = ""
    call: str = ""
    error: str = ""
    trouble: str = ""
    trouble_words: str = ""
    at: str = ""
    title: str = ""
    changed: str = ""
    executed: bool = True


def run_facts(detail: RunDetail) -> RunFacts:
    run = detail.run
    facts = _facts(
        run.site, run.task_id or run.id, run.intent, run.score, detail.risk.value, run.outcome.value
    )
    by_hand = (_tr("ended by {0}").format(run.ended_by),) if run.ended_by else ()
    versions = version_words(run.prompts, run.actions)
    note = "; ".join((*by_hand, *([versions] if versions else [])))
    missing = _tr("This run: {0}").format("; ".join(run.notes)) if run.notes else ""
    return replace(facts, needs=needs_text(run.needs), note=note, missing=missing)


def row_facts(row: RunRow) -> RunFacts:
    """Return the header from the queue's row, while the run is loading."""
    facts = _facts(row.site, row.task_id or row.id, row.intent, row.score, row.risk, row.outcome)
    return replace(facts, needs=needs_text(row.needs))


def facts_of_step(
    step: Step, last: int, view: StepView | None, interventions: Iterable[Intervention] = ()
) -> StepFacts:
    """Return the lines under a step's pages; ``last`` is the last step's index, ``view`` is ``None`` while loading.

    ``interventions`` are all interventions of the run; those at this step are listed under its reason.
    """
    changed = ""
    if view is not None and view.before.lines and view.after.lines:  # pictures alone are not compared
        changed = _tr("the page did not change")
        if view.another:
            changed = _tr("another page")
        elif view.changed:
            changed = (
                _tr("1 line changed") if view.changed == 1 else _tr("{0} lines changed").format(view.changed)
            )
    return StepFacts(
        number=_tr("step {0} of 0–{1}").format(step.index, last),
        why="\n".join(
            [
                _reason(step),
                *(
                    f"▸ {intervention_text(intervention)}"
                    for intervention in interventions_by_step(interventions, last).get(step.index, ())
                ),
            ]
        ),
        decision=decision(step.reason) if step.by != BY_PERSON else "",
        lost=_lost_target(step, view),
        did=_did(step, _words(step, view))
        if step.executed or step.effect
        else _tr("{0} (requested, not executed)").format(_words(step, view)),
        call=step.raw_output,
        error=step.error,
        trouble=step.error_class.value,
        trouble_words=ERROR_WORDS.get(step.error_class, ""),
        at=step.url,
        title=step.title,
        changed=changed,
        executed=step.executed,
    )


EFFECTS = {
    "navigated": "led to another page",
    "changed": "changed the page",
    "nothing": "changed nothing",
    "unrelated": "only self-updating parts changed",
    "refused": "was not done",
    "done": "done",
}
"""Observed effects in words."""
NAMELESS = "without a name"
"""What ``describe_action`` calls a target without a name."""

_QUIET = frozenset({"noop", "take_note", "calculate", "branch", "prune", "ask_human", "send_msg_to_user"})
"""Actions whose effect older runs store as nothing."""


def _reason(step: Step) -> str:
    if step.by == BY_PERSON:
        return _tr("Operator action.")
    return step.reason or _tr("(the agent gave no reason)")


def _target_row(view: StepView) -> int:
    return next((row for row, line in enumerate(view.before.lines) if line.is_target), -1)


def _lost_target(step: Step, view: StepView | None) -> str:
    """Say that the element acted on is not in the tree that the agent saw."""
    bid = step.action.bid if step.action is not None else None
    if not bid or view is None or not view.before.lines or _target_row(view) >= 0:
        return ""
    return _tr("element {0} is not in the page tree").format(bid)


def _words(step: Step, view: StepView | None) -> str:
    """Return the action in words; a target without a name is called as the page's tree calls it."""
    said = step.words
    if view is None or step.target is None or step.target.name:
        return said
    near = near_name(view.before.lines, _target_row(view))
    return said.replace(NAMELESS, near, 1) if near else said


def _did(step: Step, said: str) -> str:
    """Return the action and its effect; the attempts where there was more than one, and its output."""
    quiet = step.action is not None and step.action.kind in _QUIET
    if step.effect and not quiet and not (step.effect == Effect.DONE and step.output):
        said = f"{said} → {_tr(EFFECTS.get(step.effect, step.effect))}"
    if len(step.tried) > 1:
        said = f"{said} ({_tr('tried: {0}').format(', '.join(step.tried))})"
    if step.effect == Effect.DONE and step.output:
        return f"{said} → {step.output}"
    return f"{said} = {step.output}" if step.output else said


def _facts(site: str, task: str, intent: str, score: float | None, risk: float, ended: str) -> RunFacts:
    return RunFacts(
        title=" · ".join(part for part in (site or _tr("unknown site"), task) if part),
        intent=intent,
        score=score_text(score),
        score_level=score_level(score),
        risk=risk,
        ended=_tr(outcome_label(ended)),
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("Review", text)
