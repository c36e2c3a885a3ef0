"""A kind of failure in words, and the verdict it suggests.  Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from app.engine.core.text import one_line
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Label
from app.engine.detectors.failure_facts import (
    ASKED,
    BACK_AND_FORTH,
    CLAIMED,
    COULD_NOT,
    CRASH,
    CRASH_KINDS,
    GAVE_UP,
    GOING_ON,
    INFEASIBLE,
    LEFT_SITES,
    NOTHING,
    NUMBERS,
    ONE_PAGE,
    WORDS,
    FailureFacts,
    without_values,
)
from app.engine.detectors.runner import BY_NAME

LOOPS = frozenset({"state-action-loop", "repeated-action", "action-cycle", BACK_AND_FORTH})
_LABELS = {
    (GAVE_UP, COULD_NOT): Label.GAVE_UP,
    (GAVE_UP, INFEASIBLE): Label.GAVE_UP,
    (GAVE_UP, NOTHING): Label.WRONG_ANSWER,
    ("no-answer", ""): Label.PREMATURE_STOP,
    ("login-wall", ""): Label.BLOCKED,
    ("error-page", ""): Label.BLOCKED,
    ("covered-element", ""): Label.BLOCKED,
    (LEFT_SITES, ""): Label.WRONG_PAGE,
    ("", GOING_ON): Label.PREMATURE_STOP,
    ("answer-not-on-pages", ""): Label.WRONG_ANSWER,
    ("unproven-claim", ""): Label.PREMATURE_STOP,
    ("untouched-constraint", ""): Label.MISSED_CONSTRAINT,
    ("target-not-on-page", ""): Label.WRONG_ELEMENT,
    ("other-target", ""): Label.WRONG_ELEMENT,
    ("", ONE_PAGE): Label.WRONG_ANSWER,
    ("", NUMBERS): Label.WRONG_ANSWER,
    ("", WORDS): Label.WRONG_ANSWER,
}
"""Verdicts that a detector and its kind of error suggest."""

_ENDINGS = {
    CLAIMED: "reported the task as done, but it was not",
    GOING_ON: "stopped in the middle of the work",
    ONE_PAGE: "gave a wrong answer after reading one page",
    NUMBERS: "gave wrong numbers",
    WORDS: "gave a wrong answer",
    Outcome.ANSWERED.value: "gave an empty answer",
    Outcome.STEP_LIMIT.value: "used all its steps",
    Outcome.ENDED_BY_ENVIRONMENT.value: "was ended by the site without success",
    Outcome.CRASHED.value: "crashed",
    Outcome.INFEASIBLE.value: "gave up",
}
_WAYS = {
    COULD_NOT: "answered that it could not do it",
    ASKED: "asked the user a question instead of finishing",
    NOTHING: "answered that there is nothing",
    INFEASIBLE: "gave up on the task as infeasible",
}
_SUBJECTS = {
    "click": "the click on",
    "dblclick": "the double click on",
    "type": "typing into",
    "clear": "clearing",
    "choose": "the choice in",
    "check": "ticking",
    "uncheck": "unticking",
    "hover": "hovering over",
    "focus": "focusing",
    "press": "a key press in",
    "set": "setting",
}
_OF_NO_CONTROL = {
    "go back": "going back",
    "go forward": "going forward",
    "unreadable output": "unreadable output",
}
_VERB = re.compile(r"\S+")
_ROLE_NAME = re.compile(r"[\w-]+ ('.*')")


def title_of(kind: Sequence[FailureFacts], where: str = "") -> str:
    """Return a sentence without subject that holds for all of these failures.

    ``where`` is named as their place where the sentence would have none.
    """

    def shared(fact: Callable[[FailureFacts], str]) -> str:
        return fact(kind[0]) if len({fact(one) for one in kind}) == 1 else ""

    first = kind[0]
    error, action = shared(lambda one: one.error), shared(action_phrase)
    place = shared(lambda one: one.page) or shared(lambda one: one.section)
    on_page = f" on {where or place}" if place or where else ""
    if action:
        on_page = f" on {where}" if where else ""
    match first.detector:
        case "":
            text, comma, rest = _ENDINGS.get(error, error.replace("_", " ") or "failed").partition(",")
            text += on_page + comma + rest
        case "crash":
            known = any(one.words == error for one in CRASH_KINDS)
            text = (error if known else f"crashed: {error}" if error else "crashed") + (
                where and f" on {where}"
            )
        case "left-sites":
            text = (f"left the allowed sites with {action}" if action else "left the allowed sites") + on_page
        case "state-action-loop" | "repeated-action":
            text = f"repeated {action or 'the same action'}{on_page}"
        case "action-cycle":
            text = f"went through the same actions again and again{on_page}"
        case "back-and-forth":
            text = f"went back and forth between {_two_pages(place, shared(lambda one: one.other))}"
            text += f" on {where}" if where else ""
        case "url-revisits":
            text = f"kept coming back to {shared(lambda one: one.other) or 'the same page'}{on_page}"
        case "no-effect":
            text = f"{action or 'an action'} changed nothing{on_page}"
        case "covered-element":
            control = shared(lambda one: one.control)
            text = f"{_named(control) if control else 'a control'} was covered by another element{on_page}"
        case "error-page":
            text = f"{action or 'an action'} led to {error or 'an error page'}{on_page}"
        case "login-wall":
            text = f"a log-in or captcha stood in the way{on_page}"
        case "unreadable-output":
            text = f"the agent's output could not be read{f' ({error})' if error else ''}{on_page}"
        case "hard-errors":
            text = f"several actions failed{f' ({error})' if error else ''}{on_page}"
        case "gave-up":
            text = _WAYS.get(error, "gave up") + on_page
        case "no-answer":
            text = f"ended without an answer{on_page}"
        case "target-not-on-page":
            text = f"{action or 'an action'} went to an element that the agent was not shown{on_page}"
        case "other-target":
            text = f"the reason named one control, and {action or 'the action'} was another{on_page}"
        case "unproven-claim":
            text = f"claimed a change that no action could have made{on_page}"
        case "untouched-constraint":
            text = f"left a quoted part of the task untouched{on_page}"
        case "answer-not-on-pages":
            text = f"answered with names that stand on no visited page{on_page}"
        case "far-longer":
            text = f"took far more steps than usual{on_page}"
        case "step-limit":
            text = f"used all its steps{on_page}"
        case _:
            text = _summary(first.detector) + on_page
    if first.detector != "step-limit" and shared(lambda one: one.outcome) == Outcome.STEP_LIMIT.value:
        text += ", until the steps ran out"
    return text


def label_of(facts: FailureFacts) -> Label | None:
    """Return the verdict that a failure suggests by its kind; ``None`` where a person has to look."""
    if facts.detector == CRASH:
        known = next((kind for kind in CRASH_KINDS if kind.words == facts.error), None)
        return known.label if known else Label.HARNESS_FAULT if not facts.steps else None
    if facts.detector in LOOPS:
        return Label.LOOP
    return _LABELS.get((facts.detector, facts.error)) or _LABELS.get((facts.detector, ""))


def action_phrase(facts: FailureFacts) -> str:
    """Return what was done as a noun phrase, "the click on 'Save'"; "" where unknown."""
    words = one_line(facts.action, 200)
    if not words:
        return ""
    verb = _VERB.match(words)
    if facts.control and verb:
        return f"{_SUBJECTS.get(verb[0], f'{verb[0]} on')} {_named(facts.control)}"
    if words.startswith("go to "):
        return "going to an address"
    return _OF_NO_CONTROL.get(words) or f"'{without_values(words)}'"


def _named(control: str) -> str:
    """Return a control's name where it has one, else its role."""
    found = _ROLE_NAME.fullmatch(control)
    return found[1] if found else f"a {control}"


def _two_pages(one: str, other: str) -> str:
    if one and other and one != other:
        return f"{one} and {other}"
    return f"two pages of {one}" if one else "two pages"


def _summary(detector: str) -> str:
    known = BY_NAME.get(detector)
    if known is None:
        return detector.replace("-", " ")
    text = known.summary.rstrip(".")
    return text[:1].lower() + text[1:]
