"""Types what the task quotes into the field it means."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.agent.scout.grounding import best, nth
from app.engine.agent.scout.intent import Verb
from app.engine.agent.scout.skill import CERTAIN, LIKELY, Proposal, View
from app.engine.command import TypeText
from app.engine.page_state import Element

FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})


class TypeInto:
    """Type quoted strings: by the field's label, else into the fields in their order."""

    name = "type"

    def propose(self, view: View) -> Sequence[Proposal]:
        """One field."""
        clause = view.clause
        if clause is None or clause.verb is not Verb.TYPE or not clause.quoted:
            return ()
        fields = fields_of(view)
        named = {told: name for name, told in clause.pairs}
        for place, text in enumerate(clause.quoted):
            mark = f"typed:{view.number}:{place}"
            if mark in view.memory.marks:
                continue
            by_name = best(named[text], fields) if text in named else None
            field = by_name or nth(fields, clause.ordinal or place + 1)
            if field is None:
                return ()
            last = place == len(clause.quoted) - 1
            return [
                Proposal(
                    command=TypeText(field.index, text),
                    score=CERTAIN if by_name else LIKELY,
                    reason=f"the task says to enter '{text}'",
                    marks=(mark, view.closes()) if last else (mark,),
                )
            ]
        return ()


def fields_of(view: View) -> list[Element]:
    """Fields that take a text, in document order."""
    return [
        element
        for element in view.shown
        if element.role in FIELDS and element.tag != "select" and "readonly" not in element.states
    ]
