"""The likely cause of a failure in one sentence, by rules over what is recorded of the run.

The first rule that has something to say tells the cause; what the flags, the ending and the expected outcome say
besides becomes its evidence.  The order of the rules is that of ``RULES``:

    passed               the run passed: said so, with no label
    crashed              the harness, the model or the browser stopped the run: no word about the agent
    left                 the action that led off the allowed sites, or to no site at all
    stopped              a person, a budget or a missing person ended it
    went in circles      what it repeated, from which step on, until no steps were left or shortly before the answer
    ran out              the step limit without a circle
    gave up              it reported the task as infeasible, or said that it could not do it
    refused              the site refused what the agent did, in its own words, near the end
    unsent               what it filled in last was never sent
    only said            the task asks for a change, and it changed nothing on any page
    part of a list       it answered after one of several pages of a list although the task needs all
    missed a constraint  what the task names was never typed or chosen
    not the answer       what it says, what was expected, and where its number stands
    elsewhere            it ended on another page than expected, or a page is not as expected
    unfounded            its numbers stand on no page, where nothing is known of the expected answer
    hindered             the most significant flag
    wrong anyway         nothing but the ending is known
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from app.engine.core.evaluation.task_score import ScoreVerdict
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Severity
from app.engine.detectors import cause_answers, cause_endings
from app.engine.detectors.cause_material import CauseMaterial, CauseSentence
from app.engine.detectors.cause_words import (
    as_sentence,
    is_lost,
    listed,
    mismatch_words,
    offers_more,
    since_of,
    stand_or_stands,
)
from app.engine.detectors.runner import BY_NAME, flag_rank

MOST_EVIDENCE = 6

Rule = Callable[[CauseMaterial], CauseSentence | None]

RULES: tuple[Rule, ...] = (
    cause_endings.has_passed,
    cause_endings.has_crashed,
    cause_endings.left_the_sites,
    cause_endings.was_stopped,
    cause_endings.went_in_circles,
    cause_endings.ran_out,
    cause_endings.gave_up,
    cause_endings.was_refused,
    cause_answers.unsent,
    cause_answers.only_said,
    cause_answers.part_of_a_list,
    cause_answers.missed_constraint,
    cause_answers.not_the_answer,
    cause_answers.ended_elsewhere,
    cause_answers.is_unfounded,
    cause_answers.was_hindered,
    cause_answers.wrong_anyway,
)


def tell_cause(material: CauseMaterial) -> CauseSentence:
    """Return the likely cause of a failure; its text is "" where nothing points at one."""
    found = next((told for rule in RULES if (told := rule(material)) is not None), CauseSentence(text=""))
    said = [line for line in _findings(material) if line.rstrip(".") not in found.text]
    evidence = tuple(dict.fromkeys([*found.evidence, *said]))[:MOST_EVIDENCE]
    return CauseSentence(
        text=as_sentence(found.text), step=found.step, label=found.label, rule=found.rule, evidence=evidence
    )


def _findings(material: CauseMaterial) -> Iterable[str]:
    """Yield what points at the failure, one sentence each."""
    run = material.run
    if run.score is not None and run.score >= 1:
        return
    if text := mismatch_words(material):
        yield as_sentence(text)
    told: set[str] = set()
    for flag in sorted((flag for flag in material.flags if flag.detector in BY_NAME), key=flag_rank):
        if flag.detector in told or flag.severity is Severity.HINT or offers_more(flag):
            continue
        told.add(flag.detector)
        since = since_of(flag)
        where = f"Step {flag.step}" if since == flag.step else f"Steps {since} to {flag.step}"
        yield as_sentence(f"{where}: {flag.message}")
    lost = [term.text for term in material.terms if is_lost(term)]
    if lost and run.outcome is Outcome.ANSWERED and "on no page" not in mismatch_words(material):
        yield as_sentence(
            f"{listed(lost[:4])} of the answer {stand_or_stands(lost)} on no page the agent visited"
        )
    outcome = material.expected
    if outcome is None or outcome.hidden or outcome.score is None:
        return
    if outcome.score.verdict is ScoreVerdict.FAIL and not mismatch_words(material):
        yield as_sentence(f"By the suite's rules {outcome.score.why}")
