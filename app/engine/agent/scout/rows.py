"""Does something to one of many alike: the bin of the message by Ann, the button in the row of a product.

A control belongs to the words between the control of its kind before it and itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.grounding import fit, likeness, marks_of, stems, words
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.planning import subject_of
from app.engine.agent.scout.skill import LIKELY, PLAUSIBLE, Proposal, View, key_of
from app.engine.core.actions.types import Click
from app.engine.core.page_state import Element

DEEDS: dict[Verb, tuple[str, ...]] = {
    Verb.DELETE: ("delete", "trash", "remove", "bin", "discard"),
    Verb.REPLY: ("reply", "respond", "answer"),
    Verb.FORWARD: ("forward", "share"),
    Verb.CHECK: ("star", "important", "flag", "favourite", "favorite"),
}
"""What the control for a deed may be called."""
_MORE = ("more", "menu", "options", "actions", "...", "…")
_ACTING = frozenset({Verb.CLICK, Verb.DELETE, Verb.CHECK, Verb.REPLY, Verb.FORWARD, Verb.OTHER, Verb.OPEN})
_LARGE = 0.2
"""Share of the viewport above which something is no control but holds some."""


class ActInRow:
    """Use the control that stands with whom or what the task is about."""

    name = "row"

    def propose(self, view: View) -> Sequence[Proposal]:
        """The control itself; else what may hide it in that row; else the row is opened."""
        clause = view.clause
        if clause is None or clause.verb not in _ACTING:
            return ()
        subject = subject_of(view.task)
        names = asked_names(clause)
        if not subject or not names:
            return ()
        return [
            *_controls(view, clause, subject, names),
            *_hidden(view, subject),
            *_opened(view, subject, names),
        ]


def asked_names(clause: Clause) -> tuple[str, ...]:
    """What the control may be called: as quoted, as told (``the star icon``), or what the deed is usually called."""
    if clause.quoted and clause.verb in (Verb.CLICK, Verb.OPEN):
        return clause.quoted
    said = set(words(clause.text))
    for names in DEEDS.values():
        told = tuple(name for name in names if name in said)
        if told and clause.verb in (Verb.CLICK, Verb.CHECK, Verb.OTHER):
            return (*told, *(name for name in names if name not in told))
    return DEEDS.get(clause.verb, ())


def controls_called(view: View, names: Sequence[str]) -> list[Element]:
    """Small elements so called by their words or by their code; all of the first name that any has."""
    small = [element for element in view.shown if not is_large(view, element)]
    for name in names:
        exact = [e for e in small if likeness(name, e.name) >= 0.9]
        marked = [e for e in small if e not in exact and len(words(e.name)) <= 1 and _marked(e, name)]
        if exact or marked:
            return exact or marked
    for name in names:
        close = [e for e in small if fit(name, e) >= 0.7]
        if close:
            return close
    return []


def is_large(view: View, element: Element) -> bool:
    """Whether it takes up so much of the page that it is no single control."""
    if element.rect is None:
        return False
    width, height = view.page.viewport
    return element.rect[2] * element.rect[3] > _LARGE * max(1, width * height)


def row_text(view: View, control: Element, group: Sequence[Element]) -> str:
    """The words that a control of a group of alike ones belongs to."""
    place = view.outline.place
    here = place.get(control.index, 0)
    before = max((place[e.index] for e in group if e.index in place and place[e.index] < here), default=-1)
    return view.outline.between(before + 1, here + 1)


def says(text: str, subject: str) -> bool:
    """Whether a text has a name as a word of its own."""
    return re.search(rf"(?<![\w]){re.escape(subject)}(?![\w])", text) is not None


def alike(group: Sequence[Element], one: Element) -> list[Element]:
    """Those of a group that look like one of them."""
    tokens = dict(one.attributes).get("class", "")
    return [
        e
        for e in group
        if e.role == one.role and e.tag == one.tag and dict(e.attributes).get("class", "") == tokens
    ]


def _marked(element: Element, name: str) -> bool:
    asked = stems(name)
    told = dict(element.attributes)
    marks = (*marks_of(element), told.get("hint", ""), told.get("title", ""), told.get("icon", ""))
    return bool(asked) and any(asked <= stems(mark) for mark in marks if mark)


def _controls(view: View, clause: Clause, subject: str, names: Sequence[str]) -> Iterator[Proposal]:
    controls = controls_called(view, names)
    mine = [c for c in controls if says(row_text(view, c, alike(controls, c)), subject)]
    if not mine and len(controls) == 1 and says(view.outline.text, subject):
        mine = controls
    several = clause.many or clause.count > 0
    fresh = [c for c in mine if f"row:{view.number}:{key_of(c)}" not in view.memory.marks]
    done = sum(mark.startswith(f"row:{view.number}:") for mark in view.memory.marks)
    for control in fresh[:1]:
        last = not several or len(fresh) == 1 or (clause.count and done + 1 >= clause.count)
        answers = clause.verb in (Verb.REPLY, Verb.FORWARD)
        closes = (view.closes(),) if last and not answers else ()
        yield Proposal(
            command=Click(control.index, label=control.name or names[0]),
            score=0.96,
            reason=f"it is the '{names[0]}' of {subject}",
            marks=(f"row:{view.number}:{key_of(control)}", "did:row", f"begun:{view.number}", *closes),
        )


def _hidden(view: View, subject: str) -> Iterator[Proposal]:
    more = controls_called(view, _MORE)
    for control in more:
        mark = f"more:{key_of(control)}"
        if mark not in view.memory.marks and says(row_text(view, control, alike(more, control)), subject):
            yield Proposal(
                command=Click(control.index, label=control.name or "more"),
                score=LIKELY,
                reason=f"more can be done with {subject} behind it",
                marks=(mark,),
            )
            return


def _opened(view: View, subject: str, names: Sequence[str]) -> Iterator[Proposal]:
    if f"begun:{view.number}" in view.memory.marks:
        return
    rows = [e for e in view.shown if says(f"{e.name} {e.text}", subject) and not is_large(view, e)]
    rows.sort(key=lambda e: (len(e.name), e.index))
    for row in rows[:1]:
        yield Proposal(
            command=Click(row.index, label=row.name),
            score=PLAUSIBLE,
            reason=f"{subject} has to be opened to find '{names[0]}'",
            key=f"open:{subject}",
        )
