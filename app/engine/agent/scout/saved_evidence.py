"""Evidence that a change was saved, the complaints of a form, and what the scout would need to go on.  Pure.

"Done" needs the page's own words: the values stand on a page that was loaded since, or a message says that they, or the
thing, were saved.  Words that the task and a page merely share are no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from app.engine.agent.scout.change_subject import is_about, made_thing, thing_names
from app.engine.agent.scout.changes import LEAST, says_change
from app.engine.agent.scout.form_fields import fields_of
from app.engine.agent.scout.form_senders import part_senses
from app.engine.agent.scout.likeness import forms, holds, meaning, plain, words
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.task import TaskPart
from app.engine.agent.scout.tree_texts import outline_of
from app.engine.agent.scout.value_matching import Assignment, FormPlan
from app.engine.agent.write_gate.vocabulary import senses_of, stem_of
from app.engine.core.page_state import PageCapture
from app.engine.core.text import word_set

_LIVE, _ALERTS = frozenset({"alert", "status", "log"}), frozenset({"alert", "alertdialog"})
_ERROR = re.compile(
    r"\b(?:required|invalid|not valid|errors?|must (?:be|not|have|contain)|can(?:no|')t be|cannot be"
    r"|please (?:enter|correct|select|choose|fill|check|provide)|too (?:long|short|many|few)|does not exist|not allowed"
    r"|already (?:exists|taken|in use)|denied|failed)\b",
    re.IGNORECASE,
)
_LONGEST_MESSAGE, _MOST_WORDS, _BRIEF = 300, 12, 4
_SAVED = word_set("saved stored successfully")
"""Words of a message that something was saved."""


def saved_evidence(part: TaskPart, plan: FormPlan, before: PageCapture, page: PageCapture) -> str:
    """Return the words that show that a change was saved, "" without any.

    Args:
        plan: of the form that was sent; without assignments where a control was pressed.
        before: the page on which it was sent; page: the one after, or the same one loaded again.
    """
    if complaints(part, page, before) or page.status >= 400:
        return ""
    message = next(
        (line for line, live in _new_lines(before, page) if _tells(line, part, plan, live=live)), ""
    )
    if message:
        return f"the page says {message[:160]!r}"
    if not plan.assignments:
        return _given_way(part, before, page)
    return _shows(plan) if all(_stands(one, before, page) for one in plan.assignments) else ""


def reopened_evidence(plan: FormPlan, page: PageCapture) -> str:
    """Return what shows that values were saved once the page of the form was loaded again, "" without it."""
    held = bool(plan.assignments) and page.status < 400 and all(_held(one, page) for one in plan.assignments)
    return _shows(plan) if held else ""


def _shows(plan: FormPlan) -> str:
    return "the page now shows " + ", ".join(f"{one.label} {one.value[:60]!r}" for one in plan.assignments)


def _texts_of(page: PageCapture, roles: Set[str]) -> list[str]:
    tree = outline_of(page.tree)
    return [*(tree.text(at) for at, node in enumerate(tree.nodes) if node.role in roles), *page.alerts]


def _new_lines(before: PageCapture, page: PageCapture) -> list[tuple[str, bool]]:
    """Return the texts that are new since the page before, each with whether a live region says it."""
    known = set(before.text.splitlines())
    told = (
        *((text, True) for text in _texts_of(page, _LIVE)),
        *((text, False) for text in page.text.splitlines()),
    )
    lines = ((" ".join(text.split()), is_live) for text, is_live in told if text not in known)
    return [(text, is_live) for text, is_live in lines if 0 < len(text) <= _LONGEST_MESSAGE]


def _tells(line: str, part: TaskPart, plan: FormPlan, *, live: bool) -> bool:
    """Whether a new line says that the change was made, and names the thing, a value or the label of its field.

    In a live region, and in a short sentence that something was saved, no name is needed.
    """
    said = words(line)
    saved = bool(_SAVED & set(said))
    # ``… has been added to your cart`` is said of what was put there.
    done = _says_done(said, words(part.verb)) or bool(_past(said) and senses_of(said) & part_senses(part))
    if "not" in said or not (saved or done):
        return False
    names = (*(one.text for one in (*part.names, *part.context)), *(one.value for one in plan.assignments))
    labels = {word for one in plan.assignments for word in meaning(one.label)}
    named = any(holds(line, name) for name in names) or bool(labels & set(said))
    brief = len(said) <= _BRIEF and bool(set(said) & set(made_thing(part)))  # ``Member created``
    return named or live or brief or (saved and bool(_past(said)) and len(said) <= _MOST_WORDS)


def _stands(one: Assignment, before: PageCapture, page: PageCapture) -> bool:
    """Whether a value stands on the page since it was sent: in its text, or in its field on another page."""
    left = page.url != before.url
    typed = one.how not in ("check", "uncheck") and one.value
    if typed and holds(page.text, one.value) and (left or not holds(before.text, one.value)):
        return True
    return left and _held(one, page)


def _held(one: Assignment, page: PageCapture) -> bool:
    same = [field for field in fields_of(page) if plain(field.label) == plain(one.label)]
    same = [field for field in same if not field.form.startswith("get")]
    if one.how not in ("check", "uncheck"):
        return any(all(field.holds(value) for value in one.values) for field in same)
    return any(
        field.holds(one.value) if field.kind == "radio" else bool(field.held) is (one.how == "check")
        for field in same
        if field.kind in ("radio", "box")
    )


def _given_way(part: TaskPart, before: PageCapture, page: PageCapture) -> str:
    """Return what shows a press without a message: the thing has left the list, or the control is another one now."""
    names, context = [one.text for one in thing_names(part)], PageContext(page)
    if context.path != PageContext(before).path:
        return ""  # a link only led there
    if part_senses(part) & {"delete", "cancel"}:
        left = [name for name in names if holds(before.text, name) and not holds(page.text, name)]
        return f"{left[0]!r} no longer stands on the page" if left else ""
    if not any(context.is_about(name) or holds(page.text, name) for name in names):
        return ""
    known, told = {plain(one.name) for one in before.elements}, {plain(one.text) for one in part.names}
    roles = {(one.role, plain(one.name)) for one in before.elements}
    come = [one for one in page.elements if one.name and (one.role, plain(one.name)) not in roles]
    if added := next((one.name for one in come if plain(one.name) in told), ""):
        return f"{added!r} now stands on the page"
    was = {plain(one.name) for one in before.elements if says_change(one, part) >= LEAST}
    now = {plain(one.name) for one in page.elements if one.name}
    stems = [stem for word in words(part.verb) for stem in forms(word) if len(stem) > 2]
    undo = next((name for name in sorted(now - known) if any(stem in name for stem in stems)), "")
    return f"{min(was)!r} has given way to {undo!r}" if was and not was & now and undo else ""


def complaints(part: TaskPart, page: PageCapture, before: PageCapture) -> tuple[str, ...]:
    """Return the complaints of a form; ``The request was denied`` is none where the task says to deny it."""
    verb = words(part.verb)
    return tuple(
        one
        for one in form_errors(page, before)
        if not all(_says_done(words(match[0]), verb) for match in _ERROR.finditer(one))
    )


def _past(said: Sequence[str]) -> list[str]:
    return [word for word in said if word.endswith("ed") or word in ("sent", "made", "set")]


def _says_done(said: Sequence[str], verb: Sequence[str]) -> bool:
    """Whether words say a verb in its past form."""
    return any(
        forms(word) & forms(own) or stem_of(word) == stem_of(own) for word in _past(said) for own in verb
    )


def form_errors(page: PageCapture, before: PageCapture | None = None) -> tuple[str, ...]:
    """Return the complaints of a form: alerts, and lines new since the page before that speak of an error."""
    lines = [text for text, _ in _new_lines(before, page)] if before is not None else []
    known = before.text if before is not None else ""
    found = (" ".join(text.split()) for text in (*_texts_of(page, _ALERTS), *lines))
    told = (text for text in found if len(text) < 600 and _ERROR.search(text) and text not in known)
    return tuple(dict.fromkeys(text[:200] for text in told))


def what_is_missing(part: TaskPart, plan: FormPlan, page: PageCapture) -> str:
    """Return what the scout would need to go on, in words an expert can turn into a tip."""
    names = thing_names(part, plan.taken)
    name = names[0] if names else None
    what = " ".join(word for word in (name.lead.split() if name else ())[-1:] if word in part.words)
    thing = f"the {what or 'page of'} {name.text!r}" if name is not None else f"the page {page.title!r}"
    found = f"{'found' if is_about(part, PageContext(page), plan.taken) else 'did not find'} {thing}"
    errors = form_errors(page)
    if errors:
        return f"{found}; the form says: {errors[0]}"
    if plan.missing:
        return f"{found}, no field in view for {', '.join(repr(one[:60]) for one in plan.missing)}"
    if plan.assignments:
        labels = ", ".join(one.label for one in plan.assignments if one.label)
        return f"{found}, filled in {labels}; no control in view that sends it"
    return f"{found}, no control in view to {part.verb or 'do it'}: {part.text[:120]}"
