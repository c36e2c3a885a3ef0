"""The control that sends a form for a change.  Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.agent.scout.field_values import asked_forms, own_words
from app.engine.agent.scout.form_fields import form_keys
from app.engine.agent.scout.likeness import STOP, forms, words
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.write_gate.vocabulary import senses_of, word_set
from app.engine.core import text
from app.engine.core.page_state import Element, PageCapture

GENERAL = frozenset({"create", "send", "edit"})
"""Senses of verbs that any form may serve; others (``deny``, ``archive``) need a control or an option that says so."""
_UNSENT = text.word_set("preview reset back previous upload browse draft print export test search")
"""Words of controls that send something else than what was asked, or nothing."""
_PRESSED = text.word_set("button link generic image")


def is_verb_of_change(part: TaskPart) -> bool:
    """Whether the verb names a change of its own kind, which filling in any form does not make."""
    senses = senses_of(words(part.verb))
    return bool(senses) and not senses & GENERAL


def says_verb(told: str, part: TaskPart) -> bool:
    """Whether a text says the verb of a change, or one of the same sense."""
    said, verb = words(told), words(part.verb)
    return any(forms(one) & forms(other) for one in said for other in verb) or bool(
        senses_of(said) & senses_of(verb)
    )


def sender_of(form: str, part: TaskPart, page: PageCapture) -> Element | None:
    """Return the control that sends a form for this change, ``None`` without one.

    Of several the one likest to the task's verb, and of those that only finish ("Save") the plainest.
    """
    keys = form_keys(page.elements)
    best, best_score = None, 0.0
    for one in page.elements:
        if keys[one.index] != form or not one.visible or one.role not in _PRESSED or "disabled" in one.states:
            continue
        said = words(one.name or dict(one.attributes).get("value", ""))
        if not one.submits and (one.href or not word_set("commits") & set(said)):
            continue
        score = sending_score(said, part) + 0.4 * one.submits
        if score > best_score:
            best, best_score = one, score
    return best


def sending_score(said: Sequence[str], part: TaskPart) -> float:
    """Return how well a control's words finish the change; at most 0 for those that do something else."""
    asked, senses = asked_forms(part.verb, part.text), senses_of(own_words(part.verb, part.text))
    telling = [word for word in said if word not in STOP]
    unasked = [word for word in telling if not forms(word) & asked]
    own = senses_of(word for word in unasked if word not in word_set("commits"))
    if _UNSENT & set(unasked) or own - senses - GENERAL - {"approve"}:
        return -1.0
    goes_on = "another" in unasked or ("and" in said and said[-1] in unasked)  # "Save and add another"
    score = 0.5 * any(word in word_set("commits") for word in telling) - 0.5 * goes_on
    if any(forms(word) & forms(verb) for word in telling for verb in words(part.verb)):
        score += 0.4
    elif own & senses:
        score += 0.2
    return score - 0.12 * len(unasked) + 0.1 * (not unasked) + 0.1 * bool(telling)
