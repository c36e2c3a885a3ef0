"""Evidence that a change was saved, the complaints of a form, and what the scout would need to go on.  Pure.

"Done" needs the page's own words: the values stand there, or a message speaks of them, and no field complains.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.engine.agent.scout.changes import LEAST, MOST_WORDS, is_about, says_change, subject_of, thing_names
from app.engine.agent.scout.field_values import has_words
from app.engine.agent.scout.form_fields import FormField, fields_of, outline_of
from app.engine.agent.scout.likeness import forms, plain, words
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.scout.value_matching import FormPlan
from app.engine.agent.write_gate.page_scope import contains_name
from app.engine.agent.write_gate.vocabulary import senses_of
from app.engine.core.page_state import PageCapture

_LIVE = frozenset({"alert", "status", "log"})
_ERROR = re.compile(
    r"\b(?:required|invalid|not valid|errors?|must (?:be|not|have|contain)|can(?:no|')t be|cannot be"
    r"|please (?:enter|correct|select|choose|fill|check|provide)|too (?:long|short|many|few)|does not exist|not allowed"
    r"|already (?:exists|taken|in use)|denied|failed)\b",
    re.IGNORECASE,
)
_LONGEST_MESSAGE = 300
_SAVED = frozenset(
    {"saved", "success", "successful", "successfully", "ok", "done", "stored", "changed", "updated"}
)


def saved_evidence(part: TaskPart, plan: FormPlan, before: PageCapture, page: PageCapture) -> str:
    """Return the words that show that a change was saved, "" without any.

    Args:
        plan: of the form that was sent; without assignments where a control was pressed.
        before: the page on which it was sent; page: the one after.
    """
    if form_errors(page, before):
        return ""
    new = _new_lines(before, page)
    message = next((line for line in new if _tells(line, part, plan)), "")
    if message:
        return f"the page says {message[:160]!r}"
    values = [one for one in plan.assignments if one.how not in ("check", "uncheck") and one.value]
    if page.url != before.url or new:
        shown = [one for one in values if _shown(one.value, page, fields_of(page), before)]
        if values and len(shown) == len(values):
            return "the page now shows " + ", ".join(f"{one.label} {one.value[:60]!r}" for one in shown)
        boxes = [one for one in plan.assignments if one.held and one.how in ("check", "uncheck")]
        if not values and boxes and len(boxes) == len(plan.assignments):
            return "the page now has " + ", ".join(one.label for one in boxes) + " as asked"
    return "" if plan.assignments else _gone(part, before, page)


def _new_lines(before: PageCapture, page: PageCapture) -> list[str]:
    known = set(before.text.splitlines())
    live = {node.name for node in outline_of(page.tree).nodes if node.role in _LIVE and node.name}
    lines = [line.strip() for line in (*page.text.splitlines(), *live, *page.alerts) if line not in known]
    return [line for line in dict.fromkeys(lines) if 0 < len(line) <= _LONGEST_MESSAGE]


def _tells(line: str, part: TaskPart, plan: FormPlan) -> bool:
    """Whether a new line of the page says that the change was made: its verb in the past form, or that it was saved."""
    said = words(line)
    past = [word for word in said if word.endswith("ed") or word in ("sent", "made", "set")]
    verb = words(part.verb)
    done = any(forms(word) & forms(own) for word in past for own in verb)
    done = done or bool(_SAVED & set(said)) or bool(senses_of(past) & senses_of(verb))
    if not done or "not" in said:
        return False
    names = [name.text for name in (*part.names, *part.context)] + [one.value for one in plan.assignments]
    about = any(has_words(line, name) for name in names if name)
    return about or len(said) <= 2 * MOST_WORDS


def _shown(value: str, page: PageCapture, fields: Sequence[FormField], before: PageCapture) -> bool:
    fresh = has_words(page.text, value) and not has_words(before.text, value)
    return fresh or (
        page.url != before.url
        and (
            has_words(page.text, value)
            or any(field.holds(value) for field in fields if not field.form.startswith("get"))
        )
    )


def _gone(part: TaskPart, before: PageCapture, page: PageCapture) -> str:
    """Return what shows a press without a message: the thing has left the list, or the control is another one now."""
    if page.status >= 400:
        return ""
    names = [one.text for one in thing_names(part)]
    senses = senses_of(words(part.verb))
    if senses & {"delete", "cancel"} and names:
        left = [name for name in names if has_words(before.text, name) and not has_words(page.text, name)]
        return f"{left[0]!r} no longer stands on the page" if left else ""
    if not any(contains_name(f"{subject_of(page)} {page.text}", name) for name in names):
        return ""
    was = {plain(one.name) for one in before.elements if says_change(one, part) >= LEAST}
    now = {plain(one.name) for one in page.elements}
    come = sorted(name for name in now - {plain(one.name) for one in before.elements} if name)
    if was and not was & now and come:
        return f"{min(was)!r} has given way to {come[0]!r}"
    state = [word for line in _new_lines(before, page) for word in words(line) if word.endswith("ed")]
    said = next((word for word in state if any(forms(word) & forms(own) for own in words(part.verb))), "")
    return f"the page now says {said!r}" if said else ""


def form_errors(page: PageCapture, before: PageCapture | None = None) -> tuple[str, ...]:
    """Return the complaints of a form: alerts, and lines new since the page before that speak of an error."""
    alerts = [
        outline_of(page.tree).text(at)
        for at, node in enumerate(outline_of(page.tree).nodes)
        if node.role in ("alert", "alertdialog")
    ]
    lines = _new_lines(before, page) if before is not None else []
    known = before.text if before is not None else ""
    found = [" ".join(text.split()) for text in (*alerts, *lines, *page.alerts)]
    return tuple(
        dict.fromkeys(
            text[:200]
            for text in found
            if text and len(text) < 600 and _ERROR.search(text) and text not in known
        )
    )


def what_is_missing(part: TaskPart, plan: FormPlan, page: PageCapture) -> str:
    """Return what the scout would need to go on, in words an expert can turn into a tip."""
    names = thing_names(part, plan)
    name = names[0] if names else None
    what = " ".join(word for word in (name.lead.split() if name else ())[-1:] if word in part.words)
    thing = f"the {what or 'page of'} {name.text!r}" if name is not None else f"the page {page.title!r}"
    found = f"found {thing}" if is_about(part, page, plan) else f"did not find {thing}"
    errors = form_errors(page)
    if errors:
        return f"{found}; the form says: {errors[0]}"
    if plan.missing:
        return f"{found}, no field in view for {', '.join(repr(one[:60]) for one in plan.missing)}"
    if plan.assignments:
        labels = ", ".join(one.label for one in plan.assignments if one.label)
        return f"{found}, filled in {labels}; no control in view that sends it"
    return f"{found}, no control in view to {part.verb or 'do it'}: {part.text[:120]}"
