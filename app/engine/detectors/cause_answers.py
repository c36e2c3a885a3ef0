"""Rules of ``cause_sentences`` on what a run answered and did, and the rules for what is left."""

from __future__ import annotations

import re

from app.engine.core.past_actions import page_name, past_words, short_address
from app.engine.core.text import one_line, quoted
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Label, Severity
from app.engine.detectors.cause_material import (
    FILLS,
    LOOP_FLAGS,
    QUOTED_VALUE,
    CauseMaterial,
    CauseSentence,
    touches,
)
from app.engine.detectors.cause_words import (
    as_sentence,
    counted,
    is_lost,
    listed,
    mismatch_words,
    number_word,
    offers_more,
    since_of,
    stand_or_stands,
)
from app.engine.detectors.runner import BY_NAME, flag_rank

_ALL_OF_A_LIST = re.compile(
    r"\b(?:how many|how often|number of|counts?|all|every|each|list|total|sum|average|calculate|ratio|percentage"
    r"|most(?! recent)|least|highest|lowest|cheapest|largest|smallest|longest|shortest"
    r"|oldest|rank|top \d+|compute|aggregate|gather)\b",
    re.IGNORECASE,
)

_COUNTS = re.compile(
    r"\b(?:how many|how often|number of|counts?|ratio|percentage|percent|rank|places? from"
    r"|the most (?!recent|popular)\w+|top \d+|distribution|each)\b",
    re.IGNORECASE,
)

_NOT_TO_BE_SENT = re.compile(
    r"\bdraft\b|\b(?:do not|don't|without) (?:yet )?(?:submit|send|post|sav)", re.IGNORECASE
)
_SUMS = re.compile(
    r"\b(?:total|sum|average|mean|median|calculate|compute|differences?|how much|amount)\b", re.IGNORECASE
)

_LABELS = {
    "login-wall": Label.BLOCKED,
    "error-page": Label.BLOCKED,
    "covered-element": Label.BLOCKED,
    "unreadable-output": Label.HARNESS_FAULT,
    "hard-errors": Label.WRONG_ELEMENT,
    "target-not-on-page": Label.WRONG_ELEMENT,
    "other-target": Label.WRONG_ELEMENT,
    "unproven-claim": Label.PREMATURE_STOP,
    "no-answer": Label.PREMATURE_STOP,
    "gave-up": Label.GAVE_UP,
    **dict.fromkeys(LOOP_FLAGS, Label.LOOP),
}


_SCRIPT = re.compile(r" at (?:document\.|func:|\w+\()\S[^“”]*?(?= (?:is|has|does|holds)\b)")
"""The script by which a suite reads a page: it says nothing to a reader."""


def unsent(material: CauseMaterial) -> CauseSentence | None:
    if material.run.outcome is not Outcome.ANSWERED or not material.steps:
        return None
    if _NOT_TO_BE_SENT.search(material.run.intent):
        return None
    acted = [step for step in material.steps if step.action is not None and touches(step)]
    if not acted:
        return None
    last = acted[-1]
    if last.action is None or last.action.kind not in FILLS or last.action.args.get("enter"):
        return None
    pages = material.visits
    after = [page.url for page in pages if page.index > last.index]
    if any(url != last.url for url in after):
        return None
    return CauseSentence(
        text=f"On {page_name(last)} it {past_words(last)} and answered without sending that",
        step=material.answering,
        label=Label.PREMATURE_STOP,
        rule="unsent",
    )


def only_said(material: CauseMaterial) -> CauseSentence | None:
    if material.run.outcome is not Outcome.ANSWERED or not material.asks_for_a_change or not material.steps:
        return None
    if material.sent_something:
        return None
    where = page_name(material.steps[-1])
    return CauseSentence(
        text=f"The task asks for a change, and it answered on {where} without having filled in or sent anything",
        step=material.answering,
        label=Label.PREMATURE_STOP,
        rule="only said",
    )


def part_of_a_list(material: CauseMaterial) -> CauseSentence | None:
    run = material.run
    if (
        run.outcome is not Outcome.ANSWERED
        or not _ALL_OF_A_LIST.search(run.intent)
        or material.asks_for_a_change
    ):
        return None
    pages = material.visits
    last = next((at for at in range(len(pages) - 1, -1, -1) if material.share(at) is not None), -1)
    share = material.share(last)
    if share is None or last < len(pages) - 3:
        return None
    address = pages[last].url.partition("?")[0]
    seen = {
        one.page
        for at, page in enumerate(pages)
        if page.url.partition("?")[0] == address and (one := material.share(at)) is not None
    }
    many = _COUNTS.search(run.intent) or _SUMS.search(run.intent)
    label = Label.COUNTING if many else Label.PREMATURE_STOP
    where = page_name(pages[last])
    if share.pages:
        if len(seen) >= share.pages:
            return None
        part = f"{number_word(len(seen))} of {number_word(share.pages)} pages of the list"
        text = f"It answered after {part} ('{share.text}' on {where})"
    else:
        if len([page for page in pages if page.url.partition("?")[0] == address]) > 3:
            return None  # it may have gone through the pages
        text = f"It answered from the part of the list that {where} shows: '{share.text}' leads to the rest"
    answer = mismatch_words(material)
    return CauseSentence(
        text=text,
        step=material.answering,
        label=label,
        rule="part of a list",
        evidence=(as_sentence(answer),) if answer else (),
    )


