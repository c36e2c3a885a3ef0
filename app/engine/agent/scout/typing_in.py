"""Fills fields: by the label the task names, by the place it tells, else in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.engine.agent.scout.grounding import likeness, marks_of, nth, plain, stems
from app.engine.agent.scout.intent import Clause, Verb
from app.engine.agent.scout.skill import CERTAIN, LIKELY, Proposal, View
from app.engine.agent.scout.values import text_for, value_beside
from app.engine.core.actions.types import Click, TypeText
from app.engine.core.page_state import Element

FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})
_EVERYWHERE = re.compile(
    r"\b(?:both|all|each|every)\s+(?:of\s+)?(?:the\s+)?(?:text\s*)?(?:fields?|box(?:es)?|inputs?)\b", re.I
)
_TYPED = frozenset({Verb.TYPE, Verb.PASTE, Verb.USE})


class TypeInto:
    """Type what the clause says into the field it means."""

    name = "type"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One field at a time."""
        clause = view.clause
        if clause is None or clause.verb not in _TYPED or clause.matches:
            return ()
        fields = fields_of(view)
        if not fields:
            return ()
        if _EVERYWHERE.search(clause.text) and len(clause.quoted) == 1:
            return [*_everywhere(view, clause, fields)]
        if len(clause.quoted) > 1:
            return [*_several(view, clause, fields)]
        if re.search(r"\b(?:each|every|corresponds?)\b", clause.text) and not clause.quoted:
            return [*_by_their_labels(view, fields)]
        return [*_one(view, clause, fields)]


class Focus:
    """Put the cursor into a field."""

    name = "focus"

    def propose(self, view: View) -> Sequence[Proposal]:
        """A click into the field."""
        clause = view.clause
        if clause is None or clause.verb is not Verb.FOCUS:
            return ()
        field = nth(fields_of(view), clause.ordinal or 1)
        if field is None:
            return ()
        reason = "the task wants the cursor in it"
        return [Proposal(command=Click(field.index), score=CERTAIN, reason=reason, marks=(view.closes(),))]


def fields_of(view: View) -> list[Element]:
    """Fields that take a text, in document order."""
    return [
        element
        for element in view.shown
        if element.role in FIELDS and element.tag != "select" and "readonly" not in element.states
    ]


def named_like(view: View, field: Element, name: str) -> float:
    """How well a name fits a field: its own names, its type, the words before it, its code."""
    best = max((likeness(name, told) for told in (field.name, field.label)), default=0.0)
    if plain(name) in ("password", "passcode") and field.type == "password":
        best = max(best, 0.95)
    placeholder = dict(field.attributes).get("placeholder", "")
    best = max(best, likeness(name, placeholder) - 0.02)
    before = view.outline.before(field.index)
    if before:
        best = max(best, likeness(name, before[0]) - 0.03)
    if best < 0.6 and stems(name) and any(stems(name) <= stems(mark) for mark in marks_of(field)):
        best = 0.6
    return best


def field_named(view: View, fields: Sequence[Element], name: str, least: float = 0.5) -> Element | None:
    """The field that a name fits best."""
    best, best_score = None, least
    for field in fields:
        score = named_like(view, field, name)
        if score > best_score:
            best, best_score = field, score
    return best


def _one(view: View, clause: Clause, fields: list[Element]) -> Iterator[Proposal]:
    by_name = next((f for name, _ in clause.pairs if (f := field_named(view, fields, name, 0.7))), None)
    empty = [field for field in fields if not field.value]
    field = nth(fields, clause.ordinal) or by_name
    if (
        field is None
        and len(fields) > 1
        and "textarea" not in clause.kinds
        and "text area" not in clause.kinds
    ):
        single = [one for one in (empty or fields) if one.tag != "textarea"]
        field = (single or empty or fields)[0]
    field = field or fields[0]
    text = text_for(view, clause, field)
    if text:
        yield Proposal(
            command=TypeText(field.index, text),
            score=CERTAIN if clause.quoted else LIKELY,
            reason=f"the task wants '{_short(text)}' there",
            marks=(f"typed:{view.number}", view.closes()),
        )


def _everywhere(view: View, clause: Clause, fields: list[Element]) -> Iterator[Proposal]:
    text = clause.quoted[0]
    left = [
        field for field in fields if field.value != text and f"typed:{_spot(field)}" not in view.memory.marks
    ]
    for field in left[:1]:
        closes = (view.closes(),) if len(left) == 1 else ()
        yield Proposal(
            command=TypeText(field.index, text),
            score=CERTAIN,
            reason="the task wants it in all of them",
            marks=(f"typed:{_spot(field)}", *closes),
        )


def _several(view: View, clause: Clause, fields: list[Element]) -> Iterator[Proposal]:
    named = {told: name for name, told in clause.pairs}
    for place, text in enumerate(clause.quoted):
        mark = f"typed:{view.number}:{place}"
        if mark in view.memory.marks:
            continue
        by_name = field_named(view, fields, named[text]) if text in named else None
        field = by_name or nth(fields, place + 1)
        if field is not None:
            last = (view.closes(),) if place == len(clause.quoted) - 1 else ()
            yield Proposal(
                command=TypeText(field.index, text),
                score=CERTAIN if by_name else LIKELY,
                reason=f"the task wants '{_short(text)}' there",
                marks=(mark, *last),
            )
        return


def _by_their_labels(view: View, fields: list[Element]) -> Iterator[Proposal]:
    """Each field gets what stands beside its own label elsewhere on the page."""
    left = [field for field in fields if not field.value and f"typed:{_spot(field)}" not in view.memory.marks]
    for field in left[:1]:
        before = view.outline.before(field.index)
        label = field.label or field.name or (before[0] if before else "")
        text = value_beside(view.outline, label) if label else ""
        if text:
            closes = (view.closes(),) if len(left) == 1 else ()
            yield Proposal(
                command=TypeText(field.index, text),
                score=LIKELY,
                reason=f"'{_short(text)}' stands beside '{label}'",
                marks=(f"typed:{_spot(field)}", *closes),
            )


def _spot(field: Element) -> str:
    return "/".join((*field.frame, field.css or field.xpath or field.name))


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
