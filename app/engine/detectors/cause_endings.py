"""Rules of ``cause_sentences`` on how a run ended: crashed, stopped, in circles, given up, refused by the site."""

from __future__ import annotations

import re

from app.engine.core.ax_tree import parse_line
from app.engine.core.list_pages import lines_with, lowered
from app.engine.core.past_actions import page_name, past_words
from app.engine.core.text import one_line, quoted
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Label, Severity
from app.engine.detectors.cause_material import LOOP_FLAGS, CauseMaterial, CauseSentence, touches
from app.engine.detectors.cause_words import (
    circle_words,
    counted,
    crash_words,
    listed,
    offers_more,
    short_host,
    since_of,
    times_of,
)

_NEAR_END = 6
"""Steps before the end within which a refusal of the site counts: what came before it was overcome."""

_SITE_IS_DOWN = re.compile(
    r"net::ERR_|ECONNREFUSED|connection refused|name not resolved|50[234] ", re.IGNORECASE
)

_REFUSALS = re.compile(
    r"you (?:can ?not|can't|may not|are not allowed to) (?:post|do|submit|comment|create|perform|access|edit|delete)\b"
    r"|wait a while|too many (?:requests|attempts)|rate.?limit|try again later|access denied|permission denied"
    r"|not authori[sz]ed|forbidden|already been taken|already exists|an error occurred|something went wrong"
    r"|form contains the following error|could(?: not|n't) (?:be saved|save|locate|find a route)|internal server error",
    re.IGNORECASE,
)

_HINTS_OF_REFUSALS = (
    *("you can", "you may not", "you are not allowed", "wait a while", "too many", "rate", "try again later"),
    *("denied", "authori", "forbidden", "already", "error", "went wrong", "could"),
)
"""Words of which every refusal has one: looking for them first is fast."""
_TEMPORARY = re.compile(r"already been taken|already exists|server error|something went wrong", re.IGNORECASE)


def has_passed(material: CauseMaterial) -> CauseSentence | None:
    run = material.run
    if run.outcome is Outcome.RUNNING:
        return CauseSentence(text="The run is still going on", rule="passed")
    if run.score is None or run.score < 1:
        return None
    steps = counted(len(material.steps), "step")
    answer = f" with the answer {quoted(run.answer, 100)}" if run.answer else ""
    return CauseSentence(text=f"It passed after {steps}{answer}", rule="passed")


def has_crashed(material: CauseMaterial) -> CauseSentence | None:
    run = material.run
    if run.outcome is not Outcome.CRASHED:
        return None
    error = crash_words(run.error)
    if _SITE_IS_DOWN.search(run.error):
        label, who = Label.ENVIRONMENT_FAULT, "The site could not be reached"
    else:
        label, who = Label.HARNESS_FAULT, "The harness stopped the run"
    if not material.steps:
        return CauseSentence(text=f"{who} before its first step: {error}", label=label, rule="crashed")
    last = material.steps[-1]
    text = f"{who} after step {last.index}, on {page_name(last)}: {error}"
    return CauseSentence(text=text, step=last.index, label=label, rule="crashed")


def left_the_sites(material: CauseMaterial) -> CauseSentence | None:
    run = material.run
    if run.outcome is not Outcome.LEFT_ALLOWED_SITES or not material.steps:
        return None
    last = material.steps[-1]
    url = run.final.url if run.final is not None else ""
    action = f"on {page_name(last)} it {past_words(last)}"
    if url.startswith("chrome-error:"):
        text = f"The site could not be reached: {action}, and the browser showed an error"
        return CauseSentence(text=text, step=last.index, label=Label.ENVIRONMENT_FAULT, rule="left")
    text = f"It left the allowed sites{f' for {short_host(url)}' if url else ''}: {action}"
    return CauseSentence(text=text, step=last.index, label=Label.WRONG_PAGE, rule="left")


def was_stopped(material: CauseMaterial) -> CauseSentence | None:
    run, last = material.run, max(0, len(material.steps) - 1)
    why = one_line(run.error, 160)
    match run.outcome:
        case Outcome.NEEDS_PERSON:
            text = f"It needed a person and nobody was there{f': {why}' if why else ''}"
            return CauseSentence(text=text, step=last, label=Label.BLOCKED, rule="stopped")
        case Outcome.OUT_OF_BUDGET:
            text = f"Its budget was used up after {counted(len(material.steps), 'step')}{f': {why}' if why else ''}"
            return CauseSentence(text=text, step=last, rule="stopped")
        case Outcome.STOPPED:
            return CauseSentence(text="A person stopped it before it was done", step=last, rule="stopped")
        case Outcome.INTERRUPTED:
            return CauseSentence(
                text="The program ended during the run", step=last, label=Label.HARNESS_FAULT, rule="stopped"
            )
        case _:
            return None


