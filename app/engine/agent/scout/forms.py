"""A form filled in field after field, then sent by the control that sends this form for this change.  Pure.

``value_matching`` says which value goes where; what stands there already is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from app.engine.agent.scout.field_values import has_words
from app.engine.agent.scout.form_fields import form_keys
from app.engine.agent.scout.likeness import STOP, forms, plain, words
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.scout.value_matching import Assignment, FormPlan
from app.engine.agent.write_gate.vocabulary import senses_of, word_set
from app.engine.core.actions.types import Action, Click, Select, SetChecked, TypeText
from app.engine.core.page_state import Element, PageCapture

_UNSENT = frozenset(
    {"preview", "reset", "back", "previous", "upload", "browse", "draft", "print", "export", "test"}
)
"""Words of controls that send something else than what was asked, or nothing."""
_ONWARD = frozenset({"next", "continue", "proceed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FormStep:
    """One action towards a change; ``key`` belongs into the set of what was done once it was."""

    action: Action
    reason: str
    key: str


def next_form_step(plan: FormPlan, part: TaskPart, page: PageCapture, done: Set[str]) -> FormStep | None:
    """Return the next field to fill in, else what sends the form; ``None`` where there is nothing to do.

    Args:
        plan: of this very page (``read_changes`` with the same ``done``).
        done: keys of the steps that were done.
    """
    offered = _offered(plan, page, done)
    if offered is not None:
        return offered
    for one in plan.assignments:
        if not one.held and one.key not in done:
            return FormStep(action=_action(one), reason=one.why, key=one.key)
    if not plan.assignments:
        return None
    if not any(one.key in done for one in plan.assignments):
        return None  # everything stands there already
    sender = sender_of(plan.form, part, page)
    if sender is None:
        return None
    onward = bool(_ONWARD & set(words(sender.name)))
    key = f"{'next' if onward else 'send'}:{plan.form}:{plain(sender.name)}"
    if key in done or (plan.missing and not onward):
        return None
    return FormStep(
        action=Click(sender.index, label=sender.name),
        reason=f"the form is filled in; {sender.name!r} {'leads on' if onward else 'sends it'}",
        key=key,
    )


def _action(one: Assignment) -> Action:
    match one.how:
        case "check" | "uncheck":
            return SetChecked(one.element, one.how == "check")
        case "select":
            return Select(one.element, one.values)
        case _:
            return TypeText(one.element, one.values[0])


_SUGGESTED = frozenset({"option", "menuitem", "treeitem", "listitem"})


def _offered(plan: FormPlan, page: PageCapture, done: Set[str]) -> FormStep | None:
    """Return the suggestion that a field offers for what was typed into it, once."""
    for one in plan.assignments:
        key = f"pick:{one.key}"
        if one.how not in ("pick", "type") or one.key not in done or key in done:
            continue
        wanted = plain(one.told)
        for shown in page.elements[one.element + 1 :]:
            lists = shown.role in _SUGGESTED and shown.visible and not shown.repeat.startswith("tbody")
            if lists and (
                plain(shown.name) == wanted or (one.how == "pick" and has_words(shown.name, one.told))
            ):
                return FormStep(
                    action=Click(shown.index, label=shown.name),
                    reason=f"it is offered for {one.told!r}",
                    key=key,
                )
    return None


def sender_of(form: str, part: TaskPart, page: PageCapture) -> Element | None:
    """Return the control that sends a form for this change, ``None`` without one.

    Of several the one likest to the task's verb, and of those that only finish ("Save") the plainest.
    """
    keys = form_keys(page.elements)
    asked = set(words(part.text)) | {part.verb}
    senses = senses_of(asked)
    best, best_score = None, 0.0
    for one in page.elements:
        if (
            keys[one.index] != form
            or not one.visible
            or one.role not in ("button", "link", "generic", "image")
        ):
            continue
        if "disabled" in one.states or not (
            one.submits or (not form.startswith(("post", "get")) and one.role == "button")
        ):
            continue
        said = words(one.name or dict(one.attributes).get("value", ""))
        score = sending_score(said, asked, senses, part.verb)
        if one.submits:
            score += 0.4
        if score > best_score:
            best, best_score = one, score
    return best


def sending_score(said: Sequence[str], asked: Set[str], senses: Set[str], verb: str) -> float:
    """Return how well a control's words finish the change; at most 0 for those that do something else."""
    telling = [word for word in said if word not in STOP]
    unasked = [word for word in telling if not any(forms(word) & forms(other) for other in asked)]
    if _UNSENT & set(unasked) or "search" in unasked:
        return -1.0
    commits = word_set("commits")
    own = senses_of(word for word in unasked if word not in commits)
    if own - senses - {"edit", "create", "send", "approve"}:
        return -1.0
    goes_on = "another" in unasked or ("and" in said and said[-1] in unasked)  # "Save and add another"
    score = -0.5 * goes_on
    if any(word in commits for word in telling):
        score += 0.5
    if verb and any(forms(word) & forms(verb) for word in telling):
        score += 0.4
    elif own & senses:
        score += 0.2
    return score - 0.12 * len(unasked) + 0.1 * (not unasked) + (0.1 if telling else 0.0)
