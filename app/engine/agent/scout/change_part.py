"""A part that changes something: find the thing, fill in its form or press its control, and see that it was saved."""

from __future__ import annotations

from dataclasses import replace

from app.engine.agent.scout.change_subject import is_about, is_creating, main_names, makes_here, makes_new
from app.engine.agent.scout.changes import confirm_step, control_step, opens_form
from app.engine.agent.scout.forms import FormStep, next_form_step
from app.engine.agent.scout.memory import WRITING, ScoutStep, Sent
from app.engine.agent.scout.navigation import is_harmless, link_to
from app.engine.agent.scout.page_context import page_key
from app.engine.agent.scout.part_view import GiveUp, PartDone, PartView
from app.engine.agent.scout.pressing import press_step
from app.engine.agent.scout.saved_evidence import (
    complaints,
    reopened_evidence,
    saved_evidence,
    what_is_missing,
)
from app.engine.agent.scout.task import TaskMode, TaskPart
from app.engine.agent.scout.value_matching import FormPlan, read_changes
from app.engine.core.actions.types import Click, Goto

_LEAST_PROMISE = 0.12
_REOPENED = "reopened"


def change_step(view: PartView) -> ScoutStep | PartDone | GiveUp:
    """Return the next step of a change, or its end."""
    if (pressed := press_step(view)) is not None:
        return pressed
    page, memory = view.context.page, view.memory
    done = frozenset(memory.marks)
    part, plan, parts = _with_later(view, done)
    came = is_creating(part) and any(mark.startswith("open:") for mark in done)  # by a link that says so
    if not came and not makes_here(part, view.context):
        plan = FormPlan(missing=plan.missing)  # a form for something else
    view = replace(view, part=part)
    if memory.sent is not None and (ended := _after_sending(view)) is not None:
        return ended
    fills = any(not one.held and one.key not in done for one in plan.assignments)
    found = None if fills else confirm_step(part, page, done)
    if found is None and may_change_here(view, plan):
        found = _here(view, plan, done)
    if found is not None and (step := _step(view, plan, found, parts)) is not None:
        return step
    if memory.sent is not None and memory.sent.plan.assignments:
        return _reopened(view)
    # Once something was entered this is the form, and it takes no more.
    entered = any(one.key in done for one in plan.assignments)
    way = None if entered else _way_on(view, plan)
    return way if way is not None else GiveUp(needs=what_is_missing(part, plan, page))


def _way_on(view: PartView, plan: FormPlan) -> ScoutStep | None:
    """Return the step to the page of the thing, or from there to a part of it; what was filled in here is lost."""
    about = is_about(view.part, view.context, plan.taken)
    way = None if about else _to_the_thing(view, plan)
    if way is None:
        way = view.finder.best(_LEAST_PROMISE, within=about and bool(main_names(view.part, plan.taken)))
    if way is not None:
        view.memory.marks -= {mark for mark in view.memory.marks if mark.startswith("set:")}
    return way


def _to_the_thing(view: PartView, plan: FormPlan) -> ScoutStep | None:
    """Return the step through the link that is called like the thing, wherever the page lists it."""
    for name in main_names(view.part, plan.taken):
        one = link_to(view.context, name.text)
        if one is None or not is_harmless(Click(one.index, label=one.name), view.observation):
            continue
        step = ScoutStep(
            action=Click(one.index, label=one.name) if one.visible else Goto(one.href),
            reason=f"{one.name[:60]!r} is what the task names",
            key=f"link:{page_key(one.href)}",
            leads_to=page_key(one.href),
        )
        if not view.memory.worn_out(step):
            return step
    return None


def _with_later(view: PartView, done: frozenset[str]) -> tuple[TaskPart, FormPlan, int]:
    """Return the part with as many of the later changes as the same form takes, its plan, and their number."""
    part, page = view.part, view.context.page
    plan = read_changes(part, page, done)
    parts = 1
    for later in view.later:
        if later.mode is not TaskMode.CHANGE:
            break
        joined = replace(
            part,
            text=f"{part.text}. {later.text}",
            names=(*part.names, *later.names),
            words=tuple(dict.fromkeys((*part.words, *later.words))),
            changes=(*part.changes, *later.changes),
        )
        wider = read_changes(joined, page, done)
        more = {one.key for one in wider.assignments} - {one.key for one in plan.assignments}
        if not more or len(wider.missing) > len(plan.missing):
            break
        part, plan, parts = joined, wider, parts + 1
    return part, plan, parts


def _after_sending(view: PartView) -> PartDone | GiveUp | None:
    """Return the end after a form was sent or a control pressed; ``None`` where more is to be done."""
    sent, page, marks = view.memory.sent, view.context.page, view.memory.marks
    assert sent is not None
    again = reopened_evidence(sent.plan, page) if _REOPENED in marks else ""
    evidence = again or saved_evidence(view.part, sent.plan, sent.page, page)
    if evidence:
        return PartDone(evidence=evidence, parts=sent.parts)
    # What a pressed control led to may be a form with hints; only one that was sent complains.
    errors = complaints(view.part, page, sent.page) if sent.plan.assignments else ()
    if errors and "complained" in marks:
        return GiveUp(needs=f"the form says: {errors[0]}")
    if errors:
        marks.add("complained")
    return None


def _reopened(view: PartView) -> ScoutStep | GiveUp:
    """Return the step that loads the page of the form again, to see what was saved; after it nothing is claimed."""
    sent = view.memory.sent
    assert sent is not None
    labels = ", ".join(one.label for one in sent.plan.assignments)
    step = ScoutStep(
        action=Goto(sent.page.url),
        reason=f"is {labels} saved?",
        key=_REOPENED,
        marks=(_REOPENED,),
    )
    if view.memory.worn_out(step):
        return GiveUp(needs=f"sent {labels}; no page shows that it was saved")
    return step


def may_change_here(view: PartView, plan: FormPlan | None = None) -> bool:
    """Whether the page is that of the thing; a new thing has no page yet."""
    taken = plan.taken if plan is not None else frozenset[str]()
    return makes_new(view.part) or is_about(view.part, view.context, taken)


def _here(view: PartView, plan: FormPlan, done: frozenset[str]) -> FormStep | None:
    part, page = view.part, view.context.page
    if plan.assignments and not plan.missing and (step := next_form_step(plan, part, page, done)) is not None:
        return step
    if view.memory.sent is not None and view.memory.sent.plan.assignments:
        return None
    # ``Shipped`` that stands beside "Change status" is only proposed.
    proposed = all(one.held for one in plan.assignments)
    pressed = control_step(part, page, done, sends=not plan.missing) if proposed else None
    if pressed is not None and not pressed.key.startswith("menu:"):
        return pressed
    step = opens_form(part, page, view.memory.frame)
    if step is not None and step.key not in done:
        return step
    if pressed is not None:
        return pressed
    return next_form_step(plan, part, page, done)


def _step(view: PartView, plan: FormPlan, found: FormStep, parts: int) -> ScoutStep | None:
    step = ScoutStep(action=found.action, reason=found.reason, key=found.key, marks=(found.key,))
    if view.memory.worn_out(step, 2):
        return None
    if found.key.startswith(WRITING):
        view.memory.sent = Sent(plan, view.context.page, parts)
    return step