def went_in_circles(material: CauseMaterial) -> CauseSentence | None:
    run, last = material.run, len(material.steps) - 1
    loops = [flag for flag in material.flags if flag.detector in LOOP_FLAGS and flag.step <= last]
    strong = [flag for flag in loops if flag.severity is not Severity.HINT]
    cut_off = run.outcome is Outcome.STEP_LIMIT
    if not cut_off:
        strong = [flag for flag in strong if flag.step >= last - 3 and times_of(flag) >= 3]
    if not strong:
        if not cut_off or not loops:
            return None
        strong = loops
    # What begins at the step that the run opens at, else what was repeated most often.
    begins = [flag for flag in strong if since_of(flag) == material.suspect.step]
    flag = max(begins or strong, key=lambda one: (times_of(one), one.step))
    since = since_of(flag)
    step = material.steps[since] if 0 <= since <= last else material.steps[last]
    until = ", until no steps were left" if cut_off else ""
    return CauseSentence(
        text=f"{circle_words(flag, step)}{until}", step=since, label=Label.LOOP, rule="went in circles"
    )


def ran_out(material: CauseMaterial) -> CauseSentence | None:
    if material.run.outcome is not Outcome.STEP_LIMIT or not material.steps:
        return None
    last = material.steps[-1]
    text = f"It used all {counted(len(material.steps), 'step')} without an answer; the last page was {page_name(last)}"
    return CauseSentence(text=text, step=material.suspect.step, label=Label.LOOP, rule="ran out")


def gave_up(material: CauseMaterial) -> CauseSentence | None:
    run, at = material.run, material.answering
    if run.outcome is Outcome.INFEASIBLE:
        reason = f": {quoted(run.answer or '', 140)}" if (run.answer or "").strip() else ""
        wanted = f", but {listed(material.wanted[:2])} was expected" if material.wanted else ""
        return CauseSentence(
            text=f"It gave the task up as infeasible{wanted}{reason}",
            step=at,
            label=Label.GAVE_UP,
            rule="gave up",
        )
    flag = next((one for one in material.flags if one.detector == "gave-up"), None)
    if flag is None or (material.asks_for_a_change and material.sent_something):
        return None
    if offers_more(flag):
        return None
    return CauseSentence(text=flag.message, step=at, label=Label.GAVE_UP, rule="gave up")


def was_refused(material: CauseMaterial) -> CauseSentence | None:
    count = len(material.steps)
    pages = material.visits
    said = [(at, notice) for at, page in enumerate(pages) for notice in page.notices]
    for at, text in [*reversed(said), *reversed(material.last_lines)]:
        found = _REFUSALS.search(text)
        if found is None or at < count - _NEAR_END or _was_overcome(material, at, found[0]):
            continue
        words = quoted(_around(text, found.start()), 110)
        by = next((step for step in reversed(material.steps[:at]) if touches(step)), None)
        action = f"After it {past_words(by)}, the" if by is not None else "The"
        label = Label.ENVIRONMENT_FAULT if _TEMPORARY.search(found[0]) else Label.BLOCKED
        return CauseSentence(
            text=f"{action} site said: {words}", step=min(at, count - 1), label=label, rule="refused"
        )
    return None


def refusals(tree: str) -> list[str]:
    """Return the lines of a page on which the site refuses something, in its words."""
    lower = lowered(tree)
    lines = {line for words in _HINTS_OF_REFUSALS for line in lines_with(tree, lower, words)}
    nodes = (parse_line(line) for line in sorted(lines, key=tree.find) if _REFUSALS.search(line))
    return [node.name for node in nodes if node is not None and len(node.name) < 400]


def _was_overcome(material: CauseMaterial, at: int, words: str) -> bool:
    """Whether the site no longer said so on the page the run ended on, though it had gone on."""
    pages = material.visits
    if at >= len(pages) - 2:
        return False
    later = [notice for page in pages[-2:] for notice in page.notices] + [
        text for step, text in material.last_lines if step >= len(pages) - 2
    ]
    return not any(words.lower() in text.lower() for text in later)


def _around(text: str, at: int) -> str:
    start = max(text.rfind(mark, 0, at) for mark in (". ", "! ", "? ", "\n")) + 1
    return text[start:].strip()
