"""A part that changes something: find the thing, fill in its form or press its control, and see that it was saved."""

from __future__ import annotations

from app.engine.agent.scout.changes import confirm_step, control_step, is_about, opens_form, thing_names
from app.engine.agent.scout.forms import FormStep, next_form_step
from app.engine.agent.scout.memory import Step
from app.engine.agent.scout.part_view import GiveUp, PartDone, PartView
from app.engine.agent.scout.saved_evidence import form_errors, saved_evidence, what_is_missing
from app.engine.agent.scout.value_matching import CREATING, FormPlan, read_changes
from app.engine.agent.write_gate.vocabulary import senses_of

_LEAST_PROMISE = 0.12
_WRITING = ("send:", "press:", "confirm:")


def change_step(view: PartView) -> Step | PartDone | GiveUp:
    """Return the next step of a change, or its end."""
    part, page, memory = view.part, view.context.page, view.memory
    done = frozenset(memory.marks)
    plan = read_changes(part, page, done)
    if memory.sent is not None and (ended := _after_sending(view, plan)) is not None:
        return ended
    found = confirm_step(part, page, done)
    if found is None and _may_change_here(view, plan):
        found = _here(view, plan, done)
    if found is not None and (step := _step(view, plan, found)) is not None:
        return step
    way = view.finder.best(
        _LEAST_PROMISE, within=bool(thing_names(part, plan)) and is_about(part, page, plan)
    )
    return way if way is not None else GiveUp(needs=what_is_missing(part, plan, page))


def _after_sending(view: PartView, plan: FormPlan) -> PartDone | GiveUp | None:
    """Return the end after a form was sent or a control pressed; ``None`` where more is to be done."""
    assert view.memory.sent is not None
    sent_plan, before = view.memory.sent
    page = view.context.page
    evidence = saved_evidence(view.part, sent_plan, before, page)
    if evidence:
        return PartDone(evidence=evidence)
    if (
        plan.assignments
        and not plan.missing
        and all(one.held for one in plan.assignments)
        and page.url != before.url
    ):
        return PartDone(evidence="the page now holds " + ", ".join(one.label for one in plan.assignments))
    errors = form_errors(page, before)
    if errors and "complained" in view.memory.marks:
        return GiveUp(needs=f"the form says: {errors[0]}")
    if errors:
        view.memory.marks.add("complained")
    return None


def _may_change_here(view: PartView, plan: FormPlan) -> bool:
    """Whether the page is that of the thing; a new thing has no page yet."""
    return (
        is_creation(view) or is_about(view.part, view.context.page, plan) or not thing_names(view.part, plan)
    )


def is_creation(view: PartView) -> bool:
    """Whether the part makes something new."""
    return bool(senses_of((view.part.verb,)) & CREATING)


def _here(view: PartView, plan: FormPlan, done: frozenset[str]) -> FormStep | None:
    part, page = view.part, view.context.page
    if plan.assignments and not plan.missing and (step := next_form_step(plan, part, page, done)) is not None:
        return step
    if not plan.assignments and (step := control_step(part, page, done)) is not None:
        return step
    step = opens_form(part, page, view.memory.frame)
    if step is not None and step.key not in done:
        return step
    if plan.assignments:
        return next_form_step(plan, part, page, done)
    return None


def _step(view: PartView, plan: FormPlan, found: FormStep) -> Step | None:
    step = Step(action=found.action, reason=found.reason, key=found.key, marks=(found.key,))
    if view.memory.worn_out(step, 2):
        return None
    if found.key.startswith(_WRITING):
        view.memory.sent = (plan, view.context.page)
    return step
