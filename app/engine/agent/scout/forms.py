"""A form filled in field after field, then sent by the control that sends this form for this change.  Pure.

``value_matching`` says which value goes where; what stands there already is left alone.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from app.engine.agent.scout.form_senders import sender_of
from app.engine.agent.scout.likeness import holds, plain, words
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.scout.value_matching import Assignment, FormPlan
from app.engine.core.actions.types import Action, Click, Select, SetChecked, TypeText
from app.engine.core.page_state import PageCapture

_ONWARD = frozenset({"next", "continue", "proceed"})
_AT_ONCE = frozenset({"check", "uncheck", "select"})
"""Ways to set a field that save at once where nothing sends its form."""
_SUGGESTED = frozenset({"option", "menuitem", "treeitem", "listitem"})


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
    if not plan.assignments:
        return None
    if (offered := _offered(plan, page, done)) is not None:
        return offered
    sender = sender_of(plan.form, part, page)
    for one in plan.assignments:
        if not one.held and not {one.key, f"press:{one.key}"} & done:
            # Of several fields that nothing sends none is set: which of them would save is not known.
            alone = sender is None and one.how in _AT_ONCE and len(plan.assignments) == 1
            return FormStep(action=_action(one), reason=one.why, key=f"press:{one.key}" if alone else one.key)
    if sender is None or not any(one.key in done for one in plan.assignments):
        return None  # everything stands there already
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


def _offered(plan: FormPlan, page: PageCapture, done: Set[str]) -> FormStep | None:
    """Return the suggestion that a field offers for what was typed into it, once."""
    for one in plan.assignments:
        key = f"pick:{one.key}"
        if one.how not in ("pick", "type") or one.key not in done or key in done:
            continue
        for shown in page.elements[one.element + 1 :]:
            lists = shown.role in _SUGGESTED and shown.visible and not shown.repeat.startswith("tbody")
            same = plain(shown.name) == plain(one.source)
            if lists and (same or (one.how == "pick" and holds(shown.name, one.source))):
                why = f"it is offered for {one.source!r}"
                return FormStep(action=Click(shown.index, label=shown.name), reason=why, key=key)
    return None
