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
_PRESSED = text.word_set("button link generic image")


def part_senses(part: TaskPart) -> frozenset[str]:
    """Return the senses of a part's verb, as the write gate reads it: ``put … into the cart`` is an add to it."""
    return senses_of(words(part.verb)).union(*(one.senses for one in part.changes if one.verb == part.verb))


def is_verb_of_change(part: TaskPart) -> bool:
    """Whether the verb names a change of its own kind, which filling in any form does not make."""
    senses = part_senses(part)
    return bool(senses) and not senses & GENERAL


def says_verb(told: str, part: TaskPart) -> bool:
    """Whether a text says the verb of a change, or one of the same sense."""
    said, verb = words(told), words(part.verb)
    same = any(forms(one) & forms(other) for one in said for other in verb)
    return same or bool(senses_of(said) & part_senses(part))


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
    asked = asked_forms(part.verb, part.text)
    senses = senses_of(own_words(part.verb, part.text)) | part_senses(part)
    unasked = [word for word in said if word not in STOP and not forms(word) & asked]
    commits = word_set("commits")
    own = senses_of(word for word in unasked if word not in commits)
    if own - senses - GENERAL:
        return -1.0
    goes_on = "another" in unasked or ("and" in said and said[-1] in unasked)  # "Save and add another"
    verb = any(forms(word) & forms(one) for word in said for one in words(part.verb))
    return 0.5 * any(word in commits for word in said) - 0.5 * goes_on + 0.4 * verb - 0.12 * len(unasked)