def missed_constraint(material: CauseMaterial) -> CauseSentence | None:
    flag = next((one for one in material.flags if one.detector == "untouched-constraint"), None)
    if flag is None or not material.run.failed:
        return None
    return CauseSentence(
        text=flag.message, step=flag.step, label=Label.MISSED_CONSTRAINT, rule="missed a constraint"
    )


def not_the_answer(material: CauseMaterial) -> CauseSentence | None:
    text = mismatch_words(material)
    if not text:
        return None
    intent = material.run.intent
    numbers = [term for term in material.terms if term.kind == "number" and not term.in_task]
    if numbers and _COUNTS.search(intent):
        label = Label.COUNTING
    elif numbers and _SUMS.search(intent) and not numbers[0].places:
        label = Label.CALCULATION
    else:
        label = Label.WRONG_ANSWER
    return CauseSentence(text=text, step=material.answering, label=label, rule="not the answer")


def ended_elsewhere(material: CauseMaterial) -> CauseSentence | None:
    outcome, run = material.expected, material.run
    if outcome is None or outcome.hidden or outcome.score is None or not material.steps:
        return None
    for check in outcome.score.checks:
        if check.evaluator == "url_match" and check.score is not None and check.score < 1 and check.found:
            line = next((one for one in outcome.expected if one.startswith("the address")), "")
            wanted = QUOTED_VALUE.findall(line)
            if wanted:
                text = f"It ended on {short_address(check.found)}, where {listed(wanted[:2])} was expected"
                return CauseSentence(
                    text=text, step=material.answering, label=Label.WRONG_PAGE, rule="elsewhere"
                )
    pages = [line for line in outcome.expected if line.startswith("the page")]
    if pages and run.outcome is Outcome.ANSWERED and run.failed:
        wanted = one_line(_SCRIPT.sub("", pages[0]), 180)
        text = f"It answered {quoted(run.answer or '', 60)}, and the check failed: {wanted}"
        return CauseSentence(text=text, step=material.answering, rule="elsewhere")
    return None


def is_unfounded(material: CauseMaterial) -> CauseSentence | None:
    if material.run.outcome is not Outcome.ANSWERED or (material.expected and not material.expected.hidden):
        return None
    lost = [term.text for term in material.terms if is_lost(term)]
    if not lost:
        return None
    text = f"{listed(lost[:3])} of its answer {stand_or_stands(lost)} on no page the agent visited"
    label = Label.CALCULATION if _SUMS.search(material.run.intent) else Label.WRONG_ANSWER
    return CauseSentence(text=text, step=material.answering, label=label, rule="unfounded")


def was_hindered(material: CauseMaterial) -> CauseSentence | None:
    last = len(material.steps) - 1
    known = [
        flag
        for flag in material.flags
        if flag.detector in BY_NAME
        and BY_NAME[flag.detector].explains != "nothing"
        and flag.severity is not Severity.HINT
        and not offers_more(flag)
        and (flag.step >= last - 3 or flag.detector not in LOOP_FLAGS)
    ]
    if not known:
        return None
    flag = min(known, key=flag_rank)
    at = since_of(flag)
    where = f" on {page_name(material.steps[at])}" if 0 <= at <= last else ""
    return CauseSentence(
        text=f"At step {at}{where}: {flag.message}",
        step=at,
        label=_LABELS.get(flag.detector),
        rule="hindered",
    )


def wrong_anyway(material: CauseMaterial) -> CauseSentence | None:
    run = material.run
    if not run.failed or not material.steps:
        return None
    last = material.steps[-1]
    if run.answer and material.wanted:
        wanted = listed(material.wanted[:2])
        text = (
            f"The answer {quoted(run.answer, 80)} names {wanted}, but not in the form that the suite accepts"
        )
        return CauseSentence(text=text, step=material.answering, rule="wrong anyway")
    if run.answer:
        text = f"It answered {quoted(run.answer, 100)} on {page_name(last)}, which scored {run.score:g}"
        return CauseSentence(
            text=text, step=material.answering, label=Label.WRONG_ANSWER, rule="wrong anyway"
        )
    return CauseSentence(
        text=f"It ended on {page_name(last)} after {counted(len(material.steps), 'step')}, which scored {run.score:g}",
        step=material.answering,
        rule="wrong anyway",
    )
